#include "browser/page.hpp"
#include "command/for_browser.hpp"
#include "support/lookup.hpp"

namespace attn {

WriteDocument document_for_browser(const Outcome& outcome) {
  const std::shared_ptr<const Graph> graph = outcome.computation.graph;
  require_room_in_browser(*graph);
  return [page = outcome.page, graph](const Style& style, Sink& sink) {
    write_browser_page(page, *graph, style, sink);
  };
}

// Without the name of another command it is the page of a walk.
Outcome run_page(const Command& command, const Arguments& arguments) {
  if (!arguments.words.empty()) {
    const std::vector<OptionChoice> pages = choices::browser_pages();
    fail_unknown("page", arguments.words.front(), names_of(std::span(pages)));
  }
  return run_walk(command, arguments);
}

}  // namespace attn
