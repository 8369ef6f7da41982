#include "school/training/training_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "school/training/architecture.hpp"
#include "school/training/training_page.hpp"

namespace attn {

namespace {

constexpr std::array table_of_efforts = {
    Effort{"Equal steps", "steps", "equal_steps", [](const Work&) -> std::uint64_t { return 1; }},
    Effort{"Equal multiply-adds", "multiply-adds", "equal_multiply_adds",
           [](const Work& step) { return step.cost.multiply_adds; }},
    Effort{"Equal sequential operations", "sequential operations", "equal_sequential",
           [](const Work& step) { return step.sequential; }},
};

// Losses are compared as they are shown.
constexpr int digits_of_losses = 4;

std::string lower_loss(std::span<const std::string_view> names, std::span<const std::string> losses,
                       std::span<const double> exact) {
  if (losses[0] == losses[1]) return fmt::format("Both have the held-out loss {}.", losses[0]);
  const std::size_t lower = exact[0] < exact[1] ? 0 : 1;
  return fmt::format("There the held-out loss of the {} model is {}, and that of the {} model is {}.", names[lower],
                     losses[lower], names[1 - lower], losses[1 - lower]);
}

}  // namespace

std::span<const Effort> efforts() { return table_of_efforts; }

TrainingComparison::TrainingComparison(Trainer& first, Trainer& second) {
  for (Trainer* const trainer : {&first, &second}) {
    const Architecture* const architecture = architecture_of(trainer->model());
    sides_.push_back({trainer, architecture->name, trainer->work_of_step()});
  }
  if (sides_[0].name == sides_[1].name)
    fail("the model of the task {} is {} itself: give another architecture", first.task().name, sides_[0].name);
}

// Both can afford as much as the cheaper of the two takes in all; quarters of that are compared.
std::vector<TrainingComparison::Row> TrainingComparison::rows_of(const Effort& effort) const {
  constexpr std::uint64_t parts = 4;
  const std::array each = {effort.of_step(sides_[0].step), effort.of_step(sides_[1].step)};
  const std::uint64_t all = std::min(each[0], each[1]) * sides_[0].trainer->options().steps;
  std::vector<Row> rows;
  for (std::uint64_t part = 1; part <= parts; ++part) {
    const std::uint64_t now = all / parts * part + all % parts * part / parts;
    if (now > 0) rows.push_back({now, {now / each[0], now / each[1]}});
  }
  return rows;
}

void TrainingComparison::look_at(Side& side) {
  const std::size_t step = side.trainer->steps_done(), place = &side == &sides_[0] ? 0 : 1;
  const bool is_compared = std::ranges::any_of(table_of_efforts, [&](const Effort& effort) {
    const std::vector<Row> rows = rows_of(effort);
    return std::ranges::any_of(rows, [&](const Row& row) { return row.steps[place] == step; });
  });
  if (is_compared) side.looked_at.emplace(step, side.trainer->evaluate());
}

void TrainingComparison::train_second(const std::function<bool()>& is_to_stop) {
  Side& side = sides_[1];
  look_at(side);
  while (!side.trainer->is_done() && !is_to_stop()) {
    side.trainer->step();
    look_at(side);
  }
}

void TrainingComparison::add_effort(Page& page, const Effort& effort) const {
  page.head(3, std::string(effort.title));
  std::vector<Row> rows = rows_of(effort);
  std::erase_if(rows, [&](const Row& row) {
    return !sides_[0].looked_at.contains(row.steps[0]) || !sides_[1].looked_at.contains(row.steps[1]);
  });
  if (rows.empty()) return page.say("The training was stopped before the first row.");
  std::vector<std::string> columns, labels;
  auto numbers = std::make_shared<Matrix>(Shape{rows.size(), 2 * sides_.size()});
  Plot plot{.title = fmt::format("Held-out loss by {}", effort.name), .x_name = std::string(effort.name), .series = {}};
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    const Side& side = sides_[s];
    columns.insert(columns.end(), {fmt::format("{} step", side.name), std::string(side.name)});
    Series losses{std::string(side.name), {}, {}};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double loss = side.looked_at.at(rows[i].steps[s]).loss;
      (*numbers)(i, 2 * s) = static_cast<double>(rows[i].steps[s]);
      (*numbers)(i, 2 * s + 1) = loss;
      losses.x.push_back(static_cast<double>(rows[i].effort));
      losses.y.push_back(loss);
    }
    plot.series.push_back(std::move(losses));
  }
  for (const Row& row : rows) labels.push_back(with_commas(row.effort));
  add_numbers(page, std::string(effort.array), numbers, axis(std::string(effort.name), labels),
              axis("measures", columns));
  const std::size_t last = rows.size() - 1;
  const std::array exact = {(*numbers)(last, 1), (*numbers)(last, 3)};
  const std::array losses = {written_fixed(exact[0], digits_of_losses), written_fixed(exact[1], digits_of_losses)};
  const std::array names = {sides_[0].name, sides_[1].name};
  const auto steps_of = [&](std::size_t side) {
    const std::size_t steps = rows[last].steps[side];
    return fmt::format("{} whole {:step|steps} of the {} model", with_commas(steps), Count{steps}, names[side]);
  };
  page.say(fmt::format("The last row has {} {}, into which {} and {} fit. {}", labels[last], effort.name, steps_of(0),
                       steps_of(1), lower_loss(names, losses, exact)));
  page.say(std::move(plot));
}

void TrainingComparison::add_to(Page& page) const {
  page.head(2, "Two architectures");
  page.say(
      "Two models are trained on the same sentences in the same order, with the same options and seed. "
      "What a step takes is counted from its graph, forward and backward. "
      "Multiply-adds are those of matrix products. "
      "Sequential operations wait for one another: they are the longest chain in the graph. "
      "The update of the parameters by Adam is in neither.");
  Listing kinds{.columns = {"model", "what it is"}, .rows = {}, .headed = true};
  auto numbers = std::make_shared<Matrix>(Shape{sides_.size(), 3});
  std::vector<std::string> names;
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    const Side& side = sides_[s];
    names.emplace_back(side.name);
    kinds.rows.push_back({names.back(), kind_in_words(side.trainer->model())});
    (*numbers)(s, 0) = static_cast<double>(count_parameters(side.trainer->model()));
    (*numbers)(s, 1) = static_cast<double>(side.step.cost.multiply_adds);
    (*numbers)(s, 2) = static_cast<double>(side.step.sequential);
  }
  page.say(std::move(kinds));
  add_numbers(page, "of_step", std::move(numbers), axis("models", names),
              axis("measures", {"parameters", "multiply-adds", "sequential"}));
  page.say("In the tables, the column of a model is its held-out loss at the step beside it.");
  for (const Effort& effort : table_of_efforts) add_effort(page, effort);
  page.say(
      "This is one task with one seed and one learning rate for both, and the models are small: with other choices the order may change. "
      "No time was measured. "
      "A machine that computes many numbers at once waits for the sequential operations; one that computes few waits for the multiply-adds.");
}

}  // namespace attn
