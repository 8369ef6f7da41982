#include "command/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/attention/positions.hpp"
#include "core/model/named_recipe.hpp"
#include "core/model/recipe.hpp"
#include "core/model/recurrent.hpp"
#include "core/model/schema.hpp"
#include "data/problem/encoder_decoder_file.hpp"
#include "data/problem/model_file.hpp"
#include "explore/alteration.hpp"
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
std::vector<OptionChoice> parts_left_out() { return choices_of(parts_to_leave_out()); }
std::vector<OptionChoice> kinds() { return choices_of(model_kinds()); }
std::vector<OptionChoice> kinds_with_decoder() {
  std::vector<OptionChoice> kinds;
  for (const ModelKind& row : model_kinds()) {
    if (row.decodes) kinds.push_back({row.name, row.summary});
  }
  return kinds;
}
}  // namespace choices

namespace {

// Those of a Transformer whose sentences are known without a file.
std::vector<OptionChoice> held_out_tasks() {
  std::vector<OptionChoice> names;
  for (const Task& task : attn::tasks()) {
    if (!task.needs_pairs && !task.is_recurrent) names.push_back({task.name, task.summary});
  }
  return names;
}

constexpr std::string_view page_for_browsers_is_all =
    "a page for browsers is HTML with the whole computation: leave out {}";

// What an option makes of the page in place of its matrices, one after the other. Of two forms the first is named
// first.
struct PageForm {
  const Option* option;
  OptionList with = {};         // the forms that it goes with all the same: either of two says so
  std::string_view alone = {};  // why it goes with no other, where more is to be said
};

const PageForm page_forms[] = {
    {&option::against, {&option::backward, &option::only}},
    {&option::each, {&option::only}},
    {&option::input},
    {&option::recorder},
    {&option::backward,
     {&option::only, &option::explain, &option::product, &option::outline, &option::check_gradients, &option::by_hand,
      &option::recompute}},
    {&option::influence, {&option::only}},
    {&option::check_gradients},
    {&option::by_hand},
    {&option::recompute, {&option::only, &option::explain, &option::product}},
    {&option::page,
     {&option::only, &option::one_head, &option::by_word, &option::transpose, &option::by_length,
      &option::save_parameters, &option::from, &option::swap, &option::backward, &option::influence},
     page_for_browsers_is_all},
    {&option::explore},
    {&option::what_if, {&option::only, &option::swap}},
    {&option::assertion},
    {&option::broken},
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

bool go_together(const PageForm& one, const PageForm& other) {
  const auto names = [](const PageForm& form, const Option* option) {
    return std::ranges::find(form.with, option) != form.with.end();
  };
  return names(one, other.option) || names(other, one.option);
}

}  // namespace

const std::vector<Exclusion>& exclusions_of_forms() {
  static const std::vector<Exclusion> all = [] {
    std::vector<Exclusion> pairs;
    for (const PageForm* one = std::begin(page_forms); one != std::end(page_forms); ++one) {
      for (const PageForm* other = one + 1; other != std::end(page_forms); ++other) {
        if (!go_together(*one, *other)) pairs.push_back({one->option, other->option, one->alone});
      }
    }
    return pairs;
  }();
  return all;
}

const OptionGroup& output_options() {
  static const OptionGroup group{
      .options = {option::format,   option::output,    option::precision,     option::width,      option::full,
                  option::section,  option::no_labels, option::heading_level, option::math,       option::standalone,
                  option::shading,  option::ascii,     option::color,         option::theme,      option::transparent,
                  option::no_pager, option::threads,   option::say_input,     option::short_help, option::help}};
  return group;
}

const OptionGroup& what_if_options() {
  static const OptionGroup group = [] {
    OptionGroup all{
        .options = {{option::set,
                     "set a number, such as 'k[2,1] = 3' or 'x[it,1] = x[it,1] + 1'; separate several with ;"},
                    {option::swap, "exchange two words that go in, such as 'it,animal'"},
                    option::without,
                    option::patch,
                    option::patch_file,
                    option::patch_text,
                    option::each_head,
                    {option::tested_on, {}, {}, 0, held_out_tasks}},
        .exclusions = {{&option::patch_file, &option::patch_text}, {&option::each_head, &option::tested_on}},
        .needs = {{&option::set, {&option::what_if}, "--set belongs to --what-if: give both"},
                  {&option::swap, {&option::what_if}, "--swap belongs to --what-if: give both"},
                  {&option::without, {&option::what_if}, "--without belongs to --what-if: give both"},
                  {&option::patch, {&option::what_if}, "--patch belongs to --what-if: give both"},
                  {&option::patch,
                   {&option::patch_file, &option::patch_text},
                   "--patch needs another computation: give --patch-file FILE or --patch-text SENTENCE"},
                  {&option::patch_file, {&option::patch}, "--patch-file belongs to --patch NAME: give both"},
                  {&option::patch_text, {&option::patch}, "--patch-text belongs to --patch NAME: give both"},
                  {&option::each_head, {&option::what_if}, "--each-head belongs to --what-if: give both"},
                  {&option::tested_on, {&option::what_if}, "--held-out belongs to --what-if: give both"},
                  {&option::what_if,
                   {&option::set, &option::swap, &option::without, &option::patch, &option::each_head},
                   "nothing is changed: give --set, --swap, --without, --patch or --each-head"}}};
    for (const Option* change : {&option::set, &option::swap, &option::without, &option::patch})
      all.exclusions.push_back({&option::each_head, change});
    return all;
  }();
  return group;
}

namespace {

void add_group(OptionGroup& all, const OptionGroup& more) {
  all.options.insert(all.options.end(), more.options.begin(), more.options.end());
  all.exclusions.insert(all.exclusions.end(), more.exclusions.begin(), more.exclusions.end());
  all.needs.insert(all.needs.end(), more.needs.begin(), more.needs.end());
}

}  // namespace

const OptionGroup& apart_options() {
  static const OptionGroup group = [] {
    OptionGroup all{.options = {option::second, option::keys, option::print, option::picture, option::recording,
                                option::screen, option::tolerance},
                    .needs = {{&option::tolerance, {&option::assertion}, "--tolerance belongs to --assert: give both"},
                              {&option::second, {&option::explore}, "--second belongs to --explore: give both"},
                              {&option::keys, {&option::explore}, "--keys belongs to --explore: give both"},
                              {&option::print, {&option::explore}, "--print belongs to --explore: give both"},
                              {&option::picture, {&option::explore}, "--picture belongs to --explore: give both"},
                              {&option::recording, {&option::explore}, "--recording belongs to --explore: give both"},
                              {&option::screen, {&option::explore}, "--screen belongs to --explore: give both"}}};
    add_group(all, what_if_options());
    return all;
  }();
  return group;
}

const OptionGroup& matrix_options() {
  static const OptionGroup group = [] {
    OptionGroup all{.options = {option::only,
                                option::one_head,
                                option::explain,
                                option::depth,
                                option::code,
                                option::product,
                                option::explore,
                                option::what_if,
                                option::assertion,
                                {option::broken, {}, {}, 0, choices::failures}},
                    .needs = {{&option::depth, {&option::explain}, "--depth belongs to --explain CELL: give both"},
                              {&option::code, {&option::explain}, "--code belongs to --explain CELL: give both"}}};
    add_group(all, apart_options());
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
      .options = {option::against, option::as, option::conventions_agree},
      .needs = {{&option::as, {&option::against}, "--as belongs to --against FILE: give both"},
                {&option::conventions_agree,
                 {&option::against},
                 "--conventions-agree belongs to --against FILE: give both"}}};
  return group;
}

const OptionGroup& gradient_options() {
  static const OptionGroup group{
      .options = {option::backward, option::influence, option::of, option::by, option::upstream,
                  option::check_gradients, option::recompute, option::by_hand, option::step_size},
      .exclusions = {{&option::backward, &option::by}, {&option::influence, &option::upstream}},
      .needs = {{&option::of, {&option::backward, &option::influence, &option::each_head}, of_tells_of_others},
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
