#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/math/matrix.hpp"
#include "data/files/mapped_file.hpp"

namespace attn {

// Files of models in the format of ggml (ggml-org/ggml, docs/gguf.md), versions 2 and 3: metadata, and tensors by name.

/// Whether bytes begin like such a file.
bool is_gguf(std::string_view bytes);

/// A list in the metadata, which stays where it is.
struct GgufList {
  std::uint32_t type = 0;
  std::uint64_t count = 0;
  std::string_view bytes;
};
using GgufValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string_view, GgufList>;

/// The texts of a list, such as the pieces of a tokenizer (`tokenizer.ggml.tokens`); nothing: it has others.
std::optional<std::vector<std::string_view>> texts_of(const GgufList& list);
/// Its numbers (`tokenizer.ggml.scores`); nothing: it has others.
std::optional<std::vector<double>> numbers_of(const GgufList& list);

/// A tensor as the header says it, checked against the bytes that are there.
struct GgufTensor {
  std::string_view name;
  std::uint32_t type = 0;
  std::vector<std::uint64_t> sizes;  // the outermost first
  std::uint64_t offset = 0;          // among the bytes of all tensors
};

/// What the header of a file says. Its texts are parts of the file.
struct GgufFile {
  std::map<std::string_view, GgufValue, std::less<>> metadata;
  std::vector<GgufTensor> tensors;
  std::string_view data;  // of all tensors

  const std::string_view* text(std::string_view name) const;
};

/// Throws InputError: another version, or damaged. Nothing is believed before it was checked; time and memory grow with
/// the bytes of the header.
GgufFile read_gguf(std::string_view bytes, const std::string& where);

/// A tensor where it is, or made where its numbers cannot stay there. Throws InputError: of more than two dimensions,
/// of a type that is not read, which it names, or outside of the file.
Matrix matrix_from(const GgufTensor& tensor, const GgufFile& file, const std::shared_ptr<const void>& holder,
                   const std::string& where);

}  // namespace attn
