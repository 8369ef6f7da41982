#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "attention/watches.hpp"
#include "command/solve.hpp"
#include "graph/address.hpp"
#include "op/operations.hpp"
#include "problem/problem.hpp"
#include "support/error.hpp"
#include "support/number.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

constexpr int shown_decimals = 4;  // of a weight

// A sentence's attention in one layer: the weights of its heads.
using Heads = std::vector<const Node*>;

// The attention that a head is part of.
const NamedScope* attention_of(const Node& node) {
  return around(node.place, scope::head);
}

std::vector<Heads> heads_of(const Graph& graph) {
  std::vector<Heads> attentions;
  for (const Node& node : graph.nodes()) {
    if (!node.is(role::weights)) continue;
    if (attentions.empty() || attention_of(*attentions.back().front()) != attention_of(node)) {
      attentions.emplace_back();
    }
    attentions.back().push_back(&node);
  }
  return attentions;
}

// The same row of every head, and where its keys are masked in all of them of their average.
std::shared_ptr<const Matrix> scores_behind(const Heads& heads, std::size_t query, Shape shape) {
  Matrix scores(shape, -std::numeric_limits<double>::infinity());
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const std::shared_ptr<const Matrix> own = table_of(*heads[h]).scores;
    for (std::size_t j = 0; j < shape.columns; ++j) {
      scores(h, j) = own ? (*own)(query, j) : 0.0;
      double& last = scores(shape.rows - 1, j);
      last = std::max(last, scores(h, j));
    }
  }
  return std::make_shared<const Matrix>(std::move(scores));
}

Axis heads_and_average(std::size_t heads) {
  std::vector<std::string> labels;
  for (std::size_t h = 1; h <= heads; ++h) labels.push_back(fmt::format("head {}", h));
  if (heads > 1) labels.emplace_back("average");
  return axis("heads", std::move(labels));
}

// What a reader of the average alone would miss: that heads attend to different words.
void tell_what_is_hidden(Page& page, const Value& heads, const Value& average, const Axis& keys) {
  Margined list;
  std::set<std::size_t> different;
  for (std::size_t h = 0; h < heads.shape().rows; ++h) {
    const std::optional<std::size_t> key = preferred_key(row(heads.matrix(), h), shown_decimals);
    if (!key) continue;
    different.insert(*key);
    const std::string word =
        keys.labels ? fmt::format("\"{}\"", keys.label(*key)) : fmt::format("key {}", *key + 1);
    list.lines.push_back(
        {"- ", "  ",
         text(fmt::format("Head {} attends most to {} ({}), which has {} in the average.", h + 1, word,
                          written_fixed(heads.matrix()(h, *key), shown_decimals),
                          written_fixed(average.matrix()(0, *key), shown_decimals)))});
  }
  if (different.size() < 2) return;
  page.say("The average does not show which head attends to which word:");
  page.say(std::move(list));
}

// All heads of one attention at once, as seen from one word.
void add_attention(Page& page, Graph& graph, const Heads& heads, std::size_t query) {
  const Node& first = *heads.front();
  const NamedScope* const place = attention_of(first);
  const Graph::Scope attention(graph, place), from(graph, {scope::other, "from"});
  const Axis keys = first.frame.columns;
  std::vector<Value> of_heads;
  for (const Node* head : heads) of_heads.push_back(rows(Value(*head), query, 1));
  const Value each = name(role::heads, stack(of_heads));
  std::vector<Value> all_rows = {each};
  if (heads.size() > 1) {
    const Matrix shares = Matrix({1, heads.size()}, 1.0 / static_cast<double>(heads.size()));
    const Value equal = graph.input(role::shares, shares, axis("average"), axis("heads"));
    all_rows.push_back(name(role::average, matmul(equal, each)));
  }
  const Value all = name(role::weights, labelled(stack(all_rows), heads_and_average(heads.size())));
  page.trace.add(all.node());
  if (place) page.head(2, place->title());
  Table table = table_of(all.node());
  table.title = first.frame.rows.label(query);
  table.scores = scores_behind(heads, query, all.shape());
  page.say(std::move(table));
  if (heads.size() > 1) tell_what_is_hidden(page, each, all_rows.back(), keys);
}

// Who is the query, in one attention.
struct Asker {
  const Heads* heads;
  std::size_t query;
};

// "it"; or query 2, where there are no words or another one in each sentence.
std::string called(const std::vector<Asker>& askers) {
  std::set<std::string> words;
  for (const auto& [heads, query] : askers) {
    const Axis& queries = heads->front()->frame.rows;
    words.insert(queries.labels ? fmt::format("\"{}\"", queries.label(query))
                                : fmt::format("query {}", query + 1));
  }
  return words.size() == 1 ? *words.begin() : fmt::format("query {}", askers.front().query + 1);
}

}  // namespace

Outcome run_softmax(const Command& command, const Arguments& arguments) {
  const std::optional<std::string> word = arguments.text(option::from);
  if (!word) return run_step(command, arguments);
  auto problem = std::make_shared<const Problem>(problem_of(arguments));
  const std::shared_ptr<Graph> graph = watched_graph();
  evaluate(*problem, *graph, Extent::weights);
  compute(*graph);
  const Solved solved{problem, graph};
  Page page = solved.page({});
  const std::vector<Heads> attentions = heads_of(*graph);
  if (attentions.empty())
    fail("--from shows attention weights, and there are none: give --q and --k, or --scores");
  const auto has_word = [&](const Heads& heads) {
    return has_place(heads.front()->frame.rows, heads.front()->frame.shape.rows, *word);
  };
  const bool found = std::ranges::any_of(attentions, has_word);
  std::vector<Asker> askers;
  for (const Heads& heads : attentions) {
    if (found && !has_word(heads)) continue;
    const Frame& frame = heads.front()->frame;
    askers.push_back(
        {&heads, find_place(frame.rows, frame.shape.rows, *word, fmt::format("--from {}", *word))});
  }
  page.head(1, "Attention weights from " + called(askers));
  page.say("The attention weights of one query: a row for each head, a column for each key.");
  add_drawn(page, *problem);
  for (const Asker& asker : askers) add_attention(page, *graph, *asker.heads, asker.query);
  return solved.outcome(std::move(page));
}

}  // namespace attn
