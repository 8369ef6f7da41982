#pragma once

#include "command/command.hpp"

namespace attn {

/// attn lesson class FOLDER [LESSON]: marks what a class has handed in, counts the reasons, and draws a sheet on the
/// three that most were told. Throws InputError: a hand-in that does not say what it answers.
Answer mark_class(const Arguments& arguments);

}  // namespace attn
