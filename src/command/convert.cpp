#include "command/command.hpp"
#include "files/matrix_file.hpp"
#include "support/error.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

// What the matrix is called where the target names its matrices.
std::string name_of(const MatrixFile& file) {
  return file.name.empty() ? "matrix" : file.name;
}

}  // namespace

Outcome run_convert(const Command&, const Arguments& arguments) {
  const std::string &source = arguments.words[0], &target = arguments.words[1];
  const std::optional<std::string> key = arguments.text(option::key);
  if (arguments.has(option::output))
    fail("--output cannot be used with attn convert, which writes to {}: leave it out", target);
  MatrixFile file = read_matrix(key ? source + ":" + *key : source);
  auto graph = std::make_shared<Graph>();
  graph->input(called(name_of(file)), std::move(file.matrix), axis("rows", std::move(file.row_labels)),
               axis("columns", std::move(file.column_labels)));
  const Node& node = graph->nodes().front();
  Page page{.trace = {{&node}}, .blocks = {table_of(node)}};
  return {.page = std::move(page), .output = target, .computation = {graph}};
}

}  // namespace attn
