#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

// A folder may have been filled by somebody else. What is read of it is regular files of its own: no pipes, which may
// never end, no links that lead out of it, to files of the reader, and no names that a terminal takes for commands.

/// What stands in a folder.
struct FileOfFolder {
  std::string path;          // with that of the folder before it; U+FFFD for what cannot be printed
  bool is_folder = false;    // a folder within it, and no file
  std::string refused = {};  // why it is not read, as a sentence; empty: it may be read
};

/// All that stands in a folder, by its names, except those that begin with a dot. Throws InputError: the folder cannot
/// be looked into, or has more than 100,000 names.
std::vector<FileOfFolder> files_of_folder(const std::string& folder);

/// Whether a folder has a file of this name. Throws InputError, where something has the name that is not read.
bool has_file(const std::string& folder, std::string_view name);

/// "FOLDER/NAME"
std::string path_in(const std::string& folder, std::string_view name);

}  // namespace attn
