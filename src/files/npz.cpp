#include "files/npz.hpp"

#include <zlib.h>

#include <algorithm>

#include "files/matrix_file.hpp"
#include "files/npy.hpp"
#include "files/zip.hpp"
#include "support/error.hpp"

namespace attn {

namespace {

constexpr std::string_view suffix = ".npy";

std::string without_suffix(std::string_view name) {
  return std::string(name.substr(0, name.size() - (name.ends_with(suffix) ? suffix.size() : 0)));
}

// torch.save writes an archive with a pickled object in it.
bool is_of_torch(const ZipMember& member) {
  return member.name.ends_with("/data.pkl");
}

std::vector<ZipMember> matrices_in(std::string_view bytes, const std::string& where) {
  std::vector<ZipMember> members = zip_directory(bytes, where);
  if (std::ranges::any_of(members, is_of_torch)) {
    fail(
        "{} was saved with torch.save: save its state dictionary as an .npz file, with import numpy, torch; "
        "numpy.savez('parameters.npz', **{{k: v.numpy() for k, v in torch.load('{}').items()}})",
        where, where);
  }
  std::erase_if(members, [](const ZipMember& member) { return !member.name.ends_with(suffix); });
  if (members.empty()) fail("{} is an archive without NumPy arrays: save some with numpy.savez", where);
  return members;
}

std::vector<std::string> names_in(const std::vector<ZipMember>& members) {
  std::vector<std::string> names;
  for (const ZipMember& member : members) names.push_back(without_suffix(member.name));
  return names;
}

// How many bytes the array may take that begins with these: its header says, once it is there.
class Promise {
 public:
  explicit Promise(const std::string& where) : where_(where) {}

  std::size_t operator()(std::string_view so_far) {
    if (!promised_) {
      const std::optional<std::size_t> header = npy_header_size(so_far, where_);
      if (header && *header <= so_far.size()) promised_ = parse_npy_header(so_far, where_).end();
    }
    return promised_.value_or(most_bytes);
  }

 private:
  const std::string& where_;
  std::optional<std::size_t> promised_;
};

std::uint32_t checksum(std::string_view head, const Matrix& matrix) {
  const auto* bytes = reinterpret_cast<const Bytef*>(head.data());
  const auto* cells = reinterpret_cast<const Bytef*>(matrix.data());
  const uLong of_head = crc32_z(0, bytes, head.size());
  return static_cast<std::uint32_t>(crc32_z(of_head, cells, matrix.size() * sizeof(double)));
}

}  // namespace

NpzArchive::NpzArchive(std::string_view bytes, const std::string& where)
    : bytes_(bytes), where_(where), members_(matrices_in(bytes, where)), names_(names_in(members_)) {}

MatrixFile NpzArchive::read(std::size_t place) const {
  return only_one(read_any(place), fmt::format("{}:{}", where_, names_[place]));
}

MatrixFile NpzArchive::read_any(std::size_t place) const {
  const std::string where = fmt::format("{}:{}", where_, names_[place]);
  std::string buffer;
  return read_npy(unzip(bytes_, members_[place], Promise(where), buffer, where), "", where);
}

std::vector<std::string> npz_names(std::string_view bytes, const std::string& where) {
  return NpzArchive(bytes, where).names();
}

MatrixFile read_npz(std::string_view bytes, std::string_view key, const std::string& where) {
  const NpzArchive archive(bytes, where);
  return archive.read_any(choose_matrix(archive.names(), without_suffix(key), where));
}

std::vector<MatrixFile> read_all_npz(std::string_view bytes, const std::string& where) {
  const NpzArchive archive(bytes, where);
  std::vector<MatrixFile> all;
  for (std::size_t i = 0; i < archive.names().size(); ++i) {
    try {
      all.push_back(archive.read_any(i));
    } catch (const InputError& error) {
      all.push_back({.refused = error.what()});
    }
    all.back().name = archive.names()[i];
  }
  return all;
}

void write_npz(const std::vector<NamedMatrix>& matrices, Sink& sink) {
  std::vector<std::string> heads;
  std::vector<ZipMember> members;
  for (const auto& [name, matrix] : matrices) {
    const std::string& head = heads.emplace_back(npy_head(matrix->shape()));
    const std::uint64_t bytes = head.size() + matrix->size() * sizeof(double);
    members.push_back({.name = name + std::string(suffix), .packed_bytes = bytes, .bytes = bytes});
  }
  lay_out_zip(members);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Matrix& matrix = *matrices[i].matrix;
    members[i].checksum = checksum(heads[i], matrix);
    sink.write(zip_header(members[i]));
    sink.write(heads[i]);
    write_npy_cells(matrix, sink);
  }
  sink.write(zip_ending(members));
}

}  // namespace attn
