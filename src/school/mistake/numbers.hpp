#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "school/mistake/mistake_search.hpp"

namespace attn {

/// A mistake with a number that somebody else may have taken as they liked: the ε of a norm, a scale, a mask value. The
/// number is solved for.
struct MistakeWithNumber {
  enum class Scale { linear, logarithmic };
  /// A few numbers.
  class Starts {
   public:
    constexpr Starts(std::initializer_list<double> some) : count_(some.size()) {
      std::copy(some.begin(), some.end(), all_.begin());
    }
    constexpr const double* begin() const { return all_.data(); }
    constexpr const double* end() const { return all_.data() + count_; }

   private:
    std::array<double, 8> all_ = {};
    std::size_t count_;
  };

  /// Its `instead` is null, because that needs the number.
  Mistake mistake;
  std::optional<Value> (*with)(RewriteSite at, double number);
  /// What the number is there, in words: "0.5 times the right ones". The node is where the mistake is made first.
  std::string (*amount)(const Node& node, double number);
  Scale scale;
  /// Numbers that are tried first, the likeliest first, and from which others are looked for.
  Starts starts;

  /// As it is made with a number, at these nodes.
  Change change(const NodesWhere& places, double number) const;
};

// By subject, in the files of_*.cpp.
std::span<const MistakeWithNumber> numbers_in_scores();
std::span<const MistakeWithNumber> numbers_in_masks();
std::span<const MistakeWithNumber> numbers_in_softmax();
std::span<const MistakeWithNumber> numbers_in_values();
std::span<const MistakeWithNumber> numbers_in_norms();
std::span<const MistakeWithNumber> numbers_in_residuals();
std::span<const MistakeWithNumber> numbers_in_layers();
std::span<const MistakeWithNumber> numbers_in_embeddings();
std::span<const MistakeWithNumber> numbers_in_positions();

/// All of them, those that are made most often first.
std::vector<const MistakeWithNumber*> mistakes_with_numbers();

/// A number that gives somebody's numbers.
struct SolvedNumber {
  const MistakeWithNumber* mistake;
  std::string amount;  // in words
  Change change;
  ExplanatoryPower explained;
  bool is_likely;  // has few digits, or is known by its amount
};

/// Those that give the matrix at a place, and of these those that explain most. A number is an unknown: unless three
/// cells that do not follow from each other agree beyond the one that it takes to solve for it, there is none.
std::vector<SolvedNumber> solve_numbers(const SearchGround& ground, std::size_t place);

/// How many times a matrix is computed, at the most, where no number gives it.
constexpr std::size_t tries_of_numbers = 600;

}  // namespace attn
