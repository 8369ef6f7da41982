#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <sstream>

#include "commands_tried.hpp"
#include "core/graph/graph.hpp"
#include "data/files/json.hpp"
#include "data/problem/problem_file.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

std::string succeed(const Words& words) {
  const ProcessResult finished = run_attn(words);
  REQUIRE_MESSAGE(finished.code == 0, command_line(words) << ": " << finished.errors);
  return finished.out;
}

// The lines of tables, without formulas and headings.
std::string tables_in(const std::string& text) {
  std::string tables;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("│") != std::string::npos) tables += line + "\n";
  }
  return tables;
}

// A problem, models and an alignment, with masks; their names stand under the same headings.
const std::vector<Words> commands_tried = {
    {"walk", "--text", "a b c", "--causal", "--only", "*"},
    {"walk", "--scores", "3 1 2; 0 5 1", "--valid-length", "2", "--only", "*"},
    {"walk", "--example", "animal", "--transpose", "--only", "*"},
    {"encoder", "--layers", "1", "--only", "*"},
    {"decoder", "--layers", "1", "--only", "*"},
    {"generate", "--steps", "2", "--only", "*"},
    {"align", "--only", "*"},
};

Json read_walk() { return Json::parse(succeed({"walk", "--text", "a b", "--format", "json"})); }

}  // namespace

TEST_CASE("the JSON of a trace that was read equals the JSON that was read") {
  const TemporaryFolder folder;
  for (const Words& words : commands_tried) {
    const std::string json = succeed(words + Words{"--format", "json"});
    const std::string path = folder.write("trace.json", json);
    CHECK_MESSAGE((succeed({"show", path, "--format", "json"}) == json), command_line(words));
  }
}

TEST_CASE("matrices from a JSON file are shown as the command showed them, in every format") {
  const TemporaryFolder folder;
  for (const Words& words : commands_tried) {
    const std::string path = folder.write("trace.json", succeed(words + Words{"--format", "json"}));
    for (const Words& how : {Words{}, {"--color", "always"}, {"--format", "markdown"}, {"--format", "csv"}}) {
      CAPTURE(command_line(words + how));
      CHECK((succeed(Words{"show", path} + how) == succeed(words + how)));
    }
  }
}

TEST_CASE("a whole page is read back with its problem, its matrices and what is known of them") {
  const TemporaryFolder folder;
  for (const char* example : {"animal", "padding", "pooling"}) {
    const std::string text = succeed({"walk", "--example", example, "--transpose", "--format", "json"});
    const Json json = Json::parse(text);
    const std::string path = folder.write("trace.json", text);
    const Json again = Json::parse(succeed({"show", path, "--format", "json"}));
    for (const char* member : {"schema", "problem", "arrays", "nodes"}) {
      CAPTURE(example);
      CAPTURE(member);
      CHECK((again[member] == json[member]));
    }
    // What problem it was can still be asked.
    const std::string shown = folder.write("shown.json", succeed({"show", path, "--format", "json"}));
    CHECK((succeed({"walk", "--problem", shown, "--transpose", "--format", "json"}) == text));
  }
}

TEST_CASE("names say what the matrices of npz and safetensors files are") {
  const TemporaryFolder folder;
  for (const Words& words : commands_tried) {
    if (words.front() == "generate") continue;  // shows words, which these files do not have
    const std::string plain = folder.path("plain.json");
    for (const char* ending : {"npz", "safetensors"}) {
      const std::string path = folder.path(std::string("trace.") + ending);
      succeed(words + Words{"-o", path});
      // Labels and formulas are lost; shades, sums and masked cells are not.
      Json json = Json::parse(succeed(words + Words{"--format", "json"}));
      for (Json& node : json["nodes"]) {
        node["rows"] = {{"axis", "rows"}};
        node["columns"] = {{"axis", "columns"}};
      }
      folder.write("plain.json", json.dump());
      for (const Words& how : {Words{}, {"--color", "always"}}) {
        CAPTURE(command_line(words + how));
        CAPTURE(ending);
        std::string ours = tables_in(succeed(Words{"show", path} + how));
        CHECK((ours == tables_in(succeed(Words{"show", plain} + how))));
      }
    }
  }
}

TEST_CASE("matrices of a file are chosen as those of a computation are") {
  const TemporaryFolder folder;
  const std::string path = folder.path("trace.npz");
  succeed({"walk", "--example", "animal", "-o", path});
  const std::string chosen = succeed({"show", path, "--only", "head.2.weights|q", "--format", "csv"});
  CHECK(chosen.starts_with("# head.2.weights\n"));
  CHECK(chosen.find("\n\n# q\n") != std::string::npos);
  const ProcessResult wrong = run_attn({"show", path, "--only", "wieghts"});
  CHECK(wrong.code == 2);
  CHECK(wrong.errors.find("unknown matrix 'wieghts'") != std::string::npos);
}

TEST_CASE("a safetensors file has the matrices of an npz file") {
  const TemporaryFolder folder;
  const std::string npz = folder.path("trace.npz"), tensors = folder.path("trace.safetensors");
  succeed({"walk", "-o", npz});
  succeed({"walk", "-o", tensors});
  CHECK(succeed({"show", tensors, "--only", "x|q|weights", "--format", "csv"}) ==
        succeed({"show", npz, "--only", "x|q|weights", "--format", "csv"}));
}

TEST_CASE("a trace holds its graph, and computes nothing before somebody asks") {
  Trace trace;
  {
    const auto graph = std::make_shared<Graph>(keep_nothing());
    const Value a = graph->input(role::q, matrix({{1, 2}}), axis("rows"), axis("columns"));
    trace.add(name(role::output, a).node());
    trace.add(a.node());
  }
  REQUIRE(trace.size() == 2);
  CHECK(trace.find("output")->operation == op::identity.name);
  CHECK(trace.find("output")->operands == std::vector<std::string>{"q"});
  CHECK((*trace.find("output")->cells() == matrix({{1, 2}})));
  CHECK(trace.find("k") == nullptr);
  const Trace copy = trace;
  trace = Trace();
  CHECK((*copy.find("q")->cells() == matrix({{1, 2}})));
}

TEST_CASE("a damaged file of matrices is refused in one sentence") {
  const TemporaryFolder folder;
  const std::string good = succeed({"walk", "--format", "json"}), npz = folder.path("good.npz"),
                    tensors = folder.path("good.safetensors");
  succeed({"walk", "-o", npz});
  succeed({"walk", "-o", tensors});
  const std::string npz_bytes = bytes_of(npz), tensor_bytes = bytes_of(tensors);
  const auto changed = [](const std::function<void(Json&)>& change) {
    Json json = read_walk();
    change(json);
    return json.dump();
  };
  struct Damaged {
    std::string file, bytes;
  };
  const std::vector<Damaged> table = {
      {"empty.json", ""},
      {"cut.json", good.substr(0, good.size() / 2)},
      {"a number.json", "12"},
      {"rows.json", "[[1, 2], [3, 4]]"},
      {"no matrices.json", "{}"},
      {"other schema.json", changed([](Json& json) { json["schema"] = "attn/9"; })},
      {"arrays.json", changed([](Json& json) { json["arrays"] = 3; })},
      {"ragged.json", changed([](Json& json) {
         json["arrays"]["q"] = {{1, 2}, {3}};
       })},
      {"no number.json", changed([](Json& json) {
         json["arrays"]["q"] = {{1, "two"}};
       })},
      {"null.json", changed([](Json& json) { json["arrays"]["q"] = nullptr; })},
      {"no name.json", R"({"": [[1]]})"},
      {"nodes.json", changed([](Json& json) { json["nodes"] = "none"; })},
      {"a node.json", changed([](Json& json) { json["nodes"][0] = 7; })},
      {"nameless.json", changed([](Json& json) { json["nodes"][0].erase("name"); })},
      {"twice.json", changed([](Json& json) { json["nodes"].push_back(json["nodes"][0]); })},
      {"foreign.json", changed([](Json& json) { json["nodes"][0]["name"] = "nobody"; })},
      {"operation.json", changed([](Json& json) { json["nodes"][0]["operation"] = 1; })},
      {"operands.json", changed([](Json& json) {
         json["nodes"][0]["operands"] = {1, 2};
       })},
      {"formula.json", changed([](Json& json) { json["nodes"][0]["formula"] = {"a"}; })},
      {"shape.json", changed([](Json& json) {
         json["nodes"][0]["shape"] = {1, 77};
       })},
      {"axis.json", changed([](Json& json) { json["nodes"][0]["rows"] = {"a"}; })},
      {"labels.json", changed([](Json& json) { json["nodes"][0]["rows"]["labels"] = {"one"}; })},
      {"cost.json", changed([](Json& json) { json["nodes"][0]["multiply_adds"] = -1; })},
      {"cut.npz", npz_bytes.substr(0, npz_bytes.size() / 2)},
      {"overwritten.npz", std::string(npz_bytes).replace(60, 40, 40, 'x')},
      {"cut.safetensors", tensor_bytes.substr(0, tensor_bytes.size() - 3)},
      {"overwritten.safetensors", std::string(tensor_bytes).replace(8, 3, "[[[")},
      {"one matrix.csv", "1,2\n"},
      {"one matrix.npy", bytes_of(npz).substr(0, 100)},
  };
  for (const Damaged& row : table) {
    const ProcessResult finished = run_attn({"show", folder.write(row.file, row.bytes)});
    CAPTURE(row.file);
    CAPTURE(finished.errors);
    CHECK(finished.code == 2);
    CHECK(finished.out.empty());
    CHECK(finished.errors.starts_with("attn: "));
    CHECK(std::ranges::count(finished.errors, '\n') == 1);
    CHECK(finished.errors.find(row.file) != std::string::npos);
  }
}

TEST_CASE("a file without its arrays is refused as such, not as a matrix") {
  const TemporaryFolder folder;
  for (const char* member : {"arrays", "schema"}) {
    Json json = read_walk();
    json.erase("arrays");
    json.erase(member);  // its nodes tell as well that it is a trace
    const ProcessResult finished = run_attn({"show", folder.write("cut.json", json.dump())});
    CHECK(finished.code == 2);
    CHECK(finished.errors.find("its \"arrays\" are missing: give ") != std::string::npos);
  }
  // A matrix may have any name.
  CHECK(run_attn({"show", folder.write("named.json", R"({"nodes": [[1, 2]]})")}).code == 0);
}

TEST_CASE("a matrix is called by one name, whatever it is") {
  const TemporaryFolder folder;
  for (const std::string name : {"../a", ".a", "...", "/a"}) {
    for (const std::string other : {"x", "encoder.1.x"}) {  // which has a heading of its own
      const std::string json = "{\"" + other + "\": [[1]], \"" + name + "\": [[2]]}";
      const std::string text = succeed({"show", folder.write("a.json", json)});
      CAPTURE(text);
      CHECK(text.find("  " + name + "  ") != std::string::npos);  // the formula, before its shape
      CHECK(text.find("  " + name + " │") != std::string::npos);  // the table
    }
  }
}

TEST_CASE("a file that says nonsense about its matrices is shown all the same") {
  const TemporaryFolder folder;
  // A file may say anything: an alias of nothing, operands that are not there, weights of another shape.
  Json json = read_walk();
  for (Json& node : json["nodes"]) {
    node["operation"] = "identity";
    node["operands"] = Json::array();
  }
  CHECK(run_attn({"show", folder.write("a.json", json.dump())}).code == 0);
  for (Json& node : json["nodes"]) node["operands"] = {"nobody"};
  CHECK(run_attn({"show", folder.write("b.json", json.dump())}).code == 0);
  for (Json& node : json["nodes"]) node["operands"] = Json::array({node["name"]});
  CHECK(run_attn({"show", folder.write("c.json", json.dump())}).code == 0);
}
