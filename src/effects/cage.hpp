#pragma once

#include <string>
#include <vector>

namespace attn {

/// From now on this process connects to no other computer, and makes, changes and removes files only in the folders of
/// these paths and below them, whether anything is there yet or not; devices and what is open already can be written.
/// Nothing ends that, and the programs that it starts are held by it too. Returns whether the kernel does this; where
/// it does not (before Linux 6.2, or without Landlock), nothing changes.
bool confine_writing(const std::vector<std::string>& paths);

}  // namespace attn
