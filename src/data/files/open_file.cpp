#include "data/files/open_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "data/files/reach.hpp"
#include "support/error.hpp"

namespace attn {

File open_file(const std::string& path) {
  const std::filesystem::path place = place_of(path);
  std::error_code ignored;
  if (std::filesystem::is_directory(place, ignored)) fail("{} is a folder: give a file", path);
  check_kind_is_in_reach(path);
  File file(std::fopen(place.c_str(), "rb"), std::fclose);
  if (!file) fail("{} cannot be read ({}): give a file that can", path, std::strerror(errno));
  return file;
}

std::size_t read_some(std::FILE* file, char* bytes, std::size_t most, const std::string& where) {
  const std::size_t came = std::fread(bytes, 1, most, file);
  if (came < most && std::ferror(file)) {
    fail("{} cannot be read ({}): give a file that can", where, std::strerror(errno));
  }
  return came;
}

}  // namespace attn
