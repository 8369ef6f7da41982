#include "drill/draws.hpp"

#include <algorithm>
#include <random>

namespace attn {

namespace {

Generator seeded(std::initializer_list<std::uint32_t> numbers) {
  std::seed_seq mixed(numbers);
  return Generator(mixed);
}

// Libraries differ in how they make a number of a range out of bits, so that this is done here.
std::size_t place_of(Generator& generator, std::size_t count) {
  return static_cast<std::size_t>(uniform(generator) * static_cast<double>(count));
}

}  // namespace

Draws::Draws(std::uint32_t seed, std::uint32_t problem, std::uint32_t attempt)
    : kinds_(seeded({seed, problem})), generator_(seeded({seed, problem, attempt})) {}

std::size_t Draws::kind(std::size_t count) {
  return place_of(kinds_, count);
}

int Draws::between(int least, int most) {
  return least + static_cast<int>(place(static_cast<std::size_t>(most - least + 1)));
}

std::size_t Draws::place(std::size_t count) {
  return place_of(generator_, count);
}

WholeNumbers Draws::numbers(std::size_t rows, std::size_t columns, int least, int most, int step) {
  WholeNumbers numbers(rows, std::vector<int>(columns));
  for (std::vector<int>& row : numbers) {
    std::ranges::generate(row, [&] { return least + step * between(0, (most - least) / step); });
  }
  return numbers;
}

std::string written(const WholeNumbers& numbers) {
  std::string text;
  for (const std::vector<int>& row : numbers) {
    text += text.empty() ? "" : "; ";
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : " ") + std::to_string(row[i]);
  }
  return text;
}

const std::vector<Sentence>& sentences() {
  static const std::vector<Sentence> all = {
      {{"cats", "chase", "mice"}, {"chats", "chassent", "souris"}},
      {{"we", "read", "books"}, {"nous", "lisons", "livres"}},
      {{"she", "codes", "well"}, {"elle", "code", "bien"}},
      {{"birds", "eat", "seeds"}, {"oiseaux", "mangent", "graines"}},
      {{"the", "dog", "sleeps"}, {"le", "chien", "dort"}},
      {{"it", "rains", "again"}, {"il", "pleut", "encore"}},
  };
  return all;
}

}  // namespace attn
