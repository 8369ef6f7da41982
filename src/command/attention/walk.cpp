#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "attention/steps.hpp"
#include "command/attention/by_word.hpp"
#include "command/attention/picture.hpp"
#include "command/attention/swap.hpp"
#include "command/model/outline.hpp"
#include "command/solve.hpp"
#include "page/describe.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

void add_title(Page& page, const Problem& problem) {
  if (!problem.title.empty()) page.head(1, problem.title);
  for (const std::string& paragraph : problem.about) page.say(text(paragraph));
}

void add_inputs(Page& page, const Problem& problem) {
  page.head(2, "Given");
  std::vector<const Node*> inputs;
  std::ranges::copy_if(page.trace, std::back_inserter(inputs),
                       [](const Node* node) { return !node->operation; });
  std::ranges::stable_partition(inputs, [](const Node* node) { return node->leaf() == "x"; });
  SideBySide tables;
  for (const Node* node : inputs) tables.tables.push_back(table_of(*node));
  page.say(std::move(tables));
  add_drawn(page, problem);
}

// The walk in matrix form: the nodes in the order in which they were computed, under the step that each
// belongs to.
class MatrixWalk {
 public:
  explicit MatrixWalk(Page& page) : page_(page) {}

  void add(const Node& node) {
    const Step* step = step_of(node);
    if (!step || (node.is_alias() && node.leaf() != "output")) return;
    if (step != step_ || (!together_.empty() && together_.back()->scope() != node.scope())) finish();
    step_ = step;
    together_.push_back(&node);
  }

  // Writes the step whose nodes have gathered.
  void finish() {
    if (together_.empty()) return;
    std::vector<const Node*> nodes = std::move(together_);
    together_.clear();
    add_heading(*nodes.front(), *step_);
    // An output that is only another name for the heads side by side needs no second table.
    const bool repeats = nodes.back()->is_alias();
    const Node& last = *nodes.back();
    if (repeats) nodes.pop_back();
    if (!nodes.empty()) {
      add_results(page_, nodes);
      add_reading(page_, *nodes.back());
    }
    if (repeats) page_.say(formula_block(last));
  }

 private:
  void add_heading(const Node& node, const Step& step) {
    std::string title = fmt::format("{}. {}", ++count_, step.title);
    if (!node.scope().empty()) title += fmt::format(" ({})", node.scope_name());
    page_.head(2, std::move(title));
    if (told_.insert(step.name).second) page_.say(text(step.meaning(node)));
  }

  Page& page_;
  const Step* step_ = nullptr;
  std::vector<const Node*> together_;
  int count_ = 0;
  std::set<std::string_view> told_;
};

// The weights the other way round, as tables of translations are printed: outputs as columns.
void add_alignment_tables(Page& page) {
  page.head(2, "Alignment");
  page.say(
      text("The weights transposed: a column for each query and a row for each key. Columns sum to one."));
  for (const Node* node : page.trace) {
    if (node->leaf() == "alignment") add_results(page, {node});
  }
}

Outcome outline_of(const Solved& solved, const std::optional<std::string>& only) {
  Page page = solved.page(only);
  add_title(page, *solved.problem);
  page.say(picture_of(*page.graph, *solved.problem));
  add_outline(page);
  return {.page = std::move(page), .warnings = solved.warnings()};
}

}  // namespace

Outcome run_walk(const Command&, const Arguments& arguments) {
  for (const std::string_view other : {"only", "by-word", "transpose", "outline"}) {
    arguments.exclude("swap", other);
  }
  for (const std::string_view other : {"by-word", "transpose"}) arguments.exclude("outline", other);
  arguments.exclude("only", "by-word");
  if (const std::optional<std::string> places = arguments.text("swap")) {
    return swap_words(build(requested(arguments)), *places);
  }
  const Solved solved = solve(arguments);
  if (arguments.has("outline")) return outline_of(solved, arguments.text("only"));
  const std::optional<std::string> only = arguments.text("only"), word = arguments.text("by-word");
  Page page = solved.page(only);
  if (only) {
    for (const Node* node : page.trace) add_results(page, {node});
    return {std::move(page), solved.warnings()};
  }
  const bool computes =
      std::ranges::any_of(page.trace, [](const Node* node) { return node->operation != nullptr; });
  if (!computes) {
    fail(
        "nothing can be computed from what is given: give x with --wq, --wk and --wv (or --seed to draw "
        "them), or q, k and v, or scores, or weights and v");
  }
  add_title(page, *solved.problem);
  if (word) {
    add_word_walk(page, *word);
  } else {
    add_inputs(page, *solved.problem);
    MatrixWalk walk(page);
    for (const Node* node : page.trace) walk.add(*node);
    walk.finish();
    if (arguments.has("transpose")) add_alignment_tables(page);
  }
  return {std::move(page), solved.warnings()};
}

}  // namespace attn
