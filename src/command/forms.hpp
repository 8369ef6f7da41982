#pragma once

#include <span>
#include <string>
#include <vector>

#include "command/command.hpp"
#include "command/model_rerun.hpp"
#include "core/graph/plan.hpp"

namespace attn {

/// How any cell of the matrix of an address is made, and what makes it in xtensor. Throws InputError where it is given.
void add_code(Page& page, const Graph& graph, const std::string& address);
/// Adds how one cell of a graph came about and, up to `depth` steps behind it, how its terms did.
/// The page is then about its matrix. Throws InputError when no cell is called so.
void add_explanation(Page& page, const Graph& graph, const std::string& address, std::size_t depth);

/// Leaves no more of a command's page than what --only or --explain asks for, or puts what --product, --map
/// or --from shows in its place; there --only chooses the weights. Otherwise a pattern chooses among the
/// matrices of the page, or, where it matches none of them, among all matrices of the computation behind it.
/// Throws InputError when there is no such matrix or cell.
void narrow(Answer& answer, const Command& command, const Arguments& arguments);

/// Throws InputError: an option asks for matrices that the command does not show.
[[noreturn]] void fail_without_matrices(const Option& option, const Command& command);

/// --assert: what becomes of laws in what a command computes. Throws InputError as check_law() does.
Answer laws_page(const Command& command, const Arguments& arguments);

/// The matrices of a file of --trace, as inputs of a computation. Throws InputError as read_trace() does, and for
/// options of a problem beside it.
Answer matrices_of_trace(const std::string& path, const Arguments& arguments);

/// The words of a line, from the name of the command on that computes, without these options and their values.
std::vector<std::string> words_of_line(const Command& command, const Arguments& arguments,
                                       std::span<const Option* const> without);

/// The nodes whose numbers are needed: those of --only, those that an explanation begins at, none for an
/// outline, or the others.
std::vector<const Node*> wanted_nodes(const Graph& graph, const Arguments& arguments,
                                      std::vector<const Node*> (*others)(const Graph&) = all_nodes);

/// A computation before its numbers, of which gradients can be taken.
struct Differentiable {
  Calculation computation;
  std::string title;
  std::vector<const Node*> results;          // the last ones: their numbers are summed where no loss is named
  std::vector<Prediction> predictions = {};  // whose cross-entropy is the loss, where there are some
  std::string told_words = {};               // a sentence on where their right words come from
  std::vector<std::string> remarks = {};
  bool names_are_long = false;  // those of a model stand under headings for their scopes
};

/// Whether the arguments ask for gradients in place of the page.
bool asks_for_gradients(const Arguments& arguments);

/// The page that they ask for. Throws InputError: no such matrix or cell, one that nothing leads to, a
/// gradient of another shape, more than memory would hold.
Answer gradients_of(const Differentiable& forward, const Arguments& arguments);

}  // namespace attn
