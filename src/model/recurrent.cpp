#include "model/recurrent.hpp"

#include <array>
#include <string>

namespace attn {
namespace {

using enum RecurrentRows;

constexpr RecurrentParameter tanh_parameters[] = {{"w_xh", input}, {"w_hh", state}, {"b_h", bias}};

constexpr RecurrentParameter gru_parameters[] = {
    {"w_xr", input}, {"w_hr", state}, {"b_r", bias},   {"w_xz", input}, {"w_hz", state},
    {"b_z", bias},   {"w_xh", input}, {"w_hh", state}, {"b_h", bias},
};

constexpr std::array table = {
    Recurrence{"tanh", "tanh(x W + h U + b) (Elman 1990)", tanh_parameters, tanh_step},
    Recurrence{"gru", "gated recurrent unit, with a reset and an update gate (Cho et al. 2014)",
               gru_parameters, gru_step},
};

// x W_xr + h W_hr + b_r, where r is the letter of a gate or of the state; `x_r` and `h_r` are its two
// products.
Value both(Value x, Value h, const std::string& letter, const Parameters& parameters) {
  Value of_x = name("x_" + letter, matmul(std::move(x), parameters.at("w_x" + letter)));
  Value of_h = name("h_" + letter, matmul(std::move(h), parameters.at("w_h" + letter)));
  return add(add(std::move(of_x), std::move(of_h)), parameters.at("b_" + letter));
}

}  // namespace

std::span<const Recurrence> recurrences() {
  return table;
}

Value tanh_step(Value x, Value h, const Parameters& parameters) {
  return attn::tanh(both(std::move(x), std::move(h), "h", parameters));
}

Value gru_step(Value x, Value h, const Parameters& parameters) {
  Value reset = name("reset", sigmoid(both(x, h, "r", parameters)));
  Value update = name("update", sigmoid(both(x, h, "z", parameters)));
  Value remembered = name("remembered", multiply(std::move(reset), h));
  Value candidate = name("candidate", attn::tanh(both(std::move(x), std::move(remembered), "h", parameters)));
  // z ⊙ h + (1 − z) ⊙ candidate, without a matrix of ones.
  return add(candidate, multiply(std::move(update), subtract(std::move(h), candidate)));
}

}  // namespace attn
