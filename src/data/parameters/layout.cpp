#include "data/parameters/layout.hpp"

#include <algorithm>
#include <iterator>

#include "core/model/schema.hpp"
#include "data/parameters/layout_text.hpp"

namespace attn {

namespace {

// --- our own names, which follow from the schema

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
      const Need need = parameter.presence == Presence::required ? Need::always : Need::sometimes;
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

std::vector<Layout> all_layouts() {
  std::vector<Layout> all = {
      {own_layout, 1, {{"", "", own_parts(schema_of_attention()), true}}},
      own_layout_of(own_layout, model_kinds()[0]),
      own_layout_of("attn decoder-only", model_kinds()[2]),
  };
  std::ranges::move(layouts_of_others().layouts(), std::back_inserter(all));
  return all;
}

// --- names

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

}  // namespace

// --- our own names, which follow from the schema

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = all_layouts();
  return all;
}

std::vector<PartTensor> tensors_of_part(const ScopeKind& part) {
  if (&part == &scope::norm) return layouts_of_others().tensors("lone_norm");
  if (&part == &scope::feed_forward) return layouts_of_others().tensors("torch_feed_forward");
  return {};
}

// --- names

bool is_parameter_name(std::string_view name) { return find_parameter(name_from_text(name).role()) != nullptr; }

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
