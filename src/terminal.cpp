#include "terminal.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "support/error.hpp"

namespace attn {
namespace {

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
