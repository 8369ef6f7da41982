#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "commands_tried.hpp"
#include "data/files/json.hpp"
#include "process.hpp"

// A matrix product as people draw it.

using namespace attn;

TEST_CASE("a product stands with one factor at the left, one above, and its result in the corner") {
  const std::string drawn = accepted({"product", "--left", "1 2; 3 4", "--right", "5 6; 7 8", "--cell", "1,2"}).out;
  check_has(drawn,
            "                  right  │   1  ▾ 2\n"
            "                  ───────┼─────────\n"
            "                  1      │   5    6\n"
            "                  2      │   7    8\n"
            "\n"
            "  left │  1  2    result │   1  ▾ 2\n"
            "  ─────┼──────    ───────┼─────────\n"
            "  ▸ 1  │  1  2    ▸ 1    │  19   22\n"
            "  2    │  3  4    2      │  43   50\n");
  check_has(drawn, "= 1⋅6 + 2⋅8");
  check_has(accepted({"product", "--left", "1 2", "--right", "5; 6", "--cell", "1,1", "--ascii"}).out, "> 1");
}

TEST_CASE("a cell may be chosen by words, and in the name of the matrix") {
  const std::string by_words = accepted({"product", "--cell", "Thinking,Machines"}).out;
  CHECK(by_words == accepted({"product", "scores", "--cell", "1,2"}).out);
  CHECK(by_words == accepted({"product", "scores[1,2]"}).out);
  CHECK(by_words == accepted({"walk", "--product", "scores[Thinking,Machines]"}).out);
  refuses({"product", "scores[1,2]", "--cell", "1,2"}, "has a cell already");
  refuses({"product", "--cell", "3,1"}, "row '3' of scores");
  refuses({"product", "--left", "1 2"}, "give both");
  refuses({"product", "--left", "1 2", "--right", "3 4"}, "as many columns as the second has rows");
  refuses({"product", "q", "--left", "1", "--right", "2"}, "leave out one of them");
}

TEST_CASE("every product of a computation is drawn, and nothing else") {
  for (const Words& words : {Words{"walk", "--product", "q"}, Words{"walk", "--product", "output"},
                             Words{"walk", "--example", "animal", "--product", "head.2.output[it,1]"},
                             Words{"transformer", "--product", "logits[1,2]"},
                             Words{"encoder", "--product", "encoder.1.self_attention.head.1.scores"},
                             Words{"align", "--product", "decoder.2.logits"}})
    check_has(accepted(words).out, "The product ");
  refuses({"walk", "--product", "weights"}, "weights is not a matrix product. Choose one of: q, k, v, scores");
  refuses({"walk", "--product", "scores", "--only", "q"}, "--product");
}

TEST_CASE("a bias that is added to a product is told of") {
  const std::string drawn =
      accepted({"walk", "--x", "1 2; 3 4", "--wq", "1 0; 0 1", "--bq", "5 6", "--wk", "1 0; 0 1", "--product", "q"})
          .out;
  check_has(drawn, "The rest of the formula is added to this product");
}

TEST_CASE("a product that is too wide stands one below the other") {
  const std::string below =
      accepted({"walk", "--text", "a b c", "--d-model", "64", "--product", "q", "--width", "80"}).out;
  const std::size_t left = below.find("  x "), right = below.find("  w_q │"), result = below.find("  q ");
  CHECK(left < right);
  CHECK(right < below.rfind("  q "));
  CHECK(result != std::string::npos);
}

TEST_CASE("the factors of a product are in JSON as they stand in it") {
  const Json page = parse_json(accepted({"product", "--cell", "1,2", "--format", "json"}).out, "product");
  const Json& keys = page["arrays"]["k"];
  bool found = false;
  for (const Json& block : page["page"]) {
    if (block["type"] != "product") continue;
    found = true;
    CHECK(block["left"]["array"] == "q");
    CHECK(block["right"]["values"][0][1] == keys[1][0]);
  }
  CHECK(found);
}
