#include "data/files/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <vector>

#include "core/math/stored_matrix.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"

namespace attn {

namespace {

constexpr std::string_view gguf_begin = "GGUF";

// Types of values of metadata, by their numbers in the file. A text has a length of eight bytes before it, a list a
// type and a count.
enum class GgufKind { whole, natural, real, boolean, text, list };
struct GgufType {
  std::size_t bytes;
  GgufKind kind;
};
constexpr GgufType gguf_types[] = {
    {1, GgufKind::natural}, {1, GgufKind::whole}, {2, GgufKind::natural}, {2, GgufKind::whole}, {4, GgufKind::natural},
    {4, GgufKind::whole},   {4, GgufKind::real},  {1, GgufKind::boolean}, {0, GgufKind::text},  {0, GgufKind::list},
    {8, GgufKind::natural}, {8, GgufKind::whole}, {8, GgufKind::real},
};
constexpr std::uint32_t type_of_lists = 9;

// Types of the numbers of tensors, by their numbers in the file.
struct GgufNumbers {
  std::uint32_t type;
  std::string_view name;
  const StoredType* stored = nullptr;  // null: not read
};
constexpr GgufNumbers gguf_numbers[] = {
    {0, "F32", &stored_type::float32},
    {1, "F16", &stored_type::float16},
    {2, "Q4_0"},
    {3, "Q4_1"},
    {6, "Q5_0"},
    {7, "Q5_1"},
    {8, "Q8_0", &stored_type::q8_0},
    {9, "Q8_1"},
    {10, "Q2_K"},
    {11, "Q3_K"},
    {12, "Q4_K"},
    {13, "Q5_K"},
    {14, "Q6_K"},
    {15, "Q8_K"},
    {16, "IQ2_XXS"},
    {17, "IQ2_XS"},
    {18, "IQ3_XXS"},
    {19, "IQ1_S"},
    {20, "IQ4_NL"},
    {21, "IQ3_S"},
    {22, "IQ2_S"},
    {23, "IQ4_XS"},
    {24, "I8"},
    {25, "I16"},
    {26, "I32"},
    {27, "I64"},
    {28, "F64", &stored_type::float64},
    {29, "IQ1_M"},
    {30, "BF16", &stored_type::bfloat16},
    {34, "TQ1_0"},
    {35, "TQ2_0"},
    {39, "MXFP4"},
};

// Bytes that are read one after the other.
class GgufBytes {
 public:
  explicit GgufBytes(std::string_view all) : rest_(all), size_(all.size()) {}

  std::size_t left() const { return rest_.size(); }
  std::size_t at() const { return size_ - rest_.size(); }
  bool is_whole() const { return is_whole_; }

  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) {
      is_whole_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::uint64_t number(std::size_t count) {
    std::uint64_t number = 0;
    const std::string_view taken = take(count);
    for (std::size_t i = taken.size(); i-- > 0;) number = number << 8U | static_cast<unsigned char>(taken[i]);
    return number;
  }
  std::string_view text() { return take(number(8)); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  std::size_t size_;
  bool is_whole_ = true;
};

GgufValue number_from_bits(std::uint64_t bits, const GgufType& type) {
  switch (type.kind) {
    case GgufKind::natural:
      return bits;
    case GgufKind::boolean:
      return bits != 0;
    case GgufKind::real:
      return type.bytes == 4 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                             : std::bit_cast<double>(bits);
    default: {
      const auto unused = static_cast<unsigned>(64 - 8 * type.bytes);
      return static_cast<std::int64_t>(bits << unused) >> unused;
    }
  }
}

// Nothing: there is no such type, or the bytes end too early. A list of lists is passed over like others, and its parts
// are not.
std::optional<GgufValue> gguf_value_in(GgufBytes& bytes, std::uint32_t number, bool is_in_list = false) {
  if (number >= std::size(gguf_types)) return std::nullopt;
  const GgufType& type = gguf_types[number];
  if (type.kind == GgufKind::text) {
    const std::string_view text = bytes.text();
    return bytes.is_whole() ? std::optional<GgufValue>(text) : std::nullopt;
  }
  if (type.kind != GgufKind::list) {
    const std::uint64_t bits = bytes.number(type.bytes);
    return bytes.is_whole() ? std::optional<GgufValue>(number_from_bits(bits, type)) : std::nullopt;
  }
  if (is_in_list) return std::nullopt;
  GgufList list{static_cast<std::uint32_t>(bytes.number(4)), bytes.number(8), {}};
  const std::string_view begin = bytes.rest();
  if (!bytes.is_whole() || list.type >= std::size(gguf_types) || list.type == type_of_lists ||
      list.count > bytes.left())
    return std::nullopt;
  const std::size_t each = gguf_types[list.type].bytes;
  if (each > 0) {
    if (list.count > bytes.left() / each) return std::nullopt;
    bytes.take(each * list.count);
  }
  for (std::uint64_t i = 0; each == 0 && i < list.count; ++i) {
    bytes.text();
    if (!bytes.is_whole()) return std::nullopt;
  }
  list.bytes = begin.substr(0, begin.size() - bytes.left());
  return list;
}

// --- the header

constexpr std::uint64_t most_gguf_dimensions = 8;

[[noreturn]] void fail_damaged_gguf(const std::string& where, std::string_view what) {
  fail("{}: {} of its header is damaged, or the file is incomplete: get the file again", where, what);
}

GgufTensor tensor_info_in(GgufBytes& bytes, const std::string& where) {
  GgufTensor tensor;
  tensor.name = bytes.text();
  const std::uint64_t dimensions = bytes.number(4);
  if (!bytes.is_whole() || dimensions > most_gguf_dimensions) fail_damaged_gguf(where, "a tensor");
  for (std::uint64_t i = 0; i < dimensions; ++i) tensor.sizes.insert(tensor.sizes.begin(), bytes.number(8));
  tensor.type = static_cast<std::uint32_t>(bytes.number(4));
  tensor.offset = bytes.number(8);
  if (!bytes.is_whole()) fail_damaged_gguf(where, "a tensor");
  return tensor;
}

std::uint64_t alignment_of(const GgufFile& file, const std::string& where) {
  constexpr std::uint64_t usual = 32, most = std::uint64_t{1} << 20;
  const auto found = file.metadata.find("general.alignment");
  if (found == file.metadata.end()) return usual;
  const auto* const alignment = std::get_if<std::uint64_t>(&found->second);
  if (!alignment || *alignment == 0 || *alignment > most) fail_damaged_gguf(where, "the alignment");
  return *alignment;
}

// How many bytes a tensor takes, as far as its type is one that is read; otherwise one.
std::uint64_t bytes_of_tensor(const GgufTensor& tensor) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  const auto found = std::ranges::find(gguf_numbers, tensor.type, &GgufNumbers::type);
  if (found == std::end(gguf_numbers) || !found->stored) return 1;
  std::uint64_t numbers = 1;
  for (const std::uint64_t size : tensor.sizes) numbers = size > 0 && numbers > most / size ? most : numbers * size;
  const std::uint64_t blocks = numbers / found->stored->block, each = found->stored->bytes;
  return blocks > most / each ? most : blocks * each;
}

// The format has each tensor begin at a multiple of the alignment, and every byte belong to one tensor at most.
void require_tensors_apart(const std::vector<GgufTensor>& tensors, std::uint64_t alignment, const std::string& where) {
  std::vector<const GgufTensor*> in_order;
  for (const GgufTensor& tensor : tensors) {
    if (tensor.offset % alignment != 0)
      fail("{}: the tensor {} begins at byte {}, which is no multiple of the alignment {}: get the file again", where,
           name_in_quotes(tensor.name), tensor.offset, alignment);
    if (bytes_of_tensor(tensor) > 0) in_order.push_back(&tensor);
  }
  std::ranges::sort(in_order, {}, &GgufTensor::offset);
  for (std::size_t i = 1; i < in_order.size(); ++i) {
    if (in_order[i]->offset - in_order[i - 1]->offset >= bytes_of_tensor(*in_order[i - 1])) continue;
    fail("{}: the tensor {} overlaps {}: get the file again", where, name_in_quotes(in_order[i]->name),
         name_in_quotes(in_order[i - 1]->name));
  }
}

// --- a tensor

const GgufNumbers& gguf_numbers_of(const GgufTensor& tensor, const std::string& where) {
  const auto found = std::ranges::find(gguf_numbers, tensor.type, &GgufNumbers::type);
  if (found == std::end(gguf_numbers))
    fail("{}: the tensor {} has numbers of the unknown type {}: convert the model to Q8_0 or F16", where,
         name_in_quotes(tensor.name), tensor.type);
  if (!found->stored)
    fail("{}: the tensor {} has numbers of the type {}, which is not read: convert the model to Q8_0 or F16", where,
         name_in_quotes(tensor.name), found->name);
  return *found;
}

}  // namespace

bool is_gguf(std::string_view bytes) { return bytes.starts_with(gguf_begin); }

std::optional<std::vector<std::string_view>> texts_of(const GgufList& list) {
  if (gguf_types[list.type].kind != GgufKind::text) return std::nullopt;
  std::vector<std::string_view> texts;
  GgufBytes bytes(list.bytes);
  for (std::uint64_t i = 0; i < list.count; ++i) texts.push_back(bytes.text());
  return texts;
}

std::optional<std::vector<double>> numbers_of(const GgufList& list) {
  const GgufType& type = gguf_types[list.type];
  if (type.bytes == 0) return std::nullopt;
  std::vector<double> numbers;
  GgufBytes bytes(list.bytes);
  for (std::uint64_t i = 0; i < list.count; ++i) {
    const GgufValue value = number_from_bits(bytes.number(type.bytes), type);
    numbers.push_back(std::visit(
        [](const auto& one) {
          if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(one)>>) return static_cast<double>(one);
          return 0.0;
        },
        value));
  }
  return numbers;
}

const std::string_view* GgufFile::text(std::string_view name) const {
  const auto found = metadata.find(name);
  return found == metadata.end() ? nullptr : std::get_if<std::string_view>(&found->second);
}

// --- the header

GgufFile read_gguf(std::string_view all, const std::string& where) {
  GgufBytes bytes(all);
  bytes.take(gguf_begin.size());
  const std::uint64_t version = bytes.number(4), tensors = bytes.number(8), values = bytes.number(8);
  if (!bytes.is_whole()) fail_damaged_gguf(where, "the beginning");
  if (version != 2 && version != 3)
    fail("{} is a GGUF file of version {}, and versions 2 and 3 are read: convert the model again", where, version);
  GgufFile file;
  for (std::uint64_t i = 0; i < values; ++i) {
    const std::string_view name = bytes.text();
    const auto type = static_cast<std::uint32_t>(bytes.number(4));
    std::optional<GgufValue> value = bytes.is_whole() ? gguf_value_in(bytes, type) : std::nullopt;
    if (!value) fail_damaged_gguf(where, "a value");
    if (!file.metadata.emplace(name, std::move(*value)).second)
      fail("{}: its header gives {} twice: get the file again", where, name_in_quotes(name));
  }
  for (std::uint64_t i = 0; i < tensors; ++i) file.tensors.push_back(tensor_info_in(bytes, where));
  const std::uint64_t alignment = alignment_of(file, where);
  const std::uint64_t begin = (bytes.at() + alignment - 1) / alignment * alignment;
  if (begin <= all.size()) file.data = all.substr(begin);
  require_tensors_apart(file.tensors, alignment, where);
  return file;
}

// --- a tensor

Matrix matrix_from(const GgufTensor& tensor, const GgufFile& file, const std::shared_ptr<const void>& holder,
                   const std::string& where) {
  const StoredType& type = *gguf_numbers_of(tensor, where).stored;
  const std::vector<std::size_t> sizes = without_single_ones(tensor.sizes);
  if (sizes.empty() || sizes.size() > 2)
    fail("{}: the tensor {} has {}: only matrices and vectors are read", where, name_in_quotes(tensor.name),
         count_of(tensor.sizes.size(), "dimension"));
  const Shape shape{sizes.size() == 1 ? 1 : sizes[0], sizes.back()};
  const std::size_t blocks = shape.columns / type.block;
  if (shape.rows == 0 || shape.columns == 0 || shape.columns % type.block != 0)
    fail("{}: the rows of the tensor {} have {} numbers, which are no whole blocks of {}: get the file again", where,
         name_in_quotes(tensor.name), shape.columns, type.block);
  const std::size_t left = tensor.offset <= file.data.size() ? file.data.size() - tensor.offset : 0;
  if (shape.rows > left / type.bytes / blocks)
    fail("{}: the tensor {} lies outside of the file: the file is incomplete, get it again", where,
         name_in_quotes(tensor.name));
  StoredMatrix stored{.type = &type,
                      .elements = reinterpret_cast<const std::byte*>(file.data.data()) + tensor.offset,
                      .holder = holder,
                      .shape = shape,
                      .line = shape.columns};
  if (holder) return Matrix(std::move(stored));
  require_size(tensor.name, shape);
  Matrix matrix(shape);
  stored.widen_all(matrix.data());
  return matrix;
}

}  // namespace attn
