#include <map>

#include "core/math/stored_matrix.hpp"
#include "core/op/definition.hpp"

// Operations that only move numbers to other places: parts of a matrix, matrices joined, rows and columns
// exchanged.

namespace attn {
namespace {

enum class Along { rows, columns };

std::size_t& size_along(Along along, Shape& shape) { return along == Along::rows ? shape.rows : shape.columns; }
std::size_t size_along(Along along, const Shape& shape) { return along == Along::rows ? shape.rows : shape.columns; }

constexpr std::string_view one_of(Along along) { return along == Along::rows ? "row" : "column"; }
constexpr std::string_view some_of(Along along) { return along == Along::rows ? "rows" : "columns"; }

// How many parts there are along rows: one in each sentence of a batch.
std::size_t parts_along(Along along, const Frame& whole) { return along == Along::rows ? whole.rows.batch : 1; }

// --- a part of a matrix

template <Along along>
Frame frame_of_part(const Use& use) {
  Frame result = use.frame(0);
  const std::size_t first = use[setting::first], count = use[setting::count], parts = parts_along(along, result);
  std::size_t& all = size_along(along, result.shape);
  const std::size_t size = all / parts;
  if (first + count > size) {
    fail("{0} has {1} {2}: {2} {3} to {4} are not among them", use.operands[0]->title(), size, some_of(along),
         first + 1, first + count);
  }
  all = count * parts;
  Axis& labels = along == Along::rows ? result.rows : result.columns;
  labels = part(labels, first, count);
  return result;
}

template <Along along>
Formula formula_of_part(const Use& use, std::span<const Formula> operands) {
  const std::size_t first = use[setting::first] + 1, last = use[setting::first] + use[setting::count];
  const bool one = first == last;
  const Formula whole = within(Binding::whole, operands[0]);
  const std::string places = one ? fmt::format("{}", first) : fmt::format("{}:{}", first, last);
  const std::string which =
      one ? fmt::format("{} {}", one_of(along), first) : fmt::format("{} {}…{}", some_of(along), first, last);
  return {which + " of " + whole.plain,
          along == Along::rows ? "{" + whole.latex + "}_{" + places + ",\\cdot}"
                               : "{" + whole.latex + "}_{\\,\\cdot\\,,\\," + places + "}",
          Binding::words};
}

template <Along along>
Cost cost_of_part(const Use& use, std::span<const Shape> operands) {
  Shape shape = operands[0];
  size_along(along, shape) = use[setting::count] * parts_along(along, use.frame(0));
  return {.element_operations = shape.cells()};
}

// Where row i of some rows of each sentence stands in the whole.
std::size_t row_in_whole(const Use& use, std::size_t i) {
  const std::size_t count = use[setting::count], sentence = use.frame(0).shape.rows / use.frame(0).rows.batch;
  return i / count * sentence + use[setting::first] + i % count;
}

// --- the opposite: the same cells at their places, and zeros elsewhere

template <Along along>
Frame frame_among_zeros(const Use& use) {
  const Frame& result = use[setting::frame];
  const Shape part = use.frame(0).shape, whole = result.shape;
  const std::size_t parts = parts_along(along, result), first = use[setting::first];
  const bool below = along == Along::rows;
  const std::size_t beside = below ? part.columns : part.rows;
  if (beside != (below ? whole.columns : whole.rows) ||
      first + size_along(along, part) / parts > size_along(along, whole) / parts) {
    fail("{} is {}: it does not fit into {} from {} {} on", use.operands[0]->title(), to_string(part), to_string(whole),
         one_of(along), first + 1);
  }
  return result;
}

template <Along along>
Formula formula_among_zeros(const Use& use, std::span<const Formula> operands) {
  const Formula x = within(Binding::whole, operands[0]);
  return {fmt::format("{} from {} {} on, else 0", x.plain, one_of(along), use[setting::first] + 1),
          "\\left[0 ; " + x.latex + " ; 0\\right]", Binding::words};
}

Cost cost_of_result(const Use& use, std::span<const Shape>) {
  return {.element_operations = use[setting::frame].shape.cells()};
}

// --- matrices one after another

// The formulas of all operands with `plain` or `latex` between them.
Formula listed_formulas(std::span<const Formula> operands, std::string_view plain, std::string_view latex) {
  Formula result = operands[0];
  for (const Formula& part : operands.subspan(1)) {
    result.plain.append(plain).append(part.plain);
    result.latex.append(latex).append(part.latex);
  }
  return result;
}

// The labels of all parts one after another, where every part has them; else all are numbered anew.
Axis joined_axis(const Use& use, Axis Frame::*side) {
  std::vector<std::string> labels;
  for (const Node* part : use.operands) {
    const Axis& one = part->frame.*side;
    if (!one.labels) return in_batch_of(one, axis(one.name));
    labels.insert(labels.end(), one.labels->begin(), one.labels->end());
  }
  return axis((use.frame(0).*side).name, std::move(labels));
}

template <Along along>
Frame frame_of_joined(const Use& use) {
  const Frame& first = use.frame(0);
  constexpr bool below = along == Along::rows;
  constexpr Along other = below ? Along::columns : Along::rows;
  Frame result = first;
  // The columns of parts side by side are numbered anew, unless they are to keep their labels.
  if (below) result.rows = joined_axis(use, &Frame::rows);
  if (!below)
    result.columns = use.settings.find(setting::axis) ? joined_axis(use, &Frame::columns) : axis(first.columns.name);
  std::size_t& size = size_along(along, result.shape);
  size = 0;
  for (const Node* part : use.operands) {
    const std::size_t ours = size_along(other, first.shape), theirs = size_along(other, part->frame.shape);
    if (ours != theirs) {
      fail("{} is {} but {} is {}: matrices {} need the same number of {}", use.operands[0]->title(),
           to_string(first.shape), part->title(), to_string(part->frame.shape),
           below ? "below each other" : "side by side", some_of(other));
    }
    size += size_along(along, part->frame.shape);
  }
  return result;
}

Cost cost_of_joined(const Use&, std::span<const Shape> operands) {
  Cost total;
  for (const Shape& part : operands) total.element_operations += part.cells();
  return total;
}

template <Along along>
Gradients gradients_of_joined(const Use& use, const Value&, const Value& d, std::span<const Value>) {
  Gradients all;
  std::size_t first = 0;
  for (std::size_t k = 0; k < use.operands.size(); ++k) {
    const std::size_t size = size_along(along, use.frame(k).shape) / parts_along(along, use.frame(0));
    all.emplace_back(along == Along::rows ? rows(d, first, size) : columns(d, first, size));
    first += size;
  }
  return all;
}

// --- parts among zeros, added up

// Takes the parts of this kind out of some flows, each the sum of those of one place, and joins them where
// they are the whole; or else leaves all as they were.
void join_parts(std::vector<Value>& flows, const Op& filling, Along along) {
  std::map<std::size_t, Value> parts;  // by the place where they begin
  std::vector<Value> others;
  for (const Value& flow : flows) {
    if (flow.node().op != &filling) {
      others.push_back(flow);
      continue;
    }
    const Value part(*flow.node().operands[0]);
    const auto [place, is_new] = parts.emplace(*flow.node().find(setting::first), part);
    if (is_new) continue;
    if (place->second.shape() != part.shape()) return;
    place->second = add(place->second, part);
  }
  if (parts.size() < 2) return;
  const Frame& whole = flows.front().node().frame;
  const std::size_t sentences = parts_along(along, whole);
  std::size_t end = 0;
  std::vector<Value> in_order;
  for (const auto& part : parts) {
    if (part.first != end) return;
    end += size_along(along, part.second.shape()) / sentences;
    in_order.push_back(part.second);
  }
  if (end != size_along(along, whole.shape) / sentences) return;
  others.push_back(along == Along::rows ? stack(in_order) : concatenate(in_order));
  flows = std::move(others);
}

}  // namespace

// --- another name

const Op op::identity = {
    .name = "identity",
    .plain = "$1",
    .latex = "$1",
    .cell = R"(of x: x[i,j] because "the same number under another name")",
    .definition = DEFINE_1((x), set(result, x);),
    .moves = true,
    .cost = [](const Use&, std::span<const Shape>) -> Cost { return {}; },
    .gradients = [](const Use&, const Value&, const Value& d, std::span<const Value>) -> Gradients { return {d}; }};

// The same cells with other labels, in the memory of the operand.
const Op op::labelled = {
    .name = "labelled",
    .formula = [](const Use&, std::span<const Formula> operands) { return operands[0]; },
    .cell = R"(of x: x[i,j] because "{source x[i,j]}")",
    .definition = DEFINE_1((x), set(result, x);),
    .frame = [](const Use& use) -> Frame {
      const Frame& x = use.frame(0);
      const Axis& rows = use[setting::axis];
      if (rows.labels && rows.labels->size() != x.shape.rows) {
        fail("{} has {} rows and {} labels: give one for each row", use.operands[0]->title(), x.shape.rows,
             rows.labels->size());
      }
      return {x.shape, rows, x.columns};
    },
    .in_place = true,
    .moves = true,
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {attn::labelled(d, use.frame(0).rows)};
    }};

// --- a part of a matrix

const Op op::columns = {
    .name = "columns",
    .formula = formula_of_part<Along::columns>,
    .cell = "of x: x[i, first + j]",
    .definition = CHECKED_1((x), const std::size_t first = use[setting::first];
                            set(result, view(x, xt::all(), range(first, first + result.shape.columns)));),
    // A kernel: a view of xtensor is copied cell by cell.
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          for (std::size_t i = result.first; i < result.end(); ++i) {
            const std::span<double> cells = result.row(i);
            std::ranges::copy(operands[0].row(i).subspan(use[setting::first], cells.size()), cells.begin());
          }
        },
    .frame = frame_of_part<Along::columns>,
    .needed = [](const Use&, std::size_t, RowRange made) { return made; },
    .moves = true,
    .cost = cost_of_part<Along::columns>,
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value> operands) -> Gradients {
      return {attn::columns_among_zeros(d, use[setting::first], operands[0])};
    }};

const Op op::rows = {
    .name = "rows",
    .formula = formula_of_part<Along::rows>,
    .cell = "of each x: x[first + i, j]",
    .definition =
        CHECKED_ROWS_1((x), set(result, array_view(part(x, use[setting::first] + result.first, result.shape.rows)));),
    // A kernel: its rows may be stored.
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          for (std::size_t i = result.first; i < result.end(); ++i)
            copy_row(operands[0], row_in_whole(use, i), result.row(i));
        },
    .frame = frame_of_part<Along::rows>,
    .needed = [](const Use& use, std::size_t, RowRange made) -> RowRange {
      if (made.count == 0) return {0, 0};
      const std::size_t begin = row_in_whole(use, made.first);
      return {begin, row_in_whole(use, made.first + made.count - 1) + 1 - begin};
    },
    .by_sentence = true,
    .stored_operand = 0,
    .moves = true,
    .cost = cost_of_part<Along::rows>,
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value> operands) -> Gradients {
      return {attn::rows_among_zeros(d, use[setting::first], operands[0])};
    }};

// --- the opposite: the same cells at their places, and zeros elsewhere

const Op op::columns_among_zeros = {
    .name = "columns_among_zeros",
    .formula = formula_among_zeros<Along::columns>,
    .cell = R"(of x:
        j > first and j < first + columns(x) + 1: x[i, j − first];
        0 because "only columns {first + 1} to {first + columns(x)} were used here")",
    .definition = CHECKED_1((x), const std::size_t first = use[setting::first];
                            Numbers whole = xt::zeros<double>({result.shape.rows, result.shape.columns});
                            view(whole, xt::all(), range(first, first + x.shape(1))) = x; set(result, whole);),
    // A kernel: the definition makes the matrix twice.
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          std::ranges::fill(result.all(), 0.0);
          for (std::size_t i = result.first; i < result.end(); ++i)
            std::ranges::copy(operands[0].row(i), result.row(i).subspan(use[setting::first]).begin());
        },
    .frame = frame_among_zeros<Along::columns>,
    .needed = [](const Use&, std::size_t, RowRange made) { return made; },
    .cost = cost_of_result,
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {attn::columns(d, use[setting::first], use.frame(0).shape.columns)};
    }};

const Op op::rows_among_zeros = {
    .name = "rows_among_zeros",
    .formula = formula_among_zeros<Along::rows>,
    .cell = R"(of each x:
        i > first and i < first + rows(x) + 1: x[i − first, j];
        0 because "only rows {first + 1} to {first + rows(x)} were used here")",
    .definition =
        DEFINE_ROWS_1((x), const std::size_t first = use[setting::first]; set(result, everywhere(0.0, result));
                      const std::size_t begin = std::max(result.first, first);
                      const std::size_t end = std::min(result.end(), first + x.shape.rows); if (begin < end)
                          set(part(result, begin, end - begin), array_view(part(x, begin - first, end - begin)));),
    .frame = frame_among_zeros<Along::rows>,
    .needs = Needs::all,
    .by_sentence = true,
    .cost = cost_of_result,
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {attn::rows(d, use[setting::first], use.frame(0).shape.rows / use.frame(0).rows.batch)};
    }};

// --- matrices one after another

// A kernel: concatenation in xtensor takes more than twenty times as long (docs/performance.md).
const Op op::concatenate = {.name = "concatenate",
                            .formula = [](const Use&, std::span<const Formula> operands) -> Formula {
                              const Formula all = listed_formulas(operands, "; ", " ; ");
                              return {"[" + all.plain + "]", "\\left[" + all.latex + "\\right]"};
                            },
                            .cell = "of parts … beside: parts[i,j]",
                            .definition = CHECKED_LIST(Numbers whole = Numbers::from_shape({result.shape.rows, 0});
                                                       for (const Rows& part
                                                            : operands) whole = joined(whole, beside(part, result), 1);
                                                       set(result, whole);),
                            .compute =
                                [](const Use&, Operands operands, RowsToMake result) {
                                  std::size_t first = 0;
                                  for (const Rows& part : operands) {
                                    for (std::size_t i = result.first; i < result.end(); ++i)
                                      std::ranges::copy(part.row(i), result.row(i).subspan(first).begin());
                                    first += part.shape.columns;
                                  }
                                },
                            .frame = frame_of_joined<Along::columns>,
                            .needed = [](const Use&, std::size_t, RowRange made) { return made; },
                            .moves = true,
                            .cost = cost_of_joined,
                            .gradients = gradients_of_joined<Along::columns>};

// A kernel, as concatenate. Of a batch, the parts of one sentence stand after those of another.
const Op op::stack = {
    .name = "stack",
    .formula = [](const Use&, std::span<const Formula> operands) -> Formula {
      const Formula all = listed_formulas(operands, ", ", " \\\\ ");
      return {"rows(" + all.plain + ")", "\\begin{bmatrix}" + all.latex + "\\end{bmatrix}"};
    },
    .cell = "of each parts … below: parts[i,j]",
    .definition = CHECKED_LIST(Numbers whole = Numbers::from_shape({0, result.shape.columns});
                               for (const Rows& part
                                    : operands) whole = joined(whole, array_view(part), 0);
                               set(result, view(whole, range(result.first, result.end()), xt::all()));),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          const std::size_t sentences = use.frame(0).rows.batch;
          std::size_t i = 0;
          for (std::size_t s = 0; s < sentences; ++s) {
            for (const Rows& part : operands) {
              const std::size_t count = part.shape.rows / sentences;
              for (std::size_t j = s * count; j < (s + 1) * count; ++j, ++i) {
                if (i >= result.first && i < result.end()) std::ranges::copy(part.row(j), result.row(i).begin());
              }
            }
          }
        },
    .frame = frame_of_joined<Along::rows>,
    .needs = Needs::all,
    .moves = true,
    .cost = cost_of_joined,
    .gradients = gradients_of_joined<Along::rows>};

// --- other orders

// A kernel: it goes over the matrix in blocks that fit into the cache.
const Op op::transpose = {
    .name = "transpose",
    .plain = "$1!ᵀ",
    .latex = "{$1!}^{\\top}",
    .cell = "of each x: x[j,i]",
    .definition = CHECKED_ROWS_1(
        (x), set(result, view(xt::transpose(array_view(x)), range(result.first, result.end()), xt::all()));),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          const Shape x = use.frame(0).shape;
          const std::size_t sentences = use.frame(0).rows.batch;
          sentence_by_sentence({sentences, x.columns, x.rows / sentences}, result, operands[0], result,
                               [](Rows, Rows those, RowsToMake turned) { transpose_into(those, turned); });
        },
    .frame = [](const Use& use) -> Frame {
      const Frame& x = use.frame(0);
      const std::size_t sentences = x.rows.batch;
      return {
          {x.shape.columns * sentences, x.shape.rows / sentences}, in_batch_of(x.rows, x.columns), rows_of_one(x.rows)};
    },
    .needs = Needs::all,
    .moves = true,
    .gradients = [](const Use&, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {attn::transpose(d)};
    }};

// Rows and columns have no names of their own any more.
const Op op::reshape = {
    .name = "reshape",
    .formula = [](const Use& use, std::span<const Formula> operands) -> Formula {
      const Shape shape = frame_of(op::reshape, use).shape;
      return {fmt::format("reshape({}, {})", operands[0].plain, to_string(shape)),
              fmt::format("\\operatorname{{reshape}}\\left({}, {} \\times {}\\right)", operands[0].latex, shape.rows,
                          shape.columns)};
    },
    .cell = R"(of x: with place = (i − 1) · columns(result) + j:
        x[block(place, columns(x)), within(place, columns(x))])",
    .definition =
        DEFINE_ROWS_1((x), const std::size_t begin = result.first * result.shape.columns - x.first * x.shape.columns;
                      set(result, array_view({x.cells + begin, result.first, result.shape}));),
    .frame = [](const Use& use) -> Frame {
      const Frame& x = use.frame(0);
      const std::size_t columns = use[setting::count], cells = x.shape.rows / x.rows.batch * x.shape.columns;
      if (columns == 0 || cells % columns != 0)
        fail("{} has {} numbers: they do not fill whole rows of {}", use.operands[0]->title(), cells, columns);
      return {{x.shape.cells() / columns, columns}, in_batch_of(x.rows, axis("rows")), axis("columns")};
    },
    .needed = [](const Use& use, std::size_t, RowRange made) -> RowRange {
      const std::size_t theirs = use.frame(0).shape.columns, ours = use[setting::count];
      if (made.count == 0 || theirs == 0) return {0, 0};
      const std::size_t first = made.first * ours / theirs;
      const std::size_t last = ((made.first + made.count) * ours - 1) / theirs;
      return {first, last + 1 - first};
    },
    .moves = true,
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {attn::reshape(d, use.frame(0).shape.columns)};
    }};

// --- what applies them

Value labelled(const Value& x, Axis rows) { return apply(op::labelled, {x}, {{setting::axis, std::move(rows)}}); }
Value columns(const Value& x, std::size_t first, std::size_t count) {
  return apply(op::columns, {x}, {{setting::first, first}, {setting::count, count}});
}
Value rows(const Value& x, std::size_t first, std::size_t count) {
  return apply(op::rows, {x}, {{setting::first, first}, {setting::count, count}});
}
Value columns_among_zeros(const Value& x, std::size_t first, const Value& whole) {
  return apply(op::columns_among_zeros, {x}, {{setting::first, first}, {setting::frame, whole.node().frame}});
}
Value rows_among_zeros(const Value& x, std::size_t first, const Value& whole) {
  return apply(op::rows_among_zeros, {x}, {{setting::first, first}, {setting::frame, whole.node().frame}});
}
Value reshape(const Value& x, std::size_t columns) { return apply(op::reshape, {x}, {{setting::count, columns}}); }
Value transpose(const Value& x) { return apply(op::transpose, {x}); }

// One part alone is itself.
Value concatenate(const std::vector<Value>& parts) {
  return parts.size() == 1 ? parts.front() : apply(op::concatenate, parts);
}
Value concatenate_labelled(const std::vector<Value>& parts) {
  return parts.size() == 1 ? parts.front() : apply(op::concatenate, parts, {{setting::axis, Axis()}});
}
Value stack(const std::vector<Value>& parts) { return parts.size() == 1 ? parts.front() : apply(op::stack, parts); }

std::optional<std::size_t> first_of_slice(const Node& node) {
  const bool is_slice = node.op == &op::rows || node.op == &op::columns;
  return is_slice ? std::optional(*node.find(setting::first)) : std::nullopt;
}

// --- parts among zeros, added up

Value sum_of_flows(const std::vector<Value>& flows) {
  std::vector<Value> joined = flows;
  join_parts(joined, op::columns_among_zeros, Along::columns);
  join_parts(joined, op::rows_among_zeros, Along::rows);
  Value sum = joined.front();
  for (std::size_t i = 1; i < joined.size(); ++i) sum = add(sum, joined[i]);
  return sum;
}

}  // namespace attn
