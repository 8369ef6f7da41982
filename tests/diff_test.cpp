#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "command/app.hpp"
#include "commands_tried.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

AnswerInFormat compared(const std::string& a, const std::string& b) {
  return answer({"diff", a, b}, bare_environment());
}

const Records* find_records(const Answer& said, std::string_view name) {
  for (const Block& block : said.page.blocks) {
    const auto* const records = std::get_if<Records>(&block);
    if (records && records->name == name) return records;
  }
  return nullptr;
}

// "equal", "different", … of one matrix; "": it is not there.
std::string how(const Answer& said, const std::string& matrix) {
  for (const auto& row : find_records(said, "diff")->rows) {
    if (std::get<std::string>(row[0]) == matrix) return std::get<std::string>(row[1]);
  }
  return "";
}

std::vector<std::string> mistakes_in(const Answer& said) {
  const Records* const found = find_records(said, "explained_by");
  return found ? std::get<std::vector<std::string>>(found->rows.front()[2]) : std::vector<std::string>();
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

constexpr const char* encoder = "encoder --source 'a b c' --seed 2";

TEST_SUITE("differences of two computations") {
  TEST_CASE("a computation is equal to itself") {
    for (const char* line : {"walk", encoder, "attn walk --example animal", "align"}) {
      CAPTURE(line);
      const AnswerInFormat said = compared(line, line);
      CHECK(said.verdict == Verdict::passed);
      CHECK(mistakes_in(said).empty());
    }
  }

  TEST_CASE("what is before the first difference is equal, and a mistake explains the rest") {
    const AnswerInFormat said = compared("walk --scale none", "walk");
    CHECK(said.verdict == Verdict::failed);
    CHECK(how(said, "scores") == "equal");
    CHECK(how(said, "scaled") == "different");
    CHECK(how(said, "output") == "different");
    CHECK(has(mistakes_in(said), "not-scaled"));
    const std::string text = written(said);
    check_has(text, "scaled differs in 4 of 4 cells");
    check_has(text, "scores[1,1] / 8");
  }

  TEST_CASE("a forgotten mask is named, and the mask stands on one side alone") {
    const AnswerInFormat said = compared("walk", "walk --causal");
    CHECK(how(said, "mask") == "only in B");
    CHECK(how(said, "masked") == "different");
    CHECK(has(mistakes_in(said), "order-not-masked"));
    CHECK(how(compared("walk --causal", "walk"), "mask") == "only in A");
    const std::string text = in_one_line(written(said));
    check_has(text, "B with one step changed has the numbers of A in all matrices that are compared.");
    check_has(text, "The change: no causal mask.");
    check_has(text, "B is given mask, which A does not have.");
    check_lacks(text, "mistake");
  }

  TEST_CASE("rows of other words are not compared, and the same words in another order are compared by word") {
    const AnswerInFormat order =
        compared("walk --x '1 2;3 4;5 6' --tokens 'dog bites man' --wq '1;2' --wk '1;2' --wv '1;2'",
                 "walk --x '5 6;3 4;1 2' --tokens 'man bites dog' --wq '1;2' --wk '1;2' --wv '1;2'");
    CHECK(how(order, "w_q") == "equal");
    CHECK(how(order, "x") == "equal by word");
    CHECK(how(order, "weights") == "equal by word");
    CHECK(how(order, "output") == "equal by word");
    CHECK(order.verdict == Verdict::failed);
    check_has(in_one_line(written(order)), "the same words in another order, a word is compared with the same word");
    const AnswerInFormat others = compared("walk --text 'dog bites man'", "walk --text 'cat eats fish'");
    CHECK(others.verdict == Verdict::failed);
    CHECK(how(others, "x") == "other words");
    CHECK(how(others, "weights") == "other words");
    check_has(in_one_line(written(others)), "Random numbers");
    check_lacks(in_one_line(written(others)), "All 11 matrices are equal");
  }

  TEST_CASE("of a word that stands several times the first is compared with the first") {
    for (const auto& [a, b] : {std::pair{"walk --text 'a a b'", "walk --text 'b a a'"},
                               std::pair{"walk --text 'a b a'", "walk --text 'a a b'"},
                               std::pair{"walk --text 'a b <blank> <blank>'", "walk --text 'b a <blank> <blank>'"}}) {
      const std::string line = a;
      CAPTURE(line);
      const AnswerInFormat said = compared(a, b);
      for (const char* name : {"x", "scores", "weights", "output"}) CHECK(how(said, name) == "equal by word");
      const std::string text = in_one_line(written(said));
      check_lacks(text, "other words");
      check_has(text, "the first is compared with the first");
    }
    CHECK(how(compared("walk --text 'a a b'", "walk --text 'a b b'"), "x") == "other words");
  }

  TEST_CASE("a cell of permuted rows is called by its word, also where that is a number") {
    const std::string text = in_one_line(written(compared("walk --text '3 1 2' --seed 2", "walk --text '1 2 3'")));
    check_has(text, "a word is compared with the same word");
    check_has(text, "[\"");
  }

  TEST_CASE("ids of two vocabularies are compared by their words") {
    const AnswerInFormat said = compared("encoder --source 'a b' --layers 1 --positions none",
                                         "encoder --source 'b a' --layers 1 --positions none");
    CHECK(how(said, "source.ids") == "equal by word");
    const std::string text = in_one_line(written(said));
    check_lacks(text, "The first matrix of both that differs");
    check_has(text, "Ids of two vocabularies are compared by the words that they stand for.");
  }

  TEST_CASE("a difference that no double holds is said to be one") {
    const std::string text =
        in_one_line(written(compared("walk --q 1e308 --k 0 --v 1", "walk --q -1e308 --k 0 --v 1")));
    check_has(text, "The largest difference is beyond double precision, in q[1,1].");
    check_lacks(text, "∞");
  }

  TEST_CASE("a page that attn wrote says what was computed and what was given") {
    const TemporaryFolder folder;
    accepted({"walk", "--text", "a b", "--format", "json", "-o", folder.path("one.json")});
    accepted({"walk", "--text", "a b", "--causal", "--format", "json", "-o", folder.path("two.json")});
    const std::string text = in_one_line(written(compared(folder.path("one.json"), folder.path("two.json"))));
    check_has(text, "B is given mask, which A does not have. The first matrix of both that differs");
    check_lacks(text, "does not say how it was computed");
    check_has(text, "By the file, masked = scaled where mask = 1, else -inf.");
  }

  TEST_CASE("neither side is called a mistake, and where one has more matrices is told") {
    for (const auto& [a, b] : {std::pair{"walk --scale none", "walk"}, std::pair{"walk --score cosine", "walk"},
                               std::pair{"layer-norm --x '1 2 3'", "layer-norm --x '1 2 3' --norm-kind rms"}}) {
      const std::string text = in_one_line(written(compared(a, b)));
      check_lacks(text, "the mistake");
      check_has(text, "changed has the numbers of A in all matrices that are compared.");
    }
    const std::string heads = in_one_line(written(compared("walk --text 'a b' --heads 2", "walk --text 'a b'")));
    check_has(heads, "Where they part");
    check_has(
        heads,
        "A is given w_o, which B does not have. Up to v, both compute equal matrices. A then computes head.1.q, head.1.k, ");
    check_has(heads, "B then computes scores, scaled and weights, which A does not have.");
  }

  TEST_CASE("a step is said to be changed only where that gives all numbers") {
    for (const auto& [a, b] :
         {std::pair{"encoder --text 'a b c' --activation gelu --norm pre", "encoder --text 'a b c'"},
          std::pair{"encoder --norm pre --scale none", "encoder"},
          std::pair{"encoder --text 'a b c' --scale none --norm-kind rms", "encoder --text 'a b c'"},
          std::pair{"walk --text 'a b c' --scale none", "walk --text 'a b c' --causal"}}) {
      const std::string line = a;
      CAPTURE(line);
      check_lacks(in_one_line(written(compared(a, b))), "one step changed");
    }
  }

  TEST_CASE("what an altered computation keeps is computed there too, and what is random in it is told") {
    const std::string unscaled = in_one_line(written(compared("what-if walk --without scale", "walk")));
    check_lacks(unscaled, "is an input");
    const std::string set = in_one_line(
        written(compared("what-if walk --text 'a b' --heads 2 --set 'output[1,1]=0.5'", "walk --text 'a b'")));
    check_lacks(set, "A is given head.1.q");
    check_has(set, "In A: Random numbers (seed 1), not trained: x, w_q, w_k, w_v, w_o.");
  }

  TEST_CASE("words are in another order in the matrices that have the same ones") {
    const std::string text = in_one_line(written(compared("embed --text 'a b a'", "embed --text 'b a b'")));
    check_has(text, "Where a matrix has the same words in another order");
  }

  TEST_CASE("what has another name in both is compared where it names other matrices") {
    const AnswerInFormat said = compared("encoder --text 'a b' --layers 1", "encoder --text 'a b' --layers 2");
    CHECK(how(said, "encoder.output") == "different");
  }

  TEST_CASE("two numbers that differ never look equal") {
    const std::string text =
        in_one_line(written(compared("layer-norm --x '1 2 3'", "layer-norm --x '1 2 3' --epsilon 0")));
    check_has(text, "-1.224736 -1.224745");
  }

  TEST_CASE("a convention of other programs is named as one") {
    const AnswerInFormat said = compared("walk --text 'a b c' --positions rotary-halves --d-model 4",
                                         "walk --text 'a b c' --positions rotary --d-model 4");
    CHECK(has(mistakes_in(said), "rotary-halves"));
    CHECK(std::get<std::string>(find_records(said, "explained_by")->rows.front()[1]) == "convention");
  }

  TEST_CASE("a number that is none differs by NaN") {
    const AnswerInFormat said = compared("walk", "what-if --set 'q[1,1] = 1e200; k[1,1] = 1e200'");
    const std::string text = written(said);
    CHECK(text.find("nan") == std::string::npos);
    check_has(text, "NaN");
  }

  TEST_CASE("no mistake is named where other numbers go in") {
    const AnswerInFormat said = compared("walk --text 'a b c' --seed 1", "walk --text 'a b c' --seed 2");
    CHECK(said.verdict == Verdict::failed);
    CHECK(how(said, "x") == "different");
    CHECK(mistakes_in(said).empty());
    CHECK(how(compared("walk", "walk --text 'a b c'"), "output") == "other shape");
  }

  TEST_CASE("what-if stands beside what it changes") {
    const AnswerInFormat said = compared("what-if --without scale", "walk --scale none");
    CHECK(said.verdict == Verdict::passed);
    CHECK(how(said, "output") == "equal");
    CHECK(has(mistakes_in(compared("what-if --without scale", "walk")), "not-scaled"));
    const std::string line = "what-if encoder --source 'a b c' --seed 2 --without residual";
    CHECK(mistakes_in(compared(encoder, line)).empty());
    CHECK(has(mistakes_in(compared(line, encoder)), "residual-missing"));
  }

  TEST_CASE("files are compared as well: pages, arrays and problems") {
    const TemporaryFolder folder;
    for (const char* name : {"a.json", "a.npz", "a.safetensors"}) {
      const std::string path = folder.path(name);
      accepted({"walk", "-o", path});
      CHECK(compared(path, "walk").verdict == Verdict::passed);
      const AnswerInFormat said = compared(path, "walk --causal");
      CHECK(said.verdict == Verdict::failed);
      CHECK(has(mistakes_in(said), "order-not-masked"));
    }
    const std::string problem = folder.write("p.json", R"({"text": "the cat sat", "d_model": 4, "seed": 3})");
    CHECK(compared(problem, "walk --text 'the cat sat' --d-model 4 --seed 3").verdict == Verdict::passed);
  }

  TEST_CASE("numbers are equal within the tolerance") {
    const std::string a = "walk --q '1 2' --k '1 2' --v '1 2'", b = "walk --q '1 2.001' --k '1 2' --v '1 2'";
    CHECK(answer({"diff", a, b}, bare_environment()).verdict == Verdict::failed);
    CHECK(answer({"diff", a, b, "--tolerance", "0.01"}, bare_environment()).verdict == Verdict::passed);
  }

  TEST_CASE("the exit code says whether they differ") {
    CHECK(run_attn({"diff", "walk", "walk"}).code == 0);
    CHECK(run_attn({"diff", "walk", "walk --causal"}).code == 1);
  }

  TEST_CASE("what cannot be compared is refused in one sentence") {
    refuses({"diff", "walk"}, "needs A B");
    refuses({"diff", "train", "walk"}, "A: attn train is none of the commands whose matrices are compared");
    refuses({"diff", "walk", "lesson run 1"}, "B: attn lesson is none of the commands");
    refuses({"diff", "walk --nope", "walk"}, "A: attn walk has no option '--nope'");
    refuses({"diff", "walk", "walk \"a"}, "a quote is opened and not closed");
    refuses({"diff", "nofile.json", "walk"}, "A: 'nofile.json' is neither a command nor a file");
    refuses({"diff", "walk -o x.json", "walk"}, "A: leave out --output");
    refuses({"diff", "walk", "walk", "--tolerance", "nan"}, "--tolerance");
    refuses({"diff", "walk", "walk", "--tolerance", "-1"}, "--tolerance");
    refuses({"diff", ATTN_SOURCE_FOLDER "/README.md", "walk"}, "A:");
  }
}

}  // namespace
