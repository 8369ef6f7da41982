#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/feed_forward.hpp"
#include "core/graph/name.hpp"

using namespace attn;

namespace {

const std::filesystem::path src = std::filesystem::path(ATTN_SOURCE_FOLDER) / "src";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string alternatives(const std::set<std::string>& words) {
  std::string pattern;
  for (const std::string& word : words) pattern += (pattern.empty() ? "" : "|") + word;
  return pattern;
}

const std::string& roles_by_name() {
  static const std::string pattern = [] {
    std::set<std::string> names;
    for (const Role* role : roles()) {
      if (!role->leaf.empty()) names.emplace(role->leaf);
    }
    return alternatives(names);
  }();
  return pattern;
}

const std::string& scopes_by_name() {
  static const std::string pattern = [] {
    std::set<std::string> names = {std::string(scope::averaging.name)};
    for (const ScopeKind* kind : scope_kinds()) names.emplace(kind->name);
    return alternatives(names);
  }();
  return pattern;
}

// What decides by the spelling of a node's name, wherever it stands.
const std::vector<std::regex>& reads_a_name() {
  static const std::vector<std::regex> patterns = {
      std::regex(R"((leaf\(\)|[.>]leaf)\s*[!=]=)"),
      std::regex(R"(\bleaf\s*[!=]=\s*")"),
      std::regex(R"([!=]=\s*[\w.>-]*\bleaf\(\))"),
      std::regex(R"((leaf|scope|scope_name)\(\)\.(find|rfind|starts_with|ends_with|contains|compare))"),
      std::regex(R"((node|operand|other)(\.|->)name\.(find|rfind|starts_with|ends_with|compare))"),
      std::regex(R"((node|operand|other)(\.|->)name [!=]= ")"),
  };
  return patterns;
}

// What spells the name of a role or a scope, where matrices are told from each other.
const std::vector<std::regex>& spells_a_name() {
  static const std::vector<std::regex> patterns = {
      std::regex("[!=]= \"(" + roles_by_name() + ")\""),
      std::regex("\"(" + roles_by_name() + ")\"(sv)? [!=]="),
      std::regex("\\b(find|at|contains|name|input)\\(\"(" + roles_by_name() + ")\""),
      std::regex("(starts|ends)_with\\(\"[._]?(" + roles_by_name() + "|" + scopes_by_name() + ")[._]?\""),
  };
  return patterns;
}

// A text that spells a scope: "encoder.{}.h". Patterns and commands that users type are in quotes or after a
// dash.
bool spells_a_scope(const std::string& line) {
  static const std::regex scope("^[^'-]*\\b(" + scopes_by_name() + ")\\.([0-9a-z_]|\\{)");
  bool within = false;
  for (std::size_t begin = 0, end; begin < line.size(); begin = end + 1, within = !within) {
    end = begin;
    while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
    end = std::min(end, line.size());
    if (within && std::regex_search(line.substr(begin, end - begin), scope)) return true;
  }
  return false;
}

bool any_in(const std::string& line, const std::vector<std::regex>& patterns) {
  for (const std::regex& pattern : patterns) {
    if (std::regex_search(line, pattern)) return true;
  }
  return false;
}

// Files and problems name their matrices, and options their values: there a name is only a name.
bool tells_matrices_apart(std::string_view path) {
  for (const std::string_view folder :
       {"core/attention/", "core/graph/", "core/model/", "core/op/", "page/block/", "page/render/", "page/tell/",
        "command/attention/", "command/cost/", "command/errata/", "command/model/"}) {
    if (path.starts_with(folder)) return !path.ends_with("commands.cpp");  // examples, as users type them
  }
  return false;
}

// Lines that decide by a spelling what the table of roles knows.
std::vector<std::string> complaints(const std::string& path, const std::string& text) {
  std::vector<std::string> found;
  std::size_t number = 0;
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    ++number;
    line.resize(std::min(line.find("//"), line.size()));
    // An operation has a name of its own.
    if (line.starts_with("#") || line.find("op->name") != std::string::npos) continue;
    // Searching takes long: only where one of the words is that all patterns have.
    const auto has = [&](const char* word) { return line.find(word) != std::string::npos; };
    const bool spells =
        tells_matrices_apart(path) && has("\"") && (any_in(line, spells_a_name()) || spells_a_scope(line));
    const bool reads = has("leaf") || has("scope") || has("name");
    if (spells || (reads && any_in(line, reads_a_name())))
      found.push_back(path + ":" + std::to_string(number) + ": " + line);
  }
  return found;
}

bool is_the_table(std::string_view path) { return path.starts_with("core/graph/name."); }

}  // namespace

TEST_CASE("nothing is read from the spelling of a matrix's name but in the table of roles") {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(src)) {
    const std::string path = entry.path().lexically_relative(src).generic_string();
    if (!entry.is_regular_file() || is_the_table(path)) continue;
    for (const std::string& wrong : complaints(path, text_of(entry.path()))) FAIL_CHECK(wrong);
    ++files;
  }
  CHECK(files > 80);
}

TEST_CASE("a line that decides by the spelling of a name is found") {
  for (const char* line : {
           "if (node.leaf() == \"weights\") return;",
           "return \"weights\" == node.leaf();",
           "return operand->leaf() != node.leaf();",
           "const bool in_head = node.scope().find(\"head.\") != npos;",
           "return node.leaf().ends_with(\"weights\");",
           "return node.name.ends_with(\".weights\");",
           "return node->name == \"encoder.output\";",
           "const Node* scores = graph.find(\"scores\");",
           "return name == \"scores\";",
           "const Node& node = graph.at(fmt::format(\"decoder.{}.h\", t));",
           "return name.starts_with(\"encoder.\");",
       }) {
    CHECK_MESSAGE(complaints("core/model/part.cpp", line).size() == 1, line);
  }
}

TEST_CASE("a line that asks for a role, or only speaks of a matrix, is accepted") {
  for (const char* line : {
           "if (node.is(role::weights)) return;",
           "const Node* scores = node.beside(role::scores);",
           "page.say(\"Softmax turns each row of scores into weights.\");",
           "return node.op->name == \"mask\";",
           "  // node.leaf() == \"weights\"",
           "#include \"core/attention/averaging.hpp\"",
       }) {
    CHECK_MESSAGE(complaints("core/model/part.cpp", line).empty(), line);
  }
  CHECK(complaints("data/problem/build_problem.cpp", "if (name == \"scores\") return;").empty());
}

TEST_CASE("the table has every role, and every name once") {
  std::set<std::string_view> names;
  for (const Role* role : roles()) CHECK_MESSAGE(names.insert(role->leaf).second, role->leaf);
  std::set<std::string_view> scopes;
  for (const ScopeKind* kind : scope_kinds()) CHECK_MESSAGE(scopes.insert(kind->name).second, kind->name);
}

TEST_CASE("a name from outside is its role in its scopes, and is written as it was") {
  const Name known = name_from_text("encoder.2.self_attention.w_q");
  CHECK(&known.role() == &role::w_q);
  REQUIRE(known.scopes().size() == 3);
  CHECK(known.scopes()[0].kind == &scope::encoder);
  CHECK(known.scopes()[1].kind == &scope::number);
  CHECK(known.scopes()[1].number == 2);
  CHECK(known.scopes()[2].kind == &scope::self_attention);
  CHECK(name_from_text("head.3.weights").scopes().front().number == 3);
  CHECK(name_from_text("decoder.1.norm_2.gamma").scopes().back().number == 2);
  CHECK(name_from_text("decoder.norm.gamma").scopes().back().kind == &scope::norm);
  CHECK(&name_from_text("my.matrix").role() == &role::other);
  for (const char* written : {"w_q", "encoder.2.self_attention.w_q", "head.02.x", "a..b", ".x", "norm_.x", "7",
                              "head.7", "x.", "", "headless.1.x", "encoder.01.norm_1.beta"}) {
    CHECK(name_from_text(written).text() == written);
  }
}
