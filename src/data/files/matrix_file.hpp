#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/math/matrix.hpp"
#include "core/support/outside.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/input_report.hpp"

namespace attn {

/// A matrix as a file holds it, with the labels of its rows and columns where it has them.
struct MatrixFile {
  Matrix matrix = {};
  std::vector<std::string> row_labels = {};     // empty, or one per row
  std::vector<std::string> column_labels = {};  // empty, or one per column
  CellKind kind = CellKind::real;               // the greatest among its cells
  Precision precision = Precision::written;     // of its cells
  std::optional<NumberNotation> notation = {};  // of a text; nothing: what its numbers say
  std::size_t count = 1;                        // of matrices of the same shape, which stand below each other
  std::size_t outer = 1;                        // the first size of four: so many times count / outer of them
  std::string name = {};                        // in its file, or the file's without its ending; empty: no file
  std::string where = {};                       // the file, as the reader typed it; empty: no file
  std::string refused = {};                     // why a member of a file is no matrix; then it has no cells
  std::vector<Assumption> assumed = {};         // what the file does not say itself
};

/// What was read, as it is told: under this name, which may be that of an option.
InputReport input_report_of(std::string_view name, const MatrixFile& file);

/// A matrix to be written under a name.
struct NamedMatrix {
  std::string name;
  const Matrix* matrix;
};

/// No file may be longer than this many bytes, unless only parts of it are read (data/files/mapped_file.hpp); and what
/// understanding a byte counts as work.
constexpr std::size_t most_bytes = std::size_t{1} << 30;
constexpr std::uint64_t work_of_byte = 16;

/// A kind of matrix file. `where` is the source as the reader typed it, for messages; `key` chooses one of
/// several matrices, or is empty.
struct MatrixKind {
  std::string_view name;     // also its file extension
  std::string_view summary;  // one sentence for help
  MatrixFile (*read)(std::string_view bytes, std::string_view key, const std::string& where);
  /// All matrices of a file, by their names there; one without a name is alone.
  std::vector<MatrixFile> (*read_all)(std::string_view bytes, const std::string& where);
  /// How many numbers the file has by its headers, before any is read; null: it has no headers.
  std::size_t (*count_cells)(std::string_view bytes, const std::string& where) = nullptr;
  bool reads_by_name = false;  // only the parts of a file that are asked for, whatever else is in it
};

/// csv, tsv, json, npy, npz, safetensors. A new kind is one reader and one row.
std::span<const MatrixKind> matrix_kinds();

/// Reads a matrix from a literal (`[[1,0],[0,1]]` or `1 0; 0 1`), a file (`q.csv`), one matrix of a file
/// (`all.npz:q`), or standard input (`-`, once per process). The kind comes from the file's extension, or
/// else from its first bytes. A vector is one row. Throws InputError for whatever is not a finite-sized,
/// rectangular, numeric, at most two-dimensional array; cells may be −∞, +∞ or NaN: the caller decides.
MatrixFile read_matrix(const std::string& source);

/// The same for an array that may have three dimensions, [count, n, d]: its matrices, one after the other.
std::vector<MatrixFile> read_matrices(const std::string& source);

/// What a reader gives: a file, and of FILE:NAME the name of one of its matrices.
struct SourceParts {
  std::string path;
  std::string key;  // empty: it has none
};
/// FILE:NAME is parted where there is a file of the first part, and none of the whole.
SourceParts parts_of_source(const std::string& source);

/// All matrices of a file, or of the files in a folder, in their order, or of FILE:NAME this one; a matrix that its
/// file does not name has the file's name without its ending. A matrix may have three or four dimensions. What stands
/// beside matrices and is none, such as a single number, is refused by itself. Throws InputError like read_matrix().
struct NamedMatrices {
  std::vector<MatrixFile> matrices;
  std::vector<MatrixFile> refused = {};
  bool are_named = true;                  // by the file, all of it; otherwise it is one
  std::vector<std::string> remarks = {};  // sentences on how some were taken, where that could be doubted
  std::vector<std::string> doubts = {};   // those that a reader must know first
};
NamedMatrices read_all_matrices(const std::string& source);

/// The matrices of an array of three dimensions, one after the other.
std::vector<MatrixFile> parts_of(MatrixFile file);

/// The file, unless it has several matrices below each other: then throws InputError.
MatrixFile only_one(MatrixFile file, const std::string& where);

/// The name of the kind of a file: by its extension, or else by its first bytes. Standard input (`-`) has no
/// extension. Throws InputError for a format of other programs, and for what its name says is text and is not.
std::string_view kind_of_file(const std::string& path, std::string_view bytes);

/// What messages call a file: its path, or "standard input" for `-`.
std::string place_of_file(const std::string& path);

/// All bytes of a file or of standard input (`-`). Throws InputError: unreadable, a folder, longer than
/// most_bytes.
std::string read_bytes(const std::string& path);

// The readers behind the table.
MatrixFile read_csv(std::string_view bytes, std::string_view key, const std::string& where);
MatrixFile read_tsv(std::string_view bytes, std::string_view key, const std::string& where);
MatrixFile read_json(std::string_view bytes, std::string_view key, const std::string& where);
MatrixFile read_npy(std::string_view bytes, std::string_view key, const std::string& where);
MatrixFile read_npz(std::string_view bytes, std::string_view key, const std::string& where);
MatrixFile read_safetensors(std::string_view bytes, std::string_view key, const std::string& where);

std::vector<MatrixFile> read_all_csv(std::string_view bytes, const std::string& where);
std::vector<MatrixFile> read_all_tsv(std::string_view bytes, const std::string& where);
std::vector<MatrixFile> read_all_json(std::string_view bytes, const std::string& where);
std::vector<MatrixFile> read_all_npy(std::string_view bytes, const std::string& where);
std::vector<MatrixFile> read_all_npz(std::string_view bytes, const std::string& where);
std::vector<MatrixFile> read_all_safetensors(std::string_view bytes, const std::string& where);

std::size_t count_cells_of_npy(std::string_view bytes, const std::string& where);
std::size_t count_cells_of_npz(std::string_view bytes, const std::string& where);
std::size_t count_cells_of_safetensors(std::string_view bytes, const std::string& where);

/// A literal in one of the two notations above.
MatrixFile read_literal(std::string_view text, const std::string& where);

/// The .npy format, version 1.0, '<f8', C order (NumPy Enhancement Proposal 1).
void write_npy(const Matrix& matrix, Sink& sink);

/// An uncompressed .npz: a zip archive of .npy files named `NAME.npy`, in the given order. Deterministic: no
/// times.
void write_npz(const std::vector<NamedMatrix>& matrices, Sink& sink);

/// The place of the matrix called `key` among the matrices of a file; an empty key means the only one.
/// Throws InputError that lists the names when there is no such matrix, or none can be told from the others.
/// A file has at least one name: whoever lists the names refuses a file without any.
std::size_t choose_matrix(const std::vector<std::string>& names, std::string_view key, const std::string& where);

/// Throws InputError when a key is given for a source that holds one matrix without a name.
void refuse_key(std::string_view key, const std::string& where);

}  // namespace attn
