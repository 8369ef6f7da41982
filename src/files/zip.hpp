#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

// Zip archives, as far as .npz needs them (PKWARE's APPNOTE.TXT, .ZIP File Format Specification).

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

/// The bytes of a member unpacked: a view into the archive or into `buffer`. While it unpacks, `promised` is
/// asked, with what has come so far, how many bytes may come in all; more are refused.
/// Throws InputError: outside the archive, encrypted, packed in an unknown way, damaged, more than promised.
using PromisedBytes = std::function<std::size_t(std::string_view so_far)>;
std::string_view unzip(std::string_view archive, const ZipMember& member, const PromisedBytes& promised,
                       std::string& buffer, const std::string& where);

/// Says where each member begins in an archive that is to be written; their names and sizes are given.
/// Throws OutputError: a name that is too long, or more than a zip archive holds.
void lay_out_zip(std::vector<ZipMember>& members);

/// What stands before the packed bytes of a member. No times: the same bytes every time.
std::string zip_header(const ZipMember& member);

/// What stands behind the last member: the directory.
std::string zip_ending(const std::vector<ZipMember>& members);

}  // namespace attn
