#pragma once

#include "core/attention/score.hpp"
#include "core/math/matrix.hpp"

namespace attn {

// Equalities that the documents state, as the largest difference between the two sides: near 0 where they
// hold.

/// Attention weights of the Gaussian kernel of width σ against those of the dot product divided by σ². Equal
/// where all keys have the same length.  [n_q, d] [n_k, d].  (Zhang et al., Dive into Deep Learning, 11.3.1)
double gaussian_against_dot(const Matrix& q, const Matrix& k, double sigma = 1.0);

/// The keys, each divided by its length: all then have length 1. A key of zeros has no direction: it becomes
/// 1 0 … 0.  [n_k, d] -> [n_k, d].
Matrix of_equal_length(const Matrix& k);

/// Additive scores against those of one hidden layer that sees the query and the key side by side:
/// tanh([q; k] · [W_q over W_k]) · w_v.  (Zhang et al., Dive into Deep Learning, 11.3.4)
double additive_against_hidden_layer(const Matrix& q, const Matrix& k, const Matrix& w_q, const Matrix& w_k,
                                     const Matrix& w_v);

/// The four matrices of a multi-head attention.
struct Projections {
  const Matrix& q;
  const Matrix& k;
  const Matrix& v;
  const Matrix& o;
};

/// Multi-head attention whose heads split one projection, columns of x · W, against heads with projections of
/// their own, x · columns of W, each through to the output projection.  (Stenzel 2023, Transformer Pt. 1,
/// against Zhang et al., Dive into Deep Learning, 11.5)
double split_against_independent(const Matrix& x, const Projections& w, std::size_t heads);

}  // namespace attn
