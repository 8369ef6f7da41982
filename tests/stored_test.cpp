#include "core/math/stored_matrix.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/graph/run.hpp"
#include "core/math/machine.hpp"
#include "core/math/product.hpp"
#include "core/math/random.hpp"
#include "core/op/backward_pass.hpp"
#include "core/op/operations.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

template <class Word>
void append(std::vector<std::byte>& bytes, Word word) {
  const auto* const first = reinterpret_cast<const std::byte*>(&word);
  bytes.insert(bytes.end(), first, first + sizeof word);
}

// Rounded toward zero: what is written need only be some numbers of the type.
std::uint16_t half_of(double number) {
  if (number == 0.0) return 0;
  int exponent = 0;
  const double significand = std::frexp(std::fabs(number), &exponent);
  const auto sign = static_cast<std::uint16_t>(number < 0.0 ? 0x8000 : 0);
  if (exponent < -13) return static_cast<std::uint16_t>(sign | static_cast<int>(std::ldexp(std::fabs(number), 24)));
  return static_cast<std::uint16_t>(sign | (exponent + 14) << 10 | (static_cast<int>(significand * 2048) - 1024));
}

void write(std::vector<std::byte>& bytes, const StoredType& type, double number) {
  if (&type == &stored_type::float64) append(bytes, number);
  if (&type == &stored_type::float32) append(bytes, static_cast<float>(number));
  if (&type == &stored_type::float16) append(bytes, half_of(number));
  if (&type == &stored_type::bfloat16)
    append(bytes, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(number)) >> 16U));
}

// Numbers of normal distribution, in the bytes of a type, with one byte before them, so that nothing is aligned.
StoredMatrix stored(const StoredType& type, Shape shape, bool is_transposed = false, std::uint32_t seed = 1) {
  const Matrix numbers = RandomSource(random_kind::by_name, seed).vectors({"x", {1, shape.cells()}});
  auto bytes = std::make_shared<std::vector<std::byte>>(1);
  for (std::size_t i = 0; i < shape.cells(); ++i) {
    if (type.block == 1) {
      write(*bytes, type, numbers(0, i));
    } else {
      if (i % type.block == 0) append(*bytes, half_of(0.01 + std::fabs(numbers(0, i)) / 64));
      append(*bytes, static_cast<std::int8_t>(std::clamp(numbers(0, i) * 40, -128.0, 127.0)));
    }
  }
  return {.type = &type,
          .elements = bytes->data() + 1,
          .holder = bytes,
          .shape = shape,
          .is_transposed = is_transposed,
          .line = is_transposed ? shape.rows : shape.columns};
}

const StoredType* const all_types[] = {&stored_type::float64, &stored_type::float32, &stored_type::float16,
                                       &stored_type::bfloat16, &stored_type::q8_0};

Matrix drawn(Shape shape) { return RandomSource(random_kind::by_name, 7).vectors({"x", shape}); }

Rows operand(const StoredMatrix& numbers, bool in_single = false) {
  return {.shape = numbers.shape, .stored = &numbers, .in_single = in_single};
}

Matrix product_with(const Matrix& a, const StoredMatrix& b, bool transposed, bool in_single = false) {
  Matrix result({a.shape().rows, transposed ? b.shape.rows : b.shape.columns});
  (transposed ? product_transposed : product)(rows_of(a), operand(b, in_single), rows_to_make(result));
  return result;
}

Matrix rounded(Matrix matrix) {
  for (double& cell : cells(matrix)) cell = static_cast<double>(static_cast<float>(cell));
  return matrix;
}

class Threads {
 public:
  explicit Threads(std::size_t count) { use_threads(count); }
  ~Threads() { use_threads(0); }
};

bool equal_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace

TEST_CASE("stored numbers are those of their bytes") {
  const auto numbers = [](const StoredType& type, auto... words) {
    std::vector<std::byte> bytes;
    (append(bytes, words), ...);
    std::vector<double> all(sizeof...(words)), one(1);
    type.widen(bytes.data(), all.size(), all.data());
    for (std::size_t i = 0; i < all.size(); ++i) {
      type.widen(bytes.data() + i * type.bytes, 1, one.data());  // eight at a time, or one
      CHECK(equal_bits(one, std::span(all).subspan(i, 1)));
    }
    return all;
  };
  const auto half = [](int bits) { return static_cast<std::uint16_t>(bits); };
  const std::vector<double> halves =
      numbers(stored_type::float16, half(0x3C00), half(0xC000), half(0x3555), half(0x0001), half(0x8000), half(0x7BFF),
              half(0x7C00), half(0xFC00), half(0x7E00), half(0x0400));
  CHECK(halves[0] == 1.0);
  CHECK(halves[1] == -2.0);
  CHECK(halves[2] == 1365.0 / 4096.0);
  CHECK(halves[3] == 0x1p-24);
  CHECK(std::signbit(halves[4]));
  CHECK(halves[5] == 65504.0);
  CHECK(halves[6] == std::numeric_limits<double>::infinity());
  CHECK(halves[7] == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(halves[8]));
  CHECK(halves[9] == 0x1p-14);
  const std::vector<double> brain = numbers(stored_type::bfloat16, half(0x3F80), half(0xC000), half(0x0001),
                                            half(0x7F80), half(0x4049), half(0), half(0x8000), half(0xFF80), half(1));
  CHECK(brain[0] == 1.0);
  CHECK(brain[1] == -2.0);
  CHECK(brain[2] == 0x1p-133);
  CHECK(brain[3] == std::numeric_limits<double>::infinity());
  CHECK(brain[4] == 3.140625);
  const std::vector<double> floats = numbers(stored_type::float32, 0.1F, -3.5F, 1e-45F);
  CHECK(floats == std::vector<double>{static_cast<double>(0.1F), -3.5, static_cast<double>(1e-45F)});
  std::vector<std::byte> block;
  append(block, half(0x3800));  // 0.5
  for (int i = 0; i < 32; ++i) append(block, static_cast<std::int8_t>(i * 8 - 128));
  std::vector<double> of_block(32);
  stored_type::q8_0.widen(block.data(), 32, of_block.data());
  CHECK(of_block[0] == -64.0);
  CHECK(of_block[31] == 60.0);
}

TEST_CASE("a stored matrix has the same numbers one by one, row by row and as cells") {
  for (const StoredType* type : all_types) {
    CAPTURE(type->name);
    for (const bool is_transposed : {false, true}) {
      const StoredMatrix numbers = stored(*type, {64, 32}, is_transposed);
      const Matrix matrix{StoredMatrix(numbers)};
      CHECK_FALSE(matrix.has_cells());
      CHECK(matrix.stored() != nullptr);
      const Matrix copy = matrix;
      std::vector<double> row(32);
      for (std::size_t i = 0; i < 64; ++i) {
        copy_row(operand(numbers), i, row);
        CHECK(equal_bits(row, attn::row(matrix, i)));
        for (std::size_t j = 0; j < 32; ++j) CHECK(numbers.number(i, j) == row[j]);
      }
      CHECK(copy.has_cells());
      CHECK(std::as_const(copy).data() == std::as_const(matrix).data());
      for (std::size_t i = 0; i < 32; ++i) {
        const std::size_t at = is_transposed ? i * 64 : i;
        std::vector<double> one(type->block);
        type->widen(numbers.elements + at / type->block * type->bytes, type->block, one.data());
        CHECK(matrix(0, i) == one[at % type->block]);
      }
    }
  }
}

TEST_CASE("a stored matrix may be a part of the lines of a tensor, and of each line") {
  // Of 12 lines of 96 numbers: those of the second of three heads of two lines each, twice, and the last 64 numbers.
  for (const StoredType* type : all_types) {
    CAPTURE(type->name);
    const StoredMatrix tensor = stored(*type, {12, 96});
    StoredMatrix part = tensor;
    part.shape = {4, 64};
    part.skipped = 32;
    part.lines = {.first = 2, .group = 2, .apart = 6};
    const Matrix all{StoredMatrix(tensor)}, some{StoredMatrix(part)};
    const std::size_t lines[] = {2, 3, 8, 9};
    for (std::size_t i = 0; i < 4; ++i) CHECK(equal_bits(attn::row(some, i), attn::row(all, lines[i]).subspan(32)));
    part.is_transposed = true;
    part.shape = {64, 4};
    const Matrix columns{StoredMatrix(part)};
    CHECK(equal_bits(cells(transposed(columns)), cells(some)));
  }
  CHECK(StoredLines{.first = 3}.step(10) == 1);
  CHECK(StoredLines{.first = 0, .group = 1, .apart = 3}.step(10) == 3);
  CHECK(StoredLines{.first = 0, .group = 2, .apart = 6}.step(2) == 1);
  CHECK(StoredLines{.first = 0, .group = 2, .apart = 6}.step(4) == 0);
}

TEST_CASE("a product with stored numbers is that with their cells") {
  struct Sizes {
    std::size_t m, k, n;
  };
  for (const StoredType* type : all_types) {
    CAPTURE(type->name);
    for (const Sizes& sizes : {Sizes{1, 320, 288}, Sizes{3, 320, 288}, Sizes{64, 288, 576}, Sizes{257, 544, 160}}) {
      const std::size_t m = sizes.m, k = sizes.k, n = sizes.n;
      CAPTURE(m);
      for (const bool is_transposed : {false, true}) {
        CAPTURE(is_transposed);
        for (const bool transposed_product : {false, true}) {
          const StoredMatrix b = stored(*type, transposed_product ? Shape{n, k} : Shape{k, n}, is_transposed);
          const Matrix a = drawn({m, k}), widened{StoredMatrix(b)};
          const Matrix expected = made_by(transposed_product ? product_transposed : product, {m, n}, a, widened);
          CHECK(close(product_with(a, b, transposed_product), expected, 1e-10));
          const Matrix single = product_with(a, b, transposed_product, true);
          CHECK(close(single, expected, 3e-3));
        }
      }
    }
  }
}

TEST_CASE("a row of a product with stored numbers has the same bits however many are made with it") {
  for (const StoredType* type : {&stored_type::float32, &stored_type::bfloat16, &stored_type::q8_0}) {
    CAPTURE(type->name);
    for (const bool is_transposed : {false, true}) {
      const StoredMatrix b = stored(*type, {320, 704}, is_transposed);
      const Matrix a = drawn({513, 320});
      for (const bool in_single : {false, true}) {
        const Matrix once = product_with(a, b, false, in_single);
        for (const std::size_t first : {std::size_t{0}, std::size_t{256}, std::size_t{512}}) {
          Matrix block({std::min<std::size_t>(rows_of_block, 513 - first), 704});
          product(rows_of(a), operand(b, in_single), {block.data(), first, block.shape()});
          for (std::size_t i = 0; i < block.shape().rows; ++i)
            CHECK(equal_bits(row(std::as_const(block), i), row(once, first + i)));
        }
        const Threads three(3);
        CHECK(equal_bits(cells(product_with(a, b, false, in_single)), cells(once)));
        const Matrix one_row = drawn({1, 320});
        const Matrix shared = product_with(one_row, b, false, in_single);
        const Threads one(1);
        CHECK(equal_bits(cells(product_with(one_row, b, false, in_single)), cells(shared)));
      }
    }
  }
}

TEST_CASE("a run multiplies stored numbers, looks them up and goes back through them without making cells") {
  Graph graph;
  const auto input = [&](const Name& name, StoredMatrix numbers) {
    return graph.input(name, std::make_shared<const Matrix>(std::move(numbers)), axis("rows"), axis("columns"));
  };
  const Value table = input(role::e, stored(stored_type::float32, {500, 160}));
  const Value places = input(role::table, stored(stored_type::float16, {512, 160}, false, 3));
  const Value w = input(role::w, stored(stored_type::bfloat16, {160, 480}, true, 2));
  const Value ids = graph.input(role::ids, matrix({{3}, {500}, {1}}), axis("tokens"), axis("id"));
  const Value x = add(embed(ids, table), attn::rows(places, 2, 3));
  const Value y = matmul_transposed(matmul_transposed(matmul(x, w), w), table);
  const Matrix widened_table{StoredMatrix(*table.node().given->stored())},
      widened_places{StoredMatrix(*places.node().given->stored())}, widened_w{StoredMatrix(*w.node().given->stored())};
  Graph other;
  const auto cells_of = [&](const Name& name, const Matrix& matrix) {
    Matrix own(matrix.shape());
    std::ranges::copy(cells(matrix), own.data());
    return other.input(name, std::move(own), axis("rows"), axis("columns"));
  };
  const Value their_table = cells_of(role::e, widened_table), their_places = cells_of(role::table, widened_places),
              their_w = cells_of(role::w, widened_w);
  const Value their_ids = other.input(role::ids, matrix({{3}, {500}, {1}}), axis("tokens"), axis("id"));
  const Value their_x = add(embed(their_ids, their_table), attn::rows(their_places, 2, 3));
  const Value theirs = matmul_transposed(matmul_transposed(matmul(their_x, their_w), their_w), their_table);
  CHECK(equal_bits(cells(x.matrix()), cells(their_x.matrix())));
  CHECK(close(y.matrix(), theirs.matrix(), 1e-8));
  CHECK(graph.run().cell(table.node(), 499, 7) == widened_table(499, 7));
  CHECK(graph.run().row(w.node(), 3) == std::vector<double>(row(widened_w, 3).begin(), row(widened_w, 3).end()));
  for (const Value& value : {table, places, w}) CHECK_FALSE(value.node().given->has_cells());
}

TEST_CASE("what is stored takes nothing in a plan, and may have more cells than a matrix") {
  Graph graph;
  StoredMatrix numbers = stored(stored_type::bfloat16, {1, 64});
  numbers.shape = {std::size_t{1} << 22, 64};  // all of its lines are the first
  numbers.lines = {.first = 0, .group = 1, .apart = 0};
  const Value table =
      graph.input(role::e, std::make_shared<const Matrix>(std::move(numbers)), axis("words"), axis("features"));
  const Value ids = graph.input(role::ids, matrix({{4194304}, {7}}), axis("tokens"), axis("id"));
  const Value x = embed(ids, table);
  CHECK(plan(graph, {&x.node()}).peak_bytes < 4096);
  CHECK(x.matrix()(0, 0) == x.matrix()(1, 0));
  CHECK_FALSE(table.node().given->has_cells());
  CHECK_THROWS_AS(table.matrix().data(), InputError);
}

TEST_CASE("in single precision each result is rounded to float32") {
  const StoredMatrix numbers = stored(stored_type::float32, {320, 288});
  const auto build = [&](Graph& graph) {
    const Value x = graph.input(role::x, rounded(drawn({5, 320})), axis("tokens"), axis("features"));
    const Value w =
        graph.input(role::w, std::make_shared<const Matrix>(StoredMatrix(numbers)), axis("features"), axis("columns"));
    return gelu(softmax(matmul(x, w)));
  };
  Graph single, twice;
  single.run().round_to_single();
  const Value rounded_result = build(single), result = build(twice);
  const Matrix theirs = rounded_result.matrix(), ours = result.matrix();
  CHECK(equal_bits(cells(theirs), cells(rounded(theirs))));
  CHECK_FALSE(equal_bits(cells(theirs), cells(ours)));
  CHECK(close(theirs, ours, 1e-5));
  for (const Node& node : single.nodes()) CHECK(equal_bits(cells(node.matrix()), cells(rounded(node.matrix()))));
}
