#include "command/cost/cost.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "command/computed_problem.hpp"
#include "core/graph/plan.hpp"
#include "core/model/layer_cost.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "page/tell/attention_steps.hpp"
#include "page/tell/model_diagram.hpp"

namespace attn {

namespace {

// --- cost

void add_to(Work& sum, const Work& work) {
  sum.cost += work.cost;
  sum.bytes += work.bytes;
  sum.sequential = std::max(sum.sequential, work.sequential);
}

QuantityRows rows_by_step(const std::vector<NamedWork>& all, const Work& total) {
  QuantityRows rows;
  const auto add = [&](std::string_view title, const Step* step) {
    Work sum;
    bool any = false;
    for (const NamedWork& named : all) {
      if (step_of(*named.node) != step) continue;
      add_to(sum, named.work);
      any = true;
    }
    if (any) rows.emplace_back(title, numbers(sum));
  };
  for (const Step& step : steps()) add(step.name, &step);
  add("other", nullptr);
  rows.emplace_back("total", numbers(total));
  return rows;
}

// The rows of a scope, "" for all of them.
struct ScopeRows {
  std::string scope;
  QuantityRows rows;
};

// Labels longer than tables show would hide which matrix is meant: then every scope has a table of its own.
std::vector<ScopeRows> rows_by_matrix(const std::vector<NamedWork>& all) {
  constexpr std::size_t longest_label = 16;
  const bool one_table =
      std::ranges::all_of(all, [](const NamedWork& named) { return named.node->name.size() <= longest_label; });
  std::vector<ScopeRows> tables;
  for (const auto& [node, work] : all) {
    const Shape shape = node->frame.shape;
    std::vector<double> row = {static_cast<double>(shape.rows), static_cast<double>(shape.columns)};
    std::ranges::copy(numbers(work), std::back_inserter(row));
    const std::string scope = one_table || !node->place ? "" : node->place->title();
    auto table = std::ranges::find(tables, scope, &ScopeRows::scope);
    if (table == tables.end()) table = tables.insert(tables.end(), {scope, {}});
    table->rows.emplace_back(one_table ? node->name : node->leaf(), std::move(row));
  }
  return tables;
}

QuantityRows rows_by_operation(const Graph& graph) {
  QuantityRows rows;
  for (const auto& [operation, times, work] : work_by_operation(graph)) {
    std::vector<double> row = {static_cast<double>(times)};
    std::ranges::copy(numbers(work), std::back_inserter(row));
    row.pop_back();  // an operation is used in many places: no count is the one that it is ready after
    rows.emplace_back(operation, std::move(row));
  }
  return rows;
}

void add_problem(QuantityPage& page, const Graph& graph) {
  const std::vector<NamedWork> all = work_by_name(graph);
  if (all.empty()) {
    fail(
        "nothing is computed from this input, so there is nothing to count: give --q and --k, --scores, or --weights and --v, or only sizes: --n, --d and --kernel");
  }
  const Work total = work_of(graph);
  page.head(1, "What this problem costs");
  page.say("The operations that computed it, counted:");
  page.table("by_step", work_columns, rows_by_step(all, total));
  page.say(meaning_of_work_columns());
  page.say(fmt::format("The input takes {} bytes more. A second name for a matrix costs nothing and is not listed.",
                       bytes_of_inputs(graph)));
  page.say("The same by operation, and by matrix:");
  std::vector<std::string> of_operations = {"times"};
  of_operations.insert(of_operations.end(), work_columns.begin(), work_columns.end() - 1);
  page.table("by_operation", of_operations, rows_by_operation(graph));
  std::vector<std::string> columns = {"rows", "columns"};
  columns.insert(columns.end(), work_columns.begin(), work_columns.end());
  for (const auto& [scope, rows] : rows_by_matrix(all)) {
    page.table(scope.empty() ? "by_matrix" : scope, columns, rows);
  }
}

constexpr LayerSizes usual_sizes{64, 512, 3};

// n and d of what attends: x, or else the queries; without either d is that of the documents.
LayerSizes sizes_of(const Graph& graph) {
  for (const Role* role : {&role::x, &role::q, &role::weights}) {
    for (const Node& node : graph.nodes()) {
      if (!node.is(*role)) continue;
      const Shape shape = node.frame.shape;
      const bool has_depth = role->content != Content::weights;
      return {shape.rows, has_depth ? shape.columns : usual_sizes.d, usual_sizes.k};
    }
  }
  return usual_sizes;
}

// What layers reach, for few positions: nothing is counted for it.
Answer outline_of_layers(std::size_t n, std::size_t k) {
  constexpr std::size_t most = 16;
  if (n > most) fail("--outline draws at most {} positions: give --n {} or less", most, most);
  Page page;
  page.head(1, fmt::format("What layers reach: {}, kernel {}", count_of(n, "position"), k));
  page.say(
      fmt::format("Each row is a layer, with the input x above. "
                  "A line leads to a position from what it is computed from. "
                  "Each stack has as many layers as x_1 and x_{} need to reach a common position. "
                  "Filled circles are on the way there. "
                  "Where lines cannot cross, as in text, only those are drawn that lead to a filled circle. "
                  "The path is the number of positions on the longer of the two ways.",
                  n));
  page.head(2, "The layers");
  page.say(layers_diagram(n, k));
  return {.page = std::move(page)};
}

// --- attention

constexpr std::size_t heads = 8;

// The size itself, or the next larger one that the heads can share.
std::size_t shareable(std::size_t d) { return (d + heads - 1) / heads * heads; }

// --- layers

std::string written_cost(const Complexity& growth) {
  if (growth.complexity.empty()) return "not in it";
  return fmt::format("{}, {}, {}", growth.complexity, growth.sequential, growth.path);
}

// The kinds of layers whose growth a text states, and where.
std::string sources() {
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> by_source;
  for (const LayerKind& row : layer_kinds()) {
    if (row.growth.source.empty()) continue;
    auto found = std::ranges::find(by_source, row.growth.source, [](const auto& item) { return item.first; });
    if (found == by_source.end()) found = by_source.insert(by_source.end(), {row.growth.source, {}});
    found->second.push_back(row.name);
  }
  std::string sentence;
  for (const auto& [source, names] : by_source) {
    sentence += fmt::format("{}{} ({})", sentence.empty() ? "" : " and in ", source, fmt::join(names, ", "));
  }
  return sentence;
}

void add_formulas(QuantityPage& page) {
  page.say(
      "Each line: the kind of layer, its exact number of multiply-adds, and how complexity, sequential operations and maximum path length grow with n, d and k. "
      "The last column has the same in the letters T, D and K of Lin et al. 2022, for the layers of their table.");
  Listing formulas{{"layer", "multiply-adds", "growth in n, d, k", "growth in T, D, K"}, {}};
  Listing meanings{{"layer", "what it is"}, {}};
  for (const LayerKind& row : layer_kinds()) {
    formulas.rows.push_back(
        {std::string(row.name), std::string(row.formula), written_cost(row.growth), written_cost(row.survey)});
    meanings.rows.push_back({std::string(row.name), std::string(row.summary)});
  }
  page.say(std::move(formulas));
  page.say(fmt::format(
      "The growth in n, d and k is stated in {}. "
      "For the others, the complexity follows from the exact number, and sequential operations and path lengths from how the layer is built.",
      sources()));
  page.say(std::move(meanings));
}

QuantityRows by_formula(LayerSizes sizes) {
  QuantityRows rows;
  for (const LayerKind& row : layer_kinds()) {
    rows.emplace_back(row.name, std::vector{row.multiply_adds(sizes), row.sequential(sizes), row.path(sizes)});
  }
  return rows;
}

QuantityRows by_counting(LayerSizes sizes) {
  QuantityRows rows;
  for (const LayerKind& row : layer_kinds()) {
    const Work work = layer_work(row, sizes);
    const std::optional<Meeting> meeting = search_meeting(row, sizes.n, sizes.k, sizes.n);
    const double path = meeting ? static_cast<double>(meeting->length) : std::numeric_limits<double>::infinity();
    rows.emplace_back(row.name, std::vector{static_cast<double>(work.cost.multiply_adds),
                                            static_cast<double>(work.sequential), path});
  }
  return rows;
}

// What can be built in no time: the matrix of a fully connected layer has (n·d)² cells.
LayerSizes buildable(LayerSizes sizes) {
  constexpr std::size_t most_positions = 32, most_numbers = 512, few = 8;
  if (sizes.n <= most_positions && sizes.n * sizes.d <= most_numbers && sizes.k <= most_positions) return sizes;
  return {std::min(sizes.n, few), std::min(sizes.d, few), std::min(sizes.k, few)};
}

std::string at_sizes(LayerSizes sizes) { return fmt::format("n = {}, d = {}, k = {}", sizes.n, sizes.d, sizes.k); }

void add_counts_of_layers(QuantityPage& page, LayerSizes sizes) {
  const std::vector<std::string> columns = {"multiply-adds", "sequential", "path"};
  page.say(fmt::format("By formula, at {}:", at_sizes(sizes)));
  page.table("layers", columns, by_formula(sizes));
  page.say(Listing{
      {"column", "what it counts"},
      {{"multiply-adds", "multiplications, each with an addition, of one layer"},
       {"sequential",
        "operations of one layer that must wait for one another. "
        "Self-attention has four at every length (scores, scaling, softmax, weighted sum), a recurrent layer three for each position"},
       {"path",
        "maximum path length: the number of positions on the shortest way from x_1 or x_n, whichever is farther, to the first position in any layer that depends on both"}}});
  const LayerSizes small = buildable(sizes);
  const QuantityRows found = by_counting(small);
  page.say(fmt::format(
      "Built from operations at {}, counted and searched. {}:", at_sizes(small),
      found == by_formula(small) ? "The counts agree with the formulas" : "The counts differ from the formulas"));
  page.table("counted", columns, found);
  if (sizes.k == 1 && sizes.n > 1) {
    page.say(
        "A kernel of 1 sees only its own position: x_1 and x_n never meet, whatever the number of layers. "
        "No path is long enough, so its length is infinite: inf in the tables.");
  }
}

}  // namespace

// --- cost

Answer run_cost(const Command&, const Arguments& arguments) {
  const auto n = arguments.count(option::n), d = arguments.count(option::d), kernel = arguments.count(option::kernel);
  if (arguments.has(option::outline)) return outline_of_layers(n.value_or(5), kernel.value_or(usual_sizes.k));
  QuantityPage page;
  LayerSizes sizes = usual_sizes;
  std::vector<std::string> warnings;
  const bool names_problem =
      arguments.has_any(problem_members()) || arguments.has(option::example) || arguments.has(option::problem);
  if (names_problem || !(n || d || kernel)) {
    // What is narrowed are the counts, not the problem.
    Arguments problem = arguments;
    problem.leave_out(std::array{&option::only, &option::explain});
    const ComputedProblem solved = compute_problem(problem);
    add_problem(page, *solved.graph);
    page.set_problem(solved.problem);
    sizes = sizes_of(*solved.graph);
    warnings = solved.warnings();
  }
  sizes = {n.value_or(sizes.n), d.value_or(sizes.d), kernel.value_or(sizes.k)};
  add_layers(page, sizes);
  add_paths(page, sizes.k);
  add_crossover(page, sizes);
  add_long_sequences(page, sizes.d);
  add_heads(page, n, d);
  add_scores(page, sizes);
  if (arguments.has(option::measure)) add_measurements(page);
  return std::move(page).answer(std::move(warnings));
}

// --- attention

void add_heads(QuantityPage& page, std::optional<std::size_t> words, std::optional<std::size_t> size) {
  constexpr std::size_t largest_n = 4096, most_numbers = 65536;
  constexpr std::size_t usual_words = 8, usual_size = 512;  // as in Vaswani et al. 2017
  const std::size_t n = std::min(words.value_or(usual_words), largest_n);
  const std::size_t d_model = shareable(std::min(size.value_or(usual_size), most_numbers));
  page.head(1, "Eight heads against one");
  page.say(fmt::format(
      "Self-attention with w_q, w_k, w_v and w_o on {} of size {}: once with 8 heads of size {}, once with one head of size {}.{}",
      count_of(n, "word"), d_model, d_model / heads, d_model,
      size && *size != d_model ? fmt::format(" (The size {} is replaced by {}.)", *size, d_model) : ""));
  page.table("heads", work_columns,
             {{fmt::format("8 heads of {}", d_model / heads), numbers(heads_work(heads, n, d_model))},
              {fmt::format("1 head of {}", d_model), numbers(heads_work(1, n, d_model))}});
  page.say(
      "Several heads need no more multiply-adds: 4nd² + 2n²d in both cases. "
      "But each head has scores of its own, so there are 8 matrices to scale and to turn into weights instead of one, and q, k and v are split into parts. "
      "Both take element-wise operations and memory.");
}

void add_scores(QuantityPage& page, LayerSizes sizes) {
  constexpr std::size_t most_queries = 64, most_numbers = 64;
  const std::size_t n = std::min(sizes.n, most_queries), d = std::min(sizes.d, most_numbers);
  page.head(1, "Additive against dot product");
  page.say(fmt::format("The scores of {0} and {1} of size {2}{3}:", count_of(n, "query", "queries"), count_of(n, "key"),
                       d, n < sizes.n || d < sizes.d ? ", the largest size that is counted here" : ""));
  QuantityRows rows;
  for (const ScoringFunction& function : scoring_functions()) {
    rows.emplace_back(function.name, numbers(scores_work(function, n, d)));
  }
  page.table("scoring", work_columns, rows);
  page.say(
      "A dot product takes n²d multiply-adds. "
      "Additive attention takes n²d for w_v, and 2nd² for W_q and W_k. "
      "It can need fewer only if its hidden layer is narrower than d. "
      "It also adds and takes the tanh of d numbers for each pair, 2n²d element-wise operations, and stores them. "
      "The dot products are one matrix product. attn cost --measure shows the difference in seconds.");
}

// --- layers

void add_layers(QuantityPage& page, LayerSizes sizes) {
  page.head(1, "Self-attention, recurrent, convolutional and fully connected layers");
  add_counts_of_layers(page, sizes);
  add_formulas(page);
}

// --- page

const std::vector<std::string> work_columns = {"multiply-adds", "element-wise", "bytes", "ready after"};

Listing meaning_of_work_columns() {
  return {{"column", "what it counts"},
          {{"multiply-adds", "terms of matrix products and of squared distances"},
           {"element-wise", "elements that other operations compute or copy; a softmax counts each three times"},
           {"bytes", "memory of the results if all are kept, 8 bytes per number"},
           {"ready after", "sequential operations until the result is ready; more processors cannot reduce them"}}};
}

std::vector<double> numbers(const Work& work) {
  return {static_cast<double>(work.cost.multiply_adds), static_cast<double>(work.cost.element_operations),
          static_cast<double>(work.bytes), static_cast<double>(work.sequential)};
}

}  // namespace attn
