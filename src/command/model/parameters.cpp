#include <fmt/format.h>

#include "command/model/choice.hpp"
#include "command/model/run.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

// "encoder.1" of "encoder.1.norm_1.gamma"; "output" of "output.w".
std::string part_of(std::string_view name) {
  const std::size_t first = name.find('.');
  const bool of_layer = first != std::string_view::npos && first + 1 < name.size() &&
                        name[first + 1] >= '0' && name[first + 1] <= '9';
  return std::string(name.substr(0, of_layer ? name.find('.', first + 1) : first));
}

}  // namespace

Outcome run_parameters(const Command&, const Arguments& arguments) {
  constexpr ModelUse use{"parameters", "encoder-decoder"};
  ModelChoice choice = planned_model_alone(arguments, use);
  if (arguments.has(option::save_parameters)) choice = drawn(std::move(choice), arguments, use);
  const Transformer& model = choice.model;
  Page page;
  page.blocks.emplace_back(Heading{1, text(model.title.empty() ? std::string("Parameters") : model.title)});
  if (!model.summary.empty()) page.say(model.summary);
  page.say(fmt::format("{}: {}.", model.kind->name, model.kind->summary));
  if (model.kind->encodes && !model.has_encoder()) page.say("The file has the decoder only.");
  if (arguments.has(option::parameters)) {
    for (const std::string& paragraph : model.about) page.say(paragraph);
  }
  Listing listing{{"parameter", "shape", "numbers"}, {}};
  std::vector<std::pair<std::string, std::size_t>> sums;
  std::size_t total = 0;
  for (const ParameterRow& row : parameters_of(model)) {
    const std::size_t numbers = row.shape.cells();
    listing.rows.push_back({row.name, to_string(row.shape), with_commas(numbers)});
    if (sums.empty() || sums.back().first != part_of(row.name)) sums.emplace_back(part_of(row.name), 0);
    sums.back().second += numbers;
    total += numbers;
  }
  page.blocks.emplace_back(std::move(listing));
  Listing of_parts{{"part", "numbers"}, {}};
  for (const auto& [part, count] : sums) of_parts.rows.push_back({part, with_commas(count)});
  of_parts.rows.push_back({"total", with_commas(total)});
  page.blocks.emplace_back(Heading{2, text("By part")});
  page.blocks.emplace_back(std::move(of_parts));
  return {.page = std::move(page), .warnings = choice.remarks, .files = saved_parameters(arguments, model)};
}

}  // namespace attn
