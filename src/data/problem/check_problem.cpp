#include "data/problem/check_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/attention/masks.hpp"
#include "core/attention/positional_encoding.hpp"
#include "core/attention/score.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/model_words.hpp"
#include "data/problem/problem_options.hpp"
#include "data/problem/word_positions.hpp"

namespace attn {

namespace {

// Every head of every layer has a handful of matrices with names, which are all kept.
constexpr std::size_t most_heads = 10000;

// What layers are given grows with a number that is typed: the same limit holds as for one matrix.
void refuse_layers(const Problem& problem) {
  if (problem.layers == 1) return;
  const std::size_t attentions = problem.layers * problem.heads;
  for (const Sequence& sequence : problem.sequences) {
    const std::size_t n = sequence.x ? sequence.x->shape().rows : 1;
    if (n > most_cells / attentions / n) {
      fail("--layers {}: all attention weights together would have more than {} cells: give fewer layers",
           problem.layers, most_cells);
    }
  }
}

void require_inner(const OptionValues& given, const Problem& problem) {
  const Matrix* const w_1 = problem.find(role::w_1);
  const std::optional<std::size_t> asked = given.count(option::d_ff);
  if (!asked || !w_1 || *asked == w_1->shape().columns) return;
  fail("--d-ff {} needs {} columns in w_1, which has {}: change one of them", *asked, *asked, w_1->shape().columns);
}

// Keys come from the memory, and their values from the other one.
void require_values_of_memory(const Problem& problem) {
  const Matrix *const memory = problem.find(role::memory), *const values = problem.find(role::value_memory);
  if (!memory || !values || values->shape().rows == memory->shape().rows) return;
  fail("value_memory has {} but memory has {}: every key needs one value", count_of(values->shape().rows, "row"),
       memory->shape().rows);
}

// A size that was asked for and a matrix that was given must agree.
void require_asked(const OptionValues& given, const Option& size, std::size_t heads, const Role& role,
                   const Matrix& matrix) {
  const std::optional<std::size_t> asked = given.count(size);
  if (!asked || matrix.shape().columns == heads * *asked) return;
  fail("{} {} needs {} columns in {}, which has {}: change one of them", size.name, *asked, heads * *asked, role.leaf,
       matrix.shape().columns);
}

const PositionKind& positions_of(const Problem& problem) { return *find_row(position_kinds(), problem.positions); }

bool has_no_positions(const Problem& problem) { return &positions_of(problem) == &position_kinds().front(); }

bool has_learned(const Problem& problem, const Role& parameter) {
  const ScoringFunction& function = *find_row(scoring_functions(), problem.score);
  const auto is_it = [&](const ScoreParameter& row) { return &row.role == &parameter; };
  return std::ranges::any_of(function.parameters, is_it) || std::ranges::any_of(function.biases, is_it);
}

bool draws_nothing(const OptionValues& given, const Problem& problem) {
  const auto was_random = std::ranges::count_if(given.entries(), [](const auto& entry) { return entry.was_random; });
  return problem.drawn.size() == static_cast<std::size_t>(was_random);
}

// Whether all that is masked is numbers to add: then no score is replaced.
bool only_adds(const Problem& problem) {
  if (!problem.mask || !problem.mask->additive) return false;
  return std::ranges::all_of(problem.sequences, [&](const Sequence& sequence) {
    return problem.sources_of_mask(problem.words_of_keys(sequence)).size() == 1;
  });
}

// An option, when it changes nothing, and why that is so.
struct Idle {
  const Option* option;
  bool (*holds)(const OptionValues& given, const Problem& problem);
  std::string_view why;
};

// Positions that are added to x are those of its words.
template <const Option& option>
bool moves_no_word(const OptionValues&, const Problem& problem) {
  const std::optional<Matrix>& x = problem.sequences.front().x;
  return positions_of(problem).of_embeddings && (!x || &option_of_x(problem, x->shape().rows) != &option);
}
constexpr std::string_view is_added_to_x =
    ": this kind of positional encoding is added to x, and the option does not say where the words of x stand";

// The memory is the source of keys and of values, where neither is given and no later step is.
bool needs_no_memory(const OptionValues&, const Problem& problem) {
  const bool has_keys = problem.has(role::k) || problem.has(role::scores) || problem.has(role::weights);
  const bool has_values = problem.has(role::v) || problem.has(role::value_memory);
  return has_keys && has_values;
}

constexpr Idle idle_options[] = {
    {&option::memory, needs_no_memory, ": keys and values are given"},
    {&option::mask_fill, [](const OptionValues&, const Problem& problem) { return !problem.is_masked(); },
     " without a mask"},
    {&option::mask_fill, [](const OptionValues&, const Problem& problem) { return only_adds(problem); },
     ": the numbers of --mask are added to the scores, and no score is replaced"},
    {&option::seed, draws_nothing, ": all numbers are given"},
    {&option::random, draws_nothing, ": all numbers are given"},
    {&option::base, [](const OptionValues&, const Problem& problem) { return !positions_of(problem).has_waves; },
     ": this kind of positional encoding has no wavelengths"},
    {&option::activation, [](const OptionValues&, const Problem& problem) { return !problem.feed_forward; },
     " without a feed-forward layer"},
    {&option::d_model, [](const OptionValues&, const Problem& problem) { return !problem.sequences.front().x; },
     " without embeddings"},
    {&option::position_table,
     [](const OptionValues&, const Problem& problem) { return !positions_of(problem).table_shape; },
     ": this kind of positional encoding has no table"},
    {&option::max_distance,
     [](const OptionValues& given, const Problem& problem) {
       const PositionKind& kind = positions_of(problem);
       return (!kind.of_scores && !kind.of_scaled_scores) || given.has(option::position_table);
     },
     ": there is no random table of relative positions"},
    {&option::first_position, [](const OptionValues&, const Problem& problem) { return has_no_positions(problem); },
     ": there is no positional encoding"},
    {&option::position_ids, [](const OptionValues&, const Problem& problem) { return has_no_positions(problem); },
     ": there is no positional encoding"},
    {&option::key_position_ids, [](const OptionValues&, const Problem& problem) { return has_no_positions(problem); },
     ": there is no positional encoding"},
    {&option::first_position, moves_no_word<option::first_position>, is_added_to_x},
    {&option::position_ids, moves_no_word<option::position_ids>, is_added_to_x},
    {&option::key_position_ids, moves_no_word<option::key_position_ids>, is_added_to_x},
    {&option::first_position,
     [](const OptionValues&, const Problem& problem) {
       return positions_of(problem).changes_scores() && !positions_of(problem).is_in_tree;
     },
     ": this kind of positional encoding knows the distances of words alone"},
    {&option::parents, [](const OptionValues&, const Problem& problem) { return !positions_of(problem).is_in_tree; },
     ": this kind of positional encoding counts no distances in a tree"},
    {&option::score_sigma, [](const OptionValues&, const Problem& problem) { return problem.score != "gaussian"; },
     " without --score gaussian"},
    {&option::score_m, [](const OptionValues&, const Problem& problem) { return !has_learned(problem, role::score_m); },
     " without --score bilinear"},
    {&option::score_wq,
     [](const OptionValues&, const Problem& problem) { return !has_learned(problem, role::score_wq); },
     " without --score additive"},
    {&option::score_wk,
     [](const OptionValues&, const Problem& problem) { return !has_learned(problem, role::score_wk); },
     " without --score additive"},
    {&option::score_wv,
     [](const OptionValues&, const Problem& problem) { return !has_learned(problem, role::score_wv); },
     " without --score additive"},
    {&option::score_b, [](const OptionValues&, const Problem& problem) { return !has_learned(problem, role::score_b); },
     " without --score additive or bilinear"},
};

void remark_on_scale(const Problem& problem, std::vector<std::string>& remarks) {
  const std::optional<double> divisor = parse_number<double>(problem.scale);
  if (!divisor || *divisor >= 1.0) return;
  remarks.push_back(fmt::format(
      "--scale {0} divides the scores, which makes them larger: to multiply them by {0}, as PyTorch does, give --multiply {0}",
      problem.scale));
}

// Whether a mask of permissions lets any query attend to a key.
bool permits_key(const Problem& problem, std::size_t key) {
  if (!problem.mask || problem.mask->additive) return false;
  return std::ranges::any_of(problem.mask->of_heads, [&](const Matrix& one) {
    if (key >= one.shape().columns) return false;
    for (std::size_t q = 0; q < one.shape().rows; ++q) {
      if (one(q, key) != 0.0) return true;
    }
    return false;
  });
}

// A word whose query and key are both of x has one position, whatever the mask lets it attend to.
void remark_on_offset(const Problem& problem, std::vector<std::string>& remarks) {
  const bool has_x = problem.sequences.front().x.has_value();
  if (problem.causal_offset <= 0 || !has_x || !has_shared_words(problem) || has_no_positions(problem)) return;
  remarks.push_back(fmt::format(
      "--causal-offset {} changes the mask and no position: queries and keys are the same words. For queries with earlier keys, as with a KV cache, give --k and --v",
      problem.causal_offset));
}

// Padding that valid lengths count as words, or that a mask would let through.
void remark_on_padding(const Problem& problem, std::vector<std::string>& remarks) {
  const auto& lengths = problem.valid_lengths;
  const bool one_each = lengths.size() == problem.sequences.size();
  bool counted = false, allowed = false;
  for (std::size_t i = 0; i < problem.sequences.size(); ++i) {
    const std::vector<bool> blanks = blanks_among(problem.words_of_keys(problem.sequences[i]));
    for (std::size_t j = 0; j < blanks.size(); ++j) {
      if (!blanks[j]) continue;
      const auto longer = [&](std::size_t length) { return length > j; };
      counted = counted || (one_each ? longer(lengths[i]) : std::ranges::any_of(lengths, longer));
      allowed = allowed || permits_key(problem, j);
    }
  }
  if (counted) {
    remarks.push_back(
        fmt::format("--valid-length counts {} as a word: it is not masked here. Without --valid-length it is", blank));
  }
  if (allowed && problem.masks_blanks()) {
    remarks.push_back(
        fmt::format("{} stays masked although --mask allows it: to attend to it, give --valid-length", blank));
  }
}

// How many keys a sentence has, where that is known before anything is computed.
std::optional<std::size_t> key_count(const Problem& problem, const Sequence& sequence) {
  for (const Role* role : {&role::scores, &role::weights}) {
    if (const Matrix* const matrix = problem.find(*role)) return matrix->shape().columns;
  }
  for (const Role* role : {&role::k, &role::memory}) {
    if (const Matrix* const matrix = problem.find(*role)) return matrix->shape().rows;
  }
  if (sequence.x) return sequence.x->shape().rows;
  return std::nullopt;
}

void add_remark_on_lengths(const Problem& problem, std::vector<std::string>& remarks) {
  const auto& lengths = problem.valid_lengths;
  const std::size_t count = problem.sequences.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<std::size_t> keys = key_count(problem, problem.sequences[i]);
    if (!keys) continue;
    const bool one_each = count > 1 && lengths.size() == count;
    const std::span<const std::size_t> of_it = one_each ? std::span(lengths).subspan(i, 1) : std::span(lengths);
    if (std::optional<std::string> remark = remark_on_lengths(option::valid_length, of_it, *keys))
      return remarks.push_back(std::move(*remark));
  }
}

// The first row that is no average, where weights are given.
void remark_on_weights(const Matrix& weights, std::vector<std::string>& remarks) {
  constexpr double tolerance = 1e-9;
  for (std::size_t i = 0; i < weights.shape().rows; ++i) {
    const std::span<const double> values = row(weights, i);
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    const bool negative = std::ranges::any_of(values, [](double value) { return value < 0.0; });
    if (!negative && std::fabs(sum - 1.0) <= tolerance) continue;
    remarks.push_back(
        fmt::format("row {} of weights {}: its output is a weighted sum but not an average", i + 1,
                    negative ? std::string("has negative numbers") : fmt::format("sums to {:.12g}, not 1", sum)));
    return;
  }
}

}  // namespace

void check_contradictions(const OptionValues& given) {
  check_exclusions(given, problem_options().exclusions);
  const std::optional<std::string> random = given.text(option::random);
  if (random && random->find(':') != std::string::npos && given.has(option::seed))
    fail("--random and --seed are both given: give one of them");
  if (given.has(option::x) && given.has(option::q) && given.has(option::k) && given.has(option::v))
    fail("--q, --k and --v take the place of --x, which is given too: leave out --x");
  check_needs(given, problem_options());
}

void check_repeats(const Problem& problem) {
  if (problem.layers > most_heads / problem.heads) {
    fail("--layers {} with --heads {} would have more than {} heads in all: give fewer layers or heads", problem.layers,
         problem.heads, most_heads);
  }
}

void check_sizes(const OptionValues& given, const Problem& problem) {
  refuse_layers(problem);
  require_inner(given, problem);
  require_values_of_memory(problem);
  if (const auto& x = problem.sequences.front().x) require_asked(given, option::d_model, 1, role::x, *x);
  for (const Role* role : {&role::q, &role::k, &role::v, &role::w_q, &role::w_k, &role::w_v}) {
    const Matrix* const matrix = problem.find(*role);
    if (!matrix) continue;
    const bool is_of_values = role == &role::v || role == &role::w_v;
    const std::size_t heads = problem.heads_of(*role);
    require_asked(given, is_of_values ? option::d_v : option::d_k, heads, *role, *matrix);
    if (matrix->shape().columns % heads != 0) {
      fail("the {} columns of {} are not divisible by the number of heads ({}): change {}", matrix->shape().columns,
           role->leaf, heads, heads == problem.heads ? option::heads.name : option::kv_heads.name);
    }
  }
}

void tell_of_causal_mask(const OptionValues& given, const Problem& problem) {
  if (!problem.causal) return;
  const auto rows_of = [&](std::initializer_list<const Role*> roles) -> std::size_t {
    for (const Role* role : roles) {
      if (const Matrix* const matrix = problem.find(*role)) return matrix->shape().rows;
    }
    const auto& x = problem.sequences.front().x;
    return x ? x->shape().rows : 0;
  };
  const Matrix* const scores = problem.find(role::scores);
  const std::size_t queries = scores ? scores->shape().rows : rows_of({&role::q});
  const std::size_t keys = scores ? scores->shape().columns : rows_of({&role::k, &role::memory});
  if (queries == 0 || keys == 0) return;
  const std::string_view called = given.has(option::causal_offset) ? option::causal_offset.name : option::causal.name;
  InputReport told{std::string(called), "", to_string({queries, keys})};
  const std::ptrdiff_t last = problem.causal_offset + 1;
  Assumption aligned{&assumed::causal_mask, last < 1 ? fmt::format("query {} is the first to attend to key 1", 2 - last)
                                            : last == 1 ? "query 1 attends to key 1"
                                                        : fmt::format("query 1 attends to keys 1 to {}", last)};
  if (queries < keys && !given.has(option::causal_offset)) {
    aligned.sentence = fmt::format("there are {} and {}, and query 1 attends to key 1",
                                   count_of(queries, "query", "queries"), count_of(keys, "key"));
    aligned.other = fmt::format(
        "if the queries are those of the last keys, as with a KV cache, give --causal-offset {}", keys - queries);
    aligned.is_doubtful = true;
  }
  told.assumed.push_back(std::move(aligned));
  InputReports::tell(std::move(told));
}

std::vector<std::string> remarks_on(const OptionValues& given, const Problem& problem) {
  std::vector<std::string> remarks;
  for (const Idle& row : idle_options) {
    if (!given.has(*row.option) || !row.holds(given, problem)) continue;
    remarks.push_back(fmt::format("{} has no effect{}", row.option->name, row.why));
  }
  remark_on_scale(problem, remarks);
  remark_on_offset(problem, remarks);
  add_remark_on_lengths(problem, remarks);
  remark_on_padding(problem, remarks);
  const Matrix* const weights = problem.find(role::weights);
  if (weights && problem.has(role::v)) remark_on_weights(*weights, remarks);
  return remarks;
}

}  // namespace attn
