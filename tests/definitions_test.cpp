#include <array>
#include <cmath>
#include <limits>
#include <regex>
#include <tuple>

#include "core/op/operations.hpp"
#include "operation_samples.hpp"
#include "source_files.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

std::vector<Rows> operands_of(const Node& node) {
  std::vector<Rows> operands;
  for (const Node* operand : node.operands) operands.push_back(rows_of(operand->matrix()));
  return operands;
}

// Whether the numbers are the same; or nearly so, measured by their own size.
bool agree(Rows ours, Rows theirs, bool exactly) {
  for (std::size_t i = ours.first; i < ours.end(); ++i) {
    for (std::size_t j = 0; j < ours.shape.columns; ++j) {
      const double a = ours(i, j), b = theirs(i, j);
      const double tolerance = exactly ? 0.0 : 1e-12 * std::max(1.0, std::fabs(b));
      if (!close(a, b, tolerance)) return false;
    }
  }
  return true;
}

// What the definition of an operation makes of some matrices.
template <class Apply, class... Matrices>
Matrix defined(const Apply& apply, const Matrices&... matrices) {
  Graph graph;
  int count = 0;
  const std::array<Value, sizeof...(matrices)> operands{
      graph.input(name_from_text(fmt::format("x{}", ++count)), Matrix(matrices), axis("rows"), axis("columns"))...};
  const Value value = std::apply(apply, operands);
  Matrix result(value.shape());
  value.node().op->definition.compute(value.node().use(), operands_of(value.node()), rows_to_make(result));
  return result;
}

// Where a source holds a reduction that is not computed at once, or an expression.
std::vector<std::string> lazy_reductions(const std::string& source) {
  static const std::regex lazy(
      R"re(keep_dims|xt::(?:sum|mean|amax|amin|prod|variance|stddev|norm_\w+)\(|auto&* \w+ = xt::)re");
  std::vector<std::string> found;
  for (std::sregex_iterator one(source.begin(), source.end(), lazy), end; one != end; ++one) {
    found.push_back(one->str());
  }
  return found;
}

// Operations of a source that have a kernel beside a definition of the program, or none beside one of tests alone.
std::vector<std::string> wrongly_defined(const std::string& source) {
  static const std::regex begin(R"(\nconst Op op::(\w+) = )"), kernel(R"(\n *\.compute =)");
  std::vector<std::string> found;
  for (std::sregex_iterator row(source.begin(), source.end(), begin), end; row != end; ++row) {
    const std::sregex_iterator next = std::next(row);
    const std::string text(row->suffix().first, next == end ? source.end() : (*next)[0].first);
    const bool for_tests = text.find("CHECKED_") != std::string::npos;
    const bool for_all = text.find("DEFINE_") != std::string::npos;
    if (for_tests == for_all || for_tests != std::regex_search(text, kernel)) found.push_back(row->str(1));
  }
  return found;
}

constexpr SampleSizes several_sizes[] = {
    {1, 1, 1}, {1, 5, 7}, {5, 1, 1}, {6, 2, 1}, {1, 3, 40}, {8, 8, 8}, {17, 5, 23}, {193, 3, 11}, {400, 7, 2},
};

}  // namespace

TEST_CASE("every operation computes what its definition says, whatever the shapes") {
  for (const OperationSample& sample : operation_samples()) {
    for (std::uint32_t seed = 1; const SampleSizes& sizes : several_sizes) {
      CAPTURE(sample.name);
      CAPTURE(sizes.m);
      CAPTURE(sizes.n);
      Graph graph;
      Samples from(graph, sizes, seed++);
      const Value value = sample.apply(from);
      Matrix defined(value.shape());
      value.node().op->definition.compute(value.node().use(), operands_of(value.node()), rows_to_make(defined));
      const bool is_what_runs = !value.node().op->compute;
      CHECK(agree(rows_of(value.matrix()), rows_of(defined), is_what_runs));
    }
  }
}

TEST_CASE("a definition makes some rows as it makes all") {
  for (const OperationSample& sample : operation_samples()) {
    CAPTURE(sample.name);
    Graph graph;
    Samples from(graph, {9, 4, 6});
    const Value value = sample.apply(from);
    const std::vector<Rows> operands = operands_of(value.node());
    const std::size_t first = std::min<std::size_t>(2, value.shape().rows - 1);
    const std::size_t count = std::min<std::size_t>(3, value.shape().rows - first);
    Matrix all(value.shape()), some({count, value.shape().columns});
    const Compute define = value.node().op->definition.compute;
    define(value.node().use(), operands, rows_to_make(all));
    const RowsToMake block{some.data(), first, some.shape()};
    define(value.node().use(), operands, block);
    for (std::size_t i = block.first; i < block.end(); ++i) {
      CHECK(std::ranges::equal(Rows(block).row(i), row(all, i)));
    }
  }
}

TEST_CASE("a definition gives the numbers worked out by hand") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Matrix scores = matrix({{0, std::log(3.0)}, {-infinity, -infinity}, {-infinity, 7}});
  CHECK(close(defined(softmax, scores), matrix({{0.25, 0.75}, {0, 0}, {0, 1}}), 1e-15));
  const Matrix sums = matrix({{1, 3, 0}, {0.1, 0.2, -0.3}});
  CHECK(close(defined(normalize, sums), matrix({{0.25, 0.75, 0}, {0, 0, 0}}), 1e-15));
  CHECK(same(defined(largest, matrix({{1, 5, 5}, {2, 1, 0}})), matrix({{0, 1, 0}, {1, 0, 0}})));
  CHECK(same(defined(half_squared_norms, matrix({{3, 4}})), matrix({{12.5}})));
  CHECK(close(defined(unit_rows, matrix({{3e200, 4e200}, {-3e-200, 4e-200}, {0, 0}})),
              matrix({{0.6, 0.8}, {-0.6, 0.8}, {0, 0}}), 1e-15));
  CHECK(same(defined([](const Value& value) { return uniform(value); }, Matrix({2, 4})), Matrix({2, 4}, 0.25)));
  CHECK(same(defined(row_means, matrix({{1, 2, 6}, {-1, 1, 0}})), matrix({{3}, {0}})));
  CHECK(same(defined(matmul, matrix({{1, 2}}), matrix({{3}, {4}})), matrix({{11}})));
}

TEST_CASE("a definition is for tests alone where a kernel runs, and only there") {
  std::size_t rows = 0;
  for (const SourceFile& file : source_files("src/core/op")) {
    CAPTURE(file.path);
    CHECK(wrongly_defined(file.text) == std::vector<std::string>{});
    for (std::size_t at = 0; (at = file.text.find("\nconst Op op::", at)) != std::string::npos; ++at) ++rows;
  }
  CHECK(rows > 60);
}

TEST_CASE("a row that is defined for the wrong program is found") {
  const std::string kernel = "    .compute = [](const Use&, Operands, RowsToMake) {},\n";
  const auto row = [](const std::string& name, const std::string& rest) {
    return "\nconst Op op::" + name + " = {\n" + rest;
  };
  const std::string defined = "    .definition = DEFINE_1((x), set(result, x);),\n";
  const std::string checked = "    .definition = CHECKED_1((x), set(result, x);),\n";
  const std::string right = row("a", defined) + row("b", checked + kernel) + row("c", defined);
  CHECK(wrongly_defined(right).empty());
  CHECK(wrongly_defined(right + row("d", defined + kernel) + right) == std::vector<std::string>{"d"});
  CHECK(wrongly_defined(right + row("e", checked) + right) == std::vector<std::string>{"e"});
  CHECK(wrongly_defined(row("f", kernel)) == std::vector<std::string>{"f"});
}

TEST_CASE("reductions of xtensor are computed at once, by the functions of one header") {
  std::size_t users = 0;
  for (const SourceFile& file : source_files("src")) {
    if (file.path == "src/core/math/xtensor.hpp") continue;
    users += file.text.find("xt::") != std::string::npos;
    CAPTURE(file.path);
    CHECK(lazy_reductions(file.text) == std::vector<std::string>{});
  }
  CHECK(users > 0);
}

TEST_CASE("a lazy reduction is found") {
  CHECK(lazy_reductions("const auto e = xt::exp(x);").size() == 1);
  CHECK(lazy_reductions("set(y, x / xt::sum(x, {1}, xt::keep_dims));").size() == 2);
  CHECK(lazy_reductions("set(y, x - xt::amax(x, {1}));").size() == 1);
  CHECK(lazy_reductions("const Numbers sums = sum_of_rows(x);").empty());
}
