#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

/// Attention once more, in plain loops that share nothing with the program. Each step is a function, so that
/// a test can put another one in its place.
namespace attn::loops {

using M = std::vector<std::vector<double>>;  // row after row; empty: it cannot be computed

inline std::size_t columns_of(const M& a) { return a.empty() ? 0 : a[0].size(); }

template <class Cell>
M made(std::size_t rows, std::size_t columns, const Cell& cell) {
  M result(rows, std::vector<double>(columns));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) result[i][j] = cell(i, j);
  }
  return result;
}

template <class Function>
M each(M a, const Function& function) {
  for (auto& row : a) {
    for (double& cell : row) cell = function(cell);
  }
  return a;
}

inline M turned(const M& a) {
  return made(columns_of(a), a.size(), [&](std::size_t i, std::size_t j) { return a[j][i]; });
}

inline M product(const M& a, const M& b) {
  if (a.empty() || columns_of(a) != b.size()) return {};
  return made(a.size(), columns_of(b), [&](std::size_t i, std::size_t j) {
    double sum = 0.0;
    for (std::size_t k = 0; k < b.size(); ++k) sum += a[i][k] * b[k][j];
    return sum;
  });
}

inline M linear(const M& x, const M& w, const M& b) {
  const M xw = product(x, w);
  if (xw.empty() || b.empty()) return xw;
  return made(xw.size(), columns_of(xw), [&](std::size_t i, std::size_t j) { return xw[i][j] + b[0][j]; });
}

/// Some columns, or some rows; nothing where there are fewer.
inline M columns(const M& a, std::size_t first, std::size_t count) {
  if (first + count > columns_of(a)) return {};
  return made(a.size(), count, [&](std::size_t i, std::size_t j) { return a[i][first + j]; });
}
inline M rows(const M& a, std::size_t first, std::size_t count) {
  return made(count, columns_of(a), [&](std::size_t i, std::size_t j) { return a[first + i][j]; });
}

inline M beside(const std::vector<M>& parts) {
  M result = parts[0];
  for (std::size_t p = 1; p < parts.size(); ++p) {
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (parts[p].empty()) return {};
      result[i].insert(result[i].end(), parts[p][i].begin(), parts[p][i].end());
    }
  }
  return result;
}

inline M below(const std::vector<M>& parts) {
  M result;
  for (const M& part : parts) result.insert(result.end(), part.begin(), part.end());
  return result;
}

/// All cells in their order, with so many in a row.
inline M reshaped(const M& a, std::size_t columns) {
  const std::size_t before = columns_of(a);
  return made(a.size() * before / columns, columns, [&](std::size_t i, std::size_t j) {
    const std::size_t place = i * columns + j;
    return a[place / before][place % before];
  });
}

inline M sum_of(const std::vector<M>& parts) {
  M sum = parts[0];
  for (std::size_t p = 1; p < parts.size(); ++p) {
    sum = made(sum.size(), columns_of(sum), [&](std::size_t i, std::size_t j) { return sum[i][j] + parts[p][i][j]; });
  }
  return sum;
}

/// Every row divided by its sum; a row of sum 0 is 0.
inline M shares(M a) {
  for (auto& row : a) {
    double sum = 0.0;
    for (const double cell : row) sum += cell;
    for (double& cell : row) cell = sum == 0.0 ? 0.0 : cell / sum;
  }
  return a;
}

inline M softmax(M a) {
  for (auto& row : a) {
    const double largest = *std::max_element(row.begin(), row.end());
    if (std::isfinite(largest)) {
      for (double& cell : row) cell -= largest;
    }
  }
  return shares(each(std::move(a), [](double x) { return std::exp(x); }));
}

struct Attention;

/// One head at work: its part of q, k and v, and what is made of them.
struct Head {
  const Attention* of;
  const std::vector<Head>* all;
  std::size_t number;
  M q, k, v, scores, scaled, masked, weights, output;
};

using Step = std::function<M(const Head& head)>;

/// A multi-head self-attention, softmax(q kᵀ / √d_k) v, with keys and values that heads may share.
struct Attention {
  M x;
  std::array<M, 4> w, b;  // of q, k, v and the output
  std::size_t heads = 1, key_heads = 1;
  std::size_t d_k = 0, d_v = 0;
  bool causal = false;
  std::size_t length = 0;  // of the sentence; what stands behind it is padding
  M allowed = {};          // 1 where a query may attend to a key; empty: everywhere

  std::function<M(const Attention& of, std::size_t which)> project = [](const Attention& of, std::size_t which) {
    return linear(of.x, of.w[which], of.b[which]);
  };
  /// Part `number` of so many, `size` columns wide, of q, k or v, which is the result of projection `which`.
  std::function<M(const Attention& of, const M& whole, std::size_t number, std::size_t size, std::size_t which)> part =
      [](const Attention&, const M& whole, std::size_t number, std::size_t size, std::size_t) {
        return columns(whole, number * size, size);
      };
  Step compare = [](const Head& head) { return product(head.q, turned(head.k)); };
  Step scale = [](const Head& head) {
    const double root = std::sqrt(static_cast<double>(head.of->d_k));
    return each(head.scores, [=](double x) { return x / root; });
  };
  Step mask = [](const Head& head) { return head.of->filled(head.scaled, -std::numeric_limits<double>::infinity()); };
  Step weigh = [](const Head& head) { return softmax(head.masked); };
  Step sum = [](const Head& head) { return product(head.weights, head.v); };
  std::function<M(const std::vector<Head>& heads)> merge = [](const std::vector<Head>& all) {
    std::vector<M> outputs;
    for (const Head& head : all) outputs.push_back(head.output);
    return beside(outputs);
  };
  std::function<M(const Attention& of, const M& concat)> finish = [](const Attention& of, const M& concat) {
    return of.w[3].empty() ? concat : linear(concat, of.w[3], of.b[3]);
  };

  bool is_in_sentence(std::size_t key) const { return key < length; }
  bool is_in_order(std::size_t query, std::size_t key) const { return !causal || key <= query; }

  /// Masks what a rule does not allow.
  void allow(const std::function<bool(std::size_t query, std::size_t key)>& allows) {
    allowed = made(x.size(), x.size(), [&](std::size_t i, std::size_t j) { return allows(i, j) ? 1.0 : 0.0; });
  }

  M filled(const M& scores, double fill) const {
    if (scores.empty() || allowed.empty()) return scores;
    if (scores.size() != allowed.size() || columns_of(scores) != columns_of(allowed)) return {};
    return made(scores.size(), columns_of(scores),
                [&](std::size_t i, std::size_t j) { return allowed[i][j] != 0.0 ? scores[i][j] : fill; });
  }

  /// Everything by the names that the program gives it.
  std::map<std::string, M> run() const {
    const M q = project(*this, 0), k = project(*this, 1), v = project(*this, 2);
    std::map<std::string, M> found = {{"q", q}, {"k", k}, {"v", v}};
    std::vector<Head> all;
    for (std::size_t i = 0; i < heads; ++i) {
      const std::size_t group = i * key_heads / heads;
      Head head{this, &all, i, q, k, v, {}, {}, {}, {}, {}};
      if (heads > 1) {
        head.q = part(*this, q, i, d_k, 0);
        head.k = part(*this, k, group, d_k, 1);
        head.v = part(*this, v, group, d_v, 2);
      }
      all.push_back(std::move(head));
    }
    for (Head& head : all) head.scores = compare(head);
    for (Head& head : all) head.scaled = scale(head);
    for (Head& head : all) head.masked = mask(head);
    for (Head& head : all) head.weights = weigh(head);
    for (Head& head : all) {
      head.output = sum(head);
      const std::string place = heads > 1 ? "head." + std::to_string(head.number + 1) + "." : "";
      const std::map<std::string, M> own = {{"q", head.q},
                                            {"k", head.k},
                                            {"v", head.v},
                                            {"scores", head.scores},
                                            {"scaled", head.scaled},
                                            {"masked", head.masked},
                                            {"weights", head.weights},
                                            {"output", head.output}};
      for (const auto& [name, cells] : own) found[place + name] = cells;
    }
    if (heads == 1) return found;
    found["concat"] = merge(all);
    found["output"] = finish(*this, found["concat"]);
    return found;
  }
};

}  // namespace attn::loops
