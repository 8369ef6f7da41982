#pragma once

#include <functional>
#include <memory>

#include "files/json_writer.hpp"
#include "problem/problem.hpp"

namespace attn {

/// Writes a problem as the object that read_request reads: every matrix as it is, whether given or drawn.
void write_problem(const Problem& problem, JsonWriter& json);

/// The same for a page.
std::function<void(JsonWriter&)> recipe_of(std::shared_ptr<const Problem> problem);

}  // namespace attn
