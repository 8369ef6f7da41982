#include "command/computed_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command/forms.hpp"
#include "core/attention/positional_encoding.hpp"
#include "core/attention/watches.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/file_access.hpp"
#include "data/parameters/folder.hpp"
#include "data/parameters/parameters.hpp"
#include "data/problem/model_attention.hpp"
#include "data/problem/model_words.hpp"
#include "data/problem/problem_file.hpp"
#include "data/problem/word_positions.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

// --- solve

// What the parameters of another attention would contradict: sizes, the scale, and the parameters themselves.
constexpr const Option* of_own_parameters[] = {
    &option::heads, &option::d_model, &option::d_k, &option::d_v, &option::scale, &option::w_q, &option::w_k,
    &option::w_v,   &option::w_o,     &option::b_q, &option::b_k, &option::b_v,   &option::b_o};

OptionValues whole_problem(const Arguments& arguments) {
  const std::optional<std::string> file = arguments.text(option::problem), example = arguments.text(option::example);
  if (file) {
    OptionValues values = read_problem_file(read_bytes(*file), *file, problem_members(), arguments);
    MembersOfFiles::tell(values, place_of_file(*file), arguments);
    return values;
  }
  if (!example && arguments.has_input()) return {};
  const std::optional<std::string> parameters = arguments.text(option::parameters);
  if (!example && parameters) {
    fail("--parameters {} needs embeddings or words: give --x or --text", *parameters);
  }
  const std::string_view usual =
      arguments.default_example.empty() ? examples().front().name : arguments.default_example;
  const Example& chosen = look_up(examples(), example ? *example : usual, "example");
  OptionValues values = read_problem_file(chosen.json, std::string(chosen.name));
  if (parameters) values.leave_out(of_own_parameters);
  return values;
}

// The parameters of a lone attention, such as PyTorch's nn.MultiheadAttention.
OptionValues learned_parameters(const Arguments& arguments, const ParameterFile& file, const std::string& path) {
  OptionValues learned;
  for (const auto& [name, matrix] : file.parameters) {
    const auto found = std::ranges::find(problem_members(), std::string_view(name), &Option::member);
    if (found == problem_members().end()) {
      fail(
          "{} has the parameters of {}, and this command needs those of one attention: use attn encoder, attn decoder or attn transformer, or choose one attention with --prefix NAME",
          path, file.layout == own_layout ? "a model" : file.layout);
    }
    if (arguments.has(**found))
      fail("{} has {}, and {} is given too: leave out one of them", path, name, (*found)->name);
    learned.put(**found, MatrixFile{.matrix = matrix});
  }
  return learned;
}

// How many heads of keys there are follows from the shapes, where queries and keys of a head have the same size.
void take_key_heads(OptionValues& values) {
  if (values.has(option::kv_heads) || values.has(option::score) || !values.has(option::w_q) || !values.has(option::w_k))
    return;
  const std::size_t heads = values.count(option::heads).value_or(1);
  const std::size_t of_queries = values.matrix(option::w_q).matrix.shape().columns,
                    of_keys = values.matrix(option::w_k).matrix.shape().columns;
  const bool are_shared = of_keys < of_queries && heads * of_keys % of_queries == 0;
  if (are_shared) values.put(option::kv_heads, heads * of_keys / of_queries);
}

// What a model of this layout does with its attention, and nothing here says.
std::vector<std::string> left_open(const ParameterFile& file, const OptionValues& values) {
  const auto found = std::ranges::find(file.brings, &recipe_field::causal_decoder, &ImpliedField::field);
  if (found == file.brings.end() || found->value != FieldValue(true) || values.has(option::causal)) return {};
  return {fmt::format("In the model, {} has a causal mask. Here it has none: --causal adds it.", file.layout)};
}

// One attention of a model on the words of --text, and what is given beside it.
OptionValues requested_of_model(const Arguments& arguments, const std::string& name) {
  const std::vector<std::string>& texts = arguments.texts(option::text);
  AttentionOfModel asked{.model = name, .layer = arguments.text(option::layer)};
  asked.texts = texts;
  asked.positions = positions_given(arguments, option::first_position, option::position_ids);
  const TransformerFile file = read_model(name, arguments.text(option::tokenizer));
  const std::size_t most = may_have_pair(file.model, file.words) ? 2 : 1;
  if (texts.size() > most)
    fail("--text is given {} times: give it once{}", texts.size(), most == 2 ? ", or twice for a pair" : "");
  const std::optional<std::size_t> heads = arguments.count(option::heads);
  if (heads && *heads != file.model.sizes.heads)
    fail("--heads {}: the model {} has {} in each attention: leave out --heads", *heads, name,
         count_of(file.model.sizes.heads, "head"));
  OptionValues values = attention_of(file, asked);
  Arguments rest = arguments;
  rest.leave_out(std::array{&option::model, &option::tokenizer, &option::layer, &option::text, &option::first_position,
                            &option::position_ids});
  values.override_with(rest);
  return values;
}

// --- parameter file

// Its config says what parameters alone do not.
void refuse_model_folder(const std::string& path) {
  if (is_model_folder(path)) fail("--parameters {}: it is the folder of a model: give it by --model", path);
}

// --- quantity page

// Its cells are numbers of computations that the page does not hold.
void tell_as_results(Graph& tables, const Node& table) {
  tables.tell_origin(table, "is the result of other computations");
}

}  // namespace

// --- solve

std::vector<std::string> ComputedProblem::warnings() const {
  std::vector<std::string> all = problem->remarks;
  for (std::string& warning : attn::warnings(*graph)) all.push_back(std::move(warning));
  return all;
}

std::vector<const Node*> ComputedProblem::nodes(const std::optional<std::string>& pattern) const {
  return pattern ? graph->matching(*pattern) : graph->named();
}

Page ComputedProblem::page(const std::vector<const Node*>& trace) const {
  return {.trace = trace, .recipe = problem_writer(problem)};
}

Answer ComputedProblem::answer(Page page, std::vector<std::string> warnings) const {
  return {.page = std::move(page), .warnings = std::move(warnings), .computation = {graph, problem}};
}

OptionValues requested_options(const Arguments& arguments) {
  if (const auto model = arguments.text(option::model)) return requested_of_model(arguments, *model);
  const std::optional<std::string> path = arguments.text(option::parameters);
  const ParameterFile file = path ? parameters_asked_for(arguments, *path) : ParameterFile();
  const OptionValues learned = path ? learned_parameters(arguments, file, *path) : OptionValues();
  OptionValues values = whole_problem(arguments);
  values.override_with(learned);
  if (path && !values.has(option::heads) && !arguments.has(option::heads)) fail_without_heads(*path);
  values.override_with(arguments);
  // What a problem says of its own numbers need not be true of others.
  if (arguments.has_any(problem_members())) values.leave_out(std::array{&option::about});
  if (path) take_key_heads(values);
  if (std::vector<std::string> about = left_open(file, values); !about.empty())
    values.put(option::about, std::move(about));
  return values;
}

std::vector<std::string> with_later_changes_unused(const Problem& problem) {
  std::vector<std::string> remarks = problem.remarks;
  if (problem.soft_cap) remarks.push_back("this page computes without --soft-cap: no score is capped");
  if (find_row(position_kinds(), problem.positions)->of_scaled_scores) {
    remarks.push_back(
        fmt::format("this page computes without --positions {}: nothing is added to the scores", problem.positions));
  }
  if (problem.is_masked()) {
    remarks.push_back("this page computes without the mask: masked keys count like all others");
  }
  return remarks;
}

Problem problem_of(const Arguments& arguments) {
  const std::optional<std::string> file = arguments.text(option::problem);
  if (!file || arguments.has_any(problem_members())) return build_problem(requested_options(arguments));
  try {
    return build_problem(requested_options(arguments));
  } catch (const InputError& error) {
    const std::string where = place_of_file(*file);
    if (std::string_view(error.what()).starts_with(where)) throw;
    throw InputError(fmt::format("{}: {}", where, error.what()));
  }
}

ComputedProblem compute_problem(const Arguments& arguments, Extent extent,
                                std::vector<const Node*> (*wanted)(const Graph&), AddNodes add) {
  auto problem = std::make_shared<const Problem>(problem_of(arguments));
  auto graph = std::make_shared<Graph>(keep_nothing());
  add_computation(*problem, *graph, extent);
  if (add) add(*graph);
  compute_watched(*graph, wanted_nodes(*graph, arguments, wanted));
  return {std::move(problem), std::move(graph)};
}

// --- parameter file

ParameterFile parameters_asked_for(const Arguments& arguments, const std::string& path) {
  if (const ParametersRead* const read = arguments.attachments.find<ParametersRead>()) return *read->file;
  if (!arguments.has(option::prefix)) refuse_model_folder(path);
  return read_parameters(path, arguments.text(option::prefix).value_or(""), arguments.count(option::heads).value_or(0));
}

Arguments with_parameters_of_part(const Arguments& arguments, const ScopeKind& part, OptionList options,
                                  std::string_view whose) {
  const std::optional<std::string> path = arguments.text(option::parameters);
  if (!path) return arguments;
  std::vector<NamedParameter> found = read_part(*path, arguments.text(option::prefix).value_or(""), part);
  if (found.empty() && whose.empty()) return arguments;
  if (found.empty()) {
    fail("{} has no {}, as {} has: give another file, or choose a part of it with --prefix NAME", *path,
         tensors_of_part(part).front().name, whose);
  }
  Arguments all = arguments;
  for (NamedParameter& parameter : found) {
    const Option& option = **std::ranges::find(options, &parameter.role, &Option::role);
    if (arguments.has(option))
      fail("{} has {}, and {} is given too: leave out one of them", *path, parameter.name, option.name);
    all.put(option, MatrixFile{.matrix = std::move(parameter.matrix)});
  }
  all.leave_out(std::array{&option::parameters, &option::prefix});
  return all;
}

void fail_without_heads(const std::string& path) {
  refuse_model_folder(path);
  if (!is_folder(path)) open_file(path);  // one that cannot be read says nothing at all
  fail("--parameters {}: the file does not say how many heads there are: give --heads N", path);
}

// --- quantity page

QuantityPage::QuantityPage() : tables_(std::make_shared<Graph>()) {}

void QuantityPage::table(std::string_view name, const std::vector<std::string>& columns, const QuantityRows& rows) {
  Matrix cells({rows.size(), columns.size()});
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    labels.push_back(rows[i].first);
    std::ranges::copy(rows[i].second, row(cells, i).begin());
  }
  // Quantities of several kinds: no matrix of attention, whatever the table is called.
  const Name read = name_from_text(name);
  const Value table = tables_->input(Name(read.scopes(), {role::other, read.leaf()}), std::move(cells),
                                     axis("what", labels), axis("quantity", columns));
  const Node& node = table.node();
  tell_as_results(*tables_, node);
  page_.trace.add(node);
  say(Table{.title = node.name,
            .rows = node.frame.rows,
            .columns = node.frame.columns,
            .cells = node.cells(),
            .columns_differ = true});
}

void QuantityPage::matrix(std::string_view name, Matrix cells, const Axis& rows, const Axis& columns, Heat heat) {
  const Value table = tables_->input(name_from_text(name), std::move(cells), rows, columns);
  const Node& node = table.node();
  tell_as_results(*tables_, node);
  page_.trace.add(node);
  say(Table{.title = node.name,
            .array = node.name,
            .rows = node.frame.rows,
            .columns = node.frame.columns,
            .cells = node.cells(),
            .heat = heat});
}

}  // namespace attn
