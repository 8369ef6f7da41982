#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/graph/trace.hpp"
#include "data/problem/problem.hpp"
#include "page/block/page.hpp"

namespace attn {

/// The scores that weights, or their transpose, come from; null without any.
const Node* scores_behind(const Node& node);

/// The nodes whose numbers are needed to show these: they, the scores behind weights, which may be masked,
/// and those that expanded scores are compared with.
std::vector<const Node*> shown_in_tables(std::vector<const Node*> nodes);

/// A table of a matrix that has this content: shaded, with row sums, and with masked cells where the scores
/// behind weights are −∞, or other numbers themselves.
Table shown_as(Table table, Content content, bool rows_sum_to_one, std::shared_ptr<const Matrix> scores);

/// The matrix of a node as a table: masked cells, shading and row sums follow from what the node is.
Table table_of(const Node& node);

/// Numbers of different kinds, a column for each kind, each with its own decimals.
Table quantities(std::string title, Axis rows, std::vector<std::string> kinds, Matrix numbers);

/// How a node is computed: its formula with names from `scope` on, and the shapes of what it mentions and of
/// its result.
FormulaBlock formula_block(const Node& node, std::string_view scope = {});

/// The formulas of some nodes, and their tables. Names are told from `scope` on: under a heading that names
/// it.
void add_results(Page& page, const std::vector<const Node*>& nodes, std::string_view scope = {});

/// Some nodes with their formulas, and nothing else: what --only asks for.
void add_formulas_and_tables(Page& page, const std::vector<const Node*>& nodes);

/// Nodes that follow each other in the same scope, as groups.
std::vector<std::vector<const Node*>> by_scope(const std::vector<const Node*>& nodes);

/// One sentence that tells which matrices are random, so that nothing that follows from them reads as a
/// finding. Empty where all were given.
std::string note_on_random_matrices(const Problem& problem);
/// What is random in a computation, in a sentence, so that nothing that follows from it reads as a finding; empty:
/// nothing.
std::string what_is_random(const Calculation& computation);
/// The same in a few words, as for a line below a picture.
std::string what_is_random_in_short(const Calculation& computation);
/// A sentence about words that follows from the numbers of a node: it says so itself where these follow from random
/// ones. It begins with a word of ours, or with a quoted one.
std::string with_note_on_random(const Node& numbers, std::string sentence);
constexpr std::string_view with_random_numbers = "With random numbers: ";
/// Adds it, where it is not empty.
void add_note_on_random_matrices(Page& page, const Problem& problem);

/// The regime of every row of some weights: a line for each query.
Listing regimes_of_rows(const Node& weights);

/// What there is to read in a matrix: of weights one sentence, to which key the most decided queries attend
/// most; of a sum with weights that were given, the regimes of these. Nothing for other matrices.
void add_reading(Page& page, const Node& node);

/// How a cell came about and, up to `depth` steps behind it, how its terms did; every cell once. Names are
/// told from `scope` on.
Derivation derivation(const Cell& cell, std::size_t depth, std::string_view scope = {});

/// Says by an example that names leave out the node's scope.
void add_short_names(Page& page, const Node& example);

/// The formula and the table of each node, under a heading for each scope, which names then leave out.
void add_results_by_scope(Page& page, const std::vector<const Node*>& nodes);

/// Adds matrices of a trace, computed or read from a file, as --only shows those of a computation: their
/// formulas and tables; those of a model, which have long names, under a heading for each scope, which names
/// then leave out. Masked cells, shading and row sums follow from what a matrix is, and from the scores in
/// the trace.
void add_matrices(Page& page, const Trace& trace, const std::vector<TracedMatrix>& shown);

}  // namespace attn
