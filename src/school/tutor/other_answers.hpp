#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/term/working.hpp"
#include "school/tutor/diagnosis.hpp"
#include "school/tutor/typed_answer.hpp"

namespace attn {

/// The other cells of the matrices in a question, the nearest first.
std::vector<Recognised> neighbors(const Working& asked);

/// What is like them elsewhere: the cells in the same place of another head.
std::vector<Recognised> alike(const Working& asked, const Graph& graph);

/// The numbers of the matrices that the answer is made of: of operands, and of those that are shown. For a question
/// about a size, the sizes of those as well. Null: it is not known what is shown.
std::vector<Recognised> other_numbers(const Working& asked, const Graph& graph, const MatricesShown* shown);

/// The other words of the row that is asked about.
std::vector<Recognised> other_words(const Working& asked);

/// The shape turned around, and those of the matrices that it is computed from or that are shown.
std::vector<Recognised> other_shapes(const Working& asked, const Graph& graph, const MatricesShown* shown);

/// The other choices of a comparison, and what is compared.
std::vector<Recognised> other_choices(const Working& asked, const SolvedQuestion& solved);

/// A typed number is made of numbers of the question and of the last steps: "This is 14 + 12." Nothing: it is
/// not.
std::optional<std::string> combined(const SolvedQuestion& solved, const Working& steps, const TypedAnswer& typed);

/// The numbers that a text has outside of quotations, with commas between thousands, and as words up to ten.
std::vector<double> numbers_in(std::string_view text);

/// A number with a minus sign, as sentences have it.
std::string told_number(double number);

}  // namespace attn
