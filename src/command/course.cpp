#include "command/course.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "command/variables.hpp"
#include "lesson/kept_progress.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

// The file that keeps the progress: where the XDG Base Directory Specification puts state. Nothing: there is
// no home.
std::optional<std::string> state_file(const Arguments& arguments) {
  if (std::optional<std::string> given = arguments.text(option::state)) return given;
  constexpr std::string_view name = "attn/lessons.json";
  const std::string state = arguments.environment->variable(variable::xdg_state_home.name).value_or("");
  if (state.starts_with('/')) return (std::filesystem::path(state) / name).string();
  const std::string home = arguments.environment->variable(variable::home.name).value_or("");
  if (home.empty()) return std::nullopt;
  return (std::filesystem::path(home) / ".local/state" / name).string();
}

// As other warnings are written: without a capital and a full stop.
std::string as_warning(const Text& sentence) {
  std::string words;
  for (const Span& span : sentence) words += span.text;
  if (words.ends_with('.')) words.pop_back();
  words.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(words.front())));
  return words;
}

}  // namespace

Outcome page_of(std::vector<Block> blocks) {
  Outcome outcome;
  outcome.page.blocks = std::move(blocks);
  return outcome;
}

Verdict verdict_on(std::span<const MarkedHandIn> marks) {
  return std::ranges::all_of(marks, &MarkedHandIn::is_good) ? Verdict::passed : Verdict::failed;
}

std::string state_to_write(const Arguments& arguments) {
  if (std::optional<std::string> state = state_file(arguments)) return *state;
  fail("there is no folder for your progress: give --state FILE, or set HOME");
}

ProgressFile progress_so_far(const Arguments& arguments) {
  const std::optional<std::string> state = state_file(arguments);
  return state ? read_progress(*state) : ProgressFile{};
}

Afterwards changing_progress(const Arguments& arguments,
                             std::function<void(CourseProgress& progress)> change) {
  const std::optional<std::string> state = state_file(arguments);
  if (!state) return {};
  return [state = *state, change = std::move(change)](Terminal& terminal) {
    std::vector<std::string> warnings;
    const auto tell = [&](const Text& sentence) { warnings.push_back(as_warning(sentence)); };
    try {
      KeptProgress(terminal, state, tell).change(change);
    } catch (const InputError& error) {  // what was asked for is done
      warnings.emplace_back(error.what());
    }
    return warnings;
  };
}

// A session makes room for another file; a page can only say what it has found.
Outcome with_warning(Outcome outcome, const ProgressFile& file, const Arguments& arguments) {
  if (file.is_damaged && !outcome.session)
    outcome.warnings.push_back(
        fmt::format("the file of your progress, {}, is damaged, and is shown as no progress. When you take a "
                    "lesson, it gets another name",
                    state_to_write(arguments)));
  return outcome;
}

bool at_terminal(const Arguments& arguments) {
  const Environment& environment = *arguments.environment;
  const bool as_page =
      arguments.has(option::no_input) || arguments.has(option::output) || arguments.has(option::format);
  return environment.input_is_terminal && environment.output_is_terminal && !as_page;
}

Outcome interactive(const Arguments& arguments, std::function<void(LessonTerminal& terminal)> action) {
  Outcome outcome;
  outcome.session = [action = std::move(action), state = state_to_write(arguments)](Terminal& terminal,
                                                                                    const Style& style) {
    LessonTerminal lesson_terminal(terminal, style, state);
    action(lesson_terminal);
  };
  return outcome;
}

}  // namespace attn
