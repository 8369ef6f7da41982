#include "tell/model_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/vocabulary.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

// What decides whether a sentence is true of a part, besides the matrix that it is about.
bool always(const Node&) {
  return true;
}

// A matrix of the side of a model that a node belongs to: of its encoder or its decoder.
bool has_on_its_side(const Node& node, const Role& role) {
  return node.graph->find(outermost(node.place), role) != nullptr;
}

bool is_given(const Node& node) {
  return !node.operation;
}

bool masks_itself(const Node& node) {
  return has_on_its_side(node, role::mask);
}

bool sees_all(const Node& node) {
  return !masks_itself(node);
}

bool masks_memory(const Node& node) {
  return has_on_its_side(node, role::cross_mask);
}

bool begins_with_start(const Node& node) {
  const auto& words = node.frame.rows.labels;
  return words && !words->empty() && words->front() == start_word;
}

bool predicts(const Node& node) {
  return node.graph->find(role::logits) != nullptr;
}

bool has_beta(const Node& node) {
  return node.beside(role::beta) != nullptr;
}

bool has_no_beta(const Node& node) {
  return !has_beta(node);
}

// What is done in a part of a model: the kind of its scope, and the matrix that shows it.
struct Part {
  const ScopeKind& scope;
  const Role& role;
  std::string_view sentence;
  bool (*is_true)(const Node& node) = always;
};

constexpr std::string_view scaled = "Each embedding is multiplied by √d_model.",
                           placed = "Positional encoding: a vector for each position is added.",
                           taken = "They are used as they are, without embedding and positional encoding.";

constexpr Part parts[] = {
    {scope::source, role::ids, "The source words: their ids, and their rows in the embedding table."},
    {scope::source, role::x, "The source as vectors.", is_given},
    {scope::source, role::x, taken, is_given},
    {scope::source, role::scaled_x, scaled},
    {scope::source, role::positioned, placed},
    {scope::target, role::ids, "The target words: their ids, and their rows in the embedding table."},
    {scope::target, role::ids, "They are shifted right by one position: <start> comes first.",
     begins_with_start},
    {scope::target, role::ids, "At each position the model must predict the next word, which it cannot see.",
     predicts},
    {scope::target, role::x, "The target as vectors.", is_given},
    {scope::target, role::x, taken, is_given},
    {scope::target, role::scaled_x, scaled},
    {scope::target, role::positioned, placed},
    {scope::encoder, role::mask,
     "The mask: 1 where a query (row) may attend to a key (column), 0 where the key is padding."},
    {scope::decoder, role::mask,
     "The causal mask: 1 where a query (row) may attend to a key (column), 0 where the key comes later or is "
     "padding."},
    {scope::decoder, role::cross_mask, "The mask of the cross-attention: 0 where the key is padding."},
    {scope::self_attention, role::q, "Self-attention: every word attends to all words, itself included.",
     sees_all},
    {scope::self_attention, role::q, "Self-attention: every word attends to the words that the mask allows.",
     masks_itself},
    {scope::cross_attention, role::q,
     "Cross-attention: every target word attends to the encoder output. Queries come from the decoder, keys "
     "and values from the encoder output."},
    {scope::cross_attention, role::q, "The mask leaves out its padding.", masks_memory},
    {scope::norm, role::output,
     "Layer normalization: subtract the mean of each row, and divide by √(variance + ε). Then multiply by γ "
     "and add β.",
     has_beta},
    {scope::norm, role::output,
     "Layer normalization: subtract the mean of each row, and divide by √(variance + ε). Then multiply by γ.",
     has_no_beta},
    {scope::feed_forward, role::output,
     "Feed-forward layer, applied to each word separately: a linear layer to size d_ff, ReLU (negative "
     "numbers become 0), and a linear layer back."},
};

// What has no scope goes into a decoder, or comes out at the end.
std::string heading_of(const Node& first) {
  if (first.place) return first.place->title();
  return first.operation ? "The result" : "The encoder output";
}

class ModelWalk {
 public:
  explicit ModelWalk(Page& page) : page_(page) {}

  void add(const std::vector<const Node*>& nodes) {
    std::vector<const Node*> shown;
    std::ranges::copy_if(nodes, std::back_inserter(shown),
                         [](const Node* node) { return !node->is_alias(); });
    if (shown.empty()) return;
    page_.head(2, heading_of(*nodes.front()));
    tell_parts(nodes.front()->place, shown);
    add_results(page_, shown, nodes.front()->scope());
    add_reading(page_, *shown.back());
  }

 private:
  // Each sentence once, where it is true for the first time.
  void tell_parts(const NamedScope* place, const std::vector<const Node*>& shown) {
    std::string told;
    const auto tell = [&](std::string_view sentence) {
      if (told_.insert(sentence).second) told += (told.empty() ? "" : " ") + std::string(sentence);
    };
    for (const Part& part : parts) {
      if (!place || !place->is(part.scope)) continue;
      const auto shows = [&](const Node* node) { return node->is(part.role) && part.is_true(*node); };
      if (std::ranges::any_of(shown, shows)) tell(part.sentence);
    }
    if (std::ranges::any_of(shown, [](const Node* node) { return node->is(role::sum); })) {
      tell("Residual connection: the vectors from before the sub-layer are added to its output.");
    }
    if (!told.empty()) page_.say(std::move(told));
  }

  Page& page_;
  std::set<std::string_view> told_;
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

}  // namespace

void add_model_walk(Page& page, const std::vector<const Node*>& nodes) {
  explain_names(page, nodes);
  ModelWalk walk(page);
  for (const auto& together : by_scope(nodes)) walk.add(together);
}

}  // namespace attn
