#include "data/parameters/transformer_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/support/error.hpp"
#include "data/files/cell_values.hpp"

namespace attn {

namespace {

// How many layers a side has: a file is read only where they have no gaps.
std::size_t layers_of(const ParameterSet& parameters, const ScopeKind& side) {
  std::size_t layers = 0;
  const auto has = [&](std::size_t layer) {
    return parameters.contains(Name({side, {scope::number, layer}, scope::self_attention}, role::w_q).text());
  };
  while (has(layers + 1)) ++layers;
  return layers;
}

// A decoder that looks at what was encoded is that of an encoder-decoder, whether its encoder is there or
// not.
const ModelKind& model_kind_of(const ParameterSet& parameters, const std::string& where) {
  const bool has_encoder = layers_of(parameters, scope::encoder) > 0;
  const bool decodes = layers_of(parameters, scope::decoder) > 0;
  if (!has_encoder && !decodes) {
    fail(
        "{} has no layers of an encoder or a decoder: for the parameters of a single attention, use attn walk --parameters",
        where);
  }
  const bool crosses =
      parameters.contains(Name({scope::decoder, {scope::number, 1}, scope::cross_attention}, role::w_q).text());
  const bool encodes = has_encoder || crosses;
  for (const ModelKind& kind : model_kinds()) {
    if (kind.encodes == encodes && kind.decodes == decodes && kind.crosses == crosses) return kind;
  }
  fail("{}: it has an encoder and a decoder, but no cross-attention between them (decoder.1.cross_attention.w_q)",
       where);
}

std::size_t size_of_parameter(const ParameterSet& parameters, const Name& name, std::size_t Shape::*dimension) {
  const auto found = parameters.find(name.text());
  return found == parameters.end() ? 0 : found->second.shape().*dimension;
}

// Queries and keys are normalized in each head, or all of their numbers together.
void require_normed(std::string_view what, std::size_t normed, std::size_t of_head, std::size_t all,
                    const std::string& where) {
  if (normed == 0 || normed == of_head || normed == all) return;
  fail("{}: the norm of the {} has {}, and must have {}, as a head has, or {}, as all heads have", where, what,
       count_of(normed, "number"), of_head, all);
}

// How many heads there are, and their size where it is known, are said elsewhere.
TransformerSizes sizes_of(const ParameterSet& parameters, const TransformerSizes& said, const std::string& where) {
  const std::size_t encoders = layers_of(parameters, scope::encoder), decoders = layers_of(parameters, scope::decoder);
  const ScopeKind& side = encoders > 0 ? scope::encoder : scope::decoder;
  const auto of_layer = [&](const ScopeKind& part, const Role& role, std::size_t Shape::*dimension) {
    return size_of_parameter(parameters, Name({side, {scope::number, 1}, part}, role), dimension);
  };
  const auto of_section = [&](const ScopeKind& section, const Role& role, std::size_t Shape::*dimension) {
    return size_of_parameter(parameters, Name({section}, role), dimension);
  };
  const std::size_t of_output = of_section(scope::output, role::w, &Shape::columns);
  const auto of_part = [&](const ScopeKind& section, const ScopeKind& part, const Role& role) {
    return size_of_parameter(parameters, Name({section, part}, role), &Shape::rows);
  };
  TransformerSizes sizes{
      .encoder_layers = encoders,
      .decoder_layers = decoders,
      .d_model = of_layer(scope::self_attention, role::w_q, &Shape::rows),
      .heads = said.heads,
      .d_ff = of_layer(scope::feed_forward, role::w_1, &Shape::columns),
      .source_words = of_section(scope::source_embedding, role::e, &Shape::rows),
      .target_words = of_output ? of_output : of_section(scope::target_embedding, role::e, &Shape::rows),
      .source_places = of_section(scope::source_positions, role::table, &Shape::rows),
      .target_places = of_section(scope::target_positions, role::table, &Shape::rows),
      .head_size = said.head_size,
      .types = of_section(scope::source_types, role::e, &Shape::rows),
      .buckets = of_part(side, scope::relative_positions, role::table),
      .patch = of_section(scope::source_embedding, role::w, &Shape::rows)};
  // An encoder whose output layer is its embedding.
  if (sizes.target_words == 0) sizes.target_words = of_section(scope::output, role::b, &Shape::columns);
  if (sizes.target_words == 0 && of_part(scope::output, scope::transform, role::w))
    sizes.target_words = sizes.source_words;
  const std::size_t of_queries = of_layer(scope::self_attention, role::w_q, &Shape::columns);
  if (sizes.head_size && of_queries != sizes.heads * sizes.head_size) {
    fail("{}: queries have {} numbers, and {} heads of {} would have {}: give the files of one model", where,
         of_queries, sizes.heads, sizes.head_size, sizes.heads * sizes.head_size);
  }
  if (!sizes.head_size && of_queries % sizes.heads == 0 && of_queries != sizes.d_model)
    sizes.head_size = of_queries / sizes.heads;
  if (!sizes.head_size && sizes.d_model % sizes.heads != 0) {
    fail("{}: d_model ({}) is not divisible by the number of heads ({}): give another number of heads", where,
         sizes.d_model, sizes.heads);
  }
  const std::size_t of_keys = of_layer(scope::self_attention, role::w_k, &Shape::columns);
  sizes.key_heads = of_keys / sizes.d_k();
  sizes.normed_q = of_layer(scope::self_attention, role::gamma_q, &Shape::columns);
  sizes.normed_k = of_layer(scope::self_attention, role::gamma_k, &Shape::columns);
  require_normed("queries", sizes.normed_q, sizes.d_k(), of_queries, where);
  require_normed("keys", sizes.normed_k, sizes.d_k(), of_keys, where);
  if (of_keys % sizes.d_k() == 0 && sizes.heads % sizes.key_heads == 0) return sizes;
  fail(
      "{}: keys have {} numbers and queries {}: with {} heads of {} numbers, heads of queries cannot share heads of keys equally; give another number of heads",
      where, of_keys, of_queries, sizes.heads, sizes.d_k());
}

bool is_of_layer(const ParameterRow& row) {
  return std::ranges::any_of(row.called.scopes(), [](const ScopeName& scope) { return scope.kind == &scope::number; });
}

// A layer like the first one has what that has.
void require_alike(const Transformer& model, const ParameterSet& parameters, const std::string& where) {
  std::set<std::string_view> known;
  const std::vector<ParameterRow> rows = parameter_rows(*model.kind, model.sizes);
  for (const ParameterRow& row : rows) {
    known.insert(row.name);
    if (is_of_layer(row) && row.parameter->presence == Presence::required && row.parameter->may_stand(model.recipe) &&
        !parameters.contains(row.name)) {
      fail("{} has no {} ({}), which its other layers have: add it, or leave it out of all layers", where,
           name_in_quotes(row.name), to_string(row.shape));
    }
  }
  for (const auto& [name, matrix] : parameters) {
    if (known.contains(name)) continue;
    fail("{} has {}, which a model {} does not have: leave it out", where, name_in_quotes(name),
         model.sizes.d_ff == 0 ? "without feed-forward layers" : fmt::format("that is {}", model.kind->name));
  }
}

// Whether the first layer has one.
bool has_gate(const ParameterSet& parameters) {
  return std::ranges::any_of(std::array{&scope::encoder, &scope::decoder}, [&](const ScopeKind* side) {
    return parameters.contains(Name({*side, {scope::number, 1}, scope::feed_forward}, role::w_gate).text());
  });
}

bool has_rest_of_output(const ParameterSet& parameters) {
  return parameters.contains(Name({scope::output}, role::b).text()) ||
         parameters.contains(Name({scope::output, scope::transform}, role::w).text());
}

// What a recipe and the parameters say of normalization must agree.
void require_recipe(const Transformer& model, const ParameterSet& parameters, const std::string& where) {
  const ModelRecipe& recipe = model.recipe;
  for (const ParameterRow& row : parameter_rows(*model.kind, model.sizes)) {
    const bool has = parameters.contains(row.name), may_stand = row.parameter->may_stand(recipe);
    if (has && !may_stand) {
      if (row.parameter->presence == Presence::placed && !recipe.norm->in_layers())
        fail("{} has layer normalization in its layers, and \"norm\" is \"none\": change one of them", where);
      if (&row.parameter->role == &role::w_gate || &row.parameter->role == &role::b_gate)
        fail("{} has {}, and its first layer has no gate: add it to all layers, or leave it out", where,
             name_in_quotes(row.name));
      fail("{} has {}, which a model with the norms {} ({}){} does not have: leave out one of them", where,
           name_in_quotes(row.name), recipe.norm->name, recipe.norm_kind->name,
           recipe.tied_output ? " and a tied output" : "");
    }
    if (!has && may_stand && &row.parameter->role == &role::w_gate) {
      fail("{} has no {} ({}), which its first layer has: add it, or leave it out of all layers", where,
           name_in_quotes(row.name), to_string(row.shape));
    }
    if (!has && &row.parameter->role == &role::w && !recipe.tied_output && row.called.scopes().size() == 1 &&
        row.called.scopes().front().kind == &scope::output && has_rest_of_output(parameters))
      fail("{} has no {} ({}), which an output layer of its own needs: add it, or set \"tied_output\"", where,
           name_in_quotes(row.name), to_string(row.shape));
    if (!has && may_stand && row.parameter->presence == Presence::placed) {
      fail(
          "{} has no {} ({}), which the norm \"{}\" needs: give a file that has it (only the norm \"none\" needs no such parameters)",
          where, name_in_quotes(row.name), to_string(row.shape), recipe.norm->name);
    }
  }
}

// Its words, or where the file names none the ids of its tokens.
void take_vocabulary(Vocabulary& words, std::size_t rows, std::string_view which, const std::string& where) {
  if (words.empty()) words = token_ids(rows);
  if (rows == 0 || words.size() == rows) return;
  fail("{}: the {} vocabulary has {} words, and the parameters are for {}: make them equal", where, which, words.size(),
       rows);
}

// What a recipe says of positions must be possible with what was learned of them.
void require_possible_positions(const Transformer& model, const std::string& where) {
  const auto first = static_cast<std::size_t>(model.recipe.first_position);
  for (const std::size_t places : {model.sizes.source_places, model.sizes.target_places}) {
    if (places > 0 && places <= first)
      fail("{}: {} were learned, and the first word is to have that of row {}: give the files of one model", where,
           count_of(places, "position"), first + 1);
  }
  const std::size_t buckets = model.sizes.buckets;
  if (buckets == 0) return;
  if (buckets < 4)
    fail("{}: there are only {} of distances: at least 4 are needed", where, count_of(buckets, "bucket"));
  const std::size_t exact = model.kind->decodes ? buckets / 2 : buckets / 4;
  if (model.recipe.max_distance > static_cast<double>(exact)) return;
  fail("{}: {} distances have a bucket of their own, and the longest distance is {}: it must be longer", where, exact,
       model.recipe.max_distance);
}

}  // namespace

Matrix initial_matrix(Initialization beginning, const RandomMatrix& parameter, RandomSource& random) {
  switch (beginning) {
    case Initialization::map:
      return random.parameter(parameter);
    case Initialization::vectors:
      return random.vectors(parameter);
    case Initialization::ones:
      return Matrix(parameter.shape, 1.0);
    case Initialization::zeros:
      break;
  }
  return Matrix(parameter.shape, 0.0);
}

void take_parameters(Transformer& model, ParameterSet parameters, const std::string& where) {
  model.kind = &model_kind_of(parameters, where);
  model.sizes = sizes_of(parameters, model.sizes, where);
  model.recipe.gated = has_gate(parameters);
  if (model.recipe.window != 0.0 && model.kind->encodes)
    fail("{}: \"window\" is for models that are a decoder alone, and this one has an encoder: leave it out", where);
  require_recipe(model, parameters, where);
  require_possible_positions(model, where);
  require_alike(model, parameters, where);
  take_vocabulary(model.source_vocabulary, model.sizes.source_words, "source", where);
  take_vocabulary(model.target_vocabulary, model.sizes.target_words, "target", where);
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
  fail("the model would have {:.4g} parameters, more than the limit of {}: choose smaller sizes", cells, most_cells);
}

void draw_parameters(Transformer& model, RandomSource& random) {
  require_drawable(model);
  const auto words_of = [&](const SizeName& size) -> std::span<const std::string> {
    if (&size == &size_name::source_words) return model.source_vocabulary;
    if (&size == &size_name::target_words) return model.target_vocabulary;
    return {};
  };
  for (const ParameterRow& row : parameters_of(model)) {
    const Parameter& parameter = *row.parameter;
    const RandomMatrix asked{row.name, row.shape, words_of(parameter.rows), words_of(parameter.columns)};
    model.parameters.emplace(
        row.name, std::make_shared<const Matrix>(initial_matrix(parameter.begins(model.recipe), asked, random)));
  }
}

}  // namespace attn
