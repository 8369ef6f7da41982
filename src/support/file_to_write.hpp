#pragma once

#include <optional>
#include <string>

namespace attn {

/// A file that a command wants written. Commands do not write: main does, each file whole or not at all.
struct FileToWrite {
  std::string path;
  std::string bytes;
  std::optional<std::string> replaces = {};  // the bytes that were read there, which must be there still
};

}  // namespace attn
