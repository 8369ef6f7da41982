#pragma once

#include <limits>
#include <string>

#include "data/problem/option.hpp"

namespace attn {

/// The names that options choose from, with a summary of each, as the tables of the formulas have them.
namespace choices {
std::vector<OptionChoice> scores();
std::vector<OptionChoice> scales();
std::vector<OptionChoice> positions();
std::vector<OptionChoice> generators();
std::vector<OptionChoice> examples();
std::vector<OptionChoice> models();
}  // namespace choices

namespace rules {
inline constexpr double largest = std::numeric_limits<double>::max();
inline constexpr NumberRule positive{"not a positive finite number", [](double x) { return x > 0.0 && x <= largest; }};
inline constexpr NumberRule not_infinite{"neither a finite number nor -inf", [](double x) { return x <= largest; }};
}  // namespace rules

/// What is said where a prefix has no file that it could belong to.
inline constexpr std::string_view prefix_needs_parameters = "--prefix needs --parameters FILE: give both";

/// The options of problems. A new one is a row here, and its address in a list of options.cpp.
namespace option {

// Rows of each kind.
constexpr Option flag(std::string_view name, std::string_view member, std::string_view summary) {
  return {name, member, Kind::flag, "", summary};
}
constexpr Option count(std::string_view name, std::string_view member, std::string_view summary) {
  return {name, member, Kind::count, "N", summary};
}
constexpr Option word(std::string_view name, std::string_view member, std::string_view summary) {
  return {name, member, Kind::word, "NAME", summary};
}
constexpr Option path(std::string_view name, std::string_view member, std::string_view summary) {
  return {name, member, Kind::path, "FILE", summary};
}
constexpr Option matrix(std::string_view name, const Role& role, std::string_view summary) {
  Option row{name, role.leaf, Kind::matrix, "MATRIX", summary};
  row.role = &role;
  return row;
}
constexpr Option number(std::string_view name, std::string_view member, std::string_view summary,
                        const NumberRule& rule, std::string_view advice) {
  Option row{name, member, Kind::number, "NUMBER", summary};
  row.rule = &rule;
  row.advice = advice;
  return row;
}

inline constexpr unsigned everywhere = on_embeddings | on_positions | on_attention;
inline constexpr unsigned on_queries = on_positions | on_attention;  // relative positions have their sizes

// What a problem file says of itself.
inline constexpr Option title{"", "title", Kind::text};
inline constexpr Option summary{"", "summary", Kind::text};
inline constexpr Option about{"", "about", Kind::texts};
inline constexpr Option drawn{"", "drawn", Kind::texts};
inline constexpr Option drawn_from{"", "drawn_from", Kind::text};

// The problem as a whole.
inline constexpr Option example = word("--example", "example", "a built-in example; the options below change it")
                                      .from(choices::examples)
                                      .on(everywhere);
inline constexpr Option problem =
    path("--problem", "", "a JSON file with any of the fields below, or output of --format json").on(everywhere);
inline constexpr Option model =
    path("--model", "model",
         "name of a built-in model, or a file with parameters and words: JSON, or what attn train saved")
        .called("NAME")
        .from(choices::models)
        .on(everywhere);
inline constexpr Option layer{"--layer", "", Kind::text, "LAYER",
                              "the layer of --model whose attention is shown: 1, or decoder.1.cross_attention"};
inline constexpr Option parameters =
    path("--parameters", "parameters",
         "w_q … b_o from a safetensors, npz or JSON file; also PyTorch's nn.MultiheadAttention");
inline constexpr Option prefix{"--prefix", "prefix", Kind::text, "NAME",
                               "read only parameters whose names begin with NAME"};

// Words and their vectors, and sizes.
inline constexpr Option text =
    Option{"--text", "text", Kind::texts, "SENTENCE", "a sentence; several sentences make a batch, padded with <blank>"}
        .on(everywhere)
        .as_input();
inline constexpr Option embeddings =
    path("--embeddings", "embeddings", "word vectors in the GloVe text format").on(everywhere);
inline constexpr Option d_model = count("--d-model", "d_model", "size of an embedding").or_else("8").on(everywhere);
inline constexpr Option heads =
    count("--heads", "heads", "number of heads; the columns of q, k and v are split among them")
        .or_else("1")
        .on(on_queries);
inline constexpr Option d_k =
    count("--d-k", "d_k", "size of a query or key of one head").or_else("d_model / heads").on(on_queries);
inline constexpr Option d_v = count("--d-v", "d_v", "size of a value of one head").or_else("d_k");
inline constexpr Option n_q =
    count("--n-q", "n_q", "number of random queries, instead of queries computed from x").as_input();
inline constexpr Option n_k =
    count("--n-k", "n_k", "number of random keys and values, instead of those computed from x").as_input();
inline constexpr Option seed = count("--seed", "seed", "seed of the random numbers")
                                   .or_else("1")
                                   .from_zero()
                                   .up_to(std::numeric_limits<std::uint32_t>::max())
                                   .on(everywhere);
inline constexpr Option random = word("--random", "random", "generator and seed of the random numbers, such as numpy:0")
                                     .called("KIND:SEED")
                                     .from(choices::generators)
                                     .on(everywhere);
inline constexpr Option tokens =
    Option{"--tokens", "tokens", Kind::words, "WORDS", "labels of the query rows: 'a b c' or 'a,b,c'"}.on(everywhere);
inline constexpr Option key_tokens{"--key-tokens", "key_tokens", Kind::words, "WORDS", "labels of the key rows"};
inline constexpr Option x =
    Option{"--x", "x", Kind::matrices, "MATRIX",
           "embeddings, one row per word; several matrices, or an array of three dimensions, make a batch"}
        .on(everywhere)
        .as_input();
inline constexpr Option memory =
    matrix("--memory", role::memory, "source of the keys and values in cross-attention").or_else("x").as_input();
inline constexpr Option value_memory =
    matrix("--value-memory", role::value_memory, "source of the values in cross-attention")
        .or_else(": that of the keys")
        .as_input();
inline constexpr Option memory_text{"--memory-text", "memory_text", Kind::texts, "SENTENCE",
                                    "the memory as a sentence; its vectors are random"};
inline constexpr Option d_memory =
    count("--d-memory", "d_memory", "size of the random vectors of --memory-text").or_else("d_model");

// Matrices of attention.
inline constexpr Option w_q = matrix("--wq", role::w_q, "matrix of the query projection, d_model rows").on(on_queries);
inline constexpr Option w_k = matrix("--wk", role::w_k, "matrix of the key projection");
inline constexpr Option w_v = matrix("--wv", role::w_v, "matrix of the value projection");
inline constexpr Option w_o = matrix("--wo", role::w_o, "matrix of the output projection");
inline constexpr Option b_q = matrix("--bq", role::b_q, "bias of the query projection, one row");
inline constexpr Option b_k = matrix("--bk", role::b_k, "bias of the key projection");
inline constexpr Option b_v = matrix("--bv", role::b_v, "bias of the value projection");
inline constexpr Option b_o = matrix("--bo", role::b_o, "bias of the output projection");
inline constexpr Option q = matrix("--q", role::q, "queries, instead of x and w_q").as_input();
inline constexpr Option k = matrix("--k", role::k, "keys, instead of x and w_k").as_input();
inline constexpr Option v = matrix("--v", role::v, "values, instead of x and w_v").as_input();
inline constexpr Option scores =
    matrix("--scores", role::scores, "attention scores, instead of queries and keys").as_input();
inline constexpr Option weights = matrix("--weights", role::weights, "attention weights, instead of scores").as_input();

// Layers.
inline constexpr Option layers =
    count("--layers", "layers", "number of stacked layers; all use the same parameters").or_else("1");
inline constexpr Option no_feed_forward =
    flag("--no-feed-forward", "no_feed_forward", "leave out the feed-forward layers");
inline constexpr Option d_ff = count("--d-ff", "d_ff", "inner size of the feed-forward layer").or_else("4·d_model");
inline constexpr Option w_1 = matrix("--w1", role::w_1, "first matrix of the feed-forward layer, d_model × d_ff");
inline constexpr Option b_1 = matrix("--b1", role::b_1, "bias of w_1");
inline constexpr Option w_2 = matrix("--w2", role::w_2, "second matrix of the feed-forward layer, d_ff × d_model");
inline constexpr Option b_2 = matrix("--b2", role::b_2, "bias of w_2");

// How attention is computed.
inline constexpr Option positions = word("--positions", "positions", "kind of positional encoding")
                                        .called("KIND")
                                        .or_else("none")
                                        .from(choices::positions)
                                        .on(on_queries);
inline constexpr Option position_table =
    matrix("--position-table", role::position_table,
           "table of the learned positions, one row per position (or per distance)")
        .on(on_queries);
inline constexpr Option max_distance =
    count("--max-distance", "max_distance", "largest relative distance; longer distances count as N")
        .or_else("2")
        .on(on_queries);
inline constexpr Option score = word("--score", "score", "scoring function that compares a query with a key")
                                    .or_else("scaled-dot")
                                    .from(choices::scores);
inline constexpr Option score_sigma = number("--score-sigma", "score_sigma", "width σ of the Gaussian kernel",
                                             rules::positive, "give the width of the kernel, such as 1")
                                          .or_else("1");
inline constexpr Option score_m = matrix("--score-m", role::score_m, "matrix M of the bilinear score, d_q × d_k");
inline constexpr Option score_wq =
    matrix("--score-wq", role::score_wq, "additive score: matrix from a query to the hidden layer, d_q × h");
inline constexpr Option score_wk =
    matrix("--score-wk", role::score_wk, "additive score: matrix from a key to the hidden layer, d_k × h");
inline constexpr Option score_wv =
    matrix("--score-wv", role::score_wv, "additive score: matrix from the hidden layer to the score, h × 1");
inline constexpr Option score_b =
    matrix("--score-b", role::score_b, "bias of the additive score, 1 × h, or of the bilinear score, 1 × 1");
inline constexpr Option scale = Option{"--scale", "scale", Kind::word_or_number, "S",
                                       "number that the scores are divided by, such as 8, or its name"}
                                    .or_else(": set by --score")
                                    .from(choices::scales);
inline constexpr Option multiply =
    number("--multiply", "multiply", "number that the scores are multiplied by, instead of --scale, as in PyTorch",
           rules::positive, "give a positive number, such as 0.125");
inline constexpr Option soft_cap =
    number("--soft-cap", "soft_cap", "C: scores become C·tanh(score / C), between −C and C", rules::positive,
           "give a positive number, such as 50");
inline constexpr Option causal =
    flag("--causal", "causal", "causal mask: query i attends only to keys 1 to i").or_not("not_causal");
inline constexpr Option causal_offset =
    count("--causal-offset", "causal_offset",
          "causal mask after N earlier keys, as with a KV cache: query i attends to keys 1 to N + i")
        .from_zero();
inline constexpr Option mask =
    matrix(
        "--mask", role::mask,
        "true or 1: attend, false or 0: masked; a mask of floats, such as 0.0, is added to the scores; one row is for all queries (in PyTorch's nn.MultiheadAttention, true means masked)")
        .as_mask();
inline constexpr Option valid_length =
    Option{"--valid-length", "valid_length", Kind::counts, "N,…",
           "attend only to the first N keys; one number for all, or one per sentence or query"}
        .from_zero();
inline constexpr Option mask_fill = number("--mask-fill", "mask_fill", "mask value, which replaces a masked score",
                                           rules::not_infinite, "give a number far below the scores, such as -1e6")
                                        .or_else("-inf");

}  // namespace option

/// Two options of which one is given anew. What belongs to the other and is replaced with it: the words of
/// other embeddings, the lengths of other sentences, the scale of another scoring function.
struct Replacement {
  const Option* given;
  const Option* replaced;
};
std::span<const Replacement> replacements();

/// The options that give a problem, and what holds among them.
const OptionGroup& problem_options();

/// All that a problem file may have.
const OptionList& problem_members();

/// A sentence that names members of problem files, as `‹valid_length›`, with the options in their place:
/// `--valid-length`. So what computes need not know options.
std::string with_options(std::string_view sentence);

}  // namespace attn
