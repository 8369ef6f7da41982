#include "data/files/npz.hpp"

#include <algorithm>

#include "data/files/choice.hpp"
#include "data/files/npy_header.hpp"
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

}  // namespace

NpzArchive::NpzArchive(std::string_view bytes, const std::string& where)
    : bytes_(bytes), where_(where), members_(matrices_in(bytes, where)), names_(names_in(members_)) {}

MatrixFile NpzArchive::read(std::size_t place) const {
  const std::string where = fmt::format("{}:{}", where_, names_[place]);
  std::string buffer;
  return read_npy(unzip(bytes_, members_[place], Promise(where), buffer, where), "", where);
}

std::vector<std::string> npz_names(std::string_view bytes, const std::string& where) {
  return NpzArchive(bytes, where).names();
}

MatrixFile read_npz(std::string_view bytes, std::string_view key, const std::string& where) {
  const NpzArchive archive(bytes, where);
  return archive.read(choose_matrix(archive.names(), without_suffix(key), where));
}

}  // namespace attn
