#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "command/errata/errata.hpp"
#include "core/attention/attention.hpp"
#include "core/attention/identities.hpp"
#include "core/attention/masks.hpp"
#include "core/attention/score.hpp"
#include "core/attention/watches.hpp"
#include "core/math/functions.hpp"
#include "core/model/layer_cost.hpp"
#include "core/model/recipe.hpp"
#include "core/model/schema.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/encoder_decoder_file.hpp"
#include "data/problem/options.hpp"
#include "data/problem/words.hpp"
#include "page/tell/describe.hpp"

namespace attn {

// --- of heads

namespace {

std::string refusal_of(const auto& action) {
  try {
    action();
  } catch (const InputError& error) {
    return with_options(error.what());
  }
  return "";
}

}  // namespace

// One head's columns, and as many inputs as would not be taken for outputs.
void show_sizes_of_heads(Page& page, Graph& graph) {
  constexpr std::size_t d = 8, heads = 2, d_k = 4, d_v = 6, inputs = 3, outputs = 5;
  page.say(
      fmt::format("The text gives W^q of each head D_v / H columns. Correct is D_k / H, as for W^k. "
                  "Here D = {}, H = {}, D_k = {} and D_v = {}. "
                  "The queries of one head would have {} columns, and its keys have {}. The program refuses them:",
                  d, heads, d_k, d_v, d_v / heads, d_k / heads));
  const Value x = small_numbers(graph, role::x, {inputs, d}), y = small_numbers(graph, role::y, {outputs, d});
  const Value k = name(role::k, matmul(x, small_numbers(graph, role::w_k, {d, d_k / heads})));
  const Value wrong = name(Name{role::other, "q_wrong"},
                           matmul(y, small_numbers(graph, Name{role::other, "w_q_wrong"}, {d, d_v / heads})));
  page.say(refusal_of([&] { dot_product(wrong, k, {}); }) + ".");
  const Value q = name(role::q, matmul(y, small_numbers(graph, role::w_q, {d, d_k / heads})));
  const Value v = name(role::v, matmul(x, small_numbers(graph, role::w_v, {d, d_v / heads})));
  const Value output = name(role::output, attention(q, k, v, {}));
  page.say(fmt::format(
      "The text also calls the context D_v embeddings of dimension M. Correct is M embeddings of dimension D_v, one for each of the M outputs; one head has D_v / H of the D_v columns. "
      "With L = {} inputs and M = {} outputs, the context of one head is {}:",
      inputs, outputs, to_string(output.shape())));
  show(page, {q, k, v, output});
}

void show_split_heads(Page& page, Graph& graph) {
  solve_example("eight-heads", graph);
  const Value x = at(graph, "x");
  page.say(
      "Both are correct. One text computes q = x·W_q and gives each head some columns of q. "
      "The others give each head a matrix of its own. "
      "The results are equal if W_q consists of these matrices side by side, and likewise W_k and W_v. "
      "Here multi-head attention is computed in both ways, up to the output projection, with the numbers of the example eight-heads:");
  Listing listing{{"heads", "largest difference of the outputs"}, {}, true};
  for (const std::size_t heads : {1U, 2U, 4U, 8U}) {
    const Projections w{at(graph, "w_q").matrix(), at(graph, "w_k").matrix(), at(graph, "w_v").matrix(),
                        at(graph, "w_o").matrix()};
    listing.rows.push_back(
        {std::to_string(heads), written_difference(split_against_independent(x.matrix(), w, heads))});
  }
  page.say(std::move(listing));
  page.trace.add(graph.at(role::output));
}

void show_sets_of_a_decoder_layer(Page& page, Graph& graph) {
  constexpr TransformerSizes base{.encoder_layers = 1, .decoder_layers = 1, .d_model = 512, .heads = 8, .d_ff = 2048};
  const std::vector<ParameterRow> rows = parameter_rows(model_kinds().front(), base);
  const auto attentions = [&](const ScopeKind& side) {
    return static_cast<double>(std::ranges::count_if(rows, [&](const ParameterRow& row) {
      return &row.called.role() == &role::w_q && row.called.scopes().front().kind == &side;
    }));
  };
  page.say(
      "Eight sets of W_q, W_k and W_v are correct for an encoder layer, which has one attention. "
      "A decoder layer has two, self-attention and cross-attention, and each has its own matrices:");
  Matrix numbers({2, 2});
  numbers(0, 0) = attentions(scope::encoder);
  numbers(1, 0) = attentions(scope::decoder);
  for (std::size_t i = 0; i < 2; ++i) numbers(i, 1) = numbers(i, 0) * static_cast<double>(base.heads);
  const Value sets =
      graph.input(Name{role::other, "sets"}, std::move(numbers), axis("layers", {"encoder layer", "decoder layer"}),
                  axis("quantities", {"attentions", "sets, 8 heads"}));
  page.trace.add(sets.node());
  page.say(table_of(sets.node()));
}

// --- of masks

namespace {

constexpr double published = -1e6, minus_infinity = -std::numeric_limits<double>::infinity();

}  // namespace

void show_filled_weights(Page& page, Graph& graph) {
  page.say(
      "Dive into Deep Learning (11.3) \"sets the attention weights to a large negative number, such as −10⁶\". Correct are the scores, before the softmax. "
      "Then masked keys have the weight 0, and the other weights of the row sum to one.");
  const Value scores = row_of_numbers(graph, role::scores, {2.0, 1.0, 0.0, 0.0});
  const Value allowed = row_of_numbers(graph, role::mask, {1.0, 1.0, 0.0, 0.0});
  const Value right = name(role::weights, softmax(mask(scores, allowed, minus_infinity)));
  const Value unmasked = name(role::unmasked, softmax(scores));
  const Value filled = name(role::filled, replace(unmasked, allowed, published));
  const Value zeroed = name(role::zeroed, multiply(unmasked, allowed));
  show(page, {right, filled, zeroed});
  page.say(
      fmt::format("If the weights are replaced by −10⁶, the row sums to {}. "
                  "If they are set to 0 instead, it sums to {}. With masked scores it sums to {}.",
                  written_fixed(sum_of_row(filled, 0), 4), written_fixed(sum_of_row(zeroed, 0), 4),
                  written_fixed(sum_of_row(right, 0), 4)));
}

// An embedding of zeros makes a key of zeros, whose score is 0, and e⁰ is 1.
void show_masked_embeddings(Page& page, Graph& graph) {
  page.say(
      "The post applies \"masking to the embeddings for unseen target elements\", so \"that only relevant input elements contribute\". Two things are wrong. "
      "The mask is on the scores, and what remains are the known target elements. "
      "A masked embedding, a row of zeros, gives a key of zeros. "
      "Its score is 0, and e⁰ = 1, so the key still gets weight.");
  const Value q = row_of_numbers(graph, role::q, {1.0, 0.0});
  Matrix zeroed({3, 2}, 0.0);
  zeroed(0, 0) = zeroed(1, 1) = 1.0;
  const Value k =
      graph.input(role::k, std::move(zeroed), axis("keys", {"known 1", "known 2", "unseen"}), axis("features"));
  const Value scores = name(role::scores, matmul_transposed(q, k));
  const Value embeddings = name(Name{role::weights, "embedding_masked"}, softmax(scores));
  const Value allowed = row_of_numbers(graph, role::mask, {1.0, 1.0, 0.0});
  const Value masked = name(Name{role::weights, "score_masked"}, softmax(mask(scores, allowed, minus_infinity)));
  show(page, {k, scores, embeddings, masked});
  page.say(
      fmt::format("The weight of the unseen element is {} if its embedding is masked, and {} if its score is masked.",
                  written_fixed(embeddings.matrix()(0, 2), 4), written_fixed(masked.matrix()(0, 2), 4)));
}

void show_shift_and_mask(Page& page, Graph& graph) {
  constexpr std::size_t n = 4;
  page.say(
      "One text lets a position depend on outputs up to that position, the other on outputs at positions less than i. "
      "There is no conflict, because the inputs of the decoder are the outputs shifted right by one position. "
      "Input 1 is the start token, and input i is output i − 1. "
      "The causal mask allows inputs 1 to i, which are outputs 1 to i − 1.");
  std::vector<std::string> inputs = {"<start>"}, positions;
  for (std::size_t i = 1; i < n; ++i) inputs.push_back(fmt::format("output {}", i));
  for (std::size_t i = 1; i <= n; ++i) positions.push_back(fmt::format("predict {}", i));
  const Value allowed =
      graph.input(role::mask, mask_by({causal_rule()}, {n, n}), axis("queries", positions), axis("keys", inputs));
  show(page, {allowed});
  Matrix numbers({n, 2});
  for (std::size_t i = 0; i < n; ++i) {
    numbers(i, 0) = sum_of_row(allowed, i);
    numbers(i, 1) = numbers(i, 0) - allowed.matrix()(i, 0);
  }
  page.say(quantities("known", axis("queries", positions), {"inputs", "of these, outputs"}, std::move(numbers)));
}

// --- of recurrence

namespace {

// The built-in translator with the post's network: s_{t−1} is the query, and [c_t; s_t] predicts.
EncoderDecoder network_of_the_post() {
  const EncoderDecoderFile file = read_encoder_decoder(alignment_examples().front().bytes, "the built-in example");
  return encoder_decoder_of(file, look_up(alignment_variants(), "scaled-dot", "variant"), recurrences().front());
}

std::string words_of(const Ids& ids, const Vocabulary& vocabulary) {
  std::vector<std::string> words;
  for (const std::size_t id : ids) words.push_back(vocabulary[id - 1]);
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

void show_first_state(Page& page, Graph& graph) {
  const EncoderDecoder model = network_of_the_post();
  const Ids source = ids_of(split_words("la maison blanche est petite <end>"), model.source_words, "source");
  const Ids target = translate(model, source, source.size() + 2);
  evaluate(model, source, target, graph);
  page.say(
      "Both can be correct, because they count differently. "
      "The post counts from 1: it sets c_1 = h_n and s_1 to arbitrary values, and discards the output o_1. "
      "Others count from 0: s_0 = tanh(h_n W_s + b_s), and no output belongs to s_0. "
      "The post's s_1 is this s_0. "
      "In its figure of the network, a context enters only the output beside it, not the next state. "
      "So c_1 has an effect on o_1 alone, and o_1 is discarded. "
      "The built-in translator would discard this output after \"la maison blanche est petite\":");
  const auto of_decoder = [&](const Role& role) { return Value(graph.at({{scope::decoder}, role})); };
  const Value state(graph.at({{scope::decoder, {scope::number, 0}}, role::state})), h(graph.at(role::h));
  const Value first_context = name(Name{role::other, "c_1"}, rows(h, source.size() - 1, 1));
  const Value first_output =
      name(Name{role::other, "o_1"},
           softmax(add(matmul(concatenate({first_context, state}), of_decoder(role::w_o)), of_decoder(role::b_o))));
  show(page, {first_output});
  page.say(
      "But s_1 is the query for the first output that is kept, so its values can change that output. "
      "The translation with the state that was chosen, and with s_1 = 0 instead:");
  EncoderDecoder from_zero = model;
  for (const Role* role : {&role::w_s, &role::b_s}) {
    std::shared_ptr<const Matrix>& matrix = from_zero.parameters.find(Name({scope::decoder}, *role).text())->second;
    matrix = std::make_shared<const Matrix>(matrix->shape(), 0.0);
  }
  const auto row_of = [&](std::string begins, const EncoderDecoder& translator) {
    const Ids words = translate(translator, source, source.size() + 2);
    const double probability = distributions(translator, source, words)(0, words.front() - 1);
    return std::vector<std::string>{std::move(begins), words_of(words, model.target_words),
                                    fmt::format("{:.4f}", probability)};
  };
  page.say(Listing{
      {"s_1", "translation", "probability of word 1"}, {row_of("as chosen", model), row_of("zeros", from_zero)}, true});
}

// --- of scores

void show_additive_cost(Page& page, Graph& graph) {
  constexpr std::size_t n = 64, d = 64;
  page.say(
      fmt::format("The notes on \"Attention Is All You Need\" are correct: in practice the dot product is faster. "
                  "At the same size additive attention saves nothing. "
                  "It needs a tanh for each of {} numbers of each pair of a query and a key. "
                  "The counts for {} queries and {} keys of size {}:",
                  d, n, n, d));
  Matrix numbers({2, 2});
  std::size_t row = 0;
  for (const std::string_view function : {"scaled-dot", "additive"}) {
    const Cost cost = counted_scores(look_up(scoring_functions(), function, "scoring function"), n, d).cost;
    numbers(row, 0) = static_cast<double>(cost.multiply_adds);
    numbers(row++, 1) = static_cast<double>(cost.element_operations);
  }
  const Value counts =
      graph.input(Name{role::other, "counts"}, std::move(numbers), axis("functions", {"scaled-dot", "additive"}),
                  axis("quantities", {"multiply-adds", "element-wise"}));
  page.trace.add(counts.node());
  page.say(table_of(counts.node()));
}

void show_dropped_norms(Page& page, Graph& graph) {
  solve_example("thinking-machines", graph);
  const Value all_q = at(graph, "q"), all_k = at(graph, "k");
  const Matrix &q = all_q.matrix(), &k = all_k.matrix();
  page.say(
      "The Gaussian score is −½‖q − k‖² = q ⋅ k − ½‖k‖² − ½‖q‖². Dropping ½‖q‖² is correct: it is the same for all keys and cancels in the softmax. "
      "Dropping ½‖k‖² is correct only if all keys have the same length. "
      "The text also adds 1/√d, which is another kernel, of width σ² = √d. "
      "Its Gaussian weights and those of the dot product, for the queries and keys of \"Thinking Machines\":");
  const double sigma = elementary::power(static_cast<double>(k.shape().columns), 0.25);
  Listing listing{{"compared", "keys", "largest difference"}, {}, true};
  const auto add = [&](std::string scores, std::string keys, double difference) {
    listing.rows.push_back({std::move(scores), std::move(keys), written_difference(difference)});
  };
  add("σ = 1 and q ⋅ k", "as they are", gaussian_against_dot(q, k));
  add("σ = 1 and q ⋅ k", "scaled to length 1", gaussian_against_dot(q, of_equal_length(k)));
  add("σ² = √d and q ⋅ k / √d", "scaled to length 1", gaussian_against_dot(q, of_equal_length(k), sigma));
  page.say(std::move(listing));
  show(page, {all_q, all_k});
}

// Encoder states as keys, and the decoder's state before and after a step as the query.
void show_alignment_variants(Page& page, Graph& graph) {
  page.say(
      "None of them is wrong: they are different models. "
      "Bahdanau et al. (2014) compare the previous state s_{t−1} with an additive score, Luong et al. (2015) the current state s_t with a dot product. "
      "But a text should choose one. "
      "The post on cross-attention has s_{t−1} in the formula of the weights, and s_t in that of the score. "
      "The same encoder states h give different weights:");
  constexpr std::size_t size = 4;
  const Value h = small_numbers(graph, role::h, {3, size});
  const Value before = small_numbers(graph, Name{role::other, "s_before"}, {1, size}),
              now = small_numbers(graph, Name{role::other, "s_now"}, {1, size});
  const ScoreParameters learned{.matrices = {{&role::score_wq, small_numbers(graph, role::score_wq, {size, size})},
                                             {&role::score_wk, small_numbers(graph, role::score_wk, {size, size})},
                                             {&role::score_wv, small_numbers(graph, role::score_wv, {size, 1})}}};
  const Scalar root{std::sqrt(static_cast<double>(size)), {"√4", "\\sqrt{4}"}};
  const Value by_additive =
      name(Name{role::weights, "bahdanau"}, softmax(name(role::scores, additive(before, h, learned))));
  const Value by_scaled = name(Name{role::weights, "scaled_dot"}, softmax(divide(matmul_transposed(before, h), root)));
  const Value by_dot = name(Name{role::weights, "luong"}, softmax(matmul_transposed(now, h)));
  show(page, {by_additive, by_scaled, by_dot});
  page.say(fmt::format("The largest difference between the weights of bahdanau and luong is {}.",
                       written_difference(largest_difference(by_additive.matrix(), by_dot.matrix()))));
}

void show_index_of_the_state(Page& page, Graph& graph) {
  page.say(
      "The post represents the input x_i by h_t. "
      "Correct is h_i: t counts the outputs, and i counts the inputs. "
      "If every input were represented by the same h_t, all its scores would be equal, and attention would only average:");
  const Value s = small_numbers(graph, Name{role::other, "s"}, {1, 4}), h = small_numbers(graph, role::h, {3, 4});
  const Value h_t = name(Name{role::other, "h_t"}, rows(h, 1, 1));
  const Value same = name(Name{role::other, "all_h_t"}, stack({h_t, h_t, h_t}));
  const Value right = name(Name{role::weights, "with_h_i"}, softmax(matmul_transposed(s, h)));
  const Value wrong = name(Name{role::weights, "with_h_t"}, softmax(matmul_transposed(s, same)));
  show(page, {right, wrong});
  page.say(fmt::format("The largest difference between these weights is {}.",
                       written_difference(largest_difference(right.matrix(), wrong.matrix()))));
}

// --- of sizes

// Two keys with scores 4 and 0, and others with score 0 that join them one after another.
void show_root_of_length(Page& page, Graph& graph) {
  constexpr std::size_t d_k = 4, lengths[] = {2, 4, 16, 64, 256};
  page.say(text(
      "Correct is √d_k, because the variance of dot products grows with the size of the keys. √n depends on their number: each added key changes the ratio between the weights of the others. "
      "In the table, the scores are 4, then 0 for all further keys, and d_k is 4. "
      "It shows weight 1 divided by weight 2."));
  Matrix ratios({std::size(lengths), 2});
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < std::size(lengths); ++i) {
    labels.push_back(fmt::format("{} keys", lengths[i]));
    const Graph::Scope scope(graph, {scope::other, fmt::format("keys_{}", lengths[i])});
    Matrix cells({1, lengths[i]}, 0.0);
    cells(0, 0) = 4.0;
    const Value scores = graph.input(role::scores, std::move(cells), axis("queries"), axis("keys"));
    std::size_t column = 0;
    for (const std::string_view scale : {"sqrt-dk", "sqrt-n"}) {
      const std::optional<Scalar> by = divisor(scale, {.d_k = d_k, .n_k = lengths[i]});
      const Value weights =
          name(Name(role::weights, scale == "sqrt-n" ? "by_sqrt_n" : "by_sqrt_dk"), softmax(divide(scores, *by)));
      ratios(i, column++) = weights.matrix()(0, 0) / weights.matrix()(0, 1);
      page.trace.add(weights.node());
    }
  }
  page.say(
      quantities("ratio of two weights", axis("lengths", std::move(labels)), {"÷ √d_k", "÷ √n"}, std::move(ratios)));
  page.say(text("With √d_k, the ratio is exp(2) at every length. ", code("--scale sqrt-n"), " divides by √n."));
}

void show_convolution_paths(Page& page, Graph&) {
  constexpr std::size_t k = 3, lengths[] = {5, 9, 27, 81};
  page.say(
      "Both are correct, for different convolutions. "
      "Until x_1 and x_n meet in one position, contiguous windows of k positions need a number of layers that grows like n/k. "
      "Dilated windows, whose gaps grow from layer to layer, need a number that grows like log_k n. "
      "Here the layers are built until there is such a position, with k = 3:");
  Matrix numbers({std::size(lengths), 2});
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < std::size(lengths); ++i) {
    labels.push_back(fmt::format("n = {}", lengths[i]));
    std::size_t column = 0;
    for (const std::string_view name : {"convolution", "dilated"}) {
      const LayerKind& kind = look_up(layer_kinds(), name, "kind of layer");
      numbers(i, column++) = static_cast<double>(search_meeting(kind, lengths[i], k, lengths[i])->layers);
    }
  }
  page.say(quantities("layers until x_1 and x_n meet", axis("lengths", std::move(labels)), {"contiguous", "dilated"},
                      std::move(numbers)));
}

void show_layouts_of_sinusoids(Page& page, Graph& graph) {
  constexpr Shape shape = {4, 6};
  page.say(text(
      "Neither is wrong: both have the same columns in a different order, and a learned projection can undo the order. "
      "But parameters trained with one do not fit the other."));
  std::vector<const Node*> positions, dots;
  for (const SinusoidLayout& layout : sinusoid_layouts()) {
    const Graph::Scope scope(graph, {scope::other, layout.name});
    const Value table = name(role::positions, sinusoid(graph, layout, {shape, axis("positions"), axis("features")}));
    positions.push_back(&table.node());
    dots.push_back(&name(role::dot_products, matmul_transposed(table, table)).node());
  }
  for (const std::vector<const Node*>& nodes : {positions, dots}) {
    add_results(page, nodes);
    page.trace.add(nodes);
  }
  page.say(fmt::format("The dot products of positions are the same in both. The largest difference is {}.",
                       written_difference(largest_difference(dots[0]->matrix(), dots[1]->matrix()))));
}

// --- shown

void show_columns_and_rows(Page& page, Graph& graph) {
  solve_example("thinking-machines", graph);
  page.say(
      "Both forms are correct, and the texts use both. "
      "With words as rows, as in this program, a projection is x times w. "
      "With words as columns, it is wᵀ times xᵀ. The result is the transpose of x times w.");
  const Value x = at(graph, "x"), w = at(graph, "w_q"), rows_first = at(graph, "q");
  const Value words = name(Name{role::other, "x_columns"}, transpose(x)),
              map = name(Name{role::other, "w_q_columns"}, transpose(w));
  const Value columns_first = name(Name{role::other, "q_columns"}, matmul(map, words));
  show(page, {rows_first, words, map, columns_first});
  const Value back = transpose(columns_first);
  page.say(fmt::format("The largest difference from the transpose of q is {}.",
                       written_difference(largest_difference(back.matrix(), rows_first.matrix()))));
}

void show_one_letter_for_two(Page& page, Graph& graph) {
  solve_example("thinking-machines", graph);
  page.say(
      "One letter, α, stands for the scores and for the weights made of them. "
      "They need two, as in weights = softmax(scores). "
      "A reader who mistakes one for the other may apply the softmax twice. "
      "Weights differ by at most 1, so after a second softmax the largest ratio of two weights is e ≈ 2.72. "
      "The differences between them become smaller.");
  const Value weights = at(graph, "weights");
  const Value twice = name(Name{role::weights, "weights_twice"}, softmax(weights));
  show(page, {at(graph, "scaled"), weights, twice});
}

void show_wrong_index(Page& page, Graph& graph) {
  solve_example("thinking-machines", graph);
  const Value weights = at(graph, "weights"), v = at(graph, "v"), output = at(graph, "output");
  page.say(
      "Correct is Σ_j α_ij v_j, which mixes the values of all words. Σ_j α_ij v_i has the same value in every term. "
      "The weights sum to one, so the output is v_i itself, and no information moves between words.");
  Matrix totals({weights.shape().rows, 1}, 0.0);
  for (std::size_t i = 0; i < weights.shape().rows; ++i) {
    for (const double weight : row(weights.matrix(), i)) totals(i, 0) += weight;
  }
  const Value sums =
      graph.input(Name{role::other, "sums_of_weights"}, std::move(totals), weights.node().frame.rows, axis("sum"));
  const Value wrong = name(Name{role::other, "output_wrong"}, multiply(v, sums));
  show(page, {weights, v, output, wrong});
  page.say(fmt::format(
      "The largest difference between the wrong output and v is {}. "
      "Likewise, correct is [a_t; s_t], not [α_t; s_t]. a_t has the size of a state. α_t has one number for each source word, so no learned matrix could take it for every sentence.",
      written_difference(largest_difference(wrong.matrix(), v.matrix()))));
}

void show_overflow(Page& page, Graph& graph) {
  page.say(
      "The published code nests its triple quotes, so Python cannot parse it. "
      "Its softmax does not subtract the largest score first. "
      "In double precision exp(710) is already infinite, and infinity divided by infinity is not a number (NaN). "
      "The softmax here subtracts the largest score of the row first.");
  Matrix large({1, 2});
  large(0, 0) = 1000.0;
  large(0, 1) = 998.0;
  const double unshifted = elementary::exp(large(0, 0)) / (elementary::exp(large(0, 0)) + elementary::exp(large(0, 1)));
  const Value scores = graph.input(role::scores, std::move(large), axis("queries"), axis("keys"));
  const Value weights = name(role::weights, softmax(scores));
  show(page, {scores, weights});
  page.say(fmt::format("Without the subtraction the first weight is {}.",
                       std::isnan(unshifted) ? "not a number (NaN)" : fmt::format("{}", unshifted)));
  page.say(
      "attn walk --example numpy-3 still gives the numbers of the published code: it uses the same random numbers.");
}

void show_own_word_not_highest(Page& page, Graph& graph) {
  solve_example("animal", graph);
  page.say(
      "This is not always so. "
      "Another word can get a larger weight than the word itself, as in the example with two heads:");
  std::vector<Value> shown;
  for (const std::size_t head : {1U, 2U}) {
    const Value weights = at(graph, Name({{scope::head, head}}, role::weights).text());
    const Matrix& cells = weights.matrix();
    std::vector<std::string> others;
    for (std::size_t i = 0; i < cells.shape().rows; ++i) {
      const std::span<const double> looks = row(cells, i);
      const auto most = static_cast<std::size_t>(std::ranges::max_element(looks) - looks.begin());
      if (looks[most] > looks[i]) {
        others.push_back(fmt::format("\"{}\" gives \"{}\" the weight {} and itself {}",
                                     weights.node().frame.rows.label(i), weights.node().frame.columns.label(most),
                                     written_fixed(looks[most], 4), written_fixed(looks[i], 4)));
      }
    }
    for (const std::string& other : others) page.say(weights.node().name + ": " + other + ".");
    shown.push_back(weights);
  }
  for (const Value& weights : shown) page.trace.add(weights.node());
}

void show_norm_before_and_after(Page& page, Graph& graph) {
  solve_example("animal", graph);
  page.say(
      "Both are in use. After (post-norm): LayerNorm(x + sublayer(x)). "
      "Every row of the result has mean 0 and variance 1 up to ε, if γ is 1 and β is 0. "
      "Before (pre-norm): x + sublayer(LayerNorm(x)). "
      "The sum is not normalized, so it can grow from layer to layer, and models with pre-norm normalize once more at the end. "
      "In return, x has a path through all layers without any normalization.");
  const Value x = at(graph, "x");
  const std::size_t d = x.shape().columns;
  const NormParameters norm{.gamma = graph.input(role::gamma, Matrix({1, d}, 1.0), axis("gain"), axis("features")),
                            .beta = graph.input(role::beta, Matrix({1, d}, 0.0), axis("bias"), axis("features")),
                            .epsilon = 1e-9};  // so small that rows that hardly vary have variance 1 as well
  const auto sublayer = [&](const Value& words) {
    return multi_head_attention(
        matmul(words, at(graph, "w_q")), matmul(words, at(graph, "w_k")), matmul(words, at(graph, "w_v")),
        {{.divisor = Scalar{2.0, {"√4", "\\sqrt{4}"}}}, 2, Projection{at(graph, "w_o"), std::nullopt}});
  };
  const auto within = [&](std::string_view scope_name, const auto& compute) {
    const Graph::Scope scope(graph, {scope::other, scope_name});
    return compute();
  };
  const Value after = within("post_norm", [&] {
    return name(Name{role::other, "result"}, layer_norm(add(x, sublayer(x)), norm));
  });
  const Value before = within("pre_norm", [&] {
    return name(Name{role::other, "result"}, add(x, sublayer(layer_norm(x, norm))));
  });
  show(page, {after, before});
  Matrix numbers({x.shape().rows, 2});
  const auto fill = [&](const Value& value, std::size_t column) {
    const Value variance = row_variances(value, row_means(value));
    for (std::size_t i = 0; i < x.shape().rows; ++i) numbers(i, column) = variance.matrix()(i, 0);
  };
  fill(after, 0);
  fill(before, 1);
  page.say(quantities("variance", x.node().frame.rows, {"post-norm", "pre-norm"}, std::move(numbers)));
}

}  // namespace attn
