#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "command/model/model_run.hpp"
#include "commands_tried.hpp"
#include "core/graph/plan.hpp"
#include "data/files/json.hpp"
#include "data/parameters/parameters.hpp"
#include "models.hpp"
#include "process.hpp"

using namespace attn;

namespace {

std::string file_with(const TemporaryFolder& folder, const ParameterSet& parameters) {
  std::string bytes;
  Sink sink([&](std::string_view piece) { bytes += piece; });
  write_safetensors(parameters, sink);
  sink.flush();
  return folder.write("parameters.safetensors", bytes);
}

ParameterSet parameters_in(const Transformer& model) {
  ParameterSet parameters;
  for (const auto& [name, matrix] : model.parameters) parameters.emplace(name, *matrix);
  return parameters;
}

// nn.MultiheadAttention(4, 2) without biases.
ParameterSet torch_attention(const std::string& prefix) {
  double next = 0.0;
  const auto tensor = [&](std::size_t rows) { return filled({rows, 4}, [&] { return next += 0.125; }); };
  return {{prefix + "in_proj_weight", tensor(12)}, {prefix + "out_proj.weight", tensor(4)}};
}

}  // namespace

TEST_CASE("a model that was saved is run without a sentence, on the first of its own words") {
  const TemporaryFolder folder;
  const std::string file = folder.path("m.npz");
  accepted({"parameters", "--save-parameters", file});
  const Words model = {"--parameters", file, "--heads", "2"};
  const ProcessResult finished = accepted(Words{"transformer"} + model);
  check_has(finished.errors, "--source is not given: the first words of the vocabulary are used, 0 1 2");
  check_has(finished.errors, "--target is not given: the first words of the vocabulary are used, 0 1 2");
  CHECK(accepted(Words{"transformer"} + model + Words{"--source", "0 1 2", "--target", "0 1 2"}).out == finished.out);
  check_has(accepted(Words{"generate"} + model + Words{"--source", "0 1"}).out, "Given: 0 1");
  check_has(accepted(Words{"encoder"} + model + Words{"--n", "7", "--only", "source.ids"}).out, "[7×1]");
  accepted(Words{"decoder"} + model + Words{"--outline"});
  CHECK(accepted(Words{"encoder"} + model + Words{"--source", "2 1"}).errors == "");
}

TEST_CASE("what a model has learned is listed without words and without heads") {
  const TemporaryFolder folder;
  const std::string file = folder.path("m.npz");
  accepted({"parameters", "--save-parameters", file});
  const ProcessResult finished = accepted({"parameters", "--parameters", file});
  CHECK(finished.errors == "");
  check_has(finished.out, "encoder.1.self_attention.w_q");
  check_has(accepted({"parameters", "--parameters", file, "--source", "1"}).errors, "--source has no effect here");
  refuses({"parameters", "--parameters", file, "--heads", "3"},
          "d_model (4) is not divisible by the number of heads (3)");
}

TEST_CASE("a model file that tells words and no sentence is run on words of its own") {
  const TemporaryFolder folder;
  Json file = parse_json(look_up(model_examples(), "copy", "model").bytes, "copy");
  file.erase("source");
  file.erase("target");
  const std::string path = folder.write("copy.json", file.dump());
  CHECK(accepted({"parameters", "--model", path}).errors == "");
  for (const Words& words : {Words{"transformer"}, Words{"transformer", "--outline"}}) {
    check_has(accepted(words + Words{"--model", path}).errors,
              "--target is not given: the first words of the vocabulary are used, a b c");
  }
  const ProcessResult written = accepted({"generate", "--model", path});
  check_has(written.out, "Given: <start>");
  CHECK(written.errors.find("--target") == std::string::npos);
}

TEST_CASE("encoder and decoder may have different numbers of layers, and of places") {
  const TemporaryFolder folder;
  const Transformer model = random_model({.positions = "learned", .encoder_layers = 3, .decoder_layers = 1});
  const std::string file = file_with(folder, parameters_in(model));
  const Words words = {"--parameters", file, "--heads", "2", "--source", "1 2 3", "--target", "4 1"};
  const std::string page = accepted(Words{"transformer"} + words).out;
  check_has(page, "N = 3 in the encoder and 1 in the decoder");
  check_has(accepted(Words{"transformer", "--outline"} + words).out, "N = 3 in the encoder and 1 in the decoder");
  Graph graph;
  RunningTransformer running(model, graph);
  const Matrix expected = running.decode({.ids = {5, 2}}, running.encode({.ids = {2, 3, 4}})).matrix();
  const Json all = parse_json(
      accepted(Words{"transformer"} + words + Words{"--only", "decoder.output", "--format", "json"}).out, "page");
  CHECK(close(matrix_from_json(all["arrays"]["decoder.output"], "output").matrix, expected, 1e-12));
  const Words longer = {"--parameters", file, "--heads", "2", "--source", "1 2 3 4 0 1", "--target", "4 1"};
  refuses(Words{"transformer"} + longer,
          "--source: the input has 6 words, but the model has vectors for only 5 positions");
}

TEST_CASE("a lone attention needs its number of heads and something to look at") {
  const TemporaryFolder folder;
  const std::string file = file_with(folder, torch_attention(""));
  const Words walk = {"walk", "--parameters", file};
  refuses(walk, "give --x or --text");
  refuses(walk + Words{"--x", "1 2 3 4; 4 3 2 1"}, "give --heads N");
  const std::string page = accepted(walk + Words{"--x", "1 2 3 4; 4 3 2 1", "--heads", "2"}).out;
  check_has(page, "√2");
  const std::string example = accepted(walk + Words{"--example", "thinking-machines", "--heads", "2"}).out;
  check_has(example, "√2");
  CHECK(example.find("/ 8") == std::string::npos);
}

TEST_CASE("a part of a larger file is read by its prefix, whatever else there is") {
  const TemporaryFolder folder;
  ParameterSet all = parameters_in(random_model({.kind = "encoder-only"}));
  ParameterSet larger = torch_attention("model.pooler.");
  for (auto& [name, matrix] : all) larger.emplace("model.text." + name, matrix);
  larger.emplace("generator.proj.weight", matrix({{1, 2}}));
  const std::string file = file_with(folder, larger);
  const Words encoder = {"encoder", "--heads", "2", "--source", "1 2", "--only", "encoder.output", "--parameters"};
  refuses(encoder + Words{file}, "give --prefix model.text");
  const TemporaryFolder own;
  const std::string expected = accepted(encoder + Words{file_with(own, all)}).out;
  CHECK(accepted(encoder + Words{file, "--prefix", "model.text"}).out == expected);
  CHECK(accepted(encoder + Words{file, "--prefix", "model.text."}).out == expected);
  refuses(encoder + Words{file, "--prefix", "text"}, "The names begin with: generator, model");
  refuses({"encoder", "--prefix", "text"}, "--prefix needs --parameters");
  accepted({"walk", "--parameters", file, "--prefix", "model.pooler", "--heads", "2", "--x", "1 2 3 4"});
  refuses({"walk", "--parameters", file, "--prefix", "model.text"},
          "has the parameters of a model, and this command needs those of one attention");
}

TEST_CASE("what is not kept needs no memory") {
  ModelChoice choice;
  choice.model = random_model({.kind = "encoder-only"});
  choice.source.ids.assign(8000, 1);
  const auto output = [](const Graph& graph) { return graph.matching("encoder.output"); };
  const std::string sentence = refusal([&] { require_room(choice, all_nodes); });
  CHECK(sentence.find("scores is 8000×8000, and all matrices at the same time need") != std::string::npos);
  CHECK_NOTHROW(require_room(choice, output));
  choice.source.ids.assign(100000, 1);
  CHECK_NOTHROW(require_room(choice, output));
  const auto weights = [](const Graph& graph) { return graph.matching("encoder.1.*.weights"); };
  CHECK(refusal([&] { require_room(choice, weights); }).find("more than the") != std::string::npos);
}

TEST_CASE("numbers that overflow are told of, whatever is asked for") {
  const TemporaryFolder folder;
  ParameterSet parameters = parameters_in(random_model({}));
  for (const char* name : {"source_embedding.e", "target_embedding.e"}) {
    for (double& cell : cells(parameters.at(name))) cell = 1.7e308;
  }
  const Words model = {"--parameters", file_with(folder, parameters), "--heads", "2"};
  refuses(Words{"generate"} + model, "beyond double precision");
  refuses(Words{"decoder", "--check-causal"} + model, "beyond double precision");
  refuses(Words{"decoder", "--only", "distribution"} + model, "beyond double precision");
}

TEST_CASE("a page tells what happened to the words, and not more") {
  const std::string given = in_one_line(accepted({"encoder", "--x", "1 2 3 4; 2 3 4 5"}).out);
  check_has(given, "positions: none, since vectors go in.");
  check_has(given, "The source as vectors. They are used as they are");
  CHECK(given.find("a vector for each position") == std::string::npos);
  const std::string without = in_one_line(accepted({"encoder", "--positions", "none"}).out);
  check_has(without, "multiplied by √d_model");
  CHECK(without.find("vector for each position") == std::string::npos);
  check_has(in_one_line(accepted({"encoder"}).out), "a vector for each position is added.");
}

TEST_CASE("a distribution of words is read as one, and not as attention") {
  const std::string result = in_one_line(accepted({"transformer", "--section", "The result"}).out);
  check_has(result, "With random numbers: after \"<start>\" the most probable word is \"");
  CHECK(result.find("looks most at") == std::string::npos);
}

TEST_CASE("a ledger says how its words were sampled") {
  check_has(in_one_line(accepted({"generate"}).out), "and the most probable words");
  const std::string drawn = in_one_line(accepted({"generate", "--top-k", "1", "--temperature", "2"}).out);
  check_has(drawn, "the logits are divided by 2; only the most probable word is kept.");
  CHECK(accepted({"generate"}).out.find("Sampling:") == std::string::npos);
}

TEST_CASE("a decoder's file is refused by the encoder's command, and not asked for more") {
  const TemporaryFolder folder;
  ParameterSet decoder = parameters_in(random_model({}));
  std::erase_if(
      decoder, [](const auto& item) { return item.first.starts_with("encoder.") || item.first.starts_with("source"); });
  const Words model = {"--parameters", file_with(folder, decoder), "--heads", "2"};
  refuses(Words{"encoder", "--x", "1 2 3 4"} + model, "attn encoder needs an encoder");
  accepted(Words{"decoder", "--memory", "1 2 3 4"} + model);
}

TEST_CASE("a file that is no text is not read as JSON") {
  const TemporaryFolder folder;
  const std::string file = file_with(folder, torch_attention(""));
  refuses({"align", "--parameters", file}, "give a JSON file");
  refuses({"walk", "--problem", file}, "give a JSON file");
  refuses({"transformer", "--model", file}, "give a JSON file");
}
