#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace attn {

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

}  // namespace attn
