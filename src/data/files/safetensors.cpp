#include "data/files/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "core/math/stored_matrix.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/npy.hpp"

namespace attn {

namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t longest_header = std::uint64_t{1} << 24;

// The header and what follows it.
struct Halves {
  std::string_view header;
  std::string_view elements;
};

Halves halves_of(std::string_view bytes, const std::string& where) {
  if (bytes.size() < length_bytes) {
    fail("{} has {} bytes, too few for a .safetensors file: the file is incomplete, save it again", where,
         bytes.size());
  }
  const auto length = little_endian<std::uint64_t>(reinterpret_cast<const unsigned char*>(bytes.data()));
  bytes.remove_prefix(length_bytes);
  if (length > bytes.size()) {
    fail("{} should have a header of {} bytes, but has only {} bytes: it is not a .safetensors file, or incomplete",
         where, length, bytes.size());
  }
  if (length > longest_header) {
    fail("{} has a header of {} bytes, more than the limit of {}: split it into several files", where, length,
         longest_header);
  }
  return {bytes.substr(0, length), bytes.substr(length)};
}

// What the header of a file says.
SafetensorsHeader header_of(std::string_view header, const std::string& where) {
  SafetensorsHeader read = read_safetensors_header(header, where);
  if (read.entries.empty()) fail("{} has no tensors: save at least one", where);
  return read;
}

const ElementType& safetensors_type_of(const SafetensorsEntry& entry, const std::string& where) {
  if (const ElementType* type = find_element_type(&ElementType::safetensors, *entry.type)) return *type;
  fail("{}: the tensor {} has elements of the type {}, which cannot be read: convert it to F32 first", where,
       name_in_quotes(entry.name), in_quotes(*entry.type));
}

Shape shape_of(const SafetensorsEntry& entry, std::size_t most_dimensions, TensorCells cells,
               const std::string& where) {
  constexpr std::size_t most_stored = std::size_t{1} << 48;  // more than any file has, and few enough to count bytes
  const std::size_t most = cells == TensorCells::stored ? most_stored : most_cells;
  const std::vector<std::size_t> sizes = without_single_ones(*entry.shape);
  if (sizes.empty() || sizes.size() > most_dimensions) {
    fail("{}: the tensor {} has {}: give a matrix (2 dimensions) or a vector (1 dimension)", where,
         name_in_quotes(entry.name), count_of(entry.shape->size(), "dimension"));
  }
  Shape shape{1, sizes.back()};
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i)
    shape.rows = sizes[i] > 0 && shape.rows > most / sizes[i] ? most + 1 : shape.rows * sizes[i];
  if (shape.rows == 0 || shape.columns == 0) {
    fail("{}: the tensor {} is empty, of shape {}: leave it out", where, name_in_quotes(entry.name), to_string(shape));
  }
  if (shape.rows > most / shape.columns) {
    fail("{}: the tensor {} has more than {} cells: give a smaller one", where, name_in_quotes(entry.name), most);
  }
  return shape;
}

// The elements of an entry, which lie within those of the file.
std::string_view elements_of(const SafetensorsEntry& entry, std::string_view elements, const std::string& where) {
  const std::vector<std::uint64_t>& offsets = *entry.offsets;
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > elements.size()) {
    fail("{}: the tensor {} lies outside the {} bytes of elements: the file is incomplete, save it again", where,
         name_in_quotes(entry.name), elements.size());
  }
  return elements.substr(offsets[0], offsets[1] - offsets[0]);
}

// The number of cells is small enough for no product to overflow.
Safetensor tensor_of(const SafetensorsEntry& entry, std::string_view elements, std::size_t most_dimensions,
                     TensorCells cells, const std::string& where) {
  const ElementType& type = safetensors_type_of(entry, where);
  const Shape shape = shape_of(entry, most_dimensions, cells, where);
  const std::string_view own = elements_of(entry, elements, where);
  if (own.size() != shape.cells() * type.bytes) {
    fail("{}: the tensor {} has {} bytes, but its shape {} in {} takes {}: the file is damaged, save it again", where,
         name_in_quotes(entry.name), own.size(), to_string(shape), type.safetensors, shape.cells() * type.bytes);
  }
  const std::vector<std::size_t> sizes = without_single_ones(*entry.shape);
  std::size_t count = 1;
  for (std::size_t i = 0; i + 2 < sizes.size(); ++i) count *= sizes[i];
  return {entry.name,
          &type,
          shape,
          count,
          sizes.size() == most_array_dimensions ? sizes.front() : 1,
          own,
          entry.shape->size() == 1};
}

// The format has every byte belong to one tensor.
void require_no_gaps(const std::vector<Safetensor>& tensors, std::string_view elements, const std::string& where) {
  const char* end = elements.data();
  for (const Safetensor& tensor : tensors) {
    if (tensor.elements.data() != end) {
      fail("{}: the tensor {} {}: the file is damaged, save it again", where, name_in_quotes(tensor.name),
           tensor.elements.data() < end ? "overlaps the one before it" : "does not follow the one before it");
    }
    end += tensor.elements.size();
  }
  if (const auto rest = static_cast<std::size_t>(elements.data() + elements.size() - end); rest > 0) {
    fail("{}: {} after the last tensor belong to no tensor: the file is damaged, save it again", where,
         count_of(rest, "byte"));
  }
}

void require_few_cells(const std::vector<Safetensor>& tensors, const std::string& where) {
  std::size_t cells = 0;
  for (const Safetensor& tensor : tensors) cells += tensor.shape.cells();  // at most one per byte of the file
  if (cells > most_cells) {
    fail("{} has {} cells, more than the limit of {}: split it into several files", where, cells, most_cells);
  }
}

std::vector<Assumption> assumptions_of_tensor(const Safetensor& tensor) {
  std::vector<Assumption> all = {elements_of_type(tensor.type->safetensors)};
  if (tensor.is_vector) all.push_back(vector_as_row(tensor.shape.columns));
  const auto* const begin = reinterpret_cast<const unsigned char*>(tensor.elements.data());
  for (std::size_t i = 0; tensor.type->is_rounded && i < tensor.shape.cells(); ++i) {
    const unsigned char* const element = begin + i * tensor.type->bytes;
    if (!tensor.type->is_rounded(element)) continue;
    all.push_back(rounded_to_double(fmt::format("a number near {}", tensor.type->decode(element))));
    break;
  }
  return all;
}

// What of a file is no matrix, by name, and why: an empty tensor, or one of a type that is no real number.
std::map<std::string, std::string> refused_tensors(std::string_view bytes, const std::string& where) {
  std::map<std::string, std::string> refused;
  for (const SafetensorsEntry& entry : read_safetensors_header(halves_of(bytes, where).header, where).entries) {
    try {
      safetensors_type_of(entry, where);
      shape_of(entry, most_array_dimensions, TensorCells::made, where);
    } catch (const InputError& error) {
      refused.emplace(entry.name, error.what());
    }
  }
  return refused;
}

std::vector<Safetensor> tensors_but(const std::map<std::string, std::string>& refused, std::string_view bytes,
                                    const std::string& where) {
  const auto is_matrix = [&](const std::string& name) { return !refused.contains(name); };
  return safetensors_in(bytes, where, is_matrix, most_array_dimensions);
}

void write_float32_cells(const Matrix& matrix, Sink& sink) {
  for (const double cell : cells(matrix)) {
    auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(cell));
    for (std::size_t i = 0; i < sizeof(bits); ++i, bits >>= 8U) sink.block() += static_cast<char>(bits & 0xFFU);
    sink.spill();
  }
}

}  // namespace

std::vector<Safetensor> safetensors_in(std::string_view bytes, const std::string& where,
                                       const std::function<bool(const std::string& name)>& is_wanted,
                                       std::size_t most_dimensions, TensorCells cells) {
  const auto [header, elements] = halves_of(bytes, where);
  std::vector<Safetensor> tensors;
  for (const SafetensorsEntry& entry : header_of(header, where).entries) {
    tensors.push_back(is_wanted(entry.name)
                          ? tensor_of(entry, elements, most_dimensions, cells, where)
                          : Safetensor{entry.name, nullptr, {0, 0}, 1, 1, elements_of(entry, elements, where)});
  }
  std::ranges::sort(tensors, {}, [](const Safetensor& tensor) { return tensor.elements.data(); });
  require_no_gaps(tensors, elements, where);
  if (cells == TensorCells::made) require_few_cells(tensors, where);
  std::erase_if(tensors, [](const Safetensor& tensor) { return tensor.type == nullptr; });
  return tensors;
}

bool is_safetensors(std::string_view bytes) {
  return bytes.size() > length_bytes && bytes[length_bytes] == '{' &&
         bytes.substr(0, length_bytes).find('\0') != std::string_view::npos;
}

std::vector<std::string> safetensors_names(std::string_view bytes, const std::string& where) {
  std::vector<std::string> names;
  for (SafetensorsEntry& entry : header_of(halves_of(bytes, where).header, where).entries) {
    names.push_back(std::move(entry.name));
  }
  return names;
}

SafetensorsMetadata safetensors_metadata(std::string_view bytes, const std::string& where) {
  return header_of(halves_of(bytes, where).header, where).metadata;
}

Matrix matrix_from(const Safetensor& tensor) {
  Matrix matrix(tensor.shape);
  const auto* element = reinterpret_cast<const unsigned char*>(tensor.elements.data());
  for (double& cell : cells(matrix)) {
    cell = tensor.type->decode(element);
    element += tensor.type->bytes;
  }
  return matrix;
}

Matrix stored_matrix_from(const Safetensor& tensor, const std::shared_ptr<const void>& holder) {
  if (!tensor.type->stored || !holder) {
    require_size(tensor.name, tensor.shape);
    return matrix_from(tensor);
  }
  return Matrix(StoredMatrix{.type = tensor.type->stored,
                             .elements = reinterpret_cast<const std::byte*>(tensor.elements.data()),
                             .holder = holder,
                             .shape = tensor.shape,
                             .line = tensor.shape.columns});
}

MatrixFile file_from(const Safetensor& tensor) {
  return {.matrix = matrix_from(tensor),
          .kind = tensor.type->kind,
          .precision = tensor.type->precision,
          .count = tensor.count,
          .outer = tensor.outer,
          .assumed = assumptions_of_tensor(tensor)};
}

MatrixFile read_safetensors(std::string_view bytes, std::string_view key, const std::string& where) {
  const std::vector<std::string> names = safetensors_names(bytes, where);
  const std::string& chosen = names[choose_matrix(names, key, where)];
  const std::vector<Safetensor> tensors = safetensors_in(
      bytes, where, [&](const std::string& name) { return name == chosen; }, most_array_dimensions);
  return file_from(tensors.front());
}

// Together they are few enough, or they are refused.
std::size_t count_cells_of_safetensors(std::string_view bytes, const std::string& where) {
  std::size_t cells = 0;
  for (const Safetensor& tensor : tensors_but(refused_tensors(bytes, where), bytes, where))
    cells += tensor.shape.cells();
  return cells;
}

std::vector<MatrixFile> read_all_safetensors(std::string_view bytes, const std::string& where) {
  const std::map<std::string, std::string> refused = refused_tensors(bytes, where);
  std::vector<MatrixFile> all;
  for (const Safetensor& tensor : tensors_but(refused, bytes, where)) {
    all.push_back(file_from(tensor));
    all.back().name = tensor.name;
  }
  for (const auto& [name, reason] : refused) all.push_back({.name = name, .refused = reason});
  return all;
}

void write_safetensors(const std::vector<WrittenTensor>& tensors, Sink& sink, const SafetensorsMetadata& metadata,
                       FloatSize size) {
  const std::string header = safetensors_header(tensors, metadata, size);
  std::string length;
  for (std::size_t rest = header.size(); length.size() < 8; rest >>= 8U) {
    length += static_cast<char>(rest & 0xFFU);
  }
  sink.write(length);
  sink.write(header);
  for (const WrittenTensor& tensor : tensors) {
    if (size == FloatSize::four_bytes) {
      write_float32_cells(*tensor.matrix, sink);
    } else {
      write_npy_cells(*tensor.matrix, sink);
    }
  }
}

}  // namespace attn
