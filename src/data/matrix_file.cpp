#include "data/matrix_file.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "data/files/cell.hpp"
#include "data/files/open_file.hpp"
#include "data/files/reach.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {

namespace {

constexpr MatrixKind kinds[] = {
    {"csv", "rows separated by commas (or semicolons or blanks), with or without labels", read_csv},
    {"tsv", "rows separated by tabs, with or without labels", read_tsv},
    {"json", "an array of rows, or an object of such arrays; FILE:NAME chooses one", read_json},
    {"npy", "a NumPy array of one or two dimensions", read_npy},
    {"npz", "named NumPy arrays; FILE:NAME chooses one", read_npz},
    {"safetensors", "named tensors; FILE:NAME chooses one", read_safetensors},
};

[[noreturn]] void fail_too_long(const std::string& where) {
  fail("{} is larger than {} bytes: give a smaller file", where, most_bytes);
}

std::string read_all(std::FILE* file, std::size_t expected, const std::string& where) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::string bytes;
  bytes.reserve(std::min(expected, most_bytes) + piece);
  std::size_t came = piece;
  while (came == piece) {
    const std::size_t before = bytes.size();
    bytes.resize(before + piece);
    came = read_some(file, bytes.data() + before, piece, where);
    bytes.resize(before + came);
    if (bytes.size() > most_bytes) fail_too_long(where);
  }
  return bytes;
}

std::string read_standard_input() {
  check_standard_input_is_in_reach();
  static bool was_read = false;
  if (was_read) {
    fail("'-' is given twice, and standard input can be read only once: put the data into a file");
  }
  was_read = true;
  return read_all(stdin, 0, "standard input");
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(place_of(path), ignored);
}

std::string_view kind_from_extension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::ranges::transform(extension, extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  if (extension.empty()) return "";
  const MatrixKind* kind = find_row(matrix_kinds(), std::string_view(extension).substr(1));
  return kind ? kind->name : "";
}

bool names_kind(const std::string& path) {
  return !kind_from_extension(path).empty();
}

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

MatrixFile read_source(const std::string& path, std::string_view key) {
  const std::string bytes = read_bytes(path);
  MatrixFile file = look_up(matrix_kinds(), kind_of_file(path, bytes), "kind of file")
                        .read(bytes, key, place_of_file(path));
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
  const std::filesystem::file_status status = std::filesystem::status(place_of(source), reason);
  if (status.type() == std::filesystem::file_type::not_found || !reason)
    reason = std::make_error_code(std::errc::no_such_file_or_directory);
  const bool is_nowhere =
      reason == std::errc::no_such_file_or_directory || reason == std::errc::filename_too_long;
  if (!is_nowhere || names_kind(source) || names_kind(source.substr(0, source.rfind(':'))))
    fail_unreadable(source, reason);
  fail("{} is neither a file nor a matrix such as '1 0; 0 1'", in_quotes(source));
}

}  // namespace

std::span<const MatrixKind> matrix_kinds() {
  return kinds;
}

std::string_view kind_of_file(const std::string& path, std::string_view bytes) {
  const std::string_view kind = path == "-" ? "" : kind_from_extension(path);
  return kind.empty() ? kind_from_bytes(bytes) : kind;
}

std::string place_of_file(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

std::string read_bytes(const std::string& path) {
  if (path == "-") return read_standard_input();
  const File file = open_file(path);
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(place_of(path), unknown);  // pipes have none
  if (!unknown && size > most_bytes) fail_too_long(path);
  return read_all(file.get(), unknown ? 0 : size, path);
}

MatrixFile read_matrix(const std::string& source) {
  if (source == "-") return read_source(source, "");
  if (source.starts_with('[')) return read_literal(source, in_quotes(source));
  if (exists(source)) return read_source(source, "");
  const std::size_t colon = source.rfind(':');
  if (colon != std::string::npos && colon > 0) {
    const std::string path = source.substr(0, colon);
    if (path == "-" || exists(path)) return read_source(path, std::string_view(source).substr(colon + 1));
  }
  if (looks_like_literal(source)) return read_literal(source, in_quotes(source));
  fail_missing(source);
}

}  // namespace attn
