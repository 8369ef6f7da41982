#include "data/transformer_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "data/json.hpp"
#include "math/random.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

std::string string_of(const Json& value, std::string_view member, const std::string& where) {
  if (!value.is_string()) fail("{}: \"{}\" must be a string", where, member);
  return value.get<std::string>();
}

std::vector<std::string> strings_of(const Json& value, std::string_view member, const std::string& where) {
  if (!value.is_array()) fail("{}: \"{}\" must be a list of strings", where, member);
  std::vector<std::string> strings;
  for (const Json& item : value) strings.push_back(string_of(item, member, where));
  return strings;
}

std::vector<std::string> vocabulary_of(const Json& value, std::string_view member, const std::string& where) {
  std::vector<std::string> words = strings_of(value, member, where);
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (std::find(words.begin(), word, *word) != word) {
      fail("{}: \"{}\" has '{}' twice: every word stands for one row", where, member, *word);
    }
  }
  return words;
}

ParameterSet parameters_of(const Json& value, const std::string& where) {
  if (!value.is_object()) fail("{}: \"parameters\" must be an object of matrices by name", where);
  ParameterSet parameters;
  for (const auto& [name, cells] : value.items()) {
    Matrix matrix = matrix_from_json(cells, fmt::format("{}: \"{}\"", where, name)).matrix;
    if (!std::ranges::all_of(attn::cells(matrix), [](double cell) { return std::isfinite(cell); })) {
      fail("{}: \"{}\" has a number that is not finite", where, name);
    }
    parameters.emplace(name, std::move(matrix));
  }
  return parameters;
}

// A member of a model file, and what is done with it.
struct Member {
  std::string_view name;
  void (*take)(TransformerFile& file, const Json& value, const std::string& where);
};

constexpr Member members[] = {
    {"title", [](TransformerFile& file, const Json& value,
                 const std::string& where) { file.model.title = string_of(value, "title", where); }},
    {"summary", [](TransformerFile& file, const Json& value,
                   const std::string& where) { file.model.summary = string_of(value, "summary", where); }},
    {"about", [](TransformerFile& file, const Json& value,
                 const std::string& where) { file.model.about = strings_of(value, "about", where); }},
    {"heads",
     [](TransformerFile& file, const Json& value, const std::string& where) {
       constexpr std::uint64_t most = 65536;
       if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 ||
           value.get<std::uint64_t>() > most) {
         fail("{}: \"heads\" must be a whole number from 1 to {}", where, most);
       }
       file.model.sizes.heads = value.get<std::size_t>();
     }},
    {"norm",
     [](TransformerFile& file, const Json& value, const std::string& where) {
       file.model.norm = &look_up(norm_placements(), string_of(value, "norm", where), "placement of norms");
     }},
    {"positions",
     [](TransformerFile& file, const Json& value, const std::string& where) {
       const std::string name = string_of(value, "positions", where);
       file.model.positions = look_up(position_kinds(), name, "kind of positions").name;
     }},
    {"scale_embeddings",
     [](TransformerFile& file, const Json& value, const std::string& where) {
       if (!value.is_boolean()) fail("{}: \"scale_embeddings\" must be true or false", where);
       file.model.scale_embeddings = value.get<bool>();
     }},
    {"source_vocabulary",
     [](TransformerFile& file, const Json& value, const std::string& where) {
       file.model.source_vocabulary = vocabulary_of(value, "source_vocabulary", where);
     }},
    {"target_vocabulary",
     [](TransformerFile& file, const Json& value, const std::string& where) {
       file.model.target_vocabulary = vocabulary_of(value, "target_vocabulary", where);
     }},
    {"source", [](TransformerFile& file, const Json& value,
                  const std::string& where) { file.source = string_of(value, "source", where); }},
    {"target", [](TransformerFile& file, const Json& value,
                  const std::string& where) { file.target = string_of(value, "target", where); }},
};

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
  const std::size_t encoders = layers_of(parameters, "encoder."),
                    decoders = layers_of(parameters, "decoder.");
  if (std::max(encoders, decoders) > parameters.size()) {
    fail("{} has parameters of layer {}, and {} parameters in all: layers are counted from 1", where,
         std::max(encoders, decoders), parameters.size());
  }
  if (encoders > 0 && decoders > 0 && encoders != decoders) {
    fail("{}: its encoder has {} layers and its decoder {}: give as many of one as of the other", where,
         encoders, decoders);
  }
}

const ModelKind& kind_of(const ParameterSet& parameters, const std::string& where) {
  const bool encodes = layers_of(parameters, "encoder.") > 0, decodes = layers_of(parameters, "decoder.") > 0;
  if (!encodes && !decodes) {
    fail("{} holds no layers of an encoder or a decoder: a lone attention is for attn walk --parameters",
         where);
  }
  const bool crosses = parameters.contains("decoder.1.cross_attention.w_q");
  if (encodes && decodes && !crosses) {
    fail("{}: its decoder has no decoder.1.cross_attention.w_q to look at its encoder", where);
  }
  if (encodes) return model_kinds()[decodes ? 0 : 1];
  return crosses ? model_kinds()[0] : model_kinds()[2];
}

std::size_t size_of(const ParameterSet& parameters, std::string_view name, std::size_t dimension) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? 0 : found->second.shape()[dimension];
}

TransformerSizes sizes_of(const ParameterSet& parameters, std::size_t heads) {
  const std::size_t encoders = layers_of(parameters, "encoder."),
                    decoders = layers_of(parameters, "decoder.");
  const std::string first = encoders > 0 ? "encoder.1." : "decoder.1.";
  const std::size_t of_output = size_of(parameters, "output.w", 1);
  return {.layers = std::max(encoders, decoders),
          .d_model = size_of(parameters, first + "self_attention.w_q", 0),
          .heads = heads,
          .d_ff = size_of(parameters, first + "feed_forward.w_1", 1),
          .source_words = size_of(parameters, "source_embedding.e", 0),
          .target_words = of_output ? of_output : size_of(parameters, "target_embedding.e", 0),
          .places = std::max(size_of(parameters, "source_positions.table", 0),
                             size_of(parameters, "target_positions.table", 0))};
}

void require_sizes(const TransformerSizes& sizes, const std::string& where) {
  if (sizes.d_model == 0 || sizes.d_ff == 0) {
    fail("{}: its first layer has no {}: every layer needs it", where,
         sizes.d_model == 0 ? "self_attention.w_q" : "feed_forward.w_1");
  }
  if (sizes.d_model % sizes.heads != 0) {
    fail("{}: {} heads cannot share the {} numbers of d_model equally: give a number that divides them",
         where, sizes.heads, sizes.d_model);
  }
}

void require_rows(const Transformer& model, const ParameterSet& parameters, const std::string& where) {
  const bool has_encoder = layers_of(parameters, "encoder.") > 0;
  std::vector<ParameterRow> rows = parameter_rows(*model.kind, model.sizes);
  std::vector<std::string> names;
  for (const ParameterRow& row : rows) {
    names.push_back(row.name);
    const auto found = parameters.find(row.name);
    if (found == parameters.end()) {
      const bool without_encoder = !has_encoder && row.name.starts_with("encoder.");
      if (row.optional || without_encoder) continue;
      fail("{} holds no \"{}\" ({}): every layer needs it", where, row.name, to_string(row.shape));
    }
    if (shape_of(found->second) == row.shape) continue;
    fail("{}: \"{}\" is {}, and {} is expected: save it again in that shape", where, row.name,
         to_string(shape_of(found->second)), to_string(row.shape));
  }
  for (const auto& [name, matrix] : parameters) {
    if (std::ranges::find(names, name) != names.end()) continue;
    fail("{} holds \"{}\", which has no place in this model{}: leave it out", where, name,
         did_you_mean(name, names));
  }
}

void require_norms(const Transformer& model, const std::string& where) {
  for (const ParameterRow& row : parameter_rows(*model.kind, model.sizes)) {
    const bool of_layer = row.name.find(".norm_") != std::string::npos && row.name.ends_with(".gamma");
    const bool without_encoder =
        !model.parameters.contains("encoder.1.self_attention.w_q") && row.name.starts_with("encoder.");
    const bool has = model.parameters.contains(row.name);
    if (!of_layer || without_encoder || has == model.norm->in_layers) continue;
    if (has) fail("{} holds \"{}\", and the norm is \"none\": leave out one of them", where, row.name);
    fail("{} holds no \"{}\" ({}): give it, or \"norm\": \"none\"", where, row.name, to_string(row.shape));
  }
}

void require_vocabulary(const std::vector<std::string>& words, std::size_t rows, std::string_view which,
                        const std::string& where) {
  if (words.empty() || rows == 0 || words.size() == rows) return;
  fail("{}: the {} vocabulary has {} words, and its parameters have {}", where, which, words.size(), rows);
}

}  // namespace

void take_parameters(Transformer& model, ParameterSet parameters, const std::string& where) {
  require_layers(parameters, where);
  model.kind = &kind_of(parameters, where);
  model.sizes = sizes_of(parameters, model.sizes.heads);
  require_sizes(model.sizes, where);
  require_rows(model, parameters, where);
  require_vocabulary(model.source_vocabulary, model.sizes.source_words, "source", where);
  require_vocabulary(model.target_vocabulary, model.sizes.target_words, "target", where);
  for (auto& [name, matrix] : parameters) {
    model.parameters.emplace(name, std::make_shared<const Matrix>(std::move(matrix)));
  }
  require_norms(model, where);
}

TransformerFile read_transformer(std::string_view json, const std::string& where) {
  const Json file = parse_json(json, where);
  if (!file.is_object()) fail("{}: a model is an object with \"heads\" and \"parameters\"", where);
  TransformerFile result;
  result.model.norm = &norm_placements().front();
  result.model.sizes.heads = 1;
  std::vector<std::string> names = names_of(std::span<const Member>(members));
  names.emplace_back("parameters");
  for (const auto& [name, value] : file.items()) {
    if (name == "parameters") continue;
    const Member* member = find_row(std::span<const Member>(members), name);
    if (!member) fail("{}: there is no member \"{}\"{}", where, name, did_you_mean(name, names));
    member->take(result, value, where);
  }
  if (!file.contains("parameters")) fail("{}: a model needs \"parameters\", matrices by name", where);
  take_parameters(result.model, parameters_of(file["parameters"], where), where);
  return result;
}

void require_drawable(const Transformer& model) {
  double cells = 0.0;  // of any size that can be asked for
  for (const ParameterRow& row : parameters_of(model)) {
    cells += static_cast<double>(row.shape.rows) * static_cast<double>(row.shape.columns);
  }
  if (cells <= static_cast<double>(most_cells)) return;
  fail(
      "the model would have {:.4g} numbers, more than the {} that are drawn: choose it smaller, or see its "
      "--outline",
      cells, most_cells);
}

void draw_parameters(Transformer& model, std::uint32_t seed) {
  require_drawable(model);
  const std::unique_ptr<RandomSource> random = random_kinds().front().make(seed);
  const std::vector<ParameterRow> rows = parameters_of(model);
  for (const ParameterRow& row : rows) {
    const auto draw = [&]() -> Matrix {
      switch (row.beginning) {
        case Beginning::map:
          return random->parameter(row.shape);
        case Beginning::vectors:
          return random->embeddings(row.shape);
        case Beginning::zeros:
          return make_matrix(row.shape, 0.0);
        case Beginning::ones:
          return make_matrix(row.shape, 1.0);
      }
      return make_matrix(row.shape, 0.0);
    };
    model.parameters.emplace(row.name, std::make_shared<const Matrix>(draw()));
  }
}

}  // namespace attn
