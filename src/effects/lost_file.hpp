#pragma once

namespace attn {

/// From now on the program ends with a sentence, as for wrong input, where a mapped file has become shorter and what is
/// no longer there is read.
void end_where_a_file_is_lost();

}  // namespace attn
