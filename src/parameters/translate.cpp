#include "parameters/translate.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "files/cells.hpp"
#include "files/matrix_file.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {

namespace {

std::string in_words(Size size) {
  if (size.name.empty()) return fmt::format("{}", size.times);
  return size.times == 1 ? std::string(size.name) : fmt::format("{}·{}", size.times, size.name);
}

std::string in_words(const TensorRow& row) {
  return fmt::format("{} × {}", in_words(row.rows), in_words(row.columns));
}

// The parameters that a tensor is made of, side by side, or below each other where it is transposed.
std::vector<Matrix> parameters_in(Matrix tensor, const TensorRow& row) {
  if (row.is_transposed) tensor = transposed(tensor);
  std::vector<Matrix> parts;
  if (row.ours.size() == 1) {
    parts.push_back(std::move(tensor));
    return parts;
  }
  const Shape shape{tensor.shape().rows, tensor.shape().columns / row.ours.size()};
  for (std::size_t part = 0; part < row.ours.size(); ++part) {
    parts.emplace_back(shape);
    for (std::size_t i = 0; i < shape.rows; ++i) {
      std::ranges::copy(attn::row(tensor, i).subspan(part * shape.columns, shape.columns),
                        attn::row(parts.back(), i).begin());
    }
  }
  return parts;
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
      "save the state dictionary of one of PyTorch's attention modules or of GPT-2",
      where, count_of(names.size(), "tensor"), name_in_quotes(*names.begin()));
}

void require_complete(const Recognized& recognized, const std::string& where) {
  if (!recognized.missing) return;
  const auto& [name, row, scope] = *recognized.missing;
  fail(
      "{} has no {} ({}), which {} needs{}: save all of its parameters", where, name_in_quotes(name),
      in_words(*row), recognized.layout->name,
      row->need == Need::with_biases || row->need == Need::with_shifts ? " because it has other biases" : "");
}

void refuse_superfluous(const Recognized& recognized, const TensorNames& names, const std::string& where) {
  TensorNames left = names;
  for (const PlacedTensor& tensor : recognized.tensors) left.erase(tensor.name);
  if (left.empty()) return;
  std::vector<std::string> known;
  for (const PlacedTensor& tensor : recognized.tensors) known.push_back(tensor.name);
  // Where all that is there may also be missing, nothing need have a place.
  const std::string example =
      recognized.tensors.empty()
          ? ""
          : " (one of them is " + name_in_quotes(recognized.tensors.front().name) + ")";
  fail(
      "{} has {}, which is not among the parameters of {}{}{}: leave it out, or read a part of the file with "
      "‹prefix› NAME",
      where, name_in_quotes(*left.begin()), recognized.layout->name, did_you_mean(*left.begin(), known),
      example);
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

namespace {

// What does not fit where, and how many tensors before it did.
struct Misfit {
  std::size_t tensors;
  std::string sentence;
};

// Reads what was recognized as far as shapes fit.
std::optional<Misfit> read_into(ParameterFile& file, const Recognized& recognized,
                                const ParameterSource& source, const std::string& where) {
  Sizes sizes;
  std::size_t cells = 0, tensors = 0;
  for (const auto& [name, row, scope] : recognized.tensors) {
    Matrix tensor = source.read(name);
    if (!sizes.fit(*row, tensor.shape())) {
      return Misfit{tensors, fmt::format("{}: {} is {}, and must be {}{}: save it in that shape", where,
                                         name_in_quotes(name), to_string(tensor.shape()), in_words(*row),
                                         sizes.known(*row))};
    }
    ++tensors;
    require_finite(tensor, name, where);
    if (row->need == Need::shared) {
      const std::string ours = scope + row->ours.front();
      if (file.parameters.at(ours) == tensor) continue;
      fail("{}: {} differs from {}, which is the same matrix in {}: save them equal", where,
           name_in_quotes(name), name_in_quotes(ours), recognized.layout->name);
    }
    require_room(cells += tensor.size(), where);
    std::vector<Matrix> parameters = parameters_in(std::move(tensor), *row);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      file.parameters.emplace(scope + row->ours[i], std::move(parameters[i]));
    }
  }
  return std::nullopt;
}

}  // namespace

ParameterFile translate(const ParameterSource& source, const std::string& where) {
  const std::vector<Recognized> all = recognize(source.names);
  if (all.empty()) fail_unknown_names(source.names, where);
  refuse_never(all.front(), where);
  require_complete(all.front(), where);
  refuse_superfluous(all.front(), source.names, where);
  // Equal names with other shapes are those of another layout; what fits longest is told.
  std::optional<Misfit> longest;
  for (const Recognized& recognized : all) {
    ParameterFile file{std::string(recognized.layout->name), {}, recognized.layout->brings};
    const std::optional<Misfit> misfit = read_into(file, recognized, source, where);
    if (!misfit) return file;
    if (!longest || misfit->tensors > longest->tensors) longest = misfit;
  }
  throw InputError(longest->sentence);
}

}  // namespace attn
