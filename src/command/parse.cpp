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

// The parser for one command: only its own options are made, because making all of them takes longer than a
// walk.
class Parser {
 public:
  explicit Parser(const Command& command) : command_(command) {
    app_.set_help_flag();
    app_.allow_extras();
    for (const auto& options : {command.options, output_options()}) add(options);
    if (command.takes_problem) {
      add(problem_options());
      for (const Field& field : fields()) add(field.option, field.placeholder);
    }
  }

  Arguments parse(std::vector<std::string> command_line) {
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
    take_options(arguments);
    take_words(arguments);
    return arguments;
  }

 private:
  void add(std::span<const Option> options) {
    for (const Option& option : options) add(option.name, option.placeholder);
  }

  void add(std::string_view name, std::string_view placeholder) {
    std::string names(name);
    if (name == "--output") names = "-o,--output";
    if (name == "--help") names = "-h,--help";
    names_.emplace_back(name);
    CLI::Option* option = placeholder.empty() ? app_.add_flag(names)
                                              : app_.add_option(names)->expected(1)->allow_extra_args(false);
    if (!placeholder.empty()) option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

  void take_options(Arguments& arguments) const {
    for (const std::string& name : names_) {
      const CLI::Option* option = app_.get_option(name);
      if (option->count() == 0) continue;
      const std::vector<std::string>& values = option->results();
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

  void take_words(Arguments& arguments) const {
    for (const std::string& word : app_.remaining()) {
      if (word.size() > 1 && word.front() == '-' && word != "--") {
        const std::string name = word.substr(0, word.find('='));
        fail("attn {} has no option '{}'{}", command_.name, name, did_you_mean(name, names_));
      }
      if (word != "--") arguments.words.push_back(word);
    }
    if (arguments.has("help")) return;
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
};

}  // namespace

Parsed parse(const std::vector<std::string>& command_line) {
  if (command_line.empty()) return {};
  const std::string& first = command_line.front();
  if (first == "--help" || first == "-h") return {};
  if (first == "--version") return {&look_up(commands(), "version", "command"), {}};
  if (first.starts_with('-')) {
    fail("a command comes first, and '{}' is an option: try attn walk {}, or attn help", first, first);
  }
  const Command& command = look_up(commands(), first, "command");
  return {&command, Parser(command).parse({command_line.begin() + 1, command_line.end()})};
}

}  // namespace attn
