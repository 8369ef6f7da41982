#include "data/files/matrix_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/file_access.hpp"
#include "data/files/files_of_folder.hpp"
#include "data/files/mapped_file.hpp"

namespace attn {

namespace {

constexpr MatrixKind kinds_of_matrix_files[] = {
    {"csv", "rows separated by commas (or semicolons or blanks), with or without labels", read_csv, read_all_csv},
    {"tsv", "rows separated by tabs, with or without labels", read_tsv, read_all_tsv},
    {"json", "an array of rows, or an object of such arrays; FILE:NAME chooses one", read_json, read_all_json},
    {"npy", "a NumPy array of one or two dimensions; with three it is a batch", read_npy, read_all_npy,
     count_cells_of_npy},
    {"npz", "named NumPy arrays; FILE:NAME chooses one", read_npz, read_all_npz, count_cells_of_npz},
    {"safetensors", "named tensors; FILE:NAME chooses one", read_safetensors, read_all_safetensors,
     count_cells_of_safetensors, true},
};

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(confined_path(path), ignored);
}

std::string_view kind_from_extension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  if (extension.empty()) return "";
  const MatrixKind* kind = find_row(matrix_kinds(), std::string_view(extension).substr(1));
  return kind ? kind->name : "";
}

bool names_kind(const std::string& path) { return !kind_from_extension(path).empty(); }

// Eight bytes for the length of the header, of which the last are zeros, and the header.
bool begins_like_safetensors(std::string_view bytes) {
  return bytes.size() > 8 && bytes[6] == '\0' && bytes[7] == '\0' && bytes[8] == '{';
}

std::string_view kind_from_bytes(std::string_view bytes) {
  if (begins_like_safetensors(bytes)) return "safetensors";
  if (bytes.starts_with("\x93NUMPY")) return "npy";
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06")) return "npz";
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (bytes[first] == '[' || bytes[first] == '{')) return "json";
  const std::size_t separator = bytes.find_first_of("\t,");
  return separator != std::string_view::npos && bytes[separator] == '\t' ? "tsv" : "csv";
}

// --- files of other programs

// What a file is that no reader here reads, by its first bytes and, in an archive, by the name of a member; and what to
// do with it.
struct ForeignFormat {
  std::string_view begin;
  std::string_view member;
  std::string_view what;
  std::string_view way_out;
};

constexpr std::string_view zip_begin = "PK\x03\x04", as_csv = "save it as CSV, and give that file",
                           as_utf8 = "save it as UTF-8", unpack = "unpack it, and give the file inside",
                           as_npz = "save its arrays as an .npz file, with numpy.savez, or as .safetensors",
                           whole_model = "a GGUF file, which is a whole model and not a matrix",
                           as_model = "compute with it by attn transformer --model";

constexpr ForeignFormat foreign_formats[] = {
    {"\xFF\xFE", {}, "UTF-16 text", as_utf8},
    {"\xFE\xFF", {}, "UTF-16 text", as_utf8},
    {zip_begin, "xl/workbook.xml", "an Excel spreadsheet", as_csv},
    {zip_begin, "xl/workbook.bin", "an Excel spreadsheet", as_csv},
    {zip_begin, "opendocument.spreadsheet", "an OpenDocument spreadsheet", as_csv},
    {"\xD0\xCF\x11\xE0", {}, "an old Excel spreadsheet, or another file of Microsoft Office", as_csv},
    {"\x1F\x8B", {}, "compressed by gzip", unpack},
    {"\xFD"
     "7zXZ",
     {},
     "compressed by xz",
     unpack},
    {"\x28\xB5\x2F\xFD", {}, "compressed by zstd", unpack},
    {"\x89HDF\r\n\x1A\n", {}, "an HDF5 file", as_npz},
    {"GGUF\x01", {}, whole_model, as_model},
    {"GGUF\x02", {}, whole_model, as_model},
    {"GGUF\x03", {}, whole_model, as_model},
    {"\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19",
     {},
     "a file of torch.save before PyTorch 1.6",
     "save it again, with import torch; torch.save(torch.load('OLD.pt', map_location='cpu'), 'NEW.pt')"},
    {"\x80\x02", {}, "a Python pickle", as_npz},
    {"\x80\x03", {}, "a Python pickle", as_npz},
    {"\x80\x04", {}, "a Python pickle", as_npz},
    {"\x80\x05", {}, "a Python pickle", as_npz},
};

bool is_text(std::string_view kind) { return kind == "csv" || kind == "tsv" || kind == "json"; }

// The name of a member stands before it and, in a directory, at the end of the archive.
bool has_member(std::string_view archive, std::string_view name) {
  constexpr std::size_t most_looked_at = std::size_t{1} << 20;
  const std::size_t end = archive.size() - std::min(archive.size(), most_looked_at);
  return archive.substr(0, most_looked_at).find(name) != std::string_view::npos ||
         archive.substr(end).find(name) != std::string_view::npos;
}

void refuse_foreign(std::string_view bytes, const std::string& where) {
  if (begins_like_safetensors(bytes)) return;
  for (const ForeignFormat& format : foreign_formats) {
    if (bytes.starts_with(format.begin) && has_member(bytes, format.member))
      fail("{} is {}: {}", where, format.what, format.way_out);
  }
}

// By its name a text, and by its bytes none.
void refuse_false_name(std::string_view named, std::string_view bytes, const std::string& where) {
  const std::string_view is = kind_from_bytes(bytes);
  if (!is_text(named) || is_text(is)) return;
  fail("{} is no text, but begins like an .{} file: give it a name that ends in .{}{}", where, is, is,
       is == "npz" ? ", or unpack it if it is another zip archive" : "");
}

MatrixFile read_source(const std::string& path, std::string_view key) {
  const FileBytes bytes = map_file(path);
  const MatrixKind& kind = look_up(matrix_kinds(), kind_of_file(path, bytes.bytes), "kind of file");
  MatrixFile file = kind.read(kind.reads_by_name ? bytes.bytes : all_bytes(bytes, path), key, place_of_file(path));
  file.where = place_of_file(path) + (key.empty() ? "" : ":" + std::string(key));
  if (path != "-") file.name = std::filesystem::path(path).stem().string();
  if (!key.empty()) file.name = key;
  return file;
}

bool looks_like_literal(std::string_view source) {
  const std::size_t begin = source.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  const std::size_t end = source.find_first_of(" \t\r\n,;", begin);
  return parse_cell(source.substr(begin, end - begin)).kind != CellKind::text;
}

[[noreturn]] void fail_missing(const std::string& source) {
  if (source.find_first_not_of(" \t\r\n") == std::string::npos) {
    fail("the name of a file is empty: give a file, a literal such as '1 0; 0 1', or '-' for standard input");
  }
  std::error_code reason;
  const std::filesystem::file_status status = std::filesystem::status(confined_path(source), reason);
  if (status.type() == std::filesystem::file_type::not_found || !reason)
    reason = std::make_error_code(std::errc::no_such_file_or_directory);
  const bool is_nowhere = reason == std::errc::no_such_file_or_directory || reason == std::errc::filename_too_long;
  if (!is_nowhere || names_kind(source) || names_kind(source.substr(0, source.rfind(':'))))
    fail_unreadable(source, reason);
  fail("{} is neither a file nor a matrix such as '1 0; 0 1'", in_quotes(source));
}

// Tells of which file an error is that is found while it is read.
template <class Read>
auto of_file(const std::string& path, const Read& read) {
  try {
    return read();
  } catch (InputError& error) {
    error.is_about_file(path);
    throw;
  }
}

MatrixFile read_any(const std::string& source) {
  if (source == "-") return read_source(source, "");
  if (source.starts_with('[')) return read_literal(source, in_quotes(source));
  const SourceParts parts = parts_of_source(source);
  if (parts.path == "-" || exists(parts.path))
    return of_file(parts.path, [&] { return read_source(parts.path, parts.key); });
  if (looks_like_literal(source)) return read_literal(source, in_quotes(source));
  fail_missing(source);
}

void refuse_four_dimensions(const MatrixFile& file, const std::string& where) {
  if (file.outer == 1) return;
  fail("{} has four dimensions: give one of its {} parts. In NumPy, x[0] is the first one of an array x", where,
       file.outer);
}

std::string name_of_file(const std::string& path) {
  return path == "-" ? "" : std::filesystem::path(path).stem().string();
}

// Files of kinds that are known, by name.
std::vector<std::string> matrix_files_in(const std::string& folder) {
  constexpr std::size_t most_files = 1000;
  std::vector<std::string> paths;
  for (const FileOfFolder& file : files_of_folder(folder)) {
    if (!names_kind(file.path) || file.is_folder) continue;
    if (!file.refused.empty()) fail("{}", file.refused);
    if (paths.size() == most_files)
      fail("{} has more than {} files of matrices: give a folder with fewer", folder, most_files);
    paths.push_back(file.path);
  }
  if (paths.empty())
    fail("{} is a folder without files of matrices: give one that has some, such as weights.csv", folder);
  return paths;
}

// All files of a folder, or one alone. What would not fit is refused before it is read, where headers say so.
class FilesReader {
 public:
  explicit FilesReader(std::string where) : where_(std::move(where)) {}

  std::vector<MatrixFile> read(const std::string& path) {
    const std::string bytes = read_bytes(path);
    const std::string where = place_of_file(path);
    const MatrixKind& kind = look_up(matrix_kinds(), kind_of_file(path, bytes), "kind of file");
    if (kind.count_cells) require_room(kind.count_cells(bytes, where));
    std::vector<MatrixFile> all = kind.read_all(bytes, where);
    std::size_t cells = 0;
    for (MatrixFile& file : all) {
      file.where = where;
      cells += file.matrix.size();
    }
    require_room(cells);
    cells_ += cells;
    return all;
  }

 private:
  void require_room(std::size_t cells) const {
    if (cells > most_cells - cells_) fail("{} has more than {} numbers: leave out some matrices", where_, most_cells);
    Budget::require_cells(cells_ + cells);
  }

  std::string where_;
  std::size_t cells_ = 0;  // of all that were read
};

// The one that a reader has chosen by its name: what it is called there need not be what it is.
void keep_only(NamedMatrices& all, std::string_view key, const std::string& path) {
  const std::string where = place_of_file(path);
  if (!all.are_named) refuse_key(key, where);
  const auto is_it = [&](const MatrixFile& file) { return file.name == key; };
  std::erase_if(all.refused, [&](const MatrixFile& file) { return !is_it(file); });
  if (!all.refused.empty()) {
    all.matrices.clear();
    return;
  }
  std::vector<std::string> names;
  for (const MatrixFile& file : all.matrices) names.push_back(file.name);
  MatrixFile chosen = std::move(all.matrices[choose_matrix(names, key, where)]);
  chosen.where = fmt::format("{}:{}", where, key);
  all.matrices.clear();
  all.matrices.push_back(std::move(chosen));
  all.are_named = false;
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t most_shown = 16;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(names.size(), most_shown); ++i) shown.push_back(in_quotes(names[i]));
  if (names.size() > most_shown) shown.push_back("…");
  return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace

std::span<const MatrixKind> matrix_kinds() { return kinds_of_matrix_files; }

std::string_view kind_of_file(const std::string& path, std::string_view bytes) {
  const std::string_view kind = path == "-" ? "" : kind_from_extension(path);
  refuse_foreign(bytes, place_of_file(path));
  refuse_false_name(kind, bytes, place_of_file(path));
  return kind.empty() ? kind_from_bytes(bytes) : kind;
}

SourceParts parts_of_source(const std::string& source) {
  const std::size_t colon = source.rfind(':');
  if (colon == std::string::npos || colon == 0 || exists(source)) return {source, ""};
  const std::string path = source.substr(0, colon);
  if (path == "-" || exists(path)) return {path, source.substr(colon + 1)};
  return {source, ""};
}

InputReport input_report_of(std::string_view name, const MatrixFile& file) {
  const Shape shape{file.matrix.shape().rows / file.count, file.matrix.shape().columns};
  const std::string count = file.count == 1 ? "" : fmt::format("{}×", file.count);
  return {std::string(name), file.where, count + to_string(shape), file.assumed};
}

MatrixFile only_one(MatrixFile file, const std::string& where) {
  refuse_four_dimensions(file, where);
  if (file.count == 1) return file;
  // There may have been sizes of 1 before the others.
  const Shape each{file.matrix.shape().rows / file.count, file.matrix.shape().columns};
  fail(
      "{} has {} matrices of {}, one after the other: give one of them. "
      "In NumPy, x.reshape(-1, {}, {})[0] is the first one of an array x",
      where, file.count, to_string(each), each.rows, each.columns);
}

MatrixFile read_matrix(const std::string& source) { return only_one(read_any(source), in_quotes(source)); }

std::vector<MatrixFile> read_matrices(const std::string& source) {
  MatrixFile all = read_any(source);
  refuse_four_dimensions(all, in_quotes(source));
  return parts_of(std::move(all));
}

std::vector<MatrixFile> parts_of(MatrixFile all) {
  if (all.count == 1) return {std::move(all)};
  const Shape shape{all.matrix.shape().rows / all.count, all.matrix.shape().columns};
  std::vector<MatrixFile> matrices(all.count);
  for (std::size_t i = 0; i < all.count; ++i) {
    matrices[i].matrix = Matrix(shape);
    std::ranges::copy(cells(all.matrix).subspan(i * shape.cells(), shape.cells()), cells(matrices[i].matrix).begin());
    matrices[i].kind = all.kind;
    matrices[i].precision = all.precision;
    matrices[i].notation = all.notation;
    matrices[i].name = all.name;
    matrices[i].where = all.where;
    matrices[i].assumed = all.assumed;
  }
  return matrices;
}

NamedMatrices read_all_matrices(const std::string& source) {
  NamedMatrices all;
  const auto [path, key] = parts_of_source(source);
  std::error_code ignored;
  const bool is_folder = path != "-" && std::filesystem::is_directory(confined_path(path), ignored);
  FilesReader reader(place_of_file(path));
  for (const std::string& one : is_folder ? matrix_files_in(path) : std::vector{path}) {
    for (MatrixFile& file : of_file(one, [&] { return reader.read(one); })) {
      if (file.name.empty()) {
        file.name = name_of_file(one);
        all.are_named = is_folder;
      }
      if (!file.refused.empty()) {
        all.refused.push_back(std::move(file));
        continue;
      }
      const auto same = std::ranges::find(all.matrices, file.name, &MatrixFile::name);
      if (same != all.matrices.end())
        fail("{} has two matrices named {}: leave out one of them", place_of_file(path), name_in_quotes(file.name));
      all.matrices.push_back(std::move(file));
    }
  }
  if (!key.empty()) keep_only(all, key, path);
  if (all.matrices.empty() && !all.refused.empty()) fail("{}", all.refused.front().refused);
  return all;
}

std::size_t choose_matrix(const std::vector<std::string>& names, std::string_view key, const std::string& where) {
  if (key.empty() && names.size() == 1) return 0;
  if (key.empty()) {
    fail("{} has {} matrices: add the name of one, as in {}. Choose one of: {}", where, names.size(),
         in_quotes(":" + names.front()), list_of(names));
  }
  const auto found = std::ranges::find(names, key);
  if (found == names.end()) {
    fail("{} has no matrix {}. Choose one of: {}", where, in_quotes(key), list_of(names));
  }
  return static_cast<std::size_t>(found - names.begin());
}

void refuse_key(std::string_view key, const std::string& where) {
  if (!key.empty()) {
    fail("{} has one matrix without a name: leave out {}", where, in_quotes(":" + std::string(key)));
  }
}

}  // namespace attn
