#include "data/tokenizer/normalizers.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/support/utf8.hpp"
#include "data/tokenizer/pattern.hpp"

namespace attn {

namespace {

// --- what several have

// Each character of a text, as what `put` hands on of it.
template <class Put>
void change_each(AlignedText& text, const Put& put) {
  text.change([&](const AlignedText::TakeChanged& take) {
    const std::string& all = text.text();
    for (std::size_t at = 0; at < all.size();) {
      const auto [code, size] = code_point_at(all, at);
      put(code, take);
      at += size;
    }
  });
}

void strip_spaces(AlignedText& text, bool left, bool right) {
  const std::string& all = text.text();
  std::size_t begin = 0, end = all.size(), dropped = 0;
  while (left && begin < end) {
    const auto [code, size] = code_point_at(all, begin);
    if (!is_white_space(code)) break;
    begin += size;
    ++dropped;
  }
  while (right && end > begin) {
    std::size_t last = end - 1;
    while (last > begin && continues_character(all[last])) --last;
    if (!is_white_space(code_point_at(all, last).code)) break;
    end = last;
  }
  if (begin == 0 && end == all.size()) return;
  const auto keep = [&](const AlignedText::TakeChanged& take) {
    for (std::size_t at = begin; at < end;) {
      const auto [code, size] = code_point_at(all, at);
      take({code, 0});
      at += size;
    }
  };
  text.change(keep, dropped);
}

bool is_no_accent(char32_t c) { return !is_nonspacing_mark(c); }
bool is_no_mark(char32_t c) { return !is_mark(c); }

void lower(AlignedText& text) {
  change_each(text, [](char32_t c, const AlignedText::TakeChanged& take) {
    int change = 0;
    for (const char32_t small : lower_case_of(c)) {
      take({small, change});
      change = 1;
    }
  });
}

void change_form(AlignedText& text, NormalForm form) {
  text.change([&](const AlignedText::TakeChanged& take) { put_normal_form(text.text(), form, take); });
}

// Chinese characters as Devlin et al. 2019 count them: not Hangul, and not the signs of Japanese.
bool is_chinese(char32_t c) {
  struct Block {
    char32_t first, last;
  };
  constexpr std::array<Block, 8> blocks = {{{0x4E00, 0x9FFF},
                                            {0x3400, 0x4DBF},
                                            {0x20000, 0x2A6DF},
                                            {0x2A700, 0x2B73F},
                                            {0x2B740, 0x2B81F},
                                            {0x2B920, 0x2CEAF},
                                            {0xF900, 0xFAFF},
                                            {0x2F800, 0x2FA1F}}};
  return std::ranges::any_of(blocks, [=](const Block& block) { return c >= block.first && c <= block.last; });
}

bool is_kept_clean(char32_t c) {
  if (c == U'\t' || c == U'\n' || c == U'\r') return true;
  return c != 0 && c != 0xFFFD && !is_control(c);
}

// --- tokenizer.json

std::string from_base64(std::string_view text, const TokenizerSettings& settings) {
  constexpr std::string_view signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, std::min(text.find('='), text.size()))) {
    const std::size_t value = signs.find(c);
    if (value == std::string_view::npos) settings.refuse("precompiled_charsmap", "bytes in base64");
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
  }
  return bytes;
}

Normalize read_bert_normalizer(const TokenizerSettings& settings) {
  const bool lowers = settings.flag_or("lowercase", true);
  return normalize_as_bert(settings.flag_or("clean_text", true), settings.flag_or("handle_chinese_chars", true),
                           settings.flag_or("strip_accents", lowers), lowers);
}

Normalize read_replace(const TokenizerSettings& settings) {
  const std::string by = settings.text("content");
  const TokenizerSettings pattern = settings.object("pattern");
  if (pattern.has("String")) return replace_text(pattern.text("String"), by);
  return [find = parts_by_expression(pattern.text("Regex"), pattern.place()), by](AlignedText& text) {
    replace_matches(text, find, by);
  };
}

template <NormalForm form>
Normalize read_form(const TokenizerSettings&) {
  return [](AlignedText& text) { change_form(text, form); };
}

struct NormalizerRow {
  std::string_view name;
  Normalize (*read)(const TokenizerSettings& settings);
};

Normalize read_normalizer_sequence(const TokenizerSettings& settings) {
  std::vector<Normalize> all;
  for (const TokenizerSettings& one : settings.list("normalizers")) all.push_back(read_normalizer(one));
  return in_sequence(std::move(all));
}

constexpr std::array normalizer_rows = {
    NormalizerRow{"NFC", read_form<NormalForm::nfc>},
    NormalizerRow{"NFD", read_form<NormalForm::nfd>},
    NormalizerRow{"NFKC", read_form<NormalForm::nfkc>},
    NormalizerRow{"NFKD", read_form<NormalForm::nfkd>},
    NormalizerRow{"Lowercase", [](const TokenizerSettings&) -> Normalize { return lower; }},
    NormalizerRow{
        "StripAccents",
        [](const TokenizerSettings&) -> Normalize { return [](AlignedText& text) { text.keep_if(is_no_mark); }; }},
    NormalizerRow{"Strip",
                  [](const TokenizerSettings& settings) -> Normalize {
                    return [left = settings.flag_or("strip_left", true), right = settings.flag_or("strip_right", true)](
                               AlignedText& text) { strip_spaces(text, left, right); };
                  }},
    NormalizerRow{"Prepend", [](const TokenizerSettings& settings) { return prepend_text(settings.text("prepend")); }},
    NormalizerRow{"Replace", read_replace},
    NormalizerRow{"BertNormalizer", read_bert_normalizer},
    NormalizerRow{"ByteLevel", [](const TokenizerSettings&) -> Normalize { return write_bytes_as_signs; }},
    NormalizerRow{"Precompiled",
                  [](const TokenizerSettings& settings) {
                    return normalize_by_charsmap(from_base64(settings.text_or("precompiled_charsmap", ""), settings),
                                                 CharsmapUse::as_tokenizers, settings.place());
                  }},
    NormalizerRow{"Sequence", read_normalizer_sequence},
};

}  // namespace

// --- what several have

Normalize in_sequence(std::vector<Normalize> all) {
  return [all = std::move(all)](AlignedText& text) {
    for (const Normalize& one : all) one(text);
  };
}

Normalize prepend_text(std::string what) {
  return [what = std::move(what)](AlignedText& text) { text.prepend(what); };
}

Normalize replace_text(std::string what, std::string by) {
  return [find = parts_by_text(std::move(what)), by = std::move(by)](AlignedText& text) {
    replace_matches(text, find, by);
  };
}

Normalize remove_extra_spaces() {
  return [](AlignedText& text) {
    const auto find_extra = [&](const AlignedText::TakeRange& take) {
      const std::string& all = text.text();
      for (std::size_t at = 0; (at = all.find(' ', at)) != std::string::npos;) {
        const std::size_t end = std::min(all.find_first_not_of(' ', at), all.size());
        const std::size_t kept = at == 0 || end == all.size() ? 0 : 1;
        if (end - at > kept) take({at + kept, end});
        at = end;
      }
    };
    text.replace(find_extra, "");
  };
}

Normalize normalize_as_bert(bool cleans, bool separates_chinese, bool strips_accents, bool lowers) {
  return [=](AlignedText& text) {
    if (cleans) {
      text.keep_if(is_kept_clean);
      change_each(text, [](char32_t c, const AlignedText::TakeChanged& take) {
        take({is_white_space(c) ? U' ' : c, 0});
      });
    }
    if (separates_chinese) {
      change_each(text, [](char32_t c, const AlignedText::TakeChanged& take) {
        const bool is_apart = is_chinese(c);
        if (is_apart) take({U' ', 0});
        take({c, is_apart ? 1 : 0});
        if (is_apart) take({U' ', 1});
      });
    }
    if (strips_accents) {
      change_form(text, NormalForm::nfd);
      text.keep_if(is_no_accent);
    }
    if (lowers) lower(text);
  };
}

void write_bytes_as_signs(AlignedText& text) {
  text.change([&](const AlignedText::TakeChanged& take) {
    for (const char byte : text.text()) {
      const bool begins = !continues_character(byte);
      take({sign_of_byte(static_cast<unsigned char>(byte)), begins ? 0 : 1});
    }
  });
}

// --- tokenizer.json

void compose_characters(AlignedText& text) { change_form(text, NormalForm::nfc); }

Normalize read_normalizer(const TokenizerSettings& settings) {
  const std::string type = settings.type();
  std::vector<std::string> known;
  for (const NormalizerRow& row : normalizer_rows) {
    if (row.name == type) return row.read(settings);
    known.emplace_back(row.name);
  }
  refuse_type(settings, "normalizer", known);
}

}  // namespace attn
