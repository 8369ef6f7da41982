#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include "attention/parameters.hpp"
#include "attention/positions.hpp"
#include "attention/scale.hpp"
#include "problem/check.hpp"
#include "problem/draw.hpp"
#include "problem/options.hpp"
#include "problem/words.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

void require_finite(std::string_view name, const MatrixFile& file, bool minus_infinity_allowed) {
  const Matrix& matrix = file.matrix;
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    for (std::size_t j = 0; j < matrix.shape().columns; ++j) {
      const double value = matrix(i, j);
      if (std::isfinite(value)) continue;
      if (minus_infinity_allowed && std::isinf(value) && value < 0.0) continue;
      fail("{}{}: the cell in row {}, column {} is {}: every number must be finite{}",
           file.where.empty() ? "" : file.where + ": ", name, i + 1, j + 1, value,
           minus_infinity_allowed ? ", or -inf" : "");
    }
  }
}

// The members of a problem that are no more than the value of an option.
struct Setting {
  const Option* option;
  std::variant<std::size_t Problem::*, bool Problem::*, double Problem::*, std::string Problem::*,
               std::optional<double> Problem::*>
      member;
  bool is_always_written = false;  // also where it has its default
};

constexpr Setting settings[] = {
    {&option::heads, &Problem::heads, true},       {&option::layers, &Problem::layers},
    {&option::positions, &Problem::positions},     {&option::score, &Problem::score, true},
    {&option::score_sigma, &Problem::score_sigma}, {&option::scale, &Problem::scale},
    {&option::multiply, &Problem::multiplier},     {&option::soft_cap, &Problem::soft_cap},
    {&option::causal, &Problem::causal},           {&option::causal_offset, &Problem::causal_offset},
    {&option::mask_fill, &Problem::fill}};

constexpr const LinearRoles* linear_layers[] = {&linear_layer::q, &linear_layer::k,     &linear_layer::v,
                                                &linear_layer::o, &linear_layer::inner, &linear_layer::outer};

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
    check_positions();
    divisor(problem_.scale.empty() ? "none" : problem_.scale, {.d_k = 1, .n_k = 1});  // throws for no scale
    check_sizes(given_, problem_);
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
    for (const Option* option : problem_members()) {
      if (!given_.has(*option)) continue;
      if (option->kind == Kind::matrices) take_embeddings();
      if (option->kind != Kind::matrix) continue;
      const MatrixFile& file = given_.matrix(*option);
      require_finite(option->member, file, option == &option::mask || option == &option::scores);
      if (option == &option::mask) {
        take_mask(file);
      } else {
        take_labels(*option, file);
        problem_.matrices.emplace(option->role, as_vector(*option->role, file.matrix));
      }
    }
  }

  void take_embeddings() {
    problem_.sequences.clear();
    for (const MatrixFile& file : given_.matrices(option::x)) {
      require_finite("x", file, false);
      problem_.sequences.push_back({file.row_labels, file.matrix});
    }
    const bool labelled =
        std::ranges::any_of(problem_.sequences, [](const Sequence& s) { return !s.tokens.empty(); });
    for (Sequence& sequence : problem_.sequences) {
      if (labelled && sequence.tokens.empty()) sequence.tokens = numbered(sequence.x->shape().rows);
    }
  }

  static std::vector<std::string> numbered(std::size_t count) {
    std::vector<std::string> labels;
    for (std::size_t i = 1; i <= count; ++i) labels.push_back(std::to_string(i));
    return labels;
  }

  void take_mask(const MatrixFile& file) {
    problem_.mask = GivenMask{file.matrix};
    problem_.mask->additive = file.kind == CellKind::real || !problem_.mask->has_only_zeros_and_ones();
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
        fail("--tokens labels {}, and there are {}: give --tokens once for each",
             count_of(lists.size(), "sentence"), problem_.sequences.size());
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
        "--positions {} adds a vector to every embedding, and there are no embeddings: give --x or --text, "
        "or "
        "choose --positions relative-bias",
        kind.name);
  }

  // Layers have one unless it is refused; a single attention has one where it is asked for.
  void take_feed_forward() {
    constexpr const Option* own[] = {&option::d_ff, &option::w_1, &option::b_1, &option::w_2, &option::b_2};
    const bool asked = given_.has_any(own) || problem_.layers > 1;
    problem_.feed_forward = asked && !given_.has(option::no_feed_forward);
  }

  const OptionValues& given_;
  Problem problem_;
};

}  // namespace

Problem build(const OptionValues& given) {
  return Builder(given).build();
}

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
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::optional<double>>) {
            values.put(*setting.option, *value);
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
  // Zeros and ones that are added are told from permissions by how they are written.
  if (problem.mask) {
    const bool looks_permitting = problem.mask->additive && problem.mask->has_only_zeros_and_ones();
    values.put(option::mask, MatrixFile{.matrix = problem.mask->matrix,
                                        .kind = looks_permitting ? CellKind::real : CellKind::whole});
  }
  put(option::valid_length, problem.valid_lengths);
  return values;
}

}  // namespace attn
