#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "command/app.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "page/render/format.hpp"
#include "page/render/picture.hpp"
#include "page/render/style.hpp"
#include "page/render/tex.hpp"

namespace attn {

namespace {

constexpr std::string_view always = "always", never = "never", automatic = "auto";

struct Theme {
  std::string_view name;
  std::optional<Rgb> ground;     // nothing: it is to be found out
  PictureGround picture_ground;  // of a picture
};
constexpr Theme named_themes[] = {{"dark", dark_ground, PictureGround::dark},
                                  {"light", light_ground, PictureGround::light},
                                  {automatic, std::nullopt, PictureGround::any}};

struct NamedMarks {
  std::string_view name;
  MathMarks marks;
};
constexpr NamedMarks named_marks[] = {{"dollars", MathMarks::dollars}, {"fences", MathMarks::fences}};

std::optional<std::string> value_of_variable(const Environment& environment, const Variable& variable) {
  return environment.variable(variable.name);
}

bool is_set(const Environment& environment, const Variable& variable) {
  const std::optional<std::string> value = value_of_variable(environment, variable);
  return value && !value->empty();
}

bool is_on(const Environment& environment, const Variable& variable) {
  return is_set(environment, variable) && *value_of_variable(environment, variable) != "0";
}

Colors depth(const Environment& environment) {
  const std::string colorterm = value_of_variable(environment, variable::colorterm).value_or("");
  if (colorterm == "truecolor" || colorterm == "24bit") return Colors::full;
  const std::string term = value_of_variable(environment, variable::term).value_or("");
  return term.find("256") != std::string::npos ? Colors::palette256 : Colors::sixteen;
}

// The first rule that says something wins.
Colors choose_colors(const Arguments& arguments, const Environment& environment, bool to_file) {
  using Choice = std::pair<std::string_view, std::optional<std::string>>;
  const Choice choices[] = {{"--color", arguments.text(option::color)},
                            {variable::attn_color.name, value_of_variable(environment, variable::attn_color)}};
  for (const auto& [name, choice] : choices) {
    if (!choice || choice->empty()) continue;
    if (*choice == never) return Colors::none;
    if (*choice == always) return depth(environment);
    if (*choice == automatic) break;
    fail("{}: '{}' is neither always, never nor auto", name, *choice);
  }
  if (is_set(environment, variable::no_color)) return Colors::none;
  if (is_on(environment, variable::force_color) || is_on(environment, variable::clicolor_force))
    return depth(environment);
  if (to_file || !environment.output_is_terminal || value_of_variable(environment, variable::term) == "dumb")
    return Colors::none;
  return depth(environment);
}

// Of "15;0" or "15;default;0" the last number is the ground: of the sixteen colors 7 and those from 9 on are
// light.
std::optional<Rgb> ground_in(const std::string& colorfgbg) {
  const std::size_t last = colorfgbg.rfind(';');
  if (last == std::string::npos) return std::nullopt;
  const std::optional<int> color = parse_number<int>(std::string_view(colorfgbg).substr(last + 1));
  if (!color || *color < 0 || *color > 15) return std::nullopt;
  return *color == 7 || *color >= 9 ? light_ground : dark_ground;
}

// Nothing: it is to be found out.
std::optional<Rgb> theme(const Arguments& arguments, const Environment& environment) {
  using Choice = std::pair<std::string_view, std::optional<std::string>>;
  const Choice choices[] = {{"--theme", arguments.text(option::theme)},
                            {variable::attn_theme.name, value_of_variable(environment, variable::attn_theme)}};
  for (const auto& [name, choice] : choices) {
    if (!choice || choice->empty()) continue;
    if (const Theme* const named = find_row(std::span<const Theme>(named_themes), *choice)) return named->ground;
    fail("{}: unknown theme '{}'. Choose one of: dark, light, auto", name, *choice);
  }
  return std::nullopt;
}

// What options say to some formats only.
void set_for_formats(Attachments& own, const Arguments& arguments) {
  own.put(SeparatedSettings{.labels = !arguments.has(option::no_labels)});
  own.put(TexSettings{.standalone = arguments.has(option::standalone), .shading = arguments.has(option::shading)});
  if (const std::optional<std::string> name = arguments.text(option::math))
    own.put(MarkdownSettings{look_up(std::span<const NamedMarks>(named_marks), *name, "marks").marks});
  PictureSettings pictures{.is_chosen = arguments.has_any(std::array{&option::only, &option::section}),
                           .transparent = arguments.has(option::transparent)};
  if (const std::optional<std::string> name = arguments.text(option::theme))
    pictures.ground = look_up(std::span<const Theme>(named_themes), *name, "theme").picture_ground;
  own.put(std::move(pictures));
}

std::size_t choose_width(const Arguments& arguments, const Environment& environment, bool to_file) {
  constexpr std::size_t usual = 80;
  if (const std::optional<std::size_t> width = arguments.count(option::width)) return *width;
  if (to_file) return 0;
  if (environment.output_is_terminal && environment.terminal_width > 0) return environment.terminal_width;
  const std::string columns = value_of_variable(environment, variable::columns).value_or("");
  const bool is_number =
      !columns.empty() && columns.size() < 6 && columns.find_first_not_of("0123456789") == std::string::npos;
  if (is_number && std::stoul(columns) > 0) return std::stoul(columns);
  return environment.output_is_terminal ? usual : 0;
}

}  // namespace

std::vector<OptionChoice> choices::colors() { return {{always, ""}, {never, ""}, {automatic, ""}}; }

std::vector<OptionChoice> choices::math_marks() {
  std::vector<OptionChoice> names;
  for (const NamedMarks& row : named_marks) names.push_back({row.name, ""});
  return names;
}

std::vector<OptionChoice> choices::themes() {
  std::vector<OptionChoice> names;
  for (const Theme& theme : named_themes) names.push_back({theme.name, ""});
  return names;
}

bool speaks_utf8(const Environment& environment) {
  for (const Variable* variable : {&variable::lc_all, &variable::lc_ctype, &variable::lang}) {
    if (!is_set(environment, *variable)) continue;
    const std::string value = *value_of_variable(environment, *variable);
    return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos ||
           value.find("UTF8") != std::string::npos || value.find("utf-8") != std::string::npos;
  }
  return false;
}

Rgb ground_for(const Arguments& arguments, const Environment& environment) {
  if (const std::optional<Rgb> ground = theme(arguments, environment)) return *ground;
  if (const std::optional<Rgb> ground = ground_in(value_of_variable(environment, variable::colorfgbg).value_or("")))
    return *ground;
  const bool asks = environment.output_is_terminal && environment.ground;
  return (asks ? environment.ground() : std::nullopt).value_or(dark_ground);
}

std::optional<std::string> pager_for(const Arguments& arguments, const Environment& environment) {
  if (arguments.has(option::no_pager) || !environment.output_is_terminal ||
      value_of_variable(environment, variable::term) == "dumb")
    return std::nullopt;
  // Who has ended the work by a signal does not wait for its page.
  if (const LongWork* const work = arguments.long_work(); work && work->was_asked_to_stop()) return std::nullopt;
  for (const Variable* variable : {&variable::attn_pager, &variable::pager}) {
    const std::optional<std::string> pager = value_of_variable(environment, *variable);
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
  style.precision = static_cast<int>(arguments.count(option::precision).value_or(4));
  style.is_precise = arguments.has(option::precision);
  set_for_formats(style.own, arguments);
  return style;
}

}  // namespace attn
