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
#include "school/mistake/mistake.hpp"
#include "school/tutor/bounds.hpp"
#include "school/tutor/copied_numbers.hpp"
#include "school/tutor/judge.hpp"
#include "school/tutor/learner_knowledge.hpp"
#include "school/tutor/other_answers.hpp"
#include "school/tutor/slips.hpp"
#include "school/tutor/solution_steps.hpp"
#include "school/tutor/typed_answer.hpp"

namespace attn {

namespace {

// --- diagnosis

using ReasonKind = RecognizedAnswer::Kind;

// A computation that takes longer is not repeated for each mistake.
bool is_quickly_repeated(const Graph& graph) {
  constexpr std::uint64_t most = 2'000'000;
  const Cost cost = work_of(graph).cost;
  return cost.multiply_adds + cost.element_operations <= most;
}

using NodeSet = std::set<const Node*>;

NodeSet all_behind(std::vector<const Node*> nodes) {
  NodeSet behind;
  while (!nodes.empty()) {
    const Node* const node = nodes.back();
    nodes.pop_back();
    if (behind.insert(node).second) nodes.insert(nodes.end(), node->operands.begin(), node->operands.end());
  }
  return behind;
}

// What somebody gets to a question who makes a mistake in one of these nodes; nothing where it does not change what is
// asked for, or cannot be made.
std::optional<Quantity> mistaken(const Mistake& mistake, const Term& working, const NodeSet& computed,
                                 const SolvedQuestion& solved) {
  const auto where = [&](const Node& node) { return computed.contains(&node) && mistake.where(node); };
  // Nobody follows a convention in a part of a computation.
  const auto is_left_out = [&](const Node* node) { return mistake.where(*node) && !computed.contains(node); };
  if (mistake.kind == Mistake::Kind::convention && std::ranges::any_of(all_behind(nodes_of(working)), is_left_out))
    return std::nullopt;
  try {
    Rewriting again(*solved.graph, {Change{where, mistake.instead}});
    const std::vector<const Node*> asked = nodes_of(working);
    if (std::ranges::none_of(asked, [&](const Node* node) { return again.changes(*node); })) return std::nullopt;
    const auto now = [&](const Node& node) -> const Node& { return again.of(node).node(); };
    return as_answer(value_of_term(working, now), solved.question);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

struct Mistaken {
  const Mistake* mistake;
  Quantity quantity;
};

std::vector<Mistaken> all_mistaken(const SolvedQuestion& solved, bool masks) {
  std::vector<Mistaken> all;
  if (!solved.graph || !is_quickly_repeated(*solved.graph)) return all;
  const Term working = read_term(solved.question.of, solved.graph.get());
  const NodeSet computed = LearnerKnowledge(solved).still_to_compute(working, masks);
  for (const auto& [mistake, first] : possible_mistakes(*solved.graph)) {
    if (std::optional<Quantity> quantity = mistaken(*mistake, working, computed, solved))
      all.push_back({mistake, std::move(*quantity)});
  }
  return all;
}

void add_recognised(std::vector<RecognizedAnswer>& all, std::vector<RecognizedAnswer> some,
                    const SolvedQuestion& solved) {
  for (RecognizedAnswer& one : some) {
    const double* const number = std::get_if<double>(&one.quantity);
    if ((!number || std::isfinite(*number)) && !is_same(one.quantity, solved.answer, solved))
      all.push_back(std::move(one));
  }
}

// How usual a mistake is, by its place in the judge's table; nothing: hardly anybody makes it by hand.
std::optional<std::size_t> place_among_usual(const Mistake& mistake) {
  const std::vector<std::string>& usual = usual_mistakes();
  const auto found = std::ranges::find(usual, mistake.name);
  if (found == usual.end()) return std::nullopt;
  return static_cast<std::size_t>(found - usual.begin());
}

void add_mistakes(std::vector<RecognizedAnswer>& all, const SolvedQuestion& solved) {
  std::vector<Mistaken> made = all_mistaken(solved, true);
  const auto is_told = [](const Mistaken& one) {
    return one.mistake->kind == Mistake::Kind::convention || place_among_usual(*one.mistake);
  };
  std::erase_if(made, [&](const Mistaken& one) { return !is_told(one); });
  std::ranges::stable_sort(made, {}, [](const Mistaken& one) { return place_among_usual(*one.mistake); });
  for (const Mistaken& wrong : made) {
    const bool is_error = wrong.mistake->kind == Mistake::Kind::error;
    add_recognised(all,
                   {{wrong.quantity, is_error ? ReasonKind::mistake : ReasonKind::convention,
                     std::string(wrong.mistake->says), wrong.mistake}},
                   solved);
  }
}

// Whether what is asked for is a part of a whole: a weight, a probability.
bool is_share(const Term& asked) {
  return std::ranges::any_of(
      nodes_of(asked), [](const Node* node) { return node->content() == Content::weights || node->rows_sum_to_one(); });
}

// A count that is one too large or too small.
std::vector<RecognizedAnswer> miscounted(const Term& asked, double answer) {
  constexpr double least = 4;  // one comes to smaller numbers in many ways
  if (!counts_something(asked) || answer < least) return {};
  return {{answer - 1, ReasonKind::writing, "This is one too few. Count once more."},
          {answer + 1, ReasonKind::writing, "This is one too many. Count once more."}};
}

// A mistake may lose the labels of a row, and then its numbers are no words. A convention that changes which
// word it is changes too much to be told from a guess.
void keep_words(std::vector<RecognizedAnswer>& all, const std::vector<std::string>& words) {
  std::erase_if(all, [&](const RecognizedAnswer& one) {
    const bool is_word = std::ranges::find(words, written(one.quantity)) != words.end();
    return one.kind == ReasonKind::convention || (one.mistake && !is_word);
  });
}

// --- chance

// The numbers of these kinds that lie between half of one and twice as much, each once.
std::size_t count_around(double number, const std::vector<double>& sorted) {
  const auto [least, most] = std::minmax({number / 2, number * 2});
  std::size_t count = 0;
  double last = -INFINITY;
  for (auto at = std::ranges::lower_bound(sorted, least); at != sorted.end() && *at <= most; ++at) {
    if (*at - last > judge_limit("last bits") + judge_limit("rounding") * std::fabs(*at)) ++count;
    last = *at;
  }
  return count;
}

// How many of the numbers around one may be met by chance: a slip that many make is believed before one that few make.
double chance_allowed(ReasonKind kind) {
  static const double of_slip = judge_limit("chance of a slip"), of_mistake = judge_limit("chance of a mistake"),
                      of_rest = judge_limit("chance of the rest");
  return kind == ReasonKind::step || kind == ReasonKind::slip            ? of_slip
         : kind == ReasonKind::mistake || kind == ReasonKind::convention ? of_mistake
                                                                         : of_rest;
}

bool may_be_chance(ReasonKind kind) {
  return kind == ReasonKind::step || kind == ReasonKind::slip || kind == ReasonKind::mistake ||
         kind == ReasonKind::convention || kind == ReasonKind::rare || kind == ReasonKind::shown;
}

// A number that is tried beside many others is told only where it was typed so exactly that it is hardly one by chance.
void weigh_chances(std::vector<RecognizedAnswer>& all) {
  std::vector<double> sorted;
  for (auto one = all.begin(); one != all.end();) {
    const ReasonKind kind = one->kind;
    const auto end =
        std::ranges::find_if(one, all.end(), [&](const RecognizedAnswer& next) { return next.kind != kind; });
    for (auto next = one; next != end; ++next) sorted.push_back(std::get<double>(next->quantity));
    std::ranges::sort(sorted);
    for (; one != end; ++one) {
      if (!may_be_chance(kind)) continue;
      const double number = std::get<double>(one->quantity), span = 1.5 * std::fabs(number);
      one->within = chance_allowed(kind) * span / (2 * static_cast<double>(count_around(number, sorted)));
    }
  }
}

// What a sentence says that goes on with how to begin.
void add_beginning(const SolvedQuestion& solved, Evidence& evidence) {
  const std::string step = first_step(solved);
  const std::vector<std::string>& hints = solved.question.hints;
  evidence.facts.insert({{"has a first step", !step.empty()}, {"has a hint", !hints.empty()}});
  evidence.places.insert({{"first step", step}, {"hint", hints.empty() ? "" : hints.front()}});
}

// What says only where a number stands, goes on with how to begin.
void add_beginnings(const SolvedQuestion& solved, std::initializer_list<ReasonKind> kinds,
                    std::vector<RecognizedAnswer>& all) {
  Evidence evidence;
  add_beginning(solved, evidence);
  const std::string begin = judged_by("begin", evidence).value().says;
  for (RecognizedAnswer& one : all) {
    if (std::ranges::find(kinds, one.kind) != kinds.end()) one.says += begin;
  }
}

std::vector<RecognizedAnswer> made_recognisable(const SolvedQuestion& solved) {
  std::vector<RecognizedAnswer> all;
  for (const auto& [quantity, says] : solved.notes) all.push_back({quantity, ReasonKind::note, says});
  if (!solved.graph) return all;
  const Term asked = read_term(solved.question.of, solved.graph.get());
  const LearnerKnowledge known(solved);
  switch (solved.question.kind) {
    case AnswerKind::number: {
      const double answer = std::get<double>(solved.answer);
      const std::vector<Term> paths = taught_paths(solved);
      add_recognised(all, copied_numbers(paths, known), solved);
      for (const Term& path : paths) add_recognised(all, slips_on(path, known), solved);
      add_recognised(all, slips_of_cell(asked, *solved.graph, known), solved);
      const double unit = std::pow(10.0, -decimals_wanted(solved));
      add_recognised(all, slips_of_writing(answer, std::nearbyint(answer / unit) * unit, is_share(asked)), solved);
      add_recognised(all, miscounted(asked, answer), solved);
      add_recognised(all, neighbors(asked, known), solved);
      // Who predicts a number does not compute it, and on a path of the text the mistakes of the computation do not
      // lie.
      if (!solved.question.predicts && solved.question.paths.empty()) add_mistakes(all, solved);
      std::vector<RecognizedAnswer> related = related_numbers(answer);
      add_beginnings(solved, {ReasonKind::rare}, related);
      add_recognised(all, std::move(related), solved);
      add_recognised(all, same_place_in_other_heads(asked, *solved.graph, known), solved);
      add_recognised(all, other_numbers(asked, *solved.graph, known), solved);
      add_beginnings(solved, {ReasonKind::copied, ReasonKind::shown}, all);
      std::ranges::stable_sort(all, {}, &RecognizedAnswer::kind);
      weigh_chances(all);
      return all;
    }
    case AnswerKind::shape:
      add_recognised(all, other_shapes(asked, *solved.graph, known), solved);
      add_beginnings(solved, {ReasonKind::given}, all);
      add_mistakes(all, solved);
      return all;
    case AnswerKind::word:
      add_recognised(all, other_words(asked), solved);
      add_mistakes(all, solved);
      keep_words(all, words_to_choose(solved));
      return all;
    case AnswerKind::choice:
      add_recognised(all, other_choices(asked, solved), solved);
      add_recognised(all, other_words(asked), solved);
      return all;
  }
  return all;
}

using Found = std::vector<const RecognizedAnswer*>;

// Those up to a kind that a typed answer is. A number has to be told so closely by its typed digits.
Found found_among(const std::vector<RecognizedAnswer>& all, std::string_view last, const TypedAnswer& typed,
                  double closeness) {
  const auto most = static_cast<ReasonKind>(std::ranges::find(names_of_kinds(), last) - names_of_kinds().begin());
  Found found;
  for (const RecognizedAnswer& one : all) {
    const double* const number = std::get_if<double>(&one.quantity);
    const bool fits =
        number ? precision_of(typed) <= one.within && tells(typed, *number, closeness) : one.quantity == typed.quantity;
    if (one.kind <= most && fits) found.push_back(&one);
  }
  return found;
}

std::optional<Evidence> evidence_of(const Found& found) {
  if (found.empty()) return std::nullopt;
  const RecognizedAnswer& first = *found.front();
  Evidence evidence;
  evidence.facts.emplace("first is " + names_of_kinds()[static_cast<std::size_t>(first.kind)], true);
  evidence.places.emplace("first", first.says);
  for (const RecognizedAnswer* one : found) {
    const std::string& kind = names_of_kinds()[static_cast<std::size_t>(one->kind)];
    evidence.facts.emplace("has " + kind, true);
    evidence.places.emplace(kind, one->says);
    if (one == &first || !first.mistake || one->kind != ReasonKind::mistake) continue;
    evidence.facts.emplace("another mistake", true);
    evidence.places.emplace("summary", one->mistake->summary);
  }
  return evidence;
}

// Of a number without a computation only its notes are recognized, and only where they are near.
Judgment judged_among(std::string_view list, Evidence evidence, const SolvedQuestion& solved,
                      const TypedAnswer& typed) {
  const bool has_more = solved.graph || !std::holds_alternative<double>(solved.answer);
  add_beginning(solved, evidence);
  evidence.search = [&](std::string_view last, double closeness) {
    return evidence_of(has_more ? found_among(recognizable_answers(solved), last, typed, closeness) : Found());
  };
  return judged_by(list, evidence).value();
}

// The first of some kinds that a typed number is as nearly as it would be the answer, if it were asked for: as near as
// rounding on the way leads.
const RecognizedAnswer* near_one(const SolvedQuestion& solved, const TypedAnswer& typed,
                                 std::initializer_list<ReasonKind> kinds) {
  for (const RecognizedAnswer& one : recognizable_answers(solved)) {
    if (std::ranges::find(kinds, one.kind) == kinds.end()) continue;
    const double number = std::get<double>(one.quantity);
    const double off = std::fabs(std::get<double>(typed.quantity) - number);
    const double size = std::fabs(number), precision = precision_of(typed);
    const bool is_note = one.kind == ReasonKind::note;
    const double near = is_note ? precision : std::min(precision, judge_limit("near a reason") * size);
    const bool is_near = off <= std::max(near, judge_limit("near a note") * size) * (1 + judge_limit("rounding")) &&
                         (is_note || size > 0.0);
    const bool is_rounded = !is_note && !is_whole(std::get<double>(typed.quantity));
    const bool is_nearly_it =
        (is_rounded && off <= judge_limit("next to nothing") * size) || is_same(typed.quantity, one.quantity, solved);
    if (is_near && off <= one.within && is_nearly_it) return &one;
  }
  return nullptr;
}

// A slip in the steps whose result has the other sign. How a number is written explains its sign already.
const RecognizedAnswer* turned_slip(const SolvedQuestion& solved, const TypedAnswer& typed) {
  const TypedAnswer turned = {-std::get<double>(typed.quantity), typed.decimals};
  const Found found = found_among(recognizable_answers(solved), "slip", turned, judge_limit("closely"));
  const auto explains = [](const RecognizedAnswer* one) { return one->kind == ReasonKind::slip; };
  const auto first = std::ranges::find_if(found, explains);
  return first == found.end() ? nullptr : *first;
}

Judgment diagnosed_number(const SolvedQuestion& solved, const TypedAnswer& typed) {
  Evidence evidence = evidence_of_digits(solved, typed);
  const RecognizedAnswer* const note = near_one(solved, typed, {ReasonKind::note});
  const RecognizedAnswer* const near =
      near_one(solved, typed,
               {ReasonKind::step, ReasonKind::neighbor, ReasonKind::slip, ReasonKind::writing, ReasonKind::mistake});
  const RecognizedAnswer* const turned = evidence.facts["other sign"] ? turned_slip(solved, typed) : nullptr;
  const std::vector<Bound> bounds = bounds_of(solved);
  const auto is_broken = [&](const Bound& bound) { return bound.is_broken_by(std::get<double>(typed.quantity)); };
  const auto broken = std::ranges::find_if(bounds, is_broken);
  evidence.facts.insert({{"near a note", note != nullptr},
                         {"near a reason", solved.graph && near},
                         {"out of bounds", broken != bounds.end()},
                         {"slip but for the sign", turned != nullptr},
                         {"not computed", !solved.graph}});
  if (note) evidence.places["note"] = note->says;
  if (near) evidence.places["near"] = near->says;
  if (turned) evidence.places["slip"] = turned->says;
  if (broken != bounds.end()) evidence.places["bound"] = broken->says;
  return judged_among("number", std::move(evidence), solved, typed);
}

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

// The only one that is a slip of the keys away, or null.
const std::string* nearest(const std::string& typed, const std::vector<std::string>& words) {
  const auto shortest = judge_limit("letters of a word"), long_enough = judge_limit("letters of a long word");
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
  const std::optional<std::size_t> place = parse_number<std::size_t>(word);
  const std::string* const meant = is_one ? nullptr : nearest(word, words);
  return judged_among("word",
                      {{{"could be asked for", is_one},
                        {"place of a word", place && *place > 0 && *place <= words.size()},
                        {"one of the words in a longer answer", typed.words.size() == 1},
                        {"several of the words", typed.words.size() > 1},
                        {"nearly the answer", meant && Quantity(*meant) == solved.answer},
                        {"nearly a word", meant != nullptr},
                        {"many words", static_cast<double>(words.size()) > judge_limit("words told")}},
                       {{"word", word},
                        {"those", fmt::format("{}", fmt::join(typed.words, ", "))},
                        {"meant", meant ? *meant : ""},
                        {"said to it", meant ? diagnosed_word(solved, TypedAnswer{Quantity(*meant)}).says : ""},
                        {"words", fmt::format("{}", fmt::join(words, ", "))}}},
                      solved, typed);
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

const std::vector<RecognizedAnswer>& recognizable_answers(const SolvedQuestion& solved) {
  if (!solved.recognised)
    solved.recognised = std::make_shared<const std::vector<RecognizedAnswer>>(made_recognisable(solved));
  return *solved.recognised;
}

std::vector<const Mistake*> cannot_be_told_apart(const SolvedQuestion& solved) {
  std::vector<const Mistake*> alike;
  for (const Mistaken& made : all_mistaken(solved, false)) {
    if (is_same(made.quantity, solved.answer, solved)) alike.push_back(made.mistake);
  }
  return alike;
}

Judgment diagnose(const SolvedQuestion& solved, const TypedAnswer& typed) {
  if (std::holds_alternative<double>(solved.answer)) return diagnosed_number(solved, typed);
  if (std::holds_alternative<Shape>(solved.answer)) return diagnosed_shape(solved, typed);
  return diagnosed_word(solved, typed);
}

}  // namespace attn
