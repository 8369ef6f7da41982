#include "command/model/generation_page.hpp"
#include "command/model/generation_task.hpp"
#include "command/model/options.hpp"
#include "command/model/saved_parameters.hpp"
#include "page/describe.hpp"

namespace attn {

// Without an option for the model, one that is set by hand says more than random numbers.
Outcome run_generate(const Command&, const Arguments& arguments) {
  constexpr ModelUse use{.command = "generate",
                         .usual_kind = "encoder-decoder",
                         .needs = ModelUse::Needs::decoder,
                         .writes = true};
  Arguments asked = arguments;
  if (!chooses_model(arguments)) asked.options.emplace("model", std::string(model_examples().front().name));
  ModelChoice choice = planned_model(asked, use);
  const GenerationPlan plan{generation_task(choice, arguments), sampling_of(arguments)};
  if (auto remark = remark_on_steps(plan.task, arguments)) choice.remarks.push_back(*std::move(remark));
  choice = drawn(std::move(choice), arguments);
  const std::optional<std::string> only = arguments.text("only");
  const GenerationRun run = run_of(choice, plan, only);

  Page page{.graph = run.graph, .problem = nullptr, .trace = {}, .blocks = {}};
  if (only) {
    page.trace = run.graph->matching(*only);
    add_results_by_scope(page, page.trace);
  } else {
    add_generation(page, choice, plan, run);
  }
  return {.page = std::move(page),
          .warnings = choice.remarks,
          .files = saved_parameters(arguments, choice.model)};
}

}  // namespace attn
