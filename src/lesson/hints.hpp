#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lesson/prompt.hpp"

namespace attn {

/// The hints of a question or a puzzle, which a reader sees one after the other.
class Hints {
 public:
  /// `of` is what they belong to, and `then` what `a` shows after the last one: "question", "the answer".
  Hints(std::span<const std::string> hints, std::string_view of, std::string_view then)
      : hints_(hints), of_(of), then_(then) {}

  /// What there is to do after a miss: to type h or a.
  std::string advice() const;
  /// Shows the next one, or says that there is none.
  void show_next(Conversation& conversation);

 private:
  bool has_more() const { return shown_ < hints_.size(); }

  std::span<const std::string> hints_;
  std::string_view of_, then_;
  std::size_t shown_ = 0;
};

}  // namespace attn
