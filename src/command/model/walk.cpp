#include "command/model/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/vocabulary.hpp"
#include "page/describe.hpp"

namespace attn {
namespace {

// What decides whether a sentence is true of a part, besides the matrix that it is about.
bool always(const Node&) {
  return true;
}

// The side of a model that a node belongs to, with its dot: "decoder." of "decoder.2.norm_1.output".
std::string side_of(const Node& node) {
  return node.name.substr(0, node.name.find('.') + 1);
}

template <bool wanted>
bool masks_itself(const Node& node) {
  return (node.graph->find(side_of(node) + "mask") != nullptr) == wanted;
}

template <bool wanted>
bool masks_memory(const Node& node) {
  return (node.graph->find(side_of(node) + "cross_mask") != nullptr) == wanted;
}

bool begins_with_start(const Node& node) {
  const auto& words = node.frame.rows.labels;
  return words && !words->empty() && words->front() == start_word;
}

bool predicts(const Node& node) {
  return node.graph->find("logits") != nullptr;
}

template <bool wanted>
bool has_beta(const Node& node) {
  return (node.graph->find(std::string(node.scope()) + "beta") != nullptr) == wanted;
}

// What is done in a part of a model, by the end of its scope's name and by a matrix that shows it.
struct Part {
  std::string_view scope;
  std::string_view matrix;
  std::string_view sentence;
  bool (*is_true)(const Node& node) = always;
};

constexpr std::string_view given = "given", scaled = "Each embedding is multiplied by √d_model.",
                           placed = "Positional encoding: a vector for each position is added.",
                           taken = "They are used as they are, without embedding and positional encoding.";

constexpr Part parts[] = {
    {"source", "ids", "The source words: their ids, and their rows in the embedding table."},
    {"source", given, "The source as vectors."},
    {"source", given, taken},
    {"source", "scaled_x", scaled},
    {"source", "positioned", placed},
    {"target", "ids", "The target words: their ids, and their rows in the embedding table."},
    {"target", "ids", "They are shifted right by one position: <start> comes first.", begins_with_start},
    {"target", "ids", "At each position the model must predict the next word, which it cannot see.",
     predicts},
    {"target", given, "The target as vectors."},
    {"target", given, taken},
    {"target", "scaled_x", scaled},
    {"target", "positioned", placed},
    {"encoder", "mask",
     "The mask: 1 where a query (row) may attend to a key (column), 0 where the key is padding."},
    {"decoder", "mask",
     "The causal mask: 1 where a query (row) may attend to a key (column), 0 where the key comes later or is "
     "padding."},
    {"decoder", "cross_mask", "The mask of the cross-attention: 0 where the key is padding."},
    {"self_attention", "q", "Self-attention: every word attends to all words, itself included.",
     masks_itself<false>},
    {"self_attention", "q", "Self-attention: every word attends to the words that the mask allows.",
     masks_itself<true>},
    {"cross_attention", "q",
     "Cross-attention: every target word attends to the encoder output. Queries come from the decoder, keys "
     "and values from the encoder output."},
    {"cross_attention", "q", "The mask leaves out its padding.", masks_memory<true>},
    {"norm_1", "output",
     "Layer normalization: subtract the mean of each row, and divide by √(variance + ε). Then multiply by γ "
     "and add β.",
     has_beta<true>},
    {"norm_1", "output",
     "Layer normalization: subtract the mean of each row, and divide by √(variance + ε). Then multiply by γ.",
     has_beta<false>},
    {"feed_forward", "output",
     "Feed-forward layer, applied to each word separately: a linear layer to size d_ff, ReLU (negative "
     "numbers become 0), and a linear layer back."},
};

std::string_view last_part(std::string_view scope) {
  if (!scope.empty()) scope.remove_suffix(1);
  return scope.substr(scope.rfind('.') + 1);
}

bool is_residual(const Node* node) {
  return node->leaf().starts_with("sum_");
}

// Vectors that were not looked up stand for themselves.
std::string_view role_of(const Node* node) {
  return node->operation || node->leaf() != "x" ? node->leaf() : given;
}

// What has no scope goes into a decoder, or comes out at the end.
std::string heading_of(const Node& first) {
  if (!first.scope().empty()) return std::string(first.scope_name());
  return first.operation ? "The result" : "The encoder output";
}

class ModelWalk {
 public:
  explicit ModelWalk(Page& page) : page_(page) {}

  void add(const std::vector<const Node*>& nodes) {
    const std::string_view scope = nodes.front()->scope();
    std::vector<const Node*> shown;
    std::ranges::copy_if(nodes, std::back_inserter(shown),
                         [](const Node* node) { return !node->is_alias(); });
    if (shown.empty()) return;
    page_.head(2, heading_of(*nodes.front()));
    tell_parts(last_part(scope), shown);
    add_results(page_, shown, scope);
    add_reading(page_, *shown.back());
  }

 private:
  // Each sentence once, where it is true for the first time.
  void tell_parts(std::string_view scope, const std::vector<const Node*>& shown) {
    std::string told;
    const auto tell = [&](std::string_view sentence) {
      if (told_.insert(sentence).second) told += (told.empty() ? "" : " ") + std::string(sentence);
    };
    for (const Part& part : parts) {
      if (part.scope != scope) continue;
      const auto node = std::ranges::find(shown, part.matrix, role_of);
      if (node != shown.end() && part.is_true(**node)) tell(part.sentence);
    }
    if (std::ranges::any_of(shown, is_residual)) {
      tell("Residual connection: the vectors from before the sub-layer are added to its output.");
    }
    if (!told.empty()) page_.say(std::move(told));
  }

  Page& page_;
  std::set<std::string_view> told_;
};

// What a short name under a heading stands for, by the first of them.
void explain_names(Page& page) {
  const auto in_scope = [](const Node* node) { return !node->scope().empty(); };
  const auto first = std::ranges::find_if(page.trace, in_scope);
  if (first == page.trace.end()) return;
  page.say(text("Under each heading names are shortened: ", code(std::string((*first)->leaf())), " under ",
                code(std::string((*first)->scope_name())), " is ", code((*first)->name),
                ". Use the full name with ", code("--only"), " and ", code("--explain"), "."));
}

}  // namespace

void add_model_walk(Page& page) {
  explain_names(page);
  ModelWalk walk(page);
  for (const auto& nodes : by_scope(page.trace)) walk.add(nodes);
}

}  // namespace attn
