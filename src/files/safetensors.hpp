#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "files/cells.hpp"
#include "files/safetensors_header.hpp"
#include "math/matrix.hpp"
#include "support/sink.hpp"

namespace attn {

/// A type of element of .safetensors files and how one becomes a double.
struct SafetensorsType {
  std::string_view name;
  std::size_t bytes;
  CellKind kind;
  Precision precision;
  double (*decode)(const unsigned char* element);
};

/// One tensor of a .safetensors file: what its header says, checked against the bytes that are there. A
/// vector is one row.
struct Safetensor {
  std::string name;
  const SafetensorsType* type;
  Shape shape;                // of all matrices below each other
  std::size_t count;          // of matrices, where there are three dimensions
  std::string_view elements;  // within the file's bytes, which must outlive it
};

/// The tensors of a file in the order of their elements, by the format of huggingface/safetensors: eight
/// bytes for the header's length, a JSON header, the elements without gaps. Nothing that the header says is
/// believed before it has been checked. Throws InputError: damaged, no tensors, a type that is no real
/// number, more than `most_dimensions` dimensions, more than most_cells cells. Of tensors that are
/// not wanted only the place is checked, and they are left out.
std::vector<Safetensor> safetensors_in(
    std::string_view bytes, const std::string& where,
    const std::function<bool(const std::string& name)>& is_wanted = [](const std::string&) { return true; },
    std::size_t most_dimensions = 2);

/// The names alone, in the header's order, before anything is said about shapes and types.
/// Throws InputError: damaged.
std::vector<std::string> safetensors_names(std::string_view bytes, const std::string& where);

/// What the header says of the whole file. Throws InputError: damaged.
SafetensorsMetadata safetensors_metadata(std::string_view bytes, const std::string& where);

/// The cells of a tensor; infinities and NaN are taken as they are.
Matrix matrix_from(const Safetensor& tensor);

/// Writes a .safetensors file, the tensors in the given order. The same bytes every time.
/// Throws OutputError when a name is not UTF-8, or is the one that the format keeps for itself.
void write_safetensors(const std::vector<WrittenTensor>& tensors, Sink& sink,
                       const SafetensorsMetadata& metadata = {}, FloatSize size = FloatSize::eight_bytes);

}  // namespace attn
