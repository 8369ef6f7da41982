#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>

#include "page/render/format.hpp"
#include "process.hpp"

using namespace attn;

namespace {

constexpr std::string_view precious = "this was here before";

void check_one_sentence(const ProcessResult& finished, int code) {
  CHECK(finished.code == code);
  CHECK(finished.out == "");
  CHECK_MESSAGE(finished.errors.starts_with("attn: "), finished.errors);
  CHECK_MESSAGE(std::ranges::count(finished.errors, '\n') == 1, finished.errors);
}

}  // namespace

TEST_CASE("the ending of a file chooses its format, in capitals as well") {
  const TemporaryFolder folder;
  for (const Format& format : formats()) {
    const std::string path = folder.path("scores." + std::string(format.extension));
    if (format.parts) continue;  // there is no drawing
    const ProcessResult finished = run_attn({"scores", "-o", path});
    REQUIRE(finished.code == 0);
    CHECK(finished.out == "");
    CHECK_MESSAGE(bytes_of(path) == run_attn({"scores", "--format", std::string(format.name)}).out, path);
  }
  CHECK(run_attn({"scores", "--output=" + folder.path("S.CSV")}).code == 0);
  CHECK(bytes_of(folder.path("S.CSV")) == bytes_of(folder.path("scores.csv")));
}

TEST_CASE("--format decides over the ending") {
  const TemporaryFolder folder;
  REQUIRE(run_attn({"scores", "-o", folder.path("scores.txt"), "--format", "csv"}).code == 0);
  CHECK(bytes_of(folder.path("scores.txt")) == run_attn({"scores", "--format", "csv"}).out);
}

TEST_CASE("a file that is written leaves nothing else behind, and takes the place of an older one") {
  const TemporaryFolder folder;
  const std::string path = folder.write("out.csv", precious);
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  REQUIRE(run_attn({"scores", "-o", path}).code == 0);
  CHECK(bytes_of(path).find(precious) == std::string::npos);
  CHECK(folder.names() == std::vector<std::string>{"out.csv"});
  CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms(0640));
}

TEST_CASE("a link to a file stays a link") {
  const TemporaryFolder folder;
  const std::string file = folder.write("file.csv", precious), link = folder.path("link.csv");
  std::filesystem::create_symlink(file, link);
  REQUIRE(run_attn({"scores", "-o", link}).code == 0);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(bytes_of(file) == run_attn({"scores", "--format", "csv"}).out);
}

TEST_CASE("a link to a file that is not there yet stays a link, and one that leads nowhere is refused") {
  const TemporaryFolder folder;
  const std::string link = folder.path("link.csv"), ring = folder.path("ring.csv");
  std::filesystem::create_symlink("new.csv", link);
  std::filesystem::create_symlink("ring.csv", ring);
  REQUIRE(run_attn({"scores", "-o", link}).code == 0);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(bytes_of(folder.path("new.csv")) == run_attn({"scores", "--format", "csv"}).out);
  check_one_sentence(run_attn({"scores", "-o", ring}), 1);
  CHECK(std::filesystem::is_symlink(ring));
}

TEST_CASE("a sentence that nobody can read any more changes no exit code") {
  CHECK(run_attn({"bogus"}, {.errors_path = "/dev/full"}).code == 2);
  const ProcessResult warned = run_attn({"softmax", "--scores", "1 2", "--seed", "1"}, {.errors_path = "/dev/full"});
  CHECK(warned.code == 0);
  CHECK(warned.out == run_attn({"softmax", "--scores", "1 2"}).out);
}

TEST_CASE("a run that fails creates no file and leaves an existing one as it was") {
  const TemporaryFolder folder;
  const std::string old = folder.write("old.npy", precious);
  for (const Words& words : {Words{"walk", "-o", old}, Words{"walk", "-o", folder.path("new.npy")},
                             Words{"walk", "--only", "nothing", "-o", old},
                             Words{"softmax", "--scores", "1 nan", "-o", folder.path("new.csv")},
                             Words{"convert", folder.path("none.csv"), old}}) {
    check_one_sentence(run_attn(words), 2);
    CHECK_MESSAGE(folder.names() == std::vector<std::string>{"old.npy"}, command_line(words));
    CHECK(bytes_of(old) == precious);
  }
}

TEST_CASE("a file that cannot be written is told with exit code 1") {
  const TemporaryFolder folder;
  folder.write("file", "1");
  check_one_sentence(run_attn({"walk", "-o", folder.path("file/walk.md")}), 1);
  check_one_sentence(run_attn({"walk", "-o", folder.path("file/below/walk.md")}), 1);
  std::filesystem::create_directory(folder.path("folder.csv"));
  check_one_sentence(run_attn({"walk", "-o", folder.path("folder.csv")}), 1);
  CHECK(folder.names() == std::vector<std::string>{"file", "folder.csv"});
}

TEST_CASE("a full disk is told with exit code 1, for little and for much") {
  for (const Words& words : {Words{"walk"}, Words{"walk", "--example", "eight-heads", "--format", "csv"}}) {
    check_one_sentence(run_attn(words, {.output_path = "/dev/full"}), 1);
  }
  const ProcessResult finished = run_attn({"walk", "--format", "text", "-o", "/dev/full"});
  check_one_sentence(finished, 1);
  CHECK(finished.errors.find("/dev/full") != std::string::npos);
}

TEST_CASE("a reader that goes away is no error") {
  const ProcessResult finished = run_attn_into_closed_pipe({"walk", "--example", "eight-heads", "--format", "csv"});
  CHECK(finished.code == 0);
  CHECK(finished.errors == "");
}

TEST_CASE("a file whose ending names no format, and two places to write to, are refused") {
  const TemporaryFolder folder;
  check_one_sentence(run_attn({"walk", "-o", folder.path("walk.xyz")}), 2);
  check_one_sentence(run_attn({"walk", "-o", folder.path("walk")}), 2);
  check_one_sentence(run_attn({"walk", "-o", ""}), 2);
  check_one_sentence(run_attn({"convert", "1 2", folder.path("a.csv"), "-o", folder.path("b.csv")}), 2);
  check_one_sentence(run_attn({"walk", "-o", folder.path("a.csv"), "-o", folder.path("b.csv")}), 2);
  CHECK(folder.names().empty());
}

TEST_CASE("a matrix goes from every kind of file to every other and back unchanged") {
  const TemporaryFolder folder;
  const std::string first = folder.write("first.csv", "1,0.1\n-2e-300,3\n");
  std::string last = first;
  for (const char* next : {"a.tsv", "b.json", "c.npy", "d.npz", "e.csv"}) {
    REQUIRE_MESSAGE(run_attn({"convert", last, folder.path(next)}).code == 0, next);
    last = folder.path(next);
  }
  CHECK(bytes_of(last) == "1,0.1\n-2e-300,3\n");
  CHECK(run_attn({"convert", "-", "-", "--format", "csv"}, {.input = bytes_of(folder.path("c.npy"))}).out ==
        bytes_of(last));
}

TEST_CASE("a file may be converted onto itself") {
  const TemporaryFolder folder;
  const std::string path = folder.write("m.csv", "1 2\n3 4\n");
  CHECK(run_attn({"convert", path, path}).code == 0);
  CHECK(bytes_of(path) == "1,2\n3,4\n");
}

TEST_CASE("a page that cannot be written leaves every file beside it as it was") {
  const TemporaryFolder folder;
  const std::string text = "```attn\nattn version\n```\n";
  const std::string document = folder.write("a.md", text);
  check_one_sentence(run_attn({"docs", "update", document, "--format", "npy"}), 2);
  check_one_sentence(run_attn({"docs", "update", document, "-o", document + "/list.txt"}), 1);
  CHECK(bytes_of(document) == text);
  check_one_sentence(run_attn({"encoder", "--save-parameters", folder.path("p.npz"), "--format", "npy"}), 2);
  check_one_sentence(
      run_attn({"lesson", "export", "1", folder.path("e.html"), "--format", "csv", "--state", folder.path("state")}),
      2);
  CHECK(folder.names() == std::vector<std::string>{"a.md"});
}

TEST_CASE("a page never takes the place of what it is about") {
  const TemporaryFolder folder;
  const std::string text = "```attn\nattn version\n```\n";
  const std::string document = folder.write("a.md", text), parameters = folder.path("p.npz");
  for (const char* action : {"update", "check", "clean"})
    check_one_sentence(run_attn({"docs", action, document, "-o", folder.path("./a.md")}), 2);
  check_one_sentence(run_attn({"lesson", "check", document, "-o", document}), 2);
  check_one_sentence(run_attn({"encoder", "--save-parameters", parameters, "-o", parameters}), 2);
  CHECK(bytes_of(document) == text);
  CHECK(folder.names() == std::vector<std::string>{"a.md"});
}

TEST_CASE("too little memory for a product is told at once" * needs_limited_memory()) {
  const ProcessResult finished = run_attn({"walk"}, {.shell = "ulimit -t 20; ulimit -v 150000"});
  check_one_sentence(finished, 2);
  CHECK(finished.errors.find("not enough memory") != std::string::npos);
}

TEST_CASE("a matrix that is converted is called as in its file, or as the file, and a literal has no name") {
  const TemporaryFolder folder;
  const std::string csv = folder.write("first.csv", "1,2\n"), npz = folder.path("two.npz");
  const auto name_of = [&](const Words& source) {
    Words words = {"convert"};
    words.insert(words.end(), source.begin(), source.end());
    words.insert(words.end(), {folder.path("named.npz")});
    CHECK(run_attn(words).code == 0);
    const std::string listed = run_attn({"convert", folder.path("named.npz"), "-", "--key", "?"}).errors;
    return listed.substr(listed.find("one of: '") + 9);
  };
  REQUIRE(run_attn({"scores", "--only", "*", "-o", npz}).code == 0);
  CHECK(name_of({csv}).find("first") == 0);
  CHECK(name_of({npz + ":scores"}).find("scores") == 0);
  CHECK(name_of({"1 2; 3 4"}).find("matrix") == 0);
  std::string longer = "0";
  for (int i = 0; i < 300; ++i) longer += " 1";
  CHECK(name_of({longer}).find("matrix") == 0);
}
