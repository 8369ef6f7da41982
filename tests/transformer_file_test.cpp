#include "data/problem/model_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "data/files/json.hpp"
#include "data/parameters/transformer_parameters.hpp"
#include "models.hpp"
#include "process.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

Json json_of(const Matrix& matrix) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    rows.push_back(std::vector<double>(row(matrix, i).begin(), row(matrix, i).end()));
  }
  return rows;
}

// A model file of a random model.
Json file_of(const RandomModel& recipe) {
  const Transformer model = random_model(recipe);
  Json file = {{"heads", recipe.heads}, {"norm", recipe.norm}, {"positions", recipe.positions}};
  file["source_vocabulary"] = {"a", "b", "c", "d", "<end>"};
  file["target_vocabulary"] = {"<start>", "<end>", "a", "b", "c", "d"};
  for (const auto& [name, matrix] : model.parameters) file["parameters"][name] = json_of(*matrix);
  return file;
}

std::string refused(const Json& file) {
  return refusal([&] { read_transformer(file.dump(), "m.json"); });
}

// What is said of a file once it is changed.
template <class Change>
std::string refused_after(const Change& change) {
  Json file = file_of({});
  change(file);
  return refused(file);
}

// The same model as .safetensors.
std::string bytes_of(const TransformerFile& file, FloatSize size) {
  std::vector<WrittenTensor> tensors;
  for (const auto& [name, matrix] : file.model.parameters) tensors.push_back({name, matrix.get(), 2});
  return written_by([&](Sink& sink) { write_safetensors(tensors, sink, metadata_of(file), size); });
}

void check_says(const std::string& sentence, std::string_view part) {
  CHECK_MESSAGE(sentence.find(part) != std::string::npos, sentence << " lacks: " << part);
}

}  // namespace

TEST_CASE("a model file gives the model that it was made of") {
  for (const ModelKind& kind : model_kinds()) {
    const RandomModel recipe{.kind = kind.name, .norm = "pre", .positions = "learned", .seed = 3};
    Json file = file_of(recipe);
    if (!kind.encodes) file.erase("source_vocabulary");
    if (!kind.decodes) file.erase("target_vocabulary");
    const Transformer read = read_transformer(file.dump(), "m.json").model;
    const Transformer expected = random_model(recipe);
    CHECK(read.kind == expected.kind);
    CHECK(read.recipe.norm == expected.recipe.norm);
    CHECK(read.recipe.positions->name == "learned");
    CHECK(read.sizes.encoder_layers == (kind.encodes ? 2 : 0));
    CHECK(read.sizes.decoder_layers == (kind.decodes ? 2 : 0));
    CHECK(read.sizes.source_places == (kind.encodes ? 5 : 0));
    CHECK(read.sizes.target_places == (kind.decodes ? 7 : 0));
    REQUIRE(read.parameters.size() == expected.parameters.size());
    for (const auto& [name, matrix] : expected.parameters) CHECK(same(*read.parameters.at(name), *matrix));
  }
}

TEST_CASE("a model file may be safetensors whose metadata have all but the parameters") {
  for (const ModelKind& kind : model_kinds()) {
    Json json = file_of({.kind = kind.name, .norm = "pre", .positions = "learned", .seed = 3});
    if (!kind.encodes) json.erase("source_vocabulary");
    if (!kind.decodes) json.erase("target_vocabulary");
    json["title"] = "A title";
    json["about"] = {"One paragraph.", "Ω"};
    json["scale"] = "2.5";
    json["epsilon"] = 0.25;
    json["causal_encoder"] = true;
    json["source"] = "a b";
    const TransformerFile expected = read_transformer(json.dump(), "m.json");
    for (const FloatSize size : {FloatSize::four_bytes, FloatSize::eight_bytes}) {
      const TransformerFile read = read_transformer(bytes_of(expected, size), "m.safetensors");
      CHECK(read.source == "a b");
      CHECK(read.model.title == "A title");
      CHECK(read.model.about == expected.model.about);
      CHECK(read.model.kind == expected.model.kind);
      CHECK(read.model.source_vocabulary == expected.model.source_vocabulary);
      CHECK(read.model.target_vocabulary == expected.model.target_vocabulary);
      for (const RecipeField* field : recipe_fields())
        CHECK(field->value(read.model.recipe) == field->value(expected.model.recipe));
      REQUIRE(read.model.parameters.size() == expected.model.parameters.size());
      for (const auto& [name, matrix] : expected.model.parameters) {
        Matrix rounded = *matrix;
        if (size == FloatSize::four_bytes) {
          for (double& cell : cells(rounded)) cell = static_cast<float>(cell);
        }
        CHECK(same(*read.model.parameters.at(name), rounded));
      }
    }
  }
}

TEST_CASE("safetensors that do not say of which model are refused and those of another type as well") {
  const Matrix one({1, 1}, 1.0);
  const auto with = [&](const SafetensorsMetadata& metadata) {
    std::string bytes;
    Sink sink([&](std::string_view piece) { bytes += piece; });
    write_safetensors({WrittenTensor{"w", &one, 2}}, sink, metadata);
    sink.flush();
    return refusal([&] { read_transformer(bytes, "m.safetensors"); });
  };
  check_says(with({}), "m.safetensors has parameters, and does not say of which model: give a JSON file");
  const std::string archive = refusal([&] { read_transformer(std::string("PK\x03\x04\0", 5), "m.npz"); });
  check_says(archive, "m.npz is a .npz file, which has no words: give a JSON file");
  check_says(archive, "parameters alone are given by ‹parameters›");
  check_says(with({{"encoder_decoder", "{}"}}), "m.safetensors is a recurrent encoder-decoder: use attn align");
  check_says(with({{"transformer", "{\"heads\": 1, \"haeds\": 2}"}}), "did you mean 'heads'?");
  check_says(with({{"transformer", "{"}}), "m.safetensors");
}

TEST_CASE("every model that is built in can be read, and says what it is about") {
  for (const ModelExample& example : model_examples()) {
    const TransformerFile file = read_transformer(example.bytes, std::string(example.name));
    CHECK(file.model.title != "");
    CHECK(file.model.summary != "");
    CHECK(file.model.about.size() >= 1);
  }
}

TEST_CASE("members that are no members, or of another kind, are named") {
  const auto with = [](std::string_view member, const Json& value) {
    return refused_after([&](Json& file) { file[member] = value; });
  };
  check_says(with("haeds", 2), "did you mean 'heads'?");
  check_says(with("heads", 0), "\"heads\" must be a whole number from 1 to 65536");
  check_says(with("heads", -1), "\"heads\" must be");
  check_says(with("heads", 1.5), "\"heads\" must be");
  check_says(with("heads", "2"), "\"heads\" must be");
  check_says(with("heads", 3), "d_model (4) is not divisible by the number of heads (3)");
  check_says(with("heads", 65536), "is not divisible by the number of heads");
  check_says(with("norm", "pots"), "did you mean 'post'?");
  check_says(with("norm", 1), "\"norm\" must be a string");
  check_says(with("norm", "none"), "change one of them");
  check_says(with("positions", "sinusoid"), "did you mean 'sinusoidal'?");
  check_says(with("scale_embeddings", "yes"), "must be true or false");
  check_says(with("source_vocabulary", "a b"), "must be a list of strings");
  check_says(with("source_vocabulary", {"a", "b", "a", "c", "d"}), "has 'a' twice");
  check_says(with("source_vocabulary", {"a", 1}), "must be a list of strings");
  check_says(with("target_vocabulary", {"a"}), "the target vocabulary has 1 words, and the parameters are for 6");
  check_says(with("title", nullptr), "\"title\" must be a string");
  check_says(with("parameters", Json::array()), "\"parameters\" must be an object");
  check_says(with("parameters", Json::object()), "has no parameters");
  check_says(refused(Json::array()), "a model must be a JSON object");
  check_says(refused({{"heads", 1}}), "\"parameters\" is missing");
  check_says(refusal([] { read_transformer("{", "m.json"); }), "m.json");
  check_says(refusal([] { read_transformer(std::string(100000, '['), "m.json"); }), "m.json");
}

TEST_CASE("parameters that are missing, superfluous or misshapen are named with what was expected") {
  const auto without = [](std::string_view name) {
    return refused_after([&](Json& file) { file["parameters"].erase(std::string(name)); });
  };
  const auto with = [](std::string_view name, const Json& value) {
    return refused_after([&](Json& file) { file["parameters"][name] = value; });
  };
  check_says(without("encoder.2.feed_forward.w_2"), "has no 'encoder.2.feed_forward.w_2' (d_ff × d_model)");
  check_says(without("encoder.1.self_attention.w_q"), "has no 'encoder.1.self_attention.w_q'");
  check_says(without("encoder.1.feed_forward.w_1"), "has no 'encoder.1.feed_forward.w_1'");
  check_says(without("decoder.2.norm_3.gamma"), "has no 'decoder.2.norm_3.gamma' (1×4)");
  check_says(without("decoder.1.cross_attention.w_q"), "decoder.1.cross_attention.w_q");
  check_says(with("encoder.1.self_attention.w_p", {{1}}), "did you mean 'encoder.1.self_attention.w_");
  check_says(with("encoder.1.norm_1.gamma", {{1, 2}}),
             "'encoder.1.norm_1.gamma' is 1×2, and must be 1 × d_model with d_model = 4");
  check_says(with("output.w", {{1}, {2}, {3}, {4}}),
             "must be d_model × target vocabulary with target vocabulary = 6, d_model = 4");
  check_says(with("encoder.1.norm_1.gamma", {{"NaN", 1, 1, 1}}), "parameters must be finite");
  check_says(with("encoder.1.norm_1.gamma", {{"Infinity", 1, 1, 1}}), "parameters must be finite");
  check_says(with("encoder.1.norm_1.gamma", {{1, 1}, {1}}), "encoder.1.norm_1.gamma");
  check_says(with("encoder.1.norm_1.gamma", Json::array()), "encoder.1.norm_1.gamma");
  check_says(with("encoder.3.norm_1.gamma", {{1, 1, 1, 1}}), "has no 'encoder.3.self_attention.w_q' (d_model × h·d_k)");
  check_says(with("encoder.18446744073709551615.norm_1.gamma", {{1, 1, 1, 1}}),
             "has no 'encoder.3.self_attention.w_q'");
  check_says(with("encoder.99999999999999999999999.norm_1.gamma", {{1, 1, 1, 1}}), "not among the parameters of attn");
}

TEST_CASE("a vocabulary of very many words is read in no time, and a word that is there twice is named") {
  std::vector<std::string> words;
  for (int i = 0; i < 100000; ++i) words.push_back(fmt::format("w{}", i));
  Json file = {{"parameters", Json::object()}, {"source_vocabulary", words}};
  const TemporaryFolder folder;
  const auto errors = [&] {
    const std::string path = folder.write("m.json", file.dump());
    return run_attn({"transformer", "--model", path}, {.shell = "ulimit -t 5"}).errors;
  };
  check_says(errors(), "has no parameters");
  file["source_vocabulary"].push_back("w99999");
  check_says(errors(), "has 'w99999' twice");
}

TEST_CASE("biases and β may be left out") {
  Json file = file_of({});
  const Json all = file["parameters"];
  for (const auto& [name, value] : all.items()) {
    const std::string leaf = name.substr(name.rfind('.') + 1);
    if (leaf.starts_with("b_") || leaf == "b" || leaf == "beta") file["parameters"].erase(name);
  }
  const Transformer model = read_transformer(file.dump(), "m.json").model;
  CHECK_FALSE(model.parameters.contains("encoder.1.self_attention.b_q"));
  Graph graph;
  RunningTransformer running(model, graph);
  CHECK(running.encode(words({1, 2})).shape() == Shape{2, 4});
}

TEST_CASE("a model that would have too many numbers is refused before any is drawn") {
  Transformer model;
  model.kind = &model_kinds()[0];
  model.sizes = {.encoder_layers = 1000, .decoder_layers = 1000, .d_model = 65536, .heads = 8, .d_ff = 1 << 20};
  RandomSource random(random_kind::by_name, 1);
  check_says(refusal([&] { draw_parameters(model, random); }), "choose smaller sizes");
  CHECK(model.parameters.empty());
}

TEST_CASE("saved parameters give the same numbers bit for bit") {
  for (const char* norm : {"post", "pre", "none"}) {
    for (const char* ending : {".safetensors", ".npz"}) {
      const TemporaryFolder folder;
      const std::string file = folder.path(std::string("saved") + ending);
      const Words options = {"--only", "*.output", "--format", "json", "--norm", norm};
      const auto run = [&](Words more) {
        more.insert(more.begin(), {"transformer"});
        more.insert(more.end(), options.begin(), options.end());
        const ProcessResult finished = run_attn(more);
        REQUIRE_MESSAGE(finished.code == 0, command_line(more) << finished.errors);
        return finished.out;
      };
      const std::string drawn = run({"--seed", "5", "--save-parameters", file});
      // The file has no words: they are token ids, <start> and <end> among them.
      const std::string read = run({"--parameters", file, "--heads", "2", "--source", "0 1 2", "--target", "0 2 3 4"});
      const Json before = parse_json(drawn, "drawn"), after = parse_json(read, "read");
      CHECK(before["arrays"].size() > 10);
      CHECK(before["arrays"] == after["arrays"]);
    }
  }
}
