#include "command/about/help.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "command/app.hpp"
#include "command/command.hpp"
#include "core/support/text.hpp"
#include "data/problem/model_words.hpp"
#include "page/document/markdown.hpp"

namespace attn {

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

std::string option_head(const OfferedOption& row) {
  const Option& option = *row.option;
  std::string head = option.letter == '\0' ? "" : roff_bold(std::string{'-', option.letter}) + ", ";
  head += roff_bold(option.name);
  if (!option.placeholder.empty()) head += " " + roff_italic(option.placeholder);
  return head;
}

// Each option with its choices beneath it, and then the choices of several.
void man_on_options(Roff& page, const OptionSection& section) {
  if (!section.title.empty()) page.part(section.title);
  for (const OfferedOption& row : section.options) {
    page.item(option_head(row), escaped(summary_in_help(row)));
    const std::vector<OptionChoice> choices = choices_in_help(row);
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
  const ProgramFacts all = shared_facts();
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
  const std::string words = usage_of_words(command.words);
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

}  // namespace attn
