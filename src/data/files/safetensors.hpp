#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/math/matrix.hpp"
#include "core/support/outside.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

/// What the header of a .safetensors file says about one tensor: believed only where it has been checked.
struct SafetensorsEntry {
  std::string name;
  std::optional<std::string> type;
  std::optional<std::vector<std::uint64_t>> shape;
  std::optional<std::vector<std::uint64_t>> offsets;  // where its elements begin and end behind the header
};

/// What a header says of the whole file, under __metadata__: texts by name.
using SafetensorsMetadata = std::map<std::string, std::string, std::less<>>;

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in its order
  SafetensorsMetadata metadata;
};

/// Throws InputError: not JSON, not an object of tensors, a name twice.
SafetensorsHeader read_safetensors_header(std::string_view json, const std::string& where);

/// A matrix to be written: with one dimension when it is a vector, which has one row.
struct WrittenTensor {
  std::string name;
  const Matrix* matrix;
  std::size_t dimensions;
};

/// How exactly a number is written: with all of its digits, or as a float of half the size.
enum class FloatSize : std::size_t { four_bytes = 4, eight_bytes = 8 };

/// Whether bytes are a .safetensors file and no JSON.
bool is_safetensors(std::string_view bytes);

/// The header of a file with these tensors, one after the other. Throws OutputError as write_safetensors
/// does.
std::string safetensors_header(const std::vector<WrittenTensor>& tensors, const SafetensorsMetadata& metadata,
                               FloatSize size);

/// One tensor of a .safetensors file: what its header says, checked against the bytes that are there. A
/// vector is one row.
struct Safetensor {
  std::string name;
  const ElementType* type;
  Shape shape;                // of all matrices below each other
  std::size_t count;          // of matrices, where there are three dimensions or four
  std::size_t outer;          // the first size of four; 1: there are fewer
  std::string_view elements;  // within the file's bytes, which must outlive it
  bool is_vector = false;     // of one dimension
};

/// Whether the numbers of tensors are to be made, of which there may be most_cells at most; or stay where they are, in
/// any number.
enum class TensorCells { made, stored };

/// The tensors of a file in the order of their elements, by the format of huggingface/safetensors: eight
/// bytes for the header's length, a JSON header, the elements without gaps. Nothing that the header says is
/// believed before it has been checked. Throws InputError: damaged, no tensors, a type that is no real
/// number, more than `most_dimensions` dimensions, more than most_cells cells that are made. Of tensors that are
/// not wanted only the place is checked, and they are left out.
std::vector<Safetensor> safetensors_in(
    std::string_view bytes, const std::string& where,
    const std::function<bool(const std::string& name)>& is_wanted = [](const std::string&) { return true; },
    std::size_t most_dimensions = 2, TensorCells cells = TensorCells::made);

/// The names alone, in the header's order, before anything is said about shapes and types.
/// Throws InputError: damaged, or no tensors.
std::vector<std::string> safetensors_names(std::string_view bytes, const std::string& where);

/// What the header says of the whole file. Throws InputError: damaged, or no tensors.
SafetensorsMetadata safetensors_metadata(std::string_view bytes, const std::string& where);

/// The cells of a tensor; infinities and NaN are taken as they are.
Matrix matrix_from(const Safetensor& tensor);
/// The same numbers where they are, as long as the holder lives, if they may stay there. Throws InputError where they
/// may not, and are too many.
Matrix stored_matrix_from(const Safetensor& tensor, const std::shared_ptr<const void>& holder);
/// The same, with what is known of its cells.
MatrixFile file_from(const Safetensor& tensor);

/// Writes a .safetensors file, the tensors in the given order. The same bytes every time.
/// Throws OutputError when a name is not UTF-8, or is the one that the format keeps for itself.
void write_safetensors(const std::vector<WrittenTensor>& tensors, Sink& sink, const SafetensorsMetadata& metadata = {},
                       FloatSize size = FloatSize::eight_bytes);

}  // namespace attn
