#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

#include "command/command.hpp"
#include "effects/terminal.hpp"

namespace attn {

/// The terminal of standard error, while work goes on. Writing waits as long as somebody holds the terminal (Ctrl-S),
/// but not when the work is asked to stop: what is not written then is left out.
class HeldTerminal {
 public:
  HeldTerminal() = default;
  ~HeldTerminal();
  HeldTerminal(const HeldTerminal&) = delete;
  HeldTerminal& operator=(const HeldTerminal&) = delete;

  void write(std::string_view bytes);

 private:
  /// Opened anew by its name, because whether writing waits holds for all programs that share a descriptor.
  std::optional<int> descriptor_ = {};  // -1: it has no name that can be opened
};

/// What long work is at, in one line of standard error that is taken back at the end. Nothing is shown within
/// the first second, and nothing at all where standard error is no terminal.
class Progress {
 public:
  explicit Progress(HeldTerminal& terminal);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void tell(std::string_view stage);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  HeldTerminal& terminal_;
  bool at_terminal_;
  bool shown_ = false;
  Clock::time_point next_;
};

/// Long work at the terminal that the program was started from: shown on standard error, stopped by the
/// signals that would end the program.
class StandardWork final : public LongWork {
 public:
  StandardWork() = default;
  ~StandardWork() override { end(); }

  void tell(std::string_view stage) override { progress_.tell(stage); }
  std::optional<TerminalSize> canvas() const override;
  void draw(const std::vector<std::string>& lines) override;
  void keep_drawing() override { drawn_ = 0; }
  bool has_keys() override;
  std::optional<Keystroke> key_within(std::chrono::milliseconds patience) override;
  bool is_to_stop() override;
  bool was_asked_to_stop() const override;
  void prepare_to_save(const std::string& path) override;
  void save(const FileToWrite& file) override;

  /// Takes back what was shown; signals end the program again.
  void end();

 private:
  void clear_drawing();

  HeldTerminal terminal_;
  Progress progress_{terminal_};
  std::size_t drawn_ = 0;  // lines
  bool heeds_ = false;
  std::unique_ptr<KeysMeanwhile> keys_;
};

/// Writes to standard error. Nothing happens where that is closed or full.
void tell(std::string_view bytes);

}  // namespace attn
