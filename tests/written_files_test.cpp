#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>

#include "core/support/error.hpp"
#include "effects/cage.hpp"
#include "effects/output_file.hpp"
#include "effects/provisional_name.hpp"
#include "process.hpp"

using namespace attn;

namespace {

const std::string block = "```attn\nattn version\n```\n";

std::string failure_of(OutputFiles& files) {
  try {
    files.take_places();
  } catch (const OutputError& error) {
    return error.what();
  }
  return "(all were written)";
}

struct stat status_of(const std::string& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status;
}

void check_one_sentence(const ProcessResult& finished, int code) {
  CHECK(finished.code == code);
  CHECK_MESSAGE(finished.errors.starts_with("attn: "), finished.errors);
  CHECK_MESSAGE(std::ranges::count(finished.errors, '\n') == 1, finished.errors);
}

// Ends a run at three moments. A file is there as a whole, or not at all.
void check_nothing_left(int signal) {
  CAPTURE(signal);
  const TemporaryFolder folder;
  int ended = 0;
  for (const unsigned wait : {50000U, 100000U, 150000U}) {
    const int code = run_attn_and_signal(
                         {"softmax", "--n-q", "1200", "--n-k", "1200", "-o", folder.path("weights.csv")}, wait, signal)
                         .code;
    ended += code == 128 + signal;
    CHECK((code == 128 + signal || code == 0));
    const std::vector<std::string> names = folder.names();
    CHECK(names == std::vector<std::string>(code == 0 || names.size() == 1 ? 1 : 0, "weights.csv"));
  }
  CHECK(ended > 0);
}

}  // namespace

TEST_CASE("no signal of a terminal or of another program leaves a half-written file behind") {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGIO}) check_nothing_left(signal);
}

TEST_CASE("no signal of the system or of a clock leaves a half-written file behind") {
  for (const int signal : {SIGABRT, SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF, SIGPWR, SIGSYS, SIGRTMIN})
    check_nothing_left(signal);
}

namespace {

long version_of_landlock() { return syscall(444L, nullptr, 0, 1U); }

bool can_write(const std::string& path) {
  try {
    write_file({path, "1"});
    return true;
  } catch (const OutputError&) {
    return false;
  }
}

// Which of these cannot be done by a process that is confined to files; 0: each is as it should be.
int wrong_in_the_cage(const TemporaryFolder& inside, const TemporaryFolder& outside) {
  if (!confine_writing({inside.path("new/a.md"), inside.path("old.md")})) return 1;
  if (!can_write(inside.path("new/a.md")) || !can_write(inside.path("old.md"))) return 2;
  if (can_write(outside.path("b.md")) || can_write(outside.path("below/b.md"))) return 3;
  if (unlink(outside.path("kept.md").c_str()) == 0 || truncate(outside.path("kept.md").c_str(), 0) == 0) return 4;
  if (rename(outside.path("kept.md").c_str(), inside.path("c.md").c_str()) == 0) return 5;
  if (open("/dev/null", O_WRONLY | O_CLOEXEC) < 0 || bytes_of(outside.path("kept.md")) != "kept") return 6;
  const int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(9);
  const bool connects =
      other >= 0 && (connect(other, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 || errno != EACCES);
  return version_of_landlock() >= 4 && connects ? 7 : 0;
}

}  // namespace

TEST_CASE("a process that is confined writes beside its files only, and connects to nobody") {
  if (version_of_landlock() < 3) {
    MESSAGE("skipped: this kernel confines no process (Landlock of Linux 6.2 or newer)");
    return;
  }
  const TemporaryFolder inside, outside;
  inside.write("old.md", "old");
  outside.write("kept.md", "kept");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(wrong_in_the_cage(inside, outside));
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(outside.names() == std::vector<std::string>{"kept.md"});
}

TEST_CASE("what a confined command writes through a link or into a new folder is written") {
  const TemporaryFolder folder, other;
  const std::string document =
      folder.write("a.md", "```attn picture=new/p.svg\nattn softmax --example animal --from it\n```\n");
  std::filesystem::create_symlink(other.write("b.md", block), folder.path("b.md"));
  CHECK(run_attn({"docs", "update", document, folder.path("b.md")}).code == 0);
  CHECK(std::filesystem::exists(folder.path("new/p.svg")));
  CHECK(bytes_of(other.path("b.md")) != block);
  CHECK(run_attn({"docs", "check", folder.path("a.md"), "-o", other.path("new/folder/list.txt")}).code == 0);
  CHECK(std::filesystem::exists(other.path("new/folder/list.txt")));
}

TEST_CASE("what a killed program has left is removed by the next that writes there, and nothing else is") {
  const TemporaryFolder folder;
  folder.write(".attn-0123456789abcdef", "left");
  folder.write(".attn-notes", "mine");
  folder.write(".attn-0123456789abcdef0", "mine");
  const std::string held = folder.write(".attn-00000000000000aa", "of a program that lives");
  const int file = open(held.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(flock(file, LOCK_EX) == 0);
  std::filesystem::create_symlink(".attn-notes", folder.path(".attn-00000000000000bb"));
  std::filesystem::create_directory(folder.path(".attn-00000000000000cc"));
  CHECK(run_attn({"softmax", "-o", folder.path("weights.csv")}).code == 0);
  CHECK(folder.names() == std::vector<std::string>{".attn-00000000000000aa", ".attn-00000000000000bb",
                                                   ".attn-00000000000000cc", ".attn-0123456789abcdef0", ".attn-notes",
                                                   "weights.csv"});
  close(file);
}

TEST_CASE("a file with a provisional name is removed by the signal that ends the program") {
  for (const int signal : {SIGHUP, SIGQUIT, SIGSEGV, SIGXCPU, SIGRTMAX}) {
    CAPTURE(signal);
    const TemporaryFolder folder;
    const std::string first = folder.write("first", "1"), second = folder.write("second", "2");
    const std::string third = folder.write("third", "3");
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      std::signal(signal, SIG_DFL);
      const ProvisionalName one(first);
      auto other = std::make_unique<ProvisionalName>(third);
      const ProvisionalName two(second);
      other.reset();
      raise(signal);
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
    CHECK(folder.names() == std::vector<std::string>{"third"});
  }
}

TEST_CASE("a signal that is ignored stays ignored while a file is written") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    CAPTURE(signal);
    const TemporaryFolder folder;
    const ProcessResult finished =
        run_attn_and_signal({"softmax", "--n-q", "600", "--n-k", "600", "-o", folder.path("weights.csv")}, 100000,
                            signal, {.shell = "trap '' INT TERM HUP QUIT"});
    CHECK(finished.code == 0);
    CHECK(folder.names() == std::vector<std::string>{"weights.csv"});
  }
}

TEST_CASE("a file that grows too large for the system is told with a sentence") {
  const TemporaryFolder folder;
  const std::string path = folder.write("f.csv", "old");
  const ProcessResult finished =
      run_attn({"walk", "--n-q", "300", "--n-k", "300", "--d-k", "4", "-o", path}, {.shell = "ulimit -f 8"});
  check_one_sentence(finished, 1);
  CHECK(finished.errors.find("File too large") != std::string::npos);
  CHECK(bytes_of(path) == "old");
  CHECK(folder.names() == std::vector<std::string>{"f.csv"});
}

TEST_CASE("a file that may not be written is refused, though its folder would take another") {
  const TemporaryFolder folder;
  const std::string path = folder.write("f.csv", "old");
  REQUIRE(chmod(path.c_str(), 0444) == 0);
  const ProcessResult finished = run_attn({"walk", "-o", path}, {.shell = without_privileges()});
  check_one_sentence(finished, 1);
  CHECK(finished.errors.find("Permission denied") != std::string::npos);
  CHECK(bytes_of(path) == "old");
}

TEST_CASE("a file keeps its owner, group and permissions when another takes its place" *
          doctest::skip(geteuid() != 0)) {
  const TemporaryFolder folder;
  const std::string path = folder.write("f.json", "old");
  constexpr uid_t owner = 12345;
  constexpr gid_t group = 23456;
  REQUIRE(chown(path.c_str(), owner, group) == 0);
  REQUIRE(chmod(path.c_str(), 0604) == 0);
  REQUIRE(run_attn({"walk", "-o", path}).code == 0);
  const struct stat now = status_of(path);
  CHECK(now.st_uid == owner);
  CHECK(now.st_gid == group);
  CHECK((now.st_mode & 07777) == 0604);
  CHECK(bytes_of(path).starts_with("{"));
}

TEST_CASE("a group that cannot stay leaves its rights to no other" * doctest::skip(geteuid() != 0)) {
  const TemporaryFolder folder;
  const std::string path = folder.write("f.txt", "old");
  constexpr gid_t group = 23456;
  REQUIRE(chown(path.c_str(), 0, group) == 0);
  REQUIRE(chmod(path.c_str(), 0664) == 0);
  REQUIRE(run_attn({"walk", "-o", path}, {.shell = without_privileges()}).code == 0);
  CHECK(status_of(path).st_gid != group);
  CHECK((status_of(path).st_mode & 07777) == 0644);
}

TEST_CASE("a file keeps its access control list and what was noted about it") {
  const TemporaryFolder folder;
  const std::string path = folder.write("f.txt", "old");
  struct Entry {
    std::uint16_t tag, permissions;
    std::uint32_t id;
  };
  struct {
    std::uint32_t version = 2;
    Entry entries[5] = {{0x01, 6, ~0U}, {0x02, 4, 12345}, {0x04, 0, ~0U}, {0x10, 4, ~0U}, {0x20, 0, ~0U}};
  } const list;
  const char* const names[] = {"system.posix_acl_access", "user.note"};
  const bool has_lists = setxattr(path.c_str(), names[0], &list, sizeof list, 0) == 0;
  const bool has_notes = setxattr(path.c_str(), names[1], "mine", 4, 0) == 0;
  const auto value = [&](const char* name) {
    char bytes[200];
    const ssize_t size = getxattr(path.c_str(), name, bytes, sizeof bytes);
    return std::string(bytes, bytes + std::max<ssize_t>(size, 0));
  };
  const std::string list_before = value(names[0]), note_before = value(names[1]);
  CHECK(list_before.empty() != has_lists);
  CHECK(note_before.empty() != has_notes);
  REQUIRE(run_attn({"walk", "-o", path}).code == 0);
  CHECK(value(names[0]) == list_before);
  CHECK(value(names[1]) == note_before);
  CHECK(bytes_of(path) != "old");
}

TEST_CASE("of several documents none is written unless all can be") {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.md", block), b = folder.write("b.md", block);
  REQUIRE(chmod(b.c_str(), 0444) == 0);
  const ProcessResult finished = run_attn({"docs", "update", a, b}, {.shell = without_privileges()});
  check_one_sentence(finished, 1);
  CHECK(finished.errors.find("b.md could not be written: Permission denied") != std::string::npos);
  CHECK(bytes_of(a) == block);
  CHECK(bytes_of(b) == block);
  CHECK(folder.names() == std::vector<std::string>{"a.md", "b.md"});
}

TEST_CASE("where not all files take their places, the sentence says which did") {
  const TemporaryFolder folder;
  const std::string a = folder.path("a"), b = folder.path("b"), c = folder.path("c");
  {
    OutputFiles files;
    for (const std::string& path : {a, b, c}) files.write({path, "new"});
    CHECK(folder.names().empty());
    std::filesystem::create_directory(b);
    CHECK(failure_of(files) == b + " could not be written: Is a directory. Written: " + a + ". Not written: " + c);
  }
  CHECK(folder.names() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("what another program has changed meanwhile is not overwritten") {
  const TemporaryFolder folder;
  const std::string a = folder.write("a", "old a"), b = folder.write("b", "old b");
  for (const char* edit : {"new b", "longer than before", ""}) {
    folder.write("b", "old b");
    OutputFiles files;
    files.write({a, "of attn", "old a"});
    files.write({b, "of attn", "old b"});
    folder.write("b", edit);
    CHECK(failure_of(files).starts_with(b + " was changed by another program meanwhile"));
    CHECK(bytes_of(a) == "old a");
    CHECK(bytes_of(b) == edit);
  }
  folder.write("b", "old b");
  OutputFiles files;
  files.write({b, "of attn", "old b"});
  std::filesystem::remove(b);
  CHECK(failure_of(files).starts_with(b + " was changed"));
  CHECK(folder.names() == std::vector<std::string>{"a"});
}

TEST_CASE("an edit that is made while a document is updated is not lost") {
  const TemporaryFolder folder;
  const std::string document = folder.write("a.md", block), pipe = folder.path("b.md");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  // The pipe is opened after the first document was read.
  const std::string editor = "(exec 3>'" + pipe + "'; echo 'an edit' >'" + document + "'; echo text >&3) &";
  const ProcessResult finished = run_attn({"docs", "update", document, pipe}, {.shell = editor + " true"});
  check_one_sentence(finished, 1);
  CHECK_MESSAGE(finished.errors.find("a.md was changed") != std::string::npos, finished.errors);
  CHECK(bytes_of(document) == "an edit\n");
  CHECK(folder.names() == std::vector<std::string>{"a.md", "b.md"});
}

TEST_CASE("a verdict stays what it is when nobody reads it") {
  const TemporaryFolder folder;
  const std::string stale = folder.write("a.md", block), answers = folder.write("answers", "1\n");
  const std::string many =
      folder.write("b.md", "```attn format=json\nattn walk --n-q 50 --n-k 50 --d-k 1 --full\n```\n");
  const std::string lesson = folder.write("c.md",
                                          "---\ntitle: A\n---\n```question\nask: Which?\nof: scores[1,2]\n"
                                          "on: --example thinking-machines\n```\n");
  CHECK(run_attn_into_unread_pipe({"docs", "check", stale}).code == 1);
  CHECK(run_attn_into_closed_pipe({"docs", "check", many}).code == 1);
  CHECK(run_attn_into_unread_pipe({"lesson", "check", lesson}).code == 1);
  CHECK(run_attn_into_unread_pipe({"lesson", "run", lesson, "--answers", answers}).code == 1);
  CHECK(run_attn_into_unread_pipe({"lesson", "run", "1", "--no-input"}).code == 0);
  CHECK(run_attn_into_unread_pipe({"walk", "--format", "npz"}).code == 0);
}
