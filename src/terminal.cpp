#include "terminal.hpp"

#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "interrupts.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

termios usual_mode;

extern "C" void leave_terminal_as_it_was(int signal) {
  tcsetattr(STDIN_FILENO, TCSANOW, &usual_mode);
  _exit(exit_code_of(signal));
}

// While it lives, keys come one by one and are not echoed.
class KeyByKey {
 public:
  KeyByKey() {
    is_terminal_ = tcgetattr(STDIN_FILENO, &usual_mode) == 0;
    if (!is_terminal_) return;
    for (std::size_t i = 0; i < interrupts.size(); ++i)
      before_[i] = std::signal(interrupts[i], leave_terminal_as_it_was);
    termios mode = usual_mode;
    mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
    // Not flushed: what was typed ahead counts.
    tcsetattr(STDIN_FILENO, TCSANOW, &mode);
  }
  ~KeyByKey() {
    if (!is_terminal_) return;
    tcsetattr(STDIN_FILENO, TCSANOW, &usual_mode);
    for (std::size_t i = 0; i < interrupts.size(); ++i) std::signal(interrupts[i], before_[i]);
  }
  KeyByKey(const KeyByKey&) = delete;
  KeyByKey& operator=(const KeyByKey&) = delete;

  // The rest of what one key sends, as arrows do; nothing more comes within a tenth of a second.
  void drop_rest() const {
    if (!is_terminal_) return;
    termios mode;
    tcgetattr(STDIN_FILENO, &mode);
    mode.c_cc[VMIN] = 0;
    mode.c_cc[VTIME] = 1;
    tcsetattr(STDIN_FILENO, TCSANOW, &mode);
    char rest[16];
    while (read(STDIN_FILENO, rest, sizeof rest) == static_cast<ssize_t>(sizeof rest)) {
    }
  }

 private:
  bool is_terminal_ = false;
  std::array<void (*)(int), interrupts.size()> before_{};
};

std::optional<char> read_byte() {
  char byte = 0;
  for (;;) {
    const ssize_t came = read(STDIN_FILENO, &byte, 1);
    if (came == 1) return byte;
    if (came == 0 || errno != EINTR) return std::nullopt;
  }
}

}  // namespace

void StandardTerminal::write(std::string_view text) {
  output_.write(text);
}

std::optional<std::string> StandardTerminal::read_key() {
  // What was typed ahead as the end of input, before keys were read one by one, arrives as a zero.
  constexpr char escape = '\x1b', end_of_input = '\x04', end_ahead = '\0';
  const KeyByKey mode;
  const std::optional<char> byte = read_byte();
  if (!byte || *byte == end_of_input || *byte == end_ahead) return std::nullopt;
  if (*byte == '\n' || *byte == '\r') return "";
  if (*byte == escape || static_cast<unsigned char>(*byte) >= 0x80) mode.drop_rest();
  return std::string(1, *byte);
}

std::optional<std::string> StandardTerminal::read_line() {
  std::string line;
  for (;;) {
    const std::optional<char> byte = read_byte();
    if (!byte && line.empty()) return std::nullopt;
    if (!byte || *byte == '\n') return line;
    line += *byte;
  }
}

void StandardTerminal::save(const FileToWrite& file) {
  const std::filesystem::path folder = std::filesystem::path(file.path).parent_path();
  std::error_code reason;
  if (!folder.empty()) std::filesystem::create_directories(folder, reason);
  if (reason) throw OutputError(fmt::format("{} cannot be made: {}", folder.string(), reason.message()));
  write_file(file);
}

}  // namespace attn
