// What files decide is counted where it happens, and grows with what is read.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/error.hpp"
#include "data/files/npz.hpp"
#include "data/files/pickle.hpp"
#include "data/files/torch_file.hpp"
#include "data/files/zip.hpp"
#include "data/tokenizer/tokenizer.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

// Twice as much, and something for what is there in any case.
constexpr double most_growth = 2.5;

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

// What an action takes, whether it ends with a sentence or not.
std::uint64_t reading_of(const std::function<void()>& action) {
  const Budget budget({"a test", without_limit, without_limit, without_limit});
  refusal(action);
  return budget.reading();
}

void check_growth(std::uint64_t once, std::uint64_t twice) {
  CAPTURE(once);
  CAPTURE(twice);
  CHECK(once > 0);
  CHECK(static_cast<double>(twice) <= most_growth * static_cast<double>(once));
}

// --- tokenizers

std::string tokenizer_file(const std::string& model, const std::string& members = "") {
  return "{" + members + (members.empty() ? "" : ", ") + R"("model": )" + model + "}";
}

const std::string bpe_of_ab =
    R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "aa": 3}, "merges": ["a b", "a a"]})";

std::string split_by_expression(const std::string& expression) {
  return tokenizer_file(
      bpe_of_ab,
      R"("pre_tokenizer": {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": ")" + expression + "\"}}");
}

std::string normalized_by(const std::string& normalizer, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += (i > 0 ? ", " : "") + normalizer;
  return tokenizer_file(bpe_of_ab, R"("normalizer": {"type": "Sequence", "normalizers": [)" + all + "]}");
}

std::string replace_a(const std::string& by) {
  return R"({"type": "Replace", "pattern": {"String": "a"}, "content": ")" + by + "\"}";
}

// Pieces of one letter, each a letter longer than the one before.
std::string nested_unigram(std::size_t pieces) {
  std::string vocabulary = R"(["<unk>", 0])";
  for (std::size_t size = 1; size <= pieces; ++size)
    vocabulary += fmt::format(R"(, ["{}", -{}])", std::string(size, 'a'), size);
  return tokenizer_file(R"({"type": "Unigram", "unk_id": 0, "vocab": [)" + vocabulary + "]}");
}

std::string nested_added_tokens(std::size_t count) {
  std::string tokens;
  for (std::size_t size = 2; size < count + 2; ++size) {
    tokens += fmt::format(R"({}{{"id": {}, "content": "{}b", "special": true, "normalized": false, "rstrip": true}})",
                          size > 2 ? ", " : "", size + 10, std::string(size, 'a'));
  }
  return tokenizer_file(bpe_of_ab, R"("added_tokens": [)" + tokens + "]");
}

struct TokenizerCase {
  std::string name, file, text;  // which is repeated
  std::size_t times;
};

std::vector<TokenizerCase> tokenizer_cases() {
  std::vector<TokenizerCase> cases;
  for (const char* expression :
       {R"(\\p{L}+\\d)", R"(a*+\\d)", R"((?:a|b)*+\\d)", R"(\\w{1,1999}\\d)", R"([^\\W]{0,600}\\d)", R"((a+)+$)",
        R"((\\w+)\\1\\d)", R"((?=(a+))a*b\\1)", R"((?:(?=\\p{L}+)\\p{L})*\\d)"})
    cases.push_back({expression, split_by_expression(expression), "a", 20'000});
  cases.push_back({"words by an expression", split_by_expression(R"( ?\\p{L}+|\\s+(?!\\S)|\\s+)"), "abba ab  ", 2'000});
  cases.push_back({"a text that is doubled", normalized_by(replace_a("aa"), 40), "a", 100'000});
  cases.push_back({"a long replacement", normalized_by(replace_a(std::string(100'000, 'b')), 1), "a", 1'000});
  cases.push_back({"many beginnings",
                   normalized_by(R"({"type": "Prepend", "prepend": ")" + std::string(10'000, 'b') + "\"}", 100), "a",
                   100'000});
  cases.push_back({"composed characters", normalized_by(R"({"type": "NFC"})", 1), "a\u0301\u0323", 20'000});
  cases.push_back({"WordPiece",
                   tokenizer_file(R"({"type": "WordPiece", "unk_token": "b", "max_input_chars_per_word": 10000000,
                                      "vocab": {"b": 0, "a": 1, "##a": 2, "##aaaaaaaaaaaaaab": 3}})"),
                   "a", 20'000});
  cases.push_back({"unigram", nested_unigram(200), "a", 5'000});
  cases.push_back({"BPE of one word", tokenizer_file(bpe_of_ab), "a", 50'000});
  cases.push_back({"BPE of words", tokenizer_file(bpe_of_ab), "ab ba ", 10'000});
  cases.push_back({"added tokens", nested_added_tokens(200), "a", 5'000});
  cases.push_back({"added tokens that strip spaces", nested_added_tokens(2), "aab   ", 5'000});
  return cases;
}

}  // namespace

TEST_CASE("a text that is twice as long takes a tokenizer at most twice the work, whatever its file says") {
  for (const TokenizerCase& one : tokenizer_cases()) {
    CAPTURE(one.name);
    const auto tokenizer = tokenizer_from_json(one.file, "t.json");
    const auto work_of = [&](std::size_t times) {
      const std::string text = repeated(one.text, times);
      return reading_of([&] { tokenizer->put_pieces(text, true, {}); });
    };
    check_growth(work_of(one.times), work_of(2 * one.times));
  }
}

TEST_CASE("a file of a tokenizer that is twice as long takes at most twice the work") {
  const std::string text(3'000, 'a');
  const auto work_with = [&](const std::string& file) {
    return reading_of([&] { tokenizer_from_json(file, "t.json")->put_pieces(text, true, {}); });
  };
  check_growth(work_with(nested_unigram(200)), work_with(nested_unigram(283)));
  check_growth(work_with(nested_added_tokens(200)), work_with(nested_added_tokens(283)));
  check_growth(work_with(normalized_by(R"({"type": "Lowercase"})", 20)),
               work_with(normalized_by(R"({"type": "Lowercase"})", 40)));
}

TEST_CASE("a text that is twice as long takes at most twice the work to learn from, and to decode") {
  const auto learn = [](std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += fmt::format("w{} ", i * i % 9973);
    return reading_of([&] { learn_bpe(text, 400); });
  };
  check_growth(learn(5'000), learn(10'000));
  const auto decoded = [](std::size_t times) {
    const auto tokenizer = tokenizer_from_json(
        tokenizer_file(bpe_of_ab, R"("decoder": {"type": "Sequence", "decoders": [)" + replace_a("aa") + ", " +
                                      replace_a("aaaa") + ", " + replace_a(std::string(30'000, 'b')) + "]}"),
        "t.json");
    return reading_of([&] { tokenizer->decode(std::vector<std::size_t>(times, 0)); });
  };
  check_growth(decoded(100'000), decoded(200'000));
}

TEST_CASE("a match is the same, however little of the text is looked at for it") {
  const auto words_of = [](const std::string& expression, const std::string& text) {
    std::vector<std::string> words;
    const auto tokenizer = tokenizer_from_json(split_by_expression(expression), "t.json");
    tokenizer->put_pieces(text, false, {.word = [&](const WordOfText& word) { words.emplace_back(word.text); }});
    return words;
  };
  using Texts = std::vector<std::string>;
  const std::string gpt2 = R"( ?\\p{L}+| ?[^\\s\\p{L}]+|\\s+(?!\\S)|\\s+)";
  for (const std::size_t size : {1U, 7U, 15U, 16U, 17U, 31U, 33U, 100U, 511U, 512U, 513U, 3000U}) {
    CAPTURE(size);
    const std::string letters(size, 'a'), spaces(size, ' ');
    CHECK(words_of(gpt2, letters + " b" + spaces + " c") == Texts{letters, " b", spaces, " c"});
    CHECK(words_of(gpt2, letters + "\u00e9" + spaces) == Texts{letters + "\u00e9", spaces});
    CHECK(words_of("a+$", letters + "b" + letters) == Texts{letters + "b", letters});
    CHECK(words_of("(?<=b)a+", letters + "b" + letters) == Texts{letters + "b", letters});
    CHECK(words_of("a+b", letters + "c" + letters + "b") == Texts{letters + "c", letters + "b"});
    CHECK(words_of("^a", letters + letters).size() == 2);
    CHECK(words_of("x", letters + "x" + letters) == Texts{letters, "x", letters});
    CHECK(words_of(R"(\\b)", letters + " " + letters) == Texts{letters, " ", letters});
  }
}

TEST_CASE("a template puts a thousand tokens around a text, and no more") {
  const auto file_with = [](std::size_t places, std::size_t ids) {
    std::string list, tokens, around;
    for (std::size_t i = 0; i < ids; ++i) list += i > 0 ? ", 7" : "7";
    for (std::size_t i = 0; i < ids; ++i) tokens += i > 0 ? R"(, "<s>")" : R"("<s>")";
    for (std::size_t i = 0; i < places; ++i) around += R"({"SpecialToken": {"id": "<s>", "type_id": 0}}, )";
    return tokenizer_file(bpe_of_ab, R"("added_tokens": [{"id": 7, "content": "<s>", "special": true}],
        "post_processor": {"type": "TemplateProcessing", "single": [)" +
                                         around + R"({"Sequence": {"id": "A", "type_id": 0}}], "special_tokens": {"<s>":
        {"id": "<s>", "ids": [)" + list + R"(], "tokens": [)" +
                                         tokens + "]}}}");
  };
  CHECK(tokenizer_from_json(file_with(10, 100), "t.json")->encode("ab").size() == 1001);
  const std::string sentence = refusal([&] { tokenizer_from_json(file_with(11, 100), "t.json"); });
  CHECK_MESSAGE(sentence.find("more than 1000 tokens") != std::string::npos, sentence);
}

TEST_CASE("BPE and unigram cut a long text as its words, where no piece goes over a space") {
  const std::string bpe =
      R"({"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "vocab": {"<unk>": 0, "a": 1, "b": 2,
      "ab": 3, "abb": 4, " ": 5, " a": 6, " ab": 7}, "merges": ["a b", "ab b", " a", "  ab"]})";
  const std::string unigram =
      R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1], ["b", -1.5], ["ab", -2], [" ", -2], [" a", -2.5]]})";
  for (const std::string& model : {unigram, bpe.substr(0, bpe.find(", \" a\", \"  ab\"")) + "]}"}) {
    CAPTURE(model);
    const auto tokenizer = tokenizer_from_json(tokenizer_file(model), "t.json");
    const std::vector<std::string> words = {" ab", " abb", " xyx", " bba", " ba", " y", " aab"};
    std::vector<std::size_t> ids, ids_of_words;
    std::string text;
    for (std::size_t i = 0; i < 500; ++i) {
      const std::string& word = words[i * i % words.size()];
      text += word;
      for (const Token& piece : tokenizer->encode(word)) ids_of_words.push_back(piece.id);
    }
    for (const Token& piece : tokenizer->encode(text)) ids.push_back(piece.id);
    CHECK(ids == ids_of_words);
  }
}

// --- archives

namespace {

std::string packed(std::string_view bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string result(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

// An archive whose members are compressed.
std::string compressed_archive(const std::vector<std::pair<std::string, std::string>>& files) {
  constexpr std::uint16_t deflated = 8;
  std::vector<ZipMember> members;
  std::vector<std::string> bodies;
  for (const auto& [name, bytes] : files) {
    bodies.push_back(packed(bytes));
    const uLong checksum = crc32_z(0, const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data())), bytes.size());
    members.push_back({.name = name,
                       .packed_bytes = bodies.back().size(),
                       .bytes = bytes.size(),
                       .checksum = static_cast<std::uint32_t>(checksum),
                       .method = deflated});
  }
  lay_out_zip(members);
  std::string archive;
  for (std::size_t i = 0; i < members.size(); ++i) archive += zip_header(members[i]) + bodies[i];
  return archive + zip_ending(members);
}

std::string little(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (; bytes > 0; --bytes, number >>= 8U) text += static_cast<char>(number & 0xFFU);
  return text;
}

std::string pickled_text(std::string_view text) { return "X" + little(text.size(), 4) + std::string(text); }

// A file of PyTorch with matrices of 2×2, whose rows are `stride` numbers apart in storages of zeros.
std::string torch_file_with(std::size_t matrices, std::size_t bytes, std::uint64_t stride) {
  std::string state = "\x80\x02}(";
  std::vector<std::pair<std::string, std::string>> files;
  for (std::size_t i = 0; i < matrices; ++i) {
    const std::string key = std::to_string(i);
    state += pickled_text("w_" + key) + "ctorch._utils\n_rebuild_tensor_v2\n((" + pickled_text("storage") +
             "ctorch\nDoubleStorage\n" + pickled_text(key) + pickled_text("cpu") + "J" + little(bytes / 8, 4) + "tQK" +
             std::string(1, '\0') + "K\x02K\x02\x86J" + little(stride, 4) + "K\x01\x86\x89" +
             "ccollections\nOrderedDict\n)RtR";
    files.emplace_back("p/data/" + key, std::string(bytes, '\0'));
  }
  files.emplace_back("p/data.pkl", state + "u.");
  return compressed_archive(files);
}

std::string npy_of_zeros(std::size_t numbers) {
  std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, 1024), }}", numbers / 1024);
  header += std::string(117 - header.size(), ' ') + "\n";
  return "\x93NUMPY\x01" + std::string(1, '\0') + little(header.size(), 2) + header + std::string(8 * numbers, '\0');
}

}  // namespace

TEST_CASE("a compressed array that is twice as large takes at most twice the work") {
  const auto work_of = [](std::size_t numbers) {
    const std::string archive = compressed_archive({{"x.npy", npy_of_zeros(numbers)}});
    return reading_of([&] { CHECK(read_npz(archive, "x", "x.npz").matrix.size() == numbers); });
  };
  const std::uint64_t once = work_of(std::size_t{1} << 18);
  CHECK(once > std::size_t{8} << 18);
  check_growth(once, work_of(std::size_t{1} << 19));
  const auto work_of_pickle = [](std::size_t values) {
    return reading_of([&] { read_pickle("\x80\x02(" + repeated("K\x01", values) + "l.", "x.pt"); });
  };
  check_growth(work_of_pickle(10'000), work_of_pickle(20'000));
}

TEST_CASE("a compressed tensor is unpacked as far as it reaches in its storage, and all of a file count together") {
  constexpr std::size_t bytes = std::size_t{16} << 20;
  const TemporaryFolder folder;
  const auto read_all = [](const std::string& path) {
    const TorchFile file(map_file(path), path);
    for (const std::string& name : file.names()) CHECK(file.read(name).shape() == Shape{2, 2});
  };
  const std::string near = folder.write("near.pt", torch_file_with(4, bytes, 2));
  CHECK(reading_of([&] { read_all(near); }) < bytes);
  const std::string far = folder.write("far.pt", torch_file_with(4, bytes, bytes / 8 - 2));
  CHECK(reading_of([&] { read_all(far); }) > 4 * bytes);
  const Budget budget({"a test", without_limit, 2 * bytes / sizeof(double), without_limit});
  CHECK(refusal([&] { read_all(near); }) == "(it was accepted)");
  CHECK(refusal([&] { read_all(far); }).find("those of a test may have") != std::string::npos);
}

// --- the command

namespace {

std::string words_of_size(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 1; text.size() < bytes; ++i) text += fmt::format("{:c}o{}w ", 'a' + i % 23, i % 997 * i % 997);
  return text;
}

}  // namespace

TEST_CASE("a file of a tokenizer that asks for more than it may is refused in a sentence, in a document too" *
          needs_limited_memory()) {
  const Surroundings little_memory = {.shell = "ulimit -v 400000; ulimit -t 20"};
  const TemporaryFolder folder;
  folder.write("a.txt", std::string(25'000, 'a'));
  for (const auto& [file, sentence] : std::vector<std::pair<std::string, std::string_view>>{
           {split_by_expression(R"(\\p{L}+\\d)"), "takes too many steps on this text"},
           {normalized_by(replace_a("aa"), 40), "the tokenizer makes more than"}}) {
    folder.write("t.json", file);
    const Words words = {"tokenize", "--tokenizer", folder.path("t.json"), "--text-file", folder.path("a.txt")};
    const std::string document =
        folder.write("a.md", "```attn\nattn tokenize --tokenizer t.json --text-file a.txt\n```\n");
    for (const ProcessResult& finished :
         {run_attn(words, little_memory), run_attn({"docs", "check", document}, little_memory)}) {
      CHECK(finished.code == 2);
      CHECK_MESSAGE(finished.errors.find(sentence) != std::string::npos, finished.errors);
    }
  }
}

TEST_CASE("10 MB of words take less than 300 MB, and at most 80 MB as JSON" * needs_limited_memory()) {
  const TemporaryFolder folder;
  const std::string tokenizer = folder.path("t.json");
  CHECK(run_attn({"tokenize", words_of_size(20'000), "--learn", "300", "--save-tokenizer", tokenizer}).code == 0);
  struct Row {
    std::size_t bytes;
    Words words;
    std::size_t kilobytes;  // of addresses, of which matrix products take 192 MiB in any case
  };
  for (const auto& [bytes, more, kilobytes] : {Row{10'000'000, {"--tokenizer", tokenizer, "--text-file"}, 450'000},
                                               Row{3'000'000, {"--tokenizer", tokenizer, "--texts"}, 300'000},
                                               Row{3'000'000, {"--learn", "300", "--text-file"}, 300'000}}) {
    const std::string mark = more[2] == "--texts" ? "\"" : "";
    Words words = {"tokenize", "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(folder.write("text", mark + words_of_size(bytes) + mark));
    CAPTURE(command_line(words));
    const ProcessResult finished = run_attn(words, {.shell = fmt::format("ulimit -v {}", kilobytes)});
    CHECK_MESSAGE(finished.code == 0, finished.errors);
    CHECK(finished.out.size() <= 8 * bytes);
  }
}
