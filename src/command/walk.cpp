#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "attention/steps.hpp"
#include "command/by_word.hpp"
#include "command/solve.hpp"
#include "page/describe.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

constexpr std::size_t small = 64;  // cells of an input that the walk shows without being asked

const Step* step_of(const Node& node) {
  for (const Step& step : steps()) {
    if (step.shows(node)) return &step;
  }
  return nullptr;
}

void add_title(Page& page, const Problem& problem) {
  if (!problem.title.empty()) page.blocks.emplace_back(Heading{1, text(problem.title)});
  for (const std::string& paragraph : problem.about) page.blocks.emplace_back(Prose{text(paragraph)});
}

void add_inputs(Page& page) {
  page.blocks.emplace_back(Heading{2, text("Given")});
  std::vector<const Node*> inputs;
  std::ranges::copy_if(page.trace, std::back_inserter(inputs),
                       [](const Node* node) { return !node->operation; });
  std::ranges::stable_partition(inputs, [](const Node* node) { return node->leaf() == "x"; });
  for (const Node* node : inputs) {
    if (node->frame.shape.cells() <= small) {
      page.blocks.emplace_back(table_of(*node));
    } else {
      page.blocks.emplace_back(
          Prose{text(code(node->name), fmt::format(" is {}; ", to_string(node->frame.shape)),
                     code("--only " + node->name), " shows it.")});
    }
  }
}

// The walk in matrix form: the nodes in the order in which they were computed, under the step that each
// belongs to.
class MatrixWalk {
 public:
  explicit MatrixWalk(Page& page) : page_(page) {}

  void add(const Node& node) {
    const Step* step = step_of(node);
    if (!step) return;
    if (node.is_alias()) {
      if (node.leaf() == "output") page_.blocks.emplace_back(formula_block(node));
      return;
    }
    const std::string place = std::string(node.scope()) + std::string(step->name);
    if (place != place_) add_heading(node, *step);
    place_ = place;
    add_result(page_, node);
    if (!holds_weights(node)) return;
    if (Text reading = reading_of_weights(node); !reading.empty()) {
      page_.blocks.emplace_back(Prose{std::move(reading)});
    }
  }

 private:
  void add_heading(const Node& node, const Step& step) {
    std::string title = fmt::format("{}. {}", ++count_, step.title);
    if (!node.scope().empty()) title += fmt::format(" ({})", node.scope().substr(0, node.scope().size() - 1));
    page_.blocks.emplace_back(Heading{2, text(std::move(title))});
    if (told_.insert(step.name).second) page_.blocks.emplace_back(Prose{text(std::string(step.meaning))});
  }

  Page& page_;
  std::string place_;
  int count_ = 0;
  std::set<std::string_view> told_;
};

}  // namespace

Outcome run_walk(const Command&, const Arguments& arguments) {
  const Solved solved = solve(arguments);
  const std::optional<std::string> only = arguments.text("only"), word = arguments.text("by-word");
  if (only && word) fail("--only and --by-word are both given: give one of them");
  Page page = solved.page(only);
  if (only) {
    for (const Node* node : page.trace) add_result(page, *node);
    return {std::move(page), warnings(*solved.graph)};
  }
  const bool computes =
      std::ranges::any_of(page.trace, [](const Node* node) { return node->operation != nullptr; });
  if (!computes) {
    fail(
        "nothing can be computed from what is given: give x with --wq, --wk and --wv (or --seed to draw "
        "them), or q, "
        "k and v, or scores, or weights and v");
  }
  add_title(page, *solved.problem);
  if (word) {
    add_word_walk(page, *word);
  } else {
    add_inputs(page);
    MatrixWalk walk(page);
    for (const Node* node : page.trace) walk.add(*node);
  }
  return {std::move(page), warnings(*solved.graph)};
}

}  // namespace attn
