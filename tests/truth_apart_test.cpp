#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "apart/failure/failure.hpp"
#include "commands_tried.hpp"

// What pages claim that compare computations, change them, break them or check their gradients: worked out from the
// numbers, above all where the input is a special case. truth_test.cpp does the same for the pages of steps.

using namespace attn;

namespace {

using Row = std::vector<double>;
using Numbers = std::vector<Row>;

double as_number(const Json& cell) {
  if (cell.is_number()) return cell.get<double>();
  const double infinity = std::numeric_limits<double>::infinity();
  return cell == "-Infinity" ? -infinity : cell == "Infinity" ? infinity : std::nan("");
}

Numbers as_rows(const Json& cells) {
  Numbers rows;
  for (const Json& row : cells) {
    rows.emplace_back();
    for (const Json& cell : row) rows.back().push_back(as_number(cell));
  }
  return rows;
}

// A page, read: its paragraphs in one line, its listings, and its matrices.
struct Told {
  std::string line, text;
  std::vector<Json> listings;
  std::map<std::string, Numbers> arrays;
  std::optional<Verdict> verdict;

  bool says(std::string_view part) const { return text.find(part) != std::string::npos; }
  bool has(const std::string& name) const { return arrays.contains(name); }
};

// Nothing where the line is refused; why stands in `refusal`.
std::optional<Told> told(const std::string& line, std::string* refusal = nullptr) {
  AnswerInFormat said;
  try {
    Words words = command_lines("attn " + line, "test", 1).front().words;
    for (const char* word : {"--format", "json"}) words.emplace_back(word);
    said = answer(words, bare_environment());
  } catch (const InputError& error) {
    if (refusal) *refusal = error.what();
    return std::nullopt;
  }
  const Json page = parse_json(written(said), "page");
  Told told{.line = line, .text = "", .listings = {}, .arrays = {}, .verdict = said.verdict};
  for (const Json& block : page["page"]) {
    if (block["type"] == "prose") told.text += " " + block["text"].get<std::string>();
    if (block["type"] == "listing") told.listings.push_back(block);
  }
  for (const auto& item : page["arrays"].items()) told.arrays.emplace(item.key(), as_rows(item.value()));
  return told;
}

bool any_cell(const Numbers& rows, const std::function<bool(double)>& is) {
  return std::ranges::any_of(rows, [&](const Row& row) { return std::ranges::any_of(row, is); });
}

std::string leaf_of(const std::string& name) { return name.substr(name.rfind('.') + 1); }

std::vector<std::string> called(const Told& page, std::string_view leaf) {
  std::vector<std::string> names;
  for (const auto& [name, rows] : page.arrays) {
    if (leaf_of(name) == leaf) names.push_back(name);
  }
  return names;
}

bool any_called(const Told& page, std::string_view leaf, const std::function<bool(const Numbers&)>& is) {
  return std::ranges::any_of(called(page, leaf), [&](const std::string& name) { return is(page.arrays.at(name)); });
}

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool same_rows(const Numbers& a, const Numbers& b) {
  return std::ranges::equal(a, b, [](const Row& x, const Row& y) { return std::ranges::equal(x, y, same_number); });
}

// Problems with equal rows, one number for each word, one word, zeros, ties, and rows whose keys are all masked.
const std::vector<std::string>& special_problems() {
  static const std::vector<std::string> all = {
      "--text a --causal",
      "--text 'a b c' --causal",
      "--text 'a a a' --causal",
      "--text 'a b' --heads 2 --d-model 4",
      "--text a --heads 2 --d-model 4",
      "--q 1 --k '1;2' --v '1;2'",
      "--q '1 2;1 2' --k '1 2;1 2' --v '1;2'",
      "--q '1 2;1 2' --k '1 2;3 4' --v '1;2'",
      "--q '0 0;0 0' --k '0 0;0 0' --v '1;2'",
      "--q '1 0;0 1' --k '1 0;0 1;1 1' --v '1;2;3'",
      "--scores '1e9 1' --v '1;1' --mask '1 0'",
      "--scores '1 2;3 4' --v '1;1' --mask '0 0;1 1'",
      "--scores '1 2;3 4' --v '1;1' --mask '1 1;1 1'",
      "--scores '1 1;1 1' --v '1;1' --mask '1 0;1 0'",
      "--scores '89 89;1 1' --v '1;1'",
      "--scores '88.71 1;1 1' --v '1;1'",
      "--q '1 2;3 4' --k '1 2;3 4' --scale none",
      "--q '1 2;3 4' --k '1 2;3 4' --scale 3",
  };
  return all;
}

// --- break

// What a failure needs, worked out from the matrices of the computation: whether it is there.
struct Needed {
  std::string_view phrase;
  std::function<bool(const Told&)> is_there;
};

const std::vector<Needed>& needed() {
  const auto masks = [](const Numbers& mask) { return any_cell(mask, [](double cell) { return cell == 0.0; }); };
  static const std::vector<Needed> all = {
      {"a mask of 0 and 1 (such as a causal one) that hides a key from some of the queries alone, or all keys from one",
       [](const Told& page) {
         return any_called(page, "mask", [](const Numbers& mask) {
           return std::ranges::any_of(mask, [&](const Row& row) {
             return row != mask.front() || std::ranges::all_of(row, [](double cell) { return cell == 0.0; });
           });
         });
       }},
      {"a mask of 0 and 1 that hides a key", [=](const Told& page) { return any_called(page, "mask", masks); }},
      {"a softmax over the keys", [](const Told& page) { return !called(page, "scores").empty(); }},
      {"queries whose scores differ, or not as many queries as keys",
       [](const Told& page) {
         return any_called(page, "masked", [](const Numbers& scores) {
           return scores.size() != scores.front().size() ||
                  std::ranges::any_of(scores, [&](const Row& row) { return row != scores.front(); });
         });
       }},
      {"a mask of 0 and 1 (such as a causal one) that hides a later key",
       [](const Told& page) {
         return any_called(page, "mask", [](const Numbers& mask) {
           for (std::size_t i = 0; i < mask.size(); ++i) {
             for (std::size_t j = i + 1; j < mask[i].size(); ++j) {
               if (mask[i][j] == 0.0) return true;
             }
           }
           return false;
         });
       }},
      {"as many queries as keys",
       [](const Told& page) {
         return any_called(page, "weights", [](const Numbers& rows) { return rows.size() == rows.front().size(); });
       }},
      {"the scale √d_k",
       [](const Told& page) {
         for (const std::string& name : called(page, "scaled")) {
           const std::string scope = name.substr(0, name.size() - leaf_of(name).size());
           if (!page.has(scope + "k") || !page.has(scope + "scores")) continue;
           const double root = std::sqrt(static_cast<double>(page.arrays.at(scope + "k").front().size()));
           const Numbers &scores = page.arrays.at(scope + "scores"), &scaled = page.arrays.at(name);
           bool is_divided = page.line.find("--scale") == std::string::npos;
           for (std::size_t i = 0; i < scores.size(); ++i) {
             for (std::size_t j = 0; j < scores[i].size(); ++j)
               is_divided = is_divided && std::fabs(scaled[i][j] - scores[i][j] / root) < 1e-9;
           }
           if (is_divided) return true;
         }
         return false;
       }},
      {"a d_k above 1",
       [](const Told& page) { return any_called(page, "k", [](const Numbers& k) { return k.front().size() > 1; }); }},
      {"scores that are not 0",
       [](const Told& page) {
         return any_called(page, "scores", [](const Numbers& scores) {
           return any_cell(scores, [](double cell) { return cell != 0.0; });
         });
       }},
      {"a score above 88.7 before the softmax",
       [](const Told& page) {
         return any_called(page, "masked", [](const Numbers& scores) {
           return any_cell(scores, [](double cell) { return cell > 88.7; });
         });
       }},
      {"several heads", [](const Told& page) { return page.has("head.2.weights"); }},
      {"several words",
       [](const Told& page) { return any_called(page, "q", [](const Numbers& q) { return q.size() > 1; }); }},
      {"a layer of self-attention and feed-forward with residual connections and post-norm",
       [](const Told& page) { return !called(page, "sum_2").empty() && !page.says("pre-norm"); }},
  };
  return all;
}

// Which of the phrases a sentence has, the longest first: one may be the beginning of another.
std::vector<const Needed*> needed_in(std::string sentence) {
  std::vector<const Needed*> order, found;
  for (const Needed& one : needed()) order.push_back(&one);
  std::ranges::stable_sort(order, std::ranges::greater(), [](const Needed* one) { return one->phrase.size(); });
  for (const Needed* one : order) {
    const std::size_t at = sentence.find(one->phrase);
    if (at == std::string::npos) continue;
    found.push_back(one);
    sentence.erase(at, one->phrase.size());
  }
  return found;
}

// "It needs a, b and c."
std::optional<std::string> told_needs(const std::string& text) {
  static const std::regex words("needs (.+?)(\\.$|\\. |: give|$)");
  std::smatch match;
  return std::regex_search(text, match, words) ? std::optional(match[1].str()) : std::nullopt;
}

// The law of a failure, held to the matrices of a page.
bool holds(std::string_view failure, const Told& page, const Told& walk) {
  const auto each = [&](std::string_view leaf, const std::function<bool(const std::string&, const Numbers&)>& is) {
    return std::ranges::all_of(called(page, leaf),
                               [&](const std::string& name) { return is(name, page.arrays.at(name)); });
  };
  const auto beside = [&](const std::string& name, const std::string& other) {
    const std::string scope = name.substr(0, name.size() - leaf_of(name).size());
    for (const std::string& place : {scope + other, other}) {
      if (page.has(place)) return page.arrays.at(place);
      if (walk.has(place)) return walk.arrays.at(place);
    }
    return Numbers();
  };
  if (failure == "row-of-nan" || failure == "overflow")
    return each("weights", [](const std::string&, const Numbers& rows) {
      return !any_cell(rows, [](double cell) { return !std::isfinite(cell); });
    });
  if (failure == "wrong-axis")
    return each("weights", [](const std::string&, const Numbers& rows) {
      return std::ranges::all_of(rows, [](const Row& row) {
        double sum = 0.0;
        for (const double cell : row) sum += cell;
        return std::fabs(sum - 1.0) <= 1e-9;
      });
    });
  if (failure == "look-into-the-future" || failure == "leaking-mask")
    return each("weights", [&](const std::string& name, const Numbers& rows) {
      const Numbers mask = beside(name, "mask");
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < rows[i].size(); ++j) {
          const bool is_hidden = failure == "leaking-mask" ? mask.at(i).at(j) == 0.0 : j > i;
          if (is_hidden && !(std::fabs(rows[i][j]) <= 1e-9)) return false;
        }
      }
      return true;
    });
  if (failure == "no-scale")
    return each("scaled", [&](const std::string& name, const Numbers& rows) {
      const Numbers scores = beside(name, "scores"), k = beside(name, "k");
      const double root = std::sqrt(static_cast<double>(k.front().size()));
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < rows[i].size(); ++j) {
          const double right = scores.at(i).at(j) / root;
          if (std::fabs(rows[i][j] - right) > 1e-9 * std::max({1.0, std::fabs(right), std::fabs(rows[i][j])}))
            return false;
        }
      }
      return true;
    });
  if (failure == "mixed-heads") {
    Numbers joined;
    for (std::size_t head = 1; page.has(fmt::format("head.{}.q", head)); ++head) {
      const Numbers& rows = page.arrays.at(fmt::format("head.{}.q", head));
      joined.resize(rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) joined[i].insert(joined[i].end(), rows[i].begin(), rows[i].end());
    }
    return same_rows(joined, page.arrays.at("q"));
  }
  return true;
}

// How often each kind of claim was met: one that is never made tests nothing.
std::map<std::string, int>& met() {
  static std::map<std::string, int> counts;
  return counts;
}

void check_break(const Failure& failure, const std::string& problem) {
  const std::optional<Told> walk = told("walk " + problem);
  REQUIRE(walk);
  const std::string line = fmt::format("walk {} --break {}", problem, failure.name);
  CAPTURE(line);
  std::string refusal;
  const std::optional<Told> page = told(line, &refusal);
  const std::string& text = page ? page->text : refusal;
  if (const std::optional<std::string> needs = told_needs(text)) {
    const std::vector<const Needed*> parts = needed_in(*needs);
    CHECK_MESSAGE(!parts.empty(), *needs);
    for (const Needed* one : parts) CHECK_MESSAGE(!one->is_there(*walk), one->phrase);
    ++met()["needs"];
  }
  if (!page) return;
  const bool is_hidden = page->says("the failure does not show");
  const bool is_unchanged =
      page->says("the mistake changes none of these numbers") || page->says("the mistake gives the right result");
  if (is_unchanged) {
    ++met()["unchanged"];
    for (const auto& one : page->arrays) {
      if (walk->has(one.first)) CHECK_MESSAGE(same_rows(one.second, walk->arrays.at(one.first)), one.first);
    }
  }
  CHECK(holds(failure.name, *page, *walk) == is_hidden);
  CHECK(page->says("The law holds for the broken computation.") == is_hidden);
  ++met()[is_hidden ? "hidden" : "shown"];
}

}  // namespace

TEST_CASE("what a failure is said to need is missing, and its law holds where it is said to hold") {
  for (const Failure& failure : failures()) {
    if (failure.command != "walk") continue;
    for (const std::string& problem : special_problems()) check_break(failure, problem);
  }
  for (const char* claim : {"needs", "unchanged", "hidden", "shown"}) CHECK_MESSAGE(met()[claim] > 3, claim);
}

// --- checks of gradients

namespace {

std::size_t counted(const std::string& text, const std::string& behind) {
  std::smatch match;
  std::size_t count = 0;
  const std::regex words("(\\d+) numbers? (?:is|are) " + behind);
  for (auto at = text.cbegin(); std::regex_search(at, text.cend(), match, words); at = match.suffix().first)
    count += std::stoul(match[1]);
  return count;
}

void check_checked(const std::string& line) {
  CAPTURE(line);
  std::string refusal;
  const std::optional<Told> page = told(line, &refusal);
  CAPTURE(refusal);
  REQUIRE(page);
  CHECK(page->verdict == Verdict::passed);
  check_lacks(page->text, "They disagree");
  check_lacks(page->text, "The loss has no derivative there");
  std::size_t numbers = 0, compared = 0;
  for (const Json& row : page->listings.front()["rows"]) {
    const std::size_t size = std::stoul(row[1].get<std::string>());
    if (size > 64) return;
    numbers += size;
    compared += std::stoul(row[2].get<std::string>());
  }
  CHECK(compared + counted(page->text, "not compared") + counted(page->text, "too inaccurate") == numbers);
  if (page->says("vector of zeros")) ++met()["zeros"];
  if (page->says("kink of ReLU")) ++met()["relu"];
}

}  // namespace

TEST_CASE("gradients are called wrong nowhere, and each number is compared or told as not compared") {
  const std::string zeros = "--x '0 0;0 0' --wq '1 0;0 1' --wk '1 0;0 1' --wv '1;1'";
  for (const std::string& line : {
           std::string("layer-norm --x '1 1 1'"),
           std::string("layer-norm --x '4 4 4;1 2 3'"),
           std::string("layer-norm --x '1 1.0001' --epsilon 0"),
           std::string("layer-norm --x '1 2 3' --epsilon 0"),
           std::string("layer-norm --x '0 0' --norm-kind rms"),
           std::string("layer-norm --x '0.0001 0' --norm-kind rms --epsilon 0"),
           "walk " + zeros + " --score cosine",
           std::string("walk --x '0 0;1 0' --wq '1 0;0 1' --wk '1 0;0 1' --wv '1;1' --score cosine"),
           std::string("walk --x '0.00005;1' --wq 1 --wk 1 --wv 1 --score cosine"),
           "walk " + zeros,
           "walk " + zeros + " --score gaussian",
           std::string("walk --x '0 0' --w1 '1 0;1 1' --w2 '1;1'"),
           std::string("walk --x '1 -1' --w1 '1 0;1 1' --w2 '1;1'"),
           std::string("walk --scores '1 1;2 2' --v '1;2'"),
           std::string("walk --scores '1 2;3 4' --mask '0 0;1 1' --v '1;2'"),
           std::string("walk --text a"),
           std::string("walk --text 'a a' --causal"),
           std::string("--q 1e4 --k '1e3;1e3' --v '1;2'"),
           std::string("--scores '1e7 1e7' --v '1;2'"),
           std::string("--scores '1e10 1e10' --v '1;2'"),
           std::string("--scores '1e15 1e15' --v '1;2'"),
           std::string("--scores '0 0' --v '1e15;2'"),
           std::string("--q '1e4 0' --k '1e4 0;1e4 0' --v '1;2'"),
           std::string("layer-norm --x '0 0 0' --epsilon 1e-14"),
           std::string("encoder --layers 1 --x '0 0 0 0' --epsilon 1e-14"),
           std::string("layer-norm --x '1e-8 1e-8 2e-8' --epsilon 0"),
           std::string("layer-norm --x '1e-8 1e-8 2e-8' --epsilon 0 --norm-kind rms"),
           std::string("layer-norm --x '1e-6 1e-6 2e-6' --epsilon 0"),
           std::string("layer-norm --x '1 1 1' --epsilon 1e-16"),
           std::string("--x '3000 1000;3000 1000' --wq '1 0;0 1' --wk '1 0;0 1' --wv '1 0;0 2' --of 'weights[1,1]'"),
       }) {
    check_checked("backward " + line + " --check");
  }
  CHECK(met()["zeros"] > 1);
  CHECK(met()["relu"] > 0);
}

// --- differences

namespace {

std::set<std::string> labels_apart(const std::string& a, const std::string& b) {
  const auto labels = [](const std::string& line) {
    std::map<std::string, Json> all;
    Words words = command_lines("attn " + line, "test", 1).front().words;
    for (const char* word : {"--format", "json"}) words.emplace_back(word);
    const Json page = parse_json(written(answer(words, bare_environment())), "page");
    for (const Json& node : page["nodes"])
      all[node["name"]] = Json::array({node["rows"].value("labels", Json()), node["columns"].value("labels", Json())});
    return all;
  };
  const auto of_a = labels(a), of_b = labels(b);
  std::set<std::string> apart;
  for (const auto& [name, axes] : of_a) {
    const auto other = of_b.find(name);
    for (const std::size_t axis : {0u, 1u}) {
      const bool both = other != of_b.end() && !axes[axis].is_null() && !other->second[axis].is_null();
      if (both && axes[axis] != other->second[axis]) apart.insert(name);
    }
  }
  return apart;
}

void check_diff(const std::string& a, const std::string& b) {
  const std::string line = fmt::format("diff \"{}\" \"{}\"", a, b);
  CAPTURE(line);
  const std::optional<Told> page = told(line), of_a = told(a), of_b = told(b);
  REQUIRE(page);
  REQUIRE((of_a && of_b));
  const std::set<std::string> apart = labels_apart(a, b);
  std::size_t equal = 0, all = 0;
  for (const Json& row : page->listings.front()["rows"]) {
    const std::string name = row[0], how = row[1], in_a = row[4], in_b = row[5];
    ++all;
    equal += how == "equal" ? 1 : 0;
    if (how == "equal") {
      CHECK_MESSAGE(!apart.contains(name), name);
      const Numbers &one = of_a->arrays.at(name), &other = of_b->arrays.at(name);
      REQUIRE(one.size() == other.size());
      for (std::size_t i = 0; i < one.size(); ++i) {
        for (std::size_t j = 0; j < one[i].size(); ++j)
          CHECK((same_number(one[i][j], other[i][j]) ||
                 std::fabs(one[i][j] - other[i][j]) <=
                     1e-9 * std::max({1.0, std::fabs(one[i][j]), std::fabs(other[i][j])})));
      }
    }
    if (how == "different") CHECK_MESSAGE(in_a != in_b, name << ": " << in_a);
    if (how == "only in A") CHECK((of_a->has(name) && !of_b->has(name)));
    if (how == "only in B") CHECK((of_b->has(name) && !of_a->has(name)));
    ++met()[how];
  }
  CHECK((page->verdict == Verdict::passed) == (equal == all));
  check_lacks(page->text, "mistake");
}

}  // namespace

TEST_CASE("two computations are called equal only where their numbers and their words are") {
  const std::vector<std::array<std::string, 2>> pairs = {
      {"walk --text 'dog bites man'", "walk --text 'man bites dog'"},
      {"walk --text 'dog bites man'", "walk --text 'cat eats fish'"},
      {"walk --text 'a b a'", "walk --text 'a a b'"},
      {"walk --text 'a b'", "walk --text 'a b c'"},
      {"walk --text 'dog bites man' --positions sinusoidal", "walk --text 'man bites dog' --positions sinusoidal"},
      {"walk", "walk --scale none"},
      {"walk --scale none", "walk"},
      {"walk", "walk --causal"},
      {"walk --score cosine", "walk"},
      {"walk", "walk --score cosine"},
      {"walk --text 'a b' --heads 2", "walk --text 'a b'"},
      {"walk --text 'a b'", "walk --text 'a b' --heads 2"},
      {"layer-norm --x '1 2 3'", "layer-norm --x '1 2 3' --epsilon 0"},
      {"layer-norm --x '1 2 3'", "layer-norm --x '1 2 3' --norm-kind rms"},
      {"walk --q 1 --k 1 --v 1", "walk --q 1 --k 1 --v 1 --scale none"},
      {"walk --q '0 0' --k '0 0' --v 1", "walk --q '0 0' --k '0 0' --v 1 --scale none"},
      {"walk --scores '1 2' --v '1;2' --mask '0 0'", "walk --scores '1 2' --v '1;2'"},
  };
  for (const auto& [a, b] : pairs) check_diff(a, b);
  for (const char* how : {"equal", "different", "other words", "other shape", "only in A", "only in B"})
    CHECK_MESSAGE(met()[how] > 0, how);
}

// --- what if

namespace {

void check_what_if(const std::string& problem, const std::string& change) {
  const std::string line = fmt::format("what-if walk {} {}", problem, change);
  CAPTURE(line);
  const std::optional<Told> page = told(line), walk = told("walk " + problem);
  REQUIRE(walk);
  if (!page) {
    ++met()["change refused"];
    return;
  }
  ++met()["change told"];
  std::size_t unchanged = 0;
  std::smatch match;
  if (std::regex_search(page->text, match, std::regex("(\\S+) is unchanged, to the last bit"))) {
    ++met()["result unchanged"];
    const std::string name = match[1];
    if (page->has(name)) CHECK_MESSAGE(same_rows(page->arrays.at(name), walk->arrays.at(name)), name);
  }
  for (const auto& [name, rows] : page->arrays) {
    if (walk->has(name) && same_rows(rows, walk->arrays.at(name))) ++unchanged;
  }
  if (page->says("No number changes.")) {
    ++met()["no number"];
    CHECK(unchanged == page->arrays.size());
  }
  if (std::regex_search(page->text, match,
                        std::regex("changes(?: by 1e-9 or more)? is (\\S+): \\S.*? was (\\S+) and is now (\\S+)\\."))) {
    ++met()["first change"];
    CHECK(match[2] != match[3]);
    const std::string name = match[1];
    if (page->has(name)) CHECK_FALSE(same_rows(page->arrays.at(name), walk->arrays.at(name)));
  }
  if (page->says("concatenation")) CHECK(walk->has("head.2.weights"));
  for (const Json& listing : page->listings) {
    if (listing["columns"].back() != "is now") continue;
    for (const Json& row : listing["rows"]) CHECK(row[row.size() - 2] != row[row.size() - 1]);
  }
}

}  // namespace

TEST_CASE("what a change is said to do is what it does to the numbers") {
  for (const std::string& problem : special_problems()) {
    for (const char* change : {"--without scale", "--without mask", "--without 'head 1'", "--set 'k[1,1] = 1.0000001'",
                               "--set 'v[1,1] = 1'", "--set 'scores[1,1] = 1'", "--swap 1,2"})
      check_what_if(problem, change);
  }
  for (const char* claim : {"result unchanged", "first change"}) CHECK_MESSAGE(met()[claim] > 0, claim);
  CHECK(met()["change told"] > met()["change refused"]);
}

// --- lists of the largest

TEST_CASE("a list of the most probable words names none while another one has the same share") {
  static const std::regex entry("(\\S+) (<? ?[\\d.e-]+)\\D{1,3}%( each)?");
  for (const char* top : {"1", "2", "3", "5"}) {
    const std::optional<Told> page = told(fmt::format("lens --model copy --top-k {}", top));
    REQUIRE(page);
    const Numbers& all = page->arrays.at("lens.distribution");
    const Json& rows = page->listings.front()["rows"];
    REQUIRE(rows.size() == all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string list = rows[i].back();
      CAPTURE(list);
      std::map<std::string, std::size_t> with;
      for (const double share : all[i]) ++with[fmt::format("{:.1f}", 100.0 * share)];
      std::map<std::string, std::size_t> named;
      for (auto at = std::sregex_iterator(list.begin(), list.end(), entry); at != std::sregex_iterator(); ++at) {
        const bool is_count = (*at)[3].matched;
        if (is_count) {
          static const std::regex words("(\\d+) words with");
          std::smatch count;
          REQUIRE(std::regex_search(list, count, words));
          named[(*at)[2]] += std::stoul(count[1]);
        } else {
          ++named[(*at)[2]];
        }
      }
      CHECK_FALSE(named.empty());
      for (const auto& one : named) CHECK_MESSAGE(with[one.first] == one.second, one.first);
    }
  }
}
