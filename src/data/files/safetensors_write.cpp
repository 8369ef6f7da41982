#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "data/files/cell.hpp"
#include "data/files/npy.hpp"
#include "data/files/safetensors.hpp"
#include "data/json.hpp"
#include "support/error.hpp"

namespace attn {

namespace {

std::string name_in_json(const std::string& name) {
  if (name == "__metadata__") {
    throw OutputError("'__metadata__' cannot be the name of a tensor in a .safetensors file: choose another");
  }
  try {
    return Json(name).dump();
  } catch (const Json::type_error&) {
    throw OutputError(fmt::format("the name {} is not UTF-8, as .safetensors files need: choose another",
                                  name_in_quotes(name)));
  }
}

std::string header_of(const std::vector<WrittenTensor>& tensors) {
  constexpr std::size_t alignment = 8;
  std::string header = "{";
  std::size_t end = 0;
  for (const WrittenTensor& tensor : tensors) {
    const auto [rows, columns] = tensor.matrix->shape();
    const std::size_t begin = end;
    end += tensor.matrix->size() * sizeof(double);
    header +=
        fmt::format(R"({}{}:{{"dtype":"F64","shape":[{}],"data_offsets":[{},{}]}})", begin == 0 ? "" : ",",
                    name_in_json(tensor.name),
                    tensor.dimensions == 1 ? fmt::format("{}", columns) : fmt::format("{},{}", rows, columns),
                    begin, end);
  }
  header += '}';
  header.append((alignment - header.size() % alignment) % alignment, ' ');
  return header;
}

}  // namespace

void write_safetensors(const std::vector<WrittenTensor>& tensors, Sink& sink) {
  const std::string header = header_of(tensors);
  std::string length;
  for (std::size_t rest = header.size(); length.size() < 8; rest >>= 8U) {
    length += static_cast<char>(rest & 0xFFU);
  }
  sink.write(length);
  sink.write(header);
  for (const WrittenTensor& tensor : tensors) write_npy_cells(*tensor.matrix, sink);
}

}  // namespace attn
