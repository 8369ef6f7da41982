#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "core/model/encoder_decoder.hpp"
#include "core/op/operations.hpp"
#include "core/support/text.hpp"
#include "core/term/explanation.hpp"
#include "data/problem/encoder_decoder_file.hpp"
#include "data/problem/model_words.hpp"
#include "process.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

EncoderDecoder hand_set(std::string_view variant) {
  const EncoderDecoderFile file = read_encoder_decoder(alignment_examples().front().bytes, "the example");
  return encoder_decoder_of(file, look_up(alignment_variants(), variant, "variant"), recurrences().front());
}

// What an encoder-decoder with one variant is as .safetensors.
std::string bytes_of(EncoderDecoderFile file) {
  for (const auto& [name, matrix] : file.variants.at(file.variant)) file.parameters.insert_or_assign(name, matrix);
  std::vector<WrittenTensor> tensors;
  for (const auto& [name, matrix] : file.parameters) tensors.push_back({name, &matrix, 2});
  return written_by([&](Sink& sink) { write_safetensors(tensors, sink, metadata_of(file)); });
}

Ids sentence(const std::string& text, const std::vector<std::string>& vocabulary) {
  return ids_of(split_words(text), vocabulary, "test");
}

std::string words_of(const Ids& ids, const std::vector<std::string>& vocabulary) {
  std::string words;
  for (const std::size_t id : ids) words += (words.empty() ? "" : " ") + vocabulary[id - 1];
  return words;
}

std::string translated(const EncoderDecoder& model, const std::string& source) {
  return words_of(translate(model, sentence(source + " <end>", model.source_words), 10), model.target_words);
}

EncoderDecoder drawn(const Recurrence& cell, const AlignmentVariant& variant, std::size_t size) {
  EncoderDecoder model{.cell = &cell,
                       .variant = &variant,
                       .source_words = {"a", "b", "c", "<end>"},
                       .target_words = {"<start>", "<end>", "x", "y"},
                       .features = {},
                       .source_size = size,
                       .target_size = size,
                       .state_size = size};
  RandomSource random(random_kind::by_name, 5);
  draw_parameters(model, random);
  return model;
}

Parameters inputs(Graph& graph, std::initializer_list<std::pair<const char*, Matrix>> matrices) {
  Parameters parameters;
  for (const auto& [name, cells] : matrices) {
    parameters.emplace(&name_from_text(name).role(),
                       graph.input(name_from_text(name), cells, axis("rows"), axis("columns")));
  }
  return parameters;
}

double sigma(double x) { return 1.0 / (1.0 + std::exp(-x)); }

constexpr const char* white_house = "the white house is small <end>";

}  // namespace

TEST_CASE("an encoder-decoder may be safetensors whose metadata have all but the matrices") {
  EncoderDecoderFile file = read_encoder_decoder(alignment_examples().front().bytes, "the example");
  file.variant = "luong";
  file.cell = "tanh";
  const EncoderDecoderFile read = read_encoder_decoder(bytes_of(file), "m.safetensors");
  CHECK(read.title == file.title);
  CHECK(read.about == file.about);
  CHECK(read.source == file.source);
  CHECK(read.target_words == file.target_words);
  CHECK(read.features == file.features);
  CHECK(read.sentences.size() == file.sentences.size());
  const EncoderDecoder model =
      encoder_decoder_of(read, look_up(alignment_variants(), "luong", "variant"), recurrences().front());
  const Ids source = sentence("la maison blanche <end>", model.source_words);
  CHECK(translate(model, source, 5) == translate(hand_set("luong"), source, 5));
}

TEST_CASE("two steps of a tanh cell are what they are by hand") {
  Graph graph;
  const Parameters parameters = inputs(
      graph, {{"w_xh", matrix({{1, 0}, {0, 2}})}, {"w_hh", matrix({{0, 1}, {-1, 0}})}, {"b_h", matrix({{0.5, 0}})}});
  const Value x = graph.input(role::x, matrix({{1, 1}}), axis("rows"), axis("columns"));
  const Value zero = graph.input(role::h, matrix({{0, 0}}), axis("rows"), axis("columns"));
  const auto step = [&](std::size_t number, const Value& h) {
    const Graph::Scope open(graph, scope::number, number);
    return tanh_step(x, h, parameters);
  };
  const Value first = step(1, zero);
  CHECK(close(first.matrix(), matrix({{0.905148253644866, 0.964027580075817}}), 1e-15));  // tanh 1.5, tanh 2
  const Value second = step(2, first);
  // (1.5 − 0.9640…, 2 + 0.9051…)
  CHECK(close(second.matrix(), matrix({{std::tanh(0.535972419924183), std::tanh(2.905148253644866)}}), 1e-15));
}

TEST_CASE("a gated unit is what its definition says, gate by gate") {
  const EncoderDecoder model = drawn(look_up(recurrences(), "gru", "cell"), alignment_variants().front(), 3);
  Graph graph;
  add_computation(model, {2, 1}, {2}, graph);
  const auto learned = [&](const char* leaf) { return *model.parameters.at(std::string("encoder.") + leaf); };
  const Matrix &before = graph.at("encoder.1.h").matrix(), &x = graph.at("encoder.2.x").matrix();
  const auto sum = [&](const char* w_x, const char* w_h, const Matrix& h, std::size_t j) {
    double total = 0.0;
    for (std::size_t i = 0; i < 3; ++i) total += x(0, i) * learned(w_x)(i, j) + h(0, i) * learned(w_h)(i, j);
    return total;
  };
  Matrix remembered = before;
  for (std::size_t j = 0; j < 3; ++j) remembered(0, j) *= sigma(sum("w_xr", "w_hr", before, j));
  for (std::size_t j = 0; j < 3; ++j) {
    const double z = sigma(sum("w_xz", "w_hz", before, j));
    const double candidate = std::tanh(sum("w_xh", "w_hh", remembered, j));
    CHECK(close(graph.at("encoder.2.update").matrix()(0, j), z, 1e-14));
    CHECK(close(graph.at("encoder.2.candidate").matrix()(0, j), candidate, 1e-14));
    CHECK(close(graph.at("encoder.2.h").matrix()(0, j), z * before(0, j) + (1.0 - z) * candidate, 1e-14));
  }
}

TEST_CASE("every variant with attention translates the hand-set sentences, and no other sentence's words") {
  for (const char* variant : {"bahdanau", "luong", "scaled-dot"}) {
    CAPTURE(variant);
    const EncoderDecoder model = hand_set(variant);
    for (const auto& [noun, thing] : {std::pair("maison", "house"), std::pair("fleur", "flower")}) {
      for (const auto& [before, first] : {std::pair("blanche", "white"), std::pair("petite", "small")}) {
        for (const auto& [after, last] : {std::pair("blanche", "white"), std::pair("petite", "small")}) {
          CHECK(translated(model, std::string("la ") + noun + " " + before + " est " + after) ==
                std::string("the ") + first + " " + thing + " is " + last + " <end>");
        }
      }
    }
  }
}

TEST_CASE("the hand-set alignment crosses where the word order does") {
  for (const char* variant : {"bahdanau", "luong", "scaled-dot"}) {
    CAPTURE(variant);
    const EncoderDecoder model = hand_set(variant);
    Graph graph;
    add_computation(model, sentence("la maison blanche est petite <end>", model.source_words),
                    sentence(white_house, model.target_words), graph);
    const Node& alignment = graph.at("alignment");
    CHECK(alignment.frame.shape == Shape{6, 6});
    CHECK(alignment.frame.rows.label(1) == "white");
    CHECK(alignment.frame.columns.label(2) == "blanche");
    const std::size_t looked_at[] = {0, 2, 1, 3, 4, 5};
    for (std::size_t t = 0; t < 6; ++t) {
      const std::span<const double> weights = row(alignment.matrix(), t);
      CHECK(static_cast<std::size_t>(std::ranges::max_element(weights) - weights.begin()) == looked_at[t]);
    }
  }
}

TEST_CASE("without attention the translation loses the word that the last state no longer holds") {
  const EncoderDecoder model = hand_set("none");
  CHECK(translated(model, "la maison blanche est petite") == "the small house is small <end>");
  const Ids source = sentence("la maison blanche est petite <end>", model.source_words);
  const Ids right = sentence(white_house, model.target_words);
  const SourceInfluence lost = source_influence(model, source, right),
                        kept = source_influence(hand_set("bahdanau"), source, right);
  CHECK(model.source_words[lost.replacements[2] - 1] == "petite");
  CHECK(lost.moved(1, 2) < 0.01);  // "white" does not notice that blanche became petite
  CHECK(kept.moved(1, 2) > 0.99);
}

TEST_CASE("each variant asks with its own state: the last one, or the new one") {
  for (const AlignmentVariant& variant : alignment_variants()) {
    if (variant.score.empty()) continue;
    CAPTURE(variant.name);
    const EncoderDecoder model = drawn(recurrences().front(), variant, 3);
    Graph graph;
    add_computation(model, {1, 2, 4}, {3, 2}, graph);
    const char* expected = variant.name == "luong" ? "decoder.2.state" : "decoder.1.state";
    CHECK(graph.at("decoder.2.query").operands.front()->name == expected);
    CHECK(same(graph.at("decoder.2.query").matrix(), graph.at(expected).matrix()));
  }
}

TEST_CASE("the scores of each variant are additive, plain or scaled by the root of the state's size") {
  for (const AlignmentVariant& variant : alignment_variants()) {
    if (variant.score.empty() || variant.score == "additive") continue;
    const EncoderDecoder model = drawn(recurrences().front(), variant, 4);
    Graph graph;
    add_computation(model, {1, 2, 4}, {3}, graph);
    const Matrix &q = graph.at("decoder.1.query").matrix(), &h = graph.at("h").matrix();
    const double divisor = variant.name == "scaled-dot" ? 2.0 : 1.0;
    for (std::size_t i = 0; i < 3; ++i) {
      double dot = 0.0;
      for (std::size_t j = 0; j < 4; ++j) dot += q(0, j) * h(i, j);
      CHECK(close(graph.at("decoder.1.scaled").matrix()(0, i), dot / divisor, 1e-14));
    }
  }
}

TEST_CASE("the context is joined where the variant says: to the cell's input, to the state, or nowhere") {
  for (const AlignmentVariant& variant : alignment_variants()) {
    CAPTURE(variant.name);
    const EncoderDecoder model = drawn(recurrences().front(), variant, 3);
    Graph graph;
    add_computation(model, {1, 2, 4}, {3, 2}, graph);
    CHECK(graph.at("decoder.2.x").frame.shape.columns == 3 + 3 * variant.contexts_in_cell);
    // [a_t; s_t], whose size is that of two states, and not [α_t; s_t].
    const Matrix& joined = graph.at("decoder.2.joined").matrix();
    CHECK(joined.shape().columns == 3 + 3 * variant.contexts_joined);
    if (variant.contexts_joined == 0) {
      CHECK(same(joined, graph.at("decoder.2.state").matrix()));
      continue;
    }
    for (std::size_t j = 0; j < 3; ++j) {
      CHECK(joined(0, j) == graph.at("decoder.2.context").matrix()(0, j));
      CHECK(joined(0, 3 + j) == graph.at("decoder.2.state").matrix()(0, j));
    }
  }
}

TEST_CASE("models of any cell, variant and size can be drawn, and all their rows of weights sum to one") {
  for (const Recurrence& cell : recurrences()) {
    for (const AlignmentVariant& variant : alignment_variants()) {
      for (const std::size_t size : {1, 2, 7, 33}) {
        CAPTURE(cell.name);
        CAPTURE(variant.name);
        CAPTURE(size);
        const EncoderDecoder model = drawn(cell, variant, size);
        Graph graph;
        add_computation(model, {3, 1, 1, 4}, {3, 4, 2}, graph);
        for (const Node& node : graph.nodes()) {
          if (node.leaf() != "alignment" && node.leaf() != "distribution") continue;
          for (std::size_t i = 0; i < node.frame.shape.rows; ++i) {
            double sum = 0.0;
            for (const double weight : row(node.matrix(), i)) sum += weight;
            CHECK(close(sum, 1.0, 1e-12));
          }
        }
        CHECK((graph.find("alignment") == nullptr) == variant.score.empty());
      }
    }
  }
}

TEST_CASE("following the words that greedy decoding found gives the same distributions") {
  for (const Recurrence& cell : recurrences()) {
    for (const AlignmentVariant& variant : alignment_variants()) {
      const EncoderDecoder model = drawn(cell, variant, 4);
      const Ids found = translate(model, {1, 3, 2, 4}, 6);
      REQUIRE(!found.empty());
      const Matrix all = distributions(model, {1, 3, 2, 4}, found);
      Graph graph;
      add_computation(model, {1, 3, 2, 4}, found, graph);
      for (std::size_t t = 0; t < found.size(); ++t) {
        const std::span<const double> shares = row(all, t);
        CHECK(static_cast<std::size_t>(std::ranges::max_element(shares) - shares.begin()) + 1 == found[t]);
        const Matrix& kept = graph.at("decoder." + std::to_string(t + 1) + ".distribution").matrix();
        CHECK(std::ranges::equal(row(kept, 0), shares));
      }
    }
  }
}

TEST_CASE("the context does not depend on the order in which the encoder's states stand") {
  const EncoderDecoder model = hand_set("bahdanau");
  Graph graph;
  add_computation(model, sentence("la maison blanche est petite <end>", model.source_words), {3}, graph);
  Graph other;
  const Matrix& h = graph.at("h").matrix();
  Matrix turned = h;
  for (std::size_t i = 0; i < 6; ++i) std::ranges::copy(row(h, 5 - i), row(turned, i).begin());
  const Value q = other.input(role::q, graph.at("decoder.1.query").matrix(), axis("q"), axis("f"));
  const Value k = other.input(role::k, turned, axis("k"), axis("f"));
  ScoreParameters learned;
  for (const char* name : {"score_wq", "score_wk", "score_wv"}) {
    const Matrix& cells = *model.parameters.at(std::string("decoder.") + name);
    learned.matrices.emplace(&name_from_text(name).role(),
                             other.input(name_from_text(name), cells, axis("r"), axis("c")));
  }
  const AttentionRecipe recipe{.function = find_row(scoring_functions(), "additive"), .learned = learned};
  CHECK(close(attention(q, k, k, recipe).matrix(), graph.at("decoder.1.context").matrix(), 1e-12));
}

TEST_CASE("every number of a translation can be explained") {
  for (const AlignmentVariant& variant : alignment_variants()) {
    const EncoderDecoder model = drawn(look_up(recurrences(), "gru", "cell"), variant, 2);
    Graph graph;
    add_computation(model, {1, 4}, {3, 2}, graph);
    for (const Node& node : graph.nodes()) {
      if (!node.op || node.name.empty()) continue;
      const Explanation explanation = explain({&node, 0, 0});
      CHECK_MESSAGE(close(explanation.term.value, node.matrix()(0, 0), 1e-12), node.name);
    }
  }
}

TEST_CASE("a labelled matrix has the same cells and other labels, one for each row") {
  Graph graph;
  const Value x = graph.input(role::x, matrix({{1, 2}, {3, 4}}), axis("rows"), axis("columns"));
  const Value y = labelled(x, axis("words", {"a", "b"}));
  CHECK(same(y.matrix(), x.matrix()));
  CHECK(y.node().frame.rows.label(1) == "b");
  check_refused({{"one for each row", [&] { labelled(x, axis("words", {"a"})); }}});
}

TEST_CASE("an encoder-decoder file is refused by the name of what is wrong in it") {
  const std::string good(alignment_examples().front().bytes);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t place = text.find(from);
    REQUIRE(place != std::string::npos);
    text.replace(place, from.size(), to);
    return [text] {
      const EncoderDecoderFile file = read_encoder_decoder(text, "f.json");
      encoder_decoder_of(file, alignment_variants().front(), recurrences().front());
    };
  };
  check_refused({
      {"f.json: the matrix encoder.e is missing", with("\"encoder.e\"", "\"encoder.f\"")},
      {"decoder.b_s is missing: with the cell tanh and the variant bahdanau, it is 1×8",
       with("\"decoder.b_s\"", "\"decoder.b_t\"")},
      {"has no matrix 'decoder.w_p'", with("\"encoder.b_h\"", "\"decoder.w_p\": [[1]], \"encoder.b_h\"")},
      {"encoder.b_h is 1×7 and must be 1×8", with("[[-2, -4, -2,", "[[-4, -2,")},
      {"row 2 has 1 cell", with("[0, 1, 0, 0, 0, 0.5, 0]", "[0]")},
      {"every number must be finite", with("[[-2, -4,", "[[\"NaN\", -4,")},
      {"unknown member 'sorce' (did you mean 'source'?)", with("\"source\"", "\"sorce\"")},
      {"\"cell\" must be a string", with("\"tanh\"", "3")},
      {"unknown variant 'luang' (did you mean 'luong'?)", with("\"luong\"", "\"luang\"")},
      {"'la' twice", with("\"la\", \"maison\"", "\"la\", \"la\"")},
      {"decoder.score_wv is missing: with the cell tanh and the variant bahdanau, it has one column, and a "
       "row for each column of score_wq",
       with("\"decoder.score_wv\"", "\"decoder.score_wu\"")},
      {"including <start>", with("\"<start>\"", "\"<begin>\"")},
      {"\"features\" has 7 names, and a state has size 8", with("\"determiner\", ", "")},
      {"must be an object of matrices by name", with("\"parameters\": {", "\"parameters\": [], \"others\": {")},
      {"a JSON object with \"parameters\"", [] { read_encoder_decoder("[1]", "f.json"); }},
  });
}

TEST_CASE("attn align refuses what cannot be with a sentence and a way out") {
  const TemporaryFolder folder;
  struct Case {
    Words words;
    const char* part;
  };
  const Case cases[] = {
      {{"--variant", "luon"}, "did you mean 'luong'?"},
      {{"--cell", "grru"}, "did you mean 'gru'?"},
      {{"--cell", "gru"}, "--seed N"},
      {{"--source", "la maison blanch"}, "did you mean 'blanche'?"},
      {{"--target", "the hose"}, "did you mean 'house'?"},
      {{"--source", " "}, "the text has no words"},
      {{"--hidden", "0"}, "--hidden must be 1 or more"},
      {{"--hidden", "65536", "--seed", "1"}, "smaller --hidden"},
      {{"--hidden", "99999999999"}, "--hidden must be a whole number from 1 to 65536"},
      {{"--steps", "0"}, "--steps must be 1 or more"},
      {{"--steps", "3", "--target", "the"}, "give one of them"},
      {{"--hidden", "1000", "--steps", "10000"}, "fewer --steps"},
      {{"--seed", "-1"}, "--seed must be a whole number from 0"},
      {{"--parameters", "f.json", "--seed", "1"}, "leave one of them out"},
      {{"--parameters", "/nowhere.json"}, "/nowhere.json"},
      {{"--parameters", folder.write("empty.json", "{}")}, "source_words"},
      {{"--only", "h", "--explain", "h[1,1]"}, "give one of them"},
      {{"--depth", "2"}, "--explain"},
      {{"--explain", "h[7,1]"}, "numbered from 1 to 6"},
      {{"--transpose", "--variant", "none"}, "no alignment"},
  };
  for (const auto& [words, part] : cases) {
    Words line = {"align"};
    line.insert(line.end(), words.begin(), words.end());
    const ProcessResult finished = run_attn(line);
    CHECK_MESSAGE(finished.code == 2, command_line(line));
    CHECK_MESSAGE(finished.errors.find(part) != std::string::npos, finished.errors);
  }
}

TEST_CASE("attn align tells the steps, the alignment in both orientations, and what is lost without it") {
  const auto out = [](Words words) {
    words.insert(words.begin(), "align");
    const ProcessResult finished = run_attn(words);
    CHECK_MESSAGE(finished.code == 0, finished.errors);
    return finished.out;
  };
  const auto has = [](const std::string& text, std::string_view part) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
  };
  const std::string usual = out({});
  has(usual, "la maison blanche est petite <end> → the white house is small <end>");
  has(usual, "Output 2: \"white\"");
  has(usual, "\"white\" attends most to \"blanche\" (97 %)");
  has(usual, "\n  alignment │      la  maison  blanche");
  has(out({"--transpose"}), "\n  alignment_transposed │     the   white");
  has(out({"--variant", "luong"}), "The context a_t is concatenated with the state s_t");
  const std::string bottleneck = out({"--variant", "none", "--target", "the white house is small"});
  has(bottleneck, "What the bottleneck loses");
  has(bottleneck, "the most probable word is \"small\"");
  has(bottleneck, "Teacher forcing");
  has(out({"--explain", "decoder.2.weights[1,3]", "--variant", "luong", "--depth", "1"}), "\n    scores[1,3] =");
  has(out({"--explain", "encoder.2.h[maison,noun]"}), "= tanh(");
  has(out({"--seed", "3", "--cell", "gru", "--source", "any words", "--hidden", "5"}), "encoder.1.candidate");
  has(out({"--only", "alignment", "--format", "csv"}), "maison");
  CHECK(out({"--seed", "3"}) == out({"--seed", "3"}));
  CHECK(out({"--seed", "3"}) != out({"--seed", "4"}));
}

TEST_CASE("how the numbers were chosen is said at the end, and only of numbers that were") {
  const std::string usual = run_attn({"align"}).out, random = run_attn({"align", "--seed", "3"}).out;
  const std::size_t numbers = usual.find("How the numbers were chosen"),
                    influence = usual.find("What each output depends on");
  REQUIRE(numbers != std::string::npos);
  CHECK(influence < numbers);
  CHECK(random.find("How the numbers were chosen") == std::string::npos);
  CHECK(random.find("random, not trained") != std::string::npos);
  CHECK(usual.find("random") == std::string::npos);
}

TEST_CASE("a word that nothing can replace is said to stay") {
  const std::string lone = run_attn({"align", "--seed", "3", "--source", "a", "--target", "b"}).out;
  CHECK(lone.find("A word stays as it is") != std::string::npos);
  CHECK(run_attn({"align"}).out.find("A word stays as it is") == std::string::npos);
}

TEST_CASE("the built-in translation can be read from a file as well") {
  const TemporaryFolder folder;
  const std::string path = folder.write("model.json", std::string(alignment_examples().front().bytes));
  CHECK(run_attn({"align", "--parameters", path}).out == run_attn({"align"}).out);
  std::string untitled(alignment_examples().front().bytes);
  const std::size_t title = untitled.find("\"title\"");
  untitled.erase(title, untitled.find('\n', title) - title);
  const ProcessResult finished = run_attn({"align", "--parameters", folder.write("untitled.json", untitled)});
  CHECK(finished.out.starts_with("A translation\n"));
}
