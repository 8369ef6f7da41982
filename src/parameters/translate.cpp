#include "parameters/translate.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "files/cells.hpp"
#include "files/matrix_file.hpp"
#include "support/error.hpp"

namespace attn {

namespace {

std::string in_words(Size size) {
  if (size.name.empty()) return fmt::format("{}", size.times);
  return size.times == 1 ? std::string(size.name) : fmt::format("{}·{}", size.times, size.name);
}

std::string in_words(const TensorRow& row) {
  return fmt::format("{} × {}", in_words(row.rows), in_words(row.columns));
}

// What the sizes that all tensors of a file share turn out to be.
class Sizes {
 public:
  // Whether the shape is what the row says; a size that is not known yet is taken from it.
  bool fit(const TensorRow& row, Shape shape) {
    return fit(row.columns, shape.columns) && fit(row.rows, shape.rows);
  }

  // " with d_model = 4", of those that the row speaks of and that are known.
  std::string known(const TensorRow& row) const {
    std::string text;
    for (const std::string_view name : {row.columns.name, row.rows.name}) {
      const auto found = known_.find(name);
      if (found == known_.end() || text.find(name) != std::string::npos) continue;
      text += fmt::format("{}{} = {}", text.empty() ? " with " : ", ", name, found->second);
    }
    return text;
  }

 private:
  bool fit(Size expected, std::size_t size) {
    if (expected.name.empty()) return size == expected.times;
    if (size % expected.times != 0) return false;
    return known_.emplace(expected.name, size / expected.times).first->second == size / expected.times;
  }

  std::map<std::string_view, std::size_t> known_;
};

[[noreturn]] void fail_unknown_names(const TensorNames& names, const std::string& where) {
  if (names.empty()) fail("{} has no parameters: save at least one", where);
  fail(
      "{} has {} and no known name, for example {}: use the names of attn (w_q, encoder.1.norm_1.gamma), or "
      "save the state dictionary of one of PyTorch's attention modules",
      where, count_of(names.size(), "tensor"), name_in_quotes(*names.begin()));
}

void require_complete(const Recognized& recognized, const std::string& where) {
  if (!recognized.missing) return;
  const auto& [name, row, scope] = *recognized.missing;
  fail("{} has no {} ({}), which {} needs{}: save all of its parameters", where, name_in_quotes(name),
       in_words(*row), recognized.layout->name,
       row->need == Need::with_biases ? " because it has other biases" : "");
}

void refuse_superfluous(const Recognized& recognized, const TensorNames& names, const std::string& where) {
  TensorNames left = names;
  for (const PlacedTensor& tensor : recognized.tensors) left.erase(tensor.name);
  if (left.empty()) return;
  // Where all that is there may also be missing, nothing need have a place.
  const std::string example =
      recognized.tensors.empty()
          ? ""
          : " (one of them is " + name_in_quotes(recognized.tensors.front().name) + ")";
  fail(
      "{} has {}, which is not among the parameters of {}{}: leave it out, or read a part of the file with "
      "--prefix NAME",
      where, name_in_quotes(*left.begin()), recognized.layout->name, example);
}

void refuse_never(const Recognized& recognized, const std::string& where) {
  for (const PlacedTensor& tensor : recognized.tensors) {
    if (tensor.row->need != Need::never) continue;
    fail(
        "{} has {}, which adds a key and a value that belong to no word: create the module without it "
        "(add_bias_kv=False)",
        where, name_in_quotes(tensor.name));
  }
}

void require_finite(const Matrix& matrix, const std::string& name, const std::string& where) {
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    const std::span<const double> values = row(matrix, i);
    const auto found = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
    if (found == values.end()) continue;
    fail("{}: {} is {} in row {}, column {}: parameters must be finite", where, name_in_quotes(name), *found,
         i + 1, found - values.begin() + 1);
  }
}

void require_room(std::size_t cells, const std::string& where) {
  if (cells > most_cells) {
    fail("{} has more than {} cells: split it into several files", where, most_cells);
  }
}

}  // namespace

ParameterFile translate(const ParameterSource& source, const std::string& where) {
  const std::optional<Recognized> recognized = recognize(source.names);
  if (!recognized) fail_unknown_names(source.names, where);
  refuse_never(*recognized, where);
  require_complete(*recognized, where);
  refuse_superfluous(*recognized, source.names, where);

  ParameterFile file{std::string(recognized->layout->name), {}};
  Sizes sizes;
  std::size_t cells = 0;
  for (const auto& [name, row, scope] : recognized->tensors) {
    Matrix tensor = source.read(name);
    require_room(cells += tensor.size(), where);
    if (!sizes.fit(*row, tensor.shape())) {
      fail("{}: {} is {}, and must be {}{}: save it in that shape", where, name_in_quotes(name),
           to_string(tensor.shape()), in_words(*row), sizes.known(*row));
    }
    require_finite(tensor, name, where);
    std::vector<Matrix> converted = row->convert(std::move(tensor));
    for (std::size_t i = 0; i < converted.size(); ++i) {
      file.parameters.emplace(scope + std::string(row->ours[i]), std::move(converted[i]));
    }
  }
  return file;
}

}  // namespace attn
