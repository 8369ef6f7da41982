#include "command/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "command/inputs_in_file.hpp"
#include "command/telling_input.hpp"
#include "files/json.hpp"
#include "files/opened.hpp"
#include "mistake/others_names.hpp"
#include "parameters/parameters.hpp"
#include "problem/problem_file.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "tell/comparison_page.hpp"

namespace attn {
namespace {

bool gives_problem(const Arguments& arguments) {
  return arguments.has_any(
      std::array{&option::example, &option::problem, &option::model, &option::parameters});
}

bool offers(const Command& command, const Option& option) {
  const std::vector<Offered> all = options_of(command);
  return std::ranges::find(all, &option, &Offered::option) != all.end();
}

std::string names_in(const std::vector<MatrixFile>& files) {
  constexpr std::size_t most = 12;
  std::vector<std::string> names;
  for (const MatrixFile& file : files) {
    if (names.size() == most) {
      names.emplace_back("…");
      break;
    }
    names.push_back(in_quotes(file.name));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// The parameters of one attention of PyTorch that the file has besides what is compared. They say nothing of
// heads, but the weights of each may.
void take_parameters(NamedMatrices& all, const std::string& path, const OffersOption& offers,
                     Arguments& arguments) {
  const std::string where = place_of_file(path);
  std::optional<ParametersAmong> among = parameters_among(all.matrices, where);
  if (!among) return;
  OptionValues values;
  for (auto& [name, matrix] : among->file.parameters) {
    const auto member = std::ranges::find(problem_members(), std::string_view(name), &Option::member);
    if (member == problem_members().end()) return;  // of a whole model
    values.put(**member, MatrixFile{.matrix = std::move(matrix)});
  }
  values.override_with(arguments);
  static_cast<OptionValues&>(arguments) = std::move(values);
  if (!arguments.has(option::heads) && !inputs_among(all.matrices, arguments, offers).has(option::heads))
    fail("{} does not say how many heads there are: give --heads N", where);
  std::erase_if(all.matrices, [&](const MatrixFile& file) { return among->names.contains(file.name); });
}

void take_inputs(const std::vector<MatrixFile>& files, const std::string& where, const OffersOption& offers,
                 Arguments& arguments) {
  OptionValues values = inputs_among(files, arguments, offers);
  for (const MatrixFile& file : arguments.to_compare->refused) {
    if (is_input(file.name)) fail("{}", file.refused);
  }
  if (!values.has_input() && !arguments.has_input()) {
    fail(
        "{} has nothing that its matrices can be computed from: give the problem, as with --example NAME or "
        "--x, or "
        "put x, w_q, w_k and w_v into the file. Its matrices are: {}",
        where, names_in(files));
  }
  values.override_with(arguments);
  static_cast<OptionValues&>(arguments) = std::move(values);
}

// Whether it is what a matrix of the computation is called, by us or by others.
bool names_matrix_of(const Graph& graph, const std::string& name) {
  const std::span<const Role* const> roles = roles_called(name);
  const auto may_be = [&](const Node& node) { return std::ranges::find(roles, node.role) != roles.end(); };
  return graph.find(name) || std::ranges::any_of(graph.nodes(), may_be);
}

// A matrix without a name: what --as says, what its file is called, or the only one of its shape.
void name_it(MatrixFile& file, const Graph& graph, const std::optional<std::string>& as) {
  if (as) {
    file.name = *as;
    return;
  }
  if (names_matrix_of(graph, file.name)) return;
  const Shape shape{file.matrix.shape().rows / file.count, file.matrix.shape().columns};
  std::vector<std::string> names;
  for (const Node* node : results_of_shape(graph, shape)) names.push_back(node->name);
  if (names.size() == 1) {
    file.name = names.front();
    return;
  }
  if (names.size() > 16) names.resize(16);
  if (names.empty())
    fail(
        "{} has one matrix without a name, of {}, and nothing that is computed has this shape: say what it "
        "is with "
        "--as NAME",
        file.where, to_string(shape));
  fail("{} has one matrix without a name: say which it is with --as NAME. Of its shape, {}, are: {}",
       file.where, to_string(shape), fmt::join(names, ", "));
}

std::vector<std::string> some_names(const Graph& graph) {
  constexpr std::size_t most = 24;
  std::vector<std::string> names = graph.names();
  if (names.size() > most) {
    names.resize(most);
    names.emplace_back("…");
  }
  return names;
}

// Whether it is a page of attn that says what it was computed from.
bool has_problem_inside(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(place_of(path), ignored)) return false;
  const std::string bytes = read_bytes(path);
  if (kind_of_file(path, bytes) != "json") return false;
  const Json file = parse_json(bytes, place_of_file(path));
  const auto problem = file.is_object() ? file.find("problem") : file.end();
  return problem != file.end() && problem->is_object();
}

}  // namespace

void take_matrices_to_compare(const Command& command, Arguments& arguments) {
  const std::optional<std::string> path = arguments.text(option::against);
  if (!path) return;
  const auto offered = [&](const Option& option) { return offers(command, option) && command.uses(option); };
  NamedMatrices all = read_all_matrices(*path);
  if (arguments.has(option::as) && all.are_named)
    fail("--as names a matrix that its file does not name, and {} names its own: leave out --as",
         place_of_file(*path));
  if (all.are_named && command.takes_problem() && !gives_problem(arguments))
    take_parameters(all, *path, offered, arguments);
  arguments.to_compare = std::make_shared<const NamedMatrices>(std::move(all));
  if (gives_problem(arguments) || arguments.has(option::text)) {
    if (!command.takes_problem() || gives_problem(arguments)) return;
  }
  if (*path != "-" && !arguments.has_input() && offers(command, option::problem) &&
      has_problem_inside(*path)) {
    arguments.put(option::problem, *path);
  } else if (command.takes_problem()) {
    take_inputs(arguments.to_compare->matrices, place_of_file(*path), offered, arguments);
  }
}

void compare(Outcome& outcome, const Command& command, const Arguments& arguments) {
  const std::shared_ptr<Graph> graph = outcome.computation.graph;
  std::vector<MatrixFile> files = arguments.to_compare->matrices;
  const std::string where = place_of_file(*arguments.text(option::against));
  if (!arguments.to_compare->are_named) name_it(files.front(), *graph, arguments.text(option::as));
  Matched matched = match(*graph, files);
  for (const MatrixFile& file : arguments.to_compare->refused) {
    if (names_matrix_of(*graph, file.name)) fail("{}", file.refused);
    matched.others.push_back({file.name, "it is no matrix of numbers"});
  }
  if (const std::optional<std::string> only = arguments.only()) {
    const std::vector<const Node*> chosen = graph->matching(*only);
    std::erase_if(matched.compared, [&](const Compared& matrix) {
      return std::ranges::find(chosen, matrix.node) == chosen.end();
    });
  }
  const bool has_results = std::ranges::any_of(
      matched.compared, [](const Compared& matrix) { return matrix.node->operation != nullptr; });
  if (!has_results) {
    fail(
        "no matrix of {} can be compared with what is computed: its matrices are {}. Of the computation "
        "there are: {}",
        where, names_in(files), fmt::join(some_names(*graph), ", "));
  }
  const Findings findings = find_mistakes(*graph, matched.compared);
  std::vector<const Role*> roles;
  for (const Compared& matrix : matched.compared) roles.push_back(matrix.node->role);
  const auto find = [&](const std::vector<const Mistake*>& mistakes) {
    return telling_input(command, mistakes, roles, *arguments.environment);
  };
  outcome.page.blocks.clear();
  std::vector<const Node*> nodes;
  for (const Compared& matrix : matched.compared) nodes.push_back(matrix.node);
  outcome.page.trace = Trace(nodes);
  add_comparison(outcome.page, where, matched, findings, find);
  if (!findings.all.empty()) outcome.verdict = Verdict::failed;
}

// Without the name of another command, what is computed is a walk.
Outcome run_check(const Command& command, const Arguments& arguments) {
  if (!arguments.words.empty()) {
    const std::vector<OptionChoice> all = choices::checked();
    const std::string& word = arguments.words.front();
    if (std::ranges::find(all, word, &OptionChoice::name) != all.end())
      fail("the command comes behind the file: attn check FILE {}, and then the options", word);
    fail_unknown("command", word, names_of(std::span(all)));
  }
  return run_walk(command, arguments);
}

}  // namespace attn
