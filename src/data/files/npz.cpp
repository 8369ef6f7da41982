#include "data/files/npz.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/support/error.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/npy.hpp"

namespace attn {

// --- npz

namespace {

constexpr std::string_view suffix = ".npy";
constexpr std::size_t most_of_header = std::size_t{1} << 21;  // more than any header that is read

std::string without_suffix(std::string_view name) {
  return std::string(name.substr(0, name.size() - (name.ends_with(suffix) ? suffix.size() : 0)));
}

// torch.save writes an archive with a pickled object in it.
bool is_of_torch(const ZipMember& member) { return member.name.ends_with("/data.pkl"); }

std::vector<ZipMember> matrices_in(std::string_view bytes, const std::string& where) {
  std::vector<ZipMember> members = zip_directory(bytes, where);
  if (std::ranges::any_of(members, is_of_torch)) {
    fail(
        "{} was saved with torch.save, and is read as parameters only: to read one of its matrices, save them as an .npz file, with import numpy, torch; numpy.savez('matrices.npz', **{{k: v.double().numpy() for k, v in torch.load('{}').items()}})",
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

std::uint32_t checksum(std::string_view head, const Matrix& matrix) {
  const auto* bytes = reinterpret_cast<const Bytef*>(head.data());
  const auto* cells = reinterpret_cast<const Bytef*>(matrix.data());
  const uLong of_head = crc32_z(0, bytes, head.size());
  return static_cast<std::uint32_t>(crc32_z(of_head, cells, matrix.size() * sizeof(double)));
}

}  // namespace

NpzArchive::NpzArchive(std::string_view bytes, const std::string& where)
    : bytes_(bytes), where_(where), members_(matrices_in(bytes, where)), names_(names_in(members_)) {}

MatrixFile NpzArchive::read(std::size_t place) const { return only_one(read_any(place), place_of_array(place)); }

std::string NpzArchive::place_of_array(std::size_t place) const { return fmt::format("{}:{}", where_, names_[place]); }

// Only so much is unpacked as the header needs.
NpyHeader NpzArchive::header(std::size_t place) const {
  const std::string where = place_of_array(place);
  std::string beginning;
  const auto take = [&](std::string_view piece) {
    beginning += piece.substr(0, most_of_header);
    const std::optional<std::size_t> size = npy_header_size(beginning, where);
    return !size || *size > beginning.size();
  };
  unzip(bytes_, members_[place], most_bytes, take, where);
  return parse_npy_header(beginning, where);
}

std::size_t NpzArchive::count_cells(const WantsArray& is_wanted) const {
  std::size_t cells = 0;
  for (std::size_t i = 0; i < names_.size() && cells <= most_cells; ++i) {
    if (!is_wanted(names_[i])) continue;
    try {
      cells += header(i).shape.cells();
    } catch (const InputError&) {
      // It is refused when it is read, if it is.
    }
  }
  return cells;
}

void NpzArchive::require_room(const WantsArray& is_wanted) const {
  const std::size_t cells = count_cells(is_wanted);
  if (cells > most_cells) fail("{} has more than {} numbers: leave out some arrays", where_, most_cells);
  Budget::require_cells(cells);
}

std::size_t count_cells_of_npz(std::string_view bytes, const std::string& where) {
  return NpzArchive(bytes, where).count_cells();
}

MatrixFile NpzArchive::read_any(std::size_t place) const {
  const std::string where = place_of_array(place);
  const NpyHeader told = header(place);
  const std::size_t most = most_unpacked(members_[place]);
  NpyReader reader(told, most - std::min(most, told.begin), where);
  std::size_t rest_of_header = told.begin;
  const auto take = [&](std::string_view piece) {
    const std::size_t of_header = std::min(rest_of_header, piece.size());
    rest_of_header -= of_header;
    reader.take(piece.substr(of_header));
    return true;
  };
  unzip(bytes_, members_[place], told.end(), take, where);
  return std::move(reader).finish();
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
