#include "command/check/recorded_additive.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "core/math/rows.hpp"
#include "school/check/names.hpp"

namespace attn {

namespace {

// The module within that a name of this kind and ending is of: "parameter.attention.Wa.weight" of attention is "Wa".
std::optional<std::string> layer_of_weight(const std::string& name, const std::string& owner) {
  constexpr std::string_view ending = ".weight";
  const std::string begin = "parameter." + (owner.empty() ? "" : owner + ".");
  if (!name.starts_with(begin) || !name.ends_with(ending) || name.size() <= begin.size() + ending.size())
    return std::nullopt;
  std::string layer = name.substr(begin.size(), name.size() - begin.size() - ending.size());
  return layer.find('.') == std::string::npos ? std::optional(std::move(layer)) : std::nullopt;
}

// Whether a layer took the rows of a matrix, which may have been repeated: by the first one.
bool took(const std::vector<MatrixFile>& recorded, const std::string& layer, const MatrixFile& given) {
  const std::span<const double> first =
      cells(given.matrix).first(std::min(given.matrix.shape().columns, given.matrix.shape().cells()));
  return std::ranges::any_of(recorded, [&](const MatrixFile& file) {
    const std::span<const double> taken = cells(file.matrix);
    return file.name.starts_with("input." + layer + ".") && taken.size() >= first.size() &&
           std::ranges::equal(taken.first(first.size()), first);
  });
}

// What an additive attention took, learned and made.
class AdditiveRecording {
 public:
  AdditiveRecording(std::vector<MatrixFile>& recorded, const AdditiveLayers& layers,
                    const std::vector<std::string>& arguments)
      : recorded_(recorded), owner_(layers.owner), query_(layers.of_one), key_(layers.of_other), sum_(layers.of_sum) {
    for (const std::string& name : arguments) given_.push_back(*find(name));
  }

  void name() && {
    if (given_.empty()) return;
    choose_query();
    choose_layers();
    name_results();
    name_parameters();
    for (const auto& [role, file] : {std::pair(&role::q, &query), {&role::k, &keys}, {&role::v, &values}}) {
      recorded_.push_back(*file);
      recorded_.back().name = role->leaf;
    }
  }

 private:
  MatrixFile* find(const std::string& name) {
    const auto found = std::ranges::find(recorded_, name, &MatrixFile::name);
    return found == recorded_.end() ? nullptr : &*found;
  }

  static std::size_t rows_of(const MatrixFile& file) { return file.matrix.shape().rows; }

  // It comes first, unless only the second has a row for each row of the result. Keys are values where no others come.
  void choose_query() {
    std::vector<std::size_t> made;
    for (const MatrixFile& file : recorded_) {
      if (is_result_of(file, owner_)) made.push_back(rows_of(file));
    }
    const auto fits = [&](const MatrixFile& file) { return std::ranges::find(made, rows_of(file)) != made.end(); };
    if (given_.size() == 2 && !fits(given_[0]) && fits(given_[1])) std::swap(given_[0], given_[1]);
    query = given_[0];
    keys = given_.size() > 1 ? given_[1] : query;
    values = given_.size() > 2 && rows_of(given_[2]) == rows_of(keys) ? given_[2] : keys;
  }

  void choose_layers() {
    if (!took(recorded_, query_, query) && took(recorded_, key_, query)) std::swap(query_, key_);
  }

  static bool is_result_of(const MatrixFile& file, const std::string& module) {
    const std::string begin = "output." + module;
    const std::string_view rest = std::string_view(file.name).substr(std::min(begin.size(), file.name.size()));
    return file.name.starts_with(begin) && file.kind == CellKind::real &&
           (rest.empty() || (rest[0] == '.' && rest.find_first_not_of("0123456789", 1) == std::string_view::npos));
  }

  // The same numbers with a row for each query, or as they are.
  void leave_shape(MatrixFile& file, Shape shape) const {
    if (file.matrix.shape().cells() != shape.cells()) return;
    Matrix left(shape);
    std::ranges::copy(cells(std::as_const(file.matrix)), cells(left).begin());
    file.matrix = std::move(left);
    file.count = 1;
    file.outer = 1;
  }

  // The bias of the query's layer is one with that of the keys, so it is in neither matrix there.
  void name_results() {
    const std::size_t n_q = rows_of(query), n_k = rows_of(keys), h = find(weight_of(query_))->matrix.shape().rows;
    const std::size_t d_v = values.matrix.shape().columns;
    const bool query_has_bias = find(bias_of_layer(query_)) != nullptr;
    for (MatrixFile& file : recorded_) {
      if (is_result_of(file, query_)) {
        file.name = query_has_bias ? "" : role::hidden_q.leaf;
        leave_shape(file, {n_q, h});
      } else if (is_result_of(file, key_)) {
        file.name = query_has_bias ? "" : role::hidden_k.leaf;
        leave_shape(file, {n_k, h});
      } else if (is_result_of(file, sum_)) {
        file.name = find(bias_of_layer(sum_)) ? "" : role::scores.leaf;
        leave_shape(file, {n_q, n_k});
      } else if (is_result_of(file, owner_)) {
        const bool may_be_output = file.matrix.shape().columns == d_v,
                   may_be_weights = file.matrix.shape().cells() == n_q * n_k;
        const bool is_weights = may_be_weights && (!may_be_output || file.name.ends_with(".1"));
        file.name = is_weights ? role::weights.leaf : may_be_output ? role::output.leaf : std::string_view();
        if (is_weights) leave_shape(file, {n_q, n_k});
      }
    }
    std::erase_if(recorded_, [](const MatrixFile& file) { return file.name.empty(); });
  }

  static std::string weight_of(const std::string& layer) { return "parameter." + layer + ".weight"; }
  static std::string bias_of_layer(const std::string& layer) { return "parameter." + layer + ".bias"; }

  // A bias of all scores changes no weight.
  void name_parameters() {
    std::optional<MatrixFile> bias;
    for (const std::string& layer : {query_, key_}) {
      const MatrixFile* const file = find(bias_of_layer(layer));
      if (!file) continue;
      if (!bias) {
        bias = *file;
        bias->name = role::score_b.leaf;
        continue;
      }
      const std::span<double> sum = cells(bias->matrix);
      std::ranges::transform(sum, cells(file->matrix), sum.begin(), std::plus());
    }
    for (const auto& [layer, role] :
         {std::pair(query_, &role::score_wq), {key_, &role::score_wk}, {sum_, &role::score_wv}}) {
      MatrixFile& file = *find(weight_of(layer));
      file.matrix = transposed(file.matrix);
      file.name = role->leaf;
    }
    std::erase_if(recorded_, [&](const MatrixFile& file) {
      return std::ranges::any_of(std::array{query_, key_, sum_},
                                 [&](const std::string& layer) { return file.name == bias_of_layer(layer); });
    });
    if (bias) recorded_.push_back(*std::move(bias));
  }

  std::vector<MatrixFile>& recorded_;
  std::string owner_, query_, key_, sum_;
  std::vector<MatrixFile> given_;
  MatrixFile query, keys, values;
};

}  // namespace

std::optional<AdditiveLayers> additive_layers(const std::vector<MatrixFile>& recorded, const std::string& owner,
                                              const std::vector<std::string>& arguments,
                                              const std::function<bool(const std::string& module)>& is_linear) {
  const std::string within = owner.empty() ? "" : owner + ".";
  std::vector<std::pair<std::string, Shape>> layers;  // as (out, in)
  for (const MatrixFile& file : recorded) {
    const std::optional<std::string> layer = layer_of_weight(file.name, owner);
    if (layer && is_linear(within + *layer)) layers.emplace_back(within + *layer, file.matrix.shape());
  }
  if (layers.size() != 3) return std::nullopt;
  const auto makes_one = [](const auto& layer) { return layer.second.rows == 1; };
  if (std::ranges::count_if(layers, makes_one) != 1) return std::nullopt;
  std::stable_partition(layers.begin(), layers.end(), std::not_fn(makes_one));
  const std::size_t hidden = layers[0].second.rows;
  if (layers[1].second.rows != hidden || layers[2].second.columns != hidden) return std::nullopt;
  // Two take what the module takes; what is summed up was made within.
  const auto takes_argument = [&](const auto& layer) {
    return std::ranges::any_of(recorded, [&](const MatrixFile& file) {
      return std::ranges::find(arguments, file.name) != arguments.end() && took(recorded, layer.first, file);
    });
  };
  if (!takes_argument(layers[0]) || !takes_argument(layers[1]) || takes_argument(layers[2])) return std::nullopt;
  return AdditiveLayers{owner, layers[0].first, layers[1].first, layers[2].first};
}

void name_additive(std::vector<MatrixFile>& recorded, const AdditiveLayers& layers,
                   const std::vector<std::string>& arguments) {
  AdditiveRecording(recorded, layers, arguments).name();
}

}  // namespace attn
