#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/math/matrix.hpp"
#include "data/files/mapped_file.hpp"

namespace attn {

/// The sizes with which a file of Andrej Karpathy's llama2.c begins: version 0 has them as seven whole numbers of four
/// bytes, and then numbers of type float32 without names (legacy_export in its export.py).
struct Llama2cSizes {
  std::size_t d_model = 0, d_ff = 0, layers = 0, heads = 0, key_heads = 0, words = 0, places = 0;
  bool is_tied = true;  // the output layer is the embeddings

  std::size_t head_size() const { return d_model / heads; }
  std::size_t keys() const { return key_heads * head_size(); }
};

/// Whether bytes are such a file: seven sizes that a model may have, and as many bytes as they need, no more and no
/// less.
bool is_llama2c(std::string_view bytes);
Llama2cSizes llama2c_sizes(std::string_view bytes);

/// A parameter by our own name.
struct Llama2cTensor {
  std::string name;
  Matrix matrix;
};

/// All of them, where they are. The two tables of angles, which follow from the sizes, are left out. Throws InputError
/// where they are too many to be made.
std::vector<Llama2cTensor> llama2c_tensors(const FileBytes& file, const std::string& where);

}  // namespace attn
