#include "data/files/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>

#include "core/support/error.hpp"

namespace attn {

namespace {

// What the zip format fixes (PKWARE's APPNOTE): the first four bytes of each record, as numbers.
constexpr std::string_view beginning_of_archives = "PK";
constexpr std::uint32_t zip_local_signature = 0x04034B50;
constexpr std::uint32_t zip_entry_signature = 0x02014B50;
constexpr std::uint32_t zip_end_signature = 0x06054B50;
constexpr std::uint32_t zip64_end_signature = 0x06064B50;
constexpr std::uint32_t zip64_locator_signature = 0x07064B50;
constexpr std::uint64_t zip64_elsewhere = 0xFFFFFFFF;  // "this number stands in the zip64 field"
constexpr std::uint16_t zip_deflated = 8;
// And how long each is without its names and fields.
constexpr std::uint64_t local_header_bytes = 30;
constexpr std::uint64_t entry_bytes = 46;
constexpr std::uint64_t end_bytes = 22;
constexpr std::uint64_t locator_bytes = 20;

// An archive's bytes, read as numbers with the lowest byte first. Nothing outside the archive is ever read.
struct ZipNumbers {
  std::string_view archive;
  const std::string& where;

  [[noreturn]] void damaged() const { fail("the archive {} is damaged: save it again", where); }
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
  if (!zip.archive.starts_with(beginning_of_archives))
    fail("{} is no zip archive: save it again, or give it a name that ends as files of its kind do", where);
  fail("{} is not a complete archive (its directory is missing): save it again", where);
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

// No byte belongs to two members. Where one lies outside of the archive, that is told when it is read.
void require_members_apart(const std::vector<ZipMember>& members, const ZipNumbers& zip) {
  std::vector<const ZipMember*> in_order;
  for (const ZipMember& member : members) in_order.push_back(&member);
  std::ranges::sort(in_order, {}, &ZipMember::local_header);
  for (std::size_t i = 1; i < in_order.size(); ++i) {
    const ZipMember& member = *in_order[i - 1];
    const std::uint64_t room = in_order[i]->local_header - member.local_header;
    const std::uint64_t header = local_header_bytes + member.name.size();
    if (room < header || room - header < member.packed_bytes) zip.damaged();
  }
}

std::string_view packed_bytes(const ZipNumbers& zip, const ZipMember& member) {
  const std::uint64_t at = member.local_header;
  if (zip.bytes(at, local_header_bytes).empty() || zip.at(at, 4) != zip_local_signature) zip.damaged();
  const std::uint64_t name_bytes = zip.at(at + 26, 2);
  if (zip.bytes(at + local_header_bytes, name_bytes) != member.name) zip.damaged();
  return zip.bytes(at + local_header_bytes + name_bytes + zip.at(at + 28, 2), member.packed_bytes);
}

// zlib's state, ended whatever happens.
class Inflation {
 public:
  explicit Inflation(std::string_view packed) : rest_(packed) {
    constexpr int no_zlib_header = -MAX_WBITS;
    if (inflateInit2(&stream_, no_zlib_header) != Z_OK) throw std::bad_alloc();
  }
  ~Inflation() { inflateEnd(&stream_); }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;

  /// The next piece, until the next call. Nothing when the data are damaged or end too early.
  std::optional<std::string_view> next() {
    constexpr std::size_t most_input = std::size_t{1} << 20;
    const std::string_view input = rest_.substr(0, most_input);
    stream_.next_in = reinterpret_cast<const Bytef*>(input.data());
    stream_.avail_in = static_cast<uInt>(input.size());
    stream_.next_out = piece_.data();
    stream_.avail_out = static_cast<uInt>(piece_.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    rest_.remove_prefix(input.size() - stream_.avail_in);
    done_ = result == Z_STREAM_END;
    if (done_ ? !rest_.empty() : result != Z_OK) return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(piece_.data()), piece_.size() - stream_.avail_out);
  }
  bool done() const { return done_; }

 private:
  z_stream stream_{};
  std::string_view rest_;
  std::array<Bytef, 64 * 1024> piece_;
  bool done_ = false;
};

std::string little(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (; bytes > 0; --bytes, number >>= 8U) text += static_cast<char>(number & 0xFFU);
  return text;
}

// What a member's own header and its entry in the directory have in common.
std::string description(const ZipMember& member) {
  constexpr std::uint64_t version = 20;
  constexpr std::uint64_t utf8_names = 0x0800;
  constexpr std::uint64_t first_of_january_1980 = 0x0021;
  return little(version, 2) + little(utf8_names, 2) + little(member.method, 2) + little(0, 2) +
         little(first_of_january_1980, 2) + little(member.checksum, 4) + little(member.packed_bytes, 4) +
         little(member.bytes, 4) + little(member.name.size(), 2) + little(0, 2);
}

std::uint64_t end_of(const ZipMember& member) {
  return member.local_header + local_header_bytes + member.name.size() + member.packed_bytes;
}

}  // namespace

std::vector<ZipMember> zip_directory(std::string_view archive, const std::string& where) {
  constexpr std::uint64_t most_members = 100'000;
  const ZipNumbers zip{archive, where};
  const Directory directory = find_directory(zip, where);
  if (directory.members > most_members) {
    fail("{} has {} members, more than the limit of {}: split it into several files", where, directory.members,
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
  require_members_apart(members, zip);
  return members;
}

std::string_view stored_bytes(std::string_view archive, const ZipMember& member, const std::string& where) {
  const ZipNumbers zip{archive, where};
  const std::string_view bytes = packed_bytes(zip, member);
  if (bytes.size() != member.bytes) zip.damaged();
  return bytes;
}

void unzip(std::string_view archive, const ZipMember& member, std::size_t most, const TakePiece& take,
           const std::string& where) {
  const ZipNumbers zip{archive, where};
  if (member.encrypted) fail("{} is encrypted: save the archive without a password", where);
  const std::string_view packed = packed_bytes(zip, member);
  uLong checksum = 0;
  std::size_t size = 0;
  constexpr std::uint64_t work_of_unpacked_byte = 4;
  const auto hand_on = [&](std::string_view piece) {
    Budget::take_reading(work_of_unpacked_byte * piece.size());
    checksum = crc32_z(checksum, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
    size += piece.size();
    return take(piece);
  };
  if (member.method == zip_deflated) {
    for (Inflation inflation(packed); !inflation.done();) {
      const std::optional<std::string_view> piece = inflation.next();
      if (!piece) zip.damaged();
      if (size + piece->size() > most)
        fail("{} unpacks to more bytes than its header says: the archive is damaged, save it again", where);
      if (!hand_on(*piece)) return;
    }
  } else if (member.method != zip_stored) {
    fail("{} is compressed with method {} of the zip format: save the archive without compression", where,
         member.method);
  } else if (!hand_on(packed)) {
    return;
  }
  if (size != member.bytes || checksum != member.checksum)
    fail("{} does not match its checksum: the archive is damaged, save it again", where);
}

// No more than so many bytes are packed into one byte (zlib Technical Details, Maximum Compression Factor).
std::uint64_t most_unpacked(const ZipMember& member) {
  constexpr std::uint64_t most_packed = 1032;
  return member.method == zip_stored ? member.packed_bytes : std::min(member.bytes, most_packed * member.packed_bytes);
}

void lay_out_zip(std::vector<ZipMember>& members) {
  constexpr std::size_t most_members = 0xFFFE;
  constexpr std::size_t longest_name = 0xFFFE;
  constexpr std::uint64_t most_archive_bytes = 0xFFFFFFFE;
  std::uint64_t at = 0;
  std::uint64_t directory = end_bytes;
  for (ZipMember& member : members) {
    if (member.name.size() > longest_name)
      throw OutputError("a name is too long for an .npz archive: give a shorter one");
    member.local_header = at;
    at = end_of(member);
    directory += entry_bytes + member.name.size();
  }
  if (members.size() > most_members || at + directory > most_archive_bytes) {
    throw OutputError("the .npz archive would be larger than 4 GiB: write fewer matrices, or one to an .npy file");
  }
}

std::string zip_header(const ZipMember& member) {
  return little(zip_local_signature, 4) + description(member) + member.name;
}

std::string zip_ending(const std::vector<ZipMember>& members) {
  constexpr std::uint64_t made_by = 20;
  std::string directory;
  for (const ZipMember& member : members) {
    directory += little(zip_entry_signature, 4) + little(made_by, 2) + description(member) + little(0, 2 + 2 + 2 + 4) +
                 little(member.local_header, 4) + member.name;
  }
  const std::uint64_t begin = members.empty() ? 0 : end_of(members.back());
  return directory + little(zip_end_signature, 4) + little(0, 4) + little(members.size(), 2) +
         little(members.size(), 2) + little(directory.size(), 4) + little(begin, 4) + little(0, 2);
}

}  // namespace attn
