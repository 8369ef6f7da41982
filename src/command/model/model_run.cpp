#include "command/model/model_run.hpp"

#include <fmt/format.h>

#include "command/computed_problem.hpp"
#include "command/model/choice.hpp"
#include "core/graph/run.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "data/parameters/parameters.hpp"
#include "data/parameters/transformer_parameters.hpp"

namespace attn {

namespace {

// Tells of each matrix that the run comes to.
class ProgressWatch final : public Watch {
 public:
  explicit ProgressWatch(std::function<void(std::string_view)> tell) : tell_(std::move(tell)) {}
  void begins(const Node& node) override {
    if (!node.name.empty()) tell_(node.name);
  }

 private:
  std::function<void(std::string_view)> tell_;
};

void tell_random_parameters(const ModelChoice& choice, Graph& graph) {
  if (!choice.drawn_with) return;
  for (const ParameterRow& row : parameters_of(choice.model)) {
    if (const Node* parameter = graph.find(row.name))
      graph.tell_random(*parameter, fmt::format("seed {}", *choice.drawn_with));
  }
}

void run_layers(const ModelChoice& choice, Graph& graph) {
  RunningTransformer running(choice.model, graph);
  std::optional<Value> encoded;
  if (choice.memory) {
    encoded = graph.input(role::memory, *choice.memory, axis("tokens"), axis("features"));
  } else if (choice.model.kind->encodes) {
    encoded = running.encode(choice.source);
  }
  if (choice.model.kind->decodes && choice.target.size() == 0) return;  // the decoder is not shown
  const Value last = choice.model.kind->decodes ? running.decode(choice.target, encoded) : *encoded;
  if (running.has_output()) name(role::distribution, softmax(running.logits(last)));
}

}  // namespace

void run_model(const ModelChoice& choice, Graph& graph) {
  run_layers(choice, graph);
  tell_random_parameters(choice, graph);
}

std::vector<SentenceOfLine> sentences_of_line(const ModelChoice& choice) {
  // Other words draw other parameters.
  if (choice.words.tokenizer || choice.drawn_with) return {};
  std::vector<SentenceOfLine> sentences;
  const auto add = [&](const ScopeKind& side, const Option& option, const ModelInput& input) {
    if (input.tokens.empty()) return;
    const std::string &start = choice.words.start, &end = choice.words.end();
    sentences.push_back({&side,
                         {std::string(option.name), std::string(option::text.name)},
                         input.tokens.front() == start ? start : "",
                         input.tokens.back() == end ? end : ""});
  };
  if (choice.model.kind->encodes) add(scope::source, option::source, choice.source);
  if (choice.model.kind->decodes) add(scope::target, option::target, choice.target);
  return sentences;
}

ModelRerun model_rerun(const ModelChoice& choice) {
  return {[model = std::make_shared<const ModelChoice>(choice)](const std::vector<std::size_t>& source,
                                                                const std::vector<std::size_t>& target) {
    ModelChoice other = *model;
    const auto in_place_of = [](const ModelInput& words, const std::vector<std::size_t>& ids) {
      ModelInput others{.ids = ids};
      if (ids.size() == words.size()) others.positions = words.positions;
      return others;
    };
    other.source = in_place_of(model->source, source);
    other.target = in_place_of(model->target, target);
    other.memory.reset();
    auto graph = std::make_shared<Graph>(keep_nothing());
    run_model(other, *graph);
    return graph;
  }};
}

void require_room(const ModelChoice& choice, const std::function<std::vector<const Node*>(const Graph&)>& wanted) {
  if (choice.model.parameters.empty()) require_drawable(choice.model);
  Graph graph;
  run_model(choice, graph);
  require_room(plan(graph, wanted(graph)));
}

void tell_progress(const Graph& graph, const Arguments& arguments) {
  LongWork* const work = arguments.long_work();
  if (!work) return;
  graph.run().add(std::make_shared<ProgressWatch>([work](std::string_view stage) { work->tell(stage); }));
}

std::vector<FileToWrite> saved_parameters(const Arguments& arguments, const Transformer& model) {
  const std::optional<std::string> path = arguments.text(option::save_parameters);
  if (!path) return {};
  std::string bytes;
  Sink sink([&](std::string_view piece) { bytes += piece; });
  std::vector<NamedMatrix> matrices;
  for (const auto& [name, matrix] : model.parameters) matrices.push_back({name, matrix.get()});
  if (path->ends_with(".npz")) {
    write_npz(matrices, sink);
  } else if (path->ends_with(".safetensors")) {
    write_safetensors(matrices, sink);
  } else {
    fail("--save-parameters {}: the file name must end in .safetensors or .npz", *path);
  }
  sink.flush();
  return {{*path, std::move(bytes)}};
}

}  // namespace attn
