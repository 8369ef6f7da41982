#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "command/command.hpp"
#include "command/computed_problem.hpp"
#include "command/forms.hpp"
#include "core/graph/find.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "core/term/general.hpp"
#include "data/files/matrix_file.hpp"
#include "data/problem/encoder_decoder_file.hpp"
#include "data/problem/model_file.hpp"
#include "data/problem/model_words.hpp"
#include "data/problem/problem_file.hpp"
#include "page/tell/attention_flow.hpp"
#include "page/tell/attention_map.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/heads.hpp"

namespace attn {

namespace {

// --- convert

// What the matrix is called where the target names its matrices.
std::string name_of_matrix(const MatrixFile& file) { return file.name.empty() ? "matrix" : file.name; }

// --- examples

// Something that is built in, as it is listed and described.
struct BuiltIn {
  std::string name;
  std::string title, summary;
  std::vector<std::string> about;
  std::vector<std::string> commands;  // that show it
};

BuiltIn built_in(const Example& example) {
  const OptionValues values = read_problem_file(example.json, std::string(example.name));
  return {std::string(example.name),
          *values.text(option::title),
          *values.text(option::summary),
          values.texts(option::about),
          {fmt::format("attn walk --example {}", example.name)}};
}

BuiltIn built_in_transformer(const ModelExample& example) {
  const std::string name(example.name);
  const Transformer model = read_transformer(example.bytes, name).model;
  BuiltIn shown{name, model.title, model.summary, model.about, {}};
  if (model.kind->decodes) shown.commands.push_back("attn generate --model " + name);
  shown.commands.push_back("attn walk --model " + name);
  shown.commands.push_back("attn map --model " + name);
  return shown;
}

BuiltIn built_in_alignment(const ModelExample& example) {
  const EncoderDecoderFile file = read_encoder_decoder(example.bytes, std::string(example.name));
  BuiltIn shown{file.where, file.title, file.title, file.about, {"attn align --model " + file.where}};
  for (const std::string& paragraph : file.numbers) shown.about.push_back(paragraph);
  return shown;
}

template <class Row>
void add_all(std::vector<BuiltIn>& all, std::span<const Row> rows, BuiltIn (*shown)(const Row&)) {
  for (const Row& row : rows) all.push_back(shown(row));
}

void add_list(Page& page, std::string_view what, const std::vector<BuiltIn>& all) {
  Listing listing{{std::string(what), "what it shows"}, {}};
  for (const BuiltIn& row : all) listing.rows.push_back({row.name, row.summary});
  page.say(std::move(listing));
}

std::vector<BuiltIn> all_models() {
  std::vector<BuiltIn> all;
  add_all(all, model_examples(), built_in_transformer);
  add_all(all, alignment_examples(), built_in_alignment);
  return all;
}

Answer list_built_in() {
  std::vector<BuiltIn> all;
  add_all(all, examples(), built_in);
  std::vector<BuiltIn> models = all_models();
  Page page;
  add_list(page, "example", all);
  page.say(text("To see one: ", code("attn walk --example NAME"), "."));
  page.head(2, "Models");
  add_list(page, "model", models);
  page.say(text("To read about one, and how to see it: ", code("attn examples NAME"), "."));
  Records records{"examples", {"name", "kind", "title", "summary", "commands"}, {}};
  for (const auto& [kind, some] : {std::pair("problem", &all), std::pair("model", &models)}) {
    for (const BuiltIn& one : *some)
      records.rows.push_back({one.name, std::string(kind), one.title, one.summary, one.commands});
  }
  page.say(std::move(records));
  return {std::move(page)};
}

// --- explain

// The matrices of a model have names that begin with the part that a command shows.
void refuse_cell_of_model(std::string_view address, const Graph& graph) {
  const std::string_view scope = address.substr(0, address.find('.'));
  const Command* const command = find_row(commands(), scope);
  if (!command || !command->takes_model()) return;
  const auto is_within = [&](const Node& node) {
    const NamedScope* const side = outermost(node.place);
    return side && side->title() == scope;
  };
  if (std::ranges::any_of(graph.nodes(), is_within)) return;
  fail("{} is no matrix of attn walk. For those of a model: attn explain '{}' {}", address, address, scope);
}

// Which matrix each name of the definition is.
std::string names_in_code(const Node& node, const std::vector<std::string>& names) {
  std::string all;
  for (std::size_t i = 0; i < names.size() && i < node.operands.size(); ++i)
    all += fmt::format("// {} is {}\n", names[i], node.operands[i]->title());
  return all + fmt::format("// result is {}\n", node.title());
}

// The matrices without a name behind a node come before it.
void add_definitions(const Node& node, std::string& code, std::vector<const Op*>& kernels) {
  for (const Node* operand : node.operands) {
    if (operand->name.empty()) add_definitions(*operand, code, kernels);
  }
  if (!code.empty()) code += "\n\n";
  code += names_in_code(node, operands_of(node.op->definition)) + written_definition(node.op->definition);
  if (node.op->compute) kernels.push_back(node.op);
}

// Numbers that follow from random ones mean nothing, also where a page has no more than a part of what was computed.
// The part itself has no room for that: a note says it.
void note_if_random(Answer& answer, const std::vector<const Node*>& shown) {
  std::string sentence = what_is_random(answer.computation);
  if (sentence.empty() || std::ranges::none_of(shown, [](const Node* node) { return follows_from_random(*node); }))
    return;
  answer.notes.push_back(std::move(sentence));
}

}  // namespace

// --- convert

Answer run_convert(const Command&, const Arguments& arguments) {
  const std::string &source = arguments.words[0], &target = arguments.words[1];
  const std::optional<std::string> key = arguments.text(option::key);
  if (arguments.has(option::output))
    fail("--output cannot be used with attn convert, which writes to {}: leave it out", target);
  MatrixFile file = read_matrix(key ? source + ":" + *key : source);
  InputReports::tell(input_report_of(name_of_matrix(file), file));
  auto graph = std::make_shared<Graph>();
  graph->input(name_from_text(name_of_matrix(file)), std::move(file.matrix), axis("rows", std::move(file.row_labels)),
               axis("columns", std::move(file.column_labels)));
  const Node& node = graph->nodes().front();
  Page page{.trace = {{&node}}, .blocks = {table_of(node)}};
  return {.page = std::move(page), .output = target, .computation = {graph}};
}

// --- examples

Answer run_examples(const Command&, const Arguments& arguments) {
  if (arguments.words.empty()) return list_built_in();
  std::vector<BuiltIn> all;
  add_all(all, examples(), built_in);
  std::ranges::move(all_models(), std::back_inserter(all));
  const BuiltIn& shown = look_up(std::span<const BuiltIn>(all), arguments.words.front(), "example");
  Page page;
  page.head(1, shown.title);
  if (shown.summary != shown.title) page.say(text(shown.summary));
  for (const std::string& paragraph : shown.about) page.say(text(paragraph));
  for (const std::string& command : shown.commands) page.say(text("To see it: ", code(command), "."));
  return {std::move(page)};
}

std::vector<OptionChoice> choices::built_in() {
  std::vector<OptionChoice> names = choices::examples();
  for (const auto& more : {choices::models(), choices::alignments()})
    names.insert(names.end(), more.begin(), more.end());
  return names;
}

// --- explain

void add_explanation(Page& page, const Graph& graph, const std::string& address, std::size_t depth) {
  const Cell cell = find_cell(graph, address);
  page.trace.add(*cell.node);
  std::string title = fmt::format("{}[{},{}]", cell.node->name, cell.row + 1, cell.column + 1);
  if (const std::string place = cell_in_words(cell); !place.empty()) title += " (" + place + ")";
  page.head(1, std::move(title));
  const bool is_short = cell.node->name_within(cell.node->scope()) != cell.node->name;
  const std::string_view scope = is_short ? cell.node->scope() : "";
  if (is_short) add_short_names(page, *cell.node);
  page.say(formula_block(*cell.node, scope));
  page.say(derivation(cell, depth, scope));
}

void add_code(Page& page, const Graph& graph, const std::string& address) {
  const Cell cell = find_cell(graph, address);
  const Node& node = cell.node->original();
  if (!node.op) fail("{}: there is no code for it", explain({&node, cell.row, cell.column}).reason);
  page.head(2, "Any cell");
  page.say(CodeBlock{"text", fmt::format("{}", fmt::join(general_cell(node), "\n"))});
  page.head(2, "In xtensor");
  std::string code;
  std::vector<const Op*> kernels;
  add_definitions(node, code, kernels);
  page.say(CodeBlock{"cpp", std::move(code)});
  if (kernels.empty()) {
    page.say("This is what runs.");
  } else {
    page.say("This is the definition. What runs for it is a kernel, which tests compare with the definition.");
  }
}

void fail_without_matrices(const Option& option, const Command& command) {
  fail("{}: attn {} shows no matrices here: leave it out", option.name, command.name);
}

void narrow(Answer& answer, const Command& command, const Arguments& arguments) {
  const std::optional<std::string> only = arguments.only(), address = arguments.text(option::explain),
                                   product = arguments.text(option::product), word = arguments.text(option::from);
  const std::shared_ptr<Graph> graph = answer.computation.graph;
  Trace& trace = answer.page.trace;
  if (!graph && only && !trace.empty()) {
    const std::vector<TracedMatrix> chosen = trace.matching(*only);
    answer.page.blocks.clear();
    add_matrices(answer.page, trace, chosen);
    trace = Trace(chosen);
    return;
  }
  if (!graph) fail_without_matrices(only ? option::only : address ? option::explain : option::product, command);
  Page page{.recipe = std::move(answer.page.recipe)};
  if (word) {
    add_from_word(page, *graph, *word, only, what_is_random(answer.computation));
  } else if (arguments.has(option::map)) {
    add_attention_map(page, *graph, only, what_is_random(answer.computation));
  } else if (product) {
    add_product(page, *graph, *product);
    note_if_random(answer, {find_product(*graph, *product).product});
  } else if (address) {
    if (!command.takes_model()) refuse_cell_of_model(*address, *graph);
    add_explanation(page, *graph, *address, arguments.count(option::depth).value_or(0));
    if (arguments.has(option::code)) add_code(page, *graph, *address);
    note_if_random(answer, {find_cell(*graph, *address).node});
  } else {
    std::vector<const Node*> nodes = graph->matching(*only);
    std::vector<const Node*> of_page;
    std::ranges::copy_if(nodes, std::back_inserter(of_page),
                         [&](const Node* node) { return !trace.empty() && trace.find(node->name); });
    if (!of_page.empty()) nodes = std::move(of_page);
    page.trace.add(nodes);
    // Matrices of a model have long names: they stand under headings for their scopes.
    if (command.takes_model()) {
      add_results_by_scope(page, nodes);
    } else {
      add_formulas_and_tables(page, nodes);
    }
    note_if_random(answer, nodes);
  }
  answer.page = std::move(page);
}

std::vector<const Node*> wanted_nodes(const Graph& graph, const Arguments& arguments,
                                      std::vector<const Node*> (*others)(const Graph&)) {
  if (arguments.has_any(std::array{&option::outline, &option::against})) return {};  // known later, or never
  if (arguments.has(option::explain)) return nodes_at_rest(graph);
  if (const std::optional<std::string> address = arguments.text(option::product)) {
    const Product product = find_product(graph, *address);
    return shown_in_tables({&product.left(), &product.right(), product.product, product.named});
  }
  if (arguments.has(option::map) || arguments.has(option::from))
    return shown_in_tables(attention_weights(graph, arguments.only()));
  if (const std::optional<std::string> only = arguments.only()) return shown_in_tables(graph.matching(*only));
  return others(graph);
}

// Without the name of another command, what is explained is a walk.
Answer run_explain(const Command& command, const Arguments& arguments) {
  refuse_other_word(command, arguments);
  return run_walk(command, arguments);
}

// --- show

Answer run_show(const Command&, const Arguments& arguments) {
  TraceFile file = read_trace(arguments.words.front());
  Page page{.trace = file.trace, .recipe = std::move(file.recipe)};
  add_matrices(page, file.trace, file.trace.matrices());
  return {.page = std::move(page), .warnings = std::move(file.remarks)};
}

}  // namespace attn
