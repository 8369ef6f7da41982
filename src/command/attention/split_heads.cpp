#include <fmt/format.h>

#include <algorithm>

#include "command/computed_problem.hpp"
#include "core/attention/score.hpp"
#include "core/attention/watches.hpp"
#include "core/math/difference.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "page/tell/describe.hpp"

namespace attn {
namespace {

std::string label_of_row(const Value& x, std::size_t i) { return x.node().frame.rows.label(i); }

// Rows in another order, with other labels.  [n, d] -> [rows.size(), d]
Matrix chosen_rows(const Matrix& from, const std::vector<std::size_t>& order) {
  Matrix result({order.size(), from.shape().columns});
  for (std::size_t r = 0; r < order.size(); ++r) std::ranges::copy(row(from, order[r]), row(result, r).begin());
  return result;
}

// Row i·heads + g and row g·n + i exchanged: the transpose of the axes of words and heads.
std::vector<std::size_t> by_heads(std::size_t n, std::size_t heads) {
  std::vector<std::size_t> order;
  for (std::size_t g = 0; g < heads; ++g) {
    for (std::size_t i = 0; i < n; ++i) order.push_back(i * heads + g);
  }
  return order;
}

// The same numbers in the same order, as a matrix of another shape.
Matrix reshaped(const Matrix& from, Shape shape) {
  Matrix result(shape);
  std::ranges::copy(cells(from), cells(result).begin());
  return result;
}

// Queries, keys or values as rows of one head each.
struct Pieces {
  Matrix by_word;  // piece g of word i in row i·heads + g
  Matrix by_head;  // in row g·n + i

  Pieces(const Matrix& x, std::size_t heads)
      : by_word(reshaped(x, {x.shape().rows * heads, x.shape().columns / heads})),
        by_head(chosen_rows(by_word, by_heads(x.shape().rows, heads))) {}
};

// Scaled dot-product attention of one block of rows.
Matrix attended(Graph& graph, const Matrix& q, const Matrix& k, const Matrix& v) {
  const auto input = [&](const Role& role, const Matrix& matrix) {
    return graph.input(role, matrix, axis("tokens"), axis("features"));
  };
  const Value of_q = input(role::q, q), of_k = input(role::k, k), of_v = input(role::v, v);
  const std::optional<Scalar> root = divisor("sqrt-dk", {.d_k = k.shape().columns});
  return matmul(softmax(divide(matmul_transposed(of_q, of_k), *root)), of_v).matrix();
}

Matrix block(const Matrix& x, std::size_t index, std::size_t size) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < size; ++i) order.push_back(index * size + i);
  return chosen_rows(x, order);
}

// The outputs of all heads, block below block.
Matrix of_blocks(const Matrix& q, const Matrix& k, const Matrix& v, std::size_t heads) {
  const std::size_t n = q.shape().rows / heads, n_k = k.shape().rows / heads, d_v = v.shape().columns;
  Matrix outputs({n * heads, d_v});
  for (std::size_t g = 0; g < heads; ++g) {
    Graph graph(keep_nothing());
    const Matrix output = attended(graph, block(q, g, n), block(k, g, n_k), block(v, g, n_k));
    for (std::size_t i = 0; i < n; ++i) std::ranges::copy(row(output, i), row(outputs, g * n + i).begin());
  }
  return outputs;
}

Matrix some_columns(const Matrix& x, std::size_t first, std::size_t count) {
  Matrix result({x.shape().rows, count});
  for (std::size_t i = 0; i < x.shape().rows; ++i)
    std::ranges::copy(row(x, i).subspan(first, count), row(result, i).begin());
  return result;
}

// One head after the other, with its own columns.
Matrix in_a_loop(const Matrix& q, const Matrix& k, const Matrix& v, std::size_t heads) {
  const std::size_t d_k = q.shape().columns / heads, d_v = v.shape().columns / heads;
  Matrix outputs({q.shape().rows, v.shape().columns});
  for (std::size_t g = 0; g < heads; ++g) {
    Graph graph(keep_nothing());
    const Matrix output =
        attended(graph, some_columns(q, g * d_k, d_k), some_columns(k, g * d_k, d_k), some_columns(v, g * d_v, d_v));
    for (std::size_t i = 0; i < output.shape().rows; ++i)
      std::ranges::copy(row(output, i), row(outputs, i).begin() + static_cast<std::ptrdiff_t>(g * d_v));
  }
  return outputs;
}

class SplitHeads {
 public:
  SplitHeads(Page& page, Graph& graph, std::size_t heads)
      : page_(page),
        graph_(graph),
        heads_(heads),
        q_(whole(role::q)),
        k_(whole(role::k)),
        v_(whole(role::v)),
        n_(q_.shape().rows),
        d_k_(q_.shape().columns / heads),
        of_q_(q_.matrix(), heads),
        of_k_(k_.matrix(), heads),
        of_v_(v_.matrix(), heads) {}

  void add() {
    page_.say(fmt::format(
        "A loop takes the columns of one head after the other. Libraries compute all heads at once instead: "
        "they rearrange q, k and v, so that each head is a block of rows, and multiply all blocks in one call. "
        "Here q has {} and {} of size {}, so {} columns.",
        count_of(n_, "row"), count_of(heads_, "head"), d_k_, heads_ * d_k_));
    page_.trace.add(q_.node());
    page_.say(table_of(q_.node()));
    std::vector<std::string> pieces, blocks;
    for (std::size_t r = 0; r < n_ * heads_; ++r)
      pieces.push_back(fmt::format("{}, piece {}", label_of_row(q_, r / heads_), r % heads_ + 1));
    for (std::size_t r = 0; r < n_ * heads_; ++r)
      blocks.push_back(fmt::format("head {}: {}", r / n_ + 1, label_of_row(q_, r % n_)));
    page_.head(2, "Reshape");
    page_.say(
        fmt::format("[{}, {}] becomes [{}, {}, {}]: each row is cut into {}, one for each head. "
                    "No number moves in memory. The table has a row for each piece.",
                    n_, heads_ * d_k_, n_, heads_, d_k_, count_of(heads_, "piece")));
    show("q_reshaped", of_q_.by_word, pieces);
    page_.head(2, "Transpose");
    page_.say(
        fmt::format("[{}, {}, {}] becomes [{}, {}, {}]: the axes of words and heads are exchanged. "
                    "Now the rows of one head are together.",
                    n_, heads_, d_k_, heads_, n_, d_k_));
    show("q_transposed", of_q_.by_head, blocks);
    add_comparison();
    // With one head, or one word, the pieces are in the same order both times.
    if (heads_ > 1 && n_ > 1) add_wrong(pieces);
  }

 private:
  Value whole(const Role& role) const {
    const Node* node = graph_.find(role);
    if (node) return Value(*node);
    fail(
        "attn split-heads needs the queries, keys and values of one sentence: give --text, --x with --wq, --wk and --wv, or --q, --k and --v");
  }

  void show(std::string name, Matrix matrix, std::vector<std::string> labels) {
    const Value value = graph_.input(Name{role::other, std::move(name)}, std::move(matrix),
                                     axis("rows", std::move(labels)), axis("features"));
    page_.trace.add(value.node());
    page_.say(table_of(value.node()));
  }

  std::vector<std::string> words() const {
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < n_; ++i) labels.push_back(label_of_row(q_, i));
    return labels;
  }

  // What the blocks' outputs are when all steps are taken back: words as rows again.
  Matrix as_words(const Matrix& pieces) const { return reshaped(pieces, {n_, v_.shape().columns}); }

  void add_comparison() {
    page_.head(2, "All heads at once and in a loop");
    page_.say(
        "Each block of rows attends by scaled dot-product attention, without mask and positions. "
        "The outputs are transposed and reshaped back: the pieces of each word are beside each other again, as after a loop over the heads with concatenated outputs.");
    const Matrix outputs = of_blocks(of_q_.by_head, of_k_.by_head, of_v_.by_head, heads_);
    const Matrix at_once = as_words(chosen_rows(outputs, by_heads(heads_, n_)));
    loop_ = in_a_loop(q_.matrix(), k_.matrix(), v_.matrix(), heads_);
    show("at_once", at_once, words());
    show("in_a_loop", loop_, words());
    page_.say(fmt::format("The largest difference is {}.", written_difference(largest_difference(at_once, loop_))));
  }

  void add_wrong(std::vector<std::string> labels) {
    page_.head(2, "The wrong reshape");
    page_.say(fmt::format(
        "[{}, {}] reshaped to [{}, {}, {}] at once, without the transpose: the shape is right, so no library reports an error. "
        "But the pieces stay in the order of the words. The labels say which piece each head gets as a row:",
        n_, heads_ * d_k_, heads_, n_, d_k_));
    for (std::size_t r = 0; r < labels.size(); ++r) labels[r] = fmt::format("head {}: {}", r / n_ + 1, labels[r]);
    show("q_wrong", of_q_.by_word, std::move(labels));
    page_.say("Attention on these blocks, reshaped back in the same wrong way:");
    const Matrix wrong = as_words(of_blocks(of_q_.by_word, of_k_.by_word, of_v_.by_word, heads_));
    show("wrong", wrong, words());
    page_.say(
        fmt::format("The largest difference to the loop is {}.", written_difference(largest_difference(wrong, loop_))));
    constexpr std::size_t most = 8;
    for (std::size_t g = 0; g < std::min(heads_, most); ++g) say_words_of(g);
  }

  // Which words' numbers a head has where it should have those of all words.
  void say_words_of(std::size_t head) {
    const std::size_t first = head * n_ / heads_, last = ((head + 1) * n_ - 1) / heads_;
    const std::string of_first = fmt::format("\"{}\"", label_of_row(q_, first)),
                      of_last = fmt::format("\"{}\"", label_of_row(q_, last));
    page_.say(fmt::format("Head {} has pieces of {} of {} as queries: {}.", head + 1, last - first + 1,
                          count_of(n_, "word"), first == last ? of_first : fmt::format("{} to {}", of_first, of_last)));
  }

  Page& page_;
  Graph& graph_;
  std::size_t heads_;
  Value q_, k_, v_;
  std::size_t n_, d_k_;
  Pieces of_q_, of_k_, of_v_;
  Matrix loop_;
};

}  // namespace

Answer run_split_heads(const Command&, const Arguments& arguments) {
  auto problem = std::make_shared<const Problem>(problem_of(arguments));
  if (problem->sequences.size() != 1 || problem->layers != 1)
    fail("attn split-heads works on one sentence and one layer: give one --text or one --x, and --layers 1");
  if (problem->all_heads().of_keys != problem->heads)
    fail("attn split-heads splits q, k and v among the same number of heads: leave out --kv-heads");
  const std::shared_ptr<Graph> graph = watched_graph();
  add_computation(*problem, *graph, Extent::projections);
  Page page;
  page.head(1, "Reshaping for parallel heads");
  SplitHeads(page, *graph, problem->heads).add();
  compute_watched(*graph);
  return {.page = std::move(page), .warnings = problem->remarks, .computation = {graph, problem}};
}

}  // namespace attn
