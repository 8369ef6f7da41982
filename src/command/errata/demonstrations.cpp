#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "command/errata/errata.hpp"
#include "core/attention/attention.hpp"
#include "core/attention/identities.hpp"
#include "core/attention/masks.hpp"
#include "core/attention/score.hpp"
#include "core/attention/watches.hpp"
#include "core/math/elementary_functions.hpp"
#include "core/model/layer_cost.hpp"
#include "core/model/recipe.hpp"
#include "core/model/schema.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/encoder_decoder_file.hpp"
#include "data/problem/model_words.hpp"
#include "data/problem/problem_file.hpp"
#include "data/problem/problem_options.hpp"
#include "page/tell/describe.hpp"

namespace attn {
namespace {

// --- what demonstrations have in common

// Formulas and tables of some nodes, which become part of the page's trace.
void show(Page& page, const std::vector<Value>& values) {
  std::vector<const Node*> nodes;
  for (const Value& value : values) nodes.push_back(&value.node());
  add_results(page, nodes);
  page.trace.add(nodes);
}

// A built-in example, computed into the graph.
void solve_example(std::string_view name, Graph& graph) {
  const Example& example = look_up(examples(), name, "example");
  add_computation(build_problem(read_problem_file(example.json, std::string(name))), graph);
}

// The node of that name, as a value.
Value at(Graph& graph, std::string_view name) { return Value(graph.at(name)); }

// An input of different small numbers of both signs.
Value small_numbers(Graph& graph, const Name& name, Shape shape) {
  Matrix matrix(shape);
  int k = static_cast<int>(graph.nodes().size());
  for (double& cell : cells(matrix)) cell = (k++ * 7 % 11 - 4) / 4.0;
  return graph.input(name, std::move(matrix), axis("rows"), axis("columns"));
}

// One row of numbers as an input.
Value row_of_numbers(Graph& graph, const Name& name, const std::vector<double>& numbers) {
  Matrix matrix({1, numbers.size()});
  std::ranges::copy(numbers, cells(matrix).begin());
  return graph.input(name, std::move(matrix), axis("queries"), axis("keys"));
}

// The sum of a row.
double sum_of_row(const Value& value, std::size_t i) {
  const std::span<const double> cells = row(value.matrix(), i);
  return std::accumulate(cells.begin(), cells.end(), 0.0);
}

// --- of heads

std::string refusal_of(const auto& action) {
  try {
    action();
  } catch (const InputError& error) {
    return with_options(error.what());
  }
  return "";
}

// One head's columns, and as many inputs as would not be taken for outputs.
void show_refused_queries(Page& page, Graph& graph) {
  constexpr std::size_t d = 8, heads = 2, d_k = 4, d_v = 6, inputs = 3, outputs = 5;
  const Value x = small_numbers(graph, role::x, {inputs, d}), y = small_numbers(graph, role::y, {outputs, d});
  const Value k = name(role::k, matmul(x, small_numbers(graph, role::w_k, {d, d_k / heads})));
  const Value wrong = name(Name{role::other, "q_wrong"},
                           matmul(y, small_numbers(graph, Name{role::other, "w_q_wrong"}, {d, d_v / heads})));
  page.say(refusal_of([&] { dot_product(wrong, k, {}); }) + ".");
}

// The same inputs and keys, with queries as they should be. A value has as many columns as the wrong queries had.
void show_sizes_of_heads(Page& page, Graph& graph) {
  const Value x = at(graph, "x"), y = at(graph, "y"), k = at(graph, "k");
  const std::size_t d = x.shape().columns, d_k = k.shape().columns, d_v = at(graph, "q_wrong").shape().columns;
  const Value q = name(role::q, matmul(y, small_numbers(graph, role::w_q, {d, d_k})));
  const Value v = name(role::v, matmul(x, small_numbers(graph, role::w_v, {d, d_v})));
  show(page, {q, k, v, name(role::output, attention(q, k, v, {}))});
}

void show_split_heads(Page& page, Graph& graph) {
  solve_example("eight-heads", graph);
  const Value x = at(graph, "x");
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

constexpr double published = -1e6, right_fill = -std::numeric_limits<double>::infinity();

void show_filled_weights(Page& page, Graph& graph) {
  const Value scores = row_of_numbers(graph, role::scores, {2.0, 1.0, 0.0, 0.0});
  const Value allowed = row_of_numbers(graph, role::mask, {1.0, 1.0, 0.0, 0.0});
  const Value right = name(role::weights, softmax(mask(scores, allowed, right_fill)));
  const Value unmasked = name(role::unmasked, softmax(scores));
  const Value filled = name(role::filled, replace(unmasked, allowed, published));
  const Value zeroed = name(role::zeroed, multiply(unmasked, allowed));
  show(page, {right, filled, zeroed});
}

// An embedding of zeros makes a key of zeros, whose score is 0, and e⁰ is 1.
void show_masked_embeddings(Page& page, Graph& graph) {
  const Value q = row_of_numbers(graph, role::q, {1.0, 0.0});
  Matrix zeroed({3, 2}, 0.0);
  zeroed(0, 0) = zeroed(1, 1) = 1.0;
  const Value k =
      graph.input(role::k, std::move(zeroed), axis("keys", {"known 1", "known 2", "unseen"}), axis("features"));
  const Value scores = name(role::scores, matmul_transposed(q, k));
  const Value embeddings = name(Name{role::weights, "embedding_masked"}, softmax(scores));
  const Value allowed = row_of_numbers(graph, role::mask, {1.0, 1.0, 0.0});
  const Value masked = name(Name{role::weights, "score_masked"}, softmax(mask(scores, allowed, right_fill)));
  show(page, {k, scores, embeddings, masked});
}

void show_shift_and_mask(Page& page, Graph& graph) {
  constexpr std::size_t n = 4;
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

// The built-in translator with the post's network: s_{t−1} is the query, and [c_t; s_t] predicts.
EncoderDecoder network_of_the_post() {
  const EncoderDecoderFile file = read_encoder_decoder(alignment_examples().front().bytes, "the built-in example");
  return encoder_decoder_of(file, look_up(alignment_variants(), "scaled-dot", "variant"), recurrences().front());
}

Ids source_of_the_post(const EncoderDecoder& model) {
  return ids_of(split_words("la maison blanche est petite <end>"), model.source_words, "source");
}

std::string words_in_vocabulary(const Ids& ids, const Vocabulary& vocabulary) {
  std::vector<std::string> words;
  for (const std::size_t id : ids) words.push_back(vocabulary[id - 1]);
  return fmt::format("{}", fmt::join(words, " "));
}

void show_first_output(Page& page, Graph& graph) {
  const EncoderDecoder model = network_of_the_post();
  const Ids source = source_of_the_post(model);
  const Ids target = translate(model, source, source.size() + 2);
  add_computation(model, source, target, graph);
  const auto of_decoder = [&](const Role& role) { return Value(graph.at({{scope::decoder}, role})); };
  const Value state(graph.at({{scope::decoder, {scope::number, 0}}, role::state})), h(graph.at(role::h));
  const Value first_context = name(Name{role::other, "c_1"}, rows(h, source.size() - 1, 1));
  const Value first_output =
      name(Name{role::other, "o_1"},
           softmax(add(matmul(concatenate({first_context, state}), of_decoder(role::w_o)), of_decoder(role::b_o))));
  show(page, {first_output});
}

void show_translations_from_a_state(Page& page, Graph&) {
  const EncoderDecoder model = network_of_the_post();
  const Ids source = source_of_the_post(model);
  EncoderDecoder from_zero = model;
  for (const Role* role : {&role::w_s, &role::b_s}) {
    std::shared_ptr<const Matrix>& matrix = from_zero.parameters.find(Name({scope::decoder}, *role).text())->second;
    matrix = std::make_shared<const Matrix>(matrix->shape(), 0.0);
  }
  const auto row_of = [&](std::string begins, const EncoderDecoder& translator) {
    const Ids words = translate(translator, source, source.size() + 2);
    const double probability = distributions(translator, source, words)(0, words.front() - 1);
    return std::vector<std::string>{std::move(begins), words_in_vocabulary(words, model.target_words),
                                    fmt::format("{:.4f}", probability)};
  };
  page.say(Listing{
      {"s_1", "translation", "probability of word 1"}, {row_of("as chosen", model), row_of("zeros", from_zero)}, true});
}

// --- of scores

void show_additive_cost(Page& page, Graph& graph) {
  constexpr std::size_t n = 64, d = 64;
  Matrix numbers({2, 2});
  std::size_t row = 0;
  for (const std::string_view function : {"scaled-dot", "additive"}) {
    const Cost cost = scores_work(look_up(scoring_functions(), function, "scoring function"), n, d).cost;
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
}

void show_index_of_the_state(Page& page, Graph& graph) {
  const Value s = small_numbers(graph, Name{role::other, "s"}, {1, 4}), h = small_numbers(graph, role::h, {3, 4});
  const Value h_t = name(Name{role::other, "h_t"}, rows(h, 1, 1));
  const Value same = name(Name{role::other, "all_h_t"}, stack({h_t, h_t, h_t}));
  const Value right = name(Name{role::weights, "with_h_i"}, softmax(matmul_transposed(s, h)));
  const Value wrong = name(Name{role::weights, "with_h_t"}, softmax(matmul_transposed(s, same)));
  show(page, {right, wrong});
}

// --- of sizes

// Two keys with scores 4 and 0, and others with score 0 that join them one after another.
void show_root_of_length(Page& page, Graph& graph) {
  constexpr std::size_t d_k = 4, lengths[] = {2, 4, 16, 64, 256};
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
}

void show_convolution_paths(Page& page, Graph&) {
  constexpr std::size_t k = 3, lengths[] = {5, 9, 27, 81};
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
}

// --- shown

void show_columns_and_rows(Page& page, Graph& graph) {
  solve_example("thinking-machines", graph);
  const Value x = at(graph, "x"), w = at(graph, "w_q"), rows_first = at(graph, "q");
  const Value words = name(Name{role::other, "x_columns"}, transpose(x)),
              map = name(Name{role::other, "w_q_columns"}, transpose(w));
  const Value columns_first = name(Name{role::other, "q_columns"}, matmul(map, words));
  show(page, {rows_first, words, map, columns_first});
  name(Name{role::other, "q_again"}, transpose(columns_first));
}

void show_one_letter_for_two(Page& page, Graph& graph) {
  solve_example("thinking-machines", graph);
  const Value weights = at(graph, "weights");
  const Value twice = name(Name{role::weights, "weights_twice"}, softmax(weights));
  show(page, {at(graph, "scaled"), weights, twice});
}

void show_wrong_index(Page& page, Graph& graph) {
  solve_example("thinking-machines", graph);
  const Value weights = at(graph, "weights"), v = at(graph, "v"), output = at(graph, "output");
  Matrix totals({weights.shape().rows, 1}, 0.0);
  for (std::size_t i = 0; i < weights.shape().rows; ++i) {
    for (const double weight : row(weights.matrix(), i)) totals(i, 0) += weight;
  }
  const Value sums =
      graph.input(Name{role::other, "sums_of_weights"}, std::move(totals), weights.node().frame.rows, axis("sum"));
  const Value wrong = name(Name{role::other, "output_wrong"}, multiply(v, sums));
  show(page, {weights, v, output, wrong});
}

void show_overflow(Page& page, Graph& graph) {
  Matrix large({1, 2});
  large(0, 0) = 1000.0;
  large(0, 1) = 998.0;
  const Value scores = graph.input(role::scores, std::move(large), axis("queries"), axis("keys"));
  const Value weights = name(role::weights, softmax(scores));
  show(page, {scores, weights});
}

void show_norm_before_and_after(Page& page, Graph& graph) {
  solve_example("animal", graph);
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

// --- table

// What no command shows by itself.
constexpr std::array table_of_demonstrations = {
    Demonstration{"additive-cost", show_additive_cost},
    Demonstration{"alignment-variants", show_alignment_variants},
    Demonstration{"columns-and-rows", show_columns_and_rows},
    Demonstration{"convolution-paths", show_convolution_paths},
    Demonstration{"dropped-norms", show_dropped_norms},
    Demonstration{"filled-weights", show_filled_weights},
    Demonstration{"first-output", show_first_output},
    Demonstration{"index-of-the-state", show_index_of_the_state},
    Demonstration{"layouts-of-sinusoids", show_layouts_of_sinusoids},
    Demonstration{"masked-embeddings", show_masked_embeddings},
    Demonstration{"norm-before-and-after", show_norm_before_and_after},
    Demonstration{"one-letter-for-two", show_one_letter_for_two},
    Demonstration{"overflow", show_overflow},
    Demonstration{"refused-queries", show_refused_queries},
    Demonstration{"root-of-length", show_root_of_length},
    Demonstration{"sets-of-a-decoder-layer", show_sets_of_a_decoder_layer},
    Demonstration{"shift-and-mask", show_shift_and_mask},
    Demonstration{"sizes-of-heads", show_sizes_of_heads},
    Demonstration{"split-heads", show_split_heads},
    Demonstration{"translations-from-a-state", show_translations_from_a_state},
    Demonstration{"wrong-index", show_wrong_index},
};

}  // namespace

std::span<const Demonstration> demonstrations() { return table_of_demonstrations; }

}  // namespace attn
