// What the program tells of itself: manual pages, the reference, versions, variables and exit codes.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "command/about/help.hpp"
#include "command/command.hpp"
#include "commands_tried.hpp"
#include "process.hpp"
#include "source_files.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

std::string said(const Words& words) { return accepted(words).out; }

// As a manual page has it.
std::string hyphenated(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '-' ? std::string("\\-") : std::string(1, c);
  return result;
}

}  // namespace

TEST_CASE("a manual page has the command's options, their choices, examples, variables and exit codes") {
  for (const Command& command : commands()) {
    const std::string page = said({"manual", std::string(command.name)});
    CHECK(page.starts_with(".TH "));
    for (const OptionSection& section : all_sections(command)) {
      for (const OfferedOption& row : section.options) {
        CHECK_MESSAGE(has(page, "\\fB" + hyphenated(row.option->name) + "\\fR"),
                      command.name << " " << row.option->name);
        for (const OptionChoice& choice : choices_in_help(row))
          CHECK_MESSAGE(has(page, "\\fB" + hyphenated(choice.name) + "\\fR"), choice.name);
      }
    }
    for (const Action& action : command.actions) CHECK(has(page, "\\fB" + hyphenated(usage_of(action)) + "\\fR"));
    for (const Variable* variable : variables) CHECK(has(page, std::string("\\fB") + variable->name + "\\fR"));
    for (const ExitCode* code : exit_codes) CHECK(has(page, "\\fB" + std::to_string(code->code) + "\\fR"));
  }
}

TEST_CASE("the manual page of attn names every command that people type, and no other") {
  const std::string page = said({"manual"});
  for (const Command& command : commands())
    CHECK_MESSAGE(has(page, "\\fBattn\\-" + hyphenated(command.name) + "\\fR(1)") == (command.caller == Caller::people),
                  command.name);
}

TEST_CASE("the reference has every command that people type") {
  const std::string page = bytes_of(std::string(ATTN_SOURCE_FOLDER) + "/docs/reference.md");
  for (const Command& command : commands()) {
    const std::string name(command.name);
    const bool is_there = has(page, "\nattn " + name + " -h\n") || has(page, "\nattn help " + name + "\n");
    CHECK_MESSAGE(is_there == (command.caller == Caller::people), name);
  }
}

TEST_CASE("a variable of the environment is read by its row, so that the manual has it") {
  std::size_t rows = 0;
  for (const auto& [path, text] : source_files("src")) {
    const bool by_literal = has(text, "getenv(\"") || has(text, "variable(\"");
    const std::string& source = path;
    CHECK_MESSAGE(!by_literal, source);
    for (std::size_t at = 0; (at = text.find("variable::", at)) != std::string::npos; ++at) ++rows;
  }
  CHECK(rows >= 2 * std::size(variables) - 1);  // in the list, and where it is read
}

TEST_CASE("the version has a first line for scripts, and then every library") {
  const std::string version = said({"--version"});
  CHECK(version == said({"version"}));
  CHECK(version.starts_with("attn " ATTN_TESTED_VERSION "\n\n"));
  for (const char* library :
       {"xtensor ", "xtl ", "xtensor-blas ", "OpenBLAS ", "kernel ", "vector instructions ", "threads ", "fmt ",
        "CLI11 ", "nlohmann-json ", "zlib ", "cmark-gfm ", "utf8proc ", "pcre2 ", "compiler "})
    CHECK_MESSAGE(has(version, library), library);
  CHECK_FALSE(has(version, "unknown"));
  CHECK(has(run_attn({"version"}, {.variables = {{"OPENBLAS_CORETYPE", "Prescott"}}}).out, "kernel Prescott"));
  CHECK(has(said({"version", "--threads", "3"}), "threads              3\n"));
}

TEST_CASE("a script of completions knows no command and no option of attn") {
  for (const OptionChoice& shell : choices::shells()) {
    const std::string script = said({"completion", std::string(shell.name)});
    CHECK(has(script, " complete -- "));
    for (const Command& command : commands()) {
      if (command.takes_problem()) CHECK_FALSE(has(script, " " + std::string(command.name) + " "));
    }
  }
}
