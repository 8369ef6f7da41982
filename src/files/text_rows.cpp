#include "files/text_rows.hpp"

#include <algorithm>
#include <vector>

#include "math/crew.hpp"

namespace attn {
namespace {

// Below this many cells, more threads cost more than they give.
constexpr std::size_t least_cells_to_share = std::size_t{1} << 15;
// What a thread makes at a time, and what stands as text at most before it is passed on.
constexpr std::size_t cells_of_piece = std::size_t{1} << 13;
constexpr std::size_t pieces_of_thread = 8;

}  // namespace

void write_rows(Shape cells, const AppendRow& append, Sink& sink) {
  if (threads() == 1 || cells.cells() < least_cells_to_share) {
    for (std::size_t i = 0; i < cells.rows; ++i) {
      append(i, sink.block());
      sink.spill();
    }
    return;
  }
  const std::size_t rows = std::max<std::size_t>(1, cells_of_piece / cells.columns);
  std::vector<std::string> pieces(pieces_of_thread * threads());
  for (std::size_t begin = 0; begin < cells.rows; begin += rows * pieces.size()) {
    side_by_side(pieces.size(), [&](std::size_t piece) {
      pieces[piece].clear();
      const std::size_t first = begin + piece * rows;
      for (std::size_t i = first; i < std::min(first + rows, cells.rows); ++i) append(i, pieces[piece]);
    });
    for (const std::string& piece : pieces) sink.write(piece);
  }
}

}  // namespace attn
