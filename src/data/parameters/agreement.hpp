#pragma once

#include <string>

#include "core/model/transformer.hpp"
#include "data/files/input_report.hpp"
#include "data/parameters/config.hpp"

namespace attn {

// What a config says and the tensors tell as well.

/// Throws InputError where a size differs, or where biases are said that no layer has, or the other way round. `path`
/// is that of the model.
void require_agreement(const ModelConfig& config, const Transformer& model, const std::string& path);

/// The members of the config, by what became of them. Those that are not understood are doubtful.
std::vector<Assumption> assumed_of_keys(const ConfigKeys& keys);

}  // namespace attn
