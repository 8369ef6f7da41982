#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <span>

#include "command/command.hpp"
#include "command/form.hpp"
#include "command/forms.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "core/term/law.hpp"
#include "data/files/matrix_file.hpp"
#include "data/problem/problem_file.hpp"
#include "page/tell/describe.hpp"

namespace attn {
namespace {

// A law, and what became of it for each matrix that its names stand for.
struct TriedLaw {
  std::string law;
  std::vector<LawCheck> held;

  bool holds() const {
    return std::ranges::none_of(held, [](const LawCheck& one) { return one.broken.has_value(); });
  }
};

std::vector<std::string> names_of_matrices(const LawCheck& held) {
  std::vector<std::string> names;
  for (const Node* node : held.of) names.push_back(node->name);
  return names;
}

// Some of many, in the order in which they stand.
std::string names_listed(std::vector<std::string> names) {
  constexpr std::size_t most = 6;
  if (names.size() <= most) return list_in_words(names);
  const std::size_t left = names.size() - most + 1;
  names.resize(most - 1);
  names.push_back(fmt::format("{:# matrix|# matrices} more", Count{left}));
  return list_in_words(names);
}

std::string names_of_all(const TriedLaw& tried) {
  std::vector<std::string> names;
  for (const LawCheck& held : tried.held) {
    for (std::string& name : names_of_matrices(held)) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  }
  return names_listed(std::move(names));
}

std::string told_of(const LawCheck& held) {
  const LawViolation& broken = *held.broken;
  std::string all = violation_in_words(broken);
  if (broken.place.empty()) all = fmt::format("Of {}: {}", names_listed(names_of_matrices(held)), all);
  if (broken.of > 1) all += fmt::format(" The law fails in {} of {} places.", broken.cells, broken.of);
  return all;
}

void say_law(Page& page, const TriedLaw& tried) {
  constexpr std::size_t most = 8;
  if (tried.holds()) {
    page.say(text(code(tried.law), fmt::format(" holds for {}.", names_of_all(tried))));
    return;
  }
  std::vector<const LawCheck*> broken;
  for (const LawCheck& held : tried.held) {
    if (held.broken) broken.push_back(&held);
  }
  page.say(text(code(tried.law), tried.held.size() == 1
                                     ? std::string(" does not hold.")
                                     : fmt::format(" does not hold for {} of {}.", broken.size(),
                                                   count_of(tried.held.size(), "matrix", "matrices"))));
  ParagraphsWithMargins list;
  for (std::size_t i = 0; i < std::min(broken.size(), most); ++i)
    list.lines.push_back({"- ", "  ", text(told_of(*broken[i]))});
  if (broken.size() > most)
    list.lines.push_back({"- ", "  ", text(fmt::format("… and for {} more.", broken.size() - most))});
  page.say(std::move(list));
}

// The row of a matrix that breaks a law, as a table.
Table table_of_row(const Cell& cell) {
  const std::vector<double> numbers = cell.node->row(cell.row);
  Matrix row({1, numbers.size()});
  std::ranges::copy(numbers, cells(row).begin());
  return {.title = cell.node->name,
          .rows = axis(cell.node->frame.rows.name, {cell.node->frame.rows.label(cell.row)}),
          .columns = cell.node->frame.columns,
          .cells = std::make_shared<const Matrix>(std::move(row))};
}

void explain_broken(Page& page, const LawViolation& broken) {
  if (!broken.cell) return;
  const Cell& cell = *broken.cell;
  const std::string place = cell_name(cell);
  if (broken.place != place) page.say(table_of_row(cell));
  if (!cell.node->original().op) return;
  page.head(2, fmt::format("How {} came about", place));
  page.say(derivation(cell, 0));
}

std::string verdict_of_laws(std::size_t broken, std::size_t count) {
  if (count == 1) return broken == 0 ? "The law holds." : "The law does not hold.";
  if (count == 2 && broken != 1) return broken == 0 ? "Both laws hold." : "Neither law holds.";
  if (broken == 0) return fmt::format("All {} laws hold.", count);
  if (broken == count) return fmt::format("None of the {} laws holds.", count);
  return fmt::format("{0} of {1} laws {0:does|do} not hold.", Count{broken}, count);
}

// A file of tables: of one matrix that has no name, under the name that was given, or that of the file; or of several.
std::shared_ptr<Graph> graph_of_tables(const std::string& path, const std::optional<std::string>& as) {
  auto graph = std::make_shared<Graph>();
  NamedMatrices all = read_all_matrices(path);
  if (as && all.are_named) fail("{} names its matrices: leave out --as", path);
  for (MatrixFile& file : all.matrices) {
    only_one(file, file.where);
    const std::string name = as.value_or(file.name);
    if (graph->find(name)) fail("{} has two matrices {}: give each a name of its own", path, name);
    graph->input(name_from_text(name), std::move(file.matrix), axis("rows", std::move(file.row_labels)),
                 axis("columns", std::move(file.column_labels)));
  }
  return graph;
}

// Whether traces are read from files of this kind. Others have one matrix, or several below their names.
bool is_trace(const std::string& path) {
  if (path == "-") return true;  // which is read once
  if (!parts_of_source(path).key.empty()) return false;
  const std::string_view kind = kind_of_file(path, read_bytes(path));
  return kind != "npy" && kind != "csv" && kind != "tsv";
}

// The tolerance that allows for the rounding of numbers as coarse as the coarsest of a file, and what these are called.
struct RoundingOfFile {
  Precision precision;
  std::string_view numbers, tolerance;
};
constexpr std::array roundings = {RoundingOfFile{Precision::bfloat16, "bfloat16", "1e-2"},
                                  RoundingOfFile{Precision::float16, "float16", "1e-3"},
                                  RoundingOfFile{Precision::float32, "float32", "1e-6"}};

const RoundingOfFile* rounding_of_file(const std::string& path) {
  if (path == "-") return nullptr;
  const std::string file = parts_of_source(path).path;
  const std::string_view kind = kind_of_file(file, read_bytes(file));
  if (kind != "npy" && kind != "npz" && kind != "safetensors") return nullptr;
  const std::vector<MatrixFile> matrices = read_all_matrices(path).matrices;
  for (const RoundingOfFile& rounding : roundings) {
    if (std::ranges::find(matrices, rounding.precision, &MatrixFile::precision) != matrices.end()) return &rounding;
  }
  return nullptr;
}

// Where laws fail by no more than the rounding of a file's numbers.
void say_rounding(Page& page, const Answer& answer, const std::vector<TriedLaw>& all, const Arguments& arguments) {
  const std::optional<std::string> path = arguments.text(option::trace);
  if (!path || arguments.has(option::tolerance)) return;
  const RoundingOfFile* const rounding = rounding_of_file(*path);
  if (!rounding) return;
  const double tolerance = *parse_number<double>(rounding->tolerance);
  for (const TriedLaw& tried : all) {
    if (tried.holds()) continue;
    const TriedLaw again{tried.law, check_law(tried.law, *answer.computation.graph, tolerance)};
    if (!again.holds()) continue;
    page.say(text(fmt::format("{} has {} numbers. With ", *path, rounding->numbers),
                  code(fmt::format("--tolerance {}", rounding->tolerance)), ", which allows for their rounding, ",
                  code(tried.law), " holds."));
  }
}

}  // namespace

Answer matrices_of_trace(const std::string& path, const Arguments& arguments) {
  for (const Option* member : problem_members()) {
    if (arguments.has(*member)) fail("--trace gives all matrices: leave out {}", member->name);
  }
  Answer answer;
  const std::optional<std::string> as = arguments.text(option::as);
  if (!is_trace(path)) {
    answer.computation.graph = graph_of_tables(path, as);
    return answer;
  }
  if (as) fail("{} names its matrices: leave out --as", path);
  const TraceFile file = read_trace(path);
  answer.warnings = file.remarks;
  answer.computation.graph = std::make_shared<Graph>();
  for (const TracedMatrix& matrix : file.trace.matrices())
    answer.computation.graph->input(name_from_text(matrix.name), matrix.cells(), matrix.frame.rows,
                                    matrix.frame.columns);
  return answer;
}

// Without the name of another command, the laws are held to a walk.
Answer run_assert(const Command& command, const Arguments& arguments) {
  refuse_other_word(command, arguments);
  const std::optional<std::string> path = arguments.text(option::trace);
  return path ? matrices_of_trace(*path, arguments) : run_walk(command, arguments);
}

Answer laws_page(const Command& command, const Arguments& arguments) {
  Answer answer = ordinary_answer(command, arguments);
  if (!answer.computation.graph)
    fail("attn {} shows no matrices here: there is nothing that a law could hold for", command.name);
  const double tolerance = arguments.number(option::tolerance).value_or(default_tolerance_of_laws);
  Page page;
  Records records{
      "laws", {"law", "matrices", "holds", "place", "left", "right", "should_be", "cells_broken", "cells"}, {}};
  std::vector<TriedLaw> all;
  for (const std::string& law : laws_in(*arguments.text(option::assertion)))
    all.push_back({law, check_law(law, *answer.computation.graph, tolerance)});
  const auto broken = static_cast<std::size_t>(std::ranges::count_if(all, std::not_fn(&TriedLaw::holds)));
  page.say(verdict_of_laws(broken, all.size()));
  const LawViolation* first = nullptr;
  std::vector<const Node*> named;
  for (const TriedLaw& tried : all) {
    say_law(page, tried);
    for (const LawCheck& held : tried.held) {
      std::ranges::copy_if(held.of, std::back_inserter(named),
                           [&](const Node* node) { return std::ranges::find(named, node) == named.end(); });
      const Records::Value none = std::monostate();
      if (!held.broken) {
        records.rows.push_back({tried.law, names_of_matrices(held), true, none, none, none, none, none, none});
        continue;
      }
      const LawViolation& at = *held.broken;
      if (!first) first = &at;
      records.rows.push_back({tried.law, names_of_matrices(held), false, at.place, at.left,
                              at.compares ? Records::Value(at.right) : none, at.should_be,
                              static_cast<std::uint64_t>(at.cells), static_cast<std::uint64_t>(at.of)});
    }
  }
  if (broken > 0) say_rounding(page, answer, all, arguments);
  page.say(std::move(records));
  if (first) explain_broken(page, *first);
  if (broken > 0) answer.verdict = Verdict::failed;
  answer.page.blocks = std::move(page.blocks);
  answer.page.trace = Trace(named);
  return answer;
}

std::vector<OptionChoice> choices::law_functions() {
  static const std::vector<LawFunction> all = attn::law_functions();
  std::vector<OptionChoice> rows;
  for (const LawFunction& function : all) rows.push_back({function.name, function.summary});
  return rows;
}

}  // namespace attn
