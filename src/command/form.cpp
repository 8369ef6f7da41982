#include "command/form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "command/annex.hpp"
#include "command/browser_page.hpp"
#include "command/check.hpp"
#include "command/forms.hpp"
#include "data/problem/model_file.hpp"
#include "data/problem/problem_file.hpp"

namespace attn {
namespace {

// Those of annexes stand behind them.
const Form own_forms[] = {
    {.option = &option::against,
     .with = {&option::backward, &option::only},
     .run = comparison_page,
     .prepare = take_matrices_to_compare},
    {.option = &option::each, .with = {&option::only}, .run = check_each, .words_are_files = true},
    {.option = &option::input, .run = propose_input},
    {.option = &option::recorder, .run = recorder_code},
    {&option::backward,
     {&option::only, &option::explain, &option::product, &option::outline, &option::check_gradients, &option::by_hand,
      &option::recompute}},
    {&option::influence, {&option::only}},
    {&option::check_gradients},
    {&option::by_hand},
    {&option::recompute, {&option::only, &option::explain, &option::product}},
    {.option = &option::page,
     .with = {&option::only, &option::one_head, &option::by_word, &option::transpose, &option::by_length,
              &option::save_parameters, &option::from, &option::swap, &option::backward, &option::influence},
     .alone = page_for_browsers_is_all,
     .run = page_for_browsers,
     .check_output = check_output_for_browsers},
    {.option = &option::assertion, .run = laws_page},
    {&option::by_length, {&option::only, &option::explain, &option::product}},
    {&option::map, {&option::only, &option::save_parameters}},
    {&option::from, {&option::only, &option::outline, &option::save_parameters}},
    {&option::product, {&option::swap, &option::transpose, &option::save_parameters}},
    {&option::only, {&option::swap, &option::transpose, &option::outline, &option::save_parameters}},
    {&option::one_head,
     {&option::against, &option::backward, &option::influence, &option::recompute, &option::by_length, &option::map,
      &option::from, &option::only, &option::swap, &option::transpose, &option::outline, &option::save_parameters}},
    {&option::explain, {&option::swap, &option::transpose, &option::save_parameters}},
    {&option::swap},
    {&option::save_parameters},
    {&option::check_causal},
    {&option::outline},
    {&option::by_word, {&option::transpose}},
    {&option::transpose},
};

bool go_together(const Form& one, const Form& other) {
  const auto names = [](const Form& form, const Option* option) {
    return std::ranges::find(form.with, option) != form.with.end();
  };
  return names(one, other.option) || names(other, one.option);
}

// Options of a problem that were given and that the command has no use for.
std::vector<std::string> remarks_on_unused(const Command& command, const OptionValues& given) {
  std::vector<std::string> remarks;
  for (const Option* option : problem_members()) {
    if (!given.has(*option) || command.uses(*option)) continue;
    remarks.push_back(fmt::format("{} changes nothing in attn {}", option->name, command.name));
  }
  return remarks;
}

// A built-in model is an example: it is no file, and may stand in a problem file.
OptionValues with_model_as_example(OptionValues values) {
  const std::optional<std::string> name = values.text(option::model);
  if (!name || !find_built_in(*name)) return values;
  values.leave_out(std::array{&option::model});
  values.put(option::example, std::string(*name));
  return values;
}

// Whether a part of what is computed is asked for in place of the page. An outline is a tree, which chooses its own
// lines; a comparison chooses its own matrices.
bool asks_for_part(const Arguments& arguments) {
  return arguments.narrows() && !arguments.has_any(std::array{&option::outline, &option::against});
}

}  // namespace

std::span<const Form> forms() {
  static const std::vector<Form> all = [] {
    std::vector<Form> rows(std::begin(own_forms), std::end(own_forms));
    for (const Annex* annex : annexes()) std::ranges::copy(annex->forms(), std::back_inserter(rows));
    return rows;
  }();
  return all;
}

const Form* form_with_function(const OptionValues& arguments) {
  const auto found = std::ranges::find_if(forms(), [&](const Form& form) {
    return (form.run || form.prepare || form.check_output) && arguments.has(*form.option);
  });
  return found == forms().end() ? nullptr : &*found;
}

Answer ordinary_answer(const Command& command, const Arguments& arguments) {
  Answer answer = command.run(command, arguments);
  if (command.takes_model()) {
    answer.page.recipe = [values = with_model_as_example(arguments)](JsonWriter& json) { write_members(values, json); };
  }
  if (asks_for_part(arguments)) narrow(answer, command, arguments);
  std::ranges::move(remarks_on_unused(command, arguments), std::back_inserter(answer.warnings));
  return answer;
}

const std::vector<Exclusion>& exclusions_of_forms() {
  static const std::vector<Exclusion> all = [] {
    std::vector<Exclusion> pairs;
    const std::span<const Form> rows = forms();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const Form& other : rows.subspan(i + 1)) {
        if (!go_together(rows[i], other)) pairs.push_back({rows[i].option, other.option, rows[i].alone});
      }
    }
    return pairs;
  }();
  return all;
}

}  // namespace attn
