#pragma once

#include <string>

#include "command/command.hpp"

namespace attn {

// The forms of attn check, which its room (command/check/) makes.

/// --against: the comparison of that file with what the command computes; the verdict is failed where a matrix differs.
/// Throws InputError where no matrix of the file can be compared.
Answer comparison_page(const Command& command, const Arguments& arguments);

/// Reads the file of --against into the arguments. Where the line leaves out what the problem is computed
/// from, its matrices are taken from the file: those that cannot be computed from others there. From JSON
/// that attn wrote, the problem is the one in it. Throws InputError: unreadable, damaged, or nothing to
/// compute from.
void take_matrices_to_compare(const Command& command, Arguments& arguments);

/// --each: a line for each file of the words, or of the folders among them: whether it agrees with the command's
/// computation, and what differs first. The verdict is failed where one differs or cannot be compared; where none can,
/// that is wrong input.
Answer check_each(const Command& command, const Arguments& arguments);

/// --input: an input for a command with these options, with which as few mistakes as possible stay hidden.
Answer propose_input(const Command& command, const Arguments& arguments);

/// --recorder: code that saves what something of this name took and made, for `attn check` to read. Throws InputError
/// where there is none.
Answer recorder_code(const Command& command, const Arguments& arguments);

// What the parser asks of them.

/// The command whose computation a file is of, which was recorded, or has the parameters of a whole model; null: it is
/// of neither kind, or cannot be read.
const Command* command_of_file(const std::string& path);

/// Throws InputError: one file is compared, and this is another one.
[[noreturn]] void refuse_further_file(const std::string& path);

}  // namespace attn
