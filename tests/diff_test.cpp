#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "command/app.hpp"
#include "commands_tried.hpp"
#include "process.hpp"
#include "testing.hpp"

namespace attn {
namespace {

Answer compared(const std::string& a, const std::string& b) { return answer({"diff", a, b}, bare_environment()); }

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
      const Answer said = compared(line, line);
      CHECK(said.verdict == Verdict::passed);
      CHECK(mistakes_in(said).empty());
    }
  }

  TEST_CASE("what is before the first difference is equal, and a mistake explains the rest") {
    const Answer said = compared("walk --scale none", "walk");
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
    const Answer said = compared("walk", "walk --causal");
    CHECK(how(said, "mask") == "only in B");
    CHECK(how(said, "masked") == "different");
    CHECK(has(mistakes_in(said), "order-not-masked"));
    CHECK(how(compared("walk --causal", "walk"), "mask") == "only in A");
    check_has(written(said), "A is what B becomes with the mistake order-not-masked: no causal mask.");
  }

  TEST_CASE("a convention of other programs is named as one") {
    const Answer said = compared("encoder --source 'a b c' --seed 2 --norm pre", encoder);
    CHECK(has(mistakes_in(said), "pre-norm"));
    CHECK(std::get<std::string>(find_records(said, "explained_by")->rows.front()[1]) == "convention");
  }

  TEST_CASE("a number that is none differs by NaN") {
    const Answer said = compared("walk", "what-if --set 'q[1,1] = 1e200; k[1,1] = 1e200'");
    const std::string text = written(said);
    CHECK(text.find("nan") == std::string::npos);
    check_has(text, "NaN");
  }

  TEST_CASE("no mistake is named where other numbers go in") {
    const Answer said = compared("walk --text 'a b c' --seed 1", "walk --text 'a b c' --seed 2");
    CHECK(said.verdict == Verdict::failed);
    CHECK(how(said, "x") == "different");
    CHECK(mistakes_in(said).empty());
    CHECK(how(compared("walk", "walk --text 'a b c'"), "output") == "other shape");
  }

  TEST_CASE("what-if stands beside what it changes") {
    const Answer said = compared("what-if --without scale", "walk --scale none");
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
      const Answer said = compared(path, "walk --causal");
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
}  // namespace attn
