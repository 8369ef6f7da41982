#include "school/check/right_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "school/check/variants.hpp"
#include "school/mistake/mask_reasons.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

namespace {

// --- what stands where

// An operand of an operand and so on, a digit for each; null where there is none.
const Node* operand_at(const Node& node, std::string_view path) {
  const Node* now = &node;
  for (const char digit : path) {
    now = operand(now == &node ? node : now->original(), static_cast<std::size_t>(digit - '0'));
    if (!now) return nullptr;
  }
  return now;
}

template <const Op& op>
bool is_made_by(const Node& node, std::string_view path = "") {
  const Node* const one = operand_at(node, path);
  return one && one->original().op == &op;
}

// Of a node whose name stands for a step that is left out: what it is another name of.
bool is_step_left_out(const Node& node) {
  return node.is_alias() && (node.is(role::scaled) || node.is(role::capped) || node.is(role::masked));
}

// Whether sentences of a batch are apart in it, which one matrix of NumPy does not know.
bool keeps_sentences_apart(const Node& node) {
  if (!node.op || node.is_alias()) return false;
  const bool relates = node.op->needs != Needs::same_rows || node.op->needed || node.find(setting::positions);
  return relates && (node.frame.rows.batch > 1 || sentences_of(*node.op, node.use()) > 1);
}

// --- what code calls a matrix

struct NameInCode {
  const Role& role;
  std::string_view name;
};

// Where it is not the name of the role.
constexpr NameInCode names_in_code[] = {
    {role::scaled_x, "x"},
    {role::positioned, "x"},
    {role::typed, "x"},
    {role::sum, "x"},
    {role::with_class, "x"},
    {role::rotated_q, "q"},
    {role::rotated_k, "k"},
    {role::keys, "k"},
    {role::values, "v"},
    {role::head, "output"},
    {role::feed_forward, "output"},
};

std::string_view name_of_result(const Node& node) {
  const auto row = std::ranges::find_if(names_in_code, [&](const NameInCode& one) { return node.is(one.role); });
  return row != std::end(names_in_code) ? row->name : node.role->leaf;
}

// What a sub-layer or a norm gave is the x of the next one. A name that changes nothing is not taken.
std::string_view name_of_operand(const Node& operand, const Node& of) {
  if (is_step_left_out(operand)) return name_of_operand(*operand.operands[0], of);
  if (!operand.role || operand.role->leaf.empty()) return "x";
  // With one head it is what several would be side by side.
  if (of.is(role::output) && operand.is(role::head)) return role::concat.leaf;
  const bool is_output = operand.is(role::output) || operand.is(role::feed_forward);
  const std::string_view name = is_output ? "x" : name_of_result(operand);
  const bool is_of_memory = name == "x" && of.within(scope::cross_attention) && (of.is(role::k) || of.is(role::v));
  return is_of_memory ? "memory" : name;
}

// --- numbers in code

std::string written_whole(std::size_t number) { return std::to_string(number); }
std::string written_decimal(double number) { return fmt::format("{}", number); }

bool is_root(const Scalar& number) { return number.notation.plain.starts_with("√"); }
bool is_root_of(const Node& node, std::size_t size) {
  const Scalar* const number = node.find(setting::number);
  return number && is_root(*number) && number->value == std::sqrt(static_cast<double>(size));
}

// A number by which something is divided or multiplied.
std::string factor_in_code(const Node& node) {
  const Scalar& number = *node.find(setting::number);
  if (!is_root(number)) return written_decimal(number.value);
  return fmt::format("np.sqrt({})", std::lround(number.value * number.value));
}

// Positions that follow each other, from a first one on.
std::string positions_in_code(const RowPositions& positions, std::size_t count) {
  const std::size_t first = positions.first();
  return first == 0 ? fmt::format("np.arange({})", count) : fmt::format("np.arange({}, {})", first, first + count);
}

struct NumberInCode {
  std::string_view name;
  std::string (*written)(const Node& node);
};

constexpr NumberInCode numbers_in_code[] = {
    {"number", factor_in_code},
    {"sigma", [](const Node& node) { return written_decimal(std::sqrt(node.find(setting::number)->value)); }},
    {"epsilon", [](const Node& node) { return written_decimal(*node.find(setting::epsilon)); }},
    {"smoothing", [](const Node& node) { return written_decimal(*node.find(setting::smoothing)); }},
    {"certain", [](const Node& node) { return written_decimal(1.0 - *node.find(setting::smoothing)); }},
    {"fill", [](const Node& node) { return written_decimal(mask_fill(node)); }},
    {"base", [](const Node& node) { return written_decimal(*node.find(setting::base)); }},
    {"rows", [](const Node& node) { return written_whole(node.frame.shape.rows); }},
    {"columns", [](const Node& node) { return written_whole(node.frame.shape.columns); }},
    {"half", [](const Node& node) { return written_whole(node.frame.shape.columns / 2); }},
    // Of a part of columns or rows: how many parts, which one, and where it begins and ends.
    {"heads",
     [](const Node& node) {
       return written_whole(node.operands[0]->frame.shape.columns / *node.find(setting::count));
     }},
    {"head", [](const Node& node) { return written_whole(*node.find(setting::first) / *node.find(setting::count)); }},
    {"first", [](const Node& node) { return written_whole(*node.find(setting::first)); }},
    {"end", [](const Node& node) { return written_whole(*node.find(setting::first) + *node.find(setting::count)); }},
    // Of positions and of distances between them.
    {"positions",
     [](const Node& node) { return positions_in_code(*node.find(setting::positions), node.frame.shape.rows); }},
    {"key_positions",
     [](const Node& node) { return positions_in_code(*node.find(setting::key_positions), node.frame.shape.columns); }},
    {"reach", [](const Node& node) { return written_whole(*node.find(setting::before_zero)); }},
    // Of a mask: where its last diagonal lies, where that is not the first.
    {"diagonal",
     [](const Node& node) {
       const std::size_t before = *MaskReasons(node.op ? *node.operands[1] : node).before();
       return before == 0 ? std::string() : fmt::format(", k={}", before);
     }},
};

// --- where rows are for

constexpr auto is_matrix_of_layer =
    has_role<role::w_q, role::w_k, role::w_v, role::w_o, role::w_1, role::w_2, role::w_gate, role::w, role::score_m,
             role::score_wq, role::score_wk, role::w_xh, role::w_hh, role::w_xr, role::w_hr, role::w_xz, role::w_hz>;

// x · w + b with parameters.
bool is_linear(const Node& node, bool has_bias) {
  const std::optional<LinearNodes> linear = linear_nodes(node);
  return linear && is_matrix_of_layer(*linear->w) && static_cast<bool>(linear->b) == has_bias;
}

bool compares_units(const Node& node) { return compares(node) && operand(node, 0)->is(role::unit_q); }

// A score that is q · M · k, before what may be added.
bool is_bilinear_score(const Node& node, std::string_view path) {
  const Node* const projected = operand_at(node, fmt::format("{}0", path));
  return is_made_by<op::matmul_transposed>(node, path) && projected && projected->is(role::projected_q);
}

bool is_additive_score(const Node& node, bool has_bias) {
  if (!makes(node, role::scores) || node.op != &op::unpair) return false;
  return has_bias ? is_made_by<op::add>(node, "0001") : is_made_by<op::matmul>(node, "0001");
}

bool is_by_distance(const Node& node, bool is_of_query) {
  if (!makes(node, role::relative) || node.op != &op::by_distance || node.find(setting::distance)->is_in_tree())
    return false;
  const auto follow = [&](const SettingOf<RowPositions>& of) { return node.find(of)->follow_each_other(); };
  return follow(setting::positions) && follow(setting::key_positions) &&
         node.operands[0]->is(role::distances) == is_of_query &&
         (is_of_query || (node.operands[0]->frame.shape.rows == 1 && !node.operands[0]->name.empty()));
}

bool is_divided(const Node& node) { return node.op && node.op == &op::divide; }
bool is_multiplied(const Node& node) { return node.op && node.op == &op::times; }

// Scores that are divided by the square root of the size of the keys.
bool is_divided_by_root_of_keys(const Node& node) {
  const Node* const scores = makes(node, role::scaled) && is_divided(node) ? operand(node, 0) : nullptr;
  const Node* const compared = scores ? comparison_of(*scores) : nullptr;
  return compared && is_root_of(node, compared->operands[1]->frame.shape.columns);
}

bool is_capped(const Node& node) {
  return is_multiplied(node) && is_made_by<op::tanh>(node, "0") && is_made_by<op::divide>(node, "00");
}

bool is_causal(const Node& mask) {
  if (mask.op || mask.frame.rows.batch > 1) return false;
  const MaskReasons reasons(mask);
  return reasons.before() && !reasons.has_padding();
}
bool has_infinite_fill(const Node& node) { return mask_fill(node) == -std::numeric_limits<double>::infinity(); }

// Whether a row of scores may be −∞ alone: where a mask hides all keys, or −∞ was given or is added.
bool may_have_empty_row(const Node& scores) {
  const Node& node = scores.original();
  const auto has_row = [](const Node& of, auto is_empty_cell) {
    const auto matrix = of.cells();
    for (std::size_t i = 0; i < matrix->shape().rows; ++i) {
      if (std::ranges::all_of(row(*matrix, i), is_empty_cell)) return true;
    }
    return false;
  };
  if (!node.op) return std::ranges::any_of(cells(*node.cells()), [](double cell) { return std::isinf(cell); });
  if (is_mask(node)) {
    const Node& mask = node.operands[1]->original();
    return mask.op || has_row(mask, [](double cell) { return cell == 0.0; }) || may_have_empty_row(*node.operands[0]);
  }
  const bool keeps_infinity = node.op == &op::add || node.op == &op::divide || node.op == &op::times;
  return keeps_infinity && std::ranges::any_of(node.operands, [](const Node* one) { return may_have_empty_row(*one); });
}
template <bool is_empty>
bool is_softmax_of_rows(const Node& node) {
  return is_any_softmax(node) && may_have_empty_row(*node.operands[0]) == is_empty;
}

// A residual sum, with where the norm stands.
enum class NormAt { sum, input, elsewhere };
NormAt norm_at(const Node& sum) {
  const auto is_normalised = [&](const Node& x) {
    return std::ranges::any_of(sum.graph->nodes(), [&](const Node& node) {
      const NamedScope* const norm = makes(node, role::normalised) ? node.within(scope::norm) : nullptr;
      return norm && norm->outer == sum.place && &node.operands[0]->original() == &x.original();
    });
  };
  return is_normalised(*sum.operands[0]) ? NormAt::input : is_normalised(sum) ? NormAt::sum : NormAt::elsewhere;
}
template <NormAt where>
bool is_residual(const Node& node) {
  return makes(node, role::sum) && node.op == &op::add && norm_at(node) == where;
}

template <const Op& op>
bool is_function(const Node& node) {
  return node.op && node.op == &op && operand(node, 0)->role;
}

// The norm's γ and β on what it made of x.
bool is_of_normalised(const Node& node, std::string_view path) {
  const Node* const first = operand_at(node, fmt::format("{}0", path));
  return is_made_by<op::multiply>(node, path) && first && first->is(role::normalised);
}

template <std::size_t layout>
bool is_sinusoid_of(const Node& node) {
  return makes(node, role::positions) && node.op == &op::sinusoid &&
         *node.find(setting::layout) == &sinusoid_layouts()[layout] &&
         node.find(setting::positions)->follow_each_other();
}

template <bool in_halves>
bool is_turned_whole(const Node& node) {
  if (!turns(node) || node.op != &op::rotate) return false;
  const Waves of = *waves_of(node);
  return of.in_halves == in_halves && of.turned == 0 && of.slower.empty() && of.positions.follow_each_other();
}

// Of a recurrent cell: x · W + h · U + b below a function.
template <const Op& op>
bool is_gate(const Node& node) {
  return node.op && node.op == &op && is_made_by<op::add>(node, "0") && is_made_by<op::add>(node, "00") &&
         is_made_by<op::matmul>(node, "000") && is_made_by<op::matmul>(node, "001");
}

// --- the table

// Code with braces in it: {01} is operand 1 of operand 0, as a name, and {01:h} is called h; {name} is what is made,
// {all} are the operands in one array, and the others are numbers_in_code. Where several rows fit, the first one
// counts.
struct CodeRow {
  std::string_view makes;
  bool (*where)(const Node& node);
  std::string_view code;
};

constexpr CodeRow code_table[] = {
    // Words and positions.
    {"embeddings", is_function<op::embed>, "{name} = {1}[{0}]  # {0}: whole numbers from 0"},
    {"embeddings times √d",
     [](const Node& node) { return makes(node, role::scaled_x) && is_root_of(node, node.frame.shape.columns); },
     "x = {0} * np.sqrt({0}.shape[-1])"},
    {"sinusoidal positions, interleaved", is_sinusoid_of<0>,
     "angles = {positions}[:, None] / {base} ** (np.arange(0, {columns}, 2) / {columns})\n"
     "waves = np.stack([np.sin(angles), np.cos(angles)], axis=-1)\n"
     "positions = waves.reshape({rows}, -1)[:, :{columns}]"},
    {"sinusoidal positions, concatenated", is_sinusoid_of<1>,
     "angles = {positions}[:, None] / {base} ** (np.arange(0, {columns}, 2) / {columns})\n"
     "positions = np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)[:, :{columns}]"},
    {"learned positions", [](const Node& node) { return makes(node, role::positions) && node.op == &op::rows; },
     "positions = {0}[{first}:{end}]"},
    {"words with positions", [](const Node& node) { return makes(node, role::positioned) && node.op == &op::add; },
     "x = {0:x} + {1}"},

    // Queries, keys and values.
    {"rotary positions of neighbors", is_turned_whole<false>,
     "angles = {positions}[:, None] / {base} ** (np.arange(0, {columns}, 2) / {columns})\n"
     "a, b, cos, sin = {0}[:, 0::2], {0}[:, 1::2], np.cos(angles), np.sin(angles)\n"
     "{name} = np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape({0}.shape)"},
    {"rotary positions in halves", is_turned_whole<true>,
     "angles = {positions}[:, None] / {base} ** (np.arange(0, {columns}, 2) / {columns})\n"
     "a, b, cos, sin = {0}[:, :{half}], {0}[:, {half}:], np.cos(angles), np.sin(angles)\n"
     "{name} = np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)"},
    {"a head's part",
     [](const Node& node) {
       return makes<role::q, role::k, role::v>(node) && node.op == &op::columns && node.within(scope::head);
     },
     "{name}_heads = {0}.reshape(len({0}), {heads}, {columns}).transpose(1, 0, 2)\n"
     "{name} = {name}_heads[{head}]  # the first head is 0"},
    {"keys or values behind earlier ones",
     [](const Node& node) {
       return makes<role::keys, role::values>(node) && node.op == &op::stack && node.operands.size() == 2;
     },
     "{name} = np.concatenate([{0:cache}, {1}], axis=0)"},

    // Scores.
    {"bilinear scores", [](const Node& node) { return makes(node, role::scores) && is_bilinear_score(node, ""); },
     "{name} = {00} @ {01} @ {1}.T"},
    {"bilinear scores with a bias",
     [](const Node& node) { return makes(node, role::scores) && node.op == &op::add && is_bilinear_score(node, "0"); },
     "{name} = {000} @ {001} @ {01}.T + {1}"},
    {"cosines", compares_units,
     "unit_q = {00} / np.maximum(np.linalg.norm({00}, axis=-1, keepdims=True), 1e-300)\n"
     "unit_k = {10} / np.maximum(np.linalg.norm({10}, axis=-1, keepdims=True), 1e-300)\n"
     "{name} = unit_q @ unit_k.T"},
    {"rows of length 1", [](const Node& node) { return makes<role::unit_q, role::unit_k>(node); },
     "{name} = {0} / np.maximum(np.linalg.norm({0}, axis=-1, keepdims=True), 1e-300)"},
    {"dot products",
     [](const Node& node) { return compares(node) || (makes(node, role::dot) && node.op == &op::matmul_transposed); },
     "{name} = {0} @ {1}.T"},
    {"half the squared lengths", [](const Node& node) { return node.op && node.op == &op::half_squared_norms; },
     "{name} = ({0} ** 2).sum(axis=-1, keepdims=True) / 2"},
    {"Gaussian scores",
     [](const Node& node) { return makes(node, role::scores) && node.op == &op::minus_half_squared_distances; },
     "scores = -(({0:q}[:, None] - {1:k}[None, :]) ** 2).sum(axis=-1) / 2"},
    {"Gaussian scores of a width",
     [](const Node& node) {
       return makes(node, role::scores) && is_divided(node) && is_made_by<op::minus_half_squared_distances>(node, "0");
     },
     "scores = -(({00:q}[:, None] - {01:k}[None, :]) ** 2).sum(axis=-1) / (2 * {sigma} ** 2)"},
    {"additive scores", [](const Node& node) { return is_additive_score(node, false); },
     "hidden = ({00000} @ {00001})[:, None] + {00010} @ {00011}  # [queries, keys, h]\n"
     "scores = (np.tanh(hidden) @ {01})[:, :, 0]"},
    {"additive scores with a bias", [](const Node& node) { return is_additive_score(node, true); },
     "hidden = ({00000} @ {00001})[:, None] + {000100} @ {000101} + {00011}  # [queries, keys, h]\n"
     "scores = (np.tanh(hidden) @ {01})[:, :, 0]"},
    {"each query with each key", [](const Node& node) { return makes(node, role::hidden); },
     "hidden = ({0}[:, None] + {1}[None, :]).reshape(-1, {1}.shape[-1])"},
    {"scores with relative positions",
     [](const Node& node) { return makes(node, role::scores) && node.op == &op::add && node.beside(role::content); },
     "scores = {0:content} + {1}"},
    {"dot products with each distance",
     [](const Node& node) { return makes(node, role::distances) && node.op == &op::matmul_transposed; },
     "distances = {0} @ {1}.T"},
    {"numbers by distance", [](const Node& node) { return is_by_distance(node, false); },
     "distance = {key_positions} - {positions}[:, None]  # [queries, keys]\n"
     "relative = {0}[0, np.clip(distance, -{reach}, {reach}) + {reach}]"},
    {"dot products by distance", [](const Node& node) { return is_by_distance(node, true); },
     "distance = {key_positions} - {positions}[:, None]  # [queries, keys]\n"
     "relative = np.take_along_axis({0}, np.clip(distance, -{reach}, {reach}) + {reach}, axis=-1)"},

    // From scores to weights, and to the output.
    {"scores that are not divided", [](const Node& node) { return node.is(role::scaled) && node.is_alias(); },
     "scaled = {0}"},
    {"scores divided by √d_k", is_divided_by_root_of_keys, "scaled = {0} / np.sqrt({keys}.shape[-1])"},
    {"scores divided by a number", [](const Node& node) { return makes(node, role::scaled) && is_divided(node); },
     "scaled = {0} / {number}"},
    {"scores times a number", [](const Node& node) { return makes(node, role::scaled) && is_multiplied(node); },
     "scaled = {0} * {number}"},
    {"numbers with a soft cap", is_capped, "{name} = {number} * np.tanh({000} / {number})"},
    {"scores that are not masked", [](const Node& node) { return node.is(role::masked) && node.is_alias(); },
     "masked = {0}"},
    {"scores behind a causal mask",
     [](const Node& node) {
       return masks_scores(node) && has_infinite_fill(node) && is_causal(node.operands[1]->original());
     },
     "mask = np.tril(np.ones(({rows}, {columns}), dtype=bool){diagonal})  # True: may attend to the key\n"
     "masked = np.where(mask, {0}, -np.inf)"},
    {"masked scores", [](const Node& node) { return masks_scores(node) && has_infinite_fill(node); },
     "masked = np.where({1}, {0}, -np.inf)  # True: may attend to the key"},
    {"masked scores with another fill", masks_scores,
     "fill = np.where({1}.any(axis=-1, keepdims=True), {fill}, -np.inf)\n"
     "masked = np.where({1}, {0}, fill)  # True: may attend to the key"},
    {"scores with what is added", [](const Node& node) { return makes(node, role::masked) && node.op == &op::add; },
     "masked = {0} + {1}"},
    {"a causal mask", [](const Node& node) { return node.is(role::mask) && is_causal(node); },
     "mask = np.tril(np.ones(({rows}, {columns}), dtype=bool){diagonal})"},
    {"softmax", is_softmax_of_rows<false>,
     "e = np.exp({0} - {0}.max(axis=-1, keepdims=True))\n"
     "{name} = e / e.sum(axis=-1, keepdims=True)"},
    {"softmax where a row is masked", is_softmax_of_rows<true>,
     "m = {0}.max(axis=-1, keepdims=True)\n"
     "e = np.exp({0} - np.where(np.isinf(m), 0, m))  # a row of -inf alone becomes zeros\n"
     "{name} = e / np.maximum(e.sum(axis=-1, keepdims=True), 1)"},
    {"weighted sum", [](const Node& node) { return sums_values(node) && !node.is(role::weights); },
     "{name} = {0} @ {1}"},
    {"heads side by side", [](const Node& node) { return makes(node, role::concat) && node.op == &op::concatenate; },
     "concat = {all:output}.transpose(1, 0, 2).reshape({rows}, -1)  # output: [heads, n, d_v]"},

    // Layers.
    {"post-norm residual sum", is_residual<NormAt::sum>,
     "x = {0:x} + {1:sublayer}  # x goes into the sub-layer; the norm follows"},
    {"pre-norm residual sum", is_residual<NormAt::input>,
     "x = {0:x} + {1:sublayer}  # x without the norm, which only the sub-layer has"},
    {"residual sum", is_residual<NormAt::elsewhere>, "x = {0:x} + {1:sublayer}"},
    {"mean of each row", [](const Node& node) { return makes(node, role::mean) && node.op == &op::row_means; },
     "mean = {0:x}.mean(axis=-1, keepdims=True)"},
    {"variance of each row",
     [](const Node& node) { return makes(node, role::variance) && node.op == &op::row_variances; },
     "variance = {0:x}.var(axis=-1, keepdims=True)"},
    {"layer normalization",
     [](const Node& node) { return makes(node, role::normalised) && node.op == &op::standardize; },
     "mean = {0:x}.mean(axis=-1, keepdims=True)\n"
     "variance = {0:x}.var(axis=-1, keepdims=True)\n"
     "normalised = ({0:x} - mean) / np.sqrt(variance + {epsilon})"},
    {"root mean square normalization",
     [](const Node& node) { return makes(node, role::normalised) && node.op == &op::divide_by_root_mean_square; },
     "normalised = {0:x} / np.sqrt(({0:x} ** 2).mean(axis=-1, keepdims=True) + {epsilon})"},
    {"γ and β of a norm",
     [](const Node& node) { return node.op && node.op == &op::add && is_of_normalised(node, "0"); },
     "{name} = {01} * {00} + {1}"},
    {"γ of a norm", [](const Node& node) { return is_of_normalised(node, ""); }, "{name} = {1} * {0}"},
    {"1 + γ of a norm", [](const Node& node) { return node.op && node.op == &op::add && is_of_normalised(node, "1"); },
     "{name} = (1 + {11}) * {0}"},
    {"ReLU", is_function<op::relu>, "{name} = np.maximum({0}, 0)"},
    {"GELU", is_function<op::gelu>,
     "from math import erf\n"
     "{name} = {0} / 2 * (1 + np.vectorize(erf)({0} / np.sqrt(2)))"},
    {"GELU by tanh", is_function<op::gelu_tanh>,
     "{name} = {0} / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * ({0} + 0.044715 * {0} ** 3)))"},
    {"SiLU", is_function<op::silu>, "{name} = {0} / (1 + np.exp(-{0}))"},
    {"tanh", is_function<op::tanh>, "{name} = np.tanh({0})"},
    {"gated layer", [](const Node& node) { return makes(node, role::gated); }, "gated = {0} * {1}"},

    // Recurrent cells.
    {"gate of a recurrent cell", is_gate<op::sigmoid>,
     "{name} = 1 / (1 + np.exp(-({0000} @ {0001} + {0010:h} @ {0011} + {01})))"},
    {"candidate state", [](const Node& node) { return makes(node, role::candidate) && is_gate<op::tanh>(node); },
     "candidate = np.tanh({0000} @ {0001} + {0010} @ {0011} + {01})"},
    {"what a gate keeps of a state", [](const Node& node) { return makes(node, role::remembered); },
     "remembered = {0} * {1:h}"},
    {"next state of a gated cell",
     [](const Node& node) {
       return makes<role::h, role::state>(node) && node.op == &op::add && node.beside(role::update);
     },
     "{name} = {10} * {110:h} + (1 - {10}) * {0}"},
    {"next state", [](const Node& node) { return makes<role::h, role::state>(node) && is_gate<op::tanh>(node); },
     "{name} = np.tanh({0000} @ {0001} + {0010:h} @ {0011} + {01})"},
    {"first state of a decoder",
     [](const Node& node) {
       return makes(node, role::state) && is_made_by<op::tanh>(node) && is_made_by<op::matmul>(node, "00");
     },
     "state = np.tanh({000:last} @ {001} + {01})"},
    {"context beside the state",
     [](const Node& node) {
       return makes(node, role::joined) && node.op == &op::concatenate && node.operands.size() == 2;
     },
     "joined = np.concatenate([{0}, {1}], axis=-1)"},

    // Words that come out.
    {"logits of shared embeddings",
     [](const Node& node) { return makes(node, role::logits) && node.op == &op::matmul_transposed; },
     "logits = {0:x} @ {1}.T"},
    {"logits of shared embeddings with a bias",
     [](const Node& node) {
       return makes(node, role::logits) && node.op == &op::add && is_made_by<op::matmul_transposed>(node, "0");
     },
     "logits = {00:x} @ {01}.T + {1}"},
    {"logits at a temperature", [](const Node& node) { return makes(node, role::tempered) && is_divided(node); },
     "tempered = {0} / {number}"},
    {"distribution over some words",
     [](const Node& node) { return makes(node, role::limited) && is_made_by<op::mask>(node, "0"); },
     "limited = np.where({01}, {00}, 0)\n"
     "limited /= limited.sum(axis=-1, keepdims=True)"},
    {"cross-entropy",
     [](const Node& node) { return node.op && node.op == &op::cross_entropy && *node.find(setting::smoothing) == 0.0; },
     "shifted = {0} - {0}.max(axis=-1, keepdims=True)\n"
     "log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))\n"
     "{name} = -log_p[np.arange(len({1})), {1}]  # {1}: whole numbers from 0"},
    {"cross-entropy with label smoothing", [](const Node& node) { return node.op && node.op == &op::cross_entropy; },
     "shifted = {0} - {0}.max(axis=-1, keepdims=True)\n"
     "log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))\n"
     "{name} = -{certain} * log_p[np.arange(len({1})), {1}] - {smoothing} * log_p.mean(axis=-1)"},
    {"mean loss", [](const Node& node) { return makes(node, role::loss) && node.op == &op::matmul; },
     "loss = {0} @ {1}  # counted: 1 / the number of words that count, and 0 for padding"},

    // Any other product with parameters.
    {"linear layer", [](const Node& node) { return is_linear(node, false); }, "{name} = {0} @ {1}"},
    {"linear layer with a bias", [](const Node& node) { return is_linear(node, true); }, "{name} = {00} @ {01} + {1}"},
};

// --- code of a row

// A row's code for a node. Nothing: an operand has no name, two have the same, or a batch keeps its sentences apart.
class CodeOfRow {
 public:
  CodeOfRow(const CodeRow& row, const Node& node) : node_(node) {
    made_.row = row.makes;
    made_.made = &node;
    is_whole_ = !keeps_sentences_apart(node);
    for (std::string_view rest = row.code; !rest.empty();) {
      const std::size_t open = rest.find('{'), close = rest.find('}');
      made_.code += rest.substr(0, open);
      if (open == std::string_view::npos) break;
      made_.code += written(rest.substr(open + 1, close - open - 1));
      rest.remove_prefix(close + 1);
    }
    const std::size_t last_line = made_.code.rfind('\n') + 1;
    made_.result = made_.code.substr(last_line, made_.code.find(' ', last_line) - last_line);
  }

  std::optional<RightCode> result() const { return is_whole_ ? std::optional(made_) : std::nullopt; }

 private:
  std::string written(std::string_view what) {
    const std::size_t colon = what.find(':');
    const std::string_view first = what.substr(0, colon);
    const std::string_view called = colon == std::string_view::npos ? "" : what.substr(colon + 1);
    if (first == "name") return std::string(name_of_result(node_));
    if (first == "all") return known_as(called, node_.operands);
    if (first == "keys") return operand_in_code(*comparison_of(*node_.operands[0])->operands[1], "");
    if (first.find_first_not_of("0123456789") != std::string_view::npos)
      return std::ranges::find(numbers_in_code, first, &NumberInCode::name)->written(node_);
    for (std::size_t end = 1; end < first.size(); ++end)
      is_whole_ = is_whole_ && !keeps_sentences_apart(*operand_at(node_, first.substr(0, end)));
    return operand_in_code(*operand_at(node_, first), called);
  }

  // Its name, or the sum that it is.
  std::string operand_in_code(const Node& operand, std::string_view called) {
    if (operand.name.empty() && called.empty()) {
      if (operand.op && operand.op == &op::add)
        return operand_in_code(*operand.operands[0], "") + " + " + operand_in_code(*operand.operands[1], "");
      is_whole_ = false;
      return "";
    }
    return known_as(called.empty() ? name_of_operand(operand, node_) : called, {&operand});
  }

  std::string known_as(std::string_view name, std::vector<const Node*> matrices) {
    for (const Node*& one : matrices) one = &one->original();
    const auto known = std::ranges::find(made_.names, name, &CodeName::name);
    if (known == made_.names.end()) {
      made_.names.push_back({std::string(name), std::move(matrices)});
    } else {
      is_whole_ = is_whole_ && known->matrices == matrices;
    }
    return std::string(name);
  }

  const Node& node_;
  RightCode made_;
  bool is_whole_ = true;
};

std::optional<RightCode> code_of_named(const Node& node) {
  const auto row = std::ranges::find_if(code_table, [&](const CodeRow& one) { return one.where(node); });
  return row == std::end(code_table) ? std::nullopt : CodeOfRow(*row, node).result();
}

}  // namespace

std::optional<RightCode> right_code_of(const Node& node) {
  const Node& named = named_for(node);
  if (named.name.empty() || named.family != &family::forward) return std::nullopt;
  const std::optional<RightCode> code = code_of_named(named);
  const Node& original = named.original();
  return code || &original == &named || original.name.empty() ? code : code_of_named(original);
}

std::optional<std::string> right_code(const Node& node) {
  const std::optional<RightCode> code = right_code_of(node);
  return code ? std::optional(code->code) : std::nullopt;
}

std::vector<std::string_view> rows_of_right_code() {
  std::vector<std::string_view> rows;
  for (const CodeRow& row : code_table) rows.push_back(row.makes);
  return rows;
}

}  // namespace attn
