#include "command/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/app.hpp"
#include "command/recorder.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/matrix_file.hpp"
#include "page/document/document.hpp"
#include "school/mistake/findings.hpp"
#include "school/mistake/matching.hpp"
#include "school/mistake/names.hpp"
#include "school/mistake/told.hpp"

namespace attn {

// Do the matrices of a file agree with what is computed, and which mistake explains them?

// --- telling input

namespace {

// Small computations that differ in what goes in, tried in this order. Commands without a row compute one
// attention or a part of one, as the first does.
struct SmallInput {
  std::string_view command;
  std::string_view options;
};

constexpr SmallInput small_inputs[] = {
    {"walk", "--text 'a b c' --d-model 4 --seed 2"},
    {"walk", "--text 'a b c' --d-model 6 --heads 2 --seed 2"},
    {"walk", "--text 'a b c' --d-model 6 --heads 2 --causal --seed 2"},
    {"walk", "--text 'a b c d e' --d-model 6 --heads 3 --causal --valid-length 4 --seed 2"},
    {"walk", "--text 'a b c d e' --d-model 6 --heads 2 --valid-length 3 --seed 2"},
    {"walk", "--text 'a b c' --memory-text 'd e f g h' --d-model 6 --heads 2 --seed 2"},
    {"walk", "--text 'a b c d e' --d-model 6 --heads 2 --positions sinusoidal --seed 2"},
    {"walk", "--text 'a b c d e' --d-model 8 --heads 2 --positions rotary --causal --seed 2"},
    {"walk", "--text 'a b c d e' --d-model 6 --heads 2 --d-ff 12 --layers 2 --seed 2"},
    {"walk", "--text 'a b c' --d-model 4 --score additive --seed 2"},
    {"walk", "--text 'a b c' --d-model 4 --score gaussian --seed 2"},
    {"encoder", "--source 'a b c d e' --seed 2"},
    {"encoder", "--source 'a b c d <blank>' --seed 2"},
    {"encoder", "--source 'a b c d e' --causal --seed 2"},
    {"encoder", "--source 'a b c d e' --norm pre --norm-kind rms --activation gelu --seed 2"},
    {"decoder", "--source 'a b c d e' --target 'b c a' --seed 2"},
    {"decoder", "--source 'a b c d <blank>' --target 'b c a' --seed 2"},
    {"decoder", "--kind decoder-only --target 'a b c d e' --positions rotary --seed 2"},
    {"transformer", "--source 'a b c d e' --target 'b c a' --seed 2"},
    {"transformer", "--source 'a b c d <blank>' --target 'b c a' --seed 2"},
    {"transformer", "--kind decoder-only --target 'a b c d e' --activation gelu --seed 2"},
    {"align", "--source 'a b c d' --seed 2 --hidden 3 --steps 3"},
    {"align", "--source 'a b c d' --seed 2 --hidden 3 --steps 3 --variant luong"},
    {"layer-norm", "--x '1 2 4; 0 1 0; -3 5 2' --gamma '1 2 3' --beta '1 0 -1'"},
};

// A small computation of this command, or of one that computes the same, in whose matrices of these roles
// the mistakes can best be told apart. Nothing: they give the same numbers in all that are tried.
std::optional<TellingInput> telling_input(const Command& command, const std::vector<const Mistake*>& mistakes,
                                          const std::vector<const Role*>& roles, const Environment& environment) {
  const bool has_own = std::ranges::find(small_inputs, command.name, &SmallInput::command) != std::end(small_inputs);
  const std::string_view name = has_own ? command.name : small_inputs[0].command;
  std::optional<TellingInput> best;
  std::size_t most = 1;
  for (const SmallInput& input : small_inputs) {
    if (input.command != name) continue;
    const std::string line = fmt::format("attn {} {}", input.command, input.options);
    try {
      const Answer answer = attn::answer(command_lines(line, "", 1).front().words, environment);
      std::vector<std::size_t> numbers = told_apart(*answer.computation.graph, mistakes, roles);
      const std::size_t count = std::set<std::size_t>(numbers.begin(), numbers.end()).size();
      if (count <= most) continue;
      most = count;
      best = TellingInput{line + " -o input.npz", std::move(numbers)};
      if (count == mistakes.size()) break;
    } catch (const InputError&) {
      continue;  // more than a document may compute
    }
  }
  return best;
}

}  // namespace

// --- check

namespace {

// Whether it is what a matrix of the computation is called, by us or by others.
bool names_matrix_of(const Graph& graph, const std::string& name) {
  const std::span<const Role* const> roles = roles_called(name);
  const auto may_be = [&](const Node& node) { return std::ranges::find(roles, node.role) != roles.end(); };
  return graph.find(name) || std::ranges::any_of(graph.nodes(), may_be);
}

// A matrix without a name: what --as says, what its file is called, or the only one of its shape.
void name_it(MatrixFile& file, const Graph& graph, const std::optional<std::string>& as) {
  if (as) {
    file.name = *as;
    return;
  }
  if (names_matrix_of(graph, file.name)) return;
  const Shape shape{file.matrix.shape().rows / file.count, file.matrix.shape().columns};
  std::vector<std::string> names;
  for (const Node* node : results_of_shape(graph, shape)) names.push_back(node->name);
  if (names.size() == 1) {
    file.name = names.front();
    return;
  }
  if (names.size() > 16) names.resize(16);
  if (names.empty())
    fail(
        "{} has one matrix without a name, of {}, and nothing that is computed has this shape: say what it is with --as NAME",
        file.where, to_string(shape));
  fail("{} has one matrix without a name: say which it is with --as NAME. Of its shape, {}, are: {}", file.where,
       to_string(shape), fmt::join(names, ", "));
}

// Some of what is computed, each by its shortest name.
std::vector<std::string> some_names(const Graph& graph) {
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  for (const Node* node : graph.named()) {
    if (!node->op || node->within(scope::head)) continue;
    if (names.size() == most) {
      names.emplace_back("…");
      break;
    }
    names.push_back(node->name);
  }
  return names;
}

// The names of matrices, and of each that of the computation which is nearest.
std::string names_with_nearest(const std::vector<MatrixFile>& files, const Graph& graph) {
  constexpr std::size_t most = 12;
  const std::vector<std::string> known = graph.names();
  std::vector<std::string> names;
  for (const MatrixFile& file : files) {
    if (names.size() == most) {
      names.emplace_back("…");
      break;
    }
    names.push_back(in_quotes(file.name) + did_you_mean(file.name, known));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

namespace {

void tell_step(const StepsInFile& steps, Matched& matched) {
  const std::optional<StepThatDiffers> first = first_that_differs(steps, matched);
  if (first) matched.first_step = first->step;
  matched.remarks.insert(
      matched.remarks.begin(),
      first
          ? fmt::format(
                "The file has {} steps. The first that differs from the computation of all words at once is step {}, first in {}.",
                steps.count, first->step, first->matrix)
          : fmt::format("Each of the {} steps agrees with the computation of all words at once.", steps.count));
}

}  // namespace

bool Checked::passes(bool conventions_agree) const {
  return conventions_agree ? findings.may_be_conventions() : findings.all.empty();
}

namespace {

// Whether the computation has the numbers of a matrix of the file as an input, whatever it calls them.
bool is_computed_from(const Graph& graph, std::span<const MatrixFile> files, const std::string& name) {
  const auto file = std::ranges::find(files, name, &MatrixFile::name);
  if (file == files.end()) return false;
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) {
    return !node.op && node.cells() && node.frame.shape == file->matrix.shape() &&
           std::ranges::equal(cells(*node.cells()), cells(file->matrix));
  });
}

// What a file calls like one matrix, and is compared with another, whose numbers it has.
void tell_other_names(Matched& matched) {
  for (const Compared& matrix : matched.compared) {
    const std::span<const Role* const> roles = roles_called(matrix.name);
    if (roles.empty() || matrix.node->is(*roles.front()) || !matrix.difference.agrees()) continue;
    const Node* const other = matrix.node->beside(*roles.front());
    if (!other || !other->cells() || other->frame.shape != matrix.node->frame.shape) continue;
    if (difference(*matrix.theirs, other->matrix(), matrix.rounding).agrees()) continue;
    matched.remarks.push_back(
        fmt::format("{} in the file has the numbers of {}, and not those of {}: it is compared with {}.", matrix.name,
                    matrix.node->name, other->name, matrix.node->name));
  }
}

}  // namespace

Checked checked(Graph& graph, const Arguments& arguments) {
  std::vector<MatrixFile> files = with_layers_apart(graph, arguments.to_compare->matrices);
  const std::string where = place_of_file(*arguments.text(option::against));
  if (!arguments.to_compare->are_named) name_it(files.front(), graph, arguments.text(option::as));
  Matched matched = match(graph, files);
  matched.remarks = arguments.to_compare->remarks;
  if (!gives_problem(arguments)) {
    for (const NotCompared& other : matched.others) {
      if (may_be_parameter(other.name) && !is_computed_from(graph, files, other.name))
        matched.unread.push_back(other.name);
    }
  }
  for (const MatrixFile& file : arguments.to_compare->refused) {
    if (names_matrix_of(graph, file.name)) fail("{}", file.refused);
    matched.others.push_back({file.name, "it is no matrix of numbers"});
  }
  if (const std::optional<std::string> only = arguments.only()) {
    const std::vector<const Node*> chosen = graph.matching(*only);
    std::erase_if(matched.compared,
                  [&](const Compared& matrix) { return std::ranges::find(chosen, matrix.node) == chosen.end(); });
  }
  const bool has_results =
      std::ranges::any_of(matched.compared, [](const Compared& matrix) { return matrix.node->op != nullptr; });
  if (!has_results) {
    fail("no matrix of {} can be compared with what is computed: its matrices are {}. Of the computation there are: {}",
         where, names_with_nearest(files, graph), fmt::join(some_names(graph), ", "));
  }
  tell_other_names(matched);
  if (arguments.steps_to_compare.count > 0) tell_step(arguments.steps_to_compare, matched);
  Findings findings = find_mistakes(graph, matched.compared);
  return {std::move(matched), std::move(findings)};
}

void compare(Answer& answer, const Command& command, const Arguments& arguments) {
  const Checked found = checked(*answer.computation.graph, arguments);
  std::vector<const Role*> roles;
  std::vector<const Node*> nodes;
  for (const Compared& matrix : found.matched.compared) {
    roles.push_back(matrix.node->role);
    nodes.push_back(matrix.node);
  }
  // A program that runs a model of its own runs no other one.
  const bool has_own_model = arguments.has_any(std::array{&option::model, &option::parameters});
  const auto find = [&](const std::vector<const Mistake*>& mistakes) -> std::optional<TellingInput> {
    if (has_own_model) return std::nullopt;
    return telling_input(command, mistakes, roles, *arguments.environment);
  };
  answer.page.blocks.clear();
  answer.page.trace = Trace(nodes);
  add_comparison(answer.page, place_of_file(*arguments.text(option::against)), found.matched, found.findings, find);
  if (!found.passes(arguments.has(option::conventions_agree))) answer.verdict = Verdict::failed;
}

void refuse_further_file(const std::string& path) {
  fail("attn check compares one file, and '{}' is another: give --each to compare each file by itself", path);
}

// Without the name of another command, what is computed is a walk.
Answer run_check(const Command& command, const Arguments& arguments) {
  if (const std::optional<std::string> name = arguments.text(option::recorder)) return {.page = recorder_page(*name)};
  refuse_other_word(command, arguments);
  return run_walk(command, arguments);
}

}  // namespace attn
