#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/math/random.hpp"
#include "core/model/encoder_decoder.hpp"
#include "data/files/safetensors.hpp"
#include "data/problem/model_file.hpp"

namespace attn {

/// A sentence and its correct translation, without <end>.
struct SentencePair {
  std::string source, target;
};

/// An encoder-decoder with a sentence to translate, as a file describes it: one cell, and the matrices that
/// all variants share beside those of each variant alone.
struct EncoderDecoderFile {
  using Matrices = std::map<std::string, Matrix, std::less<>>;

  std::string where;  // the file as the reader typed it, for messages
  std::string title;
  std::vector<std::string> about;
  std::vector<std::string> numbers;  // paragraphs: how they were chosen
  std::string cell, variant;         // names of rows; empty: not told
  std::string source, target;        // sentences; empty: not told
  std::vector<std::string> source_words, target_words, features;
  std::vector<SentencePair> sentences;  // whose translations are known; may be empty
  Matrices parameters;                  // of all variants
  std::map<std::string, Matrices, std::less<>> variants;
};

/// An encoder-decoder and the two sentences between which it is followed.
struct Translation {
  std::string title;
  std::vector<std::string> about;
  std::vector<std::string> numbers;  // how they were chosen; empty: they are random, or nothing is said
  std::string on_random = {};        // a sentence on what is random; empty: nothing is
  DrawnMatrices drawings = {};       // of what is
  EncoderDecoder model;
  Ids source, target;
  bool is_forced = false;                        // the target was given, and not found by the model
  std::vector<ReferenceTranslation> known = {};  // the correct translations that the file gives
};

/// Reads a file, as JSON, or as .safetensors whose metadata have all but the parameters. Throws InputError:
/// neither of them, an unknown member, a value of the wrong kind, a word that stands twice in a vocabulary, a
/// vocabulary without <end> or <start>.
EncoderDecoderFile read_encoder_decoder(std::string_view bytes, const std::string& where);

/// What a file says beside its matrices, as the metadata of a .safetensors file have it. It has one variant.
SafetensorsMetadata metadata_of(const EncoderDecoderFile& file);

/// The file's encoder-decoder with this variant and this cell. Throws InputError: a cell or variant that the
/// file has no matrices for, a matrix that is missing, superfluous, of another shape or not finite.
EncoderDecoder encoder_decoder_of(const EncoderDecoderFile& file, const AlignmentVariant& variant,
                                  const Recurrence& cell);

/// The sentences of a file as ids. Throws InputError: a word that the vocabulary has not.
std::vector<ReferenceTranslation> reference_translations(const EncoderDecoderFile& file);

/// Draws all matrices of an encoder-decoder whose words and sizes are told, each word by itself; biases are zeros.
/// Throws InputError when they would have more cells than a file may hold.
void draw_parameters(EncoderDecoder& model, RandomSource& random);

}  // namespace attn
