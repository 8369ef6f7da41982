#include "school/browser/story.hpp"

#include <cmath>

#include "data/files/fields.hpp"

namespace attn {

namespace {

// The ids that a model's output is about: those of its decoder, or of an encoder alone.
const Node* ids_of_side(const Graph& graph, const ScopeKind& side) { return graph.find(Name{{side}, role::ids}); }

constexpr double thousand = 1000.0;

struct PredictionsOfGraph {
  std::vector<PredictionOnPage> all;
};

struct SentencesOfGraph {
  std::vector<const SentenceOfLine*> all;
  const Graph& graph;
};

// What a training is written in.
struct TrainingOfGraph {
  const TrainingStory& training;
  const Graph& graph;
};

std::vector<double> with_three_digits(const Matrix& weights) {
  std::vector<double> numbers(cells(weights).begin(), cells(weights).end());
  for (double& number : numbers) number = std::round(thousand * number) / thousand;
  return numbers;
}

}  // namespace

std::vector<PredictionOnPage> predictions_in(const Graph& graph) {
  std::vector<PredictionOnPage> all;
  const Node *const of_target = ids_of_side(graph, scope::target), *const of_source = ids_of_side(graph, scope::source);
  for (const Node& node : graph.nodes()) {
    if (!node.is(role::distribution) || !node.op) continue;
    const Node* const logits = node.beside(role::logits);
    if (!logits) continue;
    PredictionOnPage one{.logits = logits, .distribution = &node};
    // Words that an encoder alone reads are not followed by what it says of them.
    const Node* const ids = of_target ? of_target : of_source;
    if (ids && !node.place && ids->frame.shape.rows == node.frame.shape.rows) {
      one.ids = ids;
      one.next = ids == of_target;
    }
    all.push_back(one);
  }
  return all;
}

template <>
constexpr auto objects_in<PredictionsOfGraph> = std::tuple(object<PredictionOnPage>(
    Field{"ids", [](const PredictionOnPage& one) { return one.ids ? &one.ids->index : nullptr; }},
    Field{"logits", [](const PredictionOnPage& one) { return one.logits->index; }},
    Field{"distribution", [](const PredictionOnPage& one) { return one.distribution->index; }},
    Field{"next", &PredictionOnPage::next}));

template <>
constexpr auto objects_in<SentencesOfGraph> = std::tuple(object<SentenceOfLine>(
    Field{"ids", [](const SentenceOfLine& one,
                    const SentencesOfGraph& in) { return ids_of_side(in.graph, *one.side)->index; }},
    Field{"options", &SentenceOfLine::options}, Field{"first", &SentenceOfLine::first, WriteWhen::unless_empty},
    Field{"last", &SentenceOfLine::last, WriteWhen::unless_empty}));

template <>
constexpr auto objects_in<TrainingOfGraph> = std::tuple(
    object<WeightsAtStep>(Field{"node", [](const WeightsAtStep& one,
                                           const TrainingOfGraph& in) { return in.graph.at(one.name).index; }},
                          Field{"numbers", [](const WeightsAtStep& one) { return with_three_digits(one.weights); }}),
    object<StageOfTraining>(Field{"step", &StageOfTraining::step}, Field{"weights", &StageOfTraining::maps}),
    object<TrainingStory>(Field{"steps", &TrainingStory::steps}, Field{"loss", &TrainingStory::losses},
                          Field{"held_out", &TrainingStory::held_out, WriteWhen::unless_empty},
                          Field{"accuracy", &TrainingStory::accuracy, WriteWhen::unless_empty},
                          Field{"guessing", &TrainingStory::guessing}, Field{"maps", &TrainingStory::stages}));

std::function<void(JsonWriter& json)> written_predictions(const Graph& graph) {
  PredictionsOfGraph predictions{predictions_in(graph)};
  if (predictions.all.empty()) return {};
  return [predictions = std::move(predictions)](JsonWriter& json) { write_value(predictions.all, predictions, json); };
}

std::function<void(JsonWriter& json)> written_sentences(const Story& story, const Graph& graph) {
  SentencesOfGraph sentences{.all = {}, .graph = graph};
  for (const SentenceOfLine& one : story.sentences)
    if (ids_of_side(graph, *one.side)) sentences.all.push_back(&one);
  return [sentences = std::move(sentences)](JsonWriter& json) { write_value(sentences.all, sentences, json); };
}

std::function<void(JsonWriter& json)> written_training(const Story& story, const Graph& graph) {
  if (!story.training) return {};
  return [&training = *story.training, &graph](JsonWriter& json) {
    write_value(training, TrainingOfGraph{training, graph}, json);
  };
}

}  // namespace attn
