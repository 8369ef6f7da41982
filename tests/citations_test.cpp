// docs/sources.md: the texts that sources and lessons cite, with their titles, and where they are cited.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/text.hpp"
#include "golden.hpp"
#include "process.hpp"
#include "running_text.hpp"
#include "source_files.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

// A text as it is cited, such as "Vaswani et al. 2017", and its parts that are named: "section 3.2.1".
struct Citation {
  std::string text;
  std::vector<std::string> parts = {};
};

// Without the signs of comments, in one line.
std::string without_margins(std::string_view text) {
  std::string all;
  for (std::string_view line : split_at(text, '\n')) {
    line = trimmed(line);
    while (line.starts_with('/')) line.remove_prefix(1);
    all += std::string(trimmed(line)) + ' ';
  }
  return all;
}

// Who wrote what appeared in this year, at the end of a text; empty: nobody that is named as authors are.
std::string authors_before(std::string_view text) {
  static const std::regex names(
      "(([A-Z][A-Za-z]+, )*[A-Z][A-Za-z]+ and [A-Z][A-Za-z]+|[A-Z][A-Za-z]+ et al\\.|[A-Z][A-Za-z]+ Team|"
      "[A-Z][A-Za-z]+|nostalgebraist)$");
  constexpr std::size_t longest = 60;
  const std::string near(text.substr(text.size() - std::min(text.size(), longest)));
  std::smatch found;
  return std::regex_search(near, found, names) ? found.str() : "";
}

// The parts that stand behind a citation, up to the end of its sentence, its parentheses or the next citation.
std::vector<std::string> parts_in(std::string_view rest, bool is_book) {
  static const std::regex named(
      "(sections?|equations?|figures?|tables?|appendix|algorithms?|chapters?) [A-Z]?[0-9.]*[0-9]");
  static const std::regex of_book(", ([0-9]+(\\.[0-9]+)+)");
  constexpr std::size_t longest = 160;
  const std::string near(rest.substr(0, std::min({longest, rest.find(';'), rest.find(')'), rest.find(". ")})));
  std::set<std::string> parts;
  for (std::sregex_iterator at(near.begin(), near.end(), named), end; at != end; ++at) parts.insert(at->str());
  if (is_book) {
    for (std::sregex_iterator at(near.begin(), near.end(), of_book), end; at != end; ++at)
      parts.insert("section " + (*at)[1].str());
  }
  return {parts.begin(), parts.end()};
}

// A book that is cited by its title.
constexpr std::string_view book = "Dive into Deep Learning", its_authors = "Zhang et al.";

std::vector<Citation> citations_in(std::string_view source) {
  const std::string text = without_margins(source);
  constexpr std::string_view digits = "0123456789";
  std::map<std::size_t, std::pair<std::size_t, std::string>> places;  // where they begin, where they end, what is cited
  for (std::size_t at = text.find(book); at != text.npos; at = text.find(book, at + 1))
    places[at] = {at + book.size(), std::string(its_authors)};
  for (std::size_t at = text.find_first_of(digits), end = 0; at != text.npos; at = text.find_first_of(digits, end)) {
    end = std::min(text.find_first_not_of(digits, at), text.size());
    const std::string year = text.substr(at, end - at);
    const bool is_year =
        year.size() == 4 && (year.starts_with("18") || year.starts_with("19") || year.starts_with("20"));
    if (!is_year || (end < text.size() && (std::isalpha(static_cast<unsigned char>(text[end])) || text[end] == '-')))
      continue;
    std::string_view before = std::string_view(text).substr(0, at);
    if (before.ends_with('(')) before.remove_suffix(1);
    if (!before.ends_with(' ')) continue;
    before.remove_suffix(1);
    const std::string authors = authors_before(before);
    if (!authors.empty()) places[before.size() - authors.size()] = {end, fmt::format("{} {}", authors, year)};
  }
  std::vector<Citation> all;
  for (auto place = places.begin(); place != places.end(); ++place) {
    const auto& [end, cited] = place->second;
    const auto next = std::next(place);
    const std::size_t last = next == places.end() ? text.size() : std::max(next->first, end);
    all.push_back({cited, parts_in(std::string_view(text).substr(end, last - end), cited == its_authors)});
  }
  return all;
}

using CitedIn = std::map<std::string, std::map<std::string, std::set<std::string>>>;  // text, file, parts

CitedIn all_cited() {
  std::vector<SourceFile> files = source_files("src", {".cpp", ".hpp", ".def", ".js"});
  std::ranges::move(source_files("lessons", {".md"}), std::back_inserter(files));
  CitedIn all;
  for (const SourceFile& file : files) {
    const std::string path = file.path.starts_with("src/") ? file.path.substr(4) : file.path;
    for (Citation& one : citations_in(file.text)) all[one.text][path].insert(one.parts.begin(), one.parts.end());
  }
  return all;
}

// "`core/attention/attention.hpp` (equation 1, section 3.2.1), `core/attention/pooling.hpp`"
std::string written(const std::map<std::string, std::set<std::string>>& files) {
  std::vector<std::string> all;
  for (const auto& [path, parts] : files)
    all.push_back(parts.empty() ? fmt::format("`{}`", path) : fmt::format("`{}` ({})", path, fmt::join(parts, ", ")));
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

TEST_CASE("docs/sources.md has each text that is cited, and where") {
  const fs::path path = root / "docs/sources.md";
  const std::string page = bytes_of(path.string());
  CitedIn cited = all_cited();
  CHECK(cited.size() > 40);
  std::string current;
  for (const std::string_view line : split_at(page, '\n')) {
    const std::vector<std::string_view> cells = split_at(line, '|');
    const bool is_row = line.starts_with("| ") && cells.size() == 5 && cells[1] != " short name ";
    const auto found = is_row ? cited.find(std::string(trimmed(cells[1]))) : cited.end();
    if (is_row && !line.starts_with("| :"))
      CHECK_MESSAGE(found != cited.end(), "nothing cites" << cells[1] << "any more: remove its row in docs/sources.md");
    current += found == cited.end() ? std::string(line)
                                    : fmt::format("|{}|{}| {} |", cells[1], cells[2], written(found->second));
    current += '\n';
    if (found != cited.end()) cited.erase(found);
  }
  current.pop_back();
  for (const auto& [text, files] : cited)
    FAIL_CHECK(text << " is cited in " << files.begin()->first << ": write a row with its title in docs/sources.md");
  if (updates_golden()) std::ofstream(path, std::ios::binary) << current;
  CHECK_MESSAGE((updates_golden() || page == current),
                "docs/sources.md is not current: ATTN_UPDATE_GOLDEN=1 writes where each text is cited");
}

TEST_CASE("a citation is found in a comment, over the end of a line, and with the parts that it names") {
  const auto told = [](std::string_view text) {
    std::string all;
    for (const Citation& one : citations_in(text)) all += fmt::format("{}: {}\n", one.text, fmt::join(one.parts, ", "));
    return all;
  };
  CHECK(told("/// a. (Vaswani et al. 2017,\n  /// section 3.2.1; Zhang et al., Dive into Deep Learning, 11.3) b") ==
        "Vaswani et al. 2017: section 3.2.1\nZhang et al.: section 11.3\n");
  CHECK(told("(Chan, Golub and LeVeque 1983); Elman 1990") == "Chan, Golub and LeVeque 1983: \nElman 1990: \n");
  CHECK(told("Gemma\n/// Team 2024, Gemma 2, section 2) equation 3") == "Gemma Team 2024: section 2\n");
  CHECK(told("Xiong et al. (2020) found it. Section 2") == "Xiong et al. 2020: \n");
  CHECK(told("int x = 2017; // 1024 words, of 2017 numbers, 2017-01").empty());
}
