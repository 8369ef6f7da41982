#include "page/tell/attention_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "core/graph/find.hpp"
#include "core/op/operations.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/heads.hpp"

namespace attn {

namespace {

constexpr int shown_decimals = 4;  // of a weight

// The same row of every head, and where its keys are masked in all of them of their average.
std::shared_ptr<const Matrix> scores_of_query(const std::vector<const Node*>& heads, std::size_t query, Shape shape) {
  Matrix scores(shape, -std::numeric_limits<double>::infinity());
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const std::shared_ptr<const Matrix> own = masks_behind(*heads[h]);
    for (std::size_t j = 0; j < shape.columns; ++j) {
      scores(h, j) = own ? (*own)(query, j) : 0.0;
      double& last = scores(shape.rows - 1, j);
      last = std::max(last, scores(h, j));
    }
  }
  return std::make_shared<const Matrix>(std::move(scores));
}

// An attention without heads is one.
std::size_t number_of_head(const Node& head) {
  const NamedScope* const scope = head.within(scope::head);
  return scope && scope->number ? *scope->number : 1;
}

Axis heads_and_average(const std::vector<const Node*>& heads) {
  std::vector<std::string> labels;
  for (const Node* head : heads) labels.push_back(fmt::format("head {}", number_of_head(*head)));
  if (heads.size() > 1) labels.emplace_back("average");
  return axis("heads", std::move(labels));
}

// What a reader of the average alone would miss: that heads attend to different words.
void tell_what_is_hidden(Page& page, const std::vector<const Node*>& nodes, const Value& heads, const Value& average,
                         const Axis& keys) {
  ParagraphsWithMargins list;
  std::set<std::size_t> different;
  for (std::size_t h = 0; h < heads.shape().rows; ++h) {
    const std::optional<std::size_t> key = preferred_key(row(heads.matrix(), h), shown_decimals);
    if (!key) continue;
    different.insert(*key);
    const std::string word = place_in_words(keys, *key, "key");
    list.lines.push_back(
        {"- ", "  ",
         text(fmt::format("Head {} attends most to {} ({}), which has {} in the average.", number_of_head(*nodes[h]),
                          word, written_fixed(heads.matrix()(h, *key), shown_decimals),
                          written_fixed(average.matrix()(0, *key), shown_decimals)))});
  }
  if (different.size() < 2) return;
  page.say(with_note_on_random(*nodes.front(), "The average does not show which head attends to which word."));
  page.say(std::move(list));
}

// Why heads have a row each: how many lines there would be in one picture, and how many end where others do.
void tell_of_lines(Page& page, const Value& heads) {
  constexpr double least = 0.1;
  const Shape shape = heads.shape();
  std::size_t lines = 0, ends = 0;
  for (std::size_t j = 0; j < shape.columns; ++j) {
    std::size_t here = 0;
    for (std::size_t h = 0; h < shape.rows; ++h) {
      if (heads.matrix()(h, j) >= least) ++here;
    }
    lines += here;
    if (here > 0) ++ends;
  }
  if (shape.rows < 2 || lines == ends) return;
  page.say(fmt::format("One picture of all heads would have {} for the weights of at least {}, which end at {}.",
                       count_of(lines, "line"), least, count_of(ends, "word")));
}

// All heads of one attention at once, as seen from one word.
void add_attention(Page& page, Graph& graph, const Attention& attention, std::size_t query) {
  const std::vector<const Node*>& heads = attention.heads;
  const Node& first = *heads.front();
  const NamedScope* const place = attention.place;
  const Graph::Scope around_it(graph, place), from(graph, {scope::other, "from"});
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
  const Value all = name(role::weights, labelled(stack(all_rows), heads_and_average(heads)));
  page.trace.add(all.node());
  if (place) page.head(2, place->title());
  Table table = table_of(all.node());
  table.title = first.frame.rows.label(query);
  table.scores = scores_of_query(heads, query, all.shape());
  // What the sentences below name stays, however long the sentence is.
  table.told.clear();
  for (std::size_t h = 0; h < heads.size(); ++h) {
    if (const auto key = preferred_key(row(each.matrix(), h), shown_decimals)) table.told.push_back({h, *key});
  }
  page.say(ShadedWords{std::move(table), heads.size(), first.frame.rows, first.frame.shape.rows, query});
  if (heads.size() > 1) tell_what_is_hidden(page, heads, each, all_rows.back(), keys);
  tell_of_lines(page, each);
}

// Who is the query, in one attention.
struct Asker {
  const Attention* attention;
  std::size_t query;
};

// "it"; or query 2, where there are no words or another one in each sentence.
std::string called_word(const std::vector<Asker>& askers) {
  std::set<std::string> words;
  for (const auto& [attention, query] : askers) {
    const Axis& queries = attention->heads.front()->frame.rows;
    words.insert(place_in_words(queries, query, "query"));
  }
  return words.size() == 1 ? *words.begin() : fmt::format("query {}", askers.front().query + 1);
}

}  // namespace

void add_from_word(Page& page, Graph& graph, const std::string& word, const std::optional<std::string>& pattern,
                   const std::string& on_random) {
  const std::vector<Attention> attentions = attentions_of(graph, pattern);
  const auto has_word = [&](const Attention& attention) {
    const Frame& frame = attention.heads.front()->frame;
    return has_named_place(frame.rows, frame.shape.rows, word);
  };
  const bool found = std::ranges::any_of(attentions, has_word);
  std::vector<Asker> askers;
  for (const Attention& attention : attentions) {
    if (found && !has_word(attention)) continue;
    const Frame& frame = attention.heads.front()->frame;
    askers.push_back(
        {&attention, find_named_place(frame.rows, frame.shape.rows, word, fmt::format("--from {}", word))});
  }
  page.head(1, "Attention weights from " + called_word(askers));
  page.say("The attention weights of one query, in each head.");
  if (!on_random.empty()) page.say(on_random);
  for (const Asker& asker : askers) add_attention(page, graph, *asker.attention, asker.query);
}

}  // namespace attn
