// Files of models: mapped, in several parts, of PyTorch, of llama2.c, of GGUF, and what is wrong with them.

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/math/stored_matrix.hpp"
#include "data/files/gguf.hpp"
#include "data/files/llama2c.hpp"
#include "data/files/mapped_file.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/pickle.hpp"
#include "data/files/zip.hpp"
#include "data/parameters/folder.hpp"
#include "data/parameters/parameters.hpp"
#include "data/parameters/shards.hpp"
#include "data/problem/model_file.hpp"
#include "effects/lost_file.hpp"
#include "gguf_written.hpp"
#include "process.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

constexpr std::string_view gpt2_config =
    R"({"model_type": "gpt2", "n_head": 1, "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"})";

std::string safetensors_bytes(const ParameterSet& tensors) {
  return written_by([&](Sink& sink) { write_safetensors(tensors, sink); });
}

// A folder with a config and other files.
std::string model_folder(const TemporaryFolder& folder, const std::map<std::string, std::string>& files,
                         std::string_view config = gpt2_config) {
  if (!config.empty()) folder.write("config.json", config);
  for (const auto& [name, bytes] : files) folder.write(name, bytes);
  return std::filesystem::path(folder.path("x")).parent_path().string();
}

std::string with_note_on_random(const TemporaryFolder& folder, const std::string& path) {
  std::string sentence = refusal([&] { read_model(path); });
  const std::string place = std::filesystem::path(folder.path("x")).parent_path().string();
  for (std::size_t at = sentence.find(place); at != std::string::npos; at = sentence.find(place))
    sentence.replace(at, place.size(), "F");
  return sentence;
}

bool is_tiny_gpt2(const Transformer& model) {
  const ParameterSet tensors = tiny_gpt2();
  const auto& packed = tensors.at("h.0.attn.c_attn.weight");
  const Matrix& w_k = *model.parameters.at("decoder.1.self_attention.w_k");
  const Matrix& w_2 = *model.parameters.at("decoder.1.feed_forward.w_2");
  const Matrix& e = *model.parameters.at("target_embedding.e");
  return w_k.shape() == Shape{2, 2} && w_k(1, 0) == packed(1, 2) && w_k(0, 1) == packed(0, 3) &&
         same(w_2, tensors.at("h.0.mlp.c_proj.weight")) && same(e, tensors.at("wte.weight"));
}

// --- a file of PyTorch

std::string text_in_pickle(std::string_view text) { return "X" + little_bytes(text.size(), 4) + std::string(text); }
std::string number_in_pickle(std::uint64_t number) { return "J" + little_bytes(number, 4); }

// A tensor that is a view of a storage.
struct PickledView {
  std::string name, key;
  std::uint64_t count, offset;
  std::vector<std::uint64_t> sizes, strides;
};

std::string tuple_in_pickle(const std::vector<std::uint64_t>& numbers) {
  std::string text = "(";
  for (const std::uint64_t number : numbers) text += number_in_pickle(number);
  return text + "t";
}

std::string dictionary_in_pickle(const std::vector<PickledView>& tensors, const std::string& storage) {
  std::string text = "}(";
  for (const PickledView& tensor : tensors) {
    text += text_in_pickle(tensor.name) + "ctorch._utils\n_rebuild_tensor_v2\n((" + text_in_pickle("storage") +
            "ctorch\n" + storage + "\n" + text_in_pickle(tensor.key) + text_in_pickle("cpu") +
            number_in_pickle(tensor.count) + "tQ" + number_in_pickle(tensor.offset) + tuple_in_pickle(tensor.sizes) +
            tuple_in_pickle(tensor.strides) + "\x89" + "ccollections\nOrderedDict\n)RtR";
  }
  return text + "u";
}

std::string pickled(const std::string& value) { return "\x80\x02" + value + "."; }

std::string archive_of(const std::map<std::string, std::string>& files) {
  std::vector<ZipMember> members;
  for (const auto& [name, bytes] : files)
    members.push_back({.name = "archive/" + name, .packed_bytes = bytes.size(), .bytes = bytes.size()});
  lay_out_zip(members);
  std::string archive;
  std::size_t i = 0;
  for (const auto& [name, bytes] : files) archive += zip_header(members[i++]) + bytes;
  return archive + zip_ending(members);
}

std::string torch_file_of(const ParameterSet& tensors, bool is_nested = false) {
  std::map<std::string, std::string> files;
  std::vector<PickledView> views;
  for (const auto& [name, matrix] : tensors) {
    const std::string key = std::to_string(views.size());
    const auto [rows, columns] = matrix.shape();
    views.push_back({name, key, rows * columns, 0, {rows, columns}, {columns, 1}});
    std::string& bytes = files["data/" + key];
    for (const double cell : cells(matrix)) bytes += float_bytes(static_cast<float>(cell));
  }
  const std::string state = dictionary_in_pickle(views, "FloatStorage");
  const std::string nested = "}(" + text_in_pickle("iter_num") + "K\x07" + text_in_pickle("model") + state +
                             text_in_pickle("model_args") + "}(" + text_in_pickle("dropout") + "G" +
                             std::string(8, '\0') + "uu";
  files["data.pkl"] = pickled(is_nested ? nested : state);
  return archive_of(files);
}

// One matrix of a file of PyTorch, by its numbers one after the other.
std::string torch_file_of_view(const PickledView& view, std::size_t numbers) {
  std::string bytes;
  for (std::size_t i = 0; i < numbers; ++i) bytes += float_bytes(static_cast<float>(i));
  return archive_of({{"data.pkl", pickled(dictionary_in_pickle({view}, "FloatStorage"))}, {"data/0", bytes}});
}

Matrix view_in_torch_file(const PickledView& view, std::size_t numbers) {
  const TemporaryFolder folder;
  const std::string path = folder.write("x.pt", torch_file_of_view(view, numbers));
  return open_parameters(path, path, "").read(view.name);
}

std::string said_of_pickle(const std::string& value) {
  return refusal([&] { read_pickle(pickled(value), "x.pt"); });
}

}  // namespace

TEST_SUITE("files of models") {
  TEST_CASE("the numbers of a mapped file stay in it") {
    const TemporaryFolder folder;
    const std::string path = folder.write("x.safetensors", safetensors_bytes(tiny_gpt2()));
    const ParameterFile file = read_parameters(path);
    const Matrix& w_k = file.parameters.at("decoder.1.self_attention.w_k");
    REQUIRE(w_k.stored());
    CHECK_FALSE(w_k.has_cells());
    CHECK(w_k.stored()->number(1, 0) == tiny_gpt2().at("h.0.attn.c_attn.weight")(1, 2));
    ParameterSet turned = tiny_gpt2();
    for (auto& [name, matrix] : turned) {
      if (name.starts_with("h.") && matrix.shape().rows > 1) matrix = transposed(matrix);
    }
    turned.emplace("lm_head.weight", turned.at("wte.weight"));
    const ParameterFile mingpt = read_parameters(folder.write("y.safetensors", safetensors_bytes(turned)));
    const Matrix& other = mingpt.parameters.at("decoder.1.self_attention.w_k");
    REQUIRE(other.stored());
    CHECK(other.stored()->is_transposed);
    CHECK(same(other, w_k));
    CHECK(same(mingpt.parameters.at("output.w"), transposed(turned.at("wte.weight"))));
  }

  TEST_CASE("a large file is opened by its header" * needs_limited_memory()) {
    const TemporaryFolder folder;
    constexpr std::size_t d = 2048, words = 400'000;
    std::string header;
    std::size_t end = 0;
    for (const auto& [name, matrix] : tiny_gpt2()) {
      // 2 is d_model there, 3 are words, 4 positions, 6 and 8 are parts of layers.
      const auto large = [&](std::size_t size) {
        return size == 1 ? 1 : size == 3 ? words : size == 4 ? 4 : size / 2 * d;
      };
      const std::size_t rows = large(matrix.shape().rows), columns = large(matrix.shape().columns);
      const std::size_t begin = end;
      end += rows * columns * 4;
      header += fmt::format(R"({}"{}":{{"dtype":"F32","shape":[{},{}],"data_offsets":[{},{}]}})", begin == 0 ? "" : ",",
                            name, rows, columns, begin, end);
    }
    header = "{" + header + "}";
    const std::string path = model_folder(
        folder, {{"model.safetensors", little_bytes(header.size(), 8) + header}},
        R"({"model_type": "gpt2", "n_head": 16, "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"})");
    std::filesystem::resize_file(folder.path("model.safetensors"), 8 + header.size() + end);
    // The file has its addresses, and there is no room for its numbers.
    const std::string limit = fmt::format("ulimit -v {}", end / 1024 + 1'000'000);
    const ProcessResult finished = run_attn({"parameters", "--model", path}, {.shell = limit});
    CAPTURE(finished.errors);
    CHECK(finished.code == 0);
    CHECK(has(finished.out, "400000×2048"));
    CHECK(end > std::size_t{3'000'000'000});
  }

  TEST_CASE("a file that is changed while it is read is told") {
    const TemporaryFolder folder;
    const std::string path = folder.write("x.safetensors", safetensors_bytes(tiny_gpt2()));
    const pid_t child = fork();
    if (child == 0) {
      end_where_a_file_is_lost();
      if (!std::freopen(folder.path("errors").c_str(), "wb", stderr)) _exit(70);
      const FileBytes file = map_file(path);
      std::filesystem::resize_file(path, 0);
      volatile char lost = 0;
      for (const char byte : file.bytes) lost = byte;
      _exit(lost == 0 ? 70 : 71);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 2);
    CHECK(has(bytes_of(folder.path("errors")), "a file could not be read to its end"));
    const std::string other = folder.write("y.safetensors", safetensors_bytes(tiny_gpt2()));
    const FileBytes file = map_file(other);
    require_mapped_files_unchanged();
    std::filesystem::resize_file(other, file.bytes.size() - 1);
    CHECK(has(refusal([] { require_mapped_files_unchanged(); }), "was changed by another program while it was read"));
  }

  TEST_CASE("a folder with a config is a model") {
    const TemporaryFolder folder;
    const std::string path = model_folder(folder, {{"model.safetensors", safetensors_bytes(tiny_gpt2())}});
    CHECK(is_tiny_gpt2(read_model(path).model));
    const ProcessResult parameters = run_attn({"transformer", "--parameters", path, "--target", "1 2"});
    CHECK(parameters.code == 2);
    CHECK(has(parameters.errors, "it is the folder of a model: give it by --model"));
    const ProcessResult part =
        run_attn({"walk", "--parameters", path, "--prefix", "h.0.attn", "--heads", "1", "--x", "1 2; 3 4"});
    CAPTURE(part.errors);
    CHECK(part.code == 0);
  }

  TEST_CASE("a folder in which something is missing is refused with a sentence") {
    const auto said = [](const std::map<std::string, std::string>& files, std::string_view config) {
      const TemporaryFolder folder;
      return with_note_on_random(folder, model_folder(folder, files, config));
    };
    const std::string bytes = safetensors_bytes(tiny_gpt2());
    CHECK(has(said({{"model.safetensors", bytes}}, ""), "F has no config.json"));
    CHECK(has(said({}, gpt2_config), "F has no file of parameters: one of model.safetensors, "));
    CHECK(has(said({{"model.safetensors", bytes.substr(0, bytes.size() - 9)}}, gpt2_config), "is incomplete"));
    CHECK(has(said({{"model.safetensors", bytes}}, R"({"model_type": "mixtral"})"), "this is Mixtral"));
  }

  TEST_CASE("several files with an index are one model") {
    ParameterSet first, second;
    std::string map;
    for (const auto& [name, matrix] : tiny_gpt2()) {
      const bool is_first = name < "h.0.ln_1";
      (is_first ? first : second).emplace(name, matrix);
      map += fmt::format(R"({}"{}": "model-0000{}-of-00002.safetensors")", map.empty() ? "" : ", ", name,
                         is_first ? 1 : 2);
    }
    const std::string index = R"({"metadata": {"total_size": 1}, "weight_map": {)" + map + "}}";
    const std::string one = "model-00001-of-00002.safetensors", two = "model-00002-of-00002.safetensors",
                      name = "model.safetensors.index.json";
    const auto said = [&](const std::map<std::string, std::string>& files) {
      const TemporaryFolder folder;
      return with_note_on_random(folder, model_folder(folder, files));
    };
    const TemporaryFolder folder;
    const std::string path =
        model_folder(folder, {{name, index}, {one, safetensors_bytes(first)}, {two, safetensors_bytes(second)}});
    CHECK(is_tiny_gpt2(read_model(path).model));
    CHECK(with_note_on_random(folder, folder.path(one)) ==
          "F/" + one + " is one of the 2 files of a model: give the folder with all of them");
    CHECK(read_parameters(folder.path(name)).layout == "GPT-2");
    CHECK(read_parameters(path, "h.0.attn").layout == "an attention of GPT-2");
    CHECK(has(said({{name, index}, {one, safetensors_bytes(first)}}),
              "F/" + name + " names the file F/" + two + ", which is not there"));
    CHECK(has(said({{name, index}, {one, safetensors_bytes(first)}, {two, safetensors_bytes(second).substr(0, 99)}}),
              "F/" + two));
    ParameterSet less = second;
    less.erase("ln_f.bias");
    CHECK(has(said({{name, index}, {one, safetensors_bytes(first)}, {two, safetensors_bytes(less)}}),
              "says that 'ln_f.bias' is in F/" + two + ", and it is not"));
    for (const std::string_view outside : {"../x", "/etc/passwd", "a/../../x", "..", ""}) {
      CHECK(has(said({{name, fmt::format(R"({{"weight_map": {{"wte.weight": "{}"}}}})", outside)}}),
                "an index names only files beside it"));
    }
    CHECK(has(said({{name, R"({"weight_map": 1})"}}), "has no \"weight_map\""));
    CHECK(has(said({{name, R"({"weight_map": {"a": 1}})"}}), name));
  }

  TEST_CASE("what torch.save writes is read, and nothing in it is run") {
    const TemporaryFolder folder;
    CHECK(is_tiny_gpt2(read_model(model_folder(folder, {{"pytorch_model.bin", torch_file_of(tiny_gpt2())}})).model));
    const ParameterFile nested = read_parameters(folder.write("ckpt.pt", torch_file_of(tiny_gpt2(), true)));
    CHECK(nested.layout == "GPT-2");
    CHECK(nested.parameters.at("target_embedding.e").stored());
    CHECK(
        std::ranges::any_of(nested.assumed, [](const Assumption& one) { return has(one.sentence, "under 'model'"); }));
    CHECK(has(said_of_pickle("cos\nsystem\n(" + text_in_pickle("rm -r /") + "tR"), "x.pt wants to run 'os.system'"));
    CHECK(has(said_of_pickle(text_in_pickle("builtins") + text_in_pickle("eval") + "\x93"), "'builtins.eval'"));
    CHECK(has(said_of_pickle("(ios\nsystem\n"), "'os.system'"));
    CHECK(has(said_of_pickle("ctorch\nComplexFloatStorage\n"),
              "x.pt has complex numbers ('torch.ComplexFloatStorage'), which are not read: leave these tensors out"));
    CHECK(has(
        said_of_pickle("ctorch._utils\n_rebuild_qtensor\n"),
        "x.pt has quantized numbers ('torch._utils._rebuild_qtensor'), which are not read: save them as real numbers, "
        "with .dequantize()"));
    CHECK(has(said_of_pickle("ctorch\nfloat32\n)R"), "'torch.float32'"));
    CHECK(has(said_of_pickle("P1\n"), "has the operation 0x50"));
    for (const std::string damaged : {"", "t", "(", "X\xff\xff\xff\xff", "h\x05", "]K\x01u", "}(K\x01u", "K\x01Q",
                                      "ctorch._utils\n_rebuild_tensor_v2\n)R"})
      CHECK(has(said_of_pickle(damaged), "is damaged"));
    std::string old = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.";
    CHECK(has(refusal([&] { read_parameters(folder.write("old.bin", old)); }),
              "a file of torch.save before PyTorch 1.6"));
  }

  TEST_CASE("a tensor of PyTorch may be any view of its storage") {
    CHECK(same(view_in_torch_file({"a", "0", 6, 0, {2, 3}, {3, 1}}, 6), matrix({{0, 1, 2}, {3, 4, 5}})));
    CHECK(same(view_in_torch_file({"a", "0", 6, 0, {3, 2}, {1, 3}}, 6), matrix({{0, 3}, {1, 4}, {2, 5}})));
    CHECK(same(view_in_torch_file({"a", "0", 9, 1, {2, 2}, {3, 1}}, 9), matrix({{1, 2}, {4, 5}})));
    CHECK(same(view_in_torch_file({"a", "0", 9, 0, {2, 2}, {6, 2}}, 9), matrix({{0, 2}, {6, 8}})));
    CHECK(same(view_in_torch_file({"a", "0", 6, 1, {3}, {2}}, 6), matrix({{1, 3, 5}})));
    CHECK(has(refusal([] { view_in_torch_file({"a", "0", 3, 2, {2, 2}, {0, 0}}, 3); }), "'a' repeats its numbers"));
    CHECK(view_in_torch_file({"a", "0", 6, 0, {3, 2}, {1, 3}}, 6).stored());
    constexpr std::uint64_t large = std::uint64_t{1} << 30U;
    for (const PickledView& view : {PickledView{"a", "0", 6, 1, {2, 3}, {3, 1}},
                                    {"a", "0", 6, 6, {1, 1}, {1, 1}},
                                    {"a", "0", 6, 0, {large, large}, {large, large}},
                                    {"a", "0", 6, 0, {2, 2}, {large, 1}}})
      CHECK(has(refusal([&] { view_in_torch_file(view, 6); }), "'a' lies outside of its storage"));
    CHECK(has(refusal([] { view_in_torch_file({"a", "1", 6, 0, {2, 3}, {3, 1}}, 6); }), "has no 'data/1'"));
    CHECK(has(refusal([] { view_in_torch_file({"a", "0", 8, 0, {2, 2, 2}, {4, 2, 1}}, 8); }), "has 3 dimensions"));
  }

  TEST_CASE("GGUF is read with what it says of its model") {
    const TemporaryFolder folder;
    GgufWriter file_of_gpt2 = gguf_of_gpt2();
    file_of_gpt2.say_texts("tokenizer.ggml.tokens", {"a", "bc"});
    const std::string bytes = file_of_gpt2.bytes();
    const std::string path = folder.write("x.gguf", bytes);
    const Transformer model = read_model(path).model;
    CHECK(is_tiny_gpt2(model));
    CHECK(model.recipe.tied_output);
    const GgufFile file = read_gguf(bytes, "x");
    const auto& tokens = std::get<GgufList>(file.metadata.at("tokenizer.ggml.tokens"));
    CHECK(texts_of(tokens) == std::vector<std::string_view>{"a", "bc"});
    CHECK_FALSE(numbers_of(tokens));
    CHECK(has(refusal([&] { read_parameters(path); }), "give it by ‹model›"));

    GgufWriter packed;
    std::string block = little_bytes(0x3800, 2);  // 0.5
    for (int i = 0; i < 32; ++i) block += static_cast<char>(i - 16);
    packed.add("a", {32, 1}, 8, block);
    packed.add("b", {32, 1}, 12, block);
    packed.add("c", {2, 1}, 30, little_bytes(0x3F80, 2) + little_bytes(0xC000, 2));
    packed.add("d", {31, 1}, 8, block);
    packed.add("e", {64, 1000}, 0, block);
    const std::string others = packed.bytes();
    const GgufFile read = read_gguf(others, "x.gguf");
    const auto tensor = [&](std::size_t i) { return matrix_from(read.tensors[i], read, nullptr, "x.gguf"); };
    CHECK(tensor(0)(0, 0) == -8.0);
    CHECK(tensor(0)(0, 31) == 7.5);
    CHECK(refusal([&] { tensor(1); }) ==
          "x.gguf: the tensor 'b' has numbers of the type Q4_K, which is not read: convert the model to Q8_0 or F16");
    CHECK(same(tensor(2), matrix({{1, -2}})));
    CHECK(has(refusal([&] { tensor(3); }), "no whole blocks of 32"));
    CHECK(has(refusal([&] { tensor(4); }), "lies outside of the file"));
  }

  TEST_CASE("a file of llama2.c is known by its sizes, which fit it exactly") {
    // d_model 4, d_ff 3, 1 layer, 2 heads, 1 of keys, 5 words, 6 positions.
    constexpr std::array<std::uint64_t, 7> sizes = {4, 3, 1, 2, 1, 5, 6};
    constexpr std::size_t of_layer = 4 + 16 + 8 + 8 + 16 + 4 + 12 + 12 + 12, angles = 2 * 6;
    const auto file_of = [&](bool is_tied) {
      std::string bytes;
      for (std::size_t i = 0; i < sizes.size(); ++i)
        bytes += little_bytes(i == 5 && !is_tied ? -sizes[i] : sizes[i], 4);
      for (std::size_t i = 0; i < 20 + of_layer + 4 + angles + (is_tied ? 0 : 20); ++i)
        bytes += float_bytes(static_cast<float>(i));
      return bytes;
    };
    const std::string tied = file_of(true);
    REQUIRE(is_llama2c(tied));
    REQUIRE(is_llama2c(file_of(false)));
    for (std::size_t size = 0; size < tied.size(); ++size) CHECK_FALSE(is_llama2c(tied.substr(0, size)));
    CHECK_FALSE(is_llama2c(tied + '\0'));
    const std::vector<Llama2cTensor> tensors = llama2c_tensors({tied}, "x.bin");
    const auto tensor = [&](std::string_view name) {
      const auto found = std::ranges::find(tensors, name, &Llama2cTensor::name);
      REQUIRE(found != tensors.end());
      return found->matrix;
    };
    CHECK(tensor("target_embedding.e")(1, 0) == 4);
    CHECK(tensor("decoder.1.self_attention.w_q")(1, 0) == 25);
    CHECK(tensor("decoder.1.self_attention.w_q")(0, 1) == 28);
    CHECK(tensor("decoder.1.self_attention.w_k").shape() == Shape{4, 2});
    CHECK(tensor("decoder.norm.gamma")(0, 0) == 20 + of_layer);
    const TemporaryFolder folder;
    const Transformer model = read_model(folder.write("x.bin", file_of(false))).model;
    CHECK(model.recipe.positions->name == "rotary");
    CHECK(model.parameters.at("output.w")->shape() == Shape{4, 5});
    CHECK(has(refusal([&] { read_parameters(folder.path("x.bin")); }), "give it by ‹model›"));
  }

  TEST_CASE("damaged GGUF is refused with a sentence") {
    const std::string bytes = gguf_of_gpt2().bytes();
    const std::size_t header = bytes.find("output_norm.bias") + 48;
    for (std::size_t size = 4; size < header; ++size)
      CHECK_THROWS_AS(read_gguf(bytes.substr(0, size), "x"), InputError);
    for (std::size_t at = 4; at < header; ++at) {
      std::string changed = bytes;
      changed[at] = '\x7F';
      try {
        const GgufFile file = read_gguf(changed, "x");
        for (const GgufTensor& tensor : file.tensors) matrix_from(tensor, file, nullptr, "x");
      } catch (const InputError&) {
      }
    }
    GgufWriter old = gguf_of_gpt2();
    old.version = 1;
    CHECK(has(refusal([&] { read_gguf(old.bytes(), "x"); }), "x is a GGUF file of version 1"));
    GgufWriter twice = gguf_of_gpt2();
    twice.say("general.architecture", 8, GgufWriter::text("gpt2"));
    CHECK(has(refusal([&] { read_gguf(twice.bytes(), "x"); }), "gives 'general.architecture' twice"));
    GgufWriter other = gguf_of_gpt2();
    const TemporaryFolder folder;
    other.values.replace(other.values.find("gpt2"), 4, "none");
    CHECK(has(refusal([&] { read_model(folder.write("x.gguf", other.bytes())); }), "'none'"));
  }
}
