#include "keyboard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include "command/variables.hpp"
#include "interrupts.hpp"

namespace attn {
namespace {

// Keys come from the terminal even where standard input is something else.
class Keyboard {
 public:
  Keyboard() : descriptor_(isatty(STDIN_FILENO) ? STDIN_FILENO : open("/dev/tty", O_RDWR | O_CLOEXEC)) {}
  ~Keyboard() {
    if (descriptor_ > STDIN_FILENO) close(descriptor_);
  }
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  int descriptor() const { return descriptor_; }
  /// Whether it is there, and no other job has it.
  bool is_ours() const {
    const pid_t in_front = tcgetpgrp(descriptor_);
    return descriptor_ >= 0 && (in_front < 0 || in_front == getpgrp());
  }

 private:
  int descriptor_;
};

termios mode_before;
int terminal_in_use = -1;

extern "C" void restore_and_end(int signal) {
  tcsetattr(terminal_in_use, TCSANOW, &mode_before);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

// While it lives, keys come one by one and are not shown, those that would interrupt among them. Whatever
// ends the program gives the terminal back as it was.
class KeyByKey {
 public:
  explicit KeyByKey(const Keyboard& keyboard)
      : works_(keyboard.is_ours() && tcgetattr(keyboard.descriptor(), &mode_before) == 0) {
    if (!works_) return;
    const int terminal = terminal_in_use = keyboard.descriptor();
    for (std::size_t i = 0; i < interrupts.size(); ++i) {
      if (!is_ignored(interrupts[i])) before_[i] = std::signal(interrupts[i], restore_and_end);
    }
    termios mode = mode_before;
    mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
    tcsetattr(terminal, TCSADRAIN, &mode);
  }
  ~KeyByKey() {
    if (!works_) return;
    tcsetattr(terminal_in_use, TCSADRAIN, &mode_before);
    for (std::size_t i = 0; i < interrupts.size(); ++i) {
      if (!is_ignored(interrupts[i])) std::signal(interrupts[i], before_[i]);
    }
  }
  KeyByKey(const KeyByKey&) = delete;
  KeyByKey& operator=(const KeyByKey&) = delete;

  bool works() const { return works_; }

 private:
  bool works_;
  std::array<void (*)(int), interrupts.size()> before_{};
};

bool waits(int terminal, std::chrono::milliseconds patience) {
  pollfd ready{terminal, POLLIN, 0};
  return poll(&ready, 1, static_cast<int>(patience.count())) == 1;
}

std::optional<char> read_byte(int terminal) {
  char byte = 0;
  for (;;) {
    const ssize_t came = read(terminal, &byte, 1);
    if (came == 1) return byte;
    if (came == 0 || errno != EINTR) return std::nullopt;
  }
}

// What follows Escape: the keys that a pager knows; others are none.
char key_of_sequence(int terminal) {
  constexpr std::chrono::milliseconds at_once{25};
  std::string sequence;
  while (sequence.size() < 8 && waits(terminal, at_once)) {
    const std::optional<char> byte = read_byte(terminal);
    if (!byte) break;
    sequence += *byte;
    if (sequence.size() > 1 && (std::isalpha(static_cast<unsigned char>(*byte)) != 0 || *byte == '~')) break;
  }
  if (sequence == "[6~") return ' ';
  if (sequence == "[5~") return 'b';
  if (sequence == "[B" || sequence == "OB") return 'j';
  return '\0';
}

std::optional<char> pressed_key() {
  const Keyboard keyboard;
  const KeyByKey mode(keyboard);
  if (!mode.works()) return std::nullopt;
  constexpr char escape = '\x1b';
  const std::optional<char> byte = read_byte(keyboard.descriptor());
  return byte == escape ? key_of_sequence(keyboard.descriptor()) : byte;
}

void write_all(int terminal, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(terminal, bytes.data(), bytes.size());
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// The first two digits of each part of "rgb:1e1e/1e1e/2e2e".
std::optional<Rgb> rgb_in(const std::string& answer) {
  const std::size_t at = answer.find("rgb:");
  if (at == std::string::npos) return std::nullopt;
  std::array<int, 3> parts{};
  std::size_t begin = at + 4;
  for (int& part : parts) {
    const std::size_t end = answer.find_first_not_of("0123456789abcdefABCDEF", begin);
    if (end == begin || end == std::string::npos) return std::nullopt;
    const std::string digits = answer.substr(begin, std::min<std::size_t>(end - begin, 2));
    part = std::stoi(digits, nullptr, 16);
    begin = end + 1;
  }
  return Rgb{parts[0], parts[1], parts[2]};
}

}  // namespace

bool has_keyboard() {
  return Keyboard().is_ours();
}

std::optional<char> read_key() {
  const std::optional<char> key = pressed_key();
  // What the terminal would have done with these.
  for (const auto& [control, signal] : {std::pair{'\x03', SIGINT}, {'\x1c', SIGQUIT}, {'\x1a', SIGTSTP}}) {
    if (key == control) raise(signal);
  }
  return key;
}

std::optional<Rgb> ground_of_terminal() {
  // The second question, for the kind of terminal, is one that all answer: so there is no waiting for an
  // answer to the first that does not come.
  constexpr std::string_view questions = "\x1b]11;?\x1b\\\x1b[c";
  const bool is_far = std::getenv(variable::ssh_connection.name) != nullptr;
  const std::chrono::milliseconds patience{is_far ? 1000 : 200};
  const Keyboard keyboard;
  const KeyByKey mode(keyboard);
  using namespace std::chrono_literals;
  // What was typed already is not for us to read.
  if (!mode.works() || waits(keyboard.descriptor(), 0ms)) return std::nullopt;
  write_all(keyboard.descriptor(), questions);
  std::string answer;
  constexpr std::size_t most = 200;
  while (answer.size() < most && waits(keyboard.descriptor(), patience)) {
    const std::optional<char> byte = read_byte(keyboard.descriptor());
    if (!byte) break;
    answer += *byte;
    if (answer.find("\x1b[?") != std::string::npos && *byte == 'c') break;
  }
  return rgb_in(answer);
}

}  // namespace attn
