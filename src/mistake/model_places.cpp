#include "mistake/model_places.hpp"

#include <algorithm>
#include <array>

#include "mistake/others_names.hpp"
#include "support/number.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

// What people call a scope of a model, as a plain name.
struct CalledScope {
  std::string_view name;
  const ScopeKind* kind;
};

constexpr std::array sides = {CalledScope{"encoder", &scope::encoder}, CalledScope{"enc", &scope::encoder},
                              CalledScope{"decoder", &scope::decoder}, CalledScope{"dec", &scope::decoder}};

// A longer name stands before one that it begins with.
constexpr std::array parts = {
    CalledScope{"selfattention", &scope::self_attention},
    CalledScope{"selfattn", &scope::self_attention},
    CalledScope{"crossattention", &scope::cross_attention},
    CalledScope{"crossattn", &scope::cross_attention},
    CalledScope{"attention", &scope::self_attention},
    CalledScope{"attn", &scope::self_attention},
    CalledScope{"mha", &scope::self_attention},
    CalledScope{"feedforward", &scope::feed_forward},
    CalledScope{"ffn", &scope::feed_forward},
    CalledScope{"ff", &scope::feed_forward},
    CalledScope{"mlp", &scope::feed_forward},
    CalledScope{"layernorm", &scope::norm},
    CalledScope{"norm", &scope::norm},
    CalledScope{"ln", &scope::norm},
};

constexpr std::array<std::string_view, 6> layer_words = {"layers", "layer", "blocks", "block", "h", "l"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

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

}  // namespace

std::optional<PlaceInModel> place_in_model(std::string_view name) {
  const std::vector<std::string> words = words_and_numbers(name);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::optional<std::size_t> layer = parsed<std::size_t>(words[i + 1]);
    if (!layer || std::ranges::find(layer_words, words[i]) == layer_words.end()) continue;
    PlaceInModel place{.layer = *layer};
    for (std::size_t before = 0; before < i; ++before) {
      const auto side = std::ranges::find(sides, std::string_view(words[before]), &CalledScope::name);
      if (side != sides.end()) place.side = side->kind;
    }
    for (std::size_t after = i + 2; after < words.size(); ++after) place.leaf += words[after];
    const auto part =
        std::ranges::find_if(parts, [&](const CalledScope& one) { return place.leaf.starts_with(one.name); });
    if (part == parts.end()) return place;
    place.part = part->kind;
    place.leaf.erase(0, part->name.size());
    if (part->kind == &scope::norm && !place.leaf.empty() && is_digit(place.leaf.front())) {
      place.number = static_cast<std::size_t>(place.leaf.front() - '0');
      place.leaf.erase(0, 1);
    }
    return place;
  }
  return std::nullopt;
}

bool lies_at(const Node& node, const PlaceInModel& place, std::size_t first) {
  const NamedScope* const layer = node.within(scope::number);
  if (!layer || !layer->number || *layer->number != place.layer + 1 - first) return false;
  if (place.side && !node.within(*place.side)) return false;
  if (!place.side && !node.within(scope::encoder) && !node.within(scope::decoder)) return false;
  const NamedScope* const part = place.part ? node.within(*place.part) : nullptr;
  return !place.part || (part && (!place.number || part->number == place.number));
}

}  // namespace attn
