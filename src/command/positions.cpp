#include "attention/positions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "command/solve.hpp"
#include "data/draw.hpp"
#include "page/describe.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

constexpr std::size_t usual_places = 32, most_places = 100000, most_pairs = 256;

struct PositionsPage {
  Page page;
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();

  void say(Block block) { page.blocks.push_back(std::move(block)); }
};

// "1,2,5": columns, counted from 1.
std::vector<std::size_t> parse_columns(std::string_view list, std::size_t count) {
  std::vector<std::size_t> columns;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view word = list.substr(0, comma);
    std::size_t column = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), column);
    if (error != std::errc() || end != word.data() + word.size() || column < 1 || column > count) {
      fail("--columns: '{}' is no column: they are numbered from 1 to {}, as in 1,2", word, count);
    }
    columns.push_back(column - 1);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  if (columns.empty() || columns.size() > 6) fail("--columns: give from 1 to 6 columns, as in 1,2");
  return columns;
}

std::vector<double> places(std::size_t n) {
  std::vector<double> result;
  for (std::size_t i = 1; i <= n; ++i) result.push_back(static_cast<double>(i));
  return result;
}

Plot curves(const Matrix& matrix, const std::vector<std::size_t>& columns) {
  Plot plot{.title = "columns over the places", .x_name = "place", .series = {}};
  for (const std::size_t column : columns) {
    Series series{fmt::format("column {}", column + 1), places(matrix.shape()[0]), {}};
    for (std::size_t i = 0; i < matrix.shape()[0]; ++i) series.y.push_back(matrix(i, column));
    plot.series.push_back(std::move(series));
  }
  return plot;
}

// How alike two places are. Of sinusoids it depends on their distance alone.
void add_dot_products(PositionsPage& result, const Value& positions) {
  const std::size_t n = std::min(positions.shape().rows, most_pairs);
  const Value some = n == positions.shape().rows ? positions : rows(positions, 0, n);
  const Value dots = name("dot_products", matmul_transposed(some, some));
  result.page.trace.push_back(&dots.node());
  result.say(Heading{2, text("Dot products between places")});
  result.say(formula_block(dots.node()));
  double spread = 0.0;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    for (std::size_t j = 0; j + 1 < n; ++j) {
      spread = std::max(spread, std::abs(dots.matrix()(i, j) - dots.matrix()(i + 1, j + 1)));
    }
  }
  constexpr double rounding = 1e-9;
  result.say(Prose{
      text(spread < rounding
               ? "Along every diagonal they are the same: how alike two places are depends on their distance "
                 "alone."
               : fmt::format(
                     "Along a diagonal, where the distance is the same, neighbours differ by up to {:.3g}.",
                     spread))});
  result.say(HeatMap{table_of(dots.node())});
  Plot plot{.title = "of the first place with every other", .x_name = "place", .series = {}};
  Series series{"dot product", places(n), {}};
  for (std::size_t j = 0; j < n; ++j) series.y.push_back(dots.matrix()(0, j));
  plot.series.push_back(std::move(series));
  result.say(std::move(plot));
}

void add_absolute(PositionsPage& result, const PositionKind& kind, const Value& x,
                  const std::optional<Value>& table, const Arguments& arguments) {
  const Value positions = name("positions", kind.of_embeddings(x, {.table = table}));
  const std::size_t d = positions.shape().columns;
  std::vector<std::size_t> chosen;
  if (const auto columns = arguments.text("columns")) {
    chosen = parse_columns(*columns, d);
  } else {
    for (std::size_t column = 0; column < std::min<std::size_t>(d, 4); ++column) chosen.push_back(column);
  }
  add_results(result.page, {&positions.node()});
  result.page.trace.push_back(&positions.node());
  result.say(Heading{2, text("As a heat map")});
  result.say(HeatMap{table_of(positions.node())});
  result.say(Heading{2, text("As curves")});
  result.say(curves(positions.matrix(), chosen));
  add_dot_products(result, positions);
}

// What is added to the scores of every pair, or with vectors the vectors themselves.
void add_relative(PositionsPage& result, const PositionKind& kind, const Value& x, const Value& table) {
  result.page.trace.push_back(&table.node());
  result.say(table_of(table.node()));
  if (kind.of_scaled_scores) {
    const Value relative = kind.of_scaled_scores(x, x, table);
    add_results(result.page, {&relative.node()});
    result.page.trace.push_back(&relative.node());
    result.say(HeatMap{table_of(relative.node())});
  }
  result.say(Prose{
      text("They meet the scores in ", code(fmt::format("attn scores --positions {}", kind.name)), ".")});
}

}  // namespace

Outcome run_positions(const Command&, const Arguments& arguments) {
  const Request& request = arguments.request;
  Problem problem;
  problem.positions = request.has("positions") ? request.get<std::string>("positions") : "sinusoidal";
  const PositionKind& kind = look_up(position_kinds(), problem.positions, "kind of positions");
  const Request given = requested(arguments);
  const bool has_problem = arguments.has("example") || arguments.has("problem") || request.has_source();
  if (has_problem) problem = build(given);
  problem.positions = kind.name;
  if (request.has("position_table")) {
    problem.matrices.insert_or_assign("position_table",
                                      request.get<std::vector<MatrixFile>>("position_table").front().matrix);
  }
  if (request.has("max_distance")) problem.max_distance = request.get<std::size_t>("max_distance");
  const std::optional<std::size_t> n = arguments.count("n", 1, most_places);
  Sequence& sequence = problem.sequences.front();
  if (!sequence.x) {
    std::size_t d = request.has("d_model") ? request.get<std::size_t>("d_model") : 8;
    std::size_t count = n.value_or(usual_places);
    if (const auto table = problem.matrices.find("position_table");
        table != problem.matrices.end() && kind.of_embeddings) {
      d = table->second.shape()[1];
      if (!n) count = table->second.shape()[0];
    }
    if (d > most_cells / count) fail("--d-model {}: {} places of that size are too many", d, count);
    sequence.x = make_matrix({count, d}, 0.0);
  } else if (n) {
    fail("--n {}: the sentence has a length of its own; give one of them", *n);
  }
  if (kind.name == "none")
    fail("attn positions shows a kind of positions: give --positions sinusoidal, or another");
  if (kind.of_scaled_scores && sequence.x->shape()[0] > most_pairs) {
    fail("--n {}: distances are shown between up to {} places", sequence.x->shape()[0], most_pairs);
  }
  draw_position_table(request, problem);

  PositionsPage result;
  Graph& graph = *result.graph;
  result.page.graph = result.graph;
  const Value x = graph.input("x", *sequence.x, axis("places", sequence.tokens), axis("features"));
  std::optional<Value> table;
  if (kind.table_shape) {
    table = graph.input("position_table", problem.matrices.at("position_table"), axis("positions"),
                        axis(kind.of_embeddings ? "features" : "distances"));
  }
  result.say(Heading{1, text(fmt::format("Positions: {}", kind.name))});
  result.say(Prose{text(fmt::format("How order is told: {}.", kind.summary))});
  if (kind.of_embeddings) {
    add_absolute(result, kind, x, table, arguments);
  } else {
    add_relative(result, kind, x, *table);
  }
  return {std::move(result.page), problem.remarks};
}

}  // namespace attn
