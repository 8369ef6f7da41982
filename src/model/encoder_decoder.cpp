#include "model/encoder_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attention/recipe.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

Matrix as_column(const Ids& ids) {
  Matrix column({ids.size(), 1});
  std::ranges::transform(ids, cells(column).begin(), [](std::size_t id) { return static_cast<double>(id); });
  return column;
}

// What has been learned, as nodes, by part.
class Learned {
 public:
  Learned(const EncoderDecoder& model, Graph& graph) {
    for (const ExpectedMatrix& expected : expected_matrices(model)) {
      const Matrix& matrix = model.matrices.find(expected.name)->second;
      parts_[&expected.part].emplace(
          &expected.role,
          graph.input({{expected.part}, expected.role}, matrix, expected.frame.rows, expected.frame.columns));
    }
  }

  const Parameters& of(const ScopeKind& part) const { return parts_.at(&part); }
  const Value& at(const ScopeKind& part, const Role& role) const { return of(part).at(&role); }

 private:
  std::map<const ScopeKind*, Parameters> parts_;
};

Recipe recipe_of(const EncoderDecoder& model, const Parameters& decoder) {
  if (model.variant->score.empty()) return {};
  const ScoringFunction& function = look_up(scoring_functions(), model.variant->score, "scoring function");
  return recipe_of(function, {.matrices = decoder}, {.d_k = model.state_size});
}

// The network at work on one sentence.
class RunningEncoderDecoder {
 public:
  RunningEncoderDecoder(const EncoderDecoder& model, const Ids& source, Graph& graph)
      : model_(model),
        graph_(graph),
        learned_(model, graph),
        states_(encode(source)),
        state_(first_state()),
        parts_{*model.cell, learned_.of(scope::decoder), name(role::h, stack(states_)), {}} {
    parts_.recipe = recipe_of(model, parts_.parameters);
  }

  const Value& last_state() const { return states_.back(); }

  // The distribution of the next output after the word `previous`.
  Value step(std::size_t previous, Axis output) {
    const Graph::Scope decoder(graph_, scope::decoder), number(graph_, scope::number, ++steps_);
    Value id = graph_.input(role::previous, as_column({previous}),
                            axis("outputs", {model_.target_words[previous - 1]}), axis("id"));
    Value word = name(role::y, embed(id, learned_.at(scope::decoder, role::e)));
    DecoderStep step(parts_, word, state_, std::move(output));
    Value joined = model_.variant->step(step);
    state_ = step.state();
    Value product = matmul(joined, learned_.at(scope::decoder, role::w_o));
    Value logits = name(role::logits, add(product, learned_.at(scope::decoder, role::b_o)));
    return name(role::distribution, softmax(logits));
  }

 private:
  std::vector<Value> encode(const Ids& source) {
    const Graph::Scope scope(graph_, scope::encoder);
    std::vector<std::string> words;
    for (const std::size_t id : source) words.push_back(model_.source_words[id - 1]);
    Value ids = graph_.input(role::source, as_column(source), axis("inputs", words), axis("id"));
    const Value x = name(role::x, embed(ids, learned_.at(scope::encoder, role::e)));
    const Parameters& parameters = learned_.of(scope::encoder);
    Value state = graph_.input({{{scope::number, 0}}, role::h}, Matrix({1, model_.state_size}, 0.0),
                               axis("inputs"), axis("features", model_.features));
    std::vector<Value> states;
    for (std::size_t t = 0; t < source.size(); ++t) {
      const Graph::Scope number(graph_, scope::number, t + 1);
      state = name(role::h, model_.cell->step(name(role::x, rows(x, t, 1)), state, parameters));
      states.push_back(state);
    }
    return states;
  }

  // What passes from the encoder's last state to the decoder.  (Bahdanau et al. 2014, appendix A.2.2)
  Value first_state() {
    const Graph::Scope decoder(graph_, scope::decoder), start(graph_, scope::number, 0);
    Value product = matmul(states_.back(), learned_.at(scope::decoder, role::w_s));
    return name(role::state, attn::tanh(add(product, learned_.at(scope::decoder, role::b_s))));
  }

  const EncoderDecoder& model_;
  Graph& graph_;
  Learned learned_;
  std::vector<Value> states_;
  Value state_;
  DecoderStep::Parts parts_;
  std::size_t steps_ = 0;
};

// Runs the decoder along the right words, and hands each step's distribution on.
template <class Use>
void follow(const EncoderDecoder& model, RunningEncoderDecoder& run, const Ids& target, const Use& use) {
  std::size_t previous = id_in(model.target_words, start_word);
  for (const std::size_t id : target) {
    use(run.step(previous, axis("outputs", {model.target_words[id - 1]})));
    previous = id;
  }
}

}  // namespace

std::vector<ExpectedMatrix> expected_matrices(const EncoderDecoder& model) {
  const Axis state = axis("features", model.features), plain = axis("features"), bias = axis("bias");
  const Axis words = axis("words", model.target_words);
  const std::size_t d = model.state_size, all_words = model.target_words.size();
  std::vector<ExpectedMatrix> expected;
  const auto expect = [&](const ScopeKind& part, const Role& role, Shape shape, const Axis& rows,
                          const Axis& columns, Beginning beginning = Beginning::map) {
    expected.push_back({part, role, {shape, rows, columns}, beginning});
  };
  const auto expect_cell = [&](const ScopeKind& part, std::size_t input) {
    for (const RecurrentParameter& row : model.cell->parameters) {
      if (row.rows == RecurrentRows::input) expect(part, row.role, {input, d}, plain, state);
      if (row.rows == RecurrentRows::state) expect(part, row.role, {d, d}, state, state);
      if (row.rows == RecurrentRows::bias) expect(part, row.role, {1, d}, bias, state, Beginning::zeros);
    }
  };
  expect(scope::encoder, role::e, {model.source_words.size(), model.source_size},
         axis("words", model.source_words), plain, Beginning::vectors);
  expect_cell(scope::encoder, model.source_size);
  expect(scope::decoder, role::e, {all_words, model.target_size}, words, plain, Beginning::vectors);
  expect(scope::decoder, role::w_s, {d, d}, state, state);
  expect(scope::decoder, role::b_s, {1, d}, bias, state, Beginning::zeros);
  expect_cell(scope::decoder, model.target_size + model.variant->contexts_in_cell * d);
  if (const ScoringFunction* function = find_row(scoring_functions(), model.variant->score)) {
    for (const ScoreParameter& row : function->parameters) {
      expect(scope::decoder, row.role, row.shape(d, d), plain, plain);
      expected.back().shape_in_words = row.shape_in_words;
    }
  }
  expect(scope::decoder, role::w_o, {d + model.variant->contexts_joined * d, all_words}, plain, words);
  expect(scope::decoder, role::b_o, {1, all_words}, bias, words, Beginning::zeros);
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

void evaluate(const EncoderDecoder& model, const Ids& source, const Ids& target, Graph& graph) {
  RunningEncoderDecoder run(model, source, graph);
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
  RunningEncoderDecoder run(model, source, graph);
  Matrix all({target.size(), model.target_words.size()});
  std::size_t t = 0;
  follow(model, run, target, [&](const Value& distribution) {
    std::ranges::copy(row(distribution.matrix(), 0), row(all, t++).begin());
  });
  return all;
}

Matrix last_state(const EncoderDecoder& model, const Ids& source) {
  Graph graph(keep_nothing());
  return RunningEncoderDecoder(model, source, graph).last_state().matrix();
}

Ids translate(const EncoderDecoder& model, const Ids& source, std::size_t most) {
  Graph graph(keep_nothing());
  RunningEncoderDecoder run(model, source, graph);
  const std::size_t end = id_in(model.target_words, end_word);
  Ids words;
  std::size_t previous = id_in(model.target_words, start_word);
  while (words.size() < most && previous != end) {
    const Value distribution = run.step(previous, axis("outputs"));
    const std::span<const double> shares = row(distribution.matrix(), 0);
    previous = static_cast<std::size_t>(std::ranges::max_element(shares) - shares.begin()) + 1;
    words.push_back(previous);
  }
  return words;
}

}  // namespace attn
