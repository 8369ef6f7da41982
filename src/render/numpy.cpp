#include "files/matrix_file.hpp"
#include "render/format.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

// NumPy's formats hold matrices and nothing else.
void require_matrices(const Page& page, std::string_view format) {
  if (page.trace.empty())
    fail("{} is a format for matrices, and there are none here: choose another --format", format);
}

}  // namespace

void render_npy(const Page& page, const Style&, Sink& sink) {
  require_matrices(page, "npy");
  if (page.trace.size() > 1) {
    fail(
        "npy is a format for one matrix, and there are {} here: choose one with --only, such as --only {}, "
        "or use npz",
        page.trace.size(), page.trace.back()->name);
  }
  write_npy(page.trace.front()->matrix(), sink);
}

void render_npz(const Page& page, const Style&, Sink& sink) {
  require_matrices(page, "npz");
  std::vector<NamedMatrix> matrices;
  for (const Node* node : page.trace) matrices.push_back({node->name, &node->matrix()});
  write_npz(matrices, sink);
}

}  // namespace attn
