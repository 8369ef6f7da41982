// What the script of a page for browsers reads.

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands_tried.hpp"
#include "core/math/random.hpp"
#include "data/files/json.hpp"
#include "process.hpp"

using namespace attn;

namespace {

Json data_of(const Words& words) {
  const std::string page = accepted(Words{"page"} + words).out;
  constexpr std::string_view begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t first = page.find(begin) + begin.size();
  REQUIRE(first > begin.size());
  return parse_json(page.substr(first, page.find("</script>", first) - first), "data");
}

const Json& node_called(const Json& data, std::string_view name) {
  for (const Json& node : data["computation"]["nodes"]) {
    if (node.contains("name") && node["name"] == name) return node;
  }
  FAIL("no node is called so");
  return data;
}

}  // namespace

TEST_CASE("what was drawn from a seed is known as drawn, until it is changed") {
  RandomSource random(random_kind::by_name, 3), in_order(random_kind::numpy, 3);
  Matrix first = random.vectors({"x", {2, 3}});
  const Matrix second = random.parameter({"w_q", {3, 4}}), copy = second;
  const DrawnFrom* const how = random.drawings().of(copy);
  REQUIRE(how);
  CHECK(how->seed == 3);
  CHECK(how->name == "w_q");
  CHECK(how->before == 0);
  in_order.vectors({"x", {2, 3}});
  const Matrix third = in_order.parameter({"w_q", {3, 4}});
  REQUIRE(in_order.drawings().of(third));
  CHECK(in_order.drawings().of(third)->before == 6);
  CHECK(in_order.drawings().of(third)->name.empty());
  CHECK(how->to == std::sqrt(6.0 / 7.0));
  CHECK(how->from == -how->to);
  CHECK(random.drawings().of(first));
  first(0, 0) = 0.0;
  CHECK(!random.drawings().of(first));
  CHECK(!random.drawings().of(Matrix({2, 3}, 0.0)));
}

TEST_CASE("a page has of random inputs the seed and their name or place, and no numbers") {
  const Json data = data_of({"walk", "--text", "a b a <blank>", "--d-model", "8", "--heads", "2", "--seed", "5"});
  const Json& x = node_called(data, "x");
  CHECK(!x.contains("numbers"));
  CHECK(x["drawn"]["seed"] == 5);
  CHECK(x["drawn"]["name"] == "x");
  CHECK(x["drawn"]["labels"] == Json::array({"a", "b"}));
  CHECK(x["drawn"]["to"] == std::sqrt(3.0));
  CHECK(x["drawn"]["rows"] == Json({1, 2, 1, 0}));
  CHECK(node_called(data, "w_q")["drawn"]["name"] == "w_q");
  CHECK(node_called(data, "w_k")["drawn"]["name"] == "w_k");
  CHECK(!node_called(data, "w_q")["drawn"].contains("rows"));
  const Json numpy = data_of({"walk", "--text", "a b", "--random", "numpy:7"});
  CHECK(node_called(numpy, "w_v")["drawn"]["seed"] == 7);
  // Two words of 8 numbers stand before the first parameter, which has 8 × 8; so has the second.
  CHECK(node_called(numpy, "w_v")["drawn"]["before"] == 16 + 64 + 64);
  CHECK(!node_called(numpy, "w_v")["drawn"].contains("name"));
  CHECK(node_called(numpy, "w_v")["drawn"]["from"] == 0.0);
  CHECK(node_called(numpy, "w_v")["drawn"]["to"] == 1.0);
}

TEST_CASE("a page has the numbers of what was given, also beside what was drawn, and of what was drawn elsewhere") {
  const Json beside = data_of({"walk", "--text", "a b", "--wq", "1 0; 0 1", "--d-model", "2"});
  CHECK(node_called(beside, "w_q").contains("numbers"));
  CHECK(node_called(beside, "w_k").contains("drawn"));
  const TemporaryFolder folder;
  const std::string again = folder.write("walk.json", accepted({"walk", "--text", "a b", "--format", "json"}).out);
  const Json read = data_of({"walk", "--problem", again});
  CHECK(node_called(read, "x").contains("numbers"));
  CHECK(!node_called(read, "x").contains("drawn"));
}

TEST_CASE("random models, their vectors and recurrent ones are known as drawn, too") {
  CHECK(node_called(data_of({"encoder"}), "source.x").contains("drawn") !=
        node_called(data_of({"encoder"}), "source.x").contains("operation"));
  CHECK(node_called(data_of({"transformer"}), "decoder.1.self_attention.w_q").contains("drawn"));
  CHECK(
      node_called(data_of({"backward", "encoder", "--layers", "1"}), "encoder.1.self_attention.w_q").contains("drawn"));
  CHECK(node_called(data_of({"align", "--seed", "7", "--source", "one two"}), "encoder.w_xh").contains("drawn"));
}

TEST_CASE("of a large result a page has some numbers and their sum") {
  const Json data = data_of({"walk", "--text", "a b c d e f g", "--d-model", "64"});
  const Json& q = node_called(data, "q");
  CHECK(!q.contains("numbers"));
  const std::size_t every = q["some"]["every"];
  CHECK(every % 2 == 1);
  CHECK(q["some"]["numbers"].size() == (7 * 64 - 1) / every + 1);
  CHECK(node_called(data, "scores")["numbers"].size() == 49);
}

TEST_CASE("a page says what of a model of words belongs together") {
  const auto called = [](const Json& data, const Json& place) {
    return std::string(data["computation"]["nodes"][place.get<std::size_t>()]["name"]);
  };
  for (const Words& words : {Words{"transformer"}, Words{"transformer", "--kind", "decoder-only"}, Words{"generate"}}) {
    const Json data = data_of(words);
    REQUIRE(data["predictions"].size() == 1);
    const Json& one = data["predictions"][0];
    CHECK(called(data, one["ids"]) == "target.ids");
    CHECK(called(data, one["logits"]) == "logits");
    CHECK(called(data, one["distribution"]) == "distribution");
    CHECK(one["next"] == true);
    CHECK(data.contains("given") == (words.front() == "generate"));
  }
  // Each step of a recurrent decoder expects a word of its own.
  const Json steps = data_of({"align", "--target", "the house"});
  CHECK(steps["predictions"].size() == 3);
  CHECK(!steps["predictions"][0].contains("ids"));
  CHECK(!data_of({"walk"}).contains("predictions"));
}

TEST_CASE("a page of a model that wrote has all words that were given and written, but none behind its places") {
  const Json data = data_of({"generate", "--model", "names", "--target", "m"});
  CHECK(data["given"] == 2);
  const Json& ids = node_called(data, "target.ids");
  CHECK(ids["shape"][0].get<std::size_t>() > 2);
  // The same with beams, and without the end.
  CHECK(data_of({"generate", "--model", "names", "--target", "m", "--beams", "2"})["given"] == 2);
}

TEST_CASE("a page of a training has its curve and the weights at some steps") {
  const Json data = data_of({"train", "induction", "--steps", "40", "--every", "20"});
  const Json& training = data["training"];
  CHECK(training["steps"] == Json({0, 20, 40}));
  CHECK(training["loss"].size() == 3);
  CHECK(training["accuracy"].size() == 3);
  const Json& maps = training["maps"];
  CHECK(maps.front()["step"] == 0);
  CHECK(maps.back()["step"] == 40);
  CHECK(maps.size() <= 25);
  for (const Json& weights : maps.back()["weights"]) {
    const Json& node = data["computation"]["nodes"][weights["node"].get<std::size_t>()];
    CHECK(node.contains("attention"));
    CHECK(weights["numbers"].size() == node["shape"][0].get<std::size_t>() * node["shape"][1].get<std::size_t>());
  }
}

TEST_CASE("every command that computes matrices from others has a page") {
  const std::array<Words, 12> all = {{{"scores"},
                                      {"softmax", "--scores", "14 12"},
                                      {"pool"},
                                      {"heads"},
                                      {"positions", "--n", "6"},
                                      {"embed"},
                                      {"layer-norm"},
                                      {"cross-entropy", "--logits", "2 1", "--targets", "1"},
                                      {"compare-scores"},
                                      {"compare-masks"},
                                      {"backward"},
                                      {"influence"}}};
  for (const Words& words : all) CHECK_MESSAGE(!data_of(words)["computation"]["nodes"].empty(), words.front());
  const Json back = data_of({"backward", "--example", "animal", "--of", "output[it,1]"});
  CHECK(node_called(back, "d_x").contains("operation"));
  CHECK(!node_called(back, "d_output").contains("operation"));
  // Of influences the gradients of one number, which an input chooses.
  const Json influence = data_of({"influence", "--of", "output[it,2]"});
  CHECK(node_called(influence, "d_output")["numbers"][7 * 4 + 1] == 1.0);
  CHECK(node_called(influence, "d_x").contains("operation"));
}

TEST_CASE("what has no computation of matrices has no page, and says so") {
  refuses({"page", "cost"}, "attn cost cannot be a page here");
  refuses({"page", "tokenize"}, "attn tokenize cannot be shown by attn page");
  refuses({"page", "train"}, "attn train cannot be a page without TASK: it only lists what can be named");
  refuses({"page", "errata"}, "attn errata cannot be a page without NAME");
  refuses({"page", "influence", "--by", "x[it,1]"}, "leave out --by");
  refuses({"page", "backward", "--by-hand"}, "--by-hand and --page are both given");
}

TEST_CASE("--from says which word a page asks about first") {
  check_has(accepted({"page", "walk", "--example", "animal", "--from", "cross"}).out, "What does “cross” attend to?");
  const Json data = data_of({"walk", "--example", "animal", "--from", "4"});
  CHECK(data["question"]["query"] == 3);
  CHECK(data_of({"encoder", "--from", "sat"})["question"]["query"] == 2);
  refuses({"page", "walk", "--from", "nobody"}, "there is no such word");
  refuses({"page", "walk", "--x", "1 2", "--wq", "1; 2", "--from", "1"}, "there are no attention weights here");
}
