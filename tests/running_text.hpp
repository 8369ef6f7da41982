#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/text.hpp"
#include "page/document/document.hpp"
#include "process.hpp"
#include "source_files.hpp"

namespace attn {

namespace fs = std::filesystem;

inline const fs::path root = ATTN_SOURCE_FOLDER;

using ToldWhere = std::map<std::string, std::string>;  // what is told, and where it is told first

inline std::vector<SourceFile> documents() {
  std::vector<SourceFile> all = {{"README.md", ::bytes_of((root / "README.md").string())}};
  for (const char* folder : {"docs", "lessons", "src"})
    std::ranges::move(source_files(folder, {".md"}), std::back_inserter(all));
  return all;
}

/// A document without its front matter and without what the program has written into it.
inline std::string own_text(const std::string& text) {
  std::string own;
  bool is_front = text.starts_with("---\n"), is_output = false;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view whole = std::string_view(text).substr(at, end - at), line = trimmed(whole);
    at = end;
    if (line == begin_of_output) is_output = true;
    if (!is_front && !is_output) own += whole;
    if (line == end_of_output) is_output = false;
    if (is_front && number > 0 && line == "---") is_front = false;
  }
  return own;
}

inline std::string replaced(std::string text, std::string_view old, std::string_view by) {
  for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + by.size()))
    text.replace(at, old.size(), by);
  return text;
}

}  // namespace attn
