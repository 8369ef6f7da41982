#include "data/tokenizer/characters.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <set>
#include <string>
#include <unordered_map>

#include "core/support/error.hpp"

namespace attn {
namespace {

class CharacterTokenizer final : public Tokenizer {
 public:
  explicit CharacterTokenizer(const std::set<std::string_view>& characters) {
    for (const std::string_view character : characters) {
      ids_.emplace(character, characters_.size());
      characters_.emplace_back(character);
    }
  }

  void put_pieces(std::string_view text, bool, const TakeCut& take) const override {
    std::size_t begin = 0;
    for (const std::string_view character : characters_in(text, "the text")) {
      const auto found = ids_.find(std::string(character));
      if (found == ids_.end())
        fail("the text has '{}' ({} of its bytes before), a character that the model does not know: leave it out",
             character, begin);
      const std::size_t end = begin + character.size();
      take.word({.text = character, .begin = begin, .end = end});
      take.piece({.id = found->second, .text = characters_[found->second], .begin = begin, .end = end});
      begin = end;
    }
    take.words_end();
  }

  std::vector<Token> encode_pair(std::string_view, std::string_view) const override {
    fail("the tokenizer does not say how two texts are put together: give one");
  }

  std::string decode(std::span<const std::size_t> ids) const override {
    std::string text;
    for (const std::size_t id : ids) {
      if (id >= size()) fail("the tokenizer has {} pieces, and none with the id {}", size(), id);
      text += characters_[id];
    }
    return text;
  }

  std::size_t size() const override { return characters_.size(); }
  std::string_view piece(std::size_t id) const override {
    return id < size() ? std::string_view(characters_[id]) : std::string_view();
  }
  bool is_special(std::size_t) const override { return false; }
  std::string_view kind() const override { return "characters"; }
  std::vector<CuttingStep> steps(const CutWord&) const override { return {}; }
  std::string_view written() const override { return ""; }

 private:
  std::vector<std::string> characters_;
  std::unordered_map<std::string, std::size_t> ids_;
};

}  // namespace

std::vector<std::string_view> characters_in(std::string_view text, std::string_view where) {
  std::vector<std::string_view> characters;
  for (std::size_t i = 0; i < text.size();) {
    utf8proc_int32_t point = -1;
    const utf8proc_ssize_t size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + i,
                                                   static_cast<utf8proc_ssize_t>(text.size() - i), &point);
    if (size <= 0) fail("{} is not UTF-8 at byte {}: give it in UTF-8", where, i + 1);
    characters.push_back(text.substr(i, static_cast<std::size_t>(size)));
    i += static_cast<std::size_t>(size);
  }
  return characters;
}

std::shared_ptr<const Tokenizer> character_tokenizer(std::string_view text, std::string_view where) {
  const std::vector<std::string_view> all = characters_in(text, where);
  return std::make_shared<const CharacterTokenizer>(std::set<std::string_view>(all.begin(), all.end()));
}

}  // namespace attn
