#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command/command.hpp"
#include "model/encoder_decoder.hpp"

namespace attn {

/// An encoder-decoder and the two sentences between which it is followed.
struct Translation {
  std::string title;
  std::vector<std::string> about;
  std::vector<std::string> numbers;  // how they were chosen; empty: they are random, or nothing is said
  EncoderDecoder model;
  Ids source, target;
  bool is_forced = false;  // the target was given, and not found by the model
};

/// What the options of attn align ask for: a file, the built-in example, or with --seed or --hidden random
/// matrices. Throws InputError: options that exclude each other, words that the model does not know,
/// sentences too long for the memory that all steps would need.
Translation translation_of(const Arguments& arguments);

}  // namespace attn
