#include <doctest/doctest.h>
#include <fmt/format.h>

#include "commands_tried.hpp"
#include "core/math/random.hpp"
#include "testing.hpp"

// Random numbers as a reader meets them: a word and a matrix have their own, whatever else is said.

using namespace attn;

namespace {

Matrix matrix_in(const std::string& line, const Name& name) {
  return computation_of("attn " + line)->at(name).matrix();
}

// The rows of a matrix at some places, from 1.
Matrix rows_at(const Matrix& matrix, std::initializer_list<std::size_t> places) {
  Matrix rows({places.size(), matrix.shape().columns});
  std::size_t i = 0;
  for (const std::size_t place : places) std::ranges::copy(row(matrix, place - 1), row(rows, i++).begin());
  return rows;
}

}  // namespace

TEST_CASE("a word has one random vector in every sentence, and a matrix is the same whatever is said") {
  const auto one = computation_of("attn walk --text 'dog bites man' --heads 2");
  const auto other = computation_of("attn walk --text 'the man bites man' --heads 2");
  const Matrix &x = one->at("x").matrix(), &y = other->at("x").matrix();
  CHECK(same(rows_at(x, {3, 2, 3}), rows_at(y, {2, 3, 4})));
  CHECK(!same(rows_at(x, {1}), rows_at(y, {1})));
  for (const std::string_view name : {"w_q", "w_k", "w_v", "w_o"})
    CHECK(same(one->at(name).matrix(), other->at(name).matrix()));
  CHECK(!same(one->at("w_q").matrix(), one->at("w_k").matrix()));
  // Another number of heads, a feed-forward layer and a kind of positions draw more, and nothing else.
  const auto more = computation_of("attn walk --text 'dog bites man' --heads 4 --layers 2 --positions relative-bias");
  for (const std::string_view name : {"w_q", "w_v"}) CHECK(same(one->at(name).matrix(), more->at(name).matrix()));
  // Another seed is another drawing of all.
  const auto third = computation_of("attn walk --text 'dog bites man' --heads 2 --seed 2");
  for (const std::string_view name : {"x", "w_q"}) CHECK(!same(one->at(name).matrix(), third->at(name).matrix()));
}

TEST_CASE("sentences beside each other share the vectors of their words, and padding has zeros") {
  const auto batch = computation_of("attn walk --text 'dog bites man' --text 'man <blank> sleeps'");
  const Matrix alone = matrix_in("walk --text 'man sleeps dog'", role::x);
  const Matrix &first = batch->at("sentence.1.x").matrix(), &second = batch->at("sentence.2.x").matrix();
  CHECK(same(rows_at(first, {3, 1}), rows_at(alone, {1, 3})));
  CHECK(same(rows_at(second, {1, 3}), rows_at(alone, {1, 2})));
  CHECK(same(rows_at(second, {2}), Matrix({1, alone.shape().columns}, 0.0)));
}

TEST_CASE("a sentence as its own memory has the vectors that it has itself") {
  const auto crossed = computation_of("attn walk --text 'a b c' --memory-text 'a b c'");
  CHECK(same(crossed->at("x").matrix(), crossed->at("memory").matrix()));
  CHECK(same(crossed->at("output").matrix(), matrix_in("walk --text 'a b c'", role::output)));
  // Of another size it begins with the same numbers.
  const Matrix small = matrix_in("walk --text 'a b c' --memory-text 'b a' --d-memory 3", role::memory);
  REQUIRE(small.shape() == Shape{2, 3});
  CHECK(std::ranges::equal(row(small, 0), row(crossed->at("x").matrix(), 1).first(3)));
}

TEST_CASE("learned positions stay the same if a sentence is longer") {
  for (const std::string_view kind : {"learned", "relative-bias", "relative-vectors"}) {
    CAPTURE(kind);
    const std::string positions = fmt::format(" --positions {}", kind);
    const Matrix few = matrix_in("walk --text 'a b'" + positions, role::position_table);
    const Matrix many = matrix_in("walk --text 'a b c d'" + positions, role::position_table);
    REQUIRE(few.shape().columns == many.shape().columns);
    CHECK(std::ranges::equal(cells(few), cells(many).first(few.size())));
  }
}

TEST_CASE("a random model has one vector for each word of a side, one column of the output for each, and its maps") {
  const auto one = computation_of("attn transformer --source 'dog bites man' --target 'Hund Mann'");
  const auto other = computation_of("attn transformer --source 'man bites the dog' --target 'Mann Hund'");
  const Matrix &e = one->at("source_embedding.e").matrix(), &f = other->at("source_embedding.e").matrix();
  CHECK(same(rows_at(e, {1, 2, 3}), rows_at(f, {4, 2, 1})));
  for (const std::string_view name : {"encoder.1.self_attention.w_q", "decoder.2.feed_forward.w_1"})
    CHECK(same(one->at(name).matrix(), other->at(name).matrix()));
  CHECK(!same(one->at("encoder.1.self_attention.w_q").matrix(), one->at("encoder.2.self_attention.w_q").matrix()));
  // <start>, <end>, then the words in the order of the target.
  const Matrix &w = one->at("output.w").matrix(), &turned = other->at("output.w").matrix();
  for (std::size_t i = 0; i < w.shape().rows; ++i) {
    CHECK(w(i, 1) == turned(i, 1));
    CHECK(w(i, 2) == turned(i, 3));
    CHECK(w(i, 3) == turned(i, 2));
  }
  // The two sides are two tables.
  const auto both = computation_of("attn transformer --source 'a b' --target 'a b'");
  CHECK(!same(rows_at(both->at("source_embedding.e").matrix(), {1}),
              rows_at(both->at("target_embedding.e").matrix(), {3})));
}

TEST_CASE("a random translator has one vector for each word") {
  const auto one = computation_of("attn align --seed 3 --source 'one two' --target 'eins'");
  const auto other = computation_of("attn align --seed 3 --source 'two one three' --target 'drei eins'");
  CHECK(same(rows_at(one->at("encoder.e").matrix(), {1, 2}), rows_at(other->at("encoder.e").matrix(), {2, 1})));
  CHECK(same(one->at("encoder.w_xh").matrix(), other->at("encoder.w_xh").matrix()));
}

TEST_CASE("NumPy's numbers come in the order in which they are drawn") {
  const auto graph = computation_of("attn walk --text 'b a b' --d-model 2 --random numpy:0");
  Generator generator(0);
  const auto next = [&](Shape shape) { return filled(shape, [&] { return uniform(generator); }); };
  const Matrix words = next({2, 2});
  CHECK(same(graph->at("x").matrix(), rows_at(words, {1, 2, 1})));
  CHECK(same(graph->at("w_q").matrix(), next({2, 2})));
  CHECK(same(graph->at("w_k").matrix(), next({2, 2})));
  CHECK(same(graph->at("w_v").matrix(), next({2, 2})));
  CHECK(!same(graph->at("x").matrix(), matrix_in("walk --text 'a b a' --d-model 2 --random numpy:1", role::x)));
  CHECK(same(rows_at(words, {1, 2}), matrix_in("walk --text 'a b' --d-model 2 --random numpy:0", role::x)));
}

TEST_CASE("two sentences of the same words in another order are other computations") {
  const ProcessResult finished = run_attn({"diff", "walk --text 'dog bites man'", "walk --text 'man bites dog'"});
  CHECK(finished.code == 1);
  check_lacks(finished.out, "matrices are equal");
  // Attention alone does not know the order of the words: each word has the same output in both sentences.
  const Matrix one = matrix_in("walk --text 'dog bites man'", role::output);
  CHECK(close(rows_at(one, {3, 2, 1}), matrix_in("walk --text 'man bites dog'", role::output), 1e-12));
}

TEST_CASE("what a patch brings from another sentence changes what follows") {
  for (const std::string other : {"c b a", "x y z"}) {
    const std::string said =
        accepted({"what-if", "walk", "--text", "a b c", "--patch", "v", "--patch-text", other}).out;
    check_lacks(said, "No number changes");
    check_has(said, "v has the numbers of the sentence '" + other + "'");
  }
  check_has(accepted({"what-if", "walk", "--text", "a b c", "--patch", "v", "--patch-text", "a b c"}).out,
            "No number changes");
}
