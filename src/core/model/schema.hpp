#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/feed_forward.hpp"
#include "core/model/recipe.hpp"

namespace attn {

// Which parameters a model has: their names, their shapes, how they begin, and when they stand. Drawing,
// reading, checking, counting and looking up walk this.

/// How large a Transformer is.
struct TransformerSizes {
  std::size_t encoder_layers = 2;  // N; 0: what was encoded comes from elsewhere
  std::size_t decoder_layers = 2;
  std::size_t d_model = 8;
  std::size_t heads = 2;          // h
  std::size_t d_ff = 16;          // 0: layers are attention alone
  std::size_t source_words = 0;   // in the vocabularies; 0: vectors come in, or go out
  std::size_t target_words = 0;   // those that go out, of an encoder alone too
  std::size_t source_places = 0;  // of learned positions; 0: none are learned
  std::size_t target_places = 0;
  std::size_t key_heads = 0;  // of keys and values; 0: as many as of queries
  std::size_t head_size = 0;  // numbers of a query or a key; 0: d_model / heads
  std::size_t normed_q = 0;   // numbers that queries are normalized in: those of a head, or all; 0: they are not
  std::size_t normed_k = 0;
  std::size_t types = 0;    // of tokens; 0: none are told
  std::size_t buckets = 0;  // of distances; 0: none
  std::size_t patch = 0;    // numbers of a patch of an image; 0: vectors go in as they are

  /// How many heads there are of queries and of keys.
  HeadCounts all_heads() const { return {heads, key_heads ? key_heads : heads}; }
  /// How many numbers a query or a key of one head has.
  std::size_t d_k() const { return head_size ? head_size : d_model / heads; }
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

/// A size in which shapes are told.
struct SizeName {
  std::string_view name;  // "d_model"; empty: 1
  std::size_t (*in)(const TransformerSizes& sizes);
};
namespace size_name {
extern const SizeName one, d_model, all_d_q, all_d_k, normed_q, normed_k, d_ff, source_words, target_words,
    source_places, target_places, types, buckets, heads, patch;
}

/// How a parameter begins before anything is learned.
enum class Initialization { map, vectors, zeros, ones };

/// Whether a file that has the part of a parameter may be without it: a bias. Norms in layers are there where
/// the recipe places them.
enum class Presence { required, optional, placed };

/// A parameter of a part of a model.
struct Parameter {
  const Role& role;
  const SizeName& rows;
  const SizeName& columns;
  Initialization beginning;
  Presence presence;
  bool (*may_stand)(const ModelRecipe& recipe);  // whether a model of this recipe can have it
  bool (*is_drawn)(const ModelRecipe& recipe);   // whether a drawn one has it

  bool is_vector() const { return &rows == &size_name::one; }
  /// How it begins in a model of this recipe: a γ to which 1 is added begins at 0.
  Initialization begins(const ModelRecipe& recipe) const {
    return beginning == Initialization::ones && recipe.norm_kind->adds_one ? Initialization::zeros : beginning;
  }
};

/// A part of a section, such as norm_2; a section may be a part by itself.
struct SchemaPart {
  const ScopeKind* scope;  // null: the section itself
  std::size_t number;      // 0: none
  std::span<const Parameter> parameters;
  const SizeName* size = nullptr;  // without which it does not stand; null: it always does
};

/// A section of a model: its layers, or what stands beside them.
struct SchemaSection {
  const ScopeKind* scope;
  std::size_t (*layers)(const TransformerSizes& sizes);  // null: it has none
  std::span<const SchemaPart> parts;
  bool (*stands)(const ModelKind& kind);
  const SizeName* words;  // without which it does not stand; null: it always does
};

/// All of it, in the order of the computation.
std::span<const SchemaSection> schema_sections();

/// The parameters of an attention by itself, whose sizes need not be those of a model.
std::span<const SchemaPart> schema_of_attention();

/// The parameter of a role, in whatever part comes first; null: none has it.
const Parameter* find_parameter(const Role& role);

/// One learned matrix of a model: a vector is one row.
struct ParameterRow {
  const Parameter* parameter;
  Name called;
  Shape shape;
  std::string name = called.text();  // as files have it
};

/// Every parameter that a model may have, in the order of the computation.
std::vector<ParameterRow> parameter_rows(const ModelKind& kind, const TransformerSizes& sizes);

/// Learned matrices by name, `encoder.1.self_attention.w_q`, shared with other holders.
using ModelParameters = std::map<std::string, std::shared_ptr<const Matrix>, std::less<>>;

/// The words that a model knows, as labels of its matrices.
struct Vocabularies {
  Axis source;
  Axis target;
};

/// The learned matrices within one scope of a model, as nodes of a graph.
class ParameterNodes {
 public:
  /// Makes an input of every row; one that has no numbers is for a graph that never evaluates. The graph has
  /// no open scope.
  ParameterNodes(Graph& graph, const std::vector<ParameterRow>& rows, const ModelParameters& numbers,
                 const Vocabularies& words);

  /// `learned.within({scope::encoder, {scope::number, 1}})`.
  ParameterNodes within(const std::vector<ScopeName>& scopes) const;
  bool has(const Name& name) const;
  std::optional<Value> find(const Name& name) const;
  /// Throws InputError when the model has no such parameter.
  const Value& at(const Name& name) const;
  Projection projection(const LinearRoles& of) const;

 private:
  using Values = std::map<std::string, Value, std::less<>>;
  ParameterNodes(std::shared_ptr<const Values> values, std::string prefix)
      : values_(std::move(values)), prefix_(std::move(prefix)) {}

  std::shared_ptr<const Values> values_;
  std::string prefix_;
};

}  // namespace attn
