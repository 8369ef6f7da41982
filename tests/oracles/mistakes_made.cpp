// Answers what mistakes give, line by line, to mistakes.py. Words of a line stand between tabs:
//   mistakes                      the names of all, those with numbers among them, and of variants: "norm-missing#2"
//   PROBLEM MISTAKE               whether it changes something, or makes something impossible
//   PROBLEM MISTAKE MATRIX        its rows; null where they cannot be computed, or there is none
// A problem is fields in JSON, or a name of tests/mistake_problems.hpp, / and a size. No MISTAKE: "". A mistake with a
// number is "another-scale=0.5". An answer is JSON in a line.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "mistake_problems.hpp"
#include "school/mistake/numbers.hpp"

namespace {

using namespace attn;

std::shared_ptr<Graph> graph_of(const std::string& problem) {
  if (problem.starts_with('{')) return tried::problem_of(problem);
  const std::size_t slash = problem.find('/');
  const auto row = std::ranges::find(tried::problems, problem.substr(0, slash), &tried::Problem::name);
  if (row == std::end(tried::problems)) fail("{}: no such problem", problem);
  return row->made(std::stoul(problem.substr(slash + 1)));
}

// The mistake itself is the first.
std::string name_of_variant(const Mistake& mistake, std::size_t i) { return fmt::format("{}#{}", mistake.name, i + 2); }

Change change_called(const Graph& graph, const std::string& name) {
  for (const Mistake& mistake : mistakes()) {
    if (mistake.name == name) return mistake;
    for (std::size_t i = 0; i < mistake.variants.size(); ++i) {
      if (mistake.variants[i] && name_of_variant(mistake, i) == name) return {mistake.where, mistake.variants[i]};
    }
  }
  const std::size_t equal = name.find('=');
  for (const MistakeWithNumber* one : mistakes_with_numbers()) {
    if (equal == std::string::npos || one->mistake.name != name.substr(0, equal)) continue;
    return one->change(NodesWhere(graph, one->mistake.where), std::stod(name.substr(equal + 1)));
  }
  fail("{}: no such mistake", name);
}

std::string written(const Matrix& matrix) {
  std::string text = "[";
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    text += i == 0 ? "[" : ", [";
    for (const double x : row(matrix, i)) {
      const std::string number = std::isnan(x)   ? "NaN"
                                 : std::isinf(x) ? (x > 0 ? "Infinity" : "-Infinity")
                                                 : fmt::format("{}", x);
      text += (text.back() == '[' ? "" : ", ") + number;
    }
    text += "]";
  }
  return text + "]";
}

std::string names_of_all() {
  std::string text;
  const auto put = [&](std::string_view name) { text += fmt::format("{}\"{}\"", text.empty() ? "[" : ", ", name); };
  for (const Mistake& mistake : mistakes()) {
    put(mistake.name);
    for (std::size_t i = 0; i < mistake.variants.size(); ++i) {
      if (mistake.variants[i]) put(name_of_variant(mistake, i));
    }
  }
  for (const MistakeWithNumber* one : mistakes_with_numbers()) put(one->mistake.name);
  return text + "]";
}

// The computations that were asked for.
class Answers {
 public:
  std::string changes(const std::string& problem, const std::string& mistake) {
    Rewriting& again = rewriting(problem, mistake);
    const bool any = std::ranges::any_of(graph(problem).nodes(), [&](const Node& node) {
      try {
        return again.changes(node);
      } catch (const InputError&) {
        return true;
      }
    });
    return any ? "true" : "false";
  }

  std::string rows(const std::string& problem, const std::string& mistake, const std::string& name) {
    const Node* const node = graph(problem).find(name);
    if (!node) return "null";
    if (mistake.empty()) return written(node->matrix());
    try {
      return written(rewriting(problem, mistake).of(*node).matrix());
    } catch (const InputError&) {
      return "null";
    }
  }

 private:
  const Graph& graph(const std::string& problem) {
    std::shared_ptr<Graph>& found = graphs_[problem];
    if (!found) found = graph_of(problem);
    return *found;
  }
  // Of the last mistake alone.
  Rewriting& rewriting(const std::string& problem, const std::string& mistake) {
    const std::string of = problem + '\t' + mistake;
    if (of != of_ || !again_) {
      const Graph& original = graph(problem);
      again_ = std::make_unique<Rewriting>(original, change_called(original, mistake));
      of_ = of;
    }
    return *again_;
  }

  std::map<std::string, std::shared_ptr<Graph>> graphs_;
  std::string of_;
  std::unique_ptr<Rewriting> again_;
};

std::vector<std::string> words_of_line(const std::string& line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    if (c == '\t') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

}  // namespace

int main() {
  Answers answers;
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<std::string> words = words_of_line(line);
    try {
      const std::string answer = words.size() == 1   ? names_of_all()
                                 : words.size() == 2 ? answers.changes(words[0], words[1])
                                                     : answers.rows(words[0], words[1], words[2]);
      std::cout << answer << std::endl;
    } catch (const std::exception& error) {
      std::cerr << line << ": " << error.what() << '\n';
      return 1;
    }
  }
  return 0;
}
