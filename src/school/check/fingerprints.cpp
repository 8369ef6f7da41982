#include "school/check/fingerprints.hpp"

#include <fmt/format.h>

#include "core/support/text.hpp"
#include "school/check/fingerprints_seen.hpp"

namespace attn {

// --- fingerprints

namespace {

// What a fingerprint is good for: it says what the matrix is; or it hints at a cause; or it only says where
// to look.
enum class Worth { identity, hint, place };

struct Fingerprint {
  FingerprintText (*told)(const FingerprintSubject& seen);
  Worth worth = Worth::hint;
};

// In the order in which they are told.
constexpr Fingerprint fingerprint_table[] = {
    {fingerprint::overflow, Worth::identity},
    {fingerprint::not_finite},
    {fingerprint::other_shape},
    {fingerprint::is_transpose, Worth::identity},
    {fingerprint::all_zero, Worth::identity},
    {fingerprint::another_matrix, Worth::identity},
    {fingerprint::a_factor, Worth::identity},
    {fingerprint::an_offset, Worth::identity},
    {fingerprint::a_known_difference, Worth::identity},
    {fingerprint::a_function, Worth::identity},
    {fingerprint::rounded, Worth::identity},
    {fingerprint::other_order, Worth::identity},
    {fingerprint::moved_rows, Worth::identity},
    {fingerprint::masked_as_well, Worth::identity},
    {fingerprint::only_another_mask_value, Worth::identity},
    {fingerprint::dropout, Worth::identity},
    {fingerprint::dropped_numbers, Worth::identity},
    {fingerprint::dropped_terms, Worth::identity},
    {fingerprint::sums},
    {fingerprint::more_masked},
    {fingerprint::right_rows},
    {fingerprint::empty_rows},
    {fingerprint::right_columns, Worth::place},
    {fingerprint::another_mask_value},
    {fingerprint::masked_weights},
    {fingerprint::a_little},
};

}  // namespace

Fingerprints fingerprints(const FingerprintSubject& seen) {
  Fingerprints all;
  for (const Fingerprint& fingerprint : fingerprint_table) {
    FingerprintText told = fingerprint.told(seen);
    if (!told) continue;
    if (fingerprint.worth != Worth::place) all.summary = *told;
    all.sentences.push_back(std::move(*told));
    all.identify = fingerprint.worth == Worth::identity;
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
  return list_in_words(parts);
}

}  // namespace attn
