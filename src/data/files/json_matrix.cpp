#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/json.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

namespace {

std::optional<double> number_in_words(const std::string& word) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (word == "Infinity") return infinity;
  if (word == "-Infinity") return -infinity;
  return std::nullopt;
}

bool is_cell(const Json& value) {
  if (value.is_string()) return number_in_words(value.get_ref<const std::string&>()).has_value();
  return value.is_number() || value.is_boolean();
}

bool begins_like_row(const Json& value) { return value.is_array() && !value.empty() && is_cell(value.front()); }

bool begins_like_matrix(const Json& value) {
  return begins_like_row(value) || (value.is_array() && !value.empty() && begins_like_matrix(value.front()));
}

[[noreturn]] void refuse_cell(const Json& value, const std::string& place) {
  if (value.is_null()) {
    fail("{} is null, which is not a number: write a number there", place);
  }
  if (value.is_array()) fail("{} is an array, one level too deep: give rows of numbers", place);
  if (value.is_object()) fail("{} is an object: give rows of numbers", place);
  fail("{} is the text {}: write a number, true, false, \"NaN\", \"Infinity\" or \"-Infinity\"", place,
       in_quotes(value.get_ref<const std::string&>()));
}

double number_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_string()) return *number_in_words(value.get_ref<const std::string&>());
  return value.get<double>();
}

CellKind kind_of(const Json& value) {
  return value.is_boolean() ? CellKind::boolean : value.is_number_integer() ? CellKind::whole : CellKind::real;
}

// Whether a whole number is no double.
bool is_no_double(const Json& value) { return value.is_number_integer() && is_rounded(value.dump()); }

// Returns the greatest kind of the cells.
CellKind fill_row(std::span<double> cells, const Json& values, std::size_t i, const std::string& where) {
  CellKind kind = CellKind::boolean;
  for (std::size_t j = 0; j < cells.size(); ++j) {
    if (!is_cell(values[j])) refuse_cell(values[j], fmt::format("{}: row {}, column {}", where, i + 1, j + 1));
    cells[j] = number_of(values[j]);
    kind = std::max(kind, kind_of(values[j]));
  }
  return kind;
}

MatrixFile from_rows(const std::vector<const Json*>& rows, const std::string& where) {
  const std::size_t columns = rows.front()->is_array() ? rows.front()->size() : 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]->is_array()) {
      fail("{}: row {} is not an array of numbers, as the rows above are: put it in brackets", where, i + 1);
    }
    if (rows[i]->size() == columns) continue;
    fail("{}: row {} has {}, the rows above have {}: every row must have the same number", where, i + 1,
         count_of(rows[i]->size(), "cell"), columns);
  }
  if (columns == 0) fail("{} has a row without cells: give at least one number", where);
  MatrixFile file;
  file.matrix = Matrix({rows.size(), columns});
  file.kind = CellKind::boolean;
  for (std::size_t i = 0; i < rows.size(); ++i)
    file.kind = std::max(file.kind, fill_row(row(file.matrix, i), *rows[i], i, where));
  for (std::size_t i = 0; i < rows.size() && file.assumed.empty(); ++i) {
    const auto found = std::ranges::find_if(*rows[i], [](const Json& value) { return is_no_double(value); });
    if (found != rows[i]->end()) file.assumed.push_back(rounded_to_double(found->dump()));
  }
  const auto has_truth = [](const Json* values) { return std::ranges::any_of(*values, &Json::is_boolean); };
  if (std::ranges::any_of(rows, has_truth)) file.assumed.push_back(truth_as_numbers());
  return file;
}

// Numbers, and null, which is what others write for NaN; no words, and no lists of them.
bool may_be_meant_as_matrix(const Json& value) {
  if (!value.is_array()) return value.is_number() || value.is_null();
  return value.empty() || is_cell(value.front()) || !value.front().is_string();
}

using Members = std::vector<std::pair<std::string, const Json*>>;

void append_members(Members& members, const Json& object) {
  for (const auto& [name, value] : object.items()) {
    if (begins_like_matrix(value)) members.emplace_back(name, &value);
  }
}

// Where members may stand: in the object itself, or in one of the two objects that our own output has.
std::vector<const Json*> homes_in(const Json& object) {
  std::vector<const Json*> homes = {&object};
  for (const char* name : {"arrays", "problem"}) {
    const auto found = object.find(name);
    if (found != object.end() && found->is_object()) homes.push_back(&*found);
  }
  return homes;
}

const Json& only_member(const Json& object, const std::string& where) {
  Members all;
  for (const Json* home : homes_in(object)) {
    Members members;
    append_members(members, *home);
    if (all.empty() && members.size() == 1) return *members.front().second;
    all.insert(all.end(), members.begin(), members.end());
  }
  if (all.empty()) fail("{} is an object without a matrix: give rows of numbers", where);
  std::vector<std::string> names;
  for (const auto& [name, value] : all) names.push_back(name);
  return *all[choose_matrix(names, "", where)].second;
}

const Json& member(const Json& object, std::string_view key, const std::string& where) {
  const Json* other = nullptr;
  Members all;
  for (const Json* home : homes_in(object)) {
    append_members(all, *home);
    const auto found = home->find(std::string(key));
    if (found == home->end()) continue;
    if (found->is_array()) return *found;
    if (!other) other = &*found;
  }
  if (other) return *other;
  if (all.empty()) fail("{} has no matrix {}, and no other matrix: give rows of numbers", where, in_quotes(key));
  std::vector<std::string> names;
  for (const auto& [name, value] : all) names.push_back(name);
  return *all[choose_matrix(names, key, where)].second;
}

// [[[[1, 0], [0, 1]]]] is an array of matrices.
const Json& without_batch_of_one(const Json& value) {
  const Json* inner = &value;
  for (int depth = 0; depth < 4; ++depth) {
    if (!inner->is_array() || inner->empty()) return value;
    if (depth < 3) inner = &inner->front();
  }
  return value.size() == 1 ? value.front() : value;
}

// How many arrays lie in each other.
std::size_t depth_of(const Json& value) {
  std::size_t depth = 0;
  for (const Json* inner = &value; inner->is_array() && !inner->empty(); inner = &inner->front()) ++depth;
  return depth;
}

// Parts that have the same shape, below each other.
MatrixFile below_each_other(const Json& values, const std::function<MatrixFile(const Json&, const std::string&)>& read,
                            std::string_view what, const std::string& where) {
  MatrixFile all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const MatrixFile one = read(values[i], fmt::format("{}: {} {}", where, what, i + 1));
    const Shape shape = one.matrix.shape();
    if (i == 0) {
      all = one;
      all.count = one.count * values.size();
      all.matrix = Matrix({shape.rows * values.size(), shape.columns});
    }
    if (shape.cells() * values.size() != all.matrix.size() || shape.columns != all.matrix.shape().columns ||
        one.count * values.size() != all.count) {
      fail("{}: {} {} is {}, which is not the shape of the first: all must have the same", where, what, i + 1,
           to_string(shape));
    }
    all.kind = std::max(all.kind, one.kind);
    if (all.assumed.empty()) all.assumed = one.assumed;
    std::ranges::copy(cells(one.matrix), cells(all.matrix).begin() + static_cast<std::ptrdiff_t>(i * shape.cells()));
  }
  return all;
}

}  // namespace

MatrixFile matrix_from_json(const Json& value, const std::string& where) {
  if (!value.is_array()) fail("{} is not an array: give rows of numbers, like [[1, 0], [0, 1]]", where);
  if (value.empty()) fail("{} is empty: give rows of numbers, like [[1, 0], [0, 1]]", where);
  std::vector<const Json*> rows;
  if (value.front().is_array()) {
    for (const Json& row : value) rows.push_back(&row);
  } else {
    rows.push_back(&value);
  }
  MatrixFile file = from_rows(rows, where);
  if (!value.front().is_array()) file.assumed.push_back(vector_as_row(value.size()));
  return file;
}

MatrixFile matrices_from_json(const Json& given, const std::string& where) {
  const Json& value = without_batch_of_one(given);
  if (!begins_like_matrix(value) || depth_of(value) < 3) return matrix_from_json(value, where);
  if (depth_of(value) < most_array_dimensions) return below_each_other(value, matrix_from_json, "matrix", where);
  const auto part = [](const Json& inner, const std::string& place) {
    MatrixFile one = matrices_from_json(inner, place);
    if (one.outer > 1) fail("{} is an array, one level too deep: an array has at most four dimensions", place);
    return one;
  };
  MatrixFile all = below_each_other(value, part, "part", where);
  all.outer = value.size();
  return all;
}

MatrixFile read_json(std::string_view bytes, std::string_view key, const std::string& where) {
  const Json value = parse_json(bytes, where);
  if (!value.is_object()) {
    refuse_key(key, where);
    return matrices_from_json(value, where);
  }
  if (key.empty()) return matrices_from_json(only_member(value, where), where);
  return matrices_from_json(member(value, key, where), fmt::format("{}:{}", where, key));
}

// Of what the program itself writes, the matrices of the computation.
std::vector<MatrixFile> read_all_json(std::string_view bytes, const std::string& where) {
  const Json value = parse_json(bytes, where);
  if (!value.is_object()) return {matrices_from_json(value, where)};
  const auto arrays = value.find("arrays");
  std::vector<MatrixFile> all;
  for (const auto& [name, member] : (arrays != value.end() && arrays->is_object() ? *arrays : value).items()) {
    if (!may_be_meant_as_matrix(member)) continue;
    try {
      all.push_back(matrices_from_json(member, fmt::format("{}:{}", where, name)));
    } catch (const InputError& error) {
      all.push_back({.refused = error.what()});
    }
    all.back().name = name;
  }
  if (all.empty()) fail("{} is an object without matrices: give each a name, as in {{\"weights\": [[1, 0]]}}", where);
  return all;
}

}  // namespace attn
