#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <regex>
#include <set>

#include "command/errata/errata.hpp"
#include "commands_tried.hpp"
#include "data/files/json.hpp"
#include "process.hpp"
#include "testing.hpp"

// What pages claim in words is compared with the numbers beside it, above all where the input is a special
// case: equal words, one key, zeros, ties, rows whose keys are all masked. A sentence that is true of
// ordinary numbers must not be said of these.

using namespace attn;

namespace {

using Row = std::vector<double>;

constexpr double rounding = 1e-9;

double as_number(const Json& cell) {
  if (cell.is_number()) return cell.get<double>();
  const double infinity = std::numeric_limits<double>::infinity();
  return cell == "-Infinity" ? -infinity : cell == "Infinity" ? infinity : std::nan("");
}

std::vector<Row> as_rows(const Json& cells) {
  std::vector<Row> rows;
  for (const Json& row : cells) {
    rows.emplace_back();
    for (const Json& cell : row) rows.back().push_back(as_number(cell));
  }
  return rows;
}

double sum(const Row& row) { return std::accumulate(row.begin(), row.end(), 0.0); }

std::string leaf(const std::string& name) { return name.substr(name.rfind('.') + 1); }

// A table of a page: a matrix of the computation, or quantities of its own.
struct Shown {
  std::string title;
  std::vector<std::string> row_labels, column_labels;
  std::vector<Row> rows;
};

// What stands below one heading.
struct Section {
  std::string heading;
  std::vector<std::string> sentences;  // paragraphs
  std::vector<Shown> tables;
  std::vector<std::string> formulas;
  std::vector<std::vector<std::string>> listing_rows;

  std::string text() const {
    std::string all = heading;
    for (const std::string& sentence : sentences) all += "\n" + sentence;
    return all;
  }
};

class Reader {
 public:
  explicit Reader(const Json& page) : page_(page) {
    for (const Json& node : page["nodes"]) nodes_[node["name"]] = &node;
    sections_.emplace_back();
    for (const Json& block : page["page"]) read(block);
  }

  const std::vector<Section>& sections() const { return sections_; }

  bool has(const std::string& name) const { return page_["arrays"].contains(name); }
  std::vector<Row> array(const std::string& name) const { return as_rows(page_["arrays"][name]); }
  // A matrix of the problem itself; empty without one.
  std::vector<Row> given(const std::string& name) const {
    const Json problem = page_.value("problem", Json::object());
    return problem.contains(name) ? as_rows(problem[name]) : std::vector<Row>();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& item : page_["arrays"].items()) names.push_back(item.key());
    return names;
  }

  // The labels of an axis of a matrix, or numbers.
  std::vector<std::string> labels(const std::string& name, const char* axis) const {
    const auto found = nodes_.find(name);
    if (found != nodes_.end() && (*found->second)[axis].contains("labels")) {
      return (*found->second)[axis]["labels"].get<std::vector<std::string>>();
    }
    const std::vector<Row> rows = array(name);
    const std::size_t count = axis == std::string("rows") ? rows.size() : rows.front().size();
    std::vector<std::string> numbers;
    for (std::size_t i = 1; i <= count; ++i) numbers.push_back(std::to_string(i));
    return numbers;
  }

 private:
  void read(const Json& block) {
    const std::string type = block["type"];
    if (type == "heading") {
      sections_.emplace_back();
      sections_.back().heading = block["text"];
    }
    if (type == "prose") sections_.back().sentences.push_back(block["text"]);
    if (type == "formula") sections_.back().formulas.push_back(block["plain"]);
    if (type == "table") add_table(block);
    if (type == "shaded_words") add_table(block["table"]);
    if (type == "side_by_side") {
      for (const Json& table : block["tables"]) add_table(table);
    }
    if (type == "listing") {
      for (const Json& row : block["rows"]) {
        sections_.back().listing_rows.push_back(row.get<std::vector<std::string>>());
        for (const std::string& cell : sections_.back().listing_rows.back()) {
          sections_.back().sentences.push_back(cell);
        }
      }
    }
    if (type == "margined") {
      for (const Json& line : block["lines"]) sections_.back().sentences.push_back(line);
    }
  }

  void add_table(const Json& block) {
    Shown table{.title = block["title"]};
    if (block.contains("array")) {
      const std::string name = block["array"];
      table.title = name;
      table.rows = array(name);
      table.row_labels = labels(name, "rows");
      table.column_labels = labels(name, "columns");
    } else {
      table.rows = as_rows(block["values"]);
      table.row_labels = block["rows"].get<std::vector<std::string>>();
      table.column_labels = block["columns"].get<std::vector<std::string>>();
    }
    sections_.back().tables.push_back(std::move(table));
  }

  const Json& page_;
  std::map<std::string, const Json*> nodes_;
  std::vector<Section> sections_;
};

// The weights of a softmax on a page: not those that somebody gave.
bool is_softmax_weights(const Reader& page, const Shown& table) {
  const std::string name = leaf(table.title);
  return (name == "weights" || name == "unmasked") && !page.has("weights.given") &&
         table.title.find("averaging") == std::string::npos;
}

// A claim is a sentence, and what the numbers below the same heading say against it; empty: nothing.
struct Claim {
  std::string_view name;
  std::regex words;
  std::string (*against)(const Reader& page, const Section& section, const std::smatch& match);
};

bool excepts_masked_queries(const Section& section) {
  static const std::regex words("sums? to 0|weights (of|are) 0|weights is 0|if there are any|need not");
  return std::regex_search(section.text(), words);
}

std::string rows_sum_to_one(const Reader& page, const Section& section, const std::smatch&) {
  for (const Shown& table : section.tables) {
    if (!is_softmax_weights(page, table)) continue;
    for (const Row& row : table.rows) {
      if (std::fabs(sum(row) - 1.0) > rounding && !(sum(row) == 0.0 && excepts_masked_queries(section)))
        return table.title + " has a row that does not";
    }
  }
  return "";
}

std::string columns_sum_to_one(const Reader&, const Section& section, const std::smatch&) {
  for (const Shown& table : section.tables) {
    for (std::size_t j = 0; leaf(table.title) == "alignment" && j < table.rows.front().size(); ++j) {
      double total = 0.0;
      for (const Row& row : table.rows) total += row[j];
      if (std::fabs(total - 1.0) > rounding && !(total == 0.0 && excepts_masked_queries(section)))
        return table.title + " has a column that does not";
    }
  }
  return "";
}

// The place of a label, which may stand several times.
bool is_called(const std::vector<std::string>& labels, std::size_t i, const std::string& name) {
  return labels[i] == name || name == "query " + std::to_string(i + 1) || name == "Query " + std::to_string(i + 1) ||
         name == "key " + std::to_string(i + 1);
}

// Whether a query has its largest weight at a key, alone, and how many percent that is.
struct Most {
  std::string query, key;
  double percent;
};

enum class Found { no_such_query, otherwise, so };

Found look_for(const Most& most, const Shown& table) {
  Found found = Found::no_such_query;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (!is_called(table.row_labels, i, most.query)) continue;
    found = Found::otherwise;
    const Row& row = table.rows[i];
    const auto best = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    if (!(row[best] > 0.0)) continue;  // every key is masked
    const bool only = std::ranges::count_if(row, [&](double w) { return w > row[best] - rounding; }) == 1;
    const bool as_much = std::fabs(100.0 * row[best] - most.percent) <= 0.501;
    if (only && as_much && is_called(table.column_labels, best, most.key)) return Found::so;
  }
  return found;
}

// "it" attends most to "tired" (87 %): in the weights below the same heading, or where they are shown
// otherwise in some weights of the page.
std::string has_largest_weight(const Reader& page, const Section& section, const std::smatch& match) {
  const auto plain = [](std::string name) {
    std::erase(name, '"');
    return name;
  };
  const Most most{plain(match[1]), plain(match[3]), std::stod(match[4])};
  bool here = false;
  for (const Shown& table : section.tables) {
    if (leaf(table.title) != "weights") continue;
    const Found found = look_for(most, table);
    if (found == Found::so) return "";
    here = here || found == Found::otherwise;
  }
  for (const std::string& name : page.names()) {
    if (here || leaf(name) != "weights") continue;
    const Shown table{name, page.labels(name, "rows"), page.labels(name, "columns"), page.array(name)};
    if (look_for(most, table) == Found::so) return "";
  }
  return "no weights have that largest one: " + std::string(match[0]);
}

// Head 1 attends most to "animal" (0.7558), which has 0.3827 in the average.
std::string is_hidden_in_the_average(const Reader&, const Section& section, const std::smatch& match) {
  const auto head = static_cast<std::size_t>(std::stoul(match[1]));
  const std::string key = match[3];
  const double in_head = std::stod(match[4]), in_average = std::stod(match[5]);
  for (const Shown& table : section.tables) {
    const Row &row = table.rows.at(head - 1), &average = table.rows.back();
    for (std::size_t j = 0; j < row.size(); ++j) {
      const bool named = table.column_labels[j] == key || is_called(table.column_labels, j, key);
      if (named && row[j] == *std::ranges::max_element(row) && std::fabs(row[j] - in_head) < 1e-4 &&
          std::fabs(average[j] - in_average) < 1e-4)
        return "";
    }
  }
  return "the table has other numbers: " + std::string(match[0]);
}

const Shown* table_like(const Section& section, std::string_view end) {
  const auto found =
      std::ranges::find_if(section.tables, [&](const Shown& table) { return table.title.ends_with(end); });
  return found == section.tables.end() ? nullptr : &*found;
}

double difference(const std::vector<Row>& a, const std::vector<Row>& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[i].size(); ++j) largest = std::max(largest, std::fabs(a[i][j] - b[i][j]));
  }
  return largest;
}

// The outputs before and after a swap of words 1 and 2, with these put back.
struct Swapped {
  const Shown* original;
  const Shown* swapped;
  std::vector<Row> back;
};

std::optional<Swapped> swapped_in(const Section& section) {
  const Shown *original = table_like(section, "original.output"), *swapped = table_like(section, "swapped.output");
  if (!original || !swapped) return std::nullopt;
  std::vector<Row> back = swapped->rows;
  std::swap(back.at(0), back.at(1));
  return Swapped{original, swapped, std::move(back)};
}

std::string outputs_follow_words(const Reader&, const Section& section, const std::smatch&) {
  const auto outputs = swapped_in(section);
  if (!outputs || difference(outputs->original->rows, outputs->back) <= rounding) return "";
  return "the outputs differ";
}

std::string sentence_is_the_same(const Reader&, const Section& section, const std::smatch&) {
  const auto outputs = swapped_in(section);
  if (!outputs || difference(outputs->original->rows, outputs->swapped->rows) <= rounding) return "";
  return "the outputs differ";
}

std::string nothing_bends(const Reader& page, const Section&, const std::smatch&) {
  for (const std::string& name : page.names()) {
    if (leaf(name) == "rectified") return "there is a ReLU: " + name;
  }
  return "";
}

// Only where one score is largest does all weight go to one key.
std::string entropy_falls(const Reader&, const Section& section, const std::smatch&) {
  static const std::regex condition("[Ww]here one score is largest|[Ii]f one score is largest");
  if (std::regex_search(section.text(), condition)) return "";
  for (const Shown& table : section.tables) {
    if (leaf(table.title) != "scores") continue;
    for (const Row& row : table.rows) {
      if (std::ranges::count(row, *std::ranges::max_element(row)) > 1) return "two scores are the largest";
    }
  }
  return "";
}

std::string diagonals_are_equal(const Reader& page, const Section&, const std::smatch&) {
  if (!page.has("dot_products")) return "there are no dot products";
  const std::vector<Row> rows = page.array("dot_products");
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    for (std::size_t j = 0; j + 1 < rows.size(); ++j) {
      if (std::fabs(rows[i][j] - rows[i + 1][j + 1]) > rounding) return "they differ";
    }
  }
  return "";
}

std::string rows_have_variance_one(const Reader&, const Section& section, const std::smatch&) {
  static const std::regex exceptions("all equal|is small beside|up to ε");
  for (const Shown& table : section.tables) {
    const std::string name = leaf(table.title);
    if (name != "normalized" && name != "normalised" && name != "standardized" && name != "result") continue;
    if (table.title.starts_with("pre_norm")) continue;
    for (const Row& row : table.rows) {
      const auto n = static_cast<double>(row.size());
      const double mean = sum(row) / n;
      double variance = 0.0;
      for (const double cell : row) variance += (cell - mean) * (cell - mean) / n;
      if (std::fabs(variance - 1.0) > 1e-2 && !std::regex_search(section.text(), exceptions))
        return table.title + " has a row of variance " + std::to_string(variance);
    }
  }
  return "";
}

std::string everything_is_allowed(const Reader& page, const Section&, const std::smatch&) {
  for (const std::string& name : page.names()) {
    if (leaf(name) != "mask") continue;
    for (const Row& row : page.array(name)) {
      if (std::ranges::count(row, 0.0) > 0) return name + " masks a key";
    }
  }
  return "";
}

// Of every matrix of masked scores and the weights beside it.
std::string masked_weights_are_zero(const Reader& page, const Section&, const std::smatch&) {
  for (const std::string& name : page.names()) {
    if (leaf(name) != "masked") continue;
    const std::string beside = name.substr(0, name.size() - leaf(name).size()) + "weights";
    if (!page.has(beside)) continue;
    const std::vector<Row> masked = page.array(name), weights = page.array(beside);
    for (std::size_t i = 0; i < masked.size(); ++i) {
      for (std::size_t j = 0; j < masked[i].size(); ++j) {
        if (std::isinf(masked[i][j]) && weights[i][j] != 0.0) return "a masked key has weight in " + beside;
      }
    }
  }
  return "";
}

// "the largest difference is less than 1e-9" of tables that stand below it is no claim of its own; of others
// it says that something is equal.
const std::vector<Claim>& claims() {
  static const std::vector<Claim> all = {
      {"rows sum to one", std::regex("sum to one"), rows_sum_to_one},
      {"columns sum to one", std::regex("[Cc]olumns? sums? to one"), columns_sum_to_one},
      {"attends most to",
       std::regex("(\"[^\"]+\"|[Qq]uery \\d+) attends (most )(?:to )(\"[^\"]+\"|key \\d+) \\((\\d+)\\D{1,3}%\\)"),
       has_largest_weight},
      {"hidden in the average",
       std::regex("Head (\\d+) attends (most )to \"?([^\"]+?)\"? \\(([\\d.]+)\\), which has ([\\d.]+) in the average"),
       is_hidden_in_the_average},
      {"the outputs follow the words", std::regex("outputs are swapped"), outputs_follow_words},
      {"the sentence is the same", std::regex("sentence has not changed"), sentence_is_the_same},
      {"one averaging again", std::regex("are one averaging again"), nothing_bends},
      {"the entropy falls", std::regex("entropy (falls to 0|.{0,40}approach(es)? 0)"), entropy_falls},
      {"diagonals are equal", std::regex("[Aa]ll entries of a diagonal are equal"), diagonals_are_equal},
      {"mean 0 and variance 1", std::regex("variance 1"), rows_have_variance_one},
      {"no mask applies", std::regex("No mask applies here"), everything_is_allowed},
      {"masked weights are 0", std::regex("so their weights are exactly 0"), masked_weights_are_zero},
  };
  return all;
}

// Which claims were met anywhere: one that no page makes any more tests nothing.
std::set<std::string_view>& met() {
  static std::set<std::string_view> names;
  return names;
}

void check_claims(const Reader& page, const Section& section, const std::string& where) {
  for (const Claim& claim : claims()) {
    for (const std::string& sentence : section.sentences) {
      for (auto found = std::sregex_iterator(sentence.begin(), sentence.end(), claim.words);
           found != std::sregex_iterator(); ++found) {
        met().insert(claim.name);
        const std::string against = claim.against(page, section, *found);
        CHECK_MESSAGE(against.empty(), where << ": \"" << sentence << "\": " << against);
      }
    }
  }
}

// scores where mask = 1, else −5 (−∞ in a row without any 1)
void check_mask_formula(const Reader& page, const std::string& formula, const std::string& where) {
  static const std::regex words("^(\\S+) = (\\S+) where (\\S+) = 1, else (\\S+?)( \\(−∞ in a row without any 1\\))?$");
  std::smatch match;
  if (!std::regex_match(formula, match, words)) return;
  for (const int part : {1, 2, 3}) {
    if (!page.has(match[part])) return;
  }
  const std::vector<Row> result = page.array(match[1]), from = page.array(match[2]), mask = page.array(match[3]);
  const double infinity = std::numeric_limits<double>::infinity();
  const double fill = match[4] == "−∞" ? -infinity : std::stod(match[4]);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double here = match[5].matched && sum(mask[i]) == 0.0 ? -infinity : fill;
    for (std::size_t j = 0; j < result[i].size(); ++j) {
      const double expected = mask[i][j] == 1.0 ? from[i][j] : here;
      CHECK_MESSAGE(result[i][j] == expected, where << ": " << formula << ": row " << i + 1 << " has " << result[i][j]);
    }
  }
}

// query, regime, what that is: of the weights in the same section.
void check_regimes(const Section& section, const std::string& where) {
  static const std::set<std::string> names = {"one-hot", "uniform", "convex", "cone", "none"};
  const auto weights =
      std::ranges::find_if(section.tables, [](const Shown& table) { return leaf(table.title) == "weights"; });
  if (weights == section.tables.end()) return;
  std::size_t i = 0;
  for (const std::vector<std::string>& line : section.listing_rows) {
    if (line.size() != 3 || !names.contains(line[1])) continue;
    const Row& row = weights->rows.at(i++);
    const bool nonnegative = std::ranges::all_of(row, [](double w) { return w >= 0.0; });
    const bool to_one = std::fabs(sum(row) - 1.0) <= rounding;
    const bool says_nonnegative = line[1] != "none";
    const bool says_to_one = says_nonnegative && line[1] != "cone";
    CHECK_MESSAGE(nonnegative == says_nonnegative, where << ": " << line[1]);
    if (nonnegative) CHECK_MESSAGE(to_one == says_to_one, where << ": " << line[1]);
    if (line[1] == "uniform") CHECK(std::ranges::max(row) - std::ranges::min(row) <= rounding);
    if (line[1] == "one-hot") CHECK(std::ranges::max(row) == 1.0);
  }
}

// What holds always must hold here.
void check_identities(const Section& section, const std::string& where) {
  for (const std::vector<std::string>& line : section.listing_rows) {
    if (line.size() != 3 || !line[2].starts_with("always")) continue;
    met().insert("always");
    CHECK_MESSAGE(line[1] == "less than 1e-9", where << ": " << line[0] << ": " << line[1]);
  }
}

// Nobody attends to padding, but where its length was given.
void check_padding(const Reader& page, const std::string& where) {
  for (const std::string& name : page.names()) {
    if (leaf(name) != "weights") continue;
    const std::vector<std::string> keys = page.labels(name, "columns");
    for (const Row& row : page.array(name)) {
      for (std::size_t j = 0; j < row.size(); ++j) {
        if (keys[j] == "<blank>") CHECK_MESSAGE(row[j] == 0.0, where << ": " << name << " attends to padding");
      }
    }
  }
}

// Whether the page was to be had at all.
bool check_page(const Words& words) {
  const std::string where = command_line(words);
  Answer answer;
  try {
    answer = attn::answer(words + Words{"--format", "json"}, bare_environment());
  } catch (const InputError&) {
    return false;
  }
  const Json json = parse_json(written(answer), "page");
  const Reader page(json);
  for (const Section& section : page.sections()) {
    check_claims(page, section, where);
    for (const std::string& formula : section.formulas) check_mask_formula(page, formula, where);
    check_regimes(section, where);
    check_identities(section, where);
  }
  // Some pages ignore masks, and say so.
  const bool ignores = std::ranges::any_of(
      answer.warnings, [](const std::string& warning) { return warning.find("the mask") != std::string::npos; });
  if (!ignores && std::ranges::find(words, "--valid-length") == words.end()) check_padding(page, where);
  return true;
}

const std::vector<Words>& special_inputs() {
  static const std::vector<Words> all = {
      {"--text", "a"},
      {"--text", "a a a", "--d-model", "3"},
      {"--text", "a b", "--heads", "2", "--d-model", "4"},
      {"--text", "a a", "--heads", "2", "--d-model", "4"},
      {"--text", "a <blank> b"},
      {"--text", "<blank> <blank>"},
      {"--text", "a b c", "--text", "d <blank>", "--d-model", "4"},
      {"--text", "a b", "--memory-text", "c <blank>"},
      {"--text", "a b", "--layers", "2", "--no-feed-forward", "--mask", "0 0; 1 1"},
      {"--text", "a a a", "--layers", "2", "--d-model", "3"},
      {"--text", "a b", "--layers", "2", "--no-feed-forward", "--d-model", "4"},
      {"--text", "a b", "--positions", "sinusoidal"},
      {"--text", "a b", "--positions", "relative-bias"},
      {"--x", "0 0; 0 0", "--wq", "1 0; 0 1", "--wk", "1 0; 0 1", "--wv", "1 0; 0 1"},
      {"--x", "5 5 5; 1 2 3", "--wq", "1;1;1", "--wk", "1;0;0", "--wv", "1;2;3"},
      {"--q", "1 1", "--k", "0 0; 1 0", "--v", "1; 2"},
      {"--q", "0 0; 0 0", "--k", "0 0; 0 0", "--v", "1 2; 3 4"},
      {"--q", "1 2; 3 4", "--k", "1 2", "--v", "7 8"},
      {"--q", "1 0; 0 1", "--k", "1 0; 0 1; 1 0", "--v", "1; 2; 3", "--causal"},
      {"--scores", "1 1 1; 2 2 2", "--v", "1; 2; 3"},
      {"--scores", "1000 1; -1000 3", "--v", "1; 2"},
      {"--scores", "1 -1; 3 -1", "--v", "10 0; 20 0"},
      {"--scores", "1 2; 3 1", "--mask", "0 0; 1 0", "--v", "1; 2"},
      {"--scores", "1 2; 3 1", "--mask", "0 0; 1 0", "--mask-fill", "-1000000", "--v", "1; 2"},
      {"--scores", "1 2; 3 1", "--mask", "1 1; 1 1", "--v", "1; 2"},
      {"--scores", "1 2; 3 1", "--mask", "0 -1; -2 0.5"},
      {"--scores", "1 2; 3 1", "--valid-length", "0", "--v", "1; 2"},
      {"--scores", "2000000 1; 3 5000000", "--mask", "1 0; 1 1", "--v", "1; 2"},
      {"--text", "<blank>"},
      {"--text", "a b", "--causal", "--mask-fill", "0"},
      {"--text", "a b", "--positions", "relative-bias", "--causal"},
      {"--text", "a b", "--memory-text", "c c", "--scale", "sqrt-n"},
      {"--weights", "2 3; 0 0; -1 2; 1 0; 0.5 0.5", "--v", "1 0; 2 0"},
      {"--weights", "0.9 0.1"},
  };
  return all;
}

const std::vector<Words>& pages_of_attention() {
  static const std::vector<Words> all = {
      {"walk"},
      {"walk", "--transpose"},
      {"walk", "--by-word", "1"},
      {"walk", "--swap", "1,2"},
      {"walk", "--swap", "1,2", "--positions", "sinusoidal"},
      {"add-positions"},
      {"project"},
      {"scores"},
      {"scores", "--score", "gaussian"},
      {"scale"},
      {"scale", "--sweep", "0.5,1,2"},
      {"mask"},
      {"softmax"},
      {"softmax", "--transpose"},
      {"softmax", "--from", "1"},
      {"weigh"},
      {"heads"},
      {"concat"},
      {"feed-forward"},
      {"averaging"},
      {"pool"},
      {"compare-masks"},
      {"compare-scores"},
      {"embed"},
      {"positions"},
      {"positions", "--positions", "concatenated"},
      {"layer-norm"},
  };
  return all;
}

}  // namespace

TEST_CASE("no sentence contradicts the numbers beside it, whatever the input") {
  std::set<std::string> shown, taken;
  for (const Words& page : pages_of_attention()) {
    for (const Words& input : special_inputs()) {
      if (!check_page(page + input)) continue;
      shown.insert(command_line(page));
      taken.insert(command_line(input));
    }
  }
  CHECK(shown.size() == pages_of_attention().size());
  CHECK(taken.size() == special_inputs().size());
}

TEST_CASE("no sentence of an example, of an erratum or of a model contradicts its numbers") {
  for (const char* example : {"thinking-machines", "animal", "padding", "order", "two-layers", "numpy-3", "pooling"}) {
    std::size_t shown = 0;
    for (const Words& page : pages_of_attention()) shown += check_page(page + Words{"--example", example});
    CHECK_MESSAGE(shown > 0, example);
  }
  for (const Erratum& row : errata()) CHECK_MESSAGE(check_page({"errata", std::string(row.name)}), row.name);
  for (const Words& words : std::vector<Words>{{"encoder"},
                                               {"encoder", "--source", "the cat <blank>"},
                                               {"encoder", "--source", "the the"},
                                               {"decoder"},
                                               {"decoder", "--check-causal"},
                                               {"transformer"},
                                               {"transformer", "--source", "a", "--target", "a"},
                                               {"generate", "--model", "copy", "--source", "a a a"},
                                               {"align"},
                                               {"align", "--transpose"},
                                               {"align", "--variant", "none"},
                                               {"align", "--by-length"},
                                               {"compare-positions"},
                                               {"compare-positions", "--n", "2", "--d", "2"},
                                               {"split-heads"},
                                               {"split-heads", "--text", "a", "--heads", "2"},
                                               {"align", "--example", "clauses", "--by-length"},
                                               {"align", "--seed", "2", "--source", "a", "--steps", "1"},
                                               {"cost"},
                                               {"parameters", "--size", "base"},
                                               {"positions", "--d-model", "5"},
                                               {"positions", "--n", "1"},
                                               {"layer-norm", "--x", "5 5 5"},
                                               {"compare-scores", "--example", "animal", "--heads", "1"}}) {
    CHECK_MESSAGE(check_page(words), command_line(words));
  }
}

TEST_CASE("no sentence contradicts the numbers of small random scores and masks") {
  CHECK(rc::check("scores with ties and rows without keys", [] {
    const auto numbers = [](std::size_t rows, std::size_t columns, int least, int most) {
      std::string text;
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) text += std::to_string(*rc::gen::inRange(least, most)) + " ";
        text += "; ";
      }
      text.resize(text.size() - 2);
      return text;
    };
    const std::size_t rows = *rc::gen::inRange<std::size_t>(1, 4), columns = *rc::gen::inRange<std::size_t>(1, 4);
    const Words input = {"--scores", numbers(rows, columns, -1, 2), "--mask", numbers(rows, columns, 0, 2)};
    for (const Words& page : std::vector<Words>{{"walk", "--transpose"}, {"compare-masks"}, {"pool"}}) {
      RC_ASSERT(check_page(page + input));
    }
  }));
}

TEST_CASE("every kind of claim is made by some page") {
  for (const Words& words : std::vector<Words>{{"walk", "--transpose"},
                                               {"softmax", "--example", "animal", "--from", "it"},
                                               {"walk", "--example", "order", "--swap", "1,2"},
                                               {"walk", "--text", "a a", "--swap", "1,2"},
                                               {"averaging", "--no-feed-forward"},
                                               {"scale", "--sweep", "1,2"},
                                               {"positions", "--n", "4"},
                                               {"errata", "E17"},
                                               {"mask", "--causal"},
                                               {"mask", "--weights", "1 0"},
                                               {"compare-scores"},
                                               {"mask", "--scores", "1 2"},
                                               {"encoder"}}) {
    check_page(words);
  }
  for (const Claim& claim : claims()) CHECK_MESSAGE(met().contains(claim.name), claim.name);
}

TEST_CASE("a matrix alone has the rows that it has on its page") {
  struct Alone {
    Words page;
    std::string name;
  };
  const std::vector<Alone> all = {
      {{"walk", "--text", "a b c", "--causal"}, "weights"},
      {{"walk", "--scores", "1 2; 3 1", "--mask", "0 0; 1 0", "--mask-fill", "-5"}, "masked"},
      {{"softmax", "--text", "a <blank>"}, "weights"},
      {{"encoder", "--source", "the cat <blank>"}, "encoder.1.self_attention.head.1.weights"},
      {{"decoder"}, "decoder.1.self_attention.head.2.weights"},
      {{"transformer"}, "decoder.2.self_attention.head.1.weights"},
  };
  const auto rows_of = [](const std::string& text) {
    std::vector<std::string> rows;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      const std::size_t bar = line.find("│");
      if (bar != std::string::npos) rows.push_back(line.substr(bar));
      at = end + 1;
    }
    return rows;
  };
  for (const Alone& row : all) {
    const std::string whole = accepted(row.page + Words{"--width", "200"}).out;
    const std::string alone = accepted(row.page + Words{"--width", "200", "--only", row.name}).out;
    const std::vector<std::string> rows = rows_of(alone);
    CHECK(rows.size() > 1);
    for (const std::string& cells : rows) check_has(whole, cells);
  }
}
