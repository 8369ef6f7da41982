#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <array>

#include "data/files/cell.hpp"
#include "data/files/zip.hpp"
#include "data/files/zip_format.hpp"

namespace attn {

namespace {

std::string_view packed_bytes(const ZipNumbers& zip, const ZipMember& member) {
  constexpr std::uint64_t local_header_bytes = 30;
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

  /// Appends the next piece. False when the data are damaged or end too early.
  bool append_to(std::string& unpacked) {
    constexpr std::size_t most_input = std::size_t{1} << 20;
    const std::string_view input = rest_.substr(0, most_input);
    stream_.next_in = reinterpret_cast<const Bytef*>(input.data());
    stream_.avail_in = static_cast<uInt>(input.size());
    stream_.next_out = piece_.data();
    stream_.avail_out = static_cast<uInt>(piece_.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    rest_.remove_prefix(input.size() - stream_.avail_in);
    const std::size_t came = piece_.size() - stream_.avail_out;
    unpacked.append(reinterpret_cast<const char*>(piece_.data()), came);
    done_ = result == Z_STREAM_END;
    return done_ ? rest_.empty() : result == Z_OK;
  }
  bool done() const { return done_; }

 private:
  z_stream stream_{};
  std::string_view rest_;
  std::array<Bytef, 64 * 1024> piece_;
  bool done_ = false;
};

void inflate_into(std::string& buffer, std::string_view packed, const PromisedBytes& promised,
                  const ZipNumbers& zip) {
  buffer.clear();
  Inflation inflation(packed);
  while (!inflation.done()) {
    if (!inflation.append_to(buffer)) zip.damaged();
    if (buffer.size() > promised(buffer)) {
      fail("{} unpacks to more bytes than its header says: the archive is damaged, save it again", zip.where);
    }
  }
}

}  // namespace

std::string_view unzip(std::string_view archive, const ZipMember& member, const PromisedBytes& promised,
                       std::string& buffer, const std::string& where) {
  const ZipNumbers zip{archive, where};
  if (member.encrypted) fail("{} is encrypted: save the archive without a password", where);
  const std::string_view packed = packed_bytes(zip, member);
  std::string_view unpacked = packed;
  if (member.method == zip_deflated) {
    inflate_into(buffer, packed, promised, zip);
    unpacked = buffer;
  } else if (member.method != zip_stored) {
    fail("{} is compressed with method {} of the zip format: save the archive with numpy.savez_compressed",
         where, member.method);
  }
  const auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(unpacked.data()), unpacked.size());
  if (unpacked.size() != member.bytes || checksum != member.checksum) {
    fail("{} does not match its checksum: the archive is damaged, save it again", where);
  }
  return unpacked;
}

}  // namespace attn
