#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "command/computed_problem.hpp"
#include "command/model/choice.hpp"
#include "command/model/model_run.hpp"
#include "core/math/stored_matrix.hpp"
#include "core/support/number.hpp"

namespace attn {

namespace {

// "encoder.1" of "encoder.1.norm_1.gamma"; "encoder.norm" of "encoder.norm.gamma"; "output" of "output.w".
std::string part_of_model(std::string_view name) {
  const std::size_t first = name.find('.');
  const std::size_t second = first == std::string_view::npos ? first : name.find('.', first + 1);
  return std::string(name.substr(0, second == std::string_view::npos ? first : second));
}

bool is_layer(std::string_view part) {
  const std::size_t dot = part.find('.');
  return dot != std::string_view::npos && dot + 1 < part.size() && part[dot + 1] >= '0' && part[dot + 1] <= '9';
}

// Whether two matrices are the same numbers of a file, and not only equal ones.
bool are_the_same(const std::shared_ptr<const Matrix>& one, const std::shared_ptr<const Matrix>& other) {
  if (one == other) return true;
  const StoredMatrix *const a = one->stored(), *const b = other->stored();
  return a && b && a->elements == b->elements && a->shape == b->shape && a->skipped == b->skipped &&
         a->is_transposed == b->is_transposed && a->lines.first == b->lines.first;
}

// The names of the parameters that the file has once for several of the model: each with the one before it.
std::map<std::string, std::string, std::less<>> parameters_again(const Transformer& model) {
  std::map<std::string, std::string, std::less<>> again;
  const std::vector<ParameterRow> rows = parameters_of(model);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto second = model.parameters.find(rows[i].name);
    if (second == model.parameters.end()) continue;
    for (std::size_t j = 0; j < i; ++j) {
      const auto first = rows[j].shape == rows[i].shape ? model.parameters.find(rows[j].name) : model.parameters.end();
      if (first == model.parameters.end() || again.contains(rows[j].name)) continue;
      if (are_the_same(first->second, second->second)) again.emplace(rows[i].name, rows[j].name);
    }
  }
  return again;
}

// "encoder" of "encoder.1".
std::string_view side_in_name(std::string_view part) { return part.substr(0, part.find('.')); }

}  // namespace

Answer run_parameters(const Command&, const Arguments& arguments) {
  constexpr ModelUse use{"parameters", "encoder-decoder"};
  ModelChoice choice = planned_model_alone(arguments, use);
  if (arguments.has(option::save_parameters)) choice = with_drawn_parameters(std::move(choice), arguments, use);
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
  const std::map<std::string, std::string, std::less<>> again = parameters_again(model);
  for (const ParameterRow& row : parameters_of(model)) {
    if (const auto first = again.find(row.name); first != again.end()) {
      listing.rows.push_back({row.name, to_string(row.shape), "those of " + first->second});
      continue;
    }
    const std::size_t numbers = row.shape.cells();
    listing.rows.push_back({row.name, to_string(row.shape), with_commas(numbers)});
    if (sums.empty() || sums.back().first != part_of_model(row.name)) sums.emplace_back(part_of_model(row.name), 0);
    sums.back().second += numbers;
    total += numbers;
  }
  page.blocks.emplace_back(std::move(listing));
  Listing of_parts{{"part", "each", "numbers"}, {}};
  for (std::size_t first = 0, behind = 0; first < sums.size(); first = behind) {
    const std::string& part = sums[first].first;
    const std::size_t count = sums[first].second;
    const auto is_alike = [&](const auto& other) {
      return is_layer(part) && other.second == count && side_in_name(other.first) == side_in_name(part);
    };
    for (behind = first + 1; behind < sums.size() && is_alike(sums[behind]);) ++behind;
    const std::size_t layers = behind - first;
    if (layers == 1) of_parts.rows.push_back({part, "", with_commas(count)});
    if (layers > 1)
      of_parts.rows.push_back({fmt::format("{} to {}", part, sums[behind - 1].first),
                               fmt::format("{} × {}", layers, with_commas(count)), with_commas(layers * count)});
  }
  of_parts.rows.push_back({"total", "", with_commas(total)});
  page.blocks.emplace_back(Heading{2, text("By part")});
  page.say(sizes_in_words(model, positions_in_words(model)));
  const auto is_embedding = [](const auto& part) { return part.first.ends_with("embedding"); };
  if (model.recipe.scale_embeddings && std::ranges::any_of(sums, is_embedding))
    page.say(text("Each embedding is multiplied by ",
                  math({fmt::format("√{}", model.sizes.d_model), fmt::format("\\sqrt{{{}}}", model.sizes.d_model)}),
                  "."));
  page.blocks.emplace_back(std::move(of_parts));
  return {.page = std::move(page), .warnings = choice.remarks, .files = saved_parameters(arguments, model)};
}

}  // namespace attn
