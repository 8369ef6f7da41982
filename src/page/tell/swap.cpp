#include "page/tell/swap.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/attention/masks.hpp"
#include "core/math/difference.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "page/tell/claims.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

Matrix with_rows_swapped(Matrix matrix, const WordPair& pair) {
  std::ranges::swap_ranges(row(matrix, pair.a), row(matrix, pair.b));
  return matrix;
}

Sequence with_words_swapped(Sequence sequence, const WordPair& pair) {
  sequence.x = with_rows_swapped(*std::move(sequence.x), pair);
  if (!sequence.tokens.empty()) std::swap(sequence.tokens[pair.a], sequence.tokens[pair.b]);
  return sequence;
}

// Words with the same vector are the same to attention, but for padding, which is known by its name.
bool are_the_same(const Sequence& sequence, const WordPair& pair) {
  const auto is_blank = [&](std::size_t i) { return !sequence.tokens.empty() && sequence.tokens[i] == blank; };
  return std::ranges::equal(row(*sequence.x, pair.a), row(*sequence.x, pair.b)) && is_blank(pair.a) == is_blank(pair.b);
}

bool has_positions(const Problem& problem) { return problem.positions != "none"; }

bool masks_positions(const Problem& problem) { return !has_positions(problem) && problem.masks_places(); }

bool has_given_vectors(const Problem& problem) {
  const bool given = problem.has(role::q) || problem.has(role::k) || problem.has(role::v);
  return !has_positions(problem) && !masks_positions(problem) && given;
}

bool is_blind_to_order(const Problem& problem) {
  return !has_positions(problem) && !masks_positions(problem) && !has_given_vectors(problem);
}

// What a swap shows follows from how outputs are computed, and not from how large the difference is.
constexpr Claim<Problem> of_swaps[] = {
    {has_positions, "With positional encoding, the outputs can depend on word order."},
    {masks_positions,
     "The mask belongs to the positions and not to the words. Where it treats these positions differently, the outputs can depend on word order even without positional encoding."},
    {has_given_vectors, "Only x is swapped, and not the matrices that are given beside it."},
    {is_blind_to_order,
     "The outputs are swapped like the words, and nothing else changes: attention by itself does not see word order."},
};

class SwapPage {
 public:
  SwapPage(Page& page, Graph& graph, const WordPair& pair) : page_(page), graph_(graph), pair_(pair) {}

  void add(Problem problem, std::string_view kind, std::string_view scope_name) {
    problem.positions = kind;
    const Graph::Scope scope(graph_, {scope::other, scope_name});
    const bool same = are_the_same(problem.sequences.front(), pair_);
    const Node& original = result_within(problem, "original");
    problem.sequences.front() = with_words_swapped(std::move(problem.sequences.front()), pair_);
    const Node& swapped = result_within(problem, "swapped");
    page_.head(2, kind == "none" ? std::string("Without positional encoding")
                                 : fmt::format("With positional encoding: {}", kind));
    page_.say(SideBySide{{table_of(original), table_of(swapped)}});
    if (same) {
      page_.say(fmt::format(
          "Positions {} and {} have the same word, so the sentence has not changed. The largest difference is {}.",
          pair_.a + 1, pair_.b + 1, written_difference(largest_difference(original.matrix(), swapped.matrix()))));
    } else {
      const Matrix back = with_rows_swapped(swapped.matrix(), pair_);
      page_.say(fmt::format("After the rows are put back in the original order, the largest difference is {}. {}",
                            written_difference(largest_difference(original.matrix(), back)),
                            claims_in_words<Problem>(of_swaps, problem)));
    }
    page_.trace.add(original);
    page_.trace.add(swapped);
  }

 private:
  const Node& result_within(const Problem& problem, std::string_view inner) {
    const Graph::Scope scope(graph_, {scope::other, inner});
    add_computation(problem, graph_);
    return last_result(scope.opened());
  }

  const Node& last_result(const NamedScope* within) const {
    const Node* last = nullptr;
    for (const Node& node : graph_.nodes()) {
      const bool is_result = node.is(role::output) || node.is(role::feed_forward);
      if (is_result && node.op && lies_within(node.place, within)) last = &node;
    }
    if (!last) fail("outputs are compared, and there are none: give ‹x› with ‹w_q›, ‹w_k› and ‹w_v›, or ‹text›");
    return *last;
  }

  Page& page_;
  Graph& graph_;
  WordPair pair_;
};

}  // namespace

void add_swap(Page& page, Graph& graph, const Problem& problem, const WordPair& pair) {
  page.head(1, fmt::format("Positions {} and {} swapped", pair.a + 1, pair.b + 1));
  SwapPage swap(page, graph, pair);
  swap.add(problem, "none", "without");
  swap.add(problem, problem.positions != "none" ? problem.positions : "sinusoidal", "with");
}

}  // namespace attn
