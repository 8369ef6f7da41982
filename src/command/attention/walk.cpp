#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "command/computed_problem.hpp"
#include "command/forms.hpp"
#include "core/attention/watches.hpp"
#include "core/graph/find.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "page/tell/attention_flow.hpp"
#include "page/tell/attention_steps.hpp"
#include "page/tell/by_word.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/model_walk.hpp"
#include "page/tell/swap.hpp"

namespace attn {

namespace {

// --- walk

// The weights transposed, where they are to be shown so.
AddNodes added_nodes(const Arguments& arguments) { return arguments.has(option::transpose) ? add_alignments : nullptr; }

void add_title(Page& page, const Problem& problem) {
  if (!problem.title.empty()) page.head(1, problem.title);
  for (const std::string& paragraph : problem.about) page.say(text(paragraph));
}

// What a result means, and how its table is read.
std::string with_layout(const Step& step, std::string meaning) {
  if (step.layout.empty() || meaning.empty()) return meaning + std::string(step.layout);
  return fmt::format("{} {}", meaning, step.layout);
}

void add_inputs(Page& page, const std::vector<const Node*>& nodes, const Problem& problem) {
  page.head(2, "Given");
  std::vector<const Node*> inputs;
  std::ranges::copy_if(nodes, std::back_inserter(inputs), [](const Node* node) { return !node->op; });
  std::stable_partition(inputs.begin(), inputs.end(), [](const Node* node) { return node->is(role::x); });
  SideBySide tables;
  for (const Node* node : inputs) tables.tables.push_back(table_of(*node));
  page.say(std::move(tables));
  add_note_on_random_matrices(page, problem);
}

// The walk in matrix form: the nodes in the order in which they were computed, under the step that each
// belongs to.
class MatrixWalk {
 public:
  explicit MatrixWalk(Page& page) : page_(page) {}

  void add(const Node& node) {
    const Step* step = step_of(node);
    if (!step || (node.is_alias() && !node.is(role::output))) return;
    if (step != step_ || (!together_.empty() && place_in_walk(*together_.back()) != place_in_walk(node))) finish();
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
    std::string title = fmt::format("{}. {}", ++count_, heading_of(step, node));
    if (const NamedScope* place = place_in_walk(node)) title += fmt::format(" ({})", place->title());
    page_.head(2, std::move(title));
    std::string meaning = with_layout(step, meaning_of(step, node));
    if (!meaning.empty() && told_.insert(meaning).second) page_.say(text(std::move(meaning)));
  }

  Page& page_;
  const Step* step_ = nullptr;
  std::vector<const Node*> together_;
  int count_ = 0;
  std::set<std::string> told_;  // each sentence once, and another where it is no longer true
};

// The weights the other way round, as tables of translations are printed: outputs as columns.
void add_alignment_tables(Page& page, const std::vector<const Node*>& nodes) {
  page.head(2, "Alignment");
  std::set<std::string> told;
  for (const Node* node : nodes) {
    if (!node->is(role::alignment)) continue;
    std::string meaning = meaning_of_alignment(*node);
    if (told.insert(meaning).second) page.say(std::move(meaning));
    add_results(page, {node});
  }
}

// Why a walk from x, or from q and k, ends before there is an output.
void warn_of_missing(const Graph& graph, std::vector<std::string>& warnings) {
  const auto has = [&](const Role& role) {
    return std::ranges::any_of(graph.nodes(), [&](const Node& node) { return node.is(role); });
  };
  const auto warn = [&](std::string_view what, std::string_view which, std::string_view next) {
    warnings.push_back(
        fmt::format("there are no {0}, so there are no {2}: give --w{1} with --x, or --{1}", what, which, next));
  };
  if (has(role::k) && !has(role::q)) warn("queries", "q", "scores");
  if (has(role::q) && !has(role::k)) warn("keys", "k", "scores");
  if (has(role::q) && has(role::k) && !has(role::v)) warn("values", "v", "outputs");
  if (has(role::v) && !has(role::q) && !has(role::k) && !has(role::weights)) warn("queries", "q", "scores");
}

// Names, shapes and costs: nothing is computed for them.
Answer outline_of(const ComputedProblem& solved, const std::optional<std::string>& only) {
  const std::vector<const Node*> nodes = solved.nodes(only);
  Page page = solved.page(nodes);
  add_title(page, *solved.problem);
  page.say(attention_flow(*solved.graph, *solved.problem));
  add_outline(page, *solved.graph, nodes);
  return solved.answer(std::move(page));
}

// Two words, or two positions counted from 1.
WordPair word_pair(const std::string& text, const Sequence& sequence) {
  const std::vector<std::string_view> pieces = split_at(text);
  if (pieces.size() != 2) fail("--swap '{}': give two words or two positions, such as 'it,animal' or 1,2", text);
  const Axis words = axis("tokens", sequence.tokens);
  const std::size_t size = sequence.x->shape().rows;
  const auto place_of_piece = [&](std::string_view piece) {
    return find_named_place(words, size, piece, fmt::format("--swap '{}'", trimmed(piece)));
  };
  const WordPair pair{place_of_piece(pieces[0]), place_of_piece(pieces[1])};
  if (pair.a == pair.b) fail("--swap '{}': this is the same position twice. Give two", text);
  return pair;
}

Answer swap_words(const Problem& problem, const std::string& places) {
  if (problem.sequences.size() != 1 || !problem.sequences.front().x) {
    fail("--swap swaps two words of one sentence: give one --text, or one --x");
  }
  const WordPair pair = word_pair(places, problem.sequences.front());
  const std::shared_ptr<Graph> graph = watched_graph();
  const ComputedProblem solved{std::make_shared<const Problem>(problem), graph};
  Page page = solved.page({});
  add_swap(page, *graph, problem, pair);
  compute_watched(*graph);
  return solved.answer(std::move(page), problem.remarks);
}

// The last matrices that were computed for each sentence: those that nothing else is computed from.
std::vector<const Node*> last_results(const Graph& graph) {
  std::vector<const Node*> results;
  for (const Node& node : graph.nodes()) {
    const bool is_result = node.is(role::output) || node.is(role::feed_forward);
    if (!is_result || !node.op || node.within(scope::head)) continue;
    const NamedScope* const sentence = node.within(scope::sentence);
    const bool goes_on = !results.empty() && results.back()->within(scope::sentence) == sentence;
    if (goes_on) results.pop_back();
    results.push_back(&node);
  }
  if (!results.empty()) return results;
  for (const Node& node : graph.nodes()) {
    if (node.op && node.is(role::weights)) results.push_back(&node);
  }
  if (results.size() > 1) results.erase(results.begin() + 1, results.end());
  return results;
}

Answer gradients(const Arguments& arguments) {
  auto problem = std::make_shared<const Problem>(problem_of(arguments));
  auto graph = std::make_shared<Graph>(keep_nothing());
  watch(*graph);
  add_computation(*problem, *graph);
  return gradients_of({.computation = {graph, problem},
                       .title = problem->title,
                       .results = last_results(*graph),
                       .remarks = problem->remarks},
                      arguments);
}

// --- map

// All attentions of a model.
Answer map_of_model(const Arguments& arguments) {
  const Command& shows_model = *find_row(commands(), "transformer");
  Arguments with_map = arguments;
  with_map.put(option::map, true);
  Answer answer = shows_model.run(shows_model, with_map);
  narrow(answer, shows_model, with_map);
  return answer;
}

// --- step

void add_step(Page& page, const Step& step, const std::vector<const Node*>& nodes, const Problem& problem) {
  page.head(1, heading_of(step, *nodes.front()));
  std::vector<std::string> meanings;
  for (const auto& together : by_scope(nodes))
    meanings.push_back(with_layout(step, meaning_of(step, *together.front())));
  // Where they differ, each stands below the heading of what it is about.
  const bool are_same = std::ranges::adjacent_find(meanings, std::ranges::not_equal_to()) == meanings.end();
  if (are_same && !meanings.front().empty()) page.say(meanings.front());
  if (!step.background.empty()) page.say(claims_in_words(step.background, *nodes.front()));
  add_note_on_random_matrices(page, problem);
  std::size_t i = 0;
  for (const auto& together : by_scope(nodes)) {
    const NamedScope* const place = together.front()->place;
    if (!are_same && place) page.head(2, place->title());
    if (!are_same && !meanings[i].empty()) page.say(meanings[i]);
    ++i;
    add_results(page, together);
    add_reading(page, *together.back());
  }
}

}  // namespace

// --- walk

Answer run_walk(const Command&, const Arguments& arguments) {
  if (asks_for_gradients(arguments)) return gradients(arguments);
  if (const std::optional<std::string> places = arguments.text(option::swap)) {
    return swap_words(problem_of(arguments), *places);
  }
  const ComputedProblem solved = compute_problem(arguments, Extent::output, all_nodes, added_nodes(arguments));
  if (arguments.has(option::outline)) return outline_of(solved, arguments.only());
  if (arguments.narrows()) return solved.answer(solved.page({}));
  const std::optional<std::string> word = arguments.text(option::by_word);
  const std::vector<const Node*> nodes = solved.nodes(std::nullopt);
  Page page = solved.page(nodes);
  const bool computes = std::ranges::any_of(nodes, [](const Node* node) { return node->op != nullptr; });
  if (!computes) {
    fail(
        "nothing can be computed from what is given: give --x with --wq, --wk and --wv (or --seed for random ones), or --q, --k and --v, or --scores, or --weights and --v");
  }
  add_title(page, *solved.problem);
  if (word) {
    add_word_walk(page, *solved.graph, *word);
  } else {
    add_inputs(page, nodes, *solved.problem);
    MatrixWalk walk(page);
    for (const Node* node : nodes) walk.add(*node);
    walk.finish();
    if (arguments.has(option::transpose)) add_alignment_tables(page, nodes);
  }
  std::vector<std::string> warnings = solved.warnings();
  warn_of_missing(*solved.graph, warnings);
  return solved.answer(std::move(page), std::move(warnings));
}

// --- map

// The weights of a problem, of a model, or of one of its layers.
Answer run_map(const Command& command, const Arguments& arguments) {
  refuse_other_word(command, arguments);
  if (arguments.has(option::model) && !arguments.has(option::layer)) return map_of_model(arguments);
  const ComputedProblem solved = compute_problem(arguments, Extent::weights);
  return solved.answer(solved.page({}));
}

// --- step

Answer run_feed_forward(const Command& command, const Arguments& arguments) {
  const Arguments all = with_parameters_of_part(
      arguments, scope::feed_forward,
      {&option::w_gate, &option::b_gate, &option::w_1, &option::b_1, &option::w_2, &option::b_2});
  return asks_for_gradients(all) ? gradients(all) : run_step(command, all);
}

Answer run_step(const Command& command, const Arguments& arguments) {
  const Step& step = look_up(steps(), command.name, "step");
  const ComputedProblem solved = compute_problem(arguments, step.extent, all_nodes, added_nodes(arguments));
  std::vector<const Node*> nodes = solved.nodes(std::nullopt);
  // The transposed weights take the place of the weights.
  const auto shown = [&](const Node& node) {
    return arguments.has(option::transpose) ? node.is(role::alignment) : step.shows(node);
  };
  std::erase_if(nodes, [&](const Node* node) { return !shown(*node); });
  if (nodes.empty()) fail("attn {} has nothing to compute here: give {}", step.name, step.needs);
  Page page = solved.page(nodes);
  if (!arguments.narrows()) add_step(page, step, nodes, *solved.problem);
  return solved.answer(std::move(page));
}

}  // namespace attn
