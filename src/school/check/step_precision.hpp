#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/rewrite/rewriting.hpp"
#include "school/mistake/comparison.hpp"

namespace attn {

/// A right computation with other precision than that of its file: numbers that somebody rounded on the way, as with a
/// pencil, or a program of few bits.
struct StepPrecision {
  std::string told;       // "each step rounded to 2 decimals, and √2 taken as 1.4"
  bool is_bound = false;  // it gives not just these numbers, but none that are further off
};

/// What gives all matrices that differ, each computed from the numbers before it in the file: one step, or all, rounded
/// or cut at no fewer decimals than the file has; the root, e or exponentials alone; float16, bfloat16 or float32.
/// Nothing: none does, or the file says too little to tell so many ways apart. `also_tried` is how many computations
/// were tried besides this one, as a power of ten.
std::optional<StepPrecision> step_precision(const Graph& graph, std::span<const ComparedMatrix> compared,
                                            double also_tried = 0.0);

/// The same with fewer decimals, down to whole numbers, by which many things become equal. Numbers that were written by
/// hand may be too few to tell it from other ways.
std::optional<StepPrecision> coarse_step_precision(const Graph& graph, std::span<const ComparedMatrix> compared);

/// Whether all numbers of a matrix are whole: then they may have had decimals that were 0.
bool has_whole_numbers(const ComparedMatrix& matrix);

/// The same where some way to round steps to the decimals of the file can give them: it is not known which.
std::optional<StepPrecision> some_step_precision(const Graph& graph, std::span<const ComparedMatrix> compared,
                                                 double also_tried = 0.0);

/// Whether a mistake gives all matrices that differ, each from the numbers before it in the file.
bool gives_from_rounded_numbers(const Graph& graph, std::span<const ComparedMatrix> compared, const Change& change);
/// The same with exponentials that were rounded as well.
bool gives_from_rounded_exponentials(const Graph& graph, std::span<const ComparedMatrix> compared,
                                     const Change& change);

/// The matrices with as much room as steps leave that are rounded to the decimals of the file, for mistakes of somebody
/// who rounds. Empty: the file has no decimals, or too few to tell anything.
std::vector<ComparedMatrix> with_room_for_rounded_steps(const Graph& graph, std::span<const ComparedMatrix> compared);

/// Where all numbers of a matrix are of fewer bits than its file could hold, lets them be as far off as computing in
/// this type makes them.
void allow_for_fewer_bits(const Graph& graph, std::vector<ComparedMatrix>& compared);

}  // namespace attn
