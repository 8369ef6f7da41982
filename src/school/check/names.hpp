#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/name.hpp"

namespace attn {

/// A name without upper case and without all that is no letter or digit: "Attn-Weights" is "attnweights".
std::string plain_name(std::string_view name);

/// What a name says that people give a matrix: "grad_q", "head2_attn".
struct Reading {
  std::span<const Role* const> roles;  // which it may be, the likeliest first
  std::string scope;                   // what stands before it, as a plain name
  bool is_gradient;
};

/// All readings of a name, those first in which most of it says the role.
std::vector<Reading> readings_of(std::string_view name);

/// What people call so, without scopes: `Wq`, `attn_weights`, `Q`, and the parameters of linear layers of PyTorch with
/// them: `attention.self.query.weight`; the likeliest first. Empty: nothing.
std::span<const Role* const> roles_named(std::string_view name);

/// Whether people also call so what goes into an output projection: "attn_output".
bool may_be_before_projection(std::string_view name);

/// Whether it is called as the weight or the bias of a linear layer of PyTorch.
bool is_of_linear_layer(std::string_view name);

/// Whether it is called as the weight of a linear layer of PyTorch, which has the shape (out, in): `W_query.weight`,
/// and `q_proj_weight` of its nn.MultiheadAttention. `query_weight` says nothing of its orientation.
bool is_linear_weight(std::string_view name);

/// Whether a name that nothing else is known of sounds like that of a parameter: "mixer.weight", "Wx".
bool may_be_parameter(std::string_view name);

/// The number of the head that a name says: 2 of "head.2.weights", "head2_attn" and "weights[2]". Nothing: it
/// names none.
std::optional<std::size_t> head_named(std::string_view name);

/// A projection of one head, or its bias: "heads.0.W_query.weight" is that of head 0, called "W_query.weight" without
/// its number. Nothing: the name is of no projection, or has no number of a head.
struct ParameterOfHead {
  std::size_t head;
  std::string name;
};
std::optional<ParameterOfHead> parameter_of_head(std::string_view name);

/// The name with the number of its head one larger: for files that count heads from 0.
std::string with_next_head(std::string_view name);

}  // namespace attn
