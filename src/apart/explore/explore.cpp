#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "apart/annex.hpp"
#include "apart/apart_options.hpp"
#include "apart/explore/explorer.hpp"
#include "apart/explore/screenshot.hpp"
#include "command/app.hpp"
#include "command/command.hpp"
#include "command/form.hpp"
#include "command/forms.hpp"
#include "core/support/error.hpp"
#include "core/support/shell.hpp"
#include "core/support/text.hpp"
#include "page/tell/describe.hpp"

namespace attn {
namespace {

// "80x24"
TerminalSize size_of_screen(const std::string& text) {
  constexpr std::size_t most = 500;
  const std::vector<std::string_view> parts = split_at(text, 'x');
  const auto number = [&](std::string_view part) -> std::size_t {
    if (part.empty() || part.size() > 3 || !std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; }))
      fail("--screen {}: give columns and rows, such as 80x24", text);
    return std::stoul(std::string(part));
  };
  if (parts.size() != 2) fail("--screen {}: give columns and rows, such as 80x24", text);
  const TerminalSize size{number(parts[0]), number(parts[1])};
  if (size.columns == 0 || size.columns > most || size.rows == 0 || size.rows > most)
    fail("--screen {}: a screen has from 1 to {} columns and rows", text, most);
  return size;
}

// The line, as a shell takes it, without what only an explorer needs, or says how a screen is written.
std::string line_without_screen(const Command& command, const Arguments& arguments) {
  constexpr std::array own = {&option::explore, &option::keys,  &option::print,  &option::picture, &option::recording,
                              &option::screen,  &option::theme, &option::color,  &option::second,  &option::format,
                              &option::output,  &option::ascii, &option::threads};
  std::vector<std::string> words = words_of_line(command, arguments, own);
  if (arguments.has(option::trace)) words.front() = "explore";
  std::ranges::transform(words, words.begin(), shell_word);
  return fmt::format("{}", fmt::join(words, " "));
}

// The screens that some keys show, and how long one looks at each: the first, and one after each key.
std::vector<TimedScreen> screens_of(const ExploredComputation& what, const std::vector<Keystroke>& keys,
                                    TerminalSize size, const Style& style, const Explorer::View* view = nullptr) {
  constexpr double to_look = 1.6, to_type = 0.25, at_end = 5.0;
  Explorer explorer(what, style);
  std::vector<TimedScreen> screens = {{explorer.draw(size), to_look}};
  for (const Keystroke& key : keys) {
    if (explorer.is_left()) break;
    explorer.press(key);
    screens.push_back({explorer.draw(size), explorer.is_asking() ? to_type : to_look});
  }
  if (view) {
    explorer.open(*view);
    screens.push_back({explorer.draw(size), to_look});
  }
  screens.back().seconds = at_end;
  return screens;
}

// To and fro until the reader leaves. Only what differs from the last screen is written.
void run_at_terminal(const ExploredComputation& what, const std::vector<Keystroke>& keys, Terminal& terminal,
                     const Style& style) {
  Explorer explorer(what, style);
  {
    const std::unique_ptr<Screen> screen = terminal.open_screen();
    if (!screen) fail("this terminal cannot show a whole screen: give --print matrices for the screen as text");
    Grid shown = explorer.draw(screen->size());
    for (const Keystroke& key : keys) {
      explorer.press(key);
      shown = explorer.draw(screen->size());
    }
    screen->write(screen_redraw(shown));
    while (!explorer.is_left()) {
      const Keystroke key = screen->next_key();
      explorer.press(key);
      Grid next = explorer.draw(screen->size());
      screen->write(key.kind == Keystroke::Kind::resized ? screen_redraw(next) : screen_update(shown, next));
      shown = std::move(next);
    }
  }
  if (!explorer.asked_command().empty()) terminal.write(explorer.asked_command() + "\n");
}

}  // namespace

std::vector<OptionChoice> choices::views() { return choices_of(Explorer::views()); }

// Without the name of another command, what is explored is a walk.
Answer run_explore(const Command& command, const Arguments& arguments) {
  refuse_other_word(command, arguments);
  if (const std::optional<std::string> path = arguments.text(option::trace)) return matrices_of_trace(*path, arguments);
  return run_walk(command, arguments);
}

Answer exploration(const Command& command, const Arguments& arguments) {
  Answer answer = ordinary_answer(command, arguments);
  const std::shared_ptr<const Graph> graph = answer.computation.graph;
  if (!graph) fail("attn {} shows no matrices here: there is nothing to explore", command.name);
  const std::string line = line_without_screen(command, arguments);
  const bool is_trace = arguments.has(option::trace);
  const std::optional<std::string> second = arguments.text(option::second);
  const ExploredComputation what{
      .graph = graph,
      .command = line,
      .random = what_is_random(answer.computation),
      .second = second ? computation_named(*second, option::second.name, arguments) : nullptr,
      .without_screen = [=](const Cell& cell, const std::vector<CellSetting>& settings) {
        // Files of matrices are no computation: there the keys are told again.
        if (is_trace) {
          std::string keys;
          for (const CellSetting& one : settings)
            keys += fmt::format("g {} enter = {} enter ", address_of({one.node, one.row, one.column}), one.value);
          keys += fmt::format("g {} enter", address_of(cell));
          return fmt::format("attn {} {} {}", line, option::keys.name, shell_word(keys));
        }
        if (settings.empty())
          return fmt::format("attn {} {} {}", line, option::explain.name, shell_word(address_of(cell)));
        std::string changes;
        for (const CellSetting& one : settings) {
          std::string address = address_of({one.node, one.row, one.column});
          // What separates settings from each other stands in no address.
          if (address.find(';') != std::string::npos)
            address = fmt::format("{}[{},{}]", one.node->name, one.row + 1, one.column + 1);
          changes += fmt::format(" {} {}", option::set.name, shell_word(fmt::format("{}={}", address, one.value)));
        }
        return fmt::format("attn what-if {}{}", line, changes);
      }};
  const TerminalSize size = size_of_screen(arguments.text(option::screen).value_or("80x24"));
  std::vector<Keystroke> keys = keystrokes_in(arguments.text(option::keys).value_or(""), Explorer::asking());
  const auto print = [&](const Explorer::View* view) {
    Style style = style_for(arguments, *arguments.environment, false);
    style.colors = Colors::none;
    std::string screen = screens_of(what, keys, size, style, view).back().grid.text();
    screen.erase(screen.find_last_not_of('\n') + 1);
    answer.page = {};
    answer.page.say(CodeBlock{"text", std::move(screen)});
  };
  if (const std::optional<std::string> name = arguments.text(option::print)) {
    print(&look_up(Explorer::views(), *name, "view"));
    return answer;
  }
  for (const Option* drawn : {&option::picture, &option::recording}) {
    const std::optional<std::string> path = arguments.text(*drawn);
    if (path && !path->ends_with(".svg"))
      fail("{} {}: a picture is SVG: give a name that ends in .svg", drawn->name, *path);
  }
  const std::optional<std::string> picture = arguments.text(option::picture),
                                   moving = arguments.text(option::recording);
  if (picture || moving) {
    Style style = style_for(arguments, *arguments.environment, true);
    if (!arguments.has(option::color)) style.colors = Colors::full;
    const std::vector<TimedScreen> screens = screens_of(what, keys, size, style);
    answer.page = {};
    if (picture) answer.files.push_back({*picture, screenshot(screens.back().grid, style.ground, "attn " + line)});
    if (moving) answer.files.push_back({*moving, recording(screens, style.ground, "attn " + line)});
    for (const FileToWrite& file : answer.files) answer.page.say(fmt::format("The screen is drawn in {}.", file.path));
    return answer;
  }
  if (arguments.environment->output_is_terminal) {
    answer.session = [=](Terminal& terminal, const Style& style) { run_at_terminal(what, keys, terminal, style); };
  } else if (!arguments.has(option::format) && !arguments.has(option::output)) {
    // Nobody is there to walk about: the screen as it is after the keys. With a format, the page is written in it.
    print(nullptr);
  }
  return answer;
}

}  // namespace attn
