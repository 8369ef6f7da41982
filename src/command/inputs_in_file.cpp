#include "command/inputs_in_file.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "graph/name.hpp"
#include "mistake/matching.hpp"
#include "mistake/others_names.hpp"
#include "problem/options.hpp"
#include "problem/problem_file.hpp"

namespace attn {
namespace {

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
  Inputs(const std::vector<MatrixFile>& files, const Arguments& given, const OffersOption& offers)
      : given_(given) {
    for (const MatrixFile& file : files) {
      const std::span<const Role* const> roles = roles_called(file.name);
      const Option* const option = roles.empty() ? nullptr : option_for(*roles.front());
      if (option && offers(*option)) in_file_.emplace_back(option, &file);
    }
  }

  // What cannot be computed from other matrices, which come before it.
  OptionValues take() && {
    const bool begins_later = has_any({&option::scores, &option::weights});
    if (!begins_later && !has_any({&option::text, &option::q, &option::n_q}) && !begins_with_queries())
      take(option::x);
    const bool has_words = has_any({&option::x, &option::text});
    if (has_words) take_all({&option::memory, &option::value_memory});
    for (const auto& [projection, bias, result] : {std::array{&option::w_q, &option::b_q, &option::q},
                                                   std::array{&option::w_k, &option::b_k, &option::k},
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
    if (!has_scores && !has_words && !has_any({&option::q, &option::k, &option::weights}))
      take(option::scores);
    if (!has_scores && !has_words && !has_any({&option::q, &option::k, &option::scores}) &&
        in_file(option::v)) {
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
    return std::ranges::any_of(
        options, [&](const Option* option) { return given_.has(*option) || taken_.has(*option); });
  }

  void take(const Option& option) {
    const MatrixFile* const file = in_file(option);
    if (!file || given_.has(option)) return;
    if (option.kind == Kind::matrices) {
      taken_.put(option, parts_of(*file));
    } else if (file->count == 1) {
      taken_.put(option, option.is_mask ? as_permissions(*file) : *file);
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
  static MatrixFile as_permissions(MatrixFile file) {
    const std::span<const double> all = cells(std::as_const(file.matrix));
    const bool permits = std::ranges::all_of(all, [](double x) { return x == 0.0 || x == 1.0; }) &&
                         std::ranges::find(all, 1.0) != all.end();
    if (permits) file.kind = CellKind::whole;
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

// How many heads the names count, or the arrays of three dimensions have that each head has one of.
std::size_t heads_in(const std::vector<MatrixFile>& files) {
  const bool counts_from_zero = has_head(files, 0);
  std::size_t heads = 0;
  for (const MatrixFile& file : files) {
    const Name name = called(counts_from_zero ? with_next_head(file.name) : file.name);
    for (const ScopeName& one : name.scopes()) {
      if (one.kind == &scope::head) heads = std::max(heads, one.number.value_or(0));
    }
    const auto is_of_head = [](const Role* role) {
      return std::ranges::find(roles_of_heads, role) != roles_of_heads.end();
    };
    if (std::ranges::any_of(roles_called(file.name), is_of_head)) heads = std::max(heads, file.count);
  }
  return heads;
}

}  // namespace

bool is_input(const std::string& name) {
  const std::span<const Role* const> roles = roles_called(name);
  return !roles.empty() && option_for(*roles.front());
}

OptionValues inputs_among(const std::vector<MatrixFile>& files, const Arguments& given,
                          const OffersOption& offers) {
  OptionValues values = Inputs(files, given, offers).take();
  const std::size_t heads = heads_in(files);
  if (heads > 1) values.put(option::heads, heads);
  return values;
}

}  // namespace attn
