#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <string>

#include "commands_tried.hpp"
#include "process.hpp"

using namespace attn;

namespace {

const std::string qkv = R"("Q": [[1, 2, 0], [0, 1, 1]], "K": [[2, 1, 1], [1, 0, 2]], "V": [[1, 2], [5, 7]])";

// The rows of the records of a page that have a name.
Json records_called(const Json& page, std::string_view name) {
  for (const Json& block : page["page"]) {
    if (block["type"] == "records" && block["name"] == name) return block["rows"];
  }
  return {};
}

Json checked_page(const std::string& path, const Words& options = {}) {
  return parse_json(run_attn(Words{"check", path, "--format", "json"} + options).out, "page");
}

TEST_SUITE("check for programs") {
  TEST_CASE("records have numbers as numbers and lists as lists") {
    const TemporaryFolder folder;
    // Softmax over the queries, and something that is no matrix of the computation.
    const std::string mine =
        "{" + qkv +
        R"(, "attn": [[0.7604, 0.3595], [0.2396, 0.6405]], "out": [[2.558, 4.038], [3.442, 4.962]], "mixer.weight": [[1]]})";
    const Json page = checked_page(folder.write("mine.json", mine));
    const Json compared = records_called(page, "comparison");
    REQUIRE(compared.size() == 5);
    const Json& weights = compared[3];
    CHECK(weights["matrix"] == "weights");
    CHECK(weights["in_file"] == "attn");
    CHECK(weights["shape"] == Json({2, 2}));
    CHECK(weights["agrees"] == false);
    CHECK(weights["cells"] == 4);
    CHECK(weights["rows"] == Json({1, 2}));
    CHECK(weights["row"].is_number_integer());
    CHECK(weights["expected"].is_number_float());
    CHECK(weights["mistakes"] == Json({"softmax-over-queries"}));
    CHECK(compared[0]["agrees"] == true);
    CHECK(compared[0]["row"].is_null());
    CHECK(compared[0]["mistakes"] == Json::array());
    const Json findings = records_called(page, "findings");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0]["matrix"] == "weights");
    CHECK(findings[0]["kind"] == "mistake");
    CHECK(findings[0]["mistakes"] == Json({"softmax-over-queries"}));
    CHECK(findings[0]["convention"].is_null());
    CHECK(findings[0]["guess"] == false);
    CHECK(findings[0]["alone"] == false);
    CHECK(findings[0]["explains"] == 2);
    CHECK(findings[0]["unused"] == Json::array());
    CHECK(findings[0]["factor"].is_null());
    CHECK(findings[0]["seen"].size() > 0);
    const Json others = records_called(page, "not_compared");
    REQUIRE(others.size() == 1);
    CHECK(others[0]["in_file"] == "mixer.weight");
    CHECK(others[0]["may_be_parameter"] == true);
    CHECK(records_called(page, "hidden") == Json::array());
  }

  TEST_CASE("records have factors and matrices that were not used and conventions and hidden mistakes") {
    const TemporaryFolder folder;
    const Json factor = records_called(
        checked_page(folder.write("a.json", "{" + qkv + R"(, "scaled": [[4, 1], [2, 2]]})")), "findings");
    REQUIRE(factor.size() == 1);
    CHECK(std::abs(factor[0]["factor"].get<double>() - 1.7320508) < 1e-6);
    // Scaled scores stand in the file, and the weights are those of the scores themselves.
    const Json unused = records_called(
        checked_page(folder.write("b.json", "{" + qkv + R"(, "scaled": [[2.3094, 0.5774], [1.1547, 1.1547]],
                                   "weights": [[0.9526, 0.0474], [0.5, 0.5]]})")),
        "findings");
    REQUIRE(unused.size() == 1);
    CHECK(unused[0]["unused"] == Json({"scaled"}));
    const std::string masked = "{" + qkv + R"(, "masked": [[2.3094, -1e9], [1.1547, 1.1547]]})";
    const Json convention = records_called(checked_page(folder.write("c.json", masked), {"--causal"}), "findings");
    REQUIRE(convention.size() == 1);
    CHECK(convention[0]["kind"] == "convention");
    const std::string right = R"({"Q": [[0, 0]], "K": [[1, 0]], "V": [[1, 2]], "output": [[1, 2]]})";
    const Json hidden = records_called(checked_page(folder.write("d.json", right)), "hidden");
    CHECK(hidden.size() > 0);
    CHECK(hidden[0]["mistake"].is_string());
    CHECK(hidden[0]["summary"].is_string());
  }

  TEST_CASE("records as a table have numbers without quotes") {
    const TemporaryFolder folder;
    const std::string path = folder.write("a.json", "{" + qkv + R"(, "scaled": [[4, 1], [2, 2]]})");
    const std::string table = run_attn({"check", path, "--format", "csv"}).out;
    check_has(table, "\"scaled\",\"scaled\",\"2 2\",\"as float64\",\"no\",4,\"1 2\",1,1,2.309401076758503");
    check_has(table, "\"q\",\"Q\",\"2 3\",\"as float64\",\"yes\",0,\"\",,,,,,\"\"");
  }

  TEST_CASE("each file is compared by itself and has a line") {
    const TemporaryFolder folder;
    const std::string right =
                          folder.write("a.json", "{" + qkv + R"(, "scaled": [[2.3094, 0.5774], [1.1547, 1.1547]]})"),
                      wrong = folder.write("b.json", "{" + qkv + R"(, "scaled": [[4, 1], [2, 2]]})"),
                      none = folder.path("none.json"), text = folder.write("notes.txt", "my notes\n");
    const ProcessResult page = run_attn({"check", "--each", right, wrong, none, text});
    CHECK(page.code == 1);
    const std::string line = in_one_line(page.out);
    check_has(line, "Of 4 files: 1 agrees, 1 differs, 2 could not be compared.");
    check_has(line, "b.json differs scaled not-scaled");
    check_has(line, "no such file");
    const ProcessResult nothing = run_attn({"check", "--each", none, text});
    CHECK(nothing.code == 2);
    check_has(in_one_line(nothing.out), "Of 2 files: 2 could not be compared.");
    check_has(nothing.errors, "attn check --each could compare no file");
    const Json all = parse_json(run_attn({"check", "--each", right, wrong, none, "--format", "json"}).out, "page");
    const Json files = records_called(all, "files");
    REQUIRE(files.size() == 3);
    CHECK(files[0]["agrees"] == true);
    CHECK(files[0]["matrix"].is_null());
    CHECK(files[1]["result"] == "differs");
    CHECK(files[1]["compared"] == 4);
    CHECK(files[1]["differ"] == 1);
    CHECK(files[1]["matrix"] == "scaled");
    CHECK(files[1]["mistakes"][0] == "not-scaled");
    CHECK(files[2]["agrees"].is_null());
    check_has(files[2]["reason"].get<std::string>(), "no such file");
    const std::string csv = run_attn({"check", "--each", right, wrong, "--format", "csv"}).out;
    CHECK(std::ranges::count(csv, '\n') == 3);
    check_has(csv, "\"differs\",\"no\",4,1,\"scaled\",\"mistake\",\"not-scaled ");
  }

  TEST_CASE("each file of a folder is compared and each folder in it is one computation") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.path("class/ana"));
    folder.write("class/ana/q.csv", "1,2,0\n0,1,1\n");
    folder.write("class/ana/k.csv", "2,1,1\n1,0,2\n");
    folder.write("class/ana/v.csv", "1,2\n5,7\n");
    folder.write("class/ana/scores.csv", "4,1\n2,2\n");
    folder.write("class/bob.json", "{" + qkv + R"(, "scores": [[4, 1], [2, 2]]})");
    folder.write("class/.hidden", "");
    const ProcessResult page = run_attn({"check", "--each", folder.path("class")});
    CHECK(page.code == 0);
    check_has(in_one_line(page.out), "Of 2 files: 2 agree.");
    std::filesystem::create_directories(folder.path("empty"));
    refuses({"check", "--each", folder.path("empty")}, "has no files");
    refuses({"check", "--each"}, "attn check needs FILE...");
  }

  TEST_CASE("each file is compared with the computation of a command and its options") {
    const TemporaryFolder folder;
    const std::string masked = "{" + qkv + R"(, "masked": [[2.3094, -1e9], [1.1547, 1.1547]]})";
    const std::string path = folder.write("a.json", masked);
    CHECK(run_attn({"check", "--each", path, "--causal", "--strict"}).code == 1);
    CHECK(run_attn({"check", "--each", path, "--causal"}).code == 0);
    const std::string mine = folder.path("mine.npz");
    accepted({"encoder", "--source", "a b", "--seed", "5", "-o", mine});
    CHECK(run_attn({"check", "--each", mine, mine, "encoder", "--source", "a b", "--seed", "5"}).code == 0);
    CHECK(run_attn({"check", mine, "--each", "encoder", "--source", "a b", "--seed", "6"}).code == 1);
  }

  TEST_CASE("several files without each are refused") {
    const TemporaryFolder folder;
    const std::string one = folder.write("a.csv", "1"), other = folder.write("b.csv", "1");
    refuses({"check", one, other}, "give --each to compare each file by itself");
    refuses({"check", one, other, "encoder"}, "give --each to compare each file by itself");
  }

  TEST_CASE("what attn check does itself is no option of it, and its own flags come before the command") {
    const TemporaryFolder folder;
    const std::string one = folder.write("a.csv", "1"), other = folder.write("b.csv", "1");
    const std::string itself = "attn check itself does what --against does: leave out --against";
    refuses({"check", one, "--against", other}, itself);
    refuses({"check", one, "--each", "--against", other}, itself);
    refuses({"check", one, "walk", "--each", "--against", other}, itself);
    refuses({"check", one, "walk", "--against=" + other}, itself);
    refuses({"check", one, "walk", "--each"}, "--each is an option of attn check: write it before the command walk");
  }
}

}  // namespace
