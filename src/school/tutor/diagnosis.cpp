#include "school/tutor/diagnosis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/graph/plan.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "core/term/functions.hpp"
#include "core/term/working.hpp"
#include "school/mistake/rewriting.hpp"
#include "school/tutor/other_answers.hpp"
#include "school/tutor/slips.hpp"
#include "school/tutor/steps.hpp"
#include "school/tutor/typed_answer.hpp"

namespace attn {

// --- diagnosis

namespace {

using ReasonKind = Recognised::Kind;

// A computation that takes longer is not repeated for each mistake.
bool is_quickly_repeated(const Graph& graph) {
  constexpr std::uint64_t most = 2'000'000;
  const Cost cost = work_of(graph).cost;
  return cost.multiply_adds + cost.element_operations <= most;
}

// What somebody gets to a question who makes a mistake; nothing where it does not change what is asked for,
// or cannot be made.
std::optional<Quantity> mistaken(const Mistake& mistake, const Working& working, const SolvedQuestion& solved) {
  try {
    Rewriting again(*solved.graph, mistake);
    const std::vector<const Node*> asked = nodes_of(working);
    if (std::ranges::none_of(asked, [&](const Node* node) { return again.changes(*node); })) return std::nullopt;
    const auto now = [&](const Node& node) -> const Node& { return again.of(node).node(); };
    return as_answer(worked_out(working, now), solved.question);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

struct Mistaken {
  const Mistake* mistake;
  Quantity quantity;
};

std::vector<Mistaken> all_mistaken(const SolvedQuestion& solved) {
  std::vector<Mistaken> all;
  if (!solved.graph || !is_quickly_repeated(*solved.graph)) return all;
  const Working working = read_working(solved.question.of, solved.graph.get());
  for (const Mistake& mistake : mistakes()) {
    if (std::optional<Quantity> quantity = mistaken(mistake, working, solved))
      all.push_back({&mistake, std::move(*quantity)});
  }
  return all;
}

void add(std::vector<Recognised>& all, std::vector<Recognised> some, const SolvedQuestion& solved) {
  for (Recognised& one : some) {
    const double* const number = std::get_if<double>(&one.quantity);
    if ((!number || std::isfinite(*number)) && !is_same(one.quantity, solved.answer, solved))
      all.push_back(std::move(one));
  }
}

void add_mistakes(std::vector<Recognised>& all, const SolvedQuestion& solved) {
  const std::vector<Mistaken> made = all_mistaken(solved);
  for (const Mistake::Kind kind : {Mistake::Kind::error, Mistake::Kind::convention}) {
    for (const Mistaken& wrong : made) {
      if (wrong.mistake->kind != kind) continue;
      add(all,
          {{wrong.quantity, kind == Mistake::Kind::error ? ReasonKind::mistake : ReasonKind::convention,
            std::string(wrong.mistake->says), wrong.mistake}},
          solved);
    }
  }
}

// Whether what is asked for is a part of a whole: a weight, a probability.
bool is_share(const Working& asked) {
  return std::ranges::any_of(
      nodes_of(asked), [](const Node* node) { return node->content() == Content::weights || node->rows_sum_to_one(); });
}

std::vector<Recognised> numbers_given(const Question& question) {
  std::vector<Recognised> given;
  for (const double number : numbers_in(question.ask))
    given.push_back({number, ReasonKind::given,
                     fmt::format("{} stands in the question. There is something to work out.", told_number(number))});
  return given;
}

// A mistake may lose the labels of a row, and then its numbers are no words. A convention that changes which
// word it is changes too much to be told from a guess.
void keep_words(std::vector<Recognised>& all, const std::vector<std::string>& words) {
  std::erase_if(all, [&](const Recognised& one) {
    const bool is_word = std::ranges::find(words, written(one.quantity)) != words.end();
    return one.kind == ReasonKind::convention || (one.mistake && !is_word);
  });
}

std::vector<Recognised> made_recognisable(const SolvedQuestion& solved) {
  std::vector<Recognised> all;
  for (const auto& [quantity, says] : solved.notes) all.push_back({quantity, ReasonKind::note, says});
  if (!solved.graph) return all;
  const Working asked = read_working(solved.question.of, solved.graph.get());
  switch (solved.question.kind) {
    case AnswerKind::number: {
      const double answer = std::get<double>(solved.answer);
      add(all, numbers_given(solved.question), solved);
      add_mistakes(all, solved);
      add(all, slips_of_writing(answer, is_share(asked)), solved);
      add(all, slips_in(asked, numbers_in(solved.question.ask)), solved);
      add(all, neighbors(asked), solved);
      add(all, alike(asked, *solved.graph), solved);
      add(all, related_numbers(answer), solved);
      add(all, other_numbers(asked, *solved.graph, solved.shown.get()), solved);
      std::ranges::stable_sort(all, {}, &Recognised::kind);
      return all;
    }
    case AnswerKind::shape:
      add(all, other_shapes(asked, *solved.graph, solved.shown.get()), solved);
      add_mistakes(all, solved);
      return all;
    case AnswerKind::word:
      add(all, other_words(asked), solved);
      add_mistakes(all, solved);
      keep_words(all, words_to_choose(solved));
      return all;
    case AnswerKind::choice:
      add(all, other_choices(asked, solved), solved);
      add(all, other_words(asked), solved);
      return all;
  }
  return all;
}

using Found = std::vector<const Recognised*>;

// Those up to a kind that a typed answer is. A number has to be told so closely by its typed digits.
Found found_among(const std::vector<Recognised>& all, ReasonKind last, const TypedAnswer& typed, double closeness) {
  Found found;
  for (const Recognised& one : all) {
    const double* const number = std::get_if<double>(&one.quantity);
    const bool fits = number ? tells(typed, *number, closeness) : one.quantity == typed.quantity;
    if (one.kind <= last && fits) found.push_back(&one);
  }
  return found;
}

// The mistakes that also give a number at which one arrives in many ways, if they are few.
std::string also_from(const Found& found) {
  constexpr std::size_t few = 3;
  std::vector<std::string_view> summaries;
  for (const Recognised* one : found) {
    if (one->kind == ReasonKind::mistake) summaries.push_back(one->mistake->summary);
  }
  if (summaries.empty() || summaries.size() > few) return "";
  return fmt::format(" A mistake can give the same number: {}.", fmt::join(summaries, "; or "));
}

Judgment judgment_from(const Found& found) {
  // From a number of the question one may come to it again.
  const auto slip = std::ranges::find(found, ReasonKind::slip, &Recognised::kind);
  const bool is_given = found.front()->kind == ReasonKind::given;
  const Recognised& first = is_given && slip != found.end() ? **slip : *found.front();
  if (is_given || first.kind == ReasonKind::neighbor) return {Judgment::Mark::wrong, first.says + also_from(found)};
  const auto is_alike = [&](const Recognised* one) { return one->mistake && one->kind == first.kind; };
  std::vector<std::string> summaries;
  for (const Recognised* one : found) {
    if (is_alike(one)) summaries.emplace_back(one->mistake->summary);
  }
  const auto convention = std::ranges::find(found, ReasonKind::convention, &Recognised::kind);
  if (first.kind != ReasonKind::note && convention != found.end())
    return {Judgment::Mark::convention, (*convention)->says};
  if (!first.mistake || summaries.size() < 2) return {Judgment::Mark::wrong, first.says};
  constexpr std::size_t most = 3;
  const std::size_t count = summaries.size();
  if (count > most) summaries.resize(most);
  return {Judgment::Mark::wrong, fmt::format("{} mistakes give this answer{}: {}.", count,
                                             count > most ? ", such as" : "", fmt::join(summaries, "; or "))};
}

Judgment wrong(std::string says) { return {Judgment::Mark::wrong, std::move(says)}; }

// How much of a number its digits may leave open. What there is much of has to be told more closely.
constexpr double exactly = 0.0, closely = 0.02, roughly = 0.06;

// An author's note is on the numbers that would count as the same answer, if they are as near as rounding on
// the way leads.
constexpr double near_note = 0.01;
const Recognised* noted(const SolvedQuestion& solved, const TypedAnswer& typed) {
  for (const Recognised& one : recognisable(solved)) {
    if (one.kind != ReasonKind::note) return nullptr;
    const double note = std::get<double>(one.quantity);
    const double near = std::max(precision_of(typed), near_note * std::fabs(note));
    const bool is_near = std::fabs(std::get<double>(typed.quantity) - note) <= near;
    if (is_near && is_same(typed.quantity, one.quantity, solved)) return &one;
  }
  return nullptr;
}

Judgment diagnosed_number(const SolvedQuestion& solved, const TypedAnswer& typed) {
  if (const Recognised* const note = noted(solved, typed)) return wrong(note->says);
  const std::vector<Recognised>& all = recognisable(solved);
  const auto found = [&](ReasonKind last, double closeness) { return found_among(all, last, typed, closeness); };
  const std::optional<std::string> rounded = rounded_too_far(solved, typed);
  if (!solved.graph) return wrong(rounded ? *rounded : about_digits(solved, typed).value_or(""));
  const double number = std::get<double>(typed.quantity), answer = std::get<double>(solved.answer);
  const Working asked = read_working(solved.question.of, solved.graph.get()), steps = last_steps(asked);
  if (says_little(typed)) {
    const Found some = found(ReasonKind::slip, exactly);
    const auto slip = std::ranges::find(some, ReasonKind::slip, &Recognised::kind);
    if (slip != some.end()) return wrong((*slip)->says + also_from(some));
    if (!some.empty() && some.front()->kind < ReasonKind::mistake) return judgment_from(some);
    if (const std::optional<std::string> says = broken_bound(asked, steps, number)) return wrong(*says);
  }
  if (rounded) return wrong(*rounded);
  if (const Found some = found(ReasonKind::convention, exactly); !some.empty()) return judgment_from(some);
  if (const Found some = found(ReasonKind::slip, exactly); !some.empty()) return judgment_from(some);
  if (const Found some = found(ReasonKind::convention, roughly); !some.empty()) return judgment_from(some);
  if (const std::optional<std::string> says = about_digits(solved, typed)) return wrong(*says);
  if (const Found some = found(ReasonKind::slip, closely); !some.empty()) return judgment_from(some);
  if (const std::optional<std::string> says = broken_bound(asked, steps, number)) return wrong(*says);
  // A small whole number stands somewhere in every computation.
  const bool is_small = says_little(typed) || is_small_whole(typed);
  if (const Found some = found(is_small ? ReasonKind::operand : ReasonKind::elsewhere, closely); !some.empty())
    return judgment_from(some);
  const TypedAnswer turned{-number, typed.decimals};
  if (const Found some = found_among(all, ReasonKind::slip, turned, closely); !some.empty() && !is_small)
    return wrong("The sign is wrong, and more than that. Without the sign: " + some.front()->says);
  if (const std::optional<std::string> says = combined(solved, steps, typed)) return wrong(*says);
  if (const Found some = found(ReasonKind::slip, roughly); !some.empty()) return judgment_from(some);
  return wrong(about_size(answer, number));
}

}  // namespace

std::string about_axes(const SolvedQuestion& solved) {
  if (!solved.graph) return "";
  const Working asked = read_working(solved.question.of, solved.graph.get());
  if (asked.kind != Working::Kind::shape) return "";
  const Frame& frame = asked.node->frame;
  if (frame.rows.name.empty() || frame.columns.name.empty() || frame.rows.name == frame.columns.name) return "";
  return fmt::format(" The rows are {}, the columns are {}.", frame.rows.name, frame.columns.name);
}

namespace {

Judgment diagnosed_shape(const SolvedQuestion& solved, const TypedAnswer& typed) {
  const Found found = found_among(recognisable(solved), ReasonKind::elsewhere, typed, exactly);
  if (!found.empty()) return judgment_from(found);
  const Shape shape = std::get<Shape>(typed.quantity), right = std::get<Shape>(solved.answer);
  if (shape.rows == right.rows) return wrong("The rows are right. How many columns are there?" + about_axes(solved));
  if (shape.columns == right.columns)
    return wrong("The columns are right. How many rows are there?" + about_axes(solved));
  if (shape.rows == right.columns) return wrong("The first number is the number of columns: the rows come first.");
  if (shape.columns == right.rows) return wrong("The second number is the number of rows: the rows come first.");
  return wrong(fmt::format("Neither is right.{}", about_axes(solved)));
}

}  // namespace

std::vector<std::string> words_to_choose(const SolvedQuestion& solved) {
  std::vector<std::string> words;
  if (!solved.graph) return words;
  const Working asked = read_working(solved.question.of, solved.graph.get());
  if (asked.kind != Working::Kind::row) return words;
  const Frame& frame = asked.node->frame;
  for (std::size_t j = 0; j < frame.shape.columns; ++j) {
    std::string word = frame.columns.label(j);
    if (std::ranges::find(words, word) == words.end()) words.push_back(std::move(word));
  }
  return words;
}

namespace {

// The only one that is a slip of the keys away, or null.
const std::string* nearest(const std::string& typed, const std::vector<std::string>& words) {
  constexpr std::size_t shortest = 3, long_enough = 6;
  const std::string* found = nullptr;
  for (const std::string& word : words) {
    const std::size_t most = word.size() >= long_enough ? 2 : 1;
    if (word.size() < shortest || edit_distance(in_lower_case(typed), in_lower_case(word)) > most) continue;
    if (found) return nullptr;
    found = &word;
  }
  return found;
}

Judgment diagnosed_word(const SolvedQuestion& solved, const TypedAnswer& typed) {
  const Found found = found_among(recognisable(solved), ReasonKind::elsewhere, typed, exactly);
  if (!found.empty()) return judgment_from(found);
  const std::string& word = std::get<std::string>(typed.quantity);
  const bool is_chosen = solved.question.kind == AnswerKind::choice;
  const std::vector<std::string> words = is_chosen ? std::vector<std::string>() : words_to_choose(solved);
  if (words.empty() || std::ranges::find(words, word) != words.end()) return wrong("");
  if (const auto place = parsed<std::size_t>(word); place && *place > 0 && *place <= words.size())
    return {Judgment::Mark::unreadable, "Please type the word itself, not its place."};
  if (const std::string* const meant = nearest(word, words)) {
    const std::string says = fmt::format("There is no word '{}' here. Check how it is written.", word);
    if (Quantity(*meant) == solved.answer) return {Judgment::Mark::unreadable, says};
    const Judgment judged = diagnosed_word(solved, {Quantity(*meant)});
    return wrong(fmt::format("If this is {}: {}", *meant, judged.says));
  }
  constexpr std::size_t few = 12;
  if (words.size() > few) return wrong(fmt::format("There is no word '{}' here: choose one of the table.", word));
  return wrong(fmt::format("'{}' is none of the words here: {}.", word, fmt::join(words, ", ")));
}

}  // namespace

const std::vector<Recognised>& recognisable(const SolvedQuestion& solved) {
  if (!solved.recognised)
    solved.recognised = std::make_shared<const std::vector<Recognised>>(made_recognisable(solved));
  return *solved.recognised;
}

std::vector<const Mistake*> cannot_be_told_apart(const SolvedQuestion& solved) {
  std::vector<const Mistake*> alike;
  for (const Mistaken& made : all_mistaken(solved)) {
    if (is_same(made.quantity, solved.answer, solved)) alike.push_back(made.mistake);
  }
  return alike;
}

Judgment diagnosed(const SolvedQuestion& solved, const TypedAnswer& typed) {
  if (std::holds_alternative<double>(solved.answer)) return diagnosed_number(solved, typed);
  if (std::holds_alternative<Shape>(solved.answer)) return diagnosed_shape(solved, typed);
  return diagnosed_word(solved, typed);
}

// --- bounds

namespace {

bool is_below(double a, double b) { return a < b - 1e-9 * std::fmax(1.0, std::fabs(b)); }

MaybeSentence bound_of_softmax(const Node& node, const Working& asked, double typed) {
  const std::vector<double> scores = node.operands[0]->row(asked.row);
  const double score = scores[asked.column];
  double count = 0.0, least = INFINITY, most = -INFINITY;
  for (const double other : scores) {
    if (other == -INFINITY) continue;
    ++count;
    least = std::fmin(least, other);
    most = std::fmax(most, other);
  }
  if (count < 2 || score == -INFINITY) return std::nullopt;
  if (typed == 0.0) return "Softmax gives each key that is not masked a weight above 0.";
  if (typed == 1.0) return "Softmax gives the other keys a part, too: this weight is below 1.";
  const std::string share = fmt::format("1/{}", count);
  if (score == most && is_below(typed, 1 / count))
    return fmt::format("No score of this row is larger, so this weight is {} or more.", share);
  if (score == least && is_below(1 / count, typed))
    return fmt::format("No score of this row is smaller, so this weight is {} or less.", share);
  return std::nullopt;
}

MaybeSentence bound_of_average(const Node& node, const Working& asked, double typed) {
  const Node &weights = *node.operands[0], &values = *node.operands[1];
  const std::vector<double> row = weights.row(asked.row);
  if (row.size() != values.frame.shape.rows) return std::nullopt;  // sentences of a batch
  double least = INFINITY, most = -INFINITY, sum = 0.0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row[k] < 0.0) return std::nullopt;
    if (row[k] == 0.0) continue;
    sum += row[k];
    least = std::fmin(least, values.cell(k, asked.column));
    most = std::fmax(most, values.cell(k, asked.column));
  }
  constexpr double rounding = 1e-9;        // weights that are given can have any sum
  if (least == most) return std::nullopt;  // it would tell the answer
  if (std::fabs(sum - 1.0) > rounding || (!is_below(typed, least) && !is_below(most, typed))) return std::nullopt;
  return fmt::format(
      "The answer is a weighted average, so it lies between the smallest and the largest of the numbers: "
      "{} and {}.",
      told_number(least), told_number(most));
}

MaybeSentence bound_of_cell(const Working& asked, double typed) {
  const Node& node = asked.node->original();
  const bool outside_of_one = typed < 0.0 || typed > 1.0;
  if (outside_of_one && (asked.node->content() == Content::weights || asked.node->rows_sum_to_one()))
    return asked.node->is(role::distribution) ? "A probability lies between 0 and 1."
                                              : "A weight lies between 0 and 1.";
  if (asked.node->content() == Content::permissions && typed != 0.0 && typed != 1.0) return "A mask has only 0 and 1.";
  if (!node.operation) return std::nullopt;
  const Operation& operation = *node.operation;
  if (const Bounds bounds = operation.bounds(); typed < bounds.least || typed > bounds.most)
    return std::string(bounds.says);
  if (operation.is(op::softmax)) return bound_of_softmax(node, asked, typed);
  if (operation.is(op::matmul) && node.operands[0]->rows_sum_to_one()) return bound_of_average(node, asked, typed);
  return std::nullopt;
}

// Sums and products of counts.
bool is_count(const Working& working) {
  switch (working.kind) {
    case TermKind::size:
    case TermKind::shape:
      return true;
    case TermKind::constant:
      return gives_number(working) && is_whole(number_from(working)) && number_from(working) >= 0;
    case TermKind::sum:
    case TermKind::product:
      return std::ranges::all_of(working.parts, is_count);
    default:
      return false;
  }
}

bool has_counts(const Working& working) {
  return working.kind == TermKind::size || working.kind == TermKind::shape ||
         std::ranges::any_of(working.parts, has_counts);
}

// Whether only sums, differences and products of whole numbers are taken.
bool stays_whole(const Working& working) {
  switch (working.kind) {
    case TermKind::sum:
    case TermKind::product:
    case TermKind::negative:
      return std::ranges::all_of(working.parts, stays_whole);
    case TermKind::power:
      return stays_whole(working.parts[0]) && stays_whole(working.parts[1]) && number_from(working.parts[1]) >= 0;
    case TermKind::inverse:
    case TermKind::call:
      return false;
    default:
      return gives_number(working) && is_whole(number_from(working));
  }
}

bool stays_positive(const Working& working) {
  switch (working.kind) {
    case TermKind::negative:
      return false;
    case TermKind::call:
      return working.function->bounds.least >= 0.0;
    case TermKind::sum:
    case TermKind::product:
    case TermKind::inverse:
      return std::ranges::all_of(working.parts, stays_positive);
    default:
      return gives_number(working) && number_from(working) >= 0.0;
  }
}

MaybeSentence bound_of_steps(const Working& steps, double typed) {
  if (typed < 0.0 && stays_positive(steps))
    return "No number of the last step is negative, and nothing is subtracted there: the result is not negative.";
  if (!is_whole(typed) && !steps.parts.empty() && stays_whole(steps))
    return "In the last step only whole numbers are added and multiplied, so the result is whole.";
  if (!stays_positive(steps) || steps.parts.size() < 2) return std::nullopt;
  if (steps.kind == TermKind::sum) {
    for (const Working& term : steps.parts) {
      const std::string numbers = in_numbers(term);
      const bool tells_answer = equal_but_for_last_bits(number_from(term), number_from(steps));
      if (is_below(typed, number_from(term)) && numbers.size() < 40 && !tells_answer)
        return fmt::format("This is less than one of the terms alone: {}.", numbers);
    }
  }
  const bool is_fraction =
      steps.kind == TermKind::product && steps.parts.size() == 2 && steps.parts[1].kind == TermKind::inverse;
  if (!is_fraction) return std::nullopt;
  const double above = number_from(steps.parts[0]), below = number_from(steps.parts[1].parts[0]);
  constexpr double nearly_one = 0.005;  // which is told as 1; where it is 1, that would tell the answer
  if (std::fabs(above / below - 1.0) < nearly_one) return std::nullopt;
  if (above < below && is_below(1.0, typed))
    return "In the last step a number is divided by a larger one: the result is below 1.";
  if (above > below && is_below(typed, 1.0))
    return "In the last step a number is divided by a smaller one: the result is above 1.";
  return std::nullopt;
}

}  // namespace

MaybeSentence broken_bound(const Working& asked, const Working& steps, double typed) {
  if (asked.kind == TermKind::cell) {
    if (MaybeSentence says = bound_of_cell(asked, typed)) return says;
  }
  if (has_counts(asked) && is_count(asked)) {
    if (typed < 0.0) return "A count is not negative.";
    if (!is_whole(typed)) return "A count is a whole number.";
    if (const double count = number_from(asked); count >= 4 && std::fabs(typed - count) == 1.0)
      return "Count once more: this is nearly right.";
  }
  return bound_of_steps(steps, typed);
}

}  // namespace attn
