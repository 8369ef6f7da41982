#include "graph/role.hpp"

#include <algorithm>
#include <array>

namespace attn {
namespace {

constexpr std::array all = {
    &role::other,
    &role::x,
    &role::ids,
    &role::e,
    &role::one_hot,
    &role::product,
    &role::scaled_x,
    &role::memory,
    &role::positions,
    &role::positioned,
    &role::position_table,
    &role::table,
    &role::dot_products,
    &role::w_q,
    &role::w_k,
    &role::w_v,
    &role::w_o,
    &role::b_q,
    &role::b_k,
    &role::b_v,
    &role::b_o,
    &role::w_1,
    &role::b_1,
    &role::w_2,
    &role::b_2,
    &role::w,
    &role::b,
    &role::gamma,
    &role::beta,
    &role::score_m,
    &role::score_wq,
    &role::score_wk,
    &role::score_wv,
    &role::q,
    &role::k,
    &role::v,
    &role::keys,
    &role::values,
    &role::scores,
    &role::scaled,
    &role::masked,
    &role::weights,
    &role::alignment,
    &role::alignment_transposed,
    &role::head,
    &role::concat,
    &role::output,
    &role::mask,
    &role::cross_mask,
    &role::bias,
    &role::expanded,
    &role::dot,
    &role::half_q,
    &role::half_k,
    &role::projected_q,
    &role::hidden_q,
    &role::hidden_k,
    &role::hidden,
    &role::activated,
    &role::content,
    &role::relative,
    &role::distances,
    &role::inner,
    &role::rectified,
    &role::feed_forward,
    &role::sum,
    &role::mean,
    &role::variance,
    &role::normalised,
    &role::through_layer,
    &role::padding,
    &role::logits,
    &role::tempered,
    &role::distribution,
    &role::allowed,
    &role::limited,
    &role::source,
    &role::previous,
    &role::h,
    &role::y,
    &role::state,
    &role::query,
    &role::context,
    &role::joined,
    &role::w_s,
    &role::b_s,
    &role::w_xh,
    &role::w_hh,
    &role::b_h,
    &role::x_h,
    &role::h_h,
    &role::w_xr,
    &role::w_hr,
    &role::b_r,
    &role::x_r,
    &role::h_r,
    &role::w_xz,
    &role::w_hz,
    &role::b_z,
    &role::x_z,
    &role::h_z,
    &role::reset,
    &role::update,
    &role::remembered,
    &role::candidate,
    &role::heads,
    &role::shares,
    &role::average,
    &role::lowered_scores,
    &role::unmasked,
    &role::filled,
    &role::left,
    &role::zeroed,
};

}  // namespace

std::span<const Role* const> roles() {
  return all;
}

Name::Name(const Role& role, std::size_t number)
    : role_(&role), leaf_(std::string(role.leaf) + "_" + std::to_string(number)) {}

Name::Name(std::string scopes, Name name) : Name(std::move(name)) {
  scopes_ = std::move(scopes);
}

Name called(std::string_view name) {
  const std::size_t begin = name.rfind('.') + 1;  // npos + 1 is 0
  const std::string_view leaf = name.substr(begin);
  const auto found = std::ranges::find(all, leaf, &Role::leaf);
  const Role& role = found == all.end() ? role::other : **found;
  return {std::string(name.substr(0, begin)), {role, std::string(leaf)}};
}

}  // namespace attn
