#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/rewrite/rewriting.hpp"
#include "core/support/error.hpp"

namespace attn {

/// Runs the action. A sentence that it throws begins with what was read then, such as "--set 'k[1,1] = 2'".
template <class Action>
auto while_reading(std::string_view what, const Action& action) {
  try {
    return action();
  } catch (const InputError& error) {
    fail("{}: {}", what, error.what());
  }
}

/// The one matrix whose name, or the end of it, was given to an option. Throws InputError: none or several.
const Node& only_match(const Graph& graph, const std::string& name, std::string_view option);

/// What stands in the place of a node: another one, or numbers.
using NodeReplacement = std::variant<Value, Matrix>;

/// What is made where a part is left out.
struct AblationRule {
  std::function<bool(const Node& node)> where;
  std::function<std::optional<NodeReplacement>(RewriteSite at)> instead;
};

/// A part that a computation can be made without.
struct Ablation {
  std::string_view name;     // "scale"
  std::string_view summary;  // what is done then, in a phrase
  std::vector<AblationRule> changes;
};
std::span<const Ablation> ablations();

/// What one alteration makes in one computation. `made` is what an earlier one has put in the place of the node.
struct AlteredNodes {
  std::function<bool(const Node& node)> where;
  std::function<std::optional<NodeReplacement>(RewriteSite at, const std::optional<NodeReplacement>& made)> instead;
};

/// The numbers of a node as they now are, after what an earlier alteration has `made` of it.
Matrix numbers_now(RewriteSite at, const std::optional<NodeReplacement>& made);

/// Something that is done differently. It is known by names and places, and so it can be made in any computation
/// that has them, such as that of a longer text. Where a computation does not have them, it changes nothing there.
struct Alteration {
  std::string told;  // in a sentence
  std::function<AlteredNodes(const Graph& graph)> in;
};

/// "k[2,1] = 3": one number is set to what an expression gives in the computation as it is. Throws InputError: no such
/// cell, an expression that is none, a number that is not finite, a matrix that only chooses.
Alteration set_number(const Graph& graph, std::string_view setting);
/// The cell that such a setting sets, in the matrix that it stands for whatever its name. Throws likewise.
Cell cell_that_is_set(const Graph& graph, std::string_view setting);

/// "it,animal" or "1,2": two words that go in, or their vectors, change places. Throws InputError: no such words,
/// several inputs have both, or a position that is the word of another one.
Alteration swapped_words(const Graph& graph, std::string_view words);

/// "scale", or a head: "head 2" in every layer, "head 1.2" in layer 1, or the name of its scope. Throws InputError with
/// what there is.
Alteration ablation_of(const Graph& graph, std::string_view part);

/// A matrix has the numbers of another one, which `source` names in a phrase. Throws InputError: no such matrix,
/// another shape, numbers that are not finite.
Alteration activation_patch(const Graph& graph, std::string_view name, const Matrix& numbers, std::string_view source);

/// All alterations at once, in their order where they are made at the same node.
Change combined_change(const Graph& graph, std::span<const Alteration> alterations);

/// The outputs of all heads, in order; where there is one head in an attention, that is it.
std::vector<const Node*> head_outputs(const Graph& graph);
/// What such a head is called: "head.2", "encoder.1.self_attention.head.2".
std::string name_of_head(const Node& output);
/// A head that gives 0 to the concatenation.
Change without_head(const Node& output);

}  // namespace attn
