#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/math/matrix.hpp"
#include "data/files/mapped_file.hpp"

namespace attn {

/// Whether a file was written by torch.save: an archive with a pickle, which says what its storages are.
bool is_torch_file(std::string_view bytes);

/// The state dictionary in such a file. Nothing that the pickle names is run (data/files/pickle.hpp).
class TorchFile {
 public:
  /// Throws InputError: damaged, it wants to run something, no tensors.
  TorchFile(FileBytes file, std::string where);
  ~TorchFile();
  TorchFile(const TorchFile&) = delete;
  TorchFile& operator=(const TorchFile&) = delete;

  /// The names of its tensors, each once.
  const std::vector<std::string>& names() const { return names_; }
  /// The name of the dictionary that has them, where others stand beside it: "model". Empty: the file has nothing else.
  const std::string& member() const { return member_; }

  /// A matrix, or a vector as one row; where it is, if its storage is not compressed, and otherwise as long as this
  /// lives. Throws InputError: of more dimensions, or outside of its storage.
  Matrix read(const std::string& name) const;

 private:
  struct Parts;

  std::unique_ptr<Parts> parts_;
  std::vector<std::string> names_;
  std::string member_;
};

}  // namespace attn
