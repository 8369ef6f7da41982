#include <doctest/doctest.h>

#include <functional>

#include "command/command.hpp"
#include "commands_tried.hpp"
#include "page/document/document.hpp"

// Sentences that depend on what a computation is, each in the cases that decide what it says.

using namespace attn;

namespace {

std::string said(const Words& words) { return in_one_line(accepted(words).out); }

bool needs_a_file(const Words& words) {
  for (const std::string_view ending : {".csv", ".npy", ".npz", ".json", ".safetensors", ".md", ".html", ".txt"}) {
    for (const std::string& word : words) {
      if (word.find(ending) != std::string::npos) return true;
    }
  }
  return false;
}

// Runs the examples that the help of some commands shows, and returns how many there were.
std::size_t run_examples(const std::function<bool(const Command&)>& is_meant) {
  std::size_t tried = 0;
  for (const Command& command : commands()) {
    if (!is_meant(command)) continue;
    for (const std::string_view example : command.examples) {
      for (const CommandLine& line : command_lines(example, std::string(command.name), 1)) {
        if (needs_a_file(line.words) || line.text.find("--measure") != std::string::npos) continue;
        // Some find that something differs, or that a law does not hold.
        const int code = run_attn(line.words).code;
        const bool may_find = command.subject == &subject::checking || command.subject == &subject::comparing;
        CHECK_MESSAGE((may_find ? code <= 1 : code == 0), line.text);
        ++tried;
      }
    }
  }
  return tried;
}

}  // namespace

TEST_CASE("every example of the commands' help that needs no file is accepted") {
  const auto is_quick = [](const Command& command) {
    // Lessons and documents ask, and write files.
    return command.name != "lesson" && command.name != "docs" && command.name != "train";
  };
  CHECK(run_examples(is_quick) > 50);
}

TEST_CASE("every example of the help on training that needs no file is accepted") {
  CHECK(run_examples([](const Command& command) { return command.name == "train"; }) > 1);
}

TEST_CASE("nothing is said to attend most where all keys are masked or several show the same weight") {
  check_lacks(said({"walk", "--text", "<blank>"}), "attends most");
  check_lacks(said({"softmax", "--scores", "0 0.001; 1 1"}), "attends most");
  check_has(said({"softmax", "--scores", "0 0.1"}), "attends most to key 2 (52");
}

TEST_CASE("the average of heads hides something only where heads prefer different keys") {
  check_has(said({"softmax", "--example", "animal", "--from", "it"}), "The average does not show");
  check_lacks(said({"softmax", "--example", "animal", "--from", "The"}), "The average does not show");
  check_lacks(said({"softmax", "--text", "<blank> b", "--causal", "--heads", "2", "--from", "1"}),
              "The average does not show");
  check_has(said({"softmax", "--example", "animal", "--from", "8"}), "Attention weights from \"it\"");
}

TEST_CASE("a position bias is headed as what it is, alone and with a mask") {
  const Words bias = {"walk", "--text", "a b", "--positions", "relative-bias"};
  check_has(said(bias), "4. Relative position bias A number for the distance");
  const std::string both = said(bias + Words{"--causal"});
  check_has(both, "4. Relative position bias and mask");
  check_has(both, "Masked scores are replaced by −∞");
  check_has(said({"mask", "--scores", "1 2", "--mask", "1 1"}), "no score is replaced");
}

TEST_CASE("one averaging of stacked layers is one section, the last") {
  const std::string walk = said({"walk", "--example", "two-layers"});
  check_has(walk, "13. One averaging (averaging)");
  check_lacks(walk, "14. ");
}

TEST_CASE("an explanation says whether a number was given, is random or follows from a mask") {
  check_has(said({"explain", "x[1,1]", "--text", "a b"}), "x is random (seed 1), not computed");
  check_has(said({"explain", "q[1,1]", "--q", "1", "--k", "1"}), "q is given, not computed");
  check_has(said({"transformer", "--seed", "3", "--explain", "encoder.1.self_attention.w_q[1,1]"}),
            "w_q is random (seed 3), not computed");
  const Words mask = {"explain", "mask[1,1]", "--scores", "1 2; 3 4"};
  check_has(said(mask + Words{"--causal", "--valid-length", "2"}),
            "mask follows from --causal and --valid-length, not computed");
  check_has(said(mask + Words{"--mask", "1 0; 1 1"}), "mask is given, not computed");
}

TEST_CASE("equal words of a memory have equal random vectors, and padding has zeros") {
  const Json page =
      parse_json(accepted({"walk", "--text", "x", "--memory-text", "a b a <blank>", "--format", "json"}).out, "page");
  const Json memory = page["arrays"]["memory"];
  CHECK(memory[0] == memory[2]);
  CHECK(memory[0] != memory[1]);
  for (const Json& cell : memory[3]) CHECK(cell == 0);
}

TEST_CASE("masked cells of transposed weights and of the alignment of a generation are shown as masked") {
  check_has(said({"softmax", "--scores", "1 2; 3 4", "--causal", "--transpose"}), "· masked");
  const std::string generated = said({"generate", "--model", "copy", "--source", "a <blank> b"});
  check_has(generated, "· masked");
  check_lacks(generated, "copies its input");
  check_has(said({"generate", "--model", "copy", "--source", "a b"}), "copies its input");
  check_has(accepted({"generate", "--seed", "1", "--source", "<blank>"}).errors, "every key");
}

TEST_CASE("a kernel that is not searched is said to be replaced") {
  const Words cost = {"cost", "--n", "5", "--d", "8", "--kernel"};
  check_has(said(cost + Words{"9"}), "(The kernel 9 is replaced by 8.)");
  check_has(said(cost + Words{"1"}), "(The kernel 1 is replaced by 2.)");
  check_lacks(said(cost + Words{"3"}), "is replaced by");
}

TEST_CASE("the steps of a word are numbered one after another, whatever is computed") {
  for (const Words& input : {Words{"--scores", "1 2", "--v", "1; 2"}, Words{"--score", "gaussian"}, Words{}}) {
    const std::string walk = said(Words{"walk", "--by-word", "1"} + input);
    std::size_t at = 0, step = 0;
    while ((at = walk.find("Step ", at)) != std::string::npos) {
      check_has(walk.substr(at), "Step " + std::to_string(++step) + ".");
      CHECK(walk.compare(at, 6, "Step " + std::to_string(step)) == 0);
      ++at;
    }
    CHECK(step >= 2);
  }
}

TEST_CASE("a division by something else than the usual divisor is named") {
  check_has(said({"scale", "--q", "1 2", "--k", "1 2; 3 4", "--scale", "sqrt-n"}),
            "Here the scores are divided by √n, with n = 2 keys.");
  check_lacks(said({"scale", "--q", "1 2", "--k", "1 2; 3 4"}), "Here the scores are divided");
}

TEST_CASE("an explanation keeps two decimals at least") {
  check_has(said({"explain", "weights[1,2]", "--precision", "0"}), "0.14 / 1.14 ≈ 0.12");
}

TEST_CASE("an input is said to be equal to a number only where this is the whole number") {
  std::size_t rounded = 0, whole = 0;
  for (const char* number : {"0", "1", "-1", "0.5", "0.25", "0.12345678", "-2.00001", "1e-5", "1.5e-7", "1.2345e-6",
                             "123456.789", "1e12", "1.2345e15", "1e100", "0.3333", "0.33333"}) {
    const std::string told = said({"explain", "x[1,1]", "--x", std::string(number) + " 1", "--wq", "1; 1", "--wk",
                                   "1; 1", "--wv", "1; 1", "--precision", "4"});
    const std::size_t at = told.rfind("x[1,1] ");
    REQUIRE(at != std::string::npos);
    const bool is_equal = told.compare(at + 7, 2, "= ") == 0;
    const std::string shown = told.substr(told.find(' ', at + 7) + 1);
    CHECK_MESSAGE(is_equal == (std::stod(shown) == std::stod(number)), number << ": " << told);
    ++(is_equal ? whole : rounded);
  }
  CHECK(rounded > 4);
  CHECK(whole > 4);
  const Words norm = {"layer-norm", "--x", "1 2", "--explain", "normalised[1,1]", "--epsilon"};
  check_lacks(said(norm + Words{"1.2345e-6"}), "= (1 − mean[1,1]) / √(variance[1,1] + 1.23e-06)");
  check_lacks(said(norm + Words{"1.2345e-6"}), "= −0.5 / √(0.25 + 1.23e-06)");
}

TEST_CASE("one word is followed with the headings and sentences of the walk") {
  const Words input = {"--scores", "10 0", "--v", "0; 1e6", "--multiply", "0.5"};
  const std::string word = said(Words{"walk", "--by-word", "1"} + input), walk = said(Words{"walk"} + input);
  for (const char* sentence : {"Here the scores are multiplied by 0.5.", "Each value is multiplied by its attention"}) {
    check_has(word, sentence);
    check_has(walk, sentence);
  }
  check_lacks(word, "divided");
  check_lacks(word, "contribute almost nothing");
  const std::string bias = said({"walk", "--text", "a b", "--positions", "relative-bias", "--by-word", "1"});
  check_has(bias, "Relative position bias.");
  check_lacks(bias, "Mask");
  const std::string capped = said({"walk", "--scores", "10 0", "--v", "1; 2", "--soft-cap", "5", "--by-word", "1"});
  check_has(capped, "A soft cap keeps the scores between −5 and 5");
  check_has(capped, "capped = ");
}

TEST_CASE("a word that comes twice is named with its number") {
  const std::string walk = said({"walk", "--model", "induction", "--text", "a b c a b"});
  check_has(walk, "\"b\" (query 2) attends most to \"a\" (key 1)");
  const std::string decoder = said({"decoder", "--model", "induction", "--target", "a b c a b"});
  check_has(decoder, "\"b\" (position ");
  check_has(said({"softmax", "--text", "a b a", "--from", "3"}), "Attention weights from \"a\" (query 3)");
  check_has(said({"walk", "--text", "a b a", "--by-word", "3"}), "\"a\" (query 3) as the query");
}

TEST_CASE("what several words share is told of all of them or of none") {
  const std::string animal = said({"page", "--example", "animal"});
  check_has(animal, "attends to “tired” (87\u00A0%) and “too” (4\u00A0%). Each of the other 9 has 1\u00A0%.");
  check_has(said({"page", "--scores", "0 0 0 0 0"}), "attends most to 5 keys, with 20\u00A0% each.");
  check_has(said({"map", "--scores", "1 1 1; 1 1 1"}), "3 more of 0.33");
}

TEST_CASE("a sentence stands only where the computation is what it says") {
  const Words project = {"project", "--x", "4 0", "--wq", "1; 0", "--wk", "1; 0", "--wv", "1; 0"};
  const Words memory = {"--memory", "1 2", "--value-memory", "3 4"};
  check_has(said(project), "Keys and values come from the same words");
  check_lacks(said(project + memory), "Keys and values come from the same words");
  check_lacks(said({"scale", "--score", "gaussian", "--scale", "3"}), "Dot products");
  check_has(said({"pool", "--scores", "1000 -1000"}), "a database lookup (rounded in double precision)");
  const std::string sums = said({"softmax", "--scores", "1 2; 3 4", "--mask", "0 0; 1 1", "--transpose"});
  check_lacks(sums, "Each column sums to one");
  check_lacks(said({"walk", "--q", "1 0; 0 1", "--k", "1 0; 0 1", "--v", "1; 2", "--map"}), "itself");
  check_has(said({"walk", "--x", "1 0; 0 1", "--wq", "9 0; 0 9", "--wk", "1 0; 0 1", "--wv", "1; 2", "--map"}),
            "itself");
  check_lacks(said({"compare-masks", "--scores", "1 2", "--mask", "0 0"}), "lowered");
  refuses({"compare-masks", "--scores", "1 2", "--mask", "0 -inf"}, "the numbers of this one are added to the scores");
  refuses({"softmax", "--q", "1 2", "--k", "3 1e100", "--score", "gaussian", "--score-sigma", "1e-200"},
          "give numbers of moderate size");
  refuses({"weigh", "--weights", "1", "--v", "1; 2"}, "v must have 1 row");
  check_has(said({"influence", "--example", "by-hand", "--of", "output[1,1]"}), "or several paths cancel");
  check_has(said({"help", "influence"}), "the size of the Jacobian of each of its rows");
  const Words back = {"influence", "align", "--seed", "1", "--target", "eins", "--source", "one two three four"};
  check_lacks(said(back + Words{"--variant", "none"}), "Through attention");
  check_has(said(back + Words{"--variant", "none"}), "from the final state into the decoder");
}

TEST_CASE("heads that share keys are told so, and no others") {
  const Words heads = {"heads", "--text", "a b", "--heads", "4", "--d-model", "4", "--kv-heads"};
  check_has(said(heads + Words{"1"}), "Several heads share the same keys and values");
  check_has(said(heads + Words{"2"}), "Several heads share the same keys and values");
  check_lacks(said(heads + Words{"4"}), "Several heads share");
  check_lacks(said({"heads", "--text", "a b", "--text", "c d", "--heads", "2", "--d-model", "4"}),
              "Several heads share");
}

TEST_CASE("what a mask of the encoder output leaves out is what it masks") {
  const Words decoder = {"decoder", "--layers", "1", "--target", "a b"};
  check_has(said(decoder + Words{"--memory-key-mask", "1 1 1"}), "The mask allows all of it.");
  check_has(said(decoder + Words{"--memory-key-mask", "1 0 1"}), "The mask leaves out some of it.");
  check_has(said(decoder + Words{"--memory-valid-length", "0"}), "The mask leaves out all of it");
}

TEST_CASE("the steps of gradients are called what they are") {
  const std::string norm = said({"backward", "layer-norm", "--x", "1 1; 1 2"});
  check_lacks(norm, "Concatenation");
  check_has(said({"backward", "--of", "output[1,1]", "--soft-cap", "1"}), "Back through the soft cap");
  check_has(said({"influence", "--q", "0", "--k", "0;0", "--v", "1;2", "--score", "gaussian"}), "to first order");
}

// --- what an altered computation says

TEST_CASE("a task is held out only from a model that knows its words, which is told before anything is computed") {
  const auto held_out = [](const std::string& command, const std::string& model, const std::string& task) {
    return Words{"what-if", command, "--model", model, "--without", "head 1.1", "--held-out", task};
  };
  const std::string other_words = "this model does not know the words of that task. Give the task that it learned";
  refuses(held_out("encoder", "coreference", "reverse"), "--held-out reverse: " + other_words);
  refuses(held_out("transformer", "names", "induction"), "--held-out induction: " + other_words);
  refuses(held_out("transformer", "induction", "text"), "--held-out text: " + other_words);
  refuses(held_out("transformer", "reverse", "dates"), "--held-out dates: its model is a recurrent one");
  check_has(said(held_out("encoder", "coreference", "coreference")), "200 sentences of the task coreference");
  const std::string help = said({"what-if", "--help"});
  const std::string tasks = help.substr(help.find("TASK of --held-out"));
  check_has(tasks, "coreference");
  check_lacks(tasks, "dates");
  check_lacks(tasks, "pairs");
}

TEST_CASE("of several results it is told which ones change") {
  const Words texts = {"what-if", "--text", "a b", "--text", "c d e"};
  for (const Words& change : {Words{"--without", "mask"}, Words{"--swap", "a,b"}}) {
    const std::string page = said(texts + change);
    check_has(page, "Changed: sentence.1.output. Unchanged, to the last bit: sentence.2.output.");
    check_has(page, "The result: sentence.1.output");
  }
  const std::string align = said({"what-if", "align", "--set", "decoder.1.weights[1,1]=0"});
  check_has(align, "Changed: decoder.1.logits");
  check_lacks(align, "decoder.6.logits is unchanged");
  const std::string pool = said({"what-if", "pool", "--text", "a b", "--set", "x[1,1]=0"});
  check_has(pool, "Changed: output, average.output, look-up.output, sum.output and softmax.output.");
  check_has(said({"what-if", "--text", "a b", "--set", "x[1,1]=0"}), "The result: output");
}

TEST_CASE("what is said of words that cannot be swapped can be done") {
  const Words texts = {"what-if", "--text", "a b", "--text", "c d e", "--swap"};
  refuses(texts + Words{"c,b"}, "c is in sentence.2.x, and b is in sentence.1.x. Give two words that are in the same");
  refuses(texts + Words{"1,2"}, "have both. Give two words that only one of them has");
  refuses(texts + Words{"c,nobody"}, "row 'nobody' of sentence.2.x: there is no such word");
  refuses(texts + Words{"nobody,none"}, "none of sentence.1.x and sentence.2.x has a word or a position nobody");
  const Words model = {"what-if", "transformer", "--source", "x y", "--target", "y x", "--swap", "x,y"};
  refuses(model, "have both. Exchange the words in the text that is given");
}

TEST_CASE("of a number that is a word and a position, what is offered chooses one of them") {
  const auto from = [](const std::string& place) { return Words{"softmax", "--text", "2 2 1", "--from", place}; };
  refuses(from("2"), "2 is position 2, and also the word at position 1. Write 'position 2', or another position");
  refuses(from("\"2\""), "2 have this name. Give a position, such as 'position 1'");
  refuses(from("1"), "1 is position 1, and also the word at position 3. Write '\"1\"' for the word, or 'position 1'");
  accepted(from("position 1"));
  accepted(from("position 2"));
  accepted(from("\"1\""));
  const Words set = {"what-if", "--text", "3 1 2", "--set"};
  check_has(said(set + Words{"x[1,1]=0"}), "It is in the row of \"3\" (row 1).");
  check_has(said(set + Words{"x[position 2,1]=0"}), "It is in the row of \"1\" (row 2).");
  check_lacks(said({"what-if", "--text", "a b", "--set", "x[1,1]=0"}), "It is in");
}

TEST_CASE("a swap and a sweep are headed by what cannot be mistaken for something else") {
  check_has(said({"walk", "--text", "3 1 2", "--swap", "\"1\",\"2\""}), "Positions 2 and 3 swapped");
  check_has(said({"walk", "--text", "a a", "--swap", "1,2"}), "Positions 1 and 2 have the same word");
  const std::string numbers = said({"scale", "--text", "3 1 2", "--sweep", "1"});
  for (const std::string_view heading : {"Query 3 (1)", "Query 1 (2)", "Query 2 (3)"}) check_has(numbers, heading);
  check_has(said({"scale", "--text", "a a", "--sweep", "1"}), "Query a (2)");
  check_has(numbers, "a weight with respect to a divided score");
}

TEST_CASE("nothing is said of options that were not given") {
  const Words patch = {"what-if", "--text", "a b", "--patch", "head.1.weights", "--patch-text", "b a"};
  check_lacks(run_attn(patch).errors, "--head");
  refuses(patch, "--patch head.1.weights: there is no head 1: no matrix here belongs to one head alone");
  refuses({"what-if", "--text", "a b", "--of", "output", "--set", "x[1,1]=0"},
          "--of chooses what --each-head tells, which goes without changes: give --each-head in their place, or leave "
          "out --of");
  refuses({"walk", "--of", "output"},
          "--of belongs to --each-head, --backward or --influence: give one of them, or leave out --of");
  refuses({"walk", "--of", "output", "--what-if", "--set", "x[1,1]=0"},
          "--of belongs to --each-head, --backward or --influence: give one of them, or leave out --of");
  accepted({"walk", "--example", "animal", "--of", "output", "--what-if", "--each-head"});
  const std::string table = said({"explain", "scores[5,1]", "compare-positions"});
  check_has(table, "scores is the result of other computations, not computed here");
}

TEST_CASE("a text that a limit cuts is told as such, and the tables are of all words that go in") {
  const std::string page =
      said({"what-if", "generate", "--model", "names", "--target", "a", "--steps", "1", "--without", "head 1.1"});
  check_has(page, "by the limit of 1 word (--steps), and not by the model");
  check_has(page,
            "The tables below are of the words that are given, and of those that were written before the change.");
}

TEST_CASE("a map counts heads and not sentences, and leaves padding out") {
  const std::string map = said({"map", "--text", "a b", "--text", "c d e"});
  check_has(map, "1 head in 2 sentences, with the labels");
  check_has(map, "Queries that are padding (<blank>) are not counted");
  check_lacks(map, "<blank> → ");
  check_lacks(said({"map", "--text", "a b"}), "padding (");
}

TEST_CASE("a list that a narrow terminal cuts says how many more have the last number") {
  const std::string words = "one two three four five six seven eight nine ten ";
  const std::string cut = said({"softmax", "--text", words + words + words + words + "one", "--width", "48"});
  check_has(cut, " more of ");
}
