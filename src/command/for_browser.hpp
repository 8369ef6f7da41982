#pragma once

#include "command/command.hpp"

namespace attn {

/// What a command has computed, as a page for browsers.
WriteDocument document_for_browser(const Outcome& outcome);

}  // namespace attn
