#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>

namespace attn {

/// A sentence that claims something of a subject, beside the condition under which it is true of it. Its detail stands
/// in the place of {}.
template <class Subject>
struct Claim {
  bool (*holds)(const Subject& subject);
  std::string_view sentence;
  std::string (*detail)(const Subject& subject) = nullptr;
};

/// What is true of every subject.
template <class Subject>
bool of_any(const Subject&) {
  return true;
}

/// The sentence of a claim about a subject of which it holds.
template <class Subject>
std::string claims_in_words(const Claim<Subject>& claim, const Subject& subject) {
  return claim.detail ? fmt::format(fmt::runtime(claim.sentence), claim.detail(subject)) : std::string(claim.sentence);
}

/// The sentences of the claims that hold of a subject, in their order; empty: of none.
template <class Subject>
std::string claims_in_words(std::span<const Claim<Subject>> claims, const Subject& subject) {
  std::string all;
  for (const Claim<Subject>& claim : claims) {
    if (claim.holds(subject)) all += (all.empty() ? "" : " ") + claims_in_words(claim, subject);
  }
  return all;
}

}  // namespace attn
