// Arguments in, output out, exit code. The effects themselves stand in the files beside it.

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <string>

#include "command/app.hpp"
#include "keyboard.hpp"
#include "math/product.hpp"
#include "output_file.hpp"
#include "paged_output.hpp"
#include "progress.hpp"
#include "render/width.hpp"
#include "standard_error.hpp"
#include "support/error.hpp"
#include "terminal.hpp"

namespace {

enum ExitCode { success = 0, not_written = 1, check_failed = 1, wrong_input = 2, defect = 70 };

attn::Environment environment() {
  attn::Environment environment;
  environment.variable = [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    if (!value) return std::nullopt;
    return value;
  };
  environment.output_is_terminal = isatty(STDOUT_FILENO) != 0;
  environment.input_is_terminal = isatty(STDIN_FILENO) != 0;
  environment.terminal_width = attn::size_of_terminal().columns;
  environment.ground = attn::ground_of_terminal;
  return environment;
}

// What the reader typed may come back in a sentence: it must not reach the terminal as a command.
void say(std::string_view sentence) {
  constexpr std::size_t most_bytes = 2000;  // a longer one repeats what it was given
  const std::string shown = attn::printable(attn::abridged(sentence, most_bytes));
  attn::tell(fmt::format("attn: {}\n", attn::speaks_utf8(environment()) ? shown : attn::in_ascii(shown)));
}

int complain(int code, std::string_view sentence) {
  say(sentence);
  return code;
}

// What the system says of a write is told; a signal would end the program before.
void let_writes_fail() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

// What a format cannot hold must be known before any file beside the page is written.
void write_beside(const attn::Answer& answer, attn::OutputFiles& files) {
  if (answer.files.empty()) return;
  attn::Sink nowhere([](std::string_view) {});
  answer.format->render(answer.page, answer.style, nowhere);
  for (const attn::FileToWrite& file : answer.files) files.write(file);
}

void write_paged(const attn::Answer& answer) {
  attn::OutputFiles files;
  write_beside(answer, files);
  files.take_places();
  attn::PagedOutput output(*answer.pager, answer.style);
  attn::Sink sink([&](std::string_view bytes) { output.write(bytes); });
  answer.format->render(answer.page, answer.style, sink);
  sink.flush();
  output.finish();
}

// A page is seen while it is written, unless it is a file: then the files beside it come first.
void write_whole(const attn::Answer& answer) {
  attn::OutputFiles files;
  write_beside(answer, files);
  attn::OutputFile& page = files.open(answer.output);
  if (!page.appears_whole()) files.take_places();
  attn::Sink sink([&](std::string_view bytes) { page.write(bytes); });
  answer.format->render(answer.page, answer.style, sink);
  sink.flush();
  page.settle();
  if (page.appears_whole()) files.take_places();
}

void write(const attn::Answer& answer) {
  try {
    if (answer.session) {
      attn::StandardTerminal terminal(answer.pager ? attn::Pauses::yes : attn::Pauses::no);
      answer.session(terminal, answer.style);
    } else if (answer.pager) {
      write_paged(answer);
    } else {
      write_whole(answer);
    }
  } catch (const attn::PageLeft&) {
    // A verdict counts all the same.
  }
}

int run(const std::vector<std::string>& command_line) {
  attn::Progress progress;
  attn::Environment world = environment();
  world.progress = [&](std::string_view stage) { progress.tell(stage); };
  const attn::Answer answer = attn::answer(command_line, world);
  progress.clear();
  for (const std::string& warning : answer.warnings) say("warning: " + warning);
  write(answer);
  return answer.verdict == attn::Verdict::passed ? success : check_failed;
}

}  // namespace

int main(int argc, char** argv) {
  attn::restore_environment_of_blas();
  let_writes_fail();
  try {
    return run({argv + 1, argv + argc});
  } catch (const attn::InputError& error) {
    return complain(wrong_input, error.what());
  } catch (const attn::OutputError& error) {
    return complain(not_written, error.what());
  } catch (const std::bad_alloc&) {
    return complain(wrong_input, "there is not enough memory for matrices of this size");
  } catch (const std::exception& error) {
    return complain(defect, fmt::format("this is a defect of attn: {}", error.what()));
  }
}
