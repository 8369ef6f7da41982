#include "core/attention/masks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/support/error.hpp"
#include "core/support/number.hpp"

namespace attn {
namespace {

void allow_first(std::size_t count, std::span<double> keys) {
  std::ranges::fill(keys.subspan(std::min(count, keys.size())), 0.0);
}

}  // namespace

MaskRule causal_rule(std::ptrdiff_t before) {
  return [before](std::size_t query, std::span<double> keys) {
    const std::ptrdiff_t allowed = before + static_cast<std::ptrdiff_t>(query) + 1;
    allow_first(static_cast<std::size_t>(std::max<std::ptrdiff_t>(allowed, 0)), keys);
  };
}

MaskRule window_rule(std::size_t window, std::size_t before) {
  return [window, before](std::size_t query, std::span<double> keys) {
    const std::size_t own = before + query;
    if (own < window) return;
    std::ranges::fill(keys.first(std::min(own - window + 1, keys.size())), 0.0);
  };
}

MaskRule valid_length_rule(Shape shape, std::span<const std::size_t> lengths) {
  if (lengths.size() != 1 && lengths.size() != shape.rows) {
    fail("‹valid_length›: {} are given for {}: give one for all, or one per query", count_of(lengths.size(), "length"),
         count_of(shape.rows, "query", "queries"));
  }
  return [all = std::vector(lengths.begin(), lengths.end())](std::size_t query, std::span<double> keys) {
    allow_first(all.size() == 1 ? all[0] : all[query], keys);
  };
}

MaskRule padding_rule(Blanks blanks, Shape of_sentence) {
  return [blanks = std::move(blanks), of_sentence](std::size_t query, std::span<double> keys) {
    const std::size_t first = query / of_sentence.rows * of_sentence.columns;
    const std::size_t count = std::min(keys.size(), blanks->size() - first);
    for (std::size_t j = 0; j < count; ++j) {
      if ((*blanks)[first + j]) keys[j] = 0.0;
    }
  };
}

MaskRule in_each_sentence(MaskRule rule, std::size_t queries) {
  return [rule = std::move(rule), queries](std::size_t query, std::span<double> keys) { rule(query % queries, keys); };
}

MaskRule rule_of(Matrix mask) {
  return [mask = std::move(mask)](std::size_t query, std::span<double> keys) {
    const std::span<const double> allowed = row(mask, mask.shape().rows == 1 ? 0 : query);
    for (std::size_t j = 0; j < keys.size(); ++j) keys[j] = allowed[j] != 0.0 ? keys[j] : 0.0;
  };
}

MakeRows mask_by(std::vector<MaskRule> rules) {
  return [rules = std::move(rules)](RowsToMake rows) {
    std::ranges::fill(rows.all(), 1.0);
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      for (const MaskRule& rule : rules) rule(i, rows.row(i));
    }
  };
}

Matrix mask_by(std::vector<MaskRule> rules, Shape shape) {
  Matrix mask(shape);
  mask_by(std::move(rules))(rows_to_make(mask));
  return mask;
}

std::vector<bool> blanks_among(const std::vector<std::string>& words) {
  std::vector<bool> blanks;
  for (const std::string& word : words) blanks.push_back(word == blank);
  return blanks;
}

bool any(const std::vector<bool>& flags) { return std::ranges::find(flags, true) != flags.end(); }

}  // namespace attn
