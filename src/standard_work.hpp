#pragma once

#include "command/long_work.hpp"
#include "progress.hpp"

namespace attn {

/// Long work at the terminal that the program was started from: shown on standard error, stopped by the
/// signals that would end the program.
class StandardWork final : public LongWork {
 public:
  StandardWork() = default;
  ~StandardWork() override { end(); }

  void tell(std::string_view stage) override { progress_.tell(stage); }
  std::optional<TerminalSize> canvas() const override;
  void draw(const std::vector<std::string>& lines) override;
  bool is_to_stop() override;
  void prepare_to_save(const std::string& path) override;
  void save(const FileToWrite& file) override;

  /// Takes back what was shown; signals end the program again.
  void end();

 private:
  void clear_drawing();

  Progress progress_;
  std::size_t drawn_ = 0;  // lines
  bool heeds_ = false;
};

}  // namespace attn
