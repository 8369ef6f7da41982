#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/file_to_write.hpp"
#include "support/terminal.hpp"

namespace attn {

/// What the world around the program does for work that takes long, while it goes on. Main has the real one.
class LongWork {
 public:
  virtual ~LongWork() = default;
  /// Shows what the work is at, in one line that takes the place of the one before.
  virtual void tell(std::string_view stage) = 0;
  /// The size of what can be drawn anew in place; nothing: nobody sees it.
  virtual std::optional<TerminalSize> canvas() const = 0;
  /// Shows these lines in the place of those before. They are no wider than the canvas; those for which it is
  /// not high enough are left out.
  virtual void draw(const std::vector<std::string>& lines) = 0;
  /// Whether somebody has asked for the work to stop. From the first time on that this is asked, the first
  /// such signal no longer ends the program.
  virtual bool is_to_stop() = 0;
  /// Throws OutputError where a file could not be written.
  virtual void prepare_to_save(const std::string& path) = 0;
  /// Writes a file whole or not at all, now. Throws OutputError.
  virtual void save(const FileToWrite& file) = 0;
};

}  // namespace attn
