#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/op/operations.hpp"
#include "core/op/ways.hpp"
#include "core/support/error.hpp"

// Operations that only move numbers to other places: parts of a matrix, matrices joined, rows and columns
// exchanged.

namespace attn {
namespace {

enum class Along { rows, columns };

std::size_t& size_along(Along along, Shape& shape) { return along == Along::rows ? shape.rows : shape.columns; }
std::size_t size_along(Along along, const Shape& shape) { return along == Along::rows ? shape.rows : shape.columns; }

// --- a part of a matrix

struct Slice {
  const Op& op;
  std::string_view one;  // "row"
  Along along;
  std::string (*latex)(const std::string& whole, const std::string& places);
};

constexpr Slice some_columns = {op::columns, "column", Along::columns,
                                [](const std::string& whole, const std::string& places) {
                                  return "{" + whole + "}_{\\,\\cdot\\,,\\," + places + "}";
                                }};

constexpr Slice some_rows = {op::rows, "row", Along::rows, [](const std::string& whole, const std::string& places) {
                               return "{" + whole + "}_{" + places + ",\\cdot}";
                             }};

class SliceOperation final : public Operation {
 public:
  SliceOperation(const Slice& kind, std::size_t first, std::size_t count, Sentences sentences)
      : kind_(kind), first_(first), count_(count), sentences_(sentences) {}

  const Op& op() const override { return kind_.op; }
  std::vector<Attribute> attributes() const override { return {{"first", static_cast<double>(first_)}}; }
  bool moves() const override { return true; }

  std::size_t first() const { return first_; }

  Frame frame(Operands operands) const override {
    Frame result = operands[0]->frame;
    std::size_t& all = size_along(kind_.along, result.shape);
    const std::size_t size = all / parts();
    if (first_ + count_ > size) {
      fail("{0} has {1} {2}: {2} {3} to {4} are not among them", operands[0]->title(), size, kind_.op.name, first_ + 1,
           first_ + count_);
    }
    all = count_ * parts();
    Axis& labels = kind_.along == Along::rows ? result.rows : result.columns;
    labels = part(labels, first_, count_);
    return result;
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    for (std::size_t i = result.first; i < result.end(); ++i) {
      const Shape from = place_in_operand(i);
      const std::span<double> cells = result.row(i);
      std::ranges::copy(operands[0].row(from.rows).subspan(from.columns, cells.size()), cells.begin());
    }
  }
  RowRange needed(std::size_t, RowRange made, std::span<const Shape>) const override {
    if (made.count == 0) return {0, 0};
    const std::size_t begin = place_in_operand(made.first).rows;
    return {begin, place_in_operand(made.first + made.count - 1).rows + 1 - begin};
  }

  Formula formula(std::span<const Formula> operands) const override {
    const std::size_t first = first_ + 1, last = first_ + count_;
    const bool one = count_ == 1;
    const Formula whole = within(Binding::whole, operands[0]);
    const std::string which =
        one ? fmt::format("{} {}", kind_.one, first) : fmt::format("{} {}…{}", kind_.op.name, first, last);
    return {which + " of " + whole.plain,
            kind_.latex(whole.latex, one ? fmt::format("{}", first) : fmt::format("{}:{}", first, last)),
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Shape from = place_in_operand(row);
    return {cell(*operands[0], from.rows, from.columns + column)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    Shape shape = operands[0];
    size_along(kind_.along, shape) = count_ * parts();
    return {.element_operations = shape.cells()};
  }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    const bool by_rows = kind_.along == Along::rows;
    return {by_rows ? rows_among_zeros(d, first_, operands[0]) : columns_among_zeros(d, first_, operands[0])};
  }

 private:
  // How many parts there are: the rows of every sentence of a batch.
  std::size_t parts() const { return kind_.along == Along::rows ? sentences_.count : 1; }

  // Where a row of the part stands in the whole, and its first column there.
  Shape place_in_operand(std::size_t row) const {
    if (kind_.along == Along::columns) return {row, first_};
    return {row / count_ * sentences_.rows + first_ + row % count_, 0};
  }

  const Slice& kind_;
  std::size_t first_, count_;
  Sentences sentences_;  // of the whole
};

struct Filling {
  const Op& op;
  const Slice& slice;
};
constexpr Filling columns_filling = {op::columns_among_zeros, some_columns};
constexpr Filling rows_filling = {op::rows_among_zeros, some_rows};

// The opposite of a slice: the same cells at their places, and zeros elsewhere.
class AmongZeros final : public Operation {
 public:
  AmongZeros(const Filling& kind, std::size_t first, Frame whole)
      : kind_(kind), first_(first), result_(std::move(whole)) {}

  const Op& op() const override { return kind_.op; }
  std::vector<Attribute> attributes() const override { return {{"first", static_cast<double>(first_)}}; }

  const Filling& kind() const { return kind_; }
  /// Where the part begins.
  std::size_t first() const { return first_; }

  Frame frame(Operands operands) const override {
    const Shape part = operands[0]->frame.shape, whole = result_.shape;
    const bool below = along() == Along::rows;
    const std::size_t beside = below ? part.columns : part.rows, size = size_along(along(), part) / parts();
    if (beside != (below ? whole.columns : whole.rows) || first_ + size > size_of_whole()) {
      fail("{} is {}: it does not fit into {} from {} {} on", operands[0]->title(), to_string(part), to_string(whole),
           kind_.slice.one, first_ + 1);
    }
    return result_;
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    std::ranges::fill(result.all(), 0.0);
    const Shape part = operands[0].shape;
    for (std::size_t i = result.first; i < result.end(); ++i) {
      if (along() == Along::columns) {
        std::ranges::copy(operands[0].row(i), result.row(i).subspan(first_).begin());
      } else if (holds(i, part.rows / parts())) {
        std::ranges::copy(operands[0].row(place_in_part(i, part.rows / parts())), result.row(i).begin());
      }
    }
  }
  RowRange needed(std::size_t operand, RowRange made, std::span<const Shape> operands) const override {
    return along() == Along::columns ? made : Operation::needed(operand, made, operands);
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::whole, operands[0]);
    return {fmt::format("{} from {} {} on, else 0", x.plain, kind_.slice.one, first_ + 1),
            "\\left[0 ; " + x.latex + " ; 0\\right]", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t size = size_along(along(), operands[0]->frame.shape) / parts();
    const bool by_rows = along() == Along::rows;
    const std::size_t place = by_rows ? row % size_of_whole() : column;
    if (place < first_ || place >= first_ + size) {
      return {number(0.0),
              fmt::format("only {} {} to {} were used here", kind_.slice.op.name, first_ + 1, first_ + size)};
    }
    if (by_rows) return {cell(*operands[0], place_in_part(row, size), column)};
    return {cell(*operands[0], row, column - first_)};
  }

  Cost cost(std::span<const Shape>) const override { return {.element_operations = result_.shape.cells()}; }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    const std::size_t size = size_along(along(), operands[0].shape()) / parts();
    return {along() == Along::rows ? rows(d, first_, size) : columns(d, first_, size)};
  }

 private:
  Along along() const { return kind_.slice.along; }
  // The sentences of a batch, each of which has its own rows.
  std::size_t parts() const { return along() == Along::rows ? result_.rows.batch : 1; }
  std::size_t size_of_whole() const { return size_along(along(), result_.shape) / parts(); }

  // Whether a row of the whole is one of the part, of which every sentence has `size`; and which.
  bool holds(std::size_t row, std::size_t size) const {
    const std::size_t place = row % size_of_whole();
    return place >= first_ && place < first_ + size;
  }
  std::size_t place_in_part(std::size_t row, std::size_t size) const {
    return row / size_of_whole() * size + row % size_of_whole() - first_;
  }

  const Filling& kind_;
  std::size_t first_;
  Frame result_;
};

// --- matrices one after another

struct Join {
  const Op& op;
  Along along;
  std::string_view place;                                 // "side by side"
  Axis (*axis)(Operation::Operands parts);                // of the direction in which the result is longer
  Formula (*formula)(std::span<const Formula> operands);  // how it is written
};

// The formulas of all operands with `plain` or `latex` between them.
Formula listed(std::span<const Formula> operands, std::string_view plain, std::string_view latex) {
  Formula result = operands[0];
  for (const Formula& part : operands.subspan(1)) {
    result.plain.append(plain).append(part.plain);
    result.latex.append(latex).append(part.latex);
  }
  return result;
}

// The columns of the parts are numbered anew.
Axis numbered_columns(Operation::Operands parts) { return axis(parts[0]->frame.columns.name); }

// The labels of all parts one after another, where every part has them; else all are numbered anew.
template <Axis Frame::*side>
Axis joined_axis(Operation::Operands parts) {
  std::vector<std::string> labels;
  for (const Node* part : parts) {
    const Axis& one = part->frame.*side;
    if (!one.labels) return in_batch_of(one, axis(one.name));
    labels.insert(labels.end(), one.labels->begin(), one.labels->end());
  }
  return axis((parts[0]->frame.*side).name, std::move(labels));
}

Formula beside_each_other(std::span<const Formula> operands) {
  const Formula all = listed(operands, "; ", " ; ");
  return {"[" + all.plain + "]", "\\left[" + all.latex + "\\right]"};
}

constexpr Join concatenation = {op::concatenate, Along::columns, "side by side", numbered_columns, beside_each_other},
               labelled_concatenation = {op::concatenate, Along::columns, "side by side", joined_axis<&Frame::columns>,
                                         beside_each_other};

constexpr Join stacking = {op::stack, Along::rows, "below each other", joined_axis<&Frame::rows>,
                           [](std::span<const Formula> operands) -> Formula {
                             const Formula all = listed(operands, ", ", " \\\\ ");
                             return {"rows(" + all.plain + ")", "\\begin{bmatrix}" + all.latex + "\\end{bmatrix}"};
                           }};

class JoinOperation final : public Operation {
 public:
  JoinOperation(const Join& kind, std::size_t batch) : kind_(kind), batch_(batch) {}

  const Op& op() const override { return kind_.op; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Frame& first = operands[0]->frame;
    const bool below = kind_.along == Along::rows;
    Frame result{first.shape, first.rows, first.columns};
    (below ? result.rows : result.columns) = kind_.axis(operands);
    std::size_t& size = size_along(kind_.along, result.shape);
    size = 0;
    const Along other = below ? Along::columns : Along::rows;
    for (const Node* part : operands) {
      const std::size_t ours = size_along(other, first.shape), theirs = size_along(other, part->frame.shape);
      if (ours != theirs) {
        fail("{} is {} but {} is {}: matrices {} need the same number of {}", operands[0]->title(),
             to_string(first.shape), part->title(), to_string(part->frame.shape), kind_.place,
             below ? "columns" : "rows");
      }
      size += size_along(kind_.along, part->frame.shape);
    }
    return result;
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    if (kind_.along == Along::rows && batch_ > 1) return below_each_other(operands, result);
    Shape place;  // of the part's first cell in the result
    for (const Rows& part : operands) {
      const std::size_t begin = std::max(result.first, place.rows + part.first);
      const std::size_t end = std::min(result.end(), place.rows + part.end());
      for (std::size_t i = begin; i < end; ++i) {
        std::ranges::copy(part.row(i - place.rows), result.row(i).subspan(place.columns).begin());
      }
      size_along(kind_.along, place) += kind_.along == Along::rows ? part.end() : part.shape.columns;
    }
  }

  Formula formula(std::span<const Formula> operands) const override { return kind_.formula(operands); }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const bool below = kind_.along == Along::rows;
    std::size_t all = 0;
    for (const Node* part : operands) all += part->frame.shape.rows / batch_;
    const std::size_t sentence = below ? row / all : 0;
    if (below) row %= all;
    std::size_t& place = below ? row : column;
    for (const Node* part : operands) {
      const std::size_t size = size_along(kind_.along, part->frame.shape) / (below ? batch_ : 1);
      if (place < size) return {cell(*part, below ? sentence * size + row : row, column)};
      place -= size;
    }
    return {};
  }

  Cost cost(std::span<const Shape> operands) const override {
    Cost total;
    for (const Shape& part : operands) total.element_operations += part.cells();
    return total;
  }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    const bool below = kind_.along == Along::rows;
    Gradients all;
    std::size_t first = 0;
    for (const Value& part : operands) {
      const std::size_t size = size_along(kind_.along, part.shape()) / (below ? batch_ : 1);
      const Value flow = below ? rows(d, first, size) : columns(d, first, size);
      all.push_back(flow);
      first += size;
    }
    return all;
  }

  // Side by side, the same rows of every part.
  RowRange needed(std::size_t operand, RowRange made, std::span<const Shape> operands) const override {
    return kind_.along == Along::columns ? made : Operation::needed(operand, made, operands);
  }

 private:
  // Of a batch: the parts of one sentence after those of another.
  void below_each_other(std::span<const Rows> operands, RowsToMake result) const {
    std::size_t i = 0;
    for (std::size_t s = 0; s < batch_; ++s) {
      for (const Rows& part : operands) {
        const std::size_t count = part.shape.rows / batch_;
        for (std::size_t j = s * count; j < (s + 1) * count; ++j, ++i) {
          if (i >= result.first && i < result.end()) std::ranges::copy(part.row(j), result.row(i).begin());
        }
      }
    }
  }

  const Join& kind_;
  std::size_t batch_;  // sentences in every part
};

// One part alone is itself.
Value join(const Join& kind, const std::vector<Value>& parts) {
  if (parts.size() == 1) return parts.front();
  return parts.front().graph().apply(std::make_unique<const JoinOperation>(kind, parts.front().node().frame.rows.batch),
                                     parts);
}

// --- parts among zeros, added up

const AmongZeros* among_zeros(const Value& flow, const Filling& kind) {
  const Node& node = flow.node();
  const auto* filled = node.operation ? dynamic_cast<const AmongZeros*>(node.operation.get()) : nullptr;
  return filled && &filled->kind() == &kind ? filled : nullptr;
}

// Takes the parts of this kind out of some flows, each the sum of those of one place, and joins them where
// they are the whole; or else leaves all as they were.
void join_parts(std::vector<Value>& flows, const Filling& kind) {
  std::map<std::size_t, Value> parts;  // by the place where they begin
  std::vector<Value> others;
  for (const Value& flow : flows) {
    const AmongZeros* const filled = among_zeros(flow, kind);
    if (!filled) {
      others.push_back(flow);
      continue;
    }
    const Value part(*flow.node().operands[0]);
    const auto [place, is_new] = parts.emplace(filled->first(), part);
    if (is_new) continue;
    if (place->second.shape() != part.shape()) return;
    place->second = add(place->second, part);
  }
  if (parts.size() < 2) return;
  const Along along = kind.slice.along;
  const Frame& whole = flows.front().node().frame;
  const std::size_t sentences = along == Along::rows ? whole.rows.batch : 1;
  std::size_t end = 0;
  std::vector<Value> in_order;
  for (const auto& part : parts) {
    if (part.first != end) return;
    end += size_along(along, part.second.shape()) / sentences;
    in_order.push_back(part.second);
  }
  if (end != size_along(along, whole.shape) / sentences) return;
  others.push_back(join(along == Along::rows ? stacking : concatenation, in_order));
  flows = std::move(others);
}

// --- other orders and other labels

class Transpose final : public Operation {
 public:
  explicit Transpose(Sentences sentences) : sentences_(sentences) {}

  const Op& op() const override { return op::transpose; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    return {
        {x.shape.columns * sentences_.count, sentences_.other}, in_batch_of(x.rows, x.columns), rows_of_one(x.rows)};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    sentence_by_sentence(sentences_, result, operands[0], result,
                         [](Rows, Rows x, RowsToMake turned) { transpose_into(x, turned); });
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::whole, operands[0]);
    return {x.plain + "ᵀ", "{" + x.latex + "}^{\\top}"};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {cell(*operands[0], sentences_.of(row) * sentences_.other + column, sentences_.place(row))};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  Gradients gradients(const Value&, const Value& d, std::span<const Value>) const override { return {transpose(d)}; }

 private:
  Sentences sentences_;  // of the result and of what is turned
};

// Rows and columns have no names of their own any more.
class Reshape final : public Operation {
 public:
  Reshape(Shape shape, Sentences sentences) : shape_(shape), sentences_(sentences) {}

  const Op& op() const override { return op::reshape; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    const std::size_t cells = sentences_.rows * x.shape.columns;
    if (shape_.columns == 0 || cells % shape_.columns != 0) {
      fail("{} has {} numbers: they do not fill whole rows of {}", operands[0]->title(), cells, shape_.columns);
    }
    return {shape_, in_batch_of(x.rows, axis("rows")), axis("columns")};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    const Rows& x = operands[0];
    const std::size_t begin = result.first * shape_.columns - x.first * x.shape.columns;
    std::copy_n(x.cells + begin, result.shape.cells(), result.cells);
  }
  RowRange needed(std::size_t, RowRange made, std::span<const Shape> operands) const override {
    const std::size_t columns = operands[0].columns;
    if (made.count == 0 || columns == 0) return {0, 0};
    const std::size_t first = made.first * shape_.columns / columns;
    const std::size_t last = ((made.first + made.count) * shape_.columns - 1) / columns;
    return {first, last + 1 - first};
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {fmt::format("reshape({}, {})", operands[0].plain, to_string(shape_)),
            fmt::format("\\operatorname{{reshape}}\\left({}, {} \\times {}\\right)", operands[0].latex, shape_.rows,
                        shape_.columns)};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t place = row * shape_.columns + column, columns = operands[0]->frame.shape.columns;
    return {cell(*operands[0], place / columns, place % columns)};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {reshape(d, operands[0].shape().columns)};
  }

 private:
  Shape shape_;
  Sentences sentences_;  // of what is reshaped
};

// A number that went through nodes without a name only was copied from the first one that has a name.
std::string source_of(Cell cell) {
  while (cell.node->name.empty()) {
    const Expression from = cell.node->operation->explain(cell.node->operands, cell.row, cell.column).expression;
    if (from.kind != Expression::Kind::cell) return "";
    cell = from.cell;
  }
  return fmt::format("copied from {}[{},{}]", cell.node->name, cell.row + 1, cell.column + 1);
}

class Labelled final : public InPlace {
 public:
  explicit Labelled(Axis rows) : rows_(std::move(rows)) {}

  const Op& op() const override { return op::labelled; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    if (rows_.labels && rows_.labels->size() != x.shape.rows) {
      fail("{} has {} rows and {} labels: give one for each row", operands[0]->title(), x.shape.rows,
           rows_.labels->size());
    }
    return {x.shape, rows_, x.columns};
  }

  Formula formula(std::span<const Formula> operands) const override { return operands[0]; }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {cell(*operands[0], row, column), source_of({operands[0], row, column})};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};  // of the copy, where others hold the cells as well
  }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {labelled(d, operands[0].node().frame.rows)};
  }

 private:
  void change(RowsToMake, std::span<const Rows>) const override {}

  Axis rows_;
};

}  // namespace

Value columns_among_zeros(const Value& x, std::size_t first, const Value& whole) {
  return apply(AmongZeros(columns_filling, first, whole.node().frame), x);
}
Value rows_among_zeros(const Value& x, std::size_t first, const Value& whole) {
  return apply(AmongZeros(rows_filling, first, whole.node().frame), x);
}

std::optional<std::size_t> first_of_slice(const Operation& operation) {
  const auto* slice = dynamic_cast<const SliceOperation*>(&operation);
  return slice ? std::optional(slice->first()) : std::nullopt;
}

Value columns(const Value& x, std::size_t first, std::size_t count) {
  return apply(SliceOperation(some_columns, first, count, sentences_of(x)), x);
}
Value rows(const Value& x, std::size_t first, std::size_t count) {
  return apply(SliceOperation(some_rows, first, count, sentences_of(x)), x);
}

Value reshape(const Value& x, std::size_t columns) {
  const std::size_t rows = columns == 0 ? 0 : x.shape().cells() / columns;
  return apply(Reshape({rows, columns}, sentences_of(x)), x);
}

Value concatenate(const std::vector<Value>& parts) { return join(concatenation, parts); }
Value concatenate_labelled(const std::vector<Value>& parts) { return join(labelled_concatenation, parts); }
Value stack(const std::vector<Value>& parts) { return join(stacking, parts); }

Value sum_of_flows(const std::vector<Value>& flows) {
  std::vector<Value> joined = flows;
  join_parts(joined, columns_filling);
  join_parts(joined, rows_filling);
  Value sum = joined.front();
  for (std::size_t i = 1; i < joined.size(); ++i) sum = add(sum, joined[i]);
  return sum;
}

Value transpose(const Value& x) {
  const Sentences whole = sentences_of(x);
  return apply(Transpose({whole.count, x.shape().columns, whole.rows}), x);
}

bool is_join(const Operation& operation) { return operation.is(op::concatenate) || operation.is(op::stack); }

Value labelled(const Value& x, Axis rows) { return apply(Labelled(std::move(rows)), x); }

}  // namespace attn
