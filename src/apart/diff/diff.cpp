#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apart/annex.hpp"
#include "apart/apart_options.hpp"
#include "apart/change/alteration.hpp"
#include "apart/change/changed_matrix.hpp"
#include "apart/diff/matrix_pair.hpp"
#include "apart/what_if/altered_computation.hpp"
#include "command/app.hpp"
#include "command/command.hpp"
#include "core/graph/find.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/number_pair.hpp"
#include "core/support/text.hpp"
#include "data/files/file_access.hpp"
#include "data/files/json.hpp"
#include "data/files/matrix_file.hpp"
#include "data/problem/problem_file.hpp"
#include "page/document/document.hpp"
#include "page/tell/describe.hpp"
#include "school/check/findings.hpp"
#include "school/check/matching.hpp"
#include "school/check/records.hpp"

namespace attn {
namespace {

// --- what is compared

// One of two computations.
struct ComputedSide {
  std::string_view letter;  // "A"
  std::vector<SideOfPair> matrices = {};
  std::shared_ptr<Graph> graph = {};               // in which mistakes can be made; null: it has none
  std::optional<AlteredComputation> altered = {};  // by what-if; nothing: it is not
  std::vector<std::string> remarks = {};
  std::string random = {};  // what is random in it, in a sentence; empty: nothing

  const SideOfPair* find(std::string_view name) const {
    const auto found = std::ranges::find(matrices, name, &SideOfPair::name);
    return found == matrices.end() ? nullptr : &*found;
  }
};

ComputedSide side_of_trace(std::string_view letter, const std::string& path) {
  ComputedSide side{.letter = letter};
  TraceFile file = read_trace(path);
  side.remarks = std::move(file.remarks);
  const auto is_computed = [](const TracedMatrix& matrix) { return matrix.operation != TracedMatrix().operation; };
  const bool says_how = std::ranges::any_of(file.trace.matrices(), is_computed);
  for (const TracedMatrix& matrix : file.trace.matrices()) {
    if (matrix.family != &family::forward) continue;
    side.matrices.push_back({.name = matrix.name, .frame = matrix.frame, .cells = matrix.cells});
    if (says_how) side.matrices.back().formula = matrix.formula.plain;
    if (says_how) side.matrices.back().origin = is_computed(matrix) ? Origin::computed : Origin::given;
  }
  return side;
}

// A command of those that show matrices. What runs long or asks back is none.
void require_matrices(const std::vector<std::string>& words) {
  const ParsedCommandLine parsed = parse(words);
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

// What an altered computation keeps stands in it as an input: the node before says how it was made.
Origin origin_of(const Node& node, const std::optional<AlteredComputation>& altered) {
  const Node* first = &node.original();
  if (altered && !first->op) {
    const auto kept = std::ranges::find(altered->named, first->name, [](const Node* one) { return one->name; });
    if (kept != altered->named.end()) first = &(*kept)->original();
  }
  return first->op ? Origin::computed : Origin::given;
}

ComputedSide side_of_line(std::string_view letter, const std::vector<std::string>& words, const Arguments& arguments) {
  require_matrices(words);
  const Answer said = answer(words, arguments.environment->inner());
  ComputedSide side{.letter = letter, .graph = said.computation.graph};
  if (const AlteredComputation* const altered = said.attachments.find<AlteredComputation>()) side.altered = *altered;
  side.random = side.altered ? side.altered->random : what_is_random(said.computation);
  if (!side.altered && !side.graph) fail("attn {} shows no matrices here", words.front());
  for (const Node* node : side.altered ? side.altered->named : side.graph->named()) {
    if (node->family != &family::forward) continue;
    side.matrices.push_back({.name = node->name,
                             .frame = node->frame,
                             .cells = [node] { return node->cells(); },
                             .node = node,
                             .origin = origin_of(*node, side.altered)});
  }
  return side;
}

std::vector<std::string> words_of_command_line(const std::string& text) {
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
    const InputReports only_tried;
    read_problem_file(bytes, place_of_file(path));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

ComputedSide side_of(std::string_view letter, const std::string& word, const Arguments& arguments) {
  const bool is_one_word = word.find(' ') == std::string::npos;
  return while_reading(letter, [&] {
    if (find_row(commands(), word) || (!is_one_word && !file_exists(word)))
      return side_of_line(letter, words_of_command_line(word), arguments);
    if (!file_exists(word)) fail("'{}' is neither a command nor a file that is there", word);
    if (!is_problem_file(word)) return side_of_trace(letter, word);
    return side_of_line(letter, {"walk", std::string(option::problem.name), word}, arguments);
  });
}

// All names in the order of A; those of B alone stand behind what they follow there.
std::vector<MatrixPair> matrix_pairs(const ComputedSide& a, const ComputedSide& b) {
  std::vector<MatrixPair> all;
  for (const SideOfPair& one : a.matrices) all.push_back({one.name, &one, b.find(one.name)});
  std::size_t behind = 0;
  for (const SideOfPair& one : b.matrices) {
    const auto found = std::ranges::find(all, one.name, &MatrixPair::name);
    if (found != all.end()) {
      behind = static_cast<std::size_t>(found - all.begin()) + 1;
    } else {
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(behind), {one.name, nullptr, &one});
      ++behind;
    }
  }
  // What is only another name on both sides is left out where what it names is compared already.
  std::set<std::pair<const Node*, const Node*>> compared;
  std::erase_if(all, [&](const MatrixPair& one) {
    const auto named = [](const SideOfPair* matrix) {
      return matrix && matrix->node ? &matrix->node->original() : nullptr;
    };
    const auto is_alias = [](const SideOfPair* matrix) {
      return !matrix || (matrix->node && matrix->node->is_alias());
    };
    const bool is_new = compared.emplace(named(one.a), named(one.b)).second;
    return is_alias(one.a) && is_alias(one.b) && (one.stands_once() || !is_new);
  });
  return all;
}

// --- what is told

// How many of them differ so.
std::size_t count_that_are(const std::vector<MatrixPair>& all, DifferenceKind how) {
  return static_cast<std::size_t>(std::ranges::count(all, how, &MatrixPair::how));
}

void add_summary(Page& page, const std::vector<MatrixPair>& all, double tolerance) {
  std::vector<std::string> parts;
  for (const DifferenceWording& row : words_for_differences()) {
    const std::size_t count = count_that_are(all, row.how);
    if (count == all.size()) {
      page.say(count == 1 ? fmt::format("The only matrix {}.", row.one)
                          : fmt::format("All {} matrices {}.", count, row.many));
      parts.clear();
      break;
    }
    if (count > 0) parts.push_back(count_of(count, row.one, row.many));
  }
  if (!parts.empty()) page.say(fmt::format("Of {:# matrix|# matrices}, {}.", Count{all.size()}, list_in_words(parts)));
  if (std::ranges::any_of(all, &MatrixPair::is_tolerated))
    page.say(fmt::format("Numbers count as equal that differ by no more than {:g} times the larger of them, or of 1.",
                         tolerance));
  if (std::ranges::any_of(all, &MatrixPair::is_in_other_order))
    page.say("Where a matrix has the same words in another order, a word is compared with the same word.");
  if (std::ranges::any_of(all, &MatrixPair::has_repeated_words))
    page.say("Of a word that stands several times, the first is compared with the first, the second with the second.");
  if (count_that_are(all, DifferenceKind::other_words) > 0)
    page.say("Where the rows or columns are other words, numbers are not compared.");
  if (std::ranges::any_of(all, &MatrixPair::are_ids))
    page.say("Ids of two vocabularies are compared by the words that they stand for.");
}

void add_random(Page& page, const ComputedSide& a, const ComputedSide& b) {
  if (a.random == b.random) {
    if (!a.random.empty()) page.say(a.random);
    return;
  }
  for (const ComputedSide* side : {&a, &b}) {
    if (!side->random.empty()) page.say(fmt::format("In {}: {}", side->letter, side->random));
  }
}

void add_listing(Page& page, const std::vector<MatrixPair>& all) {
  constexpr std::size_t most = 40;
  Listing listing{{"matrix", "is", "largest difference", "cell", "A", "B"}, {}, true};
  Records records{"diff", {"matrix", "how", "cells", "largest", "place", "a", "b"}, {}};
  std::size_t left_out = 0;
  for (const MatrixPair& one : all) {
    const bool differs = one.has_difference();
    NumberPair both;
    if (differs) both = written_apart(cell_in_a(one), cell_in_b(one));
    std::vector<Records::Value> row = {one.name, listed_as(one.how), static_cast<std::uint64_t>(one.apart.cells)};
    if (differs) {
      row.insert(row.end(),
                 {one.apart.change, one.name + place_of_largest_difference(one), cell_in_a(one), cell_in_b(one)});
    } else {
      row.insert(row.end(), 4, std::monostate());
    }
    records.rows.push_back(std::move(row));
    if (one.how == DifferenceKind::equal && all.size() > most) {
      ++left_out;
      continue;
    }
    listing.rows.push_back({one.name, listed_as(one.how), difference_in_words(one),
                            differs ? place_of_largest_difference(one) : "", both.one, both.other});
  }
  page.head(2, "The matrices");
  if (!listing.rows.empty()) page.say(std::move(listing));
  if (left_out > 0) page.say(fmt::format("{:One matrix is|# matrices are} equal and left out here.", Count{left_out}));
  page.say(std::move(records));
}

void add_side_of_cell(Page& page, const ComputedSide& side, const SideOfPair& matrix, std::size_t row,
                      std::size_t column, const std::string& number) {
  page.head(3, fmt::format("In {}", side.letter));
  if (matrix.origin == Origin::unknown) {
    page.say(fmt::format("It is {}. The file does not say how it was computed.", number));
  } else if (matrix.origin == Origin::given) {
    page.say(fmt::format("It is an input: {}.", number));
  } else if (!matrix.node) {
    page.say(text(fmt::format("It is {}. By the file, ", number), code(matrix.formula), "."));
  } else {
    page.say(derivation({matrix.node, row, column}, 0));
  }
}

// "A then computes head.1.q, head.1.k and 9 more, which B does not have."
Text told_alone(std::string begin, const std::vector<std::string>& names, std::string_view other) {
  constexpr std::size_t most = 3;
  Text all = text(std::move(begin));
  const std::size_t shown = names.size() > most + 1 ? most : names.size();
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) all.push_back({Span::Style::plain, i + 1 == names.size() ? " and " : ", "});
    all.push_back(code(names[i]));
  }
  if (shown < names.size()) all.push_back({Span::Style::plain, fmt::format(" and {} more", names.size() - shown)});
  all.push_back({Span::Style::plain, fmt::format(", which {} does not have.", other)});
  return all;
}

// What one of the two has alone, before they differ in a matrix of both: other inputs, or other steps.
void add_parting(Page& page, const std::vector<MatrixPair>& all) {
  const auto is_equal = [](const MatrixPair& one) {
    return one.how == DifferenceKind::equal || one.how == DifferenceKind::equal_by_word;
  };
  const auto end =
      std::ranges::find_if(all, [&](const MatrixPair& one) { return !one.stands_once() && !is_equal(one); });
  const MatrixPair* last_equal = nullptr;
  struct Alone {
    std::vector<std::string> inputs, steps, others;  // where a file does not say which it is
  } alone[2];
  for (auto one = all.begin(); one != end; ++one) {
    Alone& of = alone[one->a ? 0 : 1];
    const bool has_parted = !alone[0].steps.empty() || !alone[1].steps.empty();
    const Origin origin = (one->a ? one->a : one->b)->origin;
    if (one->stands_once())
      (origin == Origin::computed ? of.steps : origin == Origin::given ? of.inputs : of.others).push_back(one->name);
    const bool is_computed = !one->stands_once() && origin == Origin::computed && one->b->origin == origin;
    if (is_computed && !has_parted) last_equal = &*one;
  }
  const auto say_alone = [&](std::vector<std::string> Alone::*names, std::string_view verb) {
    for (const std::size_t side : {0U, 1U}) {
      if (!(alone[side].*names).empty())
        page.say(
            told_alone(fmt::format("{} {} ", side == 0 ? "A" : "B", verb), alone[side].*names, side == 0 ? "B" : "A"));
    }
  };
  const bool have_steps = !alone[0].steps.empty() || !alone[1].steps.empty();
  const auto has_any = [](const Alone& of) { return !of.inputs.empty() || !of.steps.empty() || !of.others.empty(); };
  if (std::ranges::none_of(alone, has_any)) return;
  page.head(2, "Where they part");
  say_alone(&Alone::inputs, "is given");
  say_alone(&Alone::others, "has");
  if (have_steps && last_equal) page.say(text("Up to ", code(last_equal->name), ", both compute equal matrices."));
  say_alone(&Alone::steps, have_steps && last_equal ? "then computes" : "computes");
}

// The first matrix that both have, and that is not the same in both.
void add_first(Page& page, const std::vector<MatrixPair>& all, const ComputedSide& a, const ComputedSide& b) {
  const auto first = std::ranges::find_if(
      all, [](const MatrixPair& one) { return one.has_difference() || one.how == DifferenceKind::other_shape; });
  if (first == all.end()) return;
  page.head(2, "The first matrix of both that differs");
  if (first->how == DifferenceKind::other_shape) {
    page.say(text(code(first->name), fmt::format(" is {} in A and {} in B.", to_string(first->a->frame.shape),
                                                 to_string(first->b->frame.shape))));
    return;
  }
  page.say(text(code(first->name),
                fmt::format(" differs in {} of {}. The largest difference is {}, in ", first->apart.cells,
                            count_of(first->a->frame.shape.cells(), "cell"), difference_in_words(*first)),
                code(first->name + place_of_largest_difference(*first)), "."));
  const auto [in_a, in_b] = written_apart(cell_in_a(*first), cell_in_b(*first));
  add_side_of_cell(page, a, *first->a, first->apart.row, first->apart.column, in_a);
  add_side_of_cell(page, b, *first->b, first->row_in_b, first->column_in_b, in_b);
}

// --- what explains it

// Whether all numbers that B computes from are the same in A, as far as A has them.
bool begin_alike(const std::vector<MatrixPair>& all) {
  return std::ranges::none_of(all, [](const MatrixPair& one) {
    const bool is_input = one.b && one.b->node && !one.b->node->op && one.b->node->content() != Content::permissions;
    return is_input && one.a && one.how != DifferenceKind::equal;
  });
}

// Whether what was found gives, made in B's computation, all the numbers of A.
bool gives_all(const Findings& findings, std::span<const ComparedMatrix> compared, const std::vector<MatrixPair>& all) {
  const auto is_left = [](const MatrixPair& one) {
    return one.how == DifferenceKind::other_words || one.how == DifferenceKind::other_shape;
  };
  const auto differs = [](const MatrixPair& one) { return one.has_difference() && one.b->node->original().op; };
  const auto is_whole = [](const Finding& finding) {
    return finding.is_explained() && !finding.contradicts && !finding.convention && finding.unused.empty();
  };
  const auto looked_at =
      std::ranges::count_if(compared, [](const ComparedMatrix& one) { return !one.difference.agrees(); });
  return !findings.all.empty() && !findings.has_more && std::ranges::all_of(findings.all, is_whole) &&
         std::ranges::none_of(all, is_left) && std::ranges::count_if(all, differs) == looked_at;
}

void say_change(Page& page, const Mistake& mistake) {
  page.say(text(fmt::format("The change: {}. In ", mistake.summary), code("attn check"), " it is called ",
                code(std::string(mistake.name)), "."));
}

// A's matrices as those of B's computation with steps changed. Which of the two is right is not known here, nor whether
// A was computed so.
void add_changed_steps(Page& page, const std::vector<MatrixPair>& all, const ComputedSide& b) {
  if (!b.graph || !begin_alike(all)) return;
  std::vector<MatrixFile> files;
  for (const MatrixPair& one : all) {
    const bool can_be_compared =
        (one.how == DifferenceKind::equal || one.has_difference()) && one.b->node->original().op;
    if (can_be_compared) files.push_back({.matrix = *one.a->cells(), .name = one.name});
  }
  if (files.empty()) return;
  const MatchedMatrices matched = match_matrices(*b.graph, files);
  const Findings findings = explain_difference(*b.graph, matched.compared);
  if (!gives_all(findings, matched.compared, all)) return;
  page.head(2, "What explains it");
  std::size_t steps = 0;
  for (const Finding& finding : findings.all) steps += finding.mistakes.empty() ? 2u : 1u;
  const bool has_choice = steps == 1 && findings.all.front().mistakes.size() > 1;
  page.say(fmt::format("B with {:one step|# steps} changed has the numbers of A in all matrices that are compared.{}",
                       Count{steps}, has_choice ? " Each of these does so." : ""));
  Records records{"explained_by", {"matrix", "kind", "mistakes"}, {}};
  for (const Finding& finding : findings.all) {
    records.rows.push_back({matched.compared[finding.place].node->name, kind_of(finding), names_of_mistakes(finding)});
    // Each finding takes for granted the first change of those before it.
    const std::size_t told = has_choice ? finding.mistakes.size() : std::min<std::size_t>(finding.mistakes.size(), 1);
    for (std::size_t i = 0; i < told; ++i) say_change(page, *finding.mistakes[i]);
    if (finding.mistakes.empty()) {
      say_change(page, *finding.pairs.front().first.mistake);
      say_change(page, *finding.pairs.front().second.mistake);
    }
  }
  page.say(std::move(records));
}

}  // namespace

std::shared_ptr<const Graph> computation_named(const std::string& word, std::string_view option,
                                               const Arguments& arguments) {
  const ComputedSide side = side_of(option, word, arguments);
  if (side.graph) return side.graph;
  const auto graph = std::make_shared<Graph>();
  for (const SideOfPair& matrix : side.matrices)
    graph->input(name_from_text(matrix.name), matrix.cells(), matrix.frame.rows, matrix.frame.columns);
  return graph;
}

Answer run_diff(const Command&, const Arguments& arguments) {
  constexpr double usual_tolerance = 1e-9;
  const double tolerance = arguments.number(option::tolerance).value_or(usual_tolerance);
  const ComputedSide a = side_of("A", arguments.words[0], arguments), b = side_of("B", arguments.words[1], arguments);
  std::vector<MatrixPair> all = matrix_pairs(a, b);
  if (std::ranges::none_of(all, [](const MatrixPair& one) { return one.a && one.b; }))
    fail("A and B have no matrix of the same name: there is nothing to compare");
  for (MatrixPair& one : all) compare_cells(one, tolerance);
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(all, [](const MatrixPair& one) { return one.how != DifferenceKind::equal; }));
  Page page;
  page.head(1, "Differences");
  page.say(text("A: ", code(arguments.words[0])));
  page.say(text("B: ", code(arguments.words[1])));
  add_random(page, a, b);
  add_summary(page, all, tolerance);
  add_listing(page, all);
  add_parting(page, all);
  add_first(page, all, a, b);
  if (count > 0) add_changed_steps(page, all, b);
  Answer said{.page = std::move(page), .warnings = a.remarks};
  said.warnings.insert(said.warnings.end(), b.remarks.begin(), b.remarks.end());
  said.verdict = count == 0 ? Verdict::passed : Verdict::failed;
  said.computation = {a.graph ? a.graph : b.graph};
  return said;
}

}  // namespace attn
