#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attention/watches.hpp"
#include "command/backward/by_hand.hpp"
#include "command/backward/check.hpp"
#include "command/backward/influence.hpp"
#include "command/backward/loss.hpp"
#include "command/backward/memory.hpp"
#include "command/explanation.hpp"
#include "command/gradients.hpp"
#include "problem/problem_file.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"
#include "tell/backward_walk.hpp"
#include "tell/describe.hpp"
#include "tell/outline.hpp"

namespace attn {
namespace {

constexpr double usual_step_size = 0.1;
constexpr std::size_t most_shown = 1000000;  // numbers

std::string what_is_random(const Calculation& computation) {
  return computation.problem ? told_as_drawn(*computation.problem) : computation.random;
}

void add_title(Page& page, const Differentiable& forward) {
  page.head(1, forward.title.empty() ? "Gradients" : fmt::format("Gradients: {}", forward.title));
  page.say(text("A gradient has the shape of a matrix, and the name of this matrix with ", code("d_"),
                " before it. Each of its numbers says how fast the loss grows with the number at the same "
                "place. The numbers of the forward pass are shown by the same command without gradients."));
  if (std::string sentence = what_is_random(forward.computation); !sentence.empty())
    page.say(std::move(sentence));
}

std::vector<const Node*> inputs_of(const Graph& graph) {
  std::vector<const Node*> inputs;
  for (const Node& node : graph.nodes()) {
    if (!node.operation) inputs.push_back(&node);
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
  return fmt::format("{} only chooses: it is not differentiated.", name);
}

// The inputs that the loss does not depend on, or through which nothing flows back.
void add_without_gradient(Page& page, const std::vector<const Node*>& inputs, const Loss& loss,
                          const Backward& back) {
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

Outcome outline(const Differentiable& forward, const Loss& loss, const std::vector<GradientStep>& steps,
                const std::optional<std::string>& only) {
  std::vector<const Node*> nodes;
  for (const GradientStep& step : steps) nodes.push_back(step.gradient);
  if (only) {
    const std::vector<const Node*> chosen = forward.computation.graph->matching(*only);
    std::erase_if(nodes, [&](const Node* node) { return std::ranges::find(chosen, node) == chosen.end(); });
    if (nodes.empty()) fail("--only {}: no gradient is called so. Leave out --only to see them all", *only);
  }
  Page page;
  add_title(page, forward);
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
    fail(
        "the gradients have {} numbers, more than {}: choose some with --only, or see their tree with "
        "--outline",
        with_commas(numbers), with_commas(most_shown));
  }
}

Outcome backward(const Differentiable& forward, const Arguments& arguments) {
  const std::shared_ptr<Graph>& graph = forward.computation.graph;
  const std::vector<const Node*> given = inputs_of(*graph);
  const Loss loss = add_loss(forward, arguments);
  const Backward back(loss.from, loss.d_from, given);
  const std::vector<GradientStep> steps =
      gradient_steps(*graph, [&](const Node& node) { return back.by(node); });
  if (arguments.has(option::outline)) return outline(forward, loss, steps, arguments.only());
  require_readable(steps, arguments);
  const std::vector<const Node*> wanted = wanted_nodes(*graph, arguments);
  require_room(plan(*graph, wanted));
  compute(*graph, wanted);
  Outcome outcome{.page = {}, .warnings = forward.remarks, .computation = forward.computation};
  Page& page = outcome.page;
  if (forward.computation.problem) page.recipe = recipe_of(forward.computation.problem);
  for (std::string& warning : warnings(*graph)) outcome.warnings.push_back(std::move(warning));
  if (arguments.narrows()) return outcome;
  if (arguments.has(option::check_gradients)) {
    Outcome checked = check_gradients(loss, steps);
    outcome.page = std::move(checked.page);
    outcome.verdict = checked.verdict;
    return outcome;
  }
  page.trace.add(graph->named());
  add_title(page, forward);
  if (arguments.has(option::by_hand)) {
    add_by_hand(page, loss, steps, arguments.number(option::step_size).value_or(usual_step_size));
    return outcome;
  }
  page.head(2, std::string(heading_of_loss));
  page.say(loss.told);
  page.say(text("The loss is ", strong(written_digits(value_of(loss), 6)), "."));
  add_without_gradient(page, given, loss, back);
  add_backward_walk(page, steps, forward.names_are_long);
  add_memory(page, loss, arguments.has(option::recompute));
  return outcome;
}

}  // namespace

bool asks_for_gradients(const Arguments& arguments) {
  return arguments.has(option::backward) || arguments.has(option::influence);
}

Outcome gradients_of(const Differentiable& forward, const Arguments& arguments) {
  return arguments.has(option::influence) ? influence_page(forward, arguments) : backward(forward, arguments);
}

// Without the name of another command it is that of a walk.
Outcome run_backward(const Command& command, const Arguments& arguments) {
  if (!arguments.words.empty()) {
    const std::vector<OptionChoice> all = choices::with_gradients();
    const std::string& word = arguments.words.front();
    const std::vector<std::string> names = names_of(std::span(all));
    if (std::ranges::find(names, word) != names.end())
      fail("the command comes first: attn backward {}, and then the options", word);
    if (std::ranges::find(commands(), word, &Command::name) != commands().end())
      fail("attn {} has no backward pass to show. Choose one of: {}", word, fmt::join(names, ", "));
    fail_unknown("command", word, names);
  }
  return run_walk(command, arguments);
}

// A word that is no command is the cell of --by.
Outcome run_influence(const Command& command, const Arguments& arguments) {
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
