#include "school/check/matching.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

#include "core/attention/watches.hpp"
#include "core/op/operations.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "school/check/findings.hpp"
#include "school/check/names.hpp"
#include "school/check/places_in_models.hpp"
#include "school/check/rounded_inputs.hpp"
#include "school/check/step_precision.hpp"

namespace attn {

namespace {

// Named nodes with a role, in scopes that end as the name says.
std::vector<const Node*> nodes_with(const Graph& graph, const Role& role, const Reading& reading) {
  std::vector<const Node*> nodes;
  for (const Node* node : graph.named()) {
    const bool is_gradient = node->family == &family::gradient;
    if (node->role != &role || is_gradient != reading.is_gradient) continue;
    if (!is_gradient && !node->family->keeps_facts) continue;
    if (plain_name(node->scope()).ends_with(reading.scope)) nodes.push_back(node);
  }
  return nodes;
}

// Whether they can be rows of weights: none is negative, and each row sums to about 1.
bool has_rows_of_weights(const Matrix& matrix) {
  constexpr double near = 0.02;  // a few decimals, or few bits
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    const std::span<const double> one = row(matrix, i);
    if (std::ranges::any_of(one, [](double x) { return !(x >= 0.0); })) return false;
    if (std::fabs(std::accumulate(one.begin(), one.end(), 0.0) - 1.0) > near) return false;
  }
  return true;
}

// Some nodes that a matrix may be, all of the same kind; the likeliest come first.
using Groups = std::vector<std::vector<const Node*>>;

// What a part is called by its own name: what comes out of it, or the weights of an attention.
std::span<const Role* const> roles_of_part(const PlaceInModel& place, const MatrixFile& file) {
  static constexpr const Role* output_first[] = {&role::output, &role::weights};
  static constexpr const Role* weights_first[] = {&role::weights, &role::output};
  const bool is_attention = place.part == &scope::self_attention || place.part == &scope::cross_attention;
  if (!is_attention) return std::span(output_first).first(1);
  return has_rows_of_weights(file.matrix) ? weights_first : output_first;
}

// What a name says that counts layers: of each role that it may be the nodes there, of one side.
Groups groups_in_layer(const Graph& graph, const PlaceInModel& place, const MatrixFile& file, std::size_t first_layer) {
  const std::span<const Role* const> roles = place.leaf.empty() ? roles_of_part(place, file) : roles_named(place.leaf);
  Groups groups;
  for (const Role* role : roles) {
    for (const ScopeKind* side : {&scope::encoder, &scope::decoder}) {
      std::vector<const Node*> nodes = nodes_with(graph, *role, {.roles = {}, .scope = "", .is_gradient = false});
      std::erase_if(nodes,
                    [&](const Node* node) { return !node->within(*side) || !lies_at(*node, place, first_layer); });
      if (!nodes.empty()) groups.push_back(std::move(nodes));
    }
  }
  return groups;
}

// The number of the first layer, as the names of a file count.
std::size_t first_layer_in(const std::vector<MatrixFile>& files) {
  const bool from_zero = std::ranges::any_of(files, [](const MatrixFile& file) {
    const std::optional<PlaceInModel> place = place_in_model(file.name);
    return place && place->layer == std::size_t{0};
  });
  return from_zero ? 0 : 1;
}

bool is_in_layer(const Node* node) {
  return node->within(scope::number) && (node->within(scope::encoder) || node->within(scope::decoder));
}

// What a model returns for each layer: the weights of an attention, or the last that a layer computes. The hidden state
// before the first layer is what goes into it, and that of the last may be behind the last norm.
Groups groups_in_series(const Graph& graph, const PlaceInModel& place, const MatrixFile& file) {
  if (place.part) return groups_in_layer(graph, place, file, 0);
  Groups groups;
  for (const ScopeKind* side : {&scope::encoder, &scope::decoder}) {
    if (place.side && place.side != side) continue;
    const Node *last = nullptr, *behind = nullptr;
    bool has_next = false;
    for (const Node* node : graph.named()) {
      if (!node->within(*side) || !node->op) continue;
      const NamedScope* const layer = node->within(scope::number);
      if (layer && layer->number == place.layer && node->family->keeps_facts) last = node;
      has_next = has_next || (layer && layer->number > place.layer);
      if (!layer && node->is(role::output)) behind = node;
    }
    if (last && behind && !has_next) groups.push_back({behind});
    if (last) groups.push_back({last});
  }
  if (place.layer != std::size_t{0}) return groups;
  for (const Role* role : {&role::positioned, &role::scaled_x, &role::x}) {
    std::vector<const Node*> nodes = nodes_with(graph, *role, {.roles = {}, .scope = "", .is_gradient = false});
    for (const Node* node : nodes) groups.push_back({node});
  }
  return groups;
}

// Whether the number in a name counts the layers of the model.
bool counts_layers(const Graph& graph, const std::string& name) {
  return place_in_series(name) && std::ranges::any_of(graph.named(), is_in_layer);
}

std::size_t last_head(const Graph& graph) {
  std::size_t last = 0;
  for (const Node* node : graph.named()) {
    const NamedScope* const head = node->within(scope::head);
    if (head) last = std::max(last, head->number.value_or(0));
  }
  return last;
}

// Of what a name says those that lie in the part that it says too: "attn_output" is no output of a model.
void leave_within_part(Groups& groups, const PlaceInModel& place) {
  const auto lies_outside = [&](const Node* node) {
    const bool is_attention = place.part == &scope::self_attention;
    return !node->within(*place.part) && !(is_attention && node->within(scope::cross_attention));
  };
  for (std::vector<const Node*>& nodes : groups) std::erase_if(nodes, lies_outside);
  std::erase_if(groups, [](const std::vector<const Node*>& nodes) { return nodes.empty(); });
}

Groups groups_called(const Graph& graph, const std::string& name) {
  for (const Reading& reading : readings_of(name)) {
    Groups groups;
    for (const Role* role : reading.roles) {
      std::vector<const Node*> nodes = nodes_with(graph, *role, reading);
      if (!nodes.empty()) groups.push_back(std::move(nodes));
    }
    if (!groups.empty()) return groups;
  }
  return {};
}

Groups groups_for(const Graph& graph, const std::string& name, const MatrixFile& file, std::size_t first_layer) {
  if (const Node* const exact = graph.find(name)) {
    Groups groups = {{exact}};
    for (const Reading& reading : readings_of(exact->plain_leaf())) {
      if (!reading.scope.empty() || reading.roles.front() != exact->role) continue;
      for (const Role* role : reading.roles) {
        const Node* const other = exact->beside(*role);
        if (other && other != exact) groups.push_back({other});
      }
    }
    // Those of its heads may stand below each other.
    std::vector<const Node*> inside =
        nodes_with(graph, *exact->role, {.roles = {}, .scope = "", .is_gradient = exact->family == &family::gradient});
    std::erase_if(inside, [&](const Node* node) { return !lies_within(node->place, exact->place); });
    if (inside.size() > 1) groups.push_back(std::move(inside));
    return groups;
  }
  for (const Node* node : graph.named()) {
    if (plain_name(node->name) == plain_name(name)) return {{node}};
  }
  if (counts_layers(graph, file.name)) {
    Groups groups = groups_in_series(graph, *place_in_series(file.name), file);
    if (!groups.empty() && (file.count > 1 || last_head(graph) < 2)) return groups;
    // Of several heads, one matrix may be that of one of them.
    Groups of_heads = groups_called(graph, name);
    std::ranges::move(groups, std::back_inserter(of_heads));
    if (!of_heads.empty()) return of_heads;
  }
  const std::optional<PlaceInModel> place = place_in_model(name);
  if (place && place->layer) {
    Groups groups = groups_in_layer(graph, *place, file, first_layer);
    if (!groups.empty()) return groups;
  }
  Groups groups = groups_called(graph, name);
  if (place && place->part && !place->leaf.empty()) {
    Groups within = groups;
    leave_within_part(within, *place);
    if (!within.empty()) return within;
  }
  if (!groups.empty()) return groups;
  return place ? groups_in_layer(graph, *place, file, first_layer) : Groups();
}

std::size_t depth_of(const Node& node) { return static_cast<std::size_t>(std::ranges::count(node.scope(), '.')); }

// Matrices as they are compared: one node for each.
struct Fit {
  std::vector<const Node*> nodes;
  std::vector<std::shared_ptr<const Matrix>> parts;
};

std::shared_ptr<const Matrix> with_shape(const Matrix& matrix, Shape shape) {
  Matrix result(shape);
  std::ranges::copy(cells(matrix), cells(result).begin());
  return std::make_shared<const Matrix>(std::move(result));
}

bool is_vector(Shape shape) { return shape.rows == 1 || shape.columns == 1; }

// A vector has no direction in a file.
bool fits_shape(const Node& node, Shape shape) {
  const Shape own = node.frame.shape;
  return own == shape || (is_vector(own) && is_vector(shape) && own.cells() == shape.cells());
}

std::optional<Fit> fit_stacked(const std::vector<const Node*>& nodes, const MatrixFile& file) {
  const Shape all = file.matrix.shape();
  Fit fit;
  for (const Node* node : nodes) {
    if (node->frame.shape == Shape{all.rows / file.count, all.columns}) fit.nodes.push_back(node);
  }
  if (fit.nodes.size() == file.count) {
    for (MatrixFile& part : parts_of(file)) fit.parts.push_back(std::make_shared<const Matrix>(std::move(part.matrix)));
    return fit;
  }
  // [words, heads, numbers], before the heads are brought to the front.
  for (const Node* node : nodes) {
    const Shape own = node->frame.shape;
    if (own.rows == file.count && own.cells() == all.cells()) return Fit{{node}, {with_shape(file.matrix, own)}};
  }
  return std::nullopt;
}

// The nodes that lie in the fewest scopes.
std::vector<const Node*> outermost_nodes(std::vector<const Node*> nodes) {
  std::size_t least = nodes.empty() ? 0 : depth_of(*nodes.front());
  for (const Node* node : nodes) least = std::min(least, depth_of(*node));
  std::erase_if(nodes, [&](const Node* node) { return depth_of(*node) != least; });
  return nodes;
}

const Node& average_of(Graph& graph, const std::vector<const Node*>& heads) {
  const Name name(role::average, fmt::format("average_{}", heads.front()->plain_leaf()));
  const NamedScope* const place = around(heads.front()->place, scope::head);
  const Graph::Scope scope(graph, place);
  if (const Node* const there = graph.find(place, name)) return *there;
  Value sum(*heads.front());
  for (std::size_t i = 1; i < heads.size(); ++i) sum = add(sum, Value(*heads[i]));
  const std::string count = std::to_string(heads.size());
  return attn::name(name, divide(sum, {static_cast<double>(heads.size()), {count, count}})).node();
}

bool are_heads_of_one(const std::vector<const Node*>& nodes) {
  return nodes.size() > 1 && std::ranges::all_of(nodes, [&](const Node* node) {
           return node->within(scope::head) &&
                  around(node->place, scope::head) == around(nodes.front()->place, scope::head);
         });
}

// One row of a mask is for all queries.
std::shared_ptr<const Matrix> for_all_queries(const MatrixFile& file, Shape shape) {
  Matrix all(shape);
  for (std::size_t i = 0; i < shape.rows; ++i) std::ranges::copy(cells(file.matrix), row(all, i).begin());
  return std::make_shared<const Matrix>(std::move(all));
}

std::optional<Fit> fit_one(Graph& graph, const std::vector<const Node*>& nodes, const MatrixFile& file) {
  const Shape shape = file.matrix.shape();
  std::vector<const Node*> same;
  std::ranges::copy_if(nodes, std::back_inserter(same), [&](const Node* node) { return fits_shape(*node, shape); });
  const std::vector<const Node*> outer = outermost_nodes(same.empty() ? nodes : same);
  if (outer.size() == 1) {
    const Shape own = outer.front()->frame.shape;
    const bool is_mask_of_keys = !outer.front()->op && outer.front()->content() == Content::permissions &&
                                 shape.rows == 1 && own.rows > 1 && shape.columns == own.columns;
    if (is_mask_of_keys) return Fit{{outer.front()}, {for_all_queries(file, own)}};
    const bool as_it_is = own == shape || same.empty();
    return Fit{{outer.front()},
               {as_it_is ? std::make_shared<const Matrix>(file.matrix) : with_shape(file.matrix, own)}};
  }
  // What PyTorch returns unless it is asked for the weights of each head.
  if (!same.empty() && outer.front()->content() == Content::weights && are_heads_of_one(outer))
    return Fit{{&average_of(graph, outer)}, {std::make_shared<const Matrix>(file.matrix)}};
  return std::nullopt;
}

std::optional<Fit> fit(Graph& graph, const std::vector<const Node*>& nodes, const MatrixFile& file) {
  return file.count > 1 ? fit_stacked(nodes, file) : fit_one(graph, nodes, file);
}

std::string names_in(const std::vector<const Node*>& nodes) {
  constexpr std::size_t most_named = 4;
  std::vector<std::string> names;
  for (const Node* node : nodes) {
    if (names.size() == most_named) {
      names.emplace_back("…");
      break;
    }
    names.push_back(node->name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string why_none_fits(const MatrixFile& file, const std::vector<const Node*>& nodes) {
  const Shape shape = file.matrix.shape();
  if (file.count == 1) {
    return fmt::format("it may be one of {}: give it one of these names, or stack all of them in their order",
                       names_in(nodes));
  }
  return fmt::format("it has {} matrices of {}, and there {:is|are} {}", file.count,
                     to_string({shape.rows / file.count, shape.columns}), Count{nodes.size()}, names_in(nodes));
}

std::string why_unknown(const Graph& graph, const std::string& name) {
  return fmt::format("the computation has no matrix of this name{}", did_you_mean(name, graph.names()));
}

std::vector<ComparedMatrix> compared_as(const MatrixFile& file, const Fit& fit, int decimals_beside) {
  std::vector<ComparedMatrix> all;
  double largest = 0.0;
  for (const Node* node : fit.nodes) largest = std::max(largest, largest_of(node->matrix()));
  const Rounding rounding = rounding_of(file, largest, decimals_beside);
  for (std::size_t i = 0; i < fit.nodes.size(); ++i) {
    ComparedMatrix one{.name = fit.nodes.size() == 1 ? file.name : fmt::format("{}[{}]", file.name, i),
                       .node = fit.nodes[i],
                       .theirs = fit.parts[i],
                       .rounding = rounding,
                       .difference = {}};
    one.difference = difference(*one.theirs, one.node->matrix(), one.rounding);
    all.push_back(std::move(one));
  }
  return all;
}

bool all_agree(const std::vector<ComparedMatrix>& matrices) {
  return std::ranges::all_of(matrices, [](const ComparedMatrix& one) { return one.difference.agrees(); });
}

// A matrix of a file, and all that it may be compared with, the likeliest first.
struct Candidate {
  const MatrixFile* file;
  Groups groups;
  std::vector<std::vector<ComparedMatrix>> fits;
};

template <class Nodes>
bool any_is_compared(const std::vector<ComparedMatrix>& matrices, const Nodes& nodes) {
  return std::ranges::any_of(matrices, [&](const ComparedMatrix& one) { return nodes.contains(one.node); });
}

std::size_t cells_that_differ(const std::vector<ComparedMatrix>& matrices) {
  std::size_t count = 0;
  for (const ComparedMatrix& one : matrices)
    count += one.difference.has_other_shape ? one.theirs->size() : one.difference.cells;
  return count;
}

// The one of which fewer cells differ than of all others; null: there is none.
const std::vector<ComparedMatrix>* nearest_of(const std::vector<const std::vector<ComparedMatrix>*>& fits) {
  const std::vector<ComparedMatrix>* nearest = nullptr;
  bool is_alone = false;
  for (const std::vector<ComparedMatrix>* fit : fits) {
    const std::size_t count = cells_that_differ(*fit), least = nearest ? cells_that_differ(*nearest) : count + 1;
    if (count == least) is_alone = false;
    if (count >= least) continue;
    nearest = fit;
    is_alone = true;
  }
  return is_alone && fits.size() > 1 ? nearest : nullptr;
}

// Whether a name that says the output was given to what goes into the output projection, though nothing else in the
// file is the output.
bool is_output_that_is_not_projected(const std::vector<ComparedMatrix>& fit, const Candidate& candidate,
                                     const std::map<const Node*, std::size_t>& first) {
  const Node& node = *fit.front().node;
  const Node* const output = node.is(role::concat) ? node.beside(role::output) : nullptr;
  if (!output || !output->op || may_be_before_projection(candidate.file->name)) return false;
  const bool is_own = candidate.fits.front().front().node == output;
  const auto counted = first.find(output);
  if (counted != first.end() && counted->second > (is_own ? 1U : 0U)) return false;
  return std::ranges::any_of(candidate.fits, [&](const auto& other) { return other.front().node == output; });
}

// The one that agrees, or that a mistake gives, or of which the fewest cells differ, or else the likeliest that no
// other matrix of the file is: a name is first of all what it says first. People who save one result alone save the
// last.
const std::vector<ComparedMatrix>& chosen_fit(const Graph& graph, const Candidate& candidate,
                                              const std::map<const Node*, std::size_t>& of_others,
                                              const std::set<const Node*>& taken, bool is_only_result) {
  std::vector<const std::vector<ComparedMatrix>*> fits;
  for (const std::vector<ComparedMatrix>& fit : candidate.fits) {
    const bool may_be = &fit == &candidate.fits.front() || !any_is_compared(fit, of_others);
    if (may_be && !is_output_that_is_not_projected(fit, candidate, of_others)) fits.push_back(&fit);
  }
  const auto agreeing = std::ranges::find_if(fits, [](const auto* fit) { return all_agree(*fit); });
  if (agreeing != fits.end()) return **agreeing;
  if (fits.size() > 1) {
    const auto explained = std::ranges::find_if(fits, [&](const auto* fit) { return is_explained(graph, *fit); });
    if (explained != fits.end()) return **explained;
  }
  if (const auto* nearest = nearest_of(fits)) return *nearest;
  if (is_only_result)
    return **std::ranges::max_element(fits, {}, [](const auto* fit) { return fit->front().node->original().index; });
  const auto free = std::ranges::find_if(fits, [&](const auto* fit) { return !any_is_compared(*fit, taken); });
  return free == fits.end() ? candidate.fits.front() : **free;
}

// Where a node stands in the order of the computation; what was added to it stands behind what it is made of.
std::size_t place_in_order(std::size_t own_nodes, const Node& node) {
  if (node.index < own_nodes) return node.index;
  std::size_t last = 0;
  for (const Node* operand : node.operands) last = std::max(last, place_in_order(own_nodes, *operand));
  return last;
}

// What is computed of numbers of 32 bits is no more exact than they are, in whatever type it is stored.
void allow_for_single_inputs(const std::vector<MatrixFile>& files, std::vector<ComparedMatrix>& compared) {
  const auto is_single = [&](const ComparedMatrix& one) {
    const auto file = std::ranges::find(files, one.name, &MatrixFile::name);
    return !one.node->op && file != files.end() && file->precision == Precision::float32;
  };
  if (std::ranges::none_of(compared, is_single)) return;
  for (ComparedMatrix& one : compared) {
    if (!one.node->op || one.difference.agrees() || one.difference.has_other_shape || one.rounding.decimals()) continue;
    one.rounding = Rounding::of_type(Precision::float32, largest_of(one.node->matrix()));
    one.difference = difference(*one.theirs, one.node->matrix(), one.rounding);
  }
}

// One of so many equal parts of an array, which lie below each other.
MatrixFile part_of_array(const MatrixFile& all, std::size_t i, std::size_t count) {
  MatrixFile part = all;
  const Shape shape{all.matrix.shape().rows / count, all.matrix.shape().columns};
  part.matrix = Matrix(shape);
  std::ranges::copy(cells(all.matrix).subspan(i * shape.cells(), shape.cells()), cells(part.matrix).begin());
  part.name = fmt::format("{}.{}", all.name, i);
  part.count = all.count / count;
  part.outer = 1;
  return part;
}

}  // namespace

std::vector<MatrixFile> with_layers_apart(const Graph& graph, std::vector<MatrixFile> files) {
  if (std::ranges::none_of(graph.named(), is_in_layer)) return files;
  std::vector<MatrixFile> apart;
  for (MatrixFile& file : files) {
    const SeriesOfLayers series = series_named(file.name);
    // Three dimensions of weights are the heads of one layer, unless there is one head.
    const bool is_of_layers =
        series == SeriesOfLayers::states || (series == SeriesOfLayers::weights && last_head(graph) < 2);
    const std::size_t layers = series == SeriesOfLayers::none ? 1
                               : file.outer > 1               ? file.outer
                               : is_of_layers                 ? file.count
                                                              : 1;
    for (std::size_t i = 0; i < layers && layers > 1; ++i) apart.push_back(part_of_array(file, i, layers));
    if (layers == 1) apart.push_back(std::move(file));
  }
  return apart;
}

MatchedMatrices match_matrices(Graph& graph, const std::vector<MatrixFile>& files) {
  const std::size_t own_nodes = graph.nodes().size();
  MatchedMatrices matched;
  std::vector<Candidate> candidates;
  const std::size_t first_layer = first_layer_in(files);
  // Where the last head has its number, the first one is 1, and something else is called 0.
  const auto has_number = [&](std::size_t head) {
    return std::ranges::any_of(files, [&](const MatrixFile& file) {
      return head_named(file.name) == head && !(file.count > 1 && counts_layers(graph, file.name));
    });
  };
  const bool counts_heads_from_zero = has_number(0) && !has_number(last_head(graph));
  for (const MatrixFile& file : files) {
    const std::string name = counts_heads_from_zero ? with_next_head(file.name) : file.name;
    candidates.push_back({&file, groups_for(graph, name, file, first_layer), {}});
  }
  compute_watched(graph, graph.named());
  const int decimals = decimals_in(files);
  std::map<const Node*, std::size_t> first;  // of which matrices of the file it is the likeliest reading
  std::set<const Node*> taken;
  for (Candidate& candidate : candidates) {
    for (const std::vector<const Node*>& nodes : candidate.groups) {
      if (const std::optional<Fit> fitting = fit(graph, nodes, *candidate.file))
        candidate.fits.push_back(compared_as(*candidate.file, *fitting, decimals));
    }
    if (candidate.fits.empty()) continue;
    for (const ComparedMatrix& one : candidate.fits.front()) ++first[one.node];
  }
  const auto results = std::ranges::count_if(candidates, [](const Candidate& candidate) {
    return !candidate.fits.empty() && candidate.fits.front().front().node->op;
  });
  for (const Candidate& candidate : candidates) {
    const MatrixFile& file = *candidate.file;
    if (candidate.groups.empty()) {
      matched.others.push_back({file.name, why_unknown(graph, file.name)});
    } else if (candidate.fits.empty()) {
      matched.others.push_back({file.name, why_none_fits(file, candidate.groups.front())});
    } else {
      for (const ComparedMatrix& one : chosen_fit(graph, candidate, first, taken, results == 1)) {
        taken.insert(one.node);
        matched.compared.push_back(one);
      }
    }
  }
  std::ranges::stable_sort(matched.compared, {},
                           [&](const ComparedMatrix& one) { return place_in_order(own_nodes, *one.node); });
  allow_for_single_inputs(files, matched.compared);
  allow_for_rounded_inputs(graph, matched.compared);
  allow_for_fewer_bits(graph, matched.compared);
  return matched;
}

std::vector<const Node*> results_of_shape(const Graph& graph, Shape shape) {
  std::vector<const Node*> nodes;
  for (const Node* node : graph.named()) {
    if (node->op && !node->is_alias() && fits_shape(*node, shape)) nodes.push_back(node);
  }
  return nodes;
}

}  // namespace attn
