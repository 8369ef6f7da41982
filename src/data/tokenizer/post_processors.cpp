#include "data/tokenizer/post_processors.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/support/error.hpp"
#include "data/tokenizer/unicode.hpp"

namespace attn {

PostProcess put_around(std::vector<EncodedPiece> before, std::vector<EncodedPiece> behind) {
  return {.of_one = [=](std::vector<EncodedPiece>& pieces, bool with_special) {
    if (!with_special) return;
    pieces.insert(pieces.begin(), before.begin(), before.end());
    pieces.insert(pieces.end(), behind.begin(), behind.end());
  }};
}

namespace {

using EncodedPieces = std::vector<EncodedPiece>;

// A place in a template of a pair: a token, or one of the texts, and the type of its pieces.
struct PlaceInPair {
  EncodedPieces tokens = {};
  std::optional<std::size_t> text = {};  // 0 or 1
  std::size_t type = 0;
};

PostProcess put_around_pair(PostProcess around, std::vector<PlaceInPair> places) {
  around.of_pair = [places = std::move(places)](const EncodedPieces& first, const EncodedPieces& second) {
    EncodedPieces all;
    for (const PlaceInPair& place : places) {
      for (EncodedPiece piece : !place.text ? place.tokens : *place.text == 0 ? first : second) {
        piece.type = place.type;
        piece.of_text = place.text.value_or(0);
        all.push_back(std::move(piece));
      }
    }
    return all;
  };
  return around;
}

}  // namespace

PostProcess put_around_as_bert(const EncodedPiece& cls, const EncodedPiece& sep) {
  return put_around_pair(
      put_around({cls}, {sep}),
      {{.tokens = {cls}}, {.text = 0}, {.tokens = {sep}}, {.text = 1, .type = 1}, {.tokens = {sep}, .type = 1}});
}

PostProcess put_around_as_roberta(const EncodedPiece& cls, const EncodedPiece& sep) {
  return put_around_pair(put_around({cls}, {sep}),
                         {{.tokens = {cls}}, {.text = 0}, {.tokens = {sep, sep}}, {.text = 1}, {.tokens = {sep}}});
}

// The last one that is told how puts two texts together; the others work on each of them.
PostProcess process_in_sequence(std::vector<PostProcess> all) {
  PostProcess sequence;
  sequence.of_one = [all](EncodedPieces& pieces, bool with_special) {
    for (const PostProcess& one : all) {
      if (one.of_one) one.of_one(pieces, with_special);
    }
  };
  const auto joins = [](const PostProcess& one) { return static_cast<bool>(one.of_pair); };
  if (std::ranges::count_if(all, joins) != 1) return sequence;
  sequence.of_pair = [all, joins](EncodedPieces first, EncodedPieces second) {
    for (const PostProcess& one : all) {
      if (joins(one) || !one.of_one) continue;
      for (EncodedPieces* pieces : {&first, &second}) one.of_one(*pieces, false);
    }
    return std::ranges::find_if(all, joins)->of_pair(std::move(first), std::move(second));
  };
  return sequence;
}

PostProcess trim_spaces_of_pieces(bool prepends_space) {
  return {.of_one = [prepends_space](std::vector<EncodedPiece>& pieces, bool) {
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
  }};
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

// "pair": […, {"Sequence": {"id": "B", "type_id": 1}}, …]
std::vector<PlaceInPair> places_of_pair(const TokenizerSettings& settings) {
  std::vector<PlaceInPair> places;
  std::array<std::size_t, 2> times = {0, 0};
  for (const TokenizerSettings& one : settings.list("pair")) {
    const bool is_text = one.has("Sequence");
    const TokenizerSettings place = one.object(is_text ? "Sequence" : "SpecialToken");
    const std::string id = place.text("id");
    PlaceInPair found{.type = place.count_or("type_id", 0)};
    if (is_text && id != "A" && id != "B") place.refuse("id", "A or B");
    if (is_text) found.text = id == "A" ? 0 : 1;
    if (is_text) ++times[*found.text];
    if (!is_text) found.tokens = specials_of(settings, id);
    places.push_back(std::move(found));
  }
  if (times[0] != 1 || times[1] != 1) settings.refuse("pair", "a template that has each of the texts once");
  return places;
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
  PostProcess around = put_around(std::move(before), std::move(behind));
  return settings.has("pair") ? put_around_pair(std::move(around), places_of_pair(settings)) : around;
}

PostProcess read_post_processor_sequence(const TokenizerSettings& settings) {
  std::vector<PostProcess> all;
  for (const TokenizerSettings& one : settings.list("processors")) all.push_back(read_post_processor(one));
  return process_in_sequence(std::move(all));
}

PostProcess read_trimming(const TokenizerSettings& settings) {
  const bool prepends_space = settings.flag_or("add_prefix_space", true);
  if (settings.flag_or("trim_offsets", true)) return trim_spaces_of_pieces(prepends_space);
  return {};
}

PostProcess read_bert_processing(const TokenizerSettings& settings) {
  return put_around_as_bert(special_of(settings, "cls"), special_of(settings, "sep"));
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
                       return process_in_sequence(
                           {read_trimming(settings),
                            put_around_as_roberta(special_of(settings, "cls"), special_of(settings, "sep"))});
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
