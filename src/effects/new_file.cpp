#include "effects/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/limits.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace attn {

namespace {

constexpr std::string_view beginning_of_provisional_names = ".attn-";

// Short enough for any folder, and not to be guessed.
std::string random_name_in(const std::string& folder) {
  std::uint64_t number = 0;
  if (getentropy(&number, sizeof number) != 0) number = static_cast<std::uint64_t>(getpid());
  return fmt::format("{}/{}{:016x}", folder, beginning_of_provisional_names, number);
}

bool is_provisional(std::string_view name) {
  return name.size() == beginning_of_provisional_names.size() + 16 &&
         name.starts_with(beginning_of_provisional_names) &&
         name.find_first_not_of("0123456789abcdef", beginning_of_provisional_names.size()) == std::string_view::npos;
}

// Where the file system has no locks, nobody holds one, and nobody takes what is not locked for left behind.
bool is_locked_by_us(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

bool leads_to(const char* name, int descriptor) {
  struct stat named {
  }, opened{};
  return lstat(name, &named) == 0 && fstat(descriptor, &opened) == 0 && named.st_dev == opened.st_dev &&
         named.st_ino == opened.st_ino;
}

// A program that was killed has left files with provisional names. Those of programs that live are locked.
void remove_left_behind(const std::string& folder) {
  std::error_code unreadable;
  for (std::filesystem::directory_iterator entry(folder, unreadable), end; !unreadable && entry != end;
       entry.increment(unreadable)) {
    if (!is_provisional(entry->path().filename().string())) continue;
    const int file = open(entry->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;
    struct stat status {};
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && flock(file, LOCK_EX | LOCK_NB) == 0)
      unlink(entry->path().c_str());
    close(file);
  }
}

// The name by which the system lets a nameless file be called.
std::string provisional_name_of(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

// Tries random names until one is free.
template <class Try>
bool with_free_name(const std::string& folder, std::optional<ProvisionalName>& name, const Try& attempt) {
  constexpr int most_attempts = 100;
  for (int i = 0; i < most_attempts; ++i) {
    name.emplace(random_name_in(folder));  // before the file is there: a signal may come in between
    if (attempt(name->path().c_str())) return true;
    const int reason = errno;
    name.reset();
    errno = reason;
    if (reason != EEXIST) return false;
  }
  return false;
}

// Gives a file an attribute of another, or takes it away where the other has none. (xattr(7))
bool copy_attribute(const std::string& from, int to, const char* name) {
  std::vector<char> value(XATTR_SIZE_MAX);
  const ssize_t size = getxattr(from.c_str(), name, value.data(), value.size());
  if (size >= 0) return fsetxattr(to, name, value.data(), static_cast<std::size_t>(size), 0) == 0;
  fremovexattr(to, name);
  return true;
}

// What users have noted about a file.
void copy_notes(const std::string& from, int to) {
  std::vector<char> names(XATTR_LIST_MAX);
  const ssize_t size = listxattr(from.c_str(), names.data(), names.size());
  const char* const end = names.data() + std::max<ssize_t>(size, 0);
  for (const char* name = names.data(); name < end; name += std::strlen(name) + 1) {
    if (std::string_view(name).starts_with("user.")) copy_attribute(from, to, name);
  }
}

struct Descriptor {
  explicit Descriptor(int its_number) : number(its_number) {}
  ~Descriptor() {
    const int reason = errno;
    if (number >= 0) close(number);
    errno = reason;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};

// Some file systems have nothing to sync.
bool is_synced(int descriptor) {
  while (fsync(descriptor) != 0) {
    if (errno != EINTR) return errno == EINVAL;
  }
  return true;
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

NewFile::NewFile(std::string place) : place_(std::move(place)) {
  remove_left_behind(folder_of(place_));
  struct stat old {};
  const bool replaces = stat(place_.c_str(), &old) == 0;
  // A new file gets what any program's files get in this folder; one that replaces another gets that later.
  constexpr mode_t of_new = 0666, of_replacing = 0600;
  const mode_t mode = replaces ? of_replacing : of_new;
  const bool may_write = !replaces || faccessat(AT_FDCWD, place_.c_str(), W_OK, AT_EACCESS) == 0;
  if (!may_write || !(open_nameless(mode) || open_named(mode))) throw std::system_error(errno, std::generic_category());
}

NewFile::~NewFile() {
  if (name_) unlink(name_->path().c_str());
  if (descriptor_ >= 0) close(descriptor_);
}

bool NewFile::open_nameless(mode_t mode) {
  descriptor_ = open(folder_of(place_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  if (descriptor_ >= 0 && access(provisional_name_of(descriptor_).c_str(), F_OK) == 0) {
    is_locked_by_us(descriptor_);
    return true;
  }
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  return false;
}

bool NewFile::open_named(mode_t mode) {
  return with_free_name(folder_of(place_), name_, [&](const char* name) {
    descriptor_ = open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode);
    if (descriptor_ < 0) return false;
    if (is_locked_by_us(descriptor_) && leads_to(name, descriptor_)) return true;
    close(std::exchange(descriptor_, -1));  // another program has taken it for left behind, and removes it
    errno = EEXIST;
    return false;
  });
}

bool NewFile::give_name() {
  return name_ || with_free_name(folder_of(place_), name_, [&](const char* name) {
           return linkat(AT_FDCWD, provisional_name_of(descriptor_).c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
         });
}

// Only root can give a file away; a group can be kept by its members.
bool NewFile::keep_what_stays() {
  struct stat old {};
  if (stat(place_.c_str(), &old) != 0) return true;
  constexpr mode_t all = 07777, permissions = 0777, of_owner = 0700, of_group = 0070, of_others = 0007;
  constexpr auto same_owner = static_cast<uid_t>(-1);
  constexpr const char* access_list = "system.posix_acl_access";
  copy_notes(place_, descriptor_);
  const bool keeps_owner = fchown(descriptor_, old.st_uid, old.st_gid) == 0;
  const bool keeps_group = keeps_owner || fchown(descriptor_, same_owner, old.st_gid) == 0;
  const mode_t mode = old.st_mode & (keeps_owner ? all : permissions);
  if (keeps_group && fchmod(descriptor_, mode) == 0 && copy_attribute(place_, descriptor_, access_list)) return true;
  fremovexattr(descriptor_, access_list);
  const mode_t to_others = mode & of_others, to_group = (to_others << 3) & mode & of_group;
  return fchmod(descriptor_, (mode & of_owner) | to_group | to_others) == 0;
}

bool NewFile::settle() { return keep_what_stays() && is_synced(descriptor_); }

bool NewFile::take_place() {
  if (!give_name()) return false;
  const Descriptor lock{dup(descriptor_)};  // until the name is gone
  if (close(std::exchange(descriptor_, -1)) != 0) return false;
  if (rename(name_->path().c_str(), place_.c_str()) != 0) return false;
  name_.reset();
  const int folder = open(folder_of(place_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return true;  // it may be written but not read: the system will write it in its own time
  const bool synced = is_synced(folder);
  const int reason = errno;
  close(folder);
  errno = reason;
  return synced;
}

}  // namespace attn
