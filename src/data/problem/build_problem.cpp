#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include "core/attention/feed_forward.hpp"
#include "core/attention/masks.hpp"
#include "core/attention/positional_encoding.hpp"
#include "core/attention/score.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/check_problem.hpp"
#include "data/problem/draw.hpp"
#include "data/problem/model_words.hpp"
#include "data/problem/option.hpp"
#include "data/problem/problem.hpp"
#include "data/problem/problem_options.hpp"
#include "data/problem/word_positions.hpp"

namespace attn {

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
                                {&option::first_position, &Problem::first_position},
                                {&option::score, &Problem::score, true},
                                {&option::score_sigma, &Problem::score_sigma},
                                {&option::scale, &Problem::scale},
                                {&option::multiply, &Problem::multiplier},
                                {&option::soft_cap, &Problem::soft_cap},
                                {&option::causal, &Problem::causal},
                                {&option::causal_offset, &Problem::causal_offset},
                                {&option::mask_fill, &Problem::fill}};

// The members that are a number for each word.
struct WordNumbers {
  const Option* option;
  std::optional<Matrix> Problem::*member;
};
constexpr WordNumbers word_numbers[] = {{&option::position_ids, &Problem::position_ids},
                                        {&option::key_position_ids, &Problem::key_position_ids},
                                        {&option::parents, &Problem::parents}};

constexpr const LinearRoles* roles_of_linear_layers[] = {&linear_layer::q,   &linear_layer::k,     &linear_layer::v,
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
    std::vector<const WordNumbers*> of_words;
    for (const Option* option : problem_members()) {
      if (!given_.has(*option)) continue;
      if (option == &option::x) take_embeddings();
      if (option == &option::mask) take_mask();
      if (option->kind != Kind::matrix) continue;
      const MatrixFile& file = given_.matrix(*option);
      const auto numbers = std::ranges::find(word_numbers, option, &WordNumbers::option);
      if (numbers != std::end(word_numbers)) {
        of_words.push_back(numbers);
        continue;
      }
      require_finite(option->member, file, option == &option::scores);
      if (option == &option::key_mask) {
        key_mask = &file;
      } else {
        take_labels(*option, file);
        problem_.matrices.emplace(option->role, as_vector(*option->role, file.matrix));
      }
    }
    const std::size_t sentences =
        given_.has(option::text) ? given_.texts(option::text).size() : problem_.sequences.size();
    for (const WordNumbers* row : of_words)
      problem_.*row->member = whole_numbers(*row->option, given_.matrix(*row->option), sentences);
    if (!key_mask) return;
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
    const bool is_row = &role == &role::score_b || std::ranges::any_of(roles_of_linear_layers, is_bias_of);
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
    if (!kind.of_embeddings) return;
    if (given_.has(option::q) && given_.has(option::k) && given_.has(option::v)) {
      fail(
          "--positions {} adds a vector to every embedding, and --q, --k and --v take the place of what is computed from embeddings: leave one of them out, or choose --positions relative-bias",
          kind.name);
    }
    if (problem_.sequences.front().x) return;
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

Problem build_problem(const OptionValues& given) { return Builder(given).build(); }

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
  for (const WordNumbers& row : word_numbers) {
    if (const auto& numbers = problem.*row.member)
      values.put(*row.option, MatrixFile{.matrix = *numbers, .kind = CellKind::whole});
  }
  put(option::valid_length, problem.valid_lengths);
  return values;
}

}  // namespace attn
