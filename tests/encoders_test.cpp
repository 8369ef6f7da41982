#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <random>

#include "core/attention/positional_encoding.hpp"
#include "data/files/json.hpp"
#include "data/parameters/config.hpp"
#include "data/parameters/parameters.hpp"
#include "data/problem/model_file.hpp"
#include "process.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

// Encoders and encoder-decoders as they lie on disk. tests/parity/encoders.py compares their numbers with PyTorch.

namespace {

constexpr std::size_t d = 4, inner = 6, words = 7, places = 9;

// Random matrices by names that are theirs.
class Tensors {
 public:
  void add(const std::string& name, std::size_t rows, std::size_t columns) {
    all_.emplace(name, filled({rows, columns}, [&] { return normal_(generator_); }));
  }
  void linear(const std::string& name, std::size_t rows, std::size_t columns, bool bias = true) {
    add(name + ".weight", rows, columns);
    if (bias) add(name + ".bias", 1, rows);
  }
  void norm(const std::string& name, bool shifts = true) {
    add(name + ".weight", 1, d);
    if (shifts) add(name + ".bias", 1, d);
  }
  ParameterSet& all() { return all_; }

 private:
  std::mt19937 generator_{1};
  std::normal_distribution<double> normal_{0.0, 0.5};
  ParameterSet all_;
};

Tensors bert(const std::string& before = "bert.", std::size_t types = 2) {
  Tensors tensors;
  tensors.add(before + "embeddings.word_embeddings.weight", words, d);
  tensors.add(before + "embeddings.position_embeddings.weight", places, d);
  tensors.add(before + "embeddings.token_type_embeddings.weight", types, d);
  tensors.norm(before + "embeddings.LayerNorm");
  const std::string layer = before + "encoder.layer.0.";
  for (const char* name :
       {"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"})
    tensors.linear(layer + name, d, d);
  tensors.norm(layer + "attention.output.LayerNorm");
  tensors.linear(layer + "intermediate.dense", inner, d);
  tensors.linear(layer + "output.dense", d, inner);
  tensors.norm(layer + "output.LayerNorm");
  return tensors;
}

Tensors bert_with_head() {
  Tensors tensors = bert();
  tensors.linear("cls.predictions.transform.dense", d, d);
  tensors.norm("cls.predictions.transform.LayerNorm");
  tensors.add("cls.predictions.bias", 1, words);
  return tensors;
}

Tensors t5() {
  Tensors tensors;
  tensors.add("shared.weight", words, d);
  for (const std::string side : {"encoder", "decoder"}) {
    const bool crosses = side == "decoder";
    const std::string block = side + ".block.0.layer.";
    const auto attention = [&](const std::string& name) {
      for (const char* map : {"q", "k", "v"}) tensors.add(block + name + "." + map + ".weight", 6, d);
      tensors.add(block + name + ".o.weight", d, 6);
    };
    attention("0.SelfAttention");
    tensors.add(block + "0.SelfAttention.relative_attention_bias.weight", 8, 2);
    tensors.norm(block + "0.layer_norm", false);
    if (crosses) attention("1.EncDecAttention");
    if (crosses) tensors.norm(block + "1.layer_norm", false);
    const std::string last = block + (crosses ? "2." : "1.");
    tensors.add(last + "DenseReluDense.wi.weight", inner, d);
    tensors.add(last + "DenseReluDense.wo.weight", d, inner);
    tensors.norm(last + "layer_norm", false);
    tensors.norm(side + ".final_layer_norm", false);
  }
  return tensors;
}

const Json bert_config = {{"model_type", "bert"}, {"num_attention_heads", 2}},
           t5_config = {{"model_type", "t5"},
                        {"num_heads", 2},
                        {"d_kv", 3},
                        {"relative_attention_num_buckets", 8},
                        {"relative_attention_max_distance", 5},
                        {"decoder_start_token_id", 0}};

void write(const TemporaryFolder& folder, const Json& config, const ParameterSet& tensors) {
  folder.write("config.json", config.dump());
  folder.write("model.safetensors", written_by([&](Sink& sink) { write_safetensors(tensors, sink); }));
}

TransformerFile read(const Json& config, const ParameterSet& tensors) {
  const TemporaryFolder folder;
  write(folder, config, tensors);
  return read_model(folder.path(""));
}

std::string refused_folder(Json config, const Json& changes, const ParameterSet& tensors) {
  config.update(changes);
  return refusal([&] { read(config, tensors); });
}

}  // namespace

TEST_SUITE("encoders") {
  TEST_CASE("short distances have buckets of their own, and long ones share them") {
    const Buckets both{.count = 32, .max_distance = 128, .has_later = true};
    CHECK(both.of(0) == 0);
    CHECK(both.of(-7) == 7);
    CHECK(both.of(-8) == 8);
    CHECK(both.of(-16) == 10);
    CHECK(both.of(-64) == 14);
    CHECK(both.of(-128) == 15);
    CHECK(both.of(-5000) == 15);
    CHECK(both.of(1) == 17);
    CHECK(both.of(128) == 31);
    const Buckets before{.count = 32, .max_distance = 128, .has_later = false};
    CHECK(before.of(3) == 0);
    CHECK(before.of(-15) == 15);
    CHECK(before.of(-16) == 16);
    CHECK(before.of(-127) == 31);
    CHECK(before.of(-128) == 31);
  }

  TEST_CASE("BERT has token types, a norm of embeddings, and an output layer that names masked words") {
    const TransformerFile file = read(bert_config, bert_with_head().all());
    const Transformer& model = file.model;
    CHECK(model.kind->name == "encoder-only");
    CHECK(model.sizes.types == 2);
    CHECK(model.sizes.target_words == words);
    CHECK(model.recipe.tied_output);
    CHECK(model.recipe.epsilon == 1e-12);
    CHECK(model.parameters.contains("source_embedding.norm.gamma"));
    CHECK(model.parameters.contains("output.transform.w"));
    CHECK(model.parameters.contains("output.norm.beta"));
  }

  TEST_CASE("BERT without its output layer has none") {
    Transformer model = read(bert_config, bert("").all()).model;
    CHECK(!model.recipe.tied_output);
    Graph graph;
    CHECK(!RunningTransformer(model, graph).has_output());
  }

  TEST_CASE("an output layer that differs from the embedding is its own") {
    Tensors tensors = bert_with_head();
    tensors.add("cls.predictions.decoder.weight", words, d);
    const Transformer model = read(bert_config, tensors.all()).model;
    CHECK(!model.recipe.tied_output);
    CHECK(model.parameters.contains("output.w"));
    CHECK(has(refused_folder(bert_config, {{"tie_word_embeddings", true}}, tensors.all()),
              "\"tie_word_embeddings\" is true, and the tensors have an output layer that differs"));
  }

  TEST_CASE("what a config says and what is not read yet is named") {
    const ParameterSet tensors = bert_with_head().all();
    CHECK(has(refused_folder(bert_config, {{"position_embedding_type", "relative_key"}}, tensors),
              "\"position_embedding_type\" is 'relative_key', and only 'absolute' is read yet"));
    CHECK(has(refused_folder(bert_config, {{"add_cross_attention", true}}, tensors),
              "\"add_cross_attention\" is true, which is not read yet"));
    CHECK(has(refused_folder(bert_config, {{"hidden_act", "mish"}}, tensors), "the activation 'mish' is not read yet"));
    CHECK(has(refused_folder(bert_config, {{"model_type", "albert"}}, tensors), "this is ALBERT"));
    CHECK(has(refused_folder(bert_config, {{"model_type", "deberta-v2"}}, tensors), "this is DeBERTa v2"));
    CHECK(has(refused_folder(bert_config, {{"model_type", "t5"}}, tensors),
              "config.json says T5, and the tensors have the names of BERT"));
    CHECK(has(refused_folder(t5_config, {{"relative_attention_num_buckets", 32}}, t5().all()),
              "the config says 32 buckets of distances, and the tensors have 8"));
  }

  TEST_CASE("the words of RoBERTa begin behind the place of the padding") {
    const Json config = {{"model_type", "roberta"}, {"num_attention_heads", 2}, {"pad_token_id", 1}};
    const Transformer model = read(config, bert("roberta.", 1).all()).model;
    CHECK(model.recipe.first_position == 2.0);
    CHECK(model.most_words(model.sizes.source_places) == places - 2);
  }

  TEST_CASE("the second text of a pair has the second token type") {
    const TemporaryFolder folder;
    write(folder, bert_config, bert_with_head().all());
    const ProcessResult pair = run_attn({"encoder", "--model", folder.path(""), "--text", "1 2", "--text", "3",
                                         "--format", "csv", "--only", "source.types"});
    CHECK(pair.code == 0);
    CHECK(has(pair.out, "\"1\",1\n\"2\",1\n\"3\",2\n"));
    const ProcessResult alone = run_attn(
        {"encoder", "--model", folder.path(""), "--text", "1 2 3", "--format", "csv", "--only", "source.types"});
    CHECK(has(alone.out, "\"1\",1\n\"2\",1\n\"3\",1\n"));
  }

  TEST_CASE("one attention of T5 has the same weights by itself as in the model") {
    const TemporaryFolder folder;
    write(folder, t5_config, t5().all());
    const auto weights = [&](const Words& line, const std::string& name) {
      Words all = line;
      all.insert(all.end(), {"--model", folder.path(""), "--format", "csv", "--only", name});
      const ProcessResult page = run_attn(all);
      CHECK(page.code == 0);
      return page.out.substr(page.out.find('\n'));
    };
    CHECK(weights({"walk", "--text", "3 1 2 6", "--layer", "encoder.1.self_attention"}, "head.2.weights") ==
          weights({"encoder", "--text", "3 1 2 6"}, "encoder.1.self_attention.head.2.weights"));
  }

  TEST_CASE("a decoder of T5 that remembers earlier words finds the same distances") {
    const TemporaryFolder folder;
    write(folder, t5_config, t5().all());
    const ProcessResult kept = run_attn({"generate", "--model", folder.path(""), "--source", "3 1 2", "--steps", "5"});
    CHECK(kept.code == 0);
    CHECK(has(kept.out, "Both ways write the same words."));
  }

  TEST_CASE("a class token stands before the patches of an image, and its output names a class") {
    Tensors tensors;
    constexpr std::size_t patch = 3, patches = 2, classes = 5;
    tensors.add("vit.embeddings.cls_token", 1, d);
    tensors.add("vit.embeddings.position_embeddings", patches + 1, d);
    tensors.linear("vit.embeddings.patch_embeddings.projection", d, patch);
    const std::string layer = "vit.encoder.layer.0.";
    for (const char* name : {"attention.attention.query", "attention.attention.key", "attention.attention.value",
                             "attention.output.dense"})
      tensors.linear(layer + name, d, d);
    tensors.norm(layer + "layernorm_before");
    tensors.norm(layer + "layernorm_after");
    tensors.linear(layer + "intermediate.dense", inner, d);
    tensors.linear(layer + "output.dense", d, inner);
    tensors.norm("vit.layernorm");
    tensors.linear("classifier", classes, d);
    const TemporaryFolder folder;
    write(folder, {{"model_type", "vit"}, {"num_attention_heads", 2}}, tensors.all());
    const Words line = {"encoder", "--model", folder.path(""), "--x", "1 0 2;0 1 0"};
    const ProcessResult page = run_attn(line);
    CHECK(page.code == 0);
    CHECK(has(page.out, "Its output layer names one of 5 classes, which count from 0."));
    CHECK(has(page.out, "At \"<class>\" the most probable"));
    CHECK(has(run_attn({"encoder", "--model", folder.path(""), "--x", "1 0;0 1"}).errors,
              "--x is 2×2 but the size of a patch is 3: it must have 3 columns"));
  }
}
