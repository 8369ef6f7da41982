#include <array>

#include "data/request.hpp"

namespace attn {
namespace {

using enum FieldKind;

constexpr std::array table = {
    Field{"text", "--text", "SENTENCE", "a sentence; several make a batch, padded with <blank>", texts},
    Field{"embeddings", "--embeddings", "FILE", "the words' vectors, in the GloVe text format", path},
    Field{"d_model", "--d-model", "N", "numbers in an embedding (8)", count},
    Field{"heads", "--heads", "N", "heads that share q, k and v (1)", count},
    Field{"d_k", "--d-k", "N", "numbers in a query or key of one head (d_model / heads)", count},
    Field{"d_v", "--d-v", "N", "numbers in a value of one head (d_k)", count},
    Field{"n_q", "--n-q", "N", "draw this many queries, without any x", count},
    Field{"n_k", "--n-k", "N", "draw this many keys and values, without any x", count},
    Field{"seed", "--seed", "N", "of the numbers that are drawn (1)", seed},
    Field{"random", "--random", "KIND:SEED", "where drawn numbers come from, such as numpy:0", word},
    Field{"tokens", "--tokens", "WORDS", "labels of the queries' rows: 'a b c' or 'a,b,c'", words},
    Field{"key_tokens", "--key-tokens", "WORDS", "labels of the keys' rows", words},
    Field{"x", "--x", "MATRIX", "embeddings, one row per word; several make a batch", matrices},
    Field{"memory", "--memory", "MATRIX", "what keys and values come from, when that is not x", matrix},
    Field{"memory_text", "--memory-text", "SENTENCE", "the same as a sentence, whose vectors are drawn",
          texts},
    Field{"d_memory", "--d-memory", "N", "numbers in a vector of the memory that is drawn (d_model)", count},
    Field{"w_q", "--wq", "MATRIX", "parameters of the queries, d_model rows", matrix},
    Field{"w_k", "--wk", "MATRIX", "parameters of the keys", matrix},
    Field{"w_v", "--wv", "MATRIX", "parameters of the values", matrix},
    Field{"w_o", "--wo", "MATRIX", "parameters of the output projection", matrix},
    Field{"b_q", "--bq", "MATRIX", "bias of the queries, one row", matrix},
    Field{"b_k", "--bk", "MATRIX", "bias of the keys", matrix},
    Field{"b_v", "--bv", "MATRIX", "bias of the values", matrix},
    Field{"b_o", "--bo", "MATRIX", "bias of the output projection", matrix},
    Field{"q", "--q", "MATRIX", "queries, instead of x and w_q", matrix},
    Field{"k", "--k", "MATRIX", "keys", matrix},
    Field{"v", "--v", "MATRIX", "values", matrix},
    Field{"scores", "--scores", "MATRIX", "scores, instead of queries and keys", matrix},
    Field{"weights", "--weights", "MATRIX", "attention weights, instead of scores", matrix},
    Field{"layers", "--layers", "N", "attention on what attention found, N times, same parameters (1)",
          count},
    Field{"no_feed_forward", "--no-feed-forward", "", "layers of attention alone", flag},
    Field{"d_ff", "--d-ff", "N", "numbers inside the feed-forward layer (4 d_model)", count},
    Field{"w_1", "--w1", "MATRIX", "feed-forward: from d_model to d_ff", matrix},
    Field{"b_1", "--b1", "MATRIX", "bias of w_1", matrix},
    Field{"w_2", "--w2", "MATRIX", "feed-forward: from d_ff to d_model", matrix},
    Field{"b_2", "--b2", "MATRIX", "bias of w_2", matrix},
    Field{"positions", "--positions", "KIND", "how order is told (none)", word},
    Field{"position_table", "--position-table", "MATRIX", "what learned positions have learned", matrix},
    Field{"max_distance", "--max-distance", "N", "of relative positions: longer ones count as N (2)", count},
    Field{"score", "--score", "NAME", "how a query is compared with a key (scaled-dot)", word},
    Field{"score_sigma", "--score-sigma", "NUMBER", "width of the gaussian kernel (1)", word},
    Field{"score_m", "--score-m", "MATRIX", "the matrix of bilinear, d_q × d_k", matrix},
    Field{"score_wq", "--score-wq", "MATRIX", "additive: from a query to the hidden layer, d_q × h", matrix},
    Field{"score_wk", "--score-wk", "MATRIX", "additive: from a key to the hidden layer, d_k × h", matrix},
    Field{"score_wv", "--score-wv", "MATRIX", "additive: from the hidden layer to a score, h × 1", matrix},
    Field{"scale", "--scale", "S", "what the scores are divided by, such as 8 (the score's own)", word},
    Field{"causal", "--causal", "", "query i looks at keys 1 to i only", flag},
    Field{"mask", "--mask", "MATRIX", "1 or true: may look, 0 or false: may not; or numbers to add", matrix},
    Field{"valid_length", "--valid-length", "N,…", "only the first N keys; one for all, or one for each",
          counts},
    Field{"mask_fill", "--mask-fill", "NUMBER", "takes the place of a masked score (-inf)", word},
};

}  // namespace

std::span<const Field> fields() {
  return table;
}

}  // namespace attn
