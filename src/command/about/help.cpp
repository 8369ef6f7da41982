#include "command/about/help.hpp"
#include "command/annex.hpp"

#include <fmt/format.h>
#include <utf8proc.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>

#include "command/app.hpp"
#include "command/command.hpp"
#include "core/math/machine.hpp"
#include "core/support/text.hpp"
#include "data/problem/words.hpp"
#include "data/tokenizer/pattern.hpp"
#include "page/document/markdown.hpp"

namespace attn {

// --- help

namespace {

void add_section_title(Page& page, std::string_view title) { page.say(text(strong(std::string(title)))); }

Block example_block(std::span<const std::string_view> examples) {
  Listing listing{{"example"}, {}};
  for (const std::string_view example : examples) listing.rows.push_back({std::string(example)});
  return listing;
}

Block listing_of_choices(std::span<const OptionChoice> rows, std::string_view what, std::string_view does) {
  Listing listing{{std::string(what), std::string(does)}, {}};
  for (const OptionChoice& row : rows) listing.rows.push_back({std::string(row.name), std::string(row.summary)});
  return listing;
}

void help_on_options(Page& page, const OptionSection& section) {
  if (!section.title.empty()) add_section_title(page, section.title);
  if (!section.options.empty()) {
    Listing listing{{"option", "what it does"}, {}};
    for (const Offered& row : section.options) listing.rows.push_back({usage_of(row), described(row)});
    page.say(std::move(listing));
  }
  for (const ChoiceList& list : section.choices) {
    add_section_title(page, list.title);
    page.say(listing_of_choices(list.choices, "name", "what it is"));
  }
}

void add_sections(Page& page, const std::vector<OptionSection>& sections) {
  for (const OptionSection& section : sections) help_on_options(page, section);
}

void help_on_facts(Page& page) {
  const Facts all = shared_facts();
  add_section_title(page, "Variables of the environment");
  page.say(listing_of_choices(all.variables, "variable", "what it says"));
  add_section_title(page, "Files");
  page.say(listing_of_choices(all.files, "file", "what it is"));
  add_section_title(page, "Exit codes");
  page.say(listing_of_choices(all.exit_codes, "code", "what it means"));
}

void help_on_commands(Page& page) {
  for (const Subject* subject : subjects) {
    add_section_title(page, subject->title);
    Listing listing{{"command", "what it shows"}, {}};
    for (const Command* command : commands_on(*subject))
      listing.rows.push_back({std::string(command->name), std::string(command->summary)});
    page.say(std::move(listing));
  }
}

// What several commands share: it can be read by itself.
struct Topic {
  std::string_view name;
  std::string_view summary;
  bool (*concerns)(const Command& command);
  std::function<void(Page& page)> add;
};

bool no_command(const Command&) { return false; }
bool every_command(const Command&) { return true; }
bool commands_on_problems(const Command& command) { return command.takes_problem(); }
bool commands_on_matrices(const Command& command) {
  return std::ranges::find(command.groups, &matrix_options()) != command.groups.end();
}

std::vector<Topic> make_topics() {
  std::vector<Topic> all = {
      {"commands", "what each command shows or does", no_command, help_on_commands},
      {"input", "the options that give words, matrices and settings, for all commands that take them",
       commands_on_problems, [](Page& page) {
         add_sections(page, input_sections([](const Option& option) { return (option.effect & on_attention) != 0; },
                                           examples().front().name));
       }}};
  for (const Annex* annex : annexes()) {
    all.push_back({annex->name, annex->summary, commands_on_matrices, [annex](Page& page) {
                     help_on_options(page, {"", annex->options().options, {}});
                   }});
  }
  all.push_back({"output", "the options that say how a page is written: formats, width, colors, paging", every_command,
                 [](Page& page) { help_on_options(page, output_section()); }});
  all.push_back({"environment", "variables of the environment, files and exit codes", every_command, help_on_facts});
  return all;
}

std::span<const Topic> topics() {
  static const std::vector<Topic> all = make_topics();
  return all;
}

void add_usage(Page& page, const Command& command) {
  page.say(example_block(command.examples));
  page.say(text(strong(usage_of(command)), fmt::format(": {}.", command.summary)));
  if (command.actions.empty()) return;
  Listing listing{{"action", "what it does"}, {}};
  for (const Action& action : command.actions) listing.rows.push_back({usage_of(action), std::string(action.summary)});
  page.say(std::move(listing));
}

}  // namespace

Page general_help() {
  Page page;
  page.say(text(strong("attn"), " walks through attention step by step and explains every number."));
  page.say(example_block(general_examples()));
  Listing listing{{"subject", "commands"}, {}};
  for (const Subject* subject : subjects) {
    std::string names;
    for (const Command* command : commands_on(*subject))
      names += (names.empty() ? "" : " ") + std::string(command->name);
    listing.rows.push_back({std::string(subject->title), std::move(names)});
  }
  page.say(std::move(listing));
  Listing more{{"more", "what it shows"},
               {{"attn COMMAND -h", "what is the command's own"}, {"attn help COMMAND", "all options of a command"}}};
  for (const Topic& topic : topics())
    more.rows.push_back({fmt::format("attn help {}", topic.name), std::string(topic.summary)});
  page.say(std::move(more));
  return page;
}

Page short_help(const Command& command) {
  Page page;
  add_usage(page, command);
  OptionSection own = own_section(command);
  own.choices.clear();
  // What many commands share in the same words is a topic of its own.
  if (commands_on_matrices(command)) {
    std::erase_if(own.options, [&](const Offered& row) {
      const auto is_it = [&](const Offered& other) { return other.option == row.option; };
      const auto is_of_annex = [&](const Annex* annex) { return std::ranges::any_of(annex->options().options, is_it); };
      return std::ranges::any_of(annexes(), is_of_annex) && std::ranges::none_of(command.own.options, is_it);
    });
  }
  help_on_options(page, own);
  Listing more{{"more", "what it shows"}, {{fmt::format("attn help {}", command.name), "all options of this command"}}};
  for (const Topic& topic : topics()) {
    if (!topic.concerns(command)) continue;
    more.rows.push_back({fmt::format("attn help {}", topic.name), std::string(topic.summary)});
  }
  page.say(std::move(more));
  return page;
}

Page command_help(const Command& command) {
  Page page;
  add_usage(page, command);
  add_sections(page, all_sections(command));
  return page;
}

std::vector<OptionChoice> choices::help() {
  std::vector<OptionChoice> names;
  for (const Command& command : commands()) {
    if (command.caller == Caller::people) names.push_back({command.name, command.summary});
  }
  for (const Topic& topic : topics()) names.push_back({topic.name, topic.summary});
  return names;
}

Answer run_help(const Command&, const Arguments& arguments) {
  if (arguments.words.empty()) return {general_help()};
  const std::string& name = arguments.words.front();
  if (const Topic* const topic = find_row(topics(), name)) {
    Answer answer;
    topic->add(answer.page);
    return answer;
  }
  return {command_help(look_up(commands(), name, "command"))};
}

// --- description

namespace {

// The choices of those options that have some, which say what they are.
std::vector<ChoiceList> choices_of_all(std::span<const Offered> options) {
  std::vector<ChoiceList> lists;
  for (const Offered& row : options) {
    std::vector<OptionChoice> choices = told_choices(row);
    if (choices.empty()) continue;
    const Option& option = *row.option;
    const std::string_view placeholder = option.placeholder.substr(0, option.placeholder.find(':'));
    lists.push_back({fmt::format("{} of {}{}", placeholder, option.name,
                                 option.kind == Kind::word_or_number ? ", or a number" : ""),
                     std::move(choices), &option});
  }
  return lists;
}

}  // namespace

std::vector<OptionSection> input_sections(const std::function<bool(const Option&)>& is_shown,
                                          std::string_view default_example) {
  OptionSection whole{"Input and settings", {}}, fields{"", {}};
  for (const Offered& row : problem_options().options) {
    if (!is_shown(*row.option)) continue;
    const bool is_field = std::ranges::find(problem_members(), row.option) != problem_members().end();
    (is_field ? fields : whole).options.push_back(row);
  }
  for (Offered& row : whole.options) {
    if (row.option == &option::example) row.usual = default_example;
  }
  fields.choices = choices_of_all(fields.options);
  fields.choices.push_back({"MATRIX: a literal such as '1 0; 0 1' or '[[1,0],[0,1]]', - for standard input, or a file",
                            choices_of(matrix_kinds())});
  return {std::move(whole), std::move(fields)};
}

OptionSection output_section() {
  const std::vector<Offered>& options = output_options().options;
  return {"Output", options, choices_of_all(options)};
}

Facts shared_facts() {
  static const std::array codes = [] {
    std::array<std::string, std::size(exit_codes)> texts;
    for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = std::to_string(exit_codes[i]->code);
    return texts;
  }();
  Facts all;
  for (const Variable* row : variables) all.variables.push_back({row->name, row->summary});
  all.files = {{option::state.usual, option::state.summary}};
  for (std::size_t i = 0; i < codes.size(); ++i) all.exit_codes.push_back({codes[i], exit_codes[i]->meaning});
  return all;
}

std::span<const std::string_view> general_examples() {
  static constexpr std::string_view examples[] = {"attn walk", "attn explain 'weights[1,2]' --depth 3", "attn lesson"};
  return examples;
}

std::string usage_of(const Command& command) {
  const std::string words = written(command.words);
  return fmt::format("attn {}{}{}", command.name, words.empty() ? "" : " ", words);
}

std::string usage_of(const Action& action) {
  const std::string words = written(action.words);
  return fmt::format("{}{}{}", action.name, words.empty() ? "" : " ", words);
}

std::string usage_of(const Offered& row) {
  const std::string_view value = row.option->placeholder;
  return fmt::format("{}{}{}", row.option->name, value.empty() ? "" : " ", value);
}

std::string described(const Offered& row) {
  if (row.usual.empty()) return std::string(row.summary);
  return fmt::format("{} (default{}{})", row.summary, row.usual.starts_with(':') ? "" : " ", row.usual);
}

std::vector<OptionChoice> told_choices(const Offered& row) {
  std::vector<OptionChoice> choices = row.choices ? row.choices() : std::vector<OptionChoice>();
  if (!choices.empty() && choices.front().summary.empty()) choices.clear();
  return choices;
}

OptionSection own_section(const Command& command) {
  std::vector<Offered> options = command.own.options;
  for (const OptionGroup* group : command.groups) {
    if (group != &problem_options()) options.insert(options.end(), group->options.begin(), group->options.end());
  }
  std::vector<ChoiceList> choices = choices_of_all(options);
  if (command.told.names) choices.push_back({std::string(command.told.title), command.told.names()});
  return {"", std::move(options), std::move(choices)};
}

std::vector<OptionSection> all_sections(const Command& command) {
  std::vector<OptionSection> sections = {own_section(command)};
  if (command.takes_problem()) {
    const std::string_view own = command.default_example;
    std::ranges::move(input_sections([&](const Option& option) { return command.uses(option); },
                                     own.empty() ? examples().front().name : own),
                      std::back_inserter(sections));
  }
  sections.push_back(output_section());
  return sections;
}

// --- manual

namespace {

constexpr std::string_view about_attn =
    "attn teaches attention step by step: queries, keys and values, scores, scaling, masks, softmax, the weighted sum, multi-head attention, recurrent encoder-decoders, positional encoding, and the whole Transformer. "
    "It computes in double precision, shows every intermediate matrix, and explains how each number was computed. "
    "It works on built-in examples, on a sentence, on your own matrices, and on the parameters of PyTorch's attention modules.";

// Text in the language of man(7), in which a backslash begins an escape, and a line that begins with a dot or
// a quote is a request.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";  // what can be copied to a command line
    } else if (c == '\'') {
      result += "\\(aq";
    } else {
      result += c;
    }
  }
  return result.starts_with('.') ? "\\&" + result : result;
}

std::string roff_bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }

std::string roff_italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fR"; }

// A manual page: requests and text.
class Roff {
 public:
  Roff(std::string_view title, std::string_view name, std::string_view summary) {
    std::string upper(title);
    std::ranges::transform(upper, upper.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
    line(fmt::format(".TH {} 1 {} \"attn {}\" \"User Commands\"", escaped(upper), ATTN_DATE, ATTN_VERSION));
    head("NAME");
    line(fmt::format("{} \\- {}", escaped(name), escaped(summary)));
  }

  void head(std::string_view title) { line(fmt::format(".SH {}", title)); }
  void part(std::string_view title) { line(fmt::format(".SS {}", escaped(title))); }
  // A heading has begun one already.
  void paragraph() {
    const std::size_t last = text_.rfind('\n', text_.size() - 2) + 1;
    if (!text_.substr(last).starts_with(".S")) line(".PP");
  }
  void line(std::string_view text) { text_.append(text).append("\n"); }

  // What something is, beneath its name.
  void item(std::string_view name, std::string_view what) {
    line(".TP");
    line(name);
    line(what);
  }
  void items(const std::vector<OptionChoice>& rows) {
    for (const OptionChoice& row : rows) item(roff_bold(row.name), escaped(row.summary));
  }

  void indented(const std::vector<OptionChoice>& rows) {
    line(".RS");
    items(rows);
    line(".RE");
  }

  void examples(std::span<const std::string_view> lines) {
    line(".EX");
    for (const std::string_view example : lines) line(escaped(example));
    line(".EE");
  }

  std::string text() const { return text_.substr(0, text_.size() - 1); }

 private:
  std::string text_;
};

std::string option_head(const Offered& row) {
  const Option& option = *row.option;
  std::string head = option.letter == '\0' ? "" : roff_bold(std::string{'-', option.letter}) + ", ";
  head += roff_bold(option.name);
  if (!option.placeholder.empty()) head += " " + roff_italic(option.placeholder);
  return head;
}

// Each option with its choices beneath it, and then the choices of several.
void man_on_options(Roff& page, const OptionSection& section) {
  if (!section.title.empty()) page.part(section.title);
  for (const Offered& row : section.options) {
    page.item(option_head(row), escaped(described(row)));
    const std::vector<OptionChoice> choices = told_choices(row);
    if (!choices.empty()) page.indented(choices);
  }
  for (const ChoiceList& list : section.choices) {
    if (list.option) continue;
    page.paragraph();
    page.line(escaped(list.title));
    page.indented(list.choices);
  }
}

void man_on_facts(Roff& page) {
  const Facts all = shared_facts();
  page.head("EXIT STATUS");
  page.items(all.exit_codes);
  page.head("ENVIRONMENT");
  page.items(all.variables);
  page.head("FILES");
  page.items(all.files);
}

std::string page_name(const Command& command) { return fmt::format("attn-{}", command.name); }

std::string manual_of(const Command& command) {
  Roff page(page_name(command), page_name(command), command.summary);
  page.head("SYNOPSIS");
  const std::string words = written(command.words);
  page.line(fmt::format("{} [{}]...{}{}", roff_bold(fmt::format("attn {}", command.name)), roff_italic("OPTION"),
                        words.empty() ? "" : " ", words.empty() ? "" : roff_italic(words)));
  page.head("DESCRIPTION");
  page.line(escaped(fmt::format("{}: {}.", usage_of(command), command.summary)));
  if (!command.actions.empty()) {
    page.part("Actions");
    for (const Action& action : command.actions) page.item(roff_bold(usage_of(action)), escaped(action.summary));
  }
  page.head("OPTIONS");
  for (const OptionSection& section : all_sections(command)) man_on_options(page, section);
  man_on_facts(page);
  page.head("EXAMPLES");
  page.examples(command.examples);
  page.head("SEE ALSO");
  page.line("\\fBattn\\fR(1)");
  return page.text();
}

std::string manual_of_all() {
  Roff page("attn", "attn", ATTN_SUMMARY);
  page.head("SYNOPSIS");
  page.line(fmt::format("{} {} [{}]...", roff_bold("attn"), roff_italic("COMMAND"), roff_italic("OPTION")));
  page.head("DESCRIPTION");
  page.line(escaped(about_attn));
  page.head("COMMANDS");
  for (const Subject* subject : subjects) {
    page.part(subject->title);
    for (const Command* command : commands_on(*subject)) page.item(roff_bold(command->name), escaped(command->summary));
  }
  page.head("OPTIONS");
  page.line("Each command has options of its own, which its page describes. All of them take these.");
  man_on_options(page, output_section());
  man_on_facts(page);
  page.head("EXAMPLES");
  page.examples(general_examples());
  page.head("SEE ALSO");
  std::string others;
  for (const Command& command : commands()) {
    if (command.caller == Caller::people)
      others += fmt::format("{}\\fB{}\\fR(1)", others.empty() ? "" : ",\n", escaped(page_name(command)));
  }
  page.line(others);
  return page.text();
}

}  // namespace

Answer run_manual(const Command&, const Arguments& arguments) {
  Answer answer;
  answer.page.say(CodeBlock{"roff", arguments.words.empty()
                                        ? manual_of_all()
                                        : manual_of(look_up(commands(), arguments.words.front(), "command"))});
  return answer;
}

// --- version

namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

std::vector<Library> all_libraries() {
  std::vector<Library> all = libraries_of_math();
  std::ranges::move(
      std::vector<Library>{
          {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
          {"CLI11", version_of_cli11()},
          {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                        NLOHMANN_JSON_VERSION_PATCH)},
          {"zlib", zlibVersion()},
          {"cmark-gfm", version_of_cmark()},
          {"utf8proc", utf8proc_version()},
          {"pcre2", version_of_expressions()},
          {"compiler", compiler()}},
      std::back_inserter(all));
  return all;
}

}  // namespace

Answer run_version(const Command&, const Arguments&) {
  Page page;
  page.say(text("attn " ATTN_VERSION));
  Listing listing{{"library", "version"}, {}};
  Records records{"versions", {"name", "version"}, {{"attn", ATTN_VERSION}}};
  for (const Library& library : all_libraries()) {
    listing.rows.push_back({library.name, library.version});
    records.rows.push_back({std::string(library.name), std::string(library.version)});
  }
  page.say(std::move(listing));
  page.say(std::move(records));
  return {std::move(page)};
}

}  // namespace attn
