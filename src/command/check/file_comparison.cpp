#include "command/check/file_comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/app.hpp"
#include "command/form.hpp"
#include "command/forms.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/matrix_file.hpp"
#include "page/document/document.hpp"
#include "school/check/comparison_page.hpp"
#include "school/check/findings.hpp"
#include "school/check/matching.hpp"
#include "school/check/names.hpp"
#include "school/check/step_precision.hpp"
#include "school/mistake/mistake_search.hpp"

namespace attn {

// Do the matrices of a file agree with what is computed, and which mistake explains them?

namespace {

// --- telling input

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

// The options of a check that say how something is computed, without those that a small input has itself.
std::string typed_beside(const SmallInput& input, const Arguments& arguments) {
  constexpr std::array of_this_file = {&option::as,      &option::only,   &option::strict,
                                       &option::example, &option::source, &option::target};
  const std::vector<std::string_view> own = split_at(input.options, ' ');
  std::string line;
  for (const std::string& typed : typed_again(arguments)) {
    const std::string name = typed.substr(0, typed.find(' '));
    const bool is_of_this_file = std::ranges::find(of_this_file, name, &Option::name) != of_this_file.end();
    if (!is_of_this_file && std::ranges::find(own, name) == own.end()) line += " " + typed;
  }
  return line;
}

// Of some small computations of one command, that in whose matrices the mistakes can best be told apart.
class TellingInputFinder {
 public:
  TellingInputFinder(std::span<const ComparedMatrix> compared, const std::vector<const Mistake*>& mistakes,
                     const Environment& environment)
      : compared_(compared), mistakes_(mistakes), environment_(environment) {}

  bool tells_all() const { return most_ == mistakes_.size(); }

  void try_out(const SmallInput& input, const std::string& more) {
    const std::string line = fmt::format("{} {}{}", input.command, input.options, more);
    try {
      const Answer answer = attn::answer(command_lines("attn " + line, "", 1).front().words, environment_);
      std::vector<std::size_t> numbers = mistake_groups(*answer.computation.graph, mistakes_, compared_);
      const std::size_t count = std::set<std::size_t>(numbers.begin(), numbers.end()).size();
      if (count <= most_) return;
      most_ = count;
      best_ = TellingInput{fmt::format("attn {} -o input.npz", line), fmt::format("attn check result.npz {}", line),
                           std::move(numbers)};
    } catch (const InputError&) {
      return;  // more than a document may compute, or options that do not go together
    }
  }

  // Nothing: they look the same in all that were tried.
  const std::optional<TellingInput>& best() const { return best_; }

 private:
  std::span<const ComparedMatrix> compared_;
  const std::vector<const Mistake*>& mistakes_;
  const Environment& environment_;
  std::size_t most_ = 1;
  std::optional<TellingInput> best_;
};

// A small computation of this command, or of one that computes the same, with the options of the check; where none of
// these tells any mistakes apart, without them.
std::optional<TellingInput> telling_input(const Command& command, const Arguments& arguments,
                                          const std::vector<const Mistake*>& mistakes,
                                          std::span<const ComparedMatrix> compared) {
  const bool has_own = std::ranges::find(small_inputs, command.name, &SmallInput::command) != std::end(small_inputs);
  const std::string_view name = has_own ? command.name : small_inputs[0].command;
  TellingInputFinder finder(compared, mistakes, *arguments.environment);
  for (const SmallInput& input : small_inputs) {
    if (input.command == name && !finder.tells_all()) finder.try_out(input, typed_beside(input, arguments));
  }
  if (finder.best()) return finder.best();
  for (const SmallInput& input : small_inputs) {
    if (input.command == name && !finder.tells_all()) finder.try_out(input, "");
  }
  return finder.best();
}

// --- check

// Whether it is what a matrix of the computation is called, by us or by others.
bool names_matrix_of(const Graph& graph, const std::string& name) {
  const std::span<const Role* const> roles = roles_named(name);
  const auto may_be = [&](const Node& node) { return std::ranges::find(roles, node.role) != roles.end(); };
  return graph.find(name) || std::ranges::any_of(graph.nodes(), may_be);
}

// A matrix that its file does not name, or that was chosen by its name there: what --as says, what it or its file is
// called, or the only one of its shape.
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
        "{} has one matrix, of {}, by no name of the computation, and nothing that is computed has this shape: say what it is with --as NAME",
        file.where, to_string(shape));
  fail("{} has one matrix, by no name of the computation: say which it is with --as NAME. Of its shape, {}, are: {}",
       file.where, to_string(shape), fmt::join(names, ", "));
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

// What a matrix is that cannot be compared: it is given to the computation, or its name is nearly one of it.
std::string why_not_compared(const std::string& name, const Graph& graph, const std::vector<std::string>& known) {
  const std::span<const Role* const> roles = roles_named(name);
  const auto is_given = [&](const Node& node) {
    return !node.op && (node.name == name || std::ranges::find(roles, node.role) != roles.end());
  };
  if (std::ranges::any_of(graph.nodes(), is_given)) return " (given here, and not computed)";
  return names_matrix_of(graph, name) ? "" : did_you_mean(name, known);
}

// The names of matrices, and why each is not compared.
std::string names_not_compared(const std::vector<MatrixFile>& files, const Graph& graph) {
  constexpr std::size_t most = 12;
  const std::vector<std::string> known = graph.names();
  std::vector<std::string> names;
  for (const MatrixFile& file : files) {
    if (names.size() == most) {
      names.emplace_back("…");
      break;
    }
    names.push_back(in_quotes(file.name) + why_not_compared(file.name, graph, known));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void tell_step(const StepsInFile& steps, MatchedMatrices& matched) {
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
void tell_other_names(MatchedMatrices& matched) {
  for (const ComparedMatrix& matrix : matched.compared) {
    const std::span<const Role* const> roles = roles_named(matrix.name);
    if (roles.empty() || matrix.node->is(*roles.front()) || !matrix.difference.agrees()) continue;
    const Node* const other = matrix.node->beside(*roles.front());
    if (!other || !other->cells() || other->frame.shape != matrix.node->frame.shape) continue;
    if (difference(*matrix.theirs, other->matrix(), matrix.rounding).agrees()) continue;
    matched.remarks.push_back(
        fmt::format("{} in the file has the numbers of {}, and not those of {}: it is compared with {}.", matrix.name,
                    matrix.node->name, other->name, matrix.node->name));
  }
}

// What the line calls a matrix that its file names otherwise: the only one that is not computed from, or NAME=OTHER.
void name_result(std::vector<MatrixFile>& files, const Graph& graph, const std::string& as, const std::string& where) {
  const std::size_t sign = as.find('=');
  if (sign != std::string::npos && (sign == 0 || sign + 1 == as.size() || as.find('=', sign + 1) != std::string::npos))
    fail("--as {}: give a name of the computation, such as output, or the file's name and that one, as in out=output",
         as);
  std::vector<std::string> results;
  for (const MatrixFile& file : files) {
    if (!is_computed_from(graph, files, file.name)) results.push_back(file.name);
  }
  std::string in_file = sign == std::string::npos ? "" : as.substr(0, sign);
  if (sign == std::string::npos && results.size() == 1) in_file = results.front();
  const auto named = std::ranges::find(files, in_file, &MatrixFile::name);
  if (named == files.end())
    fail("--as {}: say which matrix of {} it is, as in --as {}={}: {}", as, where,
         results.empty() ? files.front().name : results.front(), sign == std::string::npos ? as : as.substr(sign + 1),
         fmt::join(results, ", "));
  named->name = sign == std::string::npos ? as : as.substr(sign + 1);
}

MatchedMatrices matched_matrices(Graph& graph, const Arguments& arguments) {
  const MatricesToCompare& to_compare = *arguments.attachments.find<MatricesToCompare>();
  const NamedMatrices& all = *to_compare.all;
  std::vector<MatrixFile> files = with_layers_apart(graph, all.matrices);
  const std::string where = place_of_file(*arguments.text(option::against));
  if (files.empty()) fail("{} has no matrix that could be a result: write one into it, such as output", where);
  if (!all.are_named) name_it(files.front(), graph, arguments.text(option::as));
  if (all.are_named && arguments.has(option::as)) name_result(files, graph, *arguments.text(option::as), where);
  MatchedMatrices matched = match_matrices(graph, files);
  matched.remarks = all.remarks;
  matched.doubts = all.doubts;
  for (const OptionValues::Entry& entry : arguments.entries()) {
    if (std::ranges::find(to_compare.supposed, entry.option) != to_compare.supposed.end())
      matched.supposed.push_back(SupposedSetting{entry.option, entry.value}.typed());
  }
  if (!gives_problem(arguments)) {
    for (const IncomparableMatrix& other : matched.others) {
      if (may_be_parameter(other.name) && !is_computed_from(graph, files, other.name))
        matched.unread.push_back(other.name);
    }
  }
  for (const MatrixFile& file : all.refused) {
    if (names_matrix_of(graph, file.name)) fail("{}", file.refused);
    matched.others.push_back({file.name, "it is no matrix of numbers"});
  }
  if (const std::optional<std::string> only = arguments.only()) {
    const std::vector<const Node*> chosen = graph.matching(*only);
    std::erase_if(matched.compared,
                  [&](const ComparedMatrix& matrix) { return std::ranges::find(chosen, matrix.node) == chosen.end(); });
  }
  const bool has_results =
      std::ranges::any_of(matched.compared, [](const ComparedMatrix& matrix) { return matrix.node->op != nullptr; });
  if (!has_results) {
    fail("no matrix of {} can be compared with what is computed: its matrices are {}. Of the computation there are: {}",
         where, names_not_compared(files, graph), fmt::join(some_names(graph), ", "));
  }
  tell_other_names(matched);
  if (to_compare.steps.count > 0) tell_step(to_compare.steps, matched);
  return matched;
}

// A computation with what is compared with it.
struct CheckAttempt {
  std::shared_ptr<Graph> graph;
  MatchedMatrices matched;

  bool agrees() const {
    return std::ranges::all_of(matched.compared, [](const ComparedMatrix& one) { return one.difference.agrees(); });
  }
  std::optional<StepPrecision> precision(double also_tried) const {
    return step_precision(*graph, matched.compared, also_tried);
  }
  std::size_t cells_that_differ() const {
    std::size_t count = 0;
    for (const ComparedMatrix& one : matched.compared)
      count += one.difference.has_other_shape ? one.theirs->size() : one.difference.cells;
    return count;
  }
  std::size_t results() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(matched.compared, [](const ComparedMatrix& one) { return one.node->op != nullptr; }));
  }
};

// Nothing: it cannot be computed so, or tells less than another attempt.
std::optional<CheckAttempt> attempt_supposing(const Command& command, const Arguments& arguments,
                                              const Supposition& supposed, const CheckAttempt& first) {
  const InputReports only_tried;
  Environment without_work = *arguments.environment;
  without_work.work = nullptr;
  try {
    Arguments others = supposing(command, arguments, supposed);
    others.environment = &without_work;
    const Answer answer = command.run(command, others);
    if (!answer.computation.graph) return std::nullopt;
    CheckAttempt attempt{answer.computation.graph, matched_matrices(*answer.computation.graph, others)};
    if (attempt.results() < first.results()) return std::nullopt;
    return attempt;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// What the line says of the first convention that it decides; empty: of none.
std::string said_of_conventions(const Findings& findings, const Arguments& typed) {
  if (!findings.all.empty()) {
    for (const Mistake* one : findings.all.front().mistakes) {
      const auto row = std::ranges::find(decided_conventions(), one->name, &DecidedConvention::convention);
      if (row == decided_conventions().end() || !typed.has(*row->by)) continue;
      Arguments read = typed;
      read.read();
      return fmt::format("{} {}", row->by->name, read.name(*row->by));
    }
  }
  return "";
}

CheckResult result_of(CheckAttempt attempt, Findings findings) {
  return {std::move(attempt.graph), std::move(attempt.matched), std::move(findings)};
}

CheckResult result_of_right(CheckAttempt attempt) {
  Findings findings = find_mistakes(*attempt.graph, attempt.matched.compared);
  return result_of(std::move(attempt), std::move(findings));
}

std::uint64_t work_of_attempt(const CheckAttempt& attempt) {
  std::uint64_t most = 1;
  for (const ComparedMatrix& one : attempt.matched.compared) most = std::max(most, work_for(*one.node));
  return most;
}

// What there is with settings that neither the line nor the file says. Of large computations few are tried.
std::vector<CheckAttempt> attempts_supposing(const Command& command, const Arguments& arguments,
                                             const CheckAttempt& first) {
  const MatricesToCompare& to_compare = *arguments.attachments.find<MatricesToCompare>();
  const bool says_all = arguments.has_any(std::array{&option::example, &option::problem, &option::model});
  std::vector<CheckAttempt> attempts;
  if (says_all || !to_compare.as_read) return attempts;
  constexpr std::uint64_t most_work = 400'000'000;
  constexpr std::size_t most = 40;
  const std::uint64_t work_of_one = work_of_attempt(first);
  std::vector<Supposition> all = suppositions(command, arguments, *first.graph, to_compare.supposed,
                                              to_compare.is_recorded, to_compare.other_readings);
  all.resize(std::min<std::size_t>({all.size(), most, most_work / work_of_one}));
  const std::size_t before = first.cells_that_differ();
  for (const Supposition& supposed : all) {
    std::optional<CheckAttempt> attempt = attempt_supposing(command, arguments, supposed, first);
    const std::size_t now = attempt ? attempt->cells_that_differ() : 0;
    const bool is_pair = supposed.settings.size() + (supposed.readings ? 1 : 0) > 1;
    if (!attempt || (is_pair && now > before)) continue;
    attempts.push_back(std::move(*attempt));
    if (attempts.back().agrees()) break;
  }
  return attempts;
}

// NaN and infinite numbers say nothing of settings.
bool has_no_number(const CheckAttempt& attempt) {
  return std::ranges::any_of(attempt.matched.compared, [](const ComparedMatrix& one) {
    return !one.difference.agrees() && std::ranges::any_of(cells(*one.theirs), [](double x) { return std::isnan(x); });
  });
}

// Whether what explains it is only that the supposed setting does not hold: then it is the first computation once more.
bool undoes_supposition(const CheckAttempt& attempt, const Findings& findings, const CheckAttempt& first) {
  if (findings.all.empty() || findings.all.front().made.empty()) return false;
  constexpr double part = 1e-9;
  return where_possible([&] {
    RecomputedMatrices remade(*attempt.graph, attempt.matched.compared, {findings.all.front().made.front()});
    for (std::size_t i = 0; i < attempt.matched.compared.size(); ++i) {
      const ComparedMatrix& one = attempt.matched.compared[i];
      const Node* const before = first.graph->find(one.node->name);
      const std::shared_ptr<const Matrix> now = remade.at(i);
      if (!one.node->op || !before || !now) continue;
      if (!agree(*now, before->matrix(), Rounding::to_part(part))) return false;
    }
    return true;
  });
}

// Those that can be looked at within a bound: what it takes to try every mistake in each.
std::span<CheckAttempt> within_bound(std::vector<CheckAttempt>& attempts) {
  constexpr std::uint64_t most_work = 150'000'000, mistakes_tried = 100;
  std::uint64_t work = 0;
  std::size_t count = 0;
  std::ranges::stable_sort(attempts, {}, &CheckAttempt::cells_that_differ);
  while (count < attempts.size()) {
    work += mistakes_tried * work_of_attempt(attempts[count]);
    if (work > most_work) break;
    ++count;
  }
  return std::span(attempts).first(count);
}

CheckResult best_result(const Command& command, const Arguments& arguments, std::shared_ptr<Graph> graph) {
  MatchedMatrices first_matched = matched_matrices(*graph, arguments);
  CheckAttempt first{std::move(graph), std::move(first_matched)};
  if (first.agrees()) return result_of_right(std::move(first));
  if (std::optional<StepPrecision> precision = first.precision(0.0))
    return result_of(std::move(first), right_with(std::move(*precision)));
  std::vector<CheckAttempt> attempts = attempts_supposing(command, arguments, first);
  for (CheckAttempt& attempt : attempts) {
    if (attempt.agrees()) return result_of_right(std::move(attempt));
  }
  constexpr double of_attempts = 1.0;  // some ten settings are tried
  const std::span<CheckAttempt> nearest = within_bound(attempts);
  for (CheckAttempt& attempt : nearest) {
    if (std::optional<StepPrecision> precision = attempt.precision(of_attempts))
      return result_of(std::move(attempt), right_with(std::move(*precision)));
  }
  Findings of_first = explain_difference(*first.graph, first.matched.compared);
  if (nearest.empty() || of_first.all.empty() || has_no_number(first) || of_first.is_one_mistake())
    return result_of(std::move(first), std::move(of_first));
  for (CheckAttempt& attempt : nearest) {
    if (std::optional<StepPrecision> some = some_step_precision(*attempt.graph, attempt.matched.compared, of_attempts))
      return result_of(std::move(attempt), right_with(std::move(*some)));
  }
  for (CheckAttempt& attempt : nearest) {
    if (!is_one_mistake(*attempt.graph, attempt.matched.compared)) continue;
    Findings findings = explain_difference(*attempt.graph, attempt.matched.compared);
    if (undoes_supposition(attempt, findings, first)) continue;
    return result_of(std::move(attempt), std::move(findings));
  }
  // Of those that leave fewer findings unexplained the first one; all else stays as it is said.
  // All of them may take as much work as the first one.
  constexpr std::size_t most_explained = 4;
  for (CheckAttempt& attempt : nearest.first(std::min(nearest.size(), most_explained))) {
    Findings findings = explain_difference(*attempt.graph, attempt.matched.compared, work_for_search / most_explained);
    if (findings.unexplained() < of_first.unexplained() && !undoes_supposition(attempt, findings, first))
      return result_of(std::move(attempt), std::move(findings));
  }
  return result_of(std::move(first), std::move(of_first));
}

}  // namespace

bool CheckResult::passes(bool is_strict) const {
  if (!is_strict) return findings.may_be_conventions();
  return findings.all.empty() && !findings.precision && matched.supposed.empty();
}

CheckResult check_result(const Command& command, const Arguments& arguments, std::shared_ptr<Graph> graph) {
  CheckResult result = best_result(command, arguments, std::move(graph));
  const std::shared_ptr<const Arguments>& typed = arguments.attachments.find<MatricesToCompare>()->as_typed;
  if (typed) result.findings.said_otherwise = said_of_conventions(result.findings, *typed);
  return result;
}

Answer comparison_page(const Command& command, const Arguments& arguments) {
  Answer answer = ordinary_answer(command, arguments);
  if (!answer.computation.graph) fail_without_matrices(option::against, command);
  const CheckResult found = check_result(command, arguments, answer.computation.graph);
  answer.computation.graph = found.graph;
  std::vector<const Node*> nodes;
  for (const ComparedMatrix& matrix : found.matched.compared) nodes.push_back(matrix.node);
  // A program that runs a model of its own runs no other one.
  const bool has_own_model = arguments.has_any(std::array{&option::model, &option::parameters});
  const auto find = [&](const std::vector<const Mistake*>& mistakes) -> std::optional<TellingInput> {
    if (has_own_model) return std::nullopt;
    return telling_input(command, arguments, mistakes, found.matched.compared);
  };
  answer.page.blocks.clear();
  answer.page.trace = Trace(nodes);
  add_comparison(answer.page, place_of_file(*arguments.text(option::against)), found.matched, found.findings, find);
  if (!found.passes(arguments.has(option::strict))) answer.verdict = Verdict::failed;
  return answer;
}

void refuse_further_file(const std::string& path) {
  fail("attn check compares one file, and '{}' is another: give --each to compare each file by itself", path);
}

// Without the name of another command, what is computed is a walk.
Answer run_check(const Command& command, const Arguments& arguments) {
  refuse_other_word(command, arguments);
  return run_walk(command, arguments);
}

}  // namespace attn
