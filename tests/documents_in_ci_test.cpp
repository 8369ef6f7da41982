#include <doctest/doctest.h>

#include <filesystem>

#include "commands_tried.hpp"
#include "process.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

constexpr std::string_view block = "```attn\nattn softmax --scores '1 2'\n```\n";

}  // namespace

TEST_CASE("a block that is not current is a line for a forge, with its file and its line") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.md", "# A\n\n" + std::string(block));
  const Finished github = run_attn({"docs", "check", "--annotate", "github", path});
  CHECK(github.code == 1);
  CHECK_MESSAGE(has(github.out, "::error file=" + path + ",line=4::attn softmax --scores '1 2' has no output now\n"),
                github.out);
  const Finished lines = run_attn({"docs", "check", "--annotate", "lines", path});
  CHECK(has(lines.out, path + ":4: attn softmax --scores '1 2' has no output now\n"));
  CHECK(run_attn({"docs", "update", path}).code == 0);
  const Finished current = run_attn({"docs", "check", "--annotate", "github", path});
  CHECK(current.code == 0);
  CHECK_FALSE(has(current.out, "::error"));
}

TEST_CASE("signs that end a part of a line for GitHub are written by their numbers") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a,b%.md", "```attn\nattn softmax --scores '1 2' --precision 3 # 50%\n```\n");
  const std::string out = run_attn({"docs", "check", "--annotate", "github", path}).out;
  CHECK_MESSAGE(has(out, "a%2Cb%25.md,line=2::"), out);
}

TEST_CASE("a document that cannot be run is a line for a forge too") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.md", "```attn\nattn softmax --scores '1 2; 3'\n```\n");
  const Finished finished = run_attn({"docs", "check", "--annotate", "github", path});
  CHECK(finished.code == 2);
  CHECK_MESSAGE(has(finished.out, "::error file=" + path + ",line=1::"), finished.out);
}

TEST_CASE("a way to annotate that there is not is refused, and so is one where nothing is checked") {
  refuses({"docs", "check", "--annotate", "jenkins", "README.md"}, "Choose one of: github, lines");
  refuses({"docs", "clean", "--annotate", "github", "README.md"}, "--annotate");
  refuses({"docs", "check"}, "attn docs check");
  refuses({"docs", "hook", "README.md"}, "attn docs hook");
}

TEST_CASE("the hook of git is a script that a shell can read, and checks what a commit has") {
  const std::string script = accepted({"docs", "hook"}).out;
  CHECK(script.starts_with("#!/bin/sh\n"));
  CHECK(has(script, "exec attn docs check \"$@\""));
  const TemporaryFolder folder;
  const std::string path = folder.write("hook.sh", script);
  CHECK(std::system(("sh -n '" + path + "'").c_str()) == 0);
}

TEST_CASE("a page of HTML in a document is a part with styles of its own") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("a.md", "```attn format=html\nattn softmax --scores '1 2' --only weights\n```\n");
  CHECK(run_attn({"docs", "update", path}).code == 0);
  const std::string updated = bytes_of(path);
  CHECK(has(updated, "```html\n<section class=\"attn\">\n"));
  CHECK(has(updated, "</section>\n```\n"));
  CHECK_FALSE(has(updated, "<!DOCTYPE html>"));
  CHECK_FALSE(has(updated, "\nbody { margin"));
}

TEST_CASE("a block with several drawings has a file and a link for each") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("a.md", "```attn picture=p/w.svg\nattn softmax --text 'a b' --d-model 4 --heads 2\n```\n");
  CHECK(run_attn({"docs", "update", path}).code == 0);
  const std::string updated = bytes_of(path);
  CHECK(has(updated, "](p/w-1.svg)\n"));
  CHECK(has(updated, "](p/w-2.svg)\n"));
  CHECK(std::filesystem::exists(folder.path("p/w-1.svg")));
  CHECK(run_attn({"docs", "check", path}).code == 0);
  std::filesystem::remove(folder.path("p/w-2.svg"));
  CHECK(run_attn({"docs", "check", path}).code == 1);
  CHECK(run_attn({"docs", "update", path}).code == 0);
  CHECK(std::filesystem::exists(folder.path("p/w-2.svg")));
}
