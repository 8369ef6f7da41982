#pragma once

#include <memory>

#include "command/command.hpp"
#include "graph/plan.hpp"

namespace attn {

/// A problem and its computation.
struct Solved {
  std::shared_ptr<const Problem> problem;
  std::shared_ptr<Graph> graph;

  /// What to tell beside the page: remarks on the problem, warnings of its numbers.
  std::vector<std::string> warnings() const;
  /// The nodes that match `pattern`, or all named ones.
  std::vector<const Node*> nodes(const std::optional<std::string>& pattern) const;
  /// A page about it, without blocks, whose trace are these nodes.
  Page page(const std::vector<const Node*>& trace) const;
  /// A page with these warnings, or its own.
  Outcome outcome(Page page) const { return outcome(std::move(page), warnings()); }
  Outcome outcome(Page page, std::vector<std::string> warnings) const;
};

/// The options of the problem that the arguments ask for: those of an example or a file, of a file of
/// parameters, and of the command line, the later ones first.
OptionValues requested(const Arguments& arguments);

/// The problem that they describe. What a problem file says wrong is told with the file's name.
Problem problem_of(const Arguments& arguments);

/// The remarks on a problem, for a page that takes the scores before they are capped, biased and masked.
std::vector<std::string> with_later_changes_unused(const Problem& problem);

/// The problem that the arguments describe (an example, a file, and the fields given), computed up to the
/// extent: what --only or --explain needs, or else the nodes that `wanted` names.
Solved solve(const Arguments& arguments, Extent extent = Extent::output,
             std::vector<const Node*> (*wanted)(const Graph&) = all_nodes);

}  // namespace attn
