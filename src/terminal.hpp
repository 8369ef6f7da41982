#pragma once

#include "lesson/terminal.hpp"
#include "output_file.hpp"

namespace attn {

/// The terminal that the program was started from. A key is read without waiting for the end of a line, and
/// the terminal is as before whenever nothing is read, also after an interrupt.
class StandardTerminal final : public Terminal {
 public:
  void write(std::string_view text) override;
  std::optional<std::string> read_key() override;
  std::optional<std::string> read_line() override;
  void save(const FileToWrite& file) override;

 private:
  OutputFile output_{"-"};
};

}  // namespace attn
