#include "command/check/arranged_matrices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "command/check/inputs_in_file.hpp"
#include "core/math/rows.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/problem_options.hpp"
#include "school/check/matching.hpp"
#include "school/check/names.hpp"

namespace attn {

namespace {

// --- linear layers

// The linear layers of a file whose weights are (out, in): by their names, as PyTorch stores them, or because only so
// their shapes fit.
class LinearLayers {
 public:
  LinearLayers(NamedMatrices& all, const Arguments& given) : all_(all), given_(given) {}

  // Turns them to (in, out), and says which.
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
        all_.remarks.push_back(fmt::format("{} {:is|are} {}.", names_for_sentence(names), Count{names.size()}, why));
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

MatrixFile beside_each_other(const std::vector<const MatrixFile*>& parts, std::string name) {
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

}  // namespace

std::string names_for_sentence(std::vector<std::string> names) {
  constexpr std::size_t many = 8, few = 4;
  if (names.size() > many) {
    const std::size_t rest = names.size() - few;
    names.resize(few);
    names.push_back(fmt::format("{} others", rest));
  }
  return list_in_words(names);
}

// --- linear layers

void turn_linear_layers(NamedMatrices& all, const Arguments& given) { LinearLayers(all, given).turn(); }

// --- one module per head

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
        first <= 1 && last - first + 1 == files.size() && (files.size() > 1 || head_named(files[0]->name));
    const auto has_other_rows = [&](const MatrixFile* file) {
      return file->matrix.shape().rows != files[0]->matrix.shape().rows;
    };
    if (!are_all || std::ranges::any_of(files, has_other_rows)) continue;
    heads = std::max(heads, files.size());
    parts.insert(files.begin(), files.end());
    joined.emplace(files[0], beside_each_other(files, name));
    if (files.size() > 1) told.push_back(fmt::format("{} to {}", files[0]->name, files.back()->name));
  }
  if (!told.empty())
    all.remarks.push_back(
        fmt::format("The matrices of the {} heads are put side by side: {}.", heads, names_for_sentence(told)));
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

}  // namespace attn
