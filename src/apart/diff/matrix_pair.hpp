#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apart/change/changed_matrix.hpp"
#include "core/graph/graph.hpp"

namespace attn {

/// Whether a matrix was computed from others, or given.
enum class Origin { unknown, given, computed };

/// A matrix of one of two computations that are compared.
struct SideOfPair {
  std::string name;
  Frame frame;
  std::function<std::shared_ptr<const Matrix>()> cells;
  const Node* node = nullptr;  // null: it was read from a file
  Origin origin = Origin::unknown;
  std::string formula = {};  // as its file says it; empty: there is no file, or it does not say
};

enum class DifferenceKind { equal, equal_by_word, different, other_words, other_shape, only_in_a, only_in_b };

/// The matrices of one name in both, and how they differ.
struct MatrixPair {
  std::string name;
  const SideOfPair *a = nullptr, *b = nullptr;  // null: it has none of this name
  DifferenceKind how = DifferenceKind::equal;
  Difference apart = {};                      // counted in the order of A
  std::size_t row_in_b = 0, column_in_b = 0;  // of the cell that is furthest apart
  bool is_tolerated = false;                  // numbers count as equal that are not the same
  bool is_in_other_order = false;             // words stand elsewhere in B
  bool has_repeated_words = false;            // and some of them several times
  bool are_ids = false;                       // of two vocabularies

  bool has_difference() const { return how == DifferenceKind::different; }
  bool stands_once() const { return !a || !b; }
};

/// Compares two matrices of one name. A row or column of a word is compared with that of the same word, and the first
/// of several with the first. Ids are compared by the words that they stand for in their vocabularies.
void compare_cells(MatrixPair& one, double tolerance);

/// In a list, and of one or several matrices in a sentence.
struct DifferenceWording {
  DifferenceKind how;
  std::string_view listed, one, many;
};
std::span<const DifferenceWording> words_for_differences();

/// "other words"
std::string listed_as(DifferenceKind how);
/// "[it,animal]", the cell that is furthest apart, as it is called in A.
std::string place_of_largest_difference(const MatrixPair& one);
/// Its numbers in A and B.
double cell_in_a(const MatrixPair& one);
double cell_in_b(const MatrixPair& one);
/// The largest difference, or the two shapes; empty: there is none.
std::string difference_in_words(const MatrixPair& one);

}  // namespace attn
