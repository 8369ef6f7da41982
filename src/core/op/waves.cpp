#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/math/elementary_functions.hpp"
#include "core/op/definition.hpp"

// Vectors of places: waves of positions. Kernels: our own sine, cosine and powers have the same bits on every
// processor.

namespace attn {

namespace {

// Which of the frequencies a column has, counted from 0.
std::size_t interleaved_frequency(std::size_t column, std::size_t) { return column / 2; }
std::size_t concatenated_frequency(std::size_t column, std::size_t size) {
  const std::size_t sines = (size + 1) / 2;
  return column < sines ? column : column - sines;
}

constexpr std::array layout_table = {
    SinusoidLayout{"interleaved", "sine and cosine of one frequency beside each other", interleaved_frequency,
                   [](std::size_t column, std::size_t) { return column % 2 == 0; },
                   [](std::size_t) { return std::string("2j+1, 2j+2"); }},
    SinusoidLayout{"concatenated", "all sines, then all cosines", concatenated_frequency,
                   [](std::size_t column, std::size_t size) { return column < (size + 1) / 2; },
                   [](std::size_t size) { return fmt::format("j+1, {}+j", (size + 1) / 2 + 1); }},
};

// base^(2j/d)
double divisor_of_waves(double base, double frequency, std::size_t size) {
  return elementary::power(base, 2.0 * frequency / static_cast<double>(size));
}

#ifdef ATTN_WITH_DEFINITIONS
// The positions of the rows, as a column. Sentences of so many rows have the same.
Numbers column_of_positions(const Use& use, RowsToMake result, std::size_t sentence) {
  Numbers positions = view(index_row(result.shape.rows), xt::all(), newaxis());
  for (std::size_t i = 0; i < result.shape.rows; ++i)
    positions(i, 0) = static_cast<double>(use[setting::positions][(result.first + i) % sentence]);
  return positions;
}

// i / base^(2j/d) for each row's position i and each frequency j.
template <class Frequencies>
Numbers angles_of(const Use& use, const Frequencies& frequencies, RowsToMake result) {
  const auto d = static_cast<double>(result.shape.columns);
  return column_of_positions(use, result, use[setting::frame].shape.rows) /
         xt::pow(use[setting::base], 2.0 * frequencies / d);
}

// A list of a setting as a row.
Numbers as_row(const std::vector<double>& list) {
  const Shape shape{1, list.size()};
  return array_view({list.data(), 0, shape});
}
#endif

// How far apart the columns are that are turned together, and how many columns are turned at all.
struct TurnedPair {
  explicit TurnedPair(const Use& use) : apart(use[setting::apart]), columns(use[setting::turned]) {}
  std::size_t first_of(std::size_t pair) const { return pair / apart * 2 * apart + pair % apart; }
  std::size_t apart, columns;
};

// base^(2j/d), times what the waves are slowed by, for each pair.
double divisor_of_turn(const Use& use, std::size_t pair) {
  return divisor_of_waves(use[setting::base], static_cast<double>(pair), use[setting::turned]) *
         use[setting::slower][pair];
}

// By the angles of the positions, or by the opposite ones, of which the sine has the opposite sign.
template <int sign>
void turn(const Use& use, Operands operands, RowsToMake result) {
  // The sentences of a batch have the same positions.
  const std::size_t sentence = use.frame(0).shape.rows / use.frame(0).rows.batch;
  const TurnedPair turned(use);
  const RowPositions& positions = use[setting::positions];
  for (std::size_t pair = 0; pair < turned.columns / 2; ++pair) {
    const double divisor = divisor_of_turn(use, pair);
    const std::size_t j = turned.first_of(pair), other = j + turned.apart;
    const std::size_t end = std::min(result.end(), result.first + sentence);
    for (std::size_t first = result.first; first < end; ++first) {
      const double angle = static_cast<double>(positions[first % sentence]) / divisor;
      const double sine_of_angle = sign * elementary::sin(angle), cosine_of_angle = elementary::cos(angle);
      for (std::size_t i = first; i < result.end(); i += sentence) {
        const double x = operands[0](i, j), y = operands[0](i, other);
        result.row(i)[j] = x * cosine_of_angle - y * sine_of_angle;
        result.row(i)[other] = x * sine_of_angle + y * cosine_of_angle;
      }
    }
  }
  for (std::size_t i = result.first; i < result.end(); ++i) {
    for (std::size_t j = turned.columns; j < result.shape.columns; ++j) result.row(i)[j] = operands[0](i, j);
  }
}

Frame frame_of_turned(const Use& use) {
  const std::size_t turned = use[setting::turned];
  const Frame& frame = use.frame(0);
  if (turned > frame.shape.columns) {
    fail("{} is {}: rotary positions turn {} of the columns, and there are not so many", use.operands[0]->title(),
         to_string(frame.shape), turned);
  }
  if (turned % 2 == 0) return frame;
  if (turned == frame.shape.columns) {
    fail("{} is {}: rotary positions turn pairs of columns: choose heads of an even size", use.operands[0]->title(),
         to_string(frame.shape));
  }
  fail("{} is {}: rotary positions turn pairs of columns, and {} are an odd number", use.operands[0]->title(),
       to_string(frame.shape), turned);
}

bool is_slowed(const Use& use) {
  return std::ranges::any_of(use[setting::slower], [](double factor) { return factor != 1.0; });
}

template <int sign>
Formula formula_of_turned(const Use& use, std::span<const Formula> operands) {
  const Formula x = within(Binding::whole, operands[0]);
  const TurnedPair turned(use);
  const bool is_part = turned.columns < use.frame(0).shape.columns;
  const std::string size = is_part ? fmt::format("{}", turned.columns) : "d";
  const std::string pair = turned.apart == 1 ? "2j+1, 2j+2" : fmt::format("j+1, j+{}", turned.apart + 1);
  const bool slowed = is_slowed(use);
  return {fmt::format("{}, columns {} turned by {}i / {}{}^(2j/{}){}", x.plain, pair, sign < 0 ? "−" : "",
                      slowed ? "(s_j · " : "", use[setting::base], size, slowed ? ")" : ""),
          fmt::format("R_{{{}i / {}{}^{{2j/{}}}{}}} \\, {}", sign < 0 ? "-" : "", slowed ? "(s_j \\cdot " : "",
                      use[setting::base], size, slowed ? ")" : "", x.latex),
          Binding::words};
}

#ifdef ATTN_WITH_DEFINITIONS
// In this definition and in the next one, columns that are turned together are neighbors, or half of them apart.
Numbers turned_by(const Use& use, const Numbers& x, RowsToMake result, double sign) {
  const TurnedPair turned(use);
  const std::size_t d = turned.columns, end = turned.apart == 1 ? d : turned.apart, step = turned.apart == 1 ? 2 : 1;
  const Numbers pairs = view(index_row(d / 2), newaxis(), xt::all());
  const Numbers divisors =
      xt::pow(use[setting::base], 2.0 * pairs / static_cast<double>(d)) * as_row(use[setting::slower]);
  const std::size_t sentence = use.frame(0).shape.rows / use.frame(0).rows.batch;
  const Numbers angles = sign * column_of_positions(use, result, sentence) / divisors;
  const Numbers first = view(x, xt::all(), range(0, end, step));
  const Numbers second = view(x, xt::all(), range(turned.apart, turned.apart + end, step));
  Numbers all = x;
  view(all, xt::all(), range(0, end, step)) = first * xt::cos(angles) - second * xt::sin(angles);
  view(all, xt::all(), range(turned.apart, turned.apart + end, step)) =
      first * xt::sin(angles) + second * xt::cos(angles);
  return all;
}
#endif

OpSettings settings_of_turn(const Value& x, const Waves& waves) {
  const std::size_t turned = waves.turned ? waves.turned : x.shape().columns;
  std::vector<double> slower = waves.slower;
  if (slower.empty()) slower.assign(turned / 2, 1.0);
  if (slower.size() != turned / 2) throw std::logic_error("waves are slowed by another number of factors");
  return {{setting::positions, waves.positions.of_rows(sentences_of(x).rows)},
          {setting::base, waves.base},
          {setting::apart, waves.in_halves && turned > 1 ? turned / 2 : 1},
          {setting::turned, turned},
          {setting::slower, std::move(slower)}};
}

}  // namespace

const Op op::sinusoid = {
    .name = "sinusoid",
    .formula = [](const Use& use, std::span<const Formula>) -> Formula {
      const std::string columns = use[setting::layout]->columns(use[setting::frame].shape.columns);
      const double base = use[setting::base];
      return {fmt::format("sin, cos(i / {}^(2j/d)) in columns {}", base, columns),
              fmt::format("\\sin, \\cos\\left(\\frac{{i}}{{{}^{{2j/d}}}}\\right) \\text{{ in columns }} {}", base,
                          columns)};
    },
    .cell = R"(with position = positions[i], f = frequencies[j], n = columns(result),
          angle stands for position / '{base}^({2 · f}/{n})':
        is_sine[j] = 1: sin(angle) because "positions count from 0";
        cos(angle) because "positions count from 0")",
    .definition = CHECKED_LIST(const Numbers angles = angles_of(use, as_row(use[setting::frequencies]), result);
                               const Numbers is_sine = as_row(use[setting::is_sine]);
                               set(result, xt::where(xt::not_equal(is_sine, 0.0), xt::sin(angles), xt::cos(angles)));),
    .compute =
        [](const Use& use, Operands, RowsToMake result) {
          const RowPositions& positions = use[setting::positions];
          for (std::size_t j = 0; j < result.shape.columns; ++j) {
            const double divisor =
                divisor_of_waves(use[setting::base], use[setting::frequencies][j], result.shape.columns);
            const Function& wave = use[setting::is_sine][j] != 0.0 ? sine : cosine;
            for (std::size_t i = result.first; i < result.end(); ++i)
              result.row(i)[j] = wave.evaluate(static_cast<double>(positions[i]) / divisor);
          }
        },
    .frame = [](const Use& use) -> Frame { return use[setting::frame]; },
    .cost = [](const Use& use, std::span<const Shape>) -> Cost {
      return {.element_operations = use[setting::frame].shape.cells()};
    },
    .bounds = {-1.0, 1.0, "Sine and cosine lie between −1 and 1."},
    .gradients = [](const Use&, const Value&, const Value&, std::span<const Value>) -> Gradients { return {}; }};

// (x + iy) e^(iθ) = x cos θ − y sin θ + i (x sin θ + y cos θ)
const Op op::rotate = {
    .name = "rotate",
    .formula = formula_of_turned<1>,
    .cell =
        R"(of each x: with position = positions[i], f = (block(j, 2 · apart) − 1) · apart + within(j, apart) − 1,
          angle stands for (slower[f + 1] = 1: position / '{base}^({2 · f}/{turned})';
            position / ('{base}^({2 · f}/{turned})' · slower[f + 1])):
        j > turned: x[i,j] because "only the first {turned} columns are turned";
        within(j, 2 · apart) < apart + 1: x[i,j] · cos(angle) − x[i,j + apart] · sin(angle)
          because "positions count from 0";
        x[i,j − apart] · sin(angle) + x[i,j] · cos(angle) because "positions count from 0")",
    .definition = CHECKED_1((x), set(result, turned_by(use, x, result, 1.0));),
    .compute = turn<1>,
    .frame = frame_of_turned,
    .passes = 3,  // the angle, two products and their sum
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {apply(op::rotate_back, {d}, use.settings)};
    }};

const Op op::rotate_back = {
    .name = "rotate_back",
    .formula = formula_of_turned<-1>,
    .cell =
        R"(of each x: with position = positions[i], f = (block(j, 2 · apart) − 1) · apart + within(j, apart) − 1,
          angle stands for (slower[f + 1] = 1: position / '{base}^({2 · f}/{turned})';
            position / ('{base}^({2 · f}/{turned})' · slower[f + 1])):
        j > turned: x[i,j] because "only the first {turned} columns are turned";
        within(j, 2 · apart) < apart + 1: x[i,j] · cos(angle) + x[i,j + apart] · sin(angle)
          because "positions count from 0";
        x[i,j] · cos(angle) − x[i,j − apart] · sin(angle) because "positions count from 0")",
    .definition = CHECKED_1((x), set(result, turned_by(use, x, result, -1.0));),
    .compute = turn<-1>,
    .frame = frame_of_turned,
    .passes = 3,
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {apply(op::rotate, {d}, use.settings)};
    }};

std::span<const SinusoidLayout> sinusoid_layouts() { return layout_table; }

std::optional<Waves> waves_of(const Node& node) {
  const RowPositions* const positions = node.find(setting::positions);
  const double* const base = node.find(setting::base);
  if (!positions || !base) return std::nullopt;
  Waves waves{.positions = *positions, .base = *base};
  if (const std::size_t* const turned = node.find(setting::turned)) {
    const std::vector<double>& slower = *node.find(setting::slower);
    waves.in_halves = *node.find(setting::apart) > 1;
    if (*turned < node.frame.shape.columns) waves.turned = *turned;
    if (std::ranges::any_of(slower, [](double factor) { return factor != 1.0; })) waves.slower = slower;
  }
  return waves;
}

Value sinusoid(Graph& graph, const SinusoidLayout& layout, Frame frame, Waves waves) {
  const std::size_t size = frame.shape.columns;
  std::vector<double> frequencies, is_sine;
  for (std::size_t j = 0; j < size; ++j) {
    frequencies.push_back(static_cast<double>(layout.frequency(j, size)));
    is_sine.push_back(layout.is_sine(j, size) ? 1.0 : 0.0);
  }
  return graph.apply(op::sinusoid, {},
                     {{setting::positions, waves.positions.of_rows(frame.shape.rows)},
                      {setting::base, waves.base},
                      {setting::frequencies, std::move(frequencies)},
                      {setting::is_sine, std::move(is_sine)},
                      {setting::layout, &layout},
                      {setting::frame, std::move(frame)}});
}

Value rotate(const Value& x, Waves waves) { return apply(op::rotate, {x}, settings_of_turn(x, waves)); }
Value rotate_back(const Value& x, Waves waves) { return apply(op::rotate_back, {x}, settings_of_turn(x, waves)); }

}  // namespace attn
