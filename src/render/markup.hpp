#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Any text as text of HTML and XML, or as the value of an attribute in double quotes. What a browser could
/// take for a command or for a turn of direction becomes U+FFFD.
std::string in_markup(std::string_view text);
/// The same of several lines, which keep their ends and tabs.
std::string lines_in_markup(std::string_view lines);

}  // namespace attn
