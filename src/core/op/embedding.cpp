#include "core/math/stored_matrix.hpp"
#include "core/op/definition.hpp"

// Vectors of words: rows of a table that ids stand for, counted from 1. Kernels: every id is checked as it is read.

namespace attn {

namespace {

IdsOf ids_of_rows(const Use& use, std::size_t count) {
  return {*use.operands[0], use, [](const Use& of) { return of[setting::table]; }, "rows", count};
}

#ifdef ATTN_WITH_DEFINITIONS
std::vector<std::size_t> places_of_ids(const ArrayBeside& ids) {
  std::vector<std::size_t> places;
  for (const double id : ids) places.push_back(place_of(id));
  return places;
}
#endif

}  // namespace

const Op op::embed = {
    .name = "embed",
    .plain = "rows $1! of $2!",
    .latex = "{$2!}_{$1!,\\,\\cdot}",
    .binding = Binding::words,
    .cell = R"(of ids, table: with id = ids[i,1]: table[id, j]
        because "{ids[i,1]} is {id}: the vector is row {id} of {table}")",
    .definition = CHECKED_ROWS_2((ids, table), set(result, gathered(table, places_of_ids(beside(ids, result))));),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          const auto title = [](const Use& of) { return of.operands[1]->title(); };
          const IdsOf ids{*use.operands[0], use, title, "rows", use.frame(1).shape.rows};
          for (std::size_t i = result.first; i < result.end(); ++i)
            copy_row(operands[1], ids.place(operands[0], i), result.row(i));
        },
    .frame = [](const Use& use) -> Frame {
      const Frame &ids = use.frame(0), &table = use.frame(1);
      if (ids.shape.columns != 1) {
        fail("{} is {}: ids are one column, with one number for each word", use.operands[0]->title(),
             to_string(ids.shape));
      }
      return {{ids.shape.rows, table.shape.columns}, ids.rows, table.columns};
    },
    .needs = Needs::all_of_second,
    .stored_operand = 1,
    .moves = true,
    .cost = [](const Use&, std::span<const Shape> operands) -> Cost {
      return {.element_operations = operands[0].rows * operands[1].columns};
    },
    .gradients = [](const Use&, const Value&, const Value& d, std::span<const Value> operands) -> Gradients {
      return {std::nullopt, attn::add_rows_by_id(operands[0], d, operands[1])};
    }};

// Operands: the ids and d.
const Op op::add_rows_by_id = {
    .name = "add_rows_by_id",
    .plain = "rows of $2! added up by $1!",
    .latex = "\\sum_{k: \\, {$1!}_{k} = i} {$2!}_{k,\\,\\cdot}",
    .binding = Binding::words,
    .cell = R"(of ids, d:
        all(k = 1 to rows(ids): ids[k,1] ≠ i): 0 because "no word has the id {i}";
        sum(k = 1 to rows(ids) where ids[k,1] = i: d[k,j])
          because "the id {i} is that of {list k = 1 to rows(ids) where ids[k,1] = i: row k of ids}")",
    .definition =
        CHECKED_ROWS_2((ids, d), const auto first = static_cast<double>(result.first + 1);
                       const Numbers those = view(index_row(result.shape.rows) + first, xt::all(), newaxis());
                       const Numbers is_of = xt::cast<double>(xt::equal(those, xt::transpose(array_view(ids))));
                       set(result, sum_of_last(view(is_of, xt::all(), newaxis(), xt::all()) *
                                               view(xt::transpose(array_view(d)), newaxis(), xt::all(), xt::all())));),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          const IdsOf ids = ids_of_rows(use, use[setting::frame].shape.rows);
          std::ranges::fill(result.all(), 0.0);
          for (std::size_t i = 0; i < operands[0].shape.rows; ++i) {
            const std::size_t place = ids.place(operands[0], i);
            if (place >= result.first && place < result.end()) attn::add(result.row(place), operands[1].row(i));
          }
        },
    .frame = [](const Use& use) -> Frame {
      const Shape ids = use.frame(0).shape, d = use.frame(1).shape, table = use[setting::frame].shape;
      if (d != Shape{ids.rows, table.columns}) {
        fail("{} is {}: it must have a row of {} numbers for each of {} ids", use.operands[1]->title(), to_string(d),
             table.columns, ids.rows);
      }
      return use[setting::frame];
    },
    .needs = Needs::all,
    .cost = [](const Use&, std::span<const Shape> operands) -> Cost {
      return {.element_operations = operands[1].cells()};
    },
    .gradients = [](const Use&, const Value&, const Value& d, std::span<const Value> operands) -> Gradients {
      return {std::nullopt, attn::embed(operands[0], d)};
    }};

const Op op::one_hot = {
    .name = "one_hot",
    .plain = "one_hot($1)",
    .latex = "\\operatorname{onehot}\\left($1\\right)",
    .cell = R"(of ids: with id = ids[i,1]: (j = id: 1; 0)
        because "{ids[i,1]} is {id}: only column {id} of its row is 1")",
    .definition =
        CHECKED_1((ids), set(result, xt::cast<double>(xt::equal(index_row(result.shape.columns) + 1.0, ids)));),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          const IdsOf ids = ids_of_rows(use, use[setting::count]);
          std::ranges::fill(result.all(), 0.0);
          for (std::size_t i = result.first; i < result.end(); ++i) result.row(i)[ids.place(operands[0], i)] = 1.0;
        },
    .frame = [](const Use& use) -> Frame {
      const Frame& ids = use.frame(0);
      return {{ids.shape.rows, use[setting::count]}, ids.rows, use[setting::axis]};
    },
    .cost = [](const Use& use, std::span<const Shape> operands) -> Cost {
      return {.element_operations = operands[0].rows * use[setting::count]};
    },
    .gradients = [](const Use&, const Value&, const Value&, std::span<const Value>) -> Gradients {
      return {std::nullopt};
    }};

Value embed(const Value& ids, const Value& table) { return apply(op::embed, {ids, table}); }
Value add_rows_by_id(const Value& ids, const Value& d, const Value& table) {
  return apply(op::add_rows_by_id, {ids, d},
               {{setting::table, table.node().title()}, {setting::frame, table.node().frame}});
}
Value one_hot(const Value& ids, const Value& table) {
  return apply(op::one_hot, {ids},
               {{setting::table, table.node().title()},
                {setting::count, table.shape().rows},
                {setting::axis, table.node().frame.rows}});
}

}  // namespace attn
