#include "model/by_length.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace attn {
namespace {

std::size_t words_of(const KnownTranslation& sentence) {
  return sentence.source.size() - 1;
}

// Missing and superfluous words are wrong.
double share_of_right_words(const Ids& written, const Ids& correct) {
  std::size_t right = 0;
  for (std::size_t t = 0; t < std::min(written.size(), correct.size()); ++t)
    right += written[t] == correct[t];
  return static_cast<double>(right) / static_cast<double>(std::max(written.size(), correct.size()));
}

double largest_difference(const Matrix& a, const Matrix& b) {
  double largest = 0.0;
  for (std::size_t j = 0; j < a.shape().columns; ++j)
    largest = std::max(largest, std::fabs(a(0, j) - b(0, j)));
  return largest;
}

}  // namespace

Ids translation_beside(const EncoderDecoder& model, const KnownTranslation& known) {
  constexpr std::size_t more = 3;  // enough to see that it does not end
  return translate(model, known.source, known.target.size() + more);
}

std::vector<LengthScore> by_length(const std::vector<EncoderDecoder>& models,
                                   const std::vector<KnownTranslation>& known) {
  std::set<std::size_t> lengths;
  for (const KnownTranslation& sentence : known) lengths.insert(words_of(sentence));
  std::vector<LengthScore> scores;
  for (const std::size_t words : lengths) {
    LengthScore score{words, 0, std::vector<std::size_t>(models.size(), 0),
                      std::vector<WrongTranslation>(models.size()), std::vector<double>(models.size(), 0.0)};
    for (const KnownTranslation& sentence : known) {
      if (words_of(sentence) != words) continue;
      ++score.sentences;
      for (std::size_t m = 0; m < models.size(); ++m) {
        const Ids written = translation_beside(models[m], sentence);
        score.correct[m] += written == sentence.target;
        if (written != sentence.target && !score.first_wrong[m].sentence)
          score.first_wrong[m] = {&sentence, written};
        score.right_words[m] += share_of_right_words(written, sentence.target);
      }
    }
    for (double& share : score.right_words) share /= static_cast<double>(score.sentences);
    scores.push_back(std::move(score));
  }
  return scores;
}

WrongTranslation shortest_wrong(const std::vector<LengthScore>& scores, std::size_t model) {
  for (const LengthScore& score : scores) {
    if (score.first_wrong[model].sentence) return score.first_wrong[model];
  }
  return {};
}

double nearest_last_states(const EncoderDecoder& model, const std::vector<KnownTranslation>& known,
                           std::size_t words) {
  struct LastState {
    Matrix state;
    const Ids* target;
  };
  std::vector<LastState> states;
  double nearest = std::numeric_limits<double>::infinity();
  for (const KnownTranslation& sentence : known) {
    if (words_of(sentence) != words) continue;
    LastState last{last_state(model, sentence.source), &sentence.target};
    for (const LastState& other : states) {
      if (*other.target == *last.target) continue;
      nearest = std::min(nearest, largest_difference(last.state, other.state));
    }
    states.push_back(std::move(last));
  }
  return nearest;
}

}  // namespace attn
