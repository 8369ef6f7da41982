#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/error.hpp"

namespace attn {

// What the zip format fixes (PKWARE's APPNOTE): the first four bytes of each record, as numbers.
constexpr std::uint32_t zip_local_signature = 0x04034B50;
constexpr std::uint32_t zip_entry_signature = 0x02014B50;
constexpr std::uint32_t zip_end_signature = 0x06054B50;
constexpr std::uint32_t zip64_end_signature = 0x06064B50;
constexpr std::uint32_t zip64_locator_signature = 0x07064B50;
constexpr std::uint64_t zip64_elsewhere = 0xFFFFFFFF;  // "this number stands in the zip64 field"
constexpr std::uint16_t zip_stored = 0;
constexpr std::uint16_t zip_deflated = 8;

/// An archive's bytes, read as numbers with the lowest byte first. Nothing outside the archive is ever read.
struct ZipNumbers {
  std::string_view archive;
  const std::string& where;

  [[noreturn]] void damaged() const {
    fail("the .npz archive {} is damaged: save it again with numpy.savez", where);
  }
  std::string_view bytes(std::uint64_t begin, std::uint64_t size) const {
    if (begin > archive.size() || size > archive.size() - begin) damaged();
    return archive.substr(begin, size);
  }
  std::uint64_t at(std::uint64_t begin, std::uint64_t size) const {
    const std::string_view field = bytes(begin, size);
    std::uint64_t number = 0;
    for (std::size_t i = field.size(); i-- > 0;) number = number << 8U | static_cast<unsigned char>(field[i]);
    return number;
  }
};

}  // namespace attn
