#pragma once

#include <span>
#include <string_view>

#include "data/parameters/config.hpp"
#include "data/parameters/families.hpp"

namespace attn {

// What each member of a config.json is, beside the rows of its family.

/// What becomes of a member.
enum class KeyEffect { used, none, unknown };
KeyEffect effect_of(std::string_view key, const ModelFamily& family);

/// The size that a member says in a family; null: it says none that tensors of the family have.
const ConfigSize* size_said_by(std::string_view key, const ModelFamily& family);

/// Members of all families that may have one value only.
std::span<const ConfigField> fields_of_all_families();

/// Throws InputError for a class that has another output than words, such as one for the classes of a text. Whether all
/// classes are known.
bool knows_classes(const JsonMember& architectures, const ModelFamily& family);

}  // namespace attn
