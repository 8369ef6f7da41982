#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

namespace attn {

/// While it lives, whatever reads a file reads only files of one folder and below it, by names relative to
/// that folder, and nothing reads standard input. Without a folder no file is read at all. So a document
/// from a stranger may run commands. There is one at a time: throws InputError where there is one already.
class FolderConfinement {
 public:
  explicit FolderConfinement(std::optional<std::filesystem::path> folder);
  ~FolderConfinement();
  FolderConfinement(const FolderConfinement&) = delete;
  FolderConfinement& operator=(const FolderConfinement&) = delete;
};

/// Where the file called `path` lies: `path` itself unless reading is confined; empty, which is
/// no file, where there is no folder. Throws InputError when it is out of reach.
std::filesystem::path confined_path(const std::string& path);

/// The same for a file that is to be written. Throws InputError.
std::filesystem::path place_to_write(const std::string& path);

/// Where a path leads when its links are followed, whether anything is there or not; empty where they lead
/// nowhere. The standard library reports a lack of memory as if it were an error of the path: here it is
/// std::bad_alloc.
std::filesystem::path real_path(const std::filesystem::path& path);

/// Whether there is anything called `path`, and in reach.
bool file_exists(const std::string& path);

/// Throws InputError for a device other than standard input, which need not end, and while reading is confined also for
/// a pipe.
void check_kind_can_be_read(const std::string& path);

/// Whether both names lead to one and the same file, or would if it were there, whatever links and folders
/// they go through.
bool is_same_file(const std::string& one, const std::string& other);

/// Throws InputError while reading is confined.
void check_standard_input_is_in_reach();

/// An open file, closed when it goes.
using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Throws InputError where a folder cannot be looked into.
void require_open_folder(const std::string& path);

/// Throws InputError: a file that cannot be read, and the reason of the system.
[[noreturn]] void fail_unreadable(const std::string& path, std::error_code reason);

/// Whether the file called `path` was opened by open_file(), under whatever name.
bool was_opened(const std::string& path);

/// Opens a file to read its bytes. What is a regular file does not wait: reading fails where one of the system has
/// nothing to say. Throws InputError: a folder, or unreadable, with the system's reason.
File open_file(const std::string& path);

/// Reads up to `most` bytes; fewer come at the end only. Throws InputError when reading fails.
std::size_t read_some(std::FILE* file, char* bytes, std::size_t most, const std::string& where);

}  // namespace attn
