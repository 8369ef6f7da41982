#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command/app.hpp"
#include "command/command.hpp"
#include "command/forms.hpp"
#include "core/graph/find.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/json.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/opened.hpp"
#include "data/problem/problem_file.hpp"
#include "explore/alteration.hpp"
#include "explore/what_moved.hpp"
#include "page/document/document.hpp"
#include "page/tell/describe.hpp"
#include "school/mistake/findings.hpp"
#include "school/mistake/matching.hpp"
#include "school/mistake/records.hpp"

namespace attn {
namespace {

// --- what is compared

struct OneMatrix {
  std::string name;
  Frame frame;
  std::function<std::shared_ptr<const Matrix>()> cells;
  const Node* node = nullptr;  // null: it was read from a file
};

// One of two computations.
struct ComputedSide {
  std::string_view letter;  // "A"
  std::vector<OneMatrix> matrices = {};
  std::shared_ptr<Graph> graph = {};          // in which mistakes can be made; null: it has none
  std::shared_ptr<const Graph> altered = {};  // by what-if; null: it is not
  std::vector<std::string> remarks = {};

  const OneMatrix* find(std::string_view name) const {
    const auto found = std::ranges::find(matrices, name, &OneMatrix::name);
    return found == matrices.end() ? nullptr : &*found;
  }
};

ComputedSide side_of_trace(std::string_view letter, const std::string& path) {
  ComputedSide side{.letter = letter};
  TraceFile file = read_trace(path);
  side.remarks = std::move(file.remarks);
  for (const Traced& matrix : file.trace.matrices()) {
    if (matrix.family == &family::forward) side.matrices.push_back({matrix.name, matrix.frame, matrix.cells});
  }
  return side;
}

// A command of those that show matrices. What runs long or asks back is none.
void require_matrices(const std::vector<std::string>& words) {
  const Parsed parsed = parse(words);
  const std::vector<OptionChoice> commands = choices::with_matrices();
  const bool has_matrices =
      parsed.command && (std::ranges::find(commands, parsed.command->name, &OptionChoice::name) != commands.end() ||
                         parsed.command->shown_as == &option::what_if);
  if (!has_matrices)
    fail("attn {} is none of the commands whose matrices are compared, such as walk or encoder",
         words.empty() ? "" : words.front());
  for (const Option* other : {&option::explore, &option::page, &option::help, &option::short_help, &option::output}) {
    if (parsed.arguments.has(*other)) fail("leave out {}: only matrices are compared", other->name);
  }
}

ComputedSide side_of_line(std::string_view letter, const std::vector<std::string>& words, const Arguments& arguments) {
  require_matrices(words);
  Environment inside = *arguments.environment;
  inside.work = nullptr;
  inside.confine = {};
  const Answer said = answer(words, inside);
  ComputedSide side{.letter = letter, .graph = said.computation.graph, .altered = said.altered};
  const std::shared_ptr<const Graph> graph = side.altered ? side.altered : side.graph;
  if (!graph) fail("attn {} shows no matrices here", words.front());
  for (const Node* node : graph->named()) {
    if (node->family == &family::forward)
      side.matrices.push_back({node->name, node->frame, [node] { return node->cells(); }, node});
  }
  return side;
}

std::vector<std::string> words_of_line(const std::string& text) {
  const std::vector<CommandLine> lines = command_lines(text.starts_with("attn ") ? text : "attn " + text, "line", 1);
  if (lines.size() != 1) fail("this is no command line: give one in quotes, such as 'walk --causal', or a file");
  return lines.front().words;
}

// Whether it is a problem rather than matrices by name, or a page of attn, which has both.
bool is_problem_file(const std::string& path) {
  const std::string bytes = read_bytes(path);
  if (kind_of_file(path, bytes) != "json") return false;
  const Json file = parse_json(bytes, place_of_file(path));
  if (!file.is_object() || file.contains("arrays")) return false;
  try {
    const ReadInputs only_tried;
    read_problem_file(bytes, place_of_file(path));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

ComputedSide side_of(std::string_view letter, const std::string& word, const Arguments& arguments) {
  const bool is_one_word = word.find(' ') == std::string::npos;
  return while_reading(letter, [&] {
    if (find_row(commands(), word) || (!is_one_word && !is_there(word)))
      return side_of_line(letter, words_of_line(word), arguments);
    if (!is_there(word)) fail("'{}' is neither a command nor a file that is there", word);
    if (!is_problem_file(word)) return side_of_trace(letter, word);
    return side_of_line(letter, {"walk", std::string(option::problem.name), word}, arguments);
  });
}

// --- how they differ

enum class HowTheyDiffer { equal, different, other_shape, only_in_a, only_in_b };

struct DifferentMatrix {
  std::string name;
  const OneMatrix *a = nullptr, *b = nullptr;
  HowTheyDiffer how = HowTheyDiffer::equal;
  CellsMoved apart = {};
};

// All names in the order of A; those of B alone stand behind what they follow there.
std::vector<DifferentMatrix> paired(const ComputedSide& a, const ComputedSide& b) {
  std::vector<DifferentMatrix> all;
  for (const OneMatrix& one : a.matrices) all.push_back({one.name, &one, b.find(one.name)});
  std::size_t behind = 0;
  for (const OneMatrix& one : b.matrices) {
    const auto found = std::ranges::find(all, one.name, &DifferentMatrix::name);
    if (found != all.end()) {
      behind = static_cast<std::size_t>(found - all.begin()) + 1;
    } else {
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(behind), {one.name, nullptr, &one});
      ++behind;
    }
  }
  // What is only another name on both sides was compared already.
  std::erase_if(all, [](const DifferentMatrix& one) {
    const auto is_alias = [](const OneMatrix* matrix) { return !matrix || (matrix->node && matrix->node->is_alias()); };
    return is_alias(one.a) && is_alias(one.b);
  });
  return all;
}

void compare_cells(DifferentMatrix& one, double tolerance) {
  if (!one.a || !one.b) {
    one.how = one.a ? HowTheyDiffer::only_in_a : HowTheyDiffer::only_in_b;
    return;
  }
  if (one.a->frame.shape != one.b->frame.shape) {
    one.how = HowTheyDiffer::other_shape;
    return;
  }
  one.apart = cells_moved(*one.a->cells(), *one.b->cells(), tolerance);
  one.how = one.apart.is_unchanged() ? HowTheyDiffer::equal : HowTheyDiffer::different;
}

std::string_view in_words(HowTheyDiffer how) {
  switch (how) {
    case HowTheyDiffer::equal:
      return "equal";
    case HowTheyDiffer::different:
      return "different";
    case HowTheyDiffer::other_shape:
      return "other shape";
    case HowTheyDiffer::only_in_a:
      return "only in A";
    case HowTheyDiffer::only_in_b:
      return "only in B";
  }
  return "";
}

std::string place_of(const DifferentMatrix& one) {
  return fmt::format("[{},{}]", place_called(one.a->frame.rows, one.apart.row),
                     place_called(one.a->frame.columns, one.apart.column));
}

double cell_of(const OneMatrix& matrix, const CellsMoved& at) { return (*matrix.cells())(at.row, at.column); }

std::string told_difference(const DifferentMatrix& one) {
  if (one.how != HowTheyDiffer::other_shape) return one.apart.is_unchanged() ? "" : number_in_lists(one.apart.change);
  return fmt::format("{} and {}", to_string(one.a->frame.shape), to_string(one.b->frame.shape));
}

void add_listing(Page& page, const std::vector<DifferentMatrix>& all) {
  constexpr std::size_t most = 40;
  Listing listing{{"matrix", "is", "largest difference", "cell", "A", "B"}, {}, true};
  Records records{"diff", {"matrix", "how", "cells", "largest", "place", "a", "b"}, {}};
  std::size_t left_out = 0;
  for (const DifferentMatrix& one : all) {
    const bool differs = one.how == HowTheyDiffer::different;
    std::vector<Records::Value> row = {one.name, std::string(in_words(one.how)),
                                       static_cast<std::uint64_t>(one.apart.cells)};
    if (differs) {
      row.insert(row.end(),
                 {one.apart.change, one.name + place_of(one), cell_of(*one.a, one.apart), cell_of(*one.b, one.apart)});
    } else {
      row.insert(row.end(), 4, std::monostate());
    }
    records.rows.push_back(std::move(row));
    if (one.how == HowTheyDiffer::equal && all.size() > most) {
      ++left_out;
      continue;
    }
    listing.rows.push_back({one.name, std::string(in_words(one.how)), told_difference(one),
                            differs ? place_of(one) : "", differs ? number_in_lists(cell_of(*one.a, one.apart)) : "",
                            differs ? number_in_lists(cell_of(*one.b, one.apart)) : ""});
  }
  page.head(2, "The matrices");
  if (!listing.rows.empty()) page.say(std::move(listing));
  if (left_out > 0)
    page.say(fmt::format("{} equal and left out here.",
                         left_out == 1 ? "One matrix is" : fmt::format("{} matrices are", left_out)));
  page.say(std::move(records));
}

void add_side_of_cell(Page& page, const ComputedSide& side, const OneMatrix& matrix, const CellsMoved& at) {
  page.head(3, fmt::format("In {}", side.letter));
  if (!matrix.node) {
    page.say(fmt::format("It is {}. The file does not say how it was computed.", number_in_lists(cell_of(matrix, at))));
  } else if (!matrix.node->original().op) {
    page.say(fmt::format("It is an input: {}.", number_in_lists(cell_of(matrix, at))));
  } else {
    page.say(derivation({matrix.node, at.row, at.column}, 0));
  }
}

// The first matrix that both have, and that is not the same in both.
void add_first(Page& page, const std::vector<DifferentMatrix>& all, const ComputedSide& a, const ComputedSide& b) {
  const auto first = std::ranges::find_if(all, [](const DifferentMatrix& one) {
    return one.how == HowTheyDiffer::different || one.how == HowTheyDiffer::other_shape;
  });
  if (first == all.end()) return;
  page.head(2, "The first step that differs");
  if (first->how == HowTheyDiffer::other_shape) {
    page.say(text(code(first->name), fmt::format(" is {} in A and {} in B.", to_string(first->a->frame.shape),
                                                 to_string(first->b->frame.shape))));
    return;
  }
  page.say(text(code(first->name),
                fmt::format(" differs in {} of {}, most in ", first->apart.cells,
                            count_of(first->a->frame.shape.cells(), "cell")),
                code(first->name + place_of(*first)), "."));
  add_side_of_cell(page, a, *first->a, first->apart);
  add_side_of_cell(page, b, *first->b, first->apart);
}

// --- what explains it

// Whether all numbers that B computes from are the same in A, as far as A has them.
bool begin_alike(const std::vector<DifferentMatrix>& all) {
  return std::ranges::none_of(all, [](const DifferentMatrix& one) {
    const bool is_input = one.b && one.b->node && !one.b->node->op && one.b->node->content() != Content::permissions;
    return is_input && (one.how == HowTheyDiffer::different || one.how == HowTheyDiffer::other_shape);
  });
}

// A's matrices as somebody's of B's computation.
void add_mistake(Page& page, const std::vector<DifferentMatrix>& all, const ComputedSide& b) {
  if (!b.graph || !begin_alike(all)) return;
  std::vector<MatrixFile> files;
  for (const DifferentMatrix& one : all) {
    const bool can_be_compared = one.a && one.b && one.b->node->original().op && one.how != HowTheyDiffer::other_shape;
    if (can_be_compared) files.push_back({.matrix = *one.a->cells(), .name = one.name});
  }
  if (files.empty()) return;
  const Matched matched = match(*b.graph, files);
  const Findings findings = find_mistakes(*b.graph, matched.compared);
  if (findings.all.empty()) return;
  const Finding& first = findings.all.front();
  if (!first.is_explained() || first.contradicts) return;
  page.head(2, "What explains it");
  for (const Mistake* mistake : first.mistakes) {
    const std::string_view kind = mistake->kind == Mistake::Kind::error ? "mistake" : "convention";
    page.say(text(fmt::format("A is what B becomes with the {} ", kind), code(std::string(mistake->name)),
                  fmt::format(": {}.", mistake->summary)));
  }
  for (const std::string& names : names_of_mistakes(first)) {
    if (first.mistakes.empty()) page.say(text("A is what B becomes with two mistakes together: ", code(names), "."));
  }
  page.say(Records{"explained_by",
                   {"matrix", "kind", "mistakes"},
                   {{matched.compared[first.place].node->name, kind_of(first), names_of_mistakes(first)}}});
}

}  // namespace

std::shared_ptr<const Graph> computation_named(const std::string& word, std::string_view option,
                                               const Arguments& arguments) {
  const ComputedSide side = side_of(option, word, arguments);
  if (side.graph) return side.graph;
  const auto graph = std::make_shared<Graph>();
  for (const OneMatrix& matrix : side.matrices)
    graph->input(called(matrix.name), matrix.cells(), matrix.frame.rows, matrix.frame.columns);
  return graph;
}

Answer run_diff(const Command&, const Arguments& arguments) {
  constexpr double usual_tolerance = 1e-9;
  const double tolerance = arguments.number(option::tolerance).value_or(usual_tolerance);
  const ComputedSide a = side_of("A", arguments.words[0], arguments), b = side_of("B", arguments.words[1], arguments);
  std::vector<DifferentMatrix> all = paired(a, b);
  if (std::ranges::none_of(all, [](const DifferentMatrix& one) { return one.a && one.b; }))
    fail("A and B have no matrix of the same name: there is nothing to compare");
  for (DifferentMatrix& one : all) compare_cells(one, tolerance);
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(all, [](const DifferentMatrix& one) { return one.how != HowTheyDiffer::equal; }));
  Page page;
  page.head(1, "Differences");
  page.say(text("A: ", code(arguments.words[0])));
  page.say(text("B: ", code(arguments.words[1])));
  page.say(count == 0 ? fmt::format("All {} are equal.", count_of(all.size(), "matrix", "matrices"))
                      : fmt::format("{} of {} {} not equal.", count, count_of(all.size(), "matrix", "matrices"),
                                    count == 1 ? "is" : "are"));
  add_listing(page, all);
  add_first(page, all, a, b);
  if (count > 0) add_mistake(page, all, b);
  Answer said{.page = std::move(page), .warnings = a.remarks};
  said.warnings.insert(said.warnings.end(), b.remarks.begin(), b.remarks.end());
  said.verdict = count == 0 ? Verdict::passed : Verdict::failed;
  said.computation = {a.graph ? a.graph : b.graph};
  return said;
}

}  // namespace attn
