#include "school/mistake/amounts.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "mistake_problems.hpp"

using namespace attn;

TEST_SUITE("amounts of mistakes") {
  TEST_CASE("a factor is told with what it divides by, and with what it may come from") {
    const auto graph = tried::problem_of(R"({"text": "a b c", "d_model": 5, "d_k": 2, "seed": 1})");
    struct Told {
      double factor;
      std::string_view begin, part;
    };
    for (const auto& [factor, begin, part] :
         {Told{2.0 / 3.0, "0.666667 times the right one, so divided by 1.5:", "2/3, where 3 is the number of"},
          Told{1.5, "1.5 times the right one, so divided by 0.6667:", "3/2, where 3 is the number of"},
          Told{1.0 / 3.5, "0.285714 times the right one, so divided by 3.5", ""},
          Told{0.3, "0.3 times the right one, so divided by 3.333", ""},
          Told{std::sqrt(1.0 / 7.0), "0.377964 times the right one, so divided by 2.646, the square root of 7",
               ": in all a division by √14"},
          Told{std::sqrt(2.0) / 1.5, "0.942809 times the right one, so divided by 1.061", ": in all a division by 1.5"},
          Told{std::sqrt(7.0), "2.64575 times the right one, the square root of 7, so divided by 0.378", ""},
          Told{std::numbers::ln2, "0.693147 times", ": ln 2, as powers of 2 give"},
          Told{1.0 / std::numbers::ln2, "1.4427 times", ": 1/ln 2, as logarithms to the base 2 give"},
          Told{std::sqrt(2.0) / 1.4, "1.01015 times",
               "√2/1.4, where 2 is the size of a query and √2 was rounded to 1.4"},
          Told{1.41 / std::sqrt(2.0), "0.997021 times",
               "1.41/√2, where 2 is the size of a query and √2 was rounded to"},
          Told{0.0, "0 times the right one", ""}}) {
      const std::string told = amount_as_factor(graph->at("scaled"), factor);
      CHECK_MESSAGE(told.starts_with(begin), told);
      CHECK_MESSAGE(told.find(part) != std::string::npos, told);
      CHECK((told.find(':') != std::string::npos) == !part.empty());
    }
  }
}
