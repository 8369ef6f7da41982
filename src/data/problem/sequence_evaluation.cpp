#include "data/problem/problem.hpp"

#include <algorithm>

#include "core/attention/attention.hpp"
#include "core/attention/feed_forward.hpp"
#include "core/attention/masks.hpp"
#include "core/attention/positional_encoding.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/problem/word_positions.hpp"

namespace attn {

namespace {

// The evaluation of one sequence of a problem.
class SequenceEvaluation {
 public:
  SequenceEvaluation(const Problem& problem, const Parameters& parameters, const SequenceTask& task, Graph& graph)
      : problem_(problem),
        parameters_(parameters),
        sequence_(*task.sequence),
        number_(task.number),
        valid_lengths_(task.valid_lengths),
        key_mask_(task.key_mask),
        extent_(task.extent),
        graph_(graph) {
    queries_ = axis("queries", sequence_.tokens);
    keys_ = axis("keys", problem.words_of_keys(sequence_));
  }

  void run() {
    std::optional<Value> x;
    if (sequence_.x) x = input(role::x, *sequence_.x, axis("tokens", sequence_.tokens), axis("features"));
    if (given(role::weights)) {
      weigh_given(input(role::weights, queries_, keys_));
    } else if (given(role::scores)) {
      require_one_head("scores");
      Value scores = input(role::scores, queries_, keys_);
      const AttentionRecipe scaling = scaling_of(problem_, {.d_k = 0, .n_k = scores.shape().columns});
      Value weights = attention_weights(scores, masked(scaling, scores.shape()));
      weigh_given(weights);
    } else {
      if (x) x = with_positions(kind_of_positions(problem_), *x, places_of(x->shape().rows));
      run_layers(x);
    }
  }

 private:
  bool given(const Role& role) const { return problem_.has(role); }

  Places places_of(std::size_t words) const {
    return {.waves = {.positions = positions_of_x(problem_, number_, words), .base = problem_.base},
            .table = find(parameters_, role::position_table)};
  }

  Value input(const Role& role, const Matrix& matrix, Axis rows, Axis columns) {
    require_labels(role.leaf, rows, matrix.shape().rows);
    require_labels(role.leaf, columns, matrix.shape().columns);
    return graph_.input(role, matrix, std::move(rows), std::move(columns));
  }
  Value input(const Role& role, Axis rows, Axis columns) {
    return input(role, *problem_.find(role), std::move(rows), std::move(columns));
  }

  void require_one_head(std::string_view name) const {
    if (problem_.heads != 1) {
      fail(
          "--heads {}: the {} given are those of one head. "
          "For several, give --x with its matrices, or --q, --k and --v",
          problem_.heads, name);
    }
  }

  std::optional<Value> projected(const Role& role, const LinearRoles& by, const std::optional<Value>& from,
                                 const Axis& rows) {
    if (given(role)) return input(role, rows, axis("features"));
    if (!from) return std::nullopt;
    const std::optional<Projection> map = projection(parameters_, by);
    if (!map) return std::nullopt;
    return attn::name(role, linear(*from, *map));
  }

  // The recipe, with what the problem adds to scores of this shape and what it masks of them.
  AttentionRecipe masked(AttentionRecipe recipe, Shape shape, std::size_t head = 0) {
    recipe.fill = problem_.fill;
    if (const std::optional<Matrix> added = added_cells(problem_, shape, head)) {
      const Value bias = input(role::bias, *added, queries_, keys_);
      recipe.bias = recipe.bias ? add(bias, *recipe.bias) : bias;
    }
    if (std::vector<MaskRule> rules = mask_rules(problem_, padding(), shape, head); !rules.empty()) {
      require_labels(role::mask.leaf, queries_, shape.rows);
      require_labels(role::mask.leaf, keys_, shape.columns);
      recipe.allowed = graph_.input(role::mask, mask_by(std::move(rules)), {shape, queries_, keys_});
      const std::vector<std::string> sources = problem_.sources_of_mask(padding().words);
      if (!problem_.mask || sources.size() > 1) {
        graph_.tell_origin(recipe.allowed->node(), "follows from " + list_in_words(sources));
      }
    }
    return recipe;
  }

  Padding padding() const { return {valid_lengths_, problem_.words_of_keys(sequence_), key_mask_}; }

  bool masks_heads() const { return problem_.mask && problem_.mask->of_heads.size() > 1; }

  // What all heads have in common, and what each has of its own.
  MultiHead multi_head(const Value& q, const Value& k) {
    MultiHead how{.recipe = recipe(q, k), .heads = problem_.all_heads()};
    if (masks_heads()) {
      how.in_head = [this, shape = Shape{q.shape().rows, k.shape().rows}](
                        const AttentionRecipe& of_all, std::size_t head) { return masked(of_all, shape, head); };
    }
    return how;
  }

  AttentionRecipe recipe(const Value& q, const Value& k) {
    const KeySizes keys{.d_k = k.shape().columns / problem_.all_heads().of_keys, .n_k = k.shape().rows};
    AttentionRecipe recipe = recipe_of(problem_, parameters_, keys);
    recipe.apart = positions_of_attention(problem_, number_, q.shape().rows, k.shape().rows);
    if (!masks_heads()) recipe = masked(std::move(recipe), {q.shape().rows, k.shape().rows});
    if (recipe.positions->of_scaled_scores) {
      // All heads have the same.
      Value relative = recipe.positions->of_scaled_scores(q, k, *recipe.position_table, recipe.apart);
      recipe.bias = recipe.bias ? add(*recipe.bias, relative) : relative;
    }
    return recipe;
  }

  // Each layer attends to what the one below found. One layer alone has no scope.
  void run_layers(std::optional<Value> x) {
    const std::optional<Value> bottom = x;
    std::vector<Value> mixing;
    for (std::size_t i = 1; i <= problem_.layers; ++i) {
      const std::optional<Graph::Scope> scope = scope_among(graph_, scope::layer, i, problem_.layers);
      x = run_layer(x, i == problem_.layers ? extent_ : Extent::output);
      if (!x) return;
      if (const std::optional<Value> weights = latest_weights()) mixing.push_back(*weights);
    }
    const bool averages = problem_.layers > 1 && problem_.heads == 1 && !given(role::memory);
    if (averages && mixing.size() == problem_.layers) average_once(*bottom, mixing, layer_maps());
  }

  std::optional<Value> run_layer(const std::optional<Value>& x, Extent extent) {
    // Without anything to attend with, the feed-forward layer works on the words themselves.
    const bool attends =
        find(parameters_, role::w_q) || find(parameters_, role::w_k) || given(role::q) || given(role::k);
    const bool alone = problem_.feed_forward && !attends && extent == Extent::output;
    std::optional<Value> output = alone ? x : attend(x, extent);
    if (!output || !problem_.feed_forward) return output;
    return attn::name(role::feed_forward, feed_forward(*output, layer()));
  }

  std::optional<Value> attend(const std::optional<Value>& x, Extent extent) {
    const std::optional<Value> memory = find(parameters_, role::memory);
    const std::optional<Value>& source = memory ? memory : x;
    const std::optional<Value> own_values = find(parameters_, role::value_memory);
    const std::optional<Value>& source_of_values = own_values ? own_values : source;
    const std::optional<Value> q = projected(role::q, linear_layer::q, x, queries_);
    const std::optional<Value> k = projected(role::k, linear_layer::k, source, keys_);
    const bool needs_values = extent != Extent::weights;
    const std::optional<Value> v =
        needs_values ? projected(role::v, linear_layer::v, source_of_values, keys_) : std::nullopt;
    const std::optional<Projection> output_projection = projection(parameters_, linear_layer::o);
    if (!q || !k || extent == Extent::projections) return std::nullopt;

    MultiHead how = multi_head(*q, *k);
    how.output_projection = output_projection;
    if (!v) {
      weigh_nothing(*q, *k, how);
      return std::nullopt;
    }
    if (problem_.heads == 1 && !output_projection) return attn::name(role::output, attention(*q, *k, *v, how.recipe));
    return multi_head_attention(*q, *k, *v, how);
  }

  // Without values there are weights, and nothing to weigh.
  void weigh_nothing(const Value& q, const Value& k, const MultiHead& how) {
    const std::size_t heads = problem_.heads;
    for (std::size_t i = 0; i < heads; ++i) {
      const std::optional<Graph::Scope> scope = scope_among(graph_, scope::head, i + 1, heads);
      Value q_i = head_part(q, role::q, i, heads);
      Value k_i = shared_part(k, role::k, i, problem_.all_heads());
      const AttentionRecipe recipe = how.in_head ? how.in_head(how.recipe, i) : how.recipe;
      Value scores = attention_scores(q_i, k_i, recipe);
      attention_weights(scores, recipe);
    }
  }

  void weigh_given(const Value& weights) {
    require_one_head("weights");
    if (extent_ != Extent::output || !given(role::v)) return;
    Value sum = weighted_sum(weights, input(role::v, keys_, axis("features")));
    if (const std::optional<Projection> output_projection = projection(parameters_, linear_layer::o)) {
      sum = linear(attn::name(role::concat, attn::name(role::head, sum)), *output_projection);
    }
    attn::name(role::output, sum);
  }

  std::optional<Value> latest_weights() const {
    const auto& nodes = graph_.nodes();
    const auto found =
        std::find_if(nodes.rbegin(), nodes.rend(), [](const Node& node) { return node.is(role::weights); });
    if (found == nodes.rend()) return std::nullopt;
    return Value(*found);
  }

  FeedForward layer() const {
    return feed_forward_of(parameters_, look_up(activations(), problem_.activation, "activation"));
  }

  LayerMaps layer_maps() {
    LayerMaps maps{.v = *projection(parameters_, linear_layer::v), .output = projection(parameters_, linear_layer::o)};
    if (problem_.feed_forward) maps.feed_forward = layer();
    return maps;
  }

  const Problem& problem_;
  const Parameters& parameters_;
  const Sequence& sequence_;
  std::size_t number_;
  std::vector<std::size_t> valid_lengths_;
  std::optional<Matrix> key_mask_;
  Extent extent_;
  Graph& graph_;
  Axis queries_;
  Axis keys_;
};

}  // namespace

void require_labels(std::string_view name, const Axis& axis, std::size_t size) {
  if (axis.labels && axis.labels->size() != size) {
    fail("{} has {} {} but labels for {}: give one word for each", name, size, axis.name, axis.labels->size());
  }
}

void evaluate_sequence(const Problem& problem, const Parameters& parameters, const SequenceTask& task, Graph& graph) {
  SequenceEvaluation(problem, parameters, task, graph).run();
}

}  // namespace attn
