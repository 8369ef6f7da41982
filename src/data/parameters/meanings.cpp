#include "data/parameters/meanings.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

// What a name of an activation there is called here.
struct ActivationThere {
  std::string_view theirs, ours;
};
constexpr ActivationThere activations_there[] = {
    {"relu", "relu"},           {"gelu", "gelu"}, {"gelu_new", "gelu-tanh"}, {"gelu_pytorch_tanh", "gelu-tanh"},
    {"gelu_fast", "gelu-tanh"}, {"silu", "silu"}, {"swish", "silu"},         {"tanh", "tanh"},
};

}  // namespace

bool flag_of(const JsonMember& member) {
  if (!member.value.is_boolean()) fail("{} must be true or false", member.place);
  return member.value.get<bool>();
}

double positive_number_of(const JsonMember& member) {
  if (member.value.is_number() && member.value.get<double>() > 0.0) return member.value.get<double>();
  fail("{} must be a positive number", member.place);
}

std::size_t size_of(const JsonMember& member, std::uint64_t most) {
  if (member.value.is_number_unsigned() && member.value.get<std::uint64_t>() >= 1 &&
      member.value.get<std::uint64_t>() <= most)
    return member.value.get<std::size_t>();
  fail("{} must be a whole number from 1 to {}", member.place, most);
}

std::string_view activation_named(std::string_view theirs, const JsonMember& member) {
  const auto found = std::ranges::find(activations_there, theirs, &ActivationThere::theirs);
  if (found == std::end(activations_there))
    fail("{}: the activation {} is not read yet", member.place, in_quotes(string_of(member)));
  return found->ours;
}

FieldValue activation_there(const JsonMember& member, ModelConfig&) {
  return activation_named(string_of(member), member);
}

FieldValue attention_biases_there(const JsonMember& member, ModelConfig& config) {
  config.biases.of_queries = config.biases.of_attention_output = flag_of(member);
  return {};
}

FieldValue query_biases_there(const JsonMember& member, ModelConfig& config) {
  config.biases.of_queries = flag_of(member);
  return {};
}

FieldValue feed_forward_biases_there(const JsonMember& member, ModelConfig& config) {
  config.biases.of_feed_forward = flag_of(member);
  return {};
}

void require_flag(const JsonMember& member, bool only) {
  if (flag_of(member) != only) fail("{} is {}, which is not read yet", member.place, !only);
}

void require_text(const JsonMember& member, std::string_view only) {
  const std::string text = string_of(member);
  if (text != only) fail("{} is {}, and only {} is read yet", member.place, in_quotes(text), in_quotes(only));
}

}  // namespace attn
