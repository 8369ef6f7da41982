#include "model/influence.hpp"

#include <cmath>
#include <limits>

namespace attn {
namespace {

double squared_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

// The nearest other word; <end> takes no other word's place.
std::size_t nearest_other(const EncoderDecoder& model, std::size_t id) {
  const Matrix& embeddings = *model.parameters.find(Name({scope::encoder}, role::e).text())->second;
  std::size_t nearest = id;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < model.source_words.size(); ++i) {
    if (i + 1 == id || model.source_words[i] == end_word) continue;
    const double distance = squared_distance(row(embeddings, id - 1), row(embeddings, i));
    if (distance >= least) continue;
    least = distance;
    nearest = i + 1;
  }
  return nearest;
}

double total_variation(std::span<const double> p, std::span<const double> q) {
  double sum = 0.0;
  for (std::size_t j = 0; j < p.size(); ++j) sum += std::fabs(p[j] - q[j]);
  return sum / 2.0;
}

}  // namespace

Influence influence(const EncoderDecoder& model, const Ids& source, const Ids& target) {
  const Matrix before = distributions(model, source, target);
  Influence result{{}, Matrix({target.size(), source.size()})};
  for (std::size_t i = 0; i < source.size(); ++i) {
    Ids changed = source;
    changed[i] = nearest_other(model, source[i]);
    result.replacements.push_back(changed[i]);
    const Matrix after = distributions(model, changed, target);
    for (std::size_t t = 0; t < target.size(); ++t) {
      result.moved(t, i) = total_variation(row(before, t), row(after, t));
    }
  }
  return result;
}

}  // namespace attn
