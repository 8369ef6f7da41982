#include "mistake/fingerprints.hpp"

#include <fmt/format.h>

#include "mistake/fingerprint.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

struct Fingerprint {
  Told (*told)(const Seen& seen);
  bool identifies = false;
};

// In the order in which they are told.
constexpr Fingerprint table[] = {
    {fingerprint::not_finite},
    {fingerprint::other_shape},
    {fingerprint::is_transpose, true},
    {fingerprint::all_zero, true},
    {fingerprint::another_matrix, true},
    {fingerprint::a_factor, true},
    {fingerprint::an_offset, true},
    {fingerprint::rounded, true},
    {fingerprint::other_order, true},
    {fingerprint::sums},
    {fingerprint::more_masked},
    {fingerprint::dropout},
    {fingerprint::right_rows},
    {fingerprint::right_columns},
    {fingerprint::another_mask_value},
    {fingerprint::masked_weights},
    {fingerprint::a_little},
};

}  // namespace

Fingerprints fingerprints(const Seen& seen) {
  Fingerprints all;
  for (const Fingerprint& fingerprint : table) {
    Told told = fingerprint.told(seen);
    if (!told) continue;
    all.sentences.push_back(std::move(*told));
    all.identify = fingerprint.identifies;
    if (all.identify) break;
  }
  return all;
}

std::string written_places(const std::vector<std::size_t>& places) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < places.size();) {
    std::size_t end = i + 1;
    while (end < places.size() && places[end] == places[end - 1] + 1) ++end;
    if (end - i > 2) {
      parts.push_back(fmt::format("{} to {}", places[i] + 1, places[end - 1] + 1));
    } else {
      for (std::size_t k = i; k < end; ++k) parts.push_back(std::to_string(places[k] + 1));
    }
    i = end;
  }
  constexpr std::size_t most = 8;
  if (parts.size() > most) {
    parts.resize(most);
    parts.emplace_back("others");
  }
  return listed(parts);
}

}  // namespace attn
