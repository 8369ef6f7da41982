#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "data/files/json.hpp"
#include "process.hpp"

using namespace attn;

namespace {

// What a command writes as CSV, without a word of complaint.
std::string csv(Words words, const std::string& input = "") {
  words.insert(words.end(), {"--format", "csv"});
  const ProcessResult finished = run_attn(words, {.input = input});
  CHECK_MESSAGE(finished.code == 0, command_line(words) << finished.errors);
  CHECK_MESSAGE(finished.errors == "", command_line(words));
  return finished.out;
}

}  // namespace

TEST_CASE("every step works on just the matrices it needs") {
  CHECK(csv({"project", "--x", "1 0; 0 1", "--wq", "[[1,2],[3,4]]"}) == "1,2\n3,4\n");
  CHECK(csv({"scores", "--q", "1 2; 3 4", "--k", "1 0; 0 1; 1 1"}) == "1,2,3\n3,4,7\n");
  CHECK(csv({"scale", "--scores", "8 16", "--scale", "8"}) == "1,2\n");
  CHECK(csv({"scale", "--scores", "8 16", "--scale", "none"}) == "8,16\n");
  CHECK(csv({"scale", "--q", "2 0 0 0", "--k", "3 0 0 0"}) == "3\n");
  CHECK(csv({"mask", "--scores", "1 2; 3 4", "--causal"}) == "1,-inf\n3,4\n");
  CHECK(csv({"mask", "--scores", "1 2; 3 4", "--mask", "[[true,true],[false,true]]"}) == "1,2\n-inf,4\n");
  CHECK(csv({"mask", "--scores", "1 2; 3 4", "--mask", "0.5 -inf; 0 -2"}) == "1.5,-inf\n3,2\n");
  CHECK(csv({"mask", "--scores", "1 2 3; 4 5 6", "--valid-length", "2"}) == "1,2,-inf\n4,5,-inf\n");
  CHECK(csv({"softmax", "--scores", "0 0; 7 7"}) == "0.5,0.5\n0.5,0.5\n");
  CHECK(csv({"weigh", "--weights", "0.75 0.25", "--v", "4 0; 0 8"}) == "3,2\n");
  CHECK(csv({"weigh", "--scores", "5 5", "--v", "4 0; 0 8"}) == "2,4\n");
  CHECK(csv({"concat", "--q", "1 1", "--k", "1 1", "--v", "3 4", "--heads", "2", "--only", "concat"}) == "3,4\n");
  CHECK(csv({"concat", "--q", "1 1", "--k", "1 1", "--v", "3 4", "--wo", "2; 1", "--only", "output"}) == "10\n");
}

TEST_CASE("a scale that is all but zero is written into a problem file and read back") {
  const Words words = {"softmax", "--scores", "0 0", "--scale", "1e-310", "--format", "json"};
  const ProcessResult finished = run_attn(words);
  REQUIRE(finished.code == 0);
  CHECK(run_attn({"softmax", "--problem", "-", "--format", "json"}, {.input = finished.out}).out == finished.out);
}

TEST_CASE("a dash is standard input, in any kind of file") {
  CHECK(csv({"softmax", "--scores", "-"}, "0 0\n7 7\n") == "0.5,0.5\n0.5,0.5\n");
  CHECK(csv({"softmax", "--scores", "-"}, "0\t0\n") == "0.5,0.5\n");
  CHECK(csv({"softmax", "--scores=-"}, "[[0, 0]]") == "0.5,0.5\n");
  CHECK(csv({"scores", "--q", "1 2", "--k", "-"}, run_attn({"convert", "3 4", "-", "--format", "npy"}).out) == "11\n");
  const std::string npz = run_attn({"walk", "--format", "npz"}).out;
  CHECK(csv({"scale", "--scores", "-:scores", "--scale", "8"}, npz) == "14,12\n11,10\n");
}

TEST_CASE("the masked scores that one step writes are read by the next") {
  const std::string masked = csv({"mask", "--scores", "1 1; 3 3", "--causal"});
  CHECK(csv({"softmax", "--scores", "-"}, masked) == "1,0\n0.5,0.5\n");
}

TEST_CASE("labels in a file label the page, and go into the next file") {
  const TemporaryFolder folder;
  const std::string scores = folder.write("s.csv", "\"\",\"cat\",\"7\"\n\"a \"\"b\"\"\",0,0\n\"x,y\",1,1\n");
  const std::string weights = csv({"softmax", "--scores", scores});
  CHECK(weights == "\"\",\"cat\",\"7\"\n\"a \"\"b\"\"\",0.5,0.5\n\"x,y\",0.5,0.5\n");
  CHECK(csv({"convert", folder.write("w.csv", weights), "-"}) == weights);
}

TEST_CASE("words that label the queries need not fit the keys") {
  CHECK(csv({"softmax", "--scores", "0 0", "--tokens", "cat"}) == "\"\",\"1\",\"2\"\n\"cat\",0.5,0.5\n");
  CHECK(csv({"scores", "--q", "1", "--k", "2; 3", "--tokens", "cat"}) == "\"\",\"1\",\"2\"\n\"cat\",2,3\n");
}

TEST_CASE("numbers below zero are numbers, not options") {
  CHECK(csv({"scale", "--scores", "-8 -16", "--scale", "8"}) == "-1,-2\n");
  CHECK(csv({"scale", "--scores", "-8", "--scale", "8"}) == "-1\n");
  CHECK(csv({"scale", "--scores", "-.5 1", "--multiply", "2"}) == "-1,2\n");
  CHECK(csv({"mask", "--scores", "1 2; 3 4", "--causal", "--mask-fill", "-1e6"}) == "1,-1000000\n3,4\n");
  CHECK(csv({"mask", "--scores", "1 2; 3 4", "--causal", "--mask-fill=-1e6"}) == "1,-1000000\n3,4\n");
  CHECK(csv({"mask", "--scores", "1 2", "--mask", "-inf 0"}) == "-inf,2\n");
}

TEST_CASE("a literal below zero may also be a word") {
  CHECK(run_attn({"convert", "--format", "csv", "--", "-1 2", "-"}).out == "-1,2\n");
  CHECK(csv({"convert", "-1 2", "-"}) == "-1,2\n");
}

TEST_CASE("options stand before and after words, in any order") {
  const Words orders[] = {{"explain", "output[1,2]", "--depth", "1", "--ascii"},
                          {"explain", "--depth", "1", "output[1,2]", "--ascii"},
                          {"explain", "--ascii", "--depth=1", "output[1,2]"},
                          {"explain", "--ascii", "--depth", "1", "--", "output[1,2]"}};
  const ProcessResult first = run_attn(orders[0]);
  CHECK(first.code == 0);
  for (const Words& words : orders) CHECK_MESSAGE(run_attn(words).out == first.out, command_line(words));
  CHECK(run_attn({"convert", "--format", "csv", "1 2", "-"}).out == "1,2\n");
  CHECK(run_attn({"convert", "1 2", "--format", "csv", "-"}).out == "1,2\n");
}

TEST_CASE("a query that may look at nothing is warned of, and everything is computed all the same") {
  const ProcessResult finished = run_attn({"softmax", "--scores", "1 2; 3 3", "--mask", "0 0; 1 1", "--format", "csv"});
  CHECK(finished.code == 0);
  CHECK(finished.out == "0,0\n0.5,0.5\n");
  CHECK(finished.errors.starts_with("attn: warning: "));
  CHECK(std::ranges::count(finished.errors, '\n') == 1);
  CHECK(run_attn({"softmax", "--scores", "1 2; 3 3", "--mask", "0 1; 1 1"}).errors == "");
}

TEST_CASE("a fill that is not far below the scores is warned of") {
  const ProcessResult finished = run_attn({"softmax", "--scores", "-9 2; -7 4", "--causal", "--mask-fill", "-8"});
  CHECK(finished.code == 0);
  CHECK(finished.errors.find("masked keys of query 1 get weight") != std::string::npos);
}

TEST_CASE("a cell is explained by its number or by its words") {
  const std::string expected = run_attn({"explain", "weights[1,2]"}).out;
  CHECK(expected.find("0.1192") != std::string::npos);
  CHECK(run_attn({"explain", "weights[Thinking,Machines]"}).out == expected);
  CHECK(run_attn({"explain", "weights[ Thinking , \"Machines\" ]"}).out == expected);
  CHECK(run_attn({"explain", "head.2.weights[it,tired]", "--example", "animal"}).code == 0);
}

TEST_CASE("a word has one walk with vectors in every head") {
  const std::string walk = run_attn({"walk", "--example", "animal", "--by-word", "it"}).out;
  CHECK(walk.find("\"it\" as the query (head.1)") != std::string::npos);
  CHECK(walk.find("\"it\" as the query (head.2)") != std::string::npos);
  CHECK(walk.find("\"cross\" asks") == std::string::npos);
  CHECK(walk.find("concat") != std::string::npos);
}

TEST_CASE("--only chooses matrices by name, with or without their head") {
  const Words animal = {"--example", "animal", "--format", "csv"};
  const auto first_lines = [&](const char* pattern) {
    Words words = {"walk", "--only", pattern};
    words.insert(words.end(), animal.begin(), animal.end());
    const std::string out = run_attn(words).out;
    std::string names;
    for (std::size_t at = out.find("# "); at != std::string::npos; at = out.find("\n# ", at + 1)) {
      const std::size_t begin = out.find("# ", at) + 2;
      names += out.substr(begin, out.find('\n', begin) - begin) + " ";
    }
    return names;
  };
  CHECK(first_lines("weights") == "head.1.weights head.2.weights ");
  CHECK(first_lines("head.2.s*") == "head.2.scores head.2.scaled ");
  CHECK(first_lines("*.output") == "head.1.output head.2.output ");
  CHECK(first_lines("output") == "");  // the one of that name in full: a single matrix, without a heading
}

TEST_CASE("numbers that grow beyond all measure are not passed off as results") {
  const ProcessResult finished = run_attn({"softmax", "--q", "1e200 1", "--k", "1e200 1; 1e200 2"});
  CHECK_MESSAGE((finished.code == 2 || finished.errors != ""), "NaN without a word of warning");
}

TEST_CASE("the walk of a word shows its own row in every sentence of a batch") {
  const ProcessResult walk = run_attn({"walk", "--text", "a b", "--text", "b a", "--heads", "2", "--by-word", "a"});
  CHECK(walk.code == 0);
  std::size_t shown = 0;
  for (const char* name : {"sentence.1.concat", "sentence.1.output", "sentence.2.concat", "sentence.2.output"}) {
    const std::size_t table = walk.out.find(std::string("  ") + name + " │");
    REQUIRE(table != std::string::npos);
    const std::size_t second_line = walk.out.find('\n', walk.out.find('\n', table) + 1) + 1;
    CHECK(walk.out.substr(second_line, 4) == "  a ");
    ++shown;
  }
  CHECK(shown == 4);
}

TEST_CASE("an example's text about its numbers is not told of other numbers") {
  CHECK(run_attn({"walk"}).out.find("0.88 and 0.12") != std::string::npos);
  CHECK(run_attn({"walk", "--causal"}).out.find("0.88 and 0.12") == std::string::npos);
}

TEST_CASE("an option without effect is remarked on") {
  CHECK(run_attn({"walk", "--seed", "5"}).errors.find("--seed has no effect") != std::string::npos);
  CHECK(run_attn({"walk", "--mask-fill", "-9"}).errors.find("--mask-fill has no effect") != std::string::npos);
  const auto remarks_on_fill = [](Words words) {
    words.insert(words.begin(), {"walk", "--text", "a b", "--mask-fill", "-5"});
    return run_attn(words).errors.find("--mask-fill has no effect") != std::string::npos;
  };
  CHECK(remarks_on_fill({"--mask", "0.5,0"}));
  CHECK_FALSE(remarks_on_fill({"--mask", "1,0"}));
  CHECK_FALSE(remarks_on_fill({"--mask", "0.5,0", "--causal"}));
  CHECK(run_attn({"weigh", "--weights", "2 0", "--v", "1; 2"}).errors.find("sums to 2") != std::string::npos);
  CHECK(run_attn({"weigh", "--weights", "0.5 0.5", "--v", "1; 2"}).errors == "");
}

TEST_CASE("every option without effect is remarked on, by the problem or by the command") {
  const auto remarks = [](const Words& words) { return run_attn(words).errors; };
  struct Row {
    std::string option, value;
  };
  for (const Row& row :
       {Row{"--score-m", "1 0 0; 0 1 0; 0 0 1"}, Row{"--score-sigma", "2"}, Row{"--max-distance", "3"}}) {
    CAPTURE(row.option);
    CHECK(remarks({"walk", row.option, row.value}).find(row.option + " has no effect") != std::string::npos);
  }
  CHECK(remarks({"walk", "--score", "gaussian", "--score-sigma", "2"}) == "");
  CHECK(remarks({"compare-scores", "--score-m", "1 0 0; 0 1 0; 0 0 1"}) == "");
  for (const char* command : {"layer-norm", "embed", "positions"}) {
    CAPTURE(command);
    CHECK(remarks({command, "--causal"}) ==
          "attn: warning: --causal changes nothing in attn " + std::string(command) + "\n");
    CHECK(run_attn({"help", command}).out.find("\n  --causal ") == std::string::npos);
  }
  CHECK(remarks({"compare-scores", "--scale", "none"}) ==
        "attn: warning: --scale changes nothing in attn compare-scores\n");
  CHECK(run_attn({"help", "compare-scores"}).out.find("--scale ") == std::string::npos);
  CHECK(remarks({"compare-masks", "--mask-fill", "-5"}) ==
        "attn: warning: --mask-fill changes nothing in attn compare-masks\n");
  CHECK(remarks({"compare-scores", "--score", "dot"}).find("--score changes nothing in attn compare-scores") !=
        std::string::npos);
  CHECK(remarks({"compare-scores", "--score", "additive", "--score-b", "1 2 3"}) == "");
  const std::string idle_memory = "--memory has no effect: keys and values are given";
  CHECK(remarks({"walk", "--q", "1 2", "--k", "1 2", "--v", "3", "--memory", "1 2; 3 4"}).find(idle_memory) !=
        std::string::npos);
  CHECK(remarks({"walk", "--q", "1 2", "--k", "1 2; 3 4", "--memory", "1 2; 3 4", "--wv", "1; 2"}) == "");
  CHECK(remarks({"walk", "--text", "a b", "--memory", "1 2 3; 4 5 6"}) == "");
}

TEST_CASE("parameters are drawn where that is asked for, and the page says that they are") {
  const std::string drawn = run_attn({"walk", "--text", "a b"}).out;
  CHECK(drawn.find("Random numbers (seed 1), not trained: x, w_q, w_k, w_v.") != std::string::npos);
  CHECK(run_attn({"softmax", "--text", "a b", "--random", "numpy:7"}).out.find("Random numbers (numpy:7)") !=
        std::string::npos);
  CHECK(run_attn({"walk"}).out.find("Drawn with") == std::string::npos);
  CHECK(run_attn({"walk", "--layers", "2"}).out.find("w_o, w_1, w_2.") != std::string::npos);
  CHECK(run_attn({"walk", "--x", "1 2;3 4"}).code == 2);
  CHECK(run_attn({"walk", "--x", "1 2;3 4", "--layers", "2"}).code == 2);
  CHECK(run_attn({"walk", "--x", "1 2;3 4", "--layers", "2", "--seed", "1"}).code == 0);
}

TEST_CASE("a picture has arrows as the matrices were computed from each other") {
  using Arrows = std::map<std::string, std::set<std::string>>;
  const auto arrows = [](Words words) {
    words.insert(words.end(), {"--outline", "--format", "json"});
    const Json page = parse_json(run_attn(words).out, "page");
    Arrows result;
    for (const Json& block : page["page"]) {
      if (block["type"] != "flow") continue;
      const auto title = [&](std::size_t i) { return block["boxes"][i]["title"].get<std::string>(); };
      for (std::size_t i = 0; i < block["boxes"].size(); ++i) {
        for (const Json& from : block["boxes"][i]["from"]) {
          result[title(i)].insert(title(from.get<std::size_t>() - 1));
        }
      }
    }
    return result;
  };
  const Arrows one = {{"q", {"x"}},
                      {"k", {"x"}},
                      {"v", {"x"}},
                      {"scores", {"q", "k"}},
                      {"weights", {"scores"}},
                      {"output", {"weights", "v"}}};
  CHECK(arrows({"walk"}) == one);
  CHECK(arrows({"walk", "--example", "padding"}) == one);
  Arrows ordered = one;
  ordered["x + positions"] = {"x"};
  for (const char* name : {"q", "k", "v"}) ordered[name] = {"x + positions"};
  CHECK(arrows({"walk", "--example", "order"}) == ordered);
  Arrows stacked = one;
  stacked["feed-forward"] = {"output"};
  stacked["layer 2: the same again"] = {"feed-forward"};
  CHECK(arrows({"walk", "--example", "two-layers"}) == stacked);
  Arrows heads = arrows({"walk", "--example", "animal"});
  CHECK(heads["q × 2 heads"] == std::set<std::string>{"x"});
  CHECK(heads["output × 2 heads"] == std::set<std::string>{"v × 2 heads", "weights × 2 heads"});
  CHECK(heads["concat"] == std::set<std::string>{"output × 2 heads"});
}

TEST_CASE("the last digits are shown to whoever asks for them") {
  CHECK(run_attn({"softmax", "--scores", "1 2", "--precision", "15"}).out.find("0.268941421369995") !=
        std::string::npos);
  CHECK(run_attn({"scale", "--scores", "0.07 0.5", "--scale", "1", "--precision", "15"}).out.find("0.07  0.5") !=
        std::string::npos);
}

TEST_CASE("given weights and scores take an output projection, and nothing that would change nothing") {
  const Words weigh = {"walk", "--weights", "0.5 0.5", "--v", "1; 2", "--wo", "10", "--bo", "1", "--only", "output"};
  CHECK(csv(weigh) == "16\n");
  CHECK(run_attn({"walk", "--weights", "0.5 0.5", "--v", "1; 2", "--causal"}).code == 2);
  CHECK(run_attn({"walk", "--scores", "1 2", "--wq", "1"}).code == 2);
  CHECK(run_attn({"walk", "--text", "a b", "--random", "numpy:0", "--seed", "3"}).code == 2);
}

TEST_CASE("given scores need none of the parameters that would have made them") {
  CHECK(csv({"softmax", "--scores", "0 0", "--score", "additive"}) == "0.5,0.5\n");
}

TEST_CASE("scoring functions are compared, and their identities hold") {
  const ProcessResult compared = run_attn({"compare-scores"});
  CHECK(compared.code == 0);
  CHECK(compared.errors == "");
  CHECK(compared.out.find("additive.weights") != std::string::npos);
  CHECK(run_attn({"compare-scores", "--heads", "3"}).code == 2);
}

TEST_CASE("a bias belongs to the scoring function that is chosen, or to the one whose shape it has") {
  const auto told = [](Words words) {
    words.insert(words.begin(), {"compare-scores", "--text", "a b", "--d-model", "2"});
    const ProcessResult finished = run_attn(words);
    return finished.code == 0 ? finished.out : finished.errors;
  };
  const auto has = [](const std::string& text, std::string_view part) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  };
  has(told({"--score-b", "1"}), "score_b is the bias of bilinear.");
  has(told({"--score-b", "1 2"}), "score_b is the bias of additive.");
  has(told({"--score-b", "1 2 3"}), "score_b is 1×3: it must be 1×1 for bilinear or 1×2 for additive");
  has(told({"--score-b", "1", "--score", "additive"}), "score_b is 1×1: it must be one row of 2 numbers");
}

TEST_CASE("matrices of another size than they need are refused with the sizes that are needed") {
  const auto refuses = [](const Words& words, std::string_view part) {
    const ProcessResult finished = run_attn(words);
    CHECK(finished.code == 2);
    CHECK_MESSAGE(finished.errors.find(part) != std::string::npos, finished.errors);
  };
  refuses({"walk", "--text", "a b", "--memory-text", "c d e", "--value-memory", "1 2; 3 4", "--seed", "1"},
          "value_memory has 2 rows but memory has 3: every key needs one value");
  refuses({"walk", "--text", "a b", "--mask", "1 1 1; 1 1 1; 1 1 1"}, "or one row for all queries");
}
