#pragma once

#include <set>

#include "command/model/choice.hpp"
#include "page/page.hpp"

namespace attn {

/// A part of a model that has a command of its own: how that uses models, and the scopes that it shows.
struct ModelPart {
  ModelUse use;
  std::string_view title;
  std::vector<const ScopeKind*> scopes;  // empty: all
  std::vector<const Role*> roles = {};   // outside of them
};

/// encoder, decoder, and transformer for the whole. Throws std::logic_error for another command.
const ModelPart& part_of(std::string_view command);

/// Whether a node stands in the scopes of the part.
bool belongs(const Node& node, const ModelPart& part);

/// The named nodes that a page on the part shows: no parameters, which attn parameters lists.
std::vector<const Node*> shown_nodes(const Graph& graph, const ModelPart& part, const Transformer& model);

/// Title, description and sizes of the model.
void add_head(Page& page, const ModelPart& part, const ModelChoice& choice);

}  // namespace attn
