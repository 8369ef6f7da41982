#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "attention/steps.hpp"
#include "command/attention/by_word.hpp"
#include "command/attention/swap.hpp"
#include "command/model/outline.hpp"
#include "command/solve.hpp"
#include "page/describe.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

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
  SideBySide tables;
  for (const Node* node : inputs) tables.tables.push_back(table_of(*node));
  page.blocks.emplace_back(std::move(tables));
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
    if (repeats) page_.blocks.emplace_back(formula_block(last));
  }

 private:
  void add_heading(const Node& node, const Step& step) {
    std::string title = fmt::format("{}. {}", ++count_, step.title);
    if (!node.scope().empty()) title += fmt::format(" ({})", node.scope().substr(0, node.scope().size() - 1));
    page_.blocks.emplace_back(Heading{2, text(std::move(title))});
    if (told_.insert(step.name).second) page_.blocks.emplace_back(Prose{text(step.meaning(node))});
  }

  Page& page_;
  const Step* step_ = nullptr;
  std::vector<const Node*> together_;
  int count_ = 0;
  std::set<std::string_view> told_;
};

// The weights the other way round, as tables of translations are printed: outputs as columns.
void add_alignment_tables(Page& page) {
  page.blocks.emplace_back(Heading{2, text("Alignment")});
  page.blocks.emplace_back(Prose{
      text("The weights transposed: a column for each query and a row for each key. Columns sum to one.")});
  for (const Node* node : page.trace) {
    if (node->leaf() == "alignment") add_results(page, {node});
  }
}

// One picture of all of it: a box for each step that the computation has, with the shape of what it gives.
Flow picture_of(const Page& page, const Problem& problem) {
  Flow flow;
  const auto add = [&](std::string_view leaf, std::string title, std::string_view scope) {
    const Node* last = nullptr;
    for (const Node* node : page.trace) {
      const bool inside = node->scope().find("head.") != std::string_view::npos;
      if (node->leaf() == leaf && inside == !scope.empty()) last = node;
    }
    if (last) flow.boxes.push_back({std::move(title), to_string(last->frame.shape)});
  };
  const bool several = problem.heads > 1;
  const std::string times = several ? fmt::format(" × {} heads", problem.heads) : "";
  const std::string_view head = several ? "head" : "";
  add("x", "x", "");
  add("positioned", "x + positions", "");
  for (const char* leaf : {"q", "k", "v", "scores", "weights"}) add(leaf, leaf + times, head);
  if (several) add("output", "output" + times, head);
  add("concat", "concat", "");
  add("w_o", "⋅ w_o", "");
  add("output", "output", "");
  add("feed_forward", "feed-forward", "");
  return flow;
}

Outcome outline_of(const Solved& solved, const std::optional<std::string>& only) {
  Page page = solved.page(only);
  add_title(page, *solved.problem);
  page.blocks.emplace_back(picture_of(page, *solved.problem));
  add_outline(page);
  return {.page = std::move(page), .warnings = solved.warnings()};
}

}  // namespace

Outcome run_walk(const Command&, const Arguments& arguments) {
  for (const std::string_view other : {"only", "by-word", "transpose"}) arguments.exclude("swap", other);
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
    walk.finish();
    if (arguments.has("transpose")) add_alignment_tables(page);
  }
  return {std::move(page), solved.warnings()};
}

}  // namespace attn
