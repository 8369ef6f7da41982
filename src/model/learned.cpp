#include "model/learned.hpp"

#include <array>

#include "support/error.hpp"

namespace attn {
namespace {

constexpr std::array kinds = {
    ModelKind{"encoder-decoder", "an encoder, and a decoder that attends to its output", true, true, true},
    ModelKind{"encoder-only", "only an encoder", true, false, false},
    ModelKind{"decoder-only", "only a decoder, which continues a text", false, true, false},
};

using Scopes = std::vector<ScopeName>;

// The rows of a model, one part after another.
class AllRows {
 public:
  explicit AllRows(const TransformerSizes& sizes) : sizes_(sizes) {}

  void attention(const Scopes& scopes) {
    const std::size_t d = sizes_.d_model;
    for (const LinearRoles& layer : {linear_layer::q, linear_layer::k, linear_layer::v, linear_layer::o}) {
      add_linear(scopes, layer, {d, d});
    }
  }
  void feed_forward(const Scopes& scopes) {
    const std::size_t d = sizes_.d_model, inner = sizes_.d_ff;
    add_linear(scopes, linear_layer::inner, {d, inner});
    add_linear(scopes, linear_layer::outer, {inner, d});
  }
  void norm(const Scopes& scopes) {
    add_optional({scopes, role::gamma}, {1, sizes_.d_model}, Beginning::ones);
    add_optional({scopes, role::beta}, {1, sizes_.d_model}, Beginning::zeros);
  }
  void embedding(const ScopeKind& of_words, std::size_t words, const ScopeKind& of_places,
                 std::size_t places) {
    if (words == 0) return;
    add_optional({{of_words}, role::e}, {words, sizes_.d_model}, Beginning::vectors);
    if (places == 0) return;
    add_optional({{of_places}, role::table}, {places, sizes_.d_model}, Beginning::vectors);
  }
  void output() {
    if (sizes_.target_words == 0) return;
    add_optional({{scope::output}, role::w}, {sizes_.d_model, sizes_.target_words}, Beginning::map);
    add_optional({{scope::output}, role::b}, {1, sizes_.target_words}, Beginning::zeros);
  }

  std::vector<ParameterRow> rows;

 private:
  void add_linear(const Scopes& scopes, const LinearRoles& layer, Shape shape) {
    rows.push_back({{scopes, layer.w}, shape, Beginning::map, false});
    add_optional({scopes, layer.b}, {1, shape.columns}, Beginning::zeros);
  }
  void add_optional(Name name, Shape shape, Beginning beginning) {
    rows.push_back({std::move(name), shape, beginning, true});
  }

  const TransformerSizes& sizes_;
};

Axis rows_of(const Name& name, const Vocabularies& words) {
  if (&name.role() != &role::e || name.scopes().empty()) return axis("features");
  return name.scopes().back().kind == &scope::source_embedding ? words.source : words.target;
}

Axis columns_of(const Name& name, const Vocabularies& words) {
  const bool is_of_output = !name.scopes().empty() && name.scopes().back().kind == &scope::output;
  return is_of_output ? words.target : axis("features");
}

}  // namespace

std::span<const ModelKind> model_kinds() {
  return kinds;
}

std::vector<ParameterRow> parameter_rows(const ModelKind& kind, const TransformerSizes& sizes) {
  AllRows rows(sizes);
  if (kind.encodes) {
    rows.embedding(scope::source_embedding, sizes.source_words, scope::source_positions, sizes.source_places);
    for (std::size_t i = 1; i <= sizes.encoder_layers; ++i) {
      const auto part = [&](ScopeName name) { return Scopes{scope::encoder, {scope::number, i}, name}; };
      rows.attention(part(scope::self_attention));
      rows.norm(part({scope::norm, 1}));
      rows.feed_forward(part(scope::feed_forward));
      rows.norm(part({scope::norm, 2}));
    }
    rows.norm({scope::encoder, scope::norm});
  }
  if (kind.decodes) {
    rows.embedding(scope::target_embedding, sizes.target_words, scope::target_positions, sizes.target_places);
    for (std::size_t i = 1; i <= sizes.decoder_layers; ++i) {
      const auto part = [&](ScopeName name) { return Scopes{scope::decoder, {scope::number, i}, name}; };
      rows.attention(part(scope::self_attention));
      rows.norm(part({scope::norm, 1}));
      if (kind.crosses) rows.attention(part(scope::cross_attention));
      if (kind.crosses) rows.norm(part({scope::norm, 2}));
      rows.feed_forward(part(scope::feed_forward));
      rows.norm(part({scope::norm, kind.crosses ? 3U : 2U}));
    }
    rows.norm({scope::decoder, scope::norm});
    rows.output();
  }
  return std::move(rows.rows);
}

Learned::Learned(Graph& graph, const ModelParameters& parameters, const Vocabularies& words) {
  auto values = std::make_shared<Values>();
  for (const auto& [name, matrix] : parameters) {
    const Name known = called(name);
    values->emplace(name, graph.input(known, matrix, rows_of(known, words), columns_of(known, words)));
  }
  values_ = std::move(values);
}

Learned::Learned(Graph& graph, const std::vector<ParameterRow>& rows, const Vocabularies& words) {
  auto values = std::make_shared<Values>();
  for (const ParameterRow& row : rows) {
    values->emplace(row.name, graph.input(row.called, {row.shape, rows_of(row.called, words),
                                                       columns_of(row.called, words)}));
  }
  values_ = std::move(values);
}

const ScopeName* ParameterRow::norm() const {
  const std::vector<ScopeName>& scopes = called.scopes();
  return !scopes.empty() && scopes.back().kind == &scope::norm ? &scopes.back() : nullptr;
}

Learned Learned::within(const std::vector<ScopeName>& scopes) const {
  std::string prefix = prefix_;
  for (const ScopeName& scope : scopes) prefix += scope.text + '.';
  return {values_, std::move(prefix)};
}

bool Learned::has(const Name& name) const {
  return values_->contains(prefix_ + name.text());
}

std::optional<Value> Learned::find(const Name& name) const {
  const auto found = values_->find(prefix_ + name.text());
  return found == values_->end() ? std::nullopt : std::optional(found->second);
}

const Value& Learned::at(const Name& name) const {
  const auto found = values_->find(prefix_ + name.text());
  if (found == values_->end())
    fail("the model has no parameter {}{}: give a file that has it", prefix_, name.text());
  return found->second;
}

Projection Learned::projection(const LinearRoles& of) const {
  return {at(of.w), find(of.b)};
}

LayerNorm Learned::norm(const ScopeName& scope) const {
  const Learned inner = within({scope});
  return {.gamma = inner.at(role::gamma), .beta = inner.find(role::beta)};
}

}  // namespace attn
