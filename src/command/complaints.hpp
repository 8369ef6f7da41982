#pragma once

#include <span>
#include <string>
#include <string_view>

#include "command/command.hpp"
#include "core/support/error.hpp"

namespace attn {

/// Whether a line asks for JSON by --format, also one that cannot be understood: then what is said on standard error is
/// JSON as well.
bool asks_for_json(std::span<char* const> line);

/// One line: an object with a member `error`, which has what is known of it; docs/formats.md says what.
std::string error_as_json(std::string_view sentence, const About& about, const ExitCode& code);

/// The same with a member `warning` or `note`.
std::string sentence_as_json(std::string_view kind, std::string_view sentence);

}  // namespace attn
