#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

/// How large a layer is: n positions of size d, and a kernel of k positions where there is one.
struct LayerSizes {
  std::size_t n = 0;
  std::size_t d = 0;
  std::size_t k = 0;
};

/// A layer of a stack, as its forms need it: its matrices, its sizes, and its place from 1.
struct Layer {
  std::vector<Value> parameters;
  LayerSizes sizes;
  std::size_t place = 1;
};

/// How something grows with the sizes, as a document writes it.
struct Complexity {
  std::string_view complexity;  // "O(n² d)"
  std::string_view sequential;
  std::string_view path;
  std::string_view source = {};  // the text that states it; empty: none, it follows from the formula
};

/// A kind of layer that maps n vectors of d numbers to as many of the same size, in two forms that compute
/// the same: position by position, so that it can be seen what each position depends on, and as a whole,
/// with as few and as large matrix products as can be.
struct LayerKind {
  std::string_view name;
  std::string_view summary;
  std::string_view formula;  // of the multiply-adds, exactly
  Complexity growth;         // in n, d, k
  // In T, D, K  (Lin et al. 2022; Stenzel 2023, Transformer Pt. 1, table 2); empty: not in it.
  Complexity survey;
  double (*multiply_adds)(LayerSizes sizes);  // of one layer
  double (*sequential)(LayerSizes sizes);     // operations of one layer that wait for each other
  double (*path)(LayerSizes sizes);           // from x_1 and x_n to a position that depends on both
  std::vector<Shape> (*parameters)(LayerSizes sizes);
  std::vector<Value> (*by_position)(const std::vector<Value>& x, const Layer& layer);  // n of [1, d]
  Value (*whole)(const Value& x, const Layer& layer);                                  // [n, d] -> [n, d]
};

/// self-attention without and with its projections, recurrent, convolution contiguous and dilated, fully
/// connected.
std::span<const LayerKind> layer_kinds();

/// The row of this name. Throws InputError: there is none.
const LayerKind& layer_kind(std::string_view name);

}  // namespace attn
