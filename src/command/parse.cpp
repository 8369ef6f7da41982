#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "command/app.hpp"
#include "command/check.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/file_access.hpp"

namespace attn {
namespace {

// A negative number may begin a literal.
bool looks_like_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-' &&
         std::string_view("0123456789.").find(word[1]) == std::string_view::npos;
}

// `--name`, `--name=value`, or a letter after one dash.
bool may_give(const Option& option, std::string_view word) {
  const bool has_letters = word.size() > 1 && word[0] == '-' && word[1] != '-';
  return word.starts_with(option.name) ||
         (option.letter != '\0' && has_letters && word.find(option.letter) != std::string_view::npos);
}

// The option that a command stands for.
[[noreturn]] void refuse_what_it_does(const Command& command) {
  fail("attn {} itself does what {} does: leave out {}", command.name, command.shown_as->name, command.shown_as->name);
}

// Splits a command line into options and words; CLI11 gets only the options that are offered and that the
// line may hold, because making all of them takes longer than a walk.
class Parser {
 public:
  Parser(const Command& command, std::vector<OfferedOption> offered) : command_(command), offered_(std::move(offered)) {
    app_.set_help_flag();
    app_.allow_extras();
  }

  // The options alone: whatever else the line has does not matter.
  Arguments options(std::vector<std::string> line) {
    for (const OfferedOption& row : offered_) {
      const auto gives_it = [&](std::string_view word) { return may_give(*row.option, word); };
      parsed_.push_back(std::ranges::any_of(line, gives_it) ? add(*row.option) : nullptr);
    }
    for (const std::string& word : line) {
      refuse_value_of_flag(word);
      refuse_empty_value(word);
    }
    std::ranges::reverse(line);  // CLI11 takes them from the back
    try {
      app_.parse(std::move(line));
    } catch (const CLI::ArgumentMismatch& error) {
      const std::string what = error.what();
      fail("{} needs a value after it: see attn help {}", what.substr(0, what.find(':')), command_.name);
    } catch (const CLI::ParseError& error) {
      fail("{}: see attn help {}", error.what(), command_.name);
    }
    Arguments arguments;
    arguments.default_example = command_.default_example;
    for (std::size_t i = 0; i < offered_.size(); ++i) {
      if (parsed_[i]) take(offered_[i], *parsed_[i], arguments);
    }
    return arguments;
  }

  // The options, and as words what is left, with what comes after "--".
  Arguments all(std::vector<std::string> line, const std::vector<std::string>& words) {
    Arguments arguments = options(std::move(line));
    for (const std::string& word : app_.remaining()) {
      if (looks_like_option(word)) refuse_command_of(app_.remaining());
      refuse_option(word);
      arguments.words.push_back(word);
    }
    arguments.words.insert(arguments.words.end(), words.begin(), words.end());
    check_count(arguments);
    return arguments;
  }

 private:
  const CLI::Option* add(const Option& option) {
    std::string names(option.name);
    if (option.letter != '\0') names = fmt::format("-{},{}", option.letter, option.name);
    if (option.kind == Kind::flag) return app_.add_flag(names);
    return app_.add_option(names)->expected(1)->allow_extra_args(false)->multi_option_policy(
        CLI::MultiOptionPolicy::TakeAll);
  }

  bool is_offered(std::string_view word) const {
    return std::ranges::any_of(offered_, [&](const OfferedOption& row) {
      const char letter = row.option->letter;
      return word == row.option->name || (letter != '\0' && word == std::string{'-', letter});
    });
  }

  // CLI11 would take `--causal=no` for the flag being given.
  void refuse_value_of_flag(std::string_view word) const {
    for (const OfferedOption& row : offered_) {
      const std::string_view flag = row.option->name;
      if (row.option->kind == Kind::flag && word.starts_with(flag) && word.substr(flag.size()).starts_with('='))
        fail("{}: {} takes no value: write only {}", word, flag, flag);
    }
  }

  // CLI11 would take the next word for the value of `--text=`.
  void refuse_empty_value(std::string_view word) const {
    if (!word.ends_with('=')) return;
    const std::string_view name = word.substr(0, word.size() - 1);
    if (name.starts_with("--") && is_offered(name)) fail("{} needs a value after the =", name);
  }

  void take(const OfferedOption& row, const CLI::Option& option, Arguments& arguments) const {
    if (option.count() == 0) return;
    // `--scores -o out.csv` forgot the scores.
    for (const std::string& value : option.results()) {
      if (is_offered(value)) {
        fail("{} needs a value after it, and {} is an option: see attn help {}", row.option->name, value,
             command_.name);
      }
    }
    arguments.put_text(row, option.results());
  }

  // An option of other commands that this one can show, where none of them is named: attn explain CELL decoder.
  void refuse_option_of_shown(const std::string& name) const {
    if (!command_.shown_as || !command_.words.back().choices) return;
    std::vector<std::string> others;
    for (const OptionChoice& choice : command_.words.back().choices()) {
      const Command* const shown = find_row(commands(), choice.name);
      const auto is_asked = [&](const OfferedOption& row) { return row.option->name == name; };
      if (shown && std::ranges::any_of(options_of(*shown), is_asked)) others.emplace_back(shown->name);
    }
    if (others.empty()) return;
    fail("attn {} has no option '{}'; it belongs to {}: name the command, as in attn {} {}", command_.name, name,
         fmt::join(others, ", "), command_.name, usage_of_words(command_.words));
  }

  // An option that is unknown may be one of a command that cannot be shown so.
  void refuse_command_of(const std::vector<std::string>& words) const {
    if (!command_.shown_as) return;
    const auto named = std::ranges::find_if(words, [](const std::string& word) { return find_row(commands(), word); });
    if (named == words.end()) return;
    Arguments alone;
    alone.words = {*named};
    refuse_other_word(command_, alone);
  }

  // The matrices that a command takes, where it has options for them: those that belong together, beside each other.
  std::string own_matrices() const {
    std::vector<std::string> pairs;
    std::vector<const Option*> told;
    for (const Requirement& row : command_.own.needs) {
      if (row.one->kind != Kind::matrix || std::ranges::find(told, row.one) != told.end()) continue;
      pairs.push_back(fmt::format("{} and {}", row.one->name, row.any_of.front()->name));
      told.insert(told.end(), {row.one, row.any_of.front()});
    }
    return pairs.empty() ? "" : fmt::format(": give matrices with {}", fmt::join(pairs, ", or "));
  }

  void refuse_option(const std::string& word) const {
    if (!looks_like_option(word)) return;
    const std::string name = word.substr(0, word.find('='));
    if (command_.shown_as && command_.shown_as->name == name) refuse_what_it_does(command_);
    std::vector<std::string> names;
    for (const OfferedOption& row : offered_) names.emplace_back(row.option->name);
    refuse_option_of_shown(name);
    throw InputError(fmt::format("attn {} has no option '{}'{}: see attn help {}", command_.name, name,
                                 did_you_mean(name, names), command_.name),
                     {.option = name, .hint = fmt::format("see attn help {}", command_.name)});
  }

  void check_count(const Arguments& arguments) const {
    const std::size_t most = most_count(command_.words);
    if (arguments.words.size() > most) {
      const std::string way_out = own_matrices();
      fail("attn {} does not expect '{}'{}", command_.name, arguments.words[most],
           way_out.empty() ? fmt::format(": see attn help {}", command_.name) : way_out);
    }
    const auto needs_none = [&](const Option* option) { return arguments.has(*option); };
    if (arguments.words.size() < least_count(command_.words) && std::ranges::none_of(command_.wordless, needs_none)) {
      fail("attn {} needs {}: see attn help {}", command_.name, usage_of_words(command_.words), command_.name);
    }
  }

  const Command& command_;
  std::vector<OfferedOption> offered_;
  CLI::App app_;
  std::vector<const CLI::Option*> parsed_;  // in the order of the offered ones; null where the line has none
};

// The option of such a command: a flag, or the word that comes first. Where each of the words is to be taken by itself,
// they stay.
void put_shown_as(const Command& command, std::vector<std::string>& words, Arguments& arguments) {
  if (command.shown_as->kind == Kind::flag) return arguments.put(*command.shown_as, true);
  if (words.empty() || arguments.has(option::each)) return;
  arguments.put(*command.shown_as, words.front());
  words.erase(words.begin());
}

// What stands before the name of the other command: flags and words of this one.
void put_what_is_before(const Command& command, std::span<const std::string> line, Arguments& arguments) {
  std::vector<std::string> words;
  for (const std::string& word : line) {
    if (const Option* const flag = flag_of(command, word)) {
      arguments.put(*flag, true);
    } else {
      words.push_back(word);
    }
  }
  if (arguments.has(*command.shown_as)) return;
  if (words.empty() && command.shown_as->kind != Kind::flag && command.wordless.empty())
    fail("attn {} needs {} before the command: see attn help {}", command.name, command.words.front().name,
         command.name);
  put_shown_as(command, words, arguments);
  if (words.empty()) return;
  if (!arguments.has(option::each)) refuse_further_file(words.front());
  arguments.words = std::move(words);
}

// Behind the name of the other command stand no flags of this one, nor what this one stands for, where its words say
// it.
void refuse_what_comes_before(const Command& command, const Command& other, std::span<const std::string> before,
                              std::span<const std::string> line) {
  const auto is_word = [&](const std::string& word) { return !flag_of(command, word); };
  const bool has_words = command.shown_as->kind != Kind::flag && std::ranges::any_of(before, is_word);
  const std::vector<OfferedOption> offered = options_of(other);
  const auto options = line.first(static_cast<std::size_t>(std::ranges::find(line, "--") - line.begin()));
  const auto name_of = [](const std::string& word) { return word.substr(0, word.find('=')); };
  if (has_words && std::ranges::find(options, command.shown_as->name, name_of) != options.end())
    refuse_what_it_does(command);
  for (const std::string& word : options) {
    const Option* const flag = flag_of(command, name_of(word));
    if (flag && std::ranges::find(offered, flag, &OfferedOption::option) == offered.end())
      fail("{} is an option of attn {}: write it before the command {}", flag->name, command.name, other.name);
  }
}

bool asks_for_each(const std::vector<std::string>& line) {
  return std::ranges::find(line, option::each.name) != line.end();
}

// Those for other programs are suggested to nobody.
const Command& command_called(const std::string& name) {
  if (const Command* const command = find_row(commands(), name)) return *command;
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.subject) names.emplace_back(command.name);
  }
  fail("unknown command '{}'{}: attn help lists all of them", name, did_you_mean(name, names));
}

}  // namespace

std::string version_of_cli11() { return CLI11_VERSION; }

ParsedCommandLine parse(const std::vector<std::string>& command_line) {
  if (command_line.empty()) return {};
  const std::string& first = command_line.front();
  if (first == option::help.name || first == option::short_help.name) return {};
  if (first == option::version.name) return {&look_up(commands(), "version", "command"), {}};
  if (first.starts_with('-')) {
    fail("'{}' is an option, and a command must come first: try attn walk {}, or attn help", first, first);
  }
  const Command& named = command_called(first);
  if (const ShownAs as = command_shown_as(named, std::span(command_line).subspan(1)); as.other) {
    const auto other = command_line.begin() + 1 + static_cast<std::ptrdiff_t>(as.words);
    refuse_what_comes_before(named, *as.other, {command_line.begin() + 1, other}, {other + 1, command_line.end()});
    ParsedCommandLine parsed = parse({other, command_line.end()});
    put_what_is_before(named, {command_line.begin() + 1, other}, parsed.arguments);
    return parsed;
  }
  // What a file is of, where the line does not name it.
  const auto file = std::find_if(command_line.begin() + 1, command_line.end(),
                                 [&](const std::string& word) { return !flag_of(named, word); });
  if (named.shown_as == &option::against && file != command_line.end() && !asks_for_each(command_line)) {
    const Command* const recorded = looks_like_option(*file) ? nullptr : command_of_file(*file);
    if (recorded && recorded->name != "walk") {
      std::vector<std::string> line = {std::string(recorded->name)};
      line.insert(line.end(), file + 1, command_line.end());
      ParsedCommandLine parsed = parse(line);
      put_what_is_before(named, {command_line.begin() + 1, file + 1}, parsed.arguments);
      return parsed;
    }
  }
  const Command& command = named;
  // After "--" everything is a word.
  const auto dashes = std::find(command_line.begin(), command_line.end(), "--");
  const std::vector<std::string> line(command_line.begin() + 1, dashes);
  const bool asks_for_help = std::ranges::any_of(
      line, [](const std::string& word) { return word == option::help.name || word == option::short_help.name; });
  if (asks_for_help) return {&command, Parser(command, output_options().options).options(line)};
  const bool has_words = dashes != command_line.end();
  ParsedCommandLine parsed{
      &command, Parser(command, options_of(command)).all(line, {has_words ? dashes + 1 : dashes, command_line.end()})};
  parsed.arguments.line = command_line;
  if (command.shown_as) put_shown_as(command, parsed.arguments.words, parsed.arguments);
  const std::vector<std::string>& left = parsed.arguments.words;
  if (parsed.arguments.has(option::against) && !left.empty() && file_exists(left.front()))
    refuse_further_file(left.front());
  return parsed;
}

}  // namespace attn
