#include "data/problem/problem_options.hpp"
#include "data/problem/option_named.hpp"

#include <algorithm>
#include <iterator>

#include "core/attention/feed_forward.hpp"
#include "core/attention/positional_encoding.hpp"
#include "core/attention/score.hpp"
#include "core/math/random.hpp"
#include "data/problem/model_file.hpp"
#include "data/problem/model_words.hpp"

namespace attn {

namespace {

enum class OptionPart { of_file, whole, field };
struct OptionRow {
  const Option* option;
  OptionPart part;
};

// In the order of help.
constexpr OptionRow option_rows[] = {
#define OF_FILE(name, ...) {&option::name, OptionPart::of_file},
#define WHOLE(name, ...) {&option::name, OptionPart::whole},
#define FIELD(name, ...) {&option::name, OptionPart::field},
#include "data/problem/options.def"
#undef OF_FILE
#undef WHOLE
#undef FIELD
};

constexpr Replacement replacement_table[] = {
    {&option::text, &option::x},
    {&option::text, &option::tokens},
    {&option::text, &option::valid_length},
    {&option::text, &option::mask},
    {&option::text, &option::key_mask},
    {&option::text, &option::position_ids},
    {&option::text, &option::parents},
    {&option::x, &option::text},
    {&option::x, &option::tokens},
    {&option::x, &option::valid_length},
    {&option::x, &option::mask},
    {&option::x, &option::key_mask},
    {&option::x, &option::position_ids},
    {&option::x, &option::parents},
    {&option::first_position, &option::position_ids},
    {&option::position_ids, &option::first_position},
    {&option::score, &option::scale},
    {&option::scale, &option::multiply},
    {&option::multiply, &option::scale},
    {&option::score, &option::multiply},
    {&option::score, &option::score_sigma},
    {&option::memory_text, &option::memory},
    {&option::memory_text, &option::key_tokens},
    {&option::memory, &option::memory_text},
    {&option::no_feed_forward, &option::d_ff},
    {&option::no_feed_forward, &option::w_1},
    {&option::no_feed_forward, &option::b_1},
    {&option::no_feed_forward, &option::w_2},
    {&option::no_feed_forward, &option::b_2},
    {&option::no_feed_forward, &option::gated},
    {&option::no_feed_forward, &option::w_gate},
    {&option::no_feed_forward, &option::b_gate},
    {&option::d_ff, &option::no_feed_forward},
    {&option::w_1, &option::no_feed_forward},
    {&option::w_2, &option::no_feed_forward},
    {&option::gated, &option::no_feed_forward},
    {&option::w_gate, &option::no_feed_forward},
    {&option::d_ff, &option::w_1},
    {&option::d_ff, &option::b_1},
    {&option::d_ff, &option::w_2},
    {&option::d_ff, &option::w_gate},
    {&option::d_ff, &option::b_gate},
    {&option::w_1, &option::d_ff},
    {&option::w_2, &option::d_ff},
    {&option::w_gate, &option::d_ff},
};

// The first that is broken is told.
std::vector<Exclusion> exclusions() {
  std::vector<Exclusion> table = {
      {&option::example, &option::problem, "--problem and --example are both given: give one of them"},
      {&option::text, &option::x},
      {&option::text, &option::tokens},
      {&option::scores, &option::weights},
      {&option::memory, &option::memory_text},
      {&option::memory_text, &option::key_tokens},
      {&option::first_position, &option::position_ids},
      {&option::scale, &option::multiply}};
  const auto exclude = [&](const Option& one, std::initializer_list<const Option*> others) {
    for (const Option* other : others) table.push_back({&one, other});
  };
  const auto replace_all_before = [&](std::initializer_list<const Option*> others) {
    for (const Option* other : others) {
      table.push_back({&option::scores, other});
      table.push_back({&option::weights, other});
    }
  };
  replace_all_before({&option::x, &option::text, &option::q, &option::k, &option::n_q, &option::n_k, &option::memory,
                      &option::value_memory, &option::memory_text, &option::positions, &option::first_position,
                      &option::position_ids, &option::key_position_ids, &option::parents});
  replace_all_before({&option::w_q, &option::w_k, &option::w_v, &option::b_q, &option::b_k, &option::b_v, &option::d_ff,
                      &option::gated, &option::w_gate, &option::b_gate, &option::w_1, &option::b_1, &option::w_2,
                      &option::b_2});
  exclude(option::weights, {&option::mask, &option::key_mask, &option::causal, &option::causal_offset,
                            &option::valid_length, &option::scale, &option::multiply, &option::soft_cap});
  exclude(option::model, {&option::example, &option::problem, &option::parameters, &option::x, &option::tokens,
                          &option::embeddings, &option::scores, &option::weights, &option::n_q});
  exclude(option::n_q, {&option::q, &option::k, &option::v, &option::x, &option::text});
  exclude(option::q, {&option::w_q, &option::b_q});
  exclude(option::k, {&option::w_k, &option::b_k});
  exclude(option::v, {&option::w_v, &option::b_v, &option::value_memory});
  exclude(option::no_feed_forward, {&option::d_ff, &option::gated, &option::w_gate, &option::b_gate, &option::w_1,
                                    &option::b_1, &option::w_2, &option::b_2});
  return table;
}

std::vector<Requirement> needs() {
  constexpr std::string_view both = "--n-q and --n-k go together: give both";
  return {
      {&option::prefix, {&option::parameters}, prefix_needs_parameters},
      {&option::tokenizer, {&option::model}, tokenizer_needs_model},
      {&option::layer, {&option::model}, "--layer belongs to --model NAME: give both"},
      {&option::d_memory,
       {&option::memory_text},
       "--d-memory is the size of the vectors of --memory-text, which is not given: give both"},
      {&option::key_tokens,
       {&option::memory, &option::value_memory, &option::k, &option::v, &option::scores, &option::weights,
        &option::n_k},
       "--key-tokens labels keys that do not come from x: give --memory, --k or --scores"},
      {&option::embeddings,
       {&option::text},
       "--embeddings gives the vectors of the words of --text, which is not given: give both"},
      {&option::position_table,
       {&option::positions},
       "--position-table needs --positions. Choose one of: learned, relative-bias, relative-vectors, tree-bias, tree-vectors"},
      {&option::key_position_ids,
       {&option::q, &option::k, &option::memory, &option::memory_text, &option::n_k},
       "--key-position-ids says where keys stand that are not those of the queries' words: give --q, --k or --memory, or --position-ids alone"},
      {&option::n_q, {&option::n_k}, both},
      {&option::n_k, {&option::n_q}, both},
  };
}

constexpr std::string_view begin_of_member = "‹", end_of_member = "›";

// The option whose member stands between the signs; null: anything else is text that the reader gave.
const Option* option_of_member(std::string_view name) {
  const std::vector<OfferedOption>& all = problem_options().options;
  const auto row = std::ranges::find_if(all, [&](const OfferedOption& offered) {
    const Option& option = *offered.option;
    return option.member.empty() ? option.name.substr(2) == name : option.member == name;
  });
  return row == all.end() ? nullptr : row->option;
}

// What stands between two pairs of signs, and where it begins and ends with them.
struct MemberInSentence {
  std::size_t begin, end;
  std::string_view name;
};

std::optional<MemberInSentence> first_member_in(std::string_view sentence) {
  const std::size_t from = std::min(sentence.find(begin_of_member), sentence.size());
  const std::size_t to = sentence.find(end_of_member, from);
  if (to == std::string_view::npos) return std::nullopt;
  const std::size_t name = from + begin_of_member.size();
  return MemberInSentence{from, to + end_of_member.size(), sentence.substr(name, to - name)};
}

}  // namespace

namespace choices {

std::vector<OptionChoice> scores() { return choices_of(scoring_functions()); }
std::vector<OptionChoice> scales() { return choices_of(attn::scales()); }
std::vector<OptionChoice> activations() { return choices_of(attn::activations()); }
std::vector<OptionChoice> positions() { return choices_of(position_kinds()); }
std::vector<OptionChoice> generators() { return choices_of(random_kinds()); }
std::vector<OptionChoice> models() {
  std::vector<OptionChoice> names;
  for (const ModelExample& example : model_examples()) names.push_back({example.name, ""});
  return names;
}
std::vector<OptionChoice> examples() {
  std::vector<OptionChoice> names;
  for (const Example& example : attn::examples()) names.push_back({example.name, ""});
  return names;
}

}  // namespace choices

std::span<const Replacement> replacements() { return replacement_table; }

std::string with_options(std::string_view sentence) {
  std::string result;
  while (const std::optional<MemberInSentence> member = first_member_in(sentence)) {
    const Option* const option = option_of_member(member->name);
    result += sentence.substr(0, member->begin);
    result += option ? option->name : sentence.substr(member->begin, member->end - member->begin);
    sentence.remove_prefix(member->end);
  }
  return result.append(sentence);
}

std::string option_named_in(std::string_view sentence) {
  while (const std::optional<MemberInSentence> member = first_member_in(sentence)) {
    if (const Option* const option = option_of_member(member->name)) return std::string(option->name);
    sentence.remove_prefix(member->end);
  }
  return "";
}

const OptionGroup& problem_options() {
  static const OptionGroup group = [] {
    OptionGroup all{.options = {}, .exclusions = exclusions(), .needs = needs()};
    for (const OptionRow& row : option_rows) {
      if (row.part != OptionPart::of_file) all.options.emplace_back(*row.option);
    }
    return all;
  }();
  return group;
}

const OptionList& problem_members() {
  static const OptionList all = [] {
    OptionList list;
    for (const OptionRow& row : option_rows) {
      if (row.part != OptionPart::whole) list.push_back(row.option);
    }
    return list;
  }();
  return all;
}

}  // namespace attn
