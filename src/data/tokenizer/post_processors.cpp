#include "data/tokenizer/post_processors.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/support/error.hpp"
#include "data/tokenizer/unicode.hpp"

namespace attn {

PostProcess put_around(std::vector<SpecialToken> before, std::vector<SpecialToken> behind) {
  return {.before = std::move(before), .behind = std::move(behind)};
}

PostProcess put_around_as_bert(const SpecialToken& cls, const SpecialToken& sep) {
  return {.before = {cls},
          .behind = {sep},
          .of_pair = {
              {.tokens = {cls}}, {.text = 0}, {.tokens = {sep}}, {.text = 1, .type = 1}, {.tokens = {sep}, .type = 1}}};
}

PostProcess put_around_as_roberta(const SpecialToken& cls, const SpecialToken& sep) {
  return {.before = {cls},
          .behind = {sep},
          .of_pair = {{.tokens = {cls}}, {.text = 0}, {.tokens = {sep, sep}}, {.text = 1}, {.tokens = {sep}}}};
}

// The only one that is told how puts two texts together.
PostProcess process_in_sequence(const std::vector<PostProcess>& all) {
  PostProcess sequence;
  std::size_t that_join = 0;
  for (const PostProcess& one : all) {
    for (SpaceTrim trim : one.trims) {
      trim.is_behind_token = trim.is_behind_token || !sequence.before.empty();
      sequence.trims.push_back(trim);
    }
    sequence.before.insert(sequence.before.begin(), one.before.begin(), one.before.end());
    sequence.behind.insert(sequence.behind.end(), one.behind.begin(), one.behind.end());
    if (one.of_pair.empty()) continue;
    sequence.of_pair = one.of_pair;
    ++that_join;
  }
  if (that_join > 1) sequence.of_pair.clear();
  return sequence;
}

PostProcess trim_spaces_of_pieces(bool prepends_space) { return {.trims = {{.prepends_space = prepends_space}}}; }

void SpaceTrim::trim(Token& piece, std::string_view text, bool is_first, std::string_view original) const {
  const auto is_space = [](char32_t c) { return c == sign_of_byte(' ') || is_white_space(c); };
  const auto before = [](std::string_view all, std::size_t end) {
    do --end;
    while (end > 0 && continues_character(all[end]));
    return end;
  };
  std::size_t leading = 0, trailing = 0;
  for (std::size_t at = 0; at < text.size(); ++leading) {
    const auto [code, size] = code_point_at(text, at);
    if (!is_space(code)) break;
    at += size;
  }
  for (std::size_t end = text.size(); end > 0; ++trailing) {
    const std::size_t last = before(text, end);
    if (!is_space(code_point_at(text, last).code)) break;
    end = last;
  }
  // The space that was put before a text stands for nothing in it. Where there are several, none was put there.
  if (prepends_space && leading == 1 && (is_first || piece.begin == 0)) leading = 0;
  for (; leading > 0 && piece.begin < piece.end; --leading) piece.begin += code_point_at(original, piece.begin).size;
  std::size_t end = piece.end;
  for (; trailing > 0 && end > 0; --trailing) end = before(original, end);
  if (trailing == 0) piece.end = std::max(end, piece.begin);
}

namespace {

// More tokens than any model has around a text.
constexpr std::size_t most_in_template = 1000;

void require_few(std::size_t tokens, const TokenizerSettings& settings) {
  if (tokens > most_in_template)
    fail("{}: the template puts more than {} tokens around a text: give the tokenizer of another model",
         settings.place(), most_in_template);
}

// "cls": ["[CLS]", 101]
SpecialToken special_of(const TokenizerSettings& settings, std::string_view name) {
  const Json* const pair = settings.find(name);
  const bool is_pair =
      pair && pair->is_array() && pair->size() == 2 && (*pair)[0].is_string() && (*pair)[1].is_number_unsigned();
  if (!is_pair) settings.refuse(name, "a token and its id");
  return {.id = (*pair)[1].get<std::size_t>(), .text = (*pair)[0].get<std::string>()};
}

// The tokens that a name of a template stands for.
std::vector<SpecialToken> specials_of(const TokenizerSettings& settings, const std::string& name) {
  const TokenizerSettings token = settings.object("special_tokens").object(name);
  const Json *const ids = token.find("ids"), *const texts = token.find("tokens");
  if (!ids || !ids->is_array()) token.refuse("ids", "a list of ids");
  if (!texts || !texts->is_array() || texts->size() != ids->size()) token.refuse("tokens", "a list of as many tokens");
  std::vector<SpecialToken> all;
  for (std::size_t i = 0; i < ids->size(); ++i) {
    if (!(*ids)[i].is_number_unsigned()) token.refuse("ids", "a list of ids");
    if (!(*texts)[i].is_string()) token.refuse("tokens", "a list of as many tokens");
    all.push_back({.id = (*ids)[i].get<std::size_t>(), .text = (*texts)[i].get<std::string>()});
  }
  return all;
}

// "pair": […, {"Sequence": {"id": "B", "type_id": 1}}, …]
std::vector<PlaceInPair> places_of_pair(const TokenizerSettings& settings) {
  std::vector<PlaceInPair> places;
  std::array<std::size_t, 2> times = {0, 0};
  std::size_t tokens = 0;
  for (const TokenizerSettings& one : settings.list("pair")) {
    const bool is_text = one.has("Sequence");
    const TokenizerSettings place = one.object(is_text ? "Sequence" : "SpecialToken");
    const std::string id = place.text("id");
    PlaceInPair found{.type = place.count_or("type_id", 0)};
    if (is_text && id != "A" && id != "B") place.refuse("id", "A or B");
    if (is_text) found.text = id == "A" ? 0 : 1;
    if (is_text) ++times[*found.text];
    if (!is_text) found.tokens = specials_of(settings, id);
    require_few(tokens += found.tokens.size(), settings);
    places.push_back(std::move(found));
  }
  if (times[0] != 1 || times[1] != 1) settings.refuse("pair", "a template that has each of the texts once");
  return places;
}

PostProcess read_template(const TokenizerSettings& settings) {
  std::vector<SpecialToken> before, behind;
  bool is_behind = false;
  for (const TokenizerSettings& one : settings.list("single")) {
    if (one.has("Sequence")) {
      if (is_behind) settings.refuse("single", "a template that has the text once");
      is_behind = true;
      continue;
    }
    for (SpecialToken& token : specials_of(settings, one.object("SpecialToken").text("id"))) {
      (is_behind ? behind : before).push_back(std::move(token));
    }
    require_few(before.size() + behind.size(), settings);
  }
  if (!is_behind) settings.refuse("single", "a template that has the text once");
  PostProcess around = put_around(std::move(before), std::move(behind));
  if (settings.has("pair")) around.of_pair = places_of_pair(settings);
  return around;
}

PostProcess read_post_processor_sequence(const TokenizerSettings& settings) {
  std::vector<PostProcess> all;
  for (const TokenizerSettings& one : settings.list("processors")) {
    require_few(all.size() + 1, settings);
    all.push_back(read_post_processor(one));
  }
  PostProcess sequence = process_in_sequence(all);
  require_few(sequence.before.size() + sequence.behind.size(), settings);
  require_few(sequence.trims.size(), settings);
  return sequence;
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
