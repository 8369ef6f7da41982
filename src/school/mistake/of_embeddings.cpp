#include <algorithm>
#include <cmath>

#include "school/mistake/amounts.hpp"
#include "school/mistake/numbers.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// Mistakes with the embeddings of words, and how positions are added to them.

namespace {

// Whether it multiplies embeddings by a number, √d.
bool scales_embeddings(const Node& node) { return node.is(role::scaled_x) && node.op && node.find(setting::number); }

// The table whose rows a node of ids says; null for any other node.
const Node* embeddings_of(const Node& ids) {
  const Node* const looked_up = ids.is(role::ids) && !ids.op ? ids.beside(role::x) : nullptr;
  const Node* const table = looked_up ? operand(*looked_up, 1) : nullptr;
  return table && table->is(role::e) && looked_up->operands[0] == &ids ? table : nullptr;
}

// The rows of the table so many below the right ones, as where one side counts words from 0 and the other from
// 1. Above the first row is the last one, as for an index of −1 in Python.
Made rows_below(RewriteSite at, std::size_t below) {
  const std::size_t count = embeddings_of(at.node)->frame.shape.rows;
  Matrix ids = at.node.matrix();
  for (double& id : cells(ids)) id = static_cast<double>((static_cast<std::size_t>(id) - 1 + below) % count + 1);
  return at.like(std::move(ids));
}

// Embeddings that are looked up and stay as they are.
bool are_not_scaled(const Node& node) {
  const Node* const table = operand(node, 1);
  const bool is_embedding = node.is(role::x) && table && table->is(role::e);
  return is_embedding && (node.within(scope::source) || node.within(scope::target)) && !node.beside(role::scaled_x);
}

bool adds_to_scaled_embeddings(const Node& node) {
  const Node* const scaled = node.is(role::positioned) ? operand(node, 0) : nullptr;
  return scaled && scales_embeddings(*scaled);
}
Made positions_scaled_too(RewriteSite at) {
  const Node& scaled = *at.node.operands[0];
  return times(add(at.of(*scaled.operands[0]), at[1]), *scaled.find(setting::number));
}

Made positions_alone(RewriteSite at) {
  const std::size_t words = at[1].shape().rows, sentences = at.node.frame.rows.batch;
  if (sentences == 1) return at[1];
  return repeat_rows(at[1], {.parts = 1, .apart = words}, sentences, at.node.frame.rows);
}

// Queries or keys that are made of words with positions, which have as many numbers.
bool are_made_of_positioned(const Node& node) {
  const std::optional<LinearNodes> map =
      makes<role::q, role::k>(node) && !node.within(scope::head) ? linear_nodes(node) : std::nullopt;
  const Node* const positioned = map ? &map->x->original() : nullptr;
  return positioned && makes<role::positioned>(*positioned) && positioned->operands.size() == 2 &&
         positioned->operands[1]->frame.shape.columns == node.frame.shape.columns;
}
bool has_positions_for_queries(const Node& node) {
  if (!makes<role::positioned>(node)) return are_made_of_positioned(node);
  return std::ranges::any_of(node.graph->nodes(), [&](const Node& one) {
    return are_made_of_positioned(one) && &linear_nodes(one)->x->original() == &node;
  });
}
Made positions_added_behind(RewriteSite at) {
  if (makes<role::positioned>(at.node)) return at[0];
  return add(at.itself(), at.of(*linear_nodes(at.node)->x->original().operands[1]));
}

// Which sentence of a batch a word is in, as its position: of one sentence its positions, of several their sum with
// the words.
bool counts_sentences(const Node& node) {
  if (node.is(role::positioned)) return node.frame.rows.batch != 1;
  const Node* const positioned = node.is(role::positions) ? node.beside(role::positioned) : nullptr;
  return node.is(role::positions) && (!positioned || positioned->frame.rows.batch == 1);
}
Made by_sentence(RewriteSite at) {
  const Frame& frame = at.node.frame;
  if (at.node.is(role::positions)) return repeat_rows(rows(at.itself(), 0, 1), {}, frame.shape.rows, frame.rows);
  const std::size_t sentences = frame.rows.batch, words = frame.shape.rows / sentences;
  const Value some = rows(at[1], 0, sentences);
  return add(at[0], repeat_rows(some, {.parts = sentences, .apart = 1}, words, frame.rows));
}

constexpr Mistake mistakes_in_embeddings[] = {
    {"next-embeddings", error, "each embedding taken one row too low",
     "This is what the rows of the embedding table give that stand below the right ones. "
     "A table's first row belongs to the first word.",
     has<embeddings_of>, [](RewriteSite at) { return rows_below(at, 1); }},
    {"embeddings-before", error, "each embedding taken one row too high",
     "This is what the rows of the embedding table give that stand above the right ones. "
     "Words are counted from 1 here, and many programs count from 0.",
     has<embeddings_of>, [](RewriteSite at) { return rows_below(at, embeddings_of(at.node)->frame.shape.rows - 1); }},
    {"embeddings-not-scaled", error, "embeddings without the factor √d",
     "This is what the embeddings give without the factor √d. "
     "Multiply them by √d before positions are added.",
     scales_embeddings, left_out},
    {"embeddings-divided", error, "embeddings divided by √d",
     "This is what embeddings divided by √d give. Multiply them by √d.", scales_embeddings,
     [](RewriteSite at) -> Made { return divide(at[0], *at.node.find(setting::number)); }},
    {"embeddings-times-d", error, "embeddings multiplied by d instead of √d",
     "This is what embeddings multiplied by d give. Multiply them by its root, √d.", scales_embeddings,
     [](RewriteSite at) -> Made { return at.redo(at.node, {at.itself()}); }},
    {"embeddings-scaled", convention, "embeddings multiplied by √d",
     "This is what embeddings multiplied by √d give, as in the first Transformer. "
     "This model takes them as they are.",
     are_not_scaled,
     [](RewriteSite at) -> Made {
       return multiplied(at, std::sqrt(static_cast<double>(at.node.frame.shape.columns)));
     }},
    {"positions-scaled-too", error, "positions multiplied by √d as well",
     "This is what comes out when embeddings and positions are multiplied by √d together. "
     "Multiply the embeddings alone, and then add the positions.",
     adds_to_scaled_embeddings, positions_scaled_too},
    {"positions-missing", error, "no positions",
     "This is what comes out without positions. Add the vector of each position to the vector of its word.",
     has_role<role::positioned>, left_out},
    {"positions-alone", error, "positions without the words",
     "This is what the positions give alone. Add them to the vectors of the words.", has_role<role::positioned>,
     positions_alone},
    {"positions-multiplied", error, "positions multiplied instead of added",
     "This is what the vectors give when they are multiplied by the positions. Add the positions.",
     has_role<role::positioned>, [](RewriteSite at) -> Made { return multiply(at[0], at[1]); }},
    {"positions-added-to-queries-and-keys", error, "positions added to queries and keys instead of the words",
     "This is what comes out when the positions are added to the queries and keys, and not to the words. "
     "Add them to the vectors of the words, before these are multiplied by w_q, w_k and w_v.",
     has_positions_for_queries, positions_added_behind},
    {"positions-by-sentence", error, "the same position for all words of a sentence",
     "This is what comes out when all words of a sentence have the same position, as when rows are counted along the batch, or when each step of a cache counts from 0 again. "
     "Give each word the position that it has in its sentence.",
     counts_sentences, by_sentence},
};

constexpr MistakeWithNumber numbers_of_embeddings[] = {
    {{"another-multiple-of-positions", error, "positions not added once",
      "This is what another multiple of the positions gives. Add them once.", makes<role::positioned>, nullptr},
     [](RewriteSite at, double number) -> Made { return add(at[0], times(at[1], plain_number(number))); },
     amount_added,
     MistakeWithNumber::Scale::linear,
     {2.0, -1.0, 0.5}},
    {{"another-multiple-of-embeddings", error, "embeddings multiplied by another number",
      "This is what a multiple of the embeddings gives, before positions are added.", makes<role::positioned>, nullptr},
     [](RewriteSite at, double number) -> Made { return add(times(at[0], plain_number(number)), at[1]); },
     amount_as_factor,
     MistakeWithNumber::Scale::linear,
     {2.0, 0.5}},
};

}  // namespace

std::span<const Mistake> mistakes_of_embeddings() { return mistakes_in_embeddings; }

std::span<const MistakeWithNumber> numbers_in_embeddings() { return numbers_of_embeddings; }

}  // namespace attn
