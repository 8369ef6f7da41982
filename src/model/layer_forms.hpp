#pragma once

#include <vector>

#include "model/layers.hpp"

namespace attn {

// Each kind of layer in its two forms, position by position and as a whole.

using Positions = std::vector<Value>;

/// softmax(x xᵀ / √d) x: the embeddings are queries, keys and values.
/// (Zhang et al., Dive into Deep Learning, 11.6.1)
Positions self_attention_by_position(const Positions& x, const Layer& layer);
Value self_attention(const Value& x, const Layer& layer);

/// The same with w_q, w_k, w_v and w_o.  (Vaswani et al. 2017, section 3.2.2)
Positions projected_attention_by_position(const Positions& x, const Layer& layer);
Value projected_attention(const Value& x, const Layer& layer);

/// h_t = tanh(x_t W_x + h_{t−1} W_h), one after another.  (Zhang et al., Dive into Deep Learning, 11.6.2)
Positions recurrent_by_position(const Positions& x, const Layer& layer);
Value recurrent(const Value& x, const Layer& layer);

/// A window of k neighbors times one matrix: the window lies around its position. Zeros stand beyond the
/// ends.  (Zhang et al., Dive into Deep Learning, 11.6.2)
Positions convolution_by_position(const Positions& x, const Layer& layer);
Value convolution(const Value& x, const Layer& layer);

/// Windows that look back with gaps of k^(l − 1) in layer l, so that l layers see k^l positions.
/// (Kalchbrenner et al. 2016; Vaswani et al. 2017, table 1)
Positions dilated_convolution_by_position(const Positions& x, const Layer& layer);
Value dilated_convolution(const Value& x, const Layer& layer);

/// All n·d numbers times one matrix of (n·d)².  (Lin et al. 2022; Stenzel 2023, Transformer Pt. 1)
Positions fully_connected_by_position(const Positions& x, const Layer& layer);
Value fully_connected(const Value& x, const Layer& layer);

}  // namespace attn
