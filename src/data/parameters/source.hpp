#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "data/parameters/recognise.hpp"
#include "math/matrix.hpp"

namespace attn {

/// A file of matrices by name, read one by one once their names are known. Its bytes and `where` must outlive
/// it.
struct ParameterSource {
  TensorNames names;
  std::function<Matrix(const std::string& name)> read;  // throws InputError: damaged, or no matrix
};

/// A kind of file of parameters.
struct ParameterKind {
  std::string_view name;
  ParameterSource (*open)(std::string_view bytes, const std::string& where);
};

/// safetensors, npz, json. Of what the program itself writes as .npz or JSON, a computation with all of its
/// matrices, the parameters alone are named.
std::span<const ParameterKind> parameter_kinds();

}  // namespace attn
