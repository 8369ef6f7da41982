#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "commands_tried.hpp"
#include "data/files/json.hpp"
#include "data/files/matrix_file.hpp"
#include "golden.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;

TEST_CASE("generation as text is the golden one") {
  check_golden("generate.txt", accepted({"generate"}).out, Tolerance::last_digit);
}

TEST_CASE("a copy as Markdown is the golden one") {
  check_golden("generate-copy.md", accepted({"generate", "--model", "copy", "--format", "markdown"}).out,
               Tolerance::last_digit);
}

TEST_CASE("one layer of an encoder as text is the golden one") {
  check_golden("encoder.txt", accepted({"encoder", "--layers", "1", "--source", "a b"}).out, Tolerance::last_digit);
}

TEST_CASE("the outline of the base model is the golden one, and fits 80 columns") {
  const std::string found = accepted({"transformer", "--size", "base", "--outline"}).out;
  check_golden("outline.txt", found, Tolerance::last_digit);
  for (std::size_t begin = 0, end; begin < found.size(); begin = end + 1) {
    end = found.find('\n', begin);
    std::size_t characters = 0;
    for (std::size_t i = begin; i < end; ++i) characters += (found[i] & 0xC0) != 0x80;
    CHECK(characters <= 80);
  }
}

TEST_CASE("an outline keeps its tree in Markdown") {
  const std::string found = accepted({"encoder", "--outline", "--format", "markdown"}).out;
  check_has(found, "| encoder |");
  check_has(found, "| &nbsp;&nbsp;1 |");
  check_has(found, "| &nbsp;&nbsp;&nbsp;&nbsp;self\\_attention |");
  check_has(found, "| &nbsp;&nbsp;2: as 1 |");
}

TEST_CASE("attn parameters counts the base model's layers") {
  const std::string found = accepted({"parameters", "--size", "base"}).out;
  check_has(found, "encoder.1 to encoder.6  6 × 3,152,384");
  check_has(found, "decoder.1 to decoder.6  6 × 4,204,032");
  CHECK(found.find("encoder.norm") == std::string::npos);
  check_has(accepted({"parameters", "--norm", "pre"}).out, "decoder.norm.gamma");
  CHECK(accepted({"parameters", "--norm", "none"}).out.find("norm_1") == std::string::npos);
}

TEST_CASE("attn parameters and an outline of a model of any size take no memory") {
  for (const char* command : {"parameters", "transformer"}) {
    Words words = {command, "--layers", "1000", "--d-model", "65536", "--heads", "8"};
    if (words.front() == "transformer") words.insert(words.end(), {"--outline", "--n", "10000"});
    CHECK(accepted(words).out.size() > 1000);
  }
}

TEST_CASE("no command of the Transformer looks ahead") {
  for (const char* kind : {"encoder-decoder", "decoder-only"}) {
    for (const char* norm : {"post", "pre", "none"}) {
      check_has(accepted({"decoder", "--kind", kind, "--norm", norm, "--check-causal"}).out,
                "No earlier output changed.");
    }
  }
}

TEST_CASE("attn generate says that the cache changes nothing") {
  for (const Words& words : std::vector<Words>{{"generate"},
                                               {"generate", "--model", "copy"},
                                               {"generate", "--no-cache"},
                                               {"generate", "--size", "tiny", "--sample"},
                                               {"generate", "--positions", "learned", "--kind", "decoder-only"},
                                               {"generate", "--norm", "pre", "--top-k", "2"}}) {
    check_has(accepted(words).out, "Both ways write the same words.");
  }
}

TEST_CASE("where learned positions end, generation ends") {
  const ProcessResult finished = accepted({"generate", "--steps", "20"});
  check_has(finished.errors, "only 5 steps are possible, because the model has vectors for 11 positions");
  check_has(accepted({"generate"}).out, "The model has vectors for 11 positions, and none is left.");
  CHECK(accepted({"generate", "--steps", "2"}).out.find("none is left") == std::string::npos);
  check_has(finished.out, "Written: a b a a b");
  refuses({"generate", "--target", "a a b a a b a a b a a b"},
          "the input has 12 words, but the model has vectors for only 11 positions");
}

TEST_CASE("thousands of words are written without keeping every cache") {
  const ProcessResult finished =
      accepted({"generate", "--size", "tiny", "--kind", "decoder-only", "--steps", "400", "--seed", "6"});
  check_has(finished.out, "  400.  ");
  refuses({"generate", "--size", "tiny", "--steps", "4096", "--no-cache"}, "give fewer --steps");
  refuses({"generate", "--size", "base", "--steps", "4096", "--only", "*.keys"}, "give fewer --steps");
}

TEST_CASE("a blank among given vectors is not looked at") {
  const Words words = {"encoder", "--only", "encoder.1.self_attention.head.1.weights", "--format", "csv"};
  Words blanks = words;
  blanks.insert(blanks.end(), {"--x", "1 2 3 4; 5 1 2 2; 0 1 0 1", "--source", "a b <blank>"});
  const std::string out = accepted(blanks).out;
  CHECK(std::ranges::count(out, '\n') >= 3);
  check_has(out, ",0\n");
}

TEST_CASE("options of models are checked by name") {
  for (const char* command : {"encoder", "decoder", "transformer", "parameters", "generate"}) {
    for (const char* option : {"--layers", "--heads", "--d-model", "--d-ff", "--n"}) {
      for (const char* value : {"0", "-1", "x", "1e3", "99999999999999999999999", ""}) {
        refuses({command, std::string(option) + "=" + value}, option);
      }
    }
    refuses({command, "--seed", "-1"}, "--seed");
    refuses({command, "--size", "bsae"}, "did you mean 'base'?");
    refuses({command, "--norm", "pots"}, "did you mean 'post'?");
    refuses({command, "--positions", "sinusodial"}, "did you mean 'sinusoidal'?");
    refuses({command, "--positions", "relative-bias"}, "this model learns nothing of distances");
    refuses({command, "--model", "patern"}, "did you mean 'pattern'?");
    refuses({command, "--model", "copy", "--layers", "2"}, "--model and --layers are both given");
    refuses({command, "--parameters", "nowhere.npz", "--heads", "2"}, "nowhere.npz");
    refuses({command, "--heads", "3"}, "d_model (4) is not divisible by the number of heads (3)");
  }
  for (const char* command : {"encoder", "decoder", "transformer", "parameters"}) {
    refuses({command, "--n", "3", "--source", "a"}, "--n and --source are both given");
    refuses({command, "--source", ""}, "no words");
    refuses({command, "--x", "1 2; 3"}, "attn: ");
    refuses({command, "--x", "1 2 3"}, "must have 4 columns");
    refuses({command, "--x", "1 2 3 nan"}, "every number must be finite");
  }
  for (const char* command : {"transformer", "generate"}) {
    refuses({command, "--layers", "1000", "--d-model", "65536", "--heads", "8"}, "choose smaller sizes");
  }
  refuses({"encoder", "--n", "10000"}, "scores is 10000×10000, and all matrices at the same time need");
  refuses({"decoder", "--kind", "decoder-olny"}, "did you mean 'decoder-only'?");
}

TEST_CASE("sampling is asked for in numbers that make sense") {
  for (const char* value : {"0", "-1", "nan", "inf", "x", ""}) {
    refuses({"generate", std::string("--temperature=") + value}, "--temperature");
    refuses({"generate", std::string("--top-p=") + value}, "--top-p");
    refuses({"generate", std::string("--top-k=") + value}, "--top-k");
    refuses({"generate", std::string("--steps=") + value}, "--steps");
  }
  refuses({"generate", "--top-p", "1.5"}, "at most 1");
  refuses({"generate", "--steps", "5000"}, "from 1 to 4096");
  refuses({"generate", "--sample-seed", "2"}, "--sample-seed belongs to");
}

TEST_CASE("an option for a side that is not there is refused") {
  refuses({"encoder", "--target", "a"}, "--target has no effect");
  refuses({"encoder", "--target-x", "1 2 3 4"}, "--target-x has no effect");
  refuses({"encoder", "--memory", "1 2 3 4"}, "--memory has no effect");
  refuses({"transformer", "--memory", "1 2 3 4"}, "the model has an encoder of its own");
  refuses({"decoder", "--kind", "decoder-only", "--source", "a"}, "the model has no encoder");
  refuses({"encoder", "--model", "pattern"}, "attn encoder needs an encoder");
  refuses({"decoder", "--kind", "encoder-only"}, "needs a decoder");
  refuses({"generate", "--kind", "encoder-only"}, "needs a decoder");
  refuses({"transformer", "--depth", "2"}, "--depth belongs to --explain");
  refuses({"transformer", "--outline", "--save-parameters", "x.npz"}, "--save-parameters and --outline");
  refuses({"transformer", "--save-parameters", "x.csv"}, ".safetensors or .npz");
  refuses({"encoder", "--x", "1 2 3 4", "--source", "a b"}, "give one word for each row");
  check_has(accepted({"encoder", "--model", "copy", "--seed", "3"}).errors, "--seed has no effect here");
}

TEST_CASE("words that a model does not know are answered with those that it knows") {
  refuses({"generate", "--model", "copy", "--source", "a e"}, "unknown word 'e'");
  refuses({"decoder", "--model", "copy", "--target", "<strat> a"}, "did you mean '<start>'?");
}

TEST_CASE("options that agree with a model that was read are no contradiction, and others are told with what it has") {
  accepted({"encoder", "--model", "copy", "--heads", "1"});
  refuses({"encoder", "--model", "copy", "--heads", "5"}, "--heads 5: copy has 1: leave out --heads");
  const TemporaryFolder folder;
  const std::string file = folder.path("m.npz");
  accepted({"parameters", "--kind", "decoder-only", "--save-parameters", file});
  accepted({"transformer", "--kind", "decoder-only", "--parameters", file, "--heads", "2", "--d-model", "4"});
  refuses({"transformer", "--kind", "encoder-only", "--parameters", file, "--heads", "2"},
          "has decoder-only: leave out --kind");
}

TEST_CASE("the words of a model whose file names none are token ids, from 0") {
  const TemporaryFolder folder;
  const std::string file = folder.path("m.npz");
  accepted({"parameters", "--save-parameters", file});
  const Words model = {"transformer", "--parameters", file, "--heads", "2"};
  const auto with = [&](const Words& more) {
    Words all = model;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  for (const char* id : {"-1", "3", "cat", "99999999999999999999"}) {
    refuses(with({"--source", id, "--target", "1"}), "token ids, from 0 to 2");
  }
  const std::string page = accepted(with({"--source", "0 2", "--target", "0 1"})).out;
  check_has(in_one_line(page), "Its words are token ids, from 0 to 2.");
  const auto cell = [&](const char* id) {
    return accepted(with({"--source", id, "--target", "0", "--explain", "source.ids[1,1]"})).out;
  };
  check_has(cell("0"), "= 1");  // the first row of the embeddings
  check_has(cell("2"), "= 3");
  refuses({"transformer", "--parameters", file}, "give --heads N");
  refuses({"transformer", "--parameters", file, "--heads", "3"},
          "d_model (4) is not divisible by the number of heads (3)");
  refuses(with({"--norm", "none", "--source", "1", "--target", "1"}), "change one of them");
}

TEST_CASE("the loss of a model whose words are token ids is that of its right words") {
  const TemporaryFolder folder;
  const std::string file = folder.path("m.npz");
  accepted({"parameters", "--kind", "decoder-only", "--target", "a b c", "--save-parameters", file});
  const Words model = {"--parameters", file, "--heads", "2", "--target", "1 3 0"};
  const auto command = [&](Words words, const Words& more) {
    words.insert(words.end(), model.begin(), model.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::string page = in_one_line(accepted(command({"backward", "decoder"}, {})).out);
  check_has(page, "cross-entropy");
  check_has(page, "averaged over 2 words");
  check_has(page, "The last position has none.");
  check_has(accepted(command({"backward", "decoder"}, {"--check"})).out, "agree");
  accepted(command({"influence", "decoder"}, {}));
}

TEST_CASE("words that are given beside vectors are the right words of the loss") {
  const TemporaryFolder folder;
  const std::string file = folder.path("m.npz");
  accepted({"parameters", "--kind", "decoder-only", "--target", "a b c", "--save-parameters", file});
  const Words words = {"backward", "decoder",  "--parameters", file,         "--heads",
                       "2",        "--target", "1 3",          "--target-x", "1 2 3 4; 4 3 2 1"};
  const std::string page = in_one_line(accepted(words).out);
  check_has(page, "cross-entropy");
  check_has(page, "averaged over 1 word.");
}

TEST_CASE("a model without embeddings is given vectors, or draws them and says so") {
  const TemporaryFolder folder;
  const std::string file = folder.path("m.npz");
  accepted({"parameters", "--x", "1 2 3 4", "--target-x", "1 2 3 4", "--save-parameters", file});
  const Words model = {"transformer", "--parameters", file, "--heads", "2", "--only", "decoder.output"};
  check_has(accepted(model).errors, "the vectors of the words are random. To choose them, give --x");
  Words given = model;
  given.insert(given.end(), {"--x", "1 2 3 4; 0 1 0 1", "--target-x", "1 1 2 3"});
  CHECK(accepted(given).errors == "");
  refuses({"generate", "--parameters", file, "--heads", "2"}, "attn generate needs words");
}

TEST_CASE("an option that contradicts what a layout brings is refused with both named") {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("gpt.json",
                   R"({"wte.weight": [[1, 2], [3, 4]], "wpe.weight": [[0, 1], [1, 0]], "ln_f.weight": [1, 1],
          "h.0.ln_1.weight": [1, 1], "h.0.ln_2.weight": [1, 1], "h.0.attn.bias": [[[1]]],
          "h.0.attn.c_attn.weight": [[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]],
          "h.0.attn.c_proj.weight": [[1, 0], [0, 1]], "h.0.mlp.c_fc.weight": [[1, 2, 3], [3, 2, 1]],
          "h.0.mlp.c_proj.weight": [[1, 2], [3, 4], [5, 6]]})");
  const Words gpt = {"decoder", "--parameters", file, "--heads", "1", "--target", "0 1"};
  refuses(gpt + Words{"--norm", "post"}, "is GPT-2, whose norms are pre: leave out --norm");
  refuses(gpt + Words{"--not-causal"}, "is GPT-2, whose decoder is causal: leave out --not-causal");
  // Models with these names have either GELU.
  const Words said = gpt + Words{"--norm", "pre", "--epsilon", "1e-6", "--activation", "gelu"};
  const std::string page = in_one_line(accepted(said).out);
  check_has(page, "activation: GELU;");
  check_has(page, "ε = 1e-06");
  CHECK(page.find("Assumed here") == std::string::npos);
  check_has(in_one_line(accepted(gpt).out),
            "The file does not name the activation and ε. Assumed here: GELU by tanh in the feed-forward "
            "layers and ε = 1e-05 in the norms.");
}

TEST_CASE("an activation that is made of simpler functions is explained by them") {
  const auto explained = [](const char* name) {
    return in_one_line(
        accepted({"encoder", "--activation", name, "--explain", "encoder.1.feed_forward.activated[1,2]"}).out);
  };
  check_has(explained("silu"), "⋅sigmoid(");
  check_has(explained("gelu"), "erf(");
  check_has(explained("gelu-tanh"), "⋅(1 + tanh(");
}

TEST_CASE("the page of a model says how it computes") {
  const auto page = [](const Words& more) { return in_one_line(accepted(Words{"encoder"} + more).out); };
  check_has(page({"--activation", "silu"}), "SiLU (each number x is multiplied by 1 / (1 + exp(−x)))");
  check_has(page({"--norm-kind", "rms"}), "Root mean square normalization (RMSNorm): divide each row");
  check_has(page({"--causal"}),
            "The causal mask: 1 where a query (row) may attend to a key (column), 0 where the "
            "key comes later or is padding.");
  check_has(page({"--valid-length", "2"}), "0 where the key comes after the valid length.");
  check_has(page({"--mask", "1 1 0"}), "0 where the key is masked by the given mask.");
  check_has(page({"--mask", "0.5 0 -inf"}), "The numbers of the mask are added to the scores");
  check_has(page({"--positions", "rotary"}), "Rotary positions: the queries and keys of each head are turned");
  check_has(page({"--positions", "rotary", "--base", "500"}), "positions: rotary; base = 500.");
  const std::string decoder = in_one_line(accepted({"decoder", "--not-causal"}).out);
  check_has(decoder, "Self-attention: every word attends to all words, itself included.");
  CHECK(decoder.find("which it cannot see") == std::string::npos);
}

TEST_CASE("masks of models are refused where they do not fit, by their own names") {
  refuses({"encoder", "--mask", "1 1"}, "--mask is 1×2, and must be 3×3 or 1×3");
  refuses({"decoder", "--memory-mask", "1 1"}, "--memory-mask is 1×2");
  refuses({"decoder", "--memory-key-mask", "1.0 1"}, "--memory-key-mask: give true or 1");
  refuses({"encoder", "--valid-length", "1,2"}, "2 lengths are given for 3 queries");
  refuses({"encoder", "--causal", "--not-causal"}, "are both given");
  refuses({"encoder", "--heads", "2", "--kv-heads", "3"}, "--kv-heads");
  refuses({"encoder", "--positions", "rotary", "--heads", "4"}, "choose heads of an even size");
  refuses({"encoder", "--epsilon", "0", "--norm", "pre", "--x", "1 2 3 4; 1 1 1 1"},
          "row 2 cannot be normalized: it would be divided by 0; give an ε above 0");
  refuses({"encoder", "--activation", "gelo"}, "did you mean 'gelu'?");
}

TEST_CASE("attn layer-norm refuses what is no row of factors, and no small number") {
  refuses({"layer-norm", "--gamma", "1 2"}, "it must be one row of 4 numbers");
  refuses({"layer-norm", "--beta", "1 2 3 4; 1 2 3 4"}, "it must be one row of 4 numbers");
  refuses({"layer-norm", "--gamma", "1 nan 1 1"}, "every number must be finite");
  for (const char* epsilon : {"-1", "x", "nan", "inf"}) {
    refuses({"layer-norm", "--epsilon", epsilon}, "--epsilon");
  }
  check_has(accepted({"layer-norm", "--epsilon", "0", "--x", "1 3"}).out, "√(variance)");
  const Words words = {"layer-norm", "--x", "1 3 5 7", "--epsilon", "4", "--gamma", "3 3 3 3", "--format", "csv"};
  check_has(accepted(words).out, "-3");
}

TEST_CASE("attn layer-norm refuses labels that are not one for each row") {
  refuses({"layer-norm", "--x", "1 2; 3 4", "--tokens", "a"}, "x has 2 tokens but labels for 1");
  refuses({"layer-norm", "--x", "1 2; 3 4", "--tokens", "a b c d"}, "x has 2 tokens but labels for 4");
}

TEST_CASE("one cell of a model is explained down to its parameters") {
  const std::string found = accepted({"encoder", "--explain", "encoder.2.norm_2.output[1,2]", "--depth", "3"}).out;
  check_has(found, "encoder.2.norm_2.output[1,2]");
  check_has(found, "\n  output[1,2] = normalised[1,2]⋅gamma[1,2] + beta[1,2]\n");
  check_has(found, "encoder.2.sum_2[1,2] =");
  refuses({"encoder", "--explain", "encoder.3.norm_2.output[1,2]"}, "encoder.3.norm_2.output");
  refuses({"encoder", "--explain", "encoder.2.norm_2.output[9,2]"}, "encoder.2.norm_2.output");
}

TEST_CASE("an outline has a norm at the end where a run has one") {
  const auto names = [](const Words& words) {
    std::vector<std::string> all;
    for (const auto& row : listing_of(words)) all.push_back(row.front());
    return all;
  };
  const std::vector<std::string> post = names({"encoder", "--outline"});
  CHECK(std::ranges::find(post, "    norm_1") != post.end());
  CHECK(std::ranges::find(post, "  norm") == post.end());
  const std::vector<std::string> pre = names({"encoder", "--outline", "--norm", "pre"});
  CHECK(std::ranges::find(pre, "  norm") != pre.end());
}

TEST_CASE("a model whose numbers are beyond double precision is refused, not given weights of zero") {
  const TemporaryFolder folder;
  Json model = parse_json(read_bytes(ATTN_SOURCE_FOLDER "/lessons/models/02-copy.json"), "copy");
  for (const char* name : {"source_embedding.e", "target_embedding.e"}) {
    int sign = 1;
    for (Json& vector : model["parameters"][name]) {
      for (Json& number : vector) number = 1.7e308 * (sign = -sign);
    }
  }
  const std::string path = folder.write("huge.json", model.dump());
  for (const char* command : {"transformer", "generate"}) {
    refuses({command, "--model", path}, "that is beyond double precision");
  }
}

TEST_CASE("a model in single precision has numbers of float32, and its page and its JSON say so") {
  const Words words = {"encoder", "--layers", "1", "--source", "a b c", "--single"};
  check_has(in_one_line(accepted(words).out), "It is computed in single precision: each result is rounded to float32");
  Words as_json = words;
  as_json.insert(as_json.end(), {"--format", "json"});
  const Json single = parse_json(accepted(as_json).out, "single");
  CHECK(single["problem"]["single"] == true);
  std::size_t results = 0;
  for (const Json& node : single["nodes"]) {
    if (!node.contains("operation")) continue;
    ++results;
    for (const Json& row : single["arrays"][node["name"].get<std::string>()]) {
      for (const Json& cell : row) {
        if (cell.is_number()) CHECK(cell == static_cast<double>(static_cast<float>(cell.get<double>())));
      }
    }
  }
  CHECK(results > 10);
  CHECK(accepted({"encoder", "--layers", "1", "--source", "a b c"}).out.find("single") == std::string::npos);
}
