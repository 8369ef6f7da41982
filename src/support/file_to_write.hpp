#pragma once

#include <string>

namespace attn {

/// A file that a command wants written. Commands do not write: main does, each file whole or not at all.
struct FileToWrite {
  std::string path;
  std::string bytes;
};

}  // namespace attn
