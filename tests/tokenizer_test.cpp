#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "data/tokenizer/tokenizer.hpp"
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
  for (const Token& piece : pieces) texts.push_back(piece.text);
  return texts;
}

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

TEST_CASE("a tokenizer that was learned is read again from what is written of it") {
  const auto learned = learn_bpe(low, 270);
  const auto read = tokenizer_from_json(write_tokenizer(*learned), "again.json");
  const std::string text = "the newest, widest low\n\tüber \U0001F600";
  CHECK(ids_of(read->encode(text)) == ids_of(learned->encode(text)));
  CHECK(read->decode(ids_of(read->encode(text))) == text);
  CHECK(learn_bpe("", 300)->size() == 256);
}
