#include "command/model/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "command/forms.hpp"
#include "command/model/choice.hpp"
#include "command/solve.hpp"
#include "core/attention/watches.hpp"
#include "core/graph/run.hpp"
#include "core/math/stored.hpp"
#include "core/model/recipe.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/parameters/parameters.hpp"
#include "data/parameters/transformer_parameters.hpp"
#include "data/problem/problem.hpp"
#include "page/tell/describe.hpp"

namespace attn {

// --- run

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

OnOtherWords on_other_words(const ModelChoice& choice) {
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

// --- layer norm

namespace {

Value row_of(Graph& graph, const Arguments& arguments, const Option& option, Matrix usual) {
  Matrix matrix = arguments.has(option) ? arguments.matrix(option).matrix : std::move(usual);
  for (const double cell : cells(matrix)) {
    if (!std::isfinite(cell)) fail("{}: every number must be finite", option.name);
  }
  return graph.input(*option.role, std::move(matrix), axis(std::string(option.role->leaf)), axis("features"));
}

bool is_constant(std::span<const double> row) {
  return std::ranges::all_of(row, [&](double cell) { return cell == row.front(); });
}

// Rows without any variance, in words: "row 1", "the row of "it"".
std::vector<std::string> constant_rows(const Node& x) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < x.frame.shape.rows; ++i) {
    if (is_constant(row(x.matrix(), i)))
      rows.push_back((x.frame.rows.labels ? "the row of " : "") + place_in_words(x.frame.rows, i, "row"));
  }
  return rows;
}

}  // namespace

Answer run_layer_norm(const Command&, const Arguments& given) {
  const Arguments arguments = with_part(given, scope::norm, {&option::gamma, &option::beta}, "an nn.LayerNorm");
  const Problem problem = problem_of(arguments);
  if (problem.sequences.size() != 1) fail("attn layer-norm normalizes one sentence: give one --text or one --x");
  const Sequence& sequence = problem.sequences.front();
  if (!sequence.x) fail("attn layer-norm normalizes the rows of x: give --x or --text");
  const auto chosen = arguments.text(option::norm_kind);
  const NormKind& kind = chosen ? look_up(norm_kinds(), *chosen, "kind of norm") : norm_kinds().front();
  if (!kind.shifts && arguments.has(option::beta))
    fail("--beta: {} has no β. Leave out --beta, or choose --norm-kind {}", kind.title, norm_kinds().front().name);
  const std::size_t d = sequence.x->shape().columns;
  const auto graph = std::make_shared<Graph>(keep_nothing());
  watch(*graph);
  const Axis words = axis("tokens", sequence.tokens);
  require_labels("x", words, sequence.x->shape().rows);
  const Value x = graph->input(role::x, *sequence.x, words, axis("features"));
  NormParameters norm{.gamma = row_of(*graph, arguments, option::gamma, Matrix({1, d}, 1.0))};
  if (kind.shifts) norm.beta = row_of(*graph, arguments, option::beta, Matrix({1, d}, 0.0));
  norm.epsilon = arguments.number(option::epsilon).value_or(norm.epsilon);
  const Value output = name(role::output, kind.apply(x, norm));
  std::string title(kind.title);
  if (asks_for_gradients(arguments)) {
    return gradients_of(
        {.computation = {graph}, .title = std::move(title), .results = {&output.node()}, .remarks = problem.remarks},
        arguments);
  }
  compute(*graph);
  Page page{.trace = graph->named()};
  std::vector<const Node*> computed, inputs;
  for (const Node* node : graph->named()) (node->op ? computed : inputs).push_back(node);
  title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  page.head(1, std::move(title));
  page.say(norm_in_words(kind, norm.epsilon, norm.beta.has_value()));
  page.say(fmt::format(
      "For each row, the {} before γ is {}.", kind.spread,
      norm.epsilon == 0.0 ? "1 up to rounding, unless it was 0"
                          : fmt::format("close to 1, unless ε is large compared with the {} of the row", kind.spread)));
  const bool subtracts_mean = graph->find(role::mean) != nullptr;
  if (const std::vector<std::string> rows = constant_rows(x.node()); subtracts_mean && !rows.empty()) {
    page.say(rows.size() == 1 ? fmt::format("All numbers of {} are equal. Up to rounding, its variance and its "
                                            "normalized numbers are 0.",
                                            rows.front())
                              : fmt::format("Each of these rows has equal numbers: {}. Up to rounding, their "
                                            "variances and their normalized numbers are 0.",
                                            listed(rows)));
  }
  SideBySide tables;
  for (const Node* node : inputs) tables.tables.push_back(table_of(*node));
  page.say(std::move(tables));
  add_results(page, computed);
  return {.page = std::move(page), .warnings = problem.remarks, .computation = {graph}};
}

// --- parameters

namespace {

// "encoder.1" of "encoder.1.norm_1.gamma"; "encoder.norm" of "encoder.norm.gamma"; "output" of "output.w".
std::string part_of_model(std::string_view name) {
  const std::size_t first = name.find('.');
  const std::size_t second = first == std::string_view::npos ? first : name.find('.', first + 1);
  return std::string(name.substr(0, second == std::string_view::npos ? first : second));
}

bool is_layer(std::string_view part) {
  const std::size_t dot = part.find('.');
  return dot != std::string_view::npos && dot + 1 < part.size() && part[dot + 1] >= '0' && part[dot + 1] <= '9';
}

// Whether two matrices are the same numbers of a file, and not only equal ones.
bool are_the_same(const std::shared_ptr<const Matrix>& one, const std::shared_ptr<const Matrix>& other) {
  if (one == other) return true;
  const Stored *const a = one->stored(), *const b = other->stored();
  return a && b && a->elements == b->elements && a->shape == b->shape && a->skipped == b->skipped &&
         a->is_transposed == b->is_transposed && a->lines.first == b->lines.first;
}

// The names of the parameters that the file has once for several of the model: each with the one before it.
std::map<std::string, std::string, std::less<>> parameters_again(const Transformer& model) {
  std::map<std::string, std::string, std::less<>> again;
  const std::vector<ParameterRow> rows = parameters_of(model);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto second = model.parameters.find(rows[i].name);
    if (second == model.parameters.end()) continue;
    for (std::size_t j = 0; j < i; ++j) {
      const auto first = rows[j].shape == rows[i].shape ? model.parameters.find(rows[j].name) : model.parameters.end();
      if (first == model.parameters.end() || again.contains(rows[j].name)) continue;
      if (are_the_same(first->second, second->second)) again.emplace(rows[i].name, rows[j].name);
    }
  }
  return again;
}

// "encoder" of "encoder.1".
std::string_view side_in_name(std::string_view part) { return part.substr(0, part.find('.')); }

}  // namespace

Answer run_parameters(const Command&, const Arguments& arguments) {
  constexpr ModelUse use{"parameters", "encoder-decoder"};
  ModelChoice choice = planned_model_alone(arguments, use);
  if (arguments.has(option::save_parameters)) choice = drawn(std::move(choice), arguments, use);
  const Transformer& model = choice.model;
  Page page;
  page.blocks.emplace_back(Heading{1, text(model.title.empty() ? std::string("Parameters") : model.title)});
  if (!model.summary.empty()) page.say(model.summary);
  page.say(fmt::format("{}: {}.", model.kind->name, model.kind->summary));
  if (model.kind->encodes && !model.has_encoder()) page.say("The file has the decoder only.");
  if (arguments.has(option::parameters)) {
    for (const std::string& paragraph : model.about) page.say(paragraph);
  }
  Listing listing{{"parameter", "shape", "numbers"}, {}};
  std::vector<std::pair<std::string, std::size_t>> sums;
  std::size_t total = 0;
  const std::map<std::string, std::string, std::less<>> again = parameters_again(model);
  for (const ParameterRow& row : parameters_of(model)) {
    if (const auto first = again.find(row.name); first != again.end()) {
      listing.rows.push_back({row.name, to_string(row.shape), "those of " + first->second});
      continue;
    }
    const std::size_t numbers = row.shape.cells();
    listing.rows.push_back({row.name, to_string(row.shape), with_commas(numbers)});
    if (sums.empty() || sums.back().first != part_of_model(row.name)) sums.emplace_back(part_of_model(row.name), 0);
    sums.back().second += numbers;
    total += numbers;
  }
  page.blocks.emplace_back(std::move(listing));
  Listing of_parts{{"part", "each", "numbers"}, {}};
  for (std::size_t first = 0, behind = 0; first < sums.size(); first = behind) {
    const std::string& part = sums[first].first;
    const std::size_t count = sums[first].second;
    const auto is_alike = [&](const auto& other) {
      return is_layer(part) && other.second == count && side_in_name(other.first) == side_in_name(part);
    };
    for (behind = first + 1; behind < sums.size() && is_alike(sums[behind]);) ++behind;
    const std::size_t layers = behind - first;
    if (layers == 1) of_parts.rows.push_back({part, "", with_commas(count)});
    if (layers > 1)
      of_parts.rows.push_back({fmt::format("{} to {}", part, sums[behind - 1].first),
                               fmt::format("{} × {}", layers, with_commas(count)), with_commas(layers * count)});
  }
  of_parts.rows.push_back({"total", "", with_commas(total)});
  page.blocks.emplace_back(Heading{2, text("By part")});
  page.say(sizes_in_words(model, positions_in_words(model)));
  const auto is_embedding = [](const auto& part) { return part.first.ends_with("embedding"); };
  if (model.recipe.scale_embeddings && std::ranges::any_of(sums, is_embedding))
    page.say(text("Each embedding is multiplied by ",
                  math({fmt::format("√{}", model.sizes.d_model), fmt::format("\\sqrt{{{}}}", model.sizes.d_model)}),
                  "."));
  page.blocks.emplace_back(std::move(of_parts));
  return {.page = std::move(page), .warnings = choice.remarks, .files = saved_parameters(arguments, model)};
}

}  // namespace attn
