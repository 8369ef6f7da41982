#include "school/lesson/page_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/support/error.hpp"
#include "core/term/functions.hpp"
#include "core/term/term.hpp"
#include "school/browser/computation.hpp"
#include "school/puzzle/misses.hpp"
#include "school/puzzle/trial.hpp"
#include "school/tutor/bounds.hpp"
#include "school/tutor/diagnosis.hpp"
#include "school/tutor/judge.hpp"
#include "school/tutor/steps.hpp"
#include "school/tutor/typed_answer.hpp"

namespace attn {

// --- puzzle data

namespace {

// --- where the numbers stand that are set

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

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
      if (is_same(cells_before[place.place], cells_now[place.place])) continue;
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
      return std::pair(tried(puzzle, std::move(settings), run), number);
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

PlayedInput input_of(const Puzzle& puzzle, std::shared_ptr<const Graph> graph) {
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

class PuzzleWriter {
 public:
  PuzzleWriter(const Puzzle& puzzle, JsonWriter& json) : puzzle_(puzzle), json_(json) {}

  void write(std::string_view key, const std::vector<PlayedInput>& inputs,
             const std::vector<std::size_t>& computations) {
    json_.begin_object();
    member("key", key);
    if (!puzzle_.name.empty()) member("name", puzzle_.name);
    json_.key("hints");
    json_.strings(puzzle_.hints);
    json_.key("solution");
    json_.strings(puzzle_.solution);
    json_.key("unknowns");
    json_.begin_array();
    for (const Unknown& unknown : puzzle_.unknowns) write(unknown);
    json_.end_array();
    json_.key("inputs");
    json_.begin_array();
    for (std::size_t i = 0; i < inputs.size(); ++i) write(inputs[i], computations[i]);
    json_.end_array();
    json_.end_object();
  }

 private:
  void member(std::string_view name, std::string_view value) {
    json_.key(name);
    json_.string(value);
  }
  void member(std::string_view name, std::size_t value) {
    json_.key(name);
    json_.integer(value);
  }

  void write(const Unknown& unknown) {
    json_.begin_object();
    member("name", unknown.name());
    member("rows", unknown.start.shape().rows);
    member("columns", unknown.start.shape().columns);
    json_.key("start");
    json_.begin_array();
    for (const double value : cells(unknown.start)) json_.number(value);
    json_.end_array();
    json_.end_object();
  }

  void write(const PlayedInput& input, std::size_t computation) {
    input_ = &input;
    json_.begin_object();
    member("computation", computation);
    json_.key("places");
    json_.begin_array();
    for (const SetPlace& place : input.places) write(place);
    json_.end_array();
    json_.key("holds");
    json_.begin_array();
    for (const Property& property : puzzle_.holds) write(property);
    json_.end_array();
    json_.key("notes");
    json_.begin_array();
    for (const PuzzleNote& note : puzzle_.notes) {
      json_.begin_object();
      json_.key("when");
      write(note.when);
      member("says", note.says);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void write(const SetPlace& place) {
    json_.begin_object();
    member("unknown", place.unknown);
    member("cell", place.cell);
    member("node", index_of(place.node));
    if (place.attribute.empty()) {
      member("place", place.place);
    } else {
      member("attribute", place.attribute);
    }
    json_.end_object();
  }

  void write(const Property& property) {
    json_.begin_object();
    member("sign", property.relation->signs.front());
    member("words", property.relation->words);
    if (property.relation->is_equality) json_.key("tolerance"), json_.number(property.tolerance);
    json_.key("comparisons");
    json_.begin_array();
    for (const Comparison& comparison : comparisons_of(property, *input_->graph)) {
      json_.begin_object();
      member("name", in_names(comparison.left));
      json_.key("left");
      write(comparison.left);
      json_.key("right");
      write(comparison.right);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void write(const Term& working) {
    json_.begin_object();
    const std::string_view kind = name_of_term(working.kind);
    member("kind", kind);
    if (kind == "constant") {
      json_.key("value");
      write(worked_out(working));
    }
    if (working.kind == Term::Kind::cell || working.kind == Term::Kind::row) {
      member("node", index_of(working.node));
      member("row", working.row);
      member("column", working.column);
    }
    if (working.kind == Term::Kind::row) member("name", working.row_function->name);
    if (working.kind == Term::Kind::call)
      member("name", std::ranges::find(number_functions(), working.function, &NumberFunction::function)->name);
    if (!working.parts.empty()) {
      json_.key("parts");
      json_.begin_array();
      for (const Term& part : working.parts) write(part);
      json_.end_array();
    }
    json_.end_object();
  }

  void write(const Quantity& quantity) {
    if (const double* const number = std::get_if<double>(&quantity)) return json_.number(*number);
    json_.string(written(quantity));
  }

  std::size_t index_of(const Node* node) const {
    return static_cast<std::size_t>(std::ranges::find(input_->nodes, node) - input_->nodes.begin());
  }

  const Puzzle& puzzle_;
  JsonWriter& json_;
  const PlayedInput* input_ = nullptr;
};

}  // namespace

std::optional<std::vector<PlayedInput>> played_inputs(const Puzzle& puzzle, const RunCommand& run) {
  const Trial start = tried(puzzle, settings_at_start(puzzle), run);
  std::vector<PlayedInput> inputs;
  try {
    for (const std::shared_ptr<const Graph>& graph : start.graphs) inputs.push_back(input_of(puzzle, graph));
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
  PuzzleWriter(puzzle, json).write(key, inputs, computations);
}

// --- question data

namespace {

// A number is compared as it was typed, with no more digits than these.
double with_digits_compared(double value) {
  constexpr int digits = 15;
  return std::stod(fmt::format("{:.{}g}", value, digits));
}

class QuestionWriter {
 public:
  QuestionWriter(const SolvedQuestion& solved, JsonWriter& json) : solved_(solved), json_(json) {}

  void write(std::string_view key) {
    const Question& question = solved_.question;
    json_.begin_object();
    member("key", key);
    member("kind", name_of(question.kind));
    if (question.predicts) json_.key("predicts"), json_.boolean(true);
    if (!question.choices.empty()) json_.key("choices"), json_.strings(question.choices);
    if (!question.hints.empty()) json_.key("hints"), json_.strings(question.hints);
    json_.key("answer");
    write(solved_.answer);
    member("shown", answer_of(solved_));
    if (question.kind == AnswerKind::number) json_.key("tolerance"), json_.number(tolerance_for(solved_));
    if (const std::string step = first_step(solved_); !step.empty()) member("first", step);
    if (question.kind == AnswerKind::number) write_digits();
    if (question.kind == AnswerKind::shape) member("axes", about_axes(solved_));
    if (question.kind == AnswerKind::word) json_.key("words"), json_.strings(words_to_choose(solved_));
    json_.key("recognised");
    json_.begin_array();
    std::size_t others = 0;
    std::vector<Quantity> told;
    for (const Recognised& row : recognisable(solved_)) {
      // Of slips and other numbers the first is told.
      const bool is_one_of_many = row.kind >= Recognised::Kind::writing;
      const bool is_further = is_one_of_many && std::ranges::find(told, row.quantity) != told.end();
      if (is_one_of_many && !is_further) told.push_back(row.quantity);
      if (is_further || (row.kind >= Recognised::Kind::operand && ++others > most_other_numbers_on_page)) continue;
      write(row);
    }
    json_.end_array();
    json_.end_object();
  }

 private:
  void member(std::string_view name, std::string_view value) {
    json_.key(name);
    json_.string(value);
  }

  void write_digits() {
    json_.key("decimals");
    json_.integer(static_cast<std::uint64_t>(decimals_wanted(solved_)));
    json_.key("isComputed");
    json_.boolean(solved_.graph != nullptr);
    json_.key("bounds");
    json_.begin_array();
    for (const Bound& bound : bounds_of(solved_)) write(bound);
    json_.end_array();
  }

  void write(const Bound& bound) {
    json_.begin_object();
    if (std::isfinite(bound.least)) json_.key("least"), json_.number(bound.least);
    if (std::isfinite(bound.most)) json_.key("most"), json_.number(bound.most);
    if (bound.is_whole) json_.key("isWhole"), json_.boolean(true);
    member("says", bound.says);
    json_.end_object();
  }

  // A number, a word, or rows and columns.
  void write(const Quantity& quantity) {
    if (const double* const number = std::get_if<double>(&quantity)) return json_.number(with_digits_compared(*number));
    if (const Shape* const shape = std::get_if<Shape>(&quantity)) {
      json_.begin_array();
      json_.integer(shape->rows);
      json_.integer(shape->columns);
      return json_.end_array();
    }
    json_.string(written(quantity));
  }

  void write(const Recognised& row) {
    json_.begin_object();
    member("kind", names_of_kinds()[static_cast<std::size_t>(row.kind)]);
    json_.key("quantity");
    write(row.quantity);
    if (row.mistake) member("summary", row.mistake->summary);
    member("says", row.says);
    json_.end_object();
  }

  const SolvedQuestion& solved_;
  JsonWriter& json_;
};

}  // namespace

void write_question(const SolvedQuestion& solved, std::string_view key, JsonWriter& json) {
  QuestionWriter(solved, json).write(key);
}

}  // namespace attn
