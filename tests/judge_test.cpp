#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>

#include "core/support/text.hpp"
#include "data/files/json.hpp"
#include "school/tutor/judge.hpp"
#include "source_files.hpp"

// The table of the judge, which the program and the page of a lesson read: what both have to find, and what neither may
// say by itself.

using namespace attn;

namespace {

Json table() { return parse_json(judge_table(), "judge.json"); }

// All rows of all lists.
void visit_rows(const std::function<void(const Json& row)>& visit) {
  const Json whole = table();
  for (const auto& [name, list] : whole.items()) {
    if (!list.is_array()) continue;
    for (const Json& row : list) {
      if (row.is_object()) visit(row);
    }
  }
}

// A template in its parts: what is said, and between that the names in {}.
std::vector<std::string> parts_of(const std::string& says) {
  std::vector<std::string> parts = {""};
  for (const char c : says) {
    if (c == '{' || c == '}') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Literals that stand beside each other are one; comments are left out.
std::string code_of(const SourceFile& file) {
  static const std::regex comments("//[^\n]*"), seams("\"\\s*\n\\s*\"");
  return std::regex_replace(std::regex_replace(file.text, comments, ""), seams, "");
}

std::string code_in(const std::string& folder, const std::vector<std::string>& endings = {".cpp", ".hpp"}) {
  std::string code;
  for (const SourceFile& file : source_files(folder, endings)) code += code_of(file);
  return code;
}

std::string script(const std::string& name) {
  for (const SourceFile& file : source_files("src/school/browser", {".js"})) {
    if (file.path == "src/school/browser/" + name) return code_of(file);
  }
  FAIL(name);
  return "";
}

// What judges: in the program, and on the page of a lesson.
std::string code_of_program() {
  return code_in("src/school/tutor") + code_in("src/school/puzzle") + code_in("src/school/lesson");
}
std::string code_of_page() {
  return script("answers.js") + script("numbers.js") + script("puzzles.js") + script("questions.js");
}

bool has_word(const std::string& code, const std::string& name) {
  return std::regex_search(code, std::regex("[\"`.{, ]" + name + "[\"`:,. })]"));
}

bool is_one_of(const std::string& name, const std::vector<std::string>& names) {
  return std::ranges::find(names, name) != names.end();
}

// Whether both judges have it: as it stands there, or made of a kind, such as "first is slip".
bool is_found(const std::string& name) {
  static const std::string program = code_of_program(), page = code_of_page();
  for (const std::string beginning : {"first is ", "has "}) {
    if (name.starts_with(beginning) && is_one_of(name.substr(beginning.size()), names_of_kinds())) return true;
  }
  const std::string asks = "asks for a ";
  if (name.starts_with(asks)) return is_one_of(name.substr(asks.size()), {"number", "choice", "shape", "word"});
  return has_word(program, name) && has_word(page, name);
}

}  // namespace

TEST_CASE("a sentence of the judge stands in its table alone") {
  const std::string code = code_of_program() + code_of_page();
  std::size_t sentences = 0;
  visit_rows([&](const Json& row) {
    const std::vector<std::string> parts = parts_of(row.value("says", ""));
    for (std::size_t i = 0; i < parts.size(); i += 2) {
      if (std::ranges::count(trimmed(parts[i]), ' ') < 2) continue;
      ++sentences;
      CHECK_MESSAGE(code.find(parts[i]) == std::string::npos, parts[i]);
    }
  });
  CHECK(sentences > 20);
}

TEST_CASE("the script that judges has no sentence") {
  const std::regex sentence("[\"`]'?[A-Z][a-z]* [^\"`\n]*[\"`]");
  std::smatch found;
  const std::string code = script("answers.js");
  CHECK_MESSAGE(!std::regex_search(code, found, sentence), found.str());
}

TEST_CASE("the program and the page find each fact, place and limit that the table of the judge names") {
  const Json whole = table();
  visit_rows([&](const Json& row) {
    for (const Json& fact : row.value("if", Json::array())) CHECK_MESSAGE(is_found(fact), fact.get<std::string>());
    const std::vector<std::string> parts = parts_of(row.value("says", ""));
    for (std::size_t i = 1; i < parts.size(); i += 2) {
      CHECK_MESSAGE((is_one_of(parts[i], names_of_kinds()) || whole.contains(parts[i]) || is_found(parts[i])),
                    parts[i]);
    }
    if (row.contains("upTo")) {
      CHECK(is_one_of(row["upTo"], names_of_kinds()));
      CHECK(whole["limits"].contains(row["told"].get<std::string>()));
      CHECK(whole.contains(row.value("list", "recognized")));
    }
    CHECK(is_one_of(row.value("mark", "wrong"), names_of_marks()));
  });
  for (const auto& entry : whole["limits"].items()) {
    const std::string name = entry.key();
    if (name == "exactly" || name == "roughly") continue;  // which only rows name
    if (name.starts_with("chance of")) {                   // the page reads what the program has made of them
      CHECK_MESSAGE(has_word(code_of_program(), name), name);
      continue;
    }
    CHECK_MESSAGE(is_found(name), name);
  }
}
