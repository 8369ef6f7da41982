#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The folders of src from top to bottom, as docs/architecture.md lists them: `  lesson/       lessons: …`. A
// folder includes itself and those below it. "" is src itself.
std::vector<std::string> read_folders() {
  std::vector<std::string> folders = {""};
  std::istringstream page(text_of(std::filesystem::path(ATTN_SOURCE_FOLDER) / "docs/architecture.md"));
  bool is_in_list = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "src/") is_in_list = true;
    if (line == "```") is_in_list = false;
    const std::size_t slash = line.find('/');
    const bool names_folder = is_in_list && line.starts_with("  ") && slash != std::string::npos &&
                              line[2] != ' ' && line.find_first_of(" .", 2) > slash;
    if (names_folder) folders.push_back(line.substr(2, slash - 2));
  }
  return folders;
}

const std::vector<std::string>& folders() {
  static const std::vector<std::string> all = read_folders();
  return all;
}

// What may be included less than all that lies below: a folder that is named knows only these.
struct Knowledge {
  std::string_view folder;
  std::vector<std::string_view> knows;
};
const std::vector<Knowledge> knowledge = {
    {"support", {}},
    {"math", {"support"}},
    {"files", {"math", "support"}},
    {"graph", {"math", "support"}},
    {"op", {"graph", "math", "support"}},
    {"attention", {"op", "graph", "math", "support"}},
    {"model", {"attention", "op", "graph", "math", "support"}},
    {"quantity", {"attention", "op", "graph", "math", "support"}},
    {"page", {"graph", "math", "support"}},
    {"render", {"page", "graph", "files", "math", "support"}},
};

// A folder within a folder may include its own files, those of the folder around it and what that may
// include, but none of the folders beside it.
std::string_view outermost(std::string_view folder) {
  return folder.substr(0, folder.find('/'));
}

// The only files that know a library.
struct Gate {
  std::string_view library;
  std::string_view file;
};
constexpr std::array gates = {
    Gate{"<xtensor/", "math/xtensor.hpp"},       Gate{"<xtensor-blas/", "math/xtensor_blas.hpp"},
    Gate{"<xflens/", "math/xtensor_blas.hpp"},   Gate{"<CLI/", "command/parse.cpp"},
    Gate{"<cmark-gfm", "document/markdown.cpp"},
};

// All that pages and formats may know of a graph: what was told of it, and not what it is.
constexpr std::array of_graph_in_pages = {"graph/trace.hpp", "graph/expression.hpp", "graph/formula.hpp",
                                          "graph/operation.hpp", "graph/role.hpp"};

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : path.substr(0, slash);
}

// What is included, in its quotes or brackets; empty when the line includes nothing.
std::string_view included(std::string_view line) {
  const auto skip = [&](std::string_view word) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with(word)) return false;
    line.remove_prefix(word.size());
    return true;
  };
  if (!skip("#") || !skip("include") || !skip("")) return {};
  const std::size_t end = line.find_first_of("\">", 1);
  return end == std::string_view::npos ? std::string_view() : line.substr(0, end + 1);
}

// What is wrong with one include of the file at `path`, a path within src; empty when nothing is.
std::string complaint(std::string_view path, std::string_view what) {
  for (const Gate& gate : gates) {
    // In quotes it is the same library.
    if (what.substr(1).starts_with(gate.library.substr(1)) && path != gate.file) {
      return std::string("only ").append(gate.file) + " may include it";
    }
  }
  if (what.front() != '"') return {};
  const std::string_view from = folder_of(path), to = folder_of(what.substr(1, what.size() - 2));
  const std::string_view top = outermost(from), other = outermost(to);
  const auto place_of = [](std::string_view folder) { return std::ranges::find(folders(), folder); };
  if (place_of(top) == folders().end()) return "its folder has no place in the order of the folders";
  if (place_of(other) == folders().end()) return "it is in no folder of src";
  if (other != top && place_of(other) < place_of(top)) return "it points up";
  if (other == top && to != from && to != top) return from == top ? "it points up" : "it points sideways";
  const std::string_view included_path = what.substr(1, what.size() - 2);
  if ((top == "page" || top == "render") && other == "graph" &&
      std::ranges::find(of_graph_in_pages, included_path) == of_graph_in_pages.end())
    return "a page does not know the graph";
  const auto row = std::ranges::find(knowledge, top, &Knowledge::folder);
  const bool may_know =
      row == knowledge.end() || other == top || std::ranges::find(row->knows, other) != row->knows.end();
  return may_know ? "" : "its folder may not know that folder";
}

std::vector<std::string> complaints(const std::string& path, std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string_view what = included(text.substr(begin, end - begin));
    if (what.empty()) continue;
    const std::string wrong = complaint(path, what);
    if (!wrong.empty()) found.push_back(path + " includes " + std::string(what) + ": " + wrong);
  }
  return found;
}

}  // namespace

TEST_CASE(
    "every folder of the sources has a place in the list of docs/architecture.md, and none is listed in "
    "vain") {
  std::vector<std::string> there = {""};
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(ATTN_SOURCE_FOLDER) / "src")) {
    if (entry.is_directory()) there.push_back(entry.path().filename().string());
  }
  std::vector<std::string> listed = folders();
  std::ranges::sort(there);
  std::ranges::sort(listed);
  CHECK(there == listed);
  for (const Knowledge& row : knowledge) {
    for (const std::string_view known : row.knows) CHECK(std::ranges::find(listed, known) != listed.end());
  }
}

TEST_CASE("no include of the sources points up or sideways, or to a folder that its own may not know") {
  const std::filesystem::path src = std::filesystem::path(ATTN_SOURCE_FOLDER) / "src";
  std::size_t files = 0, gates_seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(src)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".cpp" && extension != ".hpp") continue;
    const std::string path = entry.path().lexically_relative(src).generic_string();
    const std::string text = text_of(entry.path());
    for (const std::string& wrong : complaints(path, text)) FAIL_CHECK(wrong);
    ++files;
    for (const Gate& gate : gates)
      gates_seen += path == gate.file && text.find(gate.library) != std::string::npos;
  }
  CHECK(files > 80);
  CHECK(gates_seen == gates.size());
}

TEST_CASE("an include that points up or sideways is found") {
  using Found = std::vector<std::string>;
  CHECK(complaints("math/rows.cpp", "#pragma once\n#include \"graph/graph.hpp\"\nint x;\n") ==
        Found{"math/rows.cpp includes \"graph/graph.hpp\": it points up"});
  CHECK(complaints("files/csv.cpp", "  #  include\t\"page/page.hpp\"").size() == 1);
  CHECK(complaints("files/csv.cpp", "#include \"graph/graph.hpp\"").size() == 1);
  CHECK(complaints("parameters/layout.cpp", "#include \"problem/problem.hpp\"").size() == 1);
  CHECK(complaints("page/page.hpp", "#include \"render/text.hpp\"").size() == 1);
  CHECK(complaints("page/page.hpp", "#include \"graph/graph.hpp\"").size() == 1);
  for (const char* above : {"tell/describe.hpp", "problem/problem.hpp", "op/operations.hpp"})
    CHECK(complaints("render/json.cpp", std::string("#include \"") + above + "\"").size() == 1);
  CHECK(complaints("command/app.cpp", "#include \"output_file.hpp\"").size() == 1);
  CHECK(complaints("graph/graph.cpp", "#include \"../support/error.hpp\"").size() == 1);
  CHECK(complaints("graph/graph.cpp", "#include \"tests/testing.hpp\"").size() == 1);
  CHECK(complaints("drawing/curve.cpp", "#include \"support/error.hpp\"").size() == 1);
  CHECK(complaints("command/model/run.cpp", "#include \"command/cost/cost.hpp\"") ==
        Found{"command/model/run.cpp includes \"command/cost/cost.hpp\": it points sideways"});
  CHECK(complaints("command/app.cpp", "#include \"command/model/run.hpp\"").size() == 1);
  CHECK(complaints("files/csv.cpp", "#include \"graph/graph.hpp\"").size() == 1);
  CHECK(complaints("render/text.cpp", "#include \"problem/problem.hpp\"").size() == 1);
  CHECK(complaints("op/new/add.cpp", "#include \"attention/score.hpp\"").size() == 1);
  CHECK(complaints("a.cpp", "#include \"math/a.hpp\"\n#include \"nowhere/a.hpp\"").size() == 1);
}

TEST_CASE("a library that is included elsewhere than at its gate is found") {
  CHECK(complaints("graph/graph.hpp", "#include <xtensor/xtensor.hpp>").size() == 1);
  CHECK(complaints("graph/graph.hpp", "#include \"xtensor/xtensor.hpp\"").size() >= 1);
  CHECK(complaints("math/xtensor.hpp", "#include <xtensor-blas/xblas.hpp>").size() == 1);
  CHECK(complaints("command/app.cpp", "#include <CLI/CLI.hpp>").size() == 1);
  CHECK(complaints("math/xtensor.hpp", "#include <xtensor/xtensor.hpp>").empty());
  CHECK(complaints("command/parse.cpp", "#include <CLI/CLI.hpp>").empty());
}

TEST_CASE("an include that points down, stays or leads to a library is accepted") {
  CHECK(complaints("main.cpp", "#include \"output_file.hpp\"\n#include \"command/app.hpp\"").empty());
  CHECK(complaints("problem/draw.cpp", "#include \"files/json.hpp\"\n#include <vector>").empty());
  CHECK(complaints("op/cells.cpp", "#include \"math/rows.hpp\"\n// #include \"page/page.hpp\"").empty());
  CHECK(complaints("support/error.hpp", "#include <fmt/format.h>\n#include").empty());
}
