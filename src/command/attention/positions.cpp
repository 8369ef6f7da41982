#include <fmt/format.h>

#include <algorithm>

#include "command/computed_problem.hpp"
#include "core/attention/positional_encoding.hpp"
#include "core/attention/watches.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/model_file.hpp"
#include "data/problem/problem.hpp"
#include "data/problem/word_positions.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

constexpr std::size_t usual_places = 32;

// Places without words are a matrix of zeros: as many as are asked for, as have a position, or as were learned.
Matrix places_alone(const OptionValues& options, std::optional<std::size_t> n) {
  std::size_t d = options.count(option::d_model).value_or(8);
  std::size_t count = n.value_or(usual_places);
  for (const Option* of_words : {&option::position_ids, &option::parents}) {
    if (!n && options.has(*of_words)) count = options.matrix(*of_words).matrix.size();
  }
  if (options.text(option::positions) == "learned" && options.has(option::position_table)) {
    const Shape table = options.matrix(option::position_table).matrix.shape();
    d = table.columns;
    if (!n && !options.has(option::position_ids)) count = table.rows;
  }
  if (d > most_cells / count) fail("--d-model {}: {} positions of that size are too many; give fewer", d, count);
  return Matrix({count, d}, 0.0);
}

// What is encoded: the words that are asked for, or places alone.
OptionValues requested_places(const Arguments& arguments) {
  const std::optional<std::size_t> n = arguments.count(option::n);
  const bool has_problem = arguments.has(option::example) || arguments.has(option::problem) || arguments.has_input();
  OptionValues options = arguments;
  if (has_problem) options = requested_options(arguments);
  if (!options.has(option::positions) && !options.has(option::position_table))
    options.put(option::positions, std::string("sinusoidal"));
  if (!has_problem) {
    options.put(option::x, MatrixFile{.matrix = places_alone(options, n)});
  } else if (n) {
    fail("--n {} and a sentence are both given, and the sentence has its own length: give one of them", *n);
  } else if (!options.has(option::x) && !options.has(option::text)) {
    fail("attn positions needs words, and there are none: give --text or --x, or --n for positions without words");
  }
  return options;
}

// A learned table that nobody gave. Of distances no trained model here has a table to show.
void say_what_is_random(Page& page, const Problem& problem, const PositionKind& kind) {
  if (std::ranges::find(problem.drawn, role::position_table.leaf) == problem.drawn.end()) return;
  const auto has_table = [](const Transformer& model) { return model.recipe.positions->table_shape != nullptr; };
  page.say(fmt::format(
      "The numbers of position_table are random ({}), not trained.{}", problem.drawn_from,
      kind.of_embeddings ? pointer_to_trained("transformer", has_table, " --only '*_positions.table'") : ""));
}

constexpr std::size_t most_position_pairs = 256, most_curves = 6;

// "1,2,5": columns, counted from 1.
std::vector<std::size_t> parse_columns(std::string_view list, std::size_t count) {
  std::vector<std::size_t> columns;
  for (const std::string_view word : split_at(list)) {
    const std::optional<std::size_t> column = parse_number<std::size_t>(word);
    if (!column || *column < 1 || *column > count) {
      fail("--columns: '{}' is no column: the columns are numbered 1 to {}; write them as 1,2", word, count);
    }
    columns.push_back(*column - 1);
  }
  if (columns.size() > most_curves) {
    fail("--columns: {} columns are too many: give at most {}, as in 1,2", columns.size(), most_curves);
  }
  return columns;
}

std::vector<double> places(const RowPositions& positions, std::size_t n) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < n; ++i) numbers.push_back(static_cast<double>(positions[i]));
  return numbers;
}

Plot curves(const Matrix& matrix, const RowPositions& positions, const std::vector<std::size_t>& columns) {
  Plot plot{.title = "Columns over the positions", .x_name = "position", .series = {}};
  for (const std::size_t column : columns) {
    Series series{fmt::format("column {}", column + 1), places(positions, matrix.shape().rows), {}};
    for (std::size_t i = 0; i < matrix.shape().rows; ++i) series.y.push_back(matrix(i, column));
    plot.series.push_back(std::move(series));
  }
  return plot;
}

// Sine and cosine of one frequency make a pair of columns; a last sine alone has none.
std::string what_diagonals_show(const PositionKind& kind, std::size_t columns, const Matrix& dots) {
  const bool in_pairs = !kind.table_shape && columns % 2 == 0;
  if (in_pairs) {
    return "Without rounding, all entries of a diagonal are equal: how similar two position vectors are depends only on their distance.";
  }
  double spread = 0.0;
  for (std::size_t i = 0; i + 1 < dots.shape().rows; ++i) {
    for (std::size_t j = 0; j + 1 < dots.shape().rows; ++j)
      spread = std::max(spread, std::abs(dots(i, j) - dots(i + 1, j + 1)));
  }
  return fmt::format(
      "Along a diagonal the distance is the same. "
      "The largest difference between neighboring entries there is {}.",
      written_difference(spread));
}

// How similar two positions are. Of sinusoids in pairs of columns it depends on their distance alone.
void add_dot_products(Page& page, const PositionKind& kind, const Value& positions, const RowPositions& where) {
  const std::size_t n = std::min(positions.shape().rows, most_position_pairs);
  const Value some = n == positions.shape().rows ? positions : rows(positions, 0, n);
  const Value dots = name(role::dot_products, matmul_transposed(some, some));
  page.trace.add(dots.node());
  page.head(2, "Dot products of the positions");
  page.say(formula_block(dots.node()));
  if (dots.shape().rows > 1 && where.follow_each_other())
    page.say(what_diagonals_show(kind, positions.shape().columns, dots.matrix()));
  page.say(HeatMap{table_of(dots.node())});
  Plot plot{.title = fmt::format("Dot products with position {}", where.first()), .x_name = "position", .series = {}};
  Series series{"dot product", places(where, n), {}};
  for (std::size_t j = 0; j < n; ++j) series.y.push_back(dots.matrix()(0, j));
  plot.series.push_back(std::move(series));
  page.say(std::move(plot));
}

// Which position the first row has.
std::string first_in_words(const RowPositions& positions) {
  if (positions.first() == 0) return "The first position is i = 0, so its sines are 0 and its cosines 1.";
  return fmt::format("Positions count from 0, and the first row has i = {}.", positions.first());
}

void add_absolute(Page& page, const PositionKind& kind, const Value& x, const Places& where,
                  const Arguments& arguments) {
  const Value positions = name(role::positions, kind.of_embeddings(x, where));
  const RowPositions& rows = where.waves.positions;
  const std::size_t d = positions.shape().columns;
  std::vector<std::size_t> chosen;
  if (const auto columns = arguments.text(option::columns)) {
    chosen = parse_columns(*columns, d);
  } else {
    for (std::size_t column = 0; column < std::min<std::size_t>(d, 4); ++column) chosen.push_back(column);
  }
  if (!kind.table_shape) {
    page.say(text(fmt::format(
        "d = {} is the number of columns. j counts the frequencies from 0; a sine and a cosine column share each{}. {}",
        d, d % 2 == 1 ? ", and with an odd d the last sine column has no cosine" : "", first_in_words(rows))));
  }
  add_results(page, {&positions.node()});
  page.trace.add(positions.node());
  page.head(2, "As a heat map");
  page.say(HeatMap{table_of(positions.node())});
  page.head(2, "As curves");
  page.say(curves(positions.matrix(), rows, chosen));
  add_dot_products(page, kind, positions, rows);
}

// What is added to the scores of every pair, or with vectors the vectors themselves.
void add_relative(Page& page, const PositionKind& kind, const Value& x, const Value& table,
                  const QueryKeyPositions& apart) {
  page.trace.add(table.node());
  page.say(table_of(table.node()));
  if (kind.of_scaled_scores) {
    const Value relative = kind.of_scaled_scores(x, x, table, apart);
    add_results(page, {&relative.node()});
    page.trace.add(relative.node());
    page.say(HeatMap{table_of(relative.node())});
  }
  page.say(text("To see how they change the scores: ",
                code(fmt::format("attn walk --text 'a b c' --positions {}{}", kind.name,
                                 kind.is_in_tree ? " --parents '2 0 2'" : "")),
                "."));
}

// "-2", "-1", "0", "1", "2"; in a tree "0", "1", "2".
Axis distances(const PositionKind& kind, std::size_t count) {
  std::vector<std::string> labels;
  const auto first = kind.is_in_tree ? 0 : -static_cast<long>(count / 2);
  for (std::size_t i = 0; i < count; ++i) labels.push_back(std::to_string(first + static_cast<long>(i)));
  return axis("distances", std::move(labels));
}

void check_shown(const PositionKind& kind, const Arguments& arguments, const Problem& problem) {
  if (kind.of_embeddings) return;
  if (!kind.table_shape) {
    fail(
        "attn positions shows vectors and tables, and {0} positions have none{1}: see attn walk --text 'a b c' --positions {0}",
        kind.name, kind.of_queries_and_keys ? ", as they turn queries and keys" : "");
  }
  if (arguments.has(option::columns))
    fail("--columns chooses curves, and --positions {} has none: leave it out", kind.name);
  const std::size_t count = problem.sequences.front().x->shape().rows;
  if (count > most_position_pairs)
    fail("--n {}: distances are shown between at most {} positions; give fewer", count, most_position_pairs);
  const Matrix& table = *problem.find(role::position_table);
  const std::size_t distances = kind.of_scores ? table.shape().rows : table.shape().columns;
  if (distances > 2 * most_position_pairs + 1) {
    fail("position_table is {}: distances are shown only up to {}; give a smaller table", to_string(table.shape()),
         most_position_pairs);
  }
}

// The rows of a learned table are places, or the vectors of distances; or its columns are distances.
Value table_input(Graph& graph, const PositionKind& kind, const Matrix& table) {
  const bool has_rows = kind.of_scores && (kind.is_in_tree || table.shape().rows % 2 == 1);
  const bool has_columns = kind.of_scaled_scores && (kind.is_in_tree || table.shape().columns % 2 == 1);
  return graph.input(role::position_table, table, has_rows ? distances(kind, table.shape().rows) : axis("positions"),
                     has_columns ? distances(kind, table.shape().columns) : axis("features"));
}

}  // namespace

Answer run_positions(const Command&, const Arguments& arguments) {
  Problem problem = build_problem(requested_places(arguments));
  const PositionKind& kind = look_up(position_kinds(), problem.positions, "kind of positions");
  if (kind.name == "none") {
    fail("attn positions shows a positional encoding: give --positions sinusoidal, or another kind");
  }
  if (problem.sequences.size() != 1) {
    fail("attn positions shows the positions of one sentence: give one --text or one --x");
  }
  check_shown(kind, arguments, problem);
  const Sequence& sequence = problem.sequences.front();

  const std::shared_ptr<Graph> graph = watched_graph();
  Page page;
  const Axis words = axis("positions", sequence.tokens);
  require_labels("x", words, sequence.x->shape().rows);
  const Value x = graph->input(role::x, *sequence.x, words, axis("features"));
  std::optional<Value> table;
  if (kind.table_shape) table = table_input(*graph, kind, *problem.find(role::position_table));
  page.head(1, fmt::format("Positions: {}", kind.name));
  page.say(text(fmt::format("Positional encoding: {}.", kind.summary)));
  say_what_is_random(page, problem, kind);
  const std::size_t n = x.shape().rows;
  if (kind.of_embeddings) {
    const Waves waves{.positions = positions_of_x(problem, 0, n), .base = problem.base};
    add_absolute(page, kind, x, {.waves = waves, .table = table}, arguments);
  } else {
    add_relative(page, kind, x, *table, positions_of_attention(problem, 0, n, n));
  }
  compute_watched(*graph);
  return {.page = std::move(page), .warnings = problem.remarks, .computation = {graph}};
}

}  // namespace attn
