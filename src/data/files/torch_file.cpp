#include "data/files/torch_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "core/math/stored_matrix.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/pickle.hpp"
#include "data/files/zip.hpp"

namespace attn {

namespace {

constexpr std::string_view pickle_name = "/data.pkl";
constexpr std::size_t most_of_pickle = std::size_t{1} << 26;

using Tensors = std::map<std::string, const PickledTensor*, std::less<>>;

// The tensors of a dictionary by their names; whatever else it has is none.
Tensors tensors_in(const PickledDictionary& dictionary) {
  Tensors tensors;
  for (const auto& [key, value] : dictionary.members) {
    const auto* const name = key->as<std::string_view>();
    const auto* const tensor = value->as<PickledTensor>();
    if (name && tensor) tensors.insert_or_assign(std::string(*name), tensor);
  }
  return tensors;
}

// What training scripts call the state dictionary of a model, beside which they save other things.
constexpr std::string_view state_dictionaries[] = {"state_dict", "model_state_dict", "model", "module"};

struct Found {
  Tensors tensors;
  std::string member;
};

Found state_dictionary_in(const PickledDictionary& file) {
  for (const std::string_view name : state_dictionaries) {
    for (const auto& [key, value] : file.members) {
      const auto* const text = key->as<std::string_view>();
      const auto* const dictionary = value->as<PickledDictionary>();
      if (!text || *text != name || !dictionary) continue;
      if (Tensors tensors = tensors_in(*dictionary); !tensors.empty()) return {std::move(tensors), std::string(name)};
    }
  }
  return {tensors_in(file), ""};
}

// --- views

// A view as rows and columns.
struct View {
  Shape shape;
  std::uint64_t begin, row, column;  // the place of the first number, and how far apart neighbors are
};

bool is_within(const View& view, std::uint64_t count) {
  if (view.begin >= count) return false;
  std::uint64_t left = count - 1 - view.begin;
  for (const auto& [size, stride] :
       {std::pair<std::uint64_t, std::uint64_t>{view.shape.rows, view.row}, {view.shape.columns, view.column}}) {
    if (size > 1 && stride > left / (size - 1)) return false;
    left -= (size - 1) * stride;
  }
  return true;
}

View view_of(const PickledTensor& tensor, const std::string& name, const std::string& where) {
  const std::vector<std::size_t> sizes = without_single_ones(tensor.sizes);
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  const auto is_too_large = [](std::uint64_t size) { return size > most; };
  if (sizes.empty() || sizes.size() > 2 || std::ranges::any_of(sizes, is_too_large)) {
    fail("{}: the tensor {} has {}: give a matrix (2 dimensions) or a vector (1 dimension)", where,
         name_in_quotes(name), count_of(tensor.sizes.size(), "dimension"));
  }
  if (std::ranges::find(sizes, 0U) != sizes.end()) fail("{}: the tensor {} is empty: leave it out", where, name);
  const std::size_t last = tensor.strides.size() - 1;
  if (sizes.size() == 1) return {{1, sizes[0]}, tensor.offset, 0, tensor.strides[last]};
  return {{sizes[0], sizes[1]}, tensor.offset, tensor.strides[last - 1], tensor.strides[last]};
}

// Where neighbors of one dimension lie beside each other.
std::optional<StoredMatrix> stored_view(const View& view, const StoredType& type, const FileBytes& bytes) {
  const auto [rows, columns] = view.shape;
  StoredMatrix stored{.type = &type,
                      .elements = reinterpret_cast<const std::byte*>(bytes.bytes.data()) + view.begin * type.bytes,
                      .holder = bytes.holder,
                      .shape = view.shape};
  if (columns == 1 || view.column == 1) {
    stored.line = view.row;
    return stored;
  }
  if (rows > 1 && view.row != 1) return std::nullopt;
  stored.is_transposed = true;
  stored.line = view.column;
  return stored;
}

Matrix gathered(const View& view, const ElementType& type, std::string_view bytes, const std::string& name) {
  require_size(name, view.shape);
  Matrix matrix(view.shape);
  const auto* const elements = reinterpret_cast<const unsigned char*>(bytes.data());
  for (std::size_t i = 0; i < view.shape.rows; ++i) {
    const std::span<double> cells = row(matrix, i);
    for (std::size_t j = 0; j < cells.size(); ++j)
      cells[j] = type.decode(elements + (view.begin + i * view.row + j * view.column) * type.bytes);
  }
  return matrix;
}

}  // namespace

bool is_torch_file(std::string_view bytes) {
  constexpr std::size_t most_looked_at = std::size_t{1} << 16;
  if (!bytes.starts_with("PK\x03\x04")) return false;
  const std::string_view end = bytes.substr(bytes.size() - std::min(bytes.size(), most_looked_at));
  return bytes.substr(0, most_looked_at).find(pickle_name) != std::string_view::npos ||
         end.find(pickle_name) != std::string_view::npos;
}

// How many numbers of its storage a tensor reaches over.
std::uint64_t reach_of(const PickledTensor& tensor) {
  constexpr std::uint64_t far = std::uint64_t{1} << 40;  // no storage has so many
  std::uint64_t last = tensor.offset;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    const std::uint64_t size = tensor.sizes[i], stride = tensor.strides[i];
    if (size == 0) return 0;
    if (last > far || size > far || (size > 1 && stride > far / (size - 1))) return far;
    last += (size - 1) * stride;
  }
  return std::min(last, far) + 1;
}

struct TorchFile::Parts {
  FileBytes file;
  std::string where;
  std::map<std::string, ZipMember, std::less<>> members = {};  // behind the name of the folder that all are in
  std::shared_ptr<const std::string> unpacked_pickle = {};
  Pickle pickle = {};
  Tensors tensors = {};
  std::map<std::string_view, std::uint64_t> needed = {};  // bytes of storages, as far as tensors reach
  std::map<std::string_view, FileBytes> storages = {};    // that were opened
  std::uint64_t unpacked = 0;                             // bytes of these that are compressed

  const ZipMember& member(std::string_view name) const {
    const auto found = members.find(name);
    if (found == members.end()) fail("{} has no {}: save the file again", where, name_in_quotes(name));
    return found->second;
  }

  static bool is_packed(const ZipMember& found) { return found.method != zip_stored || found.encrypted; }

  // Where it is, or unpacked as far as it is needed. Where that is all of it, its checksum is compared.
  FileBytes bytes_of(const ZipMember& found, std::uint64_t needed_bytes) const {
    if (!is_packed(found)) return {stored_bytes(file.bytes, found, where), file.holder, file.is_mapped};
    const auto text = std::make_shared<std::string>();
    text->reserve(std::min(needed_bytes, most_unpacked(found)));
    const auto take = [&](std::string_view piece) {
      text->append(piece.substr(0, needed_bytes - text->size()));
      return needed_bytes >= found.bytes || text->size() < needed_bytes;
    };
    unzip(file.bytes, found, found.bytes, take, fmt::format("{}:{}", where, found.name));
    return {*text, text};
  }

  FileBytes small_member(std::string_view name) const {
    const ZipMember& found = member(name);
    if (most_unpacked(found) > most_of_pickle)
      fail("{}: {} has more than {} bytes: save the state dictionary alone", where, name_in_quotes(name),
           most_of_pickle);
    return bytes_of(found, found.bytes);
  }

  void note_needed(const PickledTensor& tensor) {
    const std::uint64_t bytes = find_element_type(&ElementType::safetensors, tensor.storage.type)->bytes;
    std::uint64_t& most = needed[tensor.storage.key];
    most = std::max(most, reach_of(tensor) * bytes);
  }

  FileBytes storage(const PickledStorage& storage) {
    const auto found = storages.find(storage.key);
    if (found != storages.end()) return found->second;
    const ZipMember& packed = member(fmt::format("data/{}", storage.key));
    const std::uint64_t bytes = std::min(needed[storage.key], most_unpacked(packed));
    if (is_packed(packed)) {
      if (bytes > most_bytes - unpacked)
        fail("{}: its compressed tensors have more than {} bytes: save it again, torch.save does not compress", where,
             most_bytes);
      unpacked += bytes;
      Budget::require_cells(unpacked / sizeof(double));
    }
    return storages.emplace(storage.key, bytes_of(packed, needed[storage.key])).first->second;
  }
};

TorchFile::~TorchFile() = default;

TorchFile::TorchFile(FileBytes file, std::string where) {
  parts_ = std::make_unique<Parts>(Parts{.file = std::move(file), .where = std::move(where)});
  const std::string& place = parts_->where;
  std::string_view folder;
  std::vector<ZipMember> members = zip_directory(parts_->file.bytes, place);
  for (const ZipMember& member : members) {
    if (member.name.ends_with(pickle_name))
      folder = std::string_view(member.name).substr(0, member.name.size() - pickle_name.size() + 1);
  }
  for (const ZipMember& member : members) {
    if (member.name.starts_with(folder)) parts_->members.emplace(member.name.substr(folder.size()), member);
  }
  if (parts_->members.contains("byteorder") && parts_->small_member("byteorder").bytes.starts_with("big"))
    fail("{} has numbers with the highest byte first: save it on a machine that has the lowest first", place);
  const FileBytes pickle = parts_->small_member("data.pkl");
  parts_->unpacked_pickle = std::make_shared<const std::string>(pickle.bytes);
  parts_->pickle = read_pickle(*parts_->unpacked_pickle, place);
  const auto* const dictionary = parts_->pickle.made->as<PickledDictionary>();
  Found found = dictionary ? state_dictionary_in(*dictionary) : Found{};
  if (found.tensors.empty())
    fail("{} has no dictionary of tensors: save one, with torch.save(model.state_dict(), 'parameters.pt')", place);
  parts_->tensors = std::move(found.tensors);
  if (dictionary->members.size() > 1) member_ = std::move(found.member);
  for (const auto& [name, tensor] : parts_->tensors) {
    names_.push_back(name);
    parts_->note_needed(*tensor);
  }
}

// --- views

Matrix TorchFile::read(const std::string& name) const {
  const PickledTensor& tensor = *parts_->tensors.at(name);
  const ElementType& type = *find_element_type(&ElementType::safetensors, tensor.storage.type);
  const View view = view_of(tensor, name, parts_->where);
  const FileBytes bytes = parts_->storage(tensor.storage);
  const std::size_t count = bytes.bytes.size() / type.bytes;
  if (!is_within(view, count))
    fail("{}: the tensor {} lies outside of its storage: save the file again", parts_->where, name_in_quotes(name));
  // Some numbers several times are no parameters, and could be of any size.
  if (view.shape.rows > count / view.shape.columns)
    fail("{}: the tensor {} repeats its numbers: save it with contiguous()", parts_->where, name_in_quotes(name));
  if (type.stored && bytes.holder) {
    if (std::optional<StoredMatrix> stored = stored_view(view, *type.stored, bytes)) return Matrix(std::move(*stored));
  }
  return gathered(view, type, bytes.bytes, name);
}

}  // namespace attn
