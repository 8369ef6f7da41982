#include "data/problem/model_attention.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/attention/masks.hpp"
#include "core/attention/watches.hpp"
#include "core/model/generation.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/model_words.hpp"
#include "data/problem/problem_options.hpp"
#include "data/problem/word_positions.hpp"

namespace attn {
namespace {

// An attention of a model: the side and the number of its layer, and which of its attentions.
struct Place {
  const ScopeKind* side;
  std::size_t layer;
  const ScopeKind* attention;

  Name called(const Role& role) const { return {{*side, {scope::number, layer}, *attention}, role}; }
  std::string text() const { return fmt::format("{}.{}.{}", ScopeName(*side).text, layer, ScopeName(*attention).text); }
  bool crosses() const { return attention == &scope::cross_attention; }
};

// All of a model, in the order of the computation.
std::vector<Place> places_in_model(const Transformer& model) {
  std::vector<Place> places;
  for (std::size_t i = 1; i <= model.sizes.encoder_layers && model.has_encoder(); ++i)
    places.push_back({&scope::encoder, i, &scope::self_attention});
  for (std::size_t i = 1; i <= model.sizes.decoder_layers && model.kind->decodes; ++i) {
    places.push_back({&scope::decoder, i, &scope::self_attention});
    if (model.kind->crosses) places.push_back({&scope::decoder, i, &scope::cross_attention});
  }
  return places;
}

// A number counts the layers of the side that comes last.
Place asked_place(const std::vector<Place>& places, const AttentionOfModel& asked) {
  const Place& last = places.back();
  if (!asked.layer) return last;
  const std::optional<std::size_t> number = parse_number<std::size_t>(*asked.layer);
  Words names;
  for (const Place& place : places) {
    const bool is_counted = place.side == last.side && place.attention == last.attention;
    if ((number && is_counted && place.layer == *number) || place.text() == *asked.layer) return place;
    names.push_back(place.text());
  }
  fail("‹layer›: {}", unknown("layer", *asked.layer, names));
}

Words words_given(const std::optional<std::string>& given, const std::string& told, const Vocabulary& known,
                  const ModelWords& words) {
  if (given || !told.empty()) return words.of(given.value_or(told), true);
  constexpr std::size_t few = 3;
  return {known.begin(), known.begin() + static_cast<long>(std::min(few, known.size()))};
}

void require_places(const Transformer& model, std::size_t words, std::size_t learned) {
  const std::size_t most = model.most_words(learned).value_or(words);
  if (words <= most) return;
  fail("‹text›: the input has {}, but the model has vectors for only {}: give fewer words", count_of(words, "word"),
       count_of(most, "position"));
}

// The model on its words. What a decoder is given beside a source, the model writes itself.
class RunModel {
 public:
  RunModel(const TransformerFile& file, const AttentionOfModel& asked)
      : file_(file), model_(file.model), asked_(asked) {}

  void build(Graph& graph) {
    take_source();
    take_target();
    RunningTransformer running(model_, graph);
    std::optional<Value> encoded;
    if (model_.kind->encodes) encoded = running.encode(source_);
    if (model_.kind->decodes) running.decode(target_, encoded);
  }

 private:
  void take_source() {
    if (!model_.has_encoder()) return;
    if (asked_.texts.size() == 2) {
      source_ = input_of_pair(asked_.texts[0], asked_.texts[1], model_, file_.words);
      take_positions(source_, model_.sizes.source_places);
      return;
    }
    Words words = words_given(text_given(), file_.source, model_.source_vocabulary, file_.words);
    const std::string& end = file_.words.end();
    const bool can_end = file_.words.ends_source(model_.source_vocabulary);
    if (can_end && words.back() != end) words.push_back(end);
    source_ = input_of(words, model_.source_vocabulary);
    require_places(model_, words.size(), model_.sizes.source_places);
    take_positions(source_, model_.sizes.source_places);
  }

  void take_positions(ModelInput& words, std::size_t learned) {
    words.positions = asked_.positions;
    if (!words.positions) return;
    const bool are_listed = words.positions->count() != 0;
    require_positions(*words.positions, words.size(), model_.most_words(learned),
                      are_listed ? "‹position_ids›" : "‹first_position›");
  }

  std::optional<std::string> text_given() const {
    return asked_.texts.empty() ? std::nullopt : std::optional(asked_.texts.front());
  }

  void take_target() {
    if (!model_.kind->decodes) return;
    const Vocabulary& known = model_.target_vocabulary;
    const std::string& start = file_.words.start;
    const bool told_by_tokenizer = file_.words.tokenizer && file_.words.begins_alone;
    const bool has_start = !told_by_tokenizer && id_in(known, start) != 0;
    Words words;
    if (!model_.kind->crosses) words = words_given(text_given(), file_.target, known, file_.words);
    if (has_start && (words.empty() || words.front() != start)) words.insert(words.begin(), start);
    if (words.empty()) words = words_given(std::nullopt, file_.target, known, file_.words);
    target_ = input_of(words, known);
    if (model_.kind->crosses) write_target();
    require_places(model_, target_.size(), model_.sizes.target_places);
    if (!model_.has_encoder()) take_positions(target_, model_.sizes.target_places);
  }

  // What is written last does not go in.
  void write_target() {
    constexpr std::size_t more = 2;
    Graph graph(keep_nothing());
    RunningTransformer running(model_, graph);
    const Value encoded = running.encode(source_);
    GenerationTask task{.prompt = target_, .steps = source_.size() + more};
    task.ends = file_.words.ends_in(model_.target_vocabulary);
    task.steps = std::min(task.steps, model_.most_words(model_.sizes.target_places).value_or(task.steps));
    Words words = target_.tokens;
    for (const GenerationStep& step : generate(running, graph, task, encoded, {}))
      words.push_back(model_.target_vocabulary[step.chosen - 1]);
    words.pop_back();
    target_ = input_of(words, model_.target_vocabulary);
  }

  const TransformerFile& file_;
  const Transformer& model_;
  const AttentionOfModel& asked_;
  ModelInput source_, target_;
};

// What a parameter is multiplied with.
const Node& input_beside(const Graph& graph, const Place& place, const Role& role) {
  const Node& parameter = graph.at(place.called(role));
  for (const Node& node : graph.nodes()) {
    const auto found =
        std::ranges::find(node.operands, &parameter, [](const Node* operand) { return &operand->original(); });
    if (found != node.operands.end()) return node.operands.front()->original();
  }
  throw std::logic_error("a parameter of a model has no use");
}

void require_problem(const TransformerFile& file, const AttentionOfModel& asked) {
  const Transformer& model = file.model;
  if (model.sizes.source_words + model.sizes.target_words == 0)
    fail("‹model› {}: the model has no words: use attn transformer --x", asked.model);
}

// What buckets of distances add to the scores of each head: in a problem a mask of each head.
std::vector<const Node*> relative_numbers(const Graph& graph, const Place& place, std::size_t heads) {
  std::vector<const Node*> all;
  if (place.crosses()) return all;
  for (std::size_t i = 1; i <= heads; ++i) {
    std::vector<ScopeName> scopes = {*place.side, scope::relative_positions};
    if (heads > 1) scopes.emplace_back(scope::head, i);
    if (const Node* const node = graph.find(Name(scopes, role::relative).text())) all.push_back(node);
  }
  return all;
}

void put_parameters(OptionValues& values, const Transformer& model, const Place& place, bool with_comparison) {
  constexpr const Option* compared[] = {&option::w_q, &option::b_q, &option::w_k, &option::b_k};
  for (const OfferedOption& row : problem_options().options) {
    const Option& option = *row.option;
    if (option.kind != Kind::matrix || !option.role) continue;
    if (!with_comparison && std::ranges::find(compared, &option) != std::end(compared)) continue;
    const auto found = model.parameters.find(place.called(*option.role).text());
    if (found != model.parameters.end()) values.put(option, MatrixFile{.matrix = *found->second});
  }
}

const Words& labels_of(const Axis& axis) {
  static const Words none;
  return axis.labels ? *axis.labels : none;
}

// Whether queries and keys become what is compared in a way that a problem does not say: normalized, or turned in part
// or by scaled waves.
bool is_compared_otherwise(const Transformer& model, const Place& place) {
  const ModelRecipe& recipe = model.recipe;
  const bool is_normalized = model.parameters.contains(place.called(role::gamma_q).text()) ||
                             model.parameters.contains(place.called(role::gamma_k).text());
  const bool turns = recipe.positions->of_queries_and_keys && !place.crosses();
  return is_normalized || (turns && (recipe.rotated != 1.0 || recipe.scaling.factor != 1.0));
}

// Queries or keys of some heads as they are compared.
std::vector<const Node*> compared_in(const Graph& graph, const Transformer& model, const Place& place,
                                     const Role& rotated, const ScopeKind& norm, const Role& plain, std::size_t apart) {
  const std::size_t heads = model.sizes.heads;
  std::vector<const Node*> nodes;
  for (std::size_t i = 1; i <= heads; i += apart) {
    std::vector<ScopeName> scopes = {*place.side, {scope::number, place.layer}, *place.attention};
    if (heads > 1) scopes.push_back({scope::head, i});
    std::vector<ScopeName> within_norm = scopes;
    within_norm.push_back(norm);
    const Node* found = graph.find(Name(scopes, rotated).text());
    if (!found) found = graph.find(Name(within_norm, role::output).text());
    if (!found) found = graph.find(Name(scopes, plain).text());
    if (!found) throw std::logic_error("an attention of a model has no queries or keys");
    nodes.push_back(found);
  }
  return nodes;
}

Matrix beside_each_other(const std::vector<const Node*>& parts) {
  const Shape one = parts.front()->frame.shape;
  Matrix all({one.rows, one.columns * parts.size()});
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const Matrix& matrix = parts[part]->matrix();
    for (std::size_t i = 0; i < one.rows; ++i)
      std::ranges::copy(row(matrix, i), row(all, i).begin() + static_cast<std::ptrdiff_t>(part * one.columns));
  }
  return all;
}

}  // namespace

OptionValues attention_of(const TransformerFile& file, const AttentionOfModel& asked) {
  require_problem(file, asked);
  const Transformer& model = file.model;
  const Place place = asked_place(places_in_model(model), asked);
  auto graph = std::make_shared<Graph>(keep_nothing());
  RunModel(file, asked).build(*graph);
  const Node& x = input_beside(*graph, place, role::w_q);
  const Node& memory = input_beside(*graph, place, role::w_k);
  const HeadCounts heads = model.sizes.all_heads();
  const bool gives_compared = is_compared_otherwise(model, place);
  std::vector<const Node*> needed = {&x, &memory}, queries, keys;
  if (gives_compared) {
    queries = compared_in(*graph, model, place, role::rotated_q, scope::q_norm, role::q, 1);
    keys = compared_in(*graph, model, place, role::rotated_k, scope::k_norm, role::k, heads.of_queries / heads.of_keys);
    needed.insert(needed.end(), queries.begin(), queries.end());
    needed.insert(needed.end(), keys.begin(), keys.end());
  }
  const std::vector<const Node*> relative = relative_numbers(*graph, place, model.sizes.heads);
  needed.insert(needed.end(), relative.begin(), relative.end());
  compute_watched(*graph, needed);

  OptionValues values;
  values.put(option::title, fmt::format("{}: {}", model.title.empty() ? asked.model : model.title, place.text()));
  std::vector<std::string> about;
  if (!model.summary.empty()) about.push_back(model.summary);
  about.insert(about.end(), model.about.begin(), model.about.end());
  about.push_back(fmt::format(
      "This is one attention of the model, {}. Its x is {}, as it is when the model runs on these words.{}",
      place.text(), x.name, &memory == &x ? "" : fmt::format(" Its keys and values come from {}.", memory.name)));
  if (gives_compared) {
    about.push_back(fmt::format(
        "Its queries and keys are given as the model compares them, normalized or turned by their positions. "
        "attn {} shows these steps.",
        place.side->name));
  }
  if (!relative.empty())
    about.push_back(
        "The model adds a learned number to each score, by the distance from the query to the key. Here these numbers are the mask of each head, which is added.");
  values.put(option::about, about);
  values.put(option::tokens, std::vector<Words>{labels_of(x.frame.rows)});
  values.put(option::x, MatrixFile{.matrix = x.matrix()});
  if (&memory != &x) {
    values.put(option::memory, MatrixFile{.matrix = memory.matrix()});
    values.put(option::key_tokens, std::vector<Words>{labels_of(memory.frame.rows)});
  }
  put_parameters(values, model, place, !gives_compared);
  if (gives_compared) {
    values.put(option::q, MatrixFile{.matrix = beside_each_other(queries)});
    values.put(option::k, MatrixFile{.matrix = beside_each_other(keys)});
  }
  values.put(option::heads, model.sizes.heads);
  if (model.sizes.key_heads) values.put(option::kv_heads, model.sizes.key_heads);
  values.put(option::scale, model.recipe.scale);
  if (!relative.empty()) {
    std::vector<MatrixFile> masks;
    for (const Node* node : relative) masks.push_back({.matrix = node->matrix(), .kind = CellKind::real});
    values.put(option::mask, std::move(masks));
  }
  const bool is_causal = place.side == &scope::encoder ? model.recipe.causal_encoder : model.recipe.causal_decoder;
  if (is_causal && !place.crosses()) values.put(option::causal, true);
  if (model.recipe.score_cap != 0.0) values.put(option::soft_cap, model.recipe.score_cap);
  const bool is_local = place.side == &scope::decoder && !place.crosses() && model.recipe.is_local(place.layer);
  if (is_local) {
    const std::size_t n = x.frame.shape.rows;
    Matrix window = mask_by({window_rule(static_cast<std::size_t>(model.recipe.window))}, {n, n});
    values.put(option::mask, std::vector<MatrixFile>{{.matrix = std::move(window), .kind = CellKind::whole}});
  }
  if (model.recipe.positions->of_queries_and_keys && !place.crosses() && !gives_compared) {
    values.put(option::positions, std::string(model.recipe.positions->name));
    const bool has_own_base = is_local && model.recipe.local_base != 0.0;
    // The words of the other side have their own.
    const bool are_here = asked.positions && (place.side == &scope::encoder || !model.has_encoder());
    if (are_here && asked.positions->follow_each_other()) values.put(option::first_position, asked.positions->first());
    if (are_here && !asked.positions->follow_each_other()) {
      Matrix ids({1, asked.positions->count()});
      std::ranges::copy(asked.positions->all(), cells(ids).begin());
      values.put(option::position_ids, MatrixFile{.matrix = std::move(ids), .kind = CellKind::whole});
    }
    if (model.recipe.positions->has_waves)
      values.put(option::base, has_own_base ? model.recipe.local_base : model.recipe.base);
  }
  return values;
}

}  // namespace attn
