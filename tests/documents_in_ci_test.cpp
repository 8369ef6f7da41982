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
  const ProcessResult github = run_attn({"docs", "check", "--annotate", "github", path});
  CHECK(github.code == 1);
  CHECK_MESSAGE(has(github.out, "::error file=" + path + ",line=4::attn softmax --scores '1 2' has no output yet\n"),
                github.out);
  const ProcessResult lines = run_attn({"docs", "check", "--annotate", "lines", path});
  CHECK(has(lines.out, path + ":4: attn softmax --scores '1 2' has no output yet\n"));
  CHECK(run_attn({"docs", "update", path}).code == 0);
  const ProcessResult current = run_attn({"docs", "check", "--annotate", "github", path});
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
  const std::string path = folder.write("a.md", "# A\n\n```attn\nattn softmax --scores '1 2; 3'\n```\n");
  const ProcessResult finished = run_attn({"docs", "check", "--annotate", "github", path});
  CHECK(finished.code == 2);
  CHECK_MESSAGE(has(finished.out, "::error file=" + path + ",line=4::"), finished.out);
  CHECK_FALSE(has(finished.out, "::" + path));  // the place is told once
  const ProcessResult records = run_attn({"docs", "check", "--format", "csv", path});
  CHECK_MESSAGE(has(records.out, "a.md\",4,\"attn softmax --scores '1 2; 3'\",\"cannot be run\","), records.out);
  const ProcessResult missing = run_attn({"docs", "check", "--annotate", "lines", folder.path("no.md")});
  CHECK_MESSAGE(has(missing.out, "no.md:1: "), missing.out);
}

TEST_CASE("a law that does not hold is told with what mends it") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("a b.md", "```attn\nattn softmax --scores '1 2'\n```\n\n<!-- attn:law row_sums(weights) = 2 -->\n");
  const std::string out = in_one_line(run_attn({"docs", "check", path}).out);
  CHECK_MESSAGE(has(out, "change the law or the command above it: attn docs update cannot."), out);
  CHECK_MESSAGE(has(out, "Then fix the outputs with: attn docs update '" + path + "'"), out);
}

TEST_CASE("a file counts once under whatever name, and one without blocks is told") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.md", block), none = folder.write("b.md", "# Nothing\n");
  CHECK(run_attn({"docs", "update", path, path}).code == 0);
  const std::string out = run_attn({"docs", "check", path, folder.path("./a.md"), none}).out;
  CHECK_MESSAGE(has(out, "All outputs are current: 1 block."), out);
  CHECK_MESSAGE(has(out, none + " has no blocks of attn."), out);
  CHECK_FALSE(has(run_attn({"docs", "check", none}).out, "current"));
  // In a folder some files are only read.
  CHECK(run_attn({"docs", "check", folder.path("")}).out == "All outputs are current: 1 block.\n");
  std::filesystem::remove(path);
  CHECK(has(run_attn({"docs", "check", folder.path("")}).out, "No file of Markdown here has blocks of attn."));
  refuses({"docs", "check", folder.write("bin.md", "\xff\xfe\x00z")}, "not UTF-8");
}

TEST_CASE("parts of one document have ids of their own") {
  const TemporaryFolder folder;
  const std::string one = "```attn format=svg\nattn walk --only scores\n```\n";
  const std::string path = folder.write("a.md", one + "\n" + one);
  CHECK(run_attn({"docs", "update", path}).code == 0);
  const std::string updated = bytes_of(path);
  CHECK(has(updated, "<title id=\"drawing-1-title\">"));
  CHECK(has(updated, "<title id=\"drawing-2-title\">"));
}

TEST_CASE("a way to annotate that there is not is refused, and so is one where nothing is checked") {
  refuses({"docs", "check", "--annotate", "jenkins", "README.md"}, "Choose one of: github, lines");
  refuses({"docs", "clean", "--annotate", "github", "README.md"}, "--annotate");
  refuses({"docs", "check"}, "attn docs check");
  refuses({"docs", "check", "--annotate", "lines", "--format", "csv", "README.md"}, "leave out --format");
  refuses({"docs", "hook", "README.md"}, "attn docs hook");
}

TEST_CASE("the hook of git is a script that a shell can read, and checks what a commit has") {
  const std::string script = accepted({"docs", "hook"}).out;
  CHECK(script.starts_with("#!/bin/sh\n"));
  const TemporaryFolder folder;
  const std::string path = folder.write("hook.sh", script);
  CHECK(std::system(("sh -n '" + path + "'").c_str()) == 0);
}

TEST_CASE("the hook checks what is staged, not what lies in the folder") {
  if (std::system("git --version >/dev/null 2>&1") != 0) return;
  const TemporaryFolder folder;
  folder.write("hook.sh", accepted({"docs", "hook"}).out);
  const auto runs = [&](const std::string& commands) {
    const std::string path = tested_program().parent_path().string();
    const std::string line = "cd '" + folder.path("") + "' && export PATH='" + path +
                             "':\"$PATH\" GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null && { " + commands +
                             "\n} >out 2>&1";
    return std::system(line.c_str()) == 0;
  };
  REQUIRE(
      runs("git init -q . && git config user.name a && git config user.email a@b.c &&"
           "cp hook.sh .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit"));
  const std::string name = "a b.md";
  folder.write(name, block);
  // What is staged has no output, though the file has one by now.
  CHECK(runs("git add 'a b.md' && attn docs update 'a b.md'"));
  CHECK_FALSE(runs("git commit -q -m a"));
  CHECK_MESSAGE(has(bytes_of(folder.path("out")), "attn docs update 'a b.md'"), bytes_of(folder.path("out")));
  // A staged file may be gone from the folder.
  CHECK(runs("git add 'a b.md' && rm 'a b.md' && git commit -q -m a"));
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
  const ProcessResult missing = run_attn({"docs", "check", path});
  CHECK(missing.code == 1);
  CHECK_MESSAGE(has(in_one_line(missing.out), "p/w-2.svg is missing"), missing.out);
  CHECK_FALSE(has(missing.out, "different"));
  CHECK(run_attn({"docs", "update", path}).code == 0);
  CHECK(std::filesystem::exists(folder.path("p/w-2.svg")));
}
