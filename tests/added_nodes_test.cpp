#include <algorithm>

#include "command/app.hpp"
#include "command/command.hpp"
#include "command/computed_problem.hpp"
#include "command/form.hpp"
#include "core/op/operations.hpp"
#include "core/support/text.hpp"
#include "testing.hpp"

using namespace attn;

// A command that adds a matrix to the computation of a problem finds it again in all that chooses among matrices.

namespace {

void add_gram(Graph& graph) {
  const Value q(*graph.find("q"));
  name(name_from_text("gram"), matmul_transposed(q, q));
}

Answer run_gram(const Command&, const Arguments& arguments) {
  const ComputedProblem solved = compute_problem(arguments, Extent::output, all_nodes, add_gram);
  return solved.answer(solved.page(solved.nodes(std::nullopt)));
}

Answer gram(std::vector<std::string> line) {
  Command command = look_up(commands(), "walk", "command");
  command.run = run_gram;
  line.insert(line.begin(), "walk");
  Arguments arguments = parse(line).arguments;
  arguments.read();
  return ordinary_answer(command, arguments);
}

}  // namespace

TEST_CASE("what a command adds is chosen, explained and multiplied like all else") {
  const Answer only = gram({"--only", "gram"});
  REQUIRE(only.page.trace.matrices().size() == 1);
  CHECK(only.page.trace.find("gram"));
  CHECK(gram({"--explain", "gram[1,2]"}).page.trace.find("gram"));
  CHECK_FALSE(gram({"--product", "gram"}).page.blocks.empty());
}
