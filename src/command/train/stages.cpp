#include "command/train/stages.hpp"

#include <algorithm>
#include <utility>

#include "page/tell/heads.hpp"
#include "school/browser/computation_page.hpp"
#include "school/training/trained_run.hpp"

namespace attn {
namespace {

constexpr std::size_t most_stages = 25, most_numbers_of_stages = 60'000;

// As many as have room on the page, at least the first and the last.
std::size_t stages_of(const Graph& graph) {
  std::size_t cells = 0;
  for (const Node* weights : attention_weights(graph, std::nullopt)) cells += weights->frame.shape.cells();
  return std::clamp<std::size_t>(most_numbers_of_stages / std::max<std::size_t>(cells, 1), 2, most_stages);
}

}  // namespace

StagesOfTraining::StagesOfTraining(const Trainer& trainer, TaskExample sentence)
    : trainer_(trainer), sentence_(std::move(sentence)), first_(trainer.steps_done()), apart_(1) {
  const TrainedRun run = run_on(trainer_.model(), sentence_);
  require_room_in_browser(*run.graph);
  const std::size_t steps = trainer_.options().steps - first_, between = stages_of(*run.graph) - 1;
  apart_ = std::max<std::size_t>(1, (steps + between - 1) / between);
  take();
}

void StagesOfTraining::at_step() {
  if ((trainer_.steps_done() - first_) % apart_ == 0) take();
}

void StagesOfTraining::take() {
  const std::size_t step = trainer_.steps_done();
  if (!story_.stages.empty() && story_.stages.back().step == step) return;
  const TrainedRun run = run_on(trainer_.model(), sentence_);
  StageOfTraining& stage = story_.stages.emplace_back(StageOfTraining{step, {}});
  for (const Node* weights : attention_weights(*run.graph, std::nullopt))
    stage.maps.push_back({weights->name, *weights->cells()});
}

TrainingStory StagesOfTraining::story() && {
  take();
  story_.guessing = loss_of_guessing(trainer_.setup());
  for (const CurvePoint& point : trainer_.curve()) {
    story_.steps.push_back(point.step);
    story_.losses.push_back(point.loss);
    if (point.held_out.words == 0) continue;
    story_.held_out.push_back(point.held_out.loss);
    story_.accuracy.push_back(point.held_out.accuracy());
  }
  return std::move(story_);
}

}  // namespace attn
