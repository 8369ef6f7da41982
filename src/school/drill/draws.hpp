#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/math/random.hpp"
#include "core/support/text.hpp"
#include "core/term/quantity.hpp"

namespace attn {

struct TextSlot;

/// What a drill draws: the same for the same seed on every machine. A problem is drawn again, as the next
/// attempt, where the first numbers serve badly.
class Draws {
 public:
  Draws(std::uint32_t seed, std::uint32_t attempt);

  /// What a problem asks for, of so many things: the same in all its attempts, so that none is drawn more
  /// rarely because its numbers seldom serve.
  std::size_t kind(std::size_t count);
  /// A place in a list of this length.
  std::size_t place(std::size_t count);
  /// The same in another order.
  Words shuffled(Words list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[place(i)]);
    return list;
  }

 private:
  Generator kinds_, generator_;
};

/// The seed of the problem after the one with this seed.
std::uint32_t seed_after(std::uint32_t seed);

/// What the names of a problem stand for: numbers, matrices and words. A line gives a name a value, once. Its
/// grammar is told in docs/lessons.md: no line is run more often than another, and none is a function. All throw
/// InputError.
class DrawnNames {
 public:
  /// `draw: NAMES = …`: a range, a matrix of a range, one of several, or these in another order.
  void draw(std::string_view line, Draws& draws);
  /// `about: NAMES = … | …`: one of several, and the same in all attempts.
  void draw_kind(std::string_view line, Draws& draws);
  /// `let: NAMES = …`: an expression, a matrix of an expression in `row` and `column`, or an item of several.
  void work_out(std::string_view line);
  /// `keep: …`: whether this is so.
  bool is_so(std::string_view expression) const;

  /// A text with what stands for each {…}: a name, an expression, or products(…), powers(…), share(…).
  std::string filled(std::string_view text) const;

  /// Cells of a row or a column.
  struct Row {
    std::vector<double> cells;
    std::vector<bool> counts;  // those that are not left out
    bool is_power = false;     // of e
  };
  /// `x[i]`, `x[,j]`, `s`, `e^s`, `s without hidden`, `s[i] up to i`.
  Row row(std::string_view text) const;
  /// A whole number from `least` to `most`.
  double whole(std::string_view expression, double least, double most) const;

 private:
  using Alternative = std::vector<Words>;  // the words of each name
  using Alternatives = std::vector<std::string_view>;

  struct Range {
    double first = 0.0, step = 1.0;
    std::size_t count = 0;
    std::size_t except;  // its place; that behind the last: none is left out
  };
  Words names() const;
  Quantity quantity(std::string_view expression, const Variables& variables) const;
  double number(std::string_view expression, const Variables& variables) const;
  double number(std::string_view expression) const { return number(expression, numbers_); }
  Range range(std::string_view text) const;
  double drawn(const Range& range, Draws& draws) const;
  Shape shape(std::string_view text) const;
  Alternative alternative(std::string_view text) const;
  Words row_drawn(std::string_view text, Draws& draws) const;
  Alternative drawn_words(std::string_view text, Draws& draws) const;
  std::string written_item(const TextSlot& braces) const;

  void set(std::string_view names, const Alternative& words);
  void set(std::string_view name, double number);
  void set(std::string_view name, Matrix matrix);
  std::string new_name(std::string_view name) const;

  Variables numbers_;
  std::map<std::string, Words, std::less<>> words_;
  std::map<std::string, std::shared_ptr<const Matrix>, std::less<>> matrices_;
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();  // has the matrices, for expressions
};

}  // namespace attn
