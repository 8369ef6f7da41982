#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

/// A name of code in NumPy, and the matrix that it stands for; of several, which the code has as one array, all in
/// order. Ids are whole numbers from 0, without a second axis, and masks are true or false.
struct CodeName {
  std::string name;
  std::vector<const Node*> matrices;
};

/// The code in NumPy that makes a matrix, of one to three lines. NumPy is `np` there.
struct RightCode {
  std::string_view row;  // of the table, by what it makes
  std::string code;
  std::string result;           // the name that has the matrix afterwards
  std::vector<CodeName> names;  // that must stand for something before
  const Node* made;             // the matrix
};

/// The code for a node, by what its computation is; for a node without a name, that for the first one with a name that
/// is made of it. Nothing: there is no short code for it.
std::optional<RightCode> right_code_of(const Node& node);
/// The code alone.
std::optional<std::string> right_code(const Node& node);

/// What the rows of the table make.
std::vector<std::string_view> rows_of_right_code();

}  // namespace attn
