#pragma once

#include <string>
#include <string_view>

#include "support/file_to_write.hpp"

namespace attn {

/// A file that appears whole or not at all: it is written beside its place and renamed when it is committed.
/// "-" is standard output. Throws OutputError when it cannot be written; a reader that has gone away is no
/// error.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail_to_write() const;

  std::string path_;
  std::string temporary_;  // empty: written in place
  int descriptor_;
};

/// Writes a whole file. Throws OutputError.
void write_file(const FileToWrite& file);

}  // namespace attn
