// Files of matrices: read, and what was read is written and read again.

#include <array>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "data/files/embeddings.hpp"
#include "data/files/json.hpp"
#include "data/files/json_writer.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/npz.hpp"
#include "data/files/opened.hpp"
#include "data/files/safetensors.hpp"
#include "fuzz.hpp"

namespace attn::fuzz {
namespace {

constexpr const char* where = "case";

void check_labels(const std::vector<std::string>& labels, std::size_t size) {
  require(labels.empty() || labels.size() == size, "there are no labels, or one for each row or column");
}

// What is true of every matrix that was read, and that it comes back from the formats that hold all numbers.
void check(const MatrixFile& file) {
  const Matrix& matrix = file.matrix;
  require(matrix.size() > 0 && fits(matrix.shape()), "a matrix that was read has cells, and not too many");
  require(file.count > 0 && matrix.shape().rows % file.count == 0, "matrices in a file have one shape");
  check_labels(file.row_labels, matrix.shape().rows);
  check_labels(file.column_labels, matrix.shape().columns);
  const auto comes_back = [&](std::string_view format, const auto& read, const auto& write) {
    const Matrix again = must(format, [&] { return read(printed(write), "", where).matrix; });
    require(same_numbers(again, matrix), std::string(format) + " holds the same numbers");
  };
  comes_back(".npy", read_npy, [&](Sink& sink) { write_npy(matrix, sink); });
  comes_back("JSON", read_json, [&](Sink& sink) { JsonWriter(sink).matrix(matrix); });
  comes_back(".npz", read_npz, [&](Sink& sink) { write_npz({{"a", &matrix}}, sink); });
  comes_back(".safetensors", read_safetensors, [&](Sink& sink) {
    write_safetensors({WrittenTensor{"a", &matrix, 2}}, sink);
  });
}

template <auto Read>
void whole_file(std::string_view bytes) {
  check(Read(bytes, "", where));
}

void npz(std::string_view bytes) {
  const std::string place = where;
  const NpzArchive archive(bytes, place);
  for (std::size_t i = 0; i < archive.names().size(); ++i) {
    try {
      check(archive.read_any(i));
    } catch (const InputError&) {
      // The others may be sound.
    }
  }
}

void safetensors(std::string_view bytes) {
  for (const std::string& name : safetensors_names(bytes, where)) {
    try {
      check(read_safetensors(bytes, name, where));
    } catch (const InputError&) {
    }
  }
  for (const Safetensor& tensor : safetensors_in(
           bytes, where, [](const std::string&) { return true; }, 3)) {
    check({.matrix = matrix_from(tensor), .count = tensor.count});
  }
}

// Of tables also the text that we write is read again.
template <auto Read>
void rows(std::string_view bytes) {
  const MatrixFile file = Read(bytes, "", where);
  check(file);
  write_case("rows.npy", printed([&](Sink& sink) { write_npy(file.matrix, sink); }));
  must("a table can be written and read", [&] {
    const std::string commas = output_of({"convert", "rows.npy", "again.csv"});
    require(same_numbers(read_csv(commas, "", where).matrix, file.matrix), "CSV holds the same numbers");
    const std::string tabs = output_of({"convert", "rows.npy", "again.tsv"});
    require(same_numbers(read_tsv(tabs, "", where).matrix, file.matrix), "TSV holds the same numbers");
  });
}

void literal(std::string_view text) { check(read_literal(text, where)); }

void embeddings(std::string_view bytes) {
  write_case("words.txt", bytes);
  const Confined confined(folder());
  const Matrix vectors = read_embeddings("words.txt", {"the", "Of", ",", "the"});
  require(vectors.shape().rows == 4, "each word has a vector");
}

// Any kind of file, recognized by its first bytes, as a command reads it.
void any_file(std::string_view bytes) {
  write_case("any", bytes);
  const Confined confined(folder());
  for (const MatrixFile& file : read_matrices("any")) check(file);
}

constexpr std::array table = {
    Target{"npy", whole_file<read_npy>}, Target{"npz", npz},
    Target{"safetensors", safetensors},  Target{"json", whole_file<read_json>},
    Target{"csv", rows<read_csv>},       Target{"tsv", rows<read_tsv>},
    Target{"literal", literal},          Target{"embeddings", embeddings},
    Target{"any-file", any_file},
};

}  // namespace

std::span<const Target> readers() { return table; }

}  // namespace attn::fuzz
