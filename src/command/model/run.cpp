#include "command/model/run.hpp"

#include "graph/run.hpp"
#include "parameters/parameters.hpp"
#include "parameters/transformer_parameters.hpp"
#include "support/error.hpp"

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

}  // namespace

void run_model(const ModelChoice& choice, Graph& graph) {
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

void require_room(const ModelChoice& choice,
                  const std::function<std::vector<const Node*>(const Graph&)>& wanted) {
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
