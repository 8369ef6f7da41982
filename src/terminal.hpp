#pragma once

#include <memory>

#include "output_file.hpp"
#include "support/terminal.hpp"

namespace attn {

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

}  // namespace attn
