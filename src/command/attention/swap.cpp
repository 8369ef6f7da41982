#include "command/attention/swap.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attention/identities.hpp"
#include "attention/masks.hpp"
#include "attention/watches.hpp"
#include "command/solve.hpp"
#include "support/error.hpp"
#include "support/list.hpp"
#include "support/number.hpp"
#include "support/parsed.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

struct Pair {
  std::size_t a, b;  // counted from 0
};

Pair parse_places(const std::string& text, std::size_t words) {
  std::vector<std::size_t> places;
  for (const std::string_view piece : pieces_of(text)) {
    if (const std::optional<std::size_t> place = parsed<std::size_t>(piece)) places.push_back(*place);
  }
  if (places.size() != 2 || pieces_of(text).size() != 2) {
    fail("--swap: '{}' is not two positions: write them as 1,2", text);
  }
  for (const std::size_t place : places) {
    if (place < 1 || place > words) {
      fail("--swap: there is no word {}: the words are numbered 1 to {}", place, words);
    }
  }
  if (places[0] == places[1]) fail("--swap: '{}' is one position twice: give two, as in 1,2", text);
  return {places[0] - 1, places[1] - 1};
}

Matrix with_rows_swapped(Matrix matrix, const Pair& pair) {
  std::ranges::swap_ranges(row(matrix, pair.a), row(matrix, pair.b));
  return matrix;
}

Sequence with_words_swapped(Sequence sequence, const Pair& pair) {
  sequence.x = with_rows_swapped(*std::move(sequence.x), pair);
  if (!sequence.tokens.empty()) std::swap(sequence.tokens[pair.a], sequence.tokens[pair.b]);
  return sequence;
}

// Words with the same vector are the same to attention, but for padding, which is known by its name.
bool are_the_same(const Sequence& sequence, const Pair& pair) {
  const auto is_blank = [&](std::size_t i) {
    return !sequence.tokens.empty() && sequence.tokens[i] == blank;
  };
  return std::ranges::equal(row(*sequence.x, pair.a), row(*sequence.x, pair.b)) &&
         is_blank(pair.a) == is_blank(pair.b);
}

class SwapPage {
 public:
  SwapPage(Page& page, Graph& graph, const Pair& pair) : page_(page), graph_(graph), pair_(pair) {}

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
          "Words {} and {} are the same, so the sentence has not changed. The largest difference is {}.",
          pair_.a + 1, pair_.b + 1,
          written_difference(largest_difference(original.matrix(), swapped.matrix()))));
    } else {
      const Matrix back = with_rows_swapped(swapped.matrix(), pair_);
      page_.say(fmt::format(
          "After the rows are put back in the original order, the largest difference is {}. {}",
          written_difference(largest_difference(original.matrix(), back)), what_it_shows(problem)));
    }
    page_.trace.add(original);
    page_.trace.add(swapped);
  }

 private:
  const Node& result_within(const Problem& problem, std::string_view inner) {
    const Graph::Scope scope(graph_, {scope::other, inner});
    evaluate(problem, graph_);
    return last_result(scope.opened());
  }

  // Follows from how outputs are computed, and not from how large the difference is.
  static std::string_view what_it_shows(const Problem& problem) {
    if (problem.positions != "none") return "With positional encoding, the outputs can depend on word order.";
    if (problem.masks_places()) {
      return "The mask belongs to the positions and not to the words, so the outputs can depend on word "
             "order even without positional encoding.";
    }
    const bool given = problem.has(role::q) || problem.has(role::k) || problem.has(role::v);
    if (given) return "Only x is swapped, and not the matrices that are given beside it.";
    return "The outputs are swapped like the words, and nothing else changes: attention by itself does not "
           "see word order.";
  }

  const Node& last_result(const NamedScope* within) const {
    const Node* last = nullptr;
    for (const Node& node : graph_.nodes()) {
      const bool is_result = node.is(role::output) || node.is(role::feed_forward);
      if (is_result && node.operation && lies_within(node.place, within)) last = &node;
    }
    if (!last)
      fail("--swap compares outputs, and there are none: give --x with --wq, --wk and --wv, or --text");
    return *last;
  }

  Page& page_;
  Graph& graph_;
  Pair pair_;
};

}  // namespace

Outcome swap_words(Problem problem, const std::string& places) {
  if (problem.sequences.size() != 1 || !problem.sequences.front().x) {
    fail("--swap swaps two words of one sentence: give one --text, or one --x");
  }
  const Pair pair = parse_places(places, problem.sequences.front().x->shape().rows);
  const std::shared_ptr<Graph> graph = watched_graph();
  const Solved solved{std::make_shared<const Problem>(problem), graph};
  Page page = solved.page({});
  page.head(1, fmt::format("Words {} and {} swapped", pair.a + 1, pair.b + 1));
  const bool knows_order = problem.positions != "none";
  const std::string positions = knows_order ? problem.positions : "sinusoidal";
  SwapPage swap(page, *graph, pair);
  swap.add(problem, "none", "without");
  swap.add(problem, positions, "with");
  compute(*graph);
  return solved.outcome(std::move(page), problem.remarks);
}

}  // namespace attn
