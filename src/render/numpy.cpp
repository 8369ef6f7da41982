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
        page.trace.size(), page.trace.matrices().back().name);
  }
  write_npy(*page.trace.matrices().front().cells(), sink);
}

void render_npz(const Page& page, const Style&, Sink& sink) {
  require_matrices(page, "npz");
  std::vector<NamedMatrix> matrices;
  std::vector<std::shared_ptr<const Matrix>> held;
  for (const Traced& matrix : page.trace.matrices()) {
    held.push_back(matrix.cells());
    matrices.push_back({matrix.name, held.back().get()});
  }
  write_npz(matrices, sink);
}

}  // namespace attn
