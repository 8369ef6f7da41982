#pragma once

#include <string>

#include "command/arguments.hpp"

namespace attn {

/// Throws InputError where `path` is the document that `source` names: what is written about a document is
/// not that document any more, and its questions and command lines would be lost.
void refuse_own_source(const std::string& source, const std::string& path);

/// The same of what -o names.
void refuse_output_onto(const std::string& source, const Arguments& arguments);

}  // namespace attn
