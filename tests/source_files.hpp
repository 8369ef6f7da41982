#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace attn {

/// A file of the repository that is read as text.
struct SourceFile {
  std::string path;  // "src/core/op/norms.cpp"
  std::string text;
};

/// Whether a folder is not of the repository: it is git's own, or a line of .gitignore names it, such as `/build*/` or
/// `node_modules/`.
inline bool is_ignored_folder(const std::string& name) {
  static const std::vector<std::string> ignored = [] {
    std::ifstream file(std::filesystem::path(ATTN_SOURCE_FOLDER) / ".gitignore");
    std::vector<std::string> names = {".git"};
    for (std::string line; std::getline(file, line);) {
      if (line.ends_with('/')) line.pop_back();
      if (line.starts_with('/')) line.erase(0, 1);
      if (!line.empty()) names.push_back(line);
    }
    return names;
  }();
  return std::ranges::any_of(ignored, [&](const std::string& one) {
    return one.ends_with('*') ? name.starts_with(one.substr(0, one.size() - 1)) : name == one;
  });
}

/// The files of a folder and of those within it, whose names end so, without ignored folders: sources and headers.
inline std::vector<SourceFile> source_files(const std::string& folder,
                                            const std::vector<std::string>& endings = {".cpp", ".hpp"}) {
  const std::filesystem::path root = ATTN_SOURCE_FOLDER;
  std::vector<SourceFile> files;
  for (std::filesystem::recursive_directory_iterator at(root / folder), end; at != end; ++at) {
    const std::filesystem::path& path = at->path();
    if (at->is_directory() && is_ignored_folder(path.filename().string())) at.disable_recursion_pending();
    if (std::ranges::find(endings, path.extension().string()) == endings.end()) continue;
    std::ifstream file(path);
    files.push_back({path.lexically_relative(root).generic_string(), {std::istreambuf_iterator<char>(file), {}}});
  }
  return files;
}

}  // namespace attn
