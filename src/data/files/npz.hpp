#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/files/matrix_file.hpp"
#include "data/files/npy.hpp"

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

/// Hands on a member unpacked, piece after piece, as long as `take` wants more. At most `most` bytes are unpacked.
/// Throws InputError: outside the archive, encrypted, packed in an unknown way, damaged, more bytes.
using TakePiece = std::function<bool(std::string_view piece)>;
void unzip(std::string_view archive, const ZipMember& member, std::size_t most, const TakePiece& take,
           const std::string& where);

/// Says where each member begins in an archive that is to be written; their names and sizes are given.
/// Throws OutputError: a name that is too long, or more than a zip archive holds.
void lay_out_zip(std::vector<ZipMember>& members);

/// What stands before the packed bytes of a member. No times: the same bytes every time.
std::string zip_header(const ZipMember& member);

/// What stands behind the last member: the directory.
std::string zip_ending(const std::vector<ZipMember>& members);

/// A .npz archive whose matrices are read one by one; its bytes and `where` must outlive it.
class NpzArchive {
 public:
  /// Throws InputError: no archive, a damaged directory, or no arrays in it.
  NpzArchive(std::string_view bytes, const std::string& where);

  /// The names in the archive's order and without `.npy`.
  const std::vector<std::string>& names() const { return names_; }

  /// How many numbers these arrays have, or more than a matrix may have. Only their headers are read.
  using WantsArray = std::function<bool(const std::string& name)>;
  std::size_t count_cells(const WantsArray& is_wanted = [](const std::string&) { return true; }) const;
  /// Throws InputError when that is more than a matrix may have.
  void require_room(const WantsArray& is_wanted = [](const std::string&) { return true; }) const;

  /// The matrix at a place among the names. Throws InputError: damaged, or no matrix of real numbers.
  MatrixFile read(std::size_t place) const;
  /// The same, or several matrices where the array has three dimensions or four.
  MatrixFile read_any(std::size_t place) const;

 private:
  std::string place_of_array(std::size_t place) const;
  NpyHeader header(std::size_t place) const;

  std::string_view bytes_;
  const std::string& where_;
  std::vector<ZipMember> members_;
  std::vector<std::string> names_;
};

/// The names of the matrices in a .npz archive, in its order and without `.npy`; each can be a key of
/// read_npz. Throws InputError: no archive, a damaged directory, or no arrays in it.
std::vector<std::string> npz_names(std::string_view bytes, const std::string& where);

}  // namespace attn
