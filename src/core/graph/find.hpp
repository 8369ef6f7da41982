#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

/// Works out what stands for a row or a column and is neither a label nor a number: the number from 1 that it
/// gives. Nothing: it is one of these.
using WorkOutPlace = std::function<std::optional<std::size_t>(std::string_view place)>;

/// The cell called `weights[1,2]` or `head.2.weights[it,animal]`; a label may stand in double quotes.
/// Throws InputError: no such matrix, row or column, a label that several rows have.
Cell find_cell(const Graph& graph, std::string_view address, const WorkOutPlace& work_out = {});

/// The same, or all cells of the row called `x[animal]`. Throws likewise.
std::vector<Cell> find_cells(const Graph& graph, std::string_view address);

/// What a row or a column is called in an address: its label, or its number from 1 where another one has the
/// same label, or where the label would be read as something else.
std::string name_of_place(const Axis& axis, std::size_t i);

/// "it, animal": which row and column the cell lies in, by their labels; empty: they have none.
std::string cell_in_words(const Cell& cell);

/// Whether the numbers of a node follow from random ones.
bool follows_from_random(const Node& node);

/// Whether there is exactly one row or column of this label, or one of this number.
bool has_place(const Axis& axis, std::size_t size, std::string_view place);

/// The place of a row or column by its label or by its number from 1; a number counts, unless it is in
/// quotes. `what` is "row 'x' of weights". Throws InputError.
std::size_t find_place(const Axis& axis, std::size_t size, std::string_view place, std::string_view what,
                       const WorkOutPlace& work_out = {});

/// The same of what an option names, a word or a position. A number that is the word of another place is refused, since
/// it says neither: in double quotes it is the word, and as "position 1" the position.
std::size_t find_named_place(const Axis& axis, std::size_t size, std::string_view place, std::string_view what);
/// Whether it names one place, or more than one so that find_named_place() says how to choose.
bool has_named_place(const Axis& axis, std::size_t size, std::string_view place);

/// The shortest ways from one node to all that depends on it, found by searching the graph: only the nodes
/// that `counts` chooses make a way longer.
class ShortestPaths {
 public:
  ShortestPaths(const Graph& graph, const Node& from, const std::function<bool(const Node&)>& counts);

  /// How many counted nodes lie on the way, `to` among them; nothing where `to` does not depend on the start.
  std::optional<std::size_t> length(const Node& to) const;
  /// The nodes from the start to `to`, which depends on it.
  std::vector<const Node*> path(const Node& to) const;

 private:
  struct Step {
    std::size_t length;
    const Node* before;  // null: the start
  };
  std::map<const Node*, Step> steps_;
};

}  // namespace attn
