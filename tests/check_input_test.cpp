#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "command/app.hpp"
#include "commands_tried.hpp"
#include "data/files/matrix_file.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

// The matrices of a file and one more, as one file.
std::string with_result(const TemporaryFolder& folder, const std::string& input, const Matrix& result) {
  const NamedMatrices all = read_all_matrices(input);
  std::vector<NamedMatrix> matrices;
  for (const MatrixFile& file : all.matrices) matrices.push_back({file.name, &file.matrix});
  matrices.push_back({"output", &result});
  std::string bytes;
  Sink sink([&](std::string_view piece) { bytes += piece; });
  write_npz(matrices, sink);
  sink.flush();
  return folder.write("mine.npz", bytes);
}

TEST_SUITE("input for a check") {
  TEST_CASE("how a page is shown is not said again in the command that checks") {
    const std::string page =
        accepted({"check", "--input", "--heads", "2", "--causal", "--threads", "2", "--ascii"}).out;
    check_has(page, "attn check mine.npz --heads 2 --causal\n");
  }

  TEST_CASE("an input is proposed with which every mistake of an attention shows") {
    for (const Words& options : {Words{}, Words{"--heads", "2"}, Words{"--heads", "2", "--causal"},
                                 Words{"--score", "additive"}, Words{"layer-norm"}}) {
      const std::string page = in_one_line(accepted(Words{"check", "--input"} + options).out);
      CAPTURE(page);
      check_has(page, "With this input, each of the ");
      check_has(page, "attn check mine.npz");
    }
    const ProcessResult told = accepted({"check", "--input", "--positions", "rotary", "--causal"});
    check_has(in_one_line(told.out), "What even this input cannot show: - positions-from-1: positions counted from 1");
    check_has(in_one_line(accepted({"check", "--input", "feed-forward"}).out),
              "What even this input cannot show: - relu6-as-activation");
  }

  TEST_CASE("what is computed from the proposed input agrees, and a changed number does not") {
    const TemporaryFolder folder;
    const std::string input = folder.path("input.npz");
    const ProcessResult walk = accepted({"check", "--input", "--heads", "2", "--causal", "-o", input});
    check_has(walk.errors, "check it: attn check mine.npz --heads 2 --causal");
    const auto of = [&](std::string_view name) { return input + ":" + std::string(name); };
    accepted({"walk", "--x", of("x"), "--wq", of("w_q"), "--wk", of("w_k"), "--wv", of("w_v"), "--wo", of("w_o"),
              "--heads", "2", "--causal", "-o", folder.path("walk.npz")});
    Matrix right = read_matrix(folder.path("walk.npz:output")).matrix;
    CHECK(run_attn({"check", with_result(folder, input, right), "--heads", "2", "--causal"}).code == 0);
    cells(right)[0] += 0.1;
    CHECK(run_attn({"check", with_result(folder, input, right), "--heads", "2", "--causal"}).code == 1);
  }

  TEST_CASE("a model is computed from the parameters of the proposed input") {
    const TemporaryFolder folder;
    const std::string input = folder.path("input.npz"), result = folder.path("result.npz");
    const Words recipe = {"--heads", "2", "--norm", "pre"};
    check_has(accepted(Words{"check", "--input", "encoder", "-o", input} + recipe).errors,
              "attn check mine.npz encoder --heads 2 --norm pre");
    accepted(
        Words{"encoder", "--parameters", input, "--prefix", "parameter", "--x", input + ":input..src", "-o", result} +
        recipe);
    const Matrix right = read_matrix(result + ":encoder.output").matrix;
    CHECK(run_attn(Words{"check", with_result(folder, input, right), "encoder"} + recipe).code == 0);
    accepted({"check", "--input", "decoder", "-o", input});
    accepted({"decoder", "--parameters", input, "--prefix", "parameter", "--heads", "2", "--target-x",
              input + ":input..tgt", "--memory", input + ":input..memory", "-o", result});
    const Matrix decoded = read_matrix(result + ":decoder.output").matrix;
    CHECK(run_attn({"check", with_result(folder, input, decoded), "decoder", "--heads", "2"}).code == 0);
  }

  TEST_CASE("numbers that are given cannot be proposed") {
    refuses({"check", "--input", "--x", "1 2"}, "leave out --x");
    refuses({"check", "--input", "--example", "animal"}, "leave out --example");
    refuses({"check", "--input", "align"}, "--input proposes no input for attn align");
    refuses({"check", "--input", "--each"}, "--input");
  }

  TEST_CASE("recorders are printed as code") {
    for (const std::string name : {"pytorch", "numpy"})
      check_has(accepted({"check", "--recorder", name}).out, "def record(");
    refuses({"check", "--recorder", "jax"}, "unknown recorder 'jax'");
  }

  TEST_CASE("a recorded file says what computes it") {
    const TemporaryFolder folder;
    const Matrix x = matrix({{1, 2}, {3, 5}}),
                 result =
                     matrix({{-0.9999800005999799, 0.9999800005999799}, {-0.9999950000374997, 0.9999950000374997}});
    const std::string about = R"({"type.": "LayerNorm", "setting..eps": 1e-05})";
    Matrix bytes_of_about({1, about.size()});
    for (std::size_t i = 0; i < about.size(); ++i) bytes_of_about(0, i) = static_cast<double>(about[i]);
    const Matrix ones = matrix({{1, 1}}), zeros = matrix({{0, 0}});
    std::string bytes;
    Sink sink([&](std::string_view piece) { bytes += piece; });
    write_npz({{"about", &bytes_of_about},
               {"parameter.weight", &ones},
               {"parameter.bias", &zeros},
               {"input..input", &x},
               {"output.", &result}},
              sink);
    sink.flush();
    const std::string file = folder.write("norm.npz", bytes);
    check_has(in_one_line(accepted({"check", file}).out), "The matrix agrees with the computation.");
    CHECK(run_attn({"check", "--each", file, file}).code == 0);
  }
}

}  // namespace
