#include "data/tokenizer/seams.hpp"

#include "data/tokenizer/unicode.hpp"

namespace attn {
namespace {

std::uint64_t both(char32_t left, char32_t right) { return std::uint64_t{left} << 32U | right; }

}  // namespace

void Seams::add(std::string_view piece) {
  char32_t before = 0;
  for (std::size_t at = 0; at < piece.size();) {
    const auto [code, size] = code_point_at(piece, at);
    if (at > 0) beside_.insert(both(before, code));
    before = code;
    at += size;
  }
}

void Seams::split(std::string_view word, const std::function<bool(std::string_view character)>& is_known,
                  const std::function<void(ByteRange)>& take) const {
  char32_t before = 0;
  std::size_t begin = 0, last = 0;  // of the part, and of the character before
  for (std::size_t at = 0; at < word.size();) {
    const auto [code, size] = code_point_at(word, at);
    if (at > 0 && !beside_.contains(both(before, code)) && is_known(word.substr(last, at - last)) &&
        is_known(word.substr(at, size))) {
      take({begin, at});
      begin = at;
    }
    before = code;
    last = at;
    at += size;
  }
  if (begin < word.size()) take({begin, word.size()});
}

}  // namespace attn
