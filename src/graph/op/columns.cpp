#include "graph/op/operations.hpp"
#include "graph/op/slice.hpp"

namespace attn {
namespace {

constexpr Slice kind = {"columns", "column", Along::columns,
                        [](const std::string& whole, const std::string& places) {
                          return "{" + whole + "}_{\\,\\cdot\\,,\\," + places + "}";
                        }};

}  // namespace

Value columns(Value x, std::size_t first, std::size_t count) {
  return slice(kind, std::move(x), {first, count});
}

}  // namespace attn
