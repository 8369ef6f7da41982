#pragma once

#include <string_view>

namespace attn {

/// A variable of the environment that the program reads, and what it says.
struct Variable {
  const char* name;
  std::string_view summary;
};

/// All of them. Like an option a variable is known by its address: whoever reads one names its row.
namespace variable {
inline constexpr Variable attn_color{"ATTN_COLOR",
                                     "use colors: always, never or auto; --color comes before it"};
inline constexpr Variable no_color{"NO_COLOR", "if it is set, use no colors"};
inline constexpr Variable force_color{
    "FORCE_COLOR", "if it is set and not 0, use colors although the output is no terminal"};
inline constexpr Variable clicolor_force{"CLICOLOR_FORCE", "the same as FORCE_COLOR"};
inline constexpr Variable colorterm{"COLORTERM", "truecolor or 24bit: the terminal shows all colors"};
inline constexpr Variable term{
    "TERM", "kind of the terminal; dumb: no colors and no pager, and 256 in its name: 256 colors"};
inline constexpr Variable attn_theme{
    "ATTN_THEME", "background of the terminal: dark, light or auto; --theme comes before it"};
inline constexpr Variable colorfgbg{"COLORFGBG",
                                    "colors of the terminal; the last number is that of the background"};
inline constexpr Variable ssh_connection{
    "SSH_CONNECTION", "if it is set, wait longer for what the terminal says of its background"};
inline constexpr Variable attn_pager{"ATTN_PAGER", "command that shows long pages; cat or nothing: no pager"};
inline constexpr Variable pager{"PAGER", "the same where ATTN_PAGER is not set"};
inline constexpr Variable columns{"COLUMNS", "width of a pipe, and of a terminal that does not tell its own"};
inline constexpr Variable lc_all{"LC_ALL",
                                 "locale: without UTF-8 in it, text for a terminal or a pipe is ASCII"};
inline constexpr Variable lc_ctype{"LC_CTYPE", "the same where LC_ALL is not set"};
inline constexpr Variable lang{"LANG", "the same where neither of them is set"};
inline constexpr Variable xdg_state_home{"XDG_STATE_HOME",
                                         "folder of the progress in lessons; it must be an absolute path"};
inline constexpr Variable home{"HOME", "your folder, which has the progress where XDG_STATE_HOME is not set"};
inline constexpr Variable openblas_coretype{
    "OPENBLAS_CORETYPE", "kernel of OpenBLAS in place of that for your processor, such as Haswell"};
}  // namespace variable

/// In the order of help.
inline constexpr const Variable* variables[] = {
    &variable::attn_color,     &variable::no_color,         &variable::force_color, &variable::clicolor_force,
    &variable::attn_theme,     &variable::colorfgbg,        &variable::colorterm,   &variable::term,
    &variable::ssh_connection, &variable::columns,          &variable::attn_pager,  &variable::pager,
    &variable::lc_all,         &variable::lc_ctype,         &variable::lang,        &variable::xdg_state_home,
    &variable::home,           &variable::openblas_coretype};

}  // namespace attn
