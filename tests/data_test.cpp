#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>

#include "core/support/error.hpp"
#include "data/files/embeddings.hpp"
#include "data/files/json.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/npz.hpp"
#include "process.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;
using namespace std::string_literals;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string csv_refusal(std::string_view text, std::string_view key = "") {
  return refusal([&] { read_csv(text, key, "x.csv"); });
}

std::string json_refusal(std::string_view text, std::string_view key = "") {
  return refusal([&] { read_json(text, key, "x.json"); });
}

std::string npy_refusal(std::string_view bytes) {
  return refusal([&] { read_npy(bytes, "", "x.npy"); });
}

std::string npz_refusal(std::string_view bytes, std::string_view key = "") {
  return refusal([&] { read_npz(bytes, key, "x.npz"); });
}

Matrix matrix_of(Shape shape, const std::vector<double>& values) {
  Matrix matrix(shape);
  REQUIRE(values.size() == matrix.size());
  std::ranges::copy(values, cells(matrix).begin());
  return matrix;
}

std::vector<double> values_of(const Matrix& matrix) {
  const std::span<const double> all = cells(matrix);
  return {all.begin(), all.end()};
}

void check_same(const Matrix& matrix, Shape shape, const std::vector<double>& values) {
  CHECK(matrix.shape() == shape);
  CHECK(values_of(matrix) == values);
}

using Labels = std::vector<std::string>;

// A .npy file of version 1.0 with the given dictionary.
std::string npy(const std::string& dictionary, std::string_view elements) {
  std::string bytes = "\x93NUMPY";
  bytes += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xFFU), static_cast<char>(dictionary.size() >> 8U)};
  return (bytes + dictionary).append(elements);
}

std::string npy_of(const std::string& type, const std::string& shape, std::string_view elements) {
  return npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + "}", elements);
}

// A number with its lowest byte first.
std::string little(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (; bytes > 0; --bytes, number >>= 8U) text += static_cast<char>(number & 0xFFU);
  return text;
}

std::string bytes_of_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

std::string npz_of(const std::vector<NamedMatrix>& matrices) {
  return written_by([&](Sink& sink) { write_npz(matrices, sink); });
}

// Written by numpy.savez_compressed: q is [[1.5, -2], [0, inf]], k is [True, False].
const std::string compressed_npz = bytes_of_hex(
    "504b030414000000080000002100574e73a353000000a000000005001400712e6e707901001000a0000000000000005300000000"
    "0000009b"
    "ec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a1aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416"
    "a402f91a"
    "463a0a469a3a0ab50a64032e0630f8610fa1190e30a0800ff500504b030414000000080000002100ee19bb5d4600000082000000"
    "05001400"
    "6b2e6e707901001000820000000000000046000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a05e9364a8aea3"
    "a09e965f"
    "54529498179f5f94920a12774bcc294e058a17672416a402f91a463a9a3a0ab50a14002e460600504b0102140314000000080000"
    "00210057"
    "4e73a353000000a0000000050000000000000000000000800100000000712e6e7079504b0102140314000000080000002100ee19"
    "bb5d4600"
    "00008200000005000000000000000000000080018a0000006b2e6e7079504b0506000000000200020066000000070100000000");

// A member that promises 1×2 numbers and unpacks to 375.
const std::string bomb_npz = bytes_of_hex(
    "504b030414000000080000002100449617435b000000380c000005000000612e6e70799bec17ea1b10c9c850c650ad9e925a"
    "9c5ca46ea5a06e9366a1aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a863a0a469a3a0ab5"
    "0a64032e8651300a46c1281805a360148c8251300a46c1a00700504b0102140314000000080000002100449617435b000000"
    "380c0000050000000000000000000000800100000000612e6e7079504b05060000000001000100330000007e0000000000");

// A member that promises 8192×8192 numbers and unpacks to 20.
const std::string short_npz = bytes_of_hex(
    "504b030414000000080000002100412014d14d0000002001000005000000612e6e70799bec17ea1b10c9c850c650ad9e925a9c5c"
    "a46ea5a0"
    "6e9366a1aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a168696463a0a20525347a156810cc0c5"
    "30c80100"
    "504b0102140314000000080000002100412014d14d00000020010000050000000000000000000000800100000000612e6e707950"
    "4b050600"
    "0000000100010033000000700000000000");

}  // namespace

TEST_SUITE("csv") {
  TEST_CASE("rows of numbers are read, whatever the line ends") {
    check_same(read_csv("1,2\n3,4\n", "", "x").matrix, {2, 2}, {1, 2, 3, 4});
    check_same(read_csv("1,2\r\n3,4\r\n", "", "x").matrix, {2, 2}, {1, 2, 3, 4});
    check_same(read_csv("\xEF\xBB\xBF"
                        "1,2\n\n# between\n 3 , +4",
                        "", "x")
                   .matrix,
               {2, 2}, {1, 2, 3, 4});
    check_same(read_csv("7", "", "x").matrix, {1, 1}, {7});
  }

  TEST_CASE("without a comma, semicolons or blanks separate") {
    check_same(read_csv("# a, b\n1.0e+00 2\n 3   4 \n", "", "x").matrix, {2, 2}, {1, 2, 3, 4});
    check_same(read_csv("1;2\n3;4", "", "x").matrix, {2, 2}, {1, 2, 3, 4});
    check_same(read_csv("1\n2\n", "", "x").matrix, {2, 1}, {1, 2});
  }

  TEST_CASE("a first row and a first column of words are labels") {
    const MatrixFile both = read_csv("token,a,\"b \"\"x\"\"\"\nthe,1,2\n\"5\",3,4\n", "", "x");
    check_same(both.matrix, {2, 2}, {1, 2, 3, 4});
    CHECK(both.column_labels == Labels{"a", "b \"x\""});
    CHECK(both.row_labels == Labels{"the", "5"});

    const MatrixFile header = read_csv("a,b\n1,2\n", "", "x");
    CHECK(header.column_labels == Labels{"a", "b"});
    CHECK(header.row_labels.empty());

    const MatrixFile rows = read_csv("a,1\nb,2\n", "", "x");
    CHECK(rows.column_labels.empty());
    CHECK(rows.row_labels == Labels{"a", "b"});

    CHECK(read_csv(",\"1\",\"2\"\na,1,2\n", "", "x").column_labels == Labels{"1", "2"});
    CHECK(read_csv("\"two\nlines\",1\nb,2\n", "", "x").row_labels == Labels{"two\nlines", "b"});
  }

  TEST_CASE("infinities, NaN, true and false are cells") {
    const MatrixFile words = read_csv("inf,-inf,nan\n-Infinity,true,1\n", "", "x");
    CHECK(words.matrix(0, 0) == infinity);
    CHECK(words.matrix(0, 1) == -infinity);
    CHECK(std::isnan(words.matrix(0, 2)));
    CHECK(words.matrix(1, 0) == -infinity);
    CHECK(words.kind == CellKind::real);

    const MatrixFile boolean = read_csv("true,false\nFalse,True\n", "", "x");
    check_same(boolean.matrix, {2, 2}, {1, 0, 0, 1});
    CHECK(boolean.kind == CellKind::boolean);
  }

  TEST_CASE("a number too small for a double is nothing, one too large is refused") {
    CHECK(read_csv("1e-999", "", "x").matrix(0, 0) == 0);
    CHECK(read_csv("5e-324", "", "x").matrix(0, 0) == 5e-324);
    CHECK(csv_refusal("1,1e999") == "x.csv:1: '1e999' in column 2 is too large for a number: write a number there");
  }

  TEST_CASE("mistakes are told with their line") {
    CHECK(csv_refusal("1,2,3\n\n1,2\n") ==
          "x.csv:3: this row has 2 cells, the rows above have 3: every row must have the same number");
    CHECK(csv_refusal("1,2\n3,abc\n") == "x.csv:2: 'abc' in column 2 is not a number: write a number there");
    CHECK(csv_refusal("1,abc\n3,4\n") == "x.csv:1: 'abc' in column 2 is not a number: write a number there");
    CHECK(has(csv_refusal("1,2\n3,\"4\"\n"), "x.csv:2: '4' in column 2 is a label"));
    CHECK(has(csv_refusal("1,2\n3,\n"), "x.csv:2: column 2 is empty"));
    CHECK(has(csv_refusal("the,1\n7,2\n"), "x.csv:2: '7' in column 1 is a number"));
    CHECK(has(csv_refusal("1,2\n\"3,4\n"), "x.csv:2: a quote is opened here and never closed"));
    CHECK(has(csv_refusal("\"a\"b,2\n"), "x.csv:1: text follows a closing quote"));
    CHECK(has(csv_refusal(""), "x.csv is empty"));
    CHECK(has(csv_refusal("# nothing\n\n"), "x.csv is empty"));
    CHECK(has(csv_refusal("a,b\n"), "no row of numbers follows"));
    CHECK(has(csv_refusal("1,2\n" + std::string(5'000'000, ',')), "x.csv:2: this row has more than"));
  }

  TEST_CASE("what only looks like a number is refused") {
    for (const char* text : {"0x10", "1_000", "1.5.2", "--1", "+-1", "++1", "1e", "nan(1)", "1 2", "1e5x"}) {
      CAPTURE(text);
      CHECK(has(csv_refusal(fmt::format("0,0\n0,{}\n", text)), "is not a number"));
    }
  }

  TEST_CASE("of several blocks under headings a key chooses one") {
    const std::string_view text = "# q\n1,2\n\n# k\na,b\n3,4\n5,6\n";
    check_same(read_csv(text, "q", "x").matrix, {1, 2}, {1, 2});
    check_same(read_csv(text, "k", "x").matrix, {2, 2}, {3, 4, 5, 6});
    CHECK(csv_refusal(text) == "x.csv has 2 matrices: add the name of one, as in ':q'. Choose one of: 'q', 'k'");
    CHECK(csv_refusal(text, "v") == "x.csv has no matrix 'v'. Choose one of: 'q', 'k'");
    CHECK(csv_refusal("# q\n1,2\n\n# k\n3,x\n", "k") ==
          "x.csv:5: 'x' in column 2 is not a number: write a number there");
  }

  TEST_CASE("other lines that begin with # are comments") {
    check_same(read_csv("# q\n1,2\n\n3,4\n", "", "x").matrix, {2, 2}, {1, 2, 3, 4});
    check_same(read_csv("# q\n1,2\n", "q", "x").matrix, {1, 2}, {1, 2});
    check_same(read_csv("# one\n1,2\n# two\n3,4\n", "", "x").matrix, {2, 2}, {1, 2, 3, 4});
    check_same(read_csv("1,2\n\n# one\n3,4\n\n# two\n5,6", "", "x").matrix, {3, 2}, {1, 2, 3, 4, 5, 6});
    CHECK(has(csv_refusal("1,2\n", "q"), "leave out ':q'"));
  }

  TEST_CASE("tabs separate a .tsv, so its labels may hold commas and blanks") {
    const MatrixFile file = read_tsv("\ta, b\tc d\nx y\t1\t2\n", "", "x.tsv");
    check_same(file.matrix, {1, 2}, {1, 2});
    CHECK(file.column_labels == Labels{"a, b", "c d"});
    CHECK(file.row_labels == Labels{"x y"});
  }
}

TEST_SUITE("literals") {
  TEST_CASE("rows are separated by semicolons or line ends, cells by commas or blanks") {
    for (const char* text : {"1 0; 0 1", "1,0;0,1", "1, 0;\n0 ,1;", " 1\t0\n0 1 ", "[[1,0],[0,1]]", "1 0\r\n0 1"}) {
      CAPTURE(text);
      check_same(read_literal(text, "x").matrix, {2, 2}, {1, 0, 0, 1});
    }
    CHECK(read_literal("true false", "x").kind == CellKind::boolean);
    CHECK(read_literal("-inf", "x").matrix(0, 0) == -infinity);
  }

  TEST_CASE("a literal with a hole, a word or rows of several lengths is refused") {
    const auto refused = [](const char* text) { return refusal([&] { read_literal(text, "it"); }); };
    CHECK(has(refused("1 2; 3"), "it: row 2 has 1 cell, the rows above have 2"));
    CHECK(has(refused("1 x"), "it: 'x' in row 1 is not a number"));
    CHECK(has(refused("1,,2"), "a number is missing"));
    CHECK(has(refused("1,"), "a number is missing"));
    CHECK(has(refused(",1"), "a number is missing"));
    CHECK(has(refused("1;;2"), "row 2 is empty"));
    CHECK(has(refused(""), "row 1 is empty"));
    CHECK(has(refused(";"), "row 1 is empty"));
  }
}

TEST_SUITE("json") {
  TEST_CASE("rows of numbers, one row, and words for what JSON has no numbers for") {
    check_same(read_json("[[1,2],[3,4]]", "", "x").matrix, {2, 2}, {1, 2, 3, 4});
    check_same(read_json(" [1, -2.5e1] ", "", "x").matrix, {1, 2}, {1, -25});
    const MatrixFile words = read_json(R"([["NaN","Infinity"],["-Infinity",true]])", "", "x");
    CHECK(std::isnan(words.matrix(0, 0)));
    CHECK(words.matrix(0, 1) == infinity);
    CHECK(words.matrix(1, 0) == -infinity);
    CHECK(words.matrix(1, 1) == 1);
    CHECK(words.kind == CellKind::real);
    CHECK(read_json("[[true,false]]", "", "x").kind == CellKind::boolean);
  }

  TEST_CASE("a key finds a member at the top, in arrays, and in problem") {
    const std::string_view text = R"({"q": [1], "arrays": {"k": [2], "q": [3]}, "problem": {"v": [4], "k": [5]}})";
    CHECK(read_json(text, "q", "x").matrix(0, 0) == 1);
    CHECK(read_json(text, "k", "x").matrix(0, 0) == 2);
    CHECK(read_json(text, "v", "x").matrix(0, 0) == 4);
    CHECK(has(json_refusal(text, "w"), "x.json has no matrix 'w'"));
  }

  TEST_CASE("the only matrix of an object needs no key, one of several does") {
    CHECK(read_json(R"({"words": ["a", "b"], "q": [[1]]})", "", "x").matrix(0, 0) == 1);
    CHECK(read_json(R"({"scale": 2, "arrays": {"k": [2]}, "problem": {"v": [4]}})", "", "x").matrix(0, 0) == 2);
    CHECK(json_refusal(R"({"q": [1], "k": [2]})") ==
          "x.json has 2 matrices: add the name of one, as in ':q'. Choose one of: 'q', 'k'");
    CHECK(has(json_refusal(R"({"words": ["a"]})"), "without a matrix"));
    CHECK(has(json_refusal("[1]", "q"), "leave out ':q'"));
  }

  TEST_CASE("NaN and infinities are read as Python writes them, and mistakes behind them keep their place") {
    const Matrix read = read_json("[[0.0, -Infinity], [Infinity, \"-Infinity\"]]", "", "x").matrix;
    check_same(read, {2, 2}, {0, -infinity, infinity, -infinity});
    CHECK(std::isnan(read_json("[NaN]", "", "x").matrix(0, 0)));
    CHECK(has(json_refusal("[[-Infinity, NaN, 1 2]]"), "x.json:1:21: a ',' or ']' is expected here"));
    CHECK(has(json_refusal("[[-Infinite]]"), "this is not a number in JSON"));
    CHECK(has(json_refusal("[\"NaN or -Infinity\"]"), "'NaN or -Infinity'"));
  }

  TEST_CASE("a member that is given twice is refused with its line and column") {
    CHECK(json_refusal(R"({"q": [1], "q": [2]})") ==
          "x.json:1:12: the member 'q' is given twice: leave out one of them");
    CHECK(has(json_refusal("{\"a:\": {\"b\": NaN, \"c\": [1]},\n  \"d\": 1, \"a\\u003a\": 2}"),
              "x.json:2:11: the member 'a:'"));
    CHECK(has(json_refusal(R"({"a": {"b": 1, "b": 2}})"), "x.json:1:16: the member 'b'"));
    CHECK(has(json_refusal(R"({"a": {"b": 1}, "b": {"b": 2}})"), "is an object without a matrix"));
  }

  TEST_CASE("mistakes are told with line and column") {
    CHECK(json_refusal("[1,\n 2") == "x.json:2:3: a ',' or ']' is expected here");
    CHECK(has(json_refusal("[[1,2],[3,]]"), "x.json:1:11: a value is expected here"));
    CHECK(has(json_refusal("[\"äöü\" 1]"), "x.json:1:8: a ',' or ']' is expected here"));
    CHECK(has(json_refusal("{1: 2}"), "x.json:1:2: the name of a member"));
    CHECK(has(json_refusal("{\"a\" 2}"), "a ':' is expected here"));
    CHECK(has(json_refusal("{\"a\": 2 3}"), "a ',' or '}' is expected here"));
    CHECK(has(json_refusal("[1] 2"), "x.json:1:5: nothing may follow"));
    CHECK(has(json_refusal(""), "x.json:1:1: a value is expected here"));
    CHECK(has(json_refusal(" \n"), "a value is expected here"));
    CHECK(has(json_refusal("{\"a\": }"), "x.json:1:7: a value is expected here"));
    CHECK(has(json_refusal("{\"a\": 2, 3}"), "the name of a member"));
    CHECK(has(json_refusal("[1 nan]"), "a ',' or ']' is expected here"));
    CHECK(has(json_refusal("[1}"), "a ',' or ']' is expected here"));
    CHECK(has(json_refusal("[NaN,]"), "a value is expected here"));
    CHECK(has(json_refusal("[nan]"), "a value is expected here"));
    CHECK(has(json_refusal("[-]"), "not a number in JSON"));
    CHECK(has(json_refusal("[01]"), "not a number in JSON"));
    CHECK(has(json_refusal("[.5]"), "not a number in JSON"));
    CHECK(has(json_refusal("{\"a\": \"b}"), "this string is not closed"));
    CHECK(has(json_refusal("[\"abc"), "this string is not closed"));
    CHECK(has(json_refusal("[\"\xFF\"]"), "this string"));
    CHECK(has(json_refusal("[1,\n1e999]"), "x.json:2:5: '1e999' is too large for a number"));
  }

  TEST_CASE("what is not a matrix is refused in words") {
    CHECK(has(json_refusal("[[1,2],[3]]"), "x.json: row 2 has 1 cell, the rows above have 2"));
    CHECK(has(json_refusal("[[1,null]]"), "x.json: row 1, column 2 is null"));
    CHECK(has(json_refusal("[[[[[1]],[[1]]],[[[1]],[[1]]]],[[[[1]],[[1]]],[[[1]],[[1]]]]]"), "one level too deep"));
    CHECK(has(json_refusal("[[1],2]"), "row 2 is not an array"));
    CHECK(has(json_refusal("[1,[2]]"), "row 1, column 2 is an array"));
    CHECK(has(json_refusal("[\"a\"]"), "is the text 'a'"));
    CHECK(has(json_refusal("[{}]"), "is an object"));
    CHECK(has(json_refusal("[]"), "x.json is empty"));
    CHECK(has(json_refusal("[[]]"), "a row without cells"));
    CHECK(has(json_refusal("5"), "x.json is not an array"));
    CHECK(has(json_refusal(R"({"a": 5})", "a"), "x.json:a is not an array"));
  }

  TEST_CASE("a million brackets are refused without being opened") {
    CHECK(has(json_refusal(std::string(1'000'000, '[')), "x.json:1:101: brackets are nested"));
    CHECK(has(refusal([] { read_literal(std::string(1'000'000, '['), "it"); }), "brackets are nested"));
  }

  TEST_CASE("an object may have as many members as a large model has matrices") {
    std::string text = "{";
    for (int i = 0; i < 50'000; ++i) text += fmt::format("\"{}\":1,", i);
    CHECK(read_json(text + "\"q\":[2]}", "q", "x").matrix(0, 0) == 2);
  }

  TEST_CASE("an object with very many members is refused") {
    std::string text = "{";
    for (int i = 0; i <= 100'000; ++i) text += fmt::format("\"{}\":1,", i);
    CHECK(has(json_refusal(text + "\"q\":[1]}"), "more than 100000 members"));
  }
}

TEST_SUITE("npy") {
  TEST_CASE("what is written is read back, infinities and NaN too") {
    const Matrix matrix = matrix_of({2, 3}, {1, -0.0, 1e300, infinity, -infinity, 5e-324});
    const std::string bytes = written_by([&](Sink& sink) { write_npy(matrix, sink); });
    CHECK(bytes.find('\n') % 64 == 63);
    check_same(read_npy(bytes, "", "x").matrix, {2, 3}, values_of(matrix));
    CHECK(std::signbit(read_npy(bytes, "", "x").matrix(0, 1)));
  }

  TEST_CASE("every type of real number is read in both byte orders") {
    struct Sample {
      const char* type;
      std::string little;  // one element, lowest byte first
      double value;
    };
    using namespace std::string_literals;
    const std::array samples = {
        Sample{"i1", "\xFF"s, -1},
        Sample{"u1", "\xFF"s, 255},
        Sample{"i2", "\xFE\xFF"s, -2},
        Sample{"u2", "\x01\x02"s, 513},
        Sample{"i4", "\xFD\xFF\xFF\xFF"s, -3},
        Sample{"u4", "\xFF\xFF\xFF\xFF"s, 4294967295.0},
        Sample{"i8", "\x01\x00\x00\x00\x00\x00\x20\x00"s, 9007199254740992.0},
        Sample{"u8", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s, 18446744073709551616.0},
        Sample{"f2", "\x00\xC1"s, -2.5},
        Sample{"f2", "\x01\x00"s, std::ldexp(1, -24)},
        Sample{"f2", "\x00\x7C"s, infinity},
        Sample{"f4", "\x00\x00\xC0\x3F"s, 1.5},
        Sample{"f8", "\x00\x00\x00\x00\x00\x00\xF8\x3F"s, 1.5},
        Sample{"f16", "\x00\x00\x00\x00\x00\x00\x00\xC0\xFF\xBF\x00\x00\x00\x00\x00\x00"s, -1.5},
        Sample{"f12", "\x00\x00\x00\x00\x00\x00\x00\x80\xFF\x7F\x00\x00"s, infinity},
        Sample{"b1", "\x01"s, 1},
    };
    for (const Sample& sample : samples) {
      CAPTURE(sample.type);
      const std::string big(sample.little.rbegin(), sample.little.rend());
      for (const char* order : {"<", "=", "|"}) {
        check_same(read_npy(npy_of(order + std::string(sample.type), "(1,)", sample.little), "", "x").matrix, {1, 1},
                   {sample.value});
      }
      check_same(read_npy(npy_of(">" + std::string(sample.type), "(1,)", big), "", "x").matrix, {1, 1}, {sample.value});
    }
    CHECK(std::isnan(read_npy(npy_of("<f2", "(1,)", "\x01\x7E"), "", "x").matrix(0, 0)));
  }

  TEST_CASE("columns come first in Fortran order") {
    const std::string bytes = npy("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3)}", "\1\2\3\4\5\6");
    check_same(read_npy(bytes, "", "x").matrix, {2, 3}, {1, 3, 5, 2, 4, 6});
  }

  TEST_CASE("booleans are known as such") {
    const std::string_view elements("\0\1\1", 3);
    const MatrixFile file = read_npy(npy_of("|b1", "(1, 3)", elements), "", "x");
    check_same(file.matrix, {1, 3}, {0, 1, 1});
    CHECK(file.kind == CellKind::boolean);
  }

  TEST_CASE("a file knows whether its cells are true and false, whole numbers or others") {
    CHECK(read_npy(npy_of("|u1", "(1, 2)", "\0\1"s), "", "x").kind == CellKind::whole);
    CHECK(read_npy(npy_of("<f2", "(1,)", "\0\0"s), "", "x").kind == CellKind::real);
    CHECK(read_literal("1 0", "x").kind == CellKind::whole);
    CHECK(read_literal("1 -0; true 2", "x").kind == CellKind::whole);
    CHECK(read_literal("1 0.0", "x").kind == CellKind::real);
    CHECK(read_literal("1 -inf", "x").kind == CellKind::real);
    CHECK(read_csv("1,0\n0,1e0\n", "", "x").kind == CellKind::real);
    CHECK(read_json("[[0, 1]]", "", "x").kind == CellKind::whole);
    CHECK(read_json("[[0, 1.0]]", "", "x").kind == CellKind::real);
    CHECK(read_json("[[0, \"-Infinity\"]]", "", "x").kind == CellKind::real);
  }

  TEST_CASE("an array of three dimensions is several matrices, in rows or columns first") {
    const std::string elements = "\1\2\3\4\5\6\7\10\11\12\13\14"s;  // 1 … 12
    const MatrixFile rows_first = read_npy(npy_of("|u1", "(2, 3, 2)", elements), "", "x");
    CHECK(rows_first.count == 2);
    check_same(rows_first.matrix, {6, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    const MatrixFile columns_first =
        read_npy(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2)}", elements), "", "x");
    check_same(columns_first.matrix, {6, 2}, {1, 7, 3, 9, 5, 11, 2, 8, 4, 10, 6, 12});
    const std::vector<MatrixFile> both = read_matrices("[[[1,2],[3,4],[5,6]],[[7,8],[9,10],[11,12]]]");
    REQUIRE(both.size() == 2);
    check_same(both[1].matrix, {3, 2}, {7, 8, 9, 10, 11, 12});
    check_same(read_matrix("[[[1,2]]]").matrix, {1, 2}, {1, 2});
    CHECK(has(
        refusal([] { read_matrix("[[[1,2]],[[3,4]]]"); }),
        "has 2 matrices of 1×2, one after the other: give one of them. In NumPy, x.reshape(-1, 1, 2)[0] is the first"));
    CHECK(has(refusal([] { read_matrices("[[[1,2]],[[3,4],[5,6]]]"); }),
              "matrix 2 is 2×2, which is not the shape of the first"));
  }

  TEST_CASE("an array of four dimensions is as many matrices as its first two sizes say, where all are read") {
    const std::string elements = "\1\2\3\4\5\6\7\10\11\12\13\14"s;  // 1 … 12
    const MatrixFile rows_first = read_npy(npy_of("|u1", "(2, 3, 1, 2)", elements), "", "x");
    CHECK(rows_first.count == 6);
    CHECK(rows_first.outer == 2);
    check_same(rows_first.matrix, {6, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    const MatrixFile columns_first =
        read_npy(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 1, 2)}", elements), "", "x");
    check_same(columns_first.matrix, {6, 2}, {1, 7, 3, 9, 5, 11, 2, 8, 4, 10, 6, 12});
    const std::string json = "[[[[1,2]],[[3,4]],[[5,6]]],[[[7,8]],[[9,10]],[[11,12]]]]";
    const MatrixFile nested = read_json(json, "", "x");
    CHECK(nested.outer == 2);
    check_same(nested.matrix, {6, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    const MatrixFile single = read_npy(npy_of("|u1", "(2, 1, 3, 1, 2)", elements), "", "x");  // a batch of one within
    CHECK(single.count == 6);
    CHECK(single.outer == 2);
    CHECK(has(refusal([&] { read_matrices(json); }), "has four dimensions: give one of its 2 parts"));
    CHECK(has(refusal([&] { read_matrix(json); }), "has four dimensions: give one of its 2 parts"));
  }

  TEST_CASE("the header's keys may come in any order, with either quotes") {
    const std::string bytes = npy("{ \"shape\":(2,1,) , 'fortran_order' : False, \"descr\": '|u1' , }  \n", "\1\2");
    check_same(read_npy(bytes, "", "x").matrix, {2, 1}, {1, 2});
  }

  TEST_CASE("versions 2 and 3 have a longer length field") {
    const std::string one = npy_of("|u1", "(1,)", "\7");
    for (const char version : {'\2', '\3'}) {
      std::string bytes = one;
      bytes[6] = version;
      bytes.insert(10, 2, '\0');
      check_same(read_npy(bytes, "", "x").matrix, {1, 1}, {7});
    }
    std::string unknown = one;
    unknown[6] = '\4';
    CHECK(has(npy_refusal(unknown), "format version 4.0"));
  }

  TEST_CASE("a header that promises more cells than the file holds is refused") {
    CHECK(has(npy_refusal(npy_of("<f8", "(1000, 1000)", "12345678")), "says 1000000 elements"));
    CHECK(has(npy_refusal(npy_of("<f8", "(100000000, 100000000)", "12345678")), "more than 134217728 cells"));
    CHECK(has(npy_refusal(npy_of("<f8", "(4294967296, 4294967296)", "")), "more than 134217728 cells"));
    CHECK(has(npy_refusal(npy_of("<f8", "(99999999999999999999999,)", "")), "more than 134217728 cells"));
  }

  TEST_CASE("bytes that the header does not promise are refused") {
    CHECK(has(npy_refusal(npy_of("|u1", "(2,)", "\1\2\3")), "says 2 elements in 2 bytes, but 3 bytes"));
    CHECK(has(npy_refusal(npy_of("|u1", "(2,)", "\1")), "says 2 elements"));
  }

  TEST_CASE("arrays that are no real matrices are refused by their type or shape") {
    CHECK(has(npy_refusal(npy_of("<c16", "(1,)", std::string(16, '\0'))), "'<c16'"));
    CHECK(has(npy_refusal(npy_of("|O", "(1,)", "12345678")),
              "has elements of the type '|O', which are not real numbers: save an array of real numbers"));
    CHECK(has(npy_refusal(npy_of("<U3", "(1,)", std::string(12, '\0'))), "'<U3'"));
    CHECK(has(npy_refusal(npy_of("f8", "(1,)", "12345678")), "'f8'"));
    CHECK(has(npy_refusal(npy("{'descr': [('a]', '<f8'), ('b', '<i4', (2,))], 'fortran_order': False, "
                              "'shape': (1,)}",
                              "")),
              "[('a]', '<f8')"));
    CHECK(has(npy_refusal(npy_of("|u1", "()", "\1")), "shape '()' of 0 dimensions"));
    CHECK(has(npy_refusal(npy_of("|u1", "(2, 2, 1, 1, 1)", "\1\1\1\1")), "shape '(2, 2, 1, 1, 1)' of 5 dimensions"));
    CHECK(has(npy_refusal(npy_of("|u1", "(0, 3)", "")), "x.npy is empty"));
  }

  TEST_CASE("a damaged header is refused") {
    for (const char* dictionary :
         {"", "{", "{}", "[]", "{'descr': '<f8'}", "{'descr': '|u1', 'fortran_order': 0, 'shape': (1,)}",
          "{'descr': '|u1', 'fortran_order': False, 'shape': (1)}",
          "{'descr': '|u1', 'fortran_order': False, 'shape': (-1,)}",
          "{'descr': '|u1', 'fortran_order': False, 'shape': (,)}",
          "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)} x",
          "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'more': 1}",
          "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (1,)}",
          "{'descr': '|\\u1', 'fortran_order': False, 'shape': (1,)}", "{'descr': [[[[", "{'descr': '|u1"}) {
      CAPTURE(dictionary);
      CHECK(has(npy_refusal(npy(dictionary, "\1")), "is damaged at character"));
    }
    CHECK(has(npy_refusal("\x93NUMPY"), "ends within its header"));
    CHECK(has(npy_refusal(npy_of("|u1", "(1,)", "\1").substr(0, 30)), "ends within its header"));
    CHECK(has(npy_refusal("hello"), "is not a NumPy array"));
    CHECK(has(npy_refusal(""), "ends within its header"));
  }
}

TEST_SUITE("npz") {
  TEST_CASE("what is written is read back by name") {
    const Matrix q = matrix_of({1, 2}, {1, 2});
    const Matrix k = matrix_of({2, 1}, {3, 4});
    const std::string bytes = npz_of({{"q", &q}, {"ключ", &k}});
    CHECK(npz_names(bytes, "x") == Labels{"q", "ключ"});
    check_same(read_npz(bytes, "q", "x").matrix, {1, 2}, {1, 2});
    check_same(read_npz(bytes, "q.npy", "x").matrix, {1, 2}, {1, 2});
    check_same(read_npz(bytes, "ключ", "x").matrix, {2, 1}, {3, 4});
    CHECK(npz_refusal(bytes) == "x.npz has 2 matrices: add the name of one, as in ':q'. Choose one of: 'q', 'ключ'");
    CHECK(npz_refusal(bytes, "v") == "x.npz has no matrix 'v'. Choose one of: 'q', 'ключ'");
    CHECK(bytes == npz_of({{"q", &q}, {"ключ", &k}}));
    check_same(read_npz(npz_of({{"q", &q}}), "", "x").matrix, {1, 2}, {1, 2});
  }

  TEST_CASE("a matrix of many pieces survives writing and reading") {
    Matrix large({300, 301});
    for (std::size_t i = 0; i < large.size(); ++i) large.data()[i] = static_cast<double>(i) / 7;
    check_same(read_npz(npz_of({{"large", &large}}), "", "x").matrix, {300, 301}, values_of(large));
  }

  TEST_CASE("compressed archives are read") {
    check_same(read_npz(compressed_npz, "q", "x").matrix, {2, 2}, {1.5, -2, 0, infinity});
    CHECK(read_npz(compressed_npz, "k", "x").kind == CellKind::boolean);
  }

  TEST_CASE("a member that unpacks to more or less than its header promises is refused") {
    CHECK(has(npz_refusal(bomb_npz), "x.npz:a unpacks to more bytes than its header says"));
    CHECK(has(npz_refusal(short_npz), "the header of x.npz:a says 67108864 elements"));
  }

  TEST_CASE("an archive of torch.save is refused with the Python that converts it") {
    const Matrix pickle = matrix_of({1, 1}, {1});
    std::string bytes = npz_of({{"archive/x", &pickle}});
    for (std::size_t at = 0; (at = bytes.find("archive/x.npy", at)) != std::string::npos;)
      bytes.replace(at, 13, "arch/data.pkl");
    CHECK(has(npz_refusal(bytes), "x.npz was saved with torch.save"));
    CHECK(has(npz_refusal(bytes), "torch.load('x.npz')"));
  }

  TEST_CASE("a changed byte in a member is noticed") {
    const Matrix q = matrix_of({1, 2}, {1, 2});
    std::string bytes = npz_of({{"q", &q}});
    bytes[30 + 5 + 128] ^= 1;
    CHECK(has(npz_refusal(bytes), "checksum"));
  }

  TEST_CASE("members of an archive do not share bytes") {
    const Matrix q = matrix_of({1, 2}, {1, 2});
    std::string bytes = npz_of({{"k", &q}, {"q", &q}});
    check_same(read_npz(bytes, "q", "x").matrix, {1, 2}, {1, 2});
    ++bytes[bytes.find("PK\x01\x02") + 20];  // of the bytes of the first one
    CHECK(has(refusal([&] { read_npz(bytes, "q", "x"); }), "is damaged"));
  }

  TEST_CASE("sizes and places may stand in the fields for large archives, and are not believed there either") {
    const Matrix q = matrix_of({1, 2}, {1, 2});
    const std::string plain = npz_of({{"q", &q}});
    const std::size_t entry = plain.find("PK\x01\x02");
    const std::size_t end = plain.find("PK\x05\x06");
    const auto archive = [&](std::uint64_t bytes, std::uint64_t local_header, std::uint64_t directory) {
      std::string fields = plain.substr(entry, end - entry);
      fields.replace(20, 8, 8, '\xFF');
      fields.replace(42, 4, 4, '\xFF');
      fields.replace(30, 2, little(28, 2));
      fields += little(1, 2) + little(24, 2) + little(bytes, 8) + little(bytes, 8) + little(local_header, 8);
      std::string ends = "PK\x06\x06" + little(44, 8) + little(0, 12) + little(1, 8) + little(1, 8);
      ends += little(fields.size(), 8) + little(directory, 8);
      ends += "PK\x06\x07" + little(0, 4) + little(entry + fields.size(), 8) + little(1, 4);
      ends += "PK\x05\x06" + little(0, 4) + std::string(12, '\xFF') + little(0, 2);
      return plain.substr(0, entry) + fields + ends;
    };
    constexpr std::uint64_t huge = 0xFFFFFFFFFFFFFFF0;
    check_same(read_npz(archive(144, 0, entry), "q", "x").matrix, {1, 2}, {1, 2});
    CHECK(has(npz_refusal(archive(huge, 0, entry)), "is damaged"));
    CHECK(has(npz_refusal(archive(144, huge, entry)), "is damaged"));
    CHECK(has(npz_refusal(archive(144, 0, huge)), "is damaged"));
  }

  TEST_CASE("no directory, a password, another method and offsets outside the archive are refused") {
    const Matrix q = matrix_of({1, 2}, {1, 2});
    const std::string bytes = npz_of({{"q", &q}});
    const std::size_t entry = bytes.find("PK\x01\x02");
    REQUIRE(entry != std::string::npos);
    const auto changed = [&](std::size_t at, char byte) {
      std::string copy = bytes;
      copy[entry + at] = byte;
      return copy;
    };
    CHECK(has(npz_refusal(bytes.substr(0, bytes.size() - 1)), "is not a complete archive"));
    for (const char* no_archive : {"", "[[1, 2]]"})
      CHECK(has(npz_refusal(no_archive),
                "is no zip archive: save it again, or give it a name that ends as files of its kind do"));
    CHECK(has(npz_refusal(changed(8, 1)), "is encrypted"));
    CHECK(has(npz_refusal(changed(10, 12)), "compressed with method 12"));
    CHECK(has(npz_refusal(changed(45, 0x7F)), "is damaged"));
    CHECK(has(npz_refusal(changed(23, 0x7F)), "is damaged"));
    CHECK(has(npz_refusal(changed(46, 'r')), "is damaged"));
    CHECK(has(npz_refusal(npz_of({})), "is an archive without NumPy arrays"));
  }
}

TEST_SUITE("sources") {
  TEST_CASE("the extension tells the kind, whatever its case, and the bytes tell it where there is none") {
    const TemporaryFolder folder;
    const Matrix q = matrix_of({1, 2}, {1, 2});
    const std::string npy_bytes = written_by([&](Sink& sink) { write_npy(q, sink); });
    for (const std::string& path :
         {folder.write("a.csv", "1,2\n"), folder.write("b.TSV", "1\t2\n"), folder.write("c.json", "[[1,2]]"),
          folder.write("d.npy", npy_bytes), folder.write("e.npz", npz_of({{"q", &q}})), folder.write("a", "1,2\n"),
          folder.write("b.txt", "1\t2\n"), folder.write("c.dat", " [[1,2]]"), folder.write("c2", "{\"q\": [1,2]}"),
          folder.write("d", npy_bytes), folder.write("e", npz_of({{"q", &q}})), folder.write("f.txt", "1 2\n"),
          folder.write("odd:name", "1,2")}) {
      CAPTURE(path);
      check_same(read_matrix(path).matrix, {1, 2}, {1, 2});
    }
    check_same(read_matrix(folder.path("e.npz") + ":q").matrix, {1, 2}, {1, 2});
    check_same(read_matrix(folder.path("c2") + ":q").matrix, {1, 2}, {1, 2});
  }

  TEST_CASE("every kind of file has a sentence and refuses no bytes at all") {
    for (const MatrixKind& kind : matrix_kinds()) {
      CAPTURE(kind.name);
      CHECK(!kind.summary.empty());
      CHECK_THROWS_AS(kind.read("", "", "x"), InputError);
    }
  }

  TEST_CASE("literals are sources") {
    check_same(read_matrix("1 0; 0 1").matrix, {2, 2}, {1, 0, 0, 1});
    check_same(read_matrix("[[1,0],[0,1]]").matrix, {2, 2}, {1, 0, 0, 1});
    CHECK(read_matrix("true").kind == CellKind::boolean);
    CHECK(has(refusal([] { read_matrix("[[1,0"); }), "'[[1,0':1:6: a ',' or ']' is expected here"));
    CHECK(has(refusal([] { read_matrix("1 0; 0 x"); }), "'1 0; 0 x': 'x' in row 2 is not a number"));
  }

  TEST_CASE("what cannot be read is refused with the reason") {
    const TemporaryFolder folder;
    CHECK(has(refusal([&] { read_matrix(folder.path("none.csv")); }), "no such file"));
    CHECK(has(refusal([&] { read_bytes(folder.path("none.csv")); }), "no such file"));
    CHECK(has(refusal([&] { read_matrix(folder.path("")); }), "is a folder"));
    CHECK(has(refusal([&] { read_matrix(""); }), "is empty"));
    CHECK(has(refusal([&] { read_matrix("no such file.csv:q"); }), "cannot read no such file.csv:q: no such file"));
    CHECK(has(refusal([&] { read_matrix(std::string(10'000, 'x')); }), "is neither a file nor a matrix"));
    const std::string huge = folder.write("huge.csv", "1");
    std::filesystem::resize_file(huge, most_bytes + 1);
    CHECK(has(refusal([&] { read_matrix(huge); }), "is larger than 1073741824 bytes"));
  }

  TEST_CASE("standard input can be read only once") {
    const TemporaryFolder folder;
    REQUIRE(std::freopen(folder.write("in", "{\"q\": [1, 2], \"k\": [3]}").c_str(), "rb", stdin) != nullptr);
    check_same(read_matrix("-:k").matrix, {1, 1}, {3});
    CHECK(has(refusal([] { read_matrix("-"); }), "standard input can be read only once"));
  }
}

TEST_SUITE("embeddings") {
  TEST_CASE("the vectors of words come in the order of the words") {
    const TemporaryFolder folder;
    const std::string path = folder.write("glove.txt", "the 1 2\r\ncat 3 4\r\nthe 9 9\nCat 5 6");
    check_same(read_embeddings(path, {"cat", "the", "cat"}), {3, 2}, {3, 4, 1, 2, 3, 4});
  }

  TEST_CASE("a word that comes again before all are found is told") {
    const TemporaryFolder folder;
    const std::string path = folder.write("glove.txt", "the 1 2\ncat 3 4\nthe 9 9\nCat 5 6");
    const auto told = [&](const std::vector<std::string>& words) {
      const InputReports inputs;
      read_embeddings(path, words);
      return doubts_in(inputs.all());
    };
    CHECK(
        told({"the", "Cat"}) ==
        Labels{path +
               ": the word 'the' has several lines, and the first counts: to use another one, remove those before it"});
    CHECK(told({"the", "cat"}).empty());
  }

  TEST_CASE("a word is looked for as written, then in lower case") {
    const TemporaryFolder folder;
    const std::string path = folder.write("glove.txt", "the 1 2\ncat 3 4\nCat 5 6\n");
    check_same(read_embeddings(path, {"Cat", "The"}), {2, 2}, {5, 6, 1, 2});
  }

  TEST_CASE("a word2vec header is passed over, and told") {
    const TemporaryFolder folder;
    const std::string path = folder.write("vectors.txt", "2 3\nthe 1 2 3 \ncat 4 5 6 \n");
    const InputReports inputs;
    check_same(read_embeddings(path, {"cat"}), {1, 3}, {4, 5, 6});
    CHECK(doubts_in(inputs.all()).empty());
    REQUIRE(inputs.all().size() == 1);
    CHECK(std::ranges::any_of(inputs.all().front().assumed, [](const Assumption& one) {
      return one.sentence == "the first line, '2 3', is a header";
    }));
  }

  TEST_CASE("two whole numbers on the first line are a header only where they say the size of the vectors") {
    const TemporaryFolder folder;
    const auto read = [&](const std::string& text, const std::vector<std::string>& words) {
      return read_embeddings(folder.write("v.txt", text), words);
    };
    check_same(read("2 2\n3 5\n", {"2", "3"}), {2, 1}, {2, 5});
    check_same(read("1 2\n\n3 5\n", {"3", "1"}), {2, 1}, {5, 2});
    check_same(read("3 5\n", {"3"}), {1, 1}, {5});
    CHECK(has(
        refusal([&] { read("2 3\nthe 1 2\n", {"the"}); }),
        "v.txt:1: '2 3' would be a header for vectors of 3 numbers, and the next line has 2: correct it, or leave it "
        "out"));
    CHECK(has(refusal([&] { read("2 1\n3 5\n", {"3"}); }),
              "v.txt:1: '2 1' may be a header, or a word and its number: leave it out if it is a header, or write the "
              "number with decimals, such as 1.0"));
    check_same(read("2 1.0\n3 5\n", {"2"}), {1, 1}, {1});
  }

  TEST_CASE("a word that is not there is told with the lines of the file") {
    const TemporaryFolder folder;
    const std::string path = folder.write("glove.txt", "a 1 2\na 3 4\n");
    CHECK(refusal([&] { read_embeddings(path, {"b"}); }) ==
          fmt::format("the word 'b' is not in {}, which has 2 lines with words: choose another word or file", path));
  }

  TEST_CASE("lines of words that are not needed may hold anything") {
    const TemporaryFolder folder;
    const std::string path = folder.write("glove.txt", "the 1 2\nodd x\n. . . 7 8\n. 3 4\n\n");
    check_same(read_embeddings(path, {"."}), {1, 2}, {3, 4});
  }

  TEST_CASE("mistakes on lines that are needed are told with the line") {
    const TemporaryFolder folder;
    const std::string path = folder.write("glove.txt", "the 1 2\na 1\nb 1 2 3\nc 1 x\nd 1 1e999\ne 1 true\n");
    const auto refused = [&](const char* word) { return refusal([&] { read_embeddings(path, {word}); }); };
    CHECK(has(refused("a"), "glove.txt:2: this line has 1 number, the first has 2"));
    CHECK(has(refused("b"), "glove.txt:3: this line has 3 numbers, the first has 2"));
    CHECK(has(refused("c"), "glove.txt:4: 'x' is not a number"));
    CHECK(has(refused("d"), "glove.txt:5: '1e999' is too large for a number"));
    CHECK(has(refused("e"), "glove.txt:6: 'true' is not a number"));
    CHECK(
        refused("qwerty") ==
        fmt::format("the word 'qwerty' is not in {}, which has 6 lines with words: choose another word or file", path));
  }

  TEST_CASE("files without vectors are refused") {
    const TemporaryFolder folder;
    CHECK(has(refusal([&] { read_embeddings(folder.write("a", ""), {"x"}); }), "is empty"));
    CHECK(has(refusal([&] { read_embeddings(folder.write("b", "word\n"), {"x"}); }), "b:1: a word and its numbers"));
    CHECK(has(refusal([&] { read_embeddings(folder.path(""), {"x"}); }), "is a folder"));
    CHECK(has(refusal([&] { read_embeddings(folder.path("none"), {"x"}); }), "no such file"));
    CHECK(has(refusal([&] { read_embeddings(folder.path("b"), {}); }), "no words are given"));
  }

  TEST_CASE("a line longer than any that is read is passed over, unless it is needed") {
    const TemporaryFolder folder;
    const std::string path = folder.write("long.txt", "the 1\nlong" + std::string(5'000'000, ' ') + "1\ncat 2\n");
    check_same(read_embeddings(path, {"cat"}), {1, 1}, {2});
    CHECK(has(refusal([&] { read_embeddings(path, {"long"}); }), "long.txt:2: this line is longer than"));
    CHECK(has(refusal([&] { read_embeddings(path, {"dog"}); }), "which has 3 lines with words"));
    const std::string zeros = folder.write("zeros", std::string(3'000'000, '\0'));
    CHECK_THROWS_AS(read_embeddings(zeros, {"dog"}), InputError);
  }
}

TEST_CASE("whatever the bytes, the answer is a matrix or a sentence") {
  const Matrix q = matrix_of({2, 2}, {1, 2, 3, 4});
  struct Seed {
    MatrixFile (*read)(std::string_view, std::string_view, const std::string&);
    std::string bytes;
  };
  const std::array seeds = {
      Seed{read_npy, written_by([&](Sink& sink) { write_npy(q, sink); })},
      Seed{read_npz, npz_of({{"q", &q}})},
      Seed{read_npz, compressed_npz},
      Seed{read_csv, "# a\nx,\"y \"\"z\"\"\"\nr,1\ns,-2.5e-3\n\n# b\n1;2\n"},
      Seed{read_tsv, "\tx\ty\nr\t1\t2\n"},
      Seed{read_json, "{\"arrays\": {\"q\": [[1, 2.5e1], [\"NaN\", true]]}, \"k\": [null, \"\\u00e4\"]}"},
  };
  const char* rounds_wanted = std::getenv("ATTN_FUZZ_ROUNDS");
  const int rounds = rounds_wanted ? std::atoi(rounds_wanted) : 300;
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  int outcomes = 0;
  for (int round = 0; round < rounds; ++round) {
    const Seed& seed = seeds[static_cast<std::size_t>(round) % seeds.size()];
    std::string bytes = seed.bytes;
    for (std::size_t change = 0; change <= below(4); ++change) {
      const std::size_t at = below(bytes.size());
      switch (below(5)) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes[at] ^= static_cast<char>(1U << below(8));
          break;
        case 2:
          bytes.erase(at, 1 + below(8));
          break;
        case 3:
          bytes.insert(at, bytes.substr(below(bytes.size()), below(32)));
          break;
        default:
          bytes.resize(at + 1);
          break;
      }
      if (bytes.empty()) bytes = " ";
    }
    for (const char* key : {"", "q"}) {
      try {
        const MatrixFile file = seed.read(bytes, key, "x");
        CHECK(file.matrix.size() > 0);
      } catch (const InputError& error) {
        CHECK_FALSE(std::string_view(error.what()).empty());
      }
      ++outcomes;
    }
  }
  CHECK(outcomes == 2 * rounds);
}
