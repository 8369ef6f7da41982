#include "school/tutor/diagnosis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/graph/plan.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "core/term/term.hpp"
#include "school/mistake/rewriting.hpp"
#include "school/tutor/bounds.hpp"
#include "school/tutor/known.hpp"
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

using NodeSet = std::set<const Node*>;

// What somebody gets to a question who makes a mistake in one of these nodes; nothing where it does not change what is
// asked for, or cannot be made.
std::optional<Quantity> mistaken(const Mistake& mistake, const Term& working, const NodeSet& computed,
                                 const SolvedQuestion& solved) {
  const auto where = [&](const Node& node) { return computed.contains(&node) && mistake.where(node); };
  try {
    Rewriting again(*solved.graph, {Change(where, mistake.instead)});
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
  const Term working = read_term(solved.question.of, solved.graph.get());
  const NodeSet computed = Known(solved).still_to_compute(working);
  for (const auto& [mistake, first] : possible_mistakes(*solved.graph)) {
    if (std::optional<Quantity> quantity = mistaken(*mistake, working, computed, solved))
      all.push_back({mistake, std::move(*quantity)});
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
bool is_share(const Term& asked) {
  return std::ranges::any_of(
      nodes_of(asked), [](const Node* node) { return node->content() == Content::weights || node->rows_sum_to_one(); });
}

std::vector<Recognised> numbers_given(const Known& known) {
  std::vector<Recognised> given;
  for (const double number : known.numbers())
    given.push_back({number, ReasonKind::given,
                     fmt::format("{} stands in the question. There is something to work out.", told_number(number))});
  return given;
}

// A count that is one too large or too small.
std::vector<Recognised> miscounted(const Term& asked, double answer) {
  constexpr double least = 4;  // one comes to smaller numbers in many ways
  if (!asks_for_count(asked) || answer < least) return {};
  const auto one_off = [](double count) {
    return Recognised{count, ReasonKind::slip, "Count once more: this is nearly right."};
  };
  return {one_off(answer - 1), one_off(answer + 1)};
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
  const Term asked = read_term(solved.question.of, solved.graph.get());
  const Known known(solved);
  switch (solved.question.kind) {
    case AnswerKind::number: {
      const double answer = std::get<double>(solved.answer);
      add(all, numbers_given(known), solved);
      add_mistakes(all, solved);
      add(all, slips_of_writing(answer, is_share(asked)), solved);
      add(all, slips_in(asked, known), solved);
      add(all, miscounted(asked, answer), solved);
      add(all, neighbors(asked, known), solved);
      add(all, alike(asked, *solved.graph, known), solved);
      add(all, related_numbers(answer), solved);
      add(all, other_numbers(asked, *solved.graph, known), solved);
      std::ranges::stable_sort(all, {}, &Recognised::kind);
      return all;
    }
    case AnswerKind::shape:
      add(all, other_shapes(asked, *solved.graph, known), solved);
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

// At most so many reasons are told.
constexpr std::size_t most_reasons = 2;

// The only mistake that also gives a number at which one arrives in many ways.
std::string also_from(const Found& found) {
  std::vector<std::string_view> summaries;
  for (const Recognised* one : found) {
    if (one->kind == ReasonKind::mistake) summaries.push_back(one->mistake->summary);
  }
  return summaries.size() + 1 == most_reasons
             ? fmt::format(" A mistake can give the same number: {}.", summaries.front())
             : "";
}

bool is_slip(const Recognised* one) { return one->kind == ReasonKind::writing || one->kind == ReasonKind::slip; }

Judgment judgment_from(const Found& found) {
  // From a number of the question one may come to it again.
  const auto slip = std::ranges::find_if(found, is_slip);
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
  const std::size_t count = summaries.size();
  if (count > most_reasons) summaries.resize(most_reasons);
  return {Judgment::Mark::wrong, fmt::format("{} mistakes give this answer{}: {}.", count,
                                             count > most_reasons ? ", such as" : "", fmt::join(summaries, "; or "))};
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

// A slip in the steps whose result has the other sign. How a number is written explains its sign already.
const Recognised* turned_slip(const SolvedQuestion& solved, const TypedAnswer& typed) {
  const double number = std::get<double>(typed.quantity), answer = std::get<double>(solved.answer);
  if (number == 0.0 || answer == 0.0 || (number < 0.0) == (answer < 0.0)) return nullptr;
  const Found found = found_among(recognisable(solved), ReasonKind::slip, {-number, typed.decimals}, closely);
  const auto explains = [](const Recognised* one) { return one->kind != ReasonKind::writing; };
  const auto first = std::ranges::find_if(found, explains);
  return first == found.end() ? nullptr : *first;
}

// What is said of the first bound that a number breaks; empty: it breaks none.
std::string broken_bound(const std::vector<Bound>& bounds, double typed) {
  const auto broken = std::ranges::find_if(bounds, [&](const Bound& bound) { return bound.is_broken_by(typed); });
  return broken == bounds.end() ? "" : broken->says;
}

Judgment diagnosed_number(const SolvedQuestion& solved, const TypedAnswer& typed) {
  if (const Recognised* const note = noted(solved, typed)) return wrong(note->says);
  const std::vector<Recognised>& all = recognisable(solved);
  const auto found = [&](ReasonKind last, double closeness) { return found_among(all, last, typed, closeness); };
  const std::optional<std::string> rounded = rounded_too_far(solved, typed);
  if (!solved.graph) return wrong(rounded ? *rounded : about_digits(solved, typed).value_or(""));
  const std::string broken = broken_bound(bounds_of(solved), std::get<double>(typed.quantity));
  if (says_little(typed)) {
    const Found some = found(ReasonKind::slip, exactly);
    const auto slip = std::ranges::find_if(some, is_slip);
    if (slip != some.end()) return wrong((*slip)->says + also_from(some));
    if (!some.empty() && some.front()->kind < ReasonKind::mistake) return judgment_from(some);
    if (!broken.empty()) return wrong(broken);
  }
  if (rounded) return wrong(*rounded);
  if (const Found some = found(ReasonKind::convention, exactly); !some.empty()) return judgment_from(some);
  if (const Found some = found(ReasonKind::slip, exactly); !some.empty()) return judgment_from(some);
  if (const Found some = found(ReasonKind::convention, roughly); !some.empty()) return judgment_from(some);
  if (const std::optional<std::string> says = about_digits(solved, typed)) return wrong(*says);
  if (const Found some = found(ReasonKind::slip, closely); !some.empty()) return judgment_from(some);
  if (!broken.empty()) return wrong(broken);
  // A small whole number stands somewhere in every computation.
  const bool is_small = says_little(typed) || is_small_whole(typed);
  if (const Found some = found(is_small ? ReasonKind::operand : ReasonKind::elsewhere, closely); !some.empty())
    return judgment_from(some);
  if (const Recognised* const slip = is_small ? nullptr : turned_slip(solved, typed))
    return wrong("The sign is wrong, and more than that. Without the sign: " + slip->says);
  return wrong(about_size(std::get<double>(solved.answer), std::get<double>(typed.quantity)));
}

}  // namespace

std::string about_axes(const SolvedQuestion& solved) {
  if (!solved.graph) return "";
  const Term asked = read_term(solved.question.of, solved.graph.get());
  if (asked.kind != Term::Kind::shape) return "";
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
  const Term asked = read_term(solved.question.of, solved.graph.get());
  if (asked.kind != Term::Kind::row) return words;
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

}  // namespace attn
