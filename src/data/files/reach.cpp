#include "data/files/reach.hpp"

#include <algorithm>

#include "support/error.hpp"

namespace attn {
namespace {

namespace fs = std::filesystem;

bool confined = false;
std::optional<fs::path> open_folder;

bool is_below(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

// A link may lead elsewhere, whatever its name says.
bool leads_out(const fs::path& path, const fs::path& folder) {
  std::error_code ignored;
  return !is_below(fs::weakly_canonical(path, ignored), fs::weakly_canonical(folder, ignored));
}

}  // namespace

Confined::Confined(std::optional<fs::path> folder) {
  if (confined) fail("a document cannot run the commands of a document: run this one on its own");
  confined = true;
  open_folder = std::move(folder);
  if (open_folder && open_folder->empty()) open_folder = ".";
}

Confined::~Confined() {
  confined = false;
  open_folder.reset();
}

fs::path place_of(const std::string& path) {
  if (!confined) return path;
  const fs::path given(path);
  const bool climbs = std::ranges::find(given, fs::path("..")) != given.end();
  if (given.is_absolute() || climbs || (open_folder && leads_out(*open_folder / given, *open_folder))) {
    fail("{} is out of reach: a document reads only files beside it and in folders below", path);
  }
  return open_folder ? *open_folder / given : fs::path();
}

void check_standard_input_is_in_reach() {
  if (confined) fail("'-' is out of reach: a document does not read standard input");
}

}  // namespace attn
