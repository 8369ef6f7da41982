#include "page/tell/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>

#include "core/graph/find.hpp"
#include "core/model/encoder_decoder.hpp"
#include "core/support/number.hpp"
#include "page/tell/attention_steps.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

constexpr std::size_t most_states = 10, least_states = 4;  // in a row

Name in_step(std::size_t t, const Role& role) { return {{scope::decoder, {scope::number, t}}, role}; }

// The places that are shown, in order.
std::vector<std::size_t> chosen(std::vector<std::size_t> by_importance, std::size_t most) {
  by_importance.resize(std::min(by_importance.size(), most));
  std::ranges::sort(by_importance);
  return by_importance;
}

class AlignmentDiagram {
 public:
  AlignmentDiagram(const Graph& graph, const Translation& translation, std::size_t output, std::size_t most)
      : graph_(graph), translation_(translation), model_(translation.model), output_(output) {
    const std::size_t inputs = translation.source.size(), outputs = translation.target.size();
    if (attends()) weights_ = &graph.at(in_step(output, role::weights)).matrix();
    std::vector<std::size_t> of_inputs(inputs), of_states(outputs + 1);
    std::iota(of_inputs.begin(), of_inputs.end(), std::size_t{0});
    std::ranges::stable_sort(of_inputs, std::ranges::greater(), [&](std::size_t i) {
      const bool is_end = i == 0 || i + 1 == inputs;
      return is_end ? 2.0 : weights_ ? (*weights_)(0, i) : 0.0;
    });
    inputs_ = chosen(std::move(of_inputs), most);
    std::iota(of_states.begin(), of_states.end(), std::size_t{0});
    std::ranges::stable_sort(of_states, {}, [&](std::size_t t) {
      const bool is_end = t == 0 || t == outputs;
      return is_end ? 0 : t > output ? t - output : output - t;
    });
    states_ = chosen(std::move(of_states), most);
  }

  Diagram drawn() && {
    diagram_.title = "A recurrent encoder-decoder along its words";
    diagram_.lanes = {""};
    add_encoder();
    add_decoder();
    if (attends()) add_context();
    diagram_.description = description();
    return std::move(diagram_);
  }

 private:
  bool attends() const { return !model_.variant->score.empty(); }
  const std::string& source_word(std::size_t i) const { return model_.source_words[translation_.source[i] - 1]; }
  const std::string& target_word(std::size_t t) const { return model_.target_words[translation_.target[t - 1] - 1]; }

  std::size_t add(std::vector<std::string> lines, std::size_t row, std::size_t column, bool is_box) {
    diagram_.things.push_back({std::move(lines), {0, row, column}, is_box});
    return diagram_.things.size() - 1;
  }
  void link(std::size_t from, std::size_t to, std::string text = {}, std::optional<double> strength = {}) {
    diagram_.links.push_back({from, to, std::move(text), strength});
  }

  // A state in a row, or dots in place of those that are left out.
  struct Seat {
    std::optional<std::size_t> place;
    std::size_t column;
  };

  static std::vector<Seat> seats_of(const std::vector<std::size_t>& places) {
    std::vector<Seat> seats;
    for (const std::size_t place : places) {
      if (!seats.empty() && place > *seats.back().place + 1) seats.push_back({std::nullopt, seats.size()});
      seats.push_back({place, seats.size()});
    }
    return seats;
  }

  // Each state leads to the next.
  template <class Add>
  std::map<std::size_t, std::size_t> add_row(const std::vector<Seat>& seats, std::size_t row, const Add& add_state) {
    std::map<std::size_t, std::size_t> things;
    std::optional<std::size_t> before;
    for (const auto& [place, column] : seats) {
      const std::size_t thing = place ? add_state(*place, column) : add({"…"}, row, column, false);
      if (place) things[*place] = thing;
      if (before) link(*before, thing);
      before = thing;
    }
    return things;
  }

  void add_encoder() {
    const std::vector<Seat> seats = seats_of(inputs_);
    last_column_ = seats.back().column;
    encoder_ = add_row(seats, 1, [&](std::size_t i, std::size_t column) {
      const std::size_t word = add({source_word(i)}, 0, column, false);
      const std::size_t state = add({fmt::format("h{}", i + 1)}, 1, column, true);
      link(word, state);
      return state;
    });
  }

  std::size_t first_decoder_row() const { return attends() ? 3 : 2; }

  void add_decoder() {
    const std::size_t row = first_decoder_row();
    std::vector<Seat> seats = seats_of(states_);
    // The context is above the state of its output, and not below the last state of the encoder, which leads
    // on.
    const auto own = std::ranges::find(seats, std::optional(output_), &Seat::place);
    if (attends() && own->column == last_column_) {
      for (auto seat = own; seat != seats.end(); ++seat) ++seat->column;
    }
    decoder_ = add_row(seats, row, [&](std::size_t t, std::size_t column) {
      const std::size_t state = add({fmt::format("s{}", t)}, row, column, true);
      if (t > 0) {
        words_[t] = add({target_word(t)}, row + 1, column, false);
        link(state, words_[t]);
      }
      return state;
    });
    link(encoder_.at(inputs_.back()), decoder_.at(0));
  }

  // The number of the state that is the query.
  std::size_t query() const {
    const Node* node = &graph_.at(in_step(output_, role::query));
    while (!node->is(role::state) && !node->original().operands.empty()) node = node->original().operands.front();
    const NamedScope* const step = node->within(scope::number);
    return step && step->number ? *step->number : 0;
  }

  void add_context() {
    const std::size_t column = diagram_.things[decoder_.at(output_)].place.column;
    const std::size_t context = add({fmt::format("c{}", output_), fmt::format("query s{}", query())}, 2, column, true);
    for (const std::size_t i : inputs_) {
      const double weight = (*weights_)(0, i);
      link(encoder_.at(i), context, written_fixed(weight, 2), weight);
    }
    const bool enters_cell = model_.variant->contexts_in_cell > 0;
    link(context, enters_cell ? decoder_.at(output_) : words_.at(output_));
  }

  std::string description() const {
    const std::size_t inputs = translation_.source.size(), outputs = translation_.target.size();
    std::string sentence = fmt::format(
        "The encoder's states h1 to h{} each depend on the one before, the last leads to s0, and the decoder's states s1 to s{} predict the output words",
        inputs, outputs);
    if (!attends()) return sentence + ": nothing else of the source reaches the decoder.";
    const std::span<const double> row = attn::row(*weights_, 0);
    const auto most = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    return sentence +
           fmt::format(
               "; the context c{} for \"{}\" is the sum of all h, weighed by attention, most of it h{} of \"{}\" ({}).",
               output_, target_word(output_), most + 1, source_word(most), written_fixed(row[most], 2));
  }

  const Graph& graph_;
  const Translation& translation_;
  const EncoderDecoder& model_;
  std::size_t output_;
  const Matrix* weights_ = nullptr;
  std::vector<std::size_t> inputs_, states_;                      // that are shown
  std::map<std::size_t, std::size_t> encoder_, decoder_, words_;  // things, by their places
  std::size_t last_column_ = 0;                                   // of the encoder
  Diagram diagram_;
};

}  // namespace

std::size_t telling_output(const Graph& graph, const Translation& translation) {
  if (translation.model.variant->score.empty()) return 1;
  for (std::size_t t = 1; t <= translation.target.size(); ++t) {
    const std::span<const double> weights = row(graph.at(in_step(t, role::weights)).matrix(), 0);
    const auto most = std::ranges::max_element(weights) - weights.begin();
    if (static_cast<std::size_t>(most) + 1 != t) return t;
  }
  return 1;
}

Diagram alignment_diagram(const Graph& graph, const Translation& translation, std::size_t output) {
  const std::size_t longest = std::max(translation.source.size(), translation.target.size() + 1);
  std::shared_ptr<const Diagram> narrower;
  for (std::size_t most = least_states; most < std::min(longest, most_states); ++most) {
    Diagram diagram = AlignmentDiagram(graph, translation, output, most).drawn();
    diagram.narrower = std::move(narrower);
    narrower = std::make_shared<const Diagram>(std::move(diagram));
  }
  Diagram diagram = AlignmentDiagram(graph, translation, output, most_states).drawn();
  diagram.narrower = std::move(narrower);
  return diagram;
}

}  // namespace attn
