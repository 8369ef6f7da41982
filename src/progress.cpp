#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "render/width.hpp"

namespace attn {

Progress::Progress()
    : at_terminal_(isatty(STDERR_FILENO) != 0), next_(Clock::now() + std::chrono::seconds(1)) {}

void Progress::tell(std::string_view stage) {
  constexpr auto pause = std::chrono::milliseconds(100);
  constexpr std::size_t width = 70;
  if (!at_terminal_ || Clock::now() < next_) return;
  next_ = Clock::now() + pause;
  shown_ = true;
  fmt::print(stderr, "\r\x1b[Kattn: {}", in_ascii(shortened(printable(stage), width, "~")));
  std::fflush(stderr);
}

void Progress::clear() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
  shown_ = false;
}

}  // namespace attn
