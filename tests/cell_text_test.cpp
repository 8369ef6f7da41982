#include "core/term/cell_text.hpp"

#include <algorithm>
#include <regex>
#include <set>

#include "commands_tried.hpp"
#include "core/op/operations.hpp"
#include "core/term/explanation.hpp"
#include "core/term/general.hpp"
#include "operation_samples.hpp"
#include "source_files.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

bool is_one_cell(const Pattern& pattern) {
  if (pattern.kind != Pattern::Kind::choice) return pattern.kind == Pattern::Kind::cell;
  return false;
}

// Where a source asks what an operation is in another way than by its address.
std::vector<std::string> asked_otherwise(const std::string& source) {
  static const std::regex otherwise(R"re(op->name *[=!]=|dynamic_cast<const \w+\*>\(.*op\b)re");
  std::vector<std::string> found;
  for (std::sregex_iterator one(source.begin(), source.end(), otherwise), end; one != end; ++one)
    found.push_back(one->str());
  return found;
}

}  // namespace

TEST_CASE("the text of every operation is read, and says whether it only moves numbers") {
  for (const Op* op : operations()) {
    CAPTURE(op->name);
    const CellText& text = cell_text_of(*op);
    CHECK(std::ranges::all_of(text.cases, [](const CellText::Case& one) { return is_one_cell(one.term); }) ==
          op->moves);
    CHECK_FALSE(text.cases.back().condition.has_value());
  }
}

TEST_CASE("every operation has a definition that is written, and any of its cells can be told in general") {
  for (const OperationSample& sample : operation_samples()) {
    CAPTURE(sample.name);
    Graph graph;
    Samples from(graph);
    const Value made = sample.apply(from);
    const Value value = made.node().name.empty() ? name(name_from_text("result"), made) : made;
    const Node& node = value.node();
    const std::string code = written_definition(node.op->definition);
    CHECK(code.find("set(") != std::string::npos);
    for (const std::string& name : operands_of(node.op->definition)) CHECK(code.find(name) != std::string::npos);
    const std::vector<std::string> lines = general_cell(node);
    CHECK(lines.front().starts_with(node.title() + "[i,j] = "));
    CHECK(lines.size() >= cell_text_of(*node.op).cases.size());
  }
}

TEST_CASE("a number and a difference close what stands before them, so that each step of a text is a step") {
  const auto kind_of = [](std::string_view term) {
    return read_cell_text("of x, y: " + std::string(term)).cases.front().term.kind;
  };
  CHECK(kind_of("x[i,j] + 1 − 2") == Pattern::Kind::difference);
  CHECK(kind_of("x[i,j] − 1 + 2") == Pattern::Kind::sum);
  CHECK(kind_of("x[i,j] · 2 / 3") == Pattern::Kind::quotient);
  CHECK(kind_of("x[i,j] / 2 · 3") == Pattern::Kind::product);
  CHECK(read_cell_text("of x: x[i,j] + 1 + 2").cases.front().term.parts.size() == 3);
  CHECK(read_cell_text("of x: x[i,j] + (1 + 2)").cases.front().term.parts.size() == 2);
}

TEST_CASE("a text that cannot be read is refused with its place") {
  struct Wrong {
    const char* text;
    const char* told;
  };
  for (const Wrong& wrong : {
           Wrong{"of x: y[i,j]", "unknown operand 'y'"},
           {"of x: x[i,j", "] is missing"},
           {"of x: x[i]", ", is missing"},
           {"of x: epsilom", "did you mean 'epsilon'"},
           {"of x: sofmax(x[i,j])", "unknown function 'sofmax'"},
           {"of x: sum(k = 1 columns(x): x[i,k])", "'to' is missing"},
           {"of x: x[i,j] = 0: 1", "; is missing"},
           {"of x: x[i,j] = 0: 1;", "the last case must have no condition"},
           {"of x: x[i,j] because \"{x[i,j}\"", "] is missing"},
           {"of x: x[i,j] because \"{row i of y}\"", "unknown operand 'y'"},
           {"of x: place(x)", "[ is missing"},
           {"of x: 1; 2", "nothing stands behind a case without a condition"},
           {"of x: (x[i,j] = 0: 1)", "; is missing"},
           {"of x: all(k = 1 to 3: 1): 2; 3", "a condition is missing"},
           {"", "a number or a name is missing"},
       }) {
    const std::string text = wrong.text;
    CAPTURE(text);
    const std::string told = refusal([&] { read_cell_text(wrong.text); });
    CHECK_MESSAGE(told.find(wrong.told) != std::string::npos, std::string(told));
  }
  CHECK(refusal([] { read_cell_text("of x: " + std::string(1000, '(')); }).find("nested too deeply") !=
        std::string::npos);
}

TEST_CASE("the cells that a cell is made of are those of its explanation") {
  for (const OperationSample& sample : operation_samples()) {
    CAPTURE(sample.name);
    Graph graph;
    Samples samples(graph);
    const Value result = sample.apply(samples);
    for (std::size_t i = 0; i < result.shape().rows; ++i) {
      for (std::size_t j = 0; j < result.shape().columns; ++j) {
        std::set<Cell> taken, explained;
        each_part(result.node(), i, j, [&](const CellsOfOperand& cells) {
          for (std::size_t r = 0; r < cells.rows; ++r) {
            for (std::size_t c = 0; c < cells.columns; ++c) taken.insert({cells.node, cells.row + r, cells.column + c});
          }
        });
        for (const Cell& cell : cells_of(explain(result.node(), i, j).term)) explained.insert(cell);
        CHECK(taken == explained);
      }
    }
  }
}

TEST_CASE("what an operation is, is asked by its address alone") {
  for (const SourceFile& file : source_files("src")) {
    CAPTURE(file.path);
    CHECK(asked_otherwise(file.text) == std::vector<std::string>{});
  }
  CHECK(asked_otherwise("if (node.op->name == \"add\") return;").size() == 1);
  CHECK(asked_otherwise("dynamic_cast<const Mask*>(node.op)").size() == 1);
  CHECK(asked_otherwise("if (node.op == &op::add) return;").empty());
}

TEST_CASE("an explanation with code has any cell, the definition, and what is behind it without a name") {
  const std::string softmax = accepted({"explain", "weights[1,2]", "--scores", "3 1", "--code"}).out;
  check_has(softmax, "weights[i,j] = 0   if scores[i,m] = −∞");
  check_has(softmax, "with m = the column of the largest number of scores[i]");
  check_has(softmax, "// x is scores");
  check_has(softmax, "This is the definition. What runs for it is a kernel");
  const std::string linear = accepted({"explain", "q[1,1]", "--x", "1 2", "--wq", "1; 1", "--bq", "5", "--code"}).out;
  check_has(linear, "q[i,j] = (x ⋅ w_q)[i,j] + b_q[");
  check_has(linear, "// a is x");
  const std::string moved =
      accepted({"explain", "head.1.q[1,1]", "--heads", "2", "--text", "a b", "--d-model", "4", "--code"}).out;
  check_has(moved, "[i,j]");
  const std::string hard =
      accepted({"pool", "--scores", "3 1", "--v", "1; 2", "--explain", "average.weights[1,2]", "--code"}).out;
  check_has(hard, "This is what runs.");
}
