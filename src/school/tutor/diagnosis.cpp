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
#include "school/tutor/judge.hpp"
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
Found found_among(const std::vector<Recognised>& all, std::string_view last, const TypedAnswer& typed,
                  double closeness) {
  const auto most = static_cast<ReasonKind>(std::ranges::find(names_of_kinds(), last) - names_of_kinds().begin());
  Found found;
  for (const Recognised& one : all) {
    const double* const number = std::get_if<double>(&one.quantity);
    const bool fits = number ? tells(typed, *number, closeness) : one.quantity == typed.quantity;
    if (one.kind <= most && fits) found.push_back(&one);
  }
  return found;
}

std::optional<Evidence> evidence_of(const Found& found) {
  if (found.empty()) return std::nullopt;
  const Recognised& first = *found.front();
  std::vector<std::string_view> summaries;
  Evidence evidence;
  for (const Recognised* one : found) {
    const std::string& kind = names_of_kinds()[static_cast<std::size_t>(one->kind)];
    if (one == &first) evidence.facts.emplace("first is " + kind, true);
    if (one->mistake && one->kind == first.kind) summaries.push_back(one->mistake->summary);
    if (one->kind == ReasonKind::mistake) evidence.places.emplace("summary", one->mistake->summary);
    evidence.facts.emplace("has " + kind, true);
    evidence.places.emplace(kind, one->says);
  }
  const auto most = static_cast<std::size_t>(limit("reasons told"));
  const std::size_t count = summaries.size();
  summaries.resize(std::min(count, most));
  evidence.facts.insert({{"one mistake", std::ranges::count(found, ReasonKind::mistake, &Recognised::kind) == 1},
                         {"several mistakes", count > 1},
                         {"too many mistakes", count > most}});
  evidence.places.insert({{"first", first.says},
                          {"count", std::to_string(count)},
                          {"summaries", fmt::format("{}", fmt::join(summaries, "; or "))}});
  return evidence;
}

// Of a number without a computation only its notes are recognized, and only where they are near.
Judgment judged_among(std::string_view list, Evidence evidence, const SolvedQuestion& solved,
                      const TypedAnswer& typed) {
  const bool has_more = solved.graph || !std::holds_alternative<double>(solved.answer);
  evidence.search = [&](std::string_view last, double closeness) {
    return evidence_of(has_more ? found_among(recognisable(solved), last, typed, closeness) : Found());
  };
  return judged_by(list, evidence).value();
}

// An author's note is on the numbers that would count as the same answer, if they are as near as rounding on
// the way leads.
const Recognised* noted(const SolvedQuestion& solved, const TypedAnswer& typed) {
  for (const Recognised& one : recognisable(solved)) {
    if (one.kind != ReasonKind::note) return nullptr;
    const double note = std::get<double>(one.quantity);
    const double near = std::max(precision_of(typed), limit("near a note") * std::fabs(note));
    const bool is_near = std::fabs(std::get<double>(typed.quantity) - note) <= near;
    if (is_near && is_same(typed.quantity, one.quantity, solved)) return &one;
  }
  return nullptr;
}

// A slip in the steps whose result has the other sign. How a number is written explains its sign already.
const Recognised* turned_slip(const SolvedQuestion& solved, const TypedAnswer& typed) {
  const TypedAnswer turned = {-std::get<double>(typed.quantity), typed.decimals};
  const Found found = found_among(recognisable(solved), "slip", turned, limit("closely"));
  const auto explains = [](const Recognised* one) { return one->kind != ReasonKind::writing; };
  const auto first = std::ranges::find_if(found, explains);
  return first == found.end() ? nullptr : *first;
}

Judgment diagnosed_number(const SolvedQuestion& solved, const TypedAnswer& typed) {
  Evidence evidence = evidence_of_digits(solved, typed);
  const Recognised* const note = noted(solved, typed);
  const Recognised* const turned = evidence.facts["other sign"] ? turned_slip(solved, typed) : nullptr;
  const std::vector<Bound> bounds = bounds_of(solved);
  const auto is_broken = [&](const Bound& bound) { return bound.is_broken_by(std::get<double>(typed.quantity)); };
  const auto broken = std::ranges::find_if(bounds, is_broken);
  evidence.facts.insert({{"near a note", note != nullptr},
                         {"out of bounds", broken != bounds.end()},
                         {"slip but for the sign", turned != nullptr},
                         {"not computed", !solved.graph}});
  if (note) evidence.places["note"] = note->says;
  if (turned) evidence.places["slip"] = turned->says;
  if (broken != bounds.end()) evidence.places["bound"] = broken->says;
  return judged_among("number", std::move(evidence), solved, typed);
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
  const Shape shape = std::get<Shape>(typed.quantity), right = std::get<Shape>(solved.answer);
  return judged_among("shape",
                      {{{"rows right", shape.rows == right.rows},
                        {"columns right", shape.columns == right.columns},
                        {"columns first", shape.rows == right.columns},
                        {"rows second", shape.columns == right.rows}},
                       {{"axes", about_axes(solved)}}},
                      solved, typed);
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
  const auto shortest = limit("letters of a word"), long_enough = limit("letters of a long word");
  const std::string* found = nullptr;
  for (const std::string& word : words) {
    const auto letters = static_cast<double>(word.size());
    const std::size_t most = letters >= long_enough ? 2 : 1;
    if (letters < shortest || edit_distance(in_lower_case(typed), in_lower_case(word)) > most) continue;
    if (found) return nullptr;
    found = &word;
  }
  return found;
}

Judgment diagnosed_word(const SolvedQuestion& solved, const TypedAnswer& typed) {
  const std::string& word = std::get<std::string>(typed.quantity);
  const bool is_chosen = solved.question.kind == AnswerKind::choice;
  const std::vector<std::string> words = is_chosen ? std::vector<std::string>() : words_to_choose(solved);
  const bool is_one = words.empty() || std::ranges::find(words, word) != words.end();
  const std::optional<std::size_t> place = parsed<std::size_t>(word);
  const std::string* const meant = is_one ? nullptr : nearest(word, words);
  return judged_among("word",
                      {{{"could be asked for", is_one},
                        {"place of a word", place && *place > 0 && *place <= words.size()},
                        {"nearly the answer", meant && Quantity(*meant) == solved.answer},
                        {"nearly a word", meant != nullptr},
                        {"many words", static_cast<double>(words.size()) > limit("words told")}},
                       {{"word", word},
                        {"meant", meant ? *meant : ""},
                        {"said to it", meant ? diagnosed_word(solved, {Quantity(*meant)}).says : ""},
                        {"words", fmt::format("{}", fmt::join(words, ", "))}}},
                      solved, typed);
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
