#include <cstdio>
#include <deque>
#include <filesystem>
#include <map>
#include <string>

#include "core/support/error.hpp"
#include "data/files/file_access.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

namespace {

[[noreturn]] void fail_too_long(const std::string& where) {
  fail("{} is larger than {} bytes: give a smaller file", where, most_bytes);
}

// In pieces, which are put together when all are there: a string that grows would take twice the memory of a
// pipe or device, of which nobody knows how much will come.
std::string read_all(std::FILE* file, const std::string& where) {
  constexpr std::size_t most_of_piece = std::size_t{1} << 20;
  std::deque<std::string> pieces;
  std::size_t size = 0, came = most_of_piece;
  while (came == most_of_piece) {
    std::string& piece = pieces.emplace_back(most_of_piece, '\0');
    came = read_some(file, piece.data(), most_of_piece, where);
    piece.resize(came);
    size += came;
    if (size > most_bytes) fail_too_long(where);
  }
  if (pieces.size() == 1) return std::move(pieces.front());
  std::string bytes;
  bytes.reserve(size);
  for (; !pieces.empty(); pieces.pop_front()) bytes += pieces.front();
  return bytes;
}

std::string read_standard_input() {
  check_standard_input_is_in_reach();
  static bool was_read = false;
  if (was_read) {
    fail("'-' is given twice, and standard input can be read only once: put the data into a file");
  }
  was_read = true;
  return read_all(stdin, "standard input");
}

bool is_pipe(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_fifo(confined_path(path), ignored);
}

// A pipe can be read only once, and a command may read what it was given several times.
const std::string& bytes_of_pipe(const std::string& path) {
  static std::map<std::filesystem::path, std::string> pipes;
  const std::filesystem::path place = confined_path(path);
  const auto known = pipes.find(place);
  if (known != pipes.end()) return known->second;
  const File file = open_file(path);
  return pipes.emplace(place, read_all(file.get(), path)).first->second;
}

}  // namespace

std::string place_of_file(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string read_bytes(const std::string& path) {
  if (path == "-") return read_standard_input();
  if (is_pipe(path)) return bytes_of_pipe(path);
  const File file = open_file(path);
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(confined_path(path), unknown);  // pipes have none
  if (!unknown && size > most_bytes) fail_too_long(path);
  if (!unknown) Budget::take_work(work_of_byte * size);
  return read_all(file.get(), path);
}

}  // namespace attn
