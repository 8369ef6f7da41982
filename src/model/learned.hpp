#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/schema.hpp"

namespace attn {

/// Learned matrices by name, `encoder.1.self_attention.w_q`, shared with other holders.
using ModelParameters = std::map<std::string, std::shared_ptr<const Matrix>, std::less<>>;

/// The words that a model knows, as labels of its matrices.
struct Vocabularies {
  Axis source;
  Axis target;
};

/// The learned matrices within one scope of a model, as nodes of a graph.
class Learned {
 public:
  /// Makes an input of every row; one that has no numbers is for a graph that never evaluates. The graph has
  /// no open scope.
  Learned(Graph& graph, const std::vector<ParameterRow>& rows, const ModelParameters& numbers,
          const Vocabularies& words);

  /// `learned.within({scope::encoder, {scope::number, 1}})`.
  Learned within(const std::vector<ScopeName>& scopes) const;
  bool has(const Name& name) const;
  std::optional<Value> find(const Name& name) const;
  /// Throws InputError when the model has no such parameter.
  const Value& at(const Name& name) const;
  Projection projection(const LinearRoles& of) const;

 private:
  using Values = std::map<std::string, Value, std::less<>>;
  Learned(std::shared_ptr<const Values> values, std::string prefix)
      : values_(std::move(values)), prefix_(std::move(prefix)) {}

  std::shared_ptr<const Values> values_;
  std::string prefix_;
};

}  // namespace attn
