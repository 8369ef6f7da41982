#pragma once

#include "attention/score.hpp"
#include "math/matrix.hpp"

namespace attn {

// Equalities that the documents state, as the largest difference between the two sides: near 0 where they
// hold.

/// Attention weights of the Gaussian kernel (σ = 1) against those of the dot product. Equal where all keys
/// have the same length.  [n_q, d] [n_k, d].  (D0 11.3.1)
double gaussian_against_dot(const Matrix& q, const Matrix& k);

/// The keys, each divided by its length: all then have length 1. A key of zeros stays.  [n_k, d] -> [n_k, d].
Matrix of_equal_length(const Matrix& k);

/// Additive scores against those of one hidden layer that sees the query and the key side by side:
/// tanh([q; k] · [W_q over W_k]) · w_v.  (D0 11.3.4)
double additive_against_hidden_layer(const Matrix& q, const Matrix& k, const Matrix& w_q, const Matrix& w_k,
                                     const Matrix& w_v);

/// One projection split among heads, columns of x · W, against independent ones, x · columns of W.
/// [n, d] [d, h·d_k].  (D3 against D0 and D2)
double split_against_independent(const Matrix& x, const Matrix& w, std::size_t heads);

/// The largest distance between two cells of the same place; NaN where one is NaN. Throws std::logic_error
/// when the shapes differ.
double largest_difference(const Matrix& a, const Matrix& b);

}  // namespace attn
