#include <zlib.h>

#include "data/files/npy.hpp"
#include "data/files/zip_format.hpp"
#include "data/matrix_file.hpp"
#include "support/error.hpp"

namespace attn {

namespace {

constexpr std::uint64_t most_archive_bytes = 0xFFFFFFFE;
constexpr std::uint64_t local_header_bytes = 30;
constexpr std::uint64_t entry_bytes = 46;
constexpr std::uint64_t end_bytes = 22;

// A matrix on its way into the archive.
struct Member {
  std::string name;
  std::string head;
  const Matrix* matrix;
  std::uint64_t begin;

  std::uint64_t bytes() const { return head.size() + matrix->size() * sizeof(double); }
};

std::string little(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (; bytes > 0; --bytes, number >>= 8U) text += static_cast<char>(number & 0xFFU);
  return text;
}

std::uint64_t checksum(const Member& member) {
  const auto* head = reinterpret_cast<const Bytef*>(member.head.data());
  const auto* cells = reinterpret_cast<const Bytef*>(member.matrix->data());
  return crc32_z(crc32_z(0, head, member.head.size()), cells, member.matrix->size() * sizeof(double));
}

// What a member's own header and its entry in the directory have in common.
std::string description(const Member& member, std::uint64_t checksum) {
  constexpr std::uint64_t version = 20;
  constexpr std::uint64_t utf8_names = 0x0800;
  constexpr std::uint64_t first_of_january_1980 = 0x0021;
  return little(version, 2) + little(utf8_names, 2) + little(zip_stored, 2) + little(0, 2) +
         little(first_of_january_1980, 2) + little(checksum, 4) + little(member.bytes(), 4) +
         little(member.bytes(), 4) + little(member.name.size(), 2) + little(0, 2);
}

std::string entry(const Member& member, const std::string& description) {
  constexpr std::uint64_t made_by = 20;
  return little(zip_entry_signature, 4) + little(made_by, 2) + description + little(0, 2 + 2 + 2 + 4) +
         little(member.begin, 4) + member.name;
}

// Lays out the whole archive before a byte of it is written.
std::vector<Member> lay_out(const std::vector<NamedMatrix>& matrices) {
  std::vector<Member> members;
  std::uint64_t at = 0;
  std::uint64_t directory = end_bytes;
  for (const NamedMatrix& named : matrices) {
    members.push_back({named.name + ".npy", npy_head(named.matrix->shape()), named.matrix, at});
    at += local_header_bytes + members.back().name.size() + members.back().bytes();
    directory += entry_bytes + members.back().name.size();
  }
  constexpr std::size_t most = 0xFFFE;
  for (const Member& member : members) {
    if (member.name.size() > most)
      throw OutputError("a name is too long for an .npz archive: give a shorter one");
  }
  if (members.size() > most || at + directory > most_archive_bytes) {
    throw OutputError(
        "the .npz archive would be larger than 4 GiB: write fewer matrices, or one to an .npy file");
  }
  return members;
}

}  // namespace

void write_npz(const std::vector<NamedMatrix>& matrices, Sink& sink) {
  const std::vector<Member> members = lay_out(matrices);
  std::string directory;
  std::uint64_t at = 0;
  for (const Member& member : members) {
    const std::string shared = description(member, checksum(member));
    sink.write(little(zip_local_signature, 4) + shared + member.name);
    sink.write(member.head);
    write_npy_cells(*member.matrix, sink);
    directory += entry(member, shared);
    at = member.begin + local_header_bytes + member.name.size() + member.bytes();
  }
  sink.write(directory);
  sink.write(little(zip_end_signature, 4) + little(0, 4) + little(members.size(), 2) +
             little(members.size(), 2) + little(directory.size(), 4) + little(at, 4) + little(0, 2));
}

}  // namespace attn
