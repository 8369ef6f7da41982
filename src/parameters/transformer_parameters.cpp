#include "parameters/transformer_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "math/random.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

// The number of a layer in "encoder.3.norm_1.gamma", or 0.
std::size_t layer_number(std::string_view name, std::string_view side) {
  if (!name.starts_with(side)) return 0;
  name.remove_prefix(side.size());
  std::size_t number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

std::size_t layers_of(const ParameterSet& parameters, std::string_view side) {
  std::size_t most = 0;
  for (const auto& [name, matrix] : parameters) most = std::max(most, layer_number(name, side));
  return most;
}

// Every layer has parameters: a file cannot tell of more layers than it has parameters.
void require_layers(const ParameterSet& parameters, const std::string& where) {
  const std::size_t most = std::max(layers_of(parameters, "encoder."), layers_of(parameters, "decoder."));
  if (most <= parameters.size()) return;
  fail("{} has parameters of layer {}, but only {} parameters: number the layers from 1 without gaps", where,
       most, parameters.size());
}

// A decoder that looks at what was encoded is that of an encoder-decoder, whether its encoder is there or
// not.
const ModelKind& kind_of(const ParameterSet& parameters, const std::string& where) {
  const bool has_encoder = layers_of(parameters, "encoder.") > 0;
  const bool decodes = layers_of(parameters, "decoder.") > 0;
  if (!has_encoder && !decodes) {
    fail(
        "{} has no layers of an encoder or a decoder: for the parameters of a single attention, use attn "
        "walk --parameters",
        where);
  }
  const bool crosses = parameters.contains("decoder.1.cross_attention.w_q");
  const bool encodes = has_encoder || crosses;
  for (const ModelKind& kind : model_kinds()) {
    if (kind.encodes == encodes && kind.decodes == decodes && kind.crosses == crosses) return kind;
  }
  fail(
      "{}: it has an encoder and a decoder, but no cross-attention between them "
      "(decoder.1.cross_attention.w_q)",
      where);
}

std::size_t size_of(const ParameterSet& parameters, std::string_view name, std::size_t Shape::*dimension) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? 0 : found->second.shape().*dimension;
}

TransformerSizes sizes_of(const ParameterSet& parameters, std::size_t heads) {
  const std::size_t encoders = layers_of(parameters, "encoder."),
                    decoders = layers_of(parameters, "decoder.");
  const std::string first = encoders > 0 ? "encoder.1." : "decoder.1.";
  const std::size_t of_output = size_of(parameters, "output.w", &Shape::columns);
  return {.encoder_layers = encoders,
          .decoder_layers = decoders,
          .d_model = size_of(parameters, first + "self_attention.w_q", &Shape::rows),
          .heads = heads,
          .d_ff = size_of(parameters, first + "feed_forward.w_1", &Shape::columns),
          .source_words = size_of(parameters, "source_embedding.e", &Shape::rows),
          .target_words = of_output ? of_output : size_of(parameters, "target_embedding.e", &Shape::rows),
          .source_places = size_of(parameters, "source_positions.table", &Shape::rows),
          .target_places = size_of(parameters, "target_positions.table", &Shape::rows)};
}

void require_sizes(const TransformerSizes& sizes, const std::string& where) {
  if (sizes.d_model == 0 || sizes.d_ff == 0) {
    fail("{}: its first layer has no {}: every layer needs it", where,
         sizes.d_model == 0 ? "self_attention.w_q" : "feed_forward.w_1");
  }
  if (sizes.d_model % sizes.heads != 0) {
    fail("{}: d_model ({}) is not divisible by the number of heads ({}): give another number of heads", where,
         sizes.d_model, sizes.heads);
  }
}

void require_rows(const Transformer& model, const ParameterSet& parameters, const std::string& where) {
  std::vector<std::string> names;
  for (const ParameterRow& row : parameter_rows(*model.kind, model.sizes)) {
    names.push_back(row.name);
    const auto found = parameters.find(row.name);
    if (found == parameters.end()) {
      if (row.optional) continue;
      fail("{} has no \"{}\" ({}), which the model needs: add it", where, row.name, to_string(row.shape));
    }
    if (found->second.shape() == row.shape) continue;
    fail("{}: \"{}\" is {}, and must be {}: save it in that shape", where, row.name,
         to_string(found->second.shape()), to_string(row.shape));
  }
  for (const auto& [name, matrix] : parameters) {
    if (std::ranges::find(names, name) != names.end()) continue;
    fail("{} has \"{}\", which is not a parameter of this model{}: leave it out", where, name,
         did_you_mean(name, names));
  }
}

void require_norms(const Transformer& model, const ParameterSet& parameters, const std::string& where) {
  for (const ParameterRow& row : parameter_rows(*model.kind, model.sizes)) {
    const ScopeName* const norm = row.norm();
    const bool of_layer = norm && norm->number && &row.called.role() == &role::gamma;
    const bool has = parameters.contains(row.name);
    if (!of_layer || has == model.norm->in_layers) continue;
    if (has)
      fail("{} has layer normalization in its layers, and \"norm\" is \"none\": change one of them", where);
    fail("{} has no \"{}\" ({}), which \"norm\" \"{}\" needs: add it, or choose \"none\"", where, row.name,
         to_string(row.shape), model.norm->name);
  }
}

void require_vocabulary(const Vocabulary& words, std::size_t rows, std::string_view which,
                        const std::string& where) {
  if (words.empty() || rows == 0 || words.size() == rows) return;
  fail("{}: the {} vocabulary has {} words, and the parameters are for {}: make them equal", where, which,
       words.size(), rows);
}

Matrix drawn(const ParameterRow& row, RandomSource& random) {
  switch (row.beginning) {
    case Beginning::map:
      return random.parameter(row.shape);
    case Beginning::vectors:
      return random.embeddings(row.shape);
    case Beginning::ones:
      return Matrix(row.shape, 1.0);
    case Beginning::zeros:
      break;
  }
  return Matrix(row.shape, 0.0);
}

}  // namespace

void take_parameters(Transformer& model, ParameterSet parameters, const std::string& where) {
  require_layers(parameters, where);
  model.kind = &kind_of(parameters, where);
  model.sizes = sizes_of(parameters, model.sizes.heads);
  require_sizes(model.sizes, where);
  require_rows(model, parameters, where);
  require_norms(model, parameters, where);
  require_vocabulary(model.source_vocabulary, model.sizes.source_words, "source", where);
  require_vocabulary(model.target_vocabulary, model.sizes.target_words, "target", where);
  for (auto& [name, matrix] : parameters) {
    model.parameters.emplace(name, std::make_shared<const Matrix>(std::move(matrix)));
  }
}

void require_drawable(const Transformer& model) {
  double cells = 0.0;  // of any size that can be asked for
  for (const ParameterRow& row : parameters_of(model)) {
    cells += static_cast<double>(row.shape.rows) * static_cast<double>(row.shape.columns);
  }
  if (cells <= static_cast<double>(most_cells)) return;
  fail(
      "the model would have {:.4g} parameters, more than the limit of {}: choose smaller sizes, or give "
      "--outline",
      cells, most_cells);
}

void draw_parameters(Transformer& model, std::uint32_t seed) {
  require_drawable(model);
  const std::unique_ptr<RandomSource> random = random_kinds().front().make(seed);
  for (const ParameterRow& row : parameters_of(model)) {
    model.parameters.emplace(row.name, std::make_shared<const Matrix>(drawn(row, *random)));
  }
}

}  // namespace attn
