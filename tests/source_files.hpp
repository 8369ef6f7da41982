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

/// The files of a folder and of those within it, whose names end so: sources and headers.
inline std::vector<SourceFile> source_files(const std::string& folder,
                                            const std::vector<std::string>& endings = {".cpp", ".hpp"}) {
  const std::filesystem::path root = ATTN_SOURCE_FOLDER;
  std::vector<SourceFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
    const std::filesystem::path& path = entry.path();
    if (std::ranges::find(endings, path.extension().string()) == endings.end()) continue;
    std::ifstream file(path);
    files.push_back({path.lexically_relative(root).generic_string(), {std::istreambuf_iterator<char>(file), {}}});
  }
  return files;
}

}  // namespace attn
