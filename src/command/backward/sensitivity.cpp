#include "command/backward/sensitivity.hpp"

#include <algorithm>

#include "op/backward.hpp"

namespace attn {

Sensitivity::Sensitivity(const Node& of, const std::vector<const Node*>& by)
    : copy_(copied_up_to(of)), upstream_(std::make_shared<Matrix>(of.frame.shape, 0.0)) {
  const Node& from = *copy_.of.at(&of.original());
  const Value d_from =
      copy_.graph->input({role::other, "gradient"}, upstream_, of.frame.rows, of.frame.columns);
  std::vector<const Node*> to;
  for (const Node* node : by) {
    const auto found = copy_.of.find(&node->original());
    if (found != copy_.of.end()) to.push_back(found->second);
  }
  if (!to.empty()) {
    const Backward back(Value(from), d_from, to);
    for (const Node* node : by) {
      const auto found = copy_.of.find(&node->original());
      gradients_.push_back(found == copy_.of.end() ? nullptr : back.by(*found->second));
    }
  }
  gradients_.resize(by.size());
  std::vector<const Node*> wanted;
  std::ranges::copy_if(gradients_, std::back_inserter(wanted),
                       [](const Node* node) { return node != nullptr; });
  plan_ = copy_.graph->run().plan_to_repeat(wanted);
}

void Sensitivity::take(std::size_t row, std::size_t column) {
  std::ranges::fill(cells(*upstream_), 0.0);
  (*upstream_)(row, column) = 1.0;
  copy_.graph->run().repeat(plan_);
}

std::shared_ptr<const Matrix> Sensitivity::by(std::size_t i) const {
  return gradients_[i] ? gradients_[i]->cells() : nullptr;
}

}  // namespace attn
