#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <variant>

#include "core/attention/feed_forward.hpp"
#include "core/attention/masks.hpp"
#include "core/attention/positions.hpp"
#include "core/attention/score.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/draw.hpp"
#include "data/problem/option.hpp"
#include "data/problem/options.hpp"
#include "data/problem/problem.hpp"
#include "data/problem/words.hpp"

namespace attn {

// --- check

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
  const std::optional<double> divisor = parsed<double>(problem.scale);
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
std::optional<std::size_t> keys_of(const Problem& problem, const Sequence& sequence) {
  for (const Role* role : {&role::scores, &role::weights}) {
    if (const Matrix* const matrix = problem.find(*role)) return matrix->shape().columns;
  }
  for (const Role* role : {&role::k, &role::memory}) {
    if (const Matrix* const matrix = problem.find(*role)) return matrix->shape().rows;
  }
  if (sequence.x) return sequence.x->shape().rows;
  return std::nullopt;
}

void remark_on_lengths(const Problem& problem, std::vector<std::string>& remarks) {
  const auto& lengths = problem.valid_lengths;
  const std::size_t count = problem.sequences.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<std::size_t> keys = keys_of(problem, problem.sequences[i]);
    if (!keys) continue;
    const bool one_each = count > 1 && lengths.size() == count;
    const std::span<const std::size_t> of_it = one_each ? std::span(lengths).subspan(i, 1) : std::span(lengths);
    if (std::optional<std::string> remark = attn::remark_on_lengths(option::valid_length, of_it, *keys))
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

// Throws InputError when two options of a problem exclude each other, or one needs another.
void check_contradictions(const OptionValues& given) {
  check_exclusions(given, problem_options().exclusions);
  const std::optional<std::string> random = given.text(option::random);
  if (random && random->find(':') != std::string::npos && given.has(option::seed))
    fail("--random and --seed are both given: give one of them");
  if (given.has(option::x) && given.has(option::q) && given.has(option::k) && given.has(option::v))
    fail("--q, --k and --v take the place of --x, which is given too: leave out --x");
  check_needs(given, problem_options());
}

// Throws InputError when there are more heads and layers than can be shown.
void check_repeats(const Problem& problem) {
  if (problem.layers > most_heads / problem.heads) {
    fail("--layers {} with --heads {} would have more than {} heads in all: give fewer layers or heads", problem.layers,
         problem.heads, most_heads);
  }
}

// Throws InputError when the sizes of a problem's matrices disagree with what was asked for, or cannot be
// split among its heads.
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

// Where the mask of a causal attention begins. Queries that are fewer than the keys may as well be its last ones.
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
  ReadInput told{std::string(called), "", to_string({queries, keys})};
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
  ReadInputs::tell(std::move(told));
}

// What the reader should know about how a problem was put together: options that have no effect, padding
// that counts as words, weights that do not sum to one.
std::vector<std::string> remarks_on(const OptionValues& given, const Problem& problem) {
  std::vector<std::string> remarks;
  for (const Idle& row : idle_options) {
    if (!given.has(*row.option) || !row.holds(given, problem)) continue;
    remarks.push_back(fmt::format("{} has no effect{}", row.option->name, row.why));
  }
  remark_on_scale(problem, remarks);
  remark_on_lengths(problem, remarks);
  remark_on_padding(problem, remarks);
  const Matrix* const weights = problem.find(role::weights);
  if (weights && problem.has(role::v)) remark_on_weights(*weights, remarks);
  return remarks;
}

}  // namespace

// --- build

namespace {

// The members of a problem that are no more than the value of an option.
struct Setting {
  const Option* option;
  std::variant<std::size_t Problem::*, std::ptrdiff_t Problem::*, bool Problem::*, double Problem::*,
               std::string Problem::*, std::optional<double> Problem::*>
      member;
  bool is_always_written = false;  // also where it has its default
};

constexpr Setting settings[] = {{&option::heads, &Problem::heads, true},
                                {&option::kv_heads, &Problem::key_heads},
                                {&option::layers, &Problem::layers},
                                {&option::activation, &Problem::activation},
                                {&option::positions, &Problem::positions},
                                {&option::base, &Problem::base},
                                {&option::score, &Problem::score, true},
                                {&option::score_sigma, &Problem::score_sigma},
                                {&option::scale, &Problem::scale},
                                {&option::multiply, &Problem::multiplier},
                                {&option::soft_cap, &Problem::soft_cap},
                                {&option::causal, &Problem::causal},
                                {&option::causal_offset, &Problem::causal_offset},
                                {&option::mask_fill, &Problem::fill}};

constexpr const LinearRoles* linear_layers[] = {&linear_layer::q,   &linear_layer::k,     &linear_layer::v,
                                                &linear_layer::o,   &linear_layer::inner, &linear_layer::outer,
                                                &linear_layer::gate};

class Builder {
 public:
  explicit Builder(const OptionValues& given) : given_(given) {}

  Problem build() {
    take_settings();
    check_repeats(problem_);
    check_contradictions(given_);
    take_matrices();
    take_words();
    take_feed_forward();
    draw_missing(given_, problem_);
    check_gate();
    check_positions();
    divisor(problem_.scale.empty() ? "none" : problem_.scale, {.d_k = 1, .n_k = 1});  // throws for no scale
    check_sizes(given_, problem_);
    tell_of_causal_mask(given_, problem_);
    problem_.remarks = remarks_on(given_, problem_);
    return std::move(problem_);
  }

 private:
  void take_settings() {
    for (const Setting& setting : settings) {
      if (!given_.has(*setting.option)) continue;
      std::visit(
          [&](auto member) {
            using Value = std::remove_cvref_t<decltype(problem_.*member)>;
            if constexpr (std::is_same_v<Value, std::optional<double>>) {
              problem_.*member = given_.number(*setting.option);
            } else if constexpr (std::is_same_v<Value, std::ptrdiff_t>) {
              problem_.*member = static_cast<std::ptrdiff_t>(*given_.number(*setting.option));
            } else {
              problem_.*member = given_.value<Value>(*setting.option);
            }
          },
          setting.member);
    }
    problem_.max_distance = given_.count(option::max_distance).value_or(problem_.max_distance);
    problem_.title = given_.text(option::title).value_or("");
    problem_.summary = given_.text(option::summary).value_or("");
    problem_.about = given_.texts(option::about);
    problem_.valid_lengths = given_.counts(option::valid_length);
    problem_.causal = problem_.causal || given_.has(option::causal_offset);
    for (const std::string& name : given_.texts(option::drawn)) {
      const auto is_it = [&](const OptionValues::Entry& entry) {
        return entry.was_random && entry.option->member == name;
      };
      if (std::ranges::any_of(given_.entries(), is_it)) problem_.drawn.push_back(name);
    }
    problem_.drawn_from = given_.text(option::drawn_from).value_or("");
    // The names that are told are those of the tables.
    problem_.score = look_up(scoring_functions(), problem_.score, "scoring function").name;
    problem_.positions = look_up(position_kinds(), problem_.positions, "kind of positions").name;
    problem_.activation = look_up(activations(), problem_.activation, "activation").name;
    require_groups(problem_.all_heads());
  }

  // Labels that a file brings along serve where no words are given.
  void take_labels(const Option& option, const MatrixFile& file) {
    const auto is = [&](std::initializer_list<const Option*> options) {
      return std::ranges::find(options, &option) != options.end();
    };
    if (is({&option::q, &option::scores, &option::weights})) own_labels(file.row_labels);
    if (is({&option::scores, &option::weights})) key_labels(file.column_labels);
    if (is({&option::k, &option::v, &option::memory})) key_labels(file.row_labels);
  }
  void own_labels(const std::vector<std::string>& labels) {
    if (problem_.sequences.front().tokens.empty()) problem_.sequences.front().tokens = labels;
  }
  void key_labels(const std::vector<std::string>& labels) {
    if (problem_.key_tokens.empty()) problem_.key_tokens = labels;
  }

  void take_matrices() {
    const MatrixFile* key_mask = nullptr;
    for (const Option* option : problem_members()) {
      if (!given_.has(*option)) continue;
      if (option == &option::x) take_embeddings();
      if (option == &option::mask) take_mask();
      if (option->kind != Kind::matrix) continue;
      const MatrixFile& file = given_.matrix(*option);
      require_finite(option->member, file, option == &option::scores);
      if (option == &option::key_mask) {
        key_mask = &file;
      } else {
        take_labels(*option, file);
        problem_.matrices.emplace(option->role, as_vector(*option->role, file.matrix));
      }
    }
    if (!key_mask) return;
    const std::size_t sentences =
        given_.has(option::text) ? given_.texts(option::text).size() : problem_.sequences.size();
    require_key_mask(option::key_mask, *key_mask, sentences);
    problem_.key_mask = key_mask->matrix;
  }

  void take_embeddings() {
    problem_.sequences.clear();
    for (const MatrixFile& file : given_.matrices(option::x)) {
      require_finite("x", file, false);
      problem_.sequences.push_back({file.row_labels, file.matrix});
    }
    const bool labelled = std::ranges::any_of(problem_.sequences, [](const Sequence& s) { return !s.tokens.empty(); });
    for (Sequence& sequence : problem_.sequences) {
      if (labelled && sequence.tokens.empty()) sequence.tokens = numbered(sequence.x->shape().rows);
    }
  }

  static std::vector<std::string> numbered(std::size_t count) {
    std::vector<std::string> labels;
    for (std::size_t i = 1; i <= count; ++i) labels.push_back(std::to_string(i));
    return labels;
  }

  // One for all heads, or one for each. Where the numbers of one of them are added, all are.
  void take_mask() {
    const std::vector<MatrixFile>& files = given_.matrices(option::mask);
    problem_.mask = GivenMask{};
    for (const MatrixFile& file : files) {
      require_finite(option::mask.member, file, true);
      problem_.mask->of_heads.push_back(file.matrix);
      problem_.mask->additive = problem_.mask->additive || reading_of_mask(file).is_added;
    }
    if (files.size() == 1 || files.size() == problem_.heads) return;
    fail("--mask: {} are given for {}: give one for all heads, or one for each", count_of(files.size(), "mask"),
         count_of(problem_.heads, "head"));
  }

  // A vector is a row or a column, as its role needs it: a bias is a row, and the additive score ends in a
  // column.
  static Matrix as_vector(const Role& role, const Matrix& matrix) {
    const auto is_bias_of = [&](const LinearRoles* layer) { return &layer->b == &role; };
    const bool is_row = &role == &role::score_b || std::ranges::any_of(linear_layers, is_bias_of);
    const bool is_column = &role == &role::score_wv;
    const auto [rows, columns] = matrix.shape();
    return (is_row && columns == 1) || (is_column && rows == 1) ? transposed(matrix) : matrix;
  }

  void take_words() {
    if (given_.has(option::text)) {
      std::vector<std::vector<std::string>> sentences;
      for (const std::string& text : given_.texts(option::text)) sentences.push_back(split_words(text));
      take_sentences(std::move(sentences));
    }
    if (given_.has(option::tokens)) {
      const auto& lists = given_.words(option::tokens);
      if (lists.size() != problem_.sequences.size()) {
        fail("--tokens labels {}, and there are {}: give --tokens once for each", count_of(lists.size(), "sentence"),
             problem_.sequences.size());
      }
      for (std::size_t i = 0; i < lists.size(); ++i) problem_.sequences[i].tokens = lists[i];
    }
    if (given_.has(option::memory_text)) {
      const auto& texts = given_.texts(option::memory_text);
      if (texts.size() != 1) fail("--memory-text is given {} times: give it once", texts.size());
      problem_.key_tokens = split_words(texts.front());
    }
    if (given_.has(option::key_tokens)) problem_.key_tokens = given_.words(option::key_tokens).front();
  }

  // Padding is masked because of what it is: the keys that come from it have its name.
  void take_sentences(std::vector<std::vector<std::string>> sentences) {
    pad_with_blanks(sentences);
    problem_.sequences.clear();
    for (auto& words : sentences) problem_.sequences.push_back({std::move(words), std::nullopt});
  }

  void check_positions() const {
    const PositionKind& kind = *find_row(position_kinds(), problem_.positions);
    if (!kind.of_embeddings || problem_.sequences.front().x) return;
    fail(
        "--positions {} adds a vector to every embedding, and there are no embeddings: give --x or --text, or choose --positions relative-bias",
        kind.name);
  }

  void check_gate() const {
    if (!problem_.feed_forward || !given_.has(option::gated) || problem_.find(role::w_gate)) return;
    fail("--gated needs the matrix of the gate: give --w-gate, or --seed N for a random one");
  }

  // Layers have one unless it is refused; a single attention has one where it is asked for.
  void take_feed_forward() {
    constexpr const Option* own[] = {&option::d_ff, &option::gated, &option::w_gate, &option::b_gate,
                                     &option::w_1,  &option::b_1,   &option::w_2,    &option::b_2};
    const bool asked = given_.has_any(own) || problem_.layers > 1;
    problem_.feed_forward = asked && !given_.has(option::no_feed_forward);
  }

  const OptionValues& given_;
  Problem problem_;
};

}  // namespace

Problem build(const OptionValues& given) { return Builder(given).build(); }

OptionValues values_of(const Problem& problem) {
  const Problem usual;
  OptionValues values;
  const auto put = [&](const Option& option, auto value) {
    if (value != decltype(value)()) values.put(option, std::move(value));
  };
  const auto put_setting = [&](const Setting& setting) {
    std::visit(
        [&](auto member) {
          const auto& value = problem.*member;
          if (!setting.is_always_written && value == usual.*member) return;
          using Value = std::remove_cvref_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, std::optional<double>>) {
            values.put(*setting.option, *value);
          } else if constexpr (std::is_same_v<Value, std::ptrdiff_t>) {
            values.put(*setting.option, static_cast<double>(value));
          } else {
            values.put(*setting.option, value);
          }
        },
        setting.member);
  };
  std::vector<std::vector<std::string>> words;
  std::vector<MatrixFile> x;
  for (const Sequence& sequence : problem.sequences) {
    if (!problem.sequences.front().tokens.empty()) words.push_back(sequence.tokens);
    if (problem.sequences.front().x) x.push_back({.matrix = *sequence.x});
  }
  put(option::title, problem.title);
  put(option::summary, problem.summary);
  put(option::about, problem.about);
  put(option::drawn, problem.drawn);
  if (!problem.drawn.empty()) put(option::drawn_from, problem.drawn_from);
  put(option::tokens, std::move(words));
  if (!x.empty()) values.put(option::x, std::move(x));
  if (!problem.key_tokens.empty()) values.put(option::key_tokens, std::vector{problem.key_tokens});
  OptionList by_name = problem_members();
  std::ranges::sort(by_name, {}, &Option::member);
  for (const Option* option : by_name) {
    const Matrix* const matrix = option->role ? problem.find(*option->role) : nullptr;
    if (matrix) values.put(*option, MatrixFile{.matrix = *matrix});
  }
  for (const Setting& setting : settings) put_setting(setting);
  if (problem.layers > 1 && !problem.feed_forward) values.put(option::no_feed_forward, true);
  // Numbers that are added are told from permissions by how they are written.
  if (problem.mask) {
    const CellKind kind = problem.mask->additive ? CellKind::real : CellKind::whole;
    std::vector<MatrixFile> masks;
    for (const Matrix& one : problem.mask->of_heads) masks.push_back({.matrix = one, .kind = kind});
    values.put(option::mask, std::move(masks));
  }
  if (problem.key_mask) values.put(option::key_mask, MatrixFile{.matrix = *problem.key_mask, .kind = CellKind::whole});
  put(option::valid_length, problem.valid_lengths);
  return values;
}

}  // namespace attn
