#include "data/tokenizer/pre_tokenizers.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "data/tokenizer/normalizers.hpp"
#include "data/tokenizer/pattern.hpp"
#include "data/tokenizer/unicode.hpp"

namespace attn {

namespace {

void put_ranges(const AlignedText& text, const FindParts& find, SplitBehavior behavior, const TakeText& take) {
  split_text(text.text(), find, behavior, [&](const ByteRange& range) {
    if (range.end > range.begin) take(text.part(range));
  });
}

PreTokenize split_by(FindParts find, SplitBehavior behavior) {
  return [find = std::move(find), behavior](const AlignedText& text, const TakeText& take) {
    put_ranges(text, find, behavior, take);
  };
}

// Each part is handed on to the next as soon as it is there.
void put_from(const std::vector<PreTokenize>& all, std::size_t first, AlignedText text, const TakeText& take) {
  if (first == all.size()) return take(std::move(text));
  all[first](std::move(text), [&](AlignedText part) { put_from(all, first + 1, std::move(part), take); });
}

PreTokenize split_in_sequence(std::vector<PreTokenize> all) {
  return [all = std::move(all)](AlignedText text, const TakeText& take) { put_from(all, 0, std::move(text), take); };
}

PreTokenize split_bytes(bool prepends_space, std::optional<FindParts> find) {
  return [prepends_space, find = std::move(find)](AlignedText text, const TakeText& take) {
    const TakeText as_signs = [&](AlignedText part) {
      write_bytes_as_signs(part);
      take(std::move(part));
    };
    if (prepends_space && !text.text().starts_with(' ')) text.prepend(" ");
    if (find) return put_ranges(text, *find, SplitBehavior::isolated, as_signs);
    as_signs(std::move(text));
  };
}

struct BehaviorRow {
  std::string_view name;
  SplitBehavior behavior;
};
constexpr std::array behavior_rows = {BehaviorRow{"Removed", SplitBehavior::removed},
                                      BehaviorRow{"Isolated", SplitBehavior::isolated},
                                      BehaviorRow{"MergedWithPrevious", SplitBehavior::merged_with_previous},
                                      BehaviorRow{"MergedWithNext", SplitBehavior::merged_with_next},
                                      BehaviorRow{"Contiguous", SplitBehavior::contiguous}};

SplitBehavior read_behavior(const TokenizerSettings& settings, std::string_view usual) {
  const std::string name = settings.text_or("behavior", usual);
  for (const BehaviorRow& row : behavior_rows) {
    if (row.name == name) return row.behavior;
  }
  settings.refuse("behavior", "Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

PreTokenize read_split(const TokenizerSettings& settings) {
  const TokenizerSettings pattern = settings.object("pattern");
  FindParts find = pattern.has("String") ? parts_by_text(pattern.text("String"))
                                         : parts_by_expression(pattern.text("Regex"), pattern.place());
  if (settings.flag_or("invert", false)) find = inverted(std::move(find));
  return split_by(std::move(find), read_behavior(settings, ""));
}

PreTokenize read_byte_level(const TokenizerSettings& settings) {
  const bool prepends_space = settings.flag_or("add_prefix_space", true);
  if (settings.flag_or("use_regex", true)) return split_as_gpt2(prepends_space);
  return split_bytes(prepends_space, std::nullopt);
}

PreTokenize read_metaspace(const TokenizerSettings& settings) {
  const std::string sign = settings.text_or("replacement", "▁");
  const std::string usual = settings.flag_or("add_prefix_space", true) ? "always" : "never";
  const std::string scheme = settings.text_or("prepend_scheme", usual);
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    settings.refuse("prepend_scheme", "always, first or never");
  }
  const bool splits = settings.flag_or("split", true);
  return [=, spaces = parts_by_text(" "), signs = parts_by_text(sign)](AlignedText text, const TakeText& take) {
    replace_matches(text, spaces, sign);
    const bool begins = scheme == "always" || (scheme == "first" && text.begin() == 0);
    if (begins && !text.text().starts_with(sign)) text.prepend(sign);
    if (splits) return put_ranges(text, signs, SplitBehavior::merged_with_next, take);
    if (!text.empty()) take(std::move(text));
  };
}

PreTokenize read_pre_tokenizer_sequence(const TokenizerSettings& settings) {
  std::vector<PreTokenize> all;
  for (const TokenizerSettings& one : settings.list("pretokenizers")) all.push_back(read_pre_tokenizer(one));
  return split_in_sequence(std::move(all));
}

struct PreTokenizerRow {
  std::string_view name;
  PreTokenize (*read)(const TokenizerSettings& settings);
};

constexpr std::array pre_tokenizer_rows = {
    PreTokenizerRow{"ByteLevel", read_byte_level},
    PreTokenizerRow{"Split", read_split},
    PreTokenizerRow{"Digits",
                    [](const TokenizerSettings& settings) {
                      return split_by(parts_by_character(is_numeric), settings.flag_or("individual_digits", false)
                                                                          ? SplitBehavior::isolated
                                                                          : SplitBehavior::contiguous);
                    }},
    PreTokenizerRow{"Punctuation",
                    [](const TokenizerSettings& settings) {
                      return split_by(parts_by_character(is_punctuation), read_behavior(settings, "Isolated"));
                    }},
    PreTokenizerRow{"Metaspace", read_metaspace},
    PreTokenizerRow{"BertPreTokenizer", [](const TokenizerSettings&) { return split_as_bert(); }},
    PreTokenizerRow{"Whitespace",
                    [](const TokenizerSettings& settings) {
                      return split_by(inverted(parts_by_expression(R"(\w+|[^\w\s]+)", settings.place())),
                                      SplitBehavior::removed);
                    }},
    PreTokenizerRow{
        "WhitespaceSplit",
        [](const TokenizerSettings&) { return split_by(parts_by_character(is_white_space), SplitBehavior::removed); }},
    PreTokenizerRow{"CharDelimiterSplit",
                    [](const TokenizerSettings& settings) {
                      return split_by(parts_by_text(settings.text("delimiter")), SplitBehavior::removed);
                    }},
    PreTokenizerRow{"Sequence", read_pre_tokenizer_sequence},
};

// How many there are in a sequence, and in those within it.
std::size_t count_of_pre_tokenizers(const TokenizerSettings& settings) {
  std::size_t count = 1;
  for (const TokenizerSettings& one : settings.list("pretokenizers")) count += count_of_pre_tokenizers(one);
  return count;
}

}  // namespace

PreTokenize split_as_gpt2(bool prepends_space) {
  return split_bytes(prepends_space, parts_by_expression(std::string(expression_of_gpt2), "GPT-2"));
}

PreTokenize split_by_expressions(std::span<const std::string_view> expressions, const std::string& where) {
  std::vector<PreTokenize> all;
  for (const std::string_view one : expressions)
    all.push_back(split_by(parts_by_expression(std::string(one), where), SplitBehavior::isolated));
  all.push_back(split_bytes(false, std::nullopt));
  return split_in_sequence(std::move(all));
}

PreTokenize split_as_bert() {
  return split_in_sequence({split_by(parts_by_character(is_white_space), SplitBehavior::removed),
                            split_by(parts_by_character(is_punctuation), SplitBehavior::isolated)});
}

PreTokenize read_pre_tokenizer(const TokenizerSettings& settings) {
  constexpr std::size_t most_in_a_row = 200;
  const std::string type = settings.type();
  // Each part of a text is in all of them at once.
  if (count_of_pre_tokenizers(settings) > most_in_a_row)
    fail("{}: there are more than {} pre-tokenizers: give the tokenizer of another model", settings.place(),
         most_in_a_row);
  std::vector<std::string> known;
  for (const PreTokenizerRow& row : pre_tokenizer_rows) {
    if (row.name == type) return row.read(settings);
    known.emplace_back(row.name);
  }
  refuse_type(settings, "pre-tokenizer", known);
}

}  // namespace attn
