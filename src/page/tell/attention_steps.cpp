#include "page/tell/attention_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/attention/feed_forward.hpp"
#include "core/attention/score.hpp"
#include "core/math/difference.hpp"
#include "core/op/operations.hpp"
#include "core/support/number.hpp"

namespace attn {

namespace {

// --- meanings

const Node* computed(const Node* node) { return node && node->op ? node : nullptr; }

// --- of projections

// The matrix that keys or values are made of: the first that their formula mentions; null where they were given.
const Node* source_of(const Node* projected) {
  if (!computed(projected)) return nullptr;
  const std::vector<const Node*> mentioned = projected->named_operands();
  return mentioned.empty() ? nullptr : &mentioned.front()->original();
}

bool keys_and_values_have_one_source(const Node& node) {
  const Node* const of_keys = source_of(node.beside(role::k));
  return of_keys && of_keys == source_of(node.beside(role::v));
}

// --- of scores

const ScoringFunction* scoring_of(const Node& node) {
  const Node* const scores = node.beside(role::scores);
  return scores ? scores->scored_by : nullptr;
}

bool has_content(const Node& node) { return node.beside(role::content) != nullptr; }

bool has_only_scores(const Node& node) { return !has_content(node) && scoring_of(node); }

std::string of_function(const Node& node) { return std::string(scoring_of(node)->meaning); }

bool is_rotated(const Node& node) { return node.beside(role::rotated_q) != nullptr; }

std::string columns_of_rotated(const Node& node) { return turned_columns(*node.beside(role::rotated_q)); }

bool are_dot_products(const Node& node) {
  const ScoringFunction* const function = scoring_of(node);
  return function && function->is_made_by(dot_product);
}

// --- of scaling

bool is_not_scaled(const Node& node) { return node.is(role::scaled) && node.is_alias(); }

// What the scores are divided or multiplied by; null: nothing.
const Scalar* factor_of(const Node& node) {
  const bool is_scaled = node.is(role::scaled) && !node.is_alias() && node.op;
  return is_scaled ? node.find(setting::number) : nullptr;
}

bool scales_dot_products(const Node& node) { return factor_of(node) && are_dot_products(node); }

// Whether the keys whose scores are scaled have one number each.
bool has_keys_of_one_number(const Node& scaled) {
  const Node* const keys = scaled.beside(role::k);
  return keys && keys->frame.shape.columns == 1;
}

bool scales_long_dot_products(const Node& node) { return scales_dot_products(node) && !has_keys_of_one_number(node); }

bool scales_products_of_numbers(const Node& node) { return scales_dot_products(node) && has_keys_of_one_number(node); }

bool is_divided_by(const Node& node) {
  return factor_of(node) && (node.op == &op::divide) && !factor_of(node)->in_words.empty();
}

bool is_multiplied_by(const Node& node) {
  return factor_of(node) && !(node.op == &op::divide) && !factor_of(node)->in_words.empty();
}

bool is_multiplied_by_negative(const Node& node) {
  return factor_of(node) && !(node.op == &op::divide) && factor_of(node)->value < 0.0;
}

// The usual divisor is not told in words, because a sentence has told of it; but that one is about dot products.
bool is_divided_as_usual(const Node& node) {
  return factor_of(node) && factor_of(node)->in_words.empty() && (node.op == &op::divide) && !are_dot_products(node);
}

std::string factor_in_words(const Node& node) { return factor_of(node)->in_words; }

std::string factor_as_written(const Node& node) { return factor_of(node)->notation.plain; }

const Node* capped_of(const Node& node) { return node.is(role::scaled) ? node.beside(role::capped) : &node; }

bool is_capped(const Node& node) { return computed(capped_of(node)) && capped_of(node)->is(role::capped); }

std::string cap_of(const Node& node) { return capped_of(node)->find(setting::number)->notation.plain; }

// --- of masks

bool is_masked_score(double score) { return std::isinf(score) && score < 0.0; }

// A query whose keys are all masked has no weights: a row of zeros, which sums to 0.
bool has_row_without_keys(const Node& masked) {
  const Matrix& scores = masked.matrix();
  for (std::size_t i = 0; i < scores.shape().rows; ++i) {
    if (std::ranges::all_of(row(scores, i), is_masked_score)) return true;
  }
  return false;
}

bool has_masked_scores(const Node& node) { return std::ranges::any_of(cells(node.matrix()), is_masked_score); }

bool is_without_mask(const Node& node) { return node.is_alias() && !has_masked_scores(node); }

bool is_without_mask_but_masked(const Node& node) { return node.is_alias() && has_masked_scores(node); }

bool adds(const Node& masked, const Role& role) {
  if (masked.is_alias()) return false;
  return std::ranges::any_of(masked.named_operands(), [&](const Node* node) { return node->is(role); });
}

bool adds_mask(const Node& node) { return adds(node, role::bias); }

bool adds_positions(const Node& node) { return adds(node, role::relative); }

bool replaces(const Node& node) { return !node.is_alias() && node.op == &op::mask; }

bool allows_all(const Node& node) {
  return replaces(node) &&
         std::ranges::all_of(cells(node.operands[1]->matrix()), [](double allowed) { return allowed != 0.0; });
}

bool replaces_some(const Node& node) { return replaces(node) && !allows_all(node); }

bool replaces_by_infinity(const Node& node) { return replaces_some(node) && !std::isfinite(mask_fill(node)); }

bool replaces_by_number(const Node& node) { return replaces_some(node) && std::isfinite(mask_fill(node)); }

bool replaces_whole_rows(const Node& node) { return replaces_by_number(node) && has_row_without_keys(node); }

std::string fill_of_mask(const Node& node) { return fmt::format("{}", mask_fill(node)); }

// --- of weights and sums

bool all_rows_have_keys(const Node& weights) { return !has_row_without_keys(*weights.operands.front()); }

bool some_rows_have_no_keys(const Node& weights) { return !all_rows_have_keys(weights); }

bool is_with_given_weights(const Node& sum) { return !sum.operands.front()->op; }

bool is_with_computed_weights(const Node& sum) { return !is_with_given_weights(sum); }

// --- of heads

bool is_in_head(const Node& node) { return node.within(scope::head) != nullptr; }

bool is_in_no_head(const Node& node) { return !is_in_head(node); }

// Several heads have the same keys, as with grouped queries: together they have more columns than k.
bool shares_keys(const Node& node) {
  if (!is_in_head(node)) return false;
  std::map<const Node*, std::size_t> columns;  // that heads take of a k
  for (const Node& keys : node.graph->nodes()) {
    if (!keys.is(role::k) || !is_in_head(keys)) continue;
    const std::vector<const Node*> whole = keys.named_operands();
    const Node& of = keys.is_alias() || whole.empty() ? keys.original() : whole.front()->original();
    columns[&of] += keys.frame.shape.columns;
  }
  return std::ranges::any_of(columns,
                             [](const auto& taken) { return taken.second > taken.first->frame.shape.columns; });
}

bool is_in_head_of_its_own(const Node& node) { return is_in_head(node) && !shares_keys(node); }

bool has_one_head(const Node& node) { return node.beside(role::concat) && node.beside(role::concat)->is_alias(); }

bool has_several_heads(const Node& node) { return node.beside(role::concat) && !node.beside(role::concat)->is_alias(); }

bool has_output_projection(const Node& node) {
  return computed(node.beside(role::output)) && !node.beside(role::output)->is_alias();
}

std::string size_of_output(const Node& node) {
  return count_of(node.beside(role::output)->frame.shape.columns, "number");
}

// --- of layers

bool has_gate(const Node& node) { return node.beside(role::gate) != nullptr; }
bool has_no_gate(const Node& node) { return !has_gate(node); }

std::string activation_in_words(const Node& node) {
  const Activation& activation = *activation_beside(node);
  return fmt::format("{} ({})", activation.title, activation.effect);
}

const NamedScope* layers_around(const Node& averaged) { return averaged.within(scope::averaging)->outer; }

// The activation of a feed-forward layer among those that are averaged, or null.
const Activation* activation_among(const Node& averaged) {
  for (const Node& node : averaged.graph->nodes()) {
    const Activation* const activation = activation_of(node);
    if (activation && lies_within(node.place, layers_around(averaged))) return activation;
  }
  return nullptr;
}

bool has_activation(const Node& averaged) { return activation_among(averaged) != nullptr; }

std::string title_of_activation(const Node& averaged) { return std::string(activation_among(averaged)->title); }

bool has_queries_without_keys(const Node& averaged) {
  const auto is_empty = [&](const Node& node) {
    return node.op && node.is(role::weights) && lies_within(node.place, layers_around(averaged)) &&
           has_row_without_keys(*node.operands.front());
  };
  return !has_activation(averaged) && std::ranges::any_of(averaged.graph->nodes(), is_empty);
}

bool is_one_averaging(const Node& averaged) { return !has_activation(averaged) && !has_queries_without_keys(averaged); }

std::string difference_of_averaging(const Node& averaged) {
  const Graph& graph = *averaged.graph;
  const Node* top = nullptr;
  for (const Node& other : graph.nodes()) {
    const NamedScope* const layer = other.within(scope::layer);
    const bool is_of_layer = other.op && layer && layer->outer == layers_around(averaged);
    if (is_of_layer && (other.is(role::output) || other.is(role::feed_forward))) top = &other;
  }
  const Node& output = *graph.find(averaged.within(scope::averaging), role::output);
  return fmt::format("{} is {}", top->name, written_difference(largest_difference(top->matrix(), output.matrix())));
}

// --- of transposed weights

const Node& weights_of(const Node& alignment) { return *alignment.operands.front(); }

bool is_of_softmax(const Node& alignment) {
  const Node& weights = weights_of(alignment).original();
  return weights.op && weights.op == &op::softmax;
}

bool columns_sum_to_one(const Node& alignment) {
  return is_of_softmax(alignment) && all_rows_have_keys(weights_of(alignment).original());
}

bool some_columns_are_empty(const Node& alignment) {
  return is_of_softmax(alignment) && !columns_sum_to_one(alignment);
}

// --- sentences

using Meaning = Claim<Node>;

constexpr Meaning meanings_of_positions[] = {
    {of_any,
     "Attention by itself treats its keys as a set: it does not know which word comes first. "
     "Positional encoding adds a vector for each position to the embeddings. "
     "So the same word can have a different vector at a different position."},
};

constexpr Meaning meanings_of_projection[] = {
    {of_any,
     "Linear layers turn each vector into new ones. "
     "A query says what the word looks for, a key what it can be found by, and a value what it passes on."},
};

// Why queries, keys and values are called so.  (Stenzel 2023, Transformer Pt. 1, appendix)
constexpr Meaning meanings_of_names[] = {
    {of_any,
     "The names come from looking things up in a database. "
     "The query is the question: in cross-attention it comes from the output, at the position that is computed. "
     "A key is matched against the query. "
     "The value is the answer: the content that is passed on."},
    {keys_and_values_have_one_source,
     "Keys and values come from the same words of the input, so each word is found by its key and read by its value."},
    {of_any, "In self-attention, input and output are the same words, and each word has all three."},
};

constexpr Meaning meanings_of_scores[] = {
    {has_content,
     "An attention score has two parts. The content compares the query with the key. "
     "The relative part compares the query with a vector for the distance between them, whatever the key is."},
    {has_only_scores, "{}", of_function},
    {is_rotated,
     "Before that, rotary positional encoding turns each query and each key: {}, by angles that grow with its position.",
     columns_of_rotated},
};

constexpr Meaning meanings_of_scaled[] = {
    {is_not_scaled, "The scores are not divided here."},
    {scales_long_dot_products,
     "Dot products of long vectors tend to be large, and softmax then puts nearly all weight on one key. "
     "The usual divisor is √d_k, the square root of the key size: it keeps the scores moderate."},
    {scales_products_of_numbers, "The usual divisor is √d_k, the square root of the key size. Here both are 1."},
    {is_divided_as_usual, "The scores are divided by {}, the square root of the key size.", factor_as_written},
    {is_divided_by, "Here the scores are divided by {}.", factor_in_words},
    {is_multiplied_by, "Here the scores are multiplied by {}.", factor_in_words},
    {is_multiplied_by_negative, "The factor is negative: of two scores, the larger one becomes the smaller one."},
    {is_capped, "A soft cap keeps the scores between −{0} and {0}: scores near 0 hardly change.", cap_of},
};

constexpr Meaning meanings_of_masked[] = {
    {is_without_mask, "No mask applies here: every query may attend to every key."},
    {is_without_mask_but_masked, "No mask applies here, but some scores are −∞: the weights there are 0."},
    {adds_mask, sentence_on_added_mask},
    {adds_positions, "A number for the distance between the words is added to each score."},
    {allows_all, "The mask allows every key to every query: no score is replaced."},
    {replaces_by_infinity, "Masked scores are replaced by −∞, so their weights are exactly 0."},
    {replaces_by_number,
     "Masked scores are replaced by {0}. "
     "The weight of a masked key is close to 0 only if {0} is far below the other scores.",
     fill_of_mask},
    {replaces_whole_rows, "A row whose keys are all masked is set to −∞ instead, so that all its weights are 0."},
};

constexpr Meaning meanings_of_weights[] = {
    {all_rows_have_keys,
     "Softmax turns each row of scores into attention weights between 0 and 1 that sum to one: how much the value of each key counts for each query."},
    {some_rows_have_no_keys,
     "Softmax turns each row of scores into attention weights between 0 and 1: how much the value of each key counts for each query. "
     "A query whose keys are all masked has only weights of 0, which sum to 0. The weights of every other query sum to one."},
};

constexpr Meaning meanings_of_alignment[] = {
    {of_any, "The attention weights transposed: a column for each query and a row for each key."},
    {columns_sum_to_one, "Each column sums to one."},
    {some_columns_are_empty, "A column sums to 0 if all keys of its query are masked, and otherwise to one."},
};

constexpr Meaning meanings_of_sum[] = {
    {is_with_given_weights,
     "Each row is the sum of the values, each multiplied by its weight. "
     "It is an average if no weight is negative and the weights of the row sum to one."},
    {is_with_computed_weights,
     "Each value is multiplied by its attention weight. The sum over all keys is the output for the query."},
};

constexpr Meaning meanings_of_heads[] = {
    {is_in_no_head, "There is one head. It uses all columns of q, k and v."},
    {is_in_head_of_its_own,
     "Each head works on its own columns of q, k and v, so one head can attend to one thing while another attends to something else."},
    {shares_keys,
     "Each head works on its own columns of q, so one head can attend to one thing while another attends to something else. Several heads share the same keys and values."},
};

constexpr Meaning meanings_of_joined[] = {
    {has_one_head, "There is one head, so nothing is concatenated."},
    {has_several_heads, "The outputs of the heads are concatenated, one row per query."},
    {has_output_projection, "The output projection W_o, a linear layer, maps each row to {}.", size_of_output},
};

constexpr Meaning meanings_of_feed_forward[] = {
    {has_no_gate,
     "Attention by itself only adds up values with their weights. "
     "The feed-forward layer works on each position separately: a linear layer to the inner size d_ff, {}, and a linear layer back.",
     activation_in_words},
    {has_gate,
     "Attention by itself only adds up values with their weights. "
     "The feed-forward layer works on each position separately. Two linear layers lead to the inner size d_ff. "
     "The first of them is the gate: {}. "
     "What it gives is multiplied with what the second one gives, number by number, and a linear layer leads back.",
     activation_in_words},
};

constexpr Meaning meanings_of_averaging[] = {
    {of_any,
     "Compare the stacked layers with a simpler model: apply all layers to each word separately, then mix the words once, with the product of the layers' weights. "
     "The largest difference from {}.",
     difference_of_averaging},
    {has_activation,
     "The {} of the feed-forward layers is a nonlinearity, so stacked layers are in general more than one averaging.",
     title_of_activation},
    {has_queries_without_keys,
     "A query whose keys are all masked has only weights of 0. "
     "Its row is no average, and with biases it can differ."},
    {is_one_averaging,
     "Once their weights are known, layers of attention alone are one averaging again: there is no nonlinearity between them."},
};

std::string heading_of_masked(const Node& node) {
  if (!adds_positions(node)) return "Mask";
  const bool masks = node.op == &op::mask || adds_mask(node);
  return masks ? "Relative position bias and mask" : "Relative position bias";
}

// --- steps

bool has_weights(const Node& node) { return node.operands.front()->is(role::weights); }

bool is_normalized(const Node& node) {
  return std::ranges::any_of(node.named_operands(), [](const Node* operand) {
    return operand->is(role::gamma) || operand->is(role::gamma_q) || operand->is(role::gamma_k);
  });
}

bool projects(const Node& node) { return is_in_no_head(node) && !has_weights(node) && !is_normalized(node); }

bool of_layer(const Node& node) { return activation_of(node) != nullptr; }

bool belongs_to_scores(const Node& node) { return !of_layer(node); }

constexpr ShownRole roles_of_positions[] = {{role::positions}, {role::positioned}};
constexpr ShownRole roles_of_projections[] = {
    {role::q, is_in_no_head}, {role::k, is_in_no_head}, {role::v, is_in_no_head}};
// What scores are made of, whichever function compares, and then they themselves.
constexpr ShownRole roles_of_scores[] = {{role::scores},    {role::content},  {role::relative},
                                         {role::distances}, {role::expanded}, {role::dot},
                                         {role::half_q},    {role::half_k},   {role::projected_q},
                                         {role::unit_q},    {role::unit_k},   {role::activated, belongs_to_scores},
                                         {role::hidden},    {role::hidden_q}, {role::hidden_k},
                                         {role::rotated_q}, {role::rotated_k}};
constexpr ShownRole roles_of_scaled[] = {{role::scaled}, {role::capped}};
constexpr ShownRole roles_of_masked[] = {{role::masked}};
constexpr ShownRole roles_of_weights[] = {{role::weights}};
constexpr ShownRole roles_of_weighted_sums[] = {{role::output, has_weights}, {role::head, has_weights}};
constexpr ShownRole roles_of_heads[] = {{role::q, is_in_head},
                                        {role::k, is_in_head},
                                        {role::v, is_in_head},
                                        {role::output, is_in_head},
                                        {role::head, is_in_no_head}};
constexpr ShownRole joined_heads[] = {{role::concat}, {role::output, projects}};
constexpr ShownRole feed_forward_layer[] = {{role::gate},  {role::rectified}, {role::activated, of_layer},
                                            {role::inner}, {role::gated},     {role::feed_forward}};

constexpr std::array step_table = {
    Step{"add-positions", "Positional encoding", "add a vector for each position to the embeddings",
         meanings_of_positions, "‹positions› sinusoidal with ‹x› or ‹text›", Extent::projections, roles_of_positions},
    Step{"project",
         "Projection",
         "queries, keys and values from the embeddings",
         meanings_of_projection,
         "‹x› with ‹w_q›, ‹w_k› or ‹w_v›",
         Extent::projections,
         roles_of_projections,
         {},
         meanings_of_names},
    Step{"scores", "Scores", "compare every query with every key", meanings_of_scores,
         "‹q› and ‹k›, or ‹x› with ‹w_q› and ‹w_k›", Extent::weights, roles_of_scores,
         "In the table, queries are rows and keys are columns."},
    Step{"scale", "Scaling", "divide the scores by √d_k", meanings_of_scaled, "‹scores› with ‹scale›, or ‹q› and ‹k›",
         Extent::weights, roles_of_scaled},
    Step{"mask",
         "Mask",
         "replace the scores of masked keys by −∞",
         meanings_of_masked,
         "‹scores› with ‹mask›, ‹causal› or ‹valid_length›, or ‹q› and ‹k›",
         Extent::weights,
         roles_of_masked,
         {},
         {},
         heading_of_masked},
    Step{"softmax", "Softmax", "attention weights: each row nonnegative, with sum one", meanings_of_weights,
         "‹scores›, or ‹q› and ‹k›", Extent::weights, roles_of_weights},
    Step{"weigh", "Weighted sum", "the weighted sum of the values", meanings_of_sum,
         "‹weights› and ‹v›, or ‹scores› and ‹v›, or ‹q›, ‹k› and ‹v›", Extent::output, roles_of_weighted_sums},
    Step{"heads", "Heads", "split q, k and v into heads; the output of each head", meanings_of_heads,
         "‹heads› N with N above 1, or try the example animal", Extent::output, roles_of_heads},
    Step{"concat", "Concatenation", "concatenate the heads and apply the output projection", meanings_of_joined,
         "‹heads› N with N above 1, or ‹w_o›, or try the example animal", Extent::output, joined_heads},
    Step{"feed-forward", "Feed-forward layer",
         "two linear layers with an activation function between them, applied to each position separately",
         meanings_of_feed_forward, "‹d_ff› N for random parameters, or ‹w_1› and ‹w_2›", Extent::output,
         feed_forward_layer},
    Step{"averaging",
         "One averaging",
         "compare stacked layers with a single averaging of the words",
         meanings_of_averaging,
         "‹layers› 2 with one head",
         Extent::output,
         {},
         {},
         {},
         nullptr,
         &family::averaging},
};

}  // namespace

// --- steps

std::span<const Step> steps() { return step_table; }

std::string turned_columns(const Node& rotated) {
  const Waves waves = waves_of(rotated.original()).value_or(Waves{});
  const std::size_t columns = waves.turned ? waves.turned : rotated.frame.shape.columns;
  const std::size_t apart = waves.in_halves ? columns / 2 : 1, next = waves.in_halves ? 2 : 3;
  std::string pairs = fmt::format("columns 1 and {}", 1 + apart);
  if (columns > 2) pairs += fmt::format(", {} and {}", next, next + apart);
  if (columns > 4) pairs += " and so on";
  return fmt::format("{} together{}", pairs, waves.turned ? fmt::format(", of the first {} only", columns) : "");
}

std::string heading_of(const Step& step, const Node& result) {
  return step.heading ? step.heading(result) : std::string(step.title);
}

bool Step::shows(const Node& node) const {
  const auto is_shown = [&](const ShownRole& one) { return &one.role == node.role && one.where(node); };
  return node.op && node.role && node.family == family && (shown.empty() || std::ranges::any_of(shown, is_shown));
}

const Step* step_of(const Node& node) {
  const auto found = std::ranges::find_if(step_table, [&](const Step& step) { return step.shows(node); });
  return found == step_table.end() ? nullptr : &*found;
}

bool leads_to_scores(const Node& node) {
  const Step* const step = step_of(node);
  return step && step->shown.data() == roles_of_scores && !node.is(role::scores);
}

bool is_weighted_sum(const Node& node) {
  const Step* const step = step_of(node);
  return step && step->shown.data() == roles_of_weighted_sums;
}

const NamedScope* place_in_walk(const Node& node) {
  const NamedScope* const averaging = node.within(scope::averaging);
  return averaging ? averaging : node.place;
}

std::string meaning_of(const Step& step, const Node& result) {
  return result.is(role::alignment) ? meaning_of_alignment(result) : claims_in_words(step.meanings, result);
}

std::string meaning_of_alignment(const Node& alignment) {
  return claims_in_words<Node>(meanings_of_alignment, alignment);
}

std::vector<const Claim<Node>*> claims_of_steps() {
  std::vector<const Claim<Node>*> all;
  const auto add = [&](std::span<const Claim<Node>> claims) {
    for (const Claim<Node>& claim : claims) all.push_back(&claim);
  };
  for (const Step& step : step_table) {
    add(step.meanings);
    add(step.background);
  }
  add(meanings_of_alignment);
  return all;
}

}  // namespace attn
