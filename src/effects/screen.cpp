#include "effects/screen.hpp"

#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>

#include "effects/terminal.hpp"

// As <term.h> has it, whose macros have the names of half the members of others.
extern "C" char* tigetstr(const char* name);

namespace attn {
namespace {

// --- what signals do

termios mode_of_shell, mode_of_screen;
std::array<char, 256> leaving, entering;  // what the terminal is told when it is given back, and taken again
std::size_t leaving_size = 0, entering_size = 0;
volatile std::sig_atomic_t was_away = 0;

void tell_terminal(const std::array<char, 256>& bytes, std::size_t size) {
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, bytes.data(), size);
}

extern "C" void give_back_and_end(int signal) {
  tell_terminal(leaving, leaving_size);
  tcsetattr(STDIN_FILENO, TCSANOW, &mode_of_shell);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

extern "C" void stop_and_come_back(int signal) {
  const int before = errno;
  tell_terminal(leaving, leaving_size);
  tcsetattr(STDIN_FILENO, TCSANOW, &mode_of_shell);
  stop_by(signal);
  std::signal(signal, stop_and_come_back);
  tcsetattr(STDIN_FILENO, TCSANOW, &mode_of_screen);
  tell_terminal(entering, entering_size);
  was_away = 1;
  errno = before;
}

// --- screen

// A sequence of the terminal's; empty: it has none.
std::string sequence(const char* name) {
  const char* const found = tigetstr(name);
  return !found || found == reinterpret_cast<const char*>(-1) ? "" : found;
}

std::size_t keep(std::array<char, 256>& bytes, const std::string& text) {
  const std::size_t size = std::min(text.size(), bytes.size());
  std::memcpy(bytes.data(), text.data(), size);
  return size;
}

std::string in_utf8(wint_t character) {
  std::mbstate_t state{};
  std::array<char, MB_LEN_MAX> bytes{};
  const std::size_t size = std::wcrtomb(bytes.data(), static_cast<wchar_t>(character), &state);
  return size == static_cast<std::size_t>(-1) ? "" : std::string(bytes.data(), size);
}

class CursesScreen final : public Screen {
 public:
  explicit CursesScreen(SCREEN* screen) : screen_(screen), keys_(newpad(1, 1)) {
    set_term(screen_);
    raw();
    noecho();
    nonl();
    keypad(keys_, TRUE);
    nodelay(keys_, TRUE);
    // Some terminals send these whatever mode they were told to be in.
    for (const auto& [sequence, code] :
         {std::pair("\x1b[A", KEY_UP), std::pair("\x1b[B", KEY_DOWN), std::pair("\x1b[C", KEY_RIGHT),
          std::pair("\x1b[D", KEY_LEFT), std::pair("\x1bOA", KEY_UP), std::pair("\x1bOB", KEY_DOWN),
          std::pair("\x1bOC", KEY_RIGHT), std::pair("\x1bOD", KEY_LEFT), std::pair("\x1b[H", KEY_HOME),
          std::pair("\x1b[F", KEY_END), std::pair("\x1b[5~", KEY_PPAGE), std::pair("\x1b[6~", KEY_NPAGE),
          std::pair("\x1b[Z", KEY_BTAB)})
      define_key(sequence, code);
    set_escdelay(25);
    mousemask(BUTTON1_CLICKED | BUTTON1_PRESSED, nullptr);
    mouseinterval(0);
    refresh();  // the terminal keeps what stood there, and shows another screen
    curs_set(0);
    tcgetattr(STDIN_FILENO, &mode_of_screen);
    leaving_size =
        keep(leaving, "\x1b[0m\x1b[?1000l\x1b[?1006l" + sequence("cnorm") + sequence("rmkx") + sequence("rmcup"));
    entering_size = keep(entering, sequence("smcup") + sequence("smkx") + sequence("civis"));
    for (std::size_t i = 0; i < interrupts.size(); ++i) {
      if (!is_ignored(interrupts[i])) before_[i] = std::signal(interrupts[i], give_back_and_end);
    }
    before_stop_ = std::signal(SIGTSTP, stop_and_come_back);
  }
  ~CursesScreen() override {
    for (std::size_t i = 0; i < interrupts.size(); ++i) {
      if (!is_ignored(interrupts[i])) std::signal(interrupts[i], before_[i]);
    }
    std::signal(SIGTSTP, before_stop_);
    delwin(keys_);
    endwin();
    delscreen(screen_);
  }
  CursesScreen(const CursesScreen&) = delete;
  CursesScreen& operator=(const CursesScreen&) = delete;

  // A terminal that does not tell its size has the usual one.
  TerminalSize size() const override {
    const TerminalSize told = size_of_terminal();
    return {told.columns > 0 ? told.columns : 80, told.rows > 0 ? told.rows : 24};
  }

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  Keystroke next_key() override {
    for (;;) {
      if (std::exchange(was_away, 0) != 0) return {.kind = Keystroke::Kind::resized};
      wint_t key = 0;
      const int kind = wget_wch(keys_, &key);
      if (kind == KEY_CODE_YES) {
        if (const std::optional<Keystroke> found = key_of_code(key)) return *found;
        continue;
      }
      if (kind == OK) return key_of_character(key);
      pollfd ready{STDIN_FILENO, POLLIN, 0};
      const int count = poll(&ready, 1, -1);
      if (count == 1 && (ready.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
        return {.kind = Keystroke::Kind::left_off};
    }
  }

 private:
  static std::optional<Keystroke> key_of_code(wint_t code) {
    switch (code) {
      case KEY_UP:
        return Keystroke{.kind = Keystroke::Kind::up};
      case KEY_DOWN:
        return Keystroke{.kind = Keystroke::Kind::down};
      case KEY_LEFT:
        return Keystroke{.kind = Keystroke::Kind::left};
      case KEY_RIGHT:
        return Keystroke{.kind = Keystroke::Kind::right};
      case KEY_PPAGE:
        return Keystroke{.kind = Keystroke::Kind::page_up};
      case KEY_NPAGE:
        return Keystroke{.kind = Keystroke::Kind::page_down};
      case KEY_HOME:
        return Keystroke{.kind = Keystroke::Kind::home};
      case KEY_END:
        return Keystroke{.kind = Keystroke::Kind::end};
      case KEY_ENTER:
        return Keystroke{.kind = Keystroke::Kind::enter};
      case KEY_BACKSPACE:
        return Keystroke{.kind = Keystroke::Kind::backspace};
      case KEY_BTAB:
        return Keystroke{.kind = Keystroke::Kind::back_tab};
      case KEY_RESIZE:
        return Keystroke{.kind = Keystroke::Kind::resized};
      case KEY_MOUSE: {
        MEVENT event;
        if (getmouse(&event) != OK || event.y < 0 || event.x < 0) return std::nullopt;
        return Keystroke{.kind = Keystroke::Kind::mouse,
                         .row = static_cast<std::size_t>(event.y),
                         .column = static_cast<std::size_t>(event.x)};
      }
      default:
        return std::nullopt;
    }
  }

  static Keystroke key_of_character(wint_t character) {
    constexpr wint_t interrupt = 3, end_of_input = 4, tabulator = 9, line = 10, enter = 13, stop = 26, quit = 28,
                     escape = 27, backspace = 8, rub_out = 127;
    switch (character) {
      case interrupt:
      case end_of_input:
      case quit:
        return {.kind = Keystroke::Kind::left_off};
      case stop:
        raise(SIGTSTP);
        return {.kind = Keystroke::Kind::resized};
      case tabulator:
        return {.kind = Keystroke::Kind::tab};
      case line:
      case enter:
        return {.kind = Keystroke::Kind::enter};
      case escape:
        return {.kind = Keystroke::Kind::escape};
      case backspace:
      case rub_out:
        return {.kind = Keystroke::Kind::backspace};
      default:
        return character_key(in_utf8(character));
    }
  }

  SCREEN* screen_;
  WINDOW* keys_;
  std::array<void (*)(int), interrupts.size()> before_{};
  void (*before_stop_)(int) = nullptr;
};

}  // namespace

std::unique_ptr<Screen> open_screen() {
  if (isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0 || !has_keyboard()) return nullptr;
  if (tcgetattr(STDIN_FILENO, &mode_of_shell) != 0) return nullptr;
  std::setlocale(LC_CTYPE, "");
  SCREEN* const screen = newterm(nullptr, stdout, stdin);
  if (!screen) return nullptr;
  if (sequence("cup").empty()) {  // it cannot move its cursor
    delscreen(screen);
    return nullptr;
  }
  return std::make_unique<CursesScreen>(screen);
}

}  // namespace attn
