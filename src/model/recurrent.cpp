#include "model/recurrent.hpp"

#include <array>
#include <string>

namespace attn {
namespace {

using enum RecurrentRows;

// What a gate or a state is computed from, x W + h U + b, and its two products.
struct Gate {
  const Role& w_x;
  const Role& w_h;
  const Role& b;
  const Role& of_x;
  const Role& of_h;
};

constexpr Gate reset_gate{role::w_xr, role::w_hr, role::b_r, role::x_r, role::h_r};
constexpr Gate update_gate{role::w_xz, role::w_hz, role::b_z, role::x_z, role::h_z};
constexpr Gate next_state{role::w_xh, role::w_hh, role::b_h, role::x_h, role::h_h};

constexpr RecurrentParameter tanh_parameters[] = {
    {role::w_xh, input}, {role::w_hh, state}, {role::b_h, bias}};

constexpr RecurrentParameter gru_parameters[] = {
    {role::w_xr, input}, {role::w_hr, state}, {role::b_r, bias},   {role::w_xz, input}, {role::w_hz, state},
    {role::b_z, bias},   {role::w_xh, input}, {role::w_hh, state}, {role::b_h, bias},
};

constexpr std::array table = {
    Recurrence{"tanh", "tanh(x W + h U + b) (Elman 1990)", tanh_parameters, tanh_step},
    Recurrence{"gru", "gated recurrent unit, with a reset and an update gate (Cho et al. 2014)",
               gru_parameters, gru_step},
};

Value both(const Value& x, const Value& h, const Gate& gate, const Parameters& parameters) {
  const auto learned = [&](const Role& role) { return parameters.at(&role); };
  Value of_x = name(gate.of_x, matmul(x, learned(gate.w_x)));
  Value of_h = name(gate.of_h, matmul(h, learned(gate.w_h)));
  return add(add(of_x, of_h), learned(gate.b));
}

}  // namespace

std::span<const Recurrence> recurrences() {
  return table;
}

Value tanh_step(const Value& x, const Value& h, const Parameters& parameters) {
  return attn::tanh(both(x, h, next_state, parameters));
}

Value gru_step(const Value& x, const Value& h, const Parameters& parameters) {
  Value reset = name(role::reset, sigmoid(both(x, h, reset_gate, parameters)));
  Value update = name(role::update, sigmoid(both(x, h, update_gate, parameters)));
  Value remembered = name(role::remembered, multiply(reset, h));
  Value candidate = name(role::candidate, attn::tanh(both(x, remembered, next_state, parameters)));
  // z ⊙ h + (1 − z) ⊙ candidate, without a matrix of ones.
  return add(candidate, multiply(update, subtract(h, candidate)));
}

}  // namespace attn
