#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "commands_tried.hpp"
#include "data/files/files_of_folder.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;

// Folders that somebody else has filled.

namespace {

namespace fs = std::filesystem;

void make_pipe(const std::string& path) { REQUIRE(mkfifo(path.c_str(), 0600) == 0); }

// What waits for ever is ended, with exit code 124.
ProcessResult run_within_seconds(const Words& words) {
  return run_attn(words, {.shell = R"(exec timeout -k 1 60 "$0" "$@")"});
}

const FileOfFolder& called(const std::vector<FileOfFolder>& files, std::string_view name) {
  const auto found = std::ranges::find_if(files, [&](const FileOfFolder& file) { return file.path.ends_with(name); });
  REQUIRE(found != files.end());
  return *found;
}

// Beside regular files: pipes, links that lead out of the folder, links within it, and names for terminals.
void fill(const TemporaryFolder& folder, const TemporaryFolder& outside) {
  folder.write("a.csv", "1,2\n3,4\n");
  folder.write(".hidden.csv", "1\n");
  fs::create_directory(folder.path("inside"));
  folder.write("inside/b.csv", "1,2\n3,4\n");
  outside.write("secret.csv", "secret,1\nword,2\n");
  make_pipe(folder.path("pipe.csv"));
  fs::create_symlink("a.csv", folder.path("near.csv"));
  fs::create_symlink("inside", folder.path("near"));
  fs::create_symlink(outside.path("secret.csv"), folder.path("out.csv"));
  fs::create_symlink(outside.path(""), folder.path("out"));
  fs::create_symlink("../../../../../../../../etc/passwd", folder.path("passwd.csv"));
  fs::create_symlink("nowhere", folder.path("broken.csv"));
  fs::create_symlink("ring.csv", folder.path("ring.csv"));
  fs::create_symlink("/dev/zero", folder.path("zero.csv"));
  folder.write("\x1b]0;title\x07.csv", "1,2\n3,4\n");
  folder.write("two\nlines.csv", "1,2\n3,4\n");
  folder.write("turned\u202e.csv", "1,2\n3,4\n");
  folder.write("not-utf8\xff.csv", "1,2\n3,4\n");
}

}  // namespace

TEST_CASE("a link that leads to itself leads to no file") {
  const TemporaryFolder folder;
  fs::create_symlink("self.csv", folder.path("self.csv"));
  CHECK(called(files_of_folder(folder.path("")), "self.csv").refused.ends_with("is a link that leads to no file"));
}

TEST_CASE("a pipe that is named is read once, and all that ask for its bytes have them") {
  for (const bool each : {false, true}) {
    const TemporaryFolder folder;
    const std::string pipe = folder.path("theirs");
    make_pipe(pipe);
    std::thread writer([&] { std::ofstream(pipe) << "# scores\n1,2\n\n# weights\n0.5,0.5\n"; });
    std::vector<std::string> words = {"check", pipe, "--scores", "1 2", "--v", "1; 2"};
    if (each) words.insert(words.begin() + 1, "--each");
    const ProcessResult checked = run_within_seconds(words);
    // A writer that nobody reads from would wait.
    const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    writer.join();
    close(reader);
    CHECK(checked.code == 1);
    CHECK_MESSAGE(checked.out.find("weights") != std::string::npos, checked.out);
  }
}

TEST_CASE("of a folder regular files are read that are its own, and all else is refused by its name") {
  const TemporaryFolder folder, outside;
  fill(folder, outside);
  const std::vector<FileOfFolder> files = files_of_folder(folder.path(""));
  CHECK(std::ranges::is_sorted(files, {}, &FileOfFolder::path));
  CHECK(std::ranges::none_of(files, [](const FileOfFolder& file) { return file.path.ends_with(".hidden.csv"); }));
  std::vector<std::string> read;
  for (const FileOfFolder& file : files) {
    if (file.refused.empty()) read.push_back(fs::path(file.path).filename().string());
  }
  CHECK(read == std::vector<std::string>{"a.csv", "inside", "near", "near.csv"});
  CHECK(called(files, "inside").is_folder);
  for (const auto& one : {std::pair{"pipe.csv", "is no regular file"},
                          {"/out.csv", "leads out of its folder"},
                          {"/out", "leads out of its folder"},
                          {"passwd.csv", "leads out of its folder"},
                          {"zero.csv", "leads out of its folder"},
                          {"broken.csv", "leads to no file"},
                          {"title\uFFFD.csv", "characters that cannot be shown"},
                          {"two\uFFFDlines.csv", "characters that cannot be shown"},
                          {"turned\uFFFD.csv", "characters that cannot be shown"},
                          {"not-utf8\uFFFD.csv", "characters that cannot be shown"}})
    CHECK_MESSAGE(has(called(files, one.first).refused, one.second), one.first);
  CHECK(!called(files, "ring.csv").refused.empty());
  CHECK(has_file(folder.path(""), "a.csv"));
  CHECK(has_file(folder.path(""), "near.csv"));
  CHECK_FALSE(has_file(folder.path(""), "c.csv"));
  for (const char* name : {"pipe.csv", "out.csv", "broken.csv", "inside", "ring.csv"})
    CHECK_THROWS_AS(has_file(folder.path(""), name), InputError);
}

TEST_CASE("attn check --each compares the files of a folder, and waits for no pipe and follows no link out of it") {
  const TemporaryFolder folder, outside;
  fill(folder, outside);
  for (const char* kind : {"npy", "npz", "json", "safetensors", "tsv"})
    make_pipe(folder.path(std::string("p.") + kind));
  for (const std::string format : {"text", "csv", "json"}) {
    const ProcessResult table =
        run_within_seconds({"check", "--each", folder.path(""), "--text", "a b", "--as", "output", "--format", format});
    CHECK(table.code == 1);
    for (const std::string_view told : {"pipe.csv is no regular file", "p.npz is no regular file", "out.csv is a link"})
      CHECK_MESSAGE(has(in_one_line(table.out), told), table.out);
    for (const std::string_view not_told : {"secret", "root:", "\x1b", "\u202e"})
      CHECK_MESSAGE(!has(table.out, not_told), table.out);
  }
  // A folder within it has the matrices of one computation.
  fs::create_symlink(outside.path("secret.csv"), folder.path("inside/weights.csv"));
  const ProcessResult inside = run_within_seconds({"check", folder.path("inside"), "--text", "a b"});
  CHECK(inside.code == 2);
  CHECK(has(inside.errors, "weights.csv is a link that leads out of its folder"));
  for (const char* of_system : {"/dev", "/dev/fd"}) CHECK(run_within_seconds({"check", "--each", of_system}).code == 2);
}

TEST_CASE("a file of the system that has nothing to say does not hold the program up") {
  if (!fs::exists("/proc/kmsg")) return;
  CHECK(run_within_seconds({"check", "/proc/kmsg", "--text", "a b"}).code == 2);
}

TEST_CASE("a class is marked without pipes and links out of its folder, which are told") {
  const TemporaryFolder folder, outside;
  fs::create_directory(folder.path("class"));
  folder.write("class/ana.txt", "Sheet: attn lesson 5\n1. 0.5\n");
  const std::string secret = outside.write("secret.txt", "Sheet: attn lesson 5\n1. 987.654\n");
  make_pipe(folder.path("class/ben.txt"));
  fs::create_symlink(secret, folder.path("class/cem.txt"));
  folder.write("class/\x1b[2J.txt", "Sheet: attn lesson 5\n1. 0.5\n");
  const ProcessResult by_sheet = run_within_seconds({"lesson", "class", folder.path("class")});
  CHECK(has(by_sheet.out, "A class: 1 hand-in"));
  for (const std::string_view told :
       {"ben is not marked: ", "cem is not marked: ", "is no regular file", "leads out of"})
    CHECK_MESSAGE(has(by_sheet.errors, told), by_sheet.errors);
  const ProcessResult by_lesson = run_within_seconds({"lesson", "class", folder.path("class"), "5"});
  CHECK(has(by_lesson.out, "A class: 4 hand-ins"));
  CHECK(has(by_lesson.out, "not marked"));
  for (const ProcessResult* one : {&by_sheet, &by_lesson}) {
    CHECK(!has(one->out + one->errors, "987.654"));
    CHECK(!has(one->out + one->errors, "\x1b"));
  }
}
