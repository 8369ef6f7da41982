#include <fmt/format.h>

#include <array>

#include "command/command.hpp"
#include "core/attention/watches.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

// Two matrices that are given, in place of those of a problem.
struct Joined {
  const Option &first, &second;
  Value (*join)(const std::vector<Value>& parts);
  std::string_view sentence;
  // The labels of the direction in which the result is longer, and those that both share.
  std::vector<std::string> MatrixFile::*joined, MatrixFile::*shared;
  std::size_t Shape::*size;  // of the latter
};

constexpr Joined joins[] = {
    {option::left, option::right, concatenate_labelled, "Each row of the one is followed by the same row of the other.",
     &MatrixFile::column_labels, &MatrixFile::row_labels, &Shape::rows},
    {option::above, option::below, stack, "The rows of the one are followed by those of the other.",
     &MatrixFile::row_labels, &MatrixFile::column_labels, &Shape::columns}};

std::vector<std::string> numbers_as_labels(std::size_t count) {
  std::vector<std::string> labels;
  for (std::size_t i = 1; i <= count; ++i) labels.push_back(std::to_string(i));
  return labels;
}

// What one of both matrices labels is labelled in the result.
void share_labels(const Joined& how, std::array<MatrixFile, 2>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    MatrixFile &file = files[i], &other = files[1 - i];
    const Shape shape = file.matrix.shape();
    if ((file.*how.joined).empty() && !(other.*how.joined).empty())
      file.*how.joined = numbers_as_labels(how.joined == &MatrixFile::row_labels ? shape.rows : shape.columns);
    if ((file.*how.shared).empty()) file.*how.shared = other.*how.shared;
  }
}

Answer join(const Joined& how, const Arguments& arguments) {
  for (const OfferedOption& row : problem_options().options) {
    if (!arguments.has(*row.option)) continue;
    fail("{} belongs to a problem, and {} and {} give two matrices: leave out one of them", row.option->name,
         how.first.name, how.second.name);
  }
  const std::shared_ptr<Graph> graph = watched_graph();
  const std::array options = {&how.first, &how.second};
  std::array<MatrixFile, 2> files = {arguments.matrix(how.first), arguments.matrix(how.second)};
  for (std::size_t i = 0; i < files.size(); ++i) require_finite(options[i]->name, files[i], false);
  std::vector<std::string> warnings;
  if (const auto [one, other] = std::pair(files[0].*how.shared, files[1].*how.shared);
      !one.empty() && !other.empty() && one != other) {
    warnings.push_back(fmt::format("{} and {} have different labels of {}: the result has those of {}", how.first.name,
                                   how.second.name, how.shared == &MatrixFile::row_labels ? "rows" : "columns",
                                   how.first.name));
  }
  if (files[0].matrix.shape().*how.size == files[1].matrix.shape().*how.size) share_labels(how, files);
  std::vector<Value> parts;
  for (std::size_t i = 0; i < files.size(); ++i) {
    parts.push_back(graph->input(name_from_text(options[i]->name.substr(2)), std::move(files[i].matrix),
                                 axis("rows", files[i].row_labels), axis("columns", files[i].column_labels)));
  }
  const Value result = name(name_from_text("result"), how.join(parts));
  compute_watched(*graph);
  Page page{.trace = graph->named()};
  page.head(1, "Concatenation");
  page.say(std::string(how.sentence));
  page.say(SideBySide{{table_of(parts[0].node()), table_of(parts[1].node())}});
  add_results(page, {&result.node()});
  return {.page = std::move(page), .warnings = std::move(warnings), .computation = {graph}};
}

}  // namespace

Answer run_concat(const Command& command, const Arguments& arguments) {
  for (const Joined& how : joins) {
    if (arguments.has(how.first)) return join(how, arguments);
  }
  return run_step(command, arguments);
}

}  // namespace attn
