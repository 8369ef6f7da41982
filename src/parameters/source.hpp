#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "math/matrix.hpp"
#include "parameters/recognize.hpp"

namespace attn {

/// The matrices of a file whose names begin with a prefix, by the rest of their names, read one by one once
/// these are known. The bytes and `where` must outlive it.
struct ParameterSource {
  TensorNames names;
  std::function<Matrix(const std::string& name)> read;  // throws InputError: damaged, or no matrix
};

/// A kind of file of parameters. What lies outside of the prefix need not be readable; with an empty one all
/// counts. Throws InputError: damaged, or no name begins so.
struct ParameterKind {
  std::string_view name;
  ParameterSource (*open)(std::string_view bytes, const std::string& where, const std::string& prefix);
};

/// safetensors, npz, json. Of what the program itself writes as .npz or JSON, a computation with all of its
/// matrices, the parameters alone are named.
std::span<const ParameterKind> parameter_kinds();

}  // namespace attn
