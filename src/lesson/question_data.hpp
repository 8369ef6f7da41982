#pragma once

#include <string_view>

#include "files/json_writer.hpp"
#include "lesson/answer.hpp"

namespace attn {

/// The most other numbers of a computation that a page recognises in an answer, the nearest first.
constexpr std::size_t most_other_numbers_on_page = 80;

/// Writes a question as JSON, with all that is needed to judge answers and to say what went wrong: the answer
/// is there, readable for everybody. `key` is what answers to it are kept by.
void write_question(const SolvedQuestion& solved, std::string_view key, JsonWriter& json);

}  // namespace attn
