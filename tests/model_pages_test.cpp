#include <algorithm>

#include "commands_tried.hpp"
#include "core/support/number.hpp"
#include "data/files/matrix_file.hpp"
#include "process.hpp"

using namespace attn;

TEST_CASE("under a heading with the scope, names in tables and formulas are short") {
  const std::string found = accepted({"encoder", "--only", "*.weights", "--width", "80"}).out;
  check_has(found, "encoder.2.self_attention.head.1\n\n  weights = softmax(scaled)");
  check_has(found, "\n  weights │");
  CHECK(found.find("self_attention.head.1.weights") == std::string::npos);
  const std::string explained =
      accepted({"encoder", "--explain", "encoder.2.self_attention.head.1.weights[1,2]", "--width", "80"}).out;
  CHECK(explained.starts_with("encoder.2.self_attention.head.1.weights[1,2] (the, cat)\n"));
  check_has(explained, "\n  weights[1,2] = exp(scaled[1,2] − ");
  check_has(in_one_line(explained), ", the largest score of the row, is subtracted");
}

TEST_CASE("a name is not shortened to another matrix's name, nor to a number") {
  const std::string head =
      accepted({"explain", "head.2.scores[1,2]", "--text", "a b", "--heads", "2", "--depth", "1"}).out;
  check_has(head, "\n  scores[1,2] = head.2.q[1,1]⋅head.2.k[2,1] + ");
  check_has(head, "\n    head.2.q[1,1] = q[1,");
  const std::string own = accepted({"explain", "head.2.q[1,2]", "--text", "a b", "--heads", "2"}).out;
  CHECK(own.find("shortened") == std::string::npos);
  check_has(accepted({"encoder", "--only", "encoder.output"}).out, "output = encoder.2.norm_2.output");
}

TEST_CASE("masked weights are shown as masked when they are shown alone") {
  const std::string name = "decoder.1.self_attention.head.1.weights";
  const std::string alone = accepted({"decoder", "--only", name}).out;
  check_has(alone, "<start> │   1.0000");
  check_has(alone, "·");
}

TEST_CASE("an outline's total is the sum of what it shows") {
  for (const char* command : {"encoder", "decoder", "transformer"}) {
    std::uint64_t sum = 0;
    for (const auto& row : listing_of({command, "--outline", "--layers", "1"})) {
      std::string count = row.back();
      std::erase(count, ',');
      const bool is_top = !row.front().starts_with(' ');
      if (is_top && !count.empty()) sum += std::stoull(count);
    }
    check_has(accepted({command, "--outline", "--layers", "1"}).out, "Total: " + with_commas(sum) + " multiply-adds");
  }
}

TEST_CASE("the counts of a generation are the sums of its steps, and the encoder's is that of the encoder") {
  for (const Words& model :
       std::vector<Words>{{"--model", "copy"}, {"--model", "pattern"}, {"--size", "tiny", "--seed", "4"}}) {
    const auto count = [&](const Words& more) {
      std::uint64_t sum = 0;
      for (const auto& row : listing_of(Words{"generate"} + model + more)) {
        std::string products = row[3].substr(0, row[3].find(' '));
        std::erase(products, ',');
        sum += std::stoull(products);
      }
      return with_commas(sum);
    };
    const std::string page = in_one_line(accepted(Words{"generate"} + model).out);
    check_has(page, "With the cache, the steps take " + count({}) + " multiply-adds. Without it, they take " +
                        count({"--no-cache"}) + ".");
    const bool encodes = model.back() != "pattern";
    CHECK((page.find("The encoder runs once") != std::string::npos) == encodes);
    if (!encodes) continue;
    const std::string outline = accepted(Words{"encoder"} + model + Words{"--outline"}).out;
    const std::size_t at = outline.find("Total: ") + 7;
    check_has(page, "adds " + outline.substr(at, outline.find(' ', at) - at) + " to both");
  }
}

TEST_CASE("a page names what a file of parameters does not say") {
  const TemporaryFolder folder;
  const std::string file = folder.path("m.safetensors");
  accepted({"parameters", "--kind", "encoder-only", "--save-parameters", file});
  for (const char* command : {"encoder", "parameters"}) {
    const std::string page = in_one_line(accepted({command, "--parameters", file, "--heads", "2"}).out);
    check_has(page,
              "The file does not name the placement of the norms, the kind of the norms, the activation and ε. "
              "Assumed "
              "here: post-norm, layer normalization, ReLU in the feed-forward layers and ε = 1e-05 in the norms.");
  }
  CHECK(accepted({"encoder"}).out.find("Assumed here") == std::string::npos);
  check_has(in_one_line(accepted({"encoder"}).out), "The parameters are random (seed 1), not trained.");
  CHECK(accepted({"encoder", "--model", "copy"}).out.find("random") == std::string::npos);
}

TEST_CASE("a page on a model says what its options do, and nothing else") {
  const auto page = [](const Words& words) { return in_one_line(accepted(words).out); };
  const std::string all = "every word attends to all words, itself included", some = "words that the mask allows";
  check_has(page({"encoder"}), all);
  check_has(page({"encoder", "--source", "a <blank>"}), some);
  CHECK(page({"encoder", "--source", "a <blank>"}).find(all) == std::string::npos);
  check_has(page({"decoder"}), some);
  CHECK(page({"decoder"}).find(all) == std::string::npos);
  check_has(page({"decoder"}), "shifted right by one position");
  CHECK(page({"decoder", "--model", "pattern"}).find("shifted right") == std::string::npos);
  check_has(page({"decoder", "--model", "pattern"}), "must predict the next word");
  CHECK(page({"decoder", "--target-x", "1 2 3 4"}).find("must predict") == std::string::npos);
  CHECK(page({"encoder", "--norm", "none"}).find("Layer normalization:") == std::string::npos);
  check_has(page({"transformer", "--x", "1 2 3 4"}), "positions: sinusoidal, and none for the source");
}

TEST_CASE("the most probable word is named where there is one") {
  const TemporaryFolder folder;
  Json model = parse_json(read_bytes(ATTN_SOURCE_FOLDER "/lessons/models/01-pattern.json"), "pattern");
  for (const char* name : {"output.w", "output.b"}) {
    for (Json& row : model["parameters"][name]) {
      for (Json& number : row) number = 0;
    }
  }
  const std::string path = folder.write("even.json", model.dump());
  check_has(accepted({"transformer", "--model", path, "--section", "What should come"}).out, "a tie of 2 words");
  CHECK(accepted({"transformer", "--model", "pattern"}).out.find("a tie of") == std::string::npos);
}

TEST_CASE("a layer normalization says of a constant row that it has no variance") {
  check_has(accepted({"layer-norm", "--x", "5 5 5; 1 2 3", "--tokens", "same other"}).out,
            "All numbers of the row of \"same\" are equal.");
  CHECK(accepted({"layer-norm"}).out.find("all equal") == std::string::npos);
}

TEST_CASE("an ε of 0 stands in no sentence on normalization") {
  for (const char* kind : {"layer", "rms"}) {
    const std::string without = in_one_line(accepted({"encoder", "--epsilon", "0", "--norm-kind", kind}).out);
    CHECK_MESSAGE(without.find("+ ε") == std::string::npos, kind);
    check_has(in_one_line(accepted({"encoder", "--norm-kind", kind}).out), "+ ε). Then multiply by γ");
  }
  check_has(in_one_line(accepted({"encoder", "--epsilon", "0"}).out), "divide by √variance. Then");
  check_has(in_one_line(accepted({"encoder", "--epsilon", "0", "--norm-kind", "rms"}).out),
            "each row by √(mean of the squares). Then");
  check_has(
      in_one_line(accepted({"layer-norm", "--epsilon", "0"}).out),
      "divide by √variance. Then multiply by γ and add β. For each row, the variance before γ is 1 up to rounding, unless it was 0.");
  check_has(in_one_line(accepted({"layer-norm"}).out),
            "the variance before γ is close to 1, unless ε is large compared with the variance of the row.");
}

TEST_CASE("a scale that counts keys is said to make the cache another computation, where it does") {
  const std::string other = "the two ways are different computations from the second step on";
  const std::string page = in_one_line(accepted({"generate", "--scale", "sqrt-n"}).out);
  check_has(page, other);
  CHECK(page.find("probabilities is less than") == std::string::npos);
  CHECK(in_one_line(accepted({"generate"}).out).find(other) == std::string::npos);
  CHECK(in_one_line(accepted({"generate", "--scale", "3"}).out).find(other) == std::string::npos);
  const std::string one_layer = in_one_line(accepted({"generate", "--scale", "sqrt-n", "--layers", "1"}).out);
  CHECK(one_layer.find(other) == std::string::npos);
  check_has(one_layer, "difference between their probabilities is less than 1e-9.");
}
