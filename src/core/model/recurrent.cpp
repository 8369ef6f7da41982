#include "core/model/recurrent.hpp"

#include <array>
#include <string>

namespace attn {

namespace {

// --- recurrent

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
    {role::w_xh, RecurrentRows::input}, {role::w_hh, RecurrentRows::state}, {role::b_h, RecurrentRows::bias}};

constexpr RecurrentParameter gru_parameters[] = {
    {role::w_xr, RecurrentRows::input}, {role::w_hr, RecurrentRows::state}, {role::b_r, RecurrentRows::bias},
    {role::w_xz, RecurrentRows::input}, {role::w_hz, RecurrentRows::state}, {role::b_z, RecurrentRows::bias},
    {role::w_xh, RecurrentRows::input}, {role::w_hh, RecurrentRows::state}, {role::b_h, RecurrentRows::bias},
};

constexpr std::array recurrence_table = {
    Recurrence{"tanh", "tanh(x W + h U + b) (Elman 1990)", tanh_parameters, tanh_step},
    Recurrence{"gru", "gated recurrent unit, with a reset and an update gate (Cho et al. 2014)", gru_parameters,
               gru_step},
};

Value both(const Value& x, const Value& h, const Gate& gate, const Parameters& parameters) {
  const auto learned = [&](const Role& role) { return parameters.at(&role); };
  Value of_x = name(gate.of_x, matmul(x, learned(gate.w_x)));
  Value of_h = name(gate.of_h, matmul(h, learned(gate.w_h)));
  return add(add(of_x, of_h), learned(gate.b));
}

// --- variants

// s_{t−1} is the query; the context enters the cell; s_t predicts.  (Bahdanau et al. 2014; Zhang et al., Dive
// into Deep Learning, 11.4)
Value bahdanau(DecoderStep& step) {
  Value context = step.attend(step.previous());
  Value state = step.advance(concatenate({context, step.word()}));
  return name(role::joined, state);
}

// s_t is the query; [a_t; s_t] predicts.  (Notes "Attention"; Luong et al. 2015 put one more layer of tanh
// behind it)
Value luong(DecoderStep& step) {
  Value state = step.advance(step.word_alone());
  Value context = step.attend(state);
  return name(role::joined, concatenate({context, state}));
}

// s_{t−1} is the query; [c_t; s_t] predicts.  (Stenzel 2023, Transformer Pt. 1)
Value scaled_dot(DecoderStep& step) {
  Value context = step.attend(step.previous());
  Value state = step.advance(step.word_alone());
  return name(role::joined, concatenate({context, state}));
}

// No query: what the first state has taken over is all there is.  (Sutskever et al. 2014; Zhang et al., Dive
// into Deep Learning, 11.4)
Value no_query(DecoderStep& step) { return name(role::joined, step.advance(step.word_alone())); }

constexpr std::array variant_table = {
    AlignmentVariant{
        "bahdanau",
        "the previous state is the query, the score is additive, and the context enters the cell (Bahdanau et al. 2014)",
        "additive", 1, 0, bahdanau},
    AlignmentVariant{
        "luong",
        "the new state is the query, the score is a dot product, and the context is concatenated with the state (Luong et al. 2015)",
        "dot", 0, 1, luong},
    AlignmentVariant{
        "scaled-dot",
        "the previous state is the query, the score is a dot product divided by √d, and the context is concatenated with the new state",
        "scaled-dot", 0, 1, scaled_dot},
    AlignmentVariant{
        "none",
        "no attention: only the encoder's final state reaches the decoder, the bottleneck (Sutskever et al. 2014)", "",
        0, 0, no_query},
};

}  // namespace

// --- recurrent

std::span<const Recurrence> recurrences() { return recurrence_table; }

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

// --- variants

DecoderStep::DecoderStep(const Parts& parts, const Value& word, const Value& previous, Axis output)
    : parts_(parts), word_(word), previous_(previous), output_(std::move(output)) {}

Value DecoderStep::attend(const Value& state) {
  // A state is the query for the output of this step, whichever step it comes from.
  Value query = name(role::query, labelled(state, output_));
  return name(role::context, attention(query, parts_.h, parts_.h, parts_.recipe));
}

Value DecoderStep::word_alone() const { return labelled(word_, output_); }

Value DecoderStep::advance(const Value& x) {
  Value input = name(role::x, x);
  state_ = name(role::state, parts_.cell.step(input, previous_, parts_.parameters));
  return *state_;
}

std::span<const AlignmentVariant> alignment_variants() { return variant_table; }

}  // namespace attn
