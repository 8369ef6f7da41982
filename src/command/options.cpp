#include "command/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "command/annex.hpp"
#include "core/attention/positional_encoding.hpp"
#include "core/model/named_recipe.hpp"
#include "core/model/recipe.hpp"
#include "core/model/recurrent.hpp"
#include "core/model/schema.hpp"
#include "data/problem/encoder_decoder_file.hpp"
#include "data/problem/model_file.hpp"
#include "page/render/format.hpp"
#include "school/training/task.hpp"

namespace attn {

namespace choices {
std::vector<OptionChoice> formats() { return choices_of(attn::formats()); }
std::vector<OptionChoice> placements() { return choices_of(norm_placements()); }
std::vector<OptionChoice> norms() { return choices_of(norm_kinds()); }
std::vector<OptionChoice> positions_of_models() {
  std::vector<OptionChoice> kinds;
  for (const PositionKind& row : position_kinds()) {
    if (!row.changes_scores()) kinds.push_back({row.name, row.summary});
  }
  return kinds;
}
std::vector<OptionChoice> variants() { return choices_of(alignment_variants()); }
std::vector<OptionChoice> cells() { return choices_of(recurrences()); }
std::vector<OptionChoice> alignments() {
  std::vector<OptionChoice> names;
  for (const ModelExample& example : alignment_examples()) names.push_back({example.name, ""});
  return names;
}
std::vector<OptionChoice> schedules() { return choices_of(rate_schedules()); }
std::vector<OptionChoice> recipes() { return choices_of(named_recipes()); }
std::vector<OptionChoice> tasks() { return choices_of(attn::tasks()); }
std::vector<OptionChoice> architectures() { return choices_of(attn::architectures()); }
std::vector<OptionChoice> kinds() { return choices_of(model_kinds()); }
std::vector<OptionChoice> kinds_with_decoder() {
  std::vector<OptionChoice> kinds;
  for (const ModelKind& row : model_kinds()) {
    if (row.decodes) kinds.push_back({row.name, row.summary});
  }
  return kinds;
}
}  // namespace choices

const OptionGroup& output_options() {
  static const OptionGroup group{
      .options = {option::format,   option::output,    option::precision,     option::width,      option::full,
                  option::section,  option::no_labels, option::heading_level, option::math,       option::standalone,
                  option::shading,  option::ascii,     option::color,         option::theme,      option::transparent,
                  option::no_pager, option::threads,   option::say_input,     option::short_help, option::help}};
  return group;
}

const OptionGroup& matrix_options() {
  static const OptionGroup group = [] {
    OptionGroup all{
        .options = {option::only, option::one_head, option::explain, option::depth, option::code, option::product,
                    option::assertion, option::tolerance},
        .needs = {{&option::depth, {&option::explain}, "--depth belongs to --explain CELL: give both"},
                  {&option::code, {&option::explain}, "--code belongs to --explain CELL: give both"},
                  {&option::tolerance, {&option::assertion}, "--tolerance belongs to --assert: give both"}}};
    for (const Annex* annex : annexes()) {
      for (const Form& form : annex->forms()) all.options.emplace_back(*form.option);
      add_group(all, annex->options());
    }
    add_group(all, browser_options());
    return all;
  }();
  return group;
}

const OptionGroup& weight_options() {
  static const OptionGroup group{.options = {option::map, option::from}};
  return group;
}

const OptionGroup& browser_options() {
  static const OptionGroup group = [] {
    OptionGroup all{.options = {option::page}};
    for (const Option* useless :
         {&option::format, &option::section, &option::width, &option::full, &option::ascii, &option::color,
          &option::theme, &option::no_labels, &option::no_pager, &option::heading_level, &option::math,
          &option::standalone, &option::shading, &option::transparent})
      all.exclusions.push_back({&option::page, useless, page_for_browsers_is_all});
    return all;
  }();
  return group;
}

const OptionGroup& comparison_options() {
  static const OptionGroup group{
      .options = {option::against, option::as, option::strict},
      .needs = {{&option::as, {&option::against}, "--as belongs to --against FILE: give both"},
                {&option::strict, {&option::against}, "--strict belongs to --against FILE: give both"}}};
  return group;
}

const OptionGroup& gradient_options() {
  static const OptionGroup group{
      .options = {option::backward, option::influence, option::of, option::by, option::upstream,
                  option::check_gradients, option::recompute, option::by_hand, option::step_size},
      .exclusions = {{&option::backward, &option::by}, {&option::influence, &option::upstream}},
      .needs = {{&option::of,
                 {&option::backward, &option::influence},
                 "--of chooses what --backward and --influence tell: give one of them, or leave out --of"},
                {&option::by, {&option::influence}, "--by belongs to --influence: give both"},
                {&option::upstream, {&option::backward}, "--upstream belongs to --backward: give both"},
                {&option::check_gradients, {&option::backward}, "--check belongs to --backward: give both"},
                {&option::recompute, {&option::backward}, "--recompute belongs to --backward: give both"},
                {&option::by_hand, {&option::backward}, "--by-hand belongs to --backward: give both"},
                {&option::step_size, {&option::by_hand}, "--step-size belongs to --by-hand: give both"}}};
  return group;
}

std::span<const Option* const> recipe_options() {
  static constexpr const Option* all[] = {
      &option::recipe,     &option::norm,      &option::norm_kind, &option::epsilon, &option::activation,
      &option::gated,      &option::positions, &option::base,      &option::scale,   &option::unscaled_embeddings,
      &option::tied_output};
  return all;
}

const OptionGroup& model_options() {
  constexpr std::size_t most_layers = 1000, most_numbers = 65536, most_inner = 1 << 20;
  static const OptionGroup group = [] {
    OptionGroup all{
        .options = {{option::example, "a built-in model", no_default, 0, choices::models},
                    {option::problem, "output of --format json: the same options again"},
                    option::model,
                    option::tokenizer,
                    {option::parameters, help_of_files::parameters.text()},
                    option::size,
                    {option::layers, "number of layers in the encoder and in the decoder", no_default, most_layers},
                    {option::heads, "number of heads of each attention", no_default, most_numbers},
                    {option::d_model, "size of the vectors (embedding size)", no_default, most_numbers},
                    {option::d_ff, "inner size of the feed-forward layers", no_default, most_inner},
                    option::kv_heads,
                    option::recipe,
                    option::no_bias,
                    option::norm,
                    option::norm_kind,
                    {option::epsilon, "ε in the normalization, 0 or more"},
                    option::activation,
                    option::gated,
                    {option::positions, {}, "sinusoidal", 0, choices::positions_of_models},
                    option::base,
                    {option::first_position, "position of the first word that goes in, counted from 0"},
                    {option::position_ids,
                     "positions of the words that go in, counted from 0, such as '0 0 1 2' with padding on the left"},
                    {option::scale, "number that the scores are divided by, such as 8, or its name", "sqrt-dk"},
                    option::unscaled_embeddings,
                    option::tied_output,
                    option::single,
                    option::seed,
                    option::prefix,
                    option::save_parameters,
                    {option::text, "words that go in: those of --source, or in a decoder of --target"},
                    option::source,
                    option::target,
                    {option::x,
                     "vectors to use instead of source words; in a model without an encoder, of target words"},
                    option::target_x,
                    {option::memory, "encoder output, for a decoder without an encoder", no_default},
                    {option::n, "use N unnamed words as source and as target", no_default, most_words}},
        .needs = {{&option::prefix, {&option::parameters}, prefix_needs_parameters},
                  {&option::tokenizer, {&option::model}, tokenizer_needs_model}}};
    const auto exclude = [&](const Option& one, std::initializer_list<const Option*> others) {
      for (const Option* other : others) all.exclusions.push_back({&one, other});
    };
    // What else a model that is read says of itself may be given too, and must agree with it.
    exclude(option::example, {&option::model});
    for (const Option* whole : {&option::model, &option::example}) exclude(*whole, {&option::parameters});
    for (const Option* read : {&option::model, &option::example, &option::parameters})
      exclude(*read, {&option::size, &option::layers, &option::no_bias});
    exclude(option::first_position, {&option::position_ids});
    exclude(option::target_first_position, {&option::target_position_ids});
    exclude(option::n, {&option::text, &option::source, &option::x, &option::target, &option::target_x});
    return all;
  }();
  return group;
}

}  // namespace attn
