#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// One file in a zip archive, as the archive's directory tells it: believed only where it has been checked.
struct ZipMember {
  std::string name;
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t local_header = 0;  // where its own header begins
  std::uint32_t checksum = 0;
  std::uint16_t method = 0;
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

}  // namespace attn
