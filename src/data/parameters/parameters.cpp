#include "data/parameters/parameters.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "core/model/schema.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/safetensors.hpp"
#include "data/parameters/shards.hpp"
#include "data/parameters/source.hpp"

namespace attn {

// --- parameters

namespace {

bool is_vector(std::string_view name) {
  const Parameter* const parameter = find_parameter(called(name).role());
  return parameter && parameter->is_vector();
}

// What `use` makes of the matrices in the scope of a file.
template <class Use>
auto with_source(const std::string& path, std::string_view scope, const Use& use) {
  const std::string where = place_of_file(path);
  const std::string prefix = scope.empty() || scope.ends_with('.') ? std::string(scope) : std::string(scope) + '.';
  try {
    return use(open_parameters(path, where, prefix), where);
  } catch (InputError& error) {
    error.is_about_file(path);
    throw;
  }
}

}  // namespace

ParameterFile read_parameters(const std::string& path, std::string_view scope, std::size_t heads) {
  return with_source(path, scope, [heads](const ParameterSource& source, const std::string& where) {
    ParameterFile file = translate(source, where, heads);
    ReadInputs::tell({"parameters", where, count_of(file.parameters.size(), "matrix", "matrices"), file.assumed});
    return file;
  });
}

std::optional<ParametersAmong> parameters_among(std::span<const MatrixFile> matrices, const std::string& where) {
  std::map<std::string, const Matrix*, std::less<>> by_name;
  TensorNames names;
  for (const MatrixFile& file : matrices) {
    if (file.count > 1) continue;
    by_name.emplace(file.name, &file.matrix);
    names.insert(file.name);
  }
  const std::vector<Recognized> layouts = recognize(names);
  if (layouts.empty() || layouts.front().layout->name == own_layout || layouts.front().missing) return std::nullopt;
  ParametersAmong among;
  for (const PlacedTensor& tensor : layouts.front().tensors) among.names.insert(tensor.name);
  among.file = translate({among.names, [&](const std::string& name) { return *by_name.at(name); }, {}}, where);
  return among;
}

std::vector<NamedParameter> read_part(const std::string& path, std::string_view scope, const ScopeKind& part) {
  return with_source(path, scope, [&](const ParameterSource& source, const std::string& where) {
    std::vector<NamedParameter> parameters;
    for (const PartTensor& row : tensors_of_part(part)) {
      const std::string name(row.name);
      if (!source.names.contains(name)) continue;
      Matrix tensor = source.read(name);
      if (!std::ranges::all_of(cells(tensor), [](double cell) { return std::isfinite(cell); }))
        fail("{}: {} has a number that is not finite: every number must be finite", where, name);
      parameters.push_back({name, row.role, row.is_transposed ? transposed(tensor) : std::move(tensor)});
      ReadInput told{name, where, to_string(parameters.back().matrix.shape())};
      if (row.is_transposed) told.assumed.push_back(order_of_weights(true));
      ReadInputs::tell(std::move(told));
    }
    return parameters;
  });
}

void write_safetensors(const std::vector<NamedMatrix>& parameters, Sink& sink) {
  std::vector<WrittenTensor> tensors;
  for (const NamedMatrix& parameter : parameters) {
    const bool one_dimension = is_vector(parameter.name) && parameter.matrix->shape().rows == 1;
    tensors.push_back({parameter.name, parameter.matrix, one_dimension ? std::size_t{1} : std::size_t{2}});
  }
  write_safetensors(tensors, sink);
}

void write_safetensors(const ParameterSet& parameters, Sink& sink) {
  std::vector<NamedMatrix> named;
  for (const auto& [name, matrix] : parameters) named.push_back({name, &matrix});
  write_safetensors(named, sink);
}

// --- layout

namespace {

using enum Need;

// Our own names follow from the schema.

std::string text_of(const SchemaPart& part) {
  if (!part.scope) return "";
  return (part.number ? ScopeName(*part.scope, part.number) : ScopeName(*part.scope)).text + '.';
}

Size size_in_tensor(const SizeName& size) { return {1, size.name}; }

std::vector<Part> own_parts(std::span<const SchemaPart> parts) {
  std::vector<Part> own;
  for (const SchemaPart& part : parts) {
    own.push_back({text_of(part), text_of(part), {}, part.size != nullptr});
    for (const Parameter& parameter : part.parameters) {
      const std::string name(parameter.role.leaf);
      const Need need = parameter.presence == Presence::required ? always : sometimes;
      own.back().tensors.push_back(
          {name, {name}, false, size_in_tensor(parameter.rows), size_in_tensor(parameter.columns), need});
    }
  }
  return own;
}

// A kind of model; a file need not have its encoder.
Layout own_layout_of(std::string_view name, const ModelKind& kind) {
  Layout layout{name, 1, {}};
  for (const SchemaSection& section : schema_sections()) {
    if (!section.stands(kind)) continue;
    const std::string scope = std::string(section.scope->name) + (section.layers ? ".#." : ".");
    const bool is_required = section.layers && !kind.encodes;
    layout.scopes.push_back({scope, scope, own_parts(section.parts), is_required});
  }
  return layout;
}

// The names of others.

// What a size of the schema is called there.
struct SizeThere {
  std::string_view ours, theirs;
};

// In PyTorch's documentation.
constexpr SizeThere sizes_there[] = {
    {"h_k·d_k", "d_model"},
    {"h_k·d_v", "d_model"},
    {"h·d_k", "d_model"},
    {"h·d_v", "d_model"},
    {"size of the output", "d_model"},
    {"input size of the keys", "kdim"},
    {"input size of the values", "vdim"},
};

// A tensor by its name there, and the roles of what is made of it.
struct Renamed {
  std::string_view theirs;
  std::array<const Role*, 3> ours;  // as many as there are
  bool is_transposed = false;
  std::optional<Need> need = {};  // nothing: as the schema says
  Packing packing = Packing::equal;
  bool is_kernel = false;
};

struct RenamedPart {
  std::string_view theirs;
  SchemaPart ours;  // its scope and number
  std::span<const Renamed> tensors;
};

// A section of the schema; null: an attention by itself. With '#' in its name, or as the only layer, it is
// one of layers.
struct RenamedSection {
  std::string_view theirs;
  const ScopeKind* scope;
  std::string_view ours;  // behind the scope: "#.", "1." or nothing
  std::span<const RenamedPart> parts;
  bool is_required;
};

struct ForeignLayout {
  std::string_view name;
  std::string_view before;  // what stands before all names of `sections`
  std::span<const RenamedSection> sections;
  std::span<const RenamedSection> outside = {};  // has nothing before it
  std::span<const BroughtField> brings = {};
  std::span<const SizeThere> sizes = sizes_there;
  std::string_view silent_on = {};
  std::span<const std::string_view> left_out = {};  // what of it is not computed here, by its whole names
};

constexpr bool transposed_there = true, as_it_is = false;

// PyTorch's modules store maps as (out, in).
constexpr Renamed torch_attention[] = {
    {"in_proj_weight", {&role::w_q, &role::w_k, &role::w_v}, transposed_there, packed},
    {"q_proj_weight", {&role::w_q}, transposed_there, separate},
    {"k_proj_weight", {&role::w_k}, transposed_there, separate},
    {"v_proj_weight", {&role::w_v}, transposed_there, separate},
    {"in_proj_bias", {&role::b_q, &role::b_k, &role::b_v}},
    {"out_proj.weight", {&role::w_o}, transposed_there, always},
    {"out_proj.bias", {&role::b_o}},
    {"bias_k", {&role::b_k}, as_it_is, never},
    {"bias_v", {&role::b_k}, as_it_is, never},
};
constexpr Renamed torch_feed_forward[] = {
    {"linear1.weight", {&role::w_1}, transposed_there},
    {"linear1.bias", {&role::b_1}},
    {"linear2.weight", {&role::w_2}, transposed_there},
    {"linear2.bias", {&role::b_2}},
};
constexpr Renamed torch_norm[] = {{"weight", {&role::gamma}}, {"bias", {&role::beta}}};

// Parts by themselves.
constexpr Renamed lone_norm[] = {
    torch_norm[0], torch_norm[1], {role::gamma.leaf, {&role::gamma}}, {role::beta.leaf, {&role::beta}}};
struct LonePart {
  const ScopeKind& scope;
  std::span<const Renamed> tensors;
};
constexpr LonePart lone_parts[] = {{scope::norm, lone_norm}, {scope::feed_forward, torch_feed_forward}};

constexpr SchemaPart self_attention{&scope::self_attention, 0, {}}, cross_attention{&scope::cross_attention, 0, {}},
    feed_forward{&scope::feed_forward, 0, {}}, norm_1{&scope::norm, 1, {}}, norm_2{&scope::norm, 2, {}},
    norm_3{&scope::norm, 3, {}}, last_norm{&scope::norm, 0, {}}, itself{nullptr, 0, {}};

constexpr RenamedPart torch_encoder_layer[] = {
    {"self_attn.", self_attention, torch_attention},
    {"norm1.", norm_1, torch_norm},
    {"", feed_forward, torch_feed_forward},
    {"norm2.", norm_2, torch_norm},
};
constexpr RenamedPart torch_decoder_layer[] = {
    {"self_attn.", self_attention, torch_attention},
    {"norm1.", norm_1, torch_norm},
    {"multihead_attn.", cross_attention, torch_attention},
    {"norm2.", norm_2, torch_norm},
    {"", feed_forward, torch_feed_forward},
    {"norm3.", norm_3, torch_norm},
};
constexpr RenamedPart torch_attention_part[] = {{"", itself, torch_attention}};
constexpr RenamedPart torch_last_norm[] = {{"norm.", last_norm, torch_norm}};

// Projections that are linear layers of their own, in models of many makers. Some have no biases, or only some.
constexpr Renamed linear_with_o_proj[] = {
    {"q_proj.weight", {&role::w_q}, transposed_there, always},
    {"k_proj.weight", {&role::w_k}, transposed_there, always},
    {"v_proj.weight", {&role::w_v}, transposed_there, always},
    {"o_proj.weight", {&role::w_o}, transposed_there, always},
    {"q_proj.bias", {&role::b_q}, as_it_is, sometimes},
    {"k_proj.bias", {&role::b_k}, as_it_is, sometimes},
    {"v_proj.bias", {&role::b_v}, as_it_is, sometimes},
    {"o_proj.bias", {&role::b_o}, as_it_is, sometimes},
};
constexpr Renamed linear_with_out_proj[] = {
    {"q_proj.weight", {&role::w_q}, transposed_there, always},
    {"k_proj.weight", {&role::w_k}, transposed_there, always},
    {"v_proj.weight", {&role::w_v}, transposed_there, always},
    {"out_proj.weight", {&role::w_o}, transposed_there, always},
    {"q_proj.bias", {&role::b_q}, as_it_is, sometimes},
    {"k_proj.bias", {&role::b_k}, as_it_is, sometimes},
    {"v_proj.bias", {&role::b_v}, as_it_is, sometimes},
    {"out_proj.bias", {&role::b_o}, as_it_is, sometimes},
};
template <const auto& names>
constexpr Renamed packed_in_one[] = {
    {names[0], {&role::w_q, &role::w_k, &role::w_v}, transposed_there, always},
    {names[1], {&role::b_q, &role::b_k, &role::b_v}, as_it_is, sometimes},
    {names[2], {&role::w_o}, transposed_there, always},
    {names[3], {&role::b_o}, as_it_is, sometimes},
};
constexpr std::string_view names_in_timm[] = {"qkv.weight", "qkv.bias", "proj.weight", "proj.bias"};
// The output layer stands in another module.
constexpr Renamed linear_by_name[] = {
    {"query.weight", {&role::w_q}, transposed_there, always}, {"key.weight", {&role::w_k}, transposed_there, always},
    {"value.weight", {&role::w_v}, transposed_there, always}, {"query.bias", {&role::b_q}, as_it_is, sometimes},
    {"key.bias", {&role::b_k}, as_it_is, sometimes},          {"value.bias", {&role::b_v}, as_it_is, sometimes},
};
template <const auto& tensors>
constexpr RenamedPart lone_attention_part[] = {{"", itself, tensors}};
template <const auto& tensors>
constexpr RenamedSection lone_attention[] = {{"", nullptr, "", lone_attention_part<tensors>, true}};

constexpr RenamedSection torch_multihead_attention[] = {{"", nullptr, "", torch_attention_part, true}};
constexpr RenamedSection torch_one_encoder_layer[] = {{"", &scope::encoder, "1.", torch_encoder_layer, true}};
constexpr RenamedSection torch_one_decoder_layer[] = {{"", &scope::decoder, "1.", torch_decoder_layer, true}};
constexpr RenamedSection torch_encoder[] = {
    {"layers.#.", &scope::encoder, "#.", torch_encoder_layer, true},
    {"", &scope::encoder, "", torch_last_norm, false},
};
constexpr RenamedSection torch_decoder[] = {
    {"layers.#.", &scope::decoder, "#.", torch_decoder_layer, true},
    {"", &scope::decoder, "", torch_last_norm, false},
};
constexpr RenamedSection torch_transformer[] = {
    {"encoder.layers.#.", &scope::encoder, "#.", torch_encoder_layer, true},
    {"encoder.", &scope::encoder, "", torch_last_norm, false},
    {"decoder.layers.#.", &scope::decoder, "#.", torch_decoder_layer, true},
    {"decoder.", &scope::decoder, "", torch_last_norm, false},
};

// GPT-2: OpenAI's and Hugging Face's Conv1D stores maps as (in, out); minGPT's nn.Linear as (out, in).
// (Radford et al. 2019, Language Models are Unsupervised Multitask Learners, section 2.3)
template <bool is_transposed>
constexpr Renamed gpt2_attention[] = {
    {"c_attn.weight", {&role::w_q, &role::w_k, &role::w_v}, is_transposed},
    {"c_attn.bias", {&role::b_q, &role::b_k, &role::b_v}},
    {"c_proj.weight", {&role::w_o}, is_transposed, always},
    {"c_proj.bias", {&role::b_o}},
};
template <bool is_transposed>
constexpr Renamed gpt2_feed_forward[] = {
    {"c_fc.weight", {&role::w_1}, is_transposed},
    {"c_fc.bias", {&role::b_1}},
    {"c_proj.weight", {&role::w_2}, is_transposed},
    {"c_proj.bias", {&role::b_2}},
};
template <bool is_transposed>
constexpr RenamedPart gpt2_layer[] = {
    {"attn.", self_attention, gpt2_attention<is_transposed>},
    {"ln_1.", norm_1, torch_norm},
    {"mlp.", feed_forward, gpt2_feed_forward<is_transposed>},
    {"ln_2.", norm_2, torch_norm},
};
constexpr Renamed gpt2_words[] = {{"wte.weight", {&role::e}}};
constexpr Renamed gpt2_places[] = {{"wpe.weight", {&role::table}}};
constexpr Renamed gpt2_tied_output[] = {{"lm_head.weight", {&role::e}, as_it_is, shared}};
constexpr Renamed gpt2_own_output[] = {{"lm_head.weight", {&role::w}, transposed_there, always}};
constexpr RenamedPart gpt2_words_part[] = {{"", itself, gpt2_words}};
constexpr RenamedPart gpt2_places_part[] = {{"", itself, gpt2_places}};
constexpr RenamedPart gpt2_last_norm[] = {{"ln_f.", last_norm, torch_norm}};
constexpr RenamedPart gpt2_tied_output_part[] = {{"", itself, gpt2_tied_output}};
constexpr RenamedPart gpt2_own_output_part[] = {{"", itself, gpt2_own_output}};

template <bool is_transposed>
constexpr RenamedSection gpt2[] = {
    {"h.#.", &scope::decoder, "#.", gpt2_layer<is_transposed>, true},
    {"", &scope::decoder, "", gpt2_last_norm, true},
    {"", &scope::target_embedding, "", gpt2_words_part, true},
    {"", &scope::target_positions, "", gpt2_places_part, true},
};
// A block by itself computes as a layer of an encoder does that looks at no later word.
template <bool is_transposed>
constexpr RenamedSection gpt2_block[] = {{"", &scope::encoder, "1.", gpt2_layer<is_transposed>, true}};
constexpr RenamedSection gpt2_with_tied_output[] = {{"", &scope::target_embedding, "", gpt2_tied_output_part, false}};
constexpr RenamedSection gpt2_with_own_output[] = {{"", &scope::output, "", gpt2_own_output_part, true}};

// The layers of Llama, and of what has the same names in Hugging Face: some have biases, or norms of q and k. A linear
// layer is stored as (out, in).  (Touvron et al. 2023, LLaMA: Open and Efficient Foundation Language Models, section 2)
constexpr Renamed llama_attention[] = {
    {"o_proj.weight", {&role::w_o}, transposed_there, always},
    {"q_proj.weight", {&role::w_q}, transposed_there, always},
    {"k_proj.weight", {&role::w_k}, transposed_there, always},
    {"v_proj.weight", {&role::w_v}, transposed_there, always},
    {"q_proj.bias", {&role::b_q}, as_it_is, sometimes},
    {"k_proj.bias", {&role::b_k}, as_it_is, sometimes},
    {"v_proj.bias", {&role::b_v}, as_it_is, sometimes},
    {"o_proj.bias", {&role::b_o}, as_it_is, sometimes},
    {"q_norm.weight", {&role::gamma_q}, as_it_is, sometimes},
    {"k_norm.weight", {&role::gamma_k}, as_it_is, sometimes},
};
constexpr Renamed phi3_attention[] = {
    {"o_proj.weight", {&role::w_o}, transposed_there, always},
    {"qkv_proj.weight", {&role::w_q, &role::w_k, &role::w_v}, transposed_there, always, Packing::grouped},
};
constexpr Renamed llama_feed_forward[] = {
    {"gate_proj.weight", {&role::w_gate}, transposed_there, always},
    {"up_proj.weight", {&role::w_1}, transposed_there, always},
    {"down_proj.weight", {&role::w_2}, transposed_there, always},
    {"gate_proj.bias", {&role::b_gate}, as_it_is, sometimes},
    {"up_proj.bias", {&role::b_1}, as_it_is, sometimes},
    {"down_proj.bias", {&role::b_2}, as_it_is, sometimes},
};
constexpr Renamed phi3_feed_forward[] = {
    {"gate_up_proj.weight", {&role::w_gate, &role::w_1}, transposed_there, always},
    {"down_proj.weight", {&role::w_2}, transposed_there, always},
};
constexpr Renamed rms_of_others[] = {{"weight", {&role::gamma}, as_it_is, always}};
constexpr SchemaPart post_norm_1{&scope::post_norm, 1, {}}, post_norm_2{&scope::post_norm, 2, {}};

template <const auto& attention, const auto& layer>
constexpr RenamedPart pre_norm_layer[] = {
    {"self_attn.", self_attention, attention},
    {"input_layernorm.", norm_1, rms_of_others},
    {"mlp.", feed_forward, layer},
    {"post_attention_layernorm.", norm_2, rms_of_others},
};
constexpr RenamedPart gemma2_layer[] = {
    {"self_attn.", self_attention, llama_attention},
    {"input_layernorm.", norm_1, rms_of_others},
    {"post_attention_layernorm.", post_norm_1, rms_of_others},
    {"mlp.", feed_forward, llama_feed_forward},
    {"pre_feedforward_layernorm.", norm_2, rms_of_others},
    {"post_feedforward_layernorm.", post_norm_2, rms_of_others},
};
constexpr RenamedPart olmo2_layer[] = {
    {"self_attn.", self_attention, llama_attention},
    {"post_attention_layernorm.", norm_1, rms_of_others},
    {"mlp.", feed_forward, llama_feed_forward},
    {"post_feedforward_layernorm.", norm_2, rms_of_others},
};
constexpr Renamed llama_words[] = {{"embed_tokens.weight", {&role::e}}};
constexpr RenamedPart llama_words_part[] = {{"", itself, llama_words}};
constexpr RenamedPart llama_last_norm[] = {{"norm.", last_norm, rms_of_others}};
template <const auto& layer>
constexpr RenamedSection like_llama[] = {
    {"layers.#.", &scope::decoder, "#.", layer, true},
    {"", &scope::decoder, "", llama_last_norm, true},
    {"", &scope::target_embedding, "", llama_words_part, true},
};

// GPT-Neo: the names of GPT-2, with projections of their own, as (out, in).
constexpr Renamed neo_attention[] = {
    {"attention.q_proj.weight", {&role::w_q}, transposed_there, always},
    {"attention.k_proj.weight", {&role::w_k}, transposed_there, always},
    {"attention.v_proj.weight", {&role::w_v}, transposed_there, always},
    {"attention.out_proj.weight", {&role::w_o}, transposed_there, always},
    {"attention.out_proj.bias", {&role::b_o}, as_it_is, sometimes},
};
constexpr RenamedPart neo_layer[] = {
    {"attn.", self_attention, neo_attention},
    {"ln_1.", norm_1, torch_norm},
    {"mlp.", feed_forward, gpt2_feed_forward<transposed_there>},
    {"ln_2.", norm_2, torch_norm},
};
constexpr RenamedSection gpt_neo[] = {
    {"h.#.", &scope::decoder, "#.", neo_layer, true},
    {"", &scope::decoder, "", gpt2_last_norm, true},
    {"", &scope::target_embedding, "", gpt2_words_part, true},
    {"", &scope::target_positions, "", gpt2_places_part, true},
};

// GPT-NeoX: q, k and v of each head in turn.  (Black et al. 2022, GPT-NeoX-20B; its code)
constexpr Renamed neox_attention[] = {
    {"query_key_value.weight", {&role::w_q, &role::w_k, &role::w_v}, transposed_there, always, Packing::in_turn},
    {"query_key_value.bias", {&role::b_q, &role::b_k, &role::b_v}, as_it_is, sometimes, Packing::in_turn},
    {"dense.weight", {&role::w_o}, transposed_there, always},
    {"dense.bias", {&role::b_o}, as_it_is, sometimes},
};
constexpr Renamed neox_feed_forward[] = {
    {"dense_h_to_4h.weight", {&role::w_1}, transposed_there},
    {"dense_h_to_4h.bias", {&role::b_1}},
    {"dense_4h_to_h.weight", {&role::w_2}, transposed_there},
    {"dense_4h_to_h.bias", {&role::b_2}},
};
constexpr RenamedPart neox_layer[] = {
    {"attention.", self_attention, neox_attention},
    {"input_layernorm.", norm_1, torch_norm},
    {"mlp.", feed_forward, neox_feed_forward},
    {"post_attention_layernorm.", norm_2, torch_norm},
};
constexpr Renamed neox_words[] = {{"embed_in.weight", {&role::e}}};
constexpr RenamedPart neox_words_part[] = {{"", itself, neox_words}};
constexpr RenamedPart neox_last_norm[] = {{"final_layer_norm.", last_norm, torch_norm}};
constexpr RenamedSection gpt_neox[] = {
    {"layers.#.", &scope::decoder, "#.", neox_layer, true},
    {"", &scope::decoder, "", neox_last_norm, true},
    {"", &scope::target_embedding, "", neox_words_part, true},
};
constexpr Renamed neox_output[] = {{"embed_out.weight", {&role::w}, transposed_there, always}};
constexpr RenamedPart neox_output_part[] = {{"", itself, neox_output}};
constexpr RenamedSection neox_with_output[] = {{"", &scope::output, "", neox_output_part, true}};

// GGUF (llama.cpp, gguf-py/gguf/constants.py): one set of names for all families. What the family has is there.
constexpr Renamed gguf_attention[] = {
    {"attn_qkv.weight", {&role::w_q, &role::w_k, &role::w_v}, transposed_there, packed},
    {"attn_q.weight", {&role::w_q}, transposed_there, separate},
    {"attn_k.weight", {&role::w_k}, transposed_there, separate},
    {"attn_v.weight", {&role::w_v}, transposed_there, separate},
    {"attn_output.weight", {&role::w_o}, transposed_there, always},
    {"attn_qkv.bias", {&role::b_q, &role::b_k, &role::b_v}, as_it_is, sometimes},
    {"attn_q.bias", {&role::b_q}, as_it_is, sometimes},
    {"attn_k.bias", {&role::b_k}, as_it_is, sometimes},
    {"attn_v.bias", {&role::b_v}, as_it_is, sometimes},
    {"attn_output.bias", {&role::b_o}, as_it_is, sometimes},
    {"attn_q_norm.weight", {&role::gamma_q}, as_it_is, sometimes},
    {"attn_k_norm.weight", {&role::gamma_k}, as_it_is, sometimes},
};
constexpr Renamed gguf_feed_forward[] = {
    {"ffn_gate.weight", {&role::w_gate}, transposed_there, sometimes},
    {"ffn_up.weight", {&role::w_1}, transposed_there, always},
    {"ffn_up.bias", {&role::b_1}, as_it_is, sometimes},
    {"ffn_down.weight", {&role::w_2}, transposed_there, always},
    {"ffn_down.bias", {&role::b_2}, as_it_is, sometimes},
};
constexpr Renamed gguf_phi3_attention[] = {
    {"attn_qkv.weight", {&role::w_q, &role::w_k, &role::w_v}, transposed_there, always, Packing::grouped},
    {"attn_output.weight", {&role::w_o}, transposed_there, always},
};
constexpr Renamed gguf_phi3_feed_forward[] = {
    {"ffn_up.weight", {&role::w_gate, &role::w_1}, transposed_there, always},
    {"ffn_down.weight", {&role::w_2}, transposed_there, always},
};
template <const auto& attention, const auto& layer>
constexpr RenamedPart gguf_layer[] = {
    {"attn_norm.", norm_1, torch_norm},
    {"", self_attention, attention},
    {"ffn_norm.", norm_2, torch_norm},
    {"", feed_forward, layer},
};
constexpr RenamedPart gguf_gemma2_layer[] = {
    {"attn_norm.", norm_1, rms_of_others},
    {"", self_attention, gguf_attention},
    {"post_attention_norm.", post_norm_1, rms_of_others},
    {"ffn_norm.", norm_2, rms_of_others},
    {"", feed_forward, gguf_feed_forward},
    {"post_ffw_norm.", post_norm_2, rms_of_others},
};
constexpr RenamedPart gguf_olmo2_layer[] = {
    {"", self_attention, gguf_attention},
    {"post_attention_norm.", norm_1, rms_of_others},
    {"", feed_forward, gguf_feed_forward},
    {"post_ffw_norm.", norm_2, rms_of_others},
};
constexpr Renamed gguf_words[] = {{"token_embd.weight", {&role::e}}};
constexpr Renamed gguf_places[] = {{"position_embd.weight", {&role::table}, as_it_is, sometimes}};
constexpr Renamed gguf_output[] = {{"output.weight", {&role::w}, transposed_there, sometimes}};
constexpr RenamedPart gguf_last_norm[] = {{"output_norm.", last_norm, torch_norm}};
constexpr RenamedPart gguf_words_part[] = {{"", itself, gguf_words}};
constexpr RenamedPart gguf_places_part[] = {{"", itself, gguf_places}};
constexpr RenamedPart gguf_output_part[] = {{"", itself, gguf_output}};
template <const auto& layer>
constexpr RenamedSection gguf[] = {
    {"blk.#.", &scope::decoder, "#.", layer, true},
    {"", &scope::decoder, "", gguf_last_norm, true},
    {"", &scope::target_embedding, "", gguf_words_part, true},
    {"", &scope::target_positions, "", gguf_places_part, false},
    {"", &scope::output, "", gguf_output_part, false},
};
// BERT and its like: an encoder, and an output layer that names masked words.
constexpr SchemaPart transform{&scope::transform, 0, {}}, relative_positions{&scope::relative_positions, 0, {}};
constexpr Renamed old_norm[] = {{"gamma", {&role::gamma}}, {"beta", {&role::beta}}};
constexpr Renamed dense[] = {{"weight", {&role::w}, transposed_there, always}, {"bias", {&role::b}, as_it_is, always}};
constexpr Renamed words_there[] = {{"weight", {&role::e}}};
constexpr Renamed places_there[] = {{"weight", {&role::table}}};
constexpr Renamed shared_words[] = {{"weight", {&role::e}, as_it_is, shared}};
constexpr Renamed own_words_there[] = {{"weight", {&role::w}, transposed_there, always}};

constexpr Renamed bert_attention[] = {
    {"self.query.weight", {&role::w_q}, transposed_there},   {"self.query.bias", {&role::b_q}},
    {"self.key.weight", {&role::w_k}, transposed_there},     {"self.key.bias", {&role::b_k}},
    {"self.value.weight", {&role::w_v}, transposed_there},   {"self.value.bias", {&role::b_v}},
    {"output.dense.weight", {&role::w_o}, transposed_there}, {"output.dense.bias", {&role::b_o}},
};
constexpr Renamed bert_feed_forward[] = {
    {"intermediate.dense.weight", {&role::w_1}, transposed_there},
    {"intermediate.dense.bias", {&role::b_1}},
    {"output.dense.weight", {&role::w_2}, transposed_there},
    {"output.dense.bias", {&role::b_2}},
};
template <const auto& norm>
constexpr RenamedPart bert_layer[] = {
    {"attention.", self_attention, bert_attention},
    {"attention.output.LayerNorm.", norm_1, norm},
    {"", feed_forward, bert_feed_forward},
    {"output.LayerNorm.", norm_2, norm},
};
template <const auto& norm>
constexpr RenamedPart bert_words[] = {{"word_embeddings.", itself, words_there}, {"LayerNorm.", last_norm, norm}};
constexpr RenamedPart bert_types[] = {{"token_type_embeddings.", itself, words_there}};
constexpr RenamedPart bert_places[] = {{"position_embeddings.", itself, places_there}};
template <const auto& norm>
constexpr RenamedSection bert[] = {
    {"encoder.layer.#.", &scope::encoder, "#.", bert_layer<norm>, true},
    {"embeddings.", &scope::source_embedding, "", bert_words<norm>, true},
    {"embeddings.", &scope::source_types, "", bert_types, true},
    {"embeddings.", &scope::source_positions, "", bert_places, true},
};
constexpr Renamed masked_bias[] = {{"bias", {&role::b}, as_it_is, always},
                                   {"decoder.bias", {&role::b}, as_it_is, shared}};
template <const auto& norm>
constexpr RenamedPart bert_output[] = {
    {"transform.dense.", transform, dense}, {"transform.LayerNorm.", last_norm, norm}, {"", itself, masked_bias}};
constexpr RenamedPart masked_tied[] = {{"decoder.", itself, shared_words}};
constexpr RenamedPart masked_own[] = {{"decoder.", itself, own_words_there}};
template <const auto& norm>
constexpr RenamedSection bert_tied[] = {
    {"cls.predictions.", &scope::output, "", bert_output<norm>, true},
    {"cls.predictions.", &scope::source_embedding, "", masked_tied, false},
};
constexpr RenamedSection bert_own[] = {
    {"cls.predictions.", &scope::output, "", bert_output<torch_norm>, true},
    {"cls.predictions.", &scope::output, "", masked_own, true},
};
constexpr RenamedPart roberta_output[] = {
    {"dense.", transform, dense}, {"layer_norm.", last_norm, torch_norm}, {"", itself, masked_bias}};
constexpr RenamedSection roberta_tied[] = {
    {"lm_head.", &scope::output, "", roberta_output, true},
    {"lm_head.", &scope::source_embedding, "", masked_tied, false},
};
constexpr RenamedSection roberta_own[] = {
    {"lm_head.", &scope::output, "", roberta_output, true},
    {"lm_head.", &scope::output, "", masked_own, true},
};
constexpr std::string_view of_first_word[] = {"pooler.dense.weight", "pooler.dense.bias"},
                           of_first_word_of_bert[] = {"bert.pooler.dense.weight", "bert.pooler.dense.bias",
                                                      "cls.seq_relationship.weight", "cls.seq_relationship.bias"},
                           of_first_word_of_roberta[] = {"roberta.pooler.dense.weight", "roberta.pooler.dense.bias"};

constexpr Renamed distilbert_attention[] = {
    {"q_lin.weight", {&role::w_q}, transposed_there},   {"q_lin.bias", {&role::b_q}},
    {"k_lin.weight", {&role::w_k}, transposed_there},   {"k_lin.bias", {&role::b_k}},
    {"v_lin.weight", {&role::w_v}, transposed_there},   {"v_lin.bias", {&role::b_v}},
    {"out_lin.weight", {&role::w_o}, transposed_there}, {"out_lin.bias", {&role::b_o}},
};
constexpr Renamed distilbert_feed_forward[] = {
    {"lin1.weight", {&role::w_1}, transposed_there},
    {"lin1.bias", {&role::b_1}},
    {"lin2.weight", {&role::w_2}, transposed_there},
    {"lin2.bias", {&role::b_2}},
};
constexpr RenamedPart distilbert_layer[] = {
    {"attention.", self_attention, distilbert_attention},
    {"sa_layer_norm.", norm_1, torch_norm},
    {"ffn.", feed_forward, distilbert_feed_forward},
    {"output_layer_norm.", norm_2, torch_norm},
};
constexpr RenamedSection distilbert[] = {
    {"transformer.layer.#.", &scope::encoder, "#.", distilbert_layer, true},
    {"embeddings.", &scope::source_embedding, "", bert_words<torch_norm>, true},
    {"embeddings.", &scope::source_positions, "", bert_places, true},
};
constexpr Renamed distilbert_bias[] = {{"bias", {&role::b}, as_it_is, always}};
constexpr RenamedPart distilbert_output[] = {{"vocab_transform.", transform, dense},
                                             {"vocab_layer_norm.", last_norm, torch_norm},
                                             {"vocab_projector.", itself, distilbert_bias}};
constexpr RenamedPart distilbert_shared[] = {{"vocab_projector.", itself, shared_words}};
constexpr RenamedPart distilbert_own_words[] = {{"vocab_projector.", itself, own_words_there}};
constexpr RenamedSection distilbert_tied[] = {
    {"", &scope::output, "", distilbert_output, true},
    {"", &scope::source_embedding, "", distilbert_shared, false},
};
constexpr RenamedSection distilbert_own[] = {
    {"", &scope::output, "", distilbert_output, true},
    {"", &scope::output, "", distilbert_own_words, true},
};

// T5: the buckets of distances stand in the first layer, for all of its side.
constexpr Renamed t5_attention[] = {
    {"q.weight", {&role::w_q}, transposed_there},
    {"k.weight", {&role::w_k}, transposed_there},
    {"v.weight", {&role::w_v}, transposed_there},
    {"o.weight", {&role::w_o}, transposed_there},
};
constexpr Renamed t5_norm[] = {{"weight", {&role::gamma}}};
constexpr Renamed t5_feed_forward[] = {{"wi.weight", {&role::w_1}, transposed_there},
                                       {"wo.weight", {&role::w_2}, transposed_there}};
constexpr Renamed t5_gated[] = {{"wi_0.weight", {&role::w_gate}, transposed_there, always},
                                {"wi_1.weight", {&role::w_1}, transposed_there},
                                {"wo.weight", {&role::w_2}, transposed_there}};
template <const auto& inner>
constexpr RenamedPart t5_encoder_layer[] = {
    {"layer.0.SelfAttention.", self_attention, t5_attention},
    {"layer.0.layer_norm.", norm_1, t5_norm},
    {"layer.1.DenseReluDense.", feed_forward, inner},
    {"layer.1.layer_norm.", norm_2, t5_norm},
};
template <const auto& inner>
constexpr RenamedPart t5_decoder_layer[] = {
    {"layer.0.SelfAttention.", self_attention, t5_attention},
    {"layer.0.layer_norm.", norm_1, t5_norm},
    {"layer.1.EncDecAttention.", cross_attention, t5_attention},
    {"layer.1.layer_norm.", norm_2, t5_norm},
    {"layer.2.DenseReluDense.", feed_forward, inner},
    {"layer.2.layer_norm.", norm_3, t5_norm},
};
constexpr RenamedPart t5_distances[] = {{"relative_attention_bias.", relative_positions, places_there}};
constexpr RenamedPart t5_last_norm[] = {{"final_layer_norm.", last_norm, t5_norm}};
constexpr RenamedPart t5_words[] = {{"shared.", itself, words_there}};
constexpr RenamedPart embed_tokens[] = {{"embed_tokens.", itself, shared_words}};
constexpr RenamedPart head_of_words[] = {{"lm_head.", itself, shared_words}};
constexpr RenamedPart own_head_of_words[] = {{"lm_head.", itself, own_words_there}};
template <const auto& inner>
constexpr RenamedSection t5_encoder[] = {
    {"", &scope::source_embedding, "", t5_words, true},
    {"encoder.", &scope::source_embedding, "", embed_tokens, false},
    {"encoder.block.0.layer.0.SelfAttention.", &scope::encoder, "", t5_distances, true},
    {"encoder.block.#.", &scope::encoder, "#.", t5_encoder_layer<inner>, true},
    {"encoder.", &scope::encoder, "", t5_last_norm, true},
};
template <const auto& inner>
constexpr RenamedSection t5[] = {
    {"", &scope::source_embedding, "", t5_words, true},
    {"encoder.", &scope::source_embedding, "", embed_tokens, false},
    {"encoder.block.0.layer.0.SelfAttention.", &scope::encoder, "", t5_distances, true},
    {"encoder.block.#.", &scope::encoder, "#.", t5_encoder_layer<inner>, true},
    {"encoder.", &scope::encoder, "", t5_last_norm, true},
    {"", &scope::target_embedding, "", t5_words, true},
    {"decoder.", &scope::target_embedding, "", embed_tokens, false},
    {"decoder.block.0.layer.0.SelfAttention.", &scope::decoder, "", t5_distances, true},
    {"decoder.block.#.", &scope::decoder, "#.", t5_decoder_layer<inner>, true},
    {"decoder.", &scope::decoder, "", t5_last_norm, true},
};
constexpr RenamedSection tied_head[] = {{"", &scope::target_embedding, "", head_of_words, false}};
constexpr RenamedSection own_head[] = {{"", &scope::output, "", own_head_of_words, true}};
// A table that some files have, and nothing reads.
constexpr std::string_view unread_by_t5[] = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"};

// BART: both sides share the words.
constexpr Renamed bart_feed_forward[] = {
    {"fc1.weight", {&role::w_1}, transposed_there},
    {"fc1.bias", {&role::b_1}},
    {"fc2.weight", {&role::w_2}, transposed_there},
    {"fc2.bias", {&role::b_2}},
};
constexpr RenamedPart bart_encoder_layer[] = {
    {"self_attn.", self_attention, linear_with_out_proj},
    {"self_attn_layer_norm.", norm_1, torch_norm},
    {"", feed_forward, bart_feed_forward},
    {"final_layer_norm.", norm_2, torch_norm},
};
constexpr RenamedPart bart_decoder_layer[] = {
    {"self_attn.", self_attention, linear_with_out_proj},
    {"self_attn_layer_norm.", norm_1, torch_norm},
    {"encoder_attn.", cross_attention, linear_with_out_proj},
    {"encoder_attn_layer_norm.", norm_2, torch_norm},
    {"", feed_forward, bart_feed_forward},
    {"final_layer_norm.", norm_3, torch_norm},
};
constexpr RenamedPart bart_places[] = {{"embed_positions.", itself, places_there}};
constexpr RenamedPart bart_norm[] = {{"layernorm_embedding.", last_norm, torch_norm}};
constexpr RenamedSection bart[] = {
    {"", &scope::source_embedding, "", t5_words, true},
    {"encoder.", &scope::source_embedding, "", embed_tokens, false},
    {"encoder.", &scope::source_embedding, "", bart_norm, true},
    {"encoder.", &scope::source_positions, "", bart_places, true},
    {"encoder.layers.#.", &scope::encoder, "#.", bart_encoder_layer, true},
    {"", &scope::target_embedding, "", t5_words, true},
    {"decoder.", &scope::target_embedding, "", embed_tokens, false},
    {"decoder.", &scope::target_embedding, "", bart_norm, true},
    {"decoder.", &scope::target_positions, "", bart_places, true},
    {"decoder.layers.#.", &scope::decoder, "#.", bart_decoder_layer, true},
};
constexpr Renamed bart_bias[] = {{"final_logits_bias", {&role::b}, as_it_is, sometimes}};
constexpr RenamedPart bart_bias_part[] = {{"", itself, bart_bias}};
constexpr RenamedSection bart_tied[] = {{"", &scope::target_embedding, "", head_of_words, false},
                                        {"", &scope::output, "", bart_bias_part, false}};
constexpr RenamedSection bart_own[] = {{"", &scope::output, "", own_head_of_words, true},
                                       {"", &scope::output, "", bart_bias_part, false}};

// ViT: a convolution whose windows do not overlap is a linear layer on each patch.
constexpr Renamed vit_attention[] = {
    {"attention.query.weight", {&role::w_q}, transposed_there},
    {"attention.query.bias", {&role::b_q}, as_it_is, sometimes},
    {"attention.key.weight", {&role::w_k}, transposed_there},
    {"attention.key.bias", {&role::b_k}, as_it_is, sometimes},
    {"attention.value.weight", {&role::w_v}, transposed_there},
    {"attention.value.bias", {&role::b_v}, as_it_is, sometimes},
    {"output.dense.weight", {&role::w_o}, transposed_there},
    {"output.dense.bias", {&role::b_o}},
};
constexpr RenamedPart vit_layer[] = {
    {"attention.", self_attention, vit_attention},
    {"layernorm_before.", norm_1, torch_norm},
    {"", feed_forward, bert_feed_forward},
    {"layernorm_after.", norm_2, torch_norm},
};
constexpr bool kernel = true;
constexpr Renamed vit_patches[] = {
    {"weight", {&role::w}, transposed_there, always, Packing::equal, kernel},
    {"bias", {&role::b}, as_it_is, always},
};
constexpr Renamed vit_class[] = {{"cls_token", {&role::class_token}, as_it_is, always}};
constexpr Renamed vit_places[] = {{"position_embeddings", {&role::table}}};
constexpr RenamedPart vit_last_norm[] = {{"layernorm.", last_norm, torch_norm}};
constexpr RenamedPart vit_words[] = {{"patch_embeddings.projection.", itself, vit_patches}, {"", itself, vit_class}};
constexpr RenamedPart vit_places_part[] = {{"", itself, vit_places}};
constexpr RenamedPart vit_output[] = {{"classifier.", itself, dense}};
constexpr RenamedSection vit[] = {
    {"encoder.layer.#.", &scope::encoder, "#.", vit_layer, true},
    {"", &scope::encoder, "", vit_last_norm, true},
    {"embeddings.", &scope::source_embedding, "", vit_words, true},
    {"embeddings.", &scope::source_positions, "", vit_places_part, true},
};
constexpr RenamedSection vit_classifier[] = {{"", &scope::output, "", vit_output, true}};
constexpr std::string_view unread_by_vit[] = {"pooler.dense.weight", "pooler.dense.bias", "embeddings.mask_token"};

constexpr bool assumed = true;
constexpr BroughtField of_vit[] = {
    {"norm", "pre"},          {"norm_kind", "layer"},      {"activation", "gelu", assumed},
    {"positions", "learned"}, {"scale", "sqrt-dk"},        {"scale_embeddings", false},
    {"tied_output", false},   {"epsilon", 1e-12, assumed}, {"causal_encoder", false},
    {"first_output", true},
};
template <bool is_tied>
constexpr BroughtField of_bert[] = {
    {"norm", "post"},     {"norm_kind", "layer"},      {"activation", "gelu", assumed}, {"positions", "learned"},
    {"scale", "sqrt-dk"}, {"scale_embeddings", false}, {"tied_output", is_tied},        {"epsilon", 1e-12, assumed},
};
template <bool is_tied>
constexpr BroughtField of_roberta[] = {
    {"norm", "post"},         {"norm_kind", "layer"},     {"activation", "gelu", assumed},
    {"positions", "learned"}, {"scale", "sqrt-dk"},       {"scale_embeddings", false},
    {"tied_output", is_tied}, {"epsilon", 1e-5, assumed}, {"first_position", 2.0, assumed},
};
template <bool is_tied, bool is_gated>
constexpr BroughtField of_t5[] = {
    {"norm", "pre"},          {"norm_kind", "rms"},       {"activation", is_gated ? "gelu-tanh" : "relu", assumed},
    {"positions", "none"},    {"scale", "none"},          {"scale_embeddings", false},
    {"tied_output", is_tied}, {"epsilon", 1e-6, assumed}, {"scale_output", is_tied},
    {"causal_decoder", true}, {"gated", is_gated},        {"max_distance", 128.0, assumed},
};
template <bool is_tied>
constexpr BroughtField of_bart[] = {
    {"norm", "post"},         {"norm_kind", "layer"}, {"activation", "gelu", assumed},
    {"positions", "learned"}, {"scale", "sqrt-dk"},   {"scale_embeddings", false, assumed},
    {"tied_output", is_tied}, {"epsilon", 1e-5},      {"first_position", 2.0},
    {"causal_decoder", true},
};
constexpr BroughtField of_gpt2[] = {
    {"norm", "pre"},          {"norm_kind", "layer"},   {"activation", "gelu-tanh", assumed},
    {"positions", "learned"}, {"scale", "sqrt-dk"},     {"scale_embeddings", false},
    {"tied_output", true},    {"causal_decoder", true},
};
constexpr BroughtField of_untied_gpt2[] = {
    {"norm", "pre"},          {"norm_kind", "layer"},   {"activation", "gelu-tanh", assumed},
    {"positions", "learned"}, {"scale", "sqrt-dk"},     {"scale_embeddings", false},
    {"tied_output", false},   {"causal_decoder", true},
};
constexpr BroughtField of_mingpt[] = {
    {"norm", "pre"},          {"norm_kind", "layer"},   {"activation", "gelu-tanh", assumed},
    {"positions", "learned"}, {"scale", "sqrt-dk"},     {"scale_embeddings", false},
    {"tied_output", false},   {"causal_decoder", true},
};
template <bool is_tied>
constexpr BroughtField of_llama[] = {
    {"norm", "pre"},
    {"norm_kind", "rms", assumed},
    {"activation", "silu", assumed},
    {"positions", "rotary-halves"},
    {"scale", "sqrt-dk", assumed},
    {"scale_embeddings", false, assumed},
    {"tied_output", is_tied},
    {"causal_decoder", true},
};
template <bool is_tied>
constexpr BroughtField of_gemma2[] = {
    {"norm", "before-and-after"},
    {"norm_kind", "rms-plus-1", assumed},
    {"activation", "gelu-tanh", assumed},
    {"positions", "rotary-halves"},
    {"scale", "sqrt-dk", assumed},
    {"scale_embeddings", true, assumed},
    {"tied_output", is_tied},
    {"causal_decoder", true},
};
template <bool is_tied>
constexpr BroughtField of_olmo2[] = {
    {"norm", "after"},
    {"norm_kind", "rms", assumed},
    {"activation", "silu", assumed},
    {"positions", "rotary-halves"},
    {"scale", "sqrt-dk", assumed},
    {"scale_embeddings", false, assumed},
    {"tied_output", is_tied},
    {"causal_decoder", true},
};
constexpr BroughtField of_gpt_neo[] = {
    {"norm", "pre"},          {"norm_kind", "layer"},   {"activation", "gelu-tanh", assumed},
    {"positions", "learned"}, {"scale", "none"},        {"scale_embeddings", false},
    {"tied_output", true},    {"causal_decoder", true},
};
constexpr BroughtField of_gpt_neox[] = {
    {"norm", "parallel", assumed},  {"norm_kind", "layer"},   {"activation", "gelu", assumed},
    {"positions", "rotary-halves"}, {"scale", "sqrt-dk"},     {"scale_embeddings", false},
    {"tied_output", false},         {"causal_decoder", true},
};
constexpr SizeThere own_sizes[] = {{"", ""}};
constexpr BroughtField of_gpt2_block[] = {{"norm", "pre"},
                                          {"norm_kind", "layer"},
                                          {"activation", "gelu-tanh", assumed},
                                          {"scale", "sqrt-dk"},
                                          {"causal_encoder", true}};
constexpr BroughtField of_gpt2_attention[] = {{"causal_decoder", true}};
constexpr std::string_view linear_layers = "an attention of nn.Linear layers";
constexpr ForeignLayout foreign_layouts[] = {
    {.name = "nn.MultiheadAttention",
     .before = "",
     .sections = torch_multihead_attention,
     .silent_on = "no key of zeros is added (add_zero_attn=False): the file does not say it"},
    {linear_layers, "", lone_attention<linear_with_o_proj>, {}, {}, {}},
    {linear_layers, "", lone_attention<linear_with_out_proj>, {}, {}, {}},
    {linear_layers, "", lone_attention<linear_by_name>, {}, {}, {}},
    {"an attention of timm", "", lone_attention<packed_in_one<names_in_timm>>, {}, {}, {}},
    {"an attention of GPT-2", "", lone_attention<gpt2_attention<as_it_is>>, {}, of_gpt2_attention},
    {"an attention of minGPT", "", lone_attention<gpt2_attention<transposed_there>>, {}, of_gpt2_attention},
    {"nn.TransformerEncoderLayer", "", torch_one_encoder_layer},
    {"nn.TransformerDecoderLayer", "", torch_one_decoder_layer},
    {"nn.TransformerEncoder", "", torch_encoder},
    {"nn.TransformerDecoder", "", torch_decoder},
    {"nn.Transformer", "", torch_transformer},
    {"a block of GPT-2", "", gpt2_block<as_it_is>, {}, of_gpt2_block},
    {"a block of GPT-2", "", gpt2_block<transposed_there>, {}, of_gpt2_block},
    {"GPT-2", "transformer.", gpt2<as_it_is>, gpt2_with_tied_output, of_gpt2},
    {"GPT-2", "", gpt2<as_it_is>, gpt2_with_tied_output, of_gpt2},
    {"GPT-2", "transformer.", gpt2<as_it_is>, gpt2_with_own_output, of_untied_gpt2},
    {"minGPT", "transformer.", gpt2<transposed_there>, gpt2_with_own_output, of_mingpt},
    {"minGPT", "", gpt2<transposed_there>, gpt2_with_own_output, of_mingpt},
    {"minGPT", "", gpt2<transposed_there>, {}, of_mingpt},
    {"GPT-Neo", "transformer.", gpt_neo, gpt2_with_tied_output, of_gpt_neo},
    {"GPT-Neo", "", gpt_neo, {}, of_gpt_neo},
    {"GPT-NeoX", "gpt_neox.", gpt_neox, neox_with_output, of_gpt_neox},
    {"GPT-NeoX", "", gpt_neox, {}, of_gpt_neox},
    {"Llama", "model.", like_llama<pre_norm_layer<llama_attention, llama_feed_forward>>, gpt2_with_own_output,
     of_llama<false>, own_sizes},
    {"Llama", "model.", like_llama<pre_norm_layer<llama_attention, llama_feed_forward>>, {}, of_llama<true>, own_sizes},
    {"Llama", "", like_llama<pre_norm_layer<llama_attention, llama_feed_forward>>, {}, of_llama<true>, own_sizes},
    {"Phi-3", "model.", like_llama<pre_norm_layer<phi3_attention, phi3_feed_forward>>, gpt2_with_own_output,
     of_llama<false>, own_sizes},
    {"Phi-3", "model.", like_llama<pre_norm_layer<phi3_attention, phi3_feed_forward>>, {}, of_llama<true>, own_sizes},
    {"Phi-3", "", like_llama<pre_norm_layer<phi3_attention, phi3_feed_forward>>, {}, of_llama<true>, own_sizes},
    {"Gemma 2", "model.", like_llama<gemma2_layer>, gpt2_with_own_output, of_gemma2<false>, own_sizes},
    {"Gemma 2", "model.", like_llama<gemma2_layer>, {}, of_gemma2<true>, own_sizes},
    {"Gemma 2", "", like_llama<gemma2_layer>, {}, of_gemma2<true>, own_sizes},
    {"OLMo 2", "model.", like_llama<olmo2_layer>, gpt2_with_own_output, of_olmo2<false>, own_sizes},
    {"OLMo 2", "model.", like_llama<olmo2_layer>, {}, of_olmo2<true>, own_sizes},
    {"OLMo 2", "", like_llama<olmo2_layer>, {}, of_olmo2<true>, own_sizes},
    // Where the output layer differs from the embedding, it is its own.
    {"BERT", "bert.", bert<torch_norm>, bert_tied<torch_norm>, of_bert<true>, sizes_there, {}, of_first_word_of_bert},
    {"BERT", "bert.", bert<torch_norm>, bert_own, of_bert<false>, sizes_there, {}, of_first_word_of_bert},
    {"BERT", "bert.", bert<old_norm>, bert_tied<old_norm>, of_bert<true>, sizes_there, {}, of_first_word_of_bert},
    {"the encoder of BERT", "", bert<torch_norm>, {}, of_bert<false>, sizes_there, {}, of_first_word},
    {"the encoder of BERT", "", bert<old_norm>, {}, of_bert<false>, sizes_there, {}, of_first_word},
    {"RoBERTa",
     "roberta.",
     bert<torch_norm>,
     roberta_tied,
     of_roberta<true>,
     sizes_there,
     {},
     of_first_word_of_roberta},
    {"RoBERTa",
     "roberta.",
     bert<torch_norm>,
     roberta_own,
     of_roberta<false>,
     sizes_there,
     {},
     of_first_word_of_roberta},
    {"DistilBERT", "distilbert.", distilbert, distilbert_tied, of_bert<true>},
    {"DistilBERT", "distilbert.", distilbert, distilbert_own, of_bert<false>},
    {"DistilBERT", "", distilbert, {}, of_bert<false>},
    {"T5", "", t5<t5_feed_forward>, tied_head, of_t5<true, false>, {}, {}, unread_by_t5},
    {"T5", "", t5<t5_feed_forward>, own_head, of_t5<false, false>, {}, {}, unread_by_t5},
    {"T5", "", t5<t5_gated>, own_head, of_t5<false, true>, {}, {}, unread_by_t5},
    {"T5", "", t5<t5_gated>, tied_head, of_t5<true, true>, {}, {}, unread_by_t5},
    {"the encoder of T5", "", t5_encoder<t5_feed_forward>, {}, of_t5<false, false>, {}},
    {"the encoder of T5", "", t5_encoder<t5_gated>, {}, of_t5<false, true>, {}},
    {"BART", "model.", bart, bart_tied, of_bart<true>},
    {"BART", "model.", bart, bart_own, of_bart<false>},
    {"BART", "", bart, {}, of_bart<true>},
    {"ViT", "vit.", vit, vit_classifier, of_vit},
    {"ViT", "", vit, {}, of_vit, sizes_there, {}, unread_by_vit},
    {"GGUF", "", gguf<gguf_layer<gguf_attention, gguf_feed_forward>>, {}, {}, own_sizes},
    {"GGUF", "", gguf<gguf_layer<gguf_phi3_attention, gguf_phi3_feed_forward>>, {}, {}, own_sizes},
    {"GGUF", "", gguf<gguf_gemma2_layer>, {}, {}, own_sizes},
    {"GGUF", "", gguf<gguf_olmo2_layer>, {}, {}, own_sizes},
};

constexpr std::string_view buffers[] = {
    "h.#.attn.bias",
    "h.#.attn.masked_bias",
    "h.#.attn.attention.bias",
    "h.#.attn.attention.masked_bias",
    "layers.#.attention.bias",
    "layers.#.attention.masked_bias",
    "rotary_emb.inv_freq",
    "embeddings.position_ids",
    "embeddings.token_type_ids",
};
constexpr std::string_view of_images[] = {"embeddings.cls_token", "embeddings.position_embeddings",
                                          "embeddings.patch_embeddings.projection.weight"};

// With anything before it, up to a dot.
bool ends_as_one_of(std::span<const std::string_view> patterns, std::string_view name) {
  const auto ends_as = [&](std::string_view pattern) {
    for (std::string_view rest = name;; rest.remove_prefix(rest.find('.') + 1)) {
      if (matches_layers(pattern, rest)) return true;
      if (rest.find('.') == std::string_view::npos) return false;
    }
  };
  return std::ranges::any_of(patterns, ends_as);
}

Size size_there(const SizeName& size, std::size_t times, std::span<const SizeThere> sizes) {
  const auto found = std::ranges::find(sizes, size.name, &SizeThere::ours);
  return {times, found == sizes.end() ? size.name : found->theirs};
}

// What the schema says of a role in a part.
const Parameter& parameter_in(const RenamedSection& section, const SchemaPart& part, const Role& role) {
  const auto within = [&](std::span<const SchemaPart> parts) -> const Parameter* {
    for (const SchemaPart& one : parts) {
      if (one.scope != part.scope || one.number != part.number) continue;
      const auto found = std::ranges::find(one.parameters, &role, [](const Parameter& row) { return &row.role; });
      if (found != one.parameters.end()) return &*found;
    }
    return nullptr;
  };
  if (!section.scope) {
    if (const Parameter* found = within(schema_of_attention())) return *found;
  }
  for (const SchemaSection& one : schema_sections()) {
    if (one.scope != section.scope || (one.layers != nullptr) == section.ours.empty()) continue;
    if (const Parameter* found = within(one.parts)) return *found;
  }
  throw std::logic_error("a layout renames a tensor to what the schema does not have");
}

Need need_of(const Renamed& row, const Parameter& parameter) {
  if (row.need) return *row.need;
  if (parameter.presence != Presence::optional) return always;
  return &parameter.role == &role::beta ? with_shifts : with_biases;
}

TensorRow row_of(const ForeignLayout& layout, const RenamedSection& section, const RenamedPart& part,
                 const Renamed& renamed) {
  TensorRow row{std::string(renamed.theirs), {}, renamed.is_transposed, {}, {}, {}};
  const auto count =
      static_cast<std::size_t>(std::ranges::count_if(renamed.ours, [](const Role* role) { return role != nullptr; }));
  const Parameter& first = parameter_in(section, part.ours, *renamed.ours[0]);
  for (std::size_t i = 0; i < count; ++i) row.ours.emplace_back(renamed.ours[i]->leaf);
  row.rows = size_there(first.rows, 1, layout.sizes);
  row.columns = size_there(first.columns, count, layout.sizes);
  row.packing = renamed.packing;
  if (row.packing == Packing::grouped) row.columns = {1, size_name::all_d_q.name, count - 1, size_name::all_d_k.name};
  if (row.is_transposed) std::swap(row.rows, row.columns);
  row.need = need_of(renamed, first);
  row.is_kernel = renamed.is_kernel;
  return row;
}

Scope scope_of(const ForeignLayout& layout, std::string_view before, const RenamedSection& section) {
  Scope scope{std::string(before) + std::string(section.theirs),
              section.scope ? std::string(section.scope->name) + "." + std::string(section.ours) : "",
              {},
              section.is_required};
  for (const RenamedPart& part : section.parts) {
    scope.parts.push_back({std::string(part.theirs), text_of(part.ours), {}});
    for (const Renamed& row : part.tensors) {
      scope.parts.back().tensors.push_back(row_of(layout, section, part, row));
    }
  }
  return scope;
}

Layout layout_of(const ForeignLayout& foreign) {
  Layout layout{foreign.name, 0, {}, foreign.brings, foreign.silent_on};
  for (const RenamedSection& section : foreign.sections) {
    layout.scopes.push_back(scope_of(foreign, foreign.before, section));
  }
  for (const RenamedSection& section : foreign.outside) layout.scopes.push_back(scope_of(foreign, "", section));
  if (foreign.left_out.empty()) return layout;
  Part beside;
  for (const std::string_view name : foreign.left_out)
    beside.tensors.push_back({std::string(name), {}, as_it_is, {}, {}, left_out});
  layout.scopes.push_back({"", "", {std::move(beside)}, false});
  return layout;
}

std::vector<Layout> all_layouts() {
  std::vector<Layout> all = {
      {own_layout, 1, {{"", "", own_parts(schema_of_attention()), true}}},
      own_layout_of(own_layout, model_kinds()[0]),
      own_layout_of("attn decoder-only", model_kinds()[2]),
  };
  for (const ForeignLayout& layout : foreign_layouts) all.push_back(layout_of(layout));
  return all;
}

}  // namespace

std::vector<PartTensor> tensors_of_part(const ScopeKind& part) {
  std::vector<PartTensor> tensors;
  for (const LonePart& lone : lone_parts) {
    if (&lone.scope != &part) continue;
    for (const Renamed& row : lone.tensors) tensors.push_back({row.theirs, *row.ours[0], row.is_transposed});
  }
  return tensors;
}

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = all_layouts();
  return all;
}

bool is_parameter_name(std::string_view name) { return find_parameter(called(name).role()) != nullptr; }

bool is_buffer_name(std::string_view name) { return ends_as_one_of(buffers, name); }

bool is_of_image(std::string_view name) { return ends_as_one_of(of_images, name); }

bool matches_layers(std::string_view pattern, std::string_view name) {
  const std::size_t number = pattern.find('#');
  if (number == std::string_view::npos) return pattern == name;
  if (name.substr(0, number) != pattern.substr(0, number)) return false;
  const std::size_t end = name.find_first_not_of("0123456789", number);
  return end != std::string_view::npos && end > number && name.substr(end) == pattern.substr(number + 1);
}

}  // namespace attn
