#include "data/files/open_file.hpp"

#include <cerrno>
#include <filesystem>

#include "data/files/reach.hpp"
#include "support/error.hpp"

namespace attn {

void fail_unreadable(const std::string& path, std::error_code reason) {
  if (reason == std::errc::no_such_file_or_directory)
    fail("cannot read {}: no such file. Check the name and the folder", path);
  fail("cannot read {}: {}", path, reason.message());
}

File open_file(const std::string& path) {
  const std::filesystem::path place = place_of(path);
  std::error_code ignored;
  if (std::filesystem::is_directory(place, ignored)) fail("{} is a folder: give a file", path);
  check_kind_is_in_reach(path);
  File file(std::fopen(place.c_str(), "rb"), std::fclose);
  if (!file) fail_unreadable(path, {errno, std::generic_category()});
  return file;
}

std::size_t read_some(std::FILE* file, char* bytes, std::size_t most, const std::string& where) {
  const std::size_t came = std::fread(bytes, 1, most, file);
  if (came < most && std::ferror(file)) {
    fail_unreadable(where, {errno, std::generic_category()});
  }
  return came;
}

}  // namespace attn
