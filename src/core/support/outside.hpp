#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/support/keystroke.hpp"

namespace attn {

/// A file that a command wants written. Commands do not write: main does, each file whole or not at all.
struct FileToWrite {
  std::string path;
  std::string bytes;
  std::optional<std::string> replaces = {};  // the bytes that were read there, which must be there still
};

/// Where a renderer writes: bytes gather in a block and are passed on when it is full, so that a page of
/// large matrices is never held as text.
class Sink {
 public:
  using Consumer = std::function<void(std::string_view)>;

  explicit Sink(Consumer consumer) : consumer_(std::move(consumer)) { block_.reserve(block_size + 512); }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  void write(std::string_view bytes) {
    block_.append(bytes);
    if (block_.size() >= block_size) flush();
  }

  /// The block itself, to append to in place; call `spill` after each append.
  std::string& block() { return block_; }
  void spill() {
    if (block_.size() >= block_size) flush();
  }

  /// Passes on what has gathered. Must be called after the last write.
  void flush() {
    if (!block_.empty()) consumer_(block_);
    block_.clear();
  }

 private:
  static constexpr std::size_t block_size = 64 * 1024;
  Consumer consumer_;
  std::string block_;
};

/// Columns and rows; 0: not known.
struct TerminalSize {
  std::size_t columns = 0;
  std::size_t rows = 0;
};

/// A terminal as a whole, while this lives: nothing else is written to it, and whatever ends the program gives it back
/// as it was.
class Screen {
 public:
  virtual ~Screen() = default;
  /// As it is now.
  virtual TerminalSize size() const = 0;
  /// What changes it, as it stands.
  virtual void write(std::string_view bytes) = 0;
  /// Waits for a key, or for another size.
  virtual Keystroke next_key() = 0;
};

/// An interactive terminal. Lessons and the pager only know this much of it; main has the real one.
class Terminal {
 public:
  virtual ~Terminal() = default;
  virtual void write(std::string_view text) = 0;
  /// A line without its end, which can be edited and repeats earlier ones. Nothing: there is no more input.
  virtual std::optional<std::string> read_line(std::string_view prompt) = 0;
  /// One key, without Enter: ' ' for Page Down as well, 'b' for Page Up, 'j' for an arrow down. A key that is
  /// to interrupt does so.
  virtual std::optional<char> read_key() = 0;
  /// As it is now: windows change.
  virtual TerminalSize size() const = 0;
  /// The whole of it; null: it cannot be had.
  virtual std::unique_ptr<Screen> open_screen() { return nullptr; }
  /// Makes the folder of a file that will be saved. Throws OutputError where the file could not be written.
  virtual void prepare_to_save(const std::string& path) = 0;
  /// Writes a file whole or not at all. Throws OutputError.
  virtual void save(const FileToWrite& file) = 0;
  /// Runs the action while no other process runs one for a file in the same folder. Throws OutputError where
  /// another one does not end.
  virtual void alone_with(const std::string& path, const std::function<void()>& action) = 0;
  /// Gives a file another name, which no file has. Throws OutputError.
  virtual void rename(const std::string& path, const std::string& name) = 0;
};

}  // namespace attn
