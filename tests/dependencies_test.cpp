#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "command/annex.hpp"

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The rooms of src from top to bottom, as docs/architecture.md draws them: a wing as `  core/   …`, and the rooms
// within it below, as `    math/   …`. A room includes itself and those below it. "" is src itself.
std::vector<std::string> read_rooms() {
  std::vector<std::string> rooms = {""};
  std::istringstream page(text_of(std::filesystem::path(ATTN_SOURCE_FOLDER) / "docs/architecture.md"));
  std::string wing;
  bool is_in_list = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "src/") is_in_list = true;
    if (line == "```") is_in_list = false;
    const std::size_t begin = line.find_first_not_of(' '), slash = line.find('/');
    if (!is_in_list || (begin != 2 && begin != 4) || line.find_first_of(" .", begin) <= slash) continue;
    const std::string name = line.substr(begin, slash - begin);
    if (begin == 2) wing = name;
    rooms.push_back(begin == 2 ? wing : wing + "/" + name);
  }
  return rooms;
}

const std::vector<std::string>& rooms() {
  static const std::vector<std::string> all = read_rooms();
  return all;
}

// What stands in the README of a room behind "- **PART**: ", up to the next part.
std::string part_of_readme(std::string_view room, std::string_view part) {
  const std::string page = text_of(std::filesystem::path(ATTN_SOURCE_FOLDER) / "src" / room / "README.md");
  const std::string begin = "\n- **" + std::string(part) + "**: ";
  const std::size_t at = page.find(begin);
  if (at == std::string::npos) return "";
  const std::string rest = page.substr(at + begin.size());
  return rest.substr(0, std::min(rest.find("\n- "), rest.find("\n\n")));
}

// What stands between backticks.
std::vector<std::string> in_backticks(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = text.find('`'), end = 0; at != std::string::npos; at = text.find('`', end + 1)) {
    end = std::min(text.find('`', at + 1), text.size() - 1);
    all.push_back(text.substr(at + 1, end - at - 1));
  }
  return all;
}

// The rooms that a room may know, as its README says.
const std::vector<std::string>& known_by(const std::string& room) {
  static std::map<std::string, std::vector<std::string>> all;
  const auto [found, is_new] = all.try_emplace(room);
  if (is_new) found->second = in_backticks(part_of_readme(room, "May know"));
  return found->second;
}

std::string_view wing_of(std::string_view room) { return room.substr(0, room.find('/')); }

// The only files that know a library.
struct Gate {
  std::string_view library;
  std::string_view file;
};
constexpr std::array gates = {
    Gate{"<xtensor/", "core/math/xtensor.hpp"},       Gate{"<xtensor-blas/", "core/math/xtensor_blas.hpp"},
    Gate{"<xflens/", "core/math/xtensor_blas.hpp"},   Gate{"<CLI/", "command/parse.cpp"},
    Gate{"<cmark-gfm", "page/document/markdown.cpp"}, Gate{"<pcre2", "data/tokenizer/pattern.cpp"},
};

// All that pages and formats may know of a graph: what was told of it, and not what it is.
constexpr std::array of_graph_in_pages = {"core/graph/trace.hpp", "core/graph/formula.hpp", "core/graph/function.hpp",
                                          "core/graph/operation.hpp", "core/graph/name.hpp"};

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
  const std::string_view included_path = what.substr(1, what.size() - 2);
  const std::string_view from = folder_of(path), to = folder_of(included_path);
  const auto place_of = [](std::string_view room) { return std::ranges::find(rooms(), room); };
  if (place_of(from) == rooms().end()) return "its folder has no place among the rooms";
  if (place_of(to) == rooms().end()) return "it is in no room of src";
  if (from == to) return {};
  // The rooms of command/ stand beside each other: each knows what all commands share, and only the table of all
  // commands knows them. So do those of an annex with what they share; among themselves they lie below each other.
  const std::string_view wing = wing_of(from);
  const bool is_annex =
      std::ranges::any_of(attn::annexes(), [&](const attn::Annex* annex) { return annex->name == wing; });
  const bool shares = wing == "command" || is_annex, is_shared = shares && to == wing;
  if (shares && wing_of(to) == wing) {
    if (from == wing) return "it points up";
    if (wing == "command" && !is_shared) return "it points sideways";
  }
  if (!is_shared && place_of(to) < place_of(from)) return "it points up";
  if ((from == "page/block" || from == "page/render") && to == "core/graph" &&
      std::ranges::find(of_graph_in_pages, included_path) == of_graph_in_pages.end())
    return "a page does not know the graph";
  const std::vector<std::string>& known = known_by(std::string(from));
  const bool may_know = std::ranges::find(known, to) != known.end();
  return may_know ? "" : "the README of its room does not say that it may know that room";
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

TEST_CASE("every room of the sources has a place in the drawing of docs/architecture.md, and none is drawn in vain") {
  const std::filesystem::path src = std::filesystem::path(ATTN_SOURCE_FOLDER) / "src";
  std::vector<std::string> there = {""};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(src)) {
    if (entry.is_directory()) there.push_back(entry.path().lexically_relative(src).generic_string());
  }
  std::vector<std::string> drawn = rooms();
  std::ranges::sort(there);
  std::ranges::sort(drawn);
  CHECK(there == drawn);
}

TEST_CASE("the README of each room names what is in it and the rooms that it knows, and no others") {
  const std::filesystem::path src = std::filesystem::path(ATTN_SOURCE_FOLDER) / "src";
  std::map<std::string, std::set<std::string>> known;  // rooms that each room includes
  std::map<std::string, std::string> texts;            // all that stands in its files
  for (const auto& entry : std::filesystem::recursive_directory_iterator(src)) {
    if (!entry.is_regular_file() || entry.path().extension() == ".md") continue;
    const std::string path = entry.path().lexically_relative(src).generic_string(), room(folder_of(path));
    const std::string text = text_of(entry.path());
    texts[room] += entry.path().filename().string() + "\n" + text;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const std::string_view what = included(line);
      if (!what.starts_with('"')) continue;
      const std::string to(folder_of(what.substr(1, what.size() - 2)));
      if (to != room) known[room].insert(to);
    }
  }
  CHECK(texts.size() > 30);
  for (const auto& [room, text] : texts) {
    CAPTURE(room);
    const std::string title = room.empty() ? "# src\n" : "# " + room + "/\n";
    CHECK(text_of(src / room / "README.md").starts_with(title));
    for (const char* part : {"Nouns", "Verbs"}) {
      const std::string names = part_of_readme(room, part);
      CHECK_MESSAGE(!names.empty(), part);
      for (const std::string& name : in_backticks(names)) {
        const std::string last = name.substr(name.rfind(':') + 1);
        CHECK_MESSAGE(text.find(last) != std::string::npos, "none of its files has " << name);
      }
    }
    CHECK(!part_of_readme(room, "Begin with").empty());
    const std::vector<std::string>& said = known_by(room);
    for (const std::string& one : said)
      CHECK_MESSAGE(known[room].contains(one),
                    "its README says that it may know " << one << ", which it does not include");
  }
}

TEST_CASE("no include of the sources points up or sideways, or to a room that its own may not know") {
  const std::filesystem::path src = std::filesystem::path(ATTN_SOURCE_FOLDER) / "src";
  std::size_t files = 0, gates_seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(src)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".cpp" && extension != ".hpp") continue;
    const std::string path = entry.path().lexically_relative(src).generic_string();
    const std::string text = text_of(entry.path());
    for (const std::string& wrong : complaints(path, text)) FAIL_CHECK(wrong);
    ++files;
    for (const Gate& gate : gates) gates_seen += path == gate.file && text.find(gate.library) != std::string::npos;
  }
  CHECK(files > 80);
  CHECK(gates_seen == gates.size());
}

TEST_CASE("an include that points up or sideways is found") {
  using Found = std::vector<std::string>;
  CHECK(complaints("core/math/rows.cpp", "#pragma once\n#include \"core/graph/graph.hpp\"\nint x;\n") ==
        Found{"core/math/rows.cpp includes \"core/graph/graph.hpp\": it points up"});
  CHECK(complaints("data/files/csv.cpp", "  #  include\t\"page/block/page.hpp\"").size() == 1);
  CHECK(complaints("data/files/csv.cpp", "#include \"core/graph/graph.hpp\"").size() == 1);
  CHECK(complaints("data/parameters/source.cpp", "#include \"data/problem/problem.hpp\"").size() == 1);
  CHECK(complaints("core/op/elementwise.cpp", "#include \"core/attention/score.hpp\"").size() == 1);
  CHECK(complaints("core/model/recipe.cpp", "#include \"page/block/page.hpp\"").size() == 1);
  CHECK(complaints("page/block/page.hpp", "#include \"page/render/format.hpp\"").size() == 1);
  CHECK(complaints("page/block/page.hpp", "#include \"core/graph/graph.hpp\"").size() == 1);
  for (const char* above : {"page/tell/describe.hpp", "data/problem/problem.hpp", "core/op/operations.hpp"})
    CHECK(complaints("page/render/data.cpp", std::string("#include \"") + above + "\"").size() == 1);
  CHECK(complaints("command/app.cpp", "#include \"effects/terminal.hpp\"").size() == 1);
  CHECK(complaints("core/graph/graph.cpp", "#include \"../support/error.hpp\"").size() == 1);
  CHECK(complaints("core/graph/graph.cpp", "#include \"tests/testing.hpp\"").size() == 1);
  CHECK(complaints("core/drawing/curve.cpp", "#include \"core/support/error.hpp\"").size() == 1);
  CHECK(complaints("command/model/model_run.cpp", "#include \"command/cost/cost.hpp\"") ==
        Found{"command/model/model_run.cpp includes \"command/cost/cost.hpp\": it points sideways"});
  CHECK(complaints("command/app.cpp", "#include \"command/model/model_run.hpp\"").size() == 1);
  CHECK(complaints("command/form.cpp", "#include \"apart/annex.hpp\"").size() == 1);
  CHECK(complaints("school/lesson/prompt.cpp", "#include \"apart/explore/explorer.hpp\"").size() == 1);
  CHECK(complaints("effects/screen.cpp", "#include \"apart/explore/grid.hpp\"").size() == 1);
  CHECK(complaints("apart/annex.cpp", "#include \"apart/diff/matrix_pair.hpp\"").size() == 1);
  CHECK(complaints("apart/change/changed_matrix.cpp", "#include \"apart/explore/grid.hpp\"").size() == 1);
  CHECK(complaints("apart/explore/explore.cpp", "#include \"apart/apart_options.hpp\"").empty());
  CHECK(complaints("annexes.cpp", "#include \"apart/annex.hpp\"").empty());
  CHECK(
      complaints("school/training/task.cpp", "#include \"school/mistake/mistake.hpp\"") ==
      Found{
          "school/training/task.cpp includes \"school/mistake/mistake.hpp\": the README of its room does not say that "
          "it may know that room"});
  CHECK(complaints("school/tutor/slips.cpp", "#include \"school/lesson/lesson.hpp\"").size() == 1);
  CHECK(complaints("a.cpp", "#include \"core/math/a.hpp\"\n#include \"nowhere/a.hpp\"").size() == 1);
}

TEST_CASE("a library that is included elsewhere than at its gate is found") {
  CHECK(complaints("core/graph/graph.hpp", "#include <xtensor/xtensor.hpp>").size() == 1);
  CHECK(complaints("core/graph/graph.hpp", "#include \"xtensor/xtensor.hpp\"").size() >= 1);
  CHECK(complaints("core/math/xtensor.hpp", "#include <xtensor-blas/xblas.hpp>").size() == 1);
  CHECK(complaints("command/app.cpp", "#include <CLI/CLI.hpp>").size() == 1);
  CHECK(complaints("core/math/xtensor.hpp", "#include <xtensor/xtensor.hpp>").empty());
  CHECK(complaints("command/parse.cpp", "#include <CLI/CLI.hpp>").empty());
}

TEST_CASE("an include that points down, stays or leads to a library is accepted") {
  CHECK(complaints("main.cpp", "#include \"effects/output_file.hpp\"\n#include \"command/app.hpp\"").empty());
  CHECK(complaints("data/problem/draw.cpp", "#include \"data/files/json.hpp\"\n#include <vector>").empty());
  CHECK(complaints("core/op/elementwise.cpp", "#include \"core/math/rows.hpp\"\n// #include \"page/block/page.hpp\"")
            .empty());
  CHECK(complaints("command/model/model_run.cpp", "#include \"command/computed_problem.hpp\"").empty());
  CHECK(complaints("core/support/error.hpp", "#include <fmt/format.h>\n#include").empty());
}
