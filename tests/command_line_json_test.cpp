#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "data/files/fields.hpp"
#include "data/files/json.hpp"
#include "data/problem/model_words.hpp"
#include "page/block/page.hpp"
#include "page/render/format.hpp"
#include "process.hpp"
#include "source_files.hpp"
#include "texts.hpp"

namespace attn {
namespace {

struct Ring {
  double width;
};
enum class Wood { oak, ash };
struct Tree {
  std::string name = {};
  Wood wood = Wood::oak;
  std::vector<Ring> rings = {};
  std::vector<std::size_t> neighbors = {};
  std::optional<double> height = {};
  bool is_old = false;
};
struct Forest {
  std::string place;
};
constexpr std::array<std::string_view, 2> names_of_woods = {"oak", "ash"};

}  // namespace

template <>
constexpr auto objects_in<Forest> =
    std::tuple(object<Ring>(Field{"width", &Ring::width}),
               object<Tree>(Field{"type", "tree"}, Field{"name", &Tree::name, WriteWhen::unless_empty},
                            Field{"wood", named(&Tree::wood, names_of_woods)}, Field{"rings", &Tree::rings},
                            Field{"neighbors", from_1(&Tree::neighbors)}, Field{"height", &Tree::height},
                            Field{"old", &Tree::is_old, WriteWhen::unless_empty},
                            Field{"place", [](const Tree&, const Forest& forest) { return forest.place; }}));

}  // namespace attn

using namespace attn;

namespace {

// The JSON of a walk, of the walk that reads it back, and whether they are equal byte by byte.
void check_round_trip(const Words& options) {
  const TemporaryFolder folder;
  Words words = {"walk", "--format", "json"};
  words.insert(words.end(), options.begin(), options.end());
  const ProcessResult first = run_attn(words);
  REQUIRE_MESSAGE(first.code == 0, command_line(words) << first.errors);
  const std::string path = folder.write("trace.json", first.out);
  const ProcessResult second = run_attn({"walk", "--format", "json", "--problem", path});
  REQUIRE_MESSAGE(second.code == 0, command_line(words) << second.errors);
  CHECK_MESSAGE((second.out == first.out), command_line(words));
}

}  // namespace

TEST_CASE("the JSON of every example reads back to the same JSON") {
  for (const Example& example : examples()) {
    if (example.name == "eight-heads") continue;  // a million numbers, and nothing that animal does not have
    check_round_trip({"--example", std::string(example.name)});
  }
}

TEST_CASE("the JSON of a walk is read back from standard input as well") {
  const std::string trace = run_attn({"walk", "--format", "json"}).out;
  CHECK(run_attn({"walk", "--format", "json", "--problem", "-"}, {.input = trace}).out == trace);
}

TEST_CASE("the JSON of a sentence or a batch reads back to the same JSON") {
  check_round_trip({"--text", "Ein schöner \"Satz\", 猫!", "--heads", "2", "--seed", "7"});
  check_round_trip({"--text", "two words", "--text", "and then three", "--causal"});
  check_round_trip({"--text", "NumPy draws", "--random", "numpy:3"});
  check_round_trip({"--n-q", "2", "--n-k", "3", "--seed", "0", "--d-k", "2"});
}

TEST_CASE("the JSON of one's own matrices and recipe reads back to the same JSON") {
  check_round_trip({"--q", "1 2; 3 4", "--k", "1 0; 0 1; 1 1", "--v", "1; 2; 3", "--key-tokens", "a b c"});
  check_round_trip({"--q", "1 2; 3 4", "--k", "1 0; 0 1", "--v", "1; 2", "--scale", "none"});
  check_round_trip({"--q", "1 2; 3 4", "--k", "1 0; 0 1", "--v", "1; 2", "--scale", "0.1"});
  check_round_trip({"--q", "1 2; 3 4", "--k", "1 0; 0 1", "--v", "1; 2", "--score", "dot"});
  check_round_trip({"--scores", "1 2; 3 4", "--mask", "[[true,false],[true,true]]"});
  check_round_trip({"--scores", "1 2; 3 4", "--mask", "0 -inf; -1.5 2"});
  check_round_trip({"--scores", "1 2; 3 4", "--causal", "--mask-fill", "-1e6"});
  check_round_trip({"--scores", "1 2; 3 4", "--valid-length", "1,2"});
  check_round_trip({"--weights", "0.5 0.5", "--v", "1e-300 2; 0.1 3"});
  check_round_trip({"--x", "1 2; 3 4", "--wq", "1 0; 0 1", "--wk", "1 0; 0 1", "--wv", "1 0; 0 1", "--wo", "0 1; 1 0",
                    "--bq", "1 2", "--bo", "0.5 0.25", "--memory", "5 6; 7 8; 9 10"});
}

TEST_CASE("an additive mask of zeros and minus infinities stays additive when it is read back") {
  const TemporaryFolder folder;
  const Words words = {"softmax", "--scores", "1 2", "--mask", "0 -inf", "--format", "json"};
  const std::string path = folder.write("trace.json", run_attn(words).out);
  CHECK(Json::parse(run_attn({"softmax", "--problem", path, "--format", "json"}).out)["arrays"]["weights"] ==
        Json::parse("[[1,0]]"));
}

TEST_CASE("options given with a problem file take the place of its fields") {
  const TemporaryFolder folder;
  const std::string path = folder.write("p.json", R"({"q": [[1, 2]], "k": [[3, 4]], "scale": 2})");
  CHECK(run_attn({"scale", "--problem", path, "--format", "csv"}).out == "5.5\n");
  CHECK(run_attn({"scale", "--problem", path, "--scale", "11", "--format", "csv"}).out == "1\n");
}

TEST_CASE("the page on formats names every type of block that JSON has, and no other") {
  const std::string page = bytes_of(ATTN_SOURCE_FOLDER "/docs/formats.md");
  const std::size_t row = page.find("\n| `page` | the blocks of the page"), end = page.find('\n', row + 1);
  REQUIRE(end != std::string::npos);
  const std::string told = page.substr(row, end - row);
  for (const std::string_view type : attn::types_in_json()) {
    CAPTURE(type);
    CHECK(told.find(fmt::format("`{}`", type)) != std::string::npos);
  }
  CHECK(attn::types_in_json().size() == std::variant_size_v<attn::AnyBlock>);
}

TEST_CASE("an object is written by its row of members, without those that hold nothing") {
  const auto in_json = [](const Tree& tree) {
    const std::string text = written_by([&](Sink& sink) {
      JsonWriter json(sink);
      write_value(tree, Forest{"hill"}, json);
    });
    return nlohmann::ordered_json::parse(text).dump();
  };
  CHECK(in_json({}) == R"({"type":"tree","wood":"oak","rings":[],"neighbors":[],"place":"hill"})");
  CHECK(in_json({"a", Wood::ash, {{0.5}, {2}}, {0, 3}, 0.0, true}) ==
        R"({"type":"tree","name":"a","wood":"ash","rings":[{"width":0.5},{"width":2}],"neighbors":[1,4],)"
        R"("height":0,"old":true,"place":"hill"})");
}

TEST_CASE("objects are written by their rows of members") {
  // The members of a problem are its options, and a lesson's questions and puzzles write themselves.
  const std::set<std::string> by_hand = {"src/data/files/fields.hpp", "src/data/files/json_writer.cpp",
                                         "src/data/files/json_writer.hpp", "src/data/problem/problem_file.cpp",
                                         "src/school/lesson/lesson_page.cpp"};
  std::set<std::string> found;
  for (const SourceFile& file : source_files("src")) {
    if (has(file.text, "begin_object()")) found.insert(file.path);
  }
  CHECK(found == by_hand);
}

TEST_CASE("JSON holds no control character as it is, and reads back to the same words") {
  const std::string label = "a\u0080b\u009b31mc\u009f\u00a0\u00c2";
  const ProcessResult finished = run_attn({"softmax", "--scores", "1 2", "--tokens", label, "--format", "json"});
  REQUIRE(finished.code == 0);
  CHECK(finished.out.find("\u009b") == std::string::npos);
  CHECK(finished.out.find("b\\u009b31mc") != std::string::npos);
  const Json page = parse_json(finished.out, "page");
  CHECK(page["problem"]["tokens"].dump().find(label) != std::string::npos);
}
