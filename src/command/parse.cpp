#include <CLI/CLI.hpp>

#include <algorithm>

#include "command/app.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

std::string without_dashes(std::string_view name) {
  return std::string(name.substr(name.find_first_not_of('-')));
}

// A negative number may begin a literal.
bool looks_like_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-' &&
         std::string_view("0123456789.").find(word[1]) == std::string_view::npos;
}

// The parser for one command: only its own options are made, because making all of them takes longer than a
// walk.
class Parser {
 public:
  explicit Parser(const Command& command) : command_(command) {
    app_.set_help_flag();
    app_.allow_extras();
    add(command.options);
    add(output_options());
    if (command.takes_problem) {
      add(problem_options());
      for (const Field& field : fields()) add(field.option, field.placeholder);
    }
  }

  Arguments parse(std::vector<std::string> command_line) {
    // After "--" everything is a word.
    const auto dashes = std::ranges::find(command_line, "--");
    const bool any_after = dashes != command_line.end();
    const std::vector<std::string> words(any_after ? dashes + 1 : dashes, command_line.end());
    command_line.erase(dashes, command_line.end());
    for (const std::string& word : command_line) {
      refuse_value_of_flag(word);
      refuse_empty_value(word);
    }
    std::ranges::reverse(command_line);  // CLI11 takes them from the back
    try {
      app_.parse(std::move(command_line));
    } catch (const CLI::ArgumentMismatch& error) {
      const std::string what = error.what();
      fail("{} needs a value after it: see attn help {}", what.substr(0, what.find(':')), command_.name);
    } catch (const CLI::ParseError& error) {
      fail("{}: see attn help {}", error.what(), command_.name);
    }
    Arguments arguments;
    arguments.default_example = command_.default_example;
    take_options(arguments);
    for (const std::string& word : app_.remaining()) {
      refuse_option(word);
      arguments.words.push_back(word);
    }
    arguments.words.insert(arguments.words.end(), words.begin(), words.end());
    if (!arguments.has("help") && !arguments.has("h")) check_count(arguments);
    return arguments;
  }

 private:
  void add(std::span<const Option> options) {
    for (const Option& option : options) add(option.name, option.placeholder);
  }

  void add(std::string_view name, std::string_view placeholder) {
    std::string names(name);
    if (name == "--output") names = "-o,--output";
    names_.emplace_back(name);
    if (placeholder.empty()) flags_.emplace_back(name);
    CLI::Option* option = placeholder.empty() ? app_.add_flag(names)
                                              : app_.add_option(names)->expected(1)->allow_extra_args(false);
    if (!placeholder.empty()) option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

  // CLI11 would take `--causal=no` for the flag being given.
  void refuse_value_of_flag(std::string_view word) const {
    for (const std::string& flag : flags_) {
      if (word.starts_with(flag + "=")) fail("{}: {} takes no value: write only {}", word, flag, flag);
    }
  }

  // CLI11 would take the next word for the value of `--text=`.
  void refuse_empty_value(std::string_view word) const {
    if (!word.ends_with('=')) return;
    const std::string_view name = word.substr(0, word.size() - 1);
    if (std::ranges::find(names_, name) != names_.end()) fail("{} needs a value after the =", name);
  }

  // `--scores -o out.csv` forgot the scores.
  void refuse_option_as_value(std::string_view name, const std::vector<std::string>& values) const {
    for (const std::string& value : values) {
      if (value == "-o" || value == "-h" || std::ranges::find(names_, value) != names_.end()) {
        fail("{} needs a value after it, and {} is an option: see attn help {}", name, value, command_.name);
      }
    }
  }

  void take_options(Arguments& arguments) const {
    for (const std::string& name : names_) {
      const CLI::Option* option = app_.get_option(name);
      if (option->count() == 0) continue;
      const std::vector<std::string>& values = option->results();
      refuse_option_as_value(name, values);
      const auto is_named = [&](const Field& field) { return field.option == name; };
      const auto field = std::ranges::find_if(fields(), is_named);
      if (field != fields().end() && command_.takes_problem) {
        arguments.request.set(*field, values);
      } else {
        if (option->get_expected_max() > 0 && values.size() > 1)
          fail("{} is given {} times: give it once", name, values.size());
        arguments.options.emplace(without_dashes(name), values.empty() ? "" : values.front());
      }
    }
  }

  void refuse_option(const std::string& word) const {
    if (!looks_like_option(word)) return;
    const std::string name = word.substr(0, word.find('='));
    fail("attn {} has no option '{}'{}: see attn help {}", command_.name, name, did_you_mean(name, names_),
         command_.name);
  }

  void check_count(const Arguments& arguments) const {
    if (arguments.words.size() > command_.most_words) {
      fail("attn {} does not expect '{}': see attn help {}", command_.name,
           arguments.words[command_.most_words], command_.name);
    }
    if (arguments.words.size() < command_.least_words) {
      fail("attn {} needs {}: see attn help {}", command_.name, command_.words, command_.name);
    }
  }

  const Command& command_;
  CLI::App app_;
  std::vector<std::string> names_;
  std::vector<std::string> flags_;
};

}  // namespace

Parsed parse(const std::vector<std::string>& command_line) {
  if (command_line.empty()) return {};
  const std::string& first = command_line.front();
  if (first == "--help" || first == "-h") return {};
  if (first == "--version") return {&look_up(commands(), "version", "command"), {}};
  if (first.starts_with('-')) {
    fail("'{}' is an option, and a command must come first: try attn walk {}, or attn help", first, first);
  }
  const Command& command = look_up(commands(), first, "command");
  return {&command, Parser(command).parse({command_line.begin() + 1, command_line.end()})};
}

}  // namespace attn
