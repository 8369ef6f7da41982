#include <doctest/doctest.h>

#include "process.hpp"

TEST_CASE("a section is what stands under a heading up to the next") {
  const ProcessResult one = run_attn({"align", "--section", "the whole"});
  CHECK(one.code == 0);
  CHECK(one.out.starts_with("The whole sentence\n"));
  CHECK(one.out.find("The alignment") == std::string::npos);
  CHECK(one.out.find("What each output depends on") == std::string::npos);
}

TEST_CASE("several sections come in the order in which they are named") {
  const std::string text = run_attn({"walk", "--section", "4. Softmax|2. Score"}).out;
  CHECK(text.starts_with("4. Softmax\n"));
  CHECK(text.find("\n2. Scores\n") != std::string::npos);
  CHECK(text.find("3. Scale") == std::string::npos);
}

TEST_CASE("a heading that is the name itself goes before those that begin with it") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.md", "---\ntitle: t\n---\n# Sum\none\n\n# Sums\ntwo\n");
  CHECK(run_attn({"lesson", "show", path, "--section", "Sum"}).out == "Sum\n───\n\none\n");
  CHECK(run_attn({"lesson", "show", path, "--section", "Su"}).out.find("two") != std::string::npos);
}

TEST_CASE("a section that there is not is refused, and those that there are are named") {
  const ProcessResult finished = run_attn({"walk", "--section", "Softmix"});
  CHECK(finished.code == 2);
  CHECK(finished.errors.find("unknown section 'Softmix'") != std::string::npos);
  CHECK(finished.errors.find("4. Softmax") != std::string::npos);
}

TEST_CASE("where there are no sections the refusal says so") {
  const ProcessResult finished = run_attn({"walk", "--only", "weights", "--section", "Score"});
  CHECK(finished.code == 2);
  CHECK(finished.errors.find("this output has no sections") != std::string::npos);
}
