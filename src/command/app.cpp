#include "command/app.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <span>
#include <string>
#include <utility>

#include "command/command.hpp"
#include "command/course_commands.hpp"
#include "command/form.hpp"
#include "core/math/machine.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/file_access.hpp"
#include "data/files/input_report.hpp"
#include "data/files/matrix_file.hpp"
#include "data/problem/option_named.hpp"
#include "data/problem/problem_file.hpp"
#include "page/block/page.hpp"
#include "page/render/picture.hpp"
#include "page/render/style.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

// --- section

bool begins_alike(const std::string& heading, const std::string& name) {
  const auto alike = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return name.size() <= heading.size() && std::equal(name.begin(), name.end(), heading.begin(), alike);
}

std::vector<std::string> headings_of(const Page& page) {
  std::vector<std::string> headings;
  for (const Block& block : page.blocks) {
    if (const auto* heading = std::get_if<Heading>(&block)) headings.push_back(words_of(heading->text));
  }
  return headings;
}

// A section ends at the next heading, of whatever level. A heading that is exactly the name goes before those
// that only begin with it.
std::vector<Block> section(const Page& page, const std::string& name) {
  const std::vector<std::string> headings = headings_of(page);
  if (headings.empty()) {
    fail("--section {}: this output has no sections. Leave out --section, or --only where it is given", name);
  }
  const bool exists = std::ranges::find(headings, name) != headings.end();
  std::vector<Block> blocks;
  bool inside = false;
  for (const Block& block : page.blocks) {
    if (const auto* heading = std::get_if<Heading>(&block)) {
      const std::string words = words_of(heading->text);
      inside = exists ? words == name : begins_alike(words, name);
    }
    if (inside) blocks.push_back(block);
  }
  if (blocks.empty()) fail_unknown("section", name, headings);
  return blocks;
}

// The page with no more than what stands under some of its headings, several separated by "|" and each named
// by how it begins, in capitals or not. Throws InputError, with the headings that there are, when one names
// none.
Page only_sections(Page page, const std::string& names) {
  std::vector<Block> blocks;
  for (const std::string_view name : split_at(names, '|')) {
    std::vector<Block> more = section(page, std::string(name));
    std::ranges::move(more, std::back_inserter(blocks));
  }
  page.blocks = std::move(blocks);
  return page;
}

// The page with its highest heading at this level, and the others as far below it as they are; without
// headings where that is 0.
Page with_headings_at(Page page, std::size_t level) {
  if (level == 0) {
    std::erase_if(page.blocks, [](const Block& block) { return std::holds_alternative<Heading>(block); });
    return page;
  }
  const int shift = static_cast<int>(level) - highest_heading(page.blocks);
  for (Block& block : page.blocks) {
    if (Heading* const heading = std::get_if<Heading>(&block))
      heading->level = std::min(heading->level + shift, deepest_heading);
  }
  return page;
}

// --- app

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

// Options of how a page looks that only some formats heed.
struct OnlyOfFormats {
  const Option* option;
  std::vector<std::string_view> formats;
};

void refuse_unheeded(const Arguments& arguments, const Format& format) {
  static const std::array only_of_formats = {OnlyOfFormats{&option::standalone, {"latex", "tikz"}},
                                             OnlyOfFormats{&option::shading, {"latex"}},
                                             OnlyOfFormats{&option::transparent, {"svg", "tikz"}}};
  for (const auto& [one, heeding] : only_of_formats) {
    if (arguments.has(*one) && std::ranges::find(heeding, format.name) == heeding.end())
      fail("{} changes nothing in {}: give --format {}, or leave it out", one->name, format.name,
           fmt::join(heeding, " or "));
  }
}

// What stands below a picture of random numbers, unless the picture has the page's own sentence.
std::string note_on_random(const AnswerInFormat& answer) {
  const std::string whole = what_is_random(answer.computation);
  const auto says = [&](const Block& block) {
    const Prose* const prose = std::get_if<Prose>(&block);
    return prose && words_of(prose->text) == whole;
  };
  if (answer.style.settings<PictureSettings>().is_chosen && std::ranges::any_of(answer.page.blocks, says)) return "";
  return what_is_random_in_short(answer.computation);
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

// Where a file holds a part of the page only, there is a file for each: the last one is what the answer
// writes, and the others are written with it.
void part_into_files(AnswerInFormat& answer) {
  const Format& format = *answer.format;
  if (!format.parts || !answer.is_file()) return;
  std::vector<Page> parts = format.parts(answer.page, answer.style);
  if (parts.size() < 2) return;
  const std::string path = *std::exchange(answer.output, path_of_part(*answer.output, parts.size()));
  answer.page = std::move(parts.back());
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    FileToWrite& file = answer.files.emplace_back(FileToWrite{path_of_part(path, i + 1), ""});
    Sink sink([&](std::string_view bytes) { file.bytes += bytes; });
    format.render(parts[i], answer.style, sink);
    sink.flush();
  }
}

// What can be said of the options without the problem that they change.
void check_line(const Command& command, const OptionValues& given) {
  check_exclusions(given, exclusions_of(command));
  check_needs(given, command.own);
  const auto is_own = [&](const Requirement& row) {
    return std::ranges::find(command.own.options, row.one, &OfferedOption::option) != command.own.options.end();
  };
  std::vector<OptionGroup> groups;
  for (const OptionGroup* group : command.groups) {
    if (group == &problem_options()) continue;
    // What a command's own option needs, the command says.
    std::erase_if(groups.emplace_back(OptionGroup{.options = {}, .needs = group->needs}).needs, is_own);
  }
  check_needs(given, groups);
}

// The options of a model that a page has written, beneath those of the command line.
void take_model_options(const Command& command, Arguments& arguments) {
  const std::optional<std::string> path = arguments.text(option::problem);
  if (!path || !command.takes_model()) return;
  OptionList members;
  for (const OfferedOption& row : options_of(command)) {
    if (!row.option->member.empty()) members.push_back(row.option);
  }
  OptionValues values = read_problem_file(read_bytes(*path), *path, members, arguments);
  for (const OfferedOption& row : options_of(command)) require_choice(values, row, place_of_file(*path));
  MembersOfFiles::tell(values, place_of_file(*path), arguments);
  values.override_with(arguments);
  static_cast<OptionValues&>(arguments) = std::move(values);
}

// What the command, or the help on it, has to say.
Answer answer_for(const Command* command, const Arguments& arguments, const Form* form) {
  if (!command) return {.page = general_help()};
  if (arguments.has(option::help)) return {.page = command_help(*command)};
  if (arguments.has(option::short_help)) return {.page = short_help(*command)};
  return form && form->run ? form->run(*command, arguments) : ordinary_answer(*command, arguments);
}

// What was read, and what was assumed: a row for each assumption.
Listing listing_of_inputs(const std::vector<InputReport>& inputs) {
  Listing listing{.columns = {"input", "read from", "size", "what", "assumed"}, .headed = true};
  for (const InputReport& input : inputs) {
    const std::string where = input.where.empty() ? "the command line" : input.where;
    if (input.assumed.empty()) listing.rows.push_back({input.name, where, input.size, "", ""});
    for (const Assumption& one : input.assumed) {
      const std::string sentence = one.other.empty() ? one.sentence : one.sentence + "; " + one.other;
      listing.rows.push_back({input.name, where, input.size, std::string(one.thing->name), sentence});
    }
  }
  return listing;
}

// The same where a page is not read by people.
std::vector<std::string> notes_on(const std::vector<InputReport>& inputs) {
  std::vector<std::string> notes;
  for (const std::vector<std::string>& row : listing_of_inputs(inputs).rows) {
    const std::string assumed = row[3].empty() ? "" : fmt::format(": {}: {}", row[3], row[4]);
    notes.push_back(fmt::format("{} from {}, {}{}", row[0], row[1], row[2], assumed));
  }
  return notes;
}

// Puts above the page what it was computed from.
void say_input(Page& page, const std::vector<InputReport>& inputs) {
  std::vector<Block> blocks = {Heading{std::min(highest_heading(page.blocks) + 1, deepest_heading), text("Input")}};
  if (inputs.empty()) {
    blocks.push_back(Prose{text("Nothing was read.")});
  } else {
    blocks.push_back(listing_of_inputs(inputs));
  }
  page.blocks.insert(page.blocks.begin(), std::make_move_iterator(blocks.begin()),
                     std::make_move_iterator(blocks.end()));
}

// Leaves of the page what --section asks for, with its headings where --heading-level has them.
void leave_sections(Page& page, const Arguments& arguments) {
  if (const std::optional<std::string> names = arguments.text(option::section))
    page = only_sections(std::move(page), *names);
  if (const std::optional<std::size_t> level = arguments.count(option::heading_level))
    page = with_headings_at(std::move(page), *level);
}

// Nobody reads so many numbers. A file or a program may want them.
void refuse_endless_page(const AnswerInFormat& answer) {
  constexpr std::size_t most_shown = std::size_t{1} << 22;
  if (answer.is_file() || answer.session || answer.document || answer.style.elides()) return;
  if (answer.format->audience != Audience::readers) return;
  if (const std::size_t count = cells_shown(answer.page.blocks); count > most_shown) {
    fail(
        "this page has {} numbers, and at most {} are shown: show fewer, as with --only, write the page to a file with -o FILE, or choose a --format for programs, such as npy",
        count, most_shown);
  }
}

// No file takes the place of another that is written, or that was read.
void refuse_lost_files(const AnswerInFormat& answer, const Arguments& arguments, bool names_own_output) {
  refuse_two_in_one(*answer.output, answer.files);
  if (!names_own_output) refuse_output_onto_input(*answer.output, answer.files);
  const std::optional<std::string> state = arguments.text(option::state);
  if (state && answer.is_file() && is_same_file(*answer.output, *state))
    fail("{} is the file of your progress and would be overwritten: give another file to write", *state);
}

// The words of a line, each with what it is: those of the command, or of its action.
std::vector<std::pair<PositionalArgument, std::string>> words_told(const Command& command, const Arguments& arguments) {
  std::vector<std::pair<PositionalArgument, std::string>> told;
  const std::vector<std::string>& words = arguments.words;
  const Action* const action = words.empty() ? nullptr : find_row(command.actions, words.front());
  const std::span<const PositionalArgument> kinds =
      action ? std::span<const PositionalArgument>(action->words) : std::span(command.words);
  for (std::size_t i = action ? 1 : 0, kind = 0; i < words.size() && kind < kinds.size(); ++i) {
    told.emplace_back(kinds[kind], words[i]);
    if (!kinds[kind].may_repeat()) ++kind;
  }
  return told;
}

// The files that a line names, to read or to write. What may also be a name is a file only where there is one.
std::vector<std::string> files_named(const Command& command, const Arguments& arguments, const Form* form) {
  std::vector<std::string> files;
  const auto take = [&](Kind kind, Choices choices, const std::string& name) {
    if (kind == Kind::path && (!choices || file_exists(name))) files.push_back(name);
  };
  for (const auto& [word, name] : words_told(command, arguments)) take(word.kind, word.choices, name);
  if (form && form->words_are_files) files.insert(files.end(), arguments.words.begin(), arguments.words.end());
  for (const OfferedOption& row : options_of(command)) {
    if (row.option->kind != Kind::path) continue;
    if (const std::optional<std::string> name = arguments.text(*row.option)) take(row.option->kind, row.choices, *name);
  }
  return files;
}

// A document, a lesson, a puzzle or a model may be a stranger's. Where a line names files, nothing is written but
// beside them, and in the file of the progress.
void confine(const Command& command, const Arguments& arguments, const Form* form) {
  if (!arguments.environment->confine) return;
  std::vector<std::string> files = files_named(command, arguments, form);
  if (files.empty()) return;
  const std::vector<OfferedOption> offered = options_of(command);
  if (std::ranges::find(offered, &option::state, &OfferedOption::option) != offered.end()) {
    if (std::optional<std::string> state = state_file(arguments)) files.push_back(std::move(*state));
  }
  arguments.environment->confine(files);
}

// One head is a pattern of names, or the beginning of each that is given.
void take_head(Arguments& arguments) {
  const std::optional<std::size_t> head = arguments.count(option::one_head);
  if (!head) return;
  std::vector<std::string> patterns;
  if (arguments.has(option::only)) patterns = arguments.texts(option::only);
  if (patterns.empty()) patterns.emplace_back("*");
  const std::string scope = ScopeName(scope::head, *head).text + '.';
  for (std::string& pattern : patterns) {
    pattern.insert(0, scope);
    for (std::size_t bar = pattern.find('|'); bar != std::string::npos; bar = pattern.find('|', bar + 1))
      pattern.insert(bar + 1, scope);
  }
  arguments.leave_out(std::array{&option::one_head});
  arguments.put(option::only, std::move(patterns));
}

// The answer, in which messages may name members of problem files instead of options.
AnswerInFormat answer_in_members(const std::vector<std::string>& command_line, const Environment& environment) {
  const InputReports inputs;
  ParsedCommandLine parsed = parse(command_line);
  parsed.arguments.environment = &environment;
  const Arguments& arguments = parsed.arguments;
  // How it is written is checked first: a wrong format should not cost a long computation.
  const std::string output = arguments.text(option::output).value_or("-");
  const bool is_help = arguments.has(option::help) || arguments.has(option::short_help);
  const Form* const form = is_help ? nullptr : form_with_function(arguments);
  const bool has_own_format = form && form->check_output;
  if (has_own_format) form->check_output(output, environment);
  const Format* const format = has_own_format ? &formats().front() : &choose_format(arguments, output, parsed.command);
  if (parsed.command && !is_help) {
    confine(*parsed.command, arguments, form);
    if (form && form->prepare) form->prepare(*parsed.command, parsed.arguments);
    take_model_options(*parsed.command, parsed.arguments);
    check_line(*parsed.command, arguments);
  }
  parsed.arguments.read();
  take_head(parsed.arguments);
  use_threads(arguments.count(option::threads).value_or(0));

  AnswerInFormat answer{answer_for(parsed.command, arguments, form)};
  std::vector<std::string> doubts = doubts_in(inputs.all());
  answer.warnings.insert(answer.warnings.begin(), std::make_move_iterator(doubts.begin()),
                         std::make_move_iterator(doubts.end()));
  if (arguments.has(option::say_input)) say_input(answer.page, inputs.all());
  const bool names_own_output = answer.output.has_value();
  answer.format = names_own_output ? &choose_format(arguments, *answer.output, parsed.command) : format;
  if (!names_own_output) answer.output = output;
  refuse_unheeded(arguments, *answer.format);
  if (answer.format->is_binary() && !answer.is_file() && environment.output_is_terminal)
    fail("{} is not for a terminal: give -o FILE, or send the output on", answer.format->name);
  if (arguments.has(option::say_input) && (answer.document || answer.format->audience != Audience::readers))
    answer.notes = notes_on(inputs.all());
  answer.style = style_for(arguments, environment, answer.is_file());
  leave_sections(answer.page, arguments);
  answer.style.own.of<PictureSettings>().note = note_on_random(answer);
  refuse_endless_page(answer);
  part_into_files(answer);
  refuse_lost_files(answer, arguments, names_own_output);
  if (answer.style.colors != Colors::none && (answer.session || std::ranges::any_of(answer.page.blocks, is_shaded)))
    answer.style.ground = ground_for(arguments, environment);
  if (!answer.is_file()) answer.pager = pager_for(arguments, environment);
  return answer;
}

// What is computed is asked for, and may take as long as it takes. What files make of a text, or are unpacked to, must
// not: this is about a minute, and enough for a text of a hundred MB.
constexpr Allowance of_command = {.whose = "a command",
                                  .work = without_limit,
                                  .cells = without_limit,
                                  .output = without_limit,
                                  .reading = 60'000'000'000};

}  // namespace

void write(const AnswerInFormat& answer, Sink& sink) {
  if (answer.document) {
    answer.document(answer.style, sink);
  } else {
    answer.format->render(answer.page, answer.style, sink);
  }
}

AnswerInFormat answer(const std::vector<std::string>& command_line, const Environment& environment) {
  const MembersOfFiles members;
  const Budget budget(of_command);
  try {
    AnswerInFormat result = answer_in_members(command_line, environment);
    for (std::vector<std::string>* sentences : {&result.warnings, &result.complaints}) {
      for (std::string& sentence : *sentences) sentence = members.with_places(with_options(sentence));
    }
    return result;
  } catch (const InputError& error) {
    About about = error.about();
    if (about.option.empty()) about.option = option_named_in(error.what());
    throw InputError(members.with_places(with_options(error.what())), std::move(about));
  }
}

}  // namespace attn
