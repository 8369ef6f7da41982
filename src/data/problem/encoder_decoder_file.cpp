#include "data/problem/encoder_decoder_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/json.hpp"
#include "data/parameters/source.hpp"
#include "data/parameters/transformer_parameters.hpp"
#include "data/problem/model_file.hpp"
#include "data/problem/model_words.hpp"

namespace attn {

namespace {

using Matrices = EncoderDecoderFile::Matrices;

std::vector<SentencePair> pairs_of(const JsonMember& member) {
  std::vector<SentencePair> pairs;
  const std::string wanted =
      fmt::format("{} must be a list of pairs, each a sentence and its translation", member.place);
  if (!member.value.is_array() || member.value.empty()) fail("{}", wanted);
  for (const Json& item : member.value) {
    if (!item.is_array() || item.size() != 2) fail("{}", wanted);
    pairs.push_back({string_of({item[0], member.place}), string_of({item[1], member.place})});
  }
  return pairs;
}

void check_finite(const Matrix& matrix, const std::string& name, const std::string& where) {
  for (const double cell : cells(matrix)) {
    if (!std::isfinite(cell)) fail("{}: {} holds {}: every number must be finite", where, name, cell);
  }
}

Matrices matrices_of(const JsonMember& member) {
  if (!member.value.is_object()) fail("{} must be an object of matrices by name", member.place);
  Matrices matrices;
  for (const auto& [name, value] : member.value.items()) {
    const std::string place = fmt::format("{}: {}", member.place, in_quotes(name));
    check_finite(matrices.emplace(name, matrix_from_json(value, place).matrix).first->second, in_quotes(name),
                 member.place);
  }
  return matrices;
}

std::map<std::string, Matrices, std::less<>> variants_of(const JsonMember& member) {
  if (!member.value.is_object()) fail("{} must be an object with a member for each variant", member.place);
  std::map<std::string, Matrices, std::less<>> variants;
  for (const auto& [name, value] : member.value.items()) {
    look_up(alignment_variants(), name, "variant", member.place);
    variants.emplace(name, matrices_of({value, fmt::format("{}: {}", member.place, in_quotes(name))}));
  }
  return variants;
}

std::string recurrent_cell_of(const JsonMember& member) {
  return std::string(look_up(recurrences(), string_of(member), "cell", member.place).name);
}

std::string variant_of(const JsonMember& member) {
  return std::string(look_up(alignment_variants(), string_of(member), "variant", member.place).name);
}

// A member of a file, and how it is read.
struct FileMember {
  std::string_view name;
  void (*read)(EncoderDecoderFile& file, const JsonMember& member);
};

template <auto member, auto read>
void read_into(EncoderDecoderFile& file, const JsonMember& value) {
  file.*member = read(value);
}

constexpr std::array members_of_translator = {
    FileMember{"title", read_into<&EncoderDecoderFile::title, string_of>},
    FileMember{"about", read_into<&EncoderDecoderFile::about, strings_of>},
    FileMember{"numbers", read_into<&EncoderDecoderFile::numbers, strings_of>},
    FileMember{"cell", read_into<&EncoderDecoderFile::cell, recurrent_cell_of>},
    FileMember{"variant", read_into<&EncoderDecoderFile::variant, variant_of>},
    FileMember{"source", read_into<&EncoderDecoderFile::source, string_of>},
    FileMember{"target", read_into<&EncoderDecoderFile::target, string_of>},
    FileMember{"source_words", read_into<&EncoderDecoderFile::source_words, different_strings_of>},
    FileMember{"target_words", read_into<&EncoderDecoderFile::target_words, different_strings_of>},
    FileMember{"features", read_into<&EncoderDecoderFile::features, different_strings_of>},
    FileMember{"sentences", read_into<&EncoderDecoderFile::sentences, pairs_of>},
    FileMember{"parameters", read_into<&EncoderDecoderFile::parameters, matrices_of>},
    FileMember{"variants", read_into<&EncoderDecoderFile::variants, variants_of>},
};

void require_word(const EncoderDecoderFile& file, std::string_view list, const std::vector<std::string>& words,
                  std::string_view word) {
  if (std::ranges::find(words, word) != words.end()) return;
  fail("{}: \"{}\" must be the list of all words of the vocabulary, including {}", file.where, list, word);
}

// A matrix from whose shape sizes are read.
const Matrix& telling(const EncoderDecoder& model, const Name& of, const std::string& where) {
  const std::string name = of.text();
  const auto found = model.parameters.find(name);
  if (found == model.parameters.end()) fail("{}: the matrix {} is missing: put it under \"parameters\"", where, name);
  return *found->second;
}

void check_matrices(const EncoderDecoder& model, const std::string& where) {
  std::vector<std::string> names;
  for (const ExpectedMatrix& expected : expected_matrices(model)) {
    names.push_back(expected.name);
    const Shape shape = expected.frame.shape;
    const auto found = model.parameters.find(expected.name);
    if (found == model.parameters.end()) {
      const bool in_words = !expected.shape_in_words.empty();
      fail("{}: the matrix {} is missing: with the cell {} and the variant {}, it {} {}", where, expected.name,
           model.cell->name, model.variant->name, in_words ? "has" : "is",
           in_words ? std::string(expected.shape_in_words) : to_string(shape));
    }
    if (!expected.shape_in_words.empty() || found->second->shape() == shape) continue;
    fail("{}: {} is {} and must be {}", where, expected.name, to_string(found->second->shape()), to_string(shape));
  }
  for (const auto& [name, matrix] : model.parameters) {
    if (std::ranges::find(names, name) != names.end()) continue;
    fail("{}: a model with the cell {} and the variant {} has no matrix {}{}: leave it out", where, model.cell->name,
         model.variant->name, in_quotes(name), did_you_mean(name, names));
  }
}

EncoderDecoderFile encoder_decoder_from(const Json& json, const std::string& where) {
  if (!json.is_object()) fail("{}: an encoder-decoder must be a JSON object with \"parameters\"", where);
  EncoderDecoderFile file;
  file.where = where;
  for (const auto& [name, value] : json.items()) {
    const FileMember* member = find_row(std::span<const FileMember>(members_of_translator), name);
    if (!member) {
      fail("{}: {}", where, unknown("member", name, names_of(std::span<const FileMember>(members_of_translator))));
    }
    member->read(file, {value, fmt::format("{}: \"{}\"", where, name)});
  }
  return file;
}

}  // namespace

EncoderDecoderFile read_encoder_decoder(std::string_view bytes, const std::string& where) {
  EncoderDecoderFile file;
  if (is_safetensors(bytes)) {
    file = encoder_decoder_from(description_in(bytes, model_type::encoder_decoder, where), where);
    const ParameterSource source = learned_matrices({bytes}, where);
    for (const std::string& name : source.names)
      check_finite(file.parameters.emplace(name, source.read(name)).first->second, name_in_quotes(name), where);
  } else {
    file = encoder_decoder_from(parse_json(bytes, where), where);
  }
  require_word(file, "source_words", file.source_words, end_word);
  require_word(file, "target_words", file.target_words, start_word);
  require_word(file, "target_words", file.target_words, end_word);
  return file;
}

SafetensorsMetadata metadata_of(const EncoderDecoderFile& file) {
  Json described = Json::object();
  const auto say = [&](const char* name, const auto& value) {
    if (!value.empty()) described[name] = value;
  };
  say("title", file.title);
  say("about", file.about);
  say("numbers", file.numbers);
  say("cell", file.cell);
  say("variant", file.variant);
  say("source", file.source);
  say("target", file.target);
  say("source_words", file.source_words);
  say("target_words", file.target_words);
  say("features", file.features);
  for (const SentencePair& pair : file.sentences) described["sentences"].push_back({pair.source, pair.target});
  return {{std::string(model_type::encoder_decoder.metadata), described.dump()}};
}

EncoderDecoder encoder_decoder_of(const EncoderDecoderFile& file, const AlignmentVariant& variant,
                                  const Recurrence& cell) {
  EncoderDecoder model{.cell = &cell,
                       .variant = &variant,
                       .source_words = file.source_words,
                       .target_words = file.target_words,
                       .features = file.features};
  const auto put = [&](const Matrices& matrices) {
    for (const auto& [name, matrix] : matrices)
      model.parameters.insert_or_assign(name, std::make_shared<const Matrix>(matrix));
  };
  put(file.parameters);
  const auto own = file.variants.find(variant.name);
  if (own != file.variants.end()) {
    put(own->second);
  } else if (!file.variants.empty()) {
    std::vector<std::string> names;
    for (const auto& [name, matrices] : file.variants) names.push_back(name);
    fail("{} has no matrices for the variant {}. Choose one of: {}; or give --seed N for random matrices", file.where,
         variant.name, fmt::join(names, ", "));
  }
  if (!file.cell.empty() && file.cell != cell.name) {
    fail("{} has matrices for the cell {}, not for {}: leave out --cell, or give --seed N for random matrices",
         file.where, file.cell, cell.name);
  }
  model.source_size = telling(model, Name({scope::encoder}, role::e), file.where).shape().columns;
  model.target_size = telling(model, Name({scope::decoder}, role::e), file.where).shape().columns;
  model.state_size = telling(model, Name({scope::encoder}, role::w_hh), file.where).shape().columns;
  if (!model.features.empty() && model.features.size() != model.state_size) {
    fail("{}: \"features\" has {} names, and a state has size {}: name all of its numbers, or none", file.where,
         model.features.size(), model.state_size);
  }
  check_matrices(model, file.where);
  return model;
}

std::vector<ReferenceTranslation> reference_translations(const EncoderDecoderFile& file) {
  const auto closed = [](const std::string& sentence) {
    std::vector<std::string> words = split_words(sentence);
    words.emplace_back(end_word);
    return words;
  };
  std::vector<ReferenceTranslation> known;
  for (const SentencePair& pair : file.sentences) {
    known.push_back({ids_of(closed(pair.source), file.source_words, "source"),
                     ids_of(closed(pair.target), file.target_words, "target")});
  }
  return known;
}

void draw_parameters(EncoderDecoder& model, RandomSource& random) {
  const std::vector<ExpectedMatrix> expected = expected_matrices(model);
  std::size_t all = 0;
  for (const ExpectedMatrix& matrix : expected) {
    const Shape shape = matrix.frame.shape;
    if (shape.rows <= most_cells / shape.columns) all += shape.cells();
    if (shape.rows <= most_cells / shape.columns && all <= most_cells) continue;
    fail("{} would be {}, and all matrices together would have more than {} cells: give a smaller --hidden",
         matrix.name, to_string(shape), most_cells);
  }
  const auto labels_of = [](const Axis& axis) -> std::span<const std::string> {
    if (!axis.labels) return {};
    return *axis.labels;
  };
  for (const ExpectedMatrix& matrix : expected) {
    const Frame& frame = matrix.frame;
    const RandomMatrix asked{matrix.name, frame.shape, labels_of(frame.rows), labels_of(frame.columns)};
    model.parameters.insert_or_assign(matrix.name,
                                      std::make_shared<const Matrix>(initial_matrix(matrix.beginning, asked, random)));
  }
}

}  // namespace attn
