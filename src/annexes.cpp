// The annexes of the program. A new one is a folder and a row.

#include <array>

#include "apart/annex.hpp"
#include "command/annex.hpp"

namespace attn {

std::span<const Annex* const> annexes() {
  static constexpr std::array all = {&apart_annex};
  return all;
}

}  // namespace attn
