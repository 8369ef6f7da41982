#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "commands_tried.hpp"
#include "data/files/safetensors.hpp"
#include "data/parameters/parameters.hpp"
#include "data/tokenizer/tokenizer.hpp"
#include "models.hpp"
#include "process.hpp"

using namespace attn;

namespace {

constexpr std::string_view text = "the cat saw the dog and the dog saw the cat";
constexpr std::size_t d = 4, pieces = 262;

// A GPT-2 of one layer, with a number of its own in each cell.
ParameterSet small_gpt2(std::size_t words = pieces) {
  double next = 0.0;
  const auto tensor = [&](std::size_t rows, std::size_t columns) {
    return filled({rows, columns}, [&] { return std::sin(next += 1.0); });
  };
  ParameterSet all{{"wte.weight", tensor(words, d)}, {"wpe.weight", tensor(32, d)}};
  for (const auto& [name, rows, columns] :
       std::vector<std::tuple<std::string, std::size_t, std::size_t>>{{"h.0.ln_1.weight", 1, d},
                                                                      {"h.0.ln_1.bias", 1, d},
                                                                      {"h.0.attn.c_attn.weight", d, 3 * d},
                                                                      {"h.0.attn.c_attn.bias", 1, 3 * d},
                                                                      {"h.0.attn.c_proj.weight", d, d},
                                                                      {"h.0.attn.c_proj.bias", 1, d},
                                                                      {"h.0.ln_2.weight", 1, d},
                                                                      {"h.0.ln_2.bias", 1, d},
                                                                      {"h.0.mlp.c_fc.weight", d, 4 * d},
                                                                      {"h.0.mlp.c_fc.bias", 1, 4 * d},
                                                                      {"h.0.mlp.c_proj.weight", 4 * d, d},
                                                                      {"h.0.mlp.c_proj.bias", 1, d},
                                                                      {"ln_f.weight", 1, d},
                                                                      {"ln_f.bias", 1, d}})
    all.emplace(name, tensor(rows, columns));
  return all;
}

std::string bytes_of_tensors(const ParameterSet& parameters) {
  std::vector<WrittenTensor> tensors;
  for (const auto& [name, matrix] : parameters) {
    const bool is_vector = matrix.shape().rows == 1;
    tensors.push_back({name, &matrix, is_vector ? std::size_t{1} : std::size_t{2}});
  }
  std::string bytes;
  Sink sink([&](std::string_view piece) { bytes += piece; });
  write_safetensors(tensors, sink);
  sink.flush();
  return bytes;
}

constexpr std::string_view usual_config =
    R"({"model_type": "gpt2", "n_head": 2, "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new", "eos_token_id": 261})";

// A folder of a model as it lies on disk.
std::string folder_with(const TemporaryFolder& folder, std::string_view config, std::size_t words = pieces) {
  folder.write("config.json", std::string(config));
  folder.write("model.safetensors", bytes_of_tensors(small_gpt2(words)));
  return folder.path("");
}

void write_pieces(const TemporaryFolder& folder) {
  folder.write("tokenizer.json", write_tokenizer(*learn_bpe(text, pieces)));
}

}  // namespace

TEST_CASE("the words of a model in a folder are the pieces of its tokenizer") {
  const TemporaryFolder folder;
  write_pieces(folder);
  const std::string model = folder_with(folder, usual_config);
  const std::string page = accepted({"decoder", "--model", model, "--text", "the dog", "--only", "target.ids"}).out;
  const std::vector<Token> tokens = read_tokenizer(model)->encode("the dog");
  for (const Token& token : tokens) {
    const std::string label = shown_piece(*read_tokenizer(model), token.id);
    CHECK_MESSAGE(page.find("  " + label + " ") != std::string::npos, label, " is not in ", page);
    check_has(page, fmt::format("{}", token.id + 1));
  }
  const std::string whole = in_one_line(accepted({"decoder", "--model", model, "--text", "the dog"}).out);
  check_has(whole, "Its words are the pieces of a tokenizer (byte-level BPE), whose ids begin with 0.");
  check_has(whole, "The matrices of ids count them from 1");
}

TEST_CASE("a model in a folder is run alike with its pieces and with their ids") {
  const TemporaryFolder with_pieces, with_ids;
  write_pieces(with_pieces);
  const std::string one = folder_with(with_pieces, usual_config), other = folder_with(with_ids, usual_config);
  std::string ids;
  for (const Token& token : read_tokenizer(one)->encode("the dog")) ids += fmt::format("{} ", token.id);
  const Words tail = {"--only", "logits", "--format", "csv", "--no-labels"};
  CHECK(accepted(Words{"decoder", "--model", one, "--text", "the dog"} + tail).out ==
        accepted(Words{"decoder", "--model", other, "--text", ids} + tail).out);
}

TEST_CASE("what a model in a folder writes is a text, up to the token that ends it") {
  const TemporaryFolder folder;
  write_pieces(folder);
  const std::string model = folder_with(folder, usual_config);
  const std::string page = accepted({"generate", "--model", model, "--text", "the dog", "--steps", "2"}).out;
  check_has(page, "Given: the dog\n");
}

TEST_CASE("an attention of a model in a folder is taken apart, all of it or one head") {
  const TemporaryFolder folder;
  write_pieces(folder);
  const std::string model = folder_with(folder, usual_config);
  const Words walk = {"walk", "--model", model, "--layer", "decoder.1.self_attention", "--text", "the dog"};
  const std::string one = accepted(walk + Words{"--head", "2"}).out;
  check_has(one, "head.2.weights");
  CHECK(one.find("head.1") == std::string::npos);
  CHECK(accepted(walk + Words{"--head", "2", "--only", "q|weights"}).out ==
        accepted(walk + Words{"--only", "head.2.q|head.2.weights"}).out);
  refuses(walk + Words{"--head", "3"}, "there is no head 3: ");
}

TEST_CASE("a folder that is no model is refused in a sentence") {
  const TemporaryFolder folder;
  const auto is_refused = [&](std::string_view sentence) {
    refuses({"decoder", "--model", folder.path("")}, sentence);
  };
  is_refused("has no config.json, which says how the model computes: give the folder of a model");
  folder.write("config.json", "[]");
  is_refused("is not an object, as the config.json of a model is");
  folder.write("config.json", "{}");
  is_refused("does not say which model it is: it has no \"model_type\"");
  folder.write("config.json", R"({"model_type": "nonsense"})");
  is_refused("this is a model of the family 'nonsense', which is not read yet");
  folder.write("config.json", R"({"model_type": "mixtral"})");
  is_refused("this is Mixtral: experts are not read yet");
  folder.write("config.json", R"({"model_type": "gpt2", "n_head": 0})");
  is_refused("\"n_head\" must be a whole number from 1 to 65536");
  folder.write("config.json", R"({"model_type": "gpt2", "n_head": 2, "activation_function": "sine"})");
  is_refused("the activation 'sine' is not read yet");
  folder.write("config.json", R"({"model_type": "gpt2", "n_head": 2})");
  REQUIRE(symlink("nowhere", folder.path("model.safetensors").c_str()) == 0);
  is_refused("model.safetensors is a link that leads to no file");
  std::filesystem::remove(folder.path("model.safetensors"));
  REQUIRE(mkfifo(folder.path("model.safetensors").c_str(), 0600) == 0);
  is_refused("model.safetensors is no regular file: put the file itself there");
  refuses({"decoder", "--model", "coreferense"}, "or give a file or a folder that is there");
}

TEST_CASE("no file of a model folder is a pipe, or a link that leads out of it") {
  for (const std::string name :
       {"config.json", "model.safetensors", "tokenizer.json", "vocab.txt", "tokenizer.model"}) {
    const TemporaryFolder folder, outside;
    const std::string model = folder_with(folder, usual_config);
    const std::filesystem::path path = folder.path(name), secret = outside.write("secret", "root:x:0:0");
    std::filesystem::remove(path);
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    refuses({"decoder", "--model", model}, name + " is no regular file: put the file itself there");
    std::filesystem::remove(path);
    std::filesystem::create_symlink(secret, path);
    refuses({"decoder", "--model", model}, name + " is a link that leads out of its folder: put the file itself there");
  }
}

TEST_CASE("a model in the cache of a hub, whose files are links to those beside its revisions, is read") {
  const TemporaryFolder folder;
  write_pieces(folder);
  const std::string model = folder_with(folder, usual_config);
  const auto logits = [](const std::string& path) {
    return accepted({"decoder", "--model", path, "--target", "the cat", "--only", "logits", "--format", "csv"}).out;
  };
  const std::filesystem::path cache = folder.path("models--a--b"), revision = cache / "snapshots" / "0123abcd";
  std::filesystem::create_directories(cache / "blobs");
  std::filesystem::create_directories(revision);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(""))) {
    if (!entry.is_regular_file()) continue;
    const std::filesystem::path name = entry.path().filename();
    std::filesystem::copy_file(entry.path(), cache / "blobs" / ("blob-of-" + name.string()));
    std::filesystem::create_symlink("../../blobs/blob-of-" + name.string(), revision / name);
  }
  CHECK(logits(revision.string()) == logits(model));
}

TEST_CASE("a config that tells another number of words than there are embeddings is that of another model") {
  const TemporaryFolder folder;
  const std::string model = folder_with(folder, R"({"model_type": "gpt2", "n_head": 2, "vocab_size": 99})", 100);
  refuses({"decoder", "--model", model},
          "the config says 99 words, and the tensors have 100: give the files of one model");
}

TEST_CASE("a tokenizer with more pieces than the model has embeddings is that of another model") {
  const TemporaryFolder folder;
  write_pieces(folder);
  const std::string model = folder_with(folder, usual_config, 100);
  refuses({"decoder", "--model", model},
          "the tokenizer has 262 pieces, and the model has embeddings of 100: give the files of one model");
}
