// Laws of the sources: numbers that may not grow without somebody noticing. docs/contributing.md says how one is
// changed.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "command/annex.hpp"
#include "core/model/recipe.hpp"
#include "core/support/text.hpp"
#include "data/files/json.hpp"
#include "golden.hpp"
#include "process.hpp"
#include "running_text.hpp"
#include "school/tutor/judge.hpp"
#include "source_code.hpp"
#include "source_files.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

// --- what is measured

// What is counted, and where it is.
struct Measured {
  std::size_t number = 0;
  std::vector<std::string> where = {};
};

Measured counted(const std::set<std::string>& names) { return {names.size(), {names.begin(), names.end()}}; }

// How often it is in each file.
Measured counted(const std::map<std::string, std::size_t>& by_file) {
  Measured all;
  for (const auto& [path, count] : by_file) {
    if (count == 0) continue;
    all.number += count;
    all.where.push_back(fmt::format("{} ({})", path, count));
  }
  return all;
}

// The repository, or a small one.
using Sources = std::vector<SourceFile>;

const SourceFile& source_of(const Sources& sources, std::string_view path) {
  const auto found = std::ranges::find(sources, path, &SourceFile::path);
  if (found == sources.end())
    throw std::runtime_error(fmt::format("there is no {}: say in tests/laws_test.cpp where it is now", path));
  return *found;
}

std::vector<std::string> included(std::string_view text) {
  constexpr std::string_view include = "#include \"";
  std::vector<std::string> headers;
  for (const std::string_view line : split_at(text, '\n')) {
    if (!line.starts_with(include)) continue;
    const std::string_view rest = line.substr(include.size());
    headers.emplace_back(rest.substr(0, rest.find('"')));
  }
  return headers;
}

std::size_t lines_of(std::string_view text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

bool is_source(std::string_view path) { return path.ends_with(".cpp") || path.ends_with(".hpp"); }

// "core/op" of "src/core/op/norms.cpp".
std::string room_of(std::string_view path) {
  const std::size_t begin = path.find('/') + 1, end = path.rfind('/');
  return end < begin ? "src" : std::string(path.substr(begin, end - begin));
}

// Names that stand behind a word of the language, with what follows: "struct Name {" has {"Name", "{"}.
std::vector<std::pair<std::string, char>> names_behind(std::string_view code, std::string_view word) {
  std::vector<std::pair<std::string, char>> names;
  for (std::size_t at = code.find(word); at != code.npos; at = code.find(word, at + word.size())) {
    if (at > 0 && is_of_name(code[at - 1])) continue;
    const std::size_t begin = code.find_first_not_of(' ', at + word.size());
    std::size_t end = std::min(begin, code.size());
    while (end < code.size() && is_of_name(code[end])) ++end;
    const std::size_t next = code.find_first_not_of(" \n", end);
    if (end > begin && next != code.npos) names.emplace_back(code.substr(begin, end - begin), code[next]);
  }
  return names;
}

// The place behind the bracket that closes the one at a place.
std::size_t behind_brackets(std::string_view code, std::size_t at) {
  std::size_t depth = 0;
  for (; at < code.size(); ++at) {
    if (std::string_view("({[").find(code[at]) != std::string_view::npos) ++depth;
    if (std::string_view(")}]").find(code[at]) != std::string_view::npos && --depth == 0) return at + 1;
  }
  return at;
}

// The names that a declaration of members declares; none: it is of a function or a type.
std::vector<std::string> declared_in(std::string_view declaration) {
  constexpr std::string_view no_members[] = {"using ",  "typedef ", "static ",      "inline static ",
                                             "friend ", "template", "static_assert"};
  declaration = trimmed(declaration);
  for (const std::string_view label : {"public:", "protected:", "private:"}) {
    if (declaration.starts_with(label)) declaration = trimmed(declaration.substr(label.size()));
  }
  const auto begins = [&](std::string_view word) { return declaration.starts_with(word); };
  if (std::ranges::any_of(no_members, begins) || has(declaration, "operator")) return {};
  // Without what stands between brackets, and without initializers: "std::map<> a, b".
  std::string plain;
  bool is_value = false;
  int depth = 0;
  for (std::size_t at = 0; at < declaration.size(); ++at) {
    const char c = declaration[at];
    if (c == '<' && !is_value) ++depth;
    if (c == '>' && !is_value) --depth;
    if (depth > 0) continue;
    if (c == ',') is_value = false;
    if (c == '=') is_value = true;
    if (c == '{' || (c == '(' && is_value)) {
      at = behind_brackets(declaration, at) - 1;
      continue;
    }
    if (!is_value) plain += c;
  }
  std::vector<std::string> names;
  for (const std::string_view piece : split_at(plain, ',')) {
    if (const std::size_t pointer = piece.find("(*"); pointer != piece.npos) {
      names.emplace_back(piece.substr(pointer + 2, piece.find(')', pointer) - pointer - 2));
      return names;
    }
    if (has(piece, "(")) return {};
    const std::string_view declared = trimmed(piece.substr(0, std::min(piece.find('['), piece.size())));
    std::size_t begin = declared.size();
    while (begin > 0 && is_of_name(declared[begin - 1])) --begin;
    const bool has_type = begin > 0 || !names.empty();
    if (begin < declared.size() && has_type) names.emplace_back(declared.substr(begin));
  }
  const bool is_type = std::ranges::any_of(std::array{"struct ", "class ", "enum "}, begins);
  return is_type ? std::vector<std::string>{} : names;
}

// The data members of a struct, by name. Members of what it derives from, functions and types are left out.
Measured members_of(const Sources& sources, std::string_view path, std::string_view name) {
  const std::string code = code_of(source_of(sources, path).text).text;
  std::size_t at = 0;
  for (const std::string& head : {fmt::format("\nstruct {} {{", name), fmt::format("\nstruct {} : ", name)})
    at = std::max(at, code.find(head) + 1);  // 0 where it is not found
  if (at == 0)
    throw std::runtime_error(
        fmt::format("{} has no struct {}: say in tests/laws_test.cpp where it is now", path, name));
  at = code.find('{', at);
  const std::size_t end = behind_brackets(code, at) - 1;
  Measured members;
  std::string declaration;
  for (++at; at < end; ++at) {
    if (code[at] == ';') {
      for (std::string& one : declared_in(declaration)) members.where.push_back(std::move(one));
      declaration.clear();
    } else if (code[at] == '{') {
      // A body ends its function; an initializer or a type within goes on to a semicolon.
      std::string_view before = trimmed(declaration);
      const bool is_type = before.starts_with("struct") || before.starts_with("enum") || before.starts_with("class");
      const std::size_t last = before.find_last_not_of(' ');
      const bool is_function = !is_type && before.find('=') == before.npos && last != before.npos &&
                               (before[last] == ')' || before.ends_with(" const") || before.ends_with(" noexcept") ||
                                before.ends_with(" override"));
      const std::size_t behind = behind_brackets(code, at);
      if (is_function)
        declaration.clear();
      else
        declaration += "{}";
      at = behind - 1;
    } else {
      declaration += code[at];
    }
  }
  members.number = members.where.size();
  return members;
}

// What all commands include, and includes itself what belongs to one of them.
Measured guests_of_the_waist(const Sources& sources) {
  constexpr std::string_view waist = "src/command/command.hpp", of_all = "command/options.hpp";
  std::set<std::string> headers;
  for (const std::string& header : included(source_of(sources, waist).text)) {
    if (header.starts_with("school/") || (header.starts_with("command/") && header != of_all)) headers.insert(header);
  }
  return counted(headers);
}

Measured options_of_the_app(const Sources& sources) {
  const std::string code = code_of(source_of(sources, "src/command/app.cpp").text).text;
  std::set<std::string> options;
  for (auto& [name, next] : names_behind(code, "option::")) options.insert(name);
  return counted(options);
}

// The table that lists the annexes, each of which includes the house. It may include one header of each annex.
constexpr std::string_view table_of_annexes = "src/annexes.cpp", header_of_annexes = "annex.hpp";

// The folders of annexes: &apart_annex is the row of src/apart.
std::vector<std::string> folders_of_annexes(const Sources& sources) {
  constexpr std::string_view end = "_annex";
  std::vector<std::string> folders;
  for (const auto& [name, next] : names_behind(code_of(source_of(sources, table_of_annexes).text).text, "&")) {
    if (name.ends_with(end)) folders.push_back(name.substr(0, name.size() - end.size()));
  }
  return folders;
}

Measured includes_of_annexes(const Sources& sources) {
  std::set<std::string> includes;
  const std::vector<std::string> annexes = folders_of_annexes(sources);
  for (const SourceFile& file : sources) {
    if (!is_source(file.path)) continue;
    for (const std::string& header : included(file.text)) {
      for (const std::string& annex : annexes) {
        const std::string folder = annex + "/";
        if (!header.starts_with(folder) || file.path.starts_with("src/" + folder)) continue;
        if (file.path == table_of_annexes && header == folder + std::string(header_of_annexes)) continue;
        includes.insert(fmt::format("{} includes {}", file.path, header));
      }
    }
  }
  return counted(includes);
}

// Those that headers declare or define: structs, classes and enums. Need and Seed end in -eed and are nouns.
Measured types_in_ed(const Sources& sources) {
  std::set<std::string> names;
  for (const SourceFile& file : sources) {
    if (!file.path.ends_with(".hpp")) continue;
    const std::string code = code_of(file.text).text;
    for (const std::string_view word : {"struct ", "class ", "enum "}) {
      for (const auto& [name, next] : names_behind(code, word)) {
        if (name.ends_with("ed") && !name.ends_with("eed") && (next == '{' || next == ':' || next == ';'))
          names.insert(name);
      }
    }
  }
  return counted(names);
}

Measured names_in_two_rooms(const Sources& sources) {
  std::map<std::string, std::vector<std::string>> rooms;
  for (const SourceFile& file : sources) {
    if (file.path.ends_with(".cpp")) rooms[file.path.substr(file.path.rfind('/') + 1)].push_back(room_of(file.path));
  }
  std::set<std::string> names;
  for (const auto& [name, in] : rooms) {
    if (in.size() > 1) names.insert(fmt::format("{} ({})", name, fmt::join(in, ", ")));
  }
  return counted(names);
}

Measured files_of_many_subjects(const Sources& sources) {
  constexpr std::string_view opened = "\nnamespace {\n";
  std::set<std::string> files;
  for (const SourceFile& file : sources) {
    std::size_t count = 0;
    for (std::size_t at = file.text.find(opened); at != file.text.npos; at = file.text.find(opened, at + 1)) ++count;
    if (count > 1) files.insert(file.path);
  }
  return counted(files);
}

// Texts in quotes that are one of these names, in the sources of some folders, where one of these signs follows; none:
// whatever follows.
Measured spelled(const Sources& sources, std::span<const std::string_view> folders, const std::set<std::string>& names,
                 std::string_view signs = "") {
  std::map<std::string, std::size_t> by_file;
  for (const SourceFile& file : sources) {
    const auto is_in = [&](std::string_view folder) { return file.path.starts_with(folder); };
    if (!is_source(file.path) || std::ranges::none_of(folders, is_in)) continue;
    for (const auto& [at, text] : code_of(file.text).quoted) {
      const std::size_t next = file.text.find_first_not_of(" \n", at + text.size() + 2);
      const bool is_meant = signs.empty() || (next < file.text.size() && has(signs, file.text.substr(next, 1)));
      if (names.contains(text) && is_meant) ++by_file[file.path];
    }
  }
  return counted(by_file);
}

Measured fields_spelled(const Sources& sources) {
  std::set<std::string> names;
  for (const RecipeField* field : recipe_fields()) names.emplace(field->name);
  return spelled(sources, std::array<std::string_view, 1>{"src/data/parameters/"}, names);
}

Measured facts_spelled(const Sources& sources) {
  static const std::set<std::string> facts = [] {
    std::set<std::string> names;
    const Json table = parse_json(judge_table(), "judge.json");
    for (const auto& list : table.items()) {
      if (!list.value().is_array()) continue;
      for (const Json& row : list.value()) {
        if (!row.is_object() || !row.contains("if")) continue;
        for (const Json& fact : row["if"]) names.insert(fact.get<std::string>());
      }
    }
    return names;
  }();
  return spelled(sources, std::array<std::string_view, 2>{"src/school/tutor/", "src/school/puzzle/"}, facts, ",]");
}

// Classes that read a language of ours by their names, and files without such a class that use the scanner of one.
Measured readers(const Sources& sources) {
  constexpr std::string_view ends[] = {"Reader", "Parser", "Scanner", "Lexer"};
  std::set<std::string> found;
  for (const SourceFile& file : sources) {
    if ((!is_source(file.path) && !file.path.ends_with(".js")) || file.path.starts_with("src/data/")) continue;
    const std::string code = code_of(file.text).text;
    std::size_t classes = 0;
    for (const std::string_view word : {"class ", "struct "}) {
      for (const std::pair<std::string, char>& named : names_behind(code, word)) {
        const auto is_its = [&](std::string_view end) { return named.first.ends_with(end); };
        if (named.second == ';' || std::ranges::none_of(ends, is_its)) continue;
        found.insert(fmt::format("{} in {}", named.first, file.path));
        ++classes;
      }
    }
    if (classes == 0 && has(code, "Scanner ")) found.insert(fmt::format("a scanner in {}", file.path));
  }
  return counted(found);
}

Measured lines_that_walk_needs(const Sources& sources) {
  std::map<std::string, const SourceFile*> headers;
  for (const SourceFile& file : sources) {
    if (file.path.ends_with(".hpp")) headers[file.path] = &file;
  }
  std::map<std::string, std::size_t> lines;
  std::vector<const SourceFile*> to_do = {&source_of(sources, "src/command/attention/walk.cpp")};
  while (!to_do.empty()) {
    const SourceFile& file = *to_do.back();
    to_do.pop_back();
    for (const std::string& header : included(file.text)) {
      const auto found = headers.find("src/" + header);
      if (found == headers.end() || lines.contains(header)) continue;
      lines[header] = lines_of(found->second->text);
      to_do.push_back(found->second);
    }
  }
  Measured all = counted(lines);
  std::ranges::sort(all.where, std::ranges::greater(),
                    [&](const std::string& told) { return lines.at(told.substr(0, told.find(' '))); });
  all.where.resize(std::min<std::size_t>(all.where.size(), 8));  // the largest ones
  return all;
}

Measured lines_of_architecture(const Sources& sources) {
  const SourceFile& document = source_of(sources, "docs/architecture.md");
  return {lines_of(document.text), {document.path}};
}

// --- the laws

// What moves with every edit has a ceiling only. Another number is lowered with the change that lowers it.
enum class Ceiling { exact, above };

struct Law {
  std::string_view what;   // "members of Answer"
  std::string_view keeps;  // what it keeps, and why
  std::size_t number;
  Measured (*measure)(const Sources& sources);
  Sources small, grown;  // by one
  Ceiling ceiling = Ceiling::exact;
};

constexpr std::string_view of_command = "src/command/command.hpp";

// A header with a struct that has one member, and with one that has two.
Sources with_members(std::string_view path, std::string_view name, std::string_view members) {
  return {{std::string(path),
           fmt::format("// struct {0};\nstruct {0} {{\n  {1}  bool is() const {{ return a; }}\n}};\n", name, members)}};
}

const std::vector<Law>& laws() {
  static const std::vector<Law> table = {
      {"members of Answer", "An answer is what every command gives: what one feature needs hangs on it elsewhere.", 12,
       [](const Sources& sources) { return members_of(sources, of_command, "Answer"); },
       with_members(of_command, "Answer", "int a = {1};\n"),
       with_members(of_command, "Answer", "int a = {1}, b = f(1, 2);\n")},
      {"members of Command", "The row of a command is read by all that help, complete and parse.", 17,
       [](const Sources& sources) { return members_of(sources, of_command, "Command"); },
       with_members(of_command, "Command", "std::map<int, int> a = {};\n"),
       with_members(of_command, "Command", "std::map<int, int> a = {};\n  int (*b)(int, int) = nullptr;\n")},
      {"members of Arguments", "A command line is the same for all commands, so what one of them finds is its own.", 5,
       [](const Sources& sources) { return members_of(sources, of_command, "Arguments"); },
       with_members(of_command, "Arguments : Values", "int a;\n"),
       with_members(of_command, "Arguments : Values", "int a;\n  std::function<void(int b)> c;\n")},
      {"members of Form", "A form is a row for all forms: a new hook takes the place of one.", 7,
       [](const Sources& sources) { return members_of(sources, "src/command/form.hpp", "Form"); },
       with_members("src/command/form.hpp", "Form", "int a;\n"),
       with_members("src/command/form.hpp", "Form", "int a;\n  int (*b)(int c) = nullptr;\n")},
      {"members of Annex", "The row of an annex is all that the house knows of it: a new hook takes the place of one.",
       5, [](const Sources& sources) { return members_of(sources, "src/command/annex.hpp", "Annex"); },
       with_members("src/command/annex.hpp", "Annex", "int a;\n"),
       with_members("src/command/annex.hpp", "Annex", "int a;\n  std::vector<int> (*b)();\n")},
      {"members of Style", "All formats read a style, so settings of one format belong to that format.", 8,
       [](const Sources& sources) { return members_of(sources, "src/page/render/style.hpp", "Style"); },
       with_members("src/page/render/style.hpp", "Style", "int a;\n"),
       with_members("src/page/render/style.hpp", "Style", "int a;\n  bool b{true};\n")},
      {"members of Table", "Every format writes tables, so each member is a question to all of them.", 12,
       [](const Sources& sources) { return members_of(sources, "src/page/block/page.hpp", "Table"); },
       with_members("src/page/block/page.hpp", "Table", "int a;\n"),
       with_members("src/page/block/page.hpp", "Table", "int a;\n  enum class Kind { x };\n  Kind b[2] = {};\n")},
      {"headers of one command, or of school/, that command/command.hpp includes",
       "Every command includes this header, so that what it includes is compiled with all of them.",
       0,
       guests_of_the_waist,
       {{std::string(of_command), "#include \"command/options.hpp\"\n"}},
       {{std::string(of_command), "#include \"command/options.hpp\"\n#include \"school/browser/story.hpp\"\n"}}},
      {"options that command/app.cpp names",
       "An option that the whole program knows by name is one that its command cannot keep to itself.",
       15,
       options_of_the_app,
       {{"src/command/app.cpp", "return has(option::page) && has(option::page);  // option::only\n"}},
       {{"src/command/app.cpp", "return has(option::page) && has(option::each);  // option::only\n"}}},
      {"includes of an annex from outside of it",
       "An annex includes the house, and the house no annex, so that nobody has to know an annex.",
       0,
       includes_of_annexes,
       {{"src/annexes.cpp", "#include \"aside/annex.hpp\"\nall = {&aside_annex};\n"},
        {"src/core/a.cpp", "// #include \"aside/a.hpp\"\n#include \"asides/a.hpp\"\n"}},
       {{"src/annexes.cpp", "#include \"aside/annex.hpp\"\nall = {&aside_annex};\n"},
        {"src/core/a.cpp", "#include \"aside/a.hpp\"\n#include \"asides/a.hpp\"\n"}}},
      {"types in headers that end in -ed",
       "A type is a noun: a participle does not say whether it is a list, a result or an action.",
       0,
       types_in_ed,
       {{"src/a.hpp", "struct Need {};\nenum class Kind { Named };\ntemplate <class Parsed>\nvoid f(Parsed p);\n"}},
       {{"src/a.hpp", "struct Need {};\nenum class Learned { x };\ntemplate <class Parsed>\nvoid f(Parsed p);\n"}}},
      {"names of files (.cpp) that stand in several rooms",
       "The name of a file says its subject, and is found by that alone.",
       0,
       names_in_two_rooms,
       {{"src/core/a.cpp", ""}, {"src/page/b.cpp", ""}, {"src/page/a.hpp", ""}},
       {{"src/core/a.cpp", ""}, {"src/page/a.cpp", ""}, {"src/page/a.hpp", ""}}},
      {"files with more than one unnamed namespace",
       "A file that opens several has several subjects.",
       0,
       files_of_many_subjects,
       {{"src/a.cpp", "\nnamespace {\n}\nnamespace b {\n}\n"}},
       {{"src/a.cpp", "\nnamespace {\n}\nnamespace {\n}\n"}}},
      {"fields of recipes as texts in data/parameters/ (texts in quotes that are the name of a row of recipe_fields())",
       "What a field is called stands once; a misspelled text is found when it runs.",
       2,  // a plural of sentences, and a member of DistilBERT's config.json
       fields_spelled,
       {{"src/data/parameters/a.cpp", "{\"norm_kind\", \"rms\"},  // \"norm\"\n"}},
       {{"src/data/parameters/a.cpp", "{\"norm_kind\", \"rms\"}, {\"norm\", \"pre\"},\n"}}},
      {"facts of the judge as texts in school/tutor/ and school/puzzle/ (texts in quotes that an \"if\" of judge.json has, "
       "where a comma or ] follows)",
       "A fact is known by its address and not by its spelling, or nothing notices that nobody finds it.",
       43,
       facts_spelled,
       {{"src/school/tutor/a.cpp", "{\"far\", is_far},  // \"far\"\n"}},
       {{"src/school/tutor/a.cpp", "{\"far\", is_far}, {\"close\", off < limit(\"close\") ? \"far\" : x},\n"}}},
      {"readers of our own languages (classes named …Reader, …Parser, …Scanner or …Lexer outside of data/, and files "
       "without such a class that use a scanner)",
       "A new feature says what it wants in a language that is there.",
       9,
       readers,
       {{"src/a.cpp", "class Reader {\n  Scanner scanner_;\n};\nclass LawReader;\n"},
        {"src/data/b.cpp", "class Parser {};\n"}},
       {{"src/a.cpp", "class Reader {\n  Scanner scanner_;\n};\nclass LawReader;\n"},
        {"src/b.cpp", "Scanner scanner(text);\n"}}},
      {"lines of headers that command/attention/walk.cpp needs",
       "An ordinary command is compiled, and understood, with what it includes.",
       6620,
       lines_that_walk_needs,
       {{"src/command/attention/walk.cpp", "#include \"a.hpp\"\n#include \"b.hpp\"\n"},
        {"src/a.hpp", "#include \"b.hpp\"\n"},
        {"src/b.hpp", "#include \"a.hpp\"\n"}},
       {{"src/command/attention/walk.cpp", "#include \"a.hpp\"\n#include \"b.hpp\"\n"},
        {"src/a.hpp", "#include \"b.hpp\"\n"},
        {"src/b.hpp", "#include \"a.hpp\"\n\n"}},
       Ceiling::above},
      {"lines of docs/architecture.md",
       "A newcomer reads this page as a whole.",
       250,
       lines_of_architecture,
       {{"docs/architecture.md", "# a\n"}},
       {{"docs/architecture.md", "# a\n\n"}},
       Ceiling::above},
  };
  return table;
}

// One sentence, or nothing where the law is kept.
std::string complaint_of(const Law& law, const Measured& measured) {
  if (measured.number > law.number) {
    return fmt::format("{}: {}, above the ceiling of {} in tests/laws_test.cpp; look at {}. {}", law.what,
                       measured.number, law.number, fmt::join(measured.where, ", "), law.keeps);
  }
  if (measured.number < law.number && law.ceiling == Ceiling::exact) {
    return fmt::format("{}: {}, below the ceiling of {} in tests/laws_test.cpp: lower it to {}", law.what,
                       measured.number, law.number, measured.number);
  }
  return "";
}

// --- what docs/architecture.md shows of them

// A row of the table there.
std::string shown_row(std::string_view what, std::string_view most, std::string_view why) {
  return fmt::format("| {} | {} | {} |\n", what, most, why);
}

// The laws of a build, of which tests/laws/build.py has the ceilings, the units and the words.
std::string rows_of_build(const std::string& script) {
  static const std::regex ceiling("\"(\\w+)\": ([0-9]+),"), word("\"(\\w+)\": \"([^\"]*), because ([^\"]*)\""),
      joint("\"\\s*\"");
  const auto table = [&](std::string_view name) {
    const std::size_t begin = script.find(fmt::format("\n{} = {{", name));
    return script.substr(begin, script.find("}\n", begin) - begin);
  };
  const std::string ceilings = table("CEILINGS"), laws = std::regex_replace(table("LAWS"), joint, ""),
                    units = table("UNITS");
  std::map<std::string, std::string> numbers;
  for (std::sregex_iterator at(ceilings.begin(), ceilings.end(), ceiling), end; at != end; ++at)
    numbers[(*at)[1]] = (*at)[2].str() + (has(units, fmt::format("\"{}\": KB", (*at)[1].str())) ? " kB" : "");
  std::string rows;
  for (std::sregex_iterator at(laws.begin(), laws.end(), word), end; at != end; ++at)
    rows += shown_row((*at)[2].str(), numbers.at((*at)[1]), (*at)[3].str());
  return rows;
}

std::string table_of_laws() {
  std::string rows;
  for (const Law& law : laws()) rows += shown_row(law.what, std::to_string(law.number), law.keeps);
  return rows + rows_of_build(::bytes_of((root / "tests/laws/build.py").string()));
}

// --- rooms

using LinesOfRooms = std::map<std::string, std::size_t>;

LinesOfRooms lines_of_rooms(const Sources& sources) {
  LinesOfRooms lines;
  for (const SourceFile& file : sources) {
    if (is_source(file.path) && file.path.starts_with("src/")) lines[room_of(file.path)] += lines_of(file.text);
  }
  return lines;
}

// What a room with so many lines gets: 3 % more, in tens.
std::size_t ceiling_of(std::size_t lines) { return (lines * 103 + 999) / 1000 * 10; }

LinesOfRooms ceilings_of_rooms(const std::string& text) {
  LinesOfRooms ceilings;
  for (const std::string_view line : split_at(text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream words{std::string(line)};
    std::string room;
    std::size_t ceiling = 0;
    if (!(words >> room >> ceiling)) throw std::runtime_error(fmt::format("tests/laws/rooms.txt: '{}'", line));
    ceilings[room] = ceiling;
  }
  return ceilings;
}

std::vector<std::string> complaints_of_rooms(const LinesOfRooms& lines, const LinesOfRooms& ceilings) {
  std::vector<std::string> complaints;
  for (const auto& [room, number] : lines) {
    const auto ceiling = ceilings.find(room);
    if (ceiling == ceilings.end()) {
      complaints.push_back(
          fmt::format("the room {} is not in tests/laws/rooms.txt: write \"{} {}\" there, draw it in "
                      "docs/architecture.md, and write its README",
                      room, room, ceiling_of(number)));
    } else if (number > ceiling->second) {
      complaints.push_back(
          fmt::format("lines of the room {}: {}, above the ceiling of {} in tests/laws/rooms.txt; if "
                      "they belong there, write \"{} {}\" and say why in the message of the commit",
                      room, number, ceiling->second, room, ceiling_of(number)));
    }
  }
  for (const auto& one : ceilings) {
    if (!lines.contains(one.first))
      complaints.push_back(fmt::format("tests/laws/rooms.txt has the room {}, which is gone: remove it", one.first));
  }
  return complaints;
}

const Sources& sources_today() {
  static const Sources all = [] {
    Sources files = source_files("src", {".cpp", ".hpp", ".js"});
    std::ranges::move(source_files("docs", {".md"}), std::back_inserter(files));
    return files;
  }();
  return all;
}

}  // namespace

TEST_CASE("the sources keep their laws: what may not grow has not grown") {
  for (const Law& law : laws()) {
    const std::string complaint = complaint_of(law, law.measure(sources_today()));
    CHECK_MESSAGE(complaint.empty(), complaint);
  }
}

TEST_CASE("the table of laws that docs/architecture.md shows is that of the tests") {
  constexpr std::string_view head = "| what is counted | at most | why |\n| :--- | ---: | :--- |\n";
  const fs::path path = root / "docs/architecture.md";
  const std::string page = ::bytes_of(path.string());
  const std::size_t begin = page.find(head) + head.size(), end = page.find("\n\n", begin - 1) + 1;
  REQUIRE(has(page, head));
  const std::string rows = table_of_laws();
  CHECK(std::ranges::count(rows, '\n') == static_cast<std::ptrdiff_t>(laws().size()) + 4);
  if (updates_golden()) std::ofstream(path, std::ios::binary) << page.substr(0, begin) << rows << page.substr(end);
  CHECK_MESSAGE((updates_golden() || page.substr(begin, end - begin) == rows),
                "it has other numbers or words: ATTN_UPDATE_GOLDEN=1 writes those of the tests");
}

TEST_CASE("each law of the sources sees one more, and says so in a sentence") {
  for (const Law& law : laws()) {
    CAPTURE(law.what);
    const Measured small = law.measure(law.small), grown = law.measure(law.grown);
    CHECK(grown.number == small.number + 1);
    CHECK_FALSE(grown.where.empty());
    Law tried = law;
    tried.number = small.number;
    CHECK(complaint_of(tried, small).empty());
    CHECK(has(complaint_of(tried, grown), fmt::format(": {}, above the ceiling of {} ", grown.number, small.number)));
    tried.number = grown.number;
    CHECK(has(complaint_of(tried, small), fmt::format(": lower it to {}", small.number)) ==
          (law.ceiling == Ceiling::exact));
  }
}

TEST_CASE("an annex is included by itself and by the table of annexes alone") {
  Sources sources = {{"src/aside/a.cpp", "#include \"aside/a.hpp\"\n#include \"core/a.hpp\"\n"},
                     {"src/annexes.cpp", "#include \"aside/annex.hpp\"\nall = {&aside_annex};\n"},
                     {"src/core/b.cpp", ""}};
  CHECK(includes_of_annexes(sources).number == 0);
  sources.back() = {"src/core/b.cpp", "#include \"aside/annex.hpp\"\n"};
  CHECK(includes_of_annexes(sources).where == std::vector<std::string>{"src/core/b.cpp includes aside/annex.hpp"});
  sources.back().text = "";
  sources[1].text += "#include \"aside/a.hpp\"\n";
  CHECK(includes_of_annexes(sources).where == std::vector<std::string>{"src/annexes.cpp includes aside/a.hpp"});
}

TEST_CASE("the annexes that the sources list are those that the program has, each in its folder") {
  std::vector<std::string> names;
  for (const Annex* annex : annexes()) names.emplace_back(annex->name);
  CHECK(folders_of_annexes(sources_today()) == names);
  for (const std::string& name : names) CHECK_MESSAGE(fs::is_directory(root / "src" / name), name);
}

TEST_CASE("rooms of the sources have no more lines than their table says") {
  const LinesOfRooms ceilings = ceilings_of_rooms(::bytes_of((root / "tests/laws/rooms.txt").string()));
  CHECK(ceilings.size() > 20);
  for (const std::string& complaint : complaints_of_rooms(lines_of_rooms(sources_today()), ceilings))
    FAIL_CHECK(complaint);
}

TEST_CASE("a room with a line too many, a new room and a room that is gone are seen") {
  const Sources small = {{"src/main.cpp", "\n"}, {"src/core/op/a.cpp", "\n\n"}, {"src/core/op/a.hpp", "\n"}};
  const LinesOfRooms lines = lines_of_rooms(small);
  CHECK(lines == LinesOfRooms{{"src", 1}, {"core/op", 3}});
  CHECK(complaints_of_rooms(lines, ceilings_of_rooms("# rooms\nsrc 1\ncore/op 3\n")).empty());
  const auto sees = [&](const char* table, std::string_view what) {
    const std::vector<std::string> complaints = complaints_of_rooms(lines, ceilings_of_rooms(table));
    REQUIRE(complaints.size() == 1);
    CHECK_MESSAGE(has(complaints.front(), what), complaints.front());
  };
  sees("src 1\ncore/op 2\n", "lines of the room core/op: 3, above the ceiling of 2 ");
  sees("src 1\n", "the room core/op is not in tests/laws/rooms.txt: write \"core/op 10\" there");
  sees("src 1\ncore/op 3\ncore 1\n", "the room core, which is gone: remove it");
  CHECK(ceiling_of(1000) == 1030);
  CHECK(ceiling_of(1001) == 1040);
}
