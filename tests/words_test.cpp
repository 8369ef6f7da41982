#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "data/problem/model_words.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a sentence is split at blanks of every kind") {
  CHECK(split_words("Thinking Machines") == Words{"Thinking", "Machines"});
  CHECK(split_words("  one\ttwo\nthree  ") == Words{"one", "two", "three"});
  CHECK(split_words("no\u00a0break") == Words{"no", "break"});
  CHECK(split_words("wide\u3000blank") == Words{"wide", "blank"});
}

TEST_CASE("an apostrophe inside a word stays, at its edge it is a word of its own") {
  CHECK(split_words("didn't") == Words{"didn't"});
  CHECK(split_words("didn’t") == Words{"didn’t"});
  CHECK(split_words("'tis") == Words{"'", "tis"});
  CHECK(split_words("dogs' tails") == Words{"dogs", "'", "tails"});
}

TEST_CASE("a hyphen inside a word stays, a dash does not") {
  CHECK(split_words("well-known multi-head-attention") == Words{"well-known", "multi-head-attention"});
  CHECK(split_words("one - two") == Words{"one", "-", "two"});
  CHECK(split_words("one—two") == Words{"one", "—", "two"});
  CHECK(split_words("a--b") == Words{"a", "-", "-", "b"});
  CHECK(split_words("end-") == Words{"end", "-"});
}

TEST_CASE("each sign of punctuation is a word of its own") {
  CHECK(split_words("Hello, world!") == Words{"Hello", ",", "world", "!"});
  CHECK(split_words("?!") == Words{"?", "!"});
  CHECK(split_words(".") == Words{"."});
  CHECK(split_words("(yes)...") == Words{"(", "yes", ")", ".", ".", "."});
  CHECK(split_words("„so“") == Words{"„", "so", "“"});
}

TEST_CASE("points and commas inside numbers stay") {
  CHECK(split_words("3.5") == Words{"3.5"});
  CHECK(split_words("1,000.25 times") == Words{"1,000.25", "times"});
  CHECK(split_words("It is 3.") == Words{"It", "is", "3", "."});
  CHECK(split_words("a.b") == Words{"a", ".", "b"});
  CHECK(split_words(".5") == Words{".", "5"});
}

TEST_CASE("a word in angle brackets is one word") {
  CHECK(split_words("<blank>") == Words{"<blank>"});
  CHECK(split_words("code <blank> <blank>") == Words{"code", "<blank>", "<blank>"});
  CHECK(split_words("<end_of_text>!") == Words{"<end_of_text>", "!"});
  CHECK(split_words("<a b>") == Words{"<", "a", "b", ">"});
  CHECK(split_words("<>") == Words{"<", ">"});
  CHECK(split_words("1 < 2") == Words{"1", "<", "2"});
  CHECK(split_words("<open") == Words{"<", "open"});
}

TEST_CASE("words of other scripts, and emoji with all their parts, stay whole") {
  CHECK(split_words("注意 机制。") == Words{"注意", "机制", "。"});
  CHECK(split_words("Ünïcode žluťoučký") == Words{"Ünïcode", "žluťoučký"});
  CHECK(split_words("cafe\u0301!") == Words{"cafe\u0301", "!"});
  CHECK(split_words("हिन्दी शब्द") == Words{"हिन्दी", "शब्द"});
  CHECK(split_words("I ❤️ 👩‍💻.") == Words{"I", "❤️", "👩‍💻", "."});
}

TEST_CASE("words lose nothing but the blanks") {
  for (const std::string text : {"The animal didn't cross the street, because it was too tired.", "a<b>c <d",
                                 "--x-- 1.2.3 'q'", "注意, 3.5% (≈ ½) of €7 — <blank>?"}) {
    std::string without_blanks, joined;
    for (const char c : text) without_blanks += c == ' ' ? "" : std::string(1, c);
    for (const std::string& word : split_words(text)) {
      CHECK_FALSE(word.empty());
      joined += word;
    }
    CHECK(joined == without_blanks);
  }
}

TEST_CASE("a text without words, or not in UTF-8, is refused") {
  check_refused({
      {"the text has no words: give at least one", [] { split_words(""); }},
      {"the text has no words", [] { split_words(" \t\n"); }},
      {"the text is not UTF-8 at byte 3: give it in UTF-8", [] { split_words("ab\xff"); }},
      {"not UTF-8 at byte 1", [] { split_words("\xc3"); }},
      {"not UTF-8 at byte 4", [] { split_words("abc\xed\xa0\x80"); }},  // half of a surrogate pair
      {"not UTF-8 at byte 1", [] { split_words("\xc0\xaf"); }},         // two bytes where one would do
  });
}

TEST_CASE("shorter sentences are filled with blanks") {
  std::vector<Words> sentences = {{"a", "b", "c"}, {"d"}, {"e", "f"}};
  pad_with_blanks(sentences);
  CHECK(sentences == std::vector<Words>{{"a", "b", "c"}, {"d", "<blank>", "<blank>"}, {"e", "f", "<blank>"}});
  const std::vector<Words> padded = sentences;
  pad_with_blanks(sentences);
  CHECK(sentences == padded);
}
