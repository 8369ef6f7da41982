#include <doctest/doctest.h>

#include <filesystem>

#include "command/docs.hpp"
#include "page/document/document_outputs.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

// A document with one picture of this name.
std::string with_picture(const std::string& name, const std::string& line = "attn walk --outline") {
  return "# A document\n\n```attn picture=" + name + "\n" + line + "\n```\n\nThe end.\n";
}

std::string sentence_on(const TemporaryFolder& folder, const std::string& name, const std::string& line) {
  const std::string document = folder.write("a.md", with_picture(name, line));
  const ProcessResult finished = run_attn({"docs", "update", document});
  CHECK(finished.code == 2);
  CHECK(bytes_of(document) == with_picture(name, line));
  return finished.errors;
}

}  // namespace

TEST_CASE("a block with a picture has an SVG file beside its document, and a link to it") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("pictures"));
  const std::string document = folder.write("a.md", with_picture("pictures/walk.svg"));
  const std::string picture = folder.path("pictures/walk.svg");
  const ProcessResult before = run_attn({"docs", "check", document});
  CHECK(before.code == 1);
  CHECK_FALSE(std::filesystem::exists(picture));

  CHECK(run_attn({"docs", "update", document}).code == 0);
  const std::string updated = bytes_of(document);
  CHECK_MESSAGE(updated.find("](pictures/walk.svg)\n") != std::string::npos, updated);
  CHECK(bytes_of(picture) == run_attn({"walk", "--outline", "--format", "svg"}).out);
  CHECK(run_attn({"docs", "check", document}).code == 0);

  // What is current is not written again.
  const auto written = std::filesystem::last_write_time(picture);
  CHECK(run_attn({"docs", "update", document}).code == 0);
  CHECK(std::filesystem::last_write_time(picture) == written);
  CHECK(bytes_of(document) == updated);

  CHECK(run_attn({"docs", "clean", document}).code == 0);
  CHECK(bytes_of(document) == with_picture("pictures/walk.svg"));
}

TEST_CASE("a picture that is stale or lost is noticed and drawn anew") {
  const TemporaryFolder folder;
  const std::string document = folder.write("a.md", with_picture("walk.svg"));
  const std::string picture = folder.path("walk.svg");
  CHECK(run_attn({"docs", "update", document}).code == 0);
  const std::string drawn = bytes_of(picture);

  std::string changed = drawn;
  changed.insert(changed.rfind("</svg>"), "<text>stale</text>\n");
  folder.write("walk.svg", changed);
  const ProcessResult stale = run_attn({"docs", "check", document});
  CHECK(stale.code == 1);
  CHECK_MESSAGE(stale.out.find("stale") != std::string::npos, stale.out);
  CHECK(run_attn({"docs", "update", document}).code == 0);
  CHECK(bytes_of(picture) == drawn);

  std::filesystem::remove(picture);
  CHECK(run_attn({"docs", "check", document}).code == 1);
  CHECK(run_attn({"docs", "update", document}).code == 0);
  CHECK(bytes_of(picture) == drawn);
}

TEST_CASE("a picture takes no place of another file and leaves the folder of its document nowhere") {
  const TemporaryFolder folder;
  const std::string line = "attn walk --outline";
  folder.write("mine.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n");
  CHECK(sentence_on(folder, "mine.svg", line).find("mine.svg is there already") != std::string::npos);
  CHECK(bytes_of(folder.path("mine.svg")) == "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n");
  for (const std::string& name : {"../out.svg", "/tmp/out.svg", "a/../../out.svg"}) {
    CAPTURE(name);
    CHECK(sentence_on(folder, name, line).find("cannot be written here") != std::string::npos);
  }
  const TemporaryFolder elsewhere;
  std::filesystem::create_directory_symlink(elsewhere.path("."), folder.path("link"));
  CHECK(sentence_on(folder, "link/out.svg", line).find("cannot be written here") != std::string::npos);
  std::filesystem::create_symlink(elsewhere.path("new.svg"), folder.path("new.svg"));
  CHECK(sentence_on(folder, "new.svg", line).find("cannot be written here") != std::string::npos);
  std::filesystem::remove(folder.path("new.svg"));
  CHECK(elsewhere.names().empty());
  for (const std::string& name : {"out.txt", "a.md", "x.svg.md", "p%20q.svg"}) {
    CAPTURE(name);
    CHECK(sentence_on(folder, name, line).find("is not possible") != std::string::npos);
  }
  CHECK(sentence_on(folder, "x.svg", line + "\nattn walk").find("a block of its own") != std::string::npos);
  CHECK(sentence_on(folder, "x.svg fails", line).find("an error has no picture") != std::string::npos);
  CHECK(sentence_on(folder, "x.svg format=csv", line).find("a picture is always svg") != std::string::npos);
  CHECK(folder.names() == std::vector<std::string>{"a.md", "link", "mine.svg"});
}

TEST_CASE("two blocks cannot have one picture") {
  const TemporaryFolder folder;
  const std::string document = folder.write("a.md", with_picture("x.svg") + "\n" + with_picture("x.svg"));
  const ProcessResult finished = run_attn({"docs", "update", document});
  CHECK(finished.code == 2);
  CHECK_MESSAGE(finished.errors.find("another block has the picture x.svg") != std::string::npos, finished.errors);
  CHECK(folder.names() == std::vector<std::string>{"a.md"});
}
