#include "command/browser_page.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "command/forms.hpp"
#include "core/rewrite/rewriting.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "page/tell/describe.hpp"
#include "school/browser/computation_page.hpp"

namespace attn {

namespace {

// A page follows what is computed from what.
void require_computation(const Graph* graph, const Command& command, const Arguments& arguments) {
  const auto is_computed = [](const Node& node) { return node.op && !node.is_alias(); };
  if (graph && std::ranges::any_of(graph->nodes(), is_computed)) return;
  const bool may_be_named = arguments.words.empty() && !command.words.empty() && command.words.front().choices;
  if (!graph && may_be_named)
    fail("attn {0} cannot be a page without {1}: it only lists what can be named. Give one, as in attn page {0} {2}",
         command.name, command.words.front().name, command.words.front().choices().front().name);
  fail(
      "attn {} cannot be a page here: what it shows are no matrices that are computed from others. Any command with such matrices can, as in attn page walk",
      command.name);
}

// What a command has computed, or the part of it that --only chooses, as a page for browsers.
WriteDocument document_for_browser(const Command& command, const Answer& answer, const Arguments& arguments) {
  const BrowserPageContent* const hung = answer.attachments.find<BrowserPageContent>();
  const std::shared_ptr<const Graph> whole = hung && hung->graph ? hung->graph : answer.computation.graph;
  require_computation(whole.get(), command, arguments);
  const std::optional<std::string> only = arguments.only(), word = arguments.text(option::from);
  const std::shared_ptr<const Graph> graph = only ? part_of(*whole, whole->matching(*only)) : whole;
  require_room_in_browser(*graph);
  if (word) require_query(*word, *graph);
  constexpr std::array own = {&option::page, &option::output, &option::only, &option::from, &option::head};
  PageOrigin made_by{.line = words_of_line(command, arguments, own)};
  made_by.command = made_by.line.front();
  // A model's scores are divided as its recipe says.
  const bool is_walk = command.shown_as == &option::page;  // of which it is the page
  const Command& computes = is_walk ? look_up(commands(), "walk", "command") : command;
  const std::vector<OfferedOption> offered = options_of(computes);
  const auto offers = [&](const Option& option) {
    return std::ranges::find(offered, &option, &OfferedOption::option) != offered.end();
  };
  if (!arguments.has(option::model) && offers(option::scale) && computes.uses(option::scale))
    made_by.scale = option::scale.name;
  made_by.takes_changes = offers(option::set) && !asks_for_gradients(arguments);
  return [page = answer.page, calculation = answer.computation, story = hung ? hung->story : Story(), word, whole,
          graph, made_by = std::move(made_by)](const Style& style, Sink& sink) {
    const std::string random = what_is_random(calculation);
    write_browser_page(page, {*graph, calculation, made_by, random, story, word}, style, sink);
  };
}

// What is computed for a page for browsers: there --from only says which word is asked about first.
Arguments without_word(const Arguments& arguments) {
  Arguments all = arguments;
  all.leave_out(std::array{&option::from});
  return all;
}

}  // namespace

Answer page_for_browsers(const Command& command, const Arguments& arguments) {
  Answer answer = ordinary_answer(command, without_word(arguments));
  answer.document = document_for_browser(command, answer, arguments);
  return answer;
}

void check_output_for_browsers(const std::string& output, const Environment& environment) {
  if (output == "-" && environment.output_is_terminal)
    fail("a page for browsers is not for a terminal: give -o walk.html, or send the output on");
  if (output != "-" && !output.ends_with(".html") && !output.ends_with(".htm"))
    fail("-o {}: a page for browsers is HTML: give a name that ends in .html", output);
}

// Without the name of another command it is the page of a walk.
Answer run_page(const Command& command, const Arguments& arguments) {
  refuse_other_word(command, arguments);
  return run_walk(command, arguments);
}

}  // namespace attn
