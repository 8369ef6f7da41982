#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/error.hpp"
#include "data/problem/model_words.hpp"
#include "data/tokenizer/tokenizer.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

std::vector<std::size_t> ids_of(const std::vector<Token>& pieces) {
  std::vector<std::size_t> ids;
  for (const Token& piece : pieces) ids.push_back(piece.id);
  return ids;
}

std::vector<std::string> texts_of(const std::vector<Token>& pieces) {
  std::vector<std::string> texts;
  for (const Token& piece : pieces) texts.emplace_back(piece.text);
  return texts;
}

bool has_words(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

const std::string low =
    "low low low low low lower lower newest newest newest newest newest newest widest widest widest";

}  // namespace

TEST_CASE("a tokenizer that was learned merges the pair that occurs most often, and of equal ones the lowest ids") {
  const auto tokenizer = learn_bpe(low, 260);
  CHECK(tokenizer->size() == 260);
  CHECK(tokenizer->kind() == "byte-level BPE");
  // "e" and "s" occur 9 times, as do "s" and "t".
  CHECK(tokenizer->piece(256) == "es");
  CHECK(tokenizer->piece(257) == "est");
  CHECK(texts_of(tokenizer->encode("lowest")) == std::vector<std::string>{"low", "est"});
  CHECK(write_tokenizer(*learn_bpe(low, 260)) == write_tokenizer(*tokenizer));
}

TEST_CASE("pairs are counted in words of any length, and of equal pieces the first two are merged") {
  std::vector<LearnedMerge> merges;
  learn_bpe(std::string(1001, 'a'), 258, &merges);
  REQUIRE(merges.size() == 2);
  CHECK(merges[0].count == 1000);
  // 500 times "aa" and an "a" behind them.
  CHECK(merges[1].left == merges[0].made);
  CHECK(merges[1].right == merges[0].made);
  CHECK(merges[1].count == 499);
}

TEST_CASE("a tokenizer that was learned is read again from what is written of it") {
  const auto learned = learn_bpe(low, 270);
  const auto read = tokenizer_from_json(write_tokenizer(*learned), "again.json");
  const std::string text = "the newest, widest low\n\tüber \U0001F600";
  CHECK(ids_of(read->encode(text)) == ids_of(learned->encode(text)));
  CHECK(read->decode(ids_of(read->encode(text))) == text);
  CHECK(learn_bpe("", 300)->size() == 256);
}

// --- files

namespace {

// A tokenizer.json with this model, and other members before it.
std::shared_ptr<const Tokenizer> tokenizer_with(const std::string& model, const std::string& members = "") {
  return tokenizer_from_json("{" + members + (members.empty() ? "" : ", ") + R"("model": )" + model + "}", "t.json");
}

const std::string small_bpe =
    R"({"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "vocab": {"<unk>": 0, "a": 1, "b": 2, "ab": 3, "abb": 4},
        "merges": ["a b", ["ab", "b"]]})";
const std::string small_word_piece =
    R"({"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 10,
        "vocab": {"[UNK]": 0, "un": 1, "##aff": 2, "##able": 3, "the": 4, "##a": 5}})";
const std::string small_unigram =
    R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1], ["b", -1.5], ["ab", -2], ["▁", -3]]})";

std::vector<std::string> cut_by(const Tokenizer& tokenizer, std::string_view text) {
  return texts_of(tokenizer.encode(text));
}

}  // namespace

TEST_CASE("BPE makes the merge of lowest rank first, and several unknown characters are one where the file says so") {
  const auto tokenizer = tokenizer_with(small_bpe);
  CHECK(tokenizer->kind() == "BPE");
  CHECK(cut_by(*tokenizer, "abbab") == std::vector<std::string>{"abb", "ab"});
  CHECK(cut_by(*tokenizer, "axyb") == std::vector<std::string>{"a", "<unk>", "b"});
  const auto words = tokenizer->cut("abb");
  REQUIRE(words.size() == 1);
  const auto steps = tokenizer->steps(words[0]);
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].pieces == std::vector<std::size_t>{1, 2, 2});
  CHECK(steps[1].rank == 1);
  CHECK(steps[2].rank == 2);
  CHECK(steps[2].pieces == std::vector<std::size_t>{4});
}

TEST_CASE("WordPiece takes the longest piece first, and a word that cannot be cut is unknown as a whole") {
  const auto tokenizer = tokenizer_with(
      small_word_piece, R"("pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "WordPiece"})");
  CHECK(cut_by(*tokenizer, "unaffable the") == std::vector<std::string>{"un", "##aff", "##able", "the"});
  CHECK(cut_by(*tokenizer, "unafft") == std::vector<std::string>{"[UNK]"});
  CHECK(cut_by(*tokenizer, "unaffableunaffable") == std::vector<std::string>{"[UNK]"});
  CHECK(tokenizer->decode(std::vector<std::size_t>{1, 2, 3, 4}) == "unaffable the");
}

TEST_CASE("a unigram tokenizer takes the segmentation with the largest sum, and shows the next ones") {
  const auto tokenizer = tokenizer_with(small_unigram);
  // a + b has −2.5, and ab −2.
  CHECK(cut_by(*tokenizer, "abb") == std::vector<std::string>{"ab", "b"});
  CHECK(cut_by(*tokenizer, "axxa") == std::vector<std::string>{"a", "<unk>", "a"});
  const auto steps = tokenizer->steps(tokenizer->cut("ab")[0]);
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].score == -2.0);
  CHECK(steps[1].score == -2.5);
}

TEST_CASE("every piece says the bytes of the text for which it stands, whatever the normalizer does") {
  const std::string file = R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKD"},
      {"type": "StripAccents"}, {"type": "Lowercase"}, {"type": "Strip", "strip_left": true, "strip_right": true}]})";
  const auto tokenizer = tokenizer_with(small_bpe, file);
  const auto pieces = tokenizer->encode("  \u00c4\u24b7 ");  // a letter with two dots, and one in a circle
  REQUIRE(texts_of(pieces) == std::vector<std::string>{"ab"});
  CHECK(pieces[0].begin == 2);
  CHECK(pieces[0].end == 7);
}

TEST_CASE("added tokens are found before all else, as their flags say") {
  const std::string added = R"("added_tokens": [
      {"id": 7, "content": "<s>", "special": true, "normalized": false},
      {"id": 8, "content": "ba", "single_word": true, "normalized": false, "special": false},
      {"id": 9, "content": "<m>", "lstrip": true, "rstrip": true, "normalized": false, "special": true}],
      "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
          {"Sequence": {"id": "A", "type_id": 0}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [7], "tokens": ["<s>"]}}})";
  const auto tokenizer = tokenizer_with(small_bpe, added);
  CHECK(tokenizer->size() == 10);
  CHECK(ids_of(tokenizer->encode("ab<s>bba")) == std::vector<std::size_t>{7, 3, 7, 2, 2, 1});
  CHECK(ids_of(tokenizer->encode("ba", false)) == std::vector<std::size_t>{8});
  const auto pieces = tokenizer->encode("a  <m> b");
  CHECK(ids_of(pieces) == std::vector<std::size_t>{7, 1, 9, 2});
  CHECK(pieces[0].begin == pieces[0].end);
  CHECK(pieces[0].is_special);
  CHECK(pieces[2].begin == 1);
  CHECK(pieces[2].end == 7);
}

TEST_CASE("two texts are put together as the tokenizer of a model says it") {
  const auto types_of = [](const std::vector<Token>& pieces) {
    std::vector<std::size_t> types;
    for (const Token& piece : pieces) types.push_back(piece.type);
    return types;
  };
  const TemporaryFolder bert;
  bert.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\nthe\n##m\n");
  const auto bert_tokenizer = read_tokenizer(bert.path(""));
  const auto of_bert = bert_tokenizer->encode_pair("the", "them");
  CHECK(texts_of(of_bert) == std::vector<std::string>{"[CLS]", "the", "[SEP]", "the", "##m", "[SEP]"});
  CHECK(types_of(of_bert) == std::vector<std::size_t>{0, 0, 0, 1, 1, 1});
  CHECK(of_bert[4].begin == 3);
  CHECK(of_bert[4].end == 4);
  const auto processed = [](const std::string& processor) {
    return tokenizer_with(small_bpe, R"("added_tokens": [{"id": 7, "content": "<s>", "special": true},
                                                         {"id": 8, "content": "</s>", "special": true}],
                                        "post_processor": )" +
                                         processor);
  };
  const auto roberta =
      processed(R"({"type": "RobertaProcessing", "cls": ["<s>", 7], "sep": ["</s>", 8], "trim_offsets": false})");
  CHECK(ids_of(roberta->encode_pair("a", "b")) == std::vector<std::size_t>{7, 1, 8, 8, 2, 8});
  CHECK(types_of(roberta->encode_pair("a", "b")) == std::vector<std::size_t>(6, 0));
  const std::string specials = R"("special_tokens": {"<s>": {"id": "<s>", "ids": [7], "tokens": ["<s>"]}})";
  const std::string one = R"({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}], )";
  const auto other = processed(one + R"("pair": [{"Sequence": {"id": "B", "type_id": 2}},
      {"SpecialToken": {"id": "<s>", "type_id": 1}}, {"Sequence": {"id": "A", "type_id": 0}}], )" +
                               specials + "}");
  CHECK(ids_of(other->encode_pair("a", "b")) == std::vector<std::size_t>{2, 7, 1});
  CHECK(types_of(other->encode_pair("a", "b")) == std::vector<std::size_t>{2, 1, 0});
  CHECK(has_words(refusal([&] { processed(one + specials + "}")->encode_pair("a", "b"); }),
                  "does not say how two texts are put together"));
  CHECK(has_words(
      refusal([&] { processed(one + R"("pair": [{"Sequence": {"id": "A", "type_id": 0}}], )" + specials + "}"); }),
      "each of the texts once"));
}

TEST_CASE("characters for which a tokenizer has no piece are counted") {
  const auto tokenizer =
      tokenizer_from_json(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}})", "t");
  const ModelWords words = words_of_tokenizer(tokenizer, 2, "t");
  CHECK(words.left_out_of("ab") == 0);
  CHECK(words.left_out_of("a x\u00E9 b") == 2);
  CHECK(ModelWords().left_out_of("x") == 0);
}

TEST_CASE("the pieces of BPE with byte fallback are bytes, where a character is unknown") {
  std::string vocabulary = R"({"▁": 0, "a": 1, "▁a": 2)";
  for (int byte = 0; byte < 256; ++byte) vocabulary += fmt::format(R"(, "<0x{:02X}>": {})", byte, byte + 3);
  const auto tokenizer =
      tokenizer_with(R"({"type": "BPE", "byte_fallback": true, "vocab": )" + vocabulary + R"(}, "merges": ["▁ a"]})",
                     R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
          {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
        "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
          {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})");
  CHECK(tokenizer->kind() == "BPE with byte fallback");
  const auto pieces = tokenizer->encode("aé");
  CHECK(texts_of(pieces) == std::vector<std::string>{"▁a", "<0xC3>", "<0xA9>"});
  CHECK(pieces[1].begin == 1);
  CHECK(pieces[1].end == 3);
  CHECK(tokenizer->decode(ids_of(pieces)) == "aé");
  CHECK(shown_piece(*tokenizer, 2) == "␣a");
}

TEST_CASE("pieces are shown in printable characters") {
  const auto tokenizer = learn_bpe("", 300);
  CHECK(shown_piece(*tokenizer, tokenizer->encode(" ")[0].id) == "␣");
  CHECK(shown_piece(*tokenizer, tokenizer->encode("\n")[0].id) == "⏎");
  CHECK(shown_piece(*tokenizer, tokenizer->encode(std::string(1, '\0'))[0].id) == "<U+0000>");
  CHECK(shown_piece(*tokenizer, tokenizer->encode("€")[0].id) == "<0xE2>");
}

TEST_CASE("an expression that takes too many steps is refused, and does not run on") {
  const auto tokenizer = tokenizer_with(
      small_bpe,
      R"("pre_tokenizer": {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "(a|a|ab)*[cd]"}})");
  CHECK(has_words(refusal([&] { tokenizer->encode(std::string(200, 'a')); }), "takes too many steps"));
}

TEST_CASE("what is wrong with a file of a tokenizer is said in one sentence, and nothing is guessed") {
  const auto model = [](std::string_view text) { return [text] { tokenizer_with(std::string(text)); }; };
  const auto members = [](std::string_view text) { return [text] { tokenizer_with(small_bpe, std::string(text)); }; };
  const auto whole = [](std::string text) { return [text = std::move(text)] { tokenizer_from_json(text, "t.json"); }; };
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += R"({"a": )";
  check_refused(
      {{"t.json is empty", whole("")},
       {"t.json is not UTF-8 at byte 2", whole("{\xff}")},
       {"no correct JSON", whole("{\"model\": ")},
       {"an object in braces is expected", whole("[1, 2]")},
       {"has no \"model\"", whole("{}")},
       {"nested more than 100 deep", whole(deep)},
       {"the vocabulary is empty", model(R"({"type": "BPE", "vocab": {}, "merges": []})")},
       {"'a' has two ids, 0 and 1", model(R"({"type": "BPE", "vocab": {"a": 0, "a": 1}, "merges": []})")},
       {"have the id 0, 'a' and 'b'", model(R"({"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []})")},
       {"at most 4194303 can be read", model(R"({"type": "BPE", "vocab": {"a": 4000000000}, "merges": []})")},
       {"entry 1 of the vocabulary", model(R"({"type": "BPE", "vocab": {"a": "b"}, "merges": []})")},
       {"entry 1 of the vocabulary", model(R"({"type": "BPE", "vocab": {"a": -1}, "merges": []})")},
       {"merge 1 ('a' and 'b') needs the piece 'ab', which the vocabulary does not have",
        model(R"({"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a b"]})")},
       {"merge 1 is not two pieces", model(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a"]})")},
       {"merge 1 is not two pieces", model(R"({"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "b", "c"]]})")},
       {"unknown characters is '?', which the vocabulary does not have",
        model(R"({"type": "BPE", "unk_token": "?", "vocab": {"a": 0}, "merges": []})")},
       {"unknown words is '[UNK]'", model(R"({"type": "WordPiece", "vocab": {"a": 0}})")},
       {"the id of the unknown piece is 3", model(R"({"type": "Unigram", "unk_id": 3, "vocab": [["a", -1]]})")},
       {"the model 'WordLevel' is not read yet. These are: BPE, Unigram, WordPiece",
        model(R"({"type": "WordLevel", "vocab": {"a": 0}})")},
       {"the normalizer 'Nmt' is not read yet", members(R"("normalizer": {"type": "Nmt"})")},
       {"the pre-tokenizer 'UnicodeScripts' is not read yet",
        members(R"("pre_tokenizer": {"type": "UnicodeScripts"})")},
       {"the post-processor 'X' is not read yet", members(R"("post_processor": {"type": "X"})")},
       {"the decoder 'CTC' is not read yet", members(R"("decoder": {"type": "CTC"})")},
       {"\"normalizer\": \"type\" must be a string", members(R"("normalizer": {"type": 3})")},
       {"the regular expression '(' cannot be read",
        members(R"("pre_tokenizer": {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "("}})")},
       {"\"behavior\" must be Removed",
        members(R"("pre_tokenizer": {"type": "Split", "behavior": "x", "pattern": {"Regex": "a"}})")},
       {"(precompiled_charsmap) is broken off",
        members(R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": "AQAAAA=="})")},
       {"the added token 'a' has the id 9, and the vocabulary says otherwise",
        members(R"("added_tokens": [{"id": 9, "content": "a"}])")},
       {"the added tokens 'x' and 'y' have the same id, 9",
        members(R"("added_tokens": [{"id": 9, "content": "x"}, {"id": 9, "content": "y"}])")},
       {"t.json: the token '<s>' that is put around texts has the id 8, and no piece of the vocabulary has it",
        members(R"("post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}},
                   {"Sequence": {"id": "A"}}], "special_tokens": {"<s>": {"ids": [8], "tokens": ["<s>"]}}})")},
       {"the token '[SEP]' that is put around texts has the id 2, and the vocabulary has 'b' there",
        members(R"("post_processor": {"type": "BertProcessing", "cls": ["a", 1], "sep": ["[SEP]", 2]})")},
       {"the token '</s>' that is put around texts has the id 4000000000, and no piece of the vocabulary has it",
        members(R"("post_processor": {"type": "RobertaProcessing", "cls": ["a", 1], "sep": ["</s>", 4000000000]})")},
       {"far beyond the vocabulary", members(R"("added_tokens": [{"id": 90000000, "content": "x"}])")},
       {"the text is not UTF-8 at byte 2", [] { tokenizer_with(small_bpe)->encode("a\xff"); }},
       {"the id 5 is beyond the vocabulary: its ids are 0 to 4",
        [] { tokenizer_with(small_bpe)->decode(std::vector<std::size_t>{5}); }},
       {"a vocabulary of 256 pieces cannot be learned", [] { learn_bpe("a", 256); }}});
}

TEST_CASE("a folder with vocab.json and merges.txt, or with vocab.txt, has a tokenizer, and another one has none") {
  const TemporaryFolder folder;
  CHECK(read_tokenizer(folder.path("")) == nullptr);
  folder.write("vocab.json", R"({"a": 0, "b": 1, "ab": 2, "Ġ": 3})");
  const std::string merges = folder.write("merges.txt", "#version: 0.2\na b\n");
  CHECK(cut_by(*read_tokenizer(folder.path("")), "ab a") == std::vector<std::string>{"ab", "Ġ", "a"});
  CHECK(read_tokenizer(merges)->kind() == "byte-level BPE");
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "Qwen2Tokenizer"})");
  CHECK(has_words(refusal([&] { read_tokenizer(folder.path("")); }), "do not say how 'Qwen2Tokenizer' splits words"));
  std::filesystem::remove(folder.path("tokenizer_config.json"));
  folder.write("merges.txt", "a b c\n");
  CHECK(has_words(refusal([&] { read_tokenizer(folder.path("")); }), "merges.txt:1: this is no merge of two pieces"));

  const TemporaryFolder other;
  other.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\nthe\n##m\n");
  CHECK(cut_by(*read_tokenizer(other.path("")), "Thém x") ==
        std::vector<std::string>{"[CLS]", "the", "##m", "[UNK]", "[SEP]"});
  other.write("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer", "do_lower_case": false})");
  CHECK(cut_by(*read_tokenizer(other.path("")), "The") == std::vector<std::string>{"[CLS]", "[UNK]", "[SEP]"});
  CHECK(has_words(refusal([&] { read_tokenizer(other.write("weights.xyz", "x")); }), "is no file of a tokenizer"));
}

TEST_CASE("a file of sentencepiece is read field by field, and one that is broken off is refused") {
  // Fields of a message: a piece with its score and its type.
  const auto bytes_field = [](int number, std::string_view bytes) {
    std::string field(1, static_cast<char>(number << 3 | 2));
    field += static_cast<char>(bytes.size());
    return field += bytes;
  };
  const auto piece = [&](std::string_view text, std::string_view score, char type) {
    return bytes_field(1, bytes_field(1, text) + "\x15" + std::string(score) + "\x18" + type);
  };
  const std::string_view minus_1("\x00\x00\x80\xbf", 4), minus_4("\x00\x00\x80\xc0", 4);
  const std::string pieces = piece("<unk>", minus_1, 2) + piece("▁a", minus_1, 1) + piece("b", minus_4, 1) +
                             piece("▁", minus_4, 1) + piece("a", minus_4, 1);
  const TemporaryFolder folder;
  const std::string unigram = folder.write("tokenizer.model", pieces);
  CHECK(read_tokenizer(unigram)->kind() == "unigram");
  CHECK(cut_by(*read_tokenizer(unigram), " a  b") == std::vector<std::string>{"▁a", "▁", "b"});
  CHECK(read_tokenizer(unigram)->decode(std::vector<std::size_t>{1, 3, 2}) == "a b");
  const std::string bpe = folder.write("tokenizer.model", pieces + bytes_field(2, "\x18\x02"));
  CHECK(read_tokenizer(bpe)->kind() == "BPE");
  CHECK(cut_by(*read_tokenizer(bpe), "a") == std::vector<std::string>{"▁a"});
  const auto refused = [&](std::string_view bytes) {
    return refusal([&] { read_tokenizer(folder.write("tokenizer.model", bytes)); });
  };
  CHECK(has_words(refused(""), "is empty"));
  CHECK(has_words(refused(std::string_view(pieces).substr(0, pieces.size() - 3)), "is broken off"));
  CHECK(has_words(refused(pieces + bytes_field(2, "\x18\x03")), "whole words or characters"));
}

// --- the command

TEST_CASE("attn tokenize shows how a text falls apart, and learns where no tokenizer is given") {
  const ProcessResult learned = run_attn({"tokenize"});
  CHECK(learned.code == 0);
  CHECK(has_words(learned.out, "Kind of tokenizer: byte-level BPE. It has 266 ids. It was learned from"));
  CHECK(has_words(learned.out, "es t      9 times"));
  const TemporaryFolder folder;
  const std::string file = folder.path("tokenizer.json");
  CHECK(run_attn({"tokenize", low, "--learn", "262", "--save-tokenizer", file}).code == 0);
  const ProcessResult read = run_attn({"tokenize", "low", "lowest", "--tokenizer", file, "--by-word", "lowest"});
  CHECK(read.code == 0);
  CHECK(has_words(read.out, "How the word ␣lowest is cut"));
  CHECK(run_attn({"tokenize", "a b", "--tokenizer", file, "--format", "csv"}).out == "\"ids\"\n\"64 220 65\"\n");
  CHECK(has_words(run_attn({"tokenize", "a b", "--tokenizer", file, "--format", "csv", "--full"}).out,
                  "\"Ġ\",\"␣\",220,\" \",1,2,1,2"));
  const Words of_many = {"tokenize", "--tokenizer", file, "--texts", "-", "--format", "json"};
  const Surroundings two_texts = {.input = "\"low\"\n\"a\\u0000\"\n"};
  CHECK(has_words(run_attn(of_many, two_texts).out, "\"ids\": [64, 188]"));
  CHECK(!has_words(run_attn(of_many, two_texts).out, "\"decoded\""));
  Words of_many_in_full = of_many;
  of_many_in_full.emplace_back("--full");
  const ProcessResult many = run_attn(of_many_in_full, two_texts);
  CHECK(has_words(many.out, "\"decoded\": \"low\""));
  for (const auto& [words, sentence] : std::vector<std::pair<Words, std::string_view>>{
           {{"tokenize", "a", "--text-file", file}, "the text is given twice"},
           {{"tokenize", "--texts", file}, "--texts needs a tokenizer"},
           {{"tokenize", "a", "--tokenizer", file, "--by-word", "b"}, "unknown word of --by-word 'b'"},
           {{"tokenize", "a", "--learn", "12"}, "a vocabulary of 12 pieces cannot be learned"}}) {
    const ProcessResult refused = run_attn(words);
    CAPTURE(refused.errors);
    CHECK(refused.code == 2);
    CHECK(has_words(refused.errors, sentence));
  }
}
