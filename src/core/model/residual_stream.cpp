#include "core/model/residual_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/model/recipe.hpp"
#include "core/op/gradient_operations.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"

namespace attn {
namespace {

// --- what stands in the graph

bool is_given(const Node& node) { return !node.original().op; }

// A product with what was learned, and the bias that is added to it.
struct LinearLayer {
  const Node* x = nullptr;
  const Node* w = nullptr;
  const Node* b = nullptr;     // null: none
  bool is_transposed = false;  // w has a row for each result
};

std::optional<LinearLayer> linear_layer_of(const Node& result) {
  LinearLayer layer;
  const Node* product = &result.original();
  if (product->op == &op::add && is_given(*product->operands[1])) {
    layer.b = product->operands[1];
    product = &product->operands[0]->original();
  }
  layer.is_transposed = product->op == &op::matmul_transposed;
  if (!layer.is_transposed && product->op != &op::matmul) return std::nullopt;
  layer.x = &product->operands[0]->original();
  layer.w = product->operands[1];
  if (!is_given(*layer.w)) return std::nullopt;
  return layer;
}

// A normalization with its γ and its β.
struct NormOfRows {
  const Node* x = nullptr;
  const Node* normalised = nullptr;
  const Node* gamma = nullptr;
  const Node* beta = nullptr;  // null: none
  bool adds_one = false;       // 1 + γ in the place of γ

  bool subtracts_mean() const { return normalised->op == &op::standardize; }
  double epsilon() const { return *normalised->find(setting::epsilon); }
};

std::optional<NormOfRows> norm_of(const Node& result) {
  NormOfRows norm;
  const Node* scaled = &result.original();
  if (scaled->op == &op::add && is_given(*scaled->operands[1])) {
    norm.beta = scaled->operands[1];
    scaled = &scaled->operands[0]->original();
  } else if (scaled->op == &op::add) {
    const Node &first = scaled->operands[0]->original(), &second = scaled->operands[1]->original();
    norm.adds_one = second.op == &op::multiply && &second.operands[0]->original() == &first;
    if (!norm.adds_one) return std::nullopt;
    scaled = &second;
  }
  if (!scaled->op || scaled->operands.size() != 2) return std::nullopt;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Node& one = scaled->operands[i]->original();
    if (one.op != &op::standardize && one.op != &op::divide_by_root_mean_square) continue;
    norm.normalised = &one;
    norm.gamma = scaled->operands[1 - i];
    norm.x = &one.operands[0]->original();
  }
  if (!norm.normalised || !is_given(*norm.gamma)) return std::nullopt;
  return norm;
}

// What makes logits of the vector that comes last.
struct OutputLayer {
  LinearLayer linear;
  const Node* last = nullptr;         // the vector
  const Node* scaled = nullptr;       // the same divided by a number, which is multiplied; null: it is not
  const Node* summed = nullptr;       // the product with its bias
  std::vector<const Node*> cap = {};  // the steps of a soft cap, which makes the logits of that; the last one first
};

OutputLayer output_layer(const Node& logits) {
  OutputLayer output{.linear = {}, .summed = &logits.original()};
  std::optional<LinearLayer> linear = linear_layer_of(*output.summed);
  while (!linear && output.summed->op && output.summed->operands.size() == 1) {
    output.cap.push_back(output.summed);
    output.summed = &output.summed->operands.front()->original();
    linear = linear_layer_of(*output.summed);
  }
  if (!linear)
    fail("{} is not the product of a vector with an output layer: attn lens cannot take it apart", logits.name);
  output.linear = *linear;
  output.last = linear->x;
  if (output.last->op == &op::divide) {
    output.scaled = output.last;
    output.last = &output.last->operands.front()->original();
  }
  return output;
}

// An operation on one operand, on another one.
Value again(const Node& step, const Value& x) { return apply(*step.op, {x}, step.settings); }

// The row of the output layer that is a word's, as the vector that comes last is multiplied with it.  [1, d_model]
Value row_of_word(const OutputLayer& output, std::size_t word) {
  const Value w(*output.linear.w);
  const Value row = output.linear.is_transposed ? rows(w, word, 1) : transpose(columns(w, word, 1));
  return output.scaled ? again(*output.scaled, row) : row;
}

Value applied(const OutputLayer& output, const Value& last) {
  const LinearLayer& layer = output.linear;
  const Value x = output.scaled ? again(*output.scaled, last) : last;
  const Value product = layer.is_transposed ? matmul_transposed(x, Value(*layer.w)) : matmul(x, Value(*layer.w));
  Value logits = layer.b ? add(product, Value(*layer.b)) : product;
  for (auto step = output.cap.rbegin(); step != output.cap.rend(); ++step) logits = again(**step, logits);
  return logits;
}

Value applied(const NormOfRows& norm, const Value& x) {
  NormParameters parameters{.gamma = Value(*norm.gamma)};
  if (norm.beta) parameters.beta = Value(*norm.beta);
  parameters.epsilon = norm.epsilon();
  if (norm.adds_one) return rms_norm_plus_one(x, parameters);
  return norm.subtracts_mean() ? layer_norm(x, parameters) : rms_norm(x, parameters);
}

// --- what was added

std::size_t layer_of(const Node& node) {
  const NamedScope* const layer = node.within(scope::number);
  return layer ? *layer->number : 0;
}

// A sum of what goes on and what is added to it, not of a product and its bias.
bool adds_to_stream(const Node& node) {
  return node.op == &op::add && !is_given(*node.operands[1]) &&
         (node.is(role::sum) || node.is(role::positioned) || node.name.empty());
}

bool is_from_attention(const Node& node) {
  return node.is(role::output) && node.place &&
         (node.place->is(scope::self_attention) || node.place->is(scope::cross_attention));
}

class Additions {
 public:
  explicit Additions(std::size_t row) : row_(row) {}

  void add_all(const Node& node) {
    const Node& sum = node.original();
    if (adds_to_stream(sum)) {
      for (const Node* operand : sum.operands) add_all(*operand);
    } else if (!is_from_attention(sum) || !add_heads(sum)) {
      add_whole(sum);
    }
  }

  std::vector<ResidualContribution> additions = {};
  std::vector<Value> parts = {};  // [1, d_model] each

 private:
  // The output layer of an attention is a sum over its heads: each is multiplied with its own rows.
  bool add_heads(const Node& output) {
    const std::optional<LinearLayer> layer = linear_layer_of(output);
    if (!layer || layer->is_transposed) return false;
    const bool are_several = layer->x->op == &op::concatenate;
    const std::vector<const Node*> heads = are_several ? layer->x->operands : std::vector{layer->x};
    const bool crosses = output.place->is(scope::cross_attention);
    const std::string attention = fmt::format("{}{}", layer_of(output), crosses ? ".cross" : "");
    std::size_t before = 0;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const std::size_t size = heads[i]->frame.shape.columns;
      additions.push_back({.kind = ResidualContribution::Kind::head,
                           .name = fmt::format("{}.{}.{}", attention, scope::head.name, i + 1),
                           .layer = layer_of(output),
                           .head = i + 1,
                           .crosses = crosses,
                           .from = heads[i]});
      parts.push_back(matmul(rows(Value(*heads[i]), row_, 1), rows(Value(*layer->w), before, size)));
      before += size;
    }
    if (!layer->b) return true;
    additions.push_back({.kind = ResidualContribution::Kind::bias,
                         .name = fmt::format("{}.bias", attention),
                         .layer = layer_of(output),
                         .crosses = crosses,
                         .from = layer->b});
    parts.push_back(Value(*layer->b));
    return true;
  }

  void add_whole(const Node& node) {
    ResidualContribution one{.name = node.title(), .layer = layer_of(node), .from = &node};
    if (node.within(scope::feed_forward)) {
      one.kind = ResidualContribution::Kind::feed_forward;
      one.name = fmt::format("{}.{}", one.layer, scope::feed_forward.name);
    } else if (one.layer == 0) {
      one.kind = ResidualContribution::Kind::vector;
    }
    additions.push_back(std::move(one));
    parts.push_back(rows(Value(node), row_, 1));
  }

  std::size_t row_;
};

Axis labels_of(const std::vector<ResidualContribution>& additions) {
  std::vector<std::string> names;
  for (const ResidualContribution& one : additions) names.push_back(one.name);
  return axis("additions", std::move(names));
}

// What the stream is multiplied with: the word's row, as the normalization of this row of x passes it on.  [1, d_model]
Value direction_of(const NormOfRows& norm, const Value& word, std::size_t row) {
  const Value by_gamma = multiply(word, Value(*norm.gamma));
  const Value scaled = norm.adds_one ? add(word, by_gamma) : by_gamma;
  if (norm.subtracts_mean()) {
    const Value variance = rows(Value(*norm.normalised->operands[2]), row, 1);
    return divide_by_deviation(subtract(scaled, row_means(scaled)), variance, norm.epsilon());
  }
  const Value x = rows(Value(*norm.x), row, 1);
  const std::string d = std::to_string(x.shape().columns);
  const Scalar two_by_d{2.0 / static_cast<double>(x.shape().columns), {"(2/" + d + ")", "\\tfrac{2}{" + d + "}"}};
  return divide_by_deviation(scaled, times(half_squared_norms(x), two_by_d), norm.epsilon());
}

}  // namespace

// --- stream

ResidualStream residual_stream(const Node& logits, std::size_t row) {
  const OutputLayer output = output_layer(logits);
  const Node& last = *output.last;
  const NamedScope* const side = outermost(last.place);
  const bool decodes = side && side->is(scope::decoder);
  ResidualStream stream{.logits = &logits, .summed = output.summed, .row = row};
  const Node* begin = nullptr;
  std::map<std::size_t, const Node*> after;  // what stands last in each layer
  for (const Node& node : logits.graph->nodes()) {
    if (node.is_alias() || node.index > last.index || !node.place) continue;
    const NamedScope* const outer = outermost(node.place);
    if (outer->is(decodes ? scope::target : scope::source)) begin = &node;
    if (outer == side && node.op && layer_of(node) > 0) after[layer_of(node)] = &node;
    if (const std::optional<NormOfRows> norm = outer == side ? norm_of(node) : std::nullopt)
      stream.additions_are_normalized = stream.additions_are_normalized || is_from_attention(*norm->x);
  }
  if (begin) stream.after.push_back(begin);
  for (const auto& [number, node] : after) stream.after.push_back(node);
  const std::optional<NormOfRows> norm = norm_of(last);
  stream.is_normalized_at_end = norm && !stream.after.empty() && norm->x == stream.after.back();
  stream.layers_normalize = !stream.after.empty() && norm_of(*stream.after.back());
  const bool is_read = !stream.after.empty() && (stream.is_normalized_at_end || &last == stream.after.back());
  if (!is_read)
    fail("{} is computed from {}, which is not what comes out of the last layer: attn lens cannot apply it to others",
         logits.name, last.title());
  return stream;
}

Value logit_lens(const ResidualStream& stream) {
  const Graph::Scope scope(*stream.logits->graph, scope::lens);
  std::vector<Value> parts;
  std::vector<std::string> names;
  for (const Node* node : stream.after) {
    parts.push_back(rows(Value(*node), stream.row, 1));
    names.push_back(names.empty() ? "0" : fmt::format("{}", layer_of(*node)));
  }
  const Value x = name(role::stream, labelled(stack(parts), axis("layers", std::move(names))));
  const OutputLayer output = output_layer(*stream.logits);
  Value last = x;
  if (stream.is_normalized_at_end) {
    const Graph::Scope norm(*stream.logits->graph, scope::norm);
    last = name(role::output, applied(*norm_of(*output.last), x));
  }
  const Value logits = name(role::logits, applied(output, last));
  return name(role::distribution, softmax(logits));
}

// --- attribution

Attribution logit_attribution(const ResidualStream& stream, std::size_t word) {
  const Graph::Scope scope(*stream.logits->graph, scope::lens);
  const OutputLayer output = output_layer(*stream.logits);
  const std::optional<NormOfRows> norm = norm_of(*output.last);
  const Value of_word = row_of_word(output, word);
  Additions all(stream.row);
  all.add_all(norm ? *norm->x : *output.last);
  const Value parts = name(role::parts, labelled(stack(all.parts), labels_of(all.additions)));
  const Axis told = axis("word", {stream.logits->frame.columns.label(word)});
  const Value direction =
      name(role::direction, labelled(norm ? direction_of(*norm, of_word, stream.row) : of_word, told));
  std::vector<Value> terms = {matmul_transposed(parts, direction)};
  if (norm && norm->beta) {
    all.additions.push_back(
        {.kind = ResidualContribution::Kind::norm, .name = norm->beta->title(), .from = norm->beta});
    terms.push_back(matmul_transposed(Value(*norm->beta), of_word));
  }
  if (const Node* const b = output.linear.b) {
    all.additions.push_back({.kind = ResidualContribution::Kind::output, .name = b->title(), .from = b});
    terms.push_back(columns(Value(*b), word, 1));
  }
  const Value contributions = name(role::contributions, labelled(stack(terms), labels_of(all.additions)));
  return {.contributions = contributions,
          .logit = name(role::logit, sum_rows(contributions, {}, axis("logits"))),
          .additions = std::move(all.additions)};
}

}  // namespace attn
