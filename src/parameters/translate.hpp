#pragma once

#include <string>

#include "parameters/parameters.hpp"
#include "parameters/source.hpp"

namespace attn {

/// The parameters of a file by our own names. Names are looked at before any matrix is read.
/// Throws InputError naming the first tensor that is unknown, missing, superfluous, of a wrong shape, or not
/// finite, and what was expected.
ParameterFile translate(const ParameterSource& source, const std::string& where);

}  // namespace attn
