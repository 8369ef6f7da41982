#include "command/check/inputs_in_file.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <set>
#include <span>
#include <utility>

#include "core/math/rows.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/file_access.hpp"
#include "data/problem/problem_options.hpp"
#include "school/check/matching.hpp"
#include "school/check/names.hpp"

namespace attn {

const Option* option_for(const Role& role) {
  if (&role == &role::x) return &option::x;
  for (const Option* option : problem_members()) {
    if (option->role == &role) return option;
  }
  return nullptr;
}

std::string name_in_all_heads(const std::string& name) {
  const std::optional<ParameterOfHead> of_head = parameter_of_head(name);
  return of_head ? of_head->name : name;
}

bool holds_permissions(const Matrix& matrix) {
  const std::span<const double> all = cells(matrix);
  return std::ranges::all_of(all, [](double x) { return x == 0.0 || x == 1.0; }) &&
         std::ranges::find(all, 1.0) != all.end() && std::ranges::find(all, 0.0) != all.end();
}

bool is_mask(const MatrixFile& file) {
  const std::span<const Role* const> roles = roles_named(file.name);
  if (std::ranges::find(roles, &role::mask) == roles.end()) return false;
  const Shape shape = file.matrix.shape();
  return roles.front() == &role::mask || (shape.rows == shape.columns && holds_permissions(file.matrix));
}

const Role* role_of(const MatrixFile& file) {
  if (is_mask(file)) return &role::mask;
  const std::span<const Role* const> roles = roles_named(name_in_all_heads(file.name));
  return roles.empty() ? nullptr : roles.front();
}

bool is_input(const std::string& name) {
  const std::span<const Role* const> roles = roles_named(name);
  return !roles.empty() && option_for(*roles.front());
}

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

namespace {

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
    InputReports::tell({file.name, file.where, to_string(file.matrix.shape()), {reading_of_mask(file).assumption}});
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
    if (std::ranges::any_of(roles_named(file.name), is_of_head)) heads = std::max(heads, file.count / file.outer);
    const std::optional<std::size_t> number = head_named(file.name);
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

// Queries and keys are as wide as each other, unless heads share keys.
constexpr std::array columns_that_agree = {std::pair{&option::w_q, &option::w_k}, std::pair{&option::q, &option::k}};

std::size_t columns_of(const Option& option, const Arguments& given, const OptionValues& values) {
  const OptionValues& has = given.has(option) ? static_cast<const OptionValues&>(given) : values;
  return has.has(option) ? has.matrix(option).matrix.shape().columns : 0;
}

}  // namespace

OptionValues inputs_among(const std::vector<MatrixFile>& files, const Arguments& given, const OffersOption& offers,
                          std::size_t heads) {
  OptionValues values = Inputs(files, given, offers).take();
  heads = std::max(heads, heads_in(files));
  if (heads > 1) values.put(option::heads, heads);
  return values;
}

bool may_share_keys(const Arguments& given, const OptionValues& values) {
  if (given.has_any(std::array{&option::heads, &option::kv_heads, &option::score}) || values.has(option::heads))
    return false;
  return std::ranges::any_of(columns_that_agree, [&](const auto& row) {
    const std::size_t queries = columns_of(*row.first, given, values), keys = columns_of(*row.second, given, values);
    return keys > 0 && keys < queries && queries % keys == 0;
  });
}

void put_heads_of_keys(const Arguments& given, OptionValues& values, const OffersOption& offers) {
  const std::optional<std::size_t> heads =
      given.has(option::heads) ? given.count(option::heads) : values.count(option::heads);
  if (!heads || given.has(option::kv_heads) || given.has(option::score) || !offers(option::kv_heads)) return;
  for (const auto& [of_queries, of_keys] : columns_that_agree) {
    const std::size_t queries = columns_of(*of_queries, given, values), keys = columns_of(*of_keys, given, values);
    const std::size_t size = queries / *heads;
    const bool are_shared = size > 0 && queries % *heads == 0 && keys > 0 && keys < queries && keys % size == 0;
    if (are_shared && *heads % (keys / size) == 0) values.put(option::kv_heads, keys / size);
  }
}

}  // namespace attn
