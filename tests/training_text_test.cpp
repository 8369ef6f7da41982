#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "commands_tried.hpp"
#include "core/model/named_recipe.hpp"
#include "data/files/matrix_file.hpp"
#include "data/problem/model_file.hpp"
#include "data/tokenizer/characters.hpp"
#include "school/training/text_windows.hpp"
#include "school/training/trainer.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

// A text whose next letter is often clear from the one before, with as many letters as are asked for.
std::string text_of(std::size_t letters) {
  constexpr std::string_view words[] = {"the ", "then ", "a cat ", "sat ", "on ", "ten mats.\n"};
  Generator generator(7);
  std::string text;
  while (text.size() < letters) text += words[uniform_index(std::size(words), generator)];
  return text.substr(0, letters);
}

std::string written_to(const TemporaryFolder& folder, const std::string& text) {
  return folder.write("text.txt", text);
}

// A training that takes no time.
Words few_steps(const Words& more) {
  return Words{"train", "text",     "--steps", "4",         "--batch", "2",       "--every", "2",      "--window",
               "16",    "--layers", "1",       "--d-model", "8",       "--heads", "2",       "--d-ff", "8"} +
         more;
}

std::string refused_by(const Words& line) {
  const ProcessResult finished = run_attn(line);
  CHECK_MESSAGE(finished.code == 2, command_line(line));
  CHECK(std::ranges::count(finished.errors, '\n') == 1);
  return in_one_line(finished.errors);
}

Ids all_of(const std::vector<Ids>& runs) {
  Ids all;
  for (const Ids& run : runs) all.insert(all.end(), run.begin(), run.end());
  return all;
}

}  // namespace

TEST_CASE("characters are pieces, and a text of pieces is the text again") {
  const std::string text = "a b\n\tÄ⏎e\u0301 ␣\u00a0";
  const std::shared_ptr<const Tokenizer> tokenizer = character_tokenizer(text, "text");
  std::vector<std::size_t> ids;
  std::string cut;
  for (const Token& piece : tokenizer->encode(text)) {
    ids.push_back(piece.id);
    CHECK(text.substr(piece.begin, piece.end - piece.begin) == piece.text);
    CHECK(tokenizer->piece(piece.id) == piece.text);
  }
  CHECK(ids.size() == 12);
  CHECK(tokenizer->decode(ids) == text);
  CHECK(tokenizer->size() == 11);  // a space twice
  for (const CutWord& word : tokenizer->cut(text)) cut += word.text;
  CHECK(cut == text);
  CHECK_THROWS_WITH(tokenizer->encode("ax"),
                    "the text has 'x' (1 of its bytes before), a character that the model does not know: leave it out");
  CHECK_THROWS_WITH(character_tokenizer("a\xff", "F"), "F is not UTF-8 at byte 2: give it in UTF-8");
}

TEST_CASE("every tenth block of a text is held out, whatever the seed") {
  const std::string text = text_of(50'000);
  const auto windows = windows_of({.name = "text", .text = text, .window = 32});
  CHECK(windows->characters == 50'000);
  CHECK(windows->trained_characters == 46'000);  // blocks 10 and 20 of 25
  REQUIRE(windows->runs.size() == 3);
  CHECK(windows->runs[0].size() == 18'000);
  CHECK(windows->runs[2].size() == 10'000);
  const Ids& first = windows->held_out.front().given;
  CHECK(windows->words.text_of(first, *windows->words.pieces) == text.substr(18'000, 32));
  CHECK(windows->held_out.size() == 100);
  Generator generator(3);
  for (int i = 0; i < 100; ++i) {
    const TaskExample window = windows->any_window(generator);
    REQUIRE(window.given.size() == 32);
    CHECK(std::equal(window.given.begin() + 1, window.given.end(), window.expected.begin()));
  }
}

TEST_CASE("every window of the training part is trained on") {
  const auto windows = windows_of({.name = "text", .text = text_of(600), .window = 20});
  std::set<std::pair<Ids, Ids>> seen, all;
  for (const Ids& run : windows->runs) {
    for (std::size_t i = 0; i + 20 < run.size(); ++i) {
      const TaskExample window = windows->window_at(run, i);
      all.insert({window.given, window.expected});
    }
  }
  Generator generator(1);
  for (int i = 0; i < 20'000; ++i) {
    const TaskExample window = windows->any_window(generator);
    seen.insert({window.given, window.expected});
  }
  CHECK(seen == all);
}

TEST_CASE("what counts give is the loss of a model that knows only them") {
  const auto windows = windows_of({.name = "text", .text = text_of(2'000), .window = 16});
  const Ids trained = all_of(windows->runs);
  const double words = static_cast<double>(windows->words.pieces->size());
  double sum = 0.0, number = 0.0;
  for (const TaskExample& window : windows->held_out) {
    for (const std::size_t id : window.expected) {
      sum -= std::log((static_cast<double>(std::ranges::count(trained, id)) + 1.0) /
                      (static_cast<double>(trained.size()) + words));
      ++number;
    }
  }
  CHECK(windows->counted.by_frequency == doctest::Approx(sum / number));
  CHECK(windows->counted.by_pair < windows->counted.by_frequency);
  CHECK(windows->counted.by_pair > 0.0);
  // Of pairs that follow from each other nothing is left to guess.
  std::string turns;
  for (int i = 0; i < 500; ++i) turns += "ab";
  CHECK(windows_of({.name = "text", .text = turns, .window = 16})->counted.by_pair < 0.01);
}

TEST_CASE("characters that only the held-out part has are left out") {
  std::string text = text_of(40'000);
  text.replace(18'500, 1, "Z");
  const auto windows = windows_of({.name = "text", .text = text, .window = 16});
  CHECK(windows->left_out == 1);
  CHECK(std::ranges::find(*windows->words.pieces, "Z") == windows->words.pieces->end());
}

TEST_CASE("a text is learned in every recipe, its loss falls, and it is continued") {
  const TemporaryFolder folder;
  const std::string path = written_to(folder, text_of(5'000));
  for (const NamedRecipe& recipe : named_recipes()) {
    CAPTURE(recipe.name);
    const std::string page = in_one_line(
        accepted(few_steps({"--text-file", path, "--recipe", std::string(recipe.name), "--rate", "0.03"})).out);
    for (const std::string_view part :
         {"Training: text", "5,000 characters, of which 4,500 are trained on", "guessing", "frequency", "pairs",
          "model, step 4", "What it writes", "The task states no goal", "Its recipe: "})
      check_has(page, part);
  }
  const std::string csv = accepted(few_steps({"--text-file", path, "--only", "compared", "--format", "csv"})).out;
  check_has(csv, "\"loss\",\"bits\"");
  check_has(csv, "\"pairs\",");
}

TEST_CASE("a model of a text continues one, with characters as pieces") {
  const TemporaryFolder folder;
  const std::string path = written_to(folder, text_of(5'000)), model = folder.path("m.safetensors");
  accepted(few_steps({"--text-file", path, "--save-model", model}));
  const TransformerFile file = read_transformer(read_bytes(model), model);
  REQUIRE(file.words.tokenizer);
  CHECK(file.model.target_vocabulary == Words{"⏎", "␣", ".", "a", "c", "e", "h", "m", "n", "o", "s", "t"});
  const std::string page = in_one_line(accepted({"generate", "--model", model, "--text", "the a", "--steps", "3"}).out);
  check_has(page, "Given: the a");
  check_has(page, "Written: ");
  check_has(refused_by({"generate", "--model", model, "--text", "the q"}), "the text has 'q' (4 of its bytes before)");
  const std::string weights =
      accepted({"walk", "--model", model, "--text", "a c", "--only", "head.1.weights", "--format", "csv"}).out;
  check_has(weights, "\"␣\"");
  CHECK(in_one_line(accepted({"generate", "--model", model, "--steps", "2"}).out).find("Given: ") != std::string::npos);
}

TEST_CASE("subwords are learned from the training part alone, and a model of them continues a text") {
  const TemporaryFolder folder;
  const std::string text = text_of(40'000);
  const auto windows = windows_of({.name = "text", .text = text, .subwords = 280, .window = 8});
  CHECK(windows->words.pieces->size() > 257);
  CHECK(windows->words.pieces->size() <= 280);
  CHECK(windows->characters_per_piece > 1.5);
  CHECK(windows->words.text_of(windows->runs.front(), *windows->words.pieces) == text.substr(0, 18'000));
  std::string other = text;
  for (std::size_t i = 18'000; i < 20'000; ++i) other[i] = "xyzq"[i % 4];
  CHECK(*windows_of({.name = "text", .text = other, .subwords = 280, .window = 8})->words.pieces ==
        *windows->words.pieces);
  const std::string path = written_to(folder, text), model = folder.path("m.safetensors");
  accepted(few_steps({"--text-file", path, "--subwords", "280", "--save-model", model}));
  check_has(in_one_line(accepted({"generate", "--model", model, "--text", "the cat é", "--steps", "3"}).out),
            "Given: the cat é");
  check_has(refused_by(few_steps({"--text-file", path, "--subwords", "256"})), "256 subwords are too few");
}

TEST_CASE("a training of a text goes on as if it had never stopped") {
  const TemporaryFolder folder;
  const std::string path = written_to(folder, text_of(3'000)), whole = folder.path("whole.safetensors"),
                    part = folder.path("part.safetensors");
  for (const Words& more : {Words{"--norm", "pre", "--no-bias", "--kv-heads", "1"}, Words{"--subwords", "260"}}) {
    const Words line = few_steps({"--text-file", path}) + more;
    accepted(line + Words{"--save", whole});
    accepted(line + Words{"--save", part, "--save-steps", "2"});
    const std::string at_2 = folder.path("part-2.safetensors");
    accepted({"train", "--resume", at_2, "--save", at_2});
    CHECK(read_bytes(at_2) == read_bytes(whole));
    check_has(refused_by({"train", "--resume", at_2, "--window", "4"}), "--window");
    std::filesystem::remove(whole);
    std::filesystem::remove(part);
    std::filesystem::remove(at_2);
  }
}

TEST_CASE("without a file the prose of this course is learned") {
  CHECK(course_text().size() > 100'000);
  const std::string page =
      in_one_line(accepted({"train", "text", "--steps", "1", "--batch", "1", "--layers", "1"}).out);
  check_has(page, "The text is the prose of this course");
}

TEST_CASE("a text that cannot be learned is refused with one sentence") {
  const TemporaryFolder folder;
  const auto refused_text = [&](const std::string& text, const Words& more = {}) {
    return refused_by(Words{"train", "text", "--steps", "1", "--text-file", written_to(folder, text)} + more);
  };
  check_has(refused_text(""), "text.txt is empty: give a text");
  check_has(refused_text("a\xc3"), "text.txt is not UTF-8 at byte 2: give it in UTF-8");
  check_has(refused_text(text_of(100)),
            "text.txt has 100 characters, and a window of it 64 characters: give a longer text or a smaller --window");
  check_has(refused_text(std::string(2'000, 'a')), "text.txt has only one character, 'a': there is nothing to predict");
  check_has(refused_text(std::string(most_text + 1, 'a')),
            "text.txt has 4,194,305 bytes: give a text of at most 4,194,304");
  check_has(refused_text(text_of(3'000), {"--window", "2000"}), "--window");
  check_has(refused_by({"train", "text", "--text-file", folder.path("none.txt")}), "none.txt");
}

TEST_CASE("an option changes a part of a recipe that has a name, and a name that is none is refused") {
  const TemporaryFolder folder;
  const Words train{"train", "text", "--steps", "1", "--batch", "1", "--layers", "1", "--recipe", "2017"};
  const std::string page = in_one_line(
      accepted(train + Words{"--norm", "pre", "--no-bias", "--save-model", folder.path("m.safetensors")}).out);
  check_has(page, "norms: pre; positions: sinusoidal");
  check_has(read_bytes(folder.path("m.safetensors")),
            "Trained with attn train text --recipe 2017, but norms are pre and there are no biases: 1 step");
  for (const Words& command : {Words{"train", "text", "--steps", "1"}, Words{"transformer"}})
    check_has(refused_by(command + Words{"--recipe", "gpt3"}), "Choose one of: 2017, gpt2, llama");
  accepted({"decoder", "--recipe", "gpt2", "--norm", "pre", "--outline"});
  check_has(refused_by({"train", "dates", "--recipe", "gpt2"}), "which has no recipe: leave it out");
  check_has(refused_by({"train", "sort", "--text-file", "x"}), "--text-file has no effect: the task sort");
}

TEST_CASE("every task of a Transformer is learned in another recipe, and only what is asked for changes") {
  const auto page = [](const Words& more) {
    return in_one_line(
        accepted(Words{"train", "sort", "--steps", "2", "--batch", "2", "--section", "The model"} + more).out);
  };
  check_has(page({}), "norms: pre, root mean square normalization; positions: sinusoidal");
  check_has(page({"--norm", "post"}), "norms: post, root mean square normalization; positions: sinusoidal");
  check_has(page({"--positions", "learned"}), "norms: pre, root mean square normalization; positions: learned");
  check_has(page({"--recipe", "gpt2"}), "norms: pre; positions: learned");
  CHECK(page({"--no-bias"}) != page({}));
}

TEST_CASE("a recipe is the set of its options") {
  const auto outline = [](const Words& more) {
    return accepted(Words{"decoder", "--outline", "--kind", "decoder-only"} + more).out;
  };
  CHECK(outline({"--recipe", "2017"}) == outline({}));
  CHECK(outline({"--recipe", "llama"}) ==
        outline({"--norm", "pre", "--norm-kind", "rms", "--activation", "silu", "--gated", "--positions", "rotary",
                 "--unscaled-embeddings", "--no-bias", "--kv-heads", "1"}));  // of the two heads that a drawn model has
  CHECK(outline({"--recipe", "gpt2"}) == outline({"--norm", "pre", "--activation", "gelu-tanh", "--positions",
                                                  "learned", "--unscaled-embeddings", "--tied-output"}));
}
