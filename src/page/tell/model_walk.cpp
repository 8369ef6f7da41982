#include "page/tell/model_walk.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/graph/plan.hpp"
#include "core/support/number.hpp"
#include "page/tell/attention_steps.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

// --- model walk

// A model that is told of, and what went into it.
struct ModelOnPage {
  const ModelRecipe& recipe;
  const ModelInput& source;
  const ModelInput& target;
};

// What decides whether a sentence is true of a part, besides the matrix that it is about.
using Condition = bool (*)(const Node& node, const ModelOnPage& told);

bool always(const Node&, const ModelOnPage&) { return true; }

// A matrix of the side of a model that a node belongs to: of its encoder or its decoder.
bool has_on_its_side(const Node& node, const Role& role) {
  return node.graph->find(outermost(node.place), role) != nullptr;
}

bool is_given(const Node& node, const ModelOnPage&) { return !node.op; }

// A class token stands before the patches of an image, and positions are added to both.
bool is_taken_as_given(const Node& node, const ModelOnPage&) { return !node.op && !node.beside(role::with_class); }

bool masks_itself(const Node& node, const ModelOnPage&) {
  return has_on_its_side(node, role::mask) || has_on_its_side(node, role::local_mask);
}

bool only_adds(const Node& node, const ModelOnPage& told) {
  return !masks_itself(node, told) && has_on_its_side(node, role::bias);
}

bool sees_all(const Node& node, const ModelOnPage& told) {
  return !masks_itself(node, told) && !has_on_its_side(node, role::bias);
}

bool masks_padding_of_memory(const Node& node, const ModelOnPage& told) {
  return has_on_its_side(node, role::cross_mask) && !told.target.memory_mask.any();
}

// The mask that was given for the encoder output, where some of its cells are this number and no others.
template <bool masks, bool permits>
bool masks_memory(const Node& node, const ModelOnPage& told) {
  const Node* const mask = node.graph->find(outermost(node.place), role::cross_mask);
  if (!mask || !told.target.memory_mask.any()) return false;
  const std::span<const double> all = cells(mask->matrix());
  return (std::ranges::find(all, 0.0) != all.end()) == masks && (std::ranges::find(all, 1.0) != all.end()) == permits;
}

bool begins_with_start(const Node& node, const ModelOnPage&) {
  const auto& words = node.frame.rows.labels;
  return words && !words->empty() && words->front() == start_word;
}

bool predicts(const Node& node, const ModelOnPage& told) {
  return node.graph->find(role::logits) != nullptr && told.recipe.causal_decoder;
}

// The queries of the first head that are turned, or null.
const Node* rotated_within(const Node& q) {
  if (const Node* const alone = q.beside(role::rotated_q)) return alone;
  for (const Node& node : q.graph->nodes()) {
    const NamedScope* const head = node.is(role::rotated_q) ? node.within(scope::head) : nullptr;
    if (head && head->outer == q.place) return &node;
  }
  return nullptr;
}

bool turns(const Node& node, const ModelOnPage&) { return rotated_within(node) != nullptr; }
bool adds_by_bucket(const Node& node, const ModelOnPage&) { return node.within(scope::relative_positions) != nullptr; }

// --- sentences that depend on the recipe, or on the masks

// Why a key is masked: "comes later or is padding".
std::string reasons(bool is_causal, bool has_blanks, const WordMask& given, std::size_t window = 0) {
  std::vector<std::string> all;
  const bool is_by_option = given.allowed || given.keys || !given.valid_lengths.empty();
  if (is_causal) all.emplace_back("comes later");
  if (window > 0) all.push_back(fmt::format("stands {} or more before the query", count_of(window, "word")));
  if (has_blanks || (!is_by_option && window == 0)) all.emplace_back("is padding");
  if (given.allowed) all.emplace_back("is masked by the given mask");
  if (given.keys) all.emplace_back("is masked by the mask of the keys");
  if (!given.valid_lengths.empty()) all.emplace_back("comes after the valid length");
  const std::string last = std::move(all.back());
  all.pop_back();
  return all.empty() ? last : fmt::format("{} or {}", fmt::join(all, ", "), last);
}

std::string of_mask(const Node& node, const ModelOnPage& told) {
  const bool is_decoder = outermost(node.place)->is(scope::decoder);
  const ModelInput& words = is_decoder ? told.target : told.source;
  const bool is_causal = is_decoder ? told.recipe.causal_decoder : told.recipe.causal_encoder;
  const std::size_t window = has_window(node, told.recipe) ? static_cast<std::size_t>(told.recipe.window) : 0;
  return fmt::format("The {}mask{}: 1 where a query (row) may attend to a key (column), 0 where the key {}.",
                     is_causal ? "causal " : "", node.is(role::local_mask) ? " of the layers with a window" : "",
                     reasons(is_causal, words.has_blanks(), words.mask, window));
}

std::string of_cross_mask(const Node&, const ModelOnPage& told) {
  return fmt::format("The mask of the cross-attention: 0 where the key {}.",
                     reasons(false, told.source.has_blanks(), told.target.memory_mask));
}

std::string of_rotation(const Node& node, const ModelOnPage&) {
  return fmt::format(
      "Rotary positions: the queries and keys of each head are turned, {}, by angles that grow with the position.",
      turned_columns(*rotated_within(node)));
}

// The layer of a decoder that a node belongs to, from 1; 0 for others.
std::size_t decoder_layer_of(const Node& node) {
  const NamedScope* const layer = node.within(scope::number);
  return layer && outermost(node.place)->is(scope::decoder) ? layer->number.value_or(0) : 0;
}

bool is_in_local_layer(const Node& node, const ModelOnPage& told) {
  const std::size_t layer = decoder_layer_of(node);
  return layer > 0 && told.recipe.is_local(layer);
}

std::string of_window(const Node&, const ModelOnPage& told) {
  const auto window = static_cast<std::size_t>(told.recipe.window);
  const bool all = told.recipe.window_layers == ModelRecipe::all_layers;
  return fmt::format("There is a window in {}: a word attends to itself and at most {} before it.",
                     all ? "all layers" : told.recipe.local_layers(), count_of(window - 1, "word"));
}

bool is_capped_there(const Node&, const ModelOnPage& told) { return told.recipe.score_cap != 0.0; }

std::string of_cap(const Node&, const ModelOnPage& told) {
  return fmt::format("A soft cap keeps the scores between −{0} and {0}: scores near 0 hardly change.",
                     told.recipe.score_cap);
}

std::string of_norm_of_head(const Node& node, const ModelOnPage& told) {
  return fmt::format("The {} are normalized before they are compared. {}",
                     node.within(scope::q_norm) ? "queries" : "keys",
                     norm_in_words(*told.recipe.norm_kind, told.recipe.epsilon, false));
}

std::string of_norm(const Node& node, const ModelOnPage& told) {
  return norm_in_words(*told.recipe.norm_kind, told.recipe.epsilon, node.beside(role::beta) != nullptr);
}

std::string of_feed_forward(const Node& node, const ModelOnPage& told) {
  if (node.beside(role::gate)) {
    return fmt::format(
        "Feed-forward layer with a gate, applied to each word separately: two linear layers to size d_ff. "
        "To the first, the gate, {} is applied ({}). Then it is multiplied with the second, number by number, and a linear layer leads back.",
        told.recipe.activation->title, told.recipe.activation->effect);
  }
  return fmt::format(
      "Feed-forward layer, applied to each word separately: a linear layer to size d_ff, {} ({}), and a linear layer back.",
      told.recipe.activation->title, told.recipe.activation->effect);
}

// What is added up behind a sub-layer.
std::string of_residual(const Node& sum, const ModelOnPage& told) {
  const NormPlacement& norm = *told.recipe.norm;
  if (norm.after)
    return "Residual connection: the output of the sub-layer is normalized, and the vectors from before the sub-layer are added to it.";
  const bool is_second = norm.in_parallel && sum.operands.front()->original().is(role::sum) &&
                         sum.operands.front()->original().place == sum.place;
  if (is_second)
    return "The sub-layers work side by side: this one works on the vectors that go into the layer as well, and its output is added to the sum.";
  return "Residual connection: the vectors from before the sub-layer are added to its output.";
}

std::string of_buckets(const Node& node, const ModelOnPage&) {
  return fmt::format(
      "Relative positions: the distance from a query to a key, such as {}, falls into one of the buckets of distances. Long distances share a bucket.",
      node.frame.rows.label(node.frame.shape.rows - 1));
}

std::string of_transform(const Node&, const ModelOnPage& told) {
  return fmt::format("Before the output layer: a linear layer, and {} ({}).", told.recipe.activation->title,
                     told.recipe.activation->effect);
}

// What is done in a part of a model: the kind of its scope, the matrix that shows it, and a sentence.
struct Part {
  const ScopeKind& scope;
  const Role& role;
  std::string_view sentence;
  Condition is_true = always;
  std::string (*tells)(const Node& node, const ModelOnPage& told) = nullptr;  // in place of the sentence
};

constexpr std::string_view sentence_on_scaling = "Each embedding is multiplied by √d_model.",
                           placed = "Positional encoding: a vector for each position is added.",
                           taken = "They are used as they are, without embedding and positional encoding.";

constexpr Part parts[] = {
    {scope::source, role::ids, "The source words: their ids, and their rows in the embedding table."},
    {scope::source, role::x, "The source as vectors.", is_given},
    {scope::source, role::x, taken, is_taken_as_given},
    {scope::source, role::scaled_x, sentence_on_scaling},
    {scope::source, role::patches,
     "The patches of the image, each as the row of its numbers, and what a linear layer makes of them."},
    {scope::source, role::with_class, "A learned vector stands before the patches: the class token."},
    {scope::source, role::typed, "Token types: a vector is added that tells the first text of a pair from the second."},
    {scope::source, role::positioned, placed},
    {scope::target, role::ids, "The target words: their ids, and their rows in the embedding table."},
    {scope::target, role::ids, "They are shifted right by one position: <start> comes first.", begins_with_start},
    {scope::target, role::ids, "At each position the model must predict the next word, which it cannot see.", predicts},
    {scope::target, role::x, "The target as vectors.", is_given},
    {scope::target, role::x, taken, is_given},
    {scope::target, role::scaled_x, sentence_on_scaling},
    {scope::target, role::positioned, placed},
    {scope::encoder, role::mask, "", always, of_mask},
    {scope::encoder, role::bias, sentence_on_added_mask},
    {scope::decoder, role::mask, "", always, of_mask},
    {scope::decoder, role::local_mask, "", always, of_mask},
    {scope::decoder, role::bias, sentence_on_added_mask},
    {scope::decoder, role::cross_mask, "", always, of_cross_mask},
    {scope::decoder, role::cross_bias, sentence_on_added_mask},
    {scope::self_attention, role::q, "Self-attention: every word attends to all words, itself included.", sees_all},
    {scope::self_attention, role::q, "Self-attention: every word attends to the words that the mask allows.",
     masks_itself},
    {scope::self_attention, role::q, "Self-attention: the mask adds a number to the score of every key.", only_adds},
    {scope::self_attention, role::q, "", turns, of_rotation},
    {scope::cross_attention, role::q,
     "Cross-attention: every target word attends to the encoder output. "
     "Queries come from the decoder, keys and values from the encoder output."},
    {scope::cross_attention, role::q, "The mask leaves out its padding.", masks_padding_of_memory},
    {scope::cross_attention, role::q, "The mask leaves out some of it.", masks_memory<true, true>},
    {scope::cross_attention, role::q, "The mask allows all of it.", masks_memory<false, true>},
    {scope::cross_attention, role::q, "The mask leaves out all of it, so the weights are 0.",
     masks_memory<true, false>},
    {scope::self_attention, role::q, "", is_in_local_layer, of_window},
    {scope::self_attention, role::q, "", is_capped_there, of_cap},
    {scope::q_norm, role::output, "", always, of_norm_of_head},
    {scope::k_norm, role::output, "", always, of_norm_of_head},
    {scope::norm, role::output, "", always, of_norm},
    {scope::post_norm, role::output, "", always, of_norm},
    {scope::feed_forward, role::output, "", always, of_feed_forward},
    {scope::relative_positions, role::buckets, "", always, of_buckets},
    {scope::relative_positions, role::by_bucket,
     "Each bucket has a learned number for each head. All layers of this side add these numbers to the scores of their self-attention."},
    {scope::head, role::relative, "The number for each query and each key, by the distance between them.",
     adds_by_bucket},
    {scope::output, role::inner, "", always, of_transform},
};

// What has no scope goes into a decoder, or comes out at the end.
std::string heading_of_scope(const Node& first) {
  if (first.place) return first.place->title();
  return first.op ? "The result" : "The encoder output";
}

class ModelWalk {
 public:
  ModelWalk(Page& page, const ModelOnPage& model) : page_(page), model_(model) {}

  void add(const std::vector<const Node*>& nodes) {
    std::vector<const Node*> shown;
    std::ranges::copy_if(nodes, std::back_inserter(shown), [](const Node* node) { return !node->is_alias(); });
    if (shown.empty()) return;
    page_.head(2, heading_of_scope(*nodes.front()));
    tell_parts(nodes.front()->place, shown);
    add_results(page_, shown, nodes.front()->scope());
    add_reading(page_, *shown.back());
  }

 private:
  // Each sentence once, where it is true for the first time.
  void tell_parts(const NamedScope* place, const std::vector<const Node*>& shown) {
    std::string told;
    const auto tell = [&](const std::string& sentence) {
      if (told_.insert(sentence).second) told += (told.empty() ? "" : " ") + sentence;
    };
    for (const Part& part : parts) {
      if (!place || !place->is(part.scope)) continue;
      const auto shows = [&](const Node* node) { return node->is(part.role) && part.is_true(*node, model_); };
      const auto found = std::ranges::find_if(shown, shows);
      if (found == shown.end()) continue;
      tell(part.tells ? part.tells(**found, model_) : std::string(part.sentence));
    }
    for (const Node* node : shown) {
      if (node->is(role::sum)) tell(of_residual(*node, model_));
    }
    if (!told.empty()) page_.say(std::move(told));
  }

  Page& page_;
  const ModelOnPage& model_;
  std::set<std::string> told_;
};

// What a short name under a heading stands for, by the first of them.
void explain_names(Page& page, const std::vector<const Node*>& nodes) {
  const auto in_scope = [](const Node* node) { return node->place != nullptr; };
  const auto first = std::ranges::find_if(nodes, in_scope);
  if (first == nodes.end()) return;
  page.say(text("Under each heading names are shortened: ", code(std::string((*first)->leaf())), " under ",
                code((*first)->place->title()), " is ", code((*first)->name), ". Use the full name with ",
                code("--only"), " and ", code("--explain"), "."));
}

// --- outline

// A node, or a scope with all that lies within.
struct Branch {
  std::string name;
  std::string shape = {};  // empty: a scope
  std::uint64_t multiply_adds = 0;
  std::vector<Branch> within = {};
  std::map<std::string, std::size_t, std::less<>> places = {};  // within it, by name

  bool is_number() const {
    return std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
  }
  // Whether another branch differs in nothing but its name.
  bool is_like(const Branch& other) const {
    return shape == other.shape && multiply_adds == other.multiply_adds &&
           std::ranges::equal(within, other.within,
                              [](const Branch& a, const Branch& b) { return a.name == b.name && a.is_like(b); });
  }
};

// "encoder.1.sum_1" becomes a branch within a branch within a branch; each counts what it costs.
Branch& grown(Branch& root, std::string_view name, std::uint64_t multiply_adds) {
  Branch* branch = &root;
  while (true) {
    branch->multiply_adds += multiply_adds;
    if (name.empty()) return *branch;
    const std::string_view first = name.substr(0, name.find('.'));
    name.remove_prefix(std::min(name.size(), first.size() + 1));
    const auto [place, is_new] = branch->places.emplace(first, branch->within.size());
    if (is_new) branch->within.push_back({std::string(first)});
    branch = &branch->within[place->second];
  }
}

void add_rows(Listing& listing, const Branch& parent, std::size_t depth) {
  const std::string indent(2 * depth, ' ');
  for (auto branch = parent.within.begin(); branch != parent.within.end(); ++branch) {
    auto last = branch;
    while (branch->is_number() && last + 1 != parent.within.end() && last[1].is_number() && last[1].is_like(*branch)) {
      ++last;
    }
    listing.rows.push_back(
        {indent + branch->name, branch->shape, branch->multiply_adds ? with_commas(branch->multiply_adds) : ""});
    add_rows(listing, *branch, depth + 1);
    if (last == branch) continue;
    const std::string others = last == branch + 1 ? last->name : branch[1].name + " … " + last->name;
    listing.rows.push_back({indent + others + ": as " + branch->name, "", ""});
    branch = last;
  }
}

}  // namespace

// --- model walk

void add_model_walk(Page& page, const std::vector<const Node*>& nodes, const ModelRecipe& recipe,
                    const ModelInput& source, const ModelInput& target) {
  explain_names(page, nodes);
  const ModelOnPage model{recipe, source, target};
  ModelWalk walk(page, model);
  for (const auto& together : by_scope(nodes)) walk.add(together);
}

// --- outline

void add_outline(Page& page, const Graph& graph, const std::vector<const Node*>& nodes) {
  Branch root;
  Cost pending, total;
  const std::set<const Node*> wanted(nodes.begin(), nodes.end());
  for (const Node& node : graph.nodes()) {
    pending += cost_of(node);
    if (node.name.empty()) continue;  // what it costs is counted where it is used
    const Cost cost = std::exchange(pending, {});
    if (wanted.contains(&node)) {
      total += cost;
      grown(root, node.name, cost.multiply_adds).shape = to_string(node.frame.shape);
    }
  }
  Listing listing{{"matrix", "shape", "multiply-adds"}, {}};
  add_rows(listing, root, 0);
  page.blocks.emplace_back(
      Prose{text("Each line: a matrix, its shape, and the multiply-adds of its matrix products. "
                 "A group shows the sum of its parts.")});
  page.blocks.emplace_back(std::move(listing));
  page.blocks.emplace_back(
      Prose{text(fmt::format("Total: {} multiply-adds of matrix products and {} element-wise operations.",
                             with_commas(total.multiply_adds), with_commas(total.element_operations)))});
}

}  // namespace attn
