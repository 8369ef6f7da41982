#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/math/functions.hpp"
#include "core/math/rows.hpp"
#include "core/op/operations.hpp"
#include "core/op/ways.hpp"
#include "core/support/error.hpp"

namespace attn {

// --- lookup
// The rows of a table that ids stand for, counted from 1.

namespace {

class Embed final : public RowByMatrix {
 public:
  Embed(const Node& ids, const Node& table) : ids_(ids, table, "rows", table.frame.shape.rows) {}

  const Op& op() const override { return op::embed; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Frame &ids = operands[0]->frame, &table = operands[1]->frame;
    if (ids.shape.columns != 1) {
      fail("{} is {}: ids are one column, with one number for each word", operands[0]->title(), to_string(ids.shape));
    }
    return {{ids.shape.rows, table.shape.columns}, ids.rows, table.columns};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    for (std::size_t i = result.first; i < result.end(); ++i) {
      std::ranges::copy(operands[1].row(ids_.place(operands[0], i)), result.row(i).begin());
    }
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula ids = within(Binding::whole, operands[0]), table = within(Binding::whole, operands[1]);
    return {fmt::format("rows {} of {}", ids.plain, table.plain),
            fmt::format("{{{}}}_{{{},\\,\\cdot}}", table.latex, ids.latex), Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t place = place_of(operands[0]->cell(row, 0));
    return {cell(*operands[1], place, column),
            fmt::format("{}[{},1] is {}: the vector is row {} of {}", operands[0]->title(), row + 1, place + 1,
                        place + 1, operands[1]->title())};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].rows * operands[1].columns};
  }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {std::nullopt, add_rows_by_id(operands[0], d, operands[1])};
  }

 private:
  IdsOf ids_;
};

// Operands: the ids and d.
class AddRowsById final : public Operation {
 public:
  AddRowsById(const Node& ids, const Node& table)
      : ids_(ids, table, "rows", table.frame.shape.rows), result_(table.frame) {}

  const Op& op() const override { return op::add_rows_by_id; }

  Frame frame(Operands operands) const override {
    const Shape ids = operands[0]->frame.shape, d = operands[1]->frame.shape;
    if (d != Shape{ids.rows, result_.shape.columns}) {
      fail("{} is {}: it must have a row of {} numbers for each of {} ids", operands[1]->title(), to_string(d),
           result_.shape.columns, ids.rows);
    }
    return result_;
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    std::ranges::fill(result.all(), 0.0);
    for (std::size_t i = 0; i < operands[0].shape.rows; ++i) {
      const std::size_t place = ids_.place(operands[0], i);
      if (place >= result.first && place < result.end()) attn::add(result.row(place), operands[1].row(i));
    }
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula ids = within(Binding::whole, operands[0]), d = within(Binding::whole, operands[1]);
    return {fmt::format("rows of {} added up by {}", d.plain, ids.plain),
            fmt::format("\\sum_{{k: \\, {{{}}}_{{k}} = i}} {{{}}}_{{k,\\,\\cdot}}", ids.latex, d.latex),
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Axis& words = operands[0]->frame.rows;
    std::vector<Expression> terms;
    std::string which;
    for (std::size_t i = 0; i < operands[0]->frame.shape.rows; ++i) {
      if (place_of(operands[0]->cell(i, 0)) != row) continue;
      terms.push_back(cell(*operands[1], i, column));
      which += (which.empty() ? "" : ", ") + words.label(i);
    }
    if (terms.empty()) return {number(0.0), fmt::format("no word has the id {}", row + 1)};
    return {sum(std::move(terms)), fmt::format("the id {} is that of {}", row + 1, which)};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[1].cells()}; }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {std::nullopt, embed(operands[0], d)};
  }

 private:
  IdsOf ids_;
  Frame result_;
};

class OneHot final : public RowByRow {
 public:
  OneHot(const Node& ids, const Node& table)
      : ids_(ids, table, "rows", table.frame.shape.rows), words_(table.frame.rows) {}

  const Op& op() const override { return op::one_hot; }

  Frame frame(Operands operands) const override {
    const Frame& ids = operands[0]->frame;
    return {{ids.shape.rows, ids_.count()}, ids.rows, words_};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    std::ranges::fill(result.all(), 0.0);
    for (std::size_t i = result.first; i < result.end(); ++i) result.row(i)[ids_.place(operands[0], i)] = 1.0;
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {"one_hot(" + operands[0].plain + ")", "\\operatorname{onehot}\\left(" + operands[0].latex + "\\right)"};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t place = place_of(operands[0]->cell(row, 0));
    return {number(place == column ? 1.0 : 0.0), fmt::format("{}[{},1] is {}: only column {} of its row is 1",
                                                             operands[0]->title(), row + 1, place + 1, place + 1)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].rows * ids_.count()};
  }

  Gradients gradients(const Value&, const Value&, std::span<const Value>) const override { return {std::nullopt}; }

 private:
  IdsOf ids_;
  Axis words_;
};

}  // namespace

Value add_rows_by_id(const Value& ids, const Value& d, const Value& table) {
  return apply(AddRowsById(ids.node(), table.node()), ids, d);
}

Value embed(const Value& ids, const Value& table) { return apply(Embed(ids.node(), table.node()), ids, table); }

Value one_hot(const Value& ids, const Value& table) { return apply(OneHot(ids.node(), table.node()), ids); }

// --- positions

namespace {

// Which of the frequencies a column has, counted from 0.
std::size_t interleaved(std::size_t column, std::size_t) { return column / 2; }
std::size_t concatenated(std::size_t column, std::size_t size) {
  const std::size_t sines = (size + 1) / 2;
  return column < sines ? column : column - sines;
}

constexpr std::array layout_table = {
    SinusoidLayout{"interleaved", "sine and cosine of one frequency beside each other", interleaved,
                   [](std::size_t column, std::size_t) { return column % 2 == 0; },
                   [](std::size_t) { return std::string("2j+1, 2j+2"); }},
    SinusoidLayout{"concatenated", "all sines, then all cosines", concatenated,
                   [](std::size_t column, std::size_t size) { return column < (size + 1) / 2; },
                   [](std::size_t size) { return fmt::format("j+1, {}+j", (size + 1) / 2 + 1); }},
};

// base^(2j/d)
double divisor_of_waves(Waves waves, std::size_t frequency, std::size_t size) {
  return elementary::power(waves.base, 2.0 * static_cast<double>(frequency) / static_cast<double>(size));
}

// i / base^(2j/d)
Expression angle_at(Waves waves, std::size_t row, std::size_t frequency, std::size_t size) {
  const Formula divisor = {fmt::format("{}^({}/{})", waves.base, 2 * frequency, size),
                           fmt::format("{}^{{{}/{}}}", waves.base, 2 * frequency, size)};
  return number(static_cast<double>(waves.first + row)) / number(divisor_of_waves(waves, frequency, size), divisor);
}

std::vector<Attribute> attributes_of(Waves waves) {
  return {{"first", static_cast<double>(waves.first)}, {"base", waves.base}};
}

class Sinusoid final : public Operation {
 public:
  Sinusoid(const SinusoidLayout& layout, Frame result, Waves waves)
      : layout_(layout), result_(std::move(result)), waves_(waves) {}

  const Op& op() const override { return op::sinusoid; }
  Bounds bounds() const override { return {-1.0, 1.0, "Sine and cosine lie between −1 and 1."}; }
  const SinusoidLayout& layout() const { return layout_; }
  Waves waves() const { return waves_; }
  std::vector<Attribute> attributes() const override {
    const std::size_t size = result_.shape.columns;
    std::vector<double> frequencies, is_sine;
    for (std::size_t j = 0; j < size; ++j) {
      frequencies.push_back(static_cast<double>(layout_.frequency(j, size)));
      is_sine.push_back(layout_.is_sine(j, size) ? 1.0 : 0.0);
    }
    std::vector<Attribute> all = attributes_of(waves_);
    all.push_back({"frequencies", std::move(frequencies)});
    all.push_back({"is_sine", std::move(is_sine)});
    return all;
  }

  Frame frame(Operands) const override { return result_; }

  void compute(std::span<const Rows>, RowsToMake result) const override {
    for (std::size_t j = 0; j < result.shape.columns; ++j) {
      const double divisor = divisor_at(j);
      const Function& wave = wave_of(j);
      for (std::size_t i = result.first; i < result.end(); ++i) {
        result.row(i)[j] = wave.evaluate(static_cast<double>(waves_.first + i) / divisor);
      }
    }
  }

  Formula formula(std::span<const Formula>) const override {
    const std::string columns = layout_.columns(result_.shape.columns);
    return {fmt::format("sin, cos(i / {}^(2j/d)) in columns {}", waves_.base, columns),
            fmt::format("\\sin, \\cos\\left(\\frac{{i}}{{{}^{{2j/d}}}}\\right) \\text{{ in columns }} {}", waves_.base,
                        columns)};
  }

  Explanation explain(Operands, std::size_t row, std::size_t column) const override {
    const std::size_t frequency = layout_.frequency(column, result_.shape.columns);
    return {call(wave_of(column), angle_at(waves_, row, frequency, result_.shape.columns)),
            "the first position counts as 0"};
  }

  Cost cost(std::span<const Shape>) const override { return {.element_operations = result_.shape.cells()}; }

  Gradients gradients(const Value&, const Value&, std::span<const Value>) const override { return {}; }

 private:
  double divisor_at(std::size_t column) const {
    return divisor_of_waves(waves_, layout_.frequency(column, result_.shape.columns), result_.shape.columns);
  }
  const Function& wave_of(std::size_t column) const {
    return layout_.is_sine(column, result_.shape.columns) ? sine : cosine;
  }

  const SinusoidLayout& layout_;
  Frame result_;
  Waves waves_;
};

// The direction in which points are turned.
struct Turning {
  const Op& op;
  double sign;
  std::string_view written;  // before the angle
};
constexpr Turning forward = {op::rotate, 1.0, ""};
constexpr Turning backward = {op::rotate_back, -1.0, "−"};

class Rotate final : public RowByRow {
 public:
  Rotate(const Turning& kind, Waves waves, Sentences sentences) : kind_(kind), waves_(waves), sentences_(sentences) {}

  const Op& op() const override { return kind_.op; }
  std::vector<Attribute> attributes() const override { return attributes_of(waves_); }
  Waves waves() const { return waves_; }

  Frame frame(Operands operands) const override {
    const Node& x = *operands[0];
    if (x.frame.shape.columns % 2 == 0) return x.frame;
    fail("{} is {}: rotary positions turn pairs of columns: choose heads of an even size", x.title(),
         to_string(x.frame.shape));
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    for (std::size_t j = 0; j < result.shape.columns; j += 2) {
      const double divisor = divisor_of_waves(waves_, j / 2, result.shape.columns);
      // The sentences of a batch have the same positions.
      const std::size_t end = std::min(result.end(), result.first + sentences_.rows);
      for (std::size_t first = result.first; first < end; ++first) {
        const double angle = static_cast<double>(waves_.first + sentences_.place(first)) / divisor;
        const double sine_of_angle = kind_.sign * elementary::sin(angle), cosine_of_angle = elementary::cos(angle);
        for (std::size_t i = first; i < result.end(); i += sentences_.rows) {
          const double x = operands[0](i, j), y = operands[0](i, j + 1);
          result.row(i)[j] = x * cosine_of_angle - y * sine_of_angle;
          result.row(i)[j + 1] = x * sine_of_angle + y * cosine_of_angle;
        }
      }
    }
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {fmt::format("{}, columns 2j+1, 2j+2 turned by {}i / {}^(2j/d)", within(Binding::whole, operands[0]).plain,
                        kind_.written, waves_.base),
            fmt::format("R_{{{}i / {}^{{2j/d}}}} \\, {}", kind_.sign < 0.0 ? "-" : "", waves_.base,
                        within(Binding::whole, operands[0]).latex),
            Binding::words};
  }

  // (x + iy) e^(iθ) = x cos θ − y sin θ + i (x sin θ + y cos θ)
  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t pair = column / 2;
    const Expression angle = angle_at(waves_, sentences_.place(row), pair, operands[0]->frame.shape.columns);
    const auto part = [&](std::size_t beside, const Function& wave) {
      return product({cell(*operands[0], row, 2 * pair + beside), call(wave, angle)});
    };
    // Back, the sine has the opposite sign.
    const bool is_first = column % 2 == 0;
    const auto added = [&] {
      return is_first ? sum({part(0, cosine), part(1, sine)}) : sum({part(0, sine), part(1, cosine)});
    };
    const auto subtracted = [&] {
      return is_first ? part(0, cosine) - part(1, sine) : part(1, cosine) - part(0, sine);
    };
    return {is_first == (kind_.sign > 0.0) ? subtracted() : added(), "the first position counts as 0"};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 3;  // the angle, two products and their sum
    return {.element_operations = passes * operands[0].cells()};
  }

  Gradients gradients(const Value&, const Value& d, std::span<const Value>) const override {
    return {apply(Rotate(kind_.sign > 0.0 ? backward : forward, waves_, sentences_), d)};
  }

 private:
  const Turning& kind_;
  Waves waves_;
  Sentences sentences_;
};

}  // namespace

std::span<const SinusoidLayout> sinusoid_layouts() { return layout_table; }

std::optional<Waves> waves_of(const Operation& operation) {
  if (const auto* fixed = dynamic_cast<const Sinusoid*>(&operation)) return fixed->waves();
  const auto* turned = dynamic_cast<const Rotate*>(&operation);
  return turned ? std::optional(turned->waves()) : std::nullopt;
}

const SinusoidLayout* layout_of(const Operation& operation) {
  const auto* fixed = dynamic_cast<const Sinusoid*>(&operation);
  return fixed ? &fixed->layout() : nullptr;
}

Value sinusoid(Graph& graph, const SinusoidLayout& layout, Frame frame, Waves waves) {
  return graph.apply(std::make_unique<const Sinusoid>(layout, std::move(frame), waves), {});
}

Value rotate(const Value& x, Waves waves) { return apply(Rotate(forward, waves, sentences_of(x)), x); }

Value rotate_back(const Value& x, Waves waves) { return apply(Rotate(backward, waves, sentences_of(x)), x); }

}  // namespace attn
