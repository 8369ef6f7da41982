#include "school/training/trained_run.hpp"

#include <algorithm>
#include <optional>
#include <variant>

#include "core/attention/watches.hpp"
#include "core/support/error.hpp"
#include "page/tell/describe.hpp"
#include "school/training/loss_graph.hpp"

namespace attn {

namespace {

constexpr std::string_view not_counted = "·";

ModelInput input_of_ids(const Ids& ids, const Vocabulary& vocabulary) {
  const Words words = words_of(ids, vocabulary);
  return {.tokens = words, .ids = ids, .blank = blanks_among(words)};
}

void build_sentence(const Transformer& model, const TaskExample& sentence, Graph& graph) {
  RunningTransformer running(model, graph);
  std::optional<Value> encoded;
  if (model.kind->encodes) encoded = running.encode(input_of_ids(sentence.source, model.source_vocabulary));
  const Value last =
      model.kind->decodes ? running.decode(input_of_ids(sentence.given, model.target_vocabulary), encoded) : *encoded;
  name(role::distribution, softmax(running.logits(last)));
}

// Every step of its decoder is given the word before.
void build_sentence(const EncoderDecoder& model, const TaskExample& sentence, Graph& graph) {
  add_computation(model, sentence.source, sentence.expected, graph);
}

// Of a row for each word, or of one matrix for each step.
Words most_probable_word(const Graph& graph) {
  Words words;
  for (const Node& node : graph.nodes()) {
    if (!node.is(role::distribution) || node.is_alias()) continue;
    for (std::size_t i = 0; i < node.frame.shape.rows; ++i) {
      const std::span<const double> shares = row(node.matrix(), i);
      const auto best = static_cast<std::size_t>(std::ranges::max_element(shares) - shares.begin());
      words.push_back(node.frame.columns.label(best));
    }
  }
  return words;
}

bool is_decoder_alone(const TrainedModel& model) {
  const Transformer* const transformer = std::get_if<Transformer>(&model);
  return transformer && !transformer->kind->encodes;
}

bool has_decoder(const TrainedModel& model) {
  const Transformer* const transformer = std::get_if<Transformer>(&model);
  return !transformer || transformer->kind->decodes;
}

Ids ids_in(const Words& words, const Vocabulary& vocabulary) { return attn::input_of(words, vocabulary).ids; }

}  // namespace

bool TrainedRun::is_right() const {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] != not_counted && (i >= comes_out.size() || comes_out[i] != expected[i])) return false;
  }
  return true;
}

TrainedRun run_on(const TrainedModel& model, const TaskExample& sentence) {
  TrainedRun run{.graph = std::make_shared<Graph>()};
  std::visit([&](const auto& any) { build_sentence(any, sentence, *run.graph); }, model);
  compute_watched(*run.graph);
  run.goes_in =
      is_decoder_alone(model) ? words_of(sentence.given, words_out(model)) : words_of(sentence.source, words_in(model));
  run.expected = words_of(sentence.expected, words_out(model));
  for (std::size_t i = 0; i < run.expected.size(); ++i) {
    if (!sentence.counts_at(i)) run.expected[i] = not_counted;
  }
  if (std::ranges::all_of(run.expected, [](const std::string& word) { return word == not_counted; }))
    run.expected.clear();
  run.comes_out = most_probable_word(*run.graph);
  return run;
}

TaskExample sentence_of(const TrainedModel& model, const ModelWords& own, const std::string& text) {
  const Words words = own.of(text, false);
  if (words.empty()) fail("--text has no word: give a sentence");
  constexpr std::size_t most = 1000;
  if (words.size() > most) fail("--text has {} words: give at most {}", words.size(), most);
  const Vocabulary &in = words_in(model), &out = words_out(model);
  TaskExample sentence;
  const std::size_t start = id_in(out, start_word);
  if (is_decoder_alone(model)) {
    sentence.given = ids_in(words, out);
    if (start != 0 && sentence.given.front() != start) sentence.given.insert(sentence.given.begin(), start);
    return sentence;
  }
  sentence.source = ids_in(words, in);
  const std::size_t end = id_in(in, end_word);
  if (end != 0 && sentence.source.back() != end) sentence.source.push_back(end);
  if (!has_decoder(model)) return sentence;
  constexpr std::size_t more = 5;
  sentence.given.assign(sentence.source.size() + more, start);
  sentence.expected = sentence.given;
  sentence.expected = generated_ids(model, sentence);
  sentence.given = {start};
  sentence.given.insert(sentence.given.end(), sentence.expected.begin(), sentence.expected.end() - 1);
  sentence.counts.assign(sentence.expected.size(), false);  // the model wrote them itself
  return sentence;
}

std::vector<std::string> expected_at(const Node& weights, const TrainedModel& model, const TaskExample& sentence) {
  const NamedScope* const side = outermost(weights.place);
  const bool writes = has_decoder(model) ? !side || side->is(scope::decoder) : true;
  Words expected;
  if (!writes || weights.frame.shape.rows != sentence.expected.size()) return expected;
  for (std::size_t i = 0; i < sentence.expected.size(); ++i)
    expected.push_back(sentence.counts_at(i) ? words_out(model)[sentence.expected[i] - 1] : std::string());
  return expected;
}

}  // namespace attn
