#include "core/term/law.hpp"

#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "command/docs.hpp"
#include "commands_tried.hpp"
#include "core/graph/graph.hpp"
#include "core/support/error.hpp"
#include "page/document/document_outputs.hpp"
#include "process.hpp"
#include "testing.hpp"

namespace {

using namespace attn;

constexpr double infinite = std::numeric_limits<double>::infinity();

// Some matrices by name.
std::shared_ptr<Graph> graph_of(const std::vector<std::pair<std::string, Matrix>>& matrices) {
  auto graph = std::make_shared<Graph>();
  for (const auto& [name, numbers] : matrices) {
    std::vector<std::string> labels = {"the", "it", "sat"};
    labels.resize(numbers.shape().rows, "more");
    graph->input(name_from_text(name), numbers, axis("queries", labels), axis("keys"));
  }
  return graph;
}

const Matrix weights = matrix({{0.5, 0.5}, {0.25, 0.75}});

std::vector<LawCheck> held(const std::string& law, const Matrix& numbers, double tolerance = 1e-9) {
  return check_law(law, *graph_of({{"weights", numbers}, {"scores", matrix({{3, -4}, {0, 5}})}}), tolerance);
}

bool holds(const std::string& law, const Matrix& numbers = weights) {
  for (const LawCheck& one : held(law, numbers)) {
    if (one.broken) return false;
  }
  return true;
}

LawViolation broken(const std::string& law, const Matrix& numbers = weights) {
  return held(law, numbers).front().broken.value();
}

// The sentence that refuses something; empty: it is accepted.
template <class Action>
std::string sentence_of(const Action& action) {
  try {
    action();
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

std::string refused(const std::string& law) {
  return sentence_of([&] { held(law, weights); });
}

}  // namespace

TEST_SUITE("laws") {
  TEST_CASE("every function of a law gives what is worked out by hand") {
    for (const char* law : {
             "row_sums(scores) = transpose(column_sums(transpose(scores)))",
             "row_sums(scores[1]) = -1",
             "column_sums(scores) = scores[1] + scores[2]",
             "row_means(scores[1]) = -0.5",
             "row_variances(scores[1]) = 12.25",
             "row_lengths(scores) = 5",
             "entropy(weights[1]) = 1",
             "entropy(weights[2]) > 0.81127; ",
             "transpose(scores) = transpose(transpose(transpose(scores)))",
             "transpose(scores)*1 = transpose(scores)",
             "largest(scores) = 5",
             "smallest(scores) = -4",
             "sum(scores) = 4",
             "rows(scores) = 2",
             "columns(scores) = 2",
             "largest(abs(scores)) = 5",
             "sqrt(scores[1,1] + 1) = 2",
             "√(scores[1,1] + 1) = 2",
             "log(exp(scores)) = scores",
             "scores^2 = scores * scores",
             "scores² = scores × scores",
             "scores / 2 = scores ÷ 2",
             "2 - scores = -(scores - 2)",
             "scores[it,2] = 5",
             "nonnegative(weights)",
             "finite(scores)",
             "weights <= 0.75",
             "weights ≤ 0.75",
             "weights >= 0.25",
             "weights ≥ 25 %",
             "weights == weights",
             "weights < 1e0",
             "e > weights",
         }) {
      CAPTURE(law);
      for (const std::string& one : laws_in(law)) CHECK(holds(one));
    }
    CHECK(holds("causal(weights)", matrix({{1, 0}, {0.5, 0.5}})));
    CHECK_FALSE(holds("causal(weights)"));
    CHECK(holds("symmetric(weights)", matrix({{1, 2}, {2, 1}})));
    CHECK_FALSE(holds("symmetric(weights)"));
    CHECK_FALSE(holds("nonnegative(scores)"));
  }

  TEST_CASE("every function that help lists can be called") {
    for (const LawFunction& function : law_functions()) {
      CAPTURE(function.name);
      const std::string call = std::string(function.name) + "(weights)";
      if (function.name == "of_heads") {
        CHECK(refused(call + " = weights").find("no heads have a matrix weights") != std::string::npos);
        continue;
      }
      const bool is_property = refused(call).empty();
      if (!is_property) CHECK_NOTHROW(held(call + " > 0", weights));
    }
  }

  TEST_CASE("a law that fails names the cell where the sides are furthest apart") {
    const LawViolation cell = broken("weights < 0.6");
    CHECK(cell.place == "weights[it,2]");
    CHECK(cell.left == 0.75);
    CHECK(cell.right == 0.6);
    CHECK(cell.cells == 1);
    CHECK(cell.of == 4);
    CHECK(violation_in_words(cell) ==
          "At weights[it,2], the left side is 0.75. It should be less than the right side, 0.6.");
    CHECK(broken("row_sums(weights) = 2").place == "weights[the]");
    CHECK(broken("column_sums(weights) = 1").place == "column 1 of weights");
    CHECK(broken("transpose(weights) = 0.5").place == "weights[it,1]");
    CHECK(broken("largest(weights) < 0.5").place == "weights[it,2]");
    CHECK(broken("largest(transpose(weights)) < 0.5").place == "weights[it,2]");
    CHECK(broken("largest(weights[the]) < 0.5").place == "weights[the,1]");
    CHECK(broken("weights[it] = 0.75").place == "weights[it,1]");
    CHECK(broken("sum(weights) = 1").place.empty());
    CHECK(violation_in_words(broken("causal(weights)")) ==
          "weights[the,2] is 0.5. It should be 0, like every number to the right of the diagonal.");
    // With an exponent where decimals show only 0, or many digits.
    check_has(violation_in_words(broken("weights < 1e-9")), "less than the right side, 1e-09.");
    check_has(violation_in_words(broken("weights < -1e308")), "less than the right side, -1e+308.");
    const std::string no_entropy = violation_in_words(broken("entropy(scores) >= 0"));
    check_has(no_entropy, "entropy needs weights, finite numbers that are 0 or more: without them it is NaN.");
    // What differs only behind the decimals that are shown, is shown in full.
    CHECK(violation_in_words(broken("weights[1,1] = 0.500001")).find("0.500001") != std::string::npos);
  }

  TEST_CASE("a row and a column and one number go with every row and column") {
    CHECK(holds("weights - weights[1] = weights - weights[the]"));
    CHECK(holds("weights / row_sums(weights) = weights"));
    CHECK(holds("weights < 1"));
    CHECK(refused("weights = weights * columns(weights) + transpose(scores[1,1])").empty());
  }

  TEST_CASE("infinite numbers and NaN are equal to nothing by chance") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Matrix masked = matrix({{1, -infinite}, {infinite, nan}});
    CHECK_FALSE(holds("weights - weights = 0", masked));
    CHECK_FALSE(holds("weights[1,2] = 1", masked));
    CHECK_FALSE(holds("weights[2,1] = 1e300", masked));
    CHECK(holds("weights[2,1] = weights[2,1]", masked));
    CHECK_FALSE(holds("weights[2,2] = weights[2,2]", masked));
    CHECK_FALSE(holds("weights[2,2] <= 1", masked));
    CHECK_FALSE(holds("weights[2,2] >= 1", masked));
    CHECK_FALSE(holds("largest(weights) < 5", masked));
    CHECK(broken("largest(weights) < 5", masked).place == "weights[it,2]");
    CHECK_FALSE(holds("entropy(weights) >= 0", masked));
    CHECK_FALSE(holds("entropy(weights) >= 0", matrix({{1.5, -0.5}})));
    CHECK_FALSE(holds("finite(weights)", masked));
    CHECK(broken("finite(weights)", masked).cells == 3);
    CHECK(broken("row_sums(weights) = 1", masked).cell.value().column == 1);
  }

  TEST_CASE("the tolerance counts where two numbers are called equal") {
    const Matrix nearly = matrix({{0.5, 0.500001}});
    CHECK(held("weights = 0.5", nearly, 1e-5).front().broken == std::nullopt);
    CHECK(held("weights = 0.5", nearly, 1e-7).front().broken);
    CHECK(held("weights <= 0.5", nearly, 1e-5).front().broken == std::nullopt);
  }

  TEST_CASE("a matrix without cells breaks no law and has no largest number") {
    const Matrix empty({0, 2});
    CHECK(holds("weights = 1", empty));
    CHECK(holds("row_sums(weights) = 1", empty));
    CHECK(sentence_of([&] { held("largest(weights) = 1", empty); }).find("no cells") != std::string::npos);
    CHECK_NOTHROW(held("row_means(weights) = 1", Matrix({2, 0})));
  }

  TEST_CASE("a name that several heads have stands for each of them") {
    const auto graph = graph_of({{"q", matrix({{1, 2, 3, 4}})},
                                 {"head.1.q", matrix({{1, 2}})},
                                 {"head.2.q", matrix({{3, 5}})},
                                 {"head.1.k", matrix({{1, 2}})},
                                 {"head.2.k", matrix({{3, 4}})},
                                 {"mask", matrix({{1, 0}})}});
    const std::vector<LawCheck> all = check_law("k * (1 - mask) = 0", *graph, 1e-9);
    REQUIRE(all.size() == 2);
    CHECK(all[1].broken.value().place == "head.2.k[the,2]");
    CHECK(check_law("k < 9", *graph, 0).size() == 2);
    const std::vector<LawCheck> joined = check_law("of_heads(q) = q", *graph, 1e-9);
    REQUIRE(joined.size() == 1);
    CHECK(joined.front().broken.value().place == "head.2.q[the,2]");
    CHECK(check_law("head.1.q = head.1.k", *graph, 0).front().broken == std::nullopt);
    // Without another name, the joined heads stand alone.
    REQUIRE(check_law("of_heads(k) < 4", *graph, 0).size() == 1);
    CHECK(check_law("of_heads(k) < 4", *graph, 0).front().broken.value().place == "head.2.k[the,2]");
    CHECK(sentence_of([&] { check_law("of_heads(mask) = 1", *graph, 0); }).find("no heads") != std::string::npos);
  }

  TEST_CASE("a name beside a head is the matrix of this head where there is one") {
    const auto graph = graph_of({{"k", matrix({{1, 2, 3, 4}})},
                                 {"head.1.k", matrix({{1, 2}})},
                                 {"head.2.k", matrix({{3, 4}})},
                                 {"head.1.scores", matrix({{2}})},
                                 {"head.2.scores", matrix({{2}})}});
    for (const LawCheck& one : check_law("scores = columns(k)", *graph, 0)) CHECK(one.broken == std::nullopt);
    CHECK(check_law("head.1.scores = columns(k)", *graph, 0).front().broken == std::nullopt);
    CHECK(check_law("columns(k) = 4", *graph, 0).front().broken == std::nullopt);
  }

  TEST_CASE("what is no law is refused in one sentence") {
    for (const auto& [law, part] : {
             std::pair{"0 < weights < 1", "compares more than two sides"},
             {"weights = scores = 1", "compares more than two sides"},
             {"weights", "is no law"},
             {"2 = 2", "names no matrix"},
             {"weihgts = 1", "did you mean 'weights'"},
             {"row_sum(weights) = 1", "did you mean 'row_sums'"},
             {"causal(weights) = 1", "a property is a law of its own"},
             {"1 = causal(weights)", "is a law of its own and gives no number"},
             {"weights = weights[1,1,1]", ""},
             {"weights[1", ""},
             {"row_sums(weights = 1", ""},
             {"finite(weights", ") is missing at the end"},
             {"weights = ", "ends where"},
             {"weights = 1 2", "cannot be read from '2' on"},
             {"weights != 1", ""},
             {"weights[7] = 1", "numbered from 1 to 2"},
             {"causal(weights[1])", "no diagonal"},
             {"weights ! 1", ""},
         }) {
      const std::string sentence = refused(law), about = std::string(law) + ": " + sentence;
      CAPTURE(about);
      CHECK_FALSE(sentence.empty());
      CHECK(sentence.find(part) != std::string::npos);
      CHECK(sentence.find('\n') == std::string::npos);
    }
    CHECK(sentence_of([] { laws_in(" ; "); }).find("there is no law") != std::string::npos);
    CHECK(laws_in("a[\"x;y\"] = 1; b = 2").size() == 2);
    CHECK(refused("weights = transpose(weights[1])").empty());
    CHECK_FALSE(sentence_of([] {
                  check_law("a = b", *graph_of({{"a", Matrix({2, 3})}, {"b", Matrix({3, 2})}}), 0);
                }).empty());
  }

  TEST_CASE("a law of any bytes is held or refused") {
    const std::vector<std::string> pieces = {
        "weights", "scores", "row_sums", "largest", "of_heads", "causal",  "(",         ")", "[",  "]",
        ",",       "1",      "1e9",      "-",       "√",        "^",       "²",         "<", ">",  "=",
        "==",      "≤",      " ",        "\"",      "+",        "*",       "/",         ".", "e",  "%",
        ";",       "\xFF",   "it",       "\n",      "nan",      "entropy", "transpose", "h", "d_k"};
    std::mt19937 random(1);
    for (std::size_t count = 0; count < 20000; ++count) {
      std::string law;
      for (std::size_t length = 1 + random() % 12; length > 0; --length) law += pieces[random() % pieces.size()];
      try {
        for (const std::string& one : laws_in(law)) held(one, weights);
      } catch (const InputError& error) {
        CHECK(std::string(error.what()).size() > 0);
      }
    }
    for (const char* piece : {"(", "-", "abs(", "√", "2^", "weights + ", "largest(-(", "[", "\"", "weights["}) {
      std::string deep;
      for (std::size_t i = 0; i < 100000; ++i) deep += piece;
      CAPTURE(piece);
      const bool is_refused = !refused(deep + "weights = 1").empty();
      CHECK(is_refused == (std::string(piece) != "weights + "));
    }
  }
}

TEST_SUITE("attn assert") {
  TEST_CASE("laws give exit codes for programs that only look at these") {
    CHECK(run_attn({"assert", "row_sums(weights) = 1"}).code == 0);
    CHECK(run_attn({"assert", "causal(weights)"}).code == 1);
    CHECK(run_attn({"assert", "causal(weights)", "walk", "--causal"}).code == 0);
    CHECK(run_attn({"encoder", "--assert", "row_sums(weights) = 1"}).code == 0);
    CHECK(run_attn({"encoder", "--single", "--assert", "row_sums(weights) = 1", "--tolerance", "1e-6"}).code == 0);
    refuses({"assert", "casual(weights) = 1"}, "did you mean 'causal'");
    refuses({"assert", ""}, "there is no law");
    refuses({"assert", "weights = 1", "--tolerance", "-1"}, "--tolerance");
    refuses({"tokenize", "a", "--assert", "weights = 1"}, "has no option '--assert'");
    refuses({"assert", "weights = 1", "--as", "weights"}, "--as belongs to --trace FILE");
  }

  TEST_CASE("a law that fails is told with its cell and how that came about") {
    const ProcessResult failed = run_attn({"assert", "causal(weights); row_sums(weights) = 1"});
    CHECK(failed.code == 1);
    for (const char* part : {"1 of 2 laws does not hold.", "weights[Thinking,Machines] is 0.1192. It should be 0",
                             "The law fails in 1 of 4 places.", "row_sums(weights) = 1 holds for weights.",
                             "How weights[Thinking,Machines] came about", "weights[1,2] = exp("})
      check_has(in_one_line(failed.out), part);
    check_has(run_attn({"assert", "causal(weights)"}).out, "The law does not hold.");
    check_has(run_attn({"assert", "causal(weights)", "--format", "json"}).out, "\"cells_broken\"");
  }

  TEST_CASE("a document holds laws below a block, and a law that fails is told with its line") {
    const auto document = [](const std::string& laws) {
      return read_document("```attn\nattn walk --only weights\n```\n" + laws + "\n", "a.md");
    };
    const auto broken_of = [&](const std::string& laws) {
      const std::vector<BlockOutput> outputs = outputs_of(document(laws), block_runner());
      return outputs.front().broken_laws;
    };
    CHECK(broken_of("<!-- attn:law row_sums(weights) = 1; finite(weights) -->").empty());
    const std::vector<BrokenLaw> one =
        broken_of("<!-- attn:law row_sums(weights) = 1 -->\n<!-- attn:law causal(weights) -->");
    REQUIRE(one.size() == 1);
    CHECK(one.front().line == 5);
    check_has(one.front().says, "the law 'causal(weights)' does not hold: weights[Thinking,Machines] is 0.1192.");
    // Outputs are put between a block and its laws, and cleaned away without them.
    const std::string updated = with_outputs(document("<!-- attn:law finite(weights) -->"),
                                             outputs_of(document("<!-- attn:law finite(weights) -->"), block_runner()));
    check_has(updated, "<!-- /attn:output -->\n<!-- attn:law finite(weights) -->\n");
    CHECK(without_outputs(read_document(updated, "a.md")) == bytes_of(document("<!-- attn:law finite(weights) -->")));
    CHECK(read_document(updated, "a.md").commands.front().laws.size() == 1);
    check_refused({
        {"a.md:4: unknown matrix 'weihgts'", [&] { broken_of("<!-- attn:law weihgts = 1 -->"); }},
        {"a.md:4: there is no law", [&] { broken_of("<!-- attn:law -->"); }},
        {"has no block above it", [] { read_document("<!-- attn:law a = 1 -->\n", "a.md"); }},
        {"the command above has no matrices",
         [] {
           const Document without = read_document("```attn\nattn lesson list\n```\n<!-- attn:law a = 1 -->\n", "a.md");
           outputs_of(without, block_runner());
         }},
    });
  }

  TEST_CASE("attn docs check fails where a law does not hold") {
    const TemporaryFolder folder;
    const std::string path = folder.path("a.md");
    const auto check = [&](const std::string& laws) {
      std::ofstream(path) << "```attn\nattn walk --only weights\n```\n" << laws << "\n";
      accepted({"docs", "update", path});
      return run_attn({"docs", "check", path});
    };
    const ProcessResult good = check("<!-- attn:law row_sums(weights) = 1 -->");
    CHECK(good.code == 0);
    check_has(good.out, "All laws hold: 1 line.");
    std::ofstream(path, std::ios::app) << "<!-- attn:law causal(weights) -->\n";
    const ProcessResult bad = run_attn({"docs", "check", path});
    CHECK(bad.code == 1);
    check_has(in_one_line(bad.out), "the law 'causal(weights)' does not hold: weights[Thinking,Machines] is 0.1192.");
    refuses({"docs", "update", path}, "the law 'causal(weights)' does not hold");
  }

  TEST_CASE("laws are held to the matrices of a file") {
    const TemporaryFolder folder;
    const auto file = [&](const std::string& name) { return folder.path(name); };
    for (const char* name : {"walk.json", "walk.npz", "walk.safetensors"}) {
      CAPTURE(name);
      accepted({"walk", "-o", file(name)});
      CHECK(run_attn({"assert", "row_sums(weights) = 1", "--trace", file(name)}).code == 0);
      CHECK(run_attn({"assert", "row_sums(weights) = 2", "--trace", file(name)}).code == 1);
      refuses({"assert", "weights = 1", "--trace", file(name), "--as", "weights"}, "leave out --as");
    }
    for (const char* name : {"w.npy", "w.csv", "w.tsv"}) {
      CAPTURE(name);
      accepted({"walk", "--only", "weights", "-o", file(name)});
      CHECK(run_attn({"assert", "row_sums(w) = 1", "--trace", file(name)}).code == 0);
      CHECK(run_attn({"assert", "causal(weights)", "--trace", file(name), "--as", "weights"}).code == 1);
    }
    CHECK(run_attn({"assert", "row_sums(weights) = 1", "--trace", file("walk.npz:weights")}).code == 0);
    CHECK(run_attn({"assert", "row_sums(z) = 1", "--trace", file("walk.npz:weights"), "--as", "z"}).code == 0);
    CHECK(run_attn({"assert", "row_sums(z) = 1", "--trace", file("walk.npz:scores"), "--as", "z"}).code == 1);
    std::ofstream(file("all.csv")) << accepted({"walk", "--format", "csv"}).out;
    CHECK(run_attn({"assert", "row_sums(weights) = 1", "--trace", file("all.csv")}).code == 0);
    refuses({"assert", "row_sums(weights) = 1", "--trace", file("all.csv"), "--as", "weights"},
            "all.csv names its matrices: leave out --as");
    refuses({"assert", "weights = 1", "--trace", file("none.npz")}, "none.npz");
    refuses({"assert", "weights = 1", "--trace", file("walk.npz"), "--causal"}, "leave out --causal");
  }

  TEST_CASE("a law that only the rounding of a file's numbers breaks is told with its tolerance") {
    const TemporaryFolder folder;
    const std::string path = folder.path("w.npy");
    const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }";
    std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
    for (int i = 0; i < 3; ++i) bytes += "\xAB\xAA\xAA\x3E";  // 1/3
    std::ofstream(path, std::ios::binary) << bytes;
    const ProcessResult failed = run_attn({"assert", "row_sums(weights) = 1", "--trace", path, "--as", "weights"});
    CHECK(failed.code == 1);
    check_has(in_one_line(failed.out), "has float32 numbers. With --tolerance 1e-6");
    const Words again = {"assert", "row_sums(weights) = 1", "--trace", path, "--as", "weights", "--tolerance", "1e-6"};
    CHECK(run_attn(again).code == 0);
    const ProcessResult wrong = run_attn({"assert", "row_sums(weights) = 2", "--trace", path, "--as", "weights"});
    CHECK(in_one_line(wrong.out).find("--tolerance 1e-6") == std::string::npos);
  }

  TEST_CASE("causal is of as many columns as rows, and a mask of another shape has a law of its own") {
    refuses({"assert", "causal(weights)", "walk", "--n-q", "2", "--n-k", "3", "--causal"},
            "for the mask here, write 'weights * (1 - mask) = 0'");
    const Words line = {"assert", "weights * (1 - mask) = 0", "walk", "--n-q", "2", "--n-k", "3", "--causal"};
    CHECK(run_attn(line).code == 0);
  }
}
