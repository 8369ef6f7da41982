#include "command/check/supposed_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command/check/file_comparison.hpp"
#include "data/problem/problem_options.hpp"

namespace attn {

namespace {

// A setting, which values it may have, which step it concerns, and whether something else decides it. The scale and the
// first position are in the formula itself: whoever takes others makes a mistake that has a name.
struct OpenSetting {
  const Option* option;
  std::vector<OptionValue> values;
  bool (*concerns)(const Node& node);
  bool (*is_open)(const Command& command, const Arguments& taken, bool is_recorded);
};

bool is_always_open(const Command&, const Arguments&, bool) { return true; }

// An encoder attends to all words, unless it is a program of which nothing says how it masks.
bool may_be_causal(const Command& command, const Arguments& taken, bool is_recorded) {
  static constexpr std::array decided_by = {&option::not_causal, &option::mask, &option::memory, &option::memory_text};
  return !taken.has_any(decided_by) && (command.takes_problem() || is_recorded);
}

bool has_no_shift(const Command& command, const Arguments& taken, bool) {
  return !taken.has(option::beta) && (command.takes_model() || taken.has(option::gamma));
}

template <const Role& role>
bool computes(const Node& node) {
  return node.op && node.is(role);
}
bool has_norm(const Node& node) { return computes<role::normalised>(node); }
bool has_sum_and_norm(const Node& node) { return computes<role::sum>(node); }

const std::vector<OpenSetting>& open_settings() {
  static const std::vector<OpenSetting> table = {
      {&option::causal, {true}, computes<role::weights>, may_be_causal},
      {&option::heads,
       {std::size_t{2}, std::size_t{4}, std::size_t{3}, std::size_t{8}, std::size_t{6}, std::size_t{12},
        std::size_t{1}},
       computes<role::weights>,
       is_always_open},
      {&option::activation,
       {std::string("gelu"), std::string("gelu-tanh"), std::string("silu")},
       [](const Node& node) { return computes<role::rectified>(node) || computes<role::activated>(node); },
       is_always_open},
      {&option::norm, {std::string("pre"), std::string("post")}, has_sum_and_norm, is_always_open},
      {&option::epsilon, {1e-6, 1e-12, 1e-8, 1e-3}, has_norm, is_always_open},
      {&option::norm_kind, {std::string("rms")}, has_norm, has_no_shift},
  };
  return table;
}

constexpr DecidedConvention conventions_by_option[] = {
    {"pre-norm", &option::norm},
    {"post-norm", &option::norm},
    {"rotary-halves", &option::positions},
    {"rotary-neighbors", &option::positions},
    {"gelu-by-tanh", &option::activation},
    {"gelu-by-erf", &option::activation},
    {"gelu-by-sigmoid", &option::activation},
};

// As many as divide the columns of the queries.
bool can_be_heads(const Graph& graph, std::size_t heads) {
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) {
    return node.is(role::q) && !node.within(scope::head) && node.frame.shape.columns % heads == 0;
  });
}

bool offers_setting(const Command& command, const Option& option) {
  const std::vector<OfferedOption> all = options_of(command);
  return std::ranges::find(all, &option, &OfferedOption::option) != all.end();
}

}  // namespace

std::string SupposedSetting::typed() const {
  Arguments alone;
  alone.put(*option, value);
  return typed_again(alone).front();
}

std::vector<SupposedSetting> supposed_heads() {
  const auto row = std::ranges::find(open_settings(), &option::heads, &OpenSetting::option);
  std::vector<SupposedSetting> all;
  for (const OptionValue& value : row->values) all.push_back({row->option, value});
  return all;
}

std::vector<Supposition> suppositions(const Command& command, const Arguments& taken, const Graph& graph,
                                      const OptionList& open, bool is_recorded, std::size_t other_readings) {
  std::vector<SupposedSetting> single;
  for (const OpenSetting& row : open_settings()) {
    const bool is_said = taken.has(*row.option) && std::ranges::find(open, row.option) == open.end();
    const bool is_asked = !is_said && offers_setting(command, *row.option) && row.is_open(command, taken, is_recorded);
    if (!is_asked || std::ranges::none_of(graph.nodes(), row.concerns)) continue;
    for (const OptionValue& value : row.values) {
      const std::size_t* const heads = row.option == &option::heads ? std::get_if<std::size_t>(&value) : nullptr;
      if (!heads || can_be_heads(graph, *heads)) single.push_back({row.option, value});
    }
  }
  std::vector<Supposition> all;
  const std::size_t readings = other_readings == 0 ? 0 : std::size_t{1} << other_readings;
  for (std::size_t chosen = 0; chosen < readings; ++chosen) all.push_back({.settings = {}, .readings = chosen});
  for (const SupposedSetting& one : single) all.push_back({.settings = {one}});
  for (std::size_t i = 0; i < single.size(); ++i) {
    for (std::size_t k = i + 1; k < single.size(); ++k) {
      if (single[i].option != single[k].option) all.push_back({.settings = {single[i], single[k]}});
    }
    for (std::size_t chosen = 0; chosen < readings; ++chosen)
      all.push_back({.settings = {single[i]}, .readings = chosen});
  }
  return all;
}

std::span<const DecidedConvention> decided_conventions() { return conventions_by_option; }

}  // namespace attn
