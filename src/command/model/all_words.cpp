#include "command/model/all_words.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "command/browser_page.hpp"
#include "command/model/model_run.hpp"
#include "core/attention/watches.hpp"
#include "core/graph/run.hpp"
#include "data/parameters/transformer_parameters.hpp"
#include "page/tell/model_walk.hpp"
#include "school/browser/computation_page.hpp"

namespace attn {

void show_all_words(Answer& answer, ModelChoice choice, const GenerationTask& task, std::vector<std::size_t> written) {
  const std::optional<std::size_t> most = choice.model.most_words(choice.model.sizes.target_places);
  const bool is_too_long = most && task.prompt.size() + written.size() > *most;
  if (!written.empty() && (task.ends_with(written.back()) || is_too_long)) written.pop_back();
  choice.target = with_words(task.prompt, written, choice.model.target_vocabulary);
  const auto graph = std::make_shared<Graph>(keep_nothing());
  run_model(choice, *graph);
  require_room_in_browser(*graph);
  compute_watched(*graph);
  std::set<std::string> learned;
  for (const ParameterRow& row : parameters_of(choice.model)) learned.insert(row.name);
  std::vector<const Node*> shown = graph->named();
  std::erase_if(shown, [&](const Node* node) { return learned.contains(node->name); });
  answer.page.head(2, "All words at once");
  answer.page.say(text(
      "Below, the words that were given and those that were written all go in at once. The mask hides later words, "
      "so each row of ",
      code("distribution"), " is what the model expects after that word. ", code("attn transformer"),
      " shows the same matrices for any words."));
  add_model_walk(answer.page, shown, choice.model.recipe, choice.source, choice.target);
  BrowserPageContent& in_browser = answer.attachments.of<BrowserPageContent>();
  in_browser.graph = graph;
  in_browser.story.given = task.prompt.size();
}

}  // namespace attn
