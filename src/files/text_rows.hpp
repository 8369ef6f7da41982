#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "math/matrix.hpp"
#include "support/sink.hpp"

namespace attn {

/// Puts row i of a text at the end of a string. From any thread.
using AppendRow = std::function<void(std::size_t i, std::string& text)>;

/// Writes the rows of a text one after the other. `cells` is how many numbers they have: where these are
/// many, several threads make the text of some rows each. The bytes are the same.
void write_rows(Shape cells, const AppendRow& append, Sink& sink);

}  // namespace attn
