#include "data/problem/word_positions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "data/problem/problem_options.hpp"

namespace attn {
namespace {

// The numbers of a sentence: its own row, or the row for all.
std::vector<std::size_t> numbers_of_sentence(const Matrix& all, std::size_t sentence) {
  const std::span<const double> cells = row(all, all.shape().rows == 1 ? 0 : sentence);
  std::vector<std::size_t> numbers;
  for (const double cell : cells) numbers.push_back(static_cast<std::size_t>(cell));
  return numbers;
}

RowPositions listed_positions(const Matrix& ids, std::size_t sentence, std::size_t words, std::string_view member,
                              std::string_view noun, std::string_view nouns) {
  if (ids.shape().columns != words) {
    fail("‹{}› has {}, and there {:is|are} {}: give one for each", member, count_of(ids.shape().columns, "number"),
         Count{words}, count_of(words, noun, nouns));
  }
  return RowPositions(numbers_of_sentence(ids, sentence));
}

std::size_t keys_before(const Problem& problem) {
  return problem.causal_offset > 0 ? static_cast<std::size_t>(problem.causal_offset) : 0;
}

RowPositions positions_of_queries(const Problem& problem, std::size_t sentence, std::size_t queries) {
  if (problem.position_ids) {
    const bool are_given = problem.has(role::q);
    return listed_positions(*problem.position_ids, sentence, queries, option::position_ids.member,
                            are_given ? "query" : "word", are_given ? "queries" : "words");
  }
  return problem.first_position + (has_shared_words(problem) ? 0 : keys_before(problem));
}

// Which option says where keys stand. Those that are not of the queries' words have positions of their own.
const Option& option_of_keys(const Problem& problem, std::size_t keys) {
  if (problem.key_position_ids) return option::key_position_ids;
  const bool stands_beside =
      problem.position_ids && keys_before(problem) == 0 && problem.position_ids->shape().columns == keys;
  const bool are_listed =
      problem.position_ids && (has_shared_words(problem) || (stands_beside && !problem.has(role::memory)));
  return are_listed ? option::position_ids : option::first_position;
}

RowPositions positions_of_keys(const Problem& problem, std::size_t sentence, std::size_t keys) {
  const Option& from = option_of_keys(problem, keys);
  if (&from == &option::key_position_ids)
    return listed_positions(*problem.key_position_ids, sentence, keys, from.member, "key", "keys");
  if (&from == &option::position_ids)
    return listed_positions(*problem.position_ids, sentence, keys, from.member, "word", "words");
  return problem.first_position;
}

Distance distance_of(const Problem& problem, std::size_t sentence) {
  if (!kind_of_positions(problem).is_in_tree) return {};
  if (!problem.parents) {
    fail(
        "‹positions› {} counts the edges of a tree of the words: give ‹parents›, with the number of each word's parent and 0 for the root",
        problem.positions);
  }
  return Distance(numbers_of_sentence(*problem.parents, sentence));
}

// A tree has a word for each position, and no more, where nothing says that these are a part of a longer text.
void require_all_words(const Problem& problem, const Distance& distance, std::size_t last) {
  const bool are_all = !problem.position_ids && !problem.key_position_ids && problem.first_position == 0;
  if (!distance.is_in_tree() || !are_all || distance.words() <= last + 1) return;
  fail("‹parents› has {}, and there {:is # word|are # words}: give one for each", count_of(distance.words(), "number"),
       Count{last + 1});
}

}  // namespace

std::optional<RowPositions> positions_given(const OptionValues& given, const Option& first, const Option& ids) {
  if (const std::optional<std::size_t> position = given.count(first)) return RowPositions(*position);
  if (!given.has(ids)) return std::nullopt;
  return RowPositions(numbers_of_sentence(whole_numbers(ids, given.matrix(ids), 1), 0));
}

bool has_shared_words(const Problem& problem) {
  return !problem.has(role::q) && !problem.has(role::k) && !problem.has(role::memory);
}

RowPositions positions_of_x(const Problem& problem, std::size_t sentence, std::size_t words) {
  return problem.has(role::q) ? positions_of_keys(problem, sentence, words)
                              : positions_of_queries(problem, sentence, words);
}

const Option& option_of_x(const Problem& problem, std::size_t words) {
  if (problem.has(role::q)) return option_of_keys(problem, words);
  return problem.position_ids ? option::position_ids : option::first_position;
}

QueryKeyPositions positions_of_attention(const Problem& problem, std::size_t sentence, std::size_t queries,
                                         std::size_t keys) {
  QueryKeyPositions apart{positions_of_queries(problem, sentence, queries), positions_of_keys(problem, sentence, keys),
                          distance_of(problem, sentence)};
  require_all_words(problem, apart.distance, std::max(apart.queries.largest(queries), apart.keys.largest(keys)));
  return apart;
}

void require_positions(const RowPositions& positions, std::size_t words, std::optional<std::size_t> most,
                       std::string_view called) {
  if (positions.count() != 0 && positions.count() != words) {
    fail("{} has {}, and {} go in: give one for each", called, count_of(positions.count(), "number"),
         count_of(words, "word"));
  }
  const std::size_t last = positions.largest(words);
  if (most && last >= *most)
    fail("{}: position {} is not learned: this model knows only {}", called, last,
         *most == 1 ? "position 0" : fmt::format("positions 0 to {}", *most - 1));
}

Matrix whole_numbers(const Option& option, const MatrixFile& file, std::size_t sentences) {
  const std::string called =
      file.where.empty() ? std::string(option.name) : file.where + ": " + std::string(option.member);
  const bool is_column = file.matrix.shape().columns == 1 && file.matrix.shape().rows != sentences;
  Matrix numbers = is_column ? transposed(file.matrix) : file.matrix;
  constexpr double most = largest_position;
  for (const double number : cells(numbers)) {
    if (number >= 0.0 && number <= most && number == std::floor(number)) continue;
    fail("{}: {} is not a whole number from 0 to {}: give {}", called, number, largest_position,
         &option == &option::parents ? "the number of each word's parent, and 0 for the root"
                                     : "the position of each word, such as '0 1 2'");
  }
  if (numbers.shape().rows != 1 && numbers.shape().rows != sentences) {
    fail("{} has {}: give one{:|, or one for each of the # sentences}", called, count_of(numbers.shape().rows, "row"),
         Count{sentences});
  }
  return numbers;
}

}  // namespace attn
