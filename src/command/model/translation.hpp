#pragma once

#include "command/command.hpp"
#include "problem/encoder_decoder_file.hpp"

namespace attn {

/// The file or the built-in example that --parameters or --example names.
EncoderDecoderFile encoder_decoder_file_of(const Arguments& arguments);

/// What the options of attn align ask for: a file, the built-in example, or with --seed or --hidden random
/// matrices. Throws InputError: options that exclude each other, words that the model does not know,
/// sentences too long for the memory that all steps would need.
Translation translation_of(const Arguments& arguments);

}  // namespace attn
