#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "command/annex.hpp"

namespace attn {

/// A computation taken apart: a screen to walk about it, what becomes of it where something is changed, what two of
/// them differ in, and failures made in it.
extern const Annex apart_annex;

// Its commands.
std::vector<Command> apart_commands();
Answer run_explore(const Command& command, const Arguments& arguments);
Answer run_what_if(const Command& command, const Arguments& arguments);
Answer run_diff(const Command& command, const Arguments& arguments);
Answer run_break(const Command& command, const Arguments& arguments);

/// --explore: a walk about what a command computes. Throws InputError: there is no computation, or a size of a screen
/// that is none.
Answer exploration(const Command& command, const Arguments& arguments);
/// --what-if: what a command computes, as it is and with the changes that are asked for, and how both differ. Throws
/// InputError: a change that cannot be made in this computation.
Answer what_if(const Command& command, const Arguments& arguments);
/// --break: a failure made in what a command computes, and the law that catches it. Throws InputError: an unknown name,
/// or a computation in which it cannot be made.
Answer failure_page(const Command& command, const Arguments& arguments);

/// What a word names that is a command line, a problem or a file of matrices: a computation, or its matrices as inputs.
/// Throws InputError, in which the option is named, where it is none of them.
std::shared_ptr<const Graph> computation_named(const std::string& word, std::string_view option,
                                               const Arguments& arguments);

}  // namespace attn
