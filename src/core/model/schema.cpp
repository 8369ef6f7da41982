#include "core/model/schema.hpp"

#include <algorithm>
#include <array>

#include "core/support/error.hpp"

namespace attn {

namespace {

using enum Initialization;
using enum Presence;
using size_name::all_d_k, size_name::all_d_q, size_name::d_ff, size_name::d_model, size_name::one;

// --- when a parameter stands

bool always(const ModelRecipe&) { return true; }
bool in_layers(const ModelRecipe& recipe) { return recipe.norm->in_layers(); }
bool has_two_norms(const ModelRecipe& recipe) { return recipe.norm->has_two(); }
bool never(const ModelRecipe&) { return false; }
bool gated(const ModelRecipe& recipe) { return recipe.gated; }
bool at_the_end(const ModelRecipe& recipe) { return recipe.norm->at_the_end; }
bool with_biases(const ModelRecipe& recipe) { return recipe.biases; }
bool shifts(const ModelRecipe& recipe) { return recipe.norm_kind->shifts; }
bool gated_with_biases(const ModelRecipe& recipe) { return gated(recipe) && recipe.biases; }
bool shifted_after(const ModelRecipe& recipe) { return shifts(recipe) && has_two_norms(recipe); }
bool shifted_in_layers(const ModelRecipe& recipe) { return shifts(recipe) && in_layers(recipe); }
bool drawn_shift_in_layers(const ModelRecipe& recipe) { return shifted_in_layers(recipe) && with_biases(recipe); }
bool drawn_shift_at_the_end(const ModelRecipe& recipe) {
  return shifts(recipe) && at_the_end(recipe) && with_biases(recipe);
}
bool untied(const ModelRecipe& recipe) { return !recipe.tied_output; }
bool untied_with_biases(const ModelRecipe& recipe) { return untied(recipe) && with_biases(recipe); }

constexpr Parameter weight(const Role& role, const SizeName& rows, const SizeName& columns) {
  return {role, rows, columns, map, required, always, always};
}
constexpr Parameter bias(const Role& role, const SizeName& columns) {
  return {role, one, columns, zeros, optional, always, with_biases};
}

// --- parts

const Parameter attention_parameters[] = {
    weight(role::w_q, d_model, all_d_q),
    bias(role::b_q, all_d_q),
    weight(role::w_k, d_model, all_d_k),
    bias(role::b_k, all_d_k),
    weight(role::w_v, d_model, all_d_k),
    bias(role::b_v, all_d_k),
    weight(role::w_o, all_d_q, d_model),
    bias(role::b_o, d_model),
    {role::gamma_q, one, size_name::normed_q, ones, optional, always, never},
    {role::gamma_k, one, size_name::normed_k, ones, optional, always, never},
};

const Parameter feed_forward_parameters[] = {
    {role::w_gate, d_model, d_ff, map, placed, gated, gated},
    {role::b_gate, one, d_ff, zeros, optional, gated, gated_with_biases},
    weight(role::w_1, d_model, d_ff),
    bias(role::b_1, d_ff),
    weight(role::w_2, d_ff, d_model),
    bias(role::b_2, d_model),
};

const Parameter norm[] = {
    {role::gamma, one, d_model, ones, placed, in_layers, in_layers},
    {role::beta, one, d_model, zeros, optional, shifted_in_layers, drawn_shift_in_layers},
};

const Parameter post_norm[] = {
    {role::gamma, one, d_model, ones, placed, has_two_norms, has_two_norms},
    {role::beta, one, d_model, zeros, optional, shifted_after, shifted_after},
};

const Parameter final_norm[] = {
    {role::gamma, one, d_model, ones, required, always, at_the_end},
    {role::beta, one, d_model, zeros, optional, shifts, drawn_shift_at_the_end},
};

const Parameter source_embedding[] = {{role::e, size_name::source_words, d_model, vectors, required, always, always}};
const Parameter target_embedding[] = {{role::e, size_name::target_words, d_model, vectors, required, always, always}};
const Parameter source_positions[] = {
    {role::table, size_name::source_places, d_model, vectors, required, always, always}};
const Parameter target_positions[] = {
    {role::table, size_name::target_places, d_model, vectors, required, always, always}};

// What only models that are read have.
constexpr Parameter weight_of_files(const Role& role, const SizeName& rows, const SizeName& columns) {
  return {role, rows, columns, map, required, always, never};
}
constexpr Parameter bias_of_files(const Role& role, const SizeName& columns) {
  return {role, one, columns, zeros, optional, always, never};
}
const Parameter norm_of_files[] = {
    {role::gamma, one, d_model, ones, required, always, never},
    {role::beta, one, d_model, zeros, optional, shifts, never},
};
const Parameter source_types[] = {weight_of_files(role::e, size_name::types, d_model)};
const Parameter patches[] = {weight_of_files(role::w, size_name::patch, d_model), bias_of_files(role::b, d_model)};
const Parameter class_token[] = {{role::class_token, one, d_model, vectors, optional, always, never}};
const Parameter distance_parameters[] = {weight_of_files(role::table, size_name::buckets, size_name::heads)};
const Parameter transform[] = {weight_of_files(role::w, d_model, d_model), bias_of_files(role::b, d_model)};

// A tied one has no map of its own.
const Parameter output[] = {
    {role::w, d_model, size_name::target_words, map, optional, untied, untied},
    {role::b, one, size_name::target_words, zeros, optional, always, untied_with_biases},
};

const SchemaPart layer[] = {
    {&scope::self_attention, 0, attention_parameters},
    {&scope::norm, 1, norm},
    {&scope::post_norm, 1, post_norm},
    {&scope::feed_forward, 0, feed_forward_parameters, &d_ff},
    {&scope::norm, 2, norm, &d_ff},
    {&scope::post_norm, 2, post_norm, &d_ff},
};

const SchemaPart crossing_layer[] = {
    {&scope::self_attention, 0, attention_parameters},
    {&scope::norm, 1, norm},
    {&scope::post_norm, 1, post_norm},
    {&scope::cross_attention, 0, attention_parameters},
    {&scope::norm, 2, norm},
    {&scope::post_norm, 2, post_norm},
    {&scope::feed_forward, 0, feed_forward_parameters, &d_ff},
    {&scope::norm, 3, norm, &d_ff},
    {&scope::post_norm, 3, post_norm, &d_ff},
};

const SchemaPart last[] = {{&scope::norm, 0, final_norm}};
const SchemaPart of_distances[] = {{&scope::relative_positions, 0, distance_parameters, &size_name::buckets}};
const SchemaPart of_source_words[] = {{nullptr, 0, source_embedding, &size_name::source_words}};
const SchemaPart of_target_words[] = {{nullptr, 0, target_embedding}};
const SchemaPart beside_source_words[] = {{nullptr, 0, patches, &size_name::patch},
                                          {nullptr, 0, class_token, &d_model},
                                          {&scope::norm, 0, norm_of_files, &d_model}};
const SchemaPart beside_target_words[] = {{&scope::norm, 0, norm_of_files, &d_model}};
const SchemaPart of_source_types[] = {{nullptr, 0, source_types}};
const SchemaPart of_source_places[] = {{nullptr, 0, source_positions}};
const SchemaPart of_target_places[] = {{nullptr, 0, target_positions}};
const SchemaPart of_output[] = {
    {&scope::transform, 0, transform, &d_model}, {&scope::norm, 0, norm_of_files, &d_model}, {nullptr, 0, output}};

// --- sections

bool any_kind(const ModelKind&) { return true; }
bool encodes(const ModelKind& kind) { return kind.encodes; }
bool decodes(const ModelKind& kind) { return kind.decodes; }
bool crosses(const ModelKind& kind) { return kind.crosses; }
bool only_decodes(const ModelKind& kind) { return kind.decodes && !kind.crosses; }

std::size_t encoder_layers(const TransformerSizes& sizes) { return sizes.encoder_layers; }
std::size_t decoder_layers(const TransformerSizes& sizes) { return sizes.decoder_layers; }

const std::array sections = {
    SchemaSection{&scope::source_embedding, nullptr, of_source_words, encodes, &size_name::source_words},
    SchemaSection{&scope::source_embedding, nullptr, beside_source_words, encodes, nullptr},
    SchemaSection{&scope::source_types, nullptr, of_source_types, encodes, &size_name::types},
    SchemaSection{&scope::source_positions, nullptr, of_source_places, encodes, &size_name::source_places},
    SchemaSection{&scope::encoder, nullptr, of_distances, encodes, nullptr},
    SchemaSection{&scope::encoder, encoder_layers, layer, encodes, nullptr},
    SchemaSection{&scope::encoder, nullptr, last, encodes, nullptr},
    SchemaSection{&scope::target_embedding, nullptr, of_target_words, decodes, &size_name::target_words},
    SchemaSection{&scope::target_embedding, nullptr, beside_target_words, decodes, nullptr},
    SchemaSection{&scope::target_positions, nullptr, of_target_places, decodes, &size_name::target_places},
    SchemaSection{&scope::decoder, nullptr, of_distances, decodes, nullptr},
    SchemaSection{&scope::decoder, decoder_layers, crossing_layer, crosses, nullptr},
    SchemaSection{&scope::decoder, decoder_layers, layer, only_decodes, nullptr},
    SchemaSection{&scope::decoder, nullptr, last, decodes, nullptr},
    SchemaSection{&scope::output, nullptr, of_output, any_kind, &size_name::target_words},
};

// An attention by itself: its sizes are those of a problem.
const SizeName queries_d_k{"h·d_k", nullptr}, keys_d_k{"h_k·d_k", nullptr}, keys_d_v{"h_k·d_v", nullptr},
    outputs_d_v{"h·d_v", nullptr}, key_input{"input size of the keys", nullptr},
    value_input{"input size of the values", nullptr}, output_size{"size of the output", nullptr};

const Parameter lone_attention[] = {
    weight(role::w_q, d_model, queries_d_k),
    weight(role::w_k, key_input, keys_d_k),
    weight(role::w_v, value_input, keys_d_v),
    {role::w_o, outputs_d_v, output_size, map, optional, always, always},
    bias(role::b_q, queries_d_k),
    bias(role::b_k, keys_d_k),
    bias(role::b_v, keys_d_v),
    bias(role::b_o, output_size),
};

const SchemaPart lone_part[] = {{nullptr, 0, lone_attention}};

constexpr std::array kinds = {
    ModelKind{"encoder-decoder", "an encoder, and a decoder that attends to its output", true, true, true},
    ModelKind{"encoder-only", "an encoder, which makes a new vector of each word", true, false, false},
    ModelKind{"decoder-only", "only a decoder, which continues a text", false, true, false},
};

// --- learned

// Rows and columns that are words have their labels.
Axis axis_of(const SizeName& size, const Vocabularies& words) {
  if (&size == &size_name::source_words) return words.source;
  return &size == &size_name::target_words ? words.target : axis("features");
}

Value input_of(Graph& graph, const ParameterRow& row, const ModelParameters& numbers, const Vocabularies& words) {
  Frame frame{row.shape, axis_of(row.parameter->rows, words), axis_of(row.parameter->columns, words)};
  const auto found = numbers.find(row.name);
  if (found == numbers.end()) return graph.input(row.called, std::move(frame));
  return graph.input(row.called, found->second, frame.rows, frame.columns);
}

}  // namespace

// --- schema

namespace size_name {

const SizeName one{"", [](const TransformerSizes&) { return std::size_t{1}; }};
const SizeName d_model{"d_model", [](const TransformerSizes& sizes) { return sizes.d_model; }};
const SizeName all_d_q{"h·d_k", [](const TransformerSizes& sizes) { return sizes.heads * sizes.d_k(); }};
const SizeName all_d_k{"h_k·d_k",
                       [](const TransformerSizes& sizes) { return sizes.all_heads().of_keys * sizes.d_k(); }};
const SizeName normed_q{"size of the norm of queries", [](const TransformerSizes& sizes) { return sizes.normed_q; }};
const SizeName normed_k{"size of the norm of keys", [](const TransformerSizes& sizes) { return sizes.normed_k; }};
const SizeName d_ff{"d_ff", [](const TransformerSizes& sizes) { return sizes.d_ff; }};
const SizeName source_words{"source vocabulary", [](const TransformerSizes& sizes) { return sizes.source_words; }};
const SizeName target_words{"target vocabulary", [](const TransformerSizes& sizes) { return sizes.target_words; }};
const SizeName source_places{"source positions", [](const TransformerSizes& sizes) { return sizes.source_places; }};
const SizeName target_places{"target positions", [](const TransformerSizes& sizes) { return sizes.target_places; }};
const SizeName types{"token types", [](const TransformerSizes& sizes) { return sizes.types; }};
const SizeName buckets{"buckets", [](const TransformerSizes& sizes) { return sizes.buckets; }};
const SizeName heads{"h", [](const TransformerSizes& sizes) { return sizes.heads; }};
const SizeName patch{"numbers of a patch", [](const TransformerSizes& sizes) { return sizes.patch; }};

}  // namespace size_name

std::span<const ModelKind> model_kinds() { return kinds; }

std::span<const SchemaSection> schema_sections() { return sections; }

std::span<const SchemaPart> schema_of_attention() { return lone_part; }

const Parameter* find_parameter(const Role& role) {
  for (const SchemaSection& section : sections) {
    for (const SchemaPart& part : section.parts) {
      const auto found = std::ranges::find(part.parameters, &role, [](const Parameter& row) { return &row.role; });
      if (found != part.parameters.end()) return &*found;
    }
  }
  return nullptr;
}

std::vector<ParameterRow> parameter_rows(const ModelKind& kind, const TransformerSizes& sizes) {
  std::vector<ParameterRow> rows;
  const auto add_parts = [&](const std::vector<ScopeName>& outer, std::span<const SchemaPart> parts) {
    for (const SchemaPart& part : parts) {
      if (part.size && part.size->in(sizes) == 0) continue;
      std::vector<ScopeName> scopes = outer;
      if (part.scope) scopes.push_back(part.number ? ScopeName(*part.scope, part.number) : *part.scope);
      for (const Parameter& parameter : part.parameters) {
        const Shape shape{parameter.rows.in(sizes), parameter.columns.in(sizes)};
        rows.push_back({&parameter, {scopes, parameter.role}, shape});
      }
    }
  };
  for (const SchemaSection& section : sections) {
    if (!section.stands(kind) || (section.words && section.words->in(sizes) == 0)) continue;
    if (!section.layers) add_parts({*section.scope}, section.parts);
    const std::size_t layers = section.layers ? section.layers(sizes) : 0;
    for (std::size_t i = 1; i <= layers; ++i) {
      add_parts({*section.scope, {scope::number, i}}, section.parts);
    }
  }
  return rows;
}

// --- learned

ParameterNodes::ParameterNodes(Graph& graph, const std::vector<ParameterRow>& rows, const ModelParameters& numbers,
                               const Vocabularies& words) {
  auto values = std::make_shared<Values>();
  for (const ParameterRow& row : rows) values->emplace(row.name, input_of(graph, row, numbers, words));
  values_ = std::move(values);
}

ParameterNodes ParameterNodes::within(const std::vector<ScopeName>& scopes) const {
  std::string prefix = prefix_;
  for (const ScopeName& scope : scopes) prefix += scope.text + '.';
  return {values_, std::move(prefix)};
}

bool ParameterNodes::has(const Name& name) const { return values_->contains(prefix_ + name.text()); }

std::optional<Value> ParameterNodes::find(const Name& name) const {
  const auto found = values_->find(prefix_ + name.text());
  return found == values_->end() ? std::nullopt : std::optional(found->second);
}

const Value& ParameterNodes::at(const Name& name) const {
  const auto found = values_->find(prefix_ + name.text());
  if (found == values_->end()) fail("the model has no parameter {}{}: give a file that has it", prefix_, name.text());
  return found->second;
}

Projection ParameterNodes::projection(const LinearRoles& of) const { return {at(of.w), find(of.b)}; }

}  // namespace attn
