#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "math/matrix.hpp"

namespace attn {

/// A dimension of a tensor: so many times a size that all tensors of a file share (3·d_model); without a name
/// the number itself.
struct Size {
  std::size_t times;
  std::string_view name = "";
};

/// When a tensor must be in a file. Of attention's projections there is either one packed tensor or three
/// separate ones.
enum class Need { always, sometimes, with_biases, packed, separate, never };

/// A tensor of a module: its name there, the parameters that are made of it, and how.
struct TensorRow {
  std::string_view theirs;
  std::array<std::string_view, 3> ours;  // as many as there are
  std::vector<Matrix> (*convert)(Matrix tensor);
  Size rows;
  Size columns;
  Need need = Need::always;
};

/// A part of a module, such as one attention, by its name there and by ours.
struct Part {
  std::string_view theirs;
  std::string_view ours;
  std::span<const TensorRow> tensors;
};

/// Whether a file may be without a scope.
enum class Presence { required, optional };

/// A scope of names, with '#' for the number of a layer.
struct Scope {
  std::string_view theirs;
  std::string_view ours;
  std::span<const Part> parts;
  Presence presence;
};

/// The names that one kind of file has.
struct Layout {
  std::string_view name;
  std::size_t first_layer;  // how layers are counted there; ours count from 1
  std::span<const Scope> scopes;
};

/// Every layout that is recognized: our own, and state dictionaries of PyTorch's modules. A new one is a row.
std::span<const Layout> layouts();

/// Whether the last part of a name is that of one of our own parameters.
bool is_parameter_name(std::string_view name);

}  // namespace attn
