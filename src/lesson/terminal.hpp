#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "support/file_to_write.hpp"

namespace attn {

/// Where a lesson is taken. The lessons only know this much of it; main has the real one.
class Terminal {
 public:
  virtual ~Terminal() = default;
  virtual void write(std::string_view text) = 0;
  /// A line without its end. Nothing: there is no more input.
  virtual std::optional<std::string> read_line() = 0;
  /// Writes a file whole or not at all, and its folder where there is none.
  virtual void save(const FileToWrite& file) = 0;
};

}  // namespace attn
