#include "school/mistake/fingerprints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/math/rows.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"

namespace attn {

// --- fingerprint

namespace {

// What the files of fingerprints share.

// What a fingerprint says of a matrix; nothing: it does not have it.
using Told = std::optional<std::string>;

constexpr int fingerprint_digits = 4;

inline bool same_numbers(const Seen& seen, const Matrix& other) {
  return difference(seen.theirs, other, seen.rounding).agrees();
}

template <class Change>
Matrix changed(const Matrix& matrix, const Change& change) {
  Matrix result = matrix;
  for (double& x : cells(result)) x = change(x);
  return result;
}

namespace fingerprint {

// In the numbers themselves.
Told not_finite(const Seen& seen);
Told all_zero(const Seen& seen);
Told a_factor(const Seen& seen);
Told an_offset(const Seen& seen);
Told rounded(const Seen& seen);
Told a_little(const Seen& seen);

// In where the right numbers stand.
Told other_shape(const Seen& seen);
Told is_transpose(const Seen& seen);
Told right_rows(const Seen& seen);
Told right_columns(const Seen& seen);
Told other_order(const Seen& seen);
Told another_matrix(const Seen& seen);

// In weights and in masks.
Told sums(const Seen& seen);
Told masked_weights(const Seen& seen);
Told masked_as_well(const Seen& seen);
Told more_masked(const Seen& seen);
Told dropout(const Seen& seen);
Told another_mask_value(const Seen& seen);
Told only_another_mask_value(const Seen& seen);

}  // namespace fingerprint

}  // namespace

// --- fingerprints

namespace {

// What a fingerprint is good for: it says what the matrix is; or it hints at a cause; or it only says where
// to look.
enum class Worth { identity, hint, place };

struct Fingerprint {
  Told (*told)(const Seen& seen);
  Worth worth = Worth::hint;
};

// In the order in which they are told.
constexpr Fingerprint fingerprint_table[] = {
    {fingerprint::not_finite},
    {fingerprint::other_shape},
    {fingerprint::is_transpose, Worth::identity},
    {fingerprint::all_zero, Worth::identity},
    {fingerprint::another_matrix, Worth::identity},
    {fingerprint::a_factor, Worth::identity},
    {fingerprint::an_offset, Worth::identity},
    {fingerprint::rounded, Worth::identity},
    {fingerprint::other_order, Worth::identity},
    {fingerprint::masked_as_well, Worth::identity},
    {fingerprint::only_another_mask_value, Worth::identity},
    {fingerprint::sums},
    {fingerprint::more_masked},
    {fingerprint::dropout},
    {fingerprint::right_rows},
    {fingerprint::right_columns, Worth::place},
    {fingerprint::another_mask_value},
    {fingerprint::masked_weights},
    {fingerprint::a_little},
};

}  // namespace

Fingerprints fingerprints(const Seen& seen) {
  Fingerprints all;
  for (const Fingerprint& fingerprint : fingerprint_table) {
    Told told = fingerprint.told(seen);
    if (!told) continue;
    if (fingerprint.worth != Worth::place) all.summary = *told;
    all.sentences.push_back(std::move(*told));
    all.identify = fingerprint.worth == Worth::identity;
    if (all.identify) break;
  }
  return all;
}

std::string written_places(const std::vector<std::size_t>& places) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < places.size();) {
    std::size_t end = i + 1;
    while (end < places.size() && places[end] == places[end - 1] + 1) ++end;
    if (end - i > 2) {
      parts.push_back(fmt::format("{} to {}", places[i] + 1, places[end - 1] + 1));
    } else {
      for (std::size_t k = i; k < end; ++k) parts.push_back(std::to_string(places[k] + 1));
    }
    i = end;
  }
  constexpr std::size_t most = 8;
  if (parts.size() > most) {
    parts.resize(most);
    parts.emplace_back("others");
  }
  return listed(parts);
}

// --- fingerprints of numbers
// Fingerprints in the numbers themselves, wherever they stand.

Told fingerprint::not_finite(const Seen& seen) {
  std::size_t nan = 0, infinite = 0;
  for (const double x : cells(seen.theirs)) {
    if (std::isnan(x)) ++nan;
    if (std::isinf(x) && (x > 0.0 || !seen.node.may_be_masked())) ++infinite;
  }
  if (nan == 0 && infinite == 0) return std::nullopt;
  return fmt::format("{} of its {} numbers {} {}.", nan > 0 ? nan : infinite, seen.theirs.size(),
                     (nan > 0 ? nan : infinite) == 1 ? "is" : "are", nan > 0 ? "NaN" : "infinite");
}

Told fingerprint::all_zero(const Seen& seen) {
  if (std::ranges::any_of(cells(seen.theirs), [](double x) { return x != 0.0; })) return std::nullopt;
  return "All of its numbers are 0.";
}

namespace {

// A size that a factor may be made of, and what has it.
struct NamedSize {
  std::size_t size;
  std::vector<std::string> whats;
  bool has_root;  // by which people divide
};

std::string name_of_axis(const Axis& axis, std::string_view otherwise) {
  return axis.name.empty() ? fmt::format("its {}", otherwise) : axis.name;
}

std::vector<NamedSize> sizes_around(const Node& node) {
  std::vector<NamedSize> all;
  const auto add = [&](std::size_t size, std::string_view what, bool has_root = true) {
    if (size < 2) return;
    const auto same = std::ranges::find(all, size, &NamedSize::size);
    if (same == all.end()) {
      all.push_back({size, {std::string(what)}, has_root});
    } else {
      same->whats.emplace_back(what);
    }
  };
  if (const Node* const q = node.beside(role::q)) add(q->frame.shape.columns, "the size of a query");
  std::set<std::size_t> heads;
  const Node* x = nullptr;
  for (const Node& other : node.graph->nodes()) {
    const NamedScope* const head = other.within(scope::head);
    if (head && head->number) heads.insert(*head->number);
    if (!x && other.is(role::x)) x = &other;
  }
  if (x) add(x->frame.shape.columns, "the size of an embedding");
  add(heads.size(), "the number of heads");
  add(node.frame.shape.rows, fmt::format("the number of {}", name_of_axis(node.frame.rows, "rows")), false);
  add(node.frame.shape.columns, fmt::format("the number of {}", name_of_axis(node.frame.columns, "columns")), false);
  return all;
}

bool is_near(double a, double b) { return std::fabs(a - b) <= 1e-3 * std::fabs(b); }

// What a factor is of a size: "1/√4"; empty: nothing.
std::string factor_of_size(double factor, const NamedSize& named) {
  const std::size_t size = named.size;
  const double s = static_cast<double>(size);
  if (is_near(factor, s)) return std::to_string(size);
  if (is_near(factor, 1.0 / s)) return fmt::format("1/{}", size);
  if (named.has_root && is_near(factor, std::sqrt(s))) return fmt::format("√{}", size);
  if (named.has_root && is_near(factor, 1.0 / std::sqrt(s))) return fmt::format("1/√{}", size);
  if (is_near(factor, std::sqrt((s - 1.0) / s))) return fmt::format("√({}/{})", size - 1, size);
  if (is_near(factor, std::sqrt(s / (s - 1.0)))) return fmt::format("√({}/{})", size, size - 1);
  return "";
}

// All sizes that it can come from: which one was meant, it does not say.
std::string factor_in_words(const Node& node, double factor) {
  std::string words;
  for (const NamedSize& named : sizes_around(node)) {
    const std::string written = factor_of_size(factor, named);
    if (written.empty()) continue;
    words += words.empty() ? ": " : ", or ";
    words += written == std::to_string(named.size)
                 ? fmt::format("{}, {}", written, listed(named.whats))
                 : fmt::format("{}, where {} is {}", written, named.size, listed(named.whats));
  }
  return words;
}

// A number of the right matrix by which it can be divided.
std::optional<std::size_t> largest_finite(const Matrix& matrix) {
  std::optional<std::size_t> place;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const double x = std::fabs(cells(matrix)[i]);
    if (std::isfinite(x) && x > 0.0 && (!place || x > std::fabs(cells(matrix)[*place]))) place = i;
  }
  return place;
}

}  // namespace

Told fingerprint::a_factor(const Seen& seen) {
  if (seen.difference.has_other_shape || seen.right.size() < 2) return std::nullopt;
  const std::optional<std::size_t> place = largest_finite(seen.right);
  if (!place) return std::nullopt;
  const double factor = cells(seen.theirs)[*place] / cells(seen.right)[*place];
  const std::string written = written_digits(factor, fingerprint_digits);
  if (!std::isfinite(factor) || factor == 0.0 || written == "1") return std::nullopt;
  if (!same_numbers(seen, changed(seen.right, [&](double x) { return is_masked(x) ? x : factor * x; })))
    return std::nullopt;
  if (is_near(factor, -1.0)) return "Every number has the opposite sign.";
  return fmt::format("Every number is {} times the right one{}.", written, factor_in_words(seen.node, factor));
}

Told fingerprint::an_offset(const Seen& seen) {
  if (seen.difference.has_other_shape || seen.right.size() < 2) return std::nullopt;
  const std::optional<std::size_t> place = largest_finite(seen.right);
  if (!place) return std::nullopt;
  const double offset = cells(seen.theirs)[*place] - cells(seen.right)[*place];
  if (!std::isfinite(offset) || !same_numbers(seen, changed(seen.right, [&](double x) { return x + offset; })))
    return std::nullopt;
  return fmt::format("Every number is larger by {} than the right one.", written_digits(offset, fingerprint_digits));
}

namespace {

// A type of fewer bits of which all of their numbers are, and whose rounding explains the differences.
struct FewerBits {
  Precision type;
  bool is_rounded;  // each is the right number, rounded; otherwise it was computed in this type
};

std::optional<FewerBits> fewer_bits(const Seen& seen) {
  constexpr std::size_t least = 4;  // fewer numbers are often of such a type by chance
  const std::span<const double> theirs = cells(seen.theirs), right = cells(seen.right);
  if (seen.difference.has_other_shape || theirs.size() < least ||
      std::ranges::all_of(theirs, [](double x) { return x == std::nearbyint(x); }))
    return std::nullopt;
  constexpr std::array types = {Precision::float32, Precision::float16, Precision::bfloat16};
  for (const Precision type : types) {
    const auto is_rounded = [&](double a, double b) { return a == rounded_to(type, b); };
    if (std::ranges::equal(theirs, right, is_rounded)) return FewerBits{type, true};
  }
  for (const Precision type : types) {
    const bool are_of_type = std::ranges::all_of(theirs, [&](double x) { return x == rounded_to(type, x); });
    if (are_of_type &&
        difference(seen.theirs, seen.right, Rounding(seen.theirs, type, largest_of(seen.right))).agrees())
      return FewerBits{type, false};
  }
  return std::nullopt;
}

}  // namespace

Told fingerprint::rounded(const Seen& seen) {
  const std::optional<FewerBits> fewer = fewer_bits(seen);
  if (!fewer) return std::nullopt;
  return fewer->is_rounded
             ? fmt::format("These are the right numbers, rounded to {}.", name_of(fewer->type))
             : fmt::format("All of its numbers are of {}, and as near to the right ones as this type computes them.",
                           name_of(fewer->type));
}

Told fingerprint::a_little(const Seen& seen) {
  if (seen.difference.has_other_shape || fewer_bits(seen)) return std::nullopt;
  const std::optional<std::size_t> place = largest_finite(seen.right);
  constexpr double little = 2e-3;
  if (!place || !(seen.difference.largest <= little * std::fabs(cells(seen.right)[*place]))) return std::nullopt;
  return fmt::format("The differences are small, at most {}: as from fewer digits, another ε or another approximation.",
                     written_digits(seen.difference.largest, 2));
}

// --- fingerprints of places
// Fingerprints in where the right numbers stand.

Told fingerprint::other_shape(const Seen& seen) {
  if (!seen.difference.has_other_shape) return std::nullopt;
  return fmt::format("It is {}, and the right matrix is {}.", to_string(seen.theirs.shape()),
                     to_string(seen.right.shape()));
}

Told fingerprint::is_transpose(const Seen& seen) {
  const Shape shape = seen.right.shape();
  if (seen.theirs.shape() != Shape{shape.columns, shape.rows} || shape.rows == 1 || shape.columns == 1)
    return std::nullopt;
  if (!same_numbers(seen, transposed(seen.right))) return std::nullopt;
  return "It is the transpose of the right matrix.";
}

namespace {

std::vector<std::size_t> without(std::size_t count, const std::vector<std::size_t>& some) {
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::ranges::find(some, i) == some.end()) rest.push_back(i);
  }
  return rest;
}

// The rows of the scores around a node in which no key is masked; nothing where no key is.
std::optional<std::vector<std::size_t>> rows_without_mask(const Node& node) {
  const Node* const masked = node.is(role::masked) ? &node : node.beside(role::masked);
  if (!masked || masked->frame.shape.rows != node.frame.shape.rows) return std::nullopt;
  const Matrix& scores = masked->matrix();
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < scores.shape().rows; ++i) {
    if (std::ranges::none_of(row(scores, i), is_masked)) free.push_back(i);
  }
  if (free.size() == scores.shape().rows) return std::nullopt;
  return free;
}

// Whether nothing shows that it was computed with a mask: a number of another size in the place of a score that is
// masked, or a weight of 0.
bool may_be_without_mask(const Seen& seen) {
  if (std::ranges::any_of(cells(seen.theirs), [](double x) { return std::isnan(x); })) return false;
  const Node* const masked = seen.node.is(role::masked) ? &seen.node : seen.node.beside(role::masked);
  if (!masked || !masked->op || masked->frame.shape != seen.theirs.shape()) return true;
  const Matrix &scores = masked->matrix(), &before = masked->operands[0]->matrix();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!is_masked(cells(scores)[i])) continue;
    const double x = cells(seen.theirs)[i];
    if (seen.node.is(role::masked) && !seen.rounding.same(x, cells(before)[i], largest_of(before))) return false;
    if (seen.node.is(role::weights) && x == 0.0) return false;
  }
  return true;
}

}  // namespace

Told fingerprint::right_rows(const Seen& seen) {
  const std::size_t count = seen.right.shape().rows;
  if (seen.difference.has_other_shape || seen.difference.rows.size() == count) return std::nullopt;
  const std::vector<std::size_t> right = without(count, seen.difference.rows);
  const bool is_last = right == std::vector{count - 1}, is_first = right == std::vector<std::size_t>{0};
  const std::string which = is_last    ? "Only the last row is right"
                            : is_first ? "Only the first row is right"
                                       : fmt::format("Right {} row{} {}", right.size() == 1 ? "is" : "are",
                                                     right.size() == 1 ? "" : "s", written_places(right));
  if (const auto free = rows_without_mask(seen.node); free && *free == right && may_be_without_mask(seen)) {
    return right.size() == 1 ? fmt::format("{}, the only one in which no key is masked: as without the mask.", which)
                             : fmt::format("{}, those in which no key is masked: as without the mask.", which);
  }
  return which + ".";
}

Told fingerprint::right_columns(const Seen& seen) {
  const std::size_t count = seen.right.shape().columns;
  if (seen.difference.has_other_shape || seen.difference.columns.size() == count) return std::nullopt;
  const std::vector<std::size_t> right = without(count, seen.difference.columns);
  return fmt::format("Right {} column{} {}.", right.size() == 1 ? "is" : "are", right.size() == 1 ? "" : "s",
                     written_places(right));
}

namespace {

bool is_rearranged(std::span<const double> one, std::span<const double> other, const Seen& seen) {
  std::vector<double> a(one.begin(), one.end()), b(other.begin(), other.end());
  const auto is_nan = [](double x) { return std::isnan(x); };
  if (a.size() != b.size() || std::ranges::any_of(a, is_nan)) return false;
  std::ranges::sort(a);
  std::ranges::sort(b);
  double largest = 0.0;
  for (const double x : b) {
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  }
  return std::ranges::equal(a, b, [&](double x, double y) { return seen.rounding.same(x, y, largest); });
}

// For each row of one matrix the row of the other that it is; nothing unless each is one.
std::optional<std::vector<std::size_t>> order_of_rows(const Matrix& theirs, const Matrix& right, const Seen& seen) {
  if (theirs.shape() != right.shape() || theirs.shape().rows > 256) return std::nullopt;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < theirs.shape().rows; ++i) {
    std::optional<std::size_t> found;
    for (std::size_t k = 0; k < right.shape().rows && !found; ++k) {
      const bool is_free = std::ranges::find(order, k) == order.end();
      const auto same = [&](double x, double y) { return seen.rounding.same(x, y, std::fabs(y)); };
      if (is_free && std::ranges::equal(row(theirs, i), row(right, k), same)) found = k;
    }
    if (!found) return std::nullopt;
    order.push_back(*found);
  }
  return order;
}

}  // namespace

Told fingerprint::other_order(const Seen& seen) {
  constexpr std::size_t least = 4;  // fewer numbers are often those of something else
  if (seen.right.size() < least || !is_rearranged(cells(seen.theirs), cells(seen.right), seen)) return std::nullopt;
  if (is_transpose(seen)) return std::nullopt;
  for (const bool of_columns : {false, true}) {
    const auto order = of_columns ? order_of_rows(transposed(seen.theirs), transposed(seen.right), seen)
                                  : order_of_rows(seen.theirs, seen.right, seen);
    if (!order) continue;
    std::vector<std::string> places;
    for (const std::size_t place : *order) places.push_back(std::to_string(place + 1));
    return fmt::format("It has the right {} in another order: {}.", of_columns ? "columns" : "rows", listed(places));
  }
  return "It has the right numbers in other places, as a reshape without a transpose leaves them.";
}

Told fingerprint::another_matrix(const Seen& seen) {
  for (const Node* other : seen.node.graph->named()) {
    if (&other->original() == &seen.node.original() || other->frame.shape != seen.theirs.shape() || other->is_alias())
      continue;
    const Matrix& numbers = other->matrix();
    const bool is_varied = std::ranges::any_of(cells(numbers), [&](double x) { return x != cells(numbers).front(); });
    if (is_varied && same_numbers(seen, numbers)) return fmt::format("Its numbers are those of {}.", other->name);
  }
  return std::nullopt;
}

// --- fingerprints of weights
// Fingerprints in weights and in masks.

Told fingerprint::sums(const Seen& seen) {
  if (!seen.node.rows_sum_to_one() || seen.theirs.size() < 2) return std::nullopt;
  const Shape shape = seen.theirs.shape();
  std::vector<double> rows(shape.rows), columns(shape.columns);
  double all = 0.0;
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.columns; ++j) {
      const double x = seen.theirs(i, j);
      if (!std::isfinite(x)) return std::nullopt;
      rows[i] += x;
      columns[j] += x;
      all += x;
    }
  }
  const double near =
      std::max(1e-3, seen.rounding.most_apart(1.0, 1.0)) * static_cast<double>(std::max(shape.rows, shape.columns));
  const auto are_one = [&](const std::vector<double>& sums) {
    return std::ranges::all_of(sums, [&](double sum) { return std::fabs(sum - 1.0) < near || sum == 0.0; });
  };
  if (are_one(rows)) return std::nullopt;
  if (are_one(columns)) return "Its columns sum to 1 and its rows do not: as from a softmax over the wrong axis.";
  if (std::fabs(all - 1.0) < near) return "All of its numbers together sum to 1, and each row should.";
  const auto [least, most] = std::ranges::minmax_element(rows);
  if (std::fabs(*most - *least) < near)
    return fmt::format("Each of its rows sums to {} instead of 1.", written_digits(*least, fingerprint_digits));
  return fmt::format("The sums of its rows lie between {} and {}, and should be 1.",
                     written_digits(*least, fingerprint_digits), written_digits(*most, fingerprint_digits));
}

Told fingerprint::masked_weights(const Seen& seen) {
  const Node* const masked = seen.node.beside(role::masked);
  if (!seen.node.is(role::weights) || seen.difference.has_other_shape || !masked ||
      masked->frame.shape != seen.right.shape())
    return std::nullopt;
  const Matrix& scores = masked->matrix();
  std::size_t leaks = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double theirs = cells(seen.theirs)[i];
    if (is_masked(cells(scores)[i]) && cells(seen.right)[i] == 0.0 && std::fabs(theirs) > 1e-6 &&
        !seen.rounding.same(theirs, 0.0, 1.0))
      ++leaks;
  }
  if (leaks == 0) return std::nullopt;
  return fmt::format("{} of a masked key {} not 0.", count_of(leaks, "weight"), leaks == 1 ? "is" : "are");
}

Told fingerprint::another_mask_value(const Seen& seen) {
  const std::optional<double> value = mask_value(seen.node, seen.theirs, seen.right);
  if (!value) return std::nullopt;
  return fmt::format("Masked scores are {} instead of −∞. That is a convention: after the softmax such a weight is 0.",
                     written_digits(*value, fingerprint_digits));
}

Told fingerprint::only_another_mask_value(const Seen& seen) {
  return differs_in_mask_value(seen.node, seen.theirs, seen.right, seen.rounding) ? another_mask_value(seen)
                                                                                  : std::nullopt;
}

namespace {

// The right weights without those that are 0 in theirs, and the rest so that each row sums to 1 again.
Matrix without_dropped(const Seen& seen) {
  Matrix rest = seen.right;
  for (std::size_t i = 0; i < rest.shape().rows; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < rest.shape().columns; ++j) {
      if (seen.theirs(i, j) == 0.0) rest(i, j) = 0.0;
      sum += rest(i, j);
    }
    for (double& x : row(rest, i)) x = sum > 0.0 ? x / sum : 0.0;
  }
  return rest;
}

}  // namespace

namespace {

// Whether a right weight is not 0 at the precision of theirs.
bool is_more_than_zero(double right, const Seen& seen) { return right > 1e-6 && !seen.rounding.same(0.0, right, 1.0); }

}  // namespace

Told fingerprint::masked_as_well(const Seen& seen) {
  Told told = more_masked(seen);
  return told && same_numbers(seen, without_dropped(seen)) ? told : std::nullopt;
}

// Weights that are 0 because their key is masked, where the computation masks it not.
Told fingerprint::more_masked(const Seen& seen) {
  const Shape shape = seen.theirs.shape();
  if (seen.node.content() != Content::weights || seen.difference.has_other_shape) return std::nullopt;
  const auto is_dropped = [&](std::size_t i, std::size_t j) {
    return seen.theirs(i, j) == 0.0 && is_more_than_zero(seen.right(i, j), seen);
  };
  std::vector<std::size_t> columns;
  bool is_causal = true, drops_later = false;
  for (std::size_t j = 0; j < shape.columns; ++j) {
    std::size_t dropped = 0;
    for (std::size_t i = 0; i < shape.rows; ++i) {
      if (is_dropped(i, j)) ++dropped;
      is_causal = is_causal && (j > i ? seen.theirs(i, j) == 0.0 : !is_dropped(i, j));
      drops_later = drops_later || (j > i && is_dropped(i, j));
    }
    if (dropped == shape.rows) columns.push_back(j);
  }
  if (is_causal && drops_later) {
    return "Its weights are 0 where the key comes after the query: as with a causal mask (--causal), which this computation does not have.";
  }
  if (columns.empty() || columns.size() == shape.columns) return std::nullopt;
  return fmt::format(
      "Column{} {} {} 0: as with a mask of {} (--valid-length for padding at the end, --mask for others), which this computation does not have.",
      columns.size() == 1 ? "" : "s", written_places(columns), columns.size() == 1 ? "is" : "are",
      columns.size() == 1 ? "this key" : "these keys");
}

// https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout.html: what is left is divided by 1 − p.
Told fingerprint::dropout(const Seen& seen) {
  if (seen.node.content() != Content::weights || seen.difference.has_other_shape) return std::nullopt;
  std::size_t dropped = 0, kept = 0;
  std::optional<double> factor;
  for (std::size_t i = 0; i < seen.right.size(); ++i) {
    const double theirs = cells(seen.theirs)[i], right = cells(seen.right)[i];
    if (!is_more_than_zero(right, seen)) continue;
    if (theirs == 0.0) {
      ++dropped;
      continue;
    }
    if (!factor) factor = theirs / right;
    if (!seen.rounding.same(theirs, *factor * right, *factor)) return std::nullopt;
    ++kept;
  }
  constexpr double least = 1.001;
  if (dropped == 0 || kept < 3 || !(*factor > least)) return std::nullopt;
  return fmt::format(
      "{} of its weights {} 0, and all others are {} times the right ones: as from dropout of {} in training. "
      "Leave out dropout to compare, as model.eval() does.",
      dropped, dropped == 1 ? "is" : "are", written_digits(*factor, fingerprint_digits),
      written_digits(1.0 - 1.0 / *factor, 2));
}

}  // namespace attn
