#include "school/lesson/page_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "core/support/error.hpp"
#include "core/term/expression_functions.hpp"
#include "core/term/term.hpp"
#include "data/files/fields.hpp"
#include "school/browser/computation.hpp"
#include "school/puzzle/misses.hpp"
#include "school/puzzle/trial.hpp"
#include "school/tutor/bounds.hpp"
#include "school/tutor/diagnosis.hpp"
#include "school/tutor/judge.hpp"
#include "school/tutor/solution_steps.hpp"
#include "school/tutor/typed_answer.hpp"

namespace attn {

namespace {

// --- where the numbers stand that are set

bool is_same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// How a setting of an operation differs between two computations: not at all, or in a number that is told nowhere else.
struct SettingChange {
  bool is_none = false;
  std::optional<double> number = {};
};

SettingChange change_of(const OpSetting& before, const OpSetting& after) {
  const auto compare = [&]<class T>(const T& was) -> SettingChange {
    const T& now = std::get<T>(after.value);
    if constexpr (std::is_same_v<T, Axis> || std::is_same_v<T, Frame>) {
      return {true};  // its shape and labels are those of the node
    } else if constexpr (std::is_same_v<T, Scalar>) {
      return {was == now, was.notation == now.notation ? std::optional(now.value) : std::nullopt};
    } else if constexpr (std::is_arithmetic_v<T>) {
      return {was == now, static_cast<double>(now)};
    } else {
      return {was == now};
    }
  };
  return std::visit(compare, before.value);
}

// Notes where two graphs differ; false where they differ in more than this number in its places.
bool find_places(const Graph& before, const Graph& after, double number, const SetPlace& of,
                 std::vector<SetPlace>& places) {
  if (before.nodes().size() != after.nodes().size()) return false;
  auto other = after.nodes().begin();
  for (const Node& node : before.nodes()) {
    const Node& now = *other++;
    if ((node.op == nullptr) != (now.op == nullptr) || node.name != now.name || node.frame.shape != now.frame.shape)
      return false;
    SetPlace place = of;
    place.node = &node;
    if (node.op) {
      if (node.op != now.op || node.settings.size() != now.settings.size()) return false;
      auto changed = now.settings.begin();
      for (const OpSetting& setting : node.settings) {
        const SettingChange change = change_of(setting, *changed++);
        if (change.is_none) continue;
        if (!change.number || *change.number != number) return false;
        place.attribute = setting.name;
        places.push_back(place);
      }
      continue;
    }
    const auto cells_before = cells(node.matrix()), cells_now = cells(now.matrix());
    for (place.place = 0; place.place < cells_before.size(); ++place.place) {
      if (is_same_number(cells_before[place.place], cells_now[place.place])) continue;
      if (cells_now[place.place] != number) return false;
      places.push_back(place);
    }
  }
  return true;
}

// The puzzle with another number in one cell, and which it is; nothing where it takes none of these.
std::optional<std::pair<Trial, double>> tried_otherwise(const Puzzle& puzzle, std::size_t unknown, std::size_t cell,
                                                        const RunCommand& run) {
  for (const double number : {0.0, 1.0, 2.0}) {
    Settings settings = settings_at_start(puzzle);
    double& set = cells(settings[unknown])[cell];
    if (set == number) continue;
    set = number;
    try {
      return std::pair(trial_of(puzzle, std::move(settings), run), number);
    } catch (const InputError&) {
      continue;
    }
  }
  return std::nullopt;
}

void add_nodes_of(const Property& property, const Graph& graph, std::set<const Node*>& nodes) {
  for (const Comparison& comparison : comparisons_of(property, graph)) {
    for (const Term* side : {&comparison.left, &comparison.right}) {
      for (const Node* node : nodes_of(*side)) nodes.insert(node);
    }
  }
}

PlayedInput played_input(const Puzzle& puzzle, std::shared_ptr<const Graph> graph) {
  PlayedInput input{std::move(graph)};
  std::set<const Node*> asked;
  for (const Property& property : puzzle.holds) add_nodes_of(property, *input.graph, asked);
  for (const PuzzleNote& note : puzzle.notes) add_nodes_of(note.when, *input.graph, asked);
  input.shown = shown_of(puzzle, *input.graph);
  asked.insert(input.shown.begin(), input.shown.end());
  input.nodes = with_all_behind(std::vector<const Node*>(asked.begin(), asked.end()));
  return input;
}

// --- as data

std::string_view name_of_term(Term::Kind kind) {
  switch (kind) {
    case Term::Kind::constant:
    case Term::Kind::size:
    case Term::Kind::shape:
      return "constant";
    case Term::Kind::cell:
      return "cell";
    case Term::Kind::row:
      return "row";
    case Term::Kind::sum:
      return "sum";
    case Term::Kind::product:
      return "product";
    case Term::Kind::negative:
      return "negative";
    case Term::Kind::inverse:
      return "inverse";
    case Term::Kind::power:
      return "power";
    case Term::Kind::call:
      return "call";
    case Term::Kind::less:
      return "less";
    case Term::Kind::greater:
      return "greater";
    case Term::Kind::equal:
      return "equal";
  }
  return "";
}

// What a puzzle is written in, and each of its inputs.
struct PuzzleOnPage {
  std::string_view key;
  const std::vector<PlayedInput>& inputs;
  const std::vector<std::size_t>& computations;
};
struct InputOnPage {
  const Puzzle* puzzle;
  const PlayedInput* played;
  std::size_t computation;

  std::size_t index_of(const Node* node) const {
    return static_cast<std::size_t>(std::ranges::find(played->nodes, node) - played->nodes.begin());
  }
};

std::vector<InputOnPage> inputs_on_page(const Puzzle& puzzle, const PuzzleOnPage& page) {
  std::vector<InputOnPage> inputs;
  for (std::size_t i = 0; i < page.inputs.size(); ++i)
    inputs.push_back({&puzzle, &page.inputs[i], page.computations[i]});
  return inputs;
}

// A place of a part of a computation; nothing of other terms.
bool is_place_of_part(const Term& term) { return term.kind == Term::Kind::cell || term.kind == Term::Kind::row; }
template <std::size_t Term::*place>
std::optional<std::size_t> place_of_part(const Term& term) {
  return is_place_of_part(term) ? std::optional(term.*place) : std::nullopt;
}

std::string_view name_of_function(const Term& term) {
  if (term.kind == Term::Kind::row) return term.row_function->name;
  if (term.kind != Term::Kind::call) return "";
  return std::ranges::find(number_functions(), term.function, &NumberFunction::function)->name;
}

// --- question data

// A number is compared as it was typed, with no more digits than these.
double number_as_typed(double value) {
  constexpr int digits = 15;
  return std::stod(fmt::format("{:.{}g}", value, digits));
}

struct QuestionOnPage {
  std::string_view key;
};

// What only questions of one kind have.
template <AnswerKind kind, class Get>
constexpr auto only_of(Get get) {
  return [=](const SolvedQuestion& solved) {
    return solved.question.kind == kind ? std::optional(std::invoke(get, solved)) : std::nullopt;
  };
}

// Of one number the first reason of a kind is told, and further mistakes; none that is less likely than a slip.
std::vector<RecognizedAnswer> recognised_on_page(const SolvedQuestion& solved) {
  std::vector<RecognizedAnswer> rows;
  std::size_t others = 0;
  std::vector<std::pair<Quantity, RecognizedAnswer::Kind>> told;
  for (const RecognizedAnswer& row : recognizable_answers(solved)) {
    const auto is_this = [&](const auto& one) {
      return one.first == row.quantity && (one.second == row.kind || row.kind >= RecognizedAnswer::Kind::copied);
    };
    const bool is_further = std::ranges::any_of(told, is_this);
    if (!is_further) told.emplace_back(row.quantity, row.kind);
    if (is_further && !row.mistake) continue;
    if (row.kind >= RecognizedAnswer::Kind::shown && ++others > most_other_numbers_on_page) continue;
    rows.push_back(row);
  }
  return rows;
}

std::optional<double> if_finite(double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; }

}  // namespace

// --- puzzle data

template <>
constexpr auto objects_in<InputOnPage> = std::tuple(
    object<Term>(Field{"kind", [](const Term& term) { return name_of_term(term.kind); }},
                 Field{"value",
                       [](const Term& term) {
                         return name_of_term(term.kind) == "constant" ? std::optional(value_of_term(term))
                                                                      : std::nullopt;
                       }},
                 Field{"node",
                       [](const Term& term, const InputOnPage& input) {
                         return is_place_of_part(term) ? std::optional(input.index_of(term.node)) : std::nullopt;
                       }},
                 Field{"row", place_of_part<&Term::row>}, Field{"column", place_of_part<&Term::column>},
                 Field{"name", name_of_function, WriteWhen::unless_empty},
                 Field{"parts", &Term::parts, WriteWhen::unless_empty}),
    object<Comparison>(Field{"name", [](const Comparison& comparison) { return in_names(comparison.left); }},
                       Field{"left", &Comparison::left}, Field{"right", &Comparison::right}),
    object<Property>(
        Field{"sign", [](const Property& property) { return property.relation->signs.front(); }},
        Field{"words", through(&Property::relation, &Relation::words)},
        Field{
            "tolerance",
            [](const Property& property) {
              return property.relation->is_equality ? std::optional(property.tolerance) : std::nullopt;
            }},
        Field{"comparisons", [](const Property& property,
                                const InputOnPage& input) { return comparisons_of(property, *input.played->graph); }}),
    object<PuzzleNote>(Field{"when", &PuzzleNote::when}, Field{"says", &PuzzleNote::says}),
    object<SetPlace>(
        Field{"unknown", &SetPlace::unknown}, Field{"cell", &SetPlace::cell},
        Field{"node", [](const SetPlace& place, const InputOnPage& input) { return input.index_of(place.node); }},
        Field{
            "place",
            [](const SetPlace& place) { return place.attribute.empty() ? std::optional(place.place) : std::nullopt; }},
        Field{"attribute", &SetPlace::attribute, WriteWhen::unless_empty}),
    object<InputOnPage>(Field{"computation", &InputOnPage::computation},
                        Field{"places", through(&InputOnPage::played, &PlayedInput::places)},
                        Field{"holds", through(&InputOnPage::puzzle, &Puzzle::holds)},
                        Field{"notes", through(&InputOnPage::puzzle, &Puzzle::notes)}));

template <>
constexpr auto objects_in<PuzzleOnPage> =
    std::tuple(object<Unknown>(Field{"name", &Unknown::name},
                               Field{"rows", [](const Unknown& one) { return one.start.shape().rows; }},
                               Field{"columns", [](const Unknown& one) { return one.start.shape().columns; }},
                               Field{"start", [](const Unknown& one) { return cells(one.start); }}),
               object<Puzzle>(Field{"key", [](const Puzzle&, const PuzzleOnPage& page) { return page.key; }},
                              Field{"name", &Puzzle::name, WriteWhen::unless_empty}, Field{"hints", &Puzzle::hints},
                              Field{"solution", &Puzzle::solution}, Field{"unknowns", &Puzzle::unknowns},
                              Field{"inputs", inputs_on_page}));

static void write_value(const Quantity& quantity, const InputOnPage&, JsonWriter& json) {
  if (const double* const number = std::get_if<double>(&quantity)) return json.number(*number);
  json.string(written(quantity));
}

static void write_value(const InputOnPage& input, const PuzzleOnPage&, JsonWriter& json) {
  write_value(input, input, json);
}

std::optional<std::vector<PlayedInput>> played_inputs(const Puzzle& puzzle, const RunCommand& run) {
  const Trial start = trial_of(puzzle, settings_at_start(puzzle), run);
  std::vector<PlayedInput> inputs;
  try {
    for (const std::shared_ptr<const Graph>& graph : start.graphs) inputs.push_back(played_input(puzzle, graph));
    constexpr std::size_t most_comparisons = 2000;  // on a page, which works them out after each change
    std::size_t comparisons = 0;
    for (const std::shared_ptr<const Graph>& graph : start.graphs) {
      for (const Property& property : puzzle.holds) comparisons += comparisons_of(property, *graph).size();
    }
    if (comparisons > most_comparisons) return std::nullopt;
  } catch (const TieError&) {
    return std::nullopt;  // a comparison with a word that the first numbers do not decide
  }
  for (SetPlace of; of.unknown < puzzle.unknowns.size(); ++of.unknown) {
    const std::size_t count = cells(puzzle.unknowns[of.unknown].start).size();
    for (of.cell = 0; of.cell < count; ++of.cell) {
      const std::optional<std::pair<Trial, double>> other = tried_otherwise(puzzle, of.unknown, of.cell, run);
      if (!other) return std::nullopt;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!find_places(*inputs[i].graph, *other->first.graphs[i], other->second, of, inputs[i].places))
          return std::nullopt;
      }
    }
  }
  for (PlayedInput& input : inputs) {
    // What nothing is compared or shown of is no part of the page.
    std::erase_if(input.places, [&](const SetPlace& place) {
      return std::ranges::find(input.nodes, place.node) == input.nodes.end();
    });
  }
  return inputs;
}

void write_puzzle(const Puzzle& puzzle, std::string_view key, const std::vector<PlayedInput>& inputs,
                  const std::vector<std::size_t>& computations, JsonWriter& json) {
  write_value(puzzle, PuzzleOnPage{key, inputs, computations}, json);
}

// --- question data

template <>
constexpr auto objects_in<QuestionOnPage> = std::tuple(
    object<Bound>(Field{"least", [](const Bound& bound) { return if_finite(bound.least); }},
                  Field{"most", [](const Bound& bound) { return if_finite(bound.most); }},
                  Field{"isWhole", &Bound::is_whole, WriteWhen::unless_empty}, Field{"says", &Bound::says}),
    object<RecognizedAnswer>(
        Field{"kind", [](const RecognizedAnswer& row) { return names_of_kinds()[static_cast<std::size_t>(row.kind)]; }},
        Field{"quantity", &RecognizedAnswer::quantity},
        Field{"summary", [](const RecognizedAnswer& row) { return row.mistake ? &row.mistake->summary : nullptr; }},
        Field{"within", [](const RecognizedAnswer& row) { return if_finite(row.within); }},
        Field{"says", &RecognizedAnswer::says}),
    object<SolvedQuestion>(
        Field{"key", [](const SolvedQuestion&, const QuestionOnPage& page) { return page.key; }},
        Field{"kind", [](const SolvedQuestion& solved) { return name_of(solved.question.kind); }},
        Field{"predicts", through(&SolvedQuestion::question, &Question::predicts), WriteWhen::unless_empty},
        Field{"choices", through(&SolvedQuestion::question, &Question::choices), WriteWhen::unless_empty},
        Field{"hints", through(&SolvedQuestion::question, &Question::hints), WriteWhen::unless_empty},
        Field{"answer", &SolvedQuestion::answer}, Field{"shown", answer_of},
        Field{"tolerance", only_of<AnswerKind::number>(tolerance_for)},
        Field{"first", first_step, WriteWhen::unless_empty},
        Field{"decimals", only_of<AnswerKind::number>(decimals_wanted)},
        Field{"isComputed",
              only_of<AnswerKind::number>([](const SolvedQuestion& one) { return one.graph != nullptr; })},
        Field{"bounds", only_of<AnswerKind::number>(bounds_of)}, Field{"axes", only_of<AnswerKind::shape>(about_axes)},
        Field{"words", only_of<AnswerKind::word>(words_to_choose)}, Field{"recognised", recognised_on_page}));

// A number, a word, or rows and columns.
static void write_value(const Quantity& quantity, const QuestionOnPage& page, JsonWriter& json) {
  if (const double* const number = std::get_if<double>(&quantity)) return json.number(number_as_typed(*number));
  if (const Shape* const shape = std::get_if<Shape>(&quantity)) return write_value(*shape, page, json);
  json.string(written(quantity));
}

void write_question(const SolvedQuestion& solved, std::string_view key, JsonWriter& json) {
  write_value(solved, QuestionOnPage{key}, json);
}

}  // namespace attn
