#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "math/random.hpp"

namespace attn {

/// Whole numbers, as rows.
using WholeNumbers = std::vector<std::vector<int>>;

/// What a drill draws: the same for the same numbers on every machine. A problem is drawn again, as the next
/// attempt, where the first numbers serve badly.
class Draws {
 public:
  Draws(std::uint32_t seed, std::uint32_t problem, std::uint32_t attempt);

  /// What a problem asks for, of so many things: the same in all its attempts, so that none is drawn more
  /// rarely because its numbers seldom serve.
  std::size_t kind(std::size_t count);

  /// Each number from `least` to `most` is as probable as the others.
  int between(int least, int most);
  /// A place in a list of this length.
  std::size_t place(std::size_t count);
  /// One of them.
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[place(list.size())];
  }
  int one_of(std::initializer_list<int> list) { return *(list.begin() + place(list.size())); }
  /// Rows of numbers from `least` to `most`, in steps of `step` from `least` on.
  WholeNumbers numbers(std::size_t rows, std::size_t columns, int least, int most, int step = 1);
  /// The same in another order.
  template <class T>
  std::vector<T> shuffled(std::vector<T> list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[place(i)]);
    return list;
  }

 private:
  Generator kinds_, generator_;
};

/// A matrix as an option takes it: "2 1; 0 3".
std::string written(const WholeNumbers& numbers);

/// Three words of a sentence, and their translation.
struct Sentence {
  std::vector<std::string> words;
  std::vector<std::string> translation;
};
const std::vector<Sentence>& sentences();

}  // namespace attn
