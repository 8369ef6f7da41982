#include "lesson/combining.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lesson/typed_digits.hpp"
#include "support/number.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

void collect_leaves(const Working& working, std::vector<double>& numbers) {
  if (working.parts.empty() && gives_number(working)) numbers.push_back(number_from(working));
  for (const Working& part : working.parts) collect_leaves(part, numbers);
}

// A number, and how it is put together.
struct Made {
  double value;
  std::string how;
};

std::vector<Made> pairs_of(const std::vector<double>& numbers) {
  std::vector<Made> made;
  const auto text = [](double number) {
    return number < 0 ? "(" + told_number(number) + ")" : told_number(number);
  };
  const std::size_t count = numbers.size();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      const double a = numbers[i], b = numbers[j];
      const bool adds = a != 0.0 && b != 0.0, changes = adds && b != 1.0;
      if (i < j && adds) made.push_back({a + b, fmt::format("{} + {}", told_number(a), text(b))});
      if (i < j && changes && a != 1.0)
        made.push_back({a * b, fmt::format("{} · {}", told_number(a), text(b))});
      if (i == j && changes) made.push_back({a * a, fmt::format("{} · {}", told_number(a), text(a))});
      if (i != j && adds) made.push_back({a - b, fmt::format("{} − {}", told_number(a), text(b))});
      if (i != j && changes) made.push_back({a / b, fmt::format("{} / {}", told_number(a), text(b))});
      if (i != j && changes && a > 0.0 && std::fabs(b) < 50)
        made.push_back({std::pow(a, b), fmt::format("{}^{}", told_number(a), text(b))});
    }
  }
  return made;
}

std::vector<Made> alone(const std::vector<double>& numbers) {
  std::vector<Made> made;
  for (const double number : numbers) {
    made.push_back({number / 2, fmt::format("{} / 2", told_number(number))});
    made.push_back({2 * number, fmt::format("2 · {}", told_number(number))});
    if (number > 0.0) made.push_back({std::sqrt(number), fmt::format("√{}", told_number(number))});
    if (number != 0.0) made.push_back({1 / number, fmt::format("1 / {}", told_number(number))});
    if (std::fabs(number) < 700)
      made.push_back({std::exp(number), fmt::format("exp({})", told_number(number))});
  }
  return made;
}

std::vector<Made> triples_of(const std::vector<double>& numbers) {
  std::vector<Made> made;
  const auto text = [](double number) {
    return number < 0 ? "(" + told_number(number) + ")" : told_number(number);
  };
  const std::size_t count = numbers.size();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i; j < count; ++j) {
      for (std::size_t k = j; k < count; ++k) {
        const double a = numbers[i], b = numbers[j], c = numbers[k];
        made.push_back({a * b * c, fmt::format("{} · {} · {}", told_number(a), text(b), text(c))});
        if (i < j && j < k)
          made.push_back({a + b + c, fmt::format("{} + {} + {}", told_number(a), text(b), text(c))});
      }
    }
  }
  return made;
}

std::vector<double> singly(const std::vector<double>& numbers, std::size_t most) {
  std::vector<double> different;
  for (const double number : numbers) {
    if (different.size() < most && std::isfinite(number) &&
        std::ranges::find(different, number) == different.end())
      different.push_back(number);
  }
  return different;
}

}  // namespace

std::string told_number(double number) {
  const std::string text = written(number);
  return text.starts_with('-') ? "−" + text.substr(1) : text;
}

std::vector<double> numbers_in(std::string_view text) {
  static constexpr std::array<std::string_view, 11> words = {
      "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"};
  std::vector<double> numbers;
  std::string plain(text);
  for (std::size_t at; (at = plain.find("−")) != std::string::npos;)
    plain.replace(at, std::string("−").size(), "-");
  for (const std::string& word : parted(plain, " \n\t()[]{}=+*/?!:;\"'`·⋅×")) {
    std::string number = word;
    while (!number.empty() && (number.back() == '.' || number.back() == ',')) number.pop_back();
    std::erase(number, ',');
    if (const std::optional<double> value = parsed<double>(number); value && std::isfinite(*value)) {
      numbers.push_back(*value);
      continue;
    }
    const auto found = std::ranges::find(words, in_lower_case(number));
    if (found != words.end()) numbers.push_back(static_cast<double>(found - words.begin()));
  }
  return numbers;
}

std::optional<std::string> combined(const SolvedQuestion& solved, const Working& steps,
                                    const TypedAnswer& typed) {
  constexpr double close = 0.02;
  const std::vector<double> asked = singly(numbers_in(solved.question.ask), 8);
  std::vector<double> leaves;
  collect_leaves(steps, leaves);
  // What people put together they have read: numbers of a few digits.
  std::erase_if(leaves, [](double number) { return !is_exact(number, 2); });
  const std::vector<double> few = singly(leaves, 10), fewer = singly(leaves, 6);
  for (const std::vector<Made>& all : {pairs_of(few), pairs_of(asked), alone(few), alone(asked),
                                       triples_of(fewer), triples_of(singly(asked, 6))}) {
    for (const Made& made : all) {
      if (std::isfinite(made.value) && tells(typed, made.value, close))
        return fmt::format("This is {}. Something else is asked for.", made.how);
    }
  }
  return std::nullopt;
}

}  // namespace attn
