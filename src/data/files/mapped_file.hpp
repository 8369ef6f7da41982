#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace attn {

/// The bytes of a file, which are kept as long as a copy of this is.
struct FileBytes {
  std::string_view bytes;
  std::shared_ptr<const void> holder = {};  // null: somebody else keeps them, and perhaps not for long
  bool is_mapped = false;
};

/// A regular file of any length where the system shows it in memory (mmap): only the parts that are looked at are read,
/// and they take no memory that is missed. Anything else, and standard input (`-`), is read into memory as read_bytes()
/// does. Throws InputError as that does.
FileBytes map_file(const std::string& path);

/// For a reader that reads all bytes. Throws InputError: a mapped file of more than most_bytes.
std::string_view all_bytes(const FileBytes& file, const std::string& where);

/// Throws InputError where a file was changed since it was mapped: what was read of it is then of neither version.
void require_mapped_files_unchanged();

}  // namespace attn
