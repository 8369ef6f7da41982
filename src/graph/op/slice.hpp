#pragma once

#include <string_view>

#include "graph/graph.hpp"
#include "graph/op/along.hpp"

namespace attn {

/// Some neighboring rows or columns: the first one, from 0, and how many.
struct Range {
  std::size_t first;
  std::size_t count;
};

/// An operation that takes some neighboring rows or columns, as its file in this folder defines it.
struct Slice {
  std::string_view name;  // "rows"
  std::string_view one;   // "row"
  Along along;
  std::string (*latex)(const std::string& whole, const std::string& places);
};

/// `kind` lives for ever. Throws InputError when the range reaches beyond the matrix.
Value slice(const Slice& kind, Value x, Range range);

}  // namespace attn
