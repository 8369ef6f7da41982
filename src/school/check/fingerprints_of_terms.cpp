#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "core/math/rows.hpp"
#include "core/op/operations.hpp"
#include "core/support/number.hpp"
#include "school/check/fingerprints_seen.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// Fingerprints in the terms of sums.

namespace {

// A row of a product, as the sum of its terms, and what is added to it.
struct SumOfTerms {
  const Node* factor;  // a term for each of its columns
  const Node* product;
  const Node* bias;  // null: none
};

std::optional<SumOfTerms> sum_of_terms(const Node& any) {
  const Node& node = any.original();
  const std::optional<LinearNodes> map = linear_nodes(node);
  if (map) return SumOfTerms{map->x, map->w, map->b};
  if (node.op != &op::matmul) return std::nullopt;
  return SumOfTerms{node.operands[0], node.operands[1], nullptr};
}

class DroppedTerms {
 public:
  DroppedTerms(const FingerprintSubject& seen, const SumOfTerms& sum) : seen_(seen), sum_(sum) {}

  // Whether each row is a sum of some of its terms, all of them divided by the part that is kept.
  bool fit(double kept) const {
    bool has_dropped = false;
    for (std::size_t i = 0; i < seen_.theirs.shape().rows; ++i) {
      const std::optional<bool> row = row_fits(i, kept);
      if (!row) return false;
      has_dropped = has_dropped || *row;
    }
    return has_dropped;
  }

 private:
  // Whether some term was dropped; nothing: it is no such sum.
  std::optional<bool> row_fits(std::size_t i, double kept) const {
    const Matrix &factor = sum_.factor->matrix(), &product = sum_.product->matrix();
    std::vector<std::size_t> terms;
    for (std::size_t j = 0; j < factor.shape().columns; ++j) {
      if (factor(i, j) != 0.0) terms.push_back(j);
    }
    constexpr std::size_t most_terms = 12;
    if (terms.empty() || terms.size() > most_terms || !says_enough(i, terms.size())) return std::nullopt;
    const std::size_t columns = product.shape().columns;
    const double largest = largest_of(seen_.theirs);
    for (std::size_t chosen = std::size_t{1} << terms.size(); chosen-- > 0;) {
      const auto fits = [&](std::size_t c) {
        double sum = 0.0;
        for (std::size_t t = 0; t < terms.size(); ++t) {
          if ((chosen >> t & 1U) != 0) sum += factor(i, terms[t]) * product(terms[t], c);
        }
        const double bias = sum_.bias ? sum_.bias->matrix()(0, c) : 0.0;
        return seen_.rounding.same(seen_.theirs(i, c), sum / kept + bias, largest);
      };
      std::size_t c = 0;
      while (c < columns && fits(c)) ++c;
      if (c == columns) return chosen + 1 != std::size_t{1} << terms.size();
    }
    return std::nullopt;
  }

  // Whether no choice of terms fits a row by chance.
  bool says_enough(std::size_t i, std::size_t terms) const {
    constexpr double chances = 8.0;
    const double largest = largest_of(seen_.theirs), room = seen_.rounding.most_apart(seen_.theirs(i, 0), 0.0, largest);
    const double of_cell = room > 0.0 ? std::log10(std::max(1.0, largest / room)) : 15.0;
    const double tried = static_cast<double>(terms) * std::log10(2.0) + std::log10(chances);
    return of_cell * static_cast<double>(seen_.theirs.shape().columns) > tried + 1.0;
  }

  const FingerprintSubject& seen_;
  const SumOfTerms& sum_;
};

}  // namespace

// https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout.html: what is left is divided by 1 − p.
FingerprintText fingerprint::dropped_terms(const FingerprintSubject& seen) {
  constexpr std::array chances = {0.1, 0.2, 0.5, 0.3, 0.25, 0.15, 0.4, 0.05};
  constexpr std::size_t least_columns = 2, most_rows = 64;
  const std::optional<SumOfTerms> sum = seen.node.op ? sum_of_terms(seen.node) : std::nullopt;
  if (!sum || seen.difference.has_other_shape || seen.theirs.shape().columns < least_columns ||
      seen.theirs.shape().rows > most_rows || sum->factor->matrix().shape().rows != seen.theirs.shape().rows)
    return std::nullopt;
  for (const double chance : chances) {
    if (!DroppedTerms(seen, *sum).fit(1.0 - chance)) continue;
    return fmt::format(
        "Each row is the sum of some of its terms, divided by {}: as from dropout of {} in training, of {}. "
        "Leave out dropout to compare, as model.eval() does.",
        written_digits(1.0 - chance, 2), written_digits(chance, 2), sum->factor->title());
  }
  return std::nullopt;
}

}  // namespace attn
