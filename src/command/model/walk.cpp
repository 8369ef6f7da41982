#include "command/model/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "page/describe.hpp"

namespace attn {
namespace {

// What is done in a part of a model, by the end of its scope's name and by a matrix that shows it.
struct Part {
  std::string_view scope;
  std::string_view matrix;
  std::string_view sentence;
};

constexpr std::string_view given = "given", scaled = "They are multiplied by √d_model.",
                           placed = "A vector for each place is added.";

constexpr Part parts[] = {
    {"source", "ids",
     "The words of the source: their ids, and the rows of the embedding that these stand for."},
    {"source", given, "The vectors of the source, as they were given or drawn."},
    {"source", "scaled_x", scaled},
    {"source", "positioned", placed},
    {"target", "ids",
     "The words of the target, which go in one place late: what stands at a place is to be found there "
     "next, and cannot be looked up."},
    {"target", given, "The vectors of the target, as they were given or drawn."},
    {"target", "scaled_x", scaled},
    {"target", "positioned", placed},
    {"self_attention", "q", "Every word asks all words that it may look at, itself among them."},
    {"cross_attention", "q",
     "Every word of the target asks all words that were encoded: queries come from the decoder, "
     "keys and values from the encoder."},
    {"norm_1", "output",
     "Every row is moved to mean 0 and stretched to variance 1, then multiplied by γ and moved by β, which "
     "are learned."},
    {"feed_forward", "output",
     "Every word by itself: a learned map to d_ff numbers, ReLU, which makes negative numbers 0, "
     "and a map back."},
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
      if (part.scope == scope && std::ranges::find(shown, part.matrix, role_of) != shown.end())
        tell(part.sentence);
    }
    if (std::ranges::any_of(shown, is_residual)) {
      tell("The residual connection: what the sub-layer found is added to what it was given.");
    }
    if (!told.empty()) page_.blocks.emplace_back(Prose{text(std::move(told))});
  }

  Page& page_;
  std::set<std::string_view> told_;
};

}  // namespace

void add_model_walk(Page& page) {
  page.say(text("In every part names leave out its heading; ", code("--only"), " and ", code("--explain"),
                " want them with it."));
  ModelWalk walk(page);
  for (const auto& nodes : by_scope(page.trace)) walk.add(nodes);
}

}  // namespace attn
