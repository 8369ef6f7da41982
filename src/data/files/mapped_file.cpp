#include "data/files/mapped_file.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/outside.hpp"
#include "data/files/file_access.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

namespace {

// What a file was when it was mapped.
struct FileState {
  off_t size = 0;
  timespec changed = {};

  explicit FileState(std::FILE* file) {
    struct stat found {};
    if (fstat(fileno(file), &found) != 0) return;
    size = found.st_size;
    changed = found.st_mtim;
  }
  bool operator==(const FileState& other) const {
    return size == other.size && changed.tv_sec == other.changed.tv_sec && changed.tv_nsec == other.changed.tv_nsec;
  }
};

// Its bytes may be read until it goes.
class MappedFile {
 public:
  // Empty, where the system does not map it: nothing is in it, or it is no file of a disk.
  MappedFile(std::string path, File file) : path_(std::move(path)), file_(std::move(file)), before_(file_.get()) {
    if (before_.size <= 0) return;
    const auto size = static_cast<std::size_t>(before_.size);
    void* const begin = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fileno(file_.get()), 0);
    if (begin == MAP_FAILED) return;
    bytes_ = {static_cast<const char*>(begin), size};
    const std::lock_guard lock(mutex());
    living().insert(this);
  }
  ~MappedFile() {
    if (bytes_.empty()) return;
    const std::lock_guard lock(mutex());
    living().erase(this);
    note_a_change();
    munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return bytes_; }

  // The first file that was found to be changed, or none.
  static std::string changed_one() {
    const std::lock_guard lock(mutex());
    for (const MappedFile* file : living()) file->note_a_change();
    return changed();
  }

 private:
  void note_a_change() const {
    if (changed().empty() && FileState(file_.get()) != before_) changed() = path_;
  }

  // Never destroyed: matrices may outlive every other static object.
  static std::mutex& mutex() {
    static std::mutex& one = *new std::mutex;
    return one;
  }
  static std::set<const MappedFile*>& living() {
    static std::set<const MappedFile*>& all = *new std::set<const MappedFile*>;
    return all;
  }
  static std::string& changed() {
    static std::string& path = *new std::string;
    return path;
  }

  std::string path_;
  File file_;
  FileState before_;
  std::string_view bytes_;
};

FileBytes in_memory(const std::string& path) {
  const auto bytes = std::make_shared<const std::string>(read_bytes(path));
  return {*bytes, bytes};
}

}  // namespace

FileBytes map_file(const std::string& path) {
  std::error_code ignored;
  if (path == "-" || !std::filesystem::is_regular_file(confined_path(path), ignored)) return in_memory(path);
  const auto file = std::make_shared<const MappedFile>(path, open_file(path));
  if (file->bytes().empty()) return in_memory(path);
  return {file->bytes(), file, true};
}

std::string_view all_bytes(const FileBytes& file, const std::string& where) {
  if (!file.is_mapped) return file.bytes;
  if (file.bytes.size() > most_bytes) fail("{} is larger than {} bytes: give a smaller file", where, most_bytes);
  Budget::take_work(work_of_byte * file.bytes.size());
  return file.bytes;
}

void require_mapped_files_unchanged() {
  const std::string path = MappedFile::changed_one();
  if (path.empty()) return;
  throw InputError(fmt::format("{} was changed by another program while it was read: run the command again", path),
                   {.file = path});
}

}  // namespace attn
