#include <doctest/doctest.h>

#include <set>
#include <string>

#include "commands_tried.hpp"
#include "page/render/format.hpp"
#include "process.hpp"

using namespace attn;

namespace {

Json error_of(const Words& words) {
  const ProcessResult finished = run_attn(words + Words{"--format", "json"});
  CAPTURE(finished.errors);
  CHECK(finished.code == 2);
  CHECK(finished.out == "");
  const Json said = parse_json(finished.errors, "standard error");
  CHECK(said["error"]["exit_code"] == 2);
  return said["error"];
}

TEST_CASE("errors are objects where JSON is asked for") {
  const Json unknown = error_of({"walk", "--cusal"});
  CHECK(unknown["message"] == "attn walk has no option '--cusal' (did you mean '--causal'?): see attn help walk");
  CHECK(unknown["option"] == "--cusal");
  CHECK(unknown["file"].is_null());
  CHECK(error_of({"softmax", "--scores", "none.csv"})["option"] == "--scores");
  CHECK(error_of({"walk", "--heads", "none"})["option"] == "--heads");
  CHECK(error_of({"walk", "--scale", "root"})["option"] == "--scale");
  CHECK(error_of({"check", "none.npz"})["file"] == "none.npz");
  const TemporaryFolder folder;
  const std::string broken = folder.write("q.csv", "1,2\nx,y,z\n");
  CHECK(error_of({"scores", "--q", broken, "--k", "1 2"})["file"] == broken);
  CHECK(error_of({"walk", "--example", "animl"})["hint"] == "did you mean 'animal'?");
  CHECK(error_of({"walk", "--depth", "2"})["option"] == "--depth");
}

TEST_CASE("errors are sentences where no JSON is asked for") {
  CHECK(run_attn({"walk", "--cusal"}).errors.starts_with("attn: attn walk has no option"));
  CHECK(run_attn({"walk", "--cusal", "--format", "csv"}).errors.starts_with("attn: "));
  CHECK(run_attn({"walk", "--cusal", "--format=json"}).errors.starts_with("{\"error\":"));
}

TEST_CASE("warnings are objects on lines of their own where JSON is asked for") {
  const ProcessResult finished = run_attn({"embed", "--text", "a", "--causal", "--format", "json"});
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < finished.errors.size(); ++lines) {
    const std::size_t end = finished.errors.find('\n', begin);
    CHECK(parse_json(finished.errors.substr(begin, end - begin), "line")["warning"]["message"].is_string());
    begin = end + 1;
  }
  CHECK(lines > 0);
}

TEST_CASE("the version and the examples are records") {
  const auto rows = [](const Words& words, std::string_view name) {
    const Json all = page(words);
    for (const Json& block : all["page"]) {
      if (block["type"] == "records" && block["name"] == name) return block["rows"];
    }
    return Json();
  };
  CHECK(rows({"version"}, "versions")[0] == Json({{"name", "attn"}, {"version", ATTN_TESTED_VERSION}}));
  const Json examples = rows({"examples"}, "examples");
  CHECK(examples[0]["name"] == "thinking-machines");
  CHECK(examples[0]["commands"] == Json::array({"attn walk --example thinking-machines"}));
  std::set<std::string> kinds;
  for (const Json& one : examples) kinds.insert(one["kind"].get<std::string>());
  CHECK(kinds == std::set<std::string>{"model", "problem"});
}

TEST_CASE("the schema has every type of block that JSON has, and no other") {
  const Json schema = parse_json(::bytes_of(ATTN_SOURCE_FOLDER "/docs/attn-1.schema.json"), "schema");
  std::set<std::string> told, there;
  for (const Json& type : schema["$defs"]["block"]["properties"]["type"]["enum"]) told.insert(type.get<std::string>());
  for (const std::string_view type : types_in_json()) there.emplace(type);
  CHECK(told == there);
}

TEST_CASE("the first cell of a table says whether it has labels") {
  for (const std::string matrix : {"q", "weights", "output"}) {
    CAPTURE(matrix);
    const auto table = [&](const Words& options) {
      return accepted(Words{"walk", "--only", matrix, "--format", "csv"} + options).out;
    };
    CHECK(table({}).starts_with("\"\",\""));
    CHECK(table({"--no-labels"}).find('"') == std::string::npos);
  }
  CHECK(accepted({"softmax", "--scores", "0 0", "--only", "weights", "--format", "csv"}).out == "0.5,0.5\n");
}

}  // namespace
