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
#include <random>
#include <regex>
#include <set>

#include "command/errata/errata.hpp"
#include "commands_tried.hpp"
#include "data/files/json.hpp"
#include "draws.hpp"
#include "page/tell/attention_steps.hpp"
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
  // `whole`: the walk of the same problem, which has the matrices that the page does not show; null where there is
  // none.
  Reader(const Json& page, const Json& whole) : page_(page), whole_(whole) {
    for (const Json* one : {&page, &whole}) {
      if (!one->is_null()) take_nodes(*one);
    }
    sections_.emplace_back();
    for (const Json& block : page["page"]) read(block);
  }

  const std::vector<Section>& sections() const { return sections_; }

  bool has(const std::string& name) const { return arrays_.contains(name); }
  std::vector<Row> array(const std::string& name) const { return as_rows(*arrays_.at(name)); }
  // A matrix of the problem itself; empty without one.
  std::vector<Row> given(const std::string& name) const {
    for (const Json* one : {&page_, &whole_}) {
      const Json problem = one->is_null() ? Json::object() : one->value("problem", Json::object());
      if (problem.contains(name)) return as_rows(problem[name]);
    }
    return {};
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, rows] : arrays_) names.push_back(name);
    return names;
  }
  // Whether what has no matrix here is not there at all.
  bool knows_all() const { return !whole_.is_null(); }

  // The labels of an axis of a matrix, or numbers.
  std::vector<std::string> labels(const std::string& name, const char* axis) const {
    const auto found = nodes_.find(name);
    if (found != nodes_.end() && (*found->second)[axis].contains("labels")) {
      return (*found->second)[axis]["labels"].get<std::vector<std::string>>();
    }
    const std::vector<Row> rows = has(name) ? array(name) : std::vector<Row>();
    const std::size_t count = axis == std::string("rows") ? rows.size() : rows.empty() ? 0 : rows.front().size();
    std::vector<std::string> numbers;
    for (std::size_t i = 1; i <= count; ++i) numbers.push_back(std::to_string(i));
    return numbers;
  }

 private:
  void take_nodes(const Json& page) {
    for (const Json& node : page["nodes"]) nodes_.emplace(node["name"], &node);
    for (const auto& item : page["arrays"].items()) arrays_.emplace(item.key(), &item.value());
  }

  void read(const Json& block) {
    const std::string type = block["type"];
    if (type == "heading") {
      sections_.emplace_back();
      sections_.back().heading = block["text"];
    }
    if (type == "prose") sections_.back().sentences.push_back(block["text"]);
    if (type == "formula") sections_.back().formulas.push_back(block["plain"]);
    if (type == "table") add_table(block);
    if (type == "shaded_words" || type == "heat_map") add_table(block["table"]);
    if (type == "side_by_side" || type == "heat_maps") {
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
  const Json& whole_;
  std::map<std::string, const Json*> nodes_, arrays_;
  std::vector<Section> sections_;
};

// The weights of a softmax on a page: not those that somebody gave.
bool is_softmax_weights(const Reader& page, const Shown& table) {
  const std::string name = leaf(table.title);
  return (name == "weights" || name == "unmasked") && !page.has("weights.given") &&
         table.title.find("averaging") == std::string::npos;
}

// A claim is a sentence, and what the numbers below the same heading say against it; empty: nothing.
struct Check {
  std::string_view name;
  std::string_view part;  // of the sentence, to find it fast
  std::regex words;
  std::string (*against)(const Reader& page, const Section& section, const std::smatch& match);
  bool is_made = true;  // by some page: it would be false of some input if it is not
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

// Whether a place is called so: a label alone must say which place is meant.
bool is_called(const std::vector<std::string>& labels, std::size_t i, const std::string& name) {
  const std::string number = std::to_string(i + 1);
  for (const char* what : {"query", "Query", "key", "position"}) {
    if (name == what + (" " + number)) return true;
    if (name == labels[i] + " (" + what + " " + number + ")") return true;
  }
  return name == labels[i] && std::ranges::count(labels, name) == 1;
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
  const std::string key = match[3].str() + match[4].str();
  const double in_head = std::stod(match[5]), in_average = std::stod(match[6]);
  for (const Shown& table : section.tables) {
    const Row &row = table.rows.at(head - 1), &average = table.rows.back();
    for (std::size_t j = 0; j < row.size(); ++j) {
      const bool named = is_called(table.column_labels, j, key);
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

// --- what the steps of attention say

bool near(double a, double b) {
  return a == b || std::fabs(a - b) <= 1e-9 * std::max({1.0, std::fabs(a), std::fabs(b)});
}

std::string scope_of(const std::string& name) { return name.substr(0, name.size() - leaf(name).size()); }

// The matrices of a name that are shown or computed below a heading.
std::vector<std::string> made_here(const Reader& page, const Section& section, std::string_view called) {
  std::vector<std::string> names;
  const auto take = [&](const std::string& name) {
    const bool is_new = std::ranges::find(names, name) == names.end();
    if (is_new && leaf(name) == called && page.has(name)) names.push_back(name);
  };
  for (const Shown& table : section.tables) take(table.title);
  for (const std::string& formula : section.formulas) take(formula.substr(0, formula.find(' ')));
  return names;
}

// A matrix in the scope of another one, or further out; empty: there is none.
std::vector<Row> beside(const Reader& page, const std::string& name, const std::string& called) {
  std::string scope = scope_of(name);
  while (true) {
    if (page.has(scope + called)) return page.array(scope + called);
    if (!page.given(scope + called).empty()) return page.given(scope + called);
    if (scope.empty()) return {};
    scope = scope_of(scope.substr(0, scope.size() - 1));
  }
}

std::optional<double> at(const std::vector<Row>& rows, std::size_t i, std::size_t j) {
  return i < rows.size() && j < rows[i].size() ? std::optional(rows[i][j]) : std::nullopt;
}

// Each number of the matrices that are made here is what `expected` says, where that says something.
template <class Expected>
std::string each_is(const Reader& page, const Section& section, std::string_view called, const Expected& expected) {
  for (const std::string& name : made_here(page, section, called)) {
    const std::vector<Row> rows = page.array(name);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = 0; j < rows[i].size(); ++j) {
        const std::optional<double> right = expected(name, i, j);
        if (right && !near(rows[i][j], *right))
          return name + " has " + std::to_string(rows[i][j]) + ", and not " + std::to_string(*right);
      }
    }
  }
  return "";
}

std::string lie_between(const Reader& page, const Section& section, std::string_view called, double least,
                        double most) {
  for (const std::string& name : made_here(page, section, called)) {
    for (const Row& row : page.array(name)) {
      for (const double cell : row) {
        if (!(cell >= least && cell <= most)) return name + " has " + std::to_string(cell);
      }
    }
  }
  return "";
}

std::string weights_lie_between(const Reader& page, const Section& section, const std::smatch&) {
  return lie_between(page, section, "weights", 0.0, 1.0);
}

std::string scores_are_capped(const Reader& page, const Section& section, const std::smatch& match) {
  const double cap = std::stod(match[1]);
  return made_here(page, section, "capped").empty() ? "nothing is capped"
                                                    : lie_between(page, section, "capped", -cap, cap);
}

// "8", "√3, …", "√n, with n = 5 keys"
double compact_number(std::string text) {
  constexpr std::string_view minus = "−";
  if (text.starts_with(minus)) text = "-" + text.substr(minus.size());
  static const std::regex of_keys("n = (\\d+)"), root("^√(\\d+)");
  std::smatch match;
  if (std::regex_search(text, match, of_keys)) return std::sqrt(std::stod(match[1]));
  if (std::regex_search(text, match, root)) return std::sqrt(std::stod(match[1]));
  return std::stod(text);
}

std::string scores_are_scaled(const Reader& page, const Section& section, const std::smatch& match) {
  const double number = compact_number(match[2]);
  return each_is(page, section, "scaled", [&](const std::string& name, std::size_t i, std::size_t j) {
    const std::optional<double> score = at(beside(page, name, "scores"), i, j);
    return score ? std::optional(match[1] == "divided" ? *score / number : *score * number) : score;
  });
}

// What was larger is smaller.
std::string order_is_turned(const Reader& page, const Section& section, const std::smatch&) {
  for (const std::string& name : made_here(page, section, "scaled")) {
    const std::vector<Row> scores = beside(page, name, "scores"), scaled = page.array(name);
    for (std::size_t i = 0; i < scaled.size(); ++i) {
      for (std::size_t j = 1; j < scaled[i].size(); ++j) {
        if (scores.at(i)[j - 1] < scores[i][j] && scaled[i][j - 1] < scaled[i][j]) return name + " keeps the order";
      }
    }
  }
  return "";
}

std::string scores_are_not_divided(const Reader& page, const Section& section, const std::smatch&) {
  return each_is(page, section, "scaled", [&](const std::string& name, std::size_t i, std::size_t j) {
    return at(beside(page, name, "scores"), i, j);
  });
}

double dot(const Row& a, const Row& b) {
  double total = 0.0;
  for (std::size_t c = 0; c < a.size(); ++c) total += a[c] * b.at(c);
  return total;
}

// Scores of these queries and keys; rotated ones where there are any.
template <class Compare>
std::string scores_compare(const Reader& page, const Section& section, std::string_view called,
                           const Compare& compare) {
  return each_is(page, section, called, [&](const std::string& name, std::size_t i, std::size_t j) {
    std::vector<Row> q = beside(page, name, "rotated_q"), k = beside(page, name, "rotated_k");
    if (q.empty()) q = beside(page, name, "q");
    if (k.empty()) k = beside(page, name, "k");
    if (i >= q.size() || j >= k.size() || !beside(page, name, "content").empty()) return std::optional<double>();
    const double right = compare(q.at(i), k.at(j));
    return std::isfinite(right) ? std::optional(right) : std::nullopt;
  });
}

std::string scores_are_dot_products(const Reader& page, const Section& section, const std::smatch&) {
  return scores_compare(page, section, "scores", dot);
}

// Of a sentence on scaling.
std::string dot_products_are_scaled(const Reader& page, const Section& section, const std::smatch&) {
  return each_is(page, section, "scaled", [&](const std::string& name, std::size_t i, std::size_t j) {
    if (!page.knows_all() || !beside(page, name, "content").empty()) return std::optional<double>();
    const std::optional<double> score = at(beside(page, name, "scores"), i, j);
    std::vector<Row> q = beside(page, name, "rotated_q"), k = beside(page, name, "rotated_k");
    if (q.empty()) q = beside(page, name, "q");
    if (k.empty()) k = beside(page, name, "k");
    if (!score || i >= q.size() || j >= k.size()) return std::optional(std::nan(""));
    const double right = dot(q[i], k[j]);
    return !std::isfinite(right) || near(*score, right) ? std::nullopt : std::optional(std::nan(""));
  });
}

std::string keys_have_one_number(const Reader& page, const Section& section, const std::smatch&) {
  for (const std::string& name : made_here(page, section, "scaled")) {
    const std::vector<Row> keys = beside(page, name, "k");
    if (!keys.empty() && keys.front().size() != 1) return name + " compares keys of several numbers";
  }
  return "";
}

std::string scores_are_cosines(const Reader& page, const Section& section, const std::smatch&) {
  return scores_compare(page, section, "scores", [](const Row& q, const Row& k) {
    // Squares of huge and tiny numbers are none.
    const auto of_size_one = [](Row row) {
      double largest = 0.0;
      for (const double cell : row) largest = std::max(largest, std::fabs(cell));
      for (double& cell : row) cell = largest == 0.0 ? 0.0 : cell / largest;
      return row;
    };
    const Row a = of_size_one(q), b = of_size_one(k);
    const double lengths = std::sqrt(dot(a, a)) * std::sqrt(dot(b, b));
    return lengths == 0.0 ? 0.0 : dot(a, b) / lengths;
  });
}

bool is_minus_infinity(double number) { return std::isinf(number) && number < 0.0; }

std::vector<std::string> named(const Reader& page, std::string_view called) {
  std::vector<std::string> names;
  for (const std::string& name : page.names()) {
    if (leaf(name) == called) names.push_back(name);
  }
  return names;
}

bool has_some(const Reader& page, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [&](const char* name) { return !named(page, name).empty(); });
}

// The masked scores, or masks, below a heading; where none are there those of the whole problem.
std::vector<std::string> masks_of(const Reader& page, const Section& section, const std::string& called) {
  const std::vector<std::string> here = made_here(page, section, "masked");
  if (here.empty()) return named(page, called);
  std::vector<std::string> all;
  for (const std::string& name : here) {
    if (page.has(scope_of(name) + called)) all.push_back(scope_of(name) + called);
  }
  return all;
}

bool some_scores_are_masked(const Reader& page, const Section& section) {
  for (const std::string& name : masks_of(page, section, "masked")) {
    for (const Row& row : page.array(name)) {
      if (std::ranges::any_of(row, is_minus_infinity)) return true;
    }
  }
  return false;
}

std::string no_key_is_masked(const Reader& page, const Section& section, const std::smatch&) {
  return some_scores_are_masked(page, section) ? "some scores are masked" : "";
}

std::string some_key_is_masked(const Reader& page, const Section& section, const std::smatch&) {
  return some_scores_are_masked(page, section) ? "" : "no score is masked";
}

std::string there_is_a_mask(const Reader& page, const Section&, const std::smatch&) {
  return !page.knows_all() || has_some(page, {"mask", "bias"}) ? "" : "there is no mask";
}

std::string numbers_are_added(const Reader& page, const Section& section, const std::smatch&) {
  if (page.knows_all() && named(page, "bias").empty()) return "there are no numbers";
  return each_is(page, section, "masked", [&](const std::string& name, std::size_t i, std::size_t j) {
    const std::optional<double> added = at(beside(page, name, "bias"), i, j);
    return added && is_minus_infinity(*added) ? added : std::nullopt;
  });
}

std::string distances_are_added(const Reader& page, const Section&, const std::smatch&) {
  const std::vector<std::string> relative = named(page, "relative");
  if (page.knows_all() && relative.empty()) return "there are no distances";
  for (const std::string& name : relative) {
    const std::vector<Row> rows = page.array(name);
    for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
      for (std::size_t j = 0; j + 1 < rows[i].size(); ++j) {
        if (rows[i][j] != rows[i + 1][j + 1]) return name + " is not a number for each distance";
      }
    }
  }
  return "";
}

std::string nothing_is_replaced(const Reader& page, const Section& section, const std::smatch&) {
  for (const std::string& name : masks_of(page, section, "mask")) {
    for (const Row& row : page.array(name)) {
      if (std::ranges::count(row, 0.0) > 0) return name + " masks a key";
    }
  }
  return "";
}

std::string masked_are_replaced_by(const Reader& page, const Section& section, const std::smatch& match) {
  const double fill = std::stod(match[1]);
  return each_is(page, section, "masked", [&](const std::string& name, std::size_t i, std::size_t j) {
    const std::vector<Row> mask = beside(page, name, "mask");
    const bool is_replaced = i < mask.size() && at(mask, i, j) == 0.0 && sum(mask[i]) > 0.0;
    return is_replaced ? std::optional(fill) : std::nullopt;
  });
}

std::string whole_rows_are_replaced(const Reader& page, const Section& section, const std::smatch&) {
  for (const std::string& name : made_here(page, section, "masked")) {
    for (const Row& row : page.array(name)) {
      if (std::ranges::all_of(row, is_minus_infinity)) return "";
    }
  }
  for (const std::string& name : masks_of(page, section, "mask")) {
    for (const Row& row : page.array(name)) {
      if (std::ranges::count(row, 0.0) == std::ssize(row)) return "";
    }
  }
  return "no row is masked as a whole";
}

std::string some_column_is_empty(const Reader& page, const Section& section, const std::smatch&) {
  for (const std::string& name : made_here(page, section, "alignment")) {
    const std::vector<Row> rows = page.array(name);
    for (std::size_t j = 0; j < rows.front().size(); ++j) {
      if (std::ranges::all_of(rows, [&](const Row& row) { return row[j] == 0.0; })) return "";
    }
  }
  return "no column sums to 0";
}

std::string some_row_is_empty(const Reader& page, const Section& section, const std::smatch&) {
  for (const std::string& name : made_here(page, section, "weights")) {
    for (const Row& row : page.array(name)) {
      if (std::ranges::all_of(row, [](double weight) { return weight == 0.0; })) return "";
    }
  }
  return "no row has only weights of 0";
}

// Of an output in a head, or of the only one.
std::string outputs_are_sums(const Reader& page, const Section& section, const std::smatch&) {
  for (const char* called : {"output", "head"}) {
    std::string against = each_is(page, section, called, [&](const std::string& name, std::size_t i, std::size_t c) {
      const std::string scope = scope_of(name);
      if (leaf(name) == "head" && scope.find("head.") != std::string::npos) return std::optional<double>();
      if (!page.has(scope + "weights") || name.find("averaging") != std::string::npos) return std::optional<double>();
      const std::vector<Row> weights = page.array(scope + "weights"), v = beside(page, name, "v");
      if (v.empty() || v.size() != weights.at(i).size() || v.front().size() <= c) return std::optional<double>();
      if (page.has(scope + "concat") && leaf(name) == "output") return std::optional<double>();
      double total = 0.0;
      for (std::size_t j = 0; j < v.size(); ++j) total += weights[i][j] * v[j].at(c);
      return std::isfinite(total) ? std::optional(total) : std::nullopt;
    });
    if (!against.empty()) return against;
  }
  return "";
}

std::string there_is_one_head(const Reader& page, const Section&, const std::smatch&) {
  for (const std::string& name : page.names()) {
    if (name.find("head.2.") != std::string::npos) return "there is " + name;
  }
  return "";
}

std::string there_are_heads(const Reader& page, const Section& section, const std::smatch& match) {
  return there_is_one_head(page, section, match).empty() ? "there is one head" : "";
}

std::string rows_have_so_many_numbers(const Reader& page, const Section& section, const std::smatch& match) {
  for (const std::string& name : made_here(page, section, "output")) {
    if (name.find("head.") != std::string::npos) continue;
    if (page.array(name).front().size() != std::stoul(match[1])) return name + " has rows of another size";
  }
  return "";
}

std::string keys_and_values_have_one_source(const Reader& page, const Section&, const std::smatch&) {
  return has_some(page, {"value_memory"}) || !page.given("value_memory").empty() ? "values have a source of their own"
                                                                                 : "";
}

std::string difference_is(const Reader& page, const Section&, const std::smatch& match) {
  const double told = match[2] == "less than 1e-9" ? 0.0 : std::stod(match[2]);
  if (!page.has(match[1])) return "";
  const double found = difference(page.array(match[1]), page.array("averaging.output"));
  return std::fabs(found - told) <= 1e-9 + 0.006 * std::fabs(found) ? "" : "it is " + std::to_string(found);
}

std::string something_bends(const Reader& page, const Section&, const std::smatch&) {
  return !page.knows_all() || has_some(page, {"rectified", "activated"}) ? "" : "there is no activation";
}

std::string so_many_are_named(const Reader& page, const Section& section, const std::smatch& match) {
  const auto is_decided = [](const Row& row) {
    const auto shown = [](double weight) { return std::lround(100.0 * weight); };
    const long most = shown(std::ranges::max(row));
    return std::ranges::count_if(row, [&](double weight) { return shown(weight) == most; }) == 1;
  };
  for (const char* called : {"weights", "distribution"}) {
    for (const std::string& name : made_here(page, section, called)) {
      const std::vector<Row> rows = page.array(name);
      if (std::ranges::count_if(rows, is_decided) == std::stol(match[2])) return "";
    }
  }
  return "no weights have so many such rows";
}

// "b" (position 2) the most probable word is "a" (98 %)
std::string is_most_probable(const Reader& page, const Section& section, const std::smatch& match) {
  const auto plain = [](std::string name) {
    std::erase(name, '"');
    return name;
  };
  const Most most{plain(match[1]), plain(match[2]), std::stod(match[3])};
  bool shown = false;
  for (const std::string& name : made_here(page, section, "distribution")) {
    shown = true;
    if (look_for(most, {name, page.labels(name, "rows"), page.labels(name, "columns"), page.array(name)}) == Found::so)
      return "";
  }
  return shown ? "it is not: " + match[0].str() : "";
}

// A row of products for each key, and the output below.
std::string products_sum_to_output(const Reader&, const Section& section, const std::smatch&) {
  for (std::size_t t = 0; t + 1 < section.tables.size(); ++t) {
    const Shown &products = section.tables[t], &output = section.tables[t + 1];
    if (products.title != "weight ⋅ value" || output.rows.size() != 1) continue;
    for (std::size_t c = 0; c < output.rows.front().size(); ++c) {
      double total = 0.0;
      for (const Row& row : products.rows) total += row.at(c);
      if (std::isfinite(total) && !near(total, output.rows.front()[c])) return "they sum to " + std::to_string(total);
    }
  }
  return "";
}

// A scaling that its formula does not say.
std::string formula_says_so(const Reader&, const Section& section, const std::smatch& match) {
  for (const std::string& formula : section.formulas) {
    const std::string name = formula.substr(0, formula.find(' '));
    if (leaf(name) == "scaled" && formula.find(match[1] == "divided" ? " / " : " ⋅ ") == std::string::npos)
      return "it is " + formula;
  }
  return "";
}

// Beside a table of the stages of a word, and one of the products of weights and values.
std::string small_weights_count_little(const Reader&, const Section& section, const std::smatch&) {
  const Shown* stages = nullptr;
  for (const Shown& table : section.tables) {
    if (!table.column_labels.empty() && table.column_labels.back() == "weights") stages = &table;
    if (table.title != "weight ⋅ value" || !stages) continue;
    double largest = 0.0;
    for (const Row& row : table.rows) largest = std::max(largest, std::ranges::max(row));
    for (std::size_t j = 0; j < table.rows.size(); ++j) {
      if (stages->rows.at(j).back() < 0.01 && std::ranges::max(table.rows[j]) > 0.01 * largest)
        return "the product of key " + std::to_string(j + 1) + " is not small";
    }
  }
  return "";
}

// The weights of a word follow from the stage before.
std::string weights_follow_from_stage(const Reader&, const Section& section, const std::smatch&) {
  for (const Shown& table : section.tables) {
    const std::size_t count = table.column_labels.size();
    if (count < 2 || table.column_labels.back() != "weights" || table.column_labels.front() != "scores") continue;
    double most = -std::numeric_limits<double>::infinity(), total = 0.0;
    for (const Row& row : table.rows) most = std::max(most, row[count - 2]);
    if (std::isinf(most)) continue;
    for (const Row& row : table.rows) total += std::exp(row[count - 2] - most);
    for (const Row& row : table.rows) {
      if (std::fabs(std::exp(row[count - 2] - most) / total - row[count - 1]) > 1e-9)
        return table.column_labels[count - 2] + " does not give the weights beside it";
    }
  }
  return "";
}

// The last state has no later one.
std::string last_state_has_no_such_path(const Reader&, const Section& section, const std::smatch&) {
  const Shown* const along = table_like(section, "along_states");
  if (!along) return "";
  for (const Row& row : along->rows) {
    if (row.back() != 0.0) return "the last state has one";
  }
  return "";
}

// gradient, numbers, compared, largest difference, relative
std::string only_compared_numbers_differ(const Reader&, const Section& section, const std::smatch&) {
  for (const std::vector<std::string>& line : section.listing_rows) {
    if (line.size() == 5 && line[2] == "0" && (line[3] != "–" || line[4] != "–")) return line[0] + ": none is compared";
  }
  return "";
}

// --- what other pages say

// matrix, numbers, depend, masked, apart, zero, largest, at
std::string counts_are_complete(const Reader& page, const Section& section, const std::smatch&) {
  for (const std::vector<std::string>& line : section.listing_rows) {
    if (line.size() != 8) continue;
    const auto number = [&](std::size_t i) {
      std::string text = line[i];
      std::erase(text, ',');
      return std::stoul(text);
    };
    if (number(1) != number(2) + number(3) + number(4) + number(5)) return line[0] + ": the counts do not add up";
    if (page.knows_all() && number(3) > 0 && !has_some(page, {"mask", "bias", "masked"}))
      return line[0] + ": there is no mask";
  }
  return "";
}

// weights: 3 queries are compared. In 2 of them …
std::string so_many_differ(const Reader&, const Section& section, const std::smatch& match) {
  const std::string shown = match[1];
  const auto table = [&](const std::string& title) {
    const auto found = std::ranges::find(section.tables, title, &Shown::title);
    return found == section.tables.end() ? nullptr : &*found;
  };
  const Shown *shares = table("shares"), *weights = table(shown);
  if (!shares || !weights) return "there are no such tables: " + shown;
  std::size_t compared = 0, differ = 0;
  for (std::size_t i = 0; i < shares->rows.size(); ++i) {
    const auto most = [](const Row& row) -> std::optional<std::size_t> {
      const auto best = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
      const double least = row[best] * (1.0 - 1e-9);
      const bool only = std::ranges::count_if(row, [&](double cell) { return cell >= least; }) == 1;
      return row[best] > 0.0 && only ? std::optional(best) : std::nullopt;
    };
    const auto a = most(shares->rows[i]), b = most(weights->rows.at(i));
    if (!a || !b) continue;
    ++compared;
    if (*a != *b) ++differ;
  }
  return compared == std::stoul(match[2]) && differ == std::stoul(match[3])
             ? ""
             : std::to_string(differ) + " of " + std::to_string(compared) + " differ";
}

std::string rows_of_gradient_sum_to_zero(const Reader& page, const Section& section, const std::smatch&) {
  for (const char* called : {"d_masked", "d_scaled", "d_scores"}) {
    for (const std::string& name : made_here(page, section, called)) {
      for (const Row& row : page.array(name)) {
        double largest = 0.0;
        for (const double cell : row) largest = std::max(largest, std::fabs(cell));
        if (std::fabs(sum(row)) > 1e-6 * std::max(1.0, largest)) return name + " has a row that does not";
      }
    }
    if (!made_here(page, section, called).empty()) break;  // of the softmax alone
  }
  return "";
}

std::vector<Row> scores_of_pool(const Reader& page) { return page.array(page.has("scaled") ? "scaled" : "scores"); }

// A softmax of two scores or more has no weight of 1, but for rounding.
std::string is_exactly_one(const Reader& page, const Section& section, const std::smatch&) {
  for (const std::string& name : made_here(page, section, "weights")) {
    if (!name.starts_with("softmax.")) continue;
    const std::vector<Row> rows = page.array(name), scores = scores_of_pool(page);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto kept = std::ranges::count_if(scores.at(i), [](double score) { return !is_minus_infinity(score); });
      if (std::ranges::count(rows[i], 1.0) == 1 && kept > 1) {
        const auto line = std::ranges::find_if(section.listing_rows, [&](const std::vector<std::string>& cells) {
          return cells.size() == 3 && cells[0].starts_with(page.labels(name, "rows")[i]);
        });
        if (line != section.listing_rows.end() && line->at(2).find("rounded") == std::string::npos)
          return "it is rounded in row " + std::to_string(i + 1);
      }
    }
  }
  return "";
}

std::string some_score_is_not_masked(const Reader& page, const Section&, const std::smatch&) {
  for (const std::string& name : named(page, "mask")) {
    for (const Row& row : page.array(name)) {
      if (sum(row) > 0.0) return "";
    }
  }
  return "every score is masked";
}

std::string some_key_is_zero(const Reader& page, const Section&, const std::smatch&) {
  for (const std::string& name : named(page, "k")) {
    for (const Row& row : page.array(name)) {
      if (dot(row, row) == 0.0) return "";
    }
  }
  const std::vector<Row> given = page.given("k");
  const bool has = std::ranges::any_of(given, [](const Row& row) { return dot(row, row) == 0.0; });
  return has ? "" : "no key is 0";
}

// head, attends to, share, entropy, strongest pairs, weights: "a → b 0.25, 3 more of 0.25" tells all of them.
std::string pairs_are_told_together(const Reader& page, const Section& section, const std::smatch&) {
  static const std::regex pair(" → .*? (\\d\\.\\d\\d)(?=,|$)"), more("(\\d+) more of (\\d\\.\\d\\d)");
  for (const std::vector<std::string>& line : section.listing_rows) {
    if (line.size() != 6 || line[4].find("→") == std::string::npos || !page.has(line[5])) continue;
    std::size_t told = 0, as_last = 0;
    std::string last;
    for (auto found = std::sregex_iterator(line[4].begin(), line[4].end(), pair); found != std::sregex_iterator();
         ++found, ++told) {
      as_last = last == (*found)[1] ? as_last + 1 : 1;
      last = (*found)[1];
    }
    std::smatch rest;
    const bool has_more = std::regex_search(line[4], rest, more);
    if (has_more) as_last += std::stoul(rest[1]);
    std::size_t there = 0;
    if (last.empty()) continue;
    // Queries that are padding are not counted.
    const std::vector<Row> weights = page.array(line[5]);
    const std::vector<std::string> queries = page.labels(line[5], "rows");
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const Row& row = weights[i];
      const bool is_counted = queries[i] != "<blank>" && std::fabs(sum(row) - 1.0) <= 1e-6 &&
                              std::ranges::all_of(row, [](double weight) { return weight >= 0.0; });
      if (!is_counted) continue;
      const auto above = std::ranges::count_if(row, [](double weight) { return weight > 0.0; });
      for (const double weight : row) there += above > 1 && std::fabs(weight - std::stod(last)) < 0.004 ? 1 : 0;
    }
    if (there > as_last) return line[0] + ": " + std::to_string(there) + " pairs have " + last;
  }
  return "";
}

// A label of heads that says that a query is a word among the keys.
std::string queries_are_among_keys(const Reader& page, const Section& section, const std::smatch&) {
  for (const std::vector<std::string>& line : section.listing_rows) {
    if (line.size() != 6 || (line[1] != "itself" && line[1] != "previous word" && line[1] != "next word")) continue;
    if (!page.has(line[5])) continue;
    if (page.labels(line[5], "rows") != page.labels(line[5], "columns")) return line[0] + ": they are other words";
    if (!page.given("q").empty() && page.labels(line[5], "rows").front() == "1") return line[0] + ": q and k are given";
  }
  return "";
}

std::string has_no_sum(const Reader& page, const Section&, const std::smatch&) {
  for (const Row& row : scores_of_pool(page)) {
    double largest = 0.0;
    for (const double score : row) largest = std::max(largest, std::fabs(score));
    if (std::fabs(sum(row)) <= 1e-9 * largest) return "";
  }
  return "no row sums to 0";
}

std::string scores_are_below_zero(const Reader& page, const Section&, const std::smatch&) {
  for (const Row& row : scores_of_pool(page)) {
    if (std::ranges::any_of(row, [](double score) { return score < 0.0; })) return "";
  }
  return "no score is negative";
}

std::string embeddings_are_multiplied(const Reader& page, const Section& section, const std::smatch&) {
  return each_is(page, section, "scaled_x", [&](const std::string& name, std::size_t i, std::size_t j) {
    const std::vector<Row> x = beside(page, name, "x");
    const std::optional<double> cell = at(x, i, j);
    return cell ? std::optional(*cell * std::sqrt(static_cast<double>(x[i].size()))) : cell;
  });
}

std::string every_word_is_seen(const Reader&, const Section& section, const std::smatch&) {
  for (const Shown& table : section.tables) {
    if (leaf(table.title) != "weights") continue;
    for (const Row& row : table.rows) {
      if (std::ranges::count(row, 0.0) == static_cast<std::ptrdiff_t>(row.size())) return table.title + " is masked";
    }
  }
  return "";
}

// "the largest difference is less than 1e-9" of tables that stand below it is no claim of its own; of others
// it says that something is equal.
const std::vector<Check>& checks() {
  static const std::vector<Check> all = {
      {"rows sum to one", "um to one", std::regex("sum to one"), rows_sum_to_one},
      {"columns sum to one", "olumn", std::regex("[Cc]olumns? sums? to one"), columns_sum_to_one},
      {"attends most to", "attends most to",
       std::regex(
           "(\"[^\"]+\"(?: \\(query \\d+\\))?|[Qq]uery \\d+) attends (most )(?:to )(\"[^\"]+\"(?: \\(key \\d+\\))?|key \\d+) \\((\\d+)\\D{1,3}%\\)"),
       has_largest_weight},
      {"hidden in the average", "in the average",
       std::regex(
           "Head (\\d+) attends (most )to \"?([^\"]+?)\"?( \\(key \\d+\\))? \\(([\\d.]+)\\), which has ([\\d.]+) in the average"),
       is_hidden_in_the_average},
      {"the outputs follow the words", "outputs are swapped", std::regex("outputs are swapped"), outputs_follow_words},
      {"the sentence is the same", "has not changed", std::regex("sentence has not changed"), sentence_is_the_same},
      {"one averaging again", "one averaging again", std::regex("are one averaging again"), nothing_bends},
      {"the entropy falls", "entropy", std::regex("entropy (falls to 0|.{0,40}approach(es)? 0)"), entropy_falls},
      {"diagonals are equal", "diagonal", std::regex("[Aa]ll entries of a diagonal are equal"), diagonals_are_equal},
      {"mean 0 and variance 1", "variance 1", std::regex("variance 1"), rows_have_variance_one},
      {"no mask applies", "No mask applies here:", std::regex("No mask applies here:"), nothing_is_replaced},
      {"masked weights are 0", "exactly 0", std::regex("so their weights are exactly 0"), masked_weights_are_zero},

      {"weights between 0 and 1", "weights between 0 and 1", std::regex("weights between 0 and 1"),
       weights_lie_between},
      {"a query without keys", "has only weights of 0, which sum to 0", std::regex("has only weights of 0, which sum"),
       some_row_is_empty},
      {"dot products", "is the dot product of a query and a key", std::regex("score is the dot product of a query"),
       scores_are_dot_products},
      {"cosines", "is the cosine of", std::regex("score is the cosine"), scores_are_cosines},
      {"dot products are scaled", "Dot products of long vectors", std::regex("Dot products of long vectors"),
       dot_products_are_scaled},
      {"keys of one number", "Here both are 1", std::regex("Here both are 1\\."), keys_have_one_number},
      {"a negative factor", "The factor is negative", std::regex("factor is negative: of two scores"), order_is_turned},
      {"divided or multiplied", "cores are ", std::regex("scores are (divided|multiplied) by (.+?)\\.( |$)"),
       scores_are_scaled},
      {"as its formula says", "cores are ", std::regex("scores are (divided|multiplied)"), formula_says_so},
      {"weights of a stage", "Softmax", std::regex("^Step \\d+\\. Softmax"), weights_follow_from_stage},
      {"compared gradients", "difference quotient", std::regex("difference quotient of the loss"),
       only_compared_numbers_differ},
      {"not divided", "not divided here", std::regex("not divided here"), scores_are_not_divided},
      {"capped", "soft cap keeps", std::regex("between −(\\S+) and "), scores_are_capped},
      {"every key is allowed", "may attend to every key", std::regex("every query may attend to every key"),
       no_key_is_masked},
      {"scores that are −∞", "some scores are −∞", std::regex("but some scores are −∞"), some_key_is_masked},
      {"a mask", "ask", std::regex("^(Step )?\\d+\\. Mask\\b|^The mask:"), there_is_a_mask},
      {"numbers are added", "are added to the scores", std::regex("numbers of the mask are added"), numbers_are_added},
      {"distances are added", "for the distance", std::regex("for the distance between the words is added"),
       distances_are_added},
      {"nothing is replaced", "no score is replaced", std::regex("no score is replaced"), nothing_is_replaced},
      {"replaced by a number", "scores are replaced by ", std::regex("scores are replaced by ([-\\d.e+]+)\\. The"),
       masked_are_replaced_by},
      {"whole rows are replaced", "is set to −∞ instead", std::regex("is set to −∞ instead"), whole_rows_are_replaced},
      {"an empty column", "A column sums to 0", std::regex("A column sums to 0"), some_column_is_empty},
      {"outputs are sums", "multiplied by its", std::regex("multiplied by its (attention )?weight"), outputs_are_sums},
      {"one head", "There is one head", std::regex("There is one head"), there_is_one_head},
      {"heads", "heads are concatenated", std::regex("outputs of the heads are concatenated"), there_are_heads},
      {"columns of its own", "on its own columns", std::regex("works on its own columns"), there_are_heads},
      {"size of the output", "maps each row to", std::regex("maps each row to (\\d+) number"),
       rows_have_so_many_numbers},
      {"one source", "come from the same words", std::regex("Keys and values come from the same words"),
       keys_and_values_have_one_source},
      {"difference of one averaging", "The largest difference from ",
       std::regex("largest difference from (\\S+) is (less than 1e-9|[\\d.e+-]*\\d)\\."), difference_is},
      {"a nonlinearity", "is a nonlinearity", std::regex("layers is a nonlinearity"), something_bends},
      {"how many are named", "with a single",
       std::regex("These are (\\d+) of (\\d+) (queries|positions) with a single"), so_many_are_named},
      {"most probable", "the most probable word is",
       std::regex(
           "(?:After|after|At|at) (\"[^\"]+\"(?: \\(position \\d+\\))?|position \\d+) the most probable word is (\"[^\"]+\") \\((\\d+)"),
       is_most_probable},
      {"products sum to the output", "sum of these products", std::regex("sum of these products is the output"),
       products_sum_to_output},
      {"counts of influence", "counts the numbers of a matrix", std::regex("counts the numbers"), counts_are_complete},
      {"largest weight and gradient", "at different words",
       std::regex("^(.+?): (\\d+) quer.+ compared\\. In (\\d+) of"), so_many_differ},
      {"gradients sum to 0", "Each row of the result sums to 0", std::regex("result sums to 0"),
       rows_of_gradient_sum_to_zero},
      {"a weight of 1", "exactly one weight is 1", std::regex("exactly one weight is 1"), is_exactly_one},
      {"lowered scores", "scores that are not masked", std::regex("above (all )?scores that are not masked"),
       some_score_is_not_masked},
      {"a key of zeros", "key of zeros", std::regex("A key of zeros"), some_key_is_zero},
      {"strongest pairs", " → ", std::regex("→"), pairs_are_told_together},
      {"labels of heads", "itself", std::regex("^itself$"), queries_are_among_keys},
      {"sums of 0", "sum to 0. Nothing", std::regex("sum to 0\\. Nothing"), has_no_sum},
      {"negative scores", "Some scores are negative", std::regex("Some scores are negative"), scores_are_below_zero},
      {"multiplied embeddings", "multiplied by √d_model", std::regex("multiplied by √d_model"),
       embeddings_are_multiplied},
      {"small weights", "contribute almost nothing", std::regex("contribute almost nothing"),
       small_weights_count_little, false},
      {"later states", "at least one later state", std::regex("at least one later state"), last_state_has_no_such_path,
       false},
      {"every word is seen", "every word attends to all words", std::regex("every word attends to all words"),
       every_word_is_seen},
  };
  return all;
}

// Which claims were met anywhere: one that no page makes any more tests nothing.
std::set<std::string_view>& met() {
  static std::set<std::string_view> names;
  return names;
}

void check_claims(const Reader& page, const Section& section, const std::string& where) {
  std::vector<std::string> sentences = section.sentences;
  sentences.push_back(section.heading);
  for (const Check& claim : checks()) {
    for (const std::string& sentence : sentences) {
      if (sentence.find(claim.part) == std::string::npos) continue;
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

// What holds always in exact arithmetic must hold here, but for numbers so large that their squares have no digits
// left.
void check_identities(const Reader& page, const Section& section, const std::string& where) {
  for (const std::string& name : page.names()) {
    for (const Row& row : page.array(name)) {
      if (std::ranges::any_of(row, [](double cell) { return std::fabs(cell) > 1e6 && std::isfinite(cell); })) return;
    }
  }
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

// What an error says of the words is true of them.
void check_refusal(const Words& words, const std::string& told) {
  const bool has_mask = std::ranges::any_of(words, [](const std::string& word) {
    return word == "--mask" || word == "--causal" || word == "--valid-length";
  });
  if (told.find("needs a mask: give") != std::string::npos)
    CHECK_MESSAGE(!has_mask, command_line(words) << ": " << told);
  CHECK_MESSAGE(told.find("smaller numbers") == std::string::npos, command_line(words) << ": " << told);
  static const std::regex one("\\b1 (rows|columns|words|positions|keys|queries|numbers|heads)\\b");
  CHECK_MESSAGE(!std::regex_search(told, one), command_line(words) << ": " << told);
}

// weights: every key is masked for the queries 1, 2 and 3 more.
void check_warning(const Reader& page, const std::string& told, const std::string& where) {
  static const std::regex words("^(\\S+): every key is masked for (query |the queries )(.*)\\. (Its|Their) weights"),
      more("(\\d+) more$");
  std::smatch match, rest;
  if (!std::regex_search(told, match, words) || !page.has(match[1])) return;
  met().insert("queries without keys");
  const std::string list = match[3];
  std::size_t named = 1;
  for (std::size_t at = 0; (at = list.find_first_of(",", at)) != std::string::npos; ++at) ++named;
  if (list.find(" and ") != std::string::npos) ++named;
  if (std::regex_search(list, rest, more)) named += std::stoul(rest[1]) - 1;
  const std::vector<Row> weights = page.array(match[1]);
  const auto empty = std::ranges::count_if(
      weights, [](const Row& row) { return std::ranges::all_of(row, [](double w) { return w == 0.0; }); });
  CHECK_MESSAGE(named == static_cast<std::size_t>(empty), where << ": " << told);
}

// All matrices of the problem of a page.
Json walk_of(const Words& page, const Words& input) {
  static const std::set<std::string> others = {"encoder", "decoder", "transformer", "generate", "align", "errata"};
  if (others.contains(page.front())) return {};
  const Words asked = input.empty() ? Words(page.begin() + 1, page.end()) : input;
  if (asked.empty() && page.front() != "walk") return {};
  try {
    return parse_json(written(attn::answer(Words{"walk"} + asked + Words{"--format", "json"}, bare_environment())),
                      "walk");
  } catch (const InputError&) {
    return {};
  }
}

// Whether the page was to be had at all.
bool check_page(const Words& page_words, const Words& input = {}) {
  const Words words = page_words + input;
  const std::string where = command_line(words);
  AnswerInFormat answer;
  try {
    answer = attn::answer(words + Words{"--format", "json"}, bare_environment());
  } catch (const InputError& error) {
    check_refusal(words, error.what());
    return false;
  }
  const Json json = parse_json(written(answer), "page");
  const Json whole = walk_of(page_words, input);
  const Reader page(json, whole);
  for (const Section& section : page.sections()) {
    check_claims(page, section, where);
    for (const std::string& formula : section.formulas) check_mask_formula(page, formula, where);
    check_regimes(section, where);
    check_identities(page, section, where);
  }
  for (const std::string& warning : answer.warnings) check_warning(page, warning, where);
  // Some pages ignore masks, and say so.
  const bool ignores = std::ranges::any_of(
      answer.warnings, [](const std::string& warning) { return warning.find("the mask") != std::string::npos; });
  // This erratum shows what the weights are where padding is not masked.
  const bool masks_nothing = words == Words{"errata", "E23"};
  if (!ignores && !masks_nothing && std::ranges::find(words, "--valid-length") == words.end())
    check_padding(page, where);
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
      if (!check_page(page, input)) continue;
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
    for (const Words& page : pages_of_attention()) shown += check_page(page, Words{"--example", example});
    CHECK_MESSAGE(shown > 0, example);
  }
  for (const Erratum& row : errata()) CHECK_MESSAGE(check_page({"errata", row.name}), row.name);
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
    const std::string mask = numbers(rows, columns, 0, 2);
    const Words input = {"--scores", numbers(rows, columns, -1, 2), "--mask", mask};
    RC_ASSERT(check_page({"walk", "--transpose"}, input));
    RC_ASSERT(check_page({"pool"}, input));
    if (mask.find('0') != std::string::npos) RC_ASSERT(check_page({"compare-masks"}, input));
  }));
}

TEST_CASE("every kind of claim is made by some page") {
  for (const Words& words :
       std::vector<Words>{{"walk", "--transpose"},
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
                          {"mask", "--scores", "1 -inf"},
                          {"mask", "--scores", "1 2; 3 4", "--mask", "0 -1; -inf 0"},
                          {"mask", "--scores", "1 2; 3 4", "--mask", "0 0; 1 0", "--mask-fill", "-5"},
                          {"mask", "--text", "a b", "--positions", "relative-bias"},
                          {"mask", "--scores", "1 2", "--mask", "1 1"},
                          {"walk", "--causal"},
                          {"walk", "--by-word", "1", "--scale", "3", "--soft-cap", "2"},
                          {"walk", "--score", "cosine", "--scale", "3"},
                          {"walk", "--multiply", "-2"},
                          {"walk", "--text", "a b c d", "--heads", "2", "--d-model", "4"},
                          {"walk", "--text", "a b", "--wo", "1 0; 0 1", "--d-model", "2"},
                          {"heads", "--q", "1 2", "--k", "1 2", "--v", "1 2"},
                          {"walk", "--scores", "1 2; 3 4", "--mask", "0 0; 1 1", "--transpose"},
                          {"scale", "--q", "1 2", "--k", "1 2", "--scale", "none"},
                          {"project"},
                          {"averaging", "--text", "a b", "--layers", "2", "--d-ff", "4"},
                          {"walk", "--q", "1", "--k", "1;2", "--v", "1;2"},
                          {"map", "--text", "a a b b", "--d-model", "4"},
                          {"map", "--scores", "9 0; 0 9", "--tokens", "a,b"},
                          {"pool", "--scores", "1000 -1000; 1 -1"},
                          {"compare-masks", "--scores", "1 2", "--mask", "0 1"},
                          {"compare-scores", "--q", "1 2", "--k", "0 0; 1 2"},
                          {"influence", "--of", "output[1,1]", "--example", "by-hand"},
                          {"influence"},
                          {"backward", "--check"},
                          {"backward"},
                          {"decoder", "--model", "induction", "--target", "a b c a b"},
                          {"encoder"}}) {
    check_page(words);
  }
  for (const Check& claim : checks()) CHECK_MESSAGE(met().contains(claim.name) == claim.is_made, claim.name);
  CHECK(met().contains("queries without keys"));
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

// --- random problems

namespace {

// Problems with ties, zeros, one key, repeated words, masked rows, numbers that are huge and tiny, and whatever else
// makes a sentence false that is true of ordinary numbers.
class Problems {
 public:
  explicit Problems(std::uint32_t seed) : random_(seed) {}

  Words scores() {
    const std::size_t queries = count(1, 4), keys = count(1, 4);
    Words words = {"--scores", matrix(queries, keys)};
    if (chance(3)) add(words, {"--v", matrix(keys, count(1, 3))});
    if (chance(2)) mask(words, queries, keys);
    return how(words, false);
  }

  Words vectors() {
    const std::size_t queries = count(1, 4), keys = count(1, 4), size = 2 * count(1, 2);
    Words words = {"--q", matrix(queries, size), "--k", matrix(keys, size)};
    if (chance(3)) add(words, {"--v", matrix(keys, size)});
    if (chance(2)) mask(words, queries, keys);
    if (chance(1)) add(words, {"--score", one_of({"dot", "cosine", "gaussian", "bilinear", "additive"})});
    if (chance(1)) add(words, {"--heads", "2"});
    return how(words, true);
  }

  Words embeddings() {
    const std::size_t queries = count(1, 3), keys = count(1, 3);
    Words words = {"--x", matrix(queries, 2)};
    if (chance(2)) add(words, {"--memory", matrix(keys, 2)});
    if (words.size() > 2 && chance(2)) add(words, {"--value-memory", matrix(keys, 2)});
    if (chance(2)) add(words, {"--wq", "1 0; 0 1", "--wk", "1 0; 0 1", "--wv", matrix(2, 2)});
    return how(words, true);
  }

  Words text() {
    Words words = {"--text", sentence(), "--d-model", "4"};
    if (chance(1)) add(words, {"--memory-text", sentence()});
    if (chance(1)) add(words, {"--heads", "2"});
    if (chance(2))
      add(words, {"--positions", one_of({"sinusoidal", "relative-bias", "rotary", "learned", "relative-vectors"})});
    if (chance(1)) add(words, {"--layers", "2"});
    if (chance(1)) add(words, {"--no-feed-forward"});
    if (chance(1)) add(words, {"--causal"});
    return how(words, true);
  }

  Words weights() {
    const std::size_t keys = count(1, 4);
    Words words = {"--weights", matrix(count(1, 4), keys)};
    if (chance(3)) add(words, {"--v", matrix(keys, 2)});
    return words;
  }

  Words any() {
    switch (count(0, 5)) {
      case 0:
        return scores();
      case 1:
        return vectors();
      case 2:
        return embeddings();
      case 3:
        return weights();
      default:
        return text();
    }
  }

  std::string sentence() {
    std::string words = one_of({"a", "b"});
    for (std::size_t i = count(0, 4); i > 0; --i) words += " " + one_of({"a", "a", "b", "c", "<blank>"});
    return words;
  }

  const Words& page(const std::vector<Words>& pages) { return pages[count(0, pages.size() - 1)]; }

 private:
  std::size_t count(std::size_t least, std::size_t most) { return least + random_() % (most - least + 1); }
  bool chance(std::size_t of_four) { return random_() % 4 < of_four; }
  std::string one_of(std::vector<std::string> all) { return all[random_() % all.size()]; }
  static void add(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

  std::string number(bool is_wild) {
    static const std::vector<std::string> ordinary = {"0", "1", "-1", "2", "0.5", "1", "0"},
                                          wild = {"0",    "1",     "1e300", "-1e300", "1e-300",
                                                  "1000", "-1000", "1e9",   "750",    "0.1234567"};
    const std::vector<std::string>& all = is_wild ? wild : ordinary;
    return all[random_() % all.size()];
  }

  std::string matrix(std::size_t rows, std::size_t columns) {
    const bool is_wild = chance(1);
    return filled(rows, columns, [&] { return number(is_wild); });
  }

  template <class Make>
  std::string filled(std::size_t rows, std::size_t columns, const Make& make) {
    std::string text;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) text += (j ? " " : i ? "; " : "") + make();
    }
    return text;
  }

  void mask(Words& words, std::size_t queries, std::size_t keys) {
    switch (count(0, 4)) {
      case 0:
        return add(words, {"--causal"});
      case 1:
        return add(words, {"--valid-length", std::to_string(count(0, keys))});
      case 2:
        return add(words, {"--mask", filled(queries, keys, [&] { return one_of({"0", "-inf", "-1", "0"}); })});
      default:
        add(words, {"--mask", filled(queries, keys, [&] { return one_of({"0", "1"}); })});
        if (chance(2)) add(words, {"--mask-fill", one_of({"-5", "-1000000", "0"})});
    }
  }

  Words how(Words words, bool has_vectors) {
    if (chance(1))
      add(words, {"--scale", one_of({"3", "none", "sqrt-n", has_vectors ? "sqrt-dk" : "0.5"})});
    else if (chance(1))
      add(words, {"--multiply", one_of({"0.5", "2"})});
    if (chance(1)) add(words, {"--soft-cap", one_of({"5", "0.5"})});
    return words;
  }

  std::mt19937 random_;
};

// How many of some random problems had a page. A sentence that its numbers contradict fails the test.
template <class Draw>
std::size_t try_problems(std::uint32_t seed, std::size_t few, const std::vector<Words>& pages, const Draw& draw) {
  Problems problems(seed);
  std::size_t shown = 0;
  for (std::size_t i = drawn(few, 20 * few); i > 0; --i) {
    const Words page = problems.page(pages);
    shown += check_page(page, draw(problems)) ? 1 : 0;
  }
  MESSAGE(shown << " random problems had a page");
  return shown;
}

}  // namespace

TEST_CASE("no sentence of the steps is false of random and degenerate problems") {
  const std::vector<Words> pages = {{"walk"},
                                    {"walk", "--transpose"},
                                    {"walk", "--by-word", "1"},
                                    {"walk", "--by-word", "1"},
                                    {"scores"},
                                    {"scale"},
                                    {"mask"},
                                    {"softmax"},
                                    {"softmax", "--transpose"},
                                    {"weigh"},
                                    {"project"},
                                    {"heads"},
                                    {"concat"},
                                    {"averaging"},
                                    {"feed-forward"}};
  CHECK(try_problems(1, 1000, pages, [](Problems& problems) { return problems.any(); }) > 500);
}

TEST_CASE("no sentence on weights and their comparisons is false of random and degenerate problems") {
  const std::vector<Words> pages = {
      {"softmax", "--from", "1"},    {"map"},          {"pool"}, {"compare-masks"}, {"compare-scores"},
      {"scale", "--sweep", "0.5,2"}, {"walk", "--map"}};
  CHECK(try_problems(2, 600, pages, [](Problems& problems) { return problems.any(); }) > 300);
}

TEST_CASE("no sentence on swapped words is false of random sentences") {
  const std::vector<Words> pages = {{"walk", "--swap", "1,2"}, {"embed"}, {"add-positions"}};
  CHECK(try_problems(3, 60, pages, [](Problems& problems) { return problems.text(); }) > 20);
}

TEST_CASE("no sentence on gradients is false of random and degenerate problems") {
  const std::vector<Words> pages = {{"influence"},
                                    {"influence", "--of", "output[1,1]"},
                                    {"influence", "--of", "weights[1,1]"},
                                    {"influence", "--by", "x[1,1]"},
                                    {"backward"}};
  CHECK(try_problems(4, 240, pages, [](Problems& problems) { return problems.any(); }) > 100);
}

TEST_CASE("no sentence of a model is false of random sentences") {
  const std::vector<Words> pages = {{"encoder"}, {"decoder"}, {"transformer"}};
  Problems problems(5);
  std::size_t shown = 0;
  for (std::size_t i = drawn(30, 600); i > 0; --i) {
    Words words = problems.page(pages);
    if (words.front() != "decoder") words = words + Words{"--source", problems.sentence()};
    if (words.front() != "encoder") words = words + Words{"--target", problems.sentence()};
    shown += check_page(words) ? 1 : 0;
  }
  MESSAGE(shown << " random problems had a page");
  CHECK(shown > 15);
}

// Sentences that say what something is, or what holds in general, claim nothing of the numbers beside them.
TEST_CASE("every sentence of the steps is checked against the numbers, or claims nothing of them") {
  constexpr std::string_view general[] = {
      "Attention by itself treats its keys as a set",
      "Linear layers turn each vector into new ones",
      "The names come from looking things up in a database",
      "In self-attention, input and output are the same words",
      "An attention score has two parts",
      "{}",
      "Before that, rotary positional encoding",
      "The attention weights transposed",
      "Attention by itself only adds up values",
      "A query whose keys are all masked has only weights of 0. Its row is no average",
  };
  // Each placeholder stands for something that the sentence can say.
  const auto with = [](std::string sentence, const std::string& detail) {
    for (const char* place : {"{0}", "{}"}) {
      for (std::size_t at; (at = sentence.find(place)) != std::string::npos;)
        sentence.replace(at, std::string_view(place).size(), detail);
    }
    return sentence;
  };
  for (const attn::Claim<Node>* claim : claims_of_steps()) {
    const std::string sentence(claim->sentence);
    const bool is_general = std::ranges::any_of(general, [&](std::string_view part) {
      return sentence == part || (part != "{}" && sentence.starts_with(part));
    });
    const auto is_checked = [&](const Check& check) {
      for (const char* detail : {"5", "5 numbers", "output is 0.5"}) {
        if (std::regex_search(with(sentence, detail), check.words)) return true;
      }
      return false;
    };
    CHECK_MESSAGE((is_general || std::ranges::any_of(checks(), is_checked)), sentence);
  }
}

TEST_CASE("a sentence that is false of a page is found out") {
  struct Planted {
    Words page, input;
    std::string section, sentence;
    std::vector<std::string> line = {};  // of a listing
  };
  const Words masked = {"--scores", "1 2; 3 4", "--mask", "0 0; 1 1", "--v", "1; 2"};
  const Words repeated = {"--model", "induction", "--text", "a b c a b"};
  const Words multiplied = {"--scores", "10 0", "--v", "0; 1e6", "--multiply", "0.5"};
  const std::vector<Planted> all = {
      {{"walk", "--by-word", "1"}, multiplied, "query", "Step 2. The scores are divided: scaled = scores ⋅ 0.5."},
      {{"walk", "--by-word", "1"}, multiplied, "query", "Here the scores are divided by 0.5."},
      {{"walk", "--by-word", "1"}, multiplied, "query", "Values with a weight near 0 contribute almost nothing."},
      {{"walk", "--by-word", "1"},
       {"--text", "a b", "--positions", "relative-bias", "--heads", "2", "--d-model", "4"},
       "query",
       "The mask: head.1.masked = head.1.scaled + relative."},
      {{"influence", "align"},
       {"--variant", "none", "--seed", "1", "--target", "eins", "--source", "one two three"},
       "Through the states",
       "Along the states are all paths that pass through at least one later state of the encoder."},
      {{"project"},
       {"--x", "4 0", "--wq", "1; 0", "--wk", "1; 0", "--wv", "1; 0", "--memory", "1 2", "--value-memory", "3 4"},
       "Projection",
       "Keys and values come from the same words of the input."},
      {{"walk"}, repeated, "Softmax (head.1)", "\"b\" attends most to \"a\" (98 %)."},
      {{"decoder"},
       {"--model", "induction", "--target", "a b c a b"},
       "The result",
       "After \"b\" the most probable word is \"a\" (100 %)."},
      {{"compare-masks"},
       {"--scores", "1 2", "--mask", "0 0"},
       "A number in place of −∞",
       "now the mask value -1e+06 is above scores that are not masked."},
      {{"scale"},
       {"--score", "gaussian", "--scale", "3", "--q", "1 2", "--k", "3 4"},
       "Scaling",
       "Dot products of long vectors tend to be large."},
      {{"softmax", "--transpose"}, masked, "Softmax", "Each column sums to one."},
      {{"softmax"}, masked, "Softmax", "Softmax turns each row of scores into weights that sum to one."},
      {{"pool"},
       {"--scores", "1000 -1000"},
       "Softmax",
       "exactly one weight is 1",
       {"1", "one-hot", "exactly one weight is 1, the others are 0: a database lookup"}},
      {{"map"},
       {"--q", "9 0; 0 9", "--k", "1 0; 0 1"},
       "Attention map",
       "itself",
       {"weights", "itself", "100 %", "0", "1 → 1 1.00, 2 → 2 1.00", "weights"}},
      {{"map"},
       {"--scores", "1 1 1; 1 1 1"},
       "Attention map",
       "1 → 1 0.33",
       {"weights", "evenly", "", "", "1 → 1 0.33, 1 → 2 0.33, 1 → 3 0.33", "weights"}},
      {{"mask"}, masked, "Mask", "No mask applies here: every query may attend to every key."},
      {{"concat"}, {"--example", "animal"}, "Concatenation", "There is one head, so nothing is concatenated."},
  };
  for (const Planted& planted : all) {
    const std::string where = command_line(planted.page + planted.input) + ": " + planted.sentence;
    const Json json = parse_json(
        written(attn::answer(planted.page + planted.input + Words{"--format", "json"}, bare_environment())), "page");
    const Json whole = walk_of(planted.page, planted.input);
    const Reader page(json, whole);
    std::size_t sections = 0, found = 0;
    for (Section section : page.sections()) {
      if (section.heading.find(planted.section) == std::string::npos) continue;
      ++sections;
      section.sentences = {planted.sentence};
      if (!planted.line.empty()) section.listing_rows = {planted.line};
      for (const Check& check : checks()) {
        std::smatch match;
        const bool says = planted.sentence.find(check.part) != std::string::npos &&
                          std::regex_search(planted.sentence, match, check.words);
        if (says && !check.against(page, section, match).empty()) ++found;
      }
    }
    CHECK_MESSAGE(sections > 0, where);
    CHECK_MESSAGE(found > 0, where);
  }
}
