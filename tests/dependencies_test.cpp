#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

// From top to bottom: a folder includes itself and those below it. "" is src itself. A folder within a folder
// has a place of its own; those of one row may include each other.
const std::vector<std::vector<std::string_view>> layers = {
    {""},         {"command/attention", "command/model", "command/cost", "command/errata"},
    {"command"},  {"lesson"},
    {"document"}, {"tell"},
    {"problem"},  {"parameters"},
    {"model"},    {"attention"},
    {"op"},       {"render"},
    {"page"},     {"graph"},
    {"files"},    {"math"},
    {"support"}};

std::size_t layer_of(std::string_view folder) {
  const auto holds = [&](const auto& row) { return std::ranges::find(row, folder) != row.end(); };
  return static_cast<std::size_t>(std::ranges::find_if(layers, holds) - layers.begin());
}

// The only files that know a library.
struct Gate {
  std::string_view library;
  std::string_view file;
};
constexpr std::array gates = {
    Gate{"<xtensor/", "math/xtensor.hpp"},
    Gate{"<xtensor-blas/", "math/xtensor_blas.hpp"},
    Gate{"<CLI/", "command/parse.cpp"},
    Gate{"<cmark-gfm", "document/markdown.cpp"},
};

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
  const std::size_t from = layer_of(folder_of(path));
  const std::size_t to = layer_of(folder_of(what.substr(1, what.size() - 2)));
  if (from == layers.size()) return "its folder has no place in the order of the folders";
  if (to == layers.size()) return "it is in no folder of src";
  return to < from ? "it points up" : "";
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

TEST_CASE("no include of the sources points up or sideways") {
  const std::filesystem::path src = std::filesystem::path(ATTN_SOURCE_FOLDER) / "src";
  std::size_t files = 0, gates_seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(src)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".cpp" && extension != ".hpp") continue;
    const std::string path = entry.path().lexically_relative(src).generic_string();
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
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
  CHECK(complaints("parameters/layout.cpp", "#include \"problem/request.hpp\"").size() == 1);
  CHECK(complaints("op/new/add.cpp", "#include \"support/error.hpp\"").size() == 1);
  CHECK(complaints("page/page.hpp", "#include \"render/text.hpp\"").size() == 1);
  CHECK(complaints("command/app.cpp", "#include \"output_file.hpp\"").size() == 1);
  CHECK(complaints("graph/graph.cpp", "#include \"../support/error.hpp\"").size() == 1);
  CHECK(complaints("graph/graph.cpp", "#include \"tests/testing.hpp\"").size() == 1);
  CHECK(complaints("drawing/curve.cpp", "#include \"support/error.hpp\"").size() == 1);
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
