#include "data/tokenizer/decoders.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "data/tokenizer/pattern.hpp"
#include "data/tokenizer/unicode.hpp"
#include "data/tokenizer/word_model.hpp"

namespace attn {
namespace {

using Pieces = std::vector<std::string>;

std::string joined_pieces(const Pieces& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return text;
}

std::size_t bytes_of(const Pieces& pieces) {
  std::size_t bytes = 0;
  for (const std::string& piece : pieces) bytes += piece.size();
  return bytes;
}

std::string replaced(std::string_view text, const FindParts& find, std::string_view by, TextRoom& room) {
  std::string result;
  find(text, [&](const PatternPart& part) {
    const std::string_view put = part.is_match ? by : text.substr(part.range.begin, part.range.end - part.range.begin);
    room.take(put.size());
    result += put;
  });
  return result;
}

Decode replace_in_each(FindParts find, std::string by) {
  return [find = std::move(find), by = std::move(by)](Pieces pieces) {
    TextRoom room(bytes_of(pieces));
    for (std::string& piece : pieces) piece = replaced(piece, find, by, room);
    return pieces;
  };
}

// Several bytes that are one character, or U+FFFD for each.
Pieces decode_byte_pieces(const Pieces& pieces) {
  Pieces result;
  std::string bytes;
  const auto put_bytes = [&] {
    if (bytes.empty()) return;
    if (first_not_utf8(bytes)) {
      std::string signs;
      for (std::size_t i = 0; i < bytes.size(); ++i) append_code_point(signs, 0xFFFD);
      result.push_back(std::move(signs));
    } else {
      result.push_back(bytes);
    }
    bytes.clear();
  };
  for (const std::string& piece : pieces) {
    if (const auto byte = byte_of_piece(piece)) {
      bytes += static_cast<char>(*byte);
      continue;
    }
    put_bytes();
    result.push_back(piece);
  }
  put_bytes();
  return result;
}

Decode strip_in_each(std::string sign, std::size_t left, std::size_t right) {
  return [=](Pieces pieces) {
    if (sign.empty()) return pieces;
    for (std::string& piece : pieces) {
      std::string_view rest = piece;
      for (std::size_t i = 0; i < left && rest.starts_with(sign); ++i) rest.remove_prefix(sign.size());
      for (std::size_t i = 0; i < right && rest.ends_with(sign); ++i) rest.remove_suffix(sign.size());
      piece = std::string(rest);
    }
    return pieces;
  };
}

Decode decode_metaspace(const std::string& sign, bool drops_first) {
  return [find = parts_by_text(sign), drops_first](Pieces pieces) {
    bool is_first = drops_first;
    TextRoom room(bytes_of(pieces));
    for (std::string& piece : pieces) {
      piece = replaced(piece, find, is_first ? "" : " ", room);
      is_first = false;
    }
    return pieces;
  };
}

Decode decode_one_after_the_other(std::vector<Decode> all) {
  return [all = std::move(all)](Pieces pieces) {
    const std::size_t bytes = bytes_of(pieces);
    for (const Decode& one : all) {
      pieces = one(std::move(pieces));
      TextRoom(bytes).take(bytes_of(pieces));
    }
    return pieces;
  };
}

Decode read_metaspace_decoder(const TokenizerSettings& settings) {
  const std::string usual = settings.flag_or("add_prefix_space", true) ? "always" : "never";
  return decode_metaspace(settings.text_or("replacement", "▁"), settings.text_or("prepend_scheme", usual) != "never");
}

Decode read_replace_decoder(const TokenizerSettings& settings) {
  const TokenizerSettings pattern = settings.object("pattern");
  FindParts find = pattern.has("String") ? parts_by_text(pattern.text("String"))
                                         : parts_by_expression(pattern.text("Regex"), pattern.place());
  return replace_in_each(std::move(find), settings.text("content"));
}

Decode read_decoder_sequence(const TokenizerSettings& settings) {
  std::vector<Decode> all;
  for (const TokenizerSettings& one : settings.list("decoders")) all.push_back(read_decoder(one));
  return decode_one_after_the_other(std::move(all));
}

struct DecoderRow {
  std::string_view name;
  Decode (*read)(const TokenizerSettings& settings);
};

constexpr std::array decoder_rows = {
    DecoderRow{"ByteLevel", [](const TokenizerSettings&) { return decode_byte_level(); }},
    DecoderRow{"ByteFallback", [](const TokenizerSettings&) -> Decode { return decode_byte_pieces; }},
    DecoderRow{"Metaspace", read_metaspace_decoder},
    DecoderRow{"WordPiece",
               [](const TokenizerSettings& settings) {
                 return decode_word_pieces(settings.text_or("prefix", "##"), settings.flag_or("cleanup", true));
               }},
    DecoderRow{
        "Fuse",
        [](const TokenizerSettings&) -> Decode { return [](Pieces pieces) { return Pieces{joined_pieces(pieces)}; }; }},
    DecoderRow{"Strip",
               [](const TokenizerSettings& settings) {
                 return strip_in_each(settings.text_or("content", " "), settings.count_or("start", 0),
                                      settings.count_or("stop", 0));
               }},
    DecoderRow{"Replace", read_replace_decoder},
    DecoderRow{"BPEDecoder",
               [](const TokenizerSettings& settings) -> Decode {
                 return [find = parts_by_text(settings.text_or("suffix", "</w>"))](Pieces pieces) {
                   TextRoom room(bytes_of(pieces));
                   for (std::size_t i = 0; i < pieces.size(); ++i) {
                     pieces[i] = replaced(pieces[i], find, i + 1 == pieces.size() ? "" : " ", room);
                   }
                   return pieces;
                 };
               }},
    DecoderRow{"Sequence", read_decoder_sequence},
};

}  // namespace

Decode decode_byte_level() {
  return [](const Pieces& pieces) {
    std::string bytes;
    for (const std::string& piece : pieces) {
      std::string of_piece;
      for (const char32_t sign : code_points_of(piece)) {
        const auto byte = byte_of_sign(sign);
        if (!byte) {
          of_piece = piece;
          break;
        }
        of_piece += static_cast<char>(*byte);
      }
      bytes += of_piece;
    }
    return Pieces{with_replacements(bytes)};
  };
}

Decode decode_word_pieces(std::string inner_prefix, bool tidies) {
  struct Tidied {
    std::string_view what, by;
  };
  static constexpr std::array<Tidied, 11> rows = {{{" .", "."},
                                                   {" ?", "?"},
                                                   {" !", "!"},
                                                   {" ,", ","},
                                                   {" ' ", "'"},
                                                   {" n't", "n't"},
                                                   {" 'm", "'m"},
                                                   {" do not", " don't"},
                                                   {" 's", "'s"},
                                                   {" 've", "'ve"},
                                                   {" 're", "'re"}}};
  return [inner_prefix = std::move(inner_prefix), tidies](Pieces pieces) {
    TextRoom room(rows.size() * bytes_of(pieces));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      std::string& piece = pieces[i];
      if (i > 0) piece = piece.starts_with(inner_prefix) ? piece.substr(inner_prefix.size()) : " " + piece;
      if (!tidies) continue;
      for (const auto& [what, by] : rows) piece = replaced(piece, parts_by_text(std::string(what)), by, room);
    }
    return pieces;
  };
}

Decode decode_sentence_pieces(bool drops_first_space) {
  return [spaces = decode_metaspace("▁", false), drops_first_space](Pieces pieces) {
    std::string text = joined_pieces(decode_byte_pieces(spaces(std::move(pieces))));
    if (drops_first_space && text.starts_with(' ')) text.erase(0, 1);
    return Pieces{std::move(text)};
  };
}

Decode read_decoder(const TokenizerSettings& settings) {
  const std::string type = settings.type();
  std::vector<std::string> known;
  for (const DecoderRow& row : decoder_rows) {
    if (row.name == type) return row.read(settings);
    known.emplace_back(row.name);
  }
  refuse_type(settings, "decoder", known);
}

}  // namespace attn
