#include "command/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/app.hpp"
#include "command/command.hpp"
#include "core/graph/name.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/json.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/opened.hpp"
#include "data/parameters/parameters.hpp"
#include "data/problem/options.hpp"
#include "data/problem/problem_file.hpp"
#include "page/document/document.hpp"
#include "school/mistake/findings.hpp"
#include "school/mistake/matching.hpp"
#include "school/mistake/names.hpp"
#include "school/mistake/told.hpp"

namespace attn {

// --- inputs in file

namespace {

using OffersOption = std::function<bool(const Option& option)>;

const Option* option_for(const Role& role) {
  if (&role == &role::x) return &option::x;
  for (const Option* option : problem_members()) {
    if (option->role == &role) return option;
  }
  return nullptr;
}

// What may be given head by head: [heads, words, numbers].
bool has_heads(const Option& option) {
  return option.role == &role::q || option.role == &role::k || option.role == &role::v;
}

// The matrices of a file that a problem can be made of.
class Inputs {
 public:
  Inputs(const std::vector<MatrixFile>& files, const Arguments& given, const OffersOption& offers) : given_(given) {
    for (const MatrixFile& file : files) {
      const std::span<const Role* const> roles = roles_called(file.name);
      const Option* const option = roles.empty() ? nullptr : option_for(*roles.front());
      if (option && offers(*option)) in_file_.emplace_back(option, &file);
    }
  }

  // What cannot be computed from other matrices, which come before it.
  OptionValues take() && {
    const bool begins_later = has_any({&option::scores, &option::weights});
    if (!begins_later && !has_any({&option::text, &option::q, &option::n_q}) && !begins_with_queries()) take(option::x);
    const bool has_words = has_any({&option::x, &option::text});
    if (has_words) take_all({&option::memory, &option::value_memory});
    for (const auto& [projection, bias, result] :
         {std::array{&option::w_q, &option::b_q, &option::q}, std::array{&option::w_k, &option::b_k, &option::k},
          std::array{&option::w_v, &option::b_v, &option::v}}) {
      if (has_words && !has_any({result})) take(*projection);
      if (has_any({projection})) take(*bias);
      // Of words, projections that are not given are random.
      if (!begins_later && !has_any({projection, &option::n_q, &option::text})) take(*result);
    }
    const auto comes_from = [&](const Option& projection, const Option& result) {
      return has_any({&result}) || (has_words && has_any({&projection}));
    };
    const bool has_scores = comes_from(option::w_q, option::q) && comes_from(option::w_k, option::k);
    if (!has_scores && !has_words && !has_any({&option::q, &option::k, &option::weights})) take(option::scores);
    if (!has_scores && !has_words && !has_any({&option::q, &option::k, &option::scores}) && in_file(option::v)) {
      take(option::weights);
    }
    if (has_any({&option::scores, &option::weights})) take(option::v);
    if (!has_any({&option::scores, &option::weights}))
      take_all({&option::w_1, &option::b_1, &option::w_2, &option::b_2});
    take_all({&option::w_o, &option::b_o});
    if (!has_any({&option::weights})) take(option::mask);
    if (has_any({&option::positions})) take(option::position_table);
    if (has_any({&option::score}))
      take_all({&option::score_m, &option::score_wq, &option::score_wk, &option::score_wv, &option::score_b});
    return std::move(taken_);
  }

 private:
  // Queries and keys without what makes them of words: they are where the computation begins.
  bool begins_with_queries() const {
    const auto is_there = [&](const Option* option) { return in_file(*option) || given_.has(*option); };
    return in_file(option::q) && in_file(option::k) &&
           std::ranges::none_of(std::array{&option::w_q, &option::w_k, &option::w_v}, is_there);
  }

  const MatrixFile* in_file(const Option& option) const {
    const auto found = std::ranges::find(in_file_, &option, &Entry::first);
    return found == in_file_.end() ? nullptr : found->second;
  }

  bool has_any(std::initializer_list<const Option*> options) const {
    return std::ranges::any_of(options,
                               [&](const Option* option) { return given_.has(*option) || taken_.has(*option); });
  }

  void take(const Option& option) {
    const MatrixFile* const file = in_file(option);
    if (!file || given_.has(option)) return;
    if (file->outer > 1) {
      fail("{}: {} has four dimensions: give one of its {} parts", file->where, name_in_quotes(file->name),
           file->outer);
    }
    if (option.kind == Kind::matrices) {
      taken_.put(option, parts_of(option.is_mask ? taken_mask(*file) : *file));
    } else if (file->count == 1) {
      taken_.put(option, *file);
    } else if (has_heads(option)) {
      taken_.put(option, side_by_side(*file));
    }
  }

  // The heads of an array, side by side, as a problem has them.
  static MatrixFile side_by_side(const MatrixFile& file) {
    const Shape one{file.matrix.shape().rows / file.count, file.matrix.shape().columns};
    MatrixFile all = file;
    all.matrix = Matrix({one.rows, one.columns * file.count});
    all.count = 1;
    for (std::size_t i = 0; i < file.matrix.shape().rows; ++i) {
      const std::span<const double> from = row(file.matrix, i);
      std::ranges::copy(from, row(all.matrix, i % one.rows).subspan(i / one.rows * one.columns).begin());
    }
    return all;
  }

  // NumPy files of attn hold permissions as floats. Zeros alone may as well be added.
  static MatrixFile taken_mask(MatrixFile file) {
    const std::span<const double> all = cells(std::as_const(file.matrix));
    const bool permits = std::ranges::all_of(all, [](double x) { return x == 0.0 || x == 1.0; }) &&
                         std::ranges::find(all, 1.0) != all.end();
    if (permits) file.kind = CellKind::whole;
    ReadInputs::tell({file.name, file.where, to_string(file.matrix.shape()), {reading_of_mask(file).assumption}});
    return file;
  }

  void take_all(std::initializer_list<const Option*> options) {
    for (const Option* option : options) take(*option);
  }

  using Entry = std::pair<const Option*, const MatrixFile*>;
  std::vector<Entry> in_file_;
  const Arguments& given_;
  OptionValues taken_;
};

constexpr std::array roles_of_heads = {&role::q,      &role::k,      &role::v,      &role::scores,
                                       &role::scaled, &role::masked, &role::weights};

bool is_of_head(const Role* role) { return std::ranges::find(roles_of_heads, role) != roles_of_heads.end(); }

// How many heads the names count from 0 or 1, or the arrays of three dimensions have that each head has one of.
std::size_t heads_in(const std::vector<MatrixFile>& files) {
  std::set<std::size_t> numbers;
  std::size_t heads = 0;
  for (const MatrixFile& file : files) {
    if (std::ranges::any_of(roles_called(file.name), is_of_head)) heads = std::max(heads, file.count / file.outer);
    const std::optional<std::size_t> number = head_called(file.name);
    const bool is_of_one = number && std::ranges::any_of(readings_of(file.name), [](const Reading& reading) {
                             return std::ranges::any_of(reading.roles, is_of_head);
                           });
    if (is_of_one) numbers.insert(*number);
  }
  if (numbers.empty()) return heads;
  const std::size_t first = *numbers.begin(), last = *numbers.rbegin();
  const bool are_all = first <= 1 && last - first + 1 == numbers.size();
  return are_all ? std::max(heads, numbers.size()) : heads;
}

// The linear layers of a file whose weights are (out, in): by their names, as PyTorch stores them, or because only so
// their shapes fit.
class LinearLayers {
 public:
  LinearLayers(NamedMatrices& all, const Arguments& given) : all_(all), given_(given) {}

  /// Turns them to (in, out), and says which.
  void turn() {
    for (MatrixFile& file : all_.matrices) {
      if (file.count == 1 && is_linear_weight(file.name)) turn(file, of_pytorch);
    }
    turn_where_only_so_it_fits();
    for (const std::string_view why : {of_pytorch, as_it_fits, against_its_name}) {
      std::vector<std::string> names;
      for (const MatrixFile& file : all_.matrices) {
        const auto said = why_.find(&file);
        if (said != why_.end() && said->second == why) names.push_back(file.name);
      }
      if (!names.empty())
        all_.remarks.push_back(fmt::format("{} {} {}.", listed(names), names.size() == 1 ? "is" : "are", why));
    }
  }

 private:
  static constexpr std::string_view of_pytorch = "read as (out, in), as PyTorch stores the weight of a linear layer";
  static constexpr std::string_view as_it_fits = "read as (out, in): only the transpose fits the other matrices";
  static constexpr std::string_view against_its_name =
      "read as (in, out), although PyTorch stores the weight of a linear layer as (out, in): only so it fits the other matrices";

  void turn(MatrixFile& file, std::string_view why) {
    file.matrix = transposed(file.matrix);
    why_[&file] = why;
  }

  void turn_where_only_so_it_fits() {
    const auto of_words = [&](std::initializer_list<const Option*> options) {
      for (const Option* option : options) {
        if (const auto columns = columns_of(*option)) return columns;
      }
      return std::optional<std::size_t>();
    };
    turn_to(option::w_q, of_words({&option::x}));
    turn_to(option::w_k, of_words({&option::memory, &option::x}));
    turn_to(option::w_v, of_words({&option::value_memory, &option::memory, &option::x}));
    turn_to(option::w_o, of_words({&option::w_v, &option::v}));
    turn_to(option::w_1, of_words({&option::w_o, &option::w_v, &option::v}));
    turn_to(option::w_2, of_words({&option::w_1}));
  }

  // The matrix that multiplies rows of so many numbers.
  void turn_to(const Option& option, std::optional<std::size_t> rows) {
    MatrixFile* const file = in_file(option);
    if (!file || !rows || given_.has(option)) return;
    const Shape shape = file->matrix.shape();
    if (shape.rows == *rows || shape.columns != *rows) return;
    turn(*file, is_linear_weight(file->name) ? against_its_name : as_it_fits);
  }

  MatrixFile* in_file(const Option& option) {
    const auto found = std::ranges::find_if(all_.matrices, [&](const MatrixFile& file) {
      const std::span<const Role* const> roles = roles_called(file.name);
      return file.count == 1 && !roles.empty() && option_for(*roles.front()) == &option;
    });
    return found == all_.matrices.end() ? nullptr : &*found;
  }

  std::optional<std::size_t> columns_of(const Option& option) {
    if (given_.has(option)) return given_.matrix(option).matrix.shape().columns;
    const MatrixFile* const file = in_file(option);
    return file ? std::optional(file->matrix.shape().columns) : std::nullopt;
  }

  NamedMatrices& all_;
  const Arguments& given_;
  std::map<const MatrixFile*, std::string_view> why_;
};

// Whether a matrix of this name can be what a problem is made of.
bool is_input(const std::string& name) {
  const std::span<const Role* const> roles = roles_called(name);
  return !roles.empty() && option_for(*roles.front());
}

// The problem that the matrices of a file belong to: those among them that cannot be computed from others,
// by the names that people give them, and how many heads there are; only options that are offered. What is
// given counts more than they.
OptionValues inputs_among(const std::vector<MatrixFile>& files, const Arguments& given, const OffersOption& offers) {
  OptionValues values = Inputs(files, given, offers).take();
  const std::size_t heads = heads_in(files);
  if (heads > 1) values.put(option::heads, heads);
  return values;
}

}  // namespace

// --- telling input

namespace {

// Small computations that differ in what goes in, tried in this order. Commands without a row compute one
// attention or a part of one, as the first does.
struct SmallInput {
  std::string_view command;
  std::string_view options;
};

constexpr SmallInput small_inputs[] = {
    {"walk", "--text 'a b c' --d-model 4 --seed 2"},
    {"walk", "--text 'a b c' --d-model 6 --heads 2 --seed 2"},
    {"walk", "--text 'a b c' --d-model 6 --heads 2 --causal --seed 2"},
    {"walk", "--text 'a b c d e' --d-model 6 --heads 3 --causal --valid-length 4 --seed 2"},
    {"walk", "--text 'a b c d e' --d-model 6 --heads 2 --valid-length 3 --seed 2"},
    {"walk", "--text 'a b c' --memory-text 'd e f g h' --d-model 6 --heads 2 --seed 2"},
    {"walk", "--text 'a b c d e' --d-model 6 --heads 2 --positions sinusoidal --seed 2"},
    {"walk", "--text 'a b c d e' --d-model 8 --heads 2 --positions rotary --causal --seed 2"},
    {"walk", "--text 'a b c d e' --d-model 6 --heads 2 --d-ff 12 --layers 2 --seed 2"},
    {"walk", "--text 'a b c' --d-model 4 --score additive --seed 2"},
    {"walk", "--text 'a b c' --d-model 4 --score gaussian --seed 2"},
    {"encoder", "--source 'a b c d e' --seed 2"},
    {"encoder", "--source 'a b c d <blank>' --seed 2"},
    {"encoder", "--source 'a b c d e' --causal --seed 2"},
    {"encoder", "--source 'a b c d e' --norm pre --norm-kind rms --activation gelu --seed 2"},
    {"decoder", "--source 'a b c d e' --target 'b c a' --seed 2"},
    {"decoder", "--source 'a b c d <blank>' --target 'b c a' --seed 2"},
    {"decoder", "--kind decoder-only --target 'a b c d e' --positions rotary --seed 2"},
    {"transformer", "--source 'a b c d e' --target 'b c a' --seed 2"},
    {"transformer", "--source 'a b c d <blank>' --target 'b c a' --seed 2"},
    {"transformer", "--kind decoder-only --target 'a b c d e' --activation gelu --seed 2"},
    {"align", "--source 'a b c d' --seed 2 --hidden 3 --steps 3"},
    {"align", "--source 'a b c d' --seed 2 --hidden 3 --steps 3 --variant luong"},
    {"layer-norm", "--x '1 2 4; 0 1 0; -3 5 2' --gamma '1 2 3' --beta '1 0 -1'"},
};

// A small computation of this command, or of one that computes the same, in whose matrices of these roles
// the mistakes can best be told apart. Nothing: they give the same numbers in all that are tried.
std::optional<TellingInput> telling_input(const Command& command, const std::vector<const Mistake*>& mistakes,
                                          const std::vector<const Role*>& roles, const Environment& environment) {
  const bool has_own = std::ranges::find(small_inputs, command.name, &SmallInput::command) != std::end(small_inputs);
  const std::string_view name = has_own ? command.name : small_inputs[0].command;
  std::optional<TellingInput> best;
  std::size_t most = 1;
  for (const SmallInput& input : small_inputs) {
    if (input.command != name) continue;
    const std::string line = fmt::format("attn {} {}", input.command, input.options);
    try {
      const Answer answer = attn::answer(command_lines(line, "", 1).front().words, environment);
      std::vector<std::size_t> numbers = told_apart(*answer.computation.graph, mistakes, roles);
      const std::size_t count = std::set<std::size_t>(numbers.begin(), numbers.end()).size();
      if (count <= most) continue;
      most = count;
      best = TellingInput{line + " -o input.npz", std::move(numbers)};
      if (count == mistakes.size()) break;
    } catch (const InputError&) {
      continue;  // more than a document may compute
    }
  }
  return best;
}

}  // namespace

// --- check

namespace {

bool gives_problem(const Arguments& arguments) {
  return arguments.has_any(std::array{&option::example, &option::problem, &option::model, &option::parameters});
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

[[noreturn]] void fail_without_number_of_heads(const std::string& where) {
  fail("{} does not say how many heads there are: give --heads N", where);
}

// The parameters of one attention of PyTorch that the file has besides what is compared. They say nothing of
// heads, but the weights of each may. Those of linear layers are matrices like others: LinearLayers turns them.
void take_parameters(NamedMatrices& all, const std::string& path, const OffersOption& offers, Arguments& arguments) {
  const std::string where = place_of_file(path);
  std::optional<ParametersAmong> among = parameters_among(all.matrices, where);
  if (!among || std::ranges::all_of(among->names, is_of_linear_layer)) return;
  OptionValues values;
  for (auto& [name, matrix] : among->file.parameters) {
    const auto member = std::ranges::find(problem_members(), std::string_view(name), &Option::member);
    if (member == problem_members().end()) return;  // of a whole model
    values.put(**member, MatrixFile{.matrix = std::move(matrix)});
  }
  values.override_with(arguments);
  static_cast<OptionValues&>(arguments) = std::move(values);
  // Without an output projection the matrices of one head are all that there is.
  const bool may_be_several = among->file.parameters.contains("w_o");
  if (may_be_several && !arguments.has(option::heads) &&
      !inputs_among(all.matrices, arguments, offers).has(option::heads))
    fail_without_number_of_heads(where);
  std::erase_if(all.matrices, [&](const MatrixFile& file) { return among->names.contains(file.name); });
}

void take_inputs(const std::vector<MatrixFile>& files, const std::string& where, const OffersOption& offers,
                 Arguments& arguments) {
  OptionValues values = inputs_among(files, arguments, offers);
  const auto is_of_module = [](const MatrixFile& file) {
    const std::span<const Role* const> roles = roles_called(file.name);
    return is_linear_weight(file.name) && roles.front() == &role::w_o;
  };
  if (!arguments.has(option::heads) && !values.has(option::heads) && values.has(option::w_o) &&
      std::ranges::any_of(files, is_of_module))
    fail_without_number_of_heads(where);
  for (const MatrixFile& file : arguments.to_compare->refused) {
    if (is_input(file.name)) fail("{}", file.refused);
  }
  if (!values.has_input() && !arguments.has_input()) {
    fail(
        "{} has nothing that its matrices can be computed from: give the problem, as with --example NAME or --x, or put x, w_q, w_k and w_v into the file. "
        "Its matrices are: {}",
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
        "{} has one matrix without a name, of {}, and nothing that is computed has this shape: say what it is with --as NAME",
        file.where, to_string(shape));
  fail("{} has one matrix without a name: say which it is with --as NAME. Of its shape, {}, are: {}", file.where,
       to_string(shape), fmt::join(names, ", "));
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
  for (const MatrixFile& file : all.matrices) ReadInputs::tell(read_input_of(file.name, file));
  if (arguments.has(option::as) && all.are_named)
    fail("--as names a matrix that its file does not name, and {} names its own: leave out --as", place_of_file(*path));
  if (all.are_named && command.takes_problem() && !gives_problem(arguments))
    take_parameters(all, *path, offered, arguments);
  if (all.are_named && command.takes_problem()) {
    arguments.read();  // what is given beside the file tells what its matrices must fit
    LinearLayers(all, arguments).turn();
  }
  arguments.to_compare = std::make_shared<const NamedMatrices>(std::move(all));
  if (gives_problem(arguments) || arguments.has(option::text)) {
    if (!command.takes_problem() || gives_problem(arguments)) return;
  }
  if (*path != "-" && !arguments.has_input() && offers(command, option::problem) && has_problem_inside(*path)) {
    arguments.put(option::problem, *path);
  } else if (command.takes_problem()) {
    take_inputs(arguments.to_compare->matrices, place_of_file(*path), offered, arguments);
  }
}

void compare(Answer& answer, const Command& command, const Arguments& arguments) {
  const std::shared_ptr<Graph> graph = answer.computation.graph;
  std::vector<MatrixFile> files = arguments.to_compare->matrices;
  const std::string where = place_of_file(*arguments.text(option::against));
  if (!arguments.to_compare->are_named) name_it(files.front(), *graph, arguments.text(option::as));
  Matched matched = match(*graph, files);
  matched.remarks = arguments.to_compare->remarks;
  for (const MatrixFile& file : arguments.to_compare->refused) {
    if (names_matrix_of(*graph, file.name)) fail("{}", file.refused);
    matched.others.push_back({file.name, "it is no matrix of numbers"});
  }
  if (const std::optional<std::string> only = arguments.only()) {
    const std::vector<const Node*> chosen = graph->matching(*only);
    std::erase_if(matched.compared,
                  [&](const Compared& matrix) { return std::ranges::find(chosen, matrix.node) == chosen.end(); });
  }
  const bool has_results =
      std::ranges::any_of(matched.compared, [](const Compared& matrix) { return matrix.node->operation != nullptr; });
  if (!has_results) {
    fail(
        "no matrix of {} can be compared with what is computed: its matrices are {}. "
        "Of the computation there are: {}",
        where, names_in(files), fmt::join(some_names(*graph), ", "));
  }
  const Findings findings = find_mistakes(*graph, matched.compared);
  std::vector<const Role*> roles;
  for (const Compared& matrix : matched.compared) roles.push_back(matrix.node->role);
  const auto find = [&](const std::vector<const Mistake*>& mistakes) {
    return telling_input(command, mistakes, roles, *arguments.environment);
  };
  answer.page.blocks.clear();
  std::vector<const Node*> nodes;
  for (const Compared& matrix : matched.compared) nodes.push_back(matrix.node);
  answer.page.trace = Trace(nodes);
  add_comparison(answer.page, where, matched, findings, find);
  const bool passes = arguments.has(option::conventions_agree) ? findings.may_be_conventions() : findings.all.empty();
  if (!passes) answer.verdict = Verdict::failed;
}

// Without the name of another command, what is computed is a walk.
Answer run_check(const Command& command, const Arguments& arguments) {
  refuse_other_word(command, arguments);
  return run_walk(command, arguments);
}

}  // namespace attn
