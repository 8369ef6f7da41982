#pragma once

#include <string>
#include <vector>

#include "command/command.hpp"
#include "school/mistake/findings.hpp"
#include "school/mistake/matching.hpp"

namespace attn {

/// Whether the line says what the problem is, in another way than by its matrices.
bool gives_problem(const Arguments& arguments);

/// Reads the file of --against into the arguments. Where the line leaves out what the problem is computed
/// from, its matrices are taken from the file: those that cannot be computed from others there. From JSON
/// that attn wrote, the problem is the one in it. Throws InputError: unreadable, damaged, or nothing to
/// compute from.
void take_matrices_to_compare(const Command& command, Arguments& arguments);

/// Somebody's matrices beside a computation, and what explains them.
struct Checked {
  Matched matched;
  Findings findings;

  /// Whether all agrees or, where `conventions_agree`, differs by what can be conventions.
  bool passes(bool conventions_agree) const;
};

/// Compares the file of --against with what was computed. Throws InputError where no matrix of it can be compared.
Checked checked(Graph& graph, const Arguments& arguments);

/// Throws InputError: one file is compared, and this is another one.
[[noreturn]] void refuse_further_file(const std::string& path);

/// A line for each file of the words, or of the folders among them: whether it agrees with the command's computation,
/// and what differs first. The verdict is failed where one differs or cannot be compared; where none can, that is wrong
/// input.
Answer check_each(const Command& command, const Arguments& arguments);

/// The options of a line that say how something is computed, and not from which numbers, as they are typed: "--causal",
/// "--heads 2".
std::vector<std::string> typed_again(const Arguments& arguments);

/// An input for a command with these options, with which as few mistakes as possible stay hidden.
Answer propose_input(const Command& command, const Arguments& arguments);

/// Puts the comparison of that file with the computation in the place of the page; the verdict is failed
/// where a matrix differs. Throws InputError where no matrix of the file can be compared.
void compare(Answer& answer, const Command& command, const Arguments& arguments);

}  // namespace attn
