#include <algorithm>

#include "command/model/generation.hpp"
#include "command/model/generation_page.hpp"
#include "command/model/run.hpp"
#include "parameters/transformer_parameters.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

// Options that tell of a model, its kind or its sizes. Words alone do not.
constexpr const Option* choosing_a_model[] = {&option::example, &option::model,    &option::parameters,
                                              &option::size,    &option::layers,   &option::heads,
                                              &option::kind,    &option::kv_heads, &option::no_bias,
                                              &option::d_model, &option::d_ff,     &option::seed};

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
  if (!arguments.has_any(choosing_a_model) && !arguments.has_any(recipe_options()))
    asked.put(option::example, std::string(model_examples().front().name));
  ModelChoice choice = planned_model(asked, use);
  if (choice.model.parameters.empty()) require_drawable(choice.model);
  const GenerationPlan plan{generation_task(choice, arguments), sampling_of(arguments)};
  if (auto remark = remark_on_steps(plan.task, arguments)) choice.remarks.push_back(*std::move(remark));
  choice = drawn(std::move(choice), arguments, use);
  warn_of_padding(choice, choice.remarks);
  const GenerationRun run = run_of(choice, plan, arguments.only());

  Page page;
  if (!arguments.narrows()) add_generation(page, choice, plan, run);
  return {.page = std::move(page),
          .warnings = choice.remarks,
          .files = saved_parameters(arguments, choice.model),
          .computation = {run.graph}};
}

}  // namespace attn
