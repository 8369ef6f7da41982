#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/files/open_file.hpp"

namespace attn {

/// A line of a text file, without its end.
struct Line {
  std::string_view text;
  std::size_t number;
  bool cut_short;  // the line goes on, but is longer than any line that is read
};

/// Reads a file of any length line by line in memory of a fixed size.
class LineReader {
 public:
  explicit LineReader(const std::string& path);

  /// The next line, valid until the following call, or nothing at the end. Throws InputError when reading
  /// fails.
  std::optional<Line> next();

  /// No line is read further than this.
  static constexpr std::size_t longest_line = std::size_t{1} << 20;

 private:
  std::string_view rest() const { return std::string_view(buffer_).substr(begin_, end_ - begin_); }
  bool refill();
  void skip_to_line_end();

  std::string path_;
  File file_;
  std::string buffer_;
  std::size_t begin_ = 0;  // what has been read but not handed out lies from here
  std::size_t end_ = 0;    // to here
  std::size_t number_ = 0;
  bool skip_ = false;  // the line handed out last was cut short
};

}  // namespace attn
