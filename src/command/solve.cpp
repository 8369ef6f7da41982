#include "command/solve.hpp"
#include "attention/watches.hpp"

#include "command/parameter_file.hpp"
#include "problem/examples.hpp"
#include "problem/problem_file.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

Request whole_problem(const Arguments& arguments) {
  const std::optional<std::string> file = arguments.text("problem"), example = arguments.text("example");
  if (file && example) fail("--problem and --example are both given: give one of them");
  if (file) return read_request(read_bytes(*file), *file);
  if (!example && arguments.request.has_source()) return {};
  const std::optional<std::string> parameters = arguments.text("parameters");
  if (!example && parameters) {
    fail("--parameters {} needs embeddings or words: give --x or --text", *parameters);
  }
  const std::string_view usual =
      arguments.default_example.empty() ? examples().front().name : arguments.default_example;
  const Example& chosen = look_up(examples(), example ? *example : usual, "example");
  Request request = read_request(chosen.json, std::string(chosen.name));
  // Its sizes and its scale belong to its own parameters.
  if (parameters) {
    request.leave_out(
        {"heads", "d_model", "d_k", "d_v", "scale", "w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o"});
  }
  return request;
}

// The parameters of a lone attention, such as PyTorch's nn.MultiheadAttention.
Request learned_parameters(const Arguments& arguments, const std::string& path) {
  ParameterFile file = parameters_asked_for(arguments, path);
  Request learned;
  for (auto& [name, matrix] : file.parameters) {
    const Field* field = find_row(fields(), name);
    if (!field) {
      fail(
          "{} has the parameters of {}, and this command needs those of one attention: use attn encoder, "
          "attn "
          "decoder or attn transformer, or choose one attention with --prefix NAME",
          path, file.layout == own_layout ? "a model" : file.layout);
    }
    if (arguments.request.has(name))
      fail("{} has {}, and {} is given too: leave out one of them", path, name, field->option);
    learned.set(*field, std::move(matrix));
  }
  return learned;
}

}  // namespace

std::vector<std::string> Solved::warnings() const {
  std::vector<std::string> all = problem->remarks;
  for (std::string& warning : attn::warnings(*graph)) all.push_back(std::move(warning));
  return all;
}

std::vector<const Node*> Solved::nodes(const std::optional<std::string>& pattern) const {
  return pattern ? graph->matching(*pattern) : graph->named();
}

Page Solved::page(const std::vector<const Node*>& trace) const {
  return {.trace = trace, .recipe = recipe_of(problem)};
}

Outcome Solved::outcome(Page page, std::vector<std::string> warnings) const {
  return {.page = std::move(page), .warnings = std::move(warnings), .computation = {graph, problem}};
}

Request requested(const Arguments& arguments) {
  require_no_idle_prefix(arguments);
  const std::optional<std::string> path = arguments.text("parameters");
  const Request learned = path ? learned_parameters(arguments, *path) : Request();
  Request request = whole_problem(arguments);
  request.override_with(learned);
  if (path && !request.has("heads") && !arguments.request.has("heads")) fail_without_heads(*path);
  request.override_with(arguments.request);
  // What a problem says of its own numbers need not be true of others.
  if (!arguments.request.empty()) request.about.clear();
  return request;
}

std::vector<std::string> with_mask_unused(const Problem& problem) {
  std::vector<std::string> remarks = problem.remarks;
  if (problem.is_masked()) {
    remarks.push_back("the mask is ignored here: no key is masked");
  }
  return remarks;
}

Solved solve(const Arguments& arguments, Extent extent, std::vector<const Node*> (*wanted)(const Graph&)) {
  const Request request = requested(arguments);
  auto problem = std::make_shared<const Problem>(build(request));
  const std::optional<std::string> only = arguments.text("only");
  auto graph = std::make_shared<Graph>(keep_nothing());
  evaluate(*problem, *graph, extent);
  if (arguments.has("transpose")) add_alignments(*graph);
  compute(*graph, only ? shown_in_tables(graph->matching(*only)) : wanted(*graph));
  return {std::move(problem), std::move(graph)};
}

}  // namespace attn
