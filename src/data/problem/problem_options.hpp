#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "data/parameters/kinds_in_words.hpp"
#include "data/problem/option.hpp"

namespace attn {

/// The names that options choose from, with a summary of each, as the tables of the formulas have them.
namespace choices {
std::vector<OptionChoice> scores();
std::vector<OptionChoice> scales();
std::vector<OptionChoice> activations();
std::vector<OptionChoice> positions();
std::vector<OptionChoice> generators();
std::vector<OptionChoice> examples();
std::vector<OptionChoice> models();
}  // namespace choices

namespace rules {
inline constexpr double largest = std::numeric_limits<double>::max();
inline constexpr NumberRule positive{"not a positive finite number", [](double x) { return x > 0.0 && x <= largest; }};
inline constexpr NumberRule not_zero{"not a finite number other than 0",
                                     [](double x) { return x != 0.0 && x >= -largest && x <= largest; }};
inline constexpr NumberRule whole{"not a whole number from -1000000000 to 1000000000", [](double x) {
                                    constexpr double most = 1e9;
                                    return x >= -most && x <= most &&
                                           x == static_cast<double>(static_cast<std::int64_t>(x));
                                  }};
inline constexpr NumberRule not_infinite{"neither a finite number nor -inf", [](double x) { return x <= largest; }};
}  // namespace rules

/// The largest position of a word that is given, counted from 0.
inline constexpr std::size_t largest_position = 2147483647;

/// What is said where a prefix has no file that it could belong to.
inline constexpr std::string_view prefix_needs_parameters = "--prefix needs --parameters FILE: give both";

/// What is said where a tokenizer has no model that it could belong to.
inline constexpr std::string_view tokenizer_needs_model = "--tokenizer needs --model FILE or --model DIR: give both";

/// The options of problems. A new one is a row of options.def.
namespace option {

// Rows of each kind.
constexpr Option flag(std::string_view name, std::string_view member, std::string_view summary) {
  return {name, member, Kind::flag, "", summary};
}
constexpr Option count(std::string_view name, std::string_view member, std::string_view summary) {
  return {name, member, Kind::count, "N", summary};
}
constexpr Option word(std::string_view name, std::string_view member, std::string_view summary) {
  return {name, member, Kind::word, "NAME", summary};
}
constexpr Option path(std::string_view name, std::string_view member, std::string_view summary) {
  return {name, member, Kind::path, "FILE", summary};
}
constexpr Option matrix(std::string_view name, const Role& role, std::string_view summary) {
  Option row{name, role.leaf, Kind::matrix, "MATRIX", summary};
  row.role = &role;
  return row;
}
constexpr Option number(std::string_view name, std::string_view member, std::string_view summary,
                        const NumberRule& rule, std::string_view advice) {
  Option row{name, member, Kind::number, "NUMBER", summary};
  row.rule = &rule;
  row.advice = advice;
  return row;
}

inline constexpr unsigned everywhere = on_embeddings | on_positions | on_attention;
inline constexpr unsigned on_queries = on_positions | on_attention;  // relative positions have their sizes

#define OF_FILE(name, ...) inline constexpr Option name = __VA_ARGS__;
#define WHOLE(name, ...) inline constexpr Option name = __VA_ARGS__;
#define FIELD(name, ...) inline constexpr Option name = __VA_ARGS__;
#include "data/problem/options.def"
#undef OF_FILE
#undef WHOLE
#undef FIELD

}  // namespace option

/// Two options of which one is given anew. What belongs to the other and is replaced with it: the words of
/// other embeddings, the lengths of other sentences, the scale of another scoring function.
struct Replacement {
  const Option* given;
  const Option* replaced;
};
std::span<const Replacement> replacements();

/// The options that give a problem, and what holds among them.
const OptionGroup& problem_options();

/// All that a problem file may have.
const OptionList& problem_members();

/// A sentence that names members of problem files, as `‹valid_length›`, with the options in their place:
/// `--valid-length`. So what computes need not know options.
std::string with_options(std::string_view sentence);

}  // namespace attn
