#include "effects/terminal.hpp"

#include <fcntl.h>
#include <histedit.h>
#include <poll.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "command/command.hpp"
#include "core/support/error.hpp"
#include "effects/output_file.hpp"
#include "effects/screen.hpp"
#include "page/render/width.hpp"

namespace attn {

void stop_by(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t only_this;
  sigemptyset(&only_this);
  sigaddset(&only_this, signal);
  sigprocmask(SIG_UNBLOCK, &only_this, nullptr);
  raise(signal);  // it stops here
}

// --- terminal

// One line after another, with the lines before it.
class StandardTerminal::Editor {
 public:
  // The locale's characters are what keys give.
  Editor()
      : locale_(std::setlocale(LC_CTYPE, "")), lines_(history_init()), editor_(el_init("attn", stdin, stdout, stderr)) {
    HistEvent event;
    constexpr int most = 200;
    history(lines_, &event, H_SETSIZE, most);
    history(lines_, &event, H_SETUNIQUE, 1);
    el_set(editor_, EL_CLIENTDATA, this);
    el_set(editor_, EL_PROMPT, prompt_of);
    el_set(editor_, EL_EDITOR, "emacs");
    el_set(editor_, EL_SIGNAL, 1);
    el_set(editor_, EL_HIST, history, lines_);
  }
  ~Editor() {
    el_end(editor_);
    history_end(lines_);
  }
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  std::optional<std::string> read(std::string_view prompt) {
    prompt_ = prompt;
    // Otherwise the prompt would stand there a moment before keys are the editor's, and the end of input be
    // lost.
    el_set(editor_, EL_PREP_TERM, 1);
    int count = 0;
    const char* const typed = el_gets(editor_, &count);
    if (!typed || count <= 0) return std::nullopt;
    std::string line(typed, static_cast<std::size_t>(count));
    line.erase(line.find_last_not_of("\r\n") + 1);
    HistEvent event;
    if (!line.empty()) history(lines_, &event, H_ENTER, line.c_str());
    return line;
  }

 private:
  static char* prompt_of(EditLine* editor) {
    Editor* self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return self->prompt_.data();
  }

  const char* locale_;
  std::string prompt_;
  History* lines_;
  EditLine* editor_;
};

StandardTerminal::StandardTerminal(Pauses pauses) : pauses_(pauses == Pauses::yes && has_keyboard()) {}
StandardTerminal::~StandardTerminal() = default;

void StandardTerminal::write(std::string_view text) { output_.write(text); }

std::optional<std::string> StandardTerminal::read_line(std::string_view prompt) {
  if (!editor_) editor_ = std::make_unique<Editor>();
  return editor_->read(prompt);
}

std::optional<char> StandardTerminal::read_key() { return attn::read_key(); }

TerminalSize StandardTerminal::size() const {
  TerminalSize size = size_of_terminal();
  if (!pauses_) size.rows = 0;
  return size;
}

std::unique_ptr<Screen> StandardTerminal::open_screen() { return attn::open_screen(); }

void StandardTerminal::prepare_to_save(const std::string& path) { const OutputFile could_be_written(path); }

void StandardTerminal::save(const FileToWrite& file) { write_file(file); }

void StandardTerminal::alone_with(const std::string& path, const std::function<void()>& action) {
  const FolderLock lock(path);
  action();
}

void StandardTerminal::rename(const std::string& path, const std::string& name) {
  std::error_code reason;
  std::filesystem::rename(path, name, reason);
  if (reason) throw OutputError(fmt::format("{} cannot be renamed: {}", path, reason.message()));
}

TerminalSize size_of_terminal() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return {size.ws_col, size.ws_row};
}

// --- keyboard

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

// --- keys meanwhile

termios mode_before_keys, mode_of_keys;
volatile std::sig_atomic_t keys_from = -1;  // the descriptor of a KeysMeanwhile that lives

void take_keyboard(int terminal) {
  if (tcgetpgrp(terminal) == getpgrp()) tcsetattr(terminal, TCSANOW, &mode_of_keys);
}

extern "C" void give_keyboard_back_and_stop(int signal) {
  const int before = errno;
  tcsetattr(keys_from, TCSANOW, &mode_before_keys);
  stop_by(signal);
  std::signal(signal, give_keyboard_back_and_stop);
  take_keyboard(keys_from);
  errno = before;
}

// Of the keys that send several bytes.
std::optional<Keystroke> arrow_of(std::string_view sequence) {
  using enum Keystroke::Kind;
  constexpr std::pair<char, Keystroke::Kind> arrows[] = {{'A', up}, {'B', down}, {'C', right}, {'D', left}};
  if (sequence.size() != 2 || (sequence.front() != '[' && sequence.front() != 'O')) return std::nullopt;
  for (const auto& [last, kind] : arrows) {
    if (sequence.back() == last) return Keystroke{.kind = kind};
  }
  return std::nullopt;
}

}  // namespace

extern "C" void give_keyboard_back_and_end(int signal) {
  if (keys_from >= 0) tcsetattr(keys_from, TCSANOW, &mode_before_keys);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

KeysMeanwhile::KeysMeanwhile()
    : descriptor_(isatty(STDIN_FILENO) ? STDIN_FILENO : open("/dev/tty", O_RDWR | O_CLOEXEC)),
      works_(descriptor_ >= 0 && tcgetpgrp(descriptor_) == getpgrp() &&
             tcgetattr(descriptor_, &mode_before_keys) == 0) {
  if (!works_) return;
  mode_of_keys = mode_before_keys;
  mode_of_keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  mode_of_keys.c_cc[VMIN] = 1;
  mode_of_keys.c_cc[VTIME] = 0;
  keys_from = descriptor_;
  for (const int signal : interrupts) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL)
      std::signal(signal, give_keyboard_back_and_end);
  }
  if (!is_ignored(SIGTSTP)) std::signal(SIGTSTP, give_keyboard_back_and_stop);
  tcsetattr(descriptor_, TCSADRAIN, &mode_of_keys);
}

KeysMeanwhile::~KeysMeanwhile() {
  if (works_) {
    if (tcgetpgrp(descriptor_) == getpgrp()) tcsetattr(descriptor_, TCSADRAIN, &mode_before_keys);
    if (!is_ignored(SIGTSTP)) std::signal(SIGTSTP, SIG_DFL);
    keys_from = -1;
    for (const int signal : interrupts) {
      struct sigaction action {};
      if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == give_keyboard_back_and_end)
        std::signal(signal, SIG_DFL);
    }
  }
  if (descriptor_ > STDIN_FILENO) close(descriptor_);
}

std::optional<Keystroke> KeysMeanwhile::next(std::chrono::milliseconds patience) {
  // In the background keys are not for us.
  if (!works_ || tcgetpgrp(descriptor_) != getpgrp() || !waits(descriptor_, patience)) return std::nullopt;
  const std::optional<char> byte = read_byte(descriptor_);
  if (!byte) {
    works_ = false;
    tcsetattr(descriptor_, TCSANOW, &mode_before_keys);
    return Keystroke{.kind = Keystroke::Kind::left_off};
  }
  if (*byte == '\r' || *byte == '\n') return Keystroke{.kind = Keystroke::Kind::enter};
  constexpr char escape = '\x1b', end_of_input = 4;
  if (*byte == end_of_input) return Keystroke{.kind = Keystroke::Kind::left_off};
  if (*byte != escape) return character_key(std::string_view(&*byte, 1));
  constexpr std::chrono::milliseconds at_once{25};
  std::string sequence;
  while (sequence.size() < 8 && waits(descriptor_, at_once)) {
    const std::optional<char> more = read_byte(descriptor_);
    if (!more) break;
    sequence += *more;
    if (sequence.size() > 1 && (std::isalpha(static_cast<unsigned char>(*more)) != 0 || *more == '~')) break;
  }
  if (sequence.empty()) return Keystroke{.kind = Keystroke::Kind::escape};
  return arrow_of(sequence);
}

bool has_keyboard() { return Keyboard().is_ours(); }

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

// --- paged output

PagedOutput::PagedOutput(std::string command, const Style& style)
    : command_(std::move(command)),
      pager_(terminal_, style),
      columns_(terminal_.size().columns),
      rows_(command_.empty() ? terminal_.size().rows : size_of_terminal().rows) {}

PagedOutput::~PagedOutput() {
  if (pipe_ >= 0) close(pipe_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

void PagedOutput::write(std::string_view bytes) {
  if (command_.empty() || rows_ == 0) return pager_.write(bytes);
  if (pipe_ >= 0) return send(bytes);
  first_ += bytes;
  lines_ += rows_of(bytes, columns_);
  if (lines_ < rows_) return;
  start();
  send(first_);
}

void PagedOutput::finish() {
  if (command_.empty() || rows_ == 0) return pager_.finish();
  if (pipe_ < 0) return terminal_.write(first_);
  close(std::exchange(pipe_, -1));
  int status = 0;
  waitpid(std::exchange(process_, 0), &status, 0);
  constexpr int not_to_be_run = 126, not_found = 127;  // as shells say it
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  if (code == not_to_be_run || code == not_found)
    throw OutputError(fmt::format("the pager '{}' cannot be run: set PAGER to another, or give --no-pager", command_));
}

void PagedOutput::start() {
  // What git sets: quit where all fits, keep colors, leave the page on the screen.
  setenv("LESS", "FRX", 0);
  setenv("LV", "-c", 0);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw OutputError(fmt::format("the pager cannot be started: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  // We ignore what a write is told of anyway; what the pager starts need not.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGXFSZ);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  char shell[] = "sh", option[] = "-c";
  char* const words[] = {shell, option, command_.data(), nullptr};
  const int failure = posix_spawn(&process_, "/bin/sh", &actions, &attributes, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[0]);
  pipe_ = ends[1];
  if (failure != 0) throw OutputError(fmt::format("the pager cannot be started: {}", std::strerror(failure)));
  // The keyboard is the pager's: an interrupt is for it to understand.
  std::signal(SIGINT, SIG_IGN);
}

void PagedOutput::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(pipe_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) {
      finish();  // it says whether there was a reader at all
      throw PageLeft{};
    }
    if (written < 0) throw OutputError(fmt::format("the pager cannot be written to: {}", std::strerror(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace attn
