// Files of matrices: read, and what was read is written and read again. Files of models.

#include <array>
#include <nlohmann/json.hpp>

#include "core/math/stored_matrix.hpp"
#include "core/support/error.hpp"
#include "data/files/embeddings.hpp"
#include "data/files/file_access.hpp"
#include "data/files/gguf.hpp"
#include "data/files/json.hpp"
#include "data/files/json_writer.hpp"
#include "data/files/llama2c.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/npz.hpp"
#include "data/files/pickle.hpp"
#include "data/files/safetensors.hpp"
#include "data/files/torch_file.hpp"
#include "data/parameters/config.hpp"
#include "data/problem/model_file.hpp"
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
  const FolderConfinement confined(folder());
  const Matrix vectors = read_embeddings("words.txt", {"the", "Of", ",", "the"});
  require(vectors.shape().rows == 4, "each word has a vector");
}

// Any kind of file, recognized by its first bytes, as a command reads it.
void any_file(std::string_view bytes) {
  write_case("any", bytes);
  const FolderConfinement confined(folder());
  for (const MatrixFile& file : read_matrices("any")) check(file);
}

// --- files of models

// Some numbers of a matrix, which may be too large to be made as a whole.
void look_at(const Matrix& matrix) {
  const Shape shape = matrix.shape();
  require(shape.rows > 0 && shape.columns > 0, "a matrix that was read has cells");
  const StoredMatrix* const stored = matrix.stored();
  if (!stored) return check({.matrix = matrix});
  for (const std::size_t i : {std::size_t{0}, shape.rows / 2, shape.rows - 1}) {
    for (const std::size_t j : {std::size_t{0}, shape.columns / 2, shape.columns - 1}) stored->number(i, j);
  }
}

FileBytes held(std::string_view bytes) {
  const auto own = std::make_shared<const std::string>(bytes);
  return {*own, own};
}

void pickle(std::string_view bytes) { read_pickle(bytes, where); }

void torch(std::string_view bytes) {
  const TorchFile file(held(bytes), where);
  for (const std::string& name : file.names()) {
    try {
      look_at(file.read(name));
    } catch (const InputError&) {
      // The others may be sound.
    }
  }
}

void gguf(std::string_view bytes) {
  const FileBytes own = held(bytes);
  const GgufFile file = read_gguf(own.bytes, where);
  for (const auto& [name, value] : file.metadata) {
    const auto* const list = std::get_if<GgufList>(&value);
    if (list && !texts_of(*list)) numbers_of(*list);
  }
  for (const GgufTensor& tensor : file.tensors) {
    try {
      look_at(matrix_from(tensor, file, own.holder, where));
    } catch (const InputError&) {
    }
  }
}

void llama2c(std::string_view bytes) {
  if (!is_llama2c(bytes)) return;
  for (const Llama2cTensor& tensor : llama2c_tensors(held(bytes), where)) look_at(tensor.matrix);
}

void config(std::string_view bytes) { read_config(bytes, where); }

// The index of a folder that has a config and one of the files.
void index(std::string_view bytes) {
  static const Matrix one(Shape{1, 1}, 1.0);
  write_case("config.json", R"({"model_type": "gpt2", "n_head": 1})");
  write_case("a.safetensors", printed([](Sink& sink) {
               write_safetensors({WrittenTensor{"wte.weight", &one, 2}}, sink);
             }));
  write_case("model.safetensors.index.json", bytes);
  const FolderConfinement confined(folder());
  read_model(".");
}

// A whole model in one file, whatever it is.
void model_file(std::string_view bytes) {
  write_case("model", bytes);
  const FolderConfinement confined(folder());
  const Budget budget(of_case);
  read_model("./model");
}

constexpr std::array table = {
    Target{"npy", whole_file<read_npy>},
    Target{"npz", npz},
    Target{"safetensors", safetensors},
    Target{"json", whole_file<read_json>},
    Target{"csv", rows<read_csv>},
    Target{"tsv", rows<read_tsv>},
    Target{"literal", literal},
    Target{"embeddings", embeddings},
    Target{"any-file", any_file},
    Target{"pickle", pickle},
    Target{"torch", torch},
    Target{"gguf", gguf},
    Target{"llama2c", llama2c},
    Target{"config", config},
    Target{"index", index},
    Target{"model-file", model_file},
};

}  // namespace

std::span<const Target> readers() { return table; }

}  // namespace attn::fuzz
