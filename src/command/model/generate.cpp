#include <algorithm>

#include "command/model/generation_page.hpp"
#include "command/model/generation_task.hpp"
#include "command/model/saved_parameters.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

// Options that tell of a model, its kind or its sizes. Words alone do not.
constexpr const Option* choosing_a_model[] = {
    &option::model,   &option::parameters, &option::size, &option::layers,    &option::heads, &option::kind,
    &option::d_model, &option::d_ff,       &option::norm, &option::positions, &option::seed};

// Queries that have no key but padding.
void warn_of_padding(const ModelChoice& choice, std::vector<std::string>& warnings) {
  const auto is_blank = [](bool blank) { return blank; };
  const std::vector<bool>&source = choice.source.blank, &target = choice.target.blank;
  if (!source.empty() && std::ranges::all_of(source, is_blank)) {
    warnings.emplace_back(
        "the source is only padding: every key of the cross-attention is masked, and its weights are set to "
        "0");
  }
  if (!target.empty() && target.front()) {
    warnings.emplace_back(
        "the target begins with padding: every key is masked for its first query, and its weights are set to "
        "0");
  }
}

}  // namespace

// Without an option for the model, one that is set by hand says more than random numbers.
Outcome run_generate(const Command&, const Arguments& arguments) {
  constexpr ModelUse use{.command = "generate",
                         .usual_kind = "encoder-decoder",
                         .needs = ModelUse::Needs::decoder,
                         .writes = true};
  Arguments asked = arguments;
  if (!arguments.has_any(choosing_a_model))
    asked.put(option::model, std::string(model_examples().front().name));
  ModelChoice choice = planned_model(asked, use);
  const GenerationPlan plan{generation_task(choice, arguments), sampling_of(arguments)};
  if (auto remark = remark_on_steps(plan.task, arguments)) choice.remarks.push_back(*std::move(remark));
  choice = drawn(std::move(choice), arguments);
  warn_of_padding(choice, choice.remarks);
  const std::optional<std::string> only = arguments.only();
  const GenerationRun run = run_of(choice, plan, only);

  Page page;
  if (only) {
    const std::vector<const Node*> nodes = run.graph->matching(*only);
    page.trace.add(nodes);
    add_results_by_scope(page, nodes);
  } else {
    add_generation(page, choice, plan, run);
  }
  return {.page = std::move(page),
          .warnings = choice.remarks,
          .files = saved_parameters(arguments, choice.model),
          .computation = {run.graph}};
}

}  // namespace attn
