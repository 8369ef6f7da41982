#pragma once

#include "data/problem/problem.hpp"

namespace attn {

// Where the words of a sentence of a problem stand. Positions count from 0.

/// Whether queries and keys are made of the same words, so that each word has one position.
bool has_shared_words(const Problem& problem);

/// The positions of so many words of x, in a sentence that counts from 0: those of the queries, or of the keys where
/// the queries are given. Throws InputError where there are ids for another number of words.
RowPositions positions_of_x(const Problem& problem, std::size_t sentence, std::size_t words);

/// The option that says so, or would: position_ids, key_position_ids or first_position.
const Option& option_of_x(const Problem& problem, std::size_t words);

/// Where so many queries and keys stand, and how the distance between them is measured. Queries with earlier keys
/// before them, as with a KV cache, stand behind these. Throws InputError as above, and for numbers that are no tree.
QueryKeyPositions positions_of_attention(const Problem& problem, std::size_t sentence, std::size_t queries,
                                         std::size_t keys);

/// Those that two options give for the words of one sentence: the first one, or all; nothing where neither is given.
std::optional<RowPositions> positions_given(const OptionValues& given, const Option& first, const Option& ids);

/// Throws InputError, which names `called`, unless there is a position for each of the words that go into a model, and
/// the model knows each: those below `most`; nothing: any.
void require_positions(const RowPositions& positions, std::size_t words, std::optional<std::size_t> most,
                       std::string_view called);

/// Throws InputError unless the cells are whole numbers from 0, in one row or in one for each sentence. A column is
/// taken as a row.
Matrix whole_numbers(const Option& option, const MatrixFile& file, std::size_t sentences);

}  // namespace attn
