#include "data/tokenizer/post_processors.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "data/tokenizer/unicode.hpp"

namespace attn {

PostProcess put_around(std::vector<EncodedPiece> before, std::vector<EncodedPiece> behind) {
  return [=](std::vector<EncodedPiece>& pieces, bool with_special) {
    if (!with_special) return;
    pieces.insert(pieces.begin(), before.begin(), before.end());
    pieces.insert(pieces.end(), behind.begin(), behind.end());
  };
}

PostProcess process_in_sequence(std::vector<PostProcess> all) {
  return [all = std::move(all)](std::vector<EncodedPiece>& pieces, bool with_special) {
    for (const PostProcess& one : all) one(pieces, with_special);
  };
}

PostProcess trim_spaces_of_pieces(bool prepends_space) {
  return [prepends_space](std::vector<EncodedPiece>& pieces, bool) {
    const char32_t sign_of_space = sign_of_byte(' ');
    const auto is_space = [&](char32_t c) { return c == sign_of_space || is_white_space(c); };
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      EncodedPiece& piece = pieces[i];
      const std::vector<char32_t> all = code_points_of(piece.text);
      auto leading = static_cast<std::size_t>(std::ranges::find_if_not(all, is_space) - all.begin());
      const auto trailing =
          static_cast<std::size_t>(std::find_if_not(all.rbegin(), all.rend(), is_space) - all.rbegin());
      if (leading > 0) {
        // The space that was put before a text stands for nothing in it. Where there are several, none was put there.
        if (prepends_space && leading == 1 && (i == 0 || piece.begin == 0)) leading = 0;
        piece.begin = std::min(piece.begin + leading, piece.end);
      }
      if (trailing > 0 && piece.end >= trailing) piece.end = std::max(piece.end - trailing, piece.begin);
    }
  };
}

namespace {

// "cls": ["[CLS]", 101]
EncodedPiece special_of(const TokenizerSettings& settings, std::string_view name) {
  const Json* const pair = settings.find(name);
  const bool is_pair =
      pair && pair->is_array() && pair->size() == 2 && (*pair)[0].is_string() && (*pair)[1].is_number_unsigned();
  if (!is_pair) settings.refuse(name, "a token and its id");
  return {.id = (*pair)[1].get<std::size_t>(), .text = (*pair)[0].get<std::string>(), .is_special = true};
}

// The tokens that a name of a template stands for.
std::vector<EncodedPiece> specials_of(const TokenizerSettings& settings, const std::string& name) {
  const TokenizerSettings token = settings.object("special_tokens").object(name);
  const Json *const ids = token.find("ids"), *const texts = token.find("tokens");
  if (!ids || !ids->is_array()) token.refuse("ids", "a list of ids");
  if (!texts || !texts->is_array() || texts->size() != ids->size()) token.refuse("tokens", "a list of as many tokens");
  std::vector<EncodedPiece> all;
  for (std::size_t i = 0; i < ids->size(); ++i) {
    if (!(*ids)[i].is_number_unsigned()) token.refuse("ids", "a list of ids");
    if (!(*texts)[i].is_string()) token.refuse("tokens", "a list of as many tokens");
    all.push_back({.id = (*ids)[i].get<std::size_t>(), .text = (*texts)[i].get<std::string>(), .is_special = true});
  }
  return all;
}

PostProcess read_template(const TokenizerSettings& settings) {
  std::vector<EncodedPiece> before, behind;
  bool is_behind = false;
  for (const TokenizerSettings& one : settings.list("single")) {
    if (one.has("Sequence")) {
      if (is_behind) settings.refuse("single", "a template that has the text once");
      is_behind = true;
      continue;
    }
    for (EncodedPiece& token : specials_of(settings, one.object("SpecialToken").text("id"))) {
      (is_behind ? behind : before).push_back(std::move(token));
    }
  }
  if (!is_behind) settings.refuse("single", "a template that has the text once");
  return put_around(std::move(before), std::move(behind));
}

PostProcess read_post_processor_sequence(const TokenizerSettings& settings) {
  std::vector<PostProcess> all;
  for (const TokenizerSettings& one : settings.list("processors")) all.push_back(read_post_processor(one));
  return process_in_sequence(std::move(all));
}

PostProcess read_trimming(const TokenizerSettings& settings) {
  const bool prepends_space = settings.flag_or("add_prefix_space", true);
  if (settings.flag_or("trim_offsets", true)) return trim_spaces_of_pieces(prepends_space);
  return process_in_sequence({});
}

PostProcess read_bert_processing(const TokenizerSettings& settings) {
  return put_around({special_of(settings, "cls")}, {special_of(settings, "sep")});
}

struct PostProcessorRow {
  std::string_view name;
  PostProcess (*read)(const TokenizerSettings& settings);
};

constexpr std::array post_processor_rows = {
    PostProcessorRow{"TemplateProcessing", read_template},
    PostProcessorRow{"ByteLevel", read_trimming},
    PostProcessorRow{"BertProcessing", read_bert_processing},
    PostProcessorRow{"RobertaProcessing",
                     [](const TokenizerSettings& settings) {
                       return process_in_sequence({read_trimming(settings), read_bert_processing(settings)});
                     }},
    PostProcessorRow{"Sequence", read_post_processor_sequence},
};

}  // namespace

PostProcess read_post_processor(const TokenizerSettings& settings) {
  const std::string type = settings.type();
  std::vector<std::string> known;
  for (const PostProcessorRow& row : post_processor_rows) {
    if (row.name == type) return row.read(settings);
    known.emplace_back(row.name);
  }
  refuse_type(settings, "post-processor", known);
}

}  // namespace attn
