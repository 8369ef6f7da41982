// The paths that README.md, docs/, lessons and comments name exist.

#include <doctest/doctest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "core/support/text.hpp"
#include "page/document/markdown.hpp"
#include "process.hpp"
#include "running_text.hpp"
#include "source_files.hpp"

using namespace attn;

namespace {

// Files that other projects have.
constexpr std::string_view foreign[] = {"llama.cpp", "llama-model.cpp",    "llama-vocab.cpp",       "constants.py",
                                        "export.py", "tokenizer.py",       "convert_hf_to_gguf.py", "docs/gguf.md",
                                        "Node.js",   "src/llama-vocab.cpp"};

// Files that a build makes.
constexpr std::string_view built[] = {"compiled_in.cpp", "CPackConfig.cmake"};

std::set<std::string> names_in(const fs::path& folder, bool whole) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory()) {
      if (is_ignored_folder(name)) continue;
      if (whole)
        names.merge(names_in(entry.path(), true));
      else
        names.insert(name);
    } else if (whole && entry.is_regular_file()) {
      names.insert(name);
    }
  }
  return names;
}

constexpr std::string_view endings_of_sources[] = {".cpp", ".hpp", ".def", ".mjs",  ".js",
                                                   ".css", ".py",  ".sh",  ".cmake"};

// A path begins with a folder of the repository or of src/. A name alone is one of a source file by its ending.
struct PathsTold {
  std::set<std::string> folders = names_in(root, false), files = names_in(root, true);
  PathsTold() { folders.merge(names_in(root / "src", false)); }

  std::vector<std::string> in(std::string_view text) const {
    constexpr std::string_view signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./";
    std::vector<std::string> all;
    for (std::size_t at = text.find_first_of(signs), end = 0; at < text.size(); at = text.find_first_of(signs, end)) {
      end = std::min(text.find_first_not_of(signs, at), text.size());
      std::string told(text.substr(at, end - at));
      while (told.ends_with('.') || told.ends_with('-')) told.pop_back();
      const std::size_t slash = told.find('/');
      // What goes on is an address, or a pattern.
      const bool is_whole = (at == 0 || std::string_view(":@*").find(text[at - 1]) == std::string_view::npos) &&
                            (end == text.size() || text[end] != '*');
      if (is_whole && (slash == std::string::npos ? is_source(told) : folders.contains(told.substr(0, slash))))
        all.push_back(told);
    }
    return all;
  }

  bool has(const std::string& told) const {
    if (std::ranges::find(foreign, told) != std::end(foreign) || std::ranges::find(built, told) != std::end(built))
      return true;
    if (told.find('/') == std::string::npos) return files.contains(told);
    return is_there(root / told) || is_there(root / "src" / told);
  }

 private:
  static bool is_source(const std::string& name) {
    const fs::path path = name;
    const auto is_its = [&](std::string_view ending) { return path.extension() == ending; };
    return !name.starts_with('_') && std::ranges::any_of(endings_of_sources, is_its);
  }

  // NN-NAME.md stands for 01-soft-lookup.md and the like.
  static bool is_there(const fs::path& path) {
    static const std::regex placeholder("NN|NAME|TASK");
    const std::string name = path.filename().string();
    if (!std::regex_search(name, placeholder)) return fs::exists(path);
    const std::regex like(std::regex_replace(replaced(name, ".", "\\."), placeholder, "[a-z0-9.-]+"));
    if (!fs::is_directory(path.parent_path())) return false;
    const auto is_like = [&](const fs::directory_entry& entry) {
      return std::regex_match(entry.path().filename().string(), like);
    };
    const fs::directory_iterator entries(path.parent_path());
    return std::any_of(begin(entries), end(entries), is_like);
  }
};

// The comments of a source, each line of its own.
std::string comments_of(const SourceFile& file) {
  const bool has_hash = file.path.ends_with(".py") || file.path.ends_with(".sh");
  std::string comments;
  for (const std::string_view line : split_at(file.text, '\n')) {
    const std::size_t at = line.find(has_hash ? "#" : "//"), first = line.find_first_not_of(' ');
    if (at != line.npos && (at == first || line[at - 1] == ' ')) comments += std::string(line.substr(at)) + "\n";
  }
  return comments;
}

}  // namespace

TEST_CASE("every path that documents and comments name exists") {
  const PathsTold paths;
  ToldWhere told;
  for (const SourceFile& document : documents())
    for (const std::string& path : paths.in(own_text(document.text))) told.emplace(path, document.path);
  for (const char* folder : {"src", "tests"}) {
    for (const SourceFile& file : source_files(folder, {".cpp", ".hpp", ".def", ".js", ".mjs", ".py", ".sh"}))
      for (const std::string& path : paths.in(comments_of(file))) told.emplace(path, file.path);
  }
  CHECK(told.size() > 200);
  for (const auto& one : told) CHECK_MESSAGE(paths.has(one.first), one.second << " names " << one.first);
  CHECK_FALSE(paths.has("core/graph/no_such_file.cpp"));
  CHECK_FALSE(paths.has("no_such_file.cpp"));
  CHECK_FALSE(paths.has("lessons/NN-NAME.pdf"));
  for (const char* folder : {".git", "build", "build-edit", "node_modules"}) CHECK(is_ignored_folder(folder));
  for (const char* folder : {"src", "tests", "rebuild", "node"}) CHECK_FALSE(is_ignored_folder(folder));
}

TEST_CASE("every link of a document leads to a file and to a heading that are there") {
  static const std::regex link(R"(\]\(([^)\s#]*)(#([^)\s]*))?\))"), address("^[a-z]+:");
  const auto anchors_of = [](const std::string& text) {
    std::set<std::string> anchors;
    for (const MarkdownLeaf& leaf : markdown_leaves(own_text(text))) {
      if (leaf.kind != MarkdownLeaf::Kind::heading) continue;
      std::string anchor;
      for (const Text& words : leaf.words) {
        for (const char c : in_lower_case(words_of(words))) {
          if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') anchor += c;
          if (c == ' ') anchor += '-';
        }
      }
      anchors.insert(anchor);
    }
    return anchors;
  };
  std::size_t links = 0;
  for (const SourceFile& document : documents()) {
    const std::string text = own_text(document.text);
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      const std::string target = (*at)[1], anchor = (*at)[3];
      if (std::regex_search(target, address)) continue;
      const fs::path path = target.empty() ? root / document.path : (root / document.path).parent_path() / target;
      CHECK_MESSAGE(fs::exists(path), document.path << " leads to " << target);
      ++links;
      if (!anchor.empty() && fs::exists(path))
        CHECK_MESSAGE(anchors_of(bytes_of(path.string())).contains(anchor), document.path << ": " << (*at).str());
    }
  }
  CHECK(links > 50);
}
