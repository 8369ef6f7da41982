#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

namespace attn {

/// An open file, closed when it goes.
using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Throws InputError: a file that cannot be read, and the reason of the system.
[[noreturn]] void fail_unreadable(const std::string& path, std::error_code reason);

/// Opens a file to read its bytes. Throws InputError: a folder, or unreadable, with the system's reason.
File open_file(const std::string& path);

/// Reads up to `most` bytes; fewer come at the end only. Throws InputError when reading fails.
std::size_t read_some(std::FILE* file, char* bytes, std::size_t most, const std::string& where);

}  // namespace attn
