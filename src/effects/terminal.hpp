#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/support/outside.hpp"
#include "effects/output_file.hpp"
#include "page/render/style.hpp"
#include "page/render/width.hpp"

namespace attn {

/// Lets a signal do what it does without a handler, and returns when the program goes on. For a handler of it.
void stop_by(int signal);

/// Whether pages wait for a key.
enum class Pauses { no, yes };

/// The terminal that the program was started from. Lines are edited with libedit, which is only woken when
/// the first one is asked for.
class StandardTerminal final : public Terminal {
 public:
  explicit StandardTerminal(Pauses pauses);
  ~StandardTerminal() override;

  void write(std::string_view text) override;
  std::optional<std::string> read_line(std::string_view prompt) override;
  std::optional<char> read_key() override;
  /// Without rows where nothing is to pause, or where no key can be pressed.
  TerminalSize size() const override;
  std::unique_ptr<Screen> open_screen() override;
  void prepare_to_save(const std::string& path) override;
  void save(const FileToWrite& file) override;
  void alone_with(const std::string& path, const std::function<void()>& action) override;
  void rename(const std::string& path, const std::string& name) override;

 private:
  class Editor;

  bool pauses_;
  OutputFile output_{"-"};
  std::unique_ptr<Editor> editor_;
};

/// The size of the terminal that standard output is; zeros where it is none.
TerminalSize size_of_terminal();

/// The signals by which somebody ends the program early.
constexpr std::array interrupts = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// Whether this signal was ignored when the program started, as with nohup: it stays ignored.
inline bool is_ignored(int signal) {
  struct sigaction before {};
  return sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN;
}

// The keys of the terminal that the program was started from, one by one and without Enter, even where
// standard input is something else.

/// Whether there is one, and no other job has it.
bool has_keyboard();

/// Waits for a key, as `Terminal::read_key` gives it. Nothing: there is no keyboard, or no more input.
std::optional<char> read_key();

/// While it lives, keys come one by one, without Enter, and are not shown. Those that interrupt or stop the program do
/// so, and whatever ends or stops it gives the keyboard back as it was.
class KeysMeanwhile {
 public:
  KeysMeanwhile();
  ~KeysMeanwhile();
  KeysMeanwhile(const KeysMeanwhile&) = delete;
  KeysMeanwhile& operator=(const KeysMeanwhile&) = delete;

  /// Whether there is a keyboard, which no other job has.
  bool works() const { return works_; }
  /// The next key, or nothing within this time. Of others than characters only arrows and Enter.
  std::optional<Keystroke> next(std::chrono::milliseconds patience);

 private:
  int descriptor_;
  bool works_;
};

/// What a signal does where it ends the program while a KeysMeanwhile may live.
extern "C" void give_keyboard_back_and_end(int signal);

/// What the terminal answers when it is asked for its background color (xterm's OSC 11); nothing where it
/// does not answer, where keys are waiting, or where there is no terminal.
std::optional<Rgb> ground_of_terminal();

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
