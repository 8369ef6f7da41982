#include <algorithm>
#include <array>

#include "school/mistake/parts.hpp"

namespace attn {

// Mistakes with heads: how q, k and v are split, and how the heads are put together.

namespace {

// --- how they are split

// A head's columns of q, k or v: of which matrix, which part of it, and how many there are. Heads that share
// keys have the same part.
struct HeadPart {
  const Node* whole;
  std::size_t number, count;
};

std::optional<HeadPart> part_of_head(const Node& node) {
  if (!makes<role::q, role::k, role::v>(node)) return std::nullopt;
  const std::optional<std::size_t> first = first_of_slice(node);
  const std::size_t size = node.frame.shape.columns;
  if (!head_of(node) || !first || size == 0) return std::nullopt;
  const Node& whole = *node.operands[0];
  if (whole.frame.shape.rows != node.frame.shape.rows) return std::nullopt;  // a slice of rows
  return HeadPart{&whole, *first / size, whole.frame.shape.columns / size};
}
constexpr auto is_part = has<part_of_head>;

// Row after row cut into as many parts as there are heads.
Made split_by_reshape(RewriteSite at) {
  const std::size_t words = at[0].shape().rows / at[0].node().frame.rows.batch;
  return rows(reshape(at[0], at.node.frame.shape.columns), part_of_head(at.node)->number * words, words);
}

Made merged_by_reshape(RewriteSite at) { return reshape(stack(at.operands()), at.node.frame.shape.columns); }

// Every h-th column, from the number of the head on.
Made split_in_strides(RewriteSite at) {
  const HeadPart part = *part_of_head(at.node);
  return reshape(columns(reshape(at[0], part.count), part.number, 1), at.node.frame.shape.columns);
}

// A head's part of the words times a block of the parameters, the one of this head or of the first.
bool is_projected_part(const Node& node) {
  const std::optional<HeadPart> part = part_of_head(node);
  const std::optional<LinearNodes> map = part ? linear_nodes(*part->whole) : std::nullopt;
  return map && map->x->frame.shape.columns % part->count == 0;
}
template <bool is_shared>
Made words_split(RewriteSite at) {
  const HeadPart part = *part_of_head(at.node);
  const LinearNodes map = *linear_nodes(*part.whole);
  const std::size_t width = map.x->frame.shape.columns / part.count, size = at.node.frame.shape.columns;
  const std::size_t block = is_shared ? 0 : part.number;
  const Value w = columns(rows(at.of(*map.w), block * width, width), block * size, size);
  const Value product = matmul(columns(at.of(*map.x), part.number * width, width), w);
  return map.b ? add(product, columns(at.of(*map.b), block * size, size)) : product;
}

// q, k and v of all heads side by side, [q | k | v], from which heads are cut one after another: of each head its
// queries, keys and values follow each other.
struct FusedWholes {
  std::array<const Node*, 3> wholes;  // of equal shapes
  std::size_t own;                    // which of them is cut from them
  std::size_t size, heads;            // columns of a head, and how many of them there are
};
constexpr std::array fused_roles = {&role::q, &role::k, &role::v};

std::optional<FusedWholes> fused_wholes(const Node& node) {
  const auto own = std::ranges::find_if(fused_roles, [&](const Role* role) { return node.is(*role); });
  if (own == fused_roles.end()) return std::nullopt;
  FusedWholes fused{{}, static_cast<std::size_t>(own - fused_roles.begin()), 0, 0};
  for (std::size_t i = 0; i < fused_roles.size(); ++i) {
    const std::vector<const Node*> heads = of_all_heads(node, *fused_roles[i]);
    const std::optional<HeadPart> first = heads.empty() ? std::nullopt : part_of_head(*heads.front());
    if (!first || first->count != heads.size() || first->count < 2) return std::nullopt;
    fused.wholes[i] = &first->whole->original();
    fused.size = heads.front()->frame.shape.columns;
    fused.heads = first->count;
  }
  const auto is_like_first = [&](const Node* whole) { return whole->frame.shape == fused.wholes[0]->frame.shape; };
  return std::ranges::all_of(fused.wholes, is_like_first) ? std::optional(fused) : std::nullopt;
}
bool is_from_fused(const Node& node) {
  const std::optional<FusedWholes> fused = fused_wholes(node);
  if (!fused) return false;
  const bool are_projected = std::ranges::all_of(fused->wholes, [](const Node* whole) { return whole->op != nullptr; });
  return is_part(node) || (are_projected && fused->wholes[fused->own] == &node);
}
Value fused_columns(const Value& side_by_side, const FusedWholes& fused, std::size_t head) {
  return columns(side_by_side, (fused.wholes.size() * head + fused.own) * fused.size, fused.size);
}
// In the parts of each head alone.
Made parts_cut_from_fused(RewriteSite at) {
  const std::optional<HeadPart> part = part_of_head(at.node);
  if (!part) return std::nullopt;
  const FusedWholes fused = *fused_wholes(at.node);
  std::vector<Value> wholes;
  for (const Node* whole : fused.wholes) wholes.push_back(at.of(*whole));
  return fused_columns(concatenate(wholes), fused, part->number);
}
// In q, k and v of all heads, of which they are the parts.
Made wholes_cut_from_fused(RewriteSite at) {
  if (is_part(at.node)) return std::nullopt;
  const FusedWholes fused = *fused_wholes(at.node);
  std::vector<Value> wholes, heads;
  for (const Node* whole : fused.wholes) {
    std::vector<Value> operands;
    for (const Node* operand : whole->operands) operands.push_back(at.of(*operand));
    wholes.push_back(at.redo(*whole, operands));
  }
  const Value side_by_side = concatenate(wholes);
  for (std::size_t head = 0; head < fused.heads; ++head) heads.push_back(fused_columns(side_by_side, fused, head));
  return concatenate(heads);
}

// --- how they are put together

// The mean of the weights of all heads in the weighted sum of each.
bool sums_values_of_head(const Node& node) { return sums_values(node) && head_of(node); }
Made weights_averaged(RewriteSite at) {
  std::vector<Value> heads;
  for (const Node* weights : of_all_heads(at.node, role::weights)) heads.push_back(at.of(*weights));
  return matmul(mean_of_all(heads), at[1]);
}

// What one head with all columns gives, whose key is as large as all keys together.
bool is_divided_by_root_in_head(const Node& node) {
  if (!makes(node, role::scaled) || !head_of(node)) return false;
  const Node* const own = node.beside(role::k);
  const Scalar* const scale = node.find(setting::number);
  const bool is_root = own && scale && scale->value == root_of(own->frame.shape.columns).value;
  return shared_by_heads(node, role::k) && is_root && (node.op == &op::divide);
}
bool differs_in_one_head(const Node& node) {
  return makes(node, role::concat) || is_part(node) || is_divided_by_root_in_head(node);
}
Made one_head(RewriteSite at) {
  if (!makes(at.node, role::scaled)) return at[0];
  return divide(at[0], root_of(shared_by_heads(at.node, role::k)->frame.shape.columns));
}

// The first column of each head, then the second ones.
Made heads_interleaved(RewriteSite at) {
  const std::vector<Value> heads = at.operands();
  std::vector<Value> all;
  for (std::size_t j = 0; j < heads.front().shape().columns; ++j) {
    for (const Value& head : heads) all.push_back(columns(head, j, 1));
  }
  return concatenate(all);
}

constexpr Mistake mistakes_in_heads[] = {
    {"heads-split-by-reshape", error, "heads split by a reshape without a transpose",
     "This is what a reshape to heads × words × d_k gives: a head gets only some of the words, with columns of several heads. "
     "Reshape to words × heads × d_k, then exchange the first two axes.",
     is_part, split_by_reshape},
    {"heads-merged-by-reshape", error, "heads merged by a reshape without a transpose",
     "This is what a reshape of the stacked heads gives: it mixes words. "
     "Exchange the axes of heads and words before the reshape, so that the heads of one word stand beside each other.",
     makes<role::concat>, merged_by_reshape},
    {"heads-reshaped", error, "heads split and merged by reshapes without a transpose",
     "This is what reshapes without a transpose give, before and after the heads: a head gets only some of the words, with columns of several heads. "
     "Exchange the axes of heads and words.",
     [](const Node& node) { return is_part(node) || makes(node, role::concat); },
     [](RewriteSite at) { return is_part(at.node) ? split_by_reshape(at) : merged_by_reshape(at); }},
    {"heads-in-strides", error, "every h-th column for a head instead of neighboring ones",
     "This is what every h-th column gives, with h heads. "
     "A head has neighboring columns: the first d_k, then the next d_k.",
     is_part, split_in_strides},
    {"first-head-for-all", error, "columns of the first head for all heads",
     "This is what the columns of the first head give in every head. Each head has columns of its own.", is_part,
     [](RewriteSite at) -> Made { return columns(at[0], 0, at.node.frame.shape.columns); }},
    {"first-keys-and-values-for-all", error, "keys and values of the first head for all heads",
     "This is what the keys and values of the first head give in every head, as in multi-query attention. "
     "Each head has keys and values of its own.",
     [](const Node& node) { return !node.is(role::q) && is_part(node); },
     [](RewriteSite at) -> Made { return columns(at[0], 0, at.node.frame.shape.columns); }},
    {"heads-not-split", error, "all columns for each head",
     "This is what heads give that have all columns of q, k and v. "
     "With h heads, each has one h-th of them.",
     is_part, left_out},
    {"one-head", error, "one head instead of several",
     "This is what one head with all columns gives. "
     "Split the columns of q, k and v among the heads, and take a softmax in each.",
     differs_in_one_head, one_head},
    {"words-split-first", error, "inputs split before the projection",
     "This is what the inputs give when they are split among the heads before they are projected. "
     "Project first: each head sees all numbers of an input.",
     is_projected_part, words_split<false>},
    {"words-split-shared-parameters", error, "inputs split before a projection with the same parameters for all heads",
     "This is what the inputs give when they are split among the heads and all parts are projected by the parameters of the first head. "
     "Project first, then split.",
     is_projected_part, words_split<true>},
    {"fused-cut-by-head",
     error,
     "q, k and v side by side cut head by head",
     "This is what comes out when q, k and v stand side by side and are reshaped to heads × 3 × d_k: each head gets the next 3 d_k columns of the whole. "
     "Reshape to 3 × heads × d_k: first come all columns of q, then those of k, then those of v.",
     is_from_fused,
     parts_cut_from_fused,
     {wholes_cut_from_fused}},
    {"last-head-left-out", error, "the last head left out",
     "This is what a loop over the heads gives that ends one too early: the columns of the last head stay 0.",
     makes<role::concat>,
     [](RewriteSite at) -> Made {
       std::vector<Value> heads = at.operands();
       heads.back() = constant_like(heads.back(), 0.0);
       return concatenate(heads);
     }},
    {"heads-summed", error, "heads added up instead of concatenated",
     "This is what the heads give when they are added up. Concatenate them.", makes<role::concat>,
     [](RewriteSite at) -> Made { return sum_of_all(at.operands()); }},
    {"heads-averaged", error, "heads averaged instead of concatenated",
     "This is what the mean of the heads gives. Concatenate them.", makes<role::concat>,
     [](RewriteSite at) -> Made { return mean_of_all(at.operands()); }},
    {"heads-summed-in-each", error, "the sum of the heads in the place of each",
     "This is what the heads give when each is replaced by their sum. Concatenate them as they are.",
     makes<role::concat>,
     [](RewriteSite at) -> Made {
       return concatenate(std::vector<Value>(at.operands().size(), sum_of_all(at.operands())));
     }},
    {"heads-averaged-in-each", error, "the mean of the heads in the place of each",
     "This is what the heads give when each is replaced by their mean. Concatenate them as they are.",
     makes<role::concat>,
     [](RewriteSite at) -> Made {
       return concatenate(std::vector<Value>(at.operands().size(), mean_of_all(at.operands())));
     }},
    {"heads-reversed", error, "heads concatenated in the opposite order",
     "This is what the heads give in the opposite order. The first head stands first.", makes<role::concat>,
     [](RewriteSite at) -> Made {
       std::vector<Value> heads = at.operands();
       std::ranges::reverse(heads);
       return concatenate(heads);
     }},
    {"heads-interleaved", error, "columns of the heads in turn when they are concatenated",
     "This is what the heads give when their columns take turns. Concatenate them: all columns of a head stand together.",
     makes<role::concat>, heads_interleaved},
    {"heads-below-each-other", error, "heads below each other instead of side by side",
     "This is what the heads give below each other. "
     "Concatenate the columns: the heads of a word stand in one row.",
     makes<role::concat>, [](RewriteSite at) -> Made { return stack(at.operands()); }},
    {"weights-averaged", error, "mean of the weights of all heads in each head",
     "This is what the mean of the weights of all heads gives. "
     "Each head sums up its values with its own weights. "
     "PyTorch returns the mean by default, but does not compute with it.",
     sums_values_of_head, weights_averaged},
};

}  // namespace

std::span<const Mistake> mistakes_of_heads() { return mistakes_in_heads; }

}  // namespace attn
