#include <fmt/format.h>

#include <algorithm>

#include "command/computed_problem.hpp"
#include "core/math/difference.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "data/problem/problem.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

// The different words in the order in which they first come, the vector of each, and every word's number
// among them.
struct DifferentWords {
  std::vector<std::string> words;
  Matrix vectors;  // [vocabulary, d_model]
  Matrix ids;      // [n, 1], counted from 1
};

// The sentences of a batch one after another.
Sequence one_sequence(const std::vector<Sequence>& sentences) {
  Sequence all;
  std::vector<double> cells_of_all;
  for (const Sequence& sentence : sentences) {
    if (sentence.tokens.empty() || !sentence.x) {
      fail("attn embed needs words and their vectors: give --text, or --x with --tokens");
    }
    require_labels("x", axis("tokens", sentence.tokens), sentence.x->shape().rows);
    all.tokens.insert(all.tokens.end(), sentence.tokens.begin(), sentence.tokens.end());
    cells_of_all.insert(cells_of_all.end(), cells(*sentence.x).begin(), cells(*sentence.x).end());
  }
  all.x = Matrix({all.tokens.size(), sentences.front().x->shape().columns});
  if (all.x->size() != cells_of_all.size()) fail("--x: all sentences must have as many columns as the first");
  std::ranges::copy(cells_of_all, cells(*all.x).begin());
  return all;
}

DifferentWords vocabulary_of(const Sequence& sequence) {
  DifferentWords vocabulary{{}, {}, Matrix({sequence.tokens.size(), 1})};
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < sequence.tokens.size(); ++i) {
    const auto found = std::ranges::find(vocabulary.words, sequence.tokens[i]);
    const auto place = static_cast<std::size_t>(found - vocabulary.words.begin());
    vocabulary.ids(i, 0) = static_cast<double>(place + 1);
    if (found != vocabulary.words.end()) {
      if (std::ranges::equal(row(*sequence.x, first[place]), row(*sequence.x, i))) continue;
      fail("'{}' has different vectors in rows {} and {} of x: a word has one id and one vector; rename one",
           sequence.tokens[i], first[place] + 1, i + 1);
    }
    vocabulary.words.push_back(sequence.tokens[i]);
    first.push_back(i);
  }
  vocabulary.vectors = Matrix({first.size(), sequence.x->shape().columns});
  for (std::size_t w = 0; w < first.size(); ++w) {
    std::ranges::copy(row(*sequence.x, first[w]), row(vocabulary.vectors, w).begin());
  }
  return vocabulary;
}

}  // namespace

Answer run_embed(const Command&, const Arguments& arguments) {
  const Problem problem = problem_of(arguments);
  const Sequence sequence = one_sequence(problem.sequences);
  DifferentWords vocabulary = vocabulary_of(sequence);
  auto graph = std::make_shared<Graph>();
  const Value e =
      graph->input(role::e, std::move(vocabulary.vectors), axis("vocabulary", vocabulary.words), axis("features"));
  const Value ids = graph->input(role::ids, std::move(vocabulary.ids), axis("tokens", sequence.tokens), axis("id"));
  const Value x = name(role::x, embed(ids, e));
  const Value ones = name(role::one_hot, one_hot(ids, e));
  const Value multiplied = name(role::product, matmul(ones, e));

  Page page;
  for (const Node& node : graph->nodes()) page.trace.add(node);
  page.head(1, "Embeddings");
  page.say(text("Each distinct word has an id. Its embedding is the row of e with that id."));
  page.say(SideBySide{{table_of(ids.node()), table_of(e.node())}});
  page.head(2, "Lookup");
  add_results(page, {&x.node()});
  page.head(2, "Multiplied by one-hot rows");
  page.say(text("The same as a matrix product: each word is a row of zeros with a single 1 in the column of its id."));
  add_results(page, {&ones.node(), &multiplied.node()});
  page.say(
      text(fmt::format("The largest difference between the two is {}. "
                       "The product takes {} multiplications and the lookup none.",
                       written_difference(largest_difference(x.matrix(), multiplied.matrix())),
                       ones.shape().cells() * e.shape().columns)));
  return {.page = std::move(page), .warnings = problem.remarks, .computation = {graph}};
}

}  // namespace attn
