#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/outside.hpp"

namespace attn {

// Zip archives, as far as .npz files and those of PyTorch need them (PKWARE's APPNOTE.TXT, .ZIP File Format
// Specification).

constexpr std::uint16_t zip_stored = 0;  // the method of a member that is not compressed

/// One file in a zip archive. Read from an archive's directory, it is believed only where it has been
/// checked.
struct ZipMember {
  std::string name;
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t local_header = 0;  // where its own header begins
  std::uint32_t checksum = 0;
  std::uint16_t method = zip_stored;
  bool encrypted = false;
};

/// The members of an archive. Throws InputError: no archive, or a damaged directory.
std::vector<ZipMember> zip_directory(std::string_view archive, const std::string& where);

/// Hands on a member unpacked, piece after piece, as long as `take` wants more. At most `most` bytes are unpacked, and
/// each is work (Budget::take_reading).
/// Throws InputError: outside the archive, encrypted, packed in an unknown way, damaged, more bytes.
using TakePiece = std::function<bool(std::string_view piece)>;
void unzip(std::string_view archive, const ZipMember& member, std::size_t most, const TakePiece& take,
           const std::string& where);

/// The bytes of a member that is not compressed, where they are in the archive; they are not compared with its
/// checksum. Throws InputError: outside the archive.
std::string_view stored_bytes(std::string_view archive, const ZipMember& member, const std::string& where);

/// What can come of a member, whatever its directory says.
std::uint64_t most_unpacked(const ZipMember& member);

/// Says where each member begins in an archive that is to be written; their names and sizes are given.
/// Throws OutputError: a name that is too long, or more than a zip archive holds.
void lay_out_zip(std::vector<ZipMember>& members);

/// What stands before the packed bytes of a member. No times: the same bytes every time.
std::string zip_header(const ZipMember& member);

/// What stands behind the last member: the directory.
std::string zip_ending(const std::vector<ZipMember>& members);

}  // namespace attn
