#include <array>

#include "problem/request.hpp"

namespace attn {
namespace {

using enum FieldKind;

constexpr std::array table = {
    Field{"text", "--text", "SENTENCE", "a sentence; several sentences make a batch, padded with <blank>",
          texts},
    Field{"embeddings", "--embeddings", "FILE", "word vectors in the GloVe text format", path},
    Field{"d_model", "--d-model", "N", "size of an embedding (default 8)", count},
    Field{"heads", "--heads", "N",
          "number of heads; the columns of q, k and v are split among them (default 1)", count},
    Field{"d_k", "--d-k", "N", "size of a query or key of one head (default d_model / heads)", count},
    Field{"d_v", "--d-v", "N", "size of a value of one head (default d_k)", count},
    Field{"n_q", "--n-q", "N", "number of random queries, instead of queries computed from x", count},
    Field{"n_k", "--n-k", "N", "number of random keys and values, instead of those computed from x", count},
    Field{"seed", "--seed", "N", "seed of the random numbers (default 1)", seed},
    Field{"random", "--random", "KIND:SEED", "generator and seed of the random numbers, such as numpy:0",
          word},
    Field{"tokens", "--tokens", "WORDS", "labels of the query rows: 'a b c' or 'a,b,c'", words},
    Field{"key_tokens", "--key-tokens", "WORDS", "labels of the key rows", words},
    Field{"x", "--x", "MATRIX", "embeddings, one row per word; several matrices make a batch", matrices},
    Field{"memory", "--memory", "MATRIX", "source of the keys and values in cross-attention (default x)",
          matrix},
    Field{"memory_text", "--memory-text", "SENTENCE", "the memory as a sentence; its vectors are random",
          texts},
    Field{"d_memory", "--d-memory", "N", "size of the random vectors of --memory-text (default d_model)",
          count},
    Field{"w_q", "--wq", "MATRIX", "matrix of the query projection, d_model rows", matrix},
    Field{"w_k", "--wk", "MATRIX", "matrix of the key projection", matrix},
    Field{"w_v", "--wv", "MATRIX", "matrix of the value projection", matrix},
    Field{"w_o", "--wo", "MATRIX", "matrix of the output projection", matrix},
    Field{"b_q", "--bq", "MATRIX", "bias of the query projection, one row", matrix},
    Field{"b_k", "--bk", "MATRIX", "bias of the key projection", matrix},
    Field{"b_v", "--bv", "MATRIX", "bias of the value projection", matrix},
    Field{"b_o", "--bo", "MATRIX", "bias of the output projection", matrix},
    Field{"q", "--q", "MATRIX", "queries, instead of x and w_q", matrix},
    Field{"k", "--k", "MATRIX", "keys, instead of x and w_k", matrix},
    Field{"v", "--v", "MATRIX", "values, instead of x and w_v", matrix},
    Field{"scores", "--scores", "MATRIX", "attention scores, instead of queries and keys", matrix},
    Field{"weights", "--weights", "MATRIX", "attention weights, instead of scores", matrix},
    Field{"layers", "--layers", "N", "number of stacked layers; all use the same parameters (default 1)",
          count},
    Field{"no_feed_forward", "--no-feed-forward", "", "leave out the feed-forward layers", flag},
    Field{"d_ff", "--d-ff", "N", "inner size of the feed-forward layer (default 4·d_model)", count},
    Field{"w_1", "--w1", "MATRIX", "first matrix of the feed-forward layer, d_model × d_ff", matrix},
    Field{"b_1", "--b1", "MATRIX", "bias of w_1", matrix},
    Field{"w_2", "--w2", "MATRIX", "second matrix of the feed-forward layer, d_ff × d_model", matrix},
    Field{"b_2", "--b2", "MATRIX", "bias of w_2", matrix},
    Field{"positions", "--positions", "KIND", "kind of positional encoding (default none)", word},
    Field{"position_table", "--position-table", "MATRIX",
          "table of the learned positions, one row per position (or per distance)", matrix},
    Field{"max_distance", "--max-distance", "N",
          "largest relative distance; longer distances count as N (default 2)", count},
    Field{"score", "--score", "NAME",
          "scoring function that compares a query with a key (default scaled-dot)", word},
    Field{"score_sigma", "--score-sigma", "NUMBER", "width σ of the Gaussian kernel (default 1)", word},
    Field{"score_m", "--score-m", "MATRIX", "matrix M of the bilinear score, d_q × d_k", matrix},
    Field{"score_wq", "--score-wq", "MATRIX",
          "additive score: matrix from a query to the hidden layer, d_q × h", matrix},
    Field{"score_wk", "--score-wk", "MATRIX",
          "additive score: matrix from a key to the hidden layer, d_k × h", matrix},
    Field{"score_wv", "--score-wv", "MATRIX",
          "additive score: matrix from the hidden layer to the score, h × 1", matrix},
    Field{"scale", "--scale", "S",
          "number that the scores are divided by, such as 8, or its name (default: set by --score)", word},
    Field{"causal", "--causal", "", "causal mask: query i attends only to keys 1 to i", flag},
    Field{"mask", "--mask", "MATRIX",
          "1 or true: attend, 0 or false: masked; a mask with other numbers is added to the scores (in "
          "PyTorch's nn.MultiheadAttention, true means masked)",
          matrix},
    Field{"valid_length", "--valid-length", "N,…",
          "attend only to the first N keys; one number for all, or one per sentence or query", counts},
    Field{"mask_fill", "--mask-fill", "NUMBER", "mask value, which replaces a masked score (default -inf)",
          word},
};

}  // namespace

std::span<const Field> fields() {
  return table;
}

}  // namespace attn
