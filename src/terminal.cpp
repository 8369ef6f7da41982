#include "terminal.hpp"

#include <histedit.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <clocale>
#include <filesystem>

#include "folder_lock.hpp"
#include "keyboard.hpp"
#include "support/error.hpp"

namespace attn {

// One line after another, with the lines before it.
class StandardTerminal::Editor {
 public:
  // The locale's characters are what keys give.
  Editor()
      : locale_(std::setlocale(LC_CTYPE, "")),
        lines_(history_init()),
        editor_(el_init("attn", stdin, stdout, stderr)) {
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

void StandardTerminal::write(std::string_view text) {
  output_.write(text);
}

std::optional<std::string> StandardTerminal::read_line(std::string_view prompt) {
  if (!editor_) editor_ = std::make_unique<Editor>();
  return editor_->read(prompt);
}

std::optional<char> StandardTerminal::read_key() {
  return attn::read_key();
}

TerminalSize StandardTerminal::size() const {
  TerminalSize size = size_of_terminal();
  if (!pauses_) size.rows = 0;
  return size;
}

void StandardTerminal::prepare_to_save(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code reason;
  if (!folder.empty()) std::filesystem::create_directories(folder, reason);
  if (reason) throw OutputError(fmt::format("{} cannot be made: {}", folder.string(), reason.message()));
  const OutputFile could_be_written(path);
}

void StandardTerminal::save(const FileToWrite& file) {
  write_file(file);
}

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

}  // namespace attn
