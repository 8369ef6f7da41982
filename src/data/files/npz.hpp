#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/files/matrix_file.hpp"
#include "data/files/npy.hpp"
#include "data/files/zip.hpp"

namespace attn {

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
