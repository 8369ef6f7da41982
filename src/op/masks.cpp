#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "op/gradients.hpp"
#include "op/operations.hpp"
#include "op/row_by_row.hpp"
#include "support/error.hpp"

// Cells where a mask is 0 are replaced by a number.

namespace attn {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

bool is_empty(std::span<const double> allowed) {
  return std::ranges::all_of(allowed, [](double cell) { return cell == 0.0; });
}

Formula written(double fill) {
  if (std::isinf(fill)) return {"−∞", "-\\infty"};
  return {fmt::format("{}", fill), fmt::format("{}", fill)};
}

// A row where the mask is 0 everywhere may have a fill of its own.
class Replacement : public InPlace {
 public:
  Replacement(std::string_view name, double fill, double fill_of_empty_row, const MaskNouns& nouns)
      : name_(name), fill_(fill), fill_of_empty_row_(fill_of_empty_row), nouns_(nouns) {}

  std::string_view name() const override { return name_; }

  Frame frame(Operands operands) const override {
    const Frame &scores = operands[0]->frame, &allowed = operands[1]->frame;
    if (scores.shape != allowed.shape) {
      fail("{} is {} but {} is {}: a mask must have the shape of the matrix that it masks",
           operands[1]->title(), to_string(allowed.shape), operands[0]->title(), to_string(scores.shape));
    }
    return scores;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula fill = written(fill_), other = written(fill_of_empty_row_);
    const Formula scores = within(Binding::sum, operands[0]), allowed = within(Binding::sum, operands[1]);
    const bool two = fill_ != fill_of_empty_row_;
    return {scores.plain + " where " + allowed.plain + " = 1, else " + fill.plain +
                (two ? " (" + other.plain + " in a row without any 1)" : ""),
            "\\begin{cases}" + scores.latex + " & " + allowed.latex + " = 1 \\\\ " + fill.latex +
                " & \\text{otherwise}" +
                (two ? " \\\\ " + other.latex + " & \\text{in a row without any 1}" : "") + "\\end{cases}",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::string in_row = fmt::format("{} {}", nouns_.row, operands[0]->frame.rows.label(row));
    const std::string of_column =
        fmt::format("{} {}", nouns_.column, operands[0]->frame.columns.label(column));
    if (operands[1]->cell(row, column) != 0.0) {
      return {cell(*operands[0], row, column),
              fmt::format("{} is not masked for {}, so the {} stays", of_column, in_row, nouns_.cell)};
    }
    if (fill_ != fill_of_empty_row_ && is_empty(operands[1]->row(row))) {
      const Formula fill = written(fill_of_empty_row_);
      return {number(fill_of_empty_row_, fill), fmt::format("every {} is masked for {}: {} replaces the {}s",
                                                            nouns_.column, in_row, fill.plain, nouns_.cell)};
    }
    return {number(fill_, written(fill_)), fmt::format("{} is masked for {}: {} replaces the {}", of_column,
                                                       in_row, written(fill_).plain, nouns_.cell)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

  std::vector<Attribute> attributes() const override {
    return {{"fill", fill_},
            {"row_noun", std::string(nouns_.row)},
            {"column_noun", std::string(nouns_.column)},
            {"cell_noun", std::string(nouns_.cell)}};
  }

  // Where a cell was replaced, nothing flows back.
  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override;

  double fill() const { return fill_; }

 private:
  void change(RowsToMake rows, std::span<const Rows> others) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const std::span<double> scores = rows.row(i);
      const std::span<const double> allowed = others[0].row(i);
      for (std::size_t j = 0; j < scores.size(); ++j) scores[j] = allowed[j] != 0.0 ? scores[j] : fill_;
      if (fill_ != fill_of_empty_row_ && is_empty(allowed)) std::ranges::fill(scores, fill_of_empty_row_);
    }
  }

  std::string_view name_;
  double fill_;
  double fill_of_empty_row_;
  MaskNouns nouns_;
};

Gradients Replacement::gradients(const Value&, const Value& d, std::span<const Value> operands) const {
  const MaskNouns nouns{.row = nouns_.row, .column = nouns_.column, .cell = "gradient"};
  return {apply(Replacement("replace", 0.0, 0.0, nouns), d, operands[1]), std::nullopt};
}

// A finite fill in a whole row would come out of a softmax as equal weights for what is masked.
class Mask final : public Replacement {
 public:
  Mask(double fill, const MaskNouns& nouns) : Replacement("mask", fill, minus_infinity, nouns) {}
};

}  // namespace

Value mask(const Value& scores, const Value& allowed, double fill, const MaskNouns& nouns) {
  return apply(Mask(fill, nouns), scores, allowed);
}

Value replace(const Value& x, const Value& kept, double fill) {
  return apply(Replacement("replace", fill, fill, {}), x, kept);
}

bool is_mask(const Operation& operation) {
  return dynamic_cast<const Mask*>(&operation);
}

double mask_fill(const Operation& operation) {
  const auto* mask = dynamic_cast<const Mask*>(&operation);
  return mask ? mask->fill() : minus_infinity;
}

}  // namespace attn
