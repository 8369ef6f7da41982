#include "core/model/encoder_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/attention/attention.hpp"
#include "core/math/difference.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

// --- encoder decoder

// What has been learned, as nodes, by part.
std::map<const ScopeKind*, Parameters> learned_parts(const EncoderDecoder& model, Graph& graph) {
  std::map<const ScopeKind*, Parameters> parts;
  for (const ExpectedMatrix& expected : expected_matrices(model)) {
    parts[&expected.part].emplace(
        &expected.role, graph.input({{expected.part}, expected.role}, model.parameters.find(expected.name)->second,
                                    expected.frame.rows, expected.frame.columns));
  }
  return parts;
}

AttentionRecipe recipe_of_decoder(const EncoderDecoder& model, const Parameters& decoder) {
  if (model.variant->score.empty()) return {};
  const ScoringFunction& function = look_up(scoring_functions(), model.variant->score, "scoring function");
  return recipe_of(function, {.matrices = decoder}, {.d_k = model.state_size});
}

// A sentence with its words as labels.
ModelInput labelled_source(const EncoderDecoder& model, const Ids& source) {
  ModelInput input{.ids = source};
  for (const std::size_t id : source) input.tokens.push_back(model.source_words[id - 1]);
  return input;
}

// Where the last word of each sentence stands among all words, from 1.
ModelInput last_words(const ModelInput& source) {
  ModelInput last{.sentences = source.sentences};
  const std::size_t words = source.words_of_sentence();
  for (std::size_t s = 0; s < source.sentences; ++s) {
    std::size_t count = words;
    while (count > 1 && source.blank[s * words + count - 1]) --count;
    last.ids.push_back(s * words + count);
  }
  return last;
}

// Runs the decoder along the right words, and hands each step's distribution on.
template <class Use>
void follow(const EncoderDecoder& model, RunningEncoderDecoder& run, const Ids& target, const Use& use) {
  std::size_t previous = id_in(model.target_words, start_word);
  for (const std::size_t id : target) {
    use(run.distribution(run.step({previous}, axis("outputs", {model.target_words[id - 1]}))));
    previous = id;
  }
}

// --- by length

std::size_t words_in_source(const ReferenceTranslation& sentence) { return sentence.source.size() - 1; }

// Missing and superfluous words are wrong.
double share_of_right_words(const Ids& written, const Ids& correct) {
  std::size_t right = 0;
  for (std::size_t t = 0; t < std::min(written.size(), correct.size()); ++t) right += written[t] == correct[t];
  return static_cast<double>(right) / static_cast<double>(std::max(written.size(), correct.size()));
}

// --- influence

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

// --- encoder decoder

RunningEncoderDecoder::RunningEncoderDecoder(const EncoderDecoder& model, const ModelInput& source, Graph& graph)
    : model_(model),
      graph_(graph),
      sentences_(source.sentences),
      source_words_(source),
      learned_(learned_parts(model, graph)),
      states_(encode(source)),
      last_state_(last_of(source)),
      state_(first_state()),
      parts_{*model.cell, learned_.at(&scope::decoder), name(role::h, stack(states_)), {}} {
  parts_.recipe = recipe_of_decoder(model, parts_.parameters);
  if (!source.has_blanks()) return;
  const Shape of_sentence{1, source.words_of_sentence()};
  Axis queries = axis("outputs");
  queries.batch = sentences_;
  parts_.recipe.allowed = graph.input(role::mask, mask_by({padding_rule(source_words_.blanks(), of_sentence)}),
                                      {{sentences_, of_sentence.columns}, queries, source.words("inputs")});
}

std::vector<Value> RunningEncoderDecoder::encode(const ModelInput& source) {
  const Graph::Scope scope(graph_, scope::encoder);
  const Parameters& parameters = learned_.at(&scope::encoder);
  Value ids = graph_.input(role::source, source_words_.ids(), source.rows("inputs"), axis("id"));
  const Value x = name(role::x, embed(ids, parameters.at(&role::e)));
  Axis first = axis("inputs");
  first.batch = sentences_;
  Value state = graph_.input({{{scope::number, 0}}, role::h}, Matrix({sentences_, model_.state_size}, 0.0), first,
                             axis("features", model_.features));
  std::vector<Value> states;
  for (std::size_t t = 0; t < source.words_of_sentence(); ++t) {
    const Graph::Scope number(graph_, scope::number, t + 1);
    state = name(role::h, model_.cell->step(name(role::x, rows(x, t, 1)), state, parameters));
    states.push_back(state);
  }
  return states;
}

// Behind the last word the states go on over the padding.
Value RunningEncoderDecoder::last_of(const ModelInput& source) {
  if (!source.has_blanks()) return states_.back();
  const ModelInput last = last_words(source);
  last_words_ = LiveWords(last);
  const Graph::Scope scope(graph_, scope::encoder);
  return name(role::last, embed(graph_.input(role::last_words, last_words_.ids(), last.rows("inputs"), axis("id")),
                                stack(states_)));
}

// What passes from the encoder's last state to the decoder.  (Bahdanau et al. 2014, appendix A.2.2)
Value RunningEncoderDecoder::first_state() {
  const Graph::Scope decoder(graph_, scope::decoder), start(graph_, scope::number, 0);
  const Parameters& parameters = learned_.at(&scope::decoder);
  Value product = matmul(last_state_, parameters.at(&role::w_s));
  return name(role::state, attn::tanh(add(product, parameters.at(&role::b_s))));
}

Value RunningEncoderDecoder::step(const Ids& previous, Axis output) {
  const Graph::Scope decoder(graph_, scope::decoder), number(graph_, scope::number, previous_words_.size() + 1);
  place_ = number.opened();
  const Parameters& parameters = learned_.at(&scope::decoder);
  ModelInput words{.ids = previous, .sentences = sentences_};
  if (sentences_ == 1) words.tokens = {model_.target_words[previous.front() - 1]};
  previous_words_.emplace_back(words);
  Value id = graph_.input(role::previous, previous_words_.back().ids(), words.rows("outputs"), axis("id"));
  Value word = name(role::y, embed(id, parameters.at(&role::e)));
  output.batch = sentences_;
  DecoderStep step(parts_, word, state_, std::move(output));
  Value joined = model_.variant->step(step);
  state_ = step.state();
  Value product = matmul(joined, parameters.at(&role::w_o));
  return name(role::logits, add(product, parameters.at(&role::b_o)));
}

Value RunningEncoderDecoder::distribution(const Value& logits) {
  const Graph::Scope scope(graph_, place_);
  return name(role::distribution, softmax(logits));
}

void RunningEncoderDecoder::exchange_source(const ModelInput& source) {
  source_words_.exchange(source);
  if (last_words_.ids()) last_words_.exchange(last_words(source));
}

void RunningEncoderDecoder::exchange_previous(std::size_t t, const Ids& previous) {
  previous_words_.at(t - 1).exchange({.ids = previous, .sentences = sentences_});
}

std::vector<ExpectedMatrix> expected_matrices(const EncoderDecoder& model) {
  const Axis state = axis("features", model.features), plain = axis("features"), bias = axis("bias");
  const Axis words = axis("words", model.target_words);
  const std::size_t d = model.state_size, all_words = model.target_words.size();
  std::vector<ExpectedMatrix> expected;
  const auto expect = [&](const ScopeKind& part, const Role& role, Shape shape, const Axis& rows, const Axis& columns,
                          Initialization beginning = Initialization::map) {
    expected.push_back({part, role, {shape, rows, columns}, beginning});
  };
  const auto expect_cell = [&](const ScopeKind& part, std::size_t input) {
    for (const RecurrentParameter& row : model.cell->parameters) {
      if (row.rows == RecurrentRows::input) expect(part, row.role, {input, d}, plain, state);
      if (row.rows == RecurrentRows::state) expect(part, row.role, {d, d}, state, state);
      if (row.rows == RecurrentRows::bias) expect(part, row.role, {1, d}, bias, state, Initialization::zeros);
    }
  };
  expect(scope::encoder, role::e, {model.source_words.size(), model.source_size}, axis("words", model.source_words),
         plain, Initialization::vectors);
  expect_cell(scope::encoder, model.source_size);
  expect(scope::decoder, role::e, {all_words, model.target_size}, words, plain, Initialization::vectors);
  expect(scope::decoder, role::w_s, {d, d}, state, state);
  expect(scope::decoder, role::b_s, {1, d}, bias, state, Initialization::zeros);
  expect_cell(scope::decoder, model.target_size + model.variant->contexts_in_cell * d);
  if (const ScoringFunction* function = find_row(scoring_functions(), model.variant->score)) {
    for (const ScoreParameter& row : function->parameters) {
      expect(scope::decoder, row.role, row.shape(d, d), plain, plain);
      expected.back().shape_in_words = row.shape_in_words;
    }
  }
  expect(scope::decoder, role::w_o, {d + model.variant->contexts_joined * d, all_words}, plain, words);
  expect(scope::decoder, role::b_o, {1, all_words}, bias, words, Initialization::zeros);
  return expected;
}

Ids ids_of(const std::vector<std::string>& words, const Vocabulary& vocabulary, std::string_view whose) {
  Ids ids;
  for (const std::string& word : words) {
    ids.push_back(id_in(vocabulary, word));
    if (ids.back() == 0) fail_unknown(fmt::format("{} word", whose), word, vocabulary);
  }
  return ids;
}

void add_computation(const EncoderDecoder& model, const Ids& source, const Ids& target, Graph& graph) {
  RunningEncoderDecoder run(model, labelled_source(model, source), graph);
  follow(model, run, target, [](const Value&) {});
  if (model.variant->score.empty()) return;
  std::vector<Value> weights;
  for (std::size_t t = 1; t <= target.size(); ++t) {
    weights.emplace_back(graph.at({{scope::decoder, {scope::number, t}}, role::weights}));
  }
  name(role::alignment, stack(weights));
}

Matrix distributions(const EncoderDecoder& model, const Ids& source, const Ids& target) {
  Graph graph(keep_nothing());
  RunningEncoderDecoder run(model, labelled_source(model, source), graph);
  Matrix all({target.size(), model.target_words.size()});
  std::size_t t = 0;
  follow(model, run, target,
         [&](const Value& distribution) { std::ranges::copy(row(distribution.matrix(), 0), row(all, t++).begin()); });
  return all;
}

Matrix last_state(const EncoderDecoder& model, const Ids& source) {
  Graph graph(keep_nothing());
  return RunningEncoderDecoder(model, labelled_source(model, source), graph).last_state().matrix();
}

Ids translate(const EncoderDecoder& model, const Ids& source, std::size_t most) {
  Graph graph(keep_nothing());
  RunningEncoderDecoder run(model, labelled_source(model, source), graph);
  const std::size_t end = id_in(model.target_words, end_word);
  Ids words;
  std::size_t previous = id_in(model.target_words, start_word);
  while (words.size() < most && previous != end) {
    const Value distribution = run.distribution(run.step({previous}, axis("outputs")));
    const std::span<const double> shares = row(distribution.matrix(), 0);
    previous = static_cast<std::size_t>(std::ranges::max_element(shares) - shares.begin()) + 1;
    words.push_back(previous);
  }
  return words;
}

// --- by length

Ids translation_beside(const EncoderDecoder& model, const ReferenceTranslation& known) {
  constexpr std::size_t more = 3;  // enough to see that it does not end
  return translate(model, known.source, known.target.size() + more);
}

std::vector<LengthScore> scores_by_length(const std::vector<EncoderDecoder>& models,
                                          const std::vector<ReferenceTranslation>& known) {
  std::set<std::size_t> lengths;
  for (const ReferenceTranslation& sentence : known) lengths.insert(words_in_source(sentence));
  std::vector<LengthScore> scores;
  for (const std::size_t words : lengths) {
    LengthScore score{words, 0, std::vector<std::size_t>(models.size(), 0),
                      std::vector<WrongTranslation>(models.size()), std::vector<double>(models.size(), 0.0)};
    for (const ReferenceTranslation& sentence : known) {
      if (words_in_source(sentence) != words) continue;
      ++score.sentences;
      for (std::size_t m = 0; m < models.size(); ++m) {
        const Ids written = translation_beside(models[m], sentence);
        score.correct[m] += written == sentence.target;
        if (written != sentence.target && !score.first_wrong[m].sentence) score.first_wrong[m] = {&sentence, written};
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

double nearest_last_states(const EncoderDecoder& model, const std::vector<ReferenceTranslation>& known,
                           std::size_t words) {
  struct LastState {
    Matrix state;
    const Ids* target;
  };
  std::vector<LastState> states;
  double nearest = std::numeric_limits<double>::infinity();
  for (const ReferenceTranslation& sentence : known) {
    if (words_in_source(sentence) != words) continue;
    LastState last{last_state(model, sentence.source), &sentence.target};
    for (const LastState& other : states) {
      if (*other.target == *last.target) continue;
      nearest = std::min(nearest, largest_difference(last.state, other.state));
    }
    states.push_back(std::move(last));
  }
  return nearest;
}

// --- influence

SourceInfluence source_influence(const EncoderDecoder& model, const Ids& source, const Ids& target) {
  const Matrix before = distributions(model, source, target);
  SourceInfluence result{{}, Matrix({target.size(), source.size()})};
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
