#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/model/encoder_decoder.hpp"
#include "core/support/text.hpp"
#include "data/files/json.hpp"
#include "data/problem/encoder_decoder_file.hpp"
#include "data/problem/model_words.hpp"
#include "golden.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

EncoderDecoderFile clauses() {
  return read_encoder_decoder(look_up(alignment_examples(), "clauses", "example").bytes, "the example");
}

EncoderDecoder variant_of(const EncoderDecoderFile& file, std::string_view name) {
  return encoder_decoder_of(file, look_up(alignment_variants(), name, "variant"), recurrences().front());
}

// A clause in French and in English, by its words: the last two may be empty.
struct Clause {
  std::string source, target;
};

std::vector<Clause> all_clauses() {
  struct Word {
    std::string source, target;
  };
  const std::vector<Word> nouns = {{"maison", "house"}, {"fleur", "flower"}},
                          adjectives = {{"", ""}, {" blanche", "white "}, {" petite", "small "}};
  std::vector<Clause> all;
  for (const Word& noun : nouns) {
    for (const Word& beside : adjectives) {
      for (const Word& said : adjectives) {
        const bool has_verb = !said.source.empty();
        all.push_back({"la " + noun.source + beside.source + (has_verb ? " est" + said.source : ""),
                       "the " + beside.target + noun.target + (has_verb ? " is " + said.target : "")});
      }
    }
  }
  return all;
}

ReferenceTranslation joined(const EncoderDecoderFile& file, const std::vector<Clause>& some) {
  EncoderDecoderFile copy = file;
  copy.sentences = {{some.front().source, some.front().target}};
  for (std::size_t i = 1; i < some.size(); ++i) {
    copy.sentences.front().source += " et " + some[i].source;
    copy.sentences.front().target += " and " + some[i].target;
  }
  return reference_translations(copy).front();
}

bool is_correct(const EncoderDecoder& model, const ReferenceTranslation& known) {
  return translation_beside(model, known) == known.target;
}

}  // namespace

TEST_CASE("with attention, the translator of clauses is correct for every one, two and five clauses") {
  const EncoderDecoderFile file = clauses();
  const EncoderDecoder model = variant_of(file, "bahdanau");
  const std::vector<Clause> all = all_clauses();
  REQUIRE(all.size() == 18);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK_MESSAGE(is_correct(model, joined(file, {all[i]})), all[i].source);
    for (std::size_t j = 0; j < all.size(); ++j) {
      CHECK_MESSAGE(is_correct(model, joined(file, {all[i], all[j]})), all[i].source, " et ", all[j].source);
      const Clause& k = all[(5 * i + j) % all.size()];
      CHECK_MESSAGE(is_correct(model, joined(file, {all[i], k, all[j], all[0], k})), all[i].source);
    }
  }
}

TEST_CASE("without attention, it is correct only where all clauses, and the adjectives of each, are the same") {
  const EncoderDecoderFile file = clauses();
  const EncoderDecoder model = variant_of(file, "none");
  const std::vector<Clause> all = all_clauses();
  const auto has_one_adjective = [](const Clause& clause) {
    return clause.source.find("blanche") == std::string::npos || clause.source.find("petite") == std::string::npos;
  };
  std::size_t correct = 0;
  for (const Clause& first : all) {
    CHECK_MESSAGE(is_correct(model, joined(file, {first})) == has_one_adjective(first), first.source);
    for (const Clause& second : all) {
      if (!is_correct(model, joined(file, {first, second}))) continue;
      ++correct;
      CHECK_MESSAGE(first.source == second.source, first.source, " et ", second.source);
      CHECK(has_one_adjective(first));
    }
  }
  CHECK(correct == 14);
}

TEST_CASE("translations by length are counted as by hand") {
  const EncoderDecoderFile file = clauses();
  const std::vector<EncoderDecoder> models = {variant_of(file, "none")};
  EncoderDecoderFile three = file;
  three.sentences = {{"la maison blanche est petite", "the white house is small"},
                     {"la fleur petite est petite", "the small flower is small"},
                     {"la fleur", "the flower"}};
  const std::vector<ReferenceTranslation> known = reference_translations(three);
  const std::vector<LengthScore> scores = scores_by_length(models, known);
  REQUIRE(scores.size() == 2);
  CHECK(scores[0].words == 2);
  CHECK(scores[0].sentences == 1);
  CHECK(scores[0].correct == std::vector<std::size_t>{1});
  CHECK(scores[1].words == 5);
  CHECK(scores[1].correct == std::vector<std::size_t>{1});
  CHECK(close(scores[1].right_words[0], (5.0 / 6.0 + 1.0) / 2.0, 1e-15));  // "white" is wrong, of 6 with <end>
  CHECK(shortest_wrong(scores, 0).sentence == &known[0]);
  CHECK(shortest_wrong(scores_by_length({variant_of(file, "bahdanau")}, known), 0).sentence == nullptr);
  CHECK(nearest_last_states(models[0], known, 2) == std::numeric_limits<double>::infinity());
  const Matrix one = last_state(models[0], known[0].source), other = last_state(models[0], known[1].source);
  double largest = 0.0;
  for (std::size_t j = 0; j < one.size(); ++j) largest = std::max(largest, std::fabs(one(0, j) - other(0, j)));
  CHECK(nearest_last_states(models[0], known, 5) == largest);
}

TEST_CASE("the built-in sentences by length are the golden page") {
  const ProcessResult finished = run_attn({"align", "--example", "clauses", "--by-length"});
  CHECK(finished.code == 0);
  CHECK(finished.errors == "");
  check_golden("by-length.txt", finished.out, Tolerance::last_digit);
}

TEST_CASE("a page by length is about all variants of the file, and needs sentences with translations") {
  const Json page = parse_json(run_attn({"align", "--by-length", "--format", "json"}).out, "page");
  CHECK(page["arrays"].contains("by_length"));
  CHECK(run_attn({"align", "--by-length"}).out.find("luong") != std::string::npos);
  const TemporaryFolder folder;
  std::string without(alignment_examples().front().bytes);
  const std::size_t from = without.find("\"sentences\""), to = without.find("\"parameters\"");
  without.erase(from, to - from);
  const std::string path = folder.write("without.json", without);
  const ProcessResult refused = run_attn({"align", "--parameters", path, "--by-length"});
  CHECK(refused.code == 2);
  CHECK_MESSAGE(refused.errors.find("has no \"sentences\"") != std::string::npos, refused.errors);
  for (const Words& more : std::vector<Words>{{"--variant", "none"}, {"--source", "la"}, {"--transpose"}}) {
    Words words = {"align", "--by-length"};
    words.insert(words.end(), more.begin(), more.end());
    CHECK(run_attn(words).code == 2);
  }
  check_refused({
      {"\"sentences\" must be a list of pairs",
       [&] {
         std::string text = without;
         text.insert(from, "\"sentences\": [[\"la\"]],\n");
         read_encoder_decoder(text, "f.json");
       }},
      {"unknown source word 'lo'",
       [&] {
         std::string text = without;
         text.insert(from, "\"sentences\": [[\"lo\", \"the\"]],\n");
         reference_translations(read_encoder_decoder(text, "f.json"));
       }},
  });
}

TEST_CASE("a translation that is known is said to be wrong, and one that is not is said to be unknown") {
  const auto out = [](Words words) {
    words.insert(words.begin(), "align");
    return run_attn(words).out;
  };
  const std::string wrong = "This translation is wrong. The correct one is", unknown = "is not known.";
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(out({"--variant", "none"}), wrong + " the white house is small <end>."));
  for (const Words& words : std::vector<Words>{{},
                                               {"--steps", "2"},
                                               {"--variant", "none", "--steps", "1"},
                                               {"--target", "the small house is small"},
                                               {"--seed", "3"}}) {
    CHECK_FALSE(has(out(words), wrong));
    CHECK_FALSE(has(out(words), unknown));
  }
  CHECK(has(out({"--source", "la fleur"}), unknown));
  CHECK(has(out({"--example", "clauses", "--source", "la maison blanche"}), "→ the white house <end>"));
}

TEST_CASE("the states on the paths of a translation are as many as its words ask for") {
  const auto section = [](Words words) {
    words.insert(words.begin(), {"align", "--section", "Paths"});
    return run_attn(words).out;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  };
  has(section({}), "h_1 to h_6      │       5");
  has(section({}), "h_1 to output 6 │       1");
  has(section({"--variant", "luong"}), "h_1 to output 6 │       0");
  has(section({"--variant", "none"}), "h_1 to output 6 │      12");  // h_2 to h_6, state 0 to state 6
  const Words one = {"--seed", "1", "--source", "<end>", "--target", "<end>"};
  has(section(one), "h_1 to h_1      │       0");
  has(section(one), "s_1 to s_1      │       0");
}

TEST_CASE("state 0 is said to be the same for every source only where its matrix is zero") {
  const std::string same = "the same for every source";
  CHECK(run_attn({"align"}).out.find(same) != std::string::npos);
  CHECK(run_attn({"align", "--variant", "none"}).out.find(same) == std::string::npos);
  CHECK(run_attn({"align", "--seed", "1"}).out.find(same) == std::string::npos);
}
