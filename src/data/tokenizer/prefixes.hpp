#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace attn {

/// Texts by how they begin: finds all of them that another text begins with, in one pass over it.
class Prefixes {
 public:
  /// Texts with a number each; empty ones are never found. The texts must outlive it.
  explicit Prefixes(std::vector<std::pair<std::string_view, std::size_t>> texts = {});

  /// Whether one of them begins with this byte.
  bool may_begin(char byte) const {
    const std::size_t place = static_cast<unsigned char>(byte);
    return first_[place] < first_[place + 1];
  }

  /// Hands on those that begin a text, the shortest first. What is looked at is counted as work.
  using TakePrefix = std::function<void(std::size_t bytes, std::size_t number)>;
  void find(std::string_view text, const TakePrefix& take) const;

 private:
  std::vector<std::pair<std::string_view, std::size_t>> texts_;  // in order
  std::array<std::size_t, 257> first_{};                         // where those begin that begin with a byte
};

}  // namespace attn
