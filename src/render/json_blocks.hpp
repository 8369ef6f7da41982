#pragma once

#include "files/json_writer.hpp"
#include "page/page.hpp"

namespace attn {

/// The blocks of a page as an array of objects, each with its type. A table of the trace only names it.
void write_blocks(const Page& page, JsonWriter& json);

}  // namespace attn
