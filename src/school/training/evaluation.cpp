#include "school/training/loss_graph.hpp"

#include <algorithm>

#include "core/graph/run.hpp"
#include "core/model/generation.hpp"

namespace attn {

namespace {

constexpr std::size_t most_at_once = 50;  // sentences

std::size_t id_of_largest(std::span<const double> cells) {
  return static_cast<std::size_t>(std::ranges::max_element(cells) - cells.begin()) + 1;
}

}  // namespace

Evaluator::Evaluator(const TrainedModel& model, std::vector<TaskExample> examples) : examples_(std::move(examples)) {
  if (examples_.empty()) return;
  const BatchShape shape = BatchShape::of(examples_, std::min(most_at_once, examples_.size()));
  graph_ = std::make_unique<LossGraph>(model, shape, 0.0);
  plan_ = graph_->graph().run().plan_to_repeat({&graph_->logits().node(), &graph_->losses().node()});
}

Evaluator::~Evaluator() = default;

void Evaluator::compute(std::size_t first) {
  const std::size_t count = std::min(graph_->shape().sentences, examples_.size() - first);
  graph_->put(batch_of(std::span(examples_).subspan(first, count), graph_->shape()));
  graph_->graph().run().repeat(plan_);
}

Evaluation Evaluator::evaluate() {
  Evaluation result;
  if (!graph_) return result;
  const BatchShape& shape = graph_->shape();
  double sum = 0.0;
  for (std::size_t first = 0; first < examples_.size(); first += shape.sentences) {
    compute(first);
    const Matrix &logits = graph_->logits().matrix(), &losses = graph_->losses().matrix();
    for (std::size_t s = 0; s < shape.sentences && first + s < examples_.size(); ++s) {
      const TaskExample& example = examples_[first + s];
      bool is_right = true;
      for (std::size_t i = 0; i < example.expected.size(); ++i) {
        if (!example.counts_at(i)) continue;
        const std::size_t place = s * shape.expected + i;
        const bool is_word_right = id_of_largest(row(logits, place)) == example.expected[i];
        ++result.words;
        result.right_words += is_word_right;
        is_right = is_right && is_word_right;
        sum += losses(place, 0);
      }
      ++result.sentences;
      result.right_sentences += is_right;
    }
  }
  if (result.words > 0) result.loss = sum / static_cast<double>(result.words);
  return result;
}

Ids Evaluator::predictions(std::size_t i) {
  compute(i);
  Ids words;
  for (std::size_t t = 0; t < examples_[i].expected.size(); ++t)
    words.push_back(id_of_largest(row(graph_->logits().matrix(), t)));
  return words;
}

Evaluation evaluate(const TrainedModel& model, const std::vector<TaskExample>& examples) {
  return Evaluator(model, examples).evaluate();
}

Ids predictions(const TrainedModel& model, const TaskExample& example) {
  return Evaluator(model, {example}).predictions(0);
}

Ids generated_ids(const TrainedModel& model, const TaskExample& example) {
  if (const auto* const recurrent = std::get_if<EncoderDecoder>(&model))
    return translate(*recurrent, example.source, example.expected.size());
  const auto& transformer = std::get<Transformer>(model);
  if (!transformer.kind->decodes) return predictions(model, example);
  Graph graph(keep_nothing());
  RunningTransformer running(transformer, graph);
  std::optional<Value> encoded;
  if (transformer.kind->encodes) encoded = running.encode({.ids = example.source});
  const GenerationTask task{.prompt = {.ids = {example.given.front()}},
                            .steps = example.expected.size(),
                            .ends = {id_in(transformer.target_vocabulary, end_word)}};
  Ids words;
  for (const GenerationStep& step : generate(running, graph, task, encoded, {})) words.push_back(step.chosen);
  return words;
}

Ids sampled_continuation(const Transformer& model, const Ids& prompt, std::size_t words, double temperature) {
  Graph graph(keep_nothing());
  RunningTransformer running(model, graph);
  Ids written;
  for (const GenerationStep& step : generate(running, graph, {.prompt = {.ids = prompt}, .steps = words}, {},
                                             {.temperature = temperature, .generator = Generator(1)}))
    written.push_back(step.chosen);
  return written;
}

}  // namespace attn
