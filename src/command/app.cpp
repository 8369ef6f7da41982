#include "command/app.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command/check.hpp"
#include "command/explanation.hpp"
#include "command/for_browser.hpp"
#include "command/section.hpp"
#include "files/matrix_file.hpp"
#include "files/opened.hpp"
#include "math/crew.hpp"
#include "problem/problem_file.hpp"
#include "problem/transformer_file.hpp"
#include "render/color.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

// A format that is the command's own takes the place of the page.
const Format& choose_format(const Arguments& arguments, const std::string& output, const Command* command) {
  if (output.empty()) fail("the name of the output file is empty: give a file, or - for standard output");
  if (const std::optional<std::string> name = arguments.text(option::format)) {
    const bool is_own = command && std::ranges::find(command->formats, *name) != command->formats.end();
    return is_own ? formats().front() : look_up(formats(), *name, "format");
  }
  if (output != "-") return format_of_file(output);
  return formats().front();
}

// The page would take the place of what was written before it.
void refuse_two_in_one(const std::string& output, const std::vector<FileToWrite>& files) {
  for (const FileToWrite& file : files) {
    if (output != "-" && is_same_file(output, file.path))
      fail("{} would be written twice, and only the page would stay: give -o another file", file.path);
  }
}

// What was read cannot be made again from what is written over it. Documents that are kept current take the
// place of themselves.
void refuse_output_onto_input(const std::string& output, const std::vector<FileToWrite>& files) {
  const auto refuse = [](const std::string& path) {
    if (path != "-" && was_opened(path))
      fail("{} is read here and would be overwritten: give another file to write", path);
  };
  refuse(output);
  for (const FileToWrite& file : files) {
    if (!file.replaces) refuse(file.path);
  }
}

// Options of a problem that were given and that the command has no use for.
std::vector<std::string> remarks_on_unused(const Command& command, const OptionValues& given) {
  std::vector<std::string> remarks;
  for (const Option* option : problem_members()) {
    if (!given.has(*option) || command.uses(*option)) continue;
    remarks.push_back(fmt::format("{} changes nothing in attn {}", option->name, command.name));
  }
  return remarks;
}

// "name-2.svg" for the second part of "name.svg".
std::string path_of_part(const std::string& path, std::size_t number) {
  const std::size_t dot = path.find_last_of("./");
  const std::size_t end = dot == std::string::npos || path[dot] == '/' ? path.size() : dot;
  return fmt::format("{}-{}{}", path.substr(0, end), number, path.substr(end));
}

// Where a file holds a part of the page only, there is a file for each: the last one is what the answer
// writes, and the others are written with it.
void part(Answer& answer) {
  const Format& format = *answer.format;
  if (!format.parts || answer.output == "-") return;
  std::vector<Page> parts = format.parts(answer.page);
  if (parts.size() < 2) return;
  const std::string path = std::exchange(answer.output, path_of_part(answer.output, parts.size()));
  answer.page = std::move(parts.back());
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    FileToWrite& file = answer.files.emplace_back(FileToWrite{path_of_part(path, i + 1), ""});
    Sink sink([&](std::string_view bytes) { file.bytes += bytes; });
    format.render(parts[i], answer.style, sink);
    sink.flush();
  }
}

// What can be said of the options without the problem that they change.
void check(const Command& command, const OptionValues& given) {
  check_exclusions(given, command.own);
  check_needs(given, command.own);
  for (const OptionGroup* group : command.groups) {
    check_exclusions(given, *group);
    if (group != &problem_options()) check_needs(given, *group);
  }
}

// A built-in model is an example: it is no file, and may stand in a problem file.
OptionValues with_model_as_example(OptionValues values) {
  const std::optional<std::string> name = values.text(option::model);
  if (!name || !find_built_in(*name)) return values;
  values.leave_out(std::array{&option::model});
  values.put(option::example, std::string(*name));
  return values;
}

// The options of a model that a page has written, beneath those of the command line.
void take_model_options(const Command& command, Arguments& arguments) {
  const std::optional<std::string> path = arguments.text(option::problem);
  if (!path || !command.takes_model()) return;
  OptionList members;
  for (const Offered& row : options_of(command)) {
    if (!row.option->member.empty()) members.push_back(row.option);
  }
  OptionValues values = read_problem_file(read_bytes(*path), *path, members, arguments);
  values.override_with(arguments);
  static_cast<OptionValues&>(arguments) = std::move(values);
}

// A page for browsers has a format of its own.
void check_for_browser(const std::string& output, const Environment& environment) {
  if (output == "-" && environment.output_is_terminal)
    fail("a page for browsers is not for a terminal: give -o walk.html, or send the output on");
  if (output != "-" && !output.ends_with(".html") && !output.ends_with(".htm"))
    fail("-o {}: a page for browsers is HTML: give a name that ends in .html", output);
}

// The answer, in which messages may name members of problem files instead of options.
Answer answer_in_members(const std::vector<std::string>& command_line, const Environment& environment) {
  Parsed parsed = parse(command_line);
  parsed.arguments.environment = &environment;
  const Arguments& arguments = parsed.arguments;
  Answer answer;
  // How it is written is checked first: a wrong format should not cost a long computation.
  answer.output = arguments.text(option::output).value_or("-");
  const bool is_help = arguments.has(option::help) || arguments.has(option::short_help);
  const bool for_browser = arguments.has(option::page) && !is_help;
  if (for_browser) check_for_browser(answer.output, environment);
  answer.format = for_browser ? &formats().front() : &choose_format(arguments, answer.output, parsed.command);

  Outcome outcome;
  if (parsed.command && !is_help) {
    take_matrices_to_compare(*parsed.command, parsed.arguments);
    take_model_options(*parsed.command, parsed.arguments);
  }
  if (parsed.command && !is_help) check(*parsed.command, arguments);
  parsed.arguments.read();
  use_threads(arguments.count(option::threads).value_or(0));
  if (!parsed.command) {
    outcome.page = general_help();
  } else if (arguments.has(option::help)) {
    outcome.page = command_help(*parsed.command);
  } else if (is_help) {
    outcome.page = short_help(*parsed.command);
  } else {
    outcome = parsed.command->run(*parsed.command, arguments);
    if (parsed.command->takes_model()) {
      outcome.page.recipe = [values = with_model_as_example(arguments)](JsonWriter& json) {
        write_members(values, json);
      };
    }
    // An outline is a tree, which chooses its own lines.
    if (arguments.narrows() && !arguments.has(option::outline)) narrow(outcome, *parsed.command, arguments);
    std::ranges::move(remarks_on_unused(*parsed.command, arguments), std::back_inserter(outcome.warnings));
    if (for_browser) outcome.document = document_for_browser(outcome);
  }
  if (outcome.output) {
    answer.output = *outcome.output;
    answer.format = &choose_format(arguments, answer.output, parsed.command);
  }
  const bool to_file = answer.output != "-";
  if (answer.format->is_binary() && !to_file && environment.output_is_terminal) {
    fail("{} is not for a terminal: give -o FILE, or send the output on", answer.format->name);
  }
  answer.style = style_for(arguments, environment, to_file);
  answer.page = std::move(outcome.page);
  if (const std::optional<std::string> names = arguments.text(option::section))
    answer.page = only_sections(std::move(answer.page), *names);
  if (const std::optional<std::size_t> level = arguments.count(option::heading_level))
    answer.page = with_headings_at(std::move(answer.page), *level);
  answer.files = std::move(outcome.files);
  part(answer);
  refuse_two_in_one(answer.output, answer.files);
  if (!outcome.output) refuse_output_onto_input(answer.output, answer.files);
  if (const auto state = arguments.text(option::state); state && answer.output != "-") {
    if (is_same_file(answer.output, *state))
      fail("{} is the file of your progress and would be overwritten: give another file to write", *state);
  }
  if (answer.style.colors != Colors::none &&
      (outcome.session || std::ranges::any_of(answer.page.blocks, is_shaded)))
    answer.style.ground = ground_for(arguments, environment);
  if (!to_file) answer.pager = pager_for(arguments, environment);
  answer.warnings = std::move(outcome.warnings);
  answer.verdict = outcome.verdict;
  answer.session = std::move(outcome.session);
  answer.document = std::move(outcome.document);
  answer.afterwards = std::move(outcome.afterwards);
  answer.computation = std::move(outcome.computation);
  return answer;
}

}  // namespace

void write(const Answer& answer, Sink& sink) {
  if (answer.document) {
    answer.document(answer.style, sink);
  } else {
    answer.format->render(answer.page, answer.style, sink);
  }
}

Answer answer(const std::vector<std::string>& command_line, const Environment& environment) {
  try {
    Answer result = answer_in_members(command_line, environment);
    for (std::string& warning : result.warnings) warning = with_options(warning);
    return result;
  } catch (const InputError& error) {
    throw InputError(with_options(error.what()));
  }
}

}  // namespace attn
