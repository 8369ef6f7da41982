#include "data/parameters/layout.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/model/schema.hpp"
#include "data/parameters/foreign_layout.hpp"

namespace attn {

// --- our own names, which follow from the schema

namespace {

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

// --- the names of others

using foreign::ForeignLayout, foreign::Renamed, foreign::RenamedPart, foreign::RenamedSection, foreign::SizeThere;

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
  if (parameter.presence != Presence::optional) return Need::always;
  return &parameter.role == &role::beta ? Need::with_shifts : Need::with_biases;
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
    beside.tensors.push_back({std::string(name), {}, false, {}, {}, Need::left_out});
  layout.scopes.push_back({"", "", {std::move(beside)}, false});
  return layout;
}

std::vector<Layout> all_layouts() {
  std::vector<Layout> all = {
      {own_layout, 1, {{"", "", own_parts(schema_of_attention()), true}}},
      own_layout_of(own_layout, model_kinds()[0]),
      own_layout_of("attn decoder-only", model_kinds()[2]),
  };
  for (const auto family :
       {foreign::layouts_of_torch, foreign::layouts_of_gpt, foreign::layouts_of_llama, foreign::layouts_of_encoders,
        foreign::layouts_of_encoder_decoders, foreign::layouts_of_gguf}) {
    for (const ForeignLayout& layout : family()) all.push_back(layout_of(layout));
  }
  return all;
}

}  // namespace

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = all_layouts();
  return all;
}

// --- names

namespace {

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
