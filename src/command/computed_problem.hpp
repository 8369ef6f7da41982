#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/command.hpp"
#include "core/graph/plan.hpp"
#include "data/parameters/parameters.hpp"
#include "data/problem/problem_file.hpp"

namespace attn {

/// A problem and its computation.
struct ComputedProblem {
  std::shared_ptr<const Problem> problem;
  std::shared_ptr<Graph> graph;

  /// What to tell beside the page: remarks on the problem, warnings of its numbers.
  std::vector<std::string> warnings() const;
  /// The nodes that match `pattern`, or all named ones.
  std::vector<const Node*> nodes(const std::optional<std::string>& pattern) const;
  /// A page about it, without blocks, whose trace are these nodes.
  Page page(const std::vector<const Node*>& trace) const;
  /// A page with these warnings, or its own.
  Answer answer(Page page) const { return answer(std::move(page), warnings()); }
  Answer answer(Page page, std::vector<std::string> warnings) const;
};

/// The options of the problem that the arguments ask for: those of an example or a file, of a file of
/// parameters, and of the command line, the later ones first.
OptionValues requested_options(const Arguments& arguments);

/// The problem that they describe. What a problem file says wrong is told with the file's name.
Problem problem_of(const Arguments& arguments);

/// The remarks on a problem, for a page that takes the scores before they are capped, biased and masked.
std::vector<std::string> with_later_changes_unused(const Problem& problem);

/// Adds what a command has beside the computation of a problem.
using AddNodes = void (*)(Graph& graph);

/// The problem that the arguments describe (an example, a file, and the fields given), computed up to the
/// extent: what --only or --explain needs, or else the nodes that `wanted` names. What `add` adds is there before
/// anything is chosen; null: nothing.
ComputedProblem compute_problem(const Arguments& arguments, Extent extent = Extent::output,
                                std::vector<const Node*> (*wanted)(const Graph&) = all_nodes, AddNodes add = nullptr);

/// The parameters of --parameters, where they were found among other matrices of its file: hung on the arguments.
struct ParametersRead {
  std::shared_ptr<const ParameterFile> file = {};
};

/// The parameters in a file, those behind --prefix where it is given. Throws InputError as read_parameters.
ParameterFile parameters_asked_for(const Arguments& arguments, const std::string& path);

/// The arguments with the parameters of a part of a model (scope::norm, scope::feed_forward) that a file of
/// --parameters has, as if `options` had given them one by one, and without --parameters. Where the file has
/// none of them, nothing changes, unless `whose` names what has them, "an nn.LayerNorm": then it is an error.
Arguments with_parameters_of_part(const Arguments& arguments, const ScopeKind& part, OptionList options,
                                  std::string_view whose = {});

/// Throws InputError: a file of parameters does not tell how many heads there are.
[[noreturn]] void fail_without_heads(const std::string& path);

/// A label and its numbers, one for each column.
using QuantityRows = std::vector<std::pair<std::string, std::vector<double>>>;

/// A page of quantities: each table is a matrix of its trace, so that every format can write it.
class QuantityPage {
 public:
  QuantityPage();

  void say(Block block) { page_.say(std::move(block)); }
  void say(Text paragraph) { page_.say(std::move(paragraph)); }
  void say(std::string paragraph) { page_.say(std::move(paragraph)); }
  void head(int level, std::string title) { page_.head(level, std::move(title)); }
  /// One row of numbers for each label; columns are quantities of their own.
  void table(std::string_view name, const std::vector<std::string>& columns, const QuantityRows& rows);
  /// Numbers of one kind. The table is named like the matrix in the trace.
  void matrix(std::string_view name, Matrix cells, const Axis& rows, const Axis& columns, Heat heat);
  void set_problem(std::shared_ptr<const Problem> problem) {
    page_.recipe = problem_writer(problem);
    problem_ = std::move(problem);
  }
  Answer answer(std::vector<std::string> warnings) && {
    return {.page = std::move(page_), .warnings = std::move(warnings), .computation = {tables_, problem_}};
  }

 private:
  std::shared_ptr<Graph> tables_;
  std::shared_ptr<const Problem> problem_ = {};
  Page page_;
};

}  // namespace attn
