#include "command/attention/places.hpp"

#include "command/solve.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

constexpr std::size_t usual_places = 32, most_places = 100000;

const Field& field(std::string_view name) {
  return look_up(fields(), name, "field");
}

// Places without words are a matrix of zeros: as many as are asked for, or as were learned.
Matrix places_alone(const Request& request, std::optional<std::size_t> n) {
  std::size_t d = request.has("d_model") ? request.get<std::size_t>("d_model") : 8;
  std::size_t count = n.value_or(usual_places);
  const bool learned = request.has("positions") && request.get<std::string>("positions") == "learned";
  if (learned && request.has("position_table")) {
    const Shape table = request.get<std::vector<MatrixFile>>("position_table").front().matrix.shape();
    d = table.columns;
    if (!n) count = table.rows;
  }
  if (d > most_cells / count)
    fail("--d-model {}: {} positions of that size are too many; give fewer", d, count);
  return Matrix({count, d}, 0.0);
}

}  // namespace

Request requested_places(const Arguments& arguments) {
  const std::optional<std::size_t> n = arguments.count("n", 1, most_places);
  const bool has_problem =
      arguments.has("example") || arguments.has("problem") || arguments.request.has_source();
  Request request = has_problem ? requested(arguments) : arguments.request;
  if (!request.has("positions") && !request.has("position_table")) {
    request.set(field("positions"), {"sinusoidal"});
  }
  if (!has_problem) {
    request.set(field("x"), places_alone(request, n));
  } else if (n) {
    fail("--n {} and a sentence are both given, and the sentence has its own length: give one of them", *n);
  } else if (!request.has("x") && !request.has("text")) {
    fail(
        "attn positions needs words, and there are none: give --text or --x, or --n for positions without "
        "words");
  }
  return request;
}

}  // namespace attn
