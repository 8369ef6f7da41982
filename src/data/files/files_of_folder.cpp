#include "data/files/files_of_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/support/error.hpp"
#include "core/support/printable.hpp"
#include "data/files/file_access.hpp"

namespace attn {
namespace {

constexpr std::size_t most_names = 100'000;

// Where links of a folder may lead: into it; and of a revision in the cache of Hugging Face's hub to the files of the
// same model, which lie beside all its revisions: MODEL/snapshots/REVISION and MODEL/blobs.
std::vector<std::filesystem::path> places_of_links(const std::filesystem::path& folder) {
  const std::filesystem::path own = real_path(folder), revisions = own.parent_path();
  std::vector<std::filesystem::path> places = {own};
  if (revisions.filename() == "snapshots") places.push_back(revisions.parent_path() / "blobs");
  return places;
}

bool leaves(const std::filesystem::path& place, const std::vector<std::filesystem::path>& allowed) {
  const std::filesystem::path leads_to = real_path(place);
  return std::ranges::none_of(allowed, [&](const std::filesystem::path& folder) {
    return !folder.empty() && std::ranges::mismatch(folder, leads_to).in1 == folder.end();
  });
}

// Why what stands at a place is not read, behind its name; empty: it may be read.
std::string_view refusal(const std::filesystem::path& place, const std::vector<std::filesystem::path>& places,
                         bool may_be_folder) {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(place, unknown);
  constexpr std::string_view leads_nowhere = "is a link that leads to no file";
  if (unknown == std::errc::too_many_symbolic_link_levels) return leads_nowhere;
  if (std::filesystem::is_symlink(place, unknown)) {
    if (leaves(place, places)) return "is a link that leads out of its folder: put the file itself there";
    if (!std::filesystem::exists(status)) return leads_nowhere;
  }
  // Where the system does not let one look, opening it says why.
  if (status.type() == std::filesystem::file_type::unknown || std::filesystem::is_regular_file(status)) return {};
  if (may_be_folder && std::filesystem::is_directory(status)) return {};
  return "is no regular file: put the file itself there";
}

}  // namespace

std::string path_in(const std::string& folder, std::string_view name) {
  return (std::filesystem::path(folder) / name).string();
}

std::vector<FileOfFolder> files_of_folder(const std::string& folder) {
  const std::filesystem::path place = confined_path(folder);
  const std::vector<std::filesystem::path> places = places_of_links(place);
  std::vector<FileOfFolder> files;
  std::error_code reason;
  for (std::filesystem::directory_iterator entry(place, reason), end; !reason && entry != end;
       entry.increment(reason)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with('.')) continue;
    if (files.size() == most_names) fail("{} has more than {} files: give a folder with fewer", folder, most_names);
    FileOfFolder file{.path = path_in(folder, printable(name))};
    std::error_code unknown;
    file.is_folder = entry->is_directory(unknown);
    const std::string_view why = is_printable(name)
                                     ? refusal(entry->path(), places, true)
                                     : "has a name with characters that cannot be shown: give it another name";
    if (!why.empty()) file.refused = fmt::format("{} {}", file.path, why);
    files.push_back(std::move(file));
  }
  if (reason) fail_unreadable(folder, reason);
  std::ranges::sort(files, {}, &FileOfFolder::path);
  return files;
}

bool has_file(const std::string& folder, std::string_view name) {
  const std::filesystem::path within = confined_path(folder.empty() ? "." : folder);
  const std::filesystem::path place = within / name;
  std::error_code unknown;
  if (!std::filesystem::exists(std::filesystem::symlink_status(place, unknown))) return false;
  const std::string_view why = refusal(place, places_of_links(within), false);
  if (!why.empty()) fail("{} {}", path_in(folder, name), why);
  return true;
}

}  // namespace attn
