#include "command/backward/beside_attention.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "command/backward/derivatives.hpp"
#include "command/backward/reach.hpp"
#include "core/support/error.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/heads.hpp"

namespace attn {

namespace {

// ‖∂ row i / ∂ word j‖ for each of some matrices of words.
std::vector<Matrix> influences(const Node& result, const std::vector<const Node*>& words) {
  Sensitivity back(result, words);
  const Shape shape = result.frame.shape;
  require_ways(shape.cells(), back.work());
  std::vector<Matrix> squares;
  for (const Node* one : words) squares.emplace_back(Shape{shape.rows, one->frame.shape.rows}, 0.0);
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t c = 0; c < shape.columns; ++c) {
      back.take(i, c);
      for (std::size_t w = 0; w < words.size(); ++w) {
        const auto gradient = back.by(w);
        for (std::size_t j = 0; gradient && j < gradient->shape().rows; ++j) {
          for (const double one : row(*gradient, j)) squares[w](i, j) += one * one;
        }
      }
    }
  }
  for (Matrix& one : squares) {
    for (double& cell : cells(one)) cell = std::sqrt(cell);
  }
  return squares;
}

// The place of the largest number, where it is larger than all others by more than rounding.
std::optional<std::size_t> largest_place(std::span<const double> numbers) {
  if (numbers.empty()) return std::nullopt;
  const auto best = static_cast<std::size_t>(std::ranges::max_element(numbers) - numbers.begin());
  if (!(numbers[best] > 0.0)) return std::nullopt;
  for (std::size_t j = 0; j < numbers.size(); ++j) {
    if (j != best && numbers[best] - numbers[j] <= rounding_of_ties * numbers[best]) return std::nullopt;
  }
  return best;
}

Matrix shares_of(const Matrix& influence) {
  Matrix shares = influence;
  for (std::size_t i = 0; i < shares.shape().rows; ++i) {
    double sum = 0.0;
    for (const double one : row(influence, i)) sum += one;
    for (double& one : row(shares, i)) one = sum > 0.0 ? one / sum : 0.0;
  }
  return shares;
}

// Attention weights of these queries and words: of each head, or of many heads their average.
struct Attending {
  std::string title;
  Matrix weights;
};

std::vector<Attending> attending(const Graph& graph, Shape shape) {
  constexpr std::size_t most_heads = 2;
  if (std::ranges::none_of(graph.nodes(), [](const Node& node) { return node.is(role::weights); })) return {};
  std::vector<Attending> all;
  std::vector<Attention> attentions = attentions_of(graph, std::nullopt);
  std::erase_if(attentions, [&](const Attention& one) { return one.heads.front()->frame.shape != shape; });
  std::size_t heads = 0;
  for (const Attention& one : attentions) heads += one.heads.size();
  for (const Attention& one : attentions) {
    if (heads <= most_heads) {
      for (const Node* head : one.heads) {
        const std::string place = head->place ? head->place->title() : head->name;
        all.push_back({place, head->matrix()});
      }
      continue;
    }
    Matrix sum(shape, 0.0);
    for (const Node* head : one.heads) {
      for (std::size_t i = 0; i < sum.size(); ++i)
        cells(sum)[i] += cells(head->matrix())[i] / static_cast<double>(one.heads.size());
    }
    all.push_back({one.place ? one.place->title() : "heads", std::move(sum)});
  }
  return all;
}

void add_shares_beside(QuantityPage& page, const Axis& rows, const Axis& words, const Matrix& shares,
                       const std::vector<Attending>& attending) {
  Listing listing{{"query", "gradient"}, {}, true};
  for (const Attending& one : attending) listing.columns.push_back(one.title);
  std::vector<std::size_t> others(attending.size(), 0);
  std::vector<std::size_t> compared(attending.size(), 0);
  for (std::size_t i = 0; i < shares.shape().rows; ++i) {
    const std::optional<std::size_t> most = largest_place(row(shares, i));
    std::vector<std::string> line = {place_in_lists(rows, i), most ? place_in_lists(words, *most) : "–"};
    for (std::size_t h = 0; h < attending.size(); ++h) {
      const std::optional<std::size_t> key = largest_place(row(attending[h].weights, i));
      line.push_back(key ? place_in_lists(words, *key) : "–");
      if (!key || !most) continue;
      ++compared[h];
      if (*key != *most) ++others[h];
    }
    listing.rows.push_back(std::move(line));
  }
  page.say(
      "The word with the largest share, and the word with the largest weight. "
      "A dash means that there is none, or that several share it.");
  page.say(std::move(listing));
  for (std::size_t h = 0; h < attending.size(); ++h) {
    page.say(text(
        code(attending[h].title),
        compared[h] == 0
            ? std::string(": no query has both a largest share and a largest weight, so nothing is compared.")
            : fmt::format(
                  ": {:# query is|# queries are} compared. In {} of them, the largest weight and the largest gradient are at different words.",
                  Count{compared[h]}, others[h])));
  }
}

}  // namespace

void add_attention_beside_gradient(QuantityPage& page, const Node& result) {
  const Graph& graph = *result.graph;
  const std::vector<const Node*> words = words_going_in(graph, result);
  if (words.empty()) fail("no words go in whose influence could be shown: give --of and --by numbers");
  const std::vector<Matrix> all = influences(result, words);
  page.say(text(
      "The influence of a word on a row of ", code(result.name),
      " is the size of their Jacobian: the square root of the sum of all squared derivatives of the row's numbers with respect to the numbers of the word's vector. "
      "Shares are influences divided by the sum of their row."));
  for (std::size_t w = 0; w < words.size(); ++w) {
    const Node& one = *words[w];
    page.head(2, fmt::format("The influence of {}", one.name));
    if (largest_derivative(all[w]) == 0.0) {
      page.say("All derivatives are 0: to first order, no small change of these words changes the result.");
      continue;
    }
    page.matrix("influence." + one.name, all[w], result.frame.rows, one.frame.rows, Heat::around_zero);
    const Matrix shares = shares_of(all[w]);
    const std::vector<Attending> heads = attending(graph, shares.shape());
    page.head(2, fmt::format("Attention beside gradients: {}", one.name));
    HeatMaps maps;
    const auto add_map = [&](std::string title, const Matrix& cells) {
      maps.tables.push_back({.title = std::move(title),
                             .rows = result.frame.rows,
                             .columns = one.frame.rows,
                             .cells = std::make_shared<const Matrix>(cells),
                             .heat = Heat::weights});
    };
    add_map("shares", shares);
    for (const Attending& head : heads) add_map(head.title, head.weights);
    page.say(std::move(maps));
    std::vector<std::string> untouched;
    for (std::size_t i = 0; i < all[w].shape().rows; ++i) {
      if (std::ranges::all_of(row(all[w], i), [](double cell) { return cell == 0.0; }))
        untouched.push_back(place_in_lists(result.frame.rows, i));
    }
    if (!untouched.empty()) {
      page.say(fmt::format("No word influences {}, so there are no shares and 0 stands in their place.",
                           fmt::join(untouched, ", ")));
    }
    if (heads.empty()) {
      page.say("There are no attention weights of these queries and words to compare with.");
      continue;
    }
    add_shares_beside(page, result.frame.rows, one.frame.rows, shares, heads);
  }
}

}  // namespace attn
