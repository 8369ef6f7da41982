#pragma once

#include <cstdint>
#include <string_view>

#include "data/files/json.hpp"
#include "data/parameters/config.hpp"

/// What members of a config.json mean, where several families have them. All throw InputError: a value of another kind,
/// or one that is not read yet.
namespace attn {

bool flag_of(const JsonMember& member);
double positive_number_of(const JsonMember& member);
/// A whole number from 1.
std::size_t size_of(const JsonMember& member, std::uint64_t most);

/// Our name of an activation there.
std::string_view activation_named(std::string_view theirs, const JsonMember& member);
FieldValue activation_there(const JsonMember& member, ModelConfig& config);

void require_flag(const JsonMember& member, bool only);
void require_text(const JsonMember& member, std::string_view only);

/// Whether linear layers have biases: all of the attention, its queries, keys and values, or the feed-forward layer.
FieldValue attention_biases_there(const JsonMember& member, ModelConfig& config);
FieldValue query_biases_there(const JsonMember& member, ModelConfig& config);
FieldValue feed_forward_biases_there(const JsonMember& member, ModelConfig& config);

/// A member that may have one value, which is that of all models that are read; it sets no field.
template <bool only>
FieldValue only_flag(const JsonMember& member, ModelConfig&) {
  require_flag(member, only);
  return {};
}
template <const auto& only>
FieldValue only_text(const JsonMember& member, ModelConfig&) {
  require_text(member, only);
  return {};
}

}  // namespace attn
