#include "command/check/recorded_sentence.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/math/rows.hpp"

namespace attn {

namespace {

constexpr std::string_view input_of_whole = "input..", output_of_whole = "output.", mask_word = "mask",
                           mask_of_keys = "key_padding_mask";

bool is_mask_of_module(const MatrixFile& file) { return file.name.ends_with(mask_word); }

bool was_recorded(const MatrixFile& file) {
  return file.name.starts_with("input.") || file.name.starts_with(output_of_whole);
}

// The arguments of the recorded module that its words are in.
std::vector<const MatrixFile*> arguments_with_words(const std::vector<MatrixFile>& files) {
  std::vector<const MatrixFile*> found;
  for (const MatrixFile& file : files) {
    if (file.name.starts_with(input_of_whole) && !is_mask_of_module(file)) found.push_back(&file);
  }
  return found;
}

std::size_t rows_of_one(const MatrixFile& file) { return file.matrix.shape().rows / file.count; }

// How many sentences an array has: [sentences, words] of ids, else [sentences, …], or [words, sentences, numbers].
std::size_t sentences_in(const MatrixFile& file, bool words_first) {
  if (file.kind != CellKind::real) return file.count == 1 ? file.matrix.shape().rows : 1;
  if (file.outer > 1) return file.outer;
  if (file.count > 1) return words_first ? rows_of_one(file) : file.count;
  return 1;
}

// Every so many rows of a file, from the first.
void leave_rows(MatrixFile& file, std::size_t step, std::size_t count) {
  Matrix left({count, file.matrix.shape().columns});
  for (std::size_t i = 0; i < count; ++i)
    std::ranges::copy(row(std::as_const(file.matrix), i * step), row(left, i).begin());
  file.matrix = std::move(left);
  file.count = 1;
  file.outer = 1;
}

// The first of equal parts, each of so many matrices.
void leave_first_part(MatrixFile& file, std::size_t matrices) {
  const std::size_t rows = rows_of_one(file) * matrices;
  leave_rows(file, 1, rows);
  file.count = matrices;
}

void leave_one(MatrixFile& file, std::size_t sentences, bool words_first) {
  const Shape shape = file.matrix.shape();
  const bool is_mask = is_mask_of_module(file);
  const bool has_row_each = file.kind != CellKind::real || is_mask || file.name == output_of_whole;
  const bool is_of_words = is_mask && shape.rows == shape.columns && !file.name.ends_with(mask_of_keys);
  if (words_first && !is_mask && file.kind == CellKind::real && file.outer == 1 && rows_of_one(file) == sentences) {
    leave_rows(file, sentences, file.count);
  } else if (sentences == 1) {
    return;
  } else if (file.outer == sentences || (file.outer == 1 && file.count == sentences)) {
    leave_first_part(file, file.count / sentences);
  } else if (file.count == 1 && shape.rows == sentences && has_row_each && !is_of_words) {
    leave_rows(file, 1, 1);
  } else if (is_mask && file.count > sentences && file.count % sentences == 0) {
    leave_first_part(file, file.count / sentences);  // a mask for each head of each sentence
  }
}

}  // namespace

std::size_t leave_first_sentence(std::vector<MatrixFile>& files, bool words_first, const IsOfHeads& is_of_heads) {
  const std::vector<const MatrixFile*> arguments = arguments_with_words(files);
  if (arguments.empty()) return 1;
  const std::size_t sentences = sentences_in(*arguments.front(), words_first);
  for (MatrixFile& file : files) {
    if (was_recorded(file)) leave_one(file, sentences, words_first && !is_of_heads(file));
  }
  return sentences;
}

}  // namespace attn
