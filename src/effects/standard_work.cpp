#include "effects/standard_work.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <vector>

#include "effects/output_file.hpp"
#include "effects/terminal.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

// --- standard work

volatile std::sig_atomic_t was_asked = 0;

// The next one ends the program, which gives the keyboard back.
extern "C" void note_that_it_was_asked(int signal) {
  was_asked = 1;
  std::signal(signal, give_keyboard_back_and_end);
}

void heed(void (*handler)(int), const std::vector<void (*)(int)>& in_place_of) {
  for (const int signal : interrupts) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 ||
        std::ranges::find(in_place_of, action.sa_handler) == in_place_of.end())
      continue;
    action.sa_handler = handler;
    sigaction(signal, &action, nullptr);
  }
}

// --- the terminal of standard error

int open_terminal_of_errors() {
  constexpr std::size_t longest = 256;
  std::array<char, longest> name{};
  if (ttyname_r(STDERR_FILENO, name.data(), name.size()) != 0) return -1;
  return open(name.data(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

}  // namespace

// --- standard work

std::optional<TerminalSize> StandardWork::canvas() const {
  winsize size{};
  if (isatty(STDERR_FILENO) == 0 || ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 2 || size.ws_col == 0)
    return std::nullopt;
  return TerminalSize{size.ws_col, size.ws_row};
}

void StandardWork::clear_drawing() {
  if (drawn_ > 0) terminal_.write(fmt::format("\r\x1b[{}A\x1b[J", drawn_));
  drawn_ = 0;
}

// One write, so that nothing flickers.
void StandardWork::draw(const std::vector<std::string>& lines) {
  const std::optional<TerminalSize> size = canvas();
  if (!size) return;
  progress_.clear();
  const std::size_t count = std::min(lines.size(), size->rows - 1);
  std::string bytes = drawn_ > 0 ? fmt::format("\r\x1b[{}A", drawn_) : std::string();
  for (std::size_t i = 0; i < count; ++i) bytes += fmt::format("\x1b[K{}\n", lines[i]);
  terminal_.write(bytes + "\x1b[J");
  drawn_ = count;
}

bool StandardWork::is_to_stop() {
  if (!heeds_) heed(note_that_it_was_asked, {SIG_DFL, give_keyboard_back_and_end});
  heeds_ = true;
  return was_asked != 0;
}

bool StandardWork::was_asked_to_stop() const { return was_asked != 0; }

bool StandardWork::has_keys() {
  if (!keys_) keys_ = std::make_unique<KeysMeanwhile>();
  return keys_->works();
}

std::optional<Keystroke> StandardWork::key_within(std::chrono::milliseconds patience) {
  return has_keys() ? keys_->next(patience) : std::nullopt;
}

void StandardWork::prepare_to_save(const std::string& path) { OutputFile file(path); }

void StandardWork::save(const FileToWrite& file) { write_file(file); }

void StandardWork::end() {
  progress_.clear();
  clear_drawing();
  keys_.reset();
  if (heeds_) heed(SIG_DFL, {note_that_it_was_asked, give_keyboard_back_and_end});
  heeds_ = false;
}

// --- the terminal of standard error

HeldTerminal::~HeldTerminal() {
  if (descriptor_.value_or(-1) >= 0) close(*descriptor_);
}

void HeldTerminal::write(std::string_view bytes) {
  constexpr int patience = 100;  // milliseconds, because a signal may come right before the wait
  constexpr int most_waits = 3;  // for one that is only slow
  int waits = 0;                 // since it was asked
  if (!descriptor_) descriptor_ = open_terminal_of_errors();
  if (*descriptor_ < 0) return attn::tell(bytes);
  while (!bytes.empty()) {
    const ssize_t written = ::write(*descriptor_, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && (errno == EAGAIN || errno == EINTR)) {
      if (was_asked != 0 && ++waits > most_waits) return;
      pollfd ready{*descriptor_, POLLOUT, 0};
      poll(&ready, 1, patience);
    } else {
      return;
    }
  }
}

// --- progress

Progress::Progress(HeldTerminal& terminal)
    : terminal_(terminal), at_terminal_(isatty(STDERR_FILENO) != 0), next_(Clock::now() + std::chrono::seconds(1)) {}

void Progress::tell(std::string_view stage) {
  constexpr auto pause = std::chrono::milliseconds(100);
  constexpr std::size_t widest = 70, prefix = std::string_view("attn: ").size();
  if (!at_terminal_ || Clock::now() < next_) return;
  next_ = Clock::now() + pause;
  shown_ = true;
  // A line that does not fit would go on in the next one, which is never cleared; the cursor takes a column.
  winsize size{};
  const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  const std::size_t columns = is_known ? size.ws_col : widest + prefix + 1;
  const std::size_t width = std::min(widest, columns - std::min(columns, prefix + 1));
  terminal_.write("\r\x1b[Kattn: " + shortened(in_ascii(printable(stage)), width, "~"));
}

void Progress::clear() {
  if (shown_) terminal_.write("\r\x1b[K");
  shown_ = false;
}

// --- standard error

void tell(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(STDERR_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace attn
