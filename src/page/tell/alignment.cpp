#include "page/tell/alignment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>

#include "core/graph/find.hpp"
#include "core/model/encoder_decoder.hpp"
#include "core/support/number.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/steps.hpp"

namespace attn {

// --- alignment diagram

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

// --- alignment ends

namespace {

constexpr std::size_t most_influences = 2500;  // outputs times inputs, each a whole translation of its own

class AlignmentEnds {
 public:
  AlignmentEnds(Page& page, const Graph& graph, const Translation& translation)
      : page_(page), graph_(graph), translation_(translation), model_(translation.model) {}

  void add() {
    add_alignment();
    add_probabilities();
    add_influence();
    add_paths();
  }

 private:
  void say(Block block) { page_.blocks.push_back(std::move(block)); }
  void say(std::string sentence) { say(Prose{text(std::move(sentence))}); }
  void title(std::string words) { say(Heading{2, text(std::move(words))}); }
  void say_shares(std::string title, Axis rows, Axis columns, Matrix cells) {
    say(Table{.title = std::move(title),
              .rows = std::move(rows),
              .columns = std::move(columns),
              .cells = std::make_shared<const Matrix>(std::move(cells)),
              .heat = Heat::weights});
  }

  const std::string& source_word(std::size_t id) const { return model_.source_words[id - 1]; }
  const std::string& target_word(std::size_t id) const { return model_.target_words[id - 1]; }
  bool attends() const { return !model_.variant->score.empty(); }

  void add_alignment() {
    if (!attends()) return;
    const Node* transposed = graph_.find(role::alignment_transposed);
    const Node& node = transposed ? *transposed : graph_.at(role::alignment);
    title("The alignment");
    say(transposed ? "The attention weights of all steps: inputs as rows, outputs as columns. Every column sums to 1."
                   : "The attention weights of all steps: outputs as rows, inputs as columns. Every row sums to 1. "
                     "--transpose exchanges rows and columns.");
    Table table = table_of(node);
    table.row_sums = !transposed;
    if (transposed) say(formula_block(node));
    say(table);
    say(HeatMap{std::move(table)});
  }

  void add_probabilities() {
    title("The whole sentence");
    const std::size_t outputs = translation_.target.size();
    Matrix shares({outputs, 1});
    std::vector<std::string> words;
    double all = 1.0;
    for (std::size_t t = 1; t <= outputs; ++t) {
      const std::size_t id = translation_.target[t - 1];
      words.push_back(target_word(id));
      shares(t - 1, 0) = graph_.at({{scope::decoder, {scope::number, t}}, role::distribution}).matrix()(0, id - 1);
      all *= shares(t - 1, 0);
    }
    say_shares("outputs", axis("outputs", std::move(words)), axis("stages", {"probability"}), std::move(shares));
    say(Prose{text("The product of these probabilities is the probability of all these outputs together: ",
                   strong(written_digits(all, 4)), ".")});
  }

  void add_influence() {
    const std::size_t inputs = translation_.source.size(), outputs = translation_.target.size();
    if (inputs * outputs > most_influences) return;
    Influence found = influence(model_, translation_.source, translation_.target);
    title(attends() ? "What each output depends on" : "What the bottleneck loses");
    say("One source word at a time is replaced by the word with the nearest embedding. "
        "The target words stay the same. "
        "The table shows how much the distribution of each output changes (total variation distance: 0 = unchanged, 1 = completely different words).");
    if (!std::ranges::equal(found.replacements, translation_.source, std::ranges::not_equal_to()))
      say("A word stays as it is where the vocabulary has no other word.");
    std::vector<std::string> columns, rows;
    for (std::size_t i = 0; i < inputs; ++i) {
      columns.push_back(source_word(translation_.source[i]) + "->" + source_word(found.replacements[i]));
    }
    for (const std::size_t id : translation_.target) rows.push_back(target_word(id));
    say_shares("moves", axis("outputs", std::move(rows)), axis("inputs", std::move(columns)), std::move(found.moved));
    if (attends()) return;
    say(
        fmt::format("All information about the source passes through one state of size {}. "
                    "A column near 0 means that replacing this word hardly changes any output. "
                    "With --variant bahdanau each output attends to every state.",
                    model_.state_size));
  }

  // How many states lie on the shortest path through the network, found by searching the graph.
  void add_paths() {
    const std::size_t n = translation_.source.size(), steps = translation_.target.size();
    std::set<const Node*> states;
    for (std::size_t i = 1; i <= n; ++i) states.insert(&encoder_state(i));
    for (std::size_t t = 0; t <= steps; ++t) states.insert(&decoder_state(t));
    const auto counts = [&](const Node& node) { return states.contains(&node); };
    const ShortestPaths from_first(graph_, encoder_state(1), counts);
    const ShortestPaths from_output(graph_, decoder_state(1), counts);
    const Node& last_output = graph_.at({{scope::decoder, {scope::number, steps}}, role::distribution});
    const std::size_t to_last = from_first.length(encoder_state(n)).value_or(0),
                      to_output = from_first.length(last_output).value_or(0),
                      between_outputs = from_output.length(decoder_state(steps)).value_or(0);
    title("Paths through the states");
    say("The number of states on the shortest path from one state to another, or to an output, without the first; found by searching the graph.");
    Matrix cells({3, 1});
    cells(0, 0) = static_cast<double>(to_last);
    cells(1, 0) = static_cast<double>(between_outputs);
    cells(2, 0) = static_cast<double>(to_output);
    say(Table{.title = "path",
              .rows = axis("paths", {fmt::format("h_1 to h_{}", n), fmt::format("s_1 to s_{}", steps),
                                     fmt::format("h_1 to output {}", steps)}),
              .columns = axis("quantity", {"states"}),
              .cells = std::make_shared<const Matrix>(std::move(cells))});
    if (!attends()) {
      say("Without attention, the first word reaches an output only through all later states of the encoder, and all states of the decoder up to that output.");
      return;
    }
    say("With attention, each output has a path to each encoder state that is no longer for more words. "
        "Two bottlenecks are left: between the states of the encoder, where h_1 reaches h_n only through all states in between, and likewise between the states of the decoder. "
        "Self-attention replaces both.");
  }

  const Node& encoder_state(std::size_t i) const { return graph_.at({{scope::encoder, {scope::number, i}}, role::h}); }
  const Node& decoder_state(std::size_t t) const {
    return graph_.at({{scope::decoder, {scope::number, t}}, role::state});
  }

  Page& page_;
  const Graph& graph_;
  const Translation& translation_;
  const EncoderDecoder& model_;
};

}  // namespace

void add_alignment_ends(Page& page, const Graph& graph, const Translation& translation) {
  AlignmentEnds(page, graph, translation).add();
}

// --- alignment walk

namespace {

// Nodes of one row each as the columns of one table, so that a vector is read downwards.
Table upright(std::string title, const std::vector<const Node*>& nodes, Axis columns) {
  const Axis& rows = nodes.front()->frame.columns;
  const std::size_t size = nodes.front()->frame.shape.columns;
  Matrix cells({size, nodes.size()});
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    for (std::size_t i = 0; i < size; ++i) cells(i, j) = nodes[j]->matrix()(0, i);
  }
  return {.title = std::move(title),
          .rows = rows,
          .columns = std::move(columns),
          .cells = std::make_shared<const Matrix>(std::move(cells))};
}

// The tables of a step: vectors of the same size stand beside each other.
struct StepTable {
  const char* title;
  std::array<const Role*, 3> roles;
};
constexpr std::array step_tables = {
    StepTable{"vectors", {&role::query, &role::context, &role::state}},
    StepTable{"inputs", {&role::scores, &role::scaled, &role::weights}},
    StepTable{"words", {&role::logits, &role::distribution}},
};

class AlignmentWalk {
 public:
  AlignmentWalk(Page& page, const Graph& graph, const Translation& translation)
      : page_(page), graph_(graph), translation_(translation), model_(translation.model) {
    for (const Node& node : graph_.nodes()) {
      if (node.op && !node.is_alias()) of_scope_[node.place].push_back(&node);
    }
  }

  void add() {
    add_title();
    add_parameters();
    add_encoder();
    for (std::size_t t = 1; t <= translation_.target.size(); ++t) add_step(t);
    add_alignment_ends(page_, graph_, translation_);
    add_choice_of_numbers();
  }

 private:
  void say(Block block) { page_.blocks.push_back(std::move(block)); }
  void say(std::string sentence) { say(Prose{text(std::move(sentence))}); }
  void title(int level, std::string words) { say(Heading{level, text(std::move(words))}); }

  const std::string& source_word(std::size_t id) const { return model_.source_words[id - 1]; }
  const std::string& target_word(std::size_t id) const { return model_.target_words[id - 1]; }
  bool attends() const { return !model_.variant->score.empty(); }

  const Node* find(std::size_t t, const Role& role) const {
    return graph_.find({{scope::decoder, {scope::number, t}}, role});
  }

  // Those of the roles that step t has, and that are not other names for something else.
  std::vector<const Node*> own(std::size_t t, std::span<const Role* const> roles) const {
    std::vector<const Node*> nodes;
    for (const Role* role : roles) {
      const Node* node = role ? find(t, *role) : nullptr;
      if (node && !node->is_alias()) nodes.push_back(node);
    }
    return nodes;
  }

  void add_title() {
    title(1, translation_.title.empty() ? "A translation" : translation_.title);
    for (const std::string& paragraph : translation_.about) say(paragraph);
    std::vector<std::string> from, to;
    for (const std::size_t id : translation_.source) from.push_back(source_word(id));
    for (const std::size_t id : translation_.target) to.push_back(target_word(id));
    say(Prose{
        text(strong(fmt::format("{}", fmt::join(from, " "))), " → ", strong(fmt::format("{}", fmt::join(to, " "))))});
    say(Prose{text("Variant ", code(std::string(model_.variant->name)),
                   fmt::format(": {}. Cell ", model_.variant->summary), code(std::string(model_.cell->name)),
                   fmt::format(": {}.", model_.cell->summary))});
    say(translation_.is_forced
            ? "Teacher forcing: the input of each step is the previous word of the given translation, whatever the model would have chosen."
            : "Greedy decoding: each step takes the word with the highest probability, in a tie the first. "
              "This word is the input of the next step.");
    if (!translation_.is_forced && !translation_.known.empty()) add_verdict();
  }

  // Whether the translation is correct, as far as that is known; it may be cut off by --steps.
  void add_verdict() {
    const auto known = std::ranges::find(translation_.known, translation_.source, &KnownTranslation::source);
    if (known == translation_.known.end()) {
      say(
          fmt::format("The translator comes with {}. "
                      "This sentence is not among them, so whether its translation is correct is not known.",
                      count_of(translation_.known.size(), "correct translation")));
      return;
    }
    const Ids &written = translation_.target, &correct = known->target;
    if (written.size() <= correct.size() && std::ranges::equal(written, std::span(correct).first(written.size())))
      return;
    std::vector<std::string> words;
    for (const std::size_t id : correct) words.push_back(target_word(id));
    say(Prose{
        text("This translation is wrong. The correct one is ", strong(fmt::format("{}", fmt::join(words, " "))), ".")});
  }

  void add_parameters() {
    title(2, "Given");
    Listing listing{{"matrix", "shape", "rows", "columns"}, {}};
    for (const ExpectedMatrix& matrix : expected_matrices(model_)) {
      const Frame& frame = graph_.at(matrix.name).frame;
      listing.rows.push_back({matrix.name, to_string(frame.shape), frame.rows.name, frame.columns.name});
    }
    say(std::move(listing));
    say(Prose{text(code("--only 'encoder.w_*'"), " shows their numbers.")});
  }

  void add_encoder() {
    title(2, "The encoder reads");
    say("Each state h_t is computed from the embedding of word t and the previous state. "
        "So it can also depend on all words before.");
    std::vector<const Node*> states;
    std::vector<std::string> labels;
    for (std::size_t t = 1; t <= translation_.source.size(); ++t) {
      states.push_back(&graph_.at({{scope::encoder, {scope::number, t}}, role::h}));
      labels.push_back(source_word(translation_.source[t - 1]));
    }
    for (const Node* node : of_scope_[states.front()->place]) say(formula_block(*node));
    say(Prose{text("Stacked as rows, the states form ", code("h"),
                   fmt::format(", [{}]. The table shows hᵀ: each column is one state.",
                               to_string(graph_.at(role::h).frame.shape)))});
    say(upright("hᵀ", states, axis("inputs", std::move(labels))));
    say(attends()
            ? "These states are the keys and the values in every step of the decoder: k = v = h."
            : fmt::format(
                  "Only the final state, the column \"{}\", reaches the decoder: its size is {} for a sentence of any length.",
                  source_word(translation_.source.back()), model_.state_size));
    add_beginning();
  }

  // What the recurrence of the decoder starts from.  (Bahdanau et al. 2014, appendix A.2.2)
  void add_beginning() {
    title(2, "The decoder begins");
    say(
        Prose{text("State 0 is computed from the encoder's final state. No output belongs to it. "
                   "The word before output 1 is ",
                   code(std::string(start_word)), ".")});
    const Node* const state = find(0, role::state);
    say(formula_block(*state));
    const Matrix& w_s = graph_.at({{scope::decoder}, role::w_s}).matrix();
    if (std::ranges::all_of(cells(w_s), [](double cell) { return cell == 0.0; })) {
      say(fmt::format("All numbers of {} are 0 here. So state 0 is the same for every source: tanh({}).",
                      Name({scope::decoder}, role::w_s).text(), Name({scope::decoder}, role::b_s).text()));
    }
    say(upright(std::string(state->scope_name()), {state}, axis("stages", {"state"})));
  }

  // One output: formulas in the order of the computation, then the vectors beside each other.
  void add_step(std::size_t t) {
    title(2, fmt::format("Output {}: \"{}\"", t, target_word(translation_.target[t - 1])));
    const Node& state = *find(t, role::state);
    add_short_names(page_, state);
    // What leads to the scores is the same in every step: its formulas are written once.
    for (const Node* node : of_scope_[state.place]) {
      if (t == 1 || !leads_to_scores(*node)) say(formula_block(*node, state.scope()));
    }
    SideBySide tables;
    for (const auto& [name, roles] : step_tables) {
      const std::vector<const Node*> nodes = own(t, roles);
      if (nodes.empty()) continue;
      std::vector<std::string> names;
      for (const Node* node : nodes) names.emplace_back(node->leaf());
      Table table = upright(name, nodes, axis("stages", std::move(names)));
      table.columns_differ = true;
      tables.tables.push_back(std::move(table));
    }
    say(std::move(tables));
    if (const Node* weights = find(t, role::weights)) add_reading(page_, *weights);
    add_choice(t);
    if (t == 1) add_remark();
  }

  void add_choice(std::size_t t) {
    const Matrix& distribution = find(t, role::distribution)->matrix();
    const std::size_t id = translation_.target[t - 1];
    const std::span<const double> shares = row(distribution, 0);
    const auto best = static_cast<std::size_t>(std::ranges::max_element(shares) - shares.begin()) + 1;
    Text sentence = text(strong("\"" + target_word(id) + "\""), " has probability " + percent(shares[id - 1]));
    if (shares[best - 1] > shares[id - 1]) {
      sentence.push_back({Span::Style::plain, "; the most probable word is "});
      sentence.push_back(strong("\"" + target_word(best) + "\""));
      sentence.push_back({Span::Style::plain, ", with " + percent(shares[best - 1])});
    }
    sentence.push_back({Span::Style::plain, "."});
    say(Prose{std::move(sentence)});
  }

  void add_choice_of_numbers() {
    if (translation_.numbers.empty()) return;
    title(2, "How the numbers were chosen");
    for (const std::string& paragraph : translation_.numbers) say(paragraph);
  }

  // What is joined to the state is the context, whose size does not depend on the sentence.
  void add_remark() {
    if (model_.variant->contexts_joined == 0) return;
    const std::size_t d = model_.state_size, n = translation_.source.size();
    say(fmt::format(
        "The context a_t is concatenated with the state s_t, not the weights alpha_t. "
        "The size of [a_t; s_t] is {} + {} = {} for every sentence. "
        "The size of [alpha_t; s_t] would be {} + {} = {} here, and would change with the length of the sentence.",
        d, d, 2 * d, n, d, n + d));
  }

  Page& page_;
  const Graph& graph_;
  const Translation& translation_;
  const EncoderDecoder& model_;
  std::map<const NamedScope*, std::vector<const Node*>> of_scope_;  // what was computed, by scope
};

}  // namespace

void add_alignment_walk(Page& page, const Graph& graph, const Translation& translation) {
  AlignmentWalk(page, graph, translation).add();
}

}  // namespace attn
