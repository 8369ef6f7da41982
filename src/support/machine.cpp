#include "support/machine.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace attn {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

std::optional<std::uint64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

// A file that holds one number; "max" in one of a cgroup is none.
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return leading_number(line);
}

std::uint64_t difference(std::uint64_t most, std::uint64_t taken) {
  return most - std::min(most, taken);
}

std::uint64_t free_on_machine() {
  constexpr std::string_view label = "MemAvailable:";
  constexpr std::uint64_t kibibyte = 1024;
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(label)) continue;
    const std::optional<std::uint64_t> number = leading_number(std::string_view(line).substr(label.size()));
    return number ? *number * kibibyte : unlimited;
  }
  return unlimited;
}

// Addresses count against both limits: what is not written to yet as well.
std::uint64_t free_of_process() {
  std::uint64_t most = unlimited;
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (getrlimit(kind, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      most = std::min<std::uint64_t>(most, limit.rlim_cur);
  }
  if (most == unlimited) return unlimited;
  const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return difference(most, number_in("/proc/self/statm").value_or(0) * page);
}

// The group itself and those around it, up to the root.
std::uint64_t free_in(std::string folder, const std::string& root, const char* limit, const char* usage) {
  std::uint64_t least = unlimited;
  while (folder.size() >= root.size()) {
    const std::optional<std::uint64_t> most = number_in(folder + limit);
    if (most) least = std::min(least, difference(*most, number_in(folder + usage).value_or(0)));
    const std::size_t slash = folder.rfind('/');
    if (slash == std::string::npos) break;
    folder.resize(slash);
  }
  return least;
}

// The kernel's documentation, Control Group v2 (memory.max) and Memory Resource Controller of v1.
std::uint64_t free_of_groups() {
  std::uint64_t least = unlimited;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    const std::string v2 = "/sys/fs/cgroup", v1 = "/sys/fs/cgroup/memory";
    if (controllers.empty()) {
      least = std::min(least, free_in(v2 + path, v2, "/memory.max", "/memory.current"));
    } else if (controllers == "memory") {
      least = std::min(least, free_in(v1 + path, v1, "/memory.limit_in_bytes", "/memory.usage_in_bytes"));
    }
  }
  return least;
}

}  // namespace

std::uint64_t free_memory() {
  return std::min({free_on_machine(), free_of_process(), free_of_groups()});
}

}  // namespace attn
