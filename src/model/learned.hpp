#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/parameters.hpp"
#include "model/layer_norm.hpp"

namespace attn {

/// Learned matrices by name, `encoder.1.self_attention.w_q`, shared with whoever else has them.
using ModelParameters = std::map<std::string, std::shared_ptr<const Matrix>, std::less<>>;

/// How large a Transformer is.
struct TransformerSizes {
  std::size_t encoder_layers = 2;  // N; 0: what was encoded comes from elsewhere
  std::size_t decoder_layers = 2;
  std::size_t d_model = 8;
  std::size_t heads = 2;  // h
  std::size_t d_ff = 16;
  std::size_t source_words = 0;  // in the vocabularies; 0: vectors come in, or go out
  std::size_t target_words = 0;
  std::size_t source_places = 0;  // of learned positions; 0: none are learned
  std::size_t target_places = 0;
};

/// What a Transformer is made of.
struct ModelKind {
  std::string_view name;
  std::string_view summary;
  bool encodes;
  bool decodes;
  bool crosses;  // the decoder looks at what was encoded
};

/// encoder-decoder, encoder-only, decoder-only.
std::span<const ModelKind> model_kinds();

/// How a parameter begins before anything is learned.
enum class Beginning { map, vectors, zeros, ones };

/// One learned matrix of a model: a vector is one row.
struct ParameterRow {
  Name called;
  Shape shape;
  Beginning beginning;
  bool optional;  // a file may do without it: biases, final norms, embeddings, the output layer
  std::string name = called.text();  // as files have it

  /// The layer normalization that it belongs to; null: none.
  const ScopeName* norm() const;
};

/// Every parameter that a model may have, in the order of the computation.
std::vector<ParameterRow> parameter_rows(const ModelKind& kind, const TransformerSizes& sizes);

/// The words that a model knows, as labels of its matrices.
struct Vocabularies {
  Axis source;
  Axis target;
};

/// The learned matrices within one scope of a model, as nodes of a graph.
class Learned {
 public:
  /// Makes an input of every parameter. The graph has no open scope.
  Learned(Graph& graph, const ModelParameters& parameters, const Vocabularies& words);
  /// The same for a graph that never evaluates: the rows have shapes and no numbers.
  Learned(Graph& graph, const std::vector<ParameterRow>& rows, const Vocabularies& words);

  /// `learned.within({scope::encoder, {scope::number, 1}})`.
  Learned within(const std::vector<ScopeName>& scopes) const;
  bool has(const Name& name) const;
  std::optional<Value> find(const Name& name) const;
  /// Throws InputError when the model has no such parameter.
  const Value& at(const Name& name) const;
  Projection projection(const LinearRoles& of) const;
  /// gamma and beta within `scope`.
  LayerNorm norm(const ScopeName& scope) const;

 private:
  using Values = std::map<std::string, Value, std::less<>>;
  Learned(std::shared_ptr<const Values> values, std::string prefix)
      : values_(std::move(values)), prefix_(std::move(prefix)) {}

  std::shared_ptr<const Values> values_;
  std::string prefix_;
};

}  // namespace attn
