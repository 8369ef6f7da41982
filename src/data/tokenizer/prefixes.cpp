#include "data/tokenizer/prefixes.hpp"

#include <algorithm>

#include "core/support/error.hpp"

namespace attn {

Prefixes::Prefixes(std::vector<std::pair<std::string_view, std::size_t>> texts) : texts_(std::move(texts)) {
  std::erase_if(texts_, [](const auto& text) { return text.first.empty(); });
  std::ranges::sort(texts_);
  for (const auto& [text, number] : texts_) ++first_[static_cast<unsigned char>(text.front()) + std::size_t{1}];
  for (std::size_t byte = 0; byte < 256; ++byte) first_[byte + 1] += first_[byte];
}

void Prefixes::find(std::string_view text, const TakePrefix& take) const {
  constexpr std::uint64_t work_of_looking_up = 40;
  if (text.empty()) return;
  // The texts that begin with the bytes so far, of which the shortest stands first.
  std::size_t begin = first_[static_cast<unsigned char>(text.front())];
  std::size_t end = first_[static_cast<unsigned char>(text.front()) + std::size_t{1}];
  std::size_t bytes = 1;
  for (; begin < end; ++bytes) {
    for (; begin < end && texts_[begin].first.size() == bytes; ++begin) take(bytes, texts_[begin].second);
    if (bytes == text.size()) break;
    const auto byte_behind = [&](const auto& one) { return static_cast<unsigned char>(one.first[bytes]); };
    const auto from = texts_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = texts_.begin() + static_cast<std::ptrdiff_t>(end);
    const auto next = static_cast<unsigned char>(text[bytes]);
    begin = static_cast<std::size_t>(std::ranges::lower_bound(from, to, next, {}, byte_behind) - texts_.begin());
    end = static_cast<std::size_t>(std::ranges::upper_bound(from, to, next, {}, byte_behind) - texts_.begin());
  }
  Budget::take_reading(work_of_looking_up * bytes);
}

}  // namespace attn
