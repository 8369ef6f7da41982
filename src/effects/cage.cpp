#include "effects/cage.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <system_error>

namespace attn {

// --- cage

namespace {

// What linux/landlock.h says, of which older systems have less than their kernel has or nothing. (landlock(7))
constexpr long create_ruleset = 444, add_rule = 445, restrict_self = 446;
constexpr std::uint32_t ask_for_version = 1;
constexpr int rule_below_a_path = 1;

constexpr std::uint64_t write_to_file = 1U << 1U, remove_folder = 1U << 4U, remove_file = 1U << 5U,
                        make_any = 0x7FU << 6U, lead_elsewhere = 1U << 13U, truncate_file = 1U << 14U;
constexpr std::uint64_t on_files = write_to_file | truncate_file;
constexpr std::uint64_t all_writing = on_files | remove_folder | remove_file | make_any | lead_elsewhere;
constexpr std::uint64_t bind_and_connect = 3;
constexpr int version_with_truncating = 3, version_with_network = 4;

struct Ruleset {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
};

struct [[gnu::packed]] RuleBelowAPath {
  std::uint64_t allowed = 0;
  std::int32_t descriptor = -1;
};

void allow(int ruleset, const std::filesystem::path& path, std::uint64_t what) {
  RuleBelowAPath rule{what, open(path.c_str(), O_PATH | O_CLOEXEC)};
  if (rule.descriptor < 0) return;
  syscall(add_rule, ruleset, rule_below_a_path, &rule, 0);
  close(rule.descriptor);
}

// The folder in which a file is or will be made, or the nearest that there is.
std::filesystem::path nearest_folder(std::filesystem::path path) {
  namespace fs = std::filesystem;
  std::error_code reason;
  constexpr int most_links = 40;
  for (int i = 0; i < most_links && fs::is_symlink(path, reason); ++i)
    path = path.parent_path() / fs::read_symlink(path, reason);
  path = fs::absolute(path, reason);
  while (!fs::is_directory(path, reason) && path.has_relative_path()) path = path.parent_path();
  return path;
}

}  // namespace

bool confine_writing(const std::vector<std::string>& paths) {
  const long version = syscall(create_ruleset, nullptr, 0, ask_for_version);
  if (version < version_with_truncating) return false;
  const Ruleset handled{all_writing, version < version_with_network ? 0 : bind_and_connect};
  const std::size_t known = version < version_with_network ? sizeof handled.files : sizeof handled;
  const auto ruleset = static_cast<int>(syscall(create_ruleset, &handled, known, 0));
  if (ruleset < 0) return false;
  for (const std::string& path : paths) {
    allow(ruleset, nearest_folder(path), all_writing);
    allow(ruleset, path, on_files);  // refused of a folder, of which it says nothing new
  }
  allow(ruleset, "/dev", on_files);
  const bool is_confined = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(restrict_self, ruleset, 0) == 0;
  close(ruleset);
  return is_confined;
}

}  // namespace attn
