#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

/// A law that does not hold, at the cell where the two sides are furthest apart, or at the first without a property.
struct LawViolation {
  std::string place = {};         // "weights[it,animal]", "weights[it]", or "" where both sides are one number
  std::optional<Cell> cell = {};  // of a matrix that it names; of a row, the one that tells most
  double left = 0.0, right = 0.0;
  bool compares = false;          // two sides; otherwise the left number lacks a property
  std::string should_be = {};     // the left side: "less than" the right one; or a number: "0 or more"
  std::size_t cells = 0, of = 0;  // how many cells break it, of how many
  std::string because = {};       // what a function needs that it was not given, in a sentence; empty: nothing
};

/// How far apart two numbers may be that count as equal, where nothing else is said.
constexpr double default_tolerance_of_laws = 1e-9;

/// What a law is held to: a computation, in which its names stand for these matrices.
struct LawCheck {
  std::string law;              // as it was written
  std::vector<const Node*> of;  // the matrices that its names stand for
  std::optional<LawViolation> broken = {};
};

/// Holds a law to a computation: two sides and < > = ≤ ≥ between them, of numbers and matrices, cell by cell, or a
/// property such as causal(weights). One number goes with every cell, a row with every row, a column with every column.
/// A name that several matrices have, as weights of all heads, stands for each in turn, and the other names for those
/// beside it or else around it: k beside head.2.scaled is head.2.k. `applies` chooses among them, if it chooses any.
/// Two numbers are equal that differ by no more than `tolerance` times the larger of them and 1. Throws InputError: an
/// expression that cannot be read, a matrix that is not there, sides of shapes that do not go together.
std::vector<LawCheck> check_law(std::string_view law, const Graph& graph, double tolerance,
                                const std::function<bool(const Node& matrix)>& applies = {});

/// The laws of a text, with ; between them. Throws InputError: there is none.
std::vector<std::string> laws_in(std::string_view text);

/// What is wrong at the cell, in a sentence or two.
std::string violation_in_words(const LawViolation& broken);

/// What a law can call, for help.
struct LawFunction {
  std::string_view name, summary;
};
std::vector<LawFunction> law_functions();

}  // namespace attn
