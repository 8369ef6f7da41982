#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/check/arranged_matrices.hpp"
#include "command/check/file_comparison.hpp"
#include "command/check/inputs_in_file.hpp"
#include "command/check/other_readings.hpp"
#include "command/check/recorded_modules.hpp"
#include "command/check/recording.hpp"
#include "command/computed_problem.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/file_access.hpp"
#include "data/files/json.hpp"
#include "data/files/matrix_file.hpp"
#include "data/parameters/layout.hpp"
#include "data/parameters/parameters.hpp"
#include "data/problem/problem_file.hpp"
#include "data/problem/problem_options.hpp"
#include "school/check/matching.hpp"
#include "school/check/names.hpp"
#include "school/mistake/mistake_search.hpp"

namespace attn {

// What were the matrices of a file computed from?

bool gives_problem(const Arguments& arguments) {
  return arguments.has_any(std::array{&option::example, &option::problem, &option::model, &option::parameters});
}

namespace {

// --- taken from file

bool offers(const Command& command, const Option& option) {
  const std::vector<OfferedOption> all = options_of(command);
  return std::ranges::find(all, &option, &OfferedOption::option) != all.end();
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

// The file cannot be read without the number of heads.
class UnknownHeads : public InputError {
 public:
  using InputError::InputError;
};

[[noreturn]] void fail_without_number_of_heads(const std::string& where) {
  throw UnknownHeads(fmt::format("{} does not say how many heads there are: give --heads N", where));
}

// The parameters of one attention of PyTorch that the file has besides what is compared. They say nothing of
// heads, but the weights of each may. Those of linear layers are matrices like others: turn_linear_layers() turns them.
void take_attention_parameters(NamedMatrices& all, const std::string& path, const OffersOption& offers,
                               Arguments& arguments) {
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

// What goes into a whole model: by what people call it there besides the names of its role, on which side it is
// compared, and the words that say it as well.
struct VectorsOfModel {
  const Option* option;
  const Role* role;
  std::vector<std::string_view> also_called;  // as plain names
  const ScopeKind* side;                      // null: on none
  const Option* words;                        // null: none do
};
const std::vector<VectorsOfModel>& vectors_of_models() {
  static const std::vector<VectorsOfModel> table = {
      {&option::x, &role::x, {"src", "source"}, &scope::source, &option::source},
      {&option::target_x, &role::x, {"tgt", "target", "targetx"}, &scope::target, &option::target},
      {&option::memory, &role::memory, {}, nullptr, nullptr},
  };
  return table;
}

bool is_called(const MatrixFile& file, const VectorsOfModel& row, bool by_role) {
  if (!by_role) return std::ranges::find(row.also_called, plain_name(file.name)) != row.also_called.end();
  const std::span<const Role* const> roles = roles_named(file.name);
  return !roles.empty() && roles.front() == row.role;
}

// Takes what goes into a model. What is missing of it.
std::vector<const Option*> take_vectors_of_model(const RecordedInputs& inputs, NamedMatrices& all,
                                                 const std::string& where, Arguments& arguments) {
  std::vector<const Option*> missing;
  std::set<const MatrixFile*> taken;
  for (const VectorsOfModel& row : vectors_of_models()) {
    if (std::ranges::find(inputs.matrices, row.option) == inputs.matrices.end()) continue;
    if (arguments.has(*row.option) || (row.words && arguments.has(*row.words))) continue;
    auto found = all.matrices.end();
    for (const bool by_role : {false, true}) {
      if (found == all.matrices.end())
        found = std::ranges::find_if(all.matrices, [&](const MatrixFile& file) {
          return !taken.contains(&file) && is_called(file, row, by_role);
        });
    }
    if (found == all.matrices.end()) {
      missing.push_back(row.option);
      continue;
    }
    if (found->count > 1)
      fail("{}: {} has {} sentences, and one is compared: save that of one, as in {}[:1]", where,
           name_in_quotes(found->name), found->count, found->name);
    arguments.put(*row.option, *found);
    taken.insert(&*found);
    const std::string name = row.side ? Name({*row.side}, *row.role).text() : std::string(row.role->leaf);
    if (!found->name.ends_with(row.role->leaf))
      all.remarks.push_back(fmt::format("{} goes into the model: it is {}.", found->name, name));
    found->name = name;
  }
  return missing;
}

// The parameters of a whole model that the file has beside what is compared, and what goes into it.
void take_model_parameters(const Command& command, NamedMatrices& all, const std::string& path, Arguments& arguments) {
  const SourceParts source = parts_of_source(path);
  const std::string where = place_of_file(path);
  const RecordedInputs* const inputs = inputs_recorded_for(command.name);
  if (!inputs || gives_problem(arguments) || source.path == "-" || !source.key.empty() ||
      !layout_recorded_as(layout_among(all.matrices)))
    return;
  ParametersAmong among = *parameters_among(all.matrices, where);
  std::erase_if(all.matrices, [&](const MatrixFile& file) { return among.names.contains(file.name); });
  const std::vector<const Option*> missing = take_vectors_of_model(*inputs, all, where, arguments);
  // Where words have vectors, their ids go in.
  const bool has_words = embedding_in(among.file.parameters) != nullptr;
  if (!missing.empty() &&
      !(has_words && arguments.has_any(std::array{&option::source, &option::target, &option::text})))
    fail("{} has the parameters of {}, and not all that goes into it: give {}", where, among.file.layout,
         has_words ? option::target.name : missing.front()->name);
  arguments.put(option::parameters, path);
  arguments.attachments.of<ParametersRead>().file = std::make_shared<const ParameterFile>(std::move(among.file));
}

// γ and β of a norm by itself, as PyTorch names them.
void name_own_parameters(const Command& command, NamedMatrices& all) {
  for (const PartTensor& tensor : tensors_of_part(scope::norm)) {
    const auto is_it = [&](const OfferedOption& row) { return row.option->role == &tensor.role; };
    if (std::ranges::none_of(command.own.options, is_it)) continue;
    for (MatrixFile& file : all.matrices) {
      if (file.name != tensor.name || file.name == tensor.role.leaf) continue;
      file.name = tensor.role.leaf;
      all.remarks.push_back(fmt::format("{} is {}, as in a norm of PyTorch.", tensor.name, file.name));
    }
  }
}

void take_inputs(const NamedMatrices& all, const std::string& where, const OffersOption& offers, std::size_t heads,
                 Arguments& arguments) {
  const std::vector<MatrixFile>& files = all.matrices;
  OptionValues values = inputs_among(files, arguments, offers, heads);
  if (all.are_named) put_heads_of_keys(arguments, values, offers);
  if (all.are_named && offers(option::kv_heads) && may_share_keys(arguments, values))
    fail_without_number_of_heads(where);
  const auto is_of_module = [](const MatrixFile& file) {
    const std::span<const Role* const> roles = roles_named(file.name);
    return is_linear_weight(file.name) && roles.front() == &role::w_o;
  };
  if (heads == 0 && !arguments.has(option::heads) && !values.has(option::heads) && values.has(option::w_o) &&
      std::ranges::any_of(files, is_of_module))
    fail_without_number_of_heads(where);
  for (const MatrixFile& file : all.refused) {
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

// Whether it is a page of attn that says what it was computed from.
bool has_problem_inside(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(confined_path(path), ignored)) return false;
  const std::string bytes = read_bytes(path);
  if (kind_of_file(path, bytes) != "json") return false;
  const Json file = parse_json(bytes, place_of_file(path));
  const auto problem = file.is_object() ? file.find("problem") : file.end();
  return problem != file.end() && problem->is_object();
}

// The matrices of a file that options of the command's own take, such as γ. Whether those that are there now are all
// that it computes from: those that need other data have it, such as logits their targets.
bool take_own_inputs(const Command& command, const std::vector<MatrixFile>& files, Arguments& arguments) {
  bool has_any = false;
  for (const OfferedOption& row : command.own.options) {
    const Option& option = *row.option;
    if (option.kind != Kind::matrix || option.is_mask) continue;
    const auto is_it = [&](const MatrixFile& file) { return file.count == 1 && role_of(file) == option.role; };
    const auto found = std::ranges::find_if(files, is_it);
    if (option.role && !arguments.has(option) && found != files.end()) arguments.put(option, *found);
    const auto is_with_data = [&](const Requirement& row) {
      return row.one == &option &&
             std::ranges::any_of(row.any_of, [](const Option* other) { return other->kind != Kind::flag; });
    };
    has_any = has_any || (std::ranges::any_of(command.own.needs, is_with_data) && arguments.has(option));
  }
  return has_any;
}

// A row for each position, and a column for each number of its vector.
bool take_sizes_of_positions(NamedMatrices& all, Arguments& arguments) {
  if (gives_problem(arguments) || arguments.has_input()) return false;
  const auto is_encoding = [&](const MatrixFile& file) {
    const std::span<const Role* const> roles = roles_named(file.name);
    return !all.are_named || std::ranges::find(roles, &role::positions) != roles.end();
  };
  const auto file = std::ranges::find_if(all.matrices, is_encoding);
  if (file == all.matrices.end() || file->count > 1) return false;
  const Shape shape = file->matrix.shape();
  if (!arguments.has(option::n)) arguments.put(option::n, shape.rows);
  if (!arguments.has(option::d_model)) arguments.put(option::d_model, shape.columns);
  return true;
}

// Of all kinds one computes its vectors from nothing but their places.
bool take_kind_of_positions(NamedMatrices& all, Arguments& arguments) {
  if (gives_problem(arguments) || arguments.has_any(std::array{&option::positions, &option::position_table}))
    return false;
  arguments.put(option::positions, std::string("sinusoidal"));
  all.remarks.push_back("No option says which positions are added: they are taken to be sinusoidal.");
  return false;
}

// What else a command computes from, where a file tells it. Whether that is enough to compute.
struct TakenBeside {
  std::string_view command;
  bool (*take)(NamedMatrices& all, Arguments& arguments);
};
constexpr std::array taken_beside = {TakenBeside{"positions", take_sizes_of_positions},
                                     TakenBeside{"add-positions", take_kind_of_positions}};

// Gives the matrices to compare, and takes from them what is not given to compute from.
void take_matrices(const Command& command, NamedMatrices all, const std::string& path, Arguments& arguments) {
  const auto offered = [&](const Option& option) { return offers(command, option) && command.uses(option); };
  const bool is_problem = all.are_named && command.takes_problem();
  const std::size_t heads = is_problem ? put_heads_side_by_side(all) : 0;
  bool is_enough = take_own_inputs(command, all.matrices, arguments);
  for (const TakenBeside& row : taken_beside) {
    if (row.command == command.name) is_enough = row.take(all, arguments) || is_enough;
  }
  auto to_compare = std::make_shared<const NamedMatrices>(std::move(all));
  arguments.attachments.of<MatricesToCompare>().all = to_compare;
  if (is_enough) return;
  if (gives_problem(arguments) || arguments.has(option::text)) {
    if (!command.takes_problem() || gives_problem(arguments)) return;
  }
  const std::string file = parts_of_source(path).path;
  if (file != "-" && !arguments.has_input() && offers(command, option::problem) && has_problem_inside(file)) {
    arguments.put(option::problem, file);
  } else if (command.takes_problem()) {
    take_inputs(*to_compare, place_of_file(path), offered, heads, arguments);
  }
}

// How many matrices of a file agree with what is computed, and how many do not.
struct Agreement {
  std::size_t same = 0, others = 0;
};

std::optional<Agreement> agreement_of_taken(const Command& command, Arguments arguments) {
  Environment without_work = *arguments.environment;
  without_work.work = nullptr;
  arguments.environment = &without_work;
  arguments.read();
  const Answer answer = command.run(command, arguments);
  if (!answer.computation.graph) return std::nullopt;
  Agreement found;
  for (const ComparedMatrix& one :
       match_matrices(*answer.computation.graph, arguments.attachments.find<MatricesToCompare>()->all->matrices)
           .compared)
    ++(one.difference.agrees() ? found.same : found.others);
  return found;
}

// Nothing: it cannot be computed so.
std::optional<Agreement> agreement(const Command& command, const NamedMatrices& all, const std::string& path,
                                   Arguments arguments) {
  const InputReports only_tried;
  return where_possible([&] {
    take_matrices(command, all, path, arguments);
    return agreement_of_taken(command, std::move(arguments));
  });
}

// The reading with which most of the file's own matrices agree: the first one unless another is better.
NamedMatrices best_reading(const Command& command, NamedMatrices all, const std::string& path,
                           const Arguments& arguments) {
  const std::vector<OtherReading> others = other_readings(all.matrices);
  if (others.empty()) return all;
  std::optional<Agreement> most = agreement(command, all, path, arguments);
  if (most && most->others == 0) return all;
  NamedMatrices best = all;
  for (std::size_t chosen = 1; chosen < std::size_t{1} << others.size(); ++chosen) {
    NamedMatrices other = all;
    for (std::size_t i = 0; i < others.size(); ++i) {
      if ((chosen >> i & 1U) != 0) read_otherwise(other, others[i]);
    }
    const std::optional<Agreement> found = agreement(command, other, path, arguments);
    if (!found || (most && found->same <= most->same)) continue;
    most = found;
    best = std::move(other);
  }
  return best;
}

// Step by step no word attends to a later one.
void take_step_by_step(const Command& command, NamedMatrices& all, Arguments& arguments) {
  StepsInFile& steps = arguments.attachments.of<MatricesToCompare>().steps;
  steps = join_steps(all);
  const bool says_mask = arguments.has_any(std::array{&option::causal, &option::mask});
  if (steps.count == 0 || says_mask || gives_problem(arguments)) return;
  if (!offers(command, option::causal)) return;
  arguments.put(option::causal, true);
  all.remarks.push_back("No word attends to a later one, because that is not there yet: the computation is causal.");
}

// Takes what was read, in all the ways that a file may need, and with these readings of it.
void take_all_as_read(const Command& command, NamedMatrices all, const std::string& path, Arguments& arguments,
                      std::optional<std::size_t> readings = {}) {
  const auto offered = [&](const Option& option) { return offers(command, option) && command.uses(option); };
  take_recording(command, path, all, arguments);
  if (all.are_named) name_own_parameters(command, all);
  if (all.are_named && command.takes_model()) {
    const bool are_given = arguments.has(option::parameters);
    if (!arguments.attachments.find<MatricesToCompare>()->is_recorded)
      take_model_parameters(command, all, path, arguments);
    if (!are_given && arguments.has(option::parameters) && !arguments.has(option::heads))
      fail_without_number_of_heads(place_of_file(path));
  }
  // Of a generation each step has a computation of its own.
  if (command.run != run_generate) take_step_by_step(command, all, arguments);
  for (const MatrixFile& file : all.matrices) InputReports::tell(input_report_of(file.name, file));
  if (all.are_named && command.takes_problem() && !gives_problem(arguments))
    take_attention_parameters(all, path, offered, arguments);
  if (all.are_named && command.takes_problem()) {
    arguments.read();  // what is given beside the file tells what its matrices must fit
    part_arrays_of_heads(all.matrices);
    turn_linear_layers(all, arguments);
    name_masks(all.matrices);
    if (const std::optional<std::size_t> words = words_in(all.matrices, arguments)) cut_masks(all, *words);
    const std::vector<OtherReading> others = other_readings(all.matrices);
    arguments.attachments.of<MatricesToCompare>().other_readings = others.size();
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (readings && (*readings >> i & 1U) != 0) read_otherwise(all, others[i]);
    }
    if (!readings) all = best_reading(command, std::move(all), path, arguments);
  }
  take_matrices(command, std::move(all), path, arguments);
}

// The number of heads with which most of the file agrees, where it does not say it and cannot be read without.
void take_with_supposed_heads(const Command& command, const std::string& path, Arguments& arguments) {
  const Arguments before = arguments;
  const NamedMatrices& read = *arguments.attachments.find<MatricesToCompare>()->as_read;
  std::optional<Agreement> most;
  for (const SupposedSetting& heads : supposed_heads()) {
    Arguments others = before;
    others.put(*heads.option, heads.value);
    const std::optional<Agreement> found = where_possible([&] {
      const InputReports only_tried;
      Arguments tried = others;
      take_all_as_read(command, read, path, tried);
      return agreement_of_taken(command, std::move(tried));
    });
    if (!found || (most && found->same <= most->same)) continue;
    most = found;
    arguments = others;
  }
  if (!most) {  // what is wrong with one head is not how many there are
    Arguments one = before;
    one.put(option::heads, std::size_t{1});
    take_all_as_read(command, read, path, one);
    agreement_of_taken(command, std::move(one));
    return take_all_as_read(command, read, path, arguments);
  }
  arguments.attachments.of<MatricesToCompare>().supposed.push_back(&option::heads);
  take_all_as_read(command, read, path, arguments);
}

}  // namespace

void take_matrices_to_compare(const Command& command, Arguments& arguments) {
  const std::string path = *arguments.text(option::against);
  const auto typed = std::make_shared<const Arguments>(arguments);
  const auto read = std::make_shared<const NamedMatrices>(read_all_matrices(path));
  MatricesToCompare& to_compare = arguments.attachments.of<MatricesToCompare>();
  to_compare = {.as_read = read, .as_typed = typed, .is_recorded = is_recorded(*read)};
  const Arguments before = arguments;
  try {
    take_all_as_read(command, *read, path, arguments);
  } catch (const UnknownHeads&) {
    arguments = before;
    take_with_supposed_heads(command, path, arguments);
  }
}

Arguments supposing(const Command& command, const Arguments& arguments, const Supposition& supposed) {
  const MatricesToCompare& to_compare = *arguments.attachments.find<MatricesToCompare>();
  Arguments others = *to_compare.as_typed;
  MatricesToCompare& now = others.attachments.of<MatricesToCompare>();
  now = {.as_read = to_compare.as_read, .as_typed = to_compare.as_typed, .is_recorded = to_compare.is_recorded};
  for (const SupposedSetting& one : supposed.settings) {
    others.put(*one.option, one.value);
    now.supposed.push_back(one.option);
  }
  // What had to be supposed from the start stays.
  for (const OptionValues::Entry& entry : arguments.entries()) {
    const bool is_first = std::ranges::find(to_compare.supposed, entry.option) != to_compare.supposed.end();
    if (!is_first || others.has(*entry.option)) continue;
    others.put(*entry.option, entry.value);
    now.supposed.push_back(entry.option);
  }
  take_all_as_read(command, *to_compare.as_read, *others.text(option::against), others, supposed.readings);
  others.read();
  return others;
}

}  // namespace attn
