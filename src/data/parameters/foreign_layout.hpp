#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/name.hpp"
#include "core/model/schema.hpp"
#include "data/parameters/layout.hpp"

/// What layouts of others are written down with: their rows name tensors there and roles here, and what they share
/// stands in this file. A family of layouts has a file of its own.
namespace attn::foreign {

using enum Need;

/// What a size of the schema is called there.
struct SizeThere {
  std::string_view ours, theirs;
};

/// In PyTorch's documentation.
inline constexpr SizeThere sizes_there[] = {
    {"h_k·d_k", "d_model"},
    {"h_k·d_v", "d_model"},
    {"h·d_k", "d_model"},
    {"h·d_v", "d_model"},
    {"size of the output", "d_model"},
    {"input size of the keys", "kdim"},
    {"input size of the values", "vdim"},
};
/// Where they are called as here.
inline constexpr std::span<const SizeThere> own_sizes = {};

/// A tensor by its name there, and the roles of what is made of it.
struct Renamed {
  std::string_view theirs;
  std::array<const Role*, 3> ours;  // as many as there are
  bool is_transposed = false;
  std::optional<Need> need = {};  // nothing: as the schema says
  Packing packing = Packing::equal;
  bool is_kernel = false;
};

/// A part of a section by its name there.
struct RenamedPart {
  std::string_view theirs;
  SchemaPart ours;  // its scope and number
  std::span<const Renamed> tensors;
};

/// A section of the schema; null: an attention by itself. With '#' in its name, or as the only layer, it is
/// one of layers.
struct RenamedSection {
  std::string_view theirs;
  const ScopeKind* scope;
  std::string_view ours;  // behind the scope: "#.", "1." or nothing
  std::span<const RenamedPart> parts;
  bool is_required;
};

/// The names that one kind of file has, of which a Layout is made.
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

// --- the layouts of each family

/// PyTorch's modules, and attentions by themselves.
std::vector<ForeignLayout> layouts_of_torch();
/// GPT-2, GPT-Neo and GPT-NeoX.
std::vector<ForeignLayout> layouts_of_gpt();
/// Llama, and decoders that are named like it.
std::vector<ForeignLayout> layouts_of_llama();
/// BERT and its like, and ViT.
std::vector<ForeignLayout> layouts_of_encoders();
/// T5 and BART.
std::vector<ForeignLayout> layouts_of_encoder_decoders();
/// All families in files of llama.cpp.
std::vector<ForeignLayout> layouts_of_gguf();

// --- what several of them share

inline constexpr bool transposed_there = true, as_it_is = false;
inline constexpr bool assumed = true;

inline constexpr SchemaPart self_attention{&scope::self_attention, 0, {}},
    cross_attention{&scope::cross_attention, 0, {}}, feed_forward{&scope::feed_forward, 0, {}},
    norm_1{&scope::norm, 1, {}}, norm_2{&scope::norm, 2, {}}, norm_3{&scope::norm, 3, {}},
    last_norm{&scope::norm, 0, {}}, itself{nullptr, 0, {}};
inline constexpr SchemaPart post_norm_1{&scope::post_norm, 1, {}}, post_norm_2{&scope::post_norm, 2, {}};

inline constexpr Renamed torch_norm[] = {{"weight", {&role::gamma}}, {"bias", {&role::beta}}};
inline constexpr Renamed norm_without_shift[] = {{"weight", {&role::gamma}, as_it_is, always}};
inline constexpr Renamed words_there[] = {{"weight", {&role::e}}};
inline constexpr Renamed places_there[] = {{"weight", {&role::table}}};
inline constexpr Renamed shared_words[] = {{"weight", {&role::e}, as_it_is, shared}};
inline constexpr Renamed own_words_there[] = {{"weight", {&role::w}, transposed_there, always}};

/// Projections that are linear layers of their own, by the names of the last one. Some have no biases, or only some.
inline constexpr std::string_view o_proj[] = {"o_proj.weight", "o_proj.bias"},
                                  out_proj[] = {"out_proj.weight", "out_proj.bias"};
template <const auto& output>
inline constexpr Renamed linear_projections[] = {
    {"q_proj.weight", {&role::w_q}, transposed_there, always},
    {"k_proj.weight", {&role::w_k}, transposed_there, always},
    {"v_proj.weight", {&role::w_v}, transposed_there, always},
    {output[0], {&role::w_o}, transposed_there, always},
    {"q_proj.bias", {&role::b_q}, as_it_is, sometimes},
    {"k_proj.bias", {&role::b_k}, as_it_is, sometimes},
    {"v_proj.bias", {&role::b_v}, as_it_is, sometimes},
    {output[1], {&role::b_o}, as_it_is, sometimes},
};

/// An attention by itself.
template <const auto& tensors>
inline constexpr RenamedPart lone_attention_part[] = {{"", itself, tensors}};
template <const auto& tensors>
inline constexpr RenamedSection lone_attention[] = {{"", nullptr, "", lone_attention_part<tensors>, true}};

/// An output layer: the embedding once more, or its own.
inline constexpr RenamedPart head_of_words[] = {{"lm_head.", itself, shared_words}};
inline constexpr RenamedPart own_head_of_words[] = {{"lm_head.", itself, own_words_there}};
inline constexpr RenamedSection tied_head[] = {{"", &scope::target_embedding, "", head_of_words, false}};
inline constexpr RenamedSection own_head[] = {{"", &scope::output, "", own_head_of_words, true}};

}  // namespace attn::foreign
