#include "command/app.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

bool is_set(const Environment& environment, const char* name) {
  const std::optional<std::string> value = environment.variable(name);
  return value && !value->empty();
}

bool is_on(const Environment& environment, const char* name) {
  return is_set(environment, name) && *environment.variable(name) != "0";
}

Colors depth(const Environment& environment) {
  const std::string colorterm = environment.variable("COLORTERM").value_or("");
  if (colorterm == "truecolor" || colorterm == "24bit") return Colors::full;
  const std::string term = environment.variable("TERM").value_or("");
  return term.find("256") != std::string::npos ? Colors::palette256 : Colors::sixteen;
}

// The first rule that says something wins.
Colors choose_colors(const Arguments& arguments, const Environment& environment, bool to_file) {
  using Choice = std::pair<std::string_view, std::optional<std::string>>;
  const Choice choices[] = {{"--color", arguments.text(option::color)},
                            {"ATTN_COLOR", environment.variable("ATTN_COLOR")}};
  for (const auto& [name, choice] : choices) {
    if (!choice || choice->empty()) continue;
    if (*choice == "never") return Colors::none;
    if (*choice == "always") return depth(environment);
    if (*choice == "auto") break;
    fail("{}: '{}' is neither always, never nor auto", name, *choice);
  }
  if (is_set(environment, "NO_COLOR")) return Colors::none;
  if (is_on(environment, "FORCE_COLOR") || is_on(environment, "CLICOLOR_FORCE")) return depth(environment);
  if (to_file || !environment.output_is_terminal || environment.variable("TERM") == "dumb")
    return Colors::none;
  return depth(environment);
}

// Of "15;0" or "15;default;0" the last number is the ground: of the sixteen colors 7 and those from 9 on are
// light.
std::optional<Rgb> ground_in(const std::string& colorfgbg) {
  const std::size_t last = colorfgbg.rfind(';');
  if (last == std::string::npos) return std::nullopt;
  const std::optional<int> color = parsed<int>(std::string_view(colorfgbg).substr(last + 1));
  if (!color || *color < 0 || *color > 15) return std::nullopt;
  return *color == 7 || *color >= 9 ? light_ground : dark_ground;
}

// Nothing: it is to be found out.
std::optional<Rgb> theme(const Arguments& arguments, const Environment& environment) {
  using Choice = std::pair<std::string_view, std::optional<std::string>>;
  const Choice choices[] = {{"--theme", arguments.text(option::theme)},
                            {"ATTN_THEME", environment.variable("ATTN_THEME")}};
  for (const auto& [name, choice] : choices) {
    if (!choice || choice->empty()) continue;
    if (*choice == "dark") return dark_ground;
    if (*choice == "light") return light_ground;
    if (*choice == "auto") break;
    fail("{}: unknown theme '{}'. Choose one of: dark, light, auto", name, *choice);
  }
  return std::nullopt;
}

std::size_t choose_width(const Arguments& arguments, const Environment& environment, bool to_file) {
  constexpr std::size_t usual = 80;
  if (const std::optional<std::size_t> width = arguments.count(option::width)) return *width;
  if (to_file || !environment.output_is_terminal) return 0;
  if (environment.terminal_width > 0) return environment.terminal_width;
  const std::string columns = environment.variable("COLUMNS").value_or("");
  const bool is_number =
      !columns.empty() && columns.size() < 6 && columns.find_first_not_of("0123456789") == std::string::npos;
  return is_number && std::stoul(columns) > 0 ? std::stoul(columns) : usual;
}

}  // namespace

bool speaks_utf8(const Environment& environment) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (!is_set(environment, name)) continue;
    const std::string value = *environment.variable(name);
    return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos ||
           value.find("UTF8") != std::string::npos || value.find("utf-8") != std::string::npos;
  }
  return false;
}

Rgb ground_for(const Arguments& arguments, const Environment& environment) {
  if (const std::optional<Rgb> ground = theme(arguments, environment)) return *ground;
  if (const std::optional<Rgb> ground = ground_in(environment.variable("COLORFGBG").value_or("")))
    return *ground;
  const bool asks = environment.output_is_terminal && environment.ground;
  return (asks ? environment.ground() : std::nullopt).value_or(dark_ground);
}

std::optional<std::string> pager_for(const Arguments& arguments, const Environment& environment) {
  if (arguments.has(option::no_pager) || !environment.output_is_terminal ||
      environment.variable("TERM") == "dumb")
    return std::nullopt;
  for (const char* name : {"ATTN_PAGER", "PAGER"}) {
    const std::optional<std::string> pager = environment.variable(name);
    if (!pager) continue;
    if (pager->empty() || *pager == "cat") return std::nullopt;
    return pager;
  }
  return "";
}

Style style_for(const Arguments& arguments, const Environment& environment, bool to_file) {
  Style style;
  style.colors = choose_colors(arguments, environment, to_file);
  style.ground = theme(arguments, environment).value_or(dark_ground);
  // A file is read elsewhere, on a machine that is not this terminal.
  style.unicode = !arguments.has(option::ascii) && (to_file || speaks_utf8(environment));
  style.width = choose_width(arguments, environment, to_file);
  style.full = arguments.has(option::full);
  style.labels = !arguments.has(option::no_labels);
  style.precision = static_cast<int>(arguments.count(option::precision).value_or(4));
  return style;
}

}  // namespace attn
