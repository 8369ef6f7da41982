#pragma once

#include "lesson/terminal.hpp"
#include "output_file.hpp"

namespace attn {

/// The terminal that the program was started from, read line by line, so that a line can be mended before it
/// is sent.
class StandardTerminal final : public Terminal {
 public:
  void write(std::string_view text) override;
  std::optional<std::string> read_line() override;
  void save(const FileToWrite& file) override;

 private:
  OutputFile output_{"-"};
};

}  // namespace attn
