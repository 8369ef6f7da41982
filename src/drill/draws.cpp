#include "drill/draws.hpp"

#include <algorithm>
#include <random>

namespace attn {

Draws::Draws(std::initializer_list<std::uint32_t> seed) {
  std::seed_seq mixed(seed);
  generator_.seed(mixed);
}

int Draws::between(int least, int most) {
  return least + static_cast<int>(place(static_cast<std::size_t>(most - least + 1)));
}

// Libraries differ in how they make a number of a range out of bits, so that this is done here.
std::size_t Draws::place(std::size_t count) {
  return static_cast<std::size_t>(uniform(generator_) * static_cast<double>(count));
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
