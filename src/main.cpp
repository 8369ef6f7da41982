// Arguments in, output out, exit code. The effects themselves stand in effects/.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "command/app.hpp"
#include "command/command.hpp"
#include "command/complaints.hpp"
#include "command/options.hpp"
#include "core/math/product.hpp"
#include "core/support/error.hpp"
#include "data/files/mapped_file.hpp"
#include "effects/cage.hpp"
#include "effects/lost_file.hpp"
#include "effects/output_file.hpp"
#include "effects/provisional_name.hpp"
#include "effects/standard_work.hpp"
#include "effects/terminal.hpp"
#include "page/render/width.hpp"

namespace {

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
  environment.confine = [](const std::vector<std::string>& files) { attn::confine_writing(files); };
  environment.new_seed = [] { return std::random_device()() % 1'000'000; };  // short enough to be told on
  return environment;
}

using CommandLine = std::span<char* const>;  // with the name of the program

// A command line that cannot be understood may still ask for ASCII, in which it is told so.
bool takes_unicode(CommandLine words) {
  const auto asks_for_ascii = [](std::string_view word) { return word == attn::option::ascii.name; };
  return attn::speaks_utf8(environment()) && std::ranges::none_of(words, asks_for_ascii);
}

// What the reader typed may come back in a sentence: it must not reach the terminal as a command.
std::string shown(CommandLine words, std::string_view sentence) {
  constexpr std::size_t most_bytes = 2000;  // a longer one repeats what it was given
  const std::string printable = attn::printable(attn::abridged(sentence, most_bytes));
  return takes_unicode(words) ? printable : attn::in_ascii(printable);
}

void say(CommandLine words, std::string_view kind, std::string_view sentence) {
  const std::string_view before = kind == "warning" ? "warning: " : "";
  attn::tell(attn::asks_for_json(words)
                 ? attn::sentence_as_json(kind, sentence)
                 : fmt::format("attn: {}\n", shown(words, fmt::format("{}{}", before, sentence))));
}

int complain(CommandLine words, const attn::ExitCode& code, std::string_view sentence, const attn::About& about = {}) {
  attn::tell(attn::asks_for_json(words) ? attn::error_as_json(sentence, about, code)
                                        : fmt::format("attn: {}\n", shown(words, sentence)));
  return code.code;
}

// Without memory nothing can be formatted either.
int complain_of_memory() {
  attn::tell(
      "attn: there is not enough memory for this here: give smaller sizes, or let the program have more memory\n");
  return attn::exit_code::wrong_input.code;
}

[[noreturn]] void end_without_memory() {
  attn::ProvisionalName::remove_all();
  std::_Exit(complain_of_memory());
}

// g++ 12 destroys members that were never made where making a table fails half way. Nothing has begun yet:
// the program ends there.
void make_tables() {
  const std::new_handler before = std::set_new_handler(end_without_memory);
  attn::commands();
  std::set_new_handler(before);
}

// An exception that meets a function of a library that may not throw finds no way back to main; it ends the
// program as the same one does there.
[[noreturn]] void end_without_way_back() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (...) {
  }
  attn::ProvisionalName::remove_all();
  attn::tell("attn: this is a defect of attn: an exception stands where none may\n");
  std::_Exit(attn::exit_code::defect.code);
}

// What the system says of a write is told; a signal would end the program before.
void let_writes_fail() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

// What a format cannot hold must be known before any file beside the page is written.
void write_beside(const attn::AnswerInFormat& answer, attn::OutputFiles& files) {
  if (answer.files.empty()) return;
  attn::Sink nowhere([](std::string_view) {});
  attn::write(answer, nowhere);
  for (const attn::FileToWrite& file : answer.files) files.write(file);
}

// Other programs get every byte, a terminal none that it could take for a command. Text has our own commands
// in it, the colors, and is made of what is printable.
attn::Sink::Consumer as_seen(const attn::AnswerInFormat& answer, attn::Sink::Consumer consumer) {
  const bool is_seen = !answer.is_file() && environment().output_is_terminal;
  if (!is_seen || answer.format == &attn::formats().front()) return consumer;
  return [consumer = std::move(consumer)](std::string_view bytes) { consumer(attn::printable_lines(bytes)); };
}

void write_paged(const attn::AnswerInFormat& answer) {
  attn::OutputFiles files;
  write_beside(answer, files);
  files.take_places();
  attn::PagedOutput output(*answer.pager, answer.style);
  attn::Sink sink(as_seen(answer, [&](std::string_view bytes) { output.write(bytes); }));
  attn::write(answer, sink);
  sink.flush();
  output.finish();
}

// A page is seen while it is written, unless it is a file: then the files beside it come first.
void write_whole(const attn::AnswerInFormat& answer) {
  attn::OutputFiles files;
  write_beside(answer, files);
  attn::OutputFile& page = files.open(*answer.output);
  if (!page.appears_whole()) files.take_places();
  attn::Sink sink(as_seen(answer, [&](std::string_view bytes) { page.write(bytes); }));
  attn::write(answer, sink);
  sink.flush();
  page.settle();
  if (page.appears_whole()) files.take_places();
}

void write(const attn::AnswerInFormat& answer) {
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

int run(CommandLine words) {
  attn::StandardWork work;
  attn::Environment world = environment();
  world.work = &work;
  const attn::AnswerInFormat answer = attn::answer({words.begin() + 1, words.end()}, world);
  work.end();
  attn::require_mapped_files_unchanged();
  for (const std::string& warning : answer.warnings) say(words, "warning", warning);
  write(answer);
  attn::require_mapped_files_unchanged();
  for (const std::string& note : answer.notes) say(words, "note", note);
  if (answer.afterwards) {
    attn::StandardTerminal terminal(attn::Pauses::no);
    for (const std::string& warning : answer.afterwards(terminal)) say(words, "warning", warning);
  }
  if (answer.document && answer.is_file()) say(words, "note", fmt::format("open {} in a browser", *answer.output));
  for (const std::string& complaint : answer.complaints) complain(words, attn::exit_code::wrong_input, complaint);
  if (!answer.complaints.empty()) return attn::exit_code::wrong_input.code;
  return (answer.verdict == attn::Verdict::passed ? attn::exit_code::success : attn::exit_code::failed).code;
}

// Before the constructor of OpenBLAS, which newer releases do not leave without room for a product.
[[gnu::constructor(102)]] void require_room_to_start() {
  if (attn::has_room_for_products()) return;
  constexpr std::string_view sentence = "attn: there is not enough memory to start: matrix products take 192 MiB\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, sentence.data(), sentence.size());
  _exit(attn::exit_code::wrong_input.code);
}

}  // namespace

int main(int argc, char** argv) {
  attn::restore_environment_of_blas();
  let_writes_fail();
  attn::end_where_a_file_is_lost();
  std::set_terminate(end_without_way_back);
  make_tables();
  const CommandLine words(argv, static_cast<std::size_t>(argc));
  try {
    return run(words);
  } catch (const attn::InputError& error) {
    return complain(words, attn::exit_code::wrong_input, error.what(), error.about());
  } catch (const attn::OutputError& error) {
    return complain(words, attn::exit_code::failed, error.what(), error.about());
  } catch (const std::bad_alloc&) {
    return complain_of_memory();
  } catch (const std::exception& error) {
    return complain(words, attn::exit_code::defect, fmt::format("this is a defect of attn: {}", error.what()));
  }
}
