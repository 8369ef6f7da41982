#include "command/model/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "page/describe.hpp"

namespace attn {
namespace {

// What a part of a model does, by the end of its scope's name.
struct Part {
  std::string_view scope;
  std::string_view sentence;
};

constexpr Part parts[] = {
    {"source",
     "The words of the source: their ids, the rows of the embedding that these stand for, multiplied by "
     "√d_model, and a vector for each place."},
    {"target",
     "The words of the target, which go in one place late: what stands at a place is to be found there "
     "next, and cannot be looked up."},
    {"self_attention", "Every word asks all words that it may look at, itself among them."},
    {"cross_attention",
     "Every word of the target asks all words that were encoded: queries come from the decoder, "
     "keys and values from the encoder."},
    {"norm_1",
     "Every row is moved to mean 0 and stretched to variance 1, then multiplied by γ and moved by β, which "
     "are learned."},
    {"feed_forward",
     "Every word by itself: a learned map to d_ff numbers, ReLU, which makes negative numbers 0, "
     "and a map back."},
};

std::string_view last_part(std::string_view scope) {
  if (!scope.empty()) scope.remove_suffix(1);
  return scope.substr(scope.rfind('.') + 1);
}

bool is_residual(const Node& node) {
  return node.leaf().starts_with("sum_");
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
    const std::string title = scope.empty() ? "The result" : std::string(nodes.front()->scope_name());
    page_.blocks.emplace_back(Heading{2, text(title)});
    const auto part = std::ranges::find(parts, last_part(scope), &Part::scope);
    if (part != std::end(parts)) tell(part->scope, part->sentence);
    if (std::ranges::any_of(shown, is_residual, [](const Node* node) -> const Node& { return *node; })) {
      tell("sum", "The residual connection: what the sub-layer found is added to what it was given.");
    }
    add_results(page_, shown);
    add_reading(page_, *shown.back());
  }

 private:
  void tell(std::string_view what, std::string_view sentence) {
    if (told_.insert(what).second) page_.blocks.emplace_back(Prose{text(std::string(sentence))});
  }

  Page& page_;
  std::set<std::string_view> told_;
};

}  // namespace

void add_model_walk(Page& page) {
  ModelWalk walk(page);
  for (const auto& nodes : by_scope(page.trace)) walk.add(nodes);
}

}  // namespace attn
