#include "model/variants.hpp"

#include <array>

namespace attn {
namespace {

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
Value none(DecoderStep& step) {
  return name(role::joined, step.advance(step.word_alone()));
}

constexpr std::array table = {
    AlignmentVariant{
        "bahdanau",
        "the previous state is the query, the score is additive, and the context enters the cell (Bahdanau "
        "et al. 2014)",
        "additive", 1, 0, bahdanau},
    AlignmentVariant{
        "luong",
        "the new state is the query, the score is a dot product, and the context is concatenated with the "
        "state (Luong et al. 2015)",
        "dot", 0, 1, luong},
    AlignmentVariant{
        "scaled-dot",
        "the previous state is the query, the score is a dot product divided by √d, and the context is "
        "concatenated with the new state",
        "scaled-dot", 0, 1, scaled_dot},
    AlignmentVariant{"none",
                     "no attention: only the encoder's last state reaches the decoder, the bottleneck "
                     "(Sutskever et al. 2014)",
                     "", 0, 0, none},
};

}  // namespace

DecoderStep::DecoderStep(const Parts& parts, const Value& word, const Value& previous, Axis output)
    : parts_(parts), word_(word), previous_(previous), output_(std::move(output)) {}

Value DecoderStep::attend(const Value& state) {
  // A state is the query for the output of this step, whichever step it comes from.
  Value query = name(role::query, labelled(state, output_));
  return name(role::context, attention(query, parts_.h, parts_.h, parts_.recipe));
}

Value DecoderStep::word_alone() const {
  return labelled(word_, output_);
}

Value DecoderStep::advance(const Value& x) {
  Value input = name(role::x, x);
  state_ = name(role::state, parts_.cell.step(input, previous_, parts_.parameters));
  return *state_;
}

std::span<const AlignmentVariant> alignment_variants() {
  return table;
}

}  // namespace attn
