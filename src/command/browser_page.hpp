#pragma once

#include <memory>

#include "command/form.hpp"
#include "school/browser/story.hpp"

namespace attn {

/// What a command hangs on its answer for a page for browsers: a computation in place of its own, and what the page
/// tells beside it.
struct BrowserPageContent {
  std::shared_ptr<Graph> graph = {};  // null: its own
  Story story = {};
};

/// --page: a page for browsers of what a command computes. Throws InputError: nothing is computed from other matrices,
/// or there is more than a browser shows.
Answer page_for_browsers(const Command& command, const Arguments& arguments);
/// Throws InputError for a terminal, and for a name of a file that is none of HTML.
void check_output_for_browsers(const std::string& output, const Environment& environment);

}  // namespace attn
