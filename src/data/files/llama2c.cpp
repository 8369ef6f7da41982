#include "data/files/llama2c.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "core/math/stored_matrix.hpp"
#include "core/support/error.hpp"
#include "data/files/cell_values.hpp"

namespace attn {

namespace {

constexpr std::size_t sizes_in_header = 7, bytes_of_number = 4, bytes_of_sizes = sizes_in_header * bytes_of_number;

// A parameter of all layers, which lie behind each other; or of the model.
struct Llama2cRow {
  std::string_view name;  // ours: of a layer behind its number
  std::size_t (*rows)(const Llama2cSizes& sizes);
  std::size_t (*columns)(const Llama2cSizes& sizes);
  bool is_of_layers = true;
  bool is_map = true;  // stored as (out, in)
};

std::size_t one(const Llama2cSizes&) { return 1; }
std::size_t model(const Llama2cSizes& sizes) { return sizes.d_model; }
std::size_t keys(const Llama2cSizes& sizes) { return sizes.keys(); }
std::size_t inner(const Llama2cSizes& sizes) { return sizes.d_ff; }
std::size_t words(const Llama2cSizes& sizes) { return sizes.words; }
std::size_t places(const Llama2cSizes& sizes) { return sizes.places; }
std::size_t half_a_head(const Llama2cSizes& sizes) { return sizes.head_size() / 2; }
std::size_t untied_words(const Llama2cSizes& sizes) { return sizes.is_tied ? 0 : sizes.words; }

// In the order of the file; those without a name are tables that are not needed.
constexpr bool of_model = false, as_it_lies = false;
constexpr Llama2cRow rows_of_version_0[] = {
    {"target_embedding.e", words, model, of_model, as_it_lies},
    {"norm_1.gamma", one, model, true, as_it_lies},
    {"self_attention.w_q", model, model},
    {"self_attention.w_k", keys, model},
    {"self_attention.w_v", keys, model},
    {"self_attention.w_o", model, model},
    {"norm_2.gamma", one, model, true, as_it_lies},
    {"feed_forward.w_gate", inner, model},
    {"feed_forward.w_2", model, inner},
    {"feed_forward.w_1", inner, model},
    {"decoder.norm.gamma", one, model, of_model, as_it_lies},
    {"", places, half_a_head, of_model, as_it_lies},
    {"", places, half_a_head, of_model, as_it_lies},
    {"output.w", untied_words, model, of_model},
};

// The same in version 1 (version1_export): norms first, and no tables.
constexpr Llama2cRow rows_of_version_1[] = {
    {"norm_1.gamma", one, model, true, as_it_lies},
    {"norm_2.gamma", one, model, true, as_it_lies},
    {"decoder.norm.gamma", one, model, of_model, as_it_lies},
    {"target_embedding.e", words, model, of_model, as_it_lies},
    {"self_attention.w_q", model, model},
    {"self_attention.w_k", keys, model},
    {"self_attention.w_v", keys, model},
    {"self_attention.w_o", model, model},
    {"feed_forward.w_gate", inner, model},
    {"feed_forward.w_2", model, inner},
    {"feed_forward.w_1", inner, model},
    {"output.w", untied_words, model, of_model},
};

// A version, by what stands before the sizes; where the numbers begin; and whether a byte behind the sizes tells that
// the output layer is tied, and not the sign of the vocabulary.
struct Llama2cVersion {
  std::string_view begin;
  std::size_t header_bytes;
  std::span<const Llama2cRow> rows;
  bool has_flag;
};
constexpr Llama2cVersion llama2c_versions[] = {
    {{"24ka\1\0\0\0", 8}, 256, rows_of_version_1, true},
    {"", bytes_of_sizes, rows_of_version_0, false},
};

const Llama2cVersion& version_of(std::string_view bytes) {
  return *std::ranges::find_if(llama2c_versions,
                               [&](const Llama2cVersion& version) { return bytes.starts_with(version.begin); });
}

// Nothing: no model has such sizes.
std::optional<Llama2cSizes> llama2c_sizes_in(std::string_view bytes) {
  const Llama2cVersion& version = version_of(bytes);
  if (bytes.size() <= version.header_bytes) return std::nullopt;
  const std::string_view header = bytes.substr(version.begin.size());
  std::array<std::int64_t, sizes_in_header> numbers{};
  for (std::size_t i = 0; i < sizes_in_header; ++i)
    numbers[i] = static_cast<std::int32_t>(
        little_endian<std::uint32_t>(reinterpret_cast<const unsigned char*>(header.data()) + bytes_of_number * i));
  const bool is_tied = version.has_flag ? header[bytes_of_sizes] != 0 : numbers[5] > 0;
  if (!is_tied && !version.has_flag) numbers[5] = -numbers[5];
  constexpr std::int64_t most = std::int64_t{1} << 24, most_layers = 4096;
  for (const std::int64_t number : numbers) {
    if (number < 1 || number > most) return std::nullopt;
  }
  const auto at = [&](std::size_t i) { return static_cast<std::size_t>(numbers[i]); };
  const Llama2cSizes sizes{at(0), at(1), at(2), at(3), at(4), at(5), at(6), is_tied};
  if (numbers[2] > most_layers || sizes.d_model % sizes.heads != 0 || sizes.heads % sizes.key_heads != 0 ||
      sizes.head_size() % 2 != 0)
    return std::nullopt;
  return sizes;
}

// Of numbers. Of the largest sizes it fits.
std::size_t count_of_numbers(const Llama2cRow& row, const Llama2cSizes& sizes) {
  return row.rows(sizes) * row.columns(sizes);
}

Matrix at_place(const FileBytes& file, std::size_t number, const Llama2cRow& row, const Llama2cSizes& sizes) {
  const Shape lines{row.rows(sizes), row.columns(sizes)};
  StoredMatrix stored{.type = &stored_type::float32,
                      .elements = reinterpret_cast<const std::byte*>(file.bytes.data()) +
                                  version_of(file.bytes).header_bytes + bytes_of_number * number,
                      .holder = file.holder,
                      .shape = row.is_map ? Shape{lines.columns, lines.rows} : lines,
                      .is_transposed = row.is_map,
                      .line = lines.columns};
  if (file.holder) return Matrix(std::move(stored));
  require_size(row.name, stored.shape);
  Matrix matrix(stored.shape);
  stored.widen_all(matrix.data());
  return matrix;
}

}  // namespace

bool is_llama2c(std::string_view bytes) {
  const std::optional<Llama2cSizes> sizes = llama2c_sizes_in(bytes);
  if (!sizes) return false;
  const Llama2cVersion& version = version_of(bytes);
  std::size_t left = (bytes.size() - version.header_bytes) / bytes_of_number;
  if (left * bytes_of_number + version.header_bytes != bytes.size()) return false;
  for (const Llama2cRow& row : version.rows) {
    const std::size_t each = count_of_numbers(row, *sizes), times = row.is_of_layers ? sizes->layers : 1;
    if (each > left / times) return false;
    left -= each * times;
  }
  return left == 0;
}

Llama2cSizes llama2c_sizes(std::string_view bytes) { return llama2c_sizes_in(bytes).value(); }

std::vector<Llama2cTensor> llama2c_tensors(const FileBytes& file, const std::string& where) {
  const Llama2cSizes sizes = llama2c_sizes(file.bytes);
  if (!file.holder && file.bytes.size() / bytes_of_number > most_cells)
    fail("{} has more than {} numbers: give a smaller model", where, most_cells);
  std::vector<Llama2cTensor> tensors;
  std::size_t number = 0;
  for (const Llama2cRow& row : version_of(file.bytes).rows) {
    const std::size_t each = count_of_numbers(row, sizes);
    for (std::size_t layer = 1; layer <= (row.is_of_layers ? sizes.layers : 1); ++layer, number += each) {
      if (row.name.empty() || each == 0) continue;
      tensors.push_back({row.is_of_layers ? fmt::format("decoder.{}.{}", layer, row.name) : std::string(row.name),
                         at_place(file, number, row, sizes)});
    }
  }
  return tensors;
}

}  // namespace attn
