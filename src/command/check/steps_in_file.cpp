#include "command/check/steps_in_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/math/rows.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "school/check/matching.hpp"
#include "school/check/names.hpp"

namespace attn {

namespace {

// --- names with steps

constexpr std::string_view separators = "._- []", digit_characters = "0123456789", step_word = "step";

// The number of a step in a name, and the name without it: 2 and "k" of "step.2.k" and of "k_step2".
struct NameInStep {
  std::size_t step;
  std::string name;
};

std::optional<NameInStep> name_in_step(const std::string& name) {
  const std::size_t at = in_lower_case(name).find(step_word);
  if (at == std::string::npos) return std::nullopt;
  std::size_t begin = at + step_word.size();
  if (begin < name.size() && name[begin] == 's') ++begin;
  begin = std::min(name.find_first_not_of(separators, begin), name.size());
  const std::size_t end = std::min(name.find_first_not_of(digit_characters, begin), name.size());
  const std::optional<std::size_t> step = parse_number<std::size_t>(std::string_view(name).substr(begin, end - begin));
  if (!step) return std::nullopt;
  const std::string before(trimmed(std::string_view(name).substr(0, at), separators)),
      after(trimmed(std::string_view(name).substr(end), separators));
  if (before.empty() && after.empty()) return std::nullopt;
  return NameInStep{*step, before + (before.empty() || after.empty() ? "" : ".") + after};
}

// --- joined

using Steps = std::vector<const MatrixFile*>;  // one of each step, in order

std::size_t rows_of_each(const MatrixFile& file) { return file.matrix.shape().rows / file.count; }

// One of several matrices that stand below each other in a file, such as those of heads.
std::span<const double> row_of_part(const MatrixFile& file, std::size_t part, std::size_t i) {
  return row(file.matrix, part * rows_of_each(file) + i);
}

bool is_near(double a, double b) {
  constexpr double part = 1e-4;  // more than float32 loses, and less than a mistake changes
  return a == b || std::abs(a - b) <= part * std::max(std::abs(a), std::abs(b)) || (a != a && b != b);
}

class Joiner {
 public:
  Joiner(NamedMatrices& all, StepsInFile& found) : all_(all), found_(found), first_(found.words_in_first_step) {}

  // Nothing: it cannot be joined.
  std::optional<MatrixFile> join(const std::string& name, const Steps& steps) {
    MatrixFile joined = *steps.front();
    joined.name = name;
    const auto has_rows = [&](auto expected) {
      for (std::size_t t = 0; t < steps.size(); ++t) {
        if (rows_of_each(*steps[t]) != expected(t)) return false;
      }
      return true;
    };
    const auto is_cache = has_rows([&](std::size_t t) { return first_ + t; });
    if (is_cache) return with_last(name, steps);
    if (!has_rows([&](std::size_t t) { return t == 0 ? first_ : std::size_t{1}; })) {
      say_other_rows(name, steps);
      return with_last(name, steps);
    }
    const std::size_t words = first_ + steps.size() - 1;
    const bool grows = columns_of(*steps.back()) == words && columns_of(*steps.front()) == first_ && words > first_;
    if (grows && !are_weights(name)) {
      all_.remarks.push_back(fmt::format(
          "{} is not compared: its rows grow with the steps, and what a later word gets is not there.", name));
      return std::nullopt;
    }
    joined.matrix = Matrix({joined.count * words, columns_of(*steps.back())}, 0.0);
    for (std::size_t part = 0; part < joined.count; ++part) {
      std::size_t to = part * words;
      for (const MatrixFile* step : steps) {
        for (std::size_t i = 0; i < rows_of_each(*step); ++i)
          std::ranges::copy(row_of_part(*step, part, i), row(joined.matrix, to++).begin());
      }
    }
    return joined;
  }

 private:
  static std::size_t columns_of(const MatrixFile& file) { return file.matrix.shape().columns; }

  static bool are_weights(const std::string& name) {
    const std::span<const Role* const> roles = roles_named(name.substr(name.rfind('.') + 1));
    return !roles.empty() && roles.front() == &role::weights;
  }

  // A cache only grows: what an earlier step has put there stays as it is.
  MatrixFile with_last(const std::string& name, const Steps& steps) {
    for (std::size_t t = 1; t < steps.size(); ++t) {
      const MatrixFile &before = *steps[t - 1], &now = *steps[t];
      if (columns_of(before) != columns_of(now) || before.count != now.count) break;
      std::vector<std::string> changed;
      for (std::size_t i = 0; i < std::min(rows_of_each(before), rows_of_each(now)); ++i) {
        const auto is_same = [&](std::size_t part) {
          return std::ranges::equal(row_of_part(before, part, i), row_of_part(now, part, i), is_near);
        };
        for (std::size_t part = 0; part < now.count; ++part) {
          if (is_same(part)) continue;
          changed.push_back(std::to_string(i + 1));
          break;
        }
      }
      if (changed.empty()) continue;
      found_.broken_at.emplace(name, t + 1);
      all_.remarks.push_back(fmt::format(
          "At step {0}, row{1:|s} {2} of {3} {1:is|are} no longer as in step {4}: what is in a cache stays as it is.",
          t + 1, Count{changed.size()}, list_in_words(changed), name, t));
      break;
    }
    MatrixFile last = *steps.back();
    last.name = name;
    return last;
  }

  void say_other_rows(const std::string& name, const Steps& steps) {
    for (std::size_t t = 0; t < steps.size(); ++t) {
      const std::size_t rows = rows_of_each(*steps[t]), all = first_ + t, fresh = t == 0 ? first_ : 1;
      if (rows == all || rows == fresh) continue;
      found_.broken_at.emplace(name, t + 1);
      all_.remarks.push_back(fmt::format(
          "At step {}, {} has {}: a step of this file has one for each new word, {}, or for each word so far, {}.",
          t + 1, name, count_of(rows, "row"), fresh, all));
      return;
    }
    all_.remarks.push_back(fmt::format(
        "{} has the rows of new words at some steps, and of all words so far at others: the last step is compared.",
        name));
  }

  NamedMatrices& all_;
  StepsInFile& found_;
  std::size_t first_;
};

// How many words the first step has: those of the matrices that one row is added to, or that have one row.
std::size_t words_in_first(const std::map<std::string, Steps>& by_name) {
  std::size_t most = 1;
  for (const auto& [name, steps] : by_name) {
    const std::size_t first = rows_of_each(*steps.front()), second = rows_of_each(*steps[1]);
    if (second == 1 || second == first + 1) most = std::max(most, first);
  }
  return most;
}

}  // namespace

// --- joined

StepsInFile join_steps(NamedMatrices& all) {
  std::map<std::string, std::map<std::size_t, const MatrixFile*>> by_step;
  std::vector<std::string> order;
  for (const MatrixFile& file : all.matrices) {
    const std::optional<NameInStep> in_step = name_in_step(file.name);
    if (!in_step) continue;
    if (!by_step.contains(in_step->name)) order.push_back(in_step->name);
    by_step[in_step->name].emplace(in_step->step, &file);
  }
  std::map<std::string, Steps> by_name;
  StepsInFile found;
  std::set<const MatrixFile*> parts;
  for (const auto& [name, numbered] : by_step) {
    const std::size_t first = numbered.begin()->first, last = numbered.rbegin()->first;
    if (numbered.size() < 2 || first > 1 || last - first + 1 != numbered.size()) continue;
    for (const auto& [step, file] : numbered) {
      by_name[name].push_back(file);
      parts.insert(file);
    }
    found.count = std::max(found.count, numbered.size());
  }
  if (found.count == 0) return found;
  found.words_in_first_step = words_in_first(by_name);
  Joiner joiner(all, found);
  std::vector<MatrixFile> joined;
  for (const std::string& name : order) {
    const auto steps = by_name.find(name);
    if (steps == by_name.end()) continue;
    if (std::optional<MatrixFile> whole = joiner.join(name, steps->second)) joined.push_back(std::move(*whole));
  }
  std::vector<MatrixFile> rest;
  for (MatrixFile& file : all.matrices) {
    if (!parts.contains(&file)) rest.push_back(std::move(file));
  }
  std::ranges::move(joined, std::back_inserter(rest));
  all.matrices = std::move(rest);
  return found;
}

std::optional<StepThatDiffers> first_that_differs(const StepsInFile& steps, const MatchedMatrices& matched) {
  std::optional<StepThatDiffers> first;
  for (const ComparedMatrix& one : matched.compared) {
    if (one.difference.agrees() || !one.node->op) continue;
    // The last step of a cache says when it was changed only where an earlier step does.
    const auto broken = steps.broken_at.find(one.name);
    if (broken == steps.broken_at.end() && one.difference.rows.empty()) continue;
    const std::size_t step =
        broken == steps.broken_at.end() ? steps.of_row(one.difference.rows.front()) : broken->second;
    if (!first || step < first->step) first = StepThatDiffers{step, one.node->name};
  }
  return first;
}

}  // namespace attn
