#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parameters/layout.hpp"

namespace attn {

/// The names of the tensors in a file.
using TensorNames = std::set<std::string, std::less<>>;

/// A tensor that has a place in a layout.
struct PlacedTensor {
  std::string name;      // in the file
  const TensorRow* row;  // what it is
  std::string scope;     // before the names of what is made of it
};

/// What the names of a file say: the layout, the prefix that stands before all names, the tensors that have a
/// place there, and the first that should be there and is not.
struct Recognized {
  const Layout* layout = nullptr;
  std::string prefix;
  std::vector<PlacedTensor> tensors;
  std::optional<PlacedTensor> missing;
};

/// The layouts and prefixes in which most names have a place: those that miss nothing, those with the
/// shortest prefix first, or else the first. Nothing when no name has a place in any. Which of several is
/// meant is told by the shapes.
std::vector<Recognized> recognize(const TensorNames& names);

}  // namespace attn
