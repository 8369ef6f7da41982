#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "core/support/outside.hpp"
#include "data/files/matrix_file.hpp"
#include "process.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

// Runs what must be refused, and returns the one sentence that is said of it.
std::string refusal(const Words& words, const std::string& input = "") {
  const ProcessResult finished = run_attn(words, {.input = input});
  INFO(command_line(words));
  INFO(finished.errors);
  CHECK(finished.code == 2);
  CHECK(finished.out == "");
  CHECK(finished.errors.starts_with("attn: "));
  CHECK(std::ranges::count(finished.errors, '\n') == 1);
  CHECK(finished.errors.ends_with('\n'));
  return finished.errors;
}

// The same, and the sentence has these words.
void refuses(const Words& words, std::string_view expected, const std::string& input = "") {
  const std::string sentence = refusal(words, input);
  CHECK_MESSAGE(sentence.find(expected) != std::string::npos, sentence << "lacks: " << expected);
}

std::string npy_of(const char* matrix) {
  return written_by([&](Sink& sink) { write_npy(read_matrix(matrix).matrix, sink); });
}

// The same file with another shape in its header, of the same length.
std::string with_shape(std::string npy, std::string_view shape) {
  const std::size_t begin = npy.find("'shape': (") + 9, end = npy.find(')', begin) + 1;
  const std::size_t length = npy.find('\n');
  npy.replace(begin, end - begin, shape);
  std::string header = npy.substr(0, npy.find('\n'));
  const std::string data = npy.substr(header.size());
  while (header.size() > length && header.back() == ' ') header.pop_back();
  header.resize(length, ' ');
  return header + data;
}

}  // namespace

TEST_CASE("a file that is not there, or has no names, is told before what it does not say") {
  const TemporaryFolder folder;
  refuses({"encoder", "--parameters", folder.path("none.npz")}, "none.npz: no such file");
  refuses({"show", folder.write("x.bin", "1,2")}, "x.bin is read as csv, and a trace");
}

TEST_CASE("a tensor that is no matrix hides none of the others of its file") {
  const TemporaryFolder folder;
  const std::string header =
      R"({"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"z":{"dtype":"F32","shape":[2,1,2,2],"data_offsets":[8,40]},)"
      R"("e":{"dtype":"F32","shape":[0],"data_offsets":[40,40]},"f":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[40,42]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size() % 256);
  bytes[1] = static_cast<char>(header.size() / 256);
  const std::string path = folder.write("x.safetensors", bytes + header + std::string(42, '\0'));
  const ProcessResult finished = run_attn({"show", path});
  CHECK(finished.code == 0);
  CHECK(finished.out.find("a │  1  2") != std::string::npos);
  for (const char* part : {"'z' is left out", "'e' is left out", "'f' is left out"})
    CHECK_MESSAGE(finished.errors.find(part) != std::string::npos, finished.errors);
}

TEST_CASE("what shows one sentence refuses a batch, and options that would leave each other idle are refused") {
  for (const char* command : {"layer-norm", "positions", "compare-scores"}) {
    refuses({command, "--example", "padding"}, "one sentence");
  }
  refuses({"walk", "--outline", "--by-word", "Thinking"}, "--outline and --by-word");
  refuses({"walk", "--outline", "--transpose"}, "--outline and --transpose");
  refuses({"walk", "--swap", "1,2", "--outline"}, "--swap and --outline");
}

TEST_CASE("a mistyped command, option or name is answered with the nearest one") {
  refuses({"wlak"}, "did you mean 'walk'?");
  refuses({"helpp"}, "did you mean 'help'?");
  refuses({"help", "exmaples"}, "did you mean 'examples'?");
  refuses({"walk", "--hedas", "2"}, "did you mean '--heads'?");
  refuses({"walk", "--hedas=2"}, "did you mean '--heads'?");
  refuses({"walk", "--example", "anmial"}, "did you mean 'animal'?");
  refuses({"examples", "anmial"}, "did you mean 'animal'?");
  refuses({"walk", "--format", "jsn"}, "did you mean 'json'?");
  refuses({"walk", "--only", "wieghts"}, "did you mean 'weights'?");
  refuses({"explain", "wieghts[1,2]"}, "did you mean 'weights'?");
  refuses({"explain", "encoder.1.sum_1[1,2]"}, "attn explain 'encoder.1.sum_1[1,2]' encoder");
  refuses({"walk", "--by-word", "Thinkign"}, "did you mean 'Thinking'?");
  refuses({"scale", "--scale", "sqrtdk"}, "did you mean 'sqrt-dk'?");
  refuses({"walk", "--score", "dto"}, "did you mean 'dot'?");
  refuses({"walk", "--random", "nunpy:1", "--text", "a"}, "did you mean 'numpy'?");
}

TEST_CASE("a word far from all names is answered with the names") {
  refuses({"frobnicate"}, "attn help lists all of them");
  refuses({"walk", "--example", "zebra"}, "thinking-machines, animal");
  refuses({"walk", "--format", "pdf"}, "text, markdown, html");
}

TEST_CASE("an option without its value, or given twice, is refused by its name") {
  for (const char* option : {"--only", "--heads", "--scores", "--format", "--example", "-o"}) {
    const std::string sentence = refusal({"walk", option});
    CHECK_MESSAGE(sentence.find(option) != std::string::npos, sentence);
  }
  refuses({"walk", "--heads", "1", "--heads", "2"}, "--heads is given 2 times");
  refuses({"walk", "--precision", "1", "--precision", "2"}, "--precision is given 2 times");
  refuses({"scores", "--q", "1 2", "--q", "3 4", "--k", "1 2"}, "--q is given 2 times");
  refuses({"walk", "--example", "animal", "--example", "padding"}, "--example is given 2 times");
}

TEST_CASE("a number that an option cannot take is refused") {
  for (const char* number : {"x", "0", "-1", "1.5", "", "99999999999999999999", "2x"}) {
    refuses({"walk", "--heads", number}, "--heads must be ");
  }
  refuses({"walk", "--precision", "16"}, "--precision must be a whole number from 0 to 15");
  refuses({"walk", "--width", "0"}, "--width must be 20 or more");
  refuses({"explain", "x[1,1]", "--code"}, "x is given, not computed here: there is no code for it");
  refuses({"walk", "--code"}, "--code belongs to --explain CELL: give both");
  refuses({"explain", "weights[1,1]", "--depth", "deep"}, "--depth must be a whole number from 0 to 1000, not 'deep'");
  refuses({"walk", "--text", "a", "--seed", "4294967296"}, "--seed must be a whole number from 0 to 4294967295");
  refuses({"softmax", "--scores", "1 2", "--causal", "--mask-fill", "low"}, "--mask-fill: 'low'");
  refuses({"softmax", "--scores", "1 2", "--valid-length", "1,x"}, "'x'");
}

TEST_CASE("a value after an option that takes none is refused, not ignored") {
  refuses({"softmax", "--causal=false"}, "--causal");
  refuses({"walk", "--full=no"}, "--full");
  refuses({"walk", "--ascii=0"}, "--ascii");
}

TEST_CASE("words that say two things are refused") {
  refuses({"walk", "--x", "1 2", "--text", "a"}, "--text and --x are both given");
  refuses({"walk", "--scores", "1 2", "--weights", "1 2"}, "both given");
  refuses({"walk", "--example", "animal", "--problem", "p.json"}, "both given");
  refuses({"walk", "--only", "q", "--by-word", "Thinking"}, "both given");
}

TEST_CASE("too few and too many words are refused") {
  refuses({"walk", "extra"}, "'extra'");
  refuses({"explain"}, "CELL");
  refuses({"convert", "a.csv"}, "SRC DST");
  refuses({"help", "walk", "scores"}, "'scores'");
  refuses({"--full", "walk"}, "a command must come first");
}

TEST_CASE("a cell that is none is refused") {
  for (const char* cell : {"weights", "weights[1]", "weights[0,1]", "weights[3,1]", "weights[1,2,3]", "weights[a,1]",
                           "[1,1]", "weights[1,1", "weights[,]", ""}) {
    refusal({"explain", cell});
  }
}

TEST_CASE("a step that lacks what it needs says what to give") {
  refuses({"weigh", "--scores", "1 2"}, "--v");
  refuses({"scores", "--q", "1 2"}, "--k");
  refuses({"concat", "--example", "thinking-machines"}, "--heads N with N above 1, or --wo");
  refuses({"walk", "--q", "1 2"}, "nothing can be computed");
  refuses({"walk", "--by-word", "1", "--scores", "1 2"}, "there is no output to follow");
}

TEST_CASE("shapes that do not fit are refused with both shapes") {
  refuses({"scores", "--q", "1 2", "--k", "1 2 3"}, "1×2");
  refuses({"softmax", "--scores", "1 2", "--mask", "1 0 1"}, "1×3");
  refuses({"weigh", "--weights", "0.5 0.5", "--v", "1; 2; 3"}, "3×1");
  refuses({"walk", "--text", "a b", "--d-model", "8", "--heads", "3"}, "d_model (8)");
  refuses({"softmax", "--scores", "1 2", "--tokens", "a b c"}, "3");
}

TEST_CASE("a file that cannot be read is refused by its name") {
  const TemporaryFolder folder;
  refuses({"softmax", "--scores", folder.path("none.csv")}, "none.csv");
  refuses({"walk", "--problem", folder.path("none.json")}, "none.json");
  refuses({"walk", "--text", "a", "--embeddings", folder.path("none.txt")}, "none.txt");
  std::filesystem::create_directory(folder.path("folder.csv"));
  refuses({"softmax", "--scores", folder.path("folder.csv")}, "is a folder");
  refuses({"walk", "--problem", folder.path("folder.csv")}, "is a folder");
}

TEST_CASE("a damaged table is refused with its file and line") {
  const TemporaryFolder folder;
  refuses({"softmax", "--scores", folder.write("ragged.csv", "1,2\n3\n")}, "ragged.csv:2");
  refuses({"softmax", "--scores", folder.write("word.csv", "1,2\n3,four\n")}, "word.csv:2");
  refuses({"softmax", "--scores", folder.write("empty.csv", "")}, "empty.csv");
  refuses({"softmax", "--scores", folder.write("nan.csv", "1,nan\n")}, "row 1, column 2");
  refuses({"softmax", "--scores", "1 inf"}, "row 1, column 2");
  refuses({"softmax", "--scores", "1 2; 3"}, "row 2");
  refuses({"softmax", "--scores", "1 two"}, "two");
  refuses({"softmax", "--scores", "-"}, "standard input");
  refuses({"softmax", "--scores", "-"}, "standard input:2", "1 2\n3\n");
  refuses({"scores", "--q", "-", "--k", "-"}, "only once", "1 2\n");
}

TEST_CASE("a damaged NumPy file is refused, and no memory is taken on the word of its header") {
  const TemporaryFolder folder;
  const std::string npy = npy_of("1 2; 3 4");
  refuses({"softmax", "--scores", folder.write("deep.npy", with_shape(npy, "(2, 2, 1)"))}, "deep.npy");
  refuses({"softmax", "--scores", folder.write("more.npy", with_shape(npy, "(2, 3)"))}, "more.npy");
  refuses({"softmax", "--scores", folder.write("huge.npy", with_shape(npy, "(9999999, 9999)"))}, "huge.npy");
  refuses({"softmax", "--scores", folder.write("wrap.npy", with_shape(npy, "(4294967296, 4294967296)"))}, "wrap.npy");
  for (std::size_t size = 0; size < npy.size(); size += 13) {
    refuses({"softmax", "--scores", folder.write("cut.npy", npy.substr(0, size))}, "cut.npy");
  }
  CHECK(run_attn({"softmax", "--scores", folder.write("whole.npy", npy)}).code == 0);
}

TEST_CASE("a damaged archive or a name that it does not hold is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.path("walk.npz");
  REQUIRE(run_attn({"walk", "-o", path}).code == 0);
  const std::string npz = bytes_of(path);
  for (std::size_t size = 0; size < npz.size(); size += 301) {
    refuses({"softmax", "--scores", folder.write("cut.npz", npz.substr(0, size)) + ":scores"}, "cut.npz");
  }
  refuses({"softmax", "--scores", path + ":scroes"}, "'scores'");
  refuses({"softmax", "--scores", path}, "scores");
}

TEST_CASE("a damaged problem file is refused") {
  const TemporaryFolder folder;
  const auto problem = [&](std::string_view json) { return Words{"walk", "--problem", folder.write("p.json", json)}; };
  refuses(problem("{\"x\": [[1, 2]"), "p.json");
  refuses(problem("[1, 2]"), "p.json");
  refuses(problem("{\"xx\": [[1]]}"), "xx");
  refuses(problem("{\"w_qq\": [[1]]}"), "did you mean 'w_q'?");
  refuses(problem("{\"x\": [[1, \"a\"]]}"), "\"x\"");
  refuses(problem("{\"heads\": -1}"), "\"heads\"");
  refuses(problem("{\"embeddings\": \"/etc/passwd\"}"), "--embeddings");
  refuses(problem(""), "p.json");
  refuses(problem(std::string(200000, '[')), "p.json");
}

TEST_CASE("a complaint turns no writing around, and does not repeat whatever is long") {
  for (const char* sign : {"\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069"}) {
    const std::string sentence = refusal({std::string("walk") + sign});
    CHECK_MESSAGE(sentence.find(sign) == std::string::npos, sentence);
    CHECK(run_attn({"softmax", "--scores", "1 2", "--tokens", sign}).out.find(sign) == std::string::npos);
  }
  const std::string sentence = refusal({"walk", "--format", std::string(100000, 'x')});
  CHECK(sentence.size() < 3000);
  CHECK(sentence.find("unknown format 'xxx") != std::string::npos);
  CHECK_MESSAGE(sentence.ends_with("safetensors\n"), sentence);
  CHECK(refusal({"walk", "--format", "\u00e9" + std::string(100000, 'x')}).find("\uFFFD") == std::string::npos);
}

TEST_CASE("a complaint goes on behind a NUL that it repeats") {
  refuses({"walk", "--problem", "-"}, "unknown field 'a\uFFFDb'. ", R"({"a\u0000b": 1})");
  refuses({"walk", "--problem", "-"}, "Choose one of: ", R"({"x": [[1]], "score": "\u0000"})");
}

TEST_CASE("whatever is typed, a complaint is one line that no terminal takes for a command") {
  const TemporaryFolder folder;
  const std::string evil = "a\x1b[31m\nb\x07\xff";
  const std::string labels = folder.write("labels.csv", "\"a\x1b[31m\",\"b\"\n1,2\n3,4\n");
  for (const Words& words : {Words{evil},
                             Words{"help", evil},
                             Words{"--" + evil},
                             Words{"walk", "--" + evil},
                             Words{"walk", evil},
                             Words{"walk", "--example", evil},
                             Words{"walk", "--only", evil},
                             Words{"walk", "--by-word", evil},
                             Words{"walk", "--format", evil},
                             Words{"walk", "--heads", evil},
                             Words{"walk", "--color", evil},
                             Words{"walk", "--scale", evil},
                             Words{"walk", "--problem", folder.path(evil)},
                             Words{"explain", evil},
                             Words{"explain", "weights[" + evil + ",1]"},
                             Words{"walk", "-o", folder.path(evil)},
                             Words{"softmax", "--scores", folder.path(evil)},
                             Words{"softmax", "--scores", folder.path(evil) + ".npy"},
                             Words{"explain", "x[1," + evil + "]", "--x", labels, "--wq", "1; 1"},
                             Words{"walk", "--problem", folder.write("p.json", R"({"a\u001b[31m\nb": 1})")}}) {
    const std::string sentence = refusal(words);
    CHECK_MESSAGE(sentence.find('\x1b') == std::string::npos, command_line(words));
    CHECK_MESSAGE(sentence.find('\x07') == std::string::npos, command_line(words));
  }
  const ProcessResult warned =
      run_attn({"softmax", "--scores", "1 2; 3 4", "--mask", "0 0; 1 1", "--tokens", evil + ",b"});
  CHECK(warned.code == 0);
  CHECK(std::ranges::count(warned.errors, '\n') == 1);
  CHECK(warned.errors.find('\x1b') == std::string::npos);
  const ProcessResult unwritten = run_attn({"walk", "-o", folder.write("file", "") + "/" + evil + "/walk.md"});
  CHECK(unwritten.code == 1);
  CHECK(unwritten.errors.find('\x1b') == std::string::npos);
}

TEST_CASE("an option of a command that is not named names the commands that have it") {
  refuses({"explain", "logits[1,1]", "--target", "a b"},
          "it belongs to align, encoder, decoder, transformer, generate");
  refuses({"explain", "decoder", "logits[1,1]"},
          "the cell comes before the command: attn explain 'logits[1,1]' COMMAND");
  refuses({"explain", "weights[1,1]", "--nothing", "1"}, "attn explain has no option '--nothing': see");
}
