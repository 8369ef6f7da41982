#include "data/parameters/parameters.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <random>

#include "data/files/matrix_file.hpp"
#include "data/files/safetensors.hpp"
#include "process.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

std::string safetensors_of(const ParameterSet& parameters) {
  return written_by([&](Sink& sink) { write_safetensors(parameters, sink); });
}

std::string npz_of(const ParameterSet& parameters) {
  std::vector<NamedMatrix> matrices;
  for (const auto& [name, matrix] : parameters) matrices.push_back({name, &matrix});
  return written_by([&](Sink& sink) { write_npz(matrices, sink); });
}

// A number with its lowest byte first.
std::string little(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (; bytes > 0; --bytes, number >>= 8U) text += static_cast<char>(number & 0xFFU);
  return text;
}

std::string file_of(const std::string& header, std::string_view elements) {
  return (little(header.size(), 8) + header).append(elements);
}

// The header's entry of one tensor.
std::string entry(const std::string& name, const std::string& type, const std::string& shape, std::size_t begin,
                  std::size_t end) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", name, type, shape, begin, end);
}

// A file of one vector of elements that are so many bytes wide.
std::string vector_of(const std::string& type, const std::vector<std::uint64_t>& elements, std::size_t bytes) {
  std::string data;
  for (const std::uint64_t element : elements) data += little(element, bytes);
  return file_of("{" + entry("t", type, fmt::format("[{}]", elements.size()), 0, data.size()) + "}", data);
}

std::vector<double> decoded(const std::string& bytes) {
  const Matrix result = matrix_from(safetensors_in(bytes, "x").front());
  return {cells(result).begin(), cells(result).end()};
}

std::string safetensors_refusal(std::string_view bytes) {
  return refusal([&] { safetensors_in(bytes, "x.safetensors"); });
}

ParameterFile read_from(std::string_view bytes, const std::string& name = "x.safetensors") {
  const TemporaryFolder folder;
  return read_parameters(folder.write(name, bytes));
}

// What read_parameters says of the bytes, without the folder.
std::string parameters_refusal(std::string_view bytes, const std::string& name = "x.safetensors") {
  const std::string sentence = refusal([&] { read_from(bytes, name); });
  const std::size_t at = sentence.find(name);
  return at == std::string::npos ? sentence : sentence.substr(at);
}

std::string parameters_refusal(const ParameterSet& parameters) {
  return parameters_refusal(safetensors_of(parameters));
}

void check_same(const ParameterSet& a, const ParameterSet& b) {
  REQUIRE(a.size() == b.size());
  for (const ParameterSet::value_type& parameter : a) {
    const std::string& name = parameter.first;
    CAPTURE(name);
    REQUIRE(b.contains(name));
    CHECK(same(parameter.second, b.find(name)->second));
  }
}

std::vector<std::string> names_in(const ParameterSet& parameters) {
  std::vector<std::string> names;
  for (const auto& [name, value] : parameters) names.push_back(name);
  return names;
}

// Different numbers in every cell of every tensor.
class Counting {
 public:
  Matrix operator()(std::size_t rows, std::size_t columns) {
    return filled({rows, columns}, [&] { return next_ += 0.25; });
  }

 private:
  double next_ = 0;
};

void add(ParameterSet& parameters, const std::string& prefix, const ParameterSet& others) {
  for (const auto& [name, value] : others) parameters.emplace(prefix + name, value);
}

// State dictionaries of PyTorch's modules with d_model = 2 and d_ff = 3.
ParameterSet torch_attention() {
  Counting tensor;
  return {{"in_proj_weight", tensor(6, 2)},
          {"in_proj_bias", tensor(1, 6)},
          {"out_proj.weight", tensor(2, 2)},
          {"out_proj.bias", tensor(1, 2)}};
}

ParameterSet torch_norm() {
  Counting tensor;
  return {{"weight", tensor(1, 2)}, {"bias", tensor(1, 2)}};
}

ParameterSet torch_encoder_layer() {
  Counting tensor;
  ParameterSet layer = {{"linear1.weight", tensor(3, 2)},
                        {"linear1.bias", tensor(1, 3)},
                        {"linear2.weight", tensor(2, 3)},
                        {"linear2.bias", tensor(1, 2)}};
  add(layer, "self_attn.", torch_attention());
  add(layer, "norm1.", torch_norm());
  add(layer, "norm2.", torch_norm());
  return layer;
}

ParameterSet torch_decoder_layer() {
  ParameterSet layer = torch_encoder_layer();
  add(layer, "multihead_attn.", torch_attention());
  add(layer, "norm3.", torch_norm());
  return layer;
}

ParameterSet torch_stack(const ParameterSet& layer) {
  ParameterSet stack;
  add(stack, "layers.0.", layer);
  add(stack, "layers.1.", layer);
  add(stack, "norm.", torch_norm());
  return stack;
}

ParameterSet torch_transformer() {
  ParameterSet model;
  add(model, "encoder.", torch_stack(torch_encoder_layer()));
  add(model, "decoder.", torch_stack(torch_decoder_layer()));
  return model;
}

ParameterSet without_biases(ParameterSet parameters) {
  std::erase_if(parameters, [](const auto& item) { return item.first.ends_with("bias"); });
  return parameters;
}

ParameterSet with(ParameterSet parameters, const std::string& name, Matrix value) {
  parameters.insert_or_assign(name, std::move(value));
  return parameters;
}

ParameterSet without(ParameterSet parameters, const std::string& name) {
  REQUIRE(parameters.erase(name) == 1);
  return parameters;
}

ParameterSet own_attention() {
  return {{"w_q", matrix({{1, 2}, {3, 4}})},
          {"w_k", matrix({{5, 6}, {7, 8}})},
          {"w_v", matrix({{9, 1}, {2, 3}})},
          {"b_q", matrix({{0.5, -0.0}})}};
}

// State dictionaries of GPT-2 with d_model = 2, as Conv1D or nn.Linear stores its maps.
ParameterSet gpt2(const std::string& prefix, bool is_linear) {
  Counting tensor;
  const auto map = [&](std::size_t in, std::size_t out) {
    return is_linear ? transposed(tensor(in, out)) : tensor(in, out);
  };
  ParameterSet layer = {
      {"attn.c_attn.weight", map(2, 6)},  {"attn.c_attn.bias", tensor(1, 6)}, {"attn.c_proj.weight", map(2, 2)},
      {"attn.c_proj.bias", tensor(1, 2)}, {"mlp.c_fc.weight", map(2, 8)},     {"mlp.c_fc.bias", tensor(1, 8)},
      {"mlp.c_proj.weight", map(8, 2)},   {"mlp.c_proj.bias", tensor(1, 2)},  {"attn.bias", tensor(4, 4)}};
  add(layer, "ln_1.", torch_norm());
  add(layer, "ln_2.", torch_norm());
  ParameterSet model = {{prefix + "wte.weight", tensor(3, 2)}, {prefix + "wpe.weight", tensor(4, 2)}};
  add(model, prefix + "h.0.", layer);
  add(model, prefix + "ln_f.", torch_norm());
  return model;
}

// Names as PyTorch's modules have them, and what they are recognized as.
struct Module {
  std::string layout;
  ParameterSet state;
};

std::vector<Module> modules() {
  return {{"nn.MultiheadAttention", torch_attention()},
          {"nn.TransformerEncoderLayer", torch_encoder_layer()},
          {"nn.TransformerDecoderLayer", torch_decoder_layer()},
          {"nn.TransformerEncoder", torch_stack(torch_encoder_layer())},
          {"nn.TransformerDecoder", torch_stack(torch_decoder_layer())},
          {"nn.Transformer", torch_transformer()}};
}

}  // namespace

TEST_SUITE("safetensors") {
  TEST_CASE("elements of every type become the doubles they stand for") {
    CHECK(decoded(vector_of("F64", {0x3FF8000000000000, 0xC000000000000000, 1}, 8)) ==
          std::vector<double>{1.5, -2, 5e-324});
    CHECK(decoded(vector_of("F32", {0x3FC00000, 0xC0000000, 0x3DCCCCCD, 1}, 4)) ==
          std::vector<double>{1.5, -2, 0.100000001490116119384765625, 0x1p-149});
    // 1 bit of sign, 5 of exponent, 10 of fraction: one, the smallest and the largest subnormal, the smallest
    // normal and the largest number, a third, -2, -0.
    const std::vector<double> halves =
        decoded(vector_of("F16", {0x3C00, 0x0001, 0x03FF, 0x0400, 0x7BFF, 0x3555, 0xC000, 0x8000}, 2));
    CHECK(halves == std::vector<double>{1, 0x1p-24, 1023 * 0x1p-24, 0x1p-14, 65504, 0.333251953125, -2, 0});
    CHECK(std::signbit(halves.back()));
    // The upper half of a float32: one, 3.140625, -2, the largest number, the smallest subnormal.
    CHECK(decoded(vector_of("BF16", {0x3F80, 0x4049, 0xC000, 0x7F7F, 0x0001}, 2)) ==
          std::vector<double>{1, 3.140625, -2, 255 * 0x1p120, 0x1p-133});
    for (const auto& [type, element] : {std::pair("F16", 0x7C00), {"BF16", 0x7F80}}) {
      CHECK(std::isinf(decoded(vector_of(type, {static_cast<std::uint64_t>(element)}, 2)).front()));
      CHECK(std::isnan(decoded(vector_of(type, {static_cast<std::uint64_t>(element + 1)}, 2)).front()));
    }
  }

  TEST_CASE("a file that others wrote is read, in the order of its elements") {
    const std::string header = "{\"__metadata__\":{\"format\":\"pt\"}," + entry("b", "F32", "[2,1]", 2, 10) + "," +
                               entry("a", "BF16", "[1]", 0, 2) + "}   ";
    const std::string bytes = file_of(header, little(0x3F80, 2) + little(0x40000000, 4) + little(0xBF800000, 4));
    const std::vector<Safetensor> tensors = safetensors_in(bytes, "x");
    REQUIRE(tensors.size() == 2);
    CHECK(tensors[0].name == "a");
    CHECK(same(matrix_from(tensors[0]), matrix({{1}})));
    CHECK(tensors[1].name == "b");
    CHECK(same(matrix_from(tensors[1]), matrix({{2}, {-1}})));
  }

  TEST_CASE("what is written is the format, byte by byte") {
    const std::string bytes = safetensors_of({{"w_q", matrix({{1, 2}})}, {"b_q", matrix({{-0.5}})}});
    const std::string header =
        "{\"b_q\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},"
        "\"w_q\":{\"dtype\":\"F64\",\"shape\":[1,2],\"data_offsets\":[8,24]}}      ";
    CHECK(header.size() % 8 == 0);
    CHECK(bytes == file_of(header, little(0xBFE0000000000000, 8) + little(0x3FF0000000000000, 8) +
                                       little(0x4000000000000000, 8)));
    CHECK(safetensors_of({}) == file_of("{}      ", ""));
  }

  TEST_CASE("names that the format cannot hold are not written") {
    const Matrix one = matrix({{1}});
    CHECK_THROWS_AS(safetensors_of({{"__metadata__", one}}), OutputError);
    CHECK_THROWS_AS(safetensors_of({{"\xFF", one}}), OutputError);
    const std::string odd = "a \"quoted\"\n\\ näme";
    CHECK(safetensors_in(safetensors_of({{odd, one}}), "x").front().name == odd);
  }

  TEST_CASE("it is a kind of matrix file") {
    const TemporaryFolder folder;
    const std::string bytes = safetensors_of(own_attention());
    CHECK(same(read_matrix(folder.write("a.safetensors", bytes) + ":w_k").matrix, matrix({{5, 6}, {7, 8}})));
    CHECK(same(read_matrix(folder.write("a", bytes) + ":b_q").matrix, matrix({{0.5, 0}})));
    CHECK(has(refusal([&] { read_matrix(folder.write("a", bytes)); }), "has 4 matrices"));
  }

  TEST_CASE("a header is checked before it is believed") {
    const std::string eight(8, '\0');
    const auto refused = [](const std::string& header, std::string_view elements) {
      return safetensors_refusal(file_of(header, elements));
    };
    const auto one = [&](const std::string& type, const std::string& shape, std::size_t begin, std::size_t end) {
      return refused("{" + entry("t", type, shape, begin, end) + "}", eight);
    };
    CHECK(has(safetensors_refusal("1234567"), "has 7 bytes, too few"));
    CHECK(has(safetensors_refusal(little(3, 8) + "{}"), "should have a header of 3 bytes, but has only 2 bytes"));
    CHECK(has(safetensors_refusal(std::string(8, '\xFF') + "{}"), "should have a header of 18446744073709551615"));
    CHECK(has(refused(std::string((1U << 24U) + 1, ' '), ""), "more than the limit of 16777216"));
    CHECK(has(refused("", ""), "is not JSON"));
    CHECK(has(refused("{\"t\":", ""), "is not JSON"));
    CHECK(has(refused("{\"\xFF\":{}}", ""), "is not JSON"));
    CHECK(has(refused("{} {}", ""), "is not JSON"));
    CHECK(has(refused("[]", ""), "is not an object of tensors"));
    CHECK(has(refused("5", ""), "is not an object of tensors"));
    CHECK(has(refused("{}", ""), "has no tensors"));
    CHECK(has(refused("{\"__metadata__\":{\"a\":\"b\"}}", ""), "has no tensors"));
    CHECK(has(refused("{\"__metadata__\":{\"a\":1}}", ""), "gives 'a' a value that does not belong"));
    CHECK(has(refused("{\"t\":5}", ""), "gives 't' a value that does not belong there"));
    CHECK(has(refused("{\"t\":[]}", ""), "gives 't' a value that does not belong there"));
    CHECK(has(refused("{\"t\":{\"more\":\"F64\"}}", ""), "gives 'more' of 't' a value"));
    CHECK(has(refused("{\"t\":{\"dtype\":5}}", ""), "gives 'dtype' of 't' a value"));
    CHECK(has(refused("{\"t\":{\"shape\":{}}}", ""), "gives 'shape' of 't' a value"));
    CHECK(has(refused("{\"t\":{\"shape\":[-1]}}", ""), "gives 'shape' of 't' a value"));
    CHECK(has(refused("{\"t\":{\"shape\":[1.5]}}", ""), "gives 'shape' of 't' a value"));
    CHECK(has(refused("{\"t\":{\"shape\":[[1]]}}", ""), "gives 'shape' of 't' a value"));
    CHECK(has(refused("{\"t\":{\"shape\":[99999999999999999999999]}}", ""), "gives 'shape' of 't' a value"));
    CHECK(has(refused("{\"t\":{\"shape\":[1],\"shape\":[1]}}", ""), "gives the shape of 't' twice"));
    CHECK(has(refused("{\"t\":{\"shape\":[1],\"dtype\":\"F64\"}}", ""), "gives no data_offsets for 't'"));
    CHECK(has(refused("{\"t\":{}}", ""), "gives no dtype for 't'"));
    CHECK(has(refused("{\"t\":{\"shape\":" + std::string(1'000'000, '['), ""), "gives 'shape' of 't'"));
    CHECK(has(refused("{" + entry("t", "F32", "[1]", 0, 4) + "," + entry("t", "F32", "[1]", 4, 8) + "}", eight),
              "names 't' twice"));
    CHECK(one("C64", "[1]", 0, 8) ==
          "x.safetensors: the tensor 't' has elements of the type 'C64', which cannot be read: convert it to "
          "F32 first");
    CHECK(has(one("F64", "[]", 0, 8), "has 0 dimensions"));
    CHECK(has(one("F64", "[1,1,1]", 0, 8), "has 3 dimensions"));
    CHECK(has(one("F64", "[1,0]", 0, 0), "is empty, of shape 1×0"));
    CHECK(has(one("F64", "[4294967296,4294967296]", 0, 0), "has more than 134217728 cells"));
    CHECK(has(one("F64", "[2305843009213693953]", 0, 8), "has more than 134217728 cells"));
    CHECK(has(one("F64", "[2]", 0, 16), "lies outside the 8 bytes"));
    CHECK(has(one("F64", "[1]", 8, 0), "lies outside the 8 bytes"));
    CHECK(has(one("F64", "[1]", 18446744073709551608U, 0), "lies outside the 8 bytes"));
    CHECK(has(refused("{\"t\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0]}}", eight), "lies outside"));
    CHECK(has(one("F32", "[1]", 0, 8), "has 8 bytes, but its shape 1×1 in F32 takes 4"));
    CHECK(has(one("F32", "[1]", 0, 4), "4 bytes after the last tensor belong to no tensor"));
    CHECK(has(one("F32", "[1]", 4, 8), "'t' does not follow the one before it"));
    CHECK(has(refused("{" + entry("s", "F32", "[1]", 0, 4) + "," + entry("t", "F16", "[2]", 2, 6) + "}", eight),
              "'t' overlaps the one before it"));
    CHECK(has(refused("{" + entry("s", "F32", "[1]", 0, 4) + "," + entry("t", "F32", "[1]", 0, 4) + "}", eight),
              "overlaps the one before it"));
  }

  TEST_CASE("more cells than are read in all are refused before memory is taken") {
    const std::size_t half = most_cells / 2;
    std::string bytes = file_of("{" + entry("s", "F16", fmt::format("[{}]", half), 0, 2 * half) + "," +
                                    entry("t", "F16", fmt::format("[{}]", half + 1), 2 * half, 4 * half + 2) + "}",
                                "");
    bytes.resize(bytes.size() + 4 * half + 2);
    CHECK(has(safetensors_refusal(bytes), "has 134217729 cells, more than the limit of 134217728"));
  }

  TEST_CASE("a damaged file is refused or read, and nothing else") {
    const std::string whole = safetensors_of(own_attention());
    const auto survives = [](const std::string& bytes) {
      try {
        for (const Safetensor& tensor : safetensors_in(bytes, "x")) matrix_from(tensor);
        return true;
      } catch (const InputError&) {
        return true;
      } catch (...) {
        return false;
      }
    };
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(size);
      CHECK_THROWS_AS(safetensors_in(whole.substr(0, size), "x"), InputError);
    }
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string bytes = whole;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
      CAPTURE(bit);
      CHECK(survives(bytes));
    }
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; ++i) {
      std::string bytes = whole;
      for (int j = 0; j < 3; ++j) bytes[random() % bytes.size()] = static_cast<char>(random() & 0xFFU);
      CHECK(survives(bytes));
    }
  }
}

TEST_SUITE("parameters") {
  TEST_CASE("parameters of one attention are the same after writing and reading, whatever the file") {
    const ParameterSet own = own_attention();
    const std::string json =
        R"({"w_q": [[1,2],[3,4]], "w_k": [[5,6],[7,8]], "w_v": [[9,1],[2,3]], "b_q": [0.5, -0.0]})";
    for (const ParameterFile& file : {read_from(safetensors_of(own)), read_from(safetensors_of(own), "no extension"),
                                      read_from(npz_of(own), "x.npz"), read_from(npz_of(own), "y"),
                                      read_from(json, "x.json"), read_from(json, "z")}) {
      CHECK(file.layout == "attn");
      check_same(file.parameters, own);
      CHECK(std::signbit(file.parameters.find("b_q")->second(0, 1)));
    }
  }

  TEST_CASE("of a page that the program wrote the parameters are read") {
    const ParameterSet own = own_attention();
    const std::string matrices =
        R"("w_q": [[1,2],[3,4]], "w_k": [[5,6],[7,8]], "w_v": [[9,1],[2,3]], "b_q": [0.5, -0.0])";
    check_same(
        read_from(R"({"schema": "attn/1", "problem": {}, "arrays": {"x": [[1,"-Infinity"]], "head.1.q": [[3]], )" +
                      matrices + "}}",
                  "x.json")
            .parameters,
        own);
    check_same(
        read_from(R"({"arrays": {"x": [[1]]}, "problem": {"title": "t", "heads": 2, )" + matrices + "}}", "x.json")
            .parameters,
        own);
    check_same(read_from(npz_of(with(own, "head.1.scores", matrix({{1, 2, 3}}))), "x.npz").parameters, own);
  }

  TEST_CASE("every module of PyTorch is recognized by its names, and what is read can be written and read") {
    for (const Module& saved : modules()) {
      CAPTURE(saved.layout);
      const ParameterFile file = read_from(safetensors_of(saved.state));
      CHECK(file.layout == saved.layout);
      CHECK(read_from(npz_of(saved.state), "x.npz").layout == saved.layout);
      const ParameterFile again = read_from(safetensors_of(file.parameters));
      CHECK(again.layout == "attn");
      check_same(again.parameters, file.parameters);
      const ParameterFile without_any = read_from(safetensors_of(without_biases(saved.state)));
      CHECK(without_any.layout == saved.layout);
      CHECK(read_from(safetensors_of(without_any.parameters)).parameters.size() == without_any.parameters.size());
    }
  }

  TEST_CASE("a prefix that all names share is taken off") {
    for (const std::string prefix : {"module.", "model.transformer.", "encoder.layers.7.self_attn."}) {
      for (const Module& saved : modules()) {
        CAPTURE(prefix);
        CAPTURE(saved.layout);
        ParameterSet longer;
        add(longer, prefix, saved.state);
        const ParameterFile file = read_from(safetensors_of(longer));
        CHECK(file.layout == saved.layout);
        check_same(file.parameters, read_from(safetensors_of(saved.state)).parameters);
      }
    }
    ParameterSet own;
    add(own, "module.", own_attention());
    check_same(read_from(safetensors_of(own)).parameters, own_attention());
  }

  TEST_CASE("an encoder of one layer without a norm is an encoder") {
    ParameterSet encoder;
    add(encoder, "layers.0.", torch_encoder_layer());
    const ParameterFile file = read_from(safetensors_of(encoder));
    CHECK(file.layout == "nn.TransformerEncoder");
    check_same(file.parameters, read_from(safetensors_of(torch_encoder_layer())).parameters);
  }

  TEST_CASE("packed projections are split and turned") {
    const ParameterFile file =
        read_from(safetensors_of({{"in_proj_weight", matrix({{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}})},
                                  {"in_proj_bias", matrix({{1, 2, 3, 4, 5, 6}})},
                                  {"out_proj.weight", matrix({{1, 2}, {3, 4}})},
                                  {"out_proj.bias", matrix({{7, 8}})}}));
    check_same(file.parameters, {{"w_q", matrix({{1, 3}, {2, 4}})},
                                 {"w_k", matrix({{5, 7}, {6, 8}})},
                                 {"w_v", matrix({{9, 11}, {10, 12}})},
                                 {"w_o", matrix({{1, 3}, {2, 4}})},
                                 {"b_q", matrix({{1, 2}})},
                                 {"b_k", matrix({{3, 4}})},
                                 {"b_v", matrix({{5, 6}})},
                                 {"b_o", matrix({{7, 8}})}});
  }

  TEST_CASE("separate projections are turned, whatever keys and values come from") {
    const ParameterFile file = read_from(safetensors_of({{"q_proj_weight", matrix({{1, 2}, {3, 4}})},
                                                         {"k_proj_weight", matrix({{1, 2, 3}, {4, 5, 6}})},
                                                         {"v_proj_weight", matrix({{1}, {2}})},
                                                         {"out_proj.weight", matrix({{1, 0}, {0, 1}})}}));
    CHECK(file.layout == "nn.MultiheadAttention");
    check_same(file.parameters, {{"w_q", matrix({{1, 3}, {2, 4}})},
                                 {"w_k", matrix({{1, 4}, {2, 5}, {3, 6}})},
                                 {"w_v", matrix({{1, 2}})},
                                 {"w_o", matrix({{1, 0}, {0, 1}})}});
  }

  TEST_CASE("queries, keys and values that a tensor holds are parted as its layout says") {
    const auto counted = [](std::size_t rows, std::size_t columns, double from) {
      return filled({rows, columns}, [&] { return from++; });
    };
    // Phi-3: two heads of queries and one of keys, of two numbers each, below each other.
    const ParameterSet phi3 = {{"layers.0.self_attn.o_proj.weight", counted(4, 4, 0)},
                               {"layers.0.self_attn.qkv_proj.weight", counted(8, 4, 100)},
                               {"layers.0.input_layernorm.weight", counted(1, 4, 1)},
                               {"layers.0.mlp.gate_up_proj.weight", counted(6, 4, 200)},
                               {"layers.0.mlp.down_proj.weight", counted(4, 3, 300)},
                               {"layers.0.post_attention_layernorm.weight", counted(1, 4, 1)},
                               {"norm.weight", counted(1, 4, 1)},
                               {"embed_tokens.weight", counted(5, 4, 400)}};
    const ParameterFile file = read_from(safetensors_of(phi3));
    CHECK(file.layout == "Phi-3");
    CHECK(file.parameters.at("decoder.1.self_attention.w_q").shape() == Shape{4, 4});
    CHECK(file.parameters.at("decoder.1.self_attention.w_k").shape() == Shape{4, 2});
    CHECK(file.parameters.at("decoder.1.self_attention.w_k")(0, 1) == 120.0);
    CHECK(file.parameters.at("decoder.1.self_attention.w_v")(3, 0) == 127.0);
    CHECK(file.parameters.at("decoder.1.feed_forward.w_gate")(0, 2) == 208.0);
    CHECK(file.parameters.at("decoder.1.feed_forward.w_1")(0, 0) == 212.0);
  }

  TEST_CASE("GPT-2 is recognized by its names, and who stored it by its shapes") {
    const ParameterSet bare = gpt2("", false);
    const ParameterFile file = read_from(safetensors_of(bare));
    CHECK(file.layout == "GPT-2");
    CHECK(file.brings.size() > 0);
    check_same(read_from(npz_of(gpt2("transformer.", false)), "x.npz").parameters, file.parameters);
    const ParameterSet tied = with(gpt2("transformer.", false), "lm_head.weight", bare.at("wte.weight"));
    check_same(read_from(safetensors_of(tied)).parameters, file.parameters);
    const ParameterFile untied =
        read_from(safetensors_of(with(tied, "lm_head.weight", matrix({{1, 2}, {3, 4}, {5, 6}}))));
    CHECK(untied.layout == "GPT-2");
    CHECK(same(untied.parameters.at("output.w"), matrix({{1, 3, 5}, {2, 4, 6}})));
    const ParameterSet own_head = with(gpt2("transformer.", true), "lm_head.weight", matrix({{1, 2}, {3, 4}, {5, 6}}));
    ParameterFile other = read_from(safetensors_of(own_head));
    CHECK(other.layout == "minGPT");
    CHECK(same(other.parameters.at("output.w"), matrix({{1, 3, 5}, {2, 4, 6}})));
    other.parameters.erase("output.w");
    check_same(other.parameters, file.parameters);
    const ParameterSet& parameters = file.parameters;
    CHECK(same(parameters.at("decoder.1.self_attention.w_k"), matrix({{0.75, 1.0}, {2.25, 2.5}})));
    CHECK(same(parameters.at("target_positions.table"), bare.at("wpe.weight")));
    CHECK(same(parameters.at("decoder.norm.gamma"), bare.at("ln_f.weight")));
    CHECK(read_from(safetensors_of(parameters)).layout == "attn decoder-only");
  }

  TEST_CASE("of two layouts with the same names, what fits longest is told") {
    const Matrix wrong = matrix({{1, 2, 3}});
    CHECK(has(parameters_refusal(with(gpt2("transformer.", false), "transformer.h.0.mlp.c_fc.weight", wrong)),
              "'transformer.h.0.mlp.c_fc.weight' is 1×3, and must be d_model × d_ff"));
  }

  TEST_CASE("layers count from 0 there and from 1 here, and every part has its name") {
    const ParameterSet state = torch_transformer();
    const ParameterSet parameters = read_from(safetensors_of(state)).parameters;
    CHECK(parameters.size() == 2 * 16 + 2 + 2 * 26 + 2);
    CHECK(same(parameters.at("encoder.2.feed_forward.w_1"), matrix({{0.25, 0.75, 1.25}, {0.5, 1, 1.5}})));
    struct Vector {
      const char* ours;
      const char* theirs;
    };
    const Vector vectors[] = {
        {"encoder.1.norm_1.gamma", "encoder.layers.0.norm1.weight"},
        {"encoder.1.norm_2.beta", "encoder.layers.0.norm2.bias"},
        {"encoder.2.feed_forward.b_1", "encoder.layers.1.linear1.bias"},
        {"encoder.norm.gamma", "encoder.norm.weight"},
        {"decoder.2.cross_attention.b_o", "decoder.layers.1.multihead_attn.out_proj.bias"},
        {"decoder.2.self_attention.b_o", "decoder.layers.1.self_attn.out_proj.bias"},
        {"decoder.1.norm_3.beta", "decoder.layers.0.norm3.bias"},
        {"decoder.2.feed_forward.b_2", "decoder.layers.1.linear2.bias"},
        {"decoder.norm.beta", "decoder.norm.bias"},
    };
    for (const Vector& row : vectors) {
      CAPTURE(row.ours);
      CHECK(same(parameters.at(row.ours), state.at(row.theirs)));
    }
  }

  TEST_CASE("a whole model with embeddings and output is read") {
    ParameterSet own = read_from(safetensors_of(torch_transformer())).parameters;
    own.emplace("source_embedding.e", matrix({{1, 2}, {3, 4}, {5, 6}}));
    own.emplace("target_embedding.e", matrix({{1, 2}, {3, 4}}));
    own.emplace("output.w", matrix({{1, 2}, {3, 4}}));
    own.emplace("output.b", matrix({{1, 2}}));
    check_same(read_from(safetensors_of(own)).parameters, own);
    CHECK(parameters_refusal(with(own, "output.b", matrix({{1, 2, 3}}))) ==
          "x.safetensors: 'output.b' is 1×3, and must be 1 × target vocabulary with target vocabulary = "
          "2: save "
          "it in that shape");
  }

  TEST_CASE("what is missing is named with what was expected") {
    CHECK(parameters_refusal(without(torch_transformer(), "decoder.layers.1.linear1.weight")) ==
          "x.safetensors has no 'decoder.layers.1.linear1.weight' (d_ff × d_model), which nn.Transformer "
          "needs: "
          "save all of its parameters");
    CHECK(has(parameters_refusal(without(torch_transformer(), "encoder.layers.0.norm1.bias")),
              "has no 'encoder.layers.0.norm1.bias' (1 × d_model), which nn.Transformer needs because it has other "
              "biases"));
    CHECK(has(parameters_refusal(without(torch_attention(), "in_proj_weight")),
              "has no 'in_proj_weight' (3·d_model × d_model)"));
    CHECK(has(parameters_refusal(without(torch_attention(), "out_proj.weight")), "has no 'out_proj.weight'"));
    CHECK(has(parameters_refusal({{"q_proj_weight", matrix({{1}})}, {"out_proj.weight", matrix({{1}})}}),
              "has no 'k_proj_weight' (d_model × kdim)"));
    CHECK(has(parameters_refusal(without(own_attention(), "w_v")), "has no 'w_v'"));
    for (const Module& saved : modules()) {
      for (const std::string& name : names_in(saved.state)) {
        CAPTURE(saved.layout);
        CAPTURE(name);
        CHECK(has(parameters_refusal(without(saved.state, name)), "has no '" + name + "'"));
      }
    }
  }

  TEST_CASE("a wrong shape is named with what was expected") {
    CHECK(parameters_refusal(with(torch_attention(), "in_proj_weight", matrix({{1, 2}, {3, 4}}))) ==
          "x.safetensors: 'in_proj_weight' is 2×2, and must be 3·d_model × d_model with d_model = 2: "
          "save it "
          "in that shape");
    for (const Module& saved : modules()) {
      for (const std::string& name : names_in(saved.state)) {
        CAPTURE(saved.layout);
        CAPTURE(name);
        CHECK(has(parameters_refusal(with(saved.state, name, filled({7, 5}, [] { return 1.0; }))), "must be"));
      }
    }
  }

  TEST_CASE("a later layer without those before it is refused unless it is asked for") {
    const auto only = [](const std::string& prefix, const ParameterSet& part) {
      ParameterSet file;
      add(file, prefix, part);
      return parameters_refusal(file);
    };
    CHECK(
        only("layers.1.", torch_encoder_layer()) ==
        "x.safetensors: all names begin with 'layers.1.', and none with 'layers.0.': save all layers, or read this one "
        "alone with ‹prefix› layers.1");
    CHECK(has(only("module.layers.3.", torch_encoder_layer()), "alone with ‹prefix› module.layers.3"));
    CHECK(has(only("1.", torch_encoder_layer()), "none with '0.'"));
    CHECK(only("layers.0.", torch_encoder_layer()) == "(it was accepted)");
    CHECK(only("module.", torch_encoder_layer()) == "(it was accepted)");
    const TemporaryFolder folder;
    ParameterSet torn;
    add(torn, "layers.1.", torch_encoder_layer());
    const std::string path = folder.write("torn.safetensors", safetensors_of(torn));
    CHECK(read_parameters(path, "layers.1").layout == "nn.TransformerEncoderLayer");
  }

  TEST_CASE("what does not belong is named") {
    const Matrix one = matrix({{1}});
    CHECK(parameters_refusal(with(torch_encoder_layer(), "embedding.weight", one)) ==
          "x.safetensors has 'embedding.weight', which is not among the parameters of "
          "nn.TransformerEncoderLayer (one of them is 'self_attn.in_proj_weight'): leave it out, or read a "
          "part "
          "of the file with ‹prefix› NAME");
    CHECK(has(parameters_refusal(with(torch_attention(), "q_proj_weight", one)), "has no 'k_proj_weight'"));
    CHECK(has(parameters_refusal(with(own_attention(), "w_p", one)), "has 'w_p', which is not among"));
    ParameterSet gap;
    add(gap, "layers.0.", torch_encoder_layer());
    add(gap, "layers.2.", torch_encoder_layer());
    CHECK(has(parameters_refusal(gap), "has no 'layers.1.self_attn.in_proj_weight'"));
    CHECK(has(parameters_refusal(with(torch_attention(), "bias_k", matrix({{1, 2}}))), "(add_bias_kv=False)"));
    const std::string three = "{" + entry("bias_v", "F32", "[1,1,1]", 0, 4) + "," +
                              entry("in_proj_weight", "F32", "[3,1]", 4, 16) + "," +
                              entry("out_proj.weight", "F32", "[1,1]", 16, 20) + "}";
    CHECK(has(parameters_refusal(file_of(three, std::string(20, '\0'))), "has 'bias_v', which adds"));
    CHECK(has(parameters_refusal({{"a.b.c", one}, {"d", one}}),
              "has 2 tensors, and their names are of no layout that is read, for example 'a.b.c'"));
    CHECK(has(parameters_refusal(ParameterSet{}), "has no tensors"));
    CHECK(has(parameters_refusal({{"encoder.01.norm_1.gamma", one}}),
              "has 'encoder.01.norm_1.gamma', which is not among the parameters of attn: leave"));
    CHECK(has(parameters_refusal({{"encoder.2.norm_1.gamma", one}}), "has no"));
  }

  TEST_CASE("parameters are finite") {
    CHECK(parameters_refusal(with(torch_attention(), "out_proj.bias", matrix({{1, INFINITY}}))) ==
          "x.safetensors: 'out_proj.bias' is inf in row 1, column 2: parameters must be finite");
    CHECK(has(parameters_refusal(with(own_attention(), "w_k", matrix({{1, 2}, {NAN, 4}}))),
              "'w_k' is nan in row 2, column 1"));
    const std::string half = "{" + entry("in_proj_weight", "F16", "[3,1]", 0, 6) + "," +
                             entry("out_proj.weight", "F16", "[1,1]", 6, 8) + "}";
    CHECK(has(parameters_refusal(file_of(half, std::string(6, '\0') + little(0x7C00, 2))),
              "'out_proj.weight' is inf in row 1, column 1"));
  }

  TEST_CASE("other files are refused with a sentence") {
    for (const char* name : {"x.csv", "x.pt"}) {
      for (const char* bytes : {"1,2\n", "hello", ""})
        CHECK(parameters_refusal(bytes, name) ==
              fmt::format("{} is of no kind that is read as parameters: give a .safetensors, .npz or .json file, or a "
                          "state dictionary of PyTorch, saved with torch.save",
                          name));
    }
    CHECK(has(parameters_refusal("[[1]]", "x.json"), "x.json is not an object of matrices by name"));
    CHECK(has(parameters_refusal("{\"w_q\": 1, \"w_k\": [[1]], \"w_v\": [[1]]}", "x.json"),
              "x.json:w_q is not an array"));
    const Matrix one = matrix({{1}});
    CHECK(has(parameters_refusal(written_by([&](Sink& sink) {
                                   write_npz({{"w_q", &one}, {"w_q", &one}}, sink);
                                 }),
                                 "x.npz"),
              "has two arrays named 'w_q'"));
    CHECK(has(parameters_refusal(npz_of({}), "x.npz"), "is an archive without NumPy arrays"));
  }

  TEST_CASE("a damaged file of parameters is refused or read, and nothing else") {
    const TemporaryFolder folder;
    const std::string whole = safetensors_of(torch_attention());
    std::mt19937 random(2);
    for (int i = 0; i < 2'000; ++i) {
      std::string bytes = whole;
      for (int j = 0; j < 2; ++j) bytes[random() % 300] = static_cast<char>(random() & 0x7FU);
      // Under the same name, each file would have to reach the disk before the next one.
      const std::string path = folder.write(std::to_string(i) + ".safetensors", bytes);
      bool survives = true;
      try {
        read_parameters(path);
      } catch (const InputError&) {
      } catch (...) {
        survives = false;
      }
      CHECK(survives);
    }
  }
}
