// The commands that README.md, docs/ and lessons name run, and what they call refused is refused.

#include <doctest/doctest.h>
#include <wordexp.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <regex>

#include "command/app.hpp"
#include "commands_tried.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "page/document/document.hpp"
#include "page/document/markdown.hpp"
#include "process.hpp"
#include "running_text.hpp"
#include "source_files.hpp"
#include "texts.hpp"

using namespace attn;

// --- commands

namespace {

// What is marked as code within a sentence, a table or a heading, in one line each.
std::vector<std::string> inline_code(const std::string& markdown) {
  static const std::regex code("(<pre>)?<code[^>]*>([^<]*)</code>");
  const std::string html = html_of(markdown);
  std::vector<std::string> all;
  for (std::sregex_iterator at(html.begin(), html.end(), code), end; at != end; ++at) {
    if ((*at)[1].matched) continue;
    std::string text = (*at)[2];
    for (const auto& [name, sign] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}})
      text = replaced(text, name, sign);
    all.push_back(in_one_line(text));
  }
  return all;
}

// The lines of blocks for a shell.
std::vector<std::string> shell_lines(const std::string& markdown) {
  std::vector<std::string> all;
  for (const MarkdownLeaf& leaf : markdown_leaves(markdown)) {
    if (leaf.kind != MarkdownLeaf::Kind::fence || leaf.info != "sh") continue;
    for (const std::string_view line : split_at(leaf.text, '\n')) all.emplace_back(line);
  }
  return all;
}

// Words in capitals stand for others, and brackets for what may be left out: attn lesson export LESSON [FILE],
// FILE:NAME.
bool is_placeholder(const std::string& word) {
  static const std::regex capitals(R"([A-Z]+(\.[a-z]+|:[A-Z]+)?)");
  return std::regex_match(word, capitals) || word.find("…") != std::string::npos;
}

// What is written like a command and is none.
constexpr std::string_view no_commands[] = {"attn hidden"};  // the words behind the fence of a block

// Lines that name a form of a command, which needs more than they say.
constexpr std::string_view incomplete[] = {"attn check --each", "attn page train", "attn train --watch",
                                           "attn what-if"};

// Lines that measure times, which takes long: their options are read.
constexpr std::string_view measuring[] = {"attn cost --measure", "attn cost --measure --section 'Long sequences, m'"};

// Nobody waits: a training ends before its first step.
class StoppedWork final : public LongWork {
 public:
  void tell(std::string_view) override {}
  std::optional<TerminalSize> canvas() const override { return std::nullopt; }
  void draw(const std::vector<std::string>&) override {}
  bool is_to_stop() override { return true; }
  void prepare_to_save(const std::string&) override {}
  void save(const FileToWrite&) override {}
};

// Somebody is at a terminal, and the output goes into a file. Nothing is written: an answer has its files.
AnswerInFormat answer_at_terminal(const Words& words) {
  static StoppedWork work;
  static const Environment environment{
      .variable = [](const char*) { return std::nullopt; }, .input_is_terminal = true, .work = &work};
  return answer(words, environment);
}

// Within a folder.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::string& path) : before_(fs::current_path()) { fs::current_path(path); }
  ~WorkingFolder() { fs::current_path(before_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  fs::path before_;
};

// As a shell takes a line apart.
Words words_of_line(const std::string& line) {
  wordexp_t expanded{};
  if (wordexp(line.c_str(), &expanded, WRDE_NOCMD | WRDE_UNDEF) != 0) fail("no shell reads this: {}", line);
  Words words(expanded.we_wordv + 1, expanded.we_wordv + expanded.we_wordc);
  wordfree(&expanded);
  return words;
}

// A line with what may be left out, and without it. Where there are no brackets, both are the line.
std::vector<std::string> forms_of(const std::string& line) {
  static const std::regex brackets(R"( \[([A-Z]+(\.[a-z]+)?)\])");
  return {std::regex_replace(line, brackets, " $1"), std::regex_replace(line, brackets, "")};
}

// Whether a line is no more than the name of a command that needs words, or of what such a command does:
// "attn docs update".
bool is_name_of_command(const Words& words) {
  const Command* const command = find_row(commands(), words.front());
  if (!command) return false;
  if (words.size() == 1) return least_count(command->words) > 0;
  const Action* const action = find_row(command->actions, words[1]);
  return words.size() == 2 && action && least_count(action->words) > 0;
}

// Or ends with an option that takes a value: "attn walk --model".
bool ends_with_name_of_option(const Words& words) {
  const Command* const command = find_row(commands(), words.front());
  if (!command) return false;
  const std::vector<OfferedOption> offered = options_of(*command);
  const auto is_last = [&](const OfferedOption& row) {
    return row.option->name == words.back() && row.option->kind != Kind::flag;
  };
  return std::ranges::any_of(offered, is_last);
}

std::string told_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

template <std::size_t size>
bool is_in(const std::string_view (&lines)[size], const std::string& line) {
  return std::ranges::find(lines, line) != std::end(lines);
}

// What is wrong with a line as it is written; nothing: it runs, or all that it names is there.
std::string wrong_with(const std::string& line) {
  return told_error([&] {
    bool is_pattern = is_in(measuring, line);
    for (const std::string& form : forms_of(line)) {
      Words words = words_of_line(form);
      if (words.empty()) return;
      if (ends_with_name_of_option(words)) words.emplace_back("VALUE");
      is_pattern = is_pattern || std::ranges::any_of(words, is_placeholder);
      if (is_name_of_command(words) || is_in(incomplete, line)) return;
      if (is_pattern) {
        parse(words);
      } else {
        answer_at_terminal(words);
        return;
      }
    }
  });
}

ToldWhere commands_told() {
  ToldWhere told;
  for (const SourceFile& document : documents()) {
    const std::string text = own_text(document.text);
    for (const std::string& code : inline_code(text))
      if (code == "attn" || code.starts_with("attn ")) told.emplace(code, document.path);
    for (const std::string& line : shell_lines(text)) {
      // What a shell does with the output and after the command is none of it.
      static const std::regex rest(R"(\s+(>|&&|#\s).*$)");
      if (line.starts_with("attn ")) told.emplace(std::regex_replace(line, rest, ""), document.path);
    }
  }
  for (const std::string_view line : no_commands) told.erase(std::string(line));
  return told;
}

// The files that lines of documents name.
void write_named_files(const TemporaryFolder& folder) {
  const auto write_answer = [&](const std::string& name, const std::string& line) {
    folder.write(name, written(answer_at_terminal(words_of_line("attn " + line + " -o " + folder.path(name)))));
  };
  for (const char* name : {"x", "w_q", "w_k", "w_v"})
    write_answer(replaced(name, "_", "") + ".npy", fmt::format("walk --text 'a b' --d-model 8 --only {}", name));
  write_answer("encoder.safetensors", "encoder --source 'a b' --d-model 8 --heads 4 --only '*w_*|*.b_*|*gamma|*beta'");
  write_answer("layer.npz", "encoder --parameters encoder.safetensors --heads 4 --x x.npy");
  write_answer("mine.npz", "walk --text 'a b'");
  write_answer("pe.npy", "positions --only positions");
  fs::create_directory(folder.path("results"));
  write_answer("results/mine.npz", "walk --text 'a b'");
  folder.write("layers.json", R"({"layer_0": [[0.5, 0.5], [0.25, 0.75]], "layer_1": [[1, 0], [0, 1]]})");
  folder.write("ana.txt", "1. 0.5\n");
  fs::create_directory(folder.path("class"));
  folder.write("class/ana.txt", "Name: Ana Sheet: attn lesson 3\n1. 0.5\n");
  fs::create_directory(folder.path("docs"));
  for (const char* name : {"README.md", "notes.md", "docs/notes.md", "docs/coverage.md"})
    folder.write(name, "```attn\nattn softmax --scores '2 0'\n```\n");
}

}  // namespace

TEST_CASE("every command that documents name runs as it is written") {
  const ToldWhere told = commands_told();
  CHECK(told.size() > 200);
  const TemporaryFolder folder;
  const WorkingFolder there(folder.path(""));
  write_named_files(folder);
  for (const auto& one : told) {
    const std::string wrong = wrong_with(one.first);
    CHECK_MESSAGE(wrong.empty(), one.second << " names " << one.first << ": " << wrong);
  }
  for (const std::string_view line : incomplete) {
    CHECK_MESSAGE(told.contains(std::string(line)), line);
    CHECK(told_error([&] { answer_at_terminal(words_of_line(std::string(line))); }) != "");
  }
  for (const char* line :
       {"attn walk --no-such", "attn wlak FILE", "attn mask --only mask", "attn train TASK --no-such FILE"})
    CHECK_MESSAGE(!wrong_with(line).empty(), line);
}

TEST_CASE("what a command is said to count stands on its page") {
  static const std::regex counts("`(attn [^`]+)` counts ([a-z-]+)");
  std::size_t told = 0;
  for (const SourceFile& document : documents()) {
    const std::string text = in_one_line(own_text(document.text));
    for (std::sregex_iterator at(text.begin(), text.end(), counts), end; at != end; ++at, ++told) {
      const std::string page = in_lower_case(written(answer_at_terminal(words_of_line((*at)[1]))));
      CHECK_MESSAGE(has(page, (*at)[2].str()), document.path << ": " << (*at).str());
    }
  }
  CHECK(told > 0);
  CHECK_FALSE(has(written(answer_at_terminal({"cost"})), "parameters"));
}

// --- what is refused

namespace {

// What is tried, what is said then, and a file beside it.
struct Attempt {
  std::string line, told;
  std::string file = {}, bytes = {};
};

// A sentence that says that something is refused: what is tried, or the test that tries it, by its name here or in a
// CMakeLists.txt.
struct Refusal {
  std::string_view document, words;
  std::vector<Attempt> attempts = {};
  std::string_view test = {};
};

const std::string three_dimensions = "[[[1, 2]], [[3, 4]]]", scored = "attn walk --scores '1 2' --v '1; 2' ";

constexpr std::string_view of_folders =
    "of a folder regular files are read that are its own, and all else is refused by its name";

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> all = {
      {"docs/formats.md",
       "A member that is given twice",
       {{"attn softmax --scores a.json:a", "given twice", "a.json", R"({"a": [[1]], "a": [[2]]})"}}},
      {"docs/formats.md",
       "pickles and text in UTF-16",
       {{"attn softmax --scores a.xlsx", "not a complete archive", "a.xlsx", "PK\x03\x04"},
        {"attn softmax --scores a.gz", "compressed by gzip", "a.gz", "\x1f\x8b\x08"},
        {"attn softmax --scores a.h5", "an HDF5 file", "a.h5", "\x89HDF\r\n\x1a\n"},
        {"attn softmax --scores a.pkl", "a Python pickle", "a.pkl", "\x80\x04\x95"},
        {"attn softmax --scores a.csv", "UTF-16 text", "a.csv",
         "\xff\xfe"
         "1"}}},
      {"docs/formats.md",
       "one with more is refused",
       {{"attn softmax --scores a.json", "has 2 matrices", "a.json", three_dimensions}}},
      {"docs/formats.md",
       "no other row is of whole numbers",
       {{"attn softmax --scores a.csv", "may be a header or a row of numbers", "a.csv",
         "w,1,2\na,0.5,0.25\nb,0.75,0.5\n"}}},
      {"docs/formats.md",
       "with decimal commas are refused",
       {{"attn softmax --scores a.csv", "has a decimal comma", "a.csv", "1,5;2,5\n"},
        {"attn softmax --scores '1_000 2'", "neither a file nor a matrix"},
        {"attn softmax --scores '0x10 2'", "neither a file nor a matrix"}}},
      {"docs/formats.md",
       "is refused: write true and false",
       {{scored + "--mask '0 255'", "only the whole numbers 0 and 255"}}},
      {"docs/formats.md",
       "an array of floats is refused",
       {{scored + "--key-mask a.json", "give true or 1 (not 1.0)", "a.json", "[[1.0, 0.0]]"}}},
      {"docs/formats.md",
       "`bias_k` and `bias_v`",
       {},
       "what would change the numbers and is not read is refused by name"},
      {"docs/formats.md",
       "belong to a later layer",
       {},
       "a later layer without those before it is refused unless it is asked for"},
      {"docs/formats.md",
       "says something else",
       {},
       "an option that contradicts what a layout brings is refused with both named"},
      {"docs/formats.md",
       "What it says and `attn` does not read",
       {},
       "what would change the numbers and is not read is refused by name"},
      {"docs/formats.md", "wants to run anything else", {}, "what torch.save writes is read, and nothing in it is run"},
      {"docs/formats.md",
       "A type that is not in the table",
       {{"attn tokenize a --tokenizer a.json", "the model 'NoSuch' is not read yet", "a.json",
         R"({"model": {"type": "NoSuch", "vocab": {"a": 0}}})"}}},
      {"docs/formats.md",
       "number of steps that grows with the text",
       {},
       "an expression that takes too many steps is refused, and does not run on"},
      {"docs/formats.md",
       "the name of a matrix of the computation",
       {{"attn check a.json " + scored.substr(5), "weights is not an array", "a.json",
         R"({"weights": 1, "output": [[1.5]]})"}}},
      {"docs/formats.md",
       "A file that may not be written",
       {},
       "a file that may not be written is refused, though its folder would take another"},
      {"docs/lessons.md",
       "before anything is computed",
       {},
       "a document of many harmless blocks is refused where it becomes too much work"},
      {"docs/lessons.md",
       "does not begin as progress",
       {},
       "progress reads back as it was written, and another file is refused"},
      {"lessons/errata/07-sizes-of-heads.md",
       "The program refuses",
       {{"attn walk --q '1 2 3' --k '1 2; 3 4'", "must have the same number of columns"}}},
      {"docs/changes.md",
       "other families are named and refused",
       {},
       "every family has layouts, or says what of it is not read, and no name twice"},
      {"docs/changes.md", "are refused by name, and nothing waits", {}, of_folders},
      {"docs/changes.md",
       "a damaged file of each format is refused with a sentence",
       {},
       "every exception finds its way through the program as it is installed, and damaged files are refused"},
      {"docs/changes.md",
       "A state of training whose sizes contradict its model",
       {},
       "a file that is no state of training is refused"},
      {"docs/changes.md",
       "A page in a browser refuses a change",
       {},
       "the script of a page computes and explains every operation as the program does"},
      {"docs/changes.md", "Tables of two readings", {}, "a table of which nobody knows what it means is refused"},
      {"docs/changes.md",
       "asks for more than a minute",
       {},
       "a file of a tokenizer that asks for more than it may is refused in a sentence, in a document too"},
      {"docs/changes.md",
       "refuse a number that is a position and the word of another one",
       {{"attn walk --text '2 1' --from 2", "2 is position 2, and also the word at position 1"},
        {"attn walk --text '2 1' --by-word 2", "2 is position 2, and also the word at position 1"},
        {"attn walk --text '2 1' --swap 1,2", "1 is position 1, and also the word at position 2"}}},
      {"docs/formats.md",
       "counts from 0 or 1 below a header of labels",
       {{"attn softmax --scores a.csv", "counts the rows, and may have labels or numbers", "a.csv",
         "id,it,was\n1,0.1,0.9\n2,0.3,0.7\n"},
        {"attn softmax --scores a.csv", "counts the rows, and may have labels or numbers", "a.csv",
         "id,it,was\n0,5,6\n1,7,8\n2,3,4\n"}}},
      {"docs/formats.md",
       "A size that differs from theirs",
       {},
       "a size that is wrong by one is refused, for each member that says one and each family"},
      {"docs/formats.md",
       "each tensor begins at a multiple of the alignment",
       {},
       "tensors that overlap or begin off the alignment are refused"},
      {"docs/formats.md", "A pipe or a device", {}, of_folders},
      {"docs/formats.md", "A link that leads out of the folder", {}, of_folders},
      {"docs/formats.md", "A name with control characters", {}, of_folders},
  };
  return all;
}

// The sentences and rows of tables in a document that say that something is refused. Of what "cannot" be, only
// those whose subject is a command or an option.
std::vector<std::string> sentences_of_refusal(const std::string& markdown) {
  static const std::regex end(R"([.:;]\s+(?=[A-Z`*(])|\s\|\s|\s-\s)"), refused("not offered|refuse[sd]?\\b"),
      cannot("`(--|attn )[^`]*` cannot");
  std::string prose;
  for (const MarkdownLeaf& leaf : markdown_leaves(markdown)) {
    if (leaf.kind != MarkdownLeaf::Kind::paragraph && leaf.kind != MarkdownLeaf::Kind::table) continue;
    const std::vector<std::string_view> lines = split_at(markdown, '\n');
    for (std::size_t i = leaf.first_line; i <= leaf.last_line && i <= lines.size(); ++i)
      prose += std::string(lines[i - 1]) + " ";
    prose += "| | ";
  }
  prose = in_one_line(prose);
  std::vector<std::string> all;
  for (std::sregex_token_iterator at(prose.begin(), prose.end(), end, -1), last; at != last; ++at)
    if (std::regex_search(at->str(), refused) || std::regex_search(at->str(), cannot)) all.push_back(at->str());
  return all;
}

}  // namespace

TEST_CASE("what documents call refused is refused, each where a row says how it was tried") {
  std::size_t told = 0;
  for (const SourceFile& document : documents()) {
    // Those for people who change the program.
    constexpr std::string_view for_makers[] = {"docs/contributing.md", "docs/decisions.md", "docs/writing.md"};
    if (document.path.starts_with("src/") || std::ranges::find(for_makers, document.path) != std::end(for_makers))
      continue;
    for (const std::string& sentence : sentences_of_refusal(own_text(document.text))) {
      const auto says = [&](const Refusal& row) { return row.document == document.path && has(sentence, row.words); };
      CHECK_MESSAGE(std::ranges::any_of(refusals(), says), document.path << ": nothing tries: " << sentence);
      ++told;
    }
  }
  CHECK(told >= refusals().size());
  std::string tests, others;
  for (const SourceFile& file : source_files("tests", {".cpp"})) tests += file.text;
  for (const SourceFile& file : source_files("tests", {".txt"})) others += file.text;
  const TemporaryFolder folder;
  const WorkingFolder there(folder.path(""));
  for (const Refusal& row : refusals()) {
    const std::string text = in_one_line(own_text(bytes_of((root / row.document).string())));
    CHECK_MESSAGE(has(text, row.words), row.document << " lacks: " << row.words);
    const bool is_tested = has(tests, fmt::format("TEST_CASE(\"{}\"", row.test)) ||
                           (!row.test.empty() && has(others, fmt::format("\"{}\"", row.test)));
    CHECK_MESSAGE((!row.attempts.empty() || is_tested), row.test);
    for (const Attempt& attempt : row.attempts) {
      if (!attempt.file.empty()) folder.write(attempt.file, attempt.bytes);
      const std::string error = told_error([&] { answer_at_terminal(words_of_line(attempt.line)); });
      CHECK_MESSAGE(has(error, attempt.told), attempt.line << " says: " << error);
    }
  }
}
