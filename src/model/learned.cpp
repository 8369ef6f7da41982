#include "model/learned.hpp"

#include <fmt/format.h>

#include <array>

#include "support/error.hpp"

namespace attn {
namespace {

constexpr std::array kinds = {
    ModelKind{"encoder-decoder", "an encoder, and a decoder that attends to its output", true, true, true},
    ModelKind{"encoder-only", "only an encoder", true, false, false},
    ModelKind{"decoder-only", "only a decoder, which continues a text", false, true, false},
};

// The rows of a model, one part after another.
class Rows {
 public:
  explicit Rows(const TransformerSizes& sizes) : sizes_(sizes) {}

  void attention(const std::string& scope) {
    const std::size_t d = sizes_.d_model;
    for (const char which : {'q', 'k', 'v', 'o'}) {
      add(fmt::format("{}.w_{}", scope, which), {d, d}, Beginning::map);
      add_optional(fmt::format("{}.b_{}", scope, which), {1, d}, Beginning::zeros);
    }
  }
  void feed_forward(const std::string& scope) {
    const std::size_t d = sizes_.d_model, inner = sizes_.d_ff;
    add(scope + ".w_1", {d, inner}, Beginning::map);
    add_optional(scope + ".b_1", {1, inner}, Beginning::zeros);
    add(scope + ".w_2", {inner, d}, Beginning::map);
    add_optional(scope + ".b_2", {1, d}, Beginning::zeros);
  }
  void norm(const std::string& scope) {
    add_optional(scope + ".gamma", {1, sizes_.d_model}, Beginning::ones);
    add_optional(scope + ".beta", {1, sizes_.d_model}, Beginning::zeros);
  }
  void embedding(const std::string& scope, std::size_t words, std::size_t places) {
    if (words == 0) return;
    add_optional(scope + "_embedding.e", {words, sizes_.d_model}, Beginning::vectors);
    if (places == 0) return;
    add_optional(scope + "_positions.table", {places, sizes_.d_model}, Beginning::vectors);
  }
  void output() {
    if (sizes_.target_words == 0) return;
    add_optional("output.w", {sizes_.d_model, sizes_.target_words}, Beginning::map);
    add_optional("output.b", {1, sizes_.target_words}, Beginning::zeros);
  }

  std::vector<ParameterRow> rows;

 private:
  void add(std::string name, Shape shape, Beginning beginning) {
    rows.push_back({std::move(name), shape, beginning, false});
  }
  void add_optional(std::string name, Shape shape, Beginning beginning) {
    rows.push_back({std::move(name), shape, beginning, true});
  }

  const TransformerSizes& sizes_;
};

Axis rows_of(std::string_view name, const Vocabularies& words) {
  if (name == "source_embedding.e") return words.source;
  if (name == "target_embedding.e") return words.target;
  return axis("features");
}

Axis columns_of(std::string_view name, const Vocabularies& words) {
  return name == "output.w" || name == "output.b" ? words.target : axis("features");
}

}  // namespace

std::span<const ModelKind> model_kinds() {
  return kinds;
}

std::vector<ParameterRow> parameter_rows(const ModelKind& kind, const TransformerSizes& sizes) {
  Rows rows(sizes);
  if (kind.encodes) {
    rows.embedding("source", sizes.source_words, sizes.source_places);
    for (std::size_t i = 1; i <= sizes.encoder_layers; ++i) {
      const std::string layer = fmt::format("encoder.{}", i);
      rows.attention(layer + ".self_attention");
      rows.norm(layer + ".norm_1");
      rows.feed_forward(layer + ".feed_forward");
      rows.norm(layer + ".norm_2");
    }
    rows.norm("encoder.norm");
  }
  if (kind.decodes) {
    rows.embedding("target", sizes.target_words, sizes.target_places);
    for (std::size_t i = 1; i <= sizes.decoder_layers; ++i) {
      const std::string layer = fmt::format("decoder.{}", i);
      rows.attention(layer + ".self_attention");
      rows.norm(layer + ".norm_1");
      if (kind.crosses) rows.attention(layer + ".cross_attention");
      if (kind.crosses) rows.norm(layer + ".norm_2");
      rows.feed_forward(layer + ".feed_forward");
      rows.norm(layer + (kind.crosses ? ".norm_3" : ".norm_2"));
    }
    rows.norm("decoder.norm");
    rows.output();
  }
  return std::move(rows.rows);
}

Learned::Learned(Graph& graph, const ModelParameters& parameters, const Vocabularies& words) {
  auto values = std::make_shared<Values>();
  for (const auto& [name, matrix] : parameters) {
    values->emplace(name, graph.input(called(name), matrix, rows_of(name, words), columns_of(name, words)));
  }
  values_ = std::move(values);
}

Learned::Learned(Graph& graph, const std::vector<ParameterRow>& rows, const Vocabularies& words) {
  auto values = std::make_shared<Values>();
  for (const ParameterRow& row : rows) {
    values->emplace(row.name, graph.placeholder(called(row.name), {row.shape, rows_of(row.name, words),
                                                                   columns_of(row.name, words)}));
  }
  values_ = std::move(values);
}

Learned Learned::within(std::string_view scope) const {
  return {values_, fmt::format("{}{}.", prefix_, scope)};
}

bool Learned::has(std::string_view leaf) const {
  return values_->contains(prefix_ + std::string(leaf));
}

std::optional<Value> Learned::find(std::string_view leaf) const {
  const auto found = values_->find(prefix_ + std::string(leaf));
  return found == values_->end() ? std::nullopt : std::optional(found->second);
}

const Value& Learned::at(std::string_view leaf) const {
  const auto found = values_->find(prefix_ + std::string(leaf));
  if (found == values_->end())
    fail("the model has no parameter {}{}: give a file that has it", prefix_, leaf);
  return found->second;
}

Projection Learned::projection(std::string_view which) const {
  return {at(fmt::format("w_{}", which)), find(fmt::format("b_{}", which))};
}

LayerNorm Learned::norm(std::string_view scope) const {
  const Learned inner = within(scope);
  return {.gamma = inner.at("gamma"), .beta = inner.find("beta")};
}

}  // namespace attn
