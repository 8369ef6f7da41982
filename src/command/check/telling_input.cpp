#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/check/file_comparison.hpp"
#include "core/attention/watches.hpp"
#include "core/math/random.hpp"
#include "core/model/schema.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/shell.hpp"
#include "core/support/text.hpp"
#include "data/problem/problem_options.hpp"
#include "page/render/format.hpp"
#include "school/check/findings.hpp"
#include "school/check/records.hpp"
#include "school/mistake/mistake.hpp"

namespace attn {

// An input with which no mistake stays hidden that can be shown.

namespace {

// What is tried, where the line does not say it.
struct TriedSize {
  std::string_view words;
  std::string_view other_words;  // of a decoder
  std::string_view d_model;
  std::string_view d_k;  // of one head, which need not be as large as the vectors
};
constexpr TriedSize tried_sizes[] = {
    {"a b c d e", "f g h", "4", "3"}, {"a b c d e", "f g h", "6", "4"}, {"a b c d e f g", "h i j k", "8", "3"},
    {"a b c", "d e f g", "4", "3"},   {"a b c", "d e f g", "12", "5"},
};
// Those that vectors can go into.
constexpr std::array<std::string_view, 3> of_models = {"encoder", "decoder", "transformer"};
constexpr std::uint32_t tried_seeds = 20;

// What says how something is computed, and not from which numbers, is given again when the result is checked.
constexpr std::array drawn_by = {&option::text, &option::memory_text, &option::d_model, &option::d_ff, &option::seed,
                                 &option::size, &option::layers,      &option::no_bias, &option::input};

// A computation, the inputs that it is made of by the names that a file has, and what it cannot show in its result.
struct Proposal {
  std::shared_ptr<Graph> graph;
  std::vector<std::pair<std::string, const Node*>> inputs;
  const Node* result;
  std::size_t possible = 0;
  std::vector<const Mistake*> hidden;
};

class Proposer {
 public:
  Proposer(const Command& command, const Arguments& arguments)
      : command_(command), arguments_(arguments), offered_(options_of(command)) {
    if (!command.takes_problem() && std::ranges::find(of_models, command.name) == of_models.end())
      fail("--input proposes no input for attn {}: leave it out", command.name);
    refuse_numbers();
  }

  Proposal best() {
    std::optional<Proposal> best;
    std::string refused;
    for (const TriedSize& size : tried_sizes) {
      for (std::uint32_t seed = 1; seed <= tried_seeds; ++seed) {
        try {
          Proposal one = proposal(size, seed);
          if (best && hides(one, best->hidden)) continue;  // and no less than that
          find_hidden(one);
          if (!best || one.hidden.size() < best->hidden.size()) best = std::move(one);
        } catch (const InputError& error) {
          if (refused.empty()) refused = error.what();  // such as heads that do not divide the size
        }
        if (best && best->hidden.empty()) return std::move(*best);
      }
    }
    if (!best) fail("{}", refused);
    return std::move(*best);
  }

 private:
  // Numbers that are given cannot be proposed.
  void refuse_numbers() const {
    for (const OptionValues::Entry& entry : arguments_.entries()) {
      const Option& option = *entry.option;
      const bool is_words = &option == &option::text || &option == &option::memory_text;
      const bool has_numbers = option.role && (option.is_input || !option.is_mask);
      if (has_numbers || (option.is_input && !is_words) || gives(option))
        fail("--input proposes what goes in and the parameters: leave out {}", option.name);
    }
  }

  static bool gives(const Option& option) {
    static constexpr std::array all = {&option::example, &option::problem, &option::model, &option::parameters,
                                       &option::source,  &option::target,  &option::x,     &option::target_x};
    return std::ranges::find(all, &option) != all.end();
  }

  void put(Arguments& arguments, const Option& option, std::string_view value) const {
    const auto row = std::ranges::find(offered_, &option, &OfferedOption::option);
    if (row != offered_.end() && !arguments.has(option)) arguments.put_text(*row, {std::string(value)});
  }

  Proposal proposal(const TriedSize& size, std::uint32_t seed) const {
    Arguments arguments = arguments_;
    put(arguments, option::seed, fmt::format("{}", seed));
    put(arguments, option::d_model, size.d_model);
    if (!command_.takes_model()) {
      put(arguments, option::text, size.words);
      if (!arguments.has(option::heads)) put(arguments, option::d_k, size.d_k);
      if (command_.run == run_feed_forward) put(arguments, option::d_ff, size.d_model);
    }
    arguments.read();
    if (command_.takes_model()) {
      const std::optional<std::string> kind = arguments.text(option::kind);
      const ModelKind* const model = kind ? &look_up(model_kinds(), *kind, "kind of model") : nullptr;
      if (!model || model->encodes) put_vectors(arguments, option::x, scope::source, size.words, seed);
      if (command_.name != "encoder" && (!model || model->decodes))
        put_vectors(arguments, option::target_x, scope::target, size.other_words, seed);
    }
    put_own_vectors(arguments, seed);
    const Answer answer = command_.run(command_, arguments);
    if (!answer.computation.graph) fail("attn {} shows no matrices here", command_.name);
    Proposal proposal{
        .graph = command_.takes_model() ? with_other_biases(answer.computation.graph, seed) : answer.computation.graph,
        .inputs = {},
        .result = nullptr,
        .hidden = {}};
    find_inputs(proposal);
    compute_watched(*proposal.graph, proposal.graph->named());
    return proposal;
  }

  void put_vectors(Arguments& arguments, const Option& option, const ScopeKind& side, std::string_view words,
                   std::uint32_t seed) const {
    if (std::ranges::find(offered_, &option, &OfferedOption::option) == offered_.end()) return;
    const Shape shape{split_at(words, ' ').size(), *arguments.count(option::d_model)};
    RandomSource random(random_kind::by_name, seed);
    arguments.put(option, MatrixFile{.matrix = random.vectors({Name({side}, role::x).text(), shape})});
  }

  // Vectors that options of the command's own take, such as γ.
  void put_own_vectors(Arguments& arguments, std::uint32_t seed) const {
    Generator generator(seed);
    for (const OfferedOption& row : command_.own.options) {
      const Parameter* const parameter = row.option->role ? find_parameter(*row.option->role) : nullptr;
      if (!parameter || !parameter->is_vector() || arguments.has(*row.option)) continue;
      arguments.put(*row.option,
                    MatrixFile{.matrix = another(*parameter, {1, *arguments.count(option::d_model)}, generator)});
    }
  }

  // Where it began with zeros or with ones, some numbers around these.
  static Matrix another(const Parameter& parameter, Shape shape, Generator& generator) {
    Matrix other(shape);
    for (double& x : cells(other)) x = (parameter.beginning == Initialization::ones ? 0.5 : -0.5) + uniform(generator);
    return other;
  }

  // Parameters begin with biases of 0 and with γ of 1, with which it cannot be seen whether they are used.
  static std::shared_ptr<Graph> with_other_biases(std::shared_ptr<Graph> graph, std::uint32_t seed) {
    Generator generator(seed);
    std::vector<Change> changes;
    const Node* last = nullptr;
    for (const Node* node : graph->named()) {
      if (node->op) {
        last = node;
        continue;
      }
      // All others are there with their own numbers: what is computed from them stays computed.
      const Parameter* const parameter = find_parameter(*node->role);
      Matrix numbers =
          parameter && parameter->is_vector() ? another(*parameter, node->frame.shape, generator) : node->matrix();
      changes.push_back({[node](const Node& asked) { return &asked == node; },
                         [numbers = std::move(numbers)](RewriteSite at) { return at.like(numbers); }});
    }
    Rewriting again(*graph, std::move(changes));
    again.of(*last);
    return again.graph().shared_from_this();
  }

  // --- what is told of it

  // Of a model its parameters, and what goes into it as that is recorded; otherwise every input by its name. A mask
  // that an option asks for is made again.
  void find_inputs(Proposal& proposal) const {
    for (const Node* node : proposal.graph->named()) {
      if (node->op) {
        proposal.result = node;
        continue;
      }
      // A decoder is given what comes out of the encoder.
      if (command_.name == "decoder" && !node->within(scope::decoder) && !node->within(scope::target)) continue;
      if (node->content() == Content::permissions && !arguments_.has(option::mask)) continue;
      if (!command_.takes_model()) {
        proposal.inputs.emplace_back(node->name, node);
      } else if (find_parameter(*node->role)) {
        proposal.inputs.emplace_back("parameter." + node->name, node);
      } else if (node->is(role::x)) {
        proposal.inputs.emplace_back(node->within(scope::source) ? "input..src" : "input..tgt", node);
      }
    }
    if (!proposal.result) fail("attn {} computes nothing here", command_.name);
    const Node* const of_command = proposal.graph->find(command_.name);
    if (of_command && of_command->op) proposal.result = of_command;
    const auto attends_to_encoder = [](const Node* node) {
      return node->is(role::k) && node->within(scope::cross_attention) && !node->operands.empty();
    };
    const std::vector<const Node*> named = proposal.graph->named();
    const auto keys = std::ranges::find_if(named, attends_to_encoder);
    if (command_.name == "decoder" && keys != named.end())
      proposal.inputs.emplace_back("input..memory", (*keys)->operands.front());
  }

  static ComparedMatrix alone(const Node& node) {
    return {.name = node.name,
            .node = &node,
            .theirs = node.cells(),
            .rounding = rounding_of(node.matrix(), Precision::float32, largest_of(node.matrix())),
            .difference = {}};
  }

  static bool hides(const Proposal& proposal, const std::vector<const Mistake*>& mistakes) {
    const ComparedMatrix compared[] = {alone(*proposal.result)};
    return std::ranges::all_of(mistakes,
                               [&](const Mistake* one) { return is_hidden(*proposal.graph, compared, *one); });
  }

  static void find_hidden(Proposal& proposal) {
    const ComparedMatrix compared[] = {alone(*proposal.result)};
    proposal.hidden = find_mistakes(*proposal.graph, compared).hidden;
    proposal.possible = static_cast<std::size_t>(
        std::ranges::count_if(possible_mistakes(*proposal.graph),
                              [](const PossibleMistake& one) { return one.mistake->kind == Mistake::Kind::error; }));
  }

  const Command& command_;
  const Arguments& arguments_;
  std::vector<OfferedOption> offered_;
};

bool says_how_to_compute(const Option& option) {
  const auto shows = [&](const OfferedOption& shown) { return shown.option == &option; };
  return std::ranges::find(drawn_by, &option) == drawn_by.end() && option.kind != Kind::path &&
         std::ranges::none_of(output_options().options, shows);
}

std::string names_in_list(const std::vector<const Mistake*>& mistakes) {
  std::vector<std::string> names;
  for (const Mistake* mistake : mistakes) names.emplace_back(mistake->name);
  return list_in_words(names);
}

std::string said_of_hidden(const Proposal& proposal) {
  const std::string all = count_of(proposal.possible, "mistake");
  if (proposal.hidden.empty())
    return fmt::format("With this input, each of the {} that can be made here changes {}.", all, proposal.result->name);
  return fmt::format("Of the {} that can be made here, {:# leaves|# leave} {} as it is even with this input: {}.", all,
                     Count{proposal.hidden.size()}, proposal.result->name, names_in_list(proposal.hidden));
}

}  // namespace

std::vector<std::string> typed_again(const Arguments& arguments) {
  std::vector<std::string> typed;
  for (const OptionValues::Entry& entry : arguments.entries()) {
    const Option& option = *entry.option;
    if (!says_how_to_compute(option)) continue;
    if (option.kind == Kind::flag) typed.emplace_back(option.name);
    if (option.kind == Kind::count) typed.push_back(fmt::format("{} {}", option.name, *arguments.count(option)));
    if (option.kind == Kind::number) typed.push_back(fmt::format("{} {}", option.name, *arguments.number(option)));
    if (option.kind == Kind::word || option.kind == Kind::word_or_number)
      typed.push_back(fmt::format("{} {}", option.name, shell_word(*arguments.text(option))));
  }
  return typed;
}

Answer propose_input(const Command& command, const Arguments& given) {
  Arguments arguments = given;
  // A file of parameters does not say it.
  if (command.takes_model() && !arguments.has(option::heads)) arguments.put(option::heads, std::size_t{2});
  const Proposal proposal = Proposer(command, arguments).best();
  const std::string other = command.shown_as ? "" : fmt::format(" {}", command.name);
  std::string check = fmt::format("attn check mine.npz{}", other);
  for (const std::string& typed : typed_again(arguments)) check += " " + typed;
  const std::string use = fmt::format(
      "Compute with its matrices, write them and what you get, such as output, into one file, and check it: {}", check);
  Answer answer;
  answer.page.head(1, "Input for a check");
  answer.page.say(said_of_hidden(proposal));
  answer.page.say(
      "Compute with its matrices, write them and what you get, such as output, into one file, and check it:");
  answer.page.say(CodeBlock{"sh", check});
  answer.page.say(records_of_hidden(proposal.hidden));
  if (!proposal.hidden.empty()) {
    answer.page.say("What even this input cannot show:");
    ParagraphsWithMargins list;
    for (const Mistake* mistake : proposal.hidden)
      list.lines.push_back({"- ", "  ", text(code(std::string(mistake->name)), fmt::format(": {}", mistake->summary))});
    answer.page.say(std::move(list));
  }
  answer.computation.graph = proposal.graph;
  std::vector<TracedMatrix> inputs;
  for (const auto& [name, node] : proposal.inputs) {
    inputs.push_back(
        {.name = name, .role = node->role, .formula = {}, .frame = node->frame, .cells = [cells = node->cells()] {
           return cells;
         }});
  }
  answer.page.trace = Trace(std::move(inputs));
  if (arguments.has(option::output)) answer.notes = {said_of_hidden(proposal), use};
  return answer;
}

}  // namespace attn
