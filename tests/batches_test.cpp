#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "source_code.hpp"
#include "source_files.hpp"

using namespace attn;

// The files of a wing, which is a folder of src, are compiled together, in batches that are cut anywhere. A batch has
// one unnamed namespace for all of its files: a name that two of them declare there, or one that a header has already,
// is an error in one batch, calls another function in a second one, and is right in a third. So such names are refused.

namespace {

// A text with blanks in place of comments, literals and lines of the preprocessor.
std::string code_without_directives(const std::string& text) {
  std::string code = code_of(text).text;
  std::ranges::replace_if(
      code, [](char c) { return c == '"' || c == '\''; }, ' ');
  for (std::size_t begin = 0, end; begin < code.size(); begin = end + 1) {
    end = std::min(code.find('\n', begin), code.size());
    if (code[begin] != '#') continue;
    while (end < code.size() && code[end - 1] == '\\') end = std::min(code.find('\n', end + 1), code.size());
    for (std::size_t i = begin; i < end; ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
  }
  return code;
}

struct Declaration {
  std::string name;
  std::string alias = "";  // what it is another name for
  std::vector<std::string> namespaces;
};

// What declares a name, up to the name's end and one sign more: a "(", "=", "{" or ";".
struct Head {
  std::vector<std::string> words;  // those that stand in no <…>
  std::size_t end;                 // where that sign stands
  bool ends_in_word, is_member;
};

Head head_at(const std::string& code, std::size_t begin) {
  Head head{{}, begin, false, false};
  int depth = 0;
  const auto pass_parentheses = [&] {
    int open = 0;
    do {
      open += code[head.end] == '(' ? 1 : code[head.end] == ')' ? -1 : 0;
    } while (++head.end < code.size() && open > 0);
  };
  while (head.end < code.size()) {
    const char c = code[head.end];
    if (is_of_name(c)) {
      std::size_t end = head.end;
      while (end < code.size() && is_of_name(code[end])) ++end;
      const std::string word = code.substr(head.end, end - head.end);
      if (depth == 0) {
        head.is_member = head.end >= 2 && (code[head.end - 1] == ':' || code[head.end - 1] == '~');
        head.words.push_back(word);
      }
      head.ends_in_word = depth == 0;
      head.end = end;
      if (word == "operator") break;
      if ((word == "decltype" || word == "alignas" || word == "__attribute__") && code[end] == '(') pass_parentheses();
      continue;
    }
    if (c == '[' && code[head.end + 1] == '[') {
      head.end = std::min(code.find("]]", head.end), code.size() - 2) + 2;
      continue;
    }
    if (depth == 0 && (c == '(' || c == '=' || c == '{' || c == ';' || c == '[')) break;
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (c == '>') head.ends_in_word = false;
    ++head.end;
  }
  return head;
}

// Of `a = 1, b = 2;` the names behind the first one.
std::vector<std::string> further_names(const std::string& code, std::size_t begin) {
  std::vector<std::string> names;
  int depth = 0;
  for (std::size_t i = begin; i < code.size() && !(depth == 0 && code[i] == ';'); ++i) {
    depth += std::string_view("({[").find(code[i]) != std::string_view::npos   ? 1
             : std::string_view(")}]").find(code[i]) != std::string_view::npos ? -1
                                                                               : 0;
    if (depth != 0 || code[i] != ',') continue;
    const std::size_t first = code.find_first_not_of(" \n*&", i + 1);
    std::size_t end = first;
    while (end < code.size() && is_of_name(code[end])) ++end;
    const std::size_t then = code.find_first_not_of(" \n", end);
    if (end > first && std::string_view("={[").find(code[then]) != std::string_view::npos)
      names.push_back(code.substr(first, end - first));
  }
  return names;
}

// What the namespaces of a file declare, as clang-format writes it: all of it begins its line.
std::vector<Declaration> declarations(const std::string& text) {
  const std::string code = code_without_directives(text);
  std::vector<Declaration> found;
  std::vector<std::string> namespaces;
  const auto add = [&](const std::string& name, const std::string& alias = "") {
    found.push_back({name, alias, namespaces});
  };
  std::size_t past = 0;
  for (std::size_t begin = 0, end; begin < code.size(); begin = end + 1) {
    end = std::min(code.find('\n', begin), code.size());
    if (std::string_view(text).substr(begin).starts_with("}  // namespace")) namespaces.pop_back();
    if (begin < past || (!is_of_name(code[begin]) && code[begin] != '[')) continue;
    const Head head = head_at(code, begin);
    past = head.end;
    if (head.words.empty() || head.end == code.size()) continue;
    const char sign = code[head.end];
    const std::vector<std::string>& words = head.words;
    const auto is = [&](std::size_t i, std::string_view word) { return i < words.size() && words[i] == word; };
    std::size_t first = 0;
    while (is(first, "inline") || is(first, "template") || is(first, "constexpr")) ++first;
    if (is(first, "namespace") && sign == '{') {
      if (words.size() > first + 1) add(words[first + 1]);
      if (code[end - 1] == '{') namespaces.push_back(words.size() > first + 1 ? words.back() : "");
    } else if (is(first, "using")) {
      const std::size_t stop = std::min(code.find(';', begin), code.size());
      past = stop;
      if (sign == '=') add(words[first + 1], code.substr(head.end, stop - head.end));
      if (sign == '=' || is(first + 1, "namespace") || is(first + 1, "enum")) continue;
      for (std::size_t i = begin; i < stop; ++i) {
        std::size_t word = i + 1;
        while (is_of_name(code[word - 1])) --word;
        if (code[i + 1] == ',' || code[i + 1] == ';') add(code.substr(word, i + 1 - word));
      }
    } else if ((is(first, "struct") || is(first, "class") || is(first, "union") || is(first, "enum")) &&
               (sign == '{' || sign == ';')) {
      ++first;
      if (is(first, "class") || is(first, "struct")) ++first;
      if (first < words.size()) add(words[first]);
    } else if (words.size() > first + 1 && head.ends_in_word && !head.is_member && !is(first, "friend") &&
               std::ranges::find(words, "operator") == words.end()) {
      add(words.back());
      if (sign == '=' || sign == '{') {
        for (const std::string& name : further_names(code, head.end)) add(name);
      }
    }
  }
  return found;
}

// The wing of a path within src; nothing for a file that is in none.
std::string wing_of(std::string_view path) {
  path.remove_prefix(std::string_view("src/").size());
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? "" : std::string(path.substr(0, slash));
}

std::vector<std::string> included(const std::string& text) {
  constexpr std::string_view begin = "#include \"";
  std::vector<std::string> paths;
  for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    if (at == begin.size() || text[at - begin.size() - 1] == '\n')
      paths.push_back("src/" + text.substr(at, text.find('"', at) - at));
  }
  return paths;
}

class Wings {
 public:
  /// With the headers that every file of the library is given, whether it includes them or not.
  explicit Wings(const std::vector<SourceFile>& files, std::vector<std::string> precompiled = {})
      : precompiled_(std::move(precompiled)) {
    for (const SourceFile& file : files) {
      included_[file.path] = included(file.text);
      declared_[file.path] = declarations(file.text);
      const std::string wing = wing_of(file.path);
      if (!wing.empty()) wings_[wing].push_back(file.path);
    }
  }

  std::vector<std::string> clashes() const {
    std::vector<std::string> found;
    for (const auto& [wing, paths] : wings_) add_clashes(paths, found);
    return found;
  }

 private:
  struct Place {
    std::string path, alias;
  };

  std::set<std::string> headers_read_by(std::vector<std::string> paths) const {
    std::set<std::string> headers(precompiled_.begin(), precompiled_.end());
    paths.insert(paths.end(), precompiled_.begin(), precompiled_.end());
    while (!paths.empty()) {
      const auto those = included_.find(paths.back());
      paths.pop_back();
      if (those == included_.end()) continue;
      for (const std::string& header : those->second) {
        if (headers.insert(header).second) paths.push_back(header);
      }
    }
    return headers;
  }

  void add_clashes(const std::vector<std::string>& paths, std::vector<std::string>& found) const {
    std::map<std::string, std::string> in_headers;
    for (const std::string& header : headers_read_by(paths)) {
      const auto those = declared_.find(header);
      if (those == declared_.end()) continue;
      for (const Declaration& one : those->second) {
        if (one.namespaces == std::vector<std::string>{"attn"}) in_headers.emplace(one.name, header);
      }
    }
    std::map<std::string, Place> own;
    for (const std::string& path : paths) {
      if (!path.ends_with(".cpp")) continue;
      for (const Declaration& one : declared_.at(path)) {
        if (one.namespaces.empty() || !one.namespaces.back().empty()) continue;
        const auto [there, is_new] = own.emplace(one.name, Place{path, one.alias});
        const bool is_same_alias = !one.alias.empty() && one.alias == there->second.alias;
        if (!is_new && there->second.path != path && !is_same_alias)
          found.push_back(one.name + ": " + path + ", and " + there->second.path);
        const auto header = in_headers.find(one.name);
        if (header != in_headers.end()) found.push_back(one.name + ": " + path + ", and " + header->second);
      }
    }
  }

  std::vector<std::string> precompiled_;
  std::map<std::string, std::vector<std::string>> wings_, included_;
  std::map<std::string, std::vector<Declaration>> declared_;
};

std::vector<std::string> names_of(const std::string& text) {
  std::vector<std::string> names;
  for (const Declaration& one : declarations(text)) names.push_back(one.name);
  return names;
}

// The headers of src that CMakeLists.txt has precompiled, as it names them: src/core/graph/graph.hpp.
std::vector<std::string> precompiled_headers() {
  std::ifstream file(std::string(ATTN_SOURCE_FOLDER) + "/CMakeLists.txt");
  std::vector<std::string> paths;
  for (std::string line; std::getline(file, line);) {
    if (line.find("target_precompile_headers(") == std::string::npos) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      while (word.ends_with(')')) word.pop_back();
      if (word.starts_with("src/") && word.ends_with(".hpp")) paths.push_back(word);
    }
  }
  return paths;
}

// A file of a wing, in whose unnamed namespace this stands.
SourceFile file_with(const std::string& path, const std::string& text, const std::string& includes = "") {
  return {path, includes + "\nnamespace attn {\nnamespace {\n\n" + text + "\n}  // namespace\n}  // namespace attn\n"};
}

}  // namespace

TEST_CASE("a name of an unnamed namespace is no other one's in its wing, nor one of a header that its wing reads") {
  const std::vector<SourceFile> files = source_files("src");
  CHECK(files.size() > 500);
  const std::vector<std::string> precompiled = precompiled_headers();
  CHECK(!precompiled.empty());
  for (const std::string& path : precompiled)
    CHECK_MESSAGE(std::ranges::count(files, path, &SourceFile::path) == 1, path);
  for (const std::string& clash : Wings(files, precompiled).clashes()) FAIL_CHECK(clash);
}

TEST_CASE("a name that a wing has twice is found, whatever it is") {
  for (const char* one : {
           "struct Key {\n  int a;\n};\n",
           "enum class Key : unsigned { up };\n",
           "class Key final : public Base {\n  Key();\n};\n",
           "using Key = std::vector<int>;\n",
           "constexpr std::array<int, 2> Key = {1, 2};\n",
           "constexpr int first = 1, Key = 2;\n",
           "const Op Key[] = {{}};\n",
           "std::map<int, std::string> Key(const Node& node) { return {}; }\n",
           "template <class T, double (*f)(T)>\n[[gnu::always_inline]] inline T Key(T x) {\n  return f(x);\n}\n",
           "std::vector<std::vector<std::string>>\nKey(int a);\n",
           "using a::b, c::Key;\n",
       }) {
    CAPTURE(one);
    CHECK(Wings({file_with("src/page/a.cpp", one), file_with("src/page/b/c.cpp", "struct Key;\n")}).clashes().size() ==
          1);
    CHECK(Wings({file_with("src/page/a.cpp", one), file_with("src/core/c.cpp", "struct Key;\n")}).clashes().empty());
  }
  const SourceFile one = file_with("src/page/a.cpp", "void add(int a) {\n  return;\n}\nvoid add(double a) {}\n");
  CHECK(Wings({one}).clashes().empty());
  CHECK(Wings({one, file_with("src/page/b.cpp", "void add(Page& page) {}\n")}).clashes().size() == 1);
}

TEST_CASE("a name that a header of the wing has already is found") {
  const SourceFile header{"src/core/told.hpp",
                          "namespace attn {\n\nstd::string told(const Law& law);\n\n}  // namespace attn\n"};
  const SourceFile between{"src/page/page.hpp", "#include \"core/told.hpp\"\n"};
  const SourceFile other = file_with("src/page/b.cpp", "", "#include \"page/page.hpp\"\n");
  const SourceFile told = file_with("src/page/a.cpp", "std::string told(int number) {\n  return \"\";\n}\n");
  CHECK(Wings({header, between, other, told}).clashes() ==
        std::vector<std::string>{"told: src/page/a.cpp, and src/core/told.hpp"});
  CHECK(Wings({header, told}).clashes().empty());
  CHECK(Wings({header, told}, {"src/core/told.hpp"}).clashes().size() == 1);
}

TEST_CASE("the same alias in two files, and what only looks like a declaration, are accepted") {
  const std::string kind = "using Kind = Pattern::Kind;\n";
  CHECK(Wings({file_with("src/page/a.cpp", kind), file_with("src/page/b.cpp", kind)}).clashes().empty());
  CHECK(names_of("namespace attn {\n// int a = 1;\nvoid Page::say() {\n  int b = 2;\n}\nPage::~Page() = default;\n"
                 "bool operator==(Page, Page) { return true; }\nstatic_assert(true);\n#define C \\\n  int c\n"
                 "const char* const text = R\"(\nint d;\n)\";\nconst int e = 1'000;\n}  // namespace attn\nint f;\n") ==
        std::vector<std::string>{"attn", "text", "e", "f"});
}
