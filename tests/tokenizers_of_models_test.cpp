// The words of models whose files have a tokenizer, or that are given one.

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "commands_tried.hpp"
#include "data/parameters/kinds_in_words.hpp"
#include "data/parameters/source.hpp"
#include "data/tokenizer/tokenizer.hpp"
#include "data/tokenizer/tokenizers_of_models.hpp"
#include "gguf_written.hpp"
#include "process.hpp"

using namespace attn;

namespace {

std::vector<std::string> cut_into(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> texts;
  for (const Token& piece : tokenizer.encode(text)) texts.emplace_back(piece.text);
  return texts;
}

ModelTokenizer tokenizer_of(const GgufWriter& file) { return tokenizer_in_gguf(read_gguf(file.bytes(), "x"), "x"); }

const std::vector<std::string_view> byte_level_tokens = {"a", "b", "ab", "Ġ", "<s>", "1", "11", "Ġa", "<t>", ""};
const std::vector<int> byte_level_types = {1, 1, 1, 1, 3, 1, 1, 1, 4, 5};

GgufWriter byte_level(std::string_view pre) {
  GgufWriter file;
  file.say_text("tokenizer.ggml.model", "gpt2");
  file.say_text("tokenizer.ggml.pre", pre);
  file.say_texts("tokenizer.ggml.tokens", byte_level_tokens);
  file.say_whole("tokenizer.ggml.token_type", byte_level_types);
  file.say_texts("tokenizer.ggml.merges", {"a b", "1 1", "Ġ a"});
  file.say_number("tokenizer.ggml.bos_token_id", 4);
  return file;
}

const std::vector<std::string_view> scored_tokens = {"<unk>", "<s>", "</s>", "<0xC3>", "<0xA9>", "▁",
                                                     "a",     "b",   "▁a",   "ab",     "  "};
const std::vector<int> scored_types = {2, 3, 3, 6, 6, 1, 1, 1, 1, 1, 4};
const std::vector<float> scores = {0, 0, 0, 0, 0, -9, -9, -9, -2, -1, 0};

GgufWriter scored() {
  GgufWriter file;
  file.say_text("tokenizer.ggml.model", "llama");
  file.say_texts("tokenizer.ggml.tokens", scored_tokens);
  return file;
}

GgufWriter scored_whole() {
  GgufWriter file = scored();
  file.say_reals("tokenizer.ggml.scores", scores);
  file.say_whole("tokenizer.ggml.token_type", scored_types);
  return file;
}

using Pieces = std::vector<std::string>;

// --- llama2.c

std::string tokenizer_bin(const std::vector<std::pair<std::string_view, float>>& rows) {
  std::string bytes = little_bytes(6, 4);
  for (const auto& [piece, score] : rows)
    bytes += float_bytes(score) + little_bytes(piece.size(), 4) + std::string(piece);
  return bytes;
}

const std::vector<std::pair<std::string_view, float>> rows_of_llama2c = {
    {"<unk>", 0.0F}, {"\n<s>\n", 0.0F}, {"\n</s>\n", 0.0F}, {"<0x0A>", 0.0F},
    {" ", -9.0F},    {"a", -9.0F},      {" a", -1.0F},      {"b", -9.0F}};

// A model of llama2.c with so many words.
std::string llama2c_model(std::uint32_t words) {
  std::string bytes;
  for (const std::uint32_t size : {2U, 4U, 1U, 1U, 1U, words, 8U}) bytes += little_bytes(size, 4);
  const std::size_t numbers = words * 2 + 2 + 4 * 4 + 2 + 3 * 8 + 2 + 2 * 8 * 1;
  for (std::size_t i = 0; i < numbers; ++i) bytes += float_bytes(0.25F + 0.01F * static_cast<float>(i % 7));
  return bytes;
}

const Words ids_of_target = {"--only", "target.ids"};

}  // namespace

TEST_CASE("a .gguf file with byte-level BPE has the pieces of its model, split as it says") {
  const ModelTokenizer found = tokenizer_of(byte_level("gpt-2"));
  REQUIRE(found.tokenizer);
  CHECK(found.tokenizer->kind() == "byte-level BPE");
  CHECK(found.tokenizer->size() == 9);
  CHECK(cut_into(*found.tokenizer, "ab a<s>11<t>") == Pieces{"ab", "Ġa", "<s>", "11", "<t>"});
  CHECK(found.tokenizer->is_special(4));
  CHECK_FALSE(found.tokenizer->is_special(8));
  CHECK(cut_into(*tokenizer_of(byte_level("smollm")).tokenizer, "11") == Pieces{"1", "1"});
  CHECK(cut_into(*tokenizer_of(byte_level("llama-bpe")).tokenizer, "11 a") == Pieces{"<s>", "11", "Ġa"});
  GgufWriter alone = byte_level("llama-bpe");
  alone.say_flag("tokenizer.ggml.add_bos_token", false);
  CHECK(cut_into(*tokenizer_of(alone).tokenizer, "11") == Pieces{"11"});
  CHECK(cut_into(*tokenizer_of(byte_level("qwen2")).tokenizer, "11") == Pieces{"1", "1"});
}

TEST_CASE("a .gguf file with scores has the pieces of sentencepiece, with bytes for what is unknown") {
  const auto tokenizer = tokenizer_of(scored_whole()).tokenizer;
  REQUIRE(tokenizer);
  CHECK(tokenizer->kind() == "BPE with byte fallback");
  CHECK(cut_into(*tokenizer, "aab") == Pieces{"<s>", "▁a", "ab"});
  CHECK(cut_into(*tokenizer, "aé  b</s>a") == Pieces{"<s>", "▁a", "<0xC3>", "<0xA9>", "  ", "▁", "b", "</s>", "▁a"});
  CHECK(tokenizer->decode(std::vector<std::size_t>{8, 3, 4}) == "aé");
  GgufWriter other = scored_whole();
  other.say_flag("tokenizer.ggml.add_space_prefix", false);
  other.say_flag("tokenizer.ggml.add_bos_token", false);
  other.say_flag("tokenizer.ggml.add_eos_token", true);
  CHECK(cut_into(*tokenizer_of(other).tokenizer, "ab") == Pieces{"ab", "</s>"});
  GgufWriter untyped = scored();
  untyped.say_reals("tokenizer.ggml.scores", scores);
  CHECK(cut_into(*tokenizer_of(untyped).tokenizer, "aé") == Pieces{"<s>", "▁a", "<0xC3>", "<0xA9>"});
}

TEST_CASE("a tokenizer in a .gguf file that is not read is named, and one that contradicts itself is refused") {
  GgufWriter kind;
  kind.say_text("tokenizer.ggml.model", "bert");
  CHECK(tokenizer_of(kind).unread == "a tokenizer of the kind 'bert', which is not read yet");
  CHECK(tokenizer_of(byte_level("falcon")).unread ==
        "a tokenizer that splits words in the way 'falcon', which is not read yet");
  GgufWriter silent;
  silent.say_text("tokenizer.ggml.model", "gpt2");
  CHECK(tokenizer_of(silent).unread == "a tokenizer without tokenizer.ggml.pre, which says how it splits words");
  CHECK(tokenizer_of(GgufWriter()).unread.empty());
  CHECK(tokenizer_of(GgufWriter()).tokenizer == nullptr);

  const auto with = [](GgufWriter file, const auto& more) {
    return [file, more]() mutable {
      more(file);
      tokenizer_of(file);
    };
  };
  const auto is_bpe = [](GgufWriter& file) {
    file.say_text("tokenizer.ggml.model", "gpt2");
    file.say_text("tokenizer.ggml.pre", "gpt-2");
  };
  check_refused(
      {{"x: tokenizer.ggml.model must be a text", with({}, [](auto& f) { f.say_number("tokenizer.ggml.model", 1); })},
       {"tokenizer.ggml.tokens must be a list of texts",
        with({}, [](auto& f) { f.say_whole("tokenizer.ggml.tokens", {1}); })},
       {"x: tokenizer.ggml.scores is missing: get the file again", with(scored(), [](auto&) {})},
       {"tokenizer.ggml.scores has 2 numbers, and there are 11 tokens",
        with(scored(),
             [](auto& f) {
               f.say_reals("tokenizer.ggml.scores", {1, 2});
             })},
       {"tokenizer.ggml.token_type has 1 number, and there are 11 tokens",
        with(scored(), [](auto& f) { f.say_whole("tokenizer.ggml.token_type", {1}); })},
       {"tokenizer.ggml.token_type must have numbers from 1 to 6", with(scored(),
                                                                        [](auto& f) {
                                                                          std::vector<int> types = scored_types;
                                                                          types[3] = 7;
                                                                          f.say_whole("tokenizer.ggml.token_type",
                                                                                      types);
                                                                        })},
       {"tokenizer.ggml.bos_token_id must be the id of a token, and there are 11 tokens",
        with(scored_whole(), [](auto& f) { f.say_number("tokenizer.ggml.bos_token_id", 11); })},
       {"tokenizer.ggml.add_bos_token must be true or false",
        with(scored_whole(), [](auto& f) { f.say_number("tokenizer.ggml.add_bos_token", 1); })},
       {"tokenizer.ggml.merges is missing", with({},
                                                 [&](auto& f) {
                                                   is_bpe(f);
                                                   f.say_texts("tokenizer.ggml.tokens", {"a"});
                                                 })},
       {"tokenizer.ggml.merges has 'ab', which is not two pieces",
        with({},
             [&](auto& f) {
               is_bpe(f);
               f.say_texts("tokenizer.ggml.tokens", {"a", "b"});
               f.say_texts("tokenizer.ggml.merges", {"ab"});
             })},
       {"x: merge 1 ('a' and 'b') needs the piece 'ab', which the vocabulary does not have",
        with({},
             [&](auto& f) {
               is_bpe(f);
               f.say_texts("tokenizer.ggml.tokens", {"a", "b"});
               f.say_texts("tokenizer.ggml.merges", {"a b"});
             })},
       {"x: the piece 'a' has two ids, 0 and 1", with({},
                                                      [&](auto& f) {
                                                        is_bpe(f);
                                                        f.say_texts("tokenizer.ggml.tokens", {"a", "a"});
                                                        f.say_texts("tokenizer.ggml.merges", {});
                                                      })},
       {"tokenizer.ggml.bos_token_id is missing, and this token stands around each text",
        with({},
             [&](auto& f) {
               is_bpe(f);
               f.say_texts("tokenizer.ggml.tokens", {"a"});
               f.say_texts("tokenizer.ggml.merges", {});
               f.say_flag("tokenizer.ggml.add_bos_token", true);
             })},
       {"x: the vocabulary is empty", with({}, [&](auto& f) {
          is_bpe(f);
          f.say_texts("tokenizer.ggml.merges", {});
        })}});
}

TEST_CASE("a damaged tokenizer of a model is refused, or cuts texts into ids that it has") {
  const auto cuts = [](const Tokenizer& tokenizer) {
    for (const Token& token : tokenizer.encode("ab  aé<s>11\n<t>")) REQUIRE(token.id < tokenizer.size());
  };
  const auto in_gguf = [&](const std::string& bytes) {
    const ModelTokenizer found = tokenizer_in_gguf(read_gguf(bytes, "x"), "x");
    if (found.tokenizer) cuts(*found.tokenizer);
  };
  const auto in_llama2c = [&](const std::string& bytes) { cuts(*read_llama2c_tokenizer(bytes, "x")); };
  const auto try_all = [](const std::string& whole, const auto& read) {
    const auto tried = [&](const std::string& bytes) {
      try {
        read(bytes);
      } catch (const InputError&) {
      }
    };
    for (std::size_t at = 0; at < whole.size(); ++at) {
      tried(whole.substr(0, at));
      for (const char changed : {'\0', '\1', '\x7f', '\xff', static_cast<char>(whole[at] + 1)}) {
        std::string bytes = whole;
        bytes[at] = changed;
        tried(bytes);
      }
    }
  };
  try_all(byte_level("llama-bpe").bytes(), in_gguf);
  try_all(scored_whole().bytes(), in_gguf);
  try_all(tokenizer_bin(rows_of_llama2c), in_llama2c);
}

TEST_CASE("the words of a .gguf file are the pieces of its tokenizer, and ids where that is not read") {
  const TemporaryFolder folder;
  const auto written = [&](std::string_view pre) {
    GgufWriter file = gguf_of_gpt2();
    file.say_text("tokenizer.ggml.model", "gpt2");
    file.say_text("tokenizer.ggml.pre", pre);
    file.say_texts("tokenizer.ggml.tokens", {"a", "b", "ab"});
    file.say_texts("tokenizer.ggml.merges", {"a b"});
    return folder.write(std::string(pre) + ".gguf", file.bytes());
  };
  const std::string read = written("gpt-2"), unread = written("falcon");
  const std::string page = in_one_line(accepted({"decoder", "--model", read, "--text", "aba"}).out);
  check_has(page, "Its words are the pieces of a tokenizer (byte-level BPE)");
  const Words numbers = {"--only", "logits", "--format", "csv", "--no-labels"};
  CHECK(accepted(Words{"decoder", "--model", read, "--text", "aba"} + numbers).out ==
        accepted(Words{"decoder", "--model", unread, "--text", "2 0"} + numbers).out);
  const std::string ids = in_one_line(accepted({"decoder", "--model", unread, "--text", "2 0"}).out);
  check_has(ids, "Its words are token ids, from 0 to 2.");
  check_has(
      ids,
      "The model has a tokenizer that splits words in the way 'falcon', which is not read yet. --tokenizer gives it "
      "another tokenizer.");
  check_has(accepted({"tokenize", "aba", "--tokenizer", read}).out, "byte-level BPE. It has 3 ids.");
  refuses({"tokenize", "aba", "--tokenizer", unread},
          "has a tokenizer that splits words in the way 'falcon', which is not read yet");
  refuses({"tokenize", "aba", "--tokenizer", folder.write("none.gguf", gguf_of_gpt2().bytes())}, "has no tokenizer");
  refuses({"tokenize", "aba", "--tokenizer", folder.write("other.gguf", "x")}, "is no GGUF file");
}

TEST_CASE("the words of a model of llama2.c are those of the tokenizer.bin beside it, if it has as many") {
  const TemporaryFolder folder;
  const std::string model = folder.write("stories.bin", llama2c_model(8));
  check_has(in_one_line(accepted({"decoder", "--model", model, "--text", "5 6"}).out), "Its words are token ids");
  const std::string file = folder.write("tokenizer.bin", tokenizer_bin(rows_of_llama2c));
  CHECK(cut_into(*read_tokenizer(file), "a b\n") == Pieces{"<s>", "▁a", "▁", "b", "<0x0A>"});
  CHECK(read_tokenizer(folder.path(""))->size() == 8);
  check_has(in_one_line(accepted({"decoder", "--model", model, "--text", "a b"}).out),
            "Its words are the pieces of a tokenizer (BPE with byte fallback)");
  const std::string larger = folder.write("larger.bin", llama2c_model(9));
  check_has(in_one_line(accepted({"decoder", "--model", larger, "--text", "5 6"}).out),
            "The model has a tokenizer.bin of 8 pieces beside it, and has embeddings of 9.");
  check_has(in_one_line(accepted({"decoder", "--model", larger, "--tokenizer", file, "--text", "a b"}).out),
            "Its words are the pieces of a tokenizer (BPE with byte fallback)");
  const std::string whole = tokenizer_bin(rows_of_llama2c);
  for (std::size_t size : {std::size_t{0}, std::size_t{3}, whole.size() - 1})
    refuses({"tokenize", "a", "--tokenizer", folder.write("t.bin", whole.substr(0, size))},
            "is no tokenizer of llama2.c, or is incomplete: get the file again");
  refuses({"tokenize", "a", "--tokenizer", model}, "is no tokenizer of llama2.c");
}

TEST_CASE("a tokenizer that is given takes the place of the model's own, in every command with a model") {
  const TemporaryFolder folder;
  const std::string model = folder.write("x.gguf", gguf_of_gpt2().bytes());
  const std::string file =
      folder.write("t.json", R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})");
  const Words given = {"--model", model, "--tokenizer", file, "--text", "aba"};
  for (const std::string command : {"decoder", "transformer", "generate", "lens", "walk", "map", "weigh", "scores"}) {
    const std::string page = accepted(Words{command} + given).out;
    check_has(page, "ab");
  }
  check_has(accepted(Words{"explain", "weights[1,1]"} + given).out, "ab");
  check_has(accepted({"decoder", "--model", model, "--tokenizer", folder.path("t.json"), "--format", "json"}).out,
            "\"tokenizer\": \"");
  refuses({"decoder", "--tokenizer", file}, "--tokenizer needs --model");
  refuses({"walk", "--tokenizer", file}, "--tokenizer needs --model");
  refuses({"generate", "--model", "copy", "--tokenizer", file},
          "--tokenizer: the model copy has words of its own: leave it out");
  refuses({"decoder", "--model", model, "--tokenizer", folder.path("none")},
          "--tokenizer: there is no file or folder '" + folder.path("none") + "'");
  refuses({"tokenize", "a", "--tokenizer", folder.path("none")}, "--tokenizer: there is no file or folder");
  const TemporaryFolder empty;
  refuses({"walk", "--model", model, "--tokenizer", empty.path("")},
          "has no tokenizer. Give a folder with one of these");
  const std::string large = folder.write(
      "large.json", R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "d": 3}, "merges": []}})");
  refuses({"decoder", "--model", model, "--tokenizer", large},
          "large.json: the tokenizer has 4 pieces, and the model has embeddings of 3");
}

TEST_CASE("help names every kind of file from which parameters are read") {
  for (const ParameterKind& kind : parameter_kinds()) {
    const auto is_named = [&](const KindInWords& row) {
      return row.kind == kind.name && (!kind.describe || row.is_model) && (kind.describe || row.is_parameters);
    };
    CHECK_MESSAGE(std::ranges::any_of(kinds_in_words, is_named), kind.name);
  }
  for (const KindInWords& row : kinds_in_words) {
    if (row.is_model) check_has(in_one_line(accepted({"help", "decoder"}).out), row.words);
  }
}
