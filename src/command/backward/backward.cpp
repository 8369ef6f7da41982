#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "command/backward/asked_loss.hpp"
#include "command/backward/gradient_check.hpp"
#include "command/backward/influence.hpp"
#include "command/backward/memory.hpp"
#include "command/forms.hpp"
#include "core/attention/watches.hpp"
#include "core/graph/plan.hpp"
#include "core/rewrite/rewriting.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/problem_file.hpp"
#include "page/tell/attention_steps.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/gradients.hpp"
#include "page/tell/model_walk.hpp"

namespace attn {

namespace {

// --- by hand

constexpr std::size_t most_numbers = 1000;
constexpr double rounding_of_loss = 1e-14;  // of the loss: what rounding may leave of a change

bool is_shown(const Node& node, const Loss& loss) {
  return node.op && !node.is_alias() && !node.name.empty() && node.family == &family::forward &&
         node.index <= loss.from.node().original().index;
}

// What goes in is no parameter.
bool is_parameter(const Node& node) {
  constexpr std::array data = {&role::x,      &role::memory,  &role::value_memory, &role::q,   &role::k,      &role::v,
                               &role::scores, &role::weights, &role::bias,         &role::ids, &role::counted};
  return !node.op && std::ranges::find(data, node.role) == data.end();
}

void add_derived_numbers(Page& page, const Node& node) {
  add_results(page, {&node});
  const Shape shape = node.frame.shape;
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.columns; ++j) page.say(derivation({&node, i, j}, 0));
  }
}

void add_forward(Page& page, const Graph& graph, const Loss& loss) {
  page.head(2, "Given");
  SideBySide given;
  for (const Node& node : graph.nodes()) {
    if (!node.op && node.family == &family::forward) given.tables.push_back(table_of(node));
  }
  page.say(std::move(given));
  int count = 0;
  std::string last;
  for (const Node& node : graph.nodes()) {
    if (!is_shown(node, loss)) continue;
    const Step* const step = step_of(node);
    std::string heading = step ? heading_of(*step, node) : node.name;
    if (heading != last) page.head(2, fmt::format("{}. {}", ++count, heading));
    last = std::move(heading);
    add_derived_numbers(page, node);
  }
}

void add_backward(Page& page, const std::vector<GradientStep>& steps, std::string& last) {
  int count = 0;
  std::set<std::string> told;
  for (const GradientStep& step : steps) {
    std::string heading = heading_of(step, false);
    if (heading != last) page.head(2, fmt::format("{}. {}", ++count, heading));
    last = std::move(heading);
    const std::string meaning = meaning_of_gradient(step);
    if (!meaning.empty() && told.insert(meaning).second) page.say(meaning);
    if (step.gradient->is_alias()) {
      page.say(formula_block(*step.gradient));
    } else if (step.gradient->op) {
      add_derived_numbers(page, *step.gradient);
    } else {
      add_results(page, {step.gradient});
    }
  }
}

// One step of gradient descent on a copy of the computation.
void add_descent_step(Page& page, const Loss& loss, const std::vector<GradientStep>& steps, double size) {
  std::map<const Node*, std::shared_ptr<const Matrix>> changed;
  double squares = 0.0;
  page.head(2, "One step");
  if (std::ranges::none_of(steps, [](const GradientStep& step) { return is_parameter(*step.forward); }))
    return page.say("There is no parameter here, so nothing moves.");
  page.say(
      fmt::format("Each parameter moves against its gradient: {} times the gradient is subtracted from it. "
                  "Then the loss is computed again.",
                  written_digits(size, 6)));
  for (const GradientStep& step : steps) {
    if (!is_parameter(*step.forward)) continue;
    const std::shared_ptr<const Matrix> gradient = step.gradient->cells();
    auto after = std::make_shared<Matrix>(*step.forward->cells());
    for (std::size_t i = 0; i < after->size(); ++i) {
      cells(*after)[i] -= size * cells(*gradient)[i];
      squares += cells(*gradient)[i] * cells(*gradient)[i];
    }
    Table there = table_of(*step.forward), moved = there;
    moved.title += " after the step";
    moved.array.clear();
    moved.cells = after;
    page.say(SideBySide{{std::move(there), table_of(*step.gradient), std::move(moved)}});
    changed.emplace(step.forward, std::move(after));
  }
  const auto is_moved = [&](const Node& node) { return changed.contains(&node); };
  const auto instead = [&](RewriteSite at) { return std::optional(at.like(*changed.at(&at.node))); };
  Rewriting again(loss.from.graph(), Change{is_moved, instead});
  const double before = value_of(loss), after = value_of({again.of(loss.from.node()), loss.d_from, {}});
  const double change = after - before, first = 0.0 - size * squares, rest = change - first;
  if (!std::isfinite(after) || !std::isfinite(first))
    fail("--step-size {}: after this step the loss is not finite. Give a smaller step", written_digits(size, 6));
  page.say(text("The loss was ", strong(written_digits(before, 6)), " and is now ", strong(written_digits(after, 6)),
                change == 0.0 ? std::string(": it has not changed.")
                              : fmt::format(": it has changed by {}.", written_digits(change, 6))));
  page.say(fmt::format(
      "To first order, it changes by minus the step size times the sum of all squared gradients, {} × {} = {}. "
      "{}",
      written_digits(-size, 6), written_digits(squares, 6), written_digits(first, 6),
      std::fabs(rest) <= rounding_of_loss * std::max(std::fabs(before), std::fabs(after))
          ? "Here this is the whole change, but for rounding."
          : "The rest comes from the curvature: the gradient itself changes during the step."));
}

// Adds every number there and back with its multiplications, and one step of this size against the gradients
// of the parameters. Throws InputError for more numbers than anybody works out by hand.
void add_by_hand(Page& page, const Loss& loss, const std::vector<GradientStep>& steps, double step_size) {
  const Graph& graph = loss.from.graph();
  std::size_t numbers = 0;
  for (const Node& node : graph.nodes()) numbers += is_shown(node, loss) ? node.frame.shape.cells() : 0;
  for (const GradientStep& step : steps) numbers += step.gradient->frame.shape.cells();
  if (numbers > most_numbers) {
    fail("--by-hand writes out every number, and there are {}, more than {}: give fewer words or smaller sizes",
         numbers, most_numbers);
  }
  add_forward(page, graph, loss);
  page.head(2, std::string(heading_of_loss));
  page.say(loss.told);
  page.say(text("The loss is ", strong(written_digits(value_of(loss), 6)), "."));
  std::string last(heading_of_loss);
  add_backward(page, steps, last);
  add_descent_step(page, loss, steps, step_size);
}

// --- backward

constexpr double usual_step_size = 0.1;
constexpr std::size_t most_shown = 1000000;  // numbers

void add_title_of_gradients(Page& page, const Differentiable& forward) {
  page.head(1, forward.title.empty() ? "Gradients" : fmt::format("Gradients: {}", forward.title));
  page.say(text("A gradient has the shape of a matrix, and the name of this matrix with ", code("d_"),
                " before it. Each of its numbers says how fast the loss grows with the number at the same place. "
                "The numbers of the forward pass are shown by the same command without gradients."));
  if (std::string sentence = what_is_random(forward.computation); !sentence.empty()) page.say(std::move(sentence));
}

std::vector<const Node*> inputs_of(const Graph& graph) {
  std::vector<const Node*> inputs;
  for (const Node& node : graph.nodes()) {
    if (!node.op) inputs.push_back(&node);
  }
  return inputs;
}

bool leads_to(const Node& node, const Node& last) {
  std::vector<bool> behind(last.index + 1, false);
  behind[last.index] = true;
  for (std::size_t i = last.index + 1; i-- > node.index;) {
    if (!behind[i]) continue;
    for (const Node* operand : last.graph->nodes()[i].operands) behind[operand->index] = true;
  }
  return node.index <= last.index && behind[node.index];
}

void say_names(Page& page, std::string_view begin, const std::vector<std::string>& names) {
  if (!names.empty()) page.say(fmt::format("{}: {}.", begin, fmt::join(names, ", ")));
}

std::string told_as_choosing(const std::string& name) {
  return fmt::format("{} has no gradient: its numbers choose, and nothing changes smoothly with them.", name);
}

// The inputs that the loss does not depend on, or through which nothing flows back.
void add_without_gradient(Page& page, const std::vector<const Node*>& inputs, const Loss& loss, const Backward& back) {
  std::vector<std::string> choosing, beside, stopped;
  for (const Node* node : inputs) {
    if (back.by(*node)) continue;
    const bool chooses = node->content() == Content::ids || node->content() == Content::permissions;
    std::vector<std::string>& names = !leads_to(*node, loss.from.node().original()) ? beside
                                      : chooses                                     ? choosing
                                                                                    : stopped;
    names.push_back(node->name);
  }
  for (const std::string& name : choosing) page.say(told_as_choosing(name));
  say_names(page, "The loss does not depend on", beside);
  say_names(page, "An operation in between lets no gradient through, so none flows back to", stopped);
}

Answer outline_of_gradients(const Differentiable& forward, const Loss& loss, const std::vector<GradientStep>& steps,
                            const std::optional<std::string>& only) {
  std::vector<const Node*> nodes;
  for (const GradientStep& step : steps) nodes.push_back(step.gradient);
  if (only) {
    const std::vector<const Node*> chosen = forward.computation.graph->matching(*only);
    std::erase_if(nodes, [&](const Node* node) { return std::ranges::find(chosen, node) == chosen.end(); });
    if (nodes.empty()) fail("--only {}: no gradient is called so. Leave out --only to see them all", *only);
  }
  Page page;
  add_title_of_gradients(page, forward);
  page.say(loss.told);
  page.head(2, "The gradients");
  add_outline(page, *forward.computation.graph, nodes);
  add_memory(page, loss, false);
  return {.page = std::move(page), .warnings = forward.remarks, .computation = forward.computation};
}

// The page of all gradients has every number of them.
void require_readable(const std::vector<GradientStep>& steps, const Arguments& arguments) {
  if (arguments.narrows() || arguments.has(option::check_gradients)) return;
  std::size_t numbers = 0;
  for (const GradientStep& step : steps) numbers += step.gradient->frame.shape.cells();
  if (numbers > most_shown) {
    fail("the gradients have {} numbers, more than {}: choose some with --only, or see their tree with --outline",
         with_commas(numbers), with_commas(most_shown));
  }
}

Answer backward(const Differentiable& forward, const Arguments& arguments) {
  const std::shared_ptr<Graph>& graph = forward.computation.graph;
  const std::vector<const Node*> given = inputs_of(*graph);
  const Loss loss = add_loss(forward, arguments);
  const Backward back(loss.from, loss.d_from, given);
  const std::vector<GradientStep> steps = gradient_steps(*graph, [&](const Node& node) { return back.by(node); });
  if (arguments.has(option::outline)) return outline_of_gradients(forward, loss, steps, arguments.only());
  require_readable(steps, arguments);
  const std::vector<const Node*> wanted = wanted_nodes(*graph, arguments);
  require_room(plan(*graph, wanted));
  compute_watched(*graph, wanted);
  Answer answer{.page = {}, .warnings = forward.remarks, .computation = forward.computation};
  Page& page = answer.page;
  if (forward.computation.problem) page.recipe = problem_writer(forward.computation.problem);
  for (std::string& warning : warnings(*graph)) answer.warnings.push_back(std::move(warning));
  if (arguments.narrows()) return answer;
  if (arguments.has(option::check_gradients)) {
    Answer checked = check_gradients(loss, steps);
    answer.page = std::move(checked.page);
    answer.verdict = checked.verdict;
    return answer;
  }
  page.trace.add(graph->named());
  add_title_of_gradients(page, forward);
  if (arguments.has(option::by_hand)) {
    add_by_hand(page, loss, steps, arguments.number(option::step_size).value_or(usual_step_size));
    return answer;
  }
  page.head(2, std::string(heading_of_loss));
  page.say(loss.told);
  page.say(text("The loss is ", strong(written_digits(value_of(loss), 6)), "."));
  add_without_gradient(page, given, loss, back);
  add_backward_walk(page, steps, forward.names_are_long);
  add_memory(page, loss, arguments.has(option::recompute));
  return answer;
}

}  // namespace

// --- backward

bool asks_for_gradients(const Arguments& arguments) {
  return arguments.has(option::backward) || arguments.has(option::influence);
}

Answer gradients_of(const Differentiable& forward, const Arguments& arguments) {
  return arguments.has(option::influence) ? influence_page(forward, arguments) : backward(forward, arguments);
}

// Without the name of another command it is that of a walk.
Answer run_backward(const Command& command, const Arguments& arguments) {
  refuse_other_word(command, arguments);
  return run_walk(command, arguments);
}

// A word that is no command is the cell of --by.
Answer run_influence(const Command& command, const Arguments& arguments) {
  Arguments asked = arguments;
  if (!asked.words.empty()) {
    const std::vector<OptionChoice> all = choices::with_gradients();
    const std::string& word = asked.words.front();
    if (std::ranges::find(all, word, &OptionChoice::name) != all.end())
      fail("the command comes first: attn influence {}, and then the options", word);
    if (asked.has(option::by)) fail("{} and --by give two cells: leave out one of them", asked.words.front());
    asked.put(option::by, asked.words.front());
    asked.words.clear();
  }
  return run_walk(command, asked);
}

}  // namespace attn
