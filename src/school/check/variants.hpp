#pragma once

#include <string>
#include <vector>

#include "school/mistake/mistake_search.hpp"

namespace attn {

/// A mistake as it is made in some places only, or with something that its row leaves open, which is told in words.
struct Variant {
  const Mistake* mistake;
  std::string amount;  // "in encoder.1.norm_2 alone", "x in place of norm_1.output in sum_2"
  NodesWhere places;
  Change change;
  bool is_likely = true;  // as one of two mistakes
};

/// The node itself, or the first with a name that is made of it; without a name where there is none.
const Node& named_for(const Node& node);

/// A name with any number in place of that of its head.
std::string name_in_any_head(const Node& node);

/// Each mistake in one part of a computation alone, or everywhere else: in one norm, attention, layer or head of
/// several.
std::vector<Variant> mistakes_in_one_part(const SearchGround& ground, std::size_t place);

/// Each mistake in one of several steps alone, none of which is made of another one.
std::vector<Variant> mistakes_in_one_step(const SearchGround& ground, std::size_t place);

/// Another matrix of the same shape taken where a named one belongs, or none: in one step, or in all of a part.
std::vector<Variant> other_matrices_taken(const SearchGround& ground, std::size_t place);

/// A named matrix added to a result of its shape.
std::vector<Variant> matrices_added(const SearchGround& ground, std::size_t place);

/// A function of each number applied to a matrix that has none there.
std::vector<Variant> functions_applied(const SearchGround& ground, std::size_t place);

}  // namespace attn
