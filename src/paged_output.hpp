#pragma once

#include <string>
#include <string_view>

#include "render/pager.hpp"
#include "render/style.hpp"
#include "terminal.hpp"

namespace attn {

/// Standard output at a terminal, page by page: through a command, or where that is empty through our own
/// pager. What fits on the screen is written as it is. Throws PageLeft when the reader has seen enough.
class PagedOutput {
 public:
  PagedOutput(std::string command, const Style& style);
  ~PagedOutput();
  PagedOutput(const PagedOutput&) = delete;
  PagedOutput& operator=(const PagedOutput&) = delete;

  void write(std::string_view bytes);
  /// Waits until the reader has left the command.
  void finish();

 private:
  void start();
  void send(std::string_view bytes);

  std::string command_;
  StandardTerminal terminal_{Pauses::yes};
  Pager pager_;
  std::size_t columns_;
  std::size_t rows_;
  std::string first_;  // what came before it was known whether it fits
  std::size_t lines_ = 0;
  int pipe_ = -1;
  int process_ = 0;
};

}  // namespace attn
