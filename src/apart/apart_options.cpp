#include "apart/apart_options.hpp"

#include "school/training/task.hpp"

namespace attn {
namespace {

// Those of a Transformer whose sentences are known without a file.
std::vector<OptionChoice> held_out_tasks() {
  std::vector<OptionChoice> names;
  for (const Task& task : attn::tasks()) {
    if (!task.needs_pairs && !task.is_recurrent) names.push_back({task.name, task.summary});
  }
  return names;
}

}  // namespace

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
                  {&option::of, {&option::each_head}, of_each_head},
                  {&option::what_if,
                   {&option::set, &option::swap, &option::without, &option::patch, &option::each_head},
                   "nothing is changed: give --set, --swap, --without, --patch or --each-head"}}};
    for (const Option* change : {&option::set, &option::swap, &option::without, &option::patch})
      all.exclusions.push_back({&option::each_head, change});
    return all;
  }();
  return group;
}

const OptionGroup& apart_options() {
  static const OptionGroup group = [] {
    OptionGroup all{
        .options = {option::second, option::keys, option::print, option::picture, option::recording, option::screen},
        .needs = {{&option::second, {&option::explore}, "--second belongs to --explore: give both"},
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

}  // namespace attn
