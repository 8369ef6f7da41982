#include <fmt/format.h>

#include <algorithm>

#include "attention/identities.hpp"
#include "command/errata/demonstration.hpp"
#include "command/errata/errata.hpp"
#include "model/learned.hpp"
#include "op/operations.hpp"
#include "problem/options.hpp"
#include "support/error.hpp"
#include "support/number.hpp"
#include "tell/describe.hpp"

namespace attn {
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
  page.say(fmt::format(
      "The text gives W^q of each head D_v / H columns. Correct is D_k / H, as for W^k. Here D = {}, H = {}, "
      "D_k = {} and D_v = {}. The queries of one head would have {} columns, and its keys have {}. The "
      "program refuses them:",
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
      "The text also calls the context D_v embeddings of dimension M. Correct is M embeddings of dimension "
      "D_v, one for each of the M outputs; one head has D_v / H of the D_v columns. With L = {} inputs and M "
      "= {} outputs, the context of one head is {}:",
      inputs, outputs, to_string(output.shape())));
  show(page, {q, k, v, output});
}

void show_split_heads(Page& page, Graph& graph) {
  solve_example("eight-heads", graph);
  const Value x = at(graph, "x");
  page.say(
      "Both are correct. One text computes q = x·W_q and gives each head some columns of q. The others give "
      "each head a matrix of its own. The results are equal if W_q consists of these matrices side by side, "
      "and likewise W_k and W_v. Here multi-head attention is computed in both ways, up to the output "
      "projection, with the numbers of the example eight-heads:");
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
  constexpr TransformerSizes base{
      .encoder_layers = 1, .decoder_layers = 1, .d_model = 512, .heads = 8, .d_ff = 2048};
  const std::vector<ParameterRow> rows = parameter_rows(model_kinds().front(), base);
  const auto attentions = [&](const ScopeKind& side) {
    return static_cast<double>(std::ranges::count_if(rows, [&](const ParameterRow& row) {
      return &row.called.role() == &role::w_q && row.called.scopes().front().kind == &side;
    }));
  };
  page.say(
      "Eight sets of W_q, W_k and W_v are correct for an encoder layer, which has one attention. A decoder "
      "layer has two, self-attention and cross-attention, and each has its own matrices:");
  Matrix numbers({2, 2});
  numbers(0, 0) = attentions(scope::encoder);
  numbers(1, 0) = attentions(scope::decoder);
  for (std::size_t i = 0; i < 2; ++i) numbers(i, 1) = numbers(i, 0) * static_cast<double>(base.heads);
  const Value sets = graph.input(Name{role::other, "sets"}, std::move(numbers),
                                 axis("layers", {"encoder layer", "decoder layer"}),
                                 axis("quantities", {"attentions", "sets, 8 heads"}));
  page.trace.add(sets.node());
  page.say(table_of(sets.node()));
}

}  // namespace attn
