#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/files/matrix_file.hpp"

namespace attn {

/// The linear layers of an additive attention (Bahdanau et al. 2014), by their names in a recording.
struct AdditiveLayers {
  std::string owner;  // the module that has them
  std::string of_one, of_other, of_sum;
};

/// Those of a module that has three linear layers and no others, known by their shapes and by what they took: two with
/// as many outputs, which took its arguments, and one that made one number of so many. `arguments` are the names of
/// what the module took, in order.
std::optional<AdditiveLayers> additive_layers(const std::vector<MatrixFile>& recorded, const std::string& owner,
                                              const std::vector<std::string>& arguments,
                                              const std::function<bool(const std::string& module)>& is_linear);

/// Gives what such a module took, learned and made the names that a problem with an additive score has, and takes away
/// what has none there.
void name_additive(std::vector<MatrixFile>& recorded, const AdditiveLayers& layers,
                   const std::vector<std::string>& arguments);

}  // namespace attn
