#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/check.hpp"
#include "command/recording.hpp"
#include "core/graph/name.hpp"
#include "core/math/rows.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/json.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/opened.hpp"
#include "data/parameters/parameters.hpp"
#include "data/problem/options.hpp"
#include "data/problem/problem_file.hpp"
#include "school/mistake/matching.hpp"
#include "school/mistake/names.hpp"

namespace attn {

// What were the matrices of a file computed from?

bool gives_problem(const Arguments& arguments) {
  return arguments.has_any(std::array{&option::example, &option::problem, &option::model, &option::parameters});
}

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

// A name without the number of the head whose projection it is.
std::string name_in_all_heads(const std::string& name) {
  const std::optional<ParameterOfHead> of_head = parameter_of_head(name);
  return of_head ? of_head->name : name;
}

bool holds_permissions(const Matrix& matrix) {
  const std::span<const double> all = cells(matrix);
  return std::ranges::all_of(all, [](double x) { return x == 0.0 || x == 1.0; }) &&
         std::ranges::find(all, 1.0) != all.end() && std::ranges::find(all, 0.0) != all.end();
}

// A mask is known by its numbers as well where its name may be that of something else.
bool is_mask(const MatrixFile& file) {
  const std::span<const Role* const> roles = roles_called(file.name);
  if (std::ranges::find(roles, &role::mask) == roles.end()) return false;
  const Shape shape = file.matrix.shape();
  return roles.front() == &role::mask || (shape.rows == shape.columns && holds_permissions(file.matrix));
}

// What a matrix of a file is first of all, of one head or of all; null: nothing that is known.
const Role* role_of(const MatrixFile& file) {
  if (is_mask(file)) return &role::mask;
  const std::span<const Role* const> roles = roles_called(name_in_all_heads(file.name));
  return roles.empty() ? nullptr : roles.front();
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
      const Role* const role = role_of(file);
      const Option* const option = role ? option_for(*role) : nullptr;
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
      take_all({&option::w_gate, &option::b_gate, &option::w_1, &option::b_1, &option::w_2, &option::b_2});
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
      taken_.put(option, parts_side_by_side(*file));
    }
  }

  // The heads of an array, side by side, as a problem has them.
  static MatrixFile parts_side_by_side(const MatrixFile& file) {
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

// Names for a sentence, of which there may be many.
std::string some_of(std::vector<std::string> names) {
  constexpr std::size_t many = 8, few = 4;
  if (names.size() > many) {
    const std::size_t rest = names.size() - few;
    names.resize(few);
    names.push_back(fmt::format("{} others", rest));
  }
  return listed(names);
}

// The linear layers of a file whose weights are (out, in): by their names, as PyTorch stores them, or because only so
// their shapes fit.
class LinearLayers {
 public:
  LinearLayers(NamedMatrices& all, const Arguments& given) : all_(all), given_(given) {}

  /// Turns them to (in, out), and says which.
  void turn() {
    for (MatrixFile& file : all_.matrices) {
      if (file.count == 1 && is_linear_weight(name_in_all_heads(file.name))) turn(file, of_pytorch);
    }
    turn_where_only_so_it_fits();
    for (const std::string_view why : {of_pytorch, as_it_fits, against_its_name}) {
      std::vector<std::string> names;
      for (const MatrixFile& file : all_.matrices) {
        const auto said = why_.find(&file);
        if (said != why_.end() && said->second == why) names.push_back(file.name);
      }
      if (!names.empty())
        all_.remarks.push_back(fmt::format("{} {} {}.", some_of(names), names.size() == 1 ? "is" : "are", why));
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
    turn_to(option::w_gate, of_words({&option::w_o, &option::w_v, &option::v}));
    turn_to(option::w_2, of_words({&option::w_1}));
  }

  // The matrices that multiply rows of so many numbers: one, or one for each head.
  void turn_to(const Option& option, std::optional<std::size_t> rows) {
    if (!rows || given_.has(option)) return;
    for (MatrixFile* const file : in_file(option)) {
      const Shape shape = file->matrix.shape();
      if (shape.rows == *rows || shape.columns != *rows) continue;
      turn(*file, is_linear_weight(name_in_all_heads(file->name)) ? against_its_name : as_it_fits);
    }
  }

  std::vector<MatrixFile*> in_file(const Option& option) {
    std::vector<MatrixFile*> found;
    for (MatrixFile& file : all_.matrices) {
      const Role* const role = role_of(file);
      if (file.count != 1 || !role || option_for(*role) != &option) continue;
      // Of several that are of no head, the first counts.
      if (found.empty() || parameter_of_head(file.name)) found.push_back(&file);
    }
    return found;
  }

  std::optional<std::size_t> columns_of(const Option& option) {
    if (given_.has(option)) return given_.matrix(option).matrix.shape().columns;
    const std::vector<MatrixFile*> files = in_file(option);
    if (files.empty()) return std::nullopt;
    std::size_t columns = 0;
    for (const MatrixFile* file : files) columns += file->matrix.shape().columns;
    return columns;
  }

  NamedMatrices& all_;
  const Arguments& given_;
  std::map<const MatrixFile*, std::string_view> why_;
};

// --- one module per head

// The parts of an array that has a projection for each head.
void part_arrays_of_heads(std::vector<MatrixFile>& files) {
  constexpr std::array projections = {&role::w_q, &role::w_k, &role::w_v};
  std::vector<MatrixFile> all;
  for (MatrixFile& file : files) {
    const Role* const role = file.count > 1 && file.outer == 1 ? role_of(file) : nullptr;
    if (std::ranges::find(projections, role) == projections.end()) {
      all.push_back(std::move(file));
      continue;
    }
    const std::string name = file.name;
    std::size_t head = 0;
    for (MatrixFile& part : parts_of(std::move(file))) {
      part.name = fmt::format("{}[{}]", name, head++);
      all.push_back(std::move(part));
    }
  }
  files = std::move(all);
}

MatrixFile side_by_side(const std::vector<const MatrixFile*>& parts, std::string name) {
  std::size_t columns = 0, before = 0;
  for (const MatrixFile* part : parts) columns += part->matrix.shape().columns;
  MatrixFile all = *parts.front();
  all.matrix = Matrix({parts.front()->matrix.shape().rows, columns});
  all.name = std::move(name);
  for (const MatrixFile* part : parts) {
    for (std::size_t i = 0; i < all.matrix.shape().rows; ++i)
      std::ranges::copy(row(part->matrix, i), row(all.matrix, i).subspan(before).begin());
    before += part->matrix.shape().columns;
  }
  return all;
}

// Puts the projections of heads that a file has one by one side by side, as their results stand side by side. Returns
// of how many heads they are; 0: it has none.
std::size_t put_heads_side_by_side(NamedMatrices& all) {
  std::map<std::string, std::map<std::size_t, const MatrixFile*>> by_name;
  for (const MatrixFile& file : all.matrices) {
    const std::optional<ParameterOfHead> of_head = file.count == 1 ? parameter_of_head(file.name) : std::nullopt;
    if (of_head) by_name[of_head->name].emplace(of_head->head, &file);
  }
  std::map<const MatrixFile*, MatrixFile> joined;  // by the first of each
  std::set<const MatrixFile*> parts;
  std::vector<std::string> told;
  std::size_t heads = 0;
  for (const auto& [name, of_heads] : by_name) {
    std::vector<const MatrixFile*> files;
    for (const auto& [head, file] : of_heads) files.push_back(file);
    const std::size_t first = of_heads.begin()->first, last = of_heads.rbegin()->first;
    const bool are_all =
        first <= 1 && last - first + 1 == files.size() && (files.size() > 1 || head_called(files[0]->name));
    const auto has_other_rows = [&](const MatrixFile* file) {
      return file->matrix.shape().rows != files[0]->matrix.shape().rows;
    };
    if (!are_all || std::ranges::any_of(files, has_other_rows)) continue;
    heads = std::max(heads, files.size());
    parts.insert(files.begin(), files.end());
    joined.emplace(files[0], side_by_side(files, name));
    if (files.size() > 1) told.push_back(fmt::format("{} to {}", files[0]->name, files.back()->name));
  }
  if (!told.empty())
    all.remarks.push_back(fmt::format("The matrices of the {} heads are put side by side: {}.", heads, some_of(told)));
  std::vector<MatrixFile> rest;
  for (MatrixFile& file : all.matrices) {
    const auto found = joined.find(&file);
    if (found != joined.end()) rest.push_back(std::move(found->second));
    if (!parts.contains(&file)) rest.push_back(std::move(file));
  }
  all.matrices = std::move(rest);
  return heads;
}

// --- masks in file

// The name of a mask without the module that keeps it, and one mask where each head keeps the same.
void name_masks(std::vector<MatrixFile>& files) {
  std::vector<MatrixFile> all;
  for (MatrixFile& file : files) {
    const std::size_t dot = file.name.rfind('.');
    MatrixFile alone = file;
    alone.name = dot == std::string::npos ? file.name : file.name.substr(dot + 1);
    if (dot == std::string::npos || !is_mask(alone) || !holds_permissions(file.matrix)) {
      all.push_back(std::move(file));
      continue;
    }
    const auto same = std::ranges::find(all, alone.name, &MatrixFile::name);
    if (same == all.end()) {
      all.push_back(std::move(alone));
    } else if (same->matrix != alone.matrix) {
      all.push_back(std::move(file));
    }
  }
  files = std::move(all);
}

// Modules keep the mask of the longest sequence, of which a sequence uses the beginning.
void cut_masks(NamedMatrices& all, std::size_t words) {
  for (MatrixFile& file : all.matrices) {
    const Shape shape = file.matrix.shape();
    if (file.count > 1 || shape.rows != shape.columns || shape.rows <= words || !is_mask(file) ||
        !holds_permissions(file.matrix))
      continue;
    Matrix begin({words, words});
    for (std::size_t i = 0; i < words; ++i) std::ranges::copy(row(file.matrix, i).first(words), row(begin, i).begin());
    file.matrix = std::move(begin);
    all.remarks.push_back(fmt::format("Of {}, which is {}, the first {} rows and columns are read, one for each word.",
                                      file.name, to_string(shape), words));
  }
}

// How many words there are, by what is attended from; nothing: neither the line nor the file says it.
std::optional<std::size_t> words_in(const std::vector<MatrixFile>& files, const Arguments& given) {
  for (const Option* option : {&option::x, &option::q}) {
    if (given.has(*option)) return given.matrix(*option).matrix.shape().rows;
    for (const MatrixFile& file : files) {
      const Role* const role = role_of(file);
      if (role && option_for(*role) == option) return file.matrix.shape().rows / file.count;
    }
  }
  return std::nullopt;
}

// --- problem in file

// Whether a matrix of this name can be what a problem is made of.
bool is_input(const std::string& name) {
  const std::span<const Role* const> roles = roles_called(name);
  return !roles.empty() && option_for(*roles.front());
}

// The problem that the matrices of a file belong to: those among them that cannot be computed from others,
// by the names that people give them, and how many heads there are; only options that are offered. What is
// given counts more than they.
OptionValues inputs_among(const std::vector<MatrixFile>& files, const Arguments& given, const OffersOption& offers,
                          std::size_t heads = 0) {
  OptionValues values = Inputs(files, given, offers).take();
  heads = std::max(heads, heads_in(files));
  if (heads > 1) values.put(option::heads, heads);
  return values;
}

// --- taken from file

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
                 std::size_t heads, Arguments& arguments) {
  OptionValues values = inputs_among(files, arguments, offers, heads);
  const auto is_of_module = [](const MatrixFile& file) {
    const std::span<const Role* const> roles = roles_called(file.name);
    return is_linear_weight(file.name) && roles.front() == &role::w_o;
  };
  if (heads == 0 && !arguments.has(option::heads) && !values.has(option::heads) && values.has(option::w_o) &&
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

// --- other readings

// A reading of a file's matrices that is as possible as the first: neither names nor shapes tell them apart.
struct OtherReading {
  std::vector<std::size_t> places;  // of the matrices that are read otherwise
  Matrix (*read)(const Matrix& matrix);
  std::string_view so;  // "they are read … "
};

// A square weight whose name does not say whether it is (in, out).
bool may_be_turned(const MatrixFile& file) {
  static constexpr std::array weights = {&role::w_q, &role::w_k,    &role::w_v, &role::w_o,
                                         &role::w_1, &role::w_gate, &role::w_2};
  const Shape shape = file.matrix.shape();
  return file.count == 1 && shape.rows == shape.columns && !is_linear_weight(name_in_all_heads(file.name)) &&
         std::ranges::find(weights, role_of(file)) != weights.end() && file.matrix != transposed(file.matrix);
}

Matrix opposite(const Matrix& mask) {
  Matrix other = mask;
  for (double& x : cells(other)) x = 1.0 - x;
  return other;
}

// A mask of which either number may permit. One that leaves every query a key is not read so that it leaves one none.
bool may_be_opposite(const MatrixFile& file) {
  if (!is_mask(file) || !holds_permissions(file.matrix)) return false;
  const auto leaves_one_none = [&](double permits) {
    for (std::size_t i = 0; i < file.matrix.shape().rows; ++i) {
      const std::span<const double> own = row(file.matrix, i);
      if (std::ranges::find(own, permits) == own.end()) return true;
    }
    return false;
  };
  return leaves_one_none(1.0) || !leaves_one_none(0.0);
}

std::vector<OtherReading> other_readings(const std::vector<MatrixFile>& files) {
  OtherReading turned{{}, transposed, "read as (out, in)"},
      opposite_masks{{}, opposite, "read as 1 or true where a key is masked, as PyTorch's nn.MultiheadAttention does"};
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (may_be_turned(files[i])) turned.places.push_back(i);
    if (may_be_opposite(files[i])) opposite_masks.places.push_back(i);
  }
  std::vector<OtherReading> all;
  for (OtherReading& one : std::array{std::move(turned), std::move(opposite_masks)}) {
    if (!one.places.empty()) all.push_back(std::move(one));
  }
  return all;
}

void read_otherwise(NamedMatrices& all, const OtherReading& reading) {
  std::vector<std::string> names;
  for (const std::size_t place : reading.places) {
    MatrixFile& file = all.matrices[place];
    file.matrix = reading.read(file.matrix);
    names.push_back(file.name);
  }
  all.remarks.push_back(fmt::format("{} {} {}: only so the other matrices of the file agree with {}.", some_of(names),
                                    names.size() == 1 ? "is" : "are", reading.so, names.size() == 1 ? "it" : "them"));
}

// The matrices of a file that options of the command's own take, such as γ. Whether those that are there now are all
// that it computes from: those that need other data have it, such as logits their targets.
bool take_own_inputs(const Command& command, const std::vector<MatrixFile>& files, Arguments& arguments) {
  bool has_any = false;
  for (const Offered& row : command.own.options) {
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

// Gives the matrices to compare, and takes from them what is not given to compute from.
void take(const Command& command, NamedMatrices all, const std::string& path, Arguments& arguments) {
  const auto offered = [&](const Option& option) { return offers(command, option) && command.uses(option); };
  const bool is_problem = all.are_named && command.takes_problem();
  const std::size_t heads = is_problem ? put_heads_side_by_side(all) : 0;
  bool is_enough = take_own_inputs(command, all.matrices, arguments);
  if (command.takes_more) is_enough = command.takes_more(all, arguments) || is_enough;
  arguments.to_compare = std::make_shared<const NamedMatrices>(std::move(all));
  if (is_enough) return;
  if (gives_problem(arguments) || arguments.has(option::text)) {
    if (!command.takes_problem() || gives_problem(arguments)) return;
  }
  if (path != "-" && !arguments.has_input() && offers(command, option::problem) && has_problem_inside(path)) {
    arguments.put(option::problem, path);
  } else if (command.takes_problem()) {
    take_inputs(arguments.to_compare->matrices, place_of_file(path), offered, heads, arguments);
  }
}

// How many matrices of a file agree with what is computed, and how many do not.
struct Agreement {
  std::size_t same = 0, others = 0;
};

// Nothing: it cannot be computed so.
std::optional<Agreement> agreement(const Command& command, const NamedMatrices& all, const std::string& path,
                                   Arguments arguments) {
  const ReadInputs only_tried;
  Environment without_work = *arguments.environment;
  without_work.work = nullptr;
  arguments.environment = &without_work;
  try {
    take(command, all, path, arguments);
    arguments.read();
    const Answer answer = command.run(command, arguments);
    if (!answer.computation.graph) return std::nullopt;
    Agreement found;
    for (const Compared& one : match(*answer.computation.graph, arguments.to_compare->matrices).compared)
      ++(one.difference.agrees() ? found.same : found.others);
    return found;
  } catch (const InputError&) {
    return std::nullopt;
  }
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

}  // namespace

namespace {

// Step by step no word attends to a later one.
void take_steps(const Command& command, NamedMatrices& all, Arguments& arguments) {
  arguments.steps_to_compare = join_steps(all);
  const bool says_mask = arguments.has_any(std::array{&option::causal, &option::mask});
  if (arguments.steps_to_compare.count == 0 || says_mask || gives_problem(arguments)) return;
  if (!offers(command, option::causal)) return;
  arguments.put(option::causal, true);
  all.remarks.push_back("No word attends to a later one, because that is not there yet: the computation is causal.");
}

}  // namespace

void take_matrices_to_compare(const Command& command, Arguments& arguments) {
  const std::optional<std::string> path = arguments.text(option::against);
  if (!path) return;
  const auto offered = [&](const Option& option) { return offers(command, option) && command.uses(option); };
  NamedMatrices all = read_all_matrices(*path);
  take_recording(command, *path, all, arguments);
  // Of a generation each step has a computation of its own.
  if (command.run != run_generate) take_steps(command, all, arguments);
  for (const MatrixFile& file : all.matrices) ReadInputs::tell(read_input_of(file.name, file));
  if (arguments.has(option::as) && all.are_named)
    fail("--as names a matrix that its file does not name, and {} names its own: leave out --as", place_of_file(*path));
  if (all.are_named && command.takes_problem() && !gives_problem(arguments))
    take_parameters(all, *path, offered, arguments);
  if (all.are_named && command.takes_problem()) {
    arguments.read();  // what is given beside the file tells what its matrices must fit
    part_arrays_of_heads(all.matrices);
    LinearLayers(all, arguments).turn();
    name_masks(all.matrices);
    if (const std::optional<std::size_t> words = words_in(all.matrices, arguments)) cut_masks(all, *words);
    all = best_reading(command, std::move(all), *path, arguments);
  }
  take(command, std::move(all), *path, arguments);
}

}  // namespace attn
