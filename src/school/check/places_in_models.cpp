#include "school/check/places_in_models.hpp"

#include <algorithm>
#include <array>

#include "core/support/text.hpp"
#include "school/check/names.hpp"

namespace attn {

namespace {

// What people call a scope of a model, as a plain name.
struct CalledScope {
  std::string_view name;
  const ScopeKind* kind;
  std::optional<std::size_t> number = {};  // that the name means
};

constexpr std::array sides = {CalledScope{"encoder", &scope::encoder}, CalledScope{"enc", &scope::encoder},
                              CalledScope{"decoder", &scope::decoder}, CalledScope{"dec", &scope::decoder}};

// A longer name stands before one that it begins with.
constexpr std::array parts = {
    CalledScope{"selfattentionlayernorm", &scope::norm, 1},
    CalledScope{"selfattentionnorm", &scope::norm, 1},
    CalledScope{"selfattnlayernorm", &scope::norm, 1},
    CalledScope{"selfattnnorm", &scope::norm, 1},
    CalledScope{"attentionoutputlayernorm", &scope::norm, 1},
    CalledScope{"attentionlayernorm", &scope::norm, 1},
    CalledScope{"attentionnorm", &scope::norm, 1},
    CalledScope{"attnlayernorm", &scope::norm, 1},
    CalledScope{"attnnorm", &scope::norm, 1},
    CalledScope{"salayernorm", &scope::norm, 1},
    CalledScope{"addnorm", &scope::norm},
    CalledScope{"selfattention", &scope::self_attention},
    CalledScope{"selfattn", &scope::self_attention},
    CalledScope{"crossattentions", &scope::cross_attention},
    CalledScope{"crossattention", &scope::cross_attention},
    CalledScope{"crossattn", &scope::cross_attention},
    CalledScope{"attentions", &scope::self_attention},
    CalledScope{"attention", &scope::self_attention},
    CalledScope{"attn", &scope::self_attention},
    CalledScope{"mha", &scope::self_attention},
    CalledScope{"feedforward", &scope::feed_forward},
    CalledScope{"ffn", &scope::feed_forward},
    CalledScope{"ff", &scope::feed_forward},
    CalledScope{"mlp", &scope::feed_forward},
    CalledScope{"hookattnout", &scope::self_attention},  // of TransformerLens
    CalledScope{"hookmlpout", &scope::feed_forward},
    CalledScope{"lnfinal", &scope::norm},
    CalledScope{"layernorm", &scope::norm},
    CalledScope{"norm", &scope::norm},
    CalledScope{"ln", &scope::norm},
};

constexpr std::array<std::string_view, 6> layer_words = {"layers", "layer", "blocks", "block", "h", "l"};

// Words and numbers: "layer1_attn" is layer, 1 and attn.
std::vector<std::string> words_and_numbers(std::string_view name) {
  std::vector<std::string> all;
  bool begins = true;
  for (const char c : in_lower_case(name)) {
    const bool is_letter = c >= 'a' && c <= 'z';
    if (!is_letter && !is_digit(c)) {
      begins = true;
      continue;
    }
    if (begins || is_digit(all.back().back()) != is_digit(c)) all.emplace_back();
    all.back() += c;
    begins = false;
  }
  return all;
}

// What models return one of for each layer, as a plain name, and what it is there.
struct CalledSeries {
  std::string_view name;
  const ScopeKind* side;
  const ScopeKind* part;
  std::string_view leaf;
};

constexpr std::array series = {
    CalledSeries{"attentions", nullptr, &scope::self_attention, "weights"},
    CalledSeries{"selfattentions", nullptr, &scope::self_attention, "weights"},
    CalledSeries{"encoderattentions", &scope::encoder, &scope::self_attention, "weights"},
    CalledSeries{"decoderattentions", &scope::decoder, &scope::self_attention, "weights"},
    CalledSeries{"crossattentions", &scope::decoder, &scope::cross_attention, "weights"},
    CalledSeries{"hiddenstates", nullptr, nullptr, ""},
    CalledSeries{"encoderhiddenstates", &scope::encoder, nullptr, ""},
    CalledSeries{"decoderhiddenstates", &scope::decoder, nullptr, ""},
};

// The residual stream in a layer of TransformerLens, which counts them from 0, as hidden states count it.
struct CalledState {
  std::string_view leaf;
  std::size_t after;  // the layers before it: its own as well
};

constexpr std::array states = {CalledState{"hookresidpre", 0}, CalledState{"residpre", 0},
                               CalledState{"hookresidpost", 1}, CalledState{"residpost", 1}};

std::optional<PlaceInModel> state_in_layer(std::string_view name) {
  std::optional<PlaceInModel> place = place_in_model(name);
  if (!place || !place->layer || place->part) return std::nullopt;
  const auto found = std::ranges::find(states, std::string_view(place->leaf), &CalledState::leaf);
  if (found == states.end()) return std::nullopt;
  place->layer = *place->layer + found->after;
  place->leaf.clear();
  return place;
}

}  // namespace

std::optional<PlaceInModel> place_in_model(std::string_view name) {
  const std::vector<std::string> words = words_and_numbers(name);
  PlaceInModel place;
  std::size_t behind = 0;  // the words that say side and layer
  for (std::size_t i = 0; i + 1 < words.size() && !place.layer; ++i) {
    const std::optional<std::size_t> layer = parse_number<std::size_t>(words[i + 1]);
    if (!layer || std::ranges::find(layer_words, words[i]) == layer_words.end()) continue;
    place.layer = *layer;
    behind = i + 2;
  }
  for (std::size_t i = 0; i < words.size() && (!place.layer || i + 2 < behind); ++i) {
    const auto side = std::ranges::find(sides, std::string_view(words[i]), &CalledScope::name);
    if (side == sides.end()) continue;
    place.side = side->kind;
    if (!place.layer) behind = i + 1;
  }
  for (std::size_t after = behind; after < words.size(); ++after) place.leaf += words[after];
  const auto part =
      std::ranges::find_if(parts, [&](const CalledScope& one) { return place.leaf.starts_with(one.name); });
  if (part == parts.end()) return place.layer ? std::optional(place) : std::nullopt;
  place.part = part->kind;
  place.number = part->number;
  place.leaf.erase(0, part->name.size());
  if (part->kind == &scope::norm && !place.leaf.empty() && is_digit(place.leaf.front())) {
    place.number = static_cast<std::size_t>(place.leaf.front() - '0');
    place.leaf.erase(0, 1);
  }
  return place;
}

SeriesOfLayers series_named(std::string_view name) {
  const auto found = std::ranges::find(series, plain_name(name), &CalledSeries::name);
  if (found == series.end()) return SeriesOfLayers::none;
  return found->part ? SeriesOfLayers::weights : SeriesOfLayers::states;
}

std::optional<PlaceInModel> place_in_series(std::string_view name) {
  if (const std::optional<PlaceInModel> state = state_in_layer(name)) return state;
  const std::vector<std::string> words = words_and_numbers(name);
  const std::optional<std::size_t> number = words.empty() ? std::nullopt : parse_number<std::size_t>(words.back());
  if (!number) return std::nullopt;
  std::string called;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) called += words[i];
  const auto found = std::ranges::find(series, std::string_view(called), &CalledSeries::name);
  if (found == series.end()) return std::nullopt;
  return PlaceInModel{
      .side = found->side, .layer = number, .part = found->part, .number = {}, .leaf = std::string(found->leaf)};
}

bool lies_at(const Node& node, const PlaceInModel& place, std::size_t first) {
  const NamedScope* const layer = node.within(scope::number);
  if (place.layer && (!layer || !layer->number || *layer->number != *place.layer + 1 - first)) return false;
  if (place.side && !node.within(*place.side)) return false;
  if (!place.side && !node.within(scope::encoder) && !node.within(scope::decoder)) return false;
  const NamedScope* const part = place.part ? node.within(*place.part) : nullptr;
  return !place.part || (part && (!place.number || part->number == place.number));
}

}  // namespace attn
