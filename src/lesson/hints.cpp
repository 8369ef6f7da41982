#include "lesson/hints.hpp"

#include <fmt/format.h>

namespace attn {

std::string Hints::advice() const {
  return has_more() ? "Try again, or type h for a hint." : fmt::format("Try again, or type a for {}.", then_);
}

void Hints::show_next(Conversation& conversation) {
  if (!has_more()) {
    const std::string none = hints_.empty() ? fmt::format("This {} has no hint.", of_) : "No more hints.";
    return conversation.say(fmt::format("{} Type a to see {}.", none, then_));
  }
  const std::string which =
      hints_.size() == 1 ? "Hint: " : fmt::format("Hint {} of {}: ", shown_ + 1, hints_.size());
  conversation.show({Note{Note::Kind::hint, {text(strong(which), hints_[shown_])}}});
  ++shown_;
}

}  // namespace attn
