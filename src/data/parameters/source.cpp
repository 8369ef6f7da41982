#include "data/parameters/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/math/stored_matrix.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"

namespace attn {

namespace {

// --- what a tensor is made of

std::string size_in_words(Size size) {
  if (size.name.empty()) return fmt::format("{}", size.times);
  if (!size.more.empty())
    return fmt::format("({} + {})", size_in_words(Size{size.times, size.name}),
                       size_in_words(Size{size.more_times, size.more}));
  return size.times == 1 ? std::string(size.name) : fmt::format("{}·{}", size.times, size.name);
}

std::string size_in_words(const TensorRow& row) {
  return fmt::format("{} × {}", size_in_words(row.rows), size_in_words(row.columns));
}

// What one parameter of a tensor is made of: so many of its lines, which are rows where it is transposed, else columns.
struct LinesOfPart {
  std::size_t count;
  StoredLines lines;
};

std::vector<LinesOfPart> lines_of_parts(const TensorRow& row, std::size_t all, std::size_t of_first,
                                        std::size_t heads) {
  std::vector<LinesOfPart> parts;
  const std::size_t count = row.ours.size();
  if (row.packing == Packing::in_turn) {
    const std::size_t of_head = all / count / heads;
    for (std::size_t i = 0; i < count; ++i)
      parts.push_back({of_head * heads, {.first = i * of_head, .group = of_head, .apart = count * of_head}});
    return parts;
  }
  const std::size_t first = row.packing == Packing::grouped ? of_first : all / count;
  const std::size_t other = count == 1 ? 0 : (all - first) / (count - 1);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = i == 0 ? first : other;
    parts.push_back({size, {.first = begin, .group = size, .apart = size}});
    begin += size;
  }
  return parts;
}

// Where the tensor stays in its file, so does its part; nothing where its numbers are neither lines nor whole blocks
// there.
std::optional<Matrix> stored_part(const Matrix& tensor, bool is_transposed, const LinesOfPart& part) {
  const StoredMatrix* const stored = tensor.stored();
  if (!stored || stored->skipped != 0) return std::nullopt;
  const bool picks_lines = is_transposed != stored->is_transposed;
  StoredMatrix own = *stored;
  own.is_transposed = picks_lines;
  own.shape = {is_transposed ? tensor.shape().columns : tensor.shape().rows, part.count};
  if (picks_lines) {
    own.lines = part.lines;
    return Matrix(std::move(own));
  }
  const bool is_whole = part.count == stored->line_length();
  const bool is_block = part.lines.group == part.count && part.lines.first % stored->type->block == 0;
  if (!is_whole && !is_block) return std::nullopt;
  own.skipped = part.lines.first;
  return Matrix(std::move(own));
}

Matrix part_of(const Matrix& tensor, bool is_transposed, const LinesOfPart& part) {
  if (std::optional<Matrix> stored = stored_part(tensor, is_transposed, part)) return *std::move(stored);
  if (!is_transposed) {
    Matrix own({tensor.shape().rows, part.count});
    for (std::size_t i = 0; i < own.shape().rows; ++i) {
      const std::span<const double> from = attn::row(tensor, i);
      const std::span<double> to = attn::row(own, i);
      for (std::size_t j = 0; j < part.count; ++j) to[j] = from[part.lines.at(j)];
    }
    return own;
  }
  Matrix lines({part.count, tensor.shape().columns});
  for (std::size_t i = 0; i < part.count; ++i)
    std::ranges::copy(attn::row(tensor, part.lines.at(i)), attn::row(lines, i).begin());
  return transposed(lines);
}

// The parameters that a tensor is made of, side by side, or below each other where it is transposed. `of_first` is the
// size of the first where it has one of its own.
std::vector<Matrix> parameters_in(Matrix tensor, const TensorRow& row, std::size_t of_first, std::size_t heads) {
  std::vector<Matrix> parts;
  if (row.ours.size() == 1 && !row.is_transposed) {
    parts.push_back(std::move(tensor));
    return parts;
  }
  const std::size_t all = row.is_transposed ? tensor.shape().rows : tensor.shape().columns;
  for (const LinesOfPart& part : lines_of_parts(row, all, of_first, heads))
    parts.push_back(part_of(tensor, row.is_transposed, part));
  return parts;
}

// What the sizes that all tensors of a file share turn out to be.
class Sizes {
 public:
  // Whether the shape is what the row says; a size that is not known yet is taken from it.
  bool fit(const TensorRow& row, Shape shape) { return fit(row.columns, shape.columns) && fit(row.rows, shape.rows); }

  // " with d_model = 4", of those that the row speaks of and that are known.
  std::size_t known(std::string_view name) const {
    const auto found = known_.find(name);
    return found == known_.end() ? 0 : found->second;
  }

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
    if (!expected.more.empty()) {
      const auto found = known_.find(expected.name);
      const std::size_t first = found == known_.end() ? size : expected.times * found->second;
      return first < size && fit({expected.more_times, expected.more}, size - first);
    }
    if (size % expected.times != 0) return false;
    return known_.emplace(expected.name, size / expected.times).first->second == size / expected.times;
  }

  std::map<std::string_view, std::size_t> known_;
};

// --- what is refused

// Heads that stand in turn can be told apart only where it is known how many they are.
void require_heads(const PlacedTensor& tensor, std::size_t all, std::size_t heads, const std::string& where) {
  if (tensor.row->packing != Packing::in_turn) return;
  const std::size_t parts = tensor.row->ours.size();
  if (heads == 0) {
    fail(
        "{}: {} holds q, k and v of each head in turn, and the file does not say how many heads there are: give the folder of the model, with its config.json, or ‹heads›",
        where, name_in_quotes(tensor.name));
  }
  if (all % (parts * heads) == 0) return;
  fail("{}: {} holds {} numbers for {} heads, and they cannot be shared equally: give another number of heads", where,
       name_in_quotes(tensor.name), all, heads);
}

// Names that only models have which are not read, and what of them is not.
struct UnreadFamily {
  std::string_view part;  // of a name
  std::string_view title, unread;
};
constexpr UnreadFamily unread_families[] = {
    {".block_sparse_moe.experts.", "Mixtral", "experts"},
    {".mlp.experts.", "a mixture of experts", "experts"},
    {"_exps.weight", "a mixture of experts", "experts"},
    {".kv_a_proj_with_mqa.", "DeepSeek", "latent keys and values"},
    {".self_attn.sinks", "gpt-oss", "sinks"},
    {".mixer.A_log", "Mamba", "state-space layers"},
    {"rope_freqs.weight", "Llama 3.1 and later in GGUF", "the factors of rotary positions"},
    {"rope_factors_", "Phi-3 for long texts in GGUF", "the factors of rotary positions"},
};

void refuse_unread(const TensorNames& names, const std::string& where) {
  for (const std::string& name : names) {
    for (const auto& [part, title, unread] : unread_families) {
      if (name.find(part) != std::string::npos)
        fail("{}: {} is a name of {}: {} are not read yet", where, name_in_quotes(name), title, unread);
    }
  }
}

[[noreturn]] void fail_unknown_names(const TensorNames& names, const std::string& where) {
  if (names.empty()) fail("{} has no parameters: save at least one", where);
  fail(
      "{} has {}, and their names are of no layout that is read, for example {}: use the names of attn (w_q, encoder.1.norm_1.gamma), or save the state dictionary of one of PyTorch's attention modules or of GPT-2",
      where, count_of(names.size(), "tensor"), name_in_quotes(*names.begin()));
}

void require_complete(const LayoutMatch& recognized, const std::string& where) {
  if (!recognized.missing) return;
  const auto& [name, row, scope] = *recognized.missing;
  fail("{} has no {} ({}), which {} needs{}: save all of its parameters", where, name_in_quotes(name),
       size_in_words(*row), recognized.layout->name,
       row->need == Need::with_biases || row->need == Need::with_shifts ? " because it has other biases" : "");
}

// A model that was torn: all names are those of one layer, and not of the first.
void refuse_later_layer(const LayoutMatch& recognized, const std::string& where) {
  if (recognized.prefix.empty()) return;
  const std::string_view layer = std::string_view(recognized.prefix).substr(0, recognized.prefix.size() - 1);
  const std::string_view before = layer.substr(0, layer.rfind('.') + 1);  // npos + 1 is 0: there is none
  const std::optional<std::size_t> number = parse_number<std::size_t>(layer.substr(before.size()));
  const std::size_t first = recognized.layout->first_layer;
  if (!number || *number <= first) return;
  fail("{}: all names begin with {}, and none with {}: save all layers, or read this one alone with ‹prefix› {}", where,
       name_in_quotes(recognized.prefix), name_in_quotes(fmt::format("{}{}.", before, first)), layer);
}

void refuse_superfluous(const LayoutMatch& recognized, const TensorNames& names, const std::string& where) {
  TensorNames left = names;
  for (const PlacedTensor& tensor : recognized.tensors) left.erase(tensor.name);
  if (left.empty()) return;
  const std::string& prefix = recognized.prefix;
  const bool is_part_of_more =
      !prefix.empty() && std::ranges::none_of(left, [&](const std::string& name) { return name.starts_with(prefix); });
  if (is_part_of_more) {
    const std::string part = prefix.substr(0, prefix.find_last_not_of('.') + 1);
    fail(
        "{}: below {} are the names of {}, and {} is of no layout that is read: to read this part alone, give ‹prefix› {}",
        where, name_in_quotes(part), recognized.layout->name, name_in_quotes(*left.begin()), part);
  }
  std::vector<std::string> known;
  for (const PlacedTensor& tensor : recognized.tensors) known.push_back(tensor.name);
  // Where all that is there may also be missing, nothing need have a place.
  std::string nearest = did_you_mean(*left.begin(), known);
  if (nearest.empty() && !known.empty()) nearest = " (one of them is " + name_in_quotes(known.front()) + ")";
  fail(
      "{} has {}, which is not among the parameters of {}{}: leave it out, or read a part of the file with ‹prefix› NAME",
      where, name_in_quotes(*left.begin()), recognized.layout->name, nearest);
}

void refuse_never(const LayoutMatch& recognized, const std::string& where) {
  for (const PlacedTensor& tensor : recognized.tensors) {
    if (tensor.row->need != Need::never) continue;
    fail(
        "{} has {}, which adds a key and a value that belong to no word: create the module without it (add_bias_kv=False)",
        where, name_in_quotes(tensor.name));
  }
}

// Of those that are stored only the small ones are looked at, so that opening a model does not read all of it. In
// others, what is not finite is told when it is computed with.
void require_finite_where_small(const Matrix& matrix, const std::string& name, const std::string& where) {
  constexpr std::size_t small = std::size_t{1} << 16;
  const StoredMatrix* const stored = matrix.stored();
  if (stored && matrix.size() > small) return;
  const std::size_t lines = stored ? stored->line_count() : matrix.shape().rows;
  std::vector<double> widened(stored ? stored->line_length() : 0);
  for (std::size_t i = 0; i < lines; ++i) {
    if (stored) stored->widen(i, 0, widened.size(), widened.data());
    const std::span<const double> values = stored ? std::span<const double>(widened) : row(matrix, i);
    const auto found = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
    if (found == values.end()) continue;
    std::size_t at_row = i + 1, at_column = static_cast<std::size_t>(found - values.begin()) + 1;
    if (stored && stored->is_transposed) std::swap(at_row, at_column);
    fail("{}: {} is {} in row {}, column {}: parameters must be finite", where, name_in_quotes(name), *found, at_row,
         at_column);
  }
}

// --- reading

bool is_same_place(const StoredMatrix* one, const StoredMatrix* other) {
  return one && other && one->type == other->type && one->elements == other->elements && one->shape == other->shape &&
         one->is_transposed == other->is_transposed && one->line == other->line;
}

// Whether two tensors of a file are one matrix. Of large ones some rows are compared, evenly over all of them.
bool is_same_matrix(const Matrix& one, const Matrix& other) {
  constexpr std::size_t most_compared = std::size_t{1} << 22;
  if (is_same_place(one.stored(), other.stored())) return true;
  if (one.shape() != other.shape()) return false;
  const auto number = [](const Matrix& matrix, std::size_t i, std::size_t j) {
    return matrix.stored() ? matrix.stored()->number(i, j) : matrix(i, j);
  };
  for (std::size_t i = 0; i < one.shape().rows; i += one.size() / most_compared + 1) {
    for (std::size_t j = 0; j < one.shape().columns; ++j) {
      if (number(one, i, j) != number(other, i, j)) return false;
    }
  }
  return true;
}

void require_room(std::size_t cells, const std::string& where) {
  if (cells > most_cells) {
    fail("{} has more than {} cells: split it into several files", where, most_cells);
  }
}

// What does not fit where, and how many tensors before it did.
struct Misfit {
  std::size_t tensors;
  std::string sentence;
};

// What a window of a convolution is multiplied with, one row for each number that comes out.
Matrix flattened(const Matrix& kernel, std::size_t rows) {
  if (rows == 0 || kernel.size() % rows != 0) return kernel;
  Matrix flat({rows, kernel.size() / rows});
  std::ranges::copy(attn::cells(kernel), attn::cells(flat).begin());
  return flat;
}

// Reads what was recognized as far as shapes fit.
std::optional<Misfit> read_recognized(ParameterFile& file, const LayoutMatch& recognized, const ParameterSource& source,
                                      const std::string& where, std::size_t heads) {
  Sizes sizes;
  std::size_t cells = 0, tensors = 0;
  for (const auto& [name, row, scope] : recognized.tensors) {
    if (row->need == Need::left_out) continue;
    Matrix tensor = source.read(name);
    if (row->is_kernel) tensor = flattened(tensor, sizes.known(row->rows.name));
    if (!sizes.fit(*row, tensor.shape())) {
      return Misfit{tensors,
                    fmt::format("{}: {} is {}, and must be {}{}: save it in that shape", where, name_in_quotes(name),
                                to_string(tensor.shape()), size_in_words(*row), sizes.known(*row))};
    }
    ++tensors;
    require_finite_where_small(tensor, name, where);
    if (row->need == Need::shared) {
      const std::string ours = scope + row->ours.front();
      if (is_same_matrix(file.parameters.at(ours), tensor)) continue;
      return Misfit{tensors, fmt::format("{}: {} differs from {}, which is the same matrix in {}: save them equal",
                                         where, name_in_quotes(name), name_in_quotes(ours), recognized.layout->name)};
    }
    if (!tensor.stored()) require_room(cells += tensor.size(), where);
    const std::size_t all = row->is_transposed ? tensor.shape().rows : tensor.shape().columns;
    require_heads({name, row, scope}, all, heads, where);
    const std::size_t of_first = sizes.known((row->is_transposed ? row->rows : row->columns).name);
    std::vector<Matrix> parameters = parameters_in(std::move(tensor), *row, of_first, heads);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      file.parameters.emplace(scope + row->ours[i], std::move(parameters[i]));
    }
  }
  return std::nullopt;
}

std::vector<Assumption> assumed_of(const LayoutMatch& recognized) {
  const Layout& layout = *recognized.layout;
  std::vector<Assumption> all = {{&assumed::names, fmt::format("the names are those of {}", layout.name)}};
  if (!recognized.prefix.empty())
    all.push_back(
        {&assumed::names, fmt::format("the prefix {} of all names is left out", in_quotes(recognized.prefix))});
  const auto is_transposed = [](const PlacedTensor& tensor) { return tensor.row->is_transposed; };
  all.push_back(order_of_weights(std::ranges::any_of(recognized.tensors, is_transposed)));
  if (!layout.silent_on.empty()) all.push_back({&assumed::model, std::string(layout.silent_on)});
  std::vector<std::string> left_out;
  for (const PlacedTensor& tensor : recognized.tensors) {
    if (tensor.row->need == Need::left_out) left_out.push_back(tensor.name);
  }
  if (!left_out.empty())
    all.push_back({&assumed::names, fmt::format("left out, since nothing here uses it: {}", list_in_words(left_out))});
  return all;
}

}  // namespace

// --- translation

Assumption order_of_weights(bool is_transposed) {
  return {&assumed::order, is_transposed ? "the weights of linear layers are stored as (out, in), and are transposed"
                                         : "the weights of linear layers are stored as (in, out)"};
}

ParameterFile translate(const ParameterSource& source, const std::string& where, std::size_t heads) {
  refuse_unread(source.names, where);
  const std::vector<LayoutMatch> all = recognize(source.names);
  if (all.empty()) fail_unknown_names(source.names, where);
  refuse_never(all.front(), where);
  require_complete(all.front(), where);
  refuse_superfluous(all.front(), source.names, where);
  refuse_later_layer(all.front(), where);
  // Equal names with other shapes are those of another layout; what fits longest is told.
  std::optional<Misfit> longest;
  for (const LayoutMatch& recognized : all) {
    ParameterFile file{std::string(recognized.layout->name), {}, recognized.layout->brings, assumed_of(recognized)};
    std::ranges::copy(source.assumed, std::back_inserter(file.assumed));
    const std::optional<Misfit> misfit = read_recognized(file, recognized, source, where, heads);
    if (!misfit) return file;
    if (!longest || misfit->tensors > longest->tensors) longest = misfit;
  }
  throw InputError(longest->sentence);
}

}  // namespace attn
