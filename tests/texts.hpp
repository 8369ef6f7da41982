#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "core/support/outside.hpp"

namespace attn {

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

inline bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// What is written into a sink.
template <class Write>
std::string written_by(const Write& write) {
  std::string bytes;
  Sink sink([&](std::string_view piece) { bytes += piece; });
  write(sink);
  sink.flush();
  return bytes;
}

}  // namespace attn
