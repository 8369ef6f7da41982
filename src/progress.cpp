#include "progress.hpp"

#include <unistd.h>

#include "render/width.hpp"
#include "standard_error.hpp"

namespace attn {

Progress::Progress()
    : at_terminal_(isatty(STDERR_FILENO) != 0), next_(Clock::now() + std::chrono::seconds(1)) {}

void Progress::tell(std::string_view stage) {
  constexpr auto pause = std::chrono::milliseconds(100);
  constexpr std::size_t width = 70;
  if (!at_terminal_ || Clock::now() < next_) return;
  next_ = Clock::now() + pause;
  shown_ = true;
  attn::tell("\r\x1b[Kattn: " + in_ascii(shortened(printable(stage), width, "~")));
}

void Progress::clear() {
  if (shown_) attn::tell("\r\x1b[K");
  shown_ = false;
}

}  // namespace attn
