#include <algorithm>

#include "data/files/zip.hpp"
#include "data/files/zip_format.hpp"
#include "support/error.hpp"

namespace attn {

namespace {

constexpr std::uint64_t end_bytes = 22;
constexpr std::uint64_t locator_bytes = 20;
constexpr std::uint64_t entry_bytes = 46;

struct Directory {
  std::uint64_t begin;
  std::uint64_t bytes;
  std::uint64_t members;
};

// The end record is followed by a comment of up to 64 KiB, which must reach exactly to the archive's end.
std::uint64_t find_end_record(const ZipNumbers& zip, const std::string& where) {
  constexpr std::uint64_t longest_comment = 0xFFFF;
  const std::uint64_t size = zip.archive.size();
  for (std::uint64_t comment = 0; comment <= longest_comment && comment + end_bytes <= size; ++comment) {
    const std::uint64_t at = size - end_bytes - comment;
    if (zip.at(at, 4) == zip_end_signature && zip.at(at + 20, 2) == comment) return at;
  }
  fail("{} is not a complete .npz archive (its directory is missing): save it again with numpy.savez", where);
}

// Archives of many members, or larger than 4 GiB, have a second end record; a locator before the first says
// where.
Directory find_directory(const ZipNumbers& zip, const std::string& where) {
  const std::uint64_t end = find_end_record(zip, where);
  const bool has_locator = end >= locator_bytes && zip.at(end - locator_bytes, 4) == zip64_locator_signature;
  if (!has_locator) return {zip.at(end + 16, 4), zip.at(end + 12, 4), zip.at(end + 10, 2)};
  const std::uint64_t end64 = zip.at(end - locator_bytes + 8, 8);
  if (zip.at(end64, 4) != zip64_end_signature) zip.damaged();
  return {zip.at(end64 + 48, 8), zip.at(end64 + 40, 8), zip.at(end64 + 32, 8)};
}

// Sizes and places that do not fit into four bytes stand in an extra field, in this order.
void read_zip64(ZipMember& member, const ZipNumbers& zip, std::uint64_t at, std::uint64_t end) {
  constexpr std::uint64_t zip64_field = 1;
  while (at + 4 <= end) {
    const std::uint64_t field = zip.at(at, 2);
    const std::uint64_t field_end = at + 4 + zip.at(at + 2, 2);
    if (field_end > end) zip.damaged();
    at += 4;
    for (std::uint64_t* number : {&member.bytes, &member.packed_bytes, &member.local_header}) {
      if (field != zip64_field || *number != zip64_elsewhere) continue;
      if (at + 8 > field_end) zip.damaged();
      *number = zip.at(at, 8);
      at += 8;
    }
    if (field == zip64_field) return;
    at = field_end;
  }
}

ZipMember read_entry(const ZipNumbers& zip, std::uint64_t at) {
  ZipMember member;
  member.encrypted = (zip.at(at + 8, 2) & 1U) != 0;
  member.method = static_cast<std::uint16_t>(zip.at(at + 10, 2));
  member.checksum = static_cast<std::uint32_t>(zip.at(at + 16, 4));
  member.packed_bytes = zip.at(at + 20, 4);
  member.bytes = zip.at(at + 24, 4);
  member.local_header = zip.at(at + 42, 4);
  const std::uint64_t name_bytes = zip.at(at + 28, 2);
  const std::uint64_t extra = at + entry_bytes + name_bytes;
  member.name = zip.bytes(at + entry_bytes, name_bytes);
  read_zip64(member, zip, extra, extra + zip.at(at + 30, 2));
  return member;
}

}  // namespace

std::vector<ZipMember> zip_directory(std::string_view archive, const std::string& where) {
  constexpr std::uint64_t most_members = 100'000;
  const ZipNumbers zip{archive, where};
  const Directory directory = find_directory(zip, where);
  if (directory.members > most_members) {
    fail("{} has {} arrays, more than the limit of {}: split it into several files", where, directory.members,
         most_members);
  }
  zip.bytes(directory.begin, directory.bytes);
  std::vector<ZipMember> members;
  std::uint64_t at = directory.begin;
  for (std::uint64_t i = 0; i < directory.members; ++i) {
    if (zip.at(at, 4) != zip_entry_signature) zip.damaged();
    members.push_back(read_entry(zip, at));
    at += entry_bytes + zip.at(at + 28, 2) + zip.at(at + 30, 2) + zip.at(at + 32, 2);
  }
  if (at != directory.begin + directory.bytes) zip.damaged();
  return members;
}

}  // namespace attn
