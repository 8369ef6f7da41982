#include <doctest/doctest.h>
#include <fmt/format.h>

#include "command/docs.hpp"
#include "core/support/error.hpp"
#include "golden.hpp"
#include "process.hpp"
#include "school/lesson/lesson.hpp"
#include "school/lesson/lint.hpp"
#include "school/puzzle/trial.hpp"
#include "terminals.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

using Lines = std::vector<std::string>;

Trial tried_with(const Puzzle& puzzle, const Lines& lines) {
  Settings settings = settings_at_start(puzzle);
  for (const std::string& line : lines) assign(puzzle, line, settings);
  return trial_of(puzzle, settings, block_runner());
}

// Every miss on every input, one after the other.
std::string misses_in(const Trial& trial) {
  std::string all;
  for (const PropertyVerdict& verdict : trial.verdicts) {
    for (const Miss& miss : verdict.misses) all += miss.says + "\n";
  }
  for (const std::string& says : trial.notes) all += says + "\n";
  return all;
}

// Numbers that solve a puzzle, others that do, and some that nearly do, with a part of what is said of them.
struct Tried {
  std::string_view puzzle;
  Lines solution, other;
  Lines near;
  std::string_view says;
};

const std::vector<Tried>& all_tried() {
  static const std::vector<Tried> rows = {
      {"three-quarters",
       {"scores = 0 -log(3)"},
       {"scores = 5 3.9013877"},
       {"scores = 1 0"},
       "Query 1 gives \"cat\" the weight 0.73. It should be 0.75, give or take 0.005."},
      {"third-key",
       {"q = -4 -4 3"},
       {"q = 0 0 9"},
       {"q = 0 0 3"},
       "\"query\" gives \"sat\" the weight 0.87. It should be at least 0.9."},
      {"average",
       {"w_q = 0 0; 0 0"},
       {"w_q = 1e-4 0; 0 -1e-4"},
       {"w_q = 0.05 0; 0 0.05"},
       "It should be 0.25, give or take 0.01."},
      {"mask", {"mask = 1 1 1 0 0"}, {"mask = 0.5 0.5 0.5 -1e9 -1e9"}, {"mask = 1 1 1 0 1"}, "\"pad\" (key 5)"},
      {"entropy",
       {"scale = 2.3"},
       {"scale[1,1] = 2.5"},
       {"scale = 1"},
       "The weights are too unequal. A larger divisor makes the scores more alike."},
      {"first-word",
       {"w_q = 2; 2; 2; 2", "w_k = 9; 1; 1; 1"},
       {"w_q = -1; -1; -2; -1", "w_k = -9; 0; 0; 0"},
       {"w_q = 1; 1; 1; -1", "w_k = 8; 0; 0; 0"},
       "\"down\" gives \"the\" the weight 0.0001. It should be at least 0.9."},
      {"copy",
       {"w_q = 9 0 0; 0 9 0; 0 0 9", "w_v = 1 0 0; 0 1 0; 0 0 1"},
       {"w_q = 0 -12 -12; -12 0 -12; -12 -12 0", "w_v = 1 0 0; 0 1 0; 0 0 1"},
       {"w_q = 9 0 0; 0 9 0; 0 0 9", "w_v = 1 0 0; 0 0.9 0; 0 0 1"},
       "output[cat,2] is 0.89. It should be 1, give or take 0.05."},
      {"look-back",
       {"w_q = 0 0 0 0; 7 0 0 0; 0 7 0 0; 0 0 7 0"},
       {"w_q = 9 0 0 0; 0 9 0 0; 0 0 9 0; 0 0 0 9", "w_k = 0 1 0 0; 0 0 1 0; 0 0 0 1; 0 0 0 0"},
       {"w_q = 0 0 0 0; 7 0 0 0; 0 7 0 0; 0 0 0 7"},
       "\"down\" attends most to itself (1.00). It should attend to \"sat\": that weight is 0.001, and "
       "should be at "
       "least 0.9."},
      {"reverse",
       {"w_q = 0 0 0 7; 0 0 7 0; 0 7 0 0; 7 0 0 0"},
       {"w_q = 9 0 0 0; 0 9 0 0; 0 0 9 0; 0 0 0 9", "w_k = 0 0 0 1; 0 0 1 0; 0 1 0 0; 1 0 0 0"},
       {"w_q = 7 0 0 0; 0 7 0 0; 0 0 7 0; 0 0 0 7"},
       "Each position attends to itself. Turn the rows of one matrix around."},
      {"ignore-padding",
       {"w_q = 1; 0", "w_k = 3; -12"},
       {"w_q = -1; 0", "w_k = 0; 12"},
       {"w_q = 1; 0", "w_k = 0; -3"},
       "It should be at most 0.01."},
      {"two-heads",
       {"w_q = 0 0 0 7 0 0; 7 0 0 0 7 0; 0 7 0 0 0 7"},
       {"w_q = 3 0 0 0 -8 -8; 9 0 0 -8 0 -8; 0 9 0 -8 -8 0"},
       {"w_q = 7 0 0 7 0 0; 7 0 0 0 7 0; 0 0 7 0 0 7"},
       "In head 1, \"sat\" attends most to itself"},
      {"absolute-value",
       {"w_1 = -2 2", "w_2 = 0.5; 0.5"},
       {"w_1 = 1 -4", "w_2 = 1; 0.25"},
       {"w_1 = 1 1", "w_2 = 1; 0"},
       "feed_forward[1,1] is 0. It should be 3, give or take 0.01."},
      {"xor",
       {"w_1 = 1 1; 1 1", "b_1 = 0 -1", "w_2 = 1; -2"},
       {"w_1 = 1 -1; -1 1", "b_1 = 0 0", "w_2 = 1; 1"},
       {"w_1 = 1 1; 1 1", "b_1 = 0 0", "w_2 = 1; 0"},
       "This adds both numbers."},
      {"maximum",
       {"w_1 = 1 0 0; -1 1 -1", "w_2 = 1; 1; -1"},
       {"w_1 = -1 1 -1; 1 0 0", "w_2 = 1; 1; -1"},
       {"w_1 = 1 0 0; -1 1 0", "w_2 = 1; 1; 0"},
       "It should be -1, give or take 0.01."},
      {"rotation",
       {"w_q = 300*cos(1) 300*sin(1); -300*sin(1) 300*cos(1)"},
       {"w_q = 400 0; 0 400", "w_k = cos(1) -sin(1); sin(1) cos(1)"},
       {"w_q = 20*cos(1) 20*sin(1); -20*sin(1) 20*cos(1)"},
       "It should be at least 0.9."},
      {"residual",
       {"w_q = 0 0 0 9; 0 0 0 9; 0 9 0 0; 0 0 0 9", "w_v = 7 0 0 0; 0 1 0 0; 5 0 0 0; 0 0 0 0"},
       {"w_q = 9 0 0 0; 0 0 9 0; 0 9 0 0; 0 0 0 9", "w_v = 0 0 0 0; 0 1 0 0; 0 0 0 0; 0 0 0 0"},
       {"w_q = 9 0 0 0; 0 9 0 0; 0 9 0 0; 0 0 0 9", "w_v = 0 0 0 0; 0 1 0 0; 0 0 0 0; 0 0 0 0"},
       "x[animal,2] + output[animal,2] is 2.00. It should be 1, give or take 0.05."},
      {"induction",
       {"w_k = 0 0 0; 0 0 0; 0 0 0; 2 0 0; 0 2 0; 0 0 2", "w_v = 1 0 0; 0 1 0; 0 0 1; 0 0 0; 0 0 0; 0 0 0"},
       {"w_k = -1 0 0; 0 -1 0; 0 0 -1; 1 0 0; 0 1 0; 0 0 1", "w_v = 1 0 0; 0 1 0; 0 0 1; 0 0 0; 0 0 0; 0 0 0"},
       {"w_k = 1 0 0; 0 1 0; 0 0 1; 0 0 0; 0 0 0; 0 0 0", "w_v = 1 0 0; 0 1 0; 0 0 1; 0 0 0; 0 0 0; 0 0 0"},
       "Its key has to be the word before, not the word itself."},
      {"beyond-values",
       {"weights = 0 -1/4 5/4"},
       {"weights = -0.6 0.5 1.1"},
       {"weights = 0 0 7/6"},
       "With a larger sum, no weight needs to be negative."},
      {"near-or-long",
       {"k = 0 1; 9 -2"},
       {"k = 1.5 0.5; 3 3"},
       {"k = 1 1; 2 2"},
       "Move the first key nearer to (1, 1), or the second one away."},
      {"dictionary",
       {"w_k = 6 0 0; 0 0 6; 0 6 0"},
       {"w_q = 0 -9 -9; -9 -9 0; -9 0 -9"},
       {"w_q = 9 0 0; 0 9 0; 0 0 9"},
       "\"white\" attends most to \"maison\" (0.99). It should attend to \"blanche\""},
      {"relative-bias",
       {"position_table = -9 0 -9 -9 -9"},
       {"position_table = 1 7.5 2 0 1"},
       {"position_table = 0 4 0 0 0"},
       "The word before has most of the weight already. Make the difference to the other numbers larger."},
      {"nothing-to-gain",
       {"w_v = 1 2; -2 2"},
       {"w_v = 0 0; 5 -5"},
       {"w_v = 1 2; 0.5 -0.5"},
       "The first numbers of both values are too near."},
      {"average-value",
       {"scores = log(4) 1 0"},
       {"scores = 3+log(4) 4.5 3"},
       {"scores = 0 8 0"},
       "Query 1 gives \"twenty\" the weight 1.00. It should be at most 0.8."},
  };
  return rows;
}

// What is said of a block of these lines.
std::string refused(const std::string& lines) {
  return refusal([&] {
    const Document document = read_document("```puzzle\n" + lines + "```\n", "a.md");
    read_puzzle(document, document.puzzles.front());
  });
}

const std::string own = R"(title: My own
ask: Make the first weight large.
on: attn softmax
set: scores 1x3
holds: weights[1,1] > 0.9
hint: Make the first score large.
solution: scores = 5 0 0
)";

}  // namespace

TEST_CASE("a command of a puzzle that takes none of its numbers is told with its line and as it is written") {
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "p.md", "```puzzle\ntitle: t\nask: a?\non: attn generate\nset: w_q 2x2\nholds: weights[1,1] > 0.5\n```\n");
  const ProcessResult finished = run_attn({"puzzle", path, "--no-input"});
  CHECK(finished.code == 2);
  for (const char* part : {"p.md:4: on: attn generate, to which the numbers to set are added: ", "--wq"})
    CHECK_MESSAGE(finished.errors.find(part) != std::string::npos, finished.errors);
}

TEST_CASE("every puzzle is solved by two different solutions and its author's") {
  CHECK(all_tried().size() == puzzle_files().size());
  for (const Tried& row : all_tried()) {
    CAPTURE(row.puzzle);
    const Puzzle puzzle = find_puzzle(std::string(row.puzzle));
    CHECK(row.solution != row.other);
    CHECK(row.other != puzzle.solution);
    for (const Lines& lines : {row.solution, row.other, puzzle.solution}) {
      const Trial trial = tried_with(puzzle, lines);
      CHECK_MESSAGE(trial.is_solved(), misses_in(trial));
      CHECK(trial.notes.empty());
    }
  }
}

TEST_CASE("a near miss of every puzzle is refused with the reason") {
  for (const Tried& row : all_tried()) {
    CAPTURE(row.puzzle);
    const Trial trial = tried_with(find_puzzle(std::string(row.puzzle)), row.near);
    CHECK(!trial.is_solved());
    const std::string says = misses_in(trial);
    CHECK_MESSAGE(says.find(row.says) != std::string::npos, says);
  }
}

TEST_CASE("puzzles that are built in have nothing that their author has to mend") {
  for (const Puzzle& puzzle : built_in_puzzles()) {
    CAPTURE(puzzle.name);
    CHECK(faults_of(puzzle, block_runner()).empty());
    CHECK(!puzzle.title.empty());
    CHECK(!puzzle.level.empty());
  }
}

TEST_CASE("numbers of a puzzle are read as people type them") {
  CHECK(read_numbers("1 0; 0 1", "w", {2, 2}) == read_numbers("[[1,0],[0,1]]", "w", {2, 2}));
  CHECK(read_numbers("1/2, 2*cos(0)", "w", {1, 2})(0, 1) == 2.0);
  CHECK(read_numbers("1; 2;", "w", {2, 1})(1, 0) == 2.0);
  for (const char* text : {"", "1", "1 2 3", "1 2; 3 4", "1 x", "nan 1", "inf 0", "1e999 0", "1 \"a\"", "1/0 0"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(read_numbers(text, "w", {1, 2}), InputError);
  }
}

TEST_CASE("one matrix needs no name and one row or column one number") {
  const auto set = [](const char* name, const Lines& lines) {
    const Puzzle puzzle = find_puzzle(name);
    Settings settings = settings_at_start(puzzle);
    for (const std::string& line : lines) assign(puzzle, line, settings);
    return settings;
  };
  CHECK(set("three-quarters", {"3 0"}) == set("three-quarters", {"scores = 3 0"}));
  CHECK(set("three-quarters", {"[[3, 0]]"}) == set("three-quarters", {"scores[1] = 3"}));
  CHECK(set("entropy", {"2.4"}) == set("entropy", {"scale = 2.4"}));
  CHECK(set("first-word", {"w_k[3] = 1/2"}) == set("first-word", {"w_k[3,1] = 0.5"}));
  CHECK(set("average", {"w_q = 1 0;\n 0 2"}) == set("average", {"w_q = 1 0; 0 2"}));
}

TEST_CASE("what says nothing of what is set is answered with the forms and the names") {
  const auto answer = [](const char* name, const char* line) {
    const Puzzle puzzle = find_puzzle(name);
    Settings settings = settings_at_start(puzzle);
    return refusal([&] { assign(puzzle, line, settings); });
  };
  CHECK(answer("three-quarters", "back") ==
        "'back' sets nothing: give all numbers of scores, such as scores = 0 0, or one of them, such as "
        "scores[1,1] = 3");
  CHECK(answer("first-word", "3 0").find("all numbers of w_q or w_k, such as w_q = 0; 0; 0; 0, or one") !=
        std::string::npos);
  CHECK(answer("three-quarters", "1 2 3") == "scores has 2 columns, and row 1 has 3: write scores = 0 0");
  CHECK(answer("xor", "w_q = 1") == "'w_q' cannot be set: set one of w_1, b_1 and w_2");
}

TEST_CASE("what cannot be set is refused in one sentence and sets nothing") {
  const Puzzle puzzle = find_puzzle("look-back");
  for (const char* line : {"", "w_q", "= 1", "w_v = 1", "w_q = 1 2; 3 4", "w_q[5,1] = 1", "w_q[1] = 1", "w_q[0,1] = 1",
                           "w_q[1,1 = 1", "w_q[1,1] = nan", "w_q[1,1] = 1e400", "w_q[1,1] ="}) {
    CAPTURE(line);
    Settings settings = settings_at_start(puzzle);
    CHECK_THROWS_AS(assign(puzzle, line, settings), InputError);
    CHECK(settings == settings_at_start(puzzle));
  }
}

TEST_CASE("huge numbers solve nothing that they do not give") {
  for (const PuzzleFile& file : puzzle_files()) {
    CAPTURE(file.name);
    const Puzzle puzzle = find_puzzle(std::string(file.name));
    Settings settings = settings_at_start(puzzle);
    for (Matrix& matrix : settings) matrix = Matrix(matrix.shape(), 1e308);
    bool is_solved = false;
    try {
      is_solved = trial_of(puzzle, settings, block_runner()).is_solved();
    } catch (const InputError& error) {
      CHECK(std::string_view(error.what()).size() > 20);  // a sentence
    }
    CHECK(!is_solved);
  }
}

TEST_CASE("attn puzzle tells by its exit code whether numbers solve a puzzle") {
  CHECK(run_attn({"puzzle", "1", "--set", "scores = log(3) 0"}).code == 0);
  CHECK(run_attn({"puzzle", "three-quarters", "--set", "scores = 1 0"}).code == 1);
  CHECK(run_attn({"puzzle", "1", "--set", "scores = 1 0", "--set", "scores[1,1] = log(3)"}).code == 0);
  CHECK(run_attn({"puzzle", "1", "--set", "scores = 1"}).code == 2);
  CHECK(run_attn({"puzzle", "99"}).code == 2);
  CHECK(run_attn({"puzzle", "nothing"}).code == 2);
  CHECK(run_attn({"puzzle", "--set", "scores = 1 0"}).code == 2);
  const TemporaryFolder folder;
  const std::string answers = folder.write("a.txt", "# mine\nw_1 = -2 2\n\nw_2 = 0.5; 0.5\n");
  CHECK(run_attn({"puzzle", "absolute-value", "--answers", answers}).code == 0);
  const std::string mine = folder.write("a.md", "# Mine\n\n```puzzle\n" + own + "```\n");
  CHECK(run_attn({"puzzle", mine, "--set", "scores = 4 0 0"}).code == 0);
  CHECK(run_attn({"puzzle", mine, "--set", "scores = 2 0 0"}).code == 1);
  const std::string none = folder.write("b.md", "# None\n");
  CHECK(run_attn({"puzzle", none}).code == 2);
}

TEST_CASE("a puzzle that is solved on the command line is marked and a judged file is not") {
  const TemporaryFolder folder;
  const std::string state = folder.path("new/state.json"), answers = folder.write("a.txt", "log(3) 0\n");
  const auto is_marked = [&] { return has(run_attn({"puzzle", "--state", state}).out, "✓  1 "); };
  CHECK(run_attn({"puzzle", "1", "--set", "1 0", "--state", state}).code == 1);
  CHECK(run_attn({"puzzle", "1", "--answers", answers, "--state", state}).code == 0);
  CHECK(!is_marked());
  CHECK(run_attn({"puzzle", "1", "--set", "log(3) 0", "--state", state, "--format", "json"}).code == 0);
  CHECK(is_marked());
  const std::string other = folder.write("other.json", "[1]\n");
  const ProcessResult solved = run_attn({"puzzle", "1", "--set", "log(3) 0", "--state", other});
  CHECK(solved.code == 0);
  CHECK(has(solved.out, "Solved."));
  CHECK(has(solved.errors, "is not a file of progress"));
  CHECK(bytes_of(other) == "[1]\n");
  const std::string damaged = folder.write("damaged.json", "");
  const ProcessResult again = run_attn({"puzzle", "1", "--set", "log(3) 0", "--state", damaged});
  CHECK(has(again.errors, "was damaged. It is now called"));
  CHECK(has(bytes_of(damaged), "three-quarters"));
  const ProcessResult without = run_attn({"puzzle", "1", "--set", "log(3) 0"});  // where there is no home
  CHECK(without.code == 0);
  CHECK(without.errors.empty());
}

TEST_CASE("a property whose ranges are empty is refused") {
  const TemporaryFolder folder;
  std::string lines = own;
  lines.replace(lines.find("weights[1,1] > 0.9"), std::string_view("weights[1,1] > 0.9").size(),
                "weights[1,i] > 0.9 for i = 3..2");
  const std::string mine = folder.write("a.md", "```puzzle\n" + lines + "```\n");
  for (const Words& words : {Words{"puzzle", mine}, Words{"puzzle", mine, "--set", "scores = 5 0 0"}}) {
    const ProcessResult refused = run_attn(words);
    CHECK(refused.code == 2);
    CHECK(has(refused.errors, "for i = 3..2' compares nothing: its range is empty"));
  }
}

TEST_CASE("the pages of puzzles are the golden ones") {
  check_golden("puzzles.txt", run_attn({"puzzle"}).out, Tolerance::last_digit);
  check_golden("puzzle.txt", run_attn({"puzzle", "two-heads", "--no-input"}).out, Tolerance::last_digit);
  const std::string near = "w_q = 7 0 0 7 0 0; 7 0 0 0 7 0; 0 0 7 0 0 7";
  check_golden("puzzle-near.txt", run_attn({"puzzle", "two-heads", "--set", near}).out, Tolerance::last_digit);
  check_golden("puzzle-near.json", run_attn({"puzzle", "two-heads", "--set", near, "--format", "json"}).out,
               Tolerance::relative);
}

TEST_CASE("a try at a puzzle is told as JSON") {
  const ProcessResult tried = run_attn({"puzzle", "1", "--set", "scores = 1 0", "--format", "json"});
  CHECK(tried.code == 1);
  CHECK(tried.out.find("weights[1,1] = 0.75 ± 0.005") != std::string::npos);
  CHECK(tried.out.find("Query 1 gives \\\"cat\\\" the weight 0.73") != std::string::npos);
}

TEST_CASE("a property compares quantities at places") {
  const Puzzle puzzle = find_puzzle("look-back");
  const Trial start = trial_of(puzzle, settings_at_start(puzzle), block_runner());
  const Graph& graph = *start.graphs.front();
  CHECK(misses_of(read_property("weights[i,j] = 1/4 for i = 1..n_q, j = 1..n_k"), graph).empty());
  CHECK(misses_of(read_property("weights[i,j] < 1/4 for i = 1..3, j = 1..i"), graph).size() == 6);
  CHECK(misses_of(read_property("entropy(weights[i-1]) = 2 for i = 2..5"), graph).empty());
  CHECK(misses_of(read_property("sum(v[i]) = log(exp(sum(v[i-1]))) + 1 for i = 2..n_q"), graph).empty());
  CHECK(misses_of(read_property("x[\"cat\",cat] = 1 for cat = 2..2"), graph).empty());
  CHECK(misses_of(read_property("x[i,i] = e - e + 1 ± 0 for i = 1..2, e = i..i"), graph).empty());
  CHECK(misses_of(read_property("shape(x) = shape(w_q)"), graph).empty());
  CHECK(misses_of(read_property("x[cat,2] = 1 +- 0"), graph).empty());
  CHECK(misses_of(read_property("sum(v[i]) = i ± 0 for i = 1..4"), graph).empty());
  CHECK(misses_of(read_property("most(x[2]) = \"cat\""), graph).size() == 1);
  const std::vector<Miss> tied = misses_of(read_property("most(weights[i]) = \"cat\" for i = 1..2"), graph);
  REQUIRE(tied.size() == 2);
  CHECK(tied.front().says == "'the' and 'cat' are tied at 0.25. One of them should be ahead.");
  for (const char* text : {"weights", "weights[1,1] >", "= 1", "weights[1,1] > 0.5 ± 0.1", "weights[1,1] = 1 ± x",
                           "weights[1,1] = 1 for i", "weights[1,1] = 1 for 1 = 1..2"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(read_property(text), InputError);
  }
  for (const char* text : {"wights[1,1] = 1", "weights[9,1] = 1", "weights[i,1] = 1 for i = 0..2", "x[1,1] = \"a\"",
                           "weights[i,1] = 1 for i = 1..1000000", "weights[i/2,1] = 1 for i = 1..2",
                           "weights[1,1] = 1 for", "weights[i,1] = 1 for i = 3..2",
                           "weights[i,j] = 1 for i = 1..4, j = 5..i", "weights[i-cat,1] = 1 for i = 1..2"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(misses_of(read_property(text), graph), InputError);
  }
}

TEST_CASE("a block of a puzzle that cannot be one is refused with its line") {
  CHECK(refused(own) == "(it was accepted)");
  CHECK(refused("name: look-back\n") == "(it was accepted)");
  CHECK(refused("name: look-bak\n").find("did you mean 'look-back'") != std::string::npos);
  CHECK(refused("").find("a.md:1: ") == 0);
  CHECK(refused("ask: A task\n").find("give it a line on:") != std::string::npos);
  for (const char* line : {"colour: red\n", "title: Again\n", "set: w_q\n", "set: w_q 4\n", "set: w_q 0x4\n",
                           "set: w_q 2x2 = 1\n", "set: w_x 2x2\n", "set: heads 1x1\n", "set: scores 1x3\n",
                           "holds: weights\n", "note: weights[1,1] > 1\n", "level: soft\n", "name: mine\n"}) {
    CAPTURE(line);
    CHECK(refused(own + line).find("a.md:") == 0);
  }
}

TEST_CASE("attn lesson check knows what is wrong with a puzzle") {
  const auto faults_with = [](std::string block) {
    std::string all;
    const std::string lesson = "---\ntitle: A\n---\n```puzzle\n" + block + "```\n";
    for (const std::string& fault : check_lesson(lesson, "a.md", block_runner()).faults) all += fault + "\n";
    return all;
  };
  const auto with = [](std::string_view old_line, std::string_view new_line) {
    std::string lines = own;
    lines.replace(lines.find(old_line), old_line.size(), new_line);
    return lines;
  };
  CHECK(faults_with(own).find("puzzle") == std::string::npos);
  CHECK(faults_with(with("scores = 5 0 0", "scores = 0 5 0")).find("the solution is none") != std::string::npos);
  CHECK(faults_with(with("weights[1,1] > 0.9", "weights[1,1] > 0.1")).find("solved before anything is set") !=
        std::string::npos);
  CHECK(faults_with(with("hint: Make the first score large.\n", "")).find("no hint") != std::string::npos);
  CHECK(faults_with(with("solution: scores = 5 0 0\n", "")).find("no solution") != std::string::npos);
  CHECK(faults_with(with("weights[1,1]", "wights[1,1]")).find("wights") != std::string::npos);
  CHECK(faults_with(own + "show: wights\n").find("wights") != std::string::npos);
  const std::string ones = fmt::format("weights[1,1] > {}0 for i = 1..10000", std::string(4000, ' '));
  std::string many;
  for (int i = 0; i < 50; ++i) many += "holds: " + ones + "\n";
  CHECK(faults_with(own + many).find("multiply-adds") != std::string::npos);
}

TEST_CASE("the puzzle that the documentation shows is one") {
  const std::string path = std::string(ATTN_SOURCE_FOLDER) + "/docs/lessons.md";
  CHECK(faults_of(find_puzzle(path), block_runner()).empty());
}

TEST_CASE("a lesson shows and exports its puzzles") {
  const TemporaryFolder folder;
  const std::string lesson = folder.write(
      "a.md", "---\ntitle: A\n---\nFirst.\n\n```puzzle\nname: look-back\n```\n\n```puzzle\n" + own + "```\n");
  for (const Words& words : {Words{"lesson", "show", lesson}, Words{"lesson", "run", lesson, "--no-input"},
                             Words{"lesson", "export", lesson}}) {
    const ProcessResult shown = run_attn(words);
    CHECK(shown.code == 0);
    CHECK(shown.out.find("Each row of x is a position") != std::string::npos);
    CHECK(shown.out.find("Make the first weight large.") != std::string::npos);
  }
}

TEST_CASE("a puzzle is played at a terminal and marked when it is solved" * needs_terminals()) {
  const TemporaryFolder folder;
  const std::string state = folder.path("state.json");
  const std::string prompt = "quit\r\n> ";
  const ProcessResult played =
      converse_with_attn({"puzzle", "1", "--state", state}, {{prompt, "h\n"},
                                                             {prompt, "scores = 1 0\n"},
                                                             {prompt, "scores = 1\n"},
                                                             {prompt, "2 0\n"},
                                                             {prompt, "back\n"},
                                                             {prompt, "\n"},
                                                             {prompt, "?\n"},
                                                             {prompt, "show\n"},
                                                             {prompt, "a\n"},
                                                             {prompt, "reset\n"},
                                                             {prompt, "scores[1,1]=log(3)\n"}});
  CHECK_MESSAGE(played.code == 0, played.out << played.errors);
  for (const char* what :
       {"Hint 1 of 3", "Not yet.", "scores has 2 columns", "'back' sets nothing", "Try again, or type h for a hint.",
        "type q to quit", "sets one; 1/2", "scores = log(3) 0", "Solved."}) {
    CAPTURE(std::string(what));
    CHECK_MESSAGE(played.out.find(what) != std::string::npos, played.out);
  }
  const ProcessResult listed = run_attn({"puzzle", "--state", state});
  CHECK(listed.out.find("✓  1 ") != std::string::npos);
  CHECK(listed.out.find("✓  2 ") == std::string::npos);
  CHECK(run_attn({"lesson", "reset", "--state", state}).errors.find("1 puzzle") != std::string::npos);
  CHECK(run_attn({"lesson", "reset", "--state", state, "--yes"}).code == 0);
  CHECK(run_attn({"puzzle", "--state", state}).out.find("✓") == std::string::npos);
}

TEST_CASE("a lesson goes on behind a puzzle that is solved or skipped" * needs_terminals()) {
  const TemporaryFolder folder;
  const std::string lesson = folder.write(
      "a.md", "---\ntitle: A\n---\n```puzzle\n" + own + "```\n\n```puzzle\nname: three-quarters\n```\n\nLast.\n");
  const std::string prompt = "quit\r\n> ";
  const ProcessResult taken = converse_with_attn(
      {"lesson", "run", lesson, "--state", folder.path("state.json")},
      {{prompt, "scores = 1 0 0\n"}, {prompt, "scores = 9 0 0\n"}, {prompt, "s\n"}, {prompt, "q\n"}});
  CHECK_MESSAGE(taken.code == 0, taken.out << taken.errors);
  for (const char* what : {"[1/3] scores = …", "Not yet.", "Solved.", "[2/3] scores = …", "Last.", "[3/3]"}) {
    CAPTURE(std::string(what));
    CHECK_MESSAGE(taken.out.find(what) != std::string::npos, taken.out);
  }
}
