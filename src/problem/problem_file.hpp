#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "files/json_writer.hpp"
#include "problem/option_values.hpp"
#include "problem/options.hpp"
#include "problem/problem.hpp"

namespace attn {

/// Reads a problem file: an object whose members are options, or what `--format json` wrote, which has one
/// under "problem". It cannot name other files: of a member that is a path, `given` must have a value.
/// Throws InputError: not JSON, an unknown member, a value of the wrong kind.
OptionValues read_problem_file(std::string_view json, const std::string& where,
                               const OptionList& members = problem_members(), const OptionValues& given = {});

/// Writes options as such an object.
void write_members(const OptionValues& values, JsonWriter& json);

/// Writes a problem as the object that read_problem_file reads: every matrix as it is, whether it was given
/// or is random.
void write_problem(const Problem& problem, JsonWriter& json);

/// The same for a page.
std::function<void(JsonWriter&)> recipe_of(std::shared_ptr<const Problem> problem);

}  // namespace attn
