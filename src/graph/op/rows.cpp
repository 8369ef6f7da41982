#include "graph/op/operations.hpp"
#include "graph/op/slice.hpp"

namespace attn {
namespace {

constexpr Slice kind = {"rows", "row", Along::rows, [](const std::string& whole, const std::string& places) {
                          return "{" + whole + "}_{" + places + ",\\cdot}";
                        }};

}  // namespace

Value rows(Value x, std::size_t first, std::size_t count) {
  return slice(kind, std::move(x), {first, count});
}

}  // namespace attn
