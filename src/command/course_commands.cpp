#include "command/course_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <utility>

#include "command/app.hpp"
#include "command/command.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "school/lesson/marking.hpp"
#include "school/lesson/progress.hpp"

namespace attn {

namespace {

// As other warnings are written: without a capital and a full stop.
std::string as_warning(const Text& sentence) {
  std::string words;
  for (const Span& span : sentence) words += span.text;
  if (words.ends_with('.')) words.pop_back();
  words.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(words.front())));
  return words;
}

}  // namespace

// Where the XDG Base Directory Specification puts state.
std::optional<std::string> state_file(const Arguments& arguments) {
  if (std::optional<std::string> given = arguments.text(option::state)) return given;
  constexpr std::string_view name = "attn/lessons.json";
  const std::string state = arguments.environment->variable(variable::xdg_state_home.name).value_or("");
  if (state.starts_with('/')) return (std::filesystem::path(state) / name).string();
  const std::string home = arguments.environment->variable(variable::home.name).value_or("");
  if (!home.starts_with('/')) return std::nullopt;  // another one in each folder
  return (std::filesystem::path(home) / ".local/state" / name).string();
}

Answer page_of(std::vector<Block> blocks) {
  Answer answer;
  answer.page.blocks = std::move(blocks);
  return answer;
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

Afterwards changing_progress(const Arguments& arguments, std::function<void(CourseProgress& progress)> change) {
  const std::optional<std::string> state = state_file(arguments);
  if (!state) return {};
  return [state = *state, change = std::move(change)](Terminal& terminal) {
    std::vector<std::string> warnings;
    const auto tell = [&](const Text& sentence) { warnings.push_back(as_warning(sentence)); };
    try {
      ProgressStore(terminal, state, tell).change(change);
    } catch (const InputError& error) {  // what was asked for is done
      warnings.emplace_back(error.what());
    }
    return warnings;
  };
}

// A session makes room for another file; a page can only say what it has found.
Answer with_warning(Answer answer, const ProgressFile& file, const Arguments& arguments) {
  if (file.is_damaged && !answer.session)
    answer.warnings.push_back(
        fmt::format("the file of your progress, {}, is damaged, and is shown as no progress. "
                    "When you take a lesson, it gets another name",
                    state_to_write(arguments)));
  return answer;
}

bool at_terminal(const Arguments& arguments) {
  const Environment& environment = *arguments.environment;
  const bool as_page =
      arguments.has(option::no_input) || arguments.has(option::output) || arguments.has(option::format);
  return environment.input_is_terminal && environment.output_is_terminal && !as_page;
}

Answer interactive(const Arguments& arguments, std::function<void(LessonTerminal& terminal)> action) {
  Answer answer;
  answer.session = [action = std::move(action), state = state_to_write(arguments),
                    inside = arguments.environment->inner()](Terminal& terminal, const Style& style) {
    LessonTerminal lesson_terminal(terminal, style, state);
    lesson_terminal.runs_with([&inside](const std::vector<std::string>& words, Terminal& at, const Style& in) {
      const AnswerInFormat here = attn::answer(words, inside);
      if (!here.session) fail("attn {} has no screen of its own", words.front());
      here.session(at, in);
    });
    action(lesson_terminal);
  };
  return answer;
}

void refuse_idle(const Command& command, const std::string& typed, std::span<const Option* const> taken,
                 const Arguments& arguments) {
  for (const Action& other : command.actions) {
    for (const Option* option : other.options) {
      if (!arguments.has(*option) || std::ranges::find(taken, option) != taken.end()) continue;
      std::vector<std::string> takers;
      for (const Action& action : command.actions) {
        if (std::ranges::find(action.options, option) != action.options.end())
          takers.push_back(fmt::format("attn {} {}", command.name, action.name));
      }
      fail("{} takes no {}: {} {:takes|take} it", typed, option->name, list_in_words(takers), Count{takers.size()});
    }
  }
}

Answer run_action(const Command& command, const Action& action, const Arguments& arguments) {
  const std::string typed = fmt::format("attn {} {}", command.name, action.name);
  const std::size_t count = arguments.words.size() - 1;
  if (count < least_count(action.words) || count > most_count(action.words))
    fail("{} is written: {}{}{}", typed, typed, action.words.empty() ? "" : " ", usage_of_words(action.words));
  refuse_idle(command, typed, action.options, arguments);
  return action.run(arguments);
}

void refuse_to_replace(const std::string& path, const Arguments& arguments) {
  if (file_exists(path) && !arguments.has(option::yes))
    fail("{} is there already: give another file, or --yes to replace it", path);
}

Block printed_markdown(const std::string& markdown) {
  return CodeBlock{"markdown", std::string(without_ending(markdown))};
}

Answer begin_document(std::string_view what, const std::function<std::string(const std::string& path)>& document,
                      const std::array<std::string_view, 2>& commands, const Arguments& arguments) {
  const bool is_written = arguments.words.size() > 1;
  const std::string path = is_written ? arguments.words[1] : "new.md";
  if (!path.ends_with(".md")) fail("{}: {} is Markdown: give a name that ends in .md", path, what);
  const std::string markdown = document(path);
  if (!is_written) return page_of({printed_markdown(markdown)});
  refuse_to_replace(path, arguments);
  Answer answer =
      page_of({Prose{text(path, " is written. Find mistakes in it with ", code(fmt::format("{} {}", commands[0], path)),
                          ", and take it with ", code(fmt::format("{} {}", commands[1], path)), ".")}});
  answer.files.push_back({path, markdown});
  return answer;
}

}  // namespace attn
