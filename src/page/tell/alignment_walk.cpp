#include "page/tell/alignment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>

#include "core/graph/find.hpp"
#include "core/model/encoder_decoder.hpp"
#include "core/support/number.hpp"
#include "page/tell/attention_steps.hpp"
#include "page/tell/describe.hpp"

namespace attn {

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
    const auto known = std::ranges::find(translation_.known, translation_.source, &ReferenceTranslation::source);
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
    const Node& chooses = *find(t, role::distribution);
    Text sentence = text(with_note_on_random(chooses, ""), strong("\"" + target_word(id) + "\""),
                         " has probability " + percent(shares[id - 1]));
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
