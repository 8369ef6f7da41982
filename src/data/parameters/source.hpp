#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/math/matrix.hpp"
#include "data/files/mapped_file.hpp"
#include "data/parameters/parameters.hpp"

namespace attn {

struct ModelConfig;

/// The names of the tensors in a file.
using TensorNames = std::set<std::string, std::less<>>;

/// A tensor that has a place in a layout.
struct PlacedTensor {
  std::string name;      // in the file
  const TensorRow* row;  // what it is
  std::string scope;     // before the names of what is made of it
};

/// What the names of a file say: the layout, the prefix that stands before all names, the tensors that have a
/// place there, and the first that should be there and is not.
struct LayoutMatch {
  const Layout* layout = nullptr;
  std::string prefix;
  std::vector<PlacedTensor> tensors;
  std::optional<PlacedTensor> missing;
};

/// The layouts and prefixes in which most names have a place: those that miss nothing, those with the
/// shortest prefix first, or else the first. Nothing when no layout has a place for half of the names and all that it
/// needs. Which of several is meant is told by the shapes.
std::vector<LayoutMatch> recognize(const TensorNames& names);

/// The matrices of a file whose names begin with a prefix, by the rest of their names, read one by one once
/// these are known. What it reads stays where the file has it, where that can be; otherwise the bytes must outlive it.
/// `where` must outlive it.
struct ParameterSource {
  TensorNames names;
  std::function<Matrix(const std::string& name)> read;  // throws InputError: damaged, or no matrix
  std::vector<Assumption> assumed = {};                 // what the file does not say of them
};

/// The rest of the names that begin with the prefix, without buffers. Throws InputError: there is none.
TensorNames names_behind(const std::string& prefix, const TensorNames& names, const std::string& where);

/// A kind of file of parameters. What lies outside of the prefix need not be readable; with an empty one all
/// counts. Throws InputError: damaged, or no name begins so.
struct ParameterKind {
  std::string_view name;
  ParameterSource (*open)(const FileBytes& file, const std::string& where, const std::string& prefix);
  bool (*is_such)(std::string_view bytes) = nullptr;  // by its bytes; null: matrices are in such files as well
  /// What such a file says of its model beside the parameters; null: nothing, a config.json beside it does.
  ModelConfig (*describe)(std::string_view bytes, const std::string& where) = nullptr;
};

/// safetensors, npz, json. Of what the program itself writes as .npz or JSON, a computation with all of its
/// matrices, the parameters alone are named.
std::span<const ParameterKind> parameter_kinds();

/// How the weights of linear layers are stored.
Assumption order_of_weights(bool is_transposed);

/// The parameters of a file by our own names. Names are looked at before any matrix is read. `heads` is as in
/// read_parameters().
/// Throws InputError naming the first tensor that is unknown, missing, superfluous, of a wrong shape, or not
/// finite, and what was expected.
ParameterFile translate(const ParameterSource& source, const std::string& where, std::size_t heads = 0);

}  // namespace attn
