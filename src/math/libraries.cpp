#include "math/libraries.hpp"

#include <fmt/format.h>

#include <xtl/xtl_config.hpp>

#include "math/crew.hpp"
#include "math/instructions.hpp"
#include "math/xtensor.hpp"
#include "math/xtensor_blas.hpp"
#include "support/text.hpp"

// OpenBLAS's own header contradicts the declarations that xtensor-blas brings.
extern "C" char* openblas_get_config();
extern "C" char* openblas_get_corename();

namespace attn {
namespace {

// "0.3.21" of "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY Haswell MAX_THREADS=64".
std::string version_of_openblas() {
  const std::vector<std::string> words = parted(openblas_get_config(), " ");
  return words.size() > 1 ? words[1] : "unknown";
}

}  // namespace

std::vector<Library> libraries_of_math() {
  return {{"xtensor",
           fmt::format("{}.{}.{}", XTENSOR_VERSION_MAJOR, XTENSOR_VERSION_MINOR, XTENSOR_VERSION_PATCH)},
          {"xtl", fmt::format("{}.{}.{}", XTL_VERSION_MAJOR, XTL_VERSION_MINOR, XTL_VERSION_PATCH)},
          {"xtensor-blas", fmt::format("{}.{}.{}", XTENSOR_BLAS_VERSION_MAJOR, XTENSOR_BLAS_VERSION_MINOR,
                                       XTENSOR_BLAS_VERSION_PATCH)},
          {"OpenBLAS", fmt::format("{}, kernel {}", version_of_openblas(), openblas_get_corename())},
          {"vector instructions", std::string(vector_instructions())},
          {"threads", std::to_string(threads())}};
}

}  // namespace attn
