#include "data/files/file_access.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <new>
#include <set>

#include "core/support/error.hpp"

namespace attn {

namespace {

namespace fs = std::filesystem;

bool confined = false;
std::optional<fs::path> open_folder;
std::set<fs::path> opened;

bool is_below(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

// A link may lead elsewhere, whatever its name says.
bool leads_out(const fs::path& path, const fs::path& folder) {
  const fs::path inside = real_path(folder);
  return inside.empty() || !is_below(real_path(path), inside);
}

bool is_out_of_reach(const fs::path& path) {
  if (!confined) return false;
  const bool climbs = std::ranges::find(path, fs::path("..")) != path.end();
  return path.is_absolute() || climbs || (open_folder && leads_out(*open_folder / path, *open_folder));
}

// What a document does with files, as its messages say it.
struct FileUse {
  std::string_view done;
  std::string_view does;
};

[[noreturn]] void refuse(const std::string& path, const FileUse& use) {
  fail("{} cannot be {} here: a document {} only files beside it and in folders below it", path, use.done, use.does);
}

fs::path place_for(const std::string& path, const FileUse& use) {
  if (!confined) return path;
  if (is_out_of_reach(path)) refuse(path, use);
  return open_folder ? *open_folder / path : fs::path();
}

}  // namespace

fs::path real_path(const fs::path& path) {
  std::error_code reason;
  fs::path place = fs::absolute(path, reason);
  if (!reason) place = fs::weakly_canonical(place, reason);
  if (reason == std::errc::not_enough_memory) throw std::bad_alloc();
  return place;
}

FolderConfinement::FolderConfinement(std::optional<fs::path> folder) {
  if (confined) fail("a document cannot run the commands of another document: run that document on its own");
  confined = true;
  open_folder = std::move(folder);
  if (open_folder && open_folder->empty()) open_folder = ".";
}

FolderConfinement::~FolderConfinement() {
  confined = false;
  open_folder.reset();
}

fs::path confined_path(const std::string& path) { return place_for(path, {"read", "reads"}); }

fs::path place_to_write(const std::string& path) {
  const FileUse use{"written", "writes"};
  const fs::path place = place_for(path, use);
  std::error_code ignored;
  // Where a link to nothing leads, a file would be made.
  if (confined && fs::is_symlink(place, ignored) && !fs::exists(place, ignored)) refuse(path, use);
  return place;
}

bool file_exists(const std::string& path) {
  std::error_code ignored;
  return !is_out_of_reach(path) && fs::exists(confined_path(path), ignored);
}

bool is_same_file(const std::string& one, const std::string& other) {
  if (is_out_of_reach(one) || is_out_of_reach(other)) return false;
  const fs::path first = real_path(confined_path(one)), second = real_path(confined_path(other));
  std::error_code ignored;
  return first == second || fs::equivalent(first, second, ignored);
}

void check_kind_can_be_read(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(confined_path(path), ignored);
  if (confined && fs::exists(status) && !fs::is_regular_file(status))
    fail("{} cannot be read here: a document reads only regular files, not pipes or devices", path);
  // A device such as /dev/zero never ends. What stands at standard input may be a terminal.
  const bool is_device = fs::is_character_file(status) || fs::is_block_file(status);
  if (is_device && !is_same_file(path, "/dev/stdin"))
    fail("{} is a device: give a regular file, a pipe, or '-' for standard input", path);
}

void require_open_folder(const std::string& path) {
  std::error_code reason;
  const fs::directory_iterator first(confined_path(path), reason);
  if (reason) fail_unreadable(path, reason);
}

void check_standard_input_is_in_reach() {
  if (confined) fail("'-' cannot be read here: a document does not read standard input");
}

void fail_unreadable(const std::string& path, std::error_code reason) {
  const std::string sentence = reason == std::errc::no_such_file_or_directory
                                   ? fmt::format("cannot read {}: no such file. Check the name and the folder", path)
                                   : fmt::format("cannot read {}: {}", path, reason.message());
  throw InputError(sentence, {.file = path});
}

bool was_opened(const std::string& path) {
  return std::ranges::any_of(opened, [&](const fs::path& other) { return is_same_file(path, other.string()); });
}

File open_file(const std::string& path) {
  const std::filesystem::path place = confined_path(path);
  std::error_code ignored;
  if (std::filesystem::is_directory(place, ignored)) fail("{} is a folder: give a file", path);
  check_kind_can_be_read(path);
  // A regular file may be a pipe by now, and some of the system's own wait until it has something to say (/proc/kmsg).
  const bool is_regular = std::filesystem::is_regular_file(place, ignored);
  const int descriptor = open(place.c_str(), O_RDONLY | O_CLOEXEC | (is_regular ? O_NONBLOCK : 0));
  File file(descriptor < 0 ? nullptr : fdopen(descriptor, "rb"), std::fclose);
  if (!file) {
    const int reason = errno;
    if (descriptor >= 0) close(descriptor);
    fail_unreadable(path, {reason, std::generic_category()});
  }
  opened.insert(place);
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
