#pragma once

#include <cstddef>
#include <functional>

namespace attn {

/// How many threads work side by side; 0 stands for one on each processor that this process may use, as it is
/// at first. They are started when the first large piece of work comes, as
/// many of them as the system allows.
std::size_t threads();
void use_threads(std::size_t count);

/// Does task(0) … task(count − 1), each once, side by side where there is more than one thread. What a task
/// computes must not depend on the others. Where tasks throw, the exception of the first one is thrown when
/// all are done.
void side_by_side(std::size_t count, const std::function<void(std::size_t)>& task);

}  // namespace attn
