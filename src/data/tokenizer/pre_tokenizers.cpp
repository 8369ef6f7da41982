#include "data/tokenizer/pre_tokenizers.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "data/tokenizer/normalizers.hpp"
#include "data/tokenizer/pattern.hpp"
#include "data/tokenizer/unicode.hpp"

namespace attn {

namespace {

// Replaces each part that is no added token by what `split` makes of it; what is empty is left out.
template <class Split>
void split_each(std::vector<TextPart>& parts, const Split& split) {
  std::vector<TextPart> result;
  result.reserve(parts.size());
  for (TextPart& part : parts) {
    if (part.added) {
      result.push_back(std::move(part));
    } else {
      split(part.text, result);
    }
  }
  parts = std::move(result);
}

void put_ranges(const AlignedText& text, const std::vector<ByteRange>& ranges, std::vector<TextPart>& result) {
  for (const ByteRange& range : ranges) {
    if (range.end > range.begin) result.push_back({.text = text.part(range)});
  }
}

PreTokenize split_by(FindParts find, SplitBehavior behavior) {
  return [find = std::move(find), behavior](std::vector<TextPart>& parts) {
    split_each(parts, [&](const AlignedText& text, std::vector<TextPart>& result) {
      put_ranges(text, split_ranges(find(text.text()), behavior), result);
    });
  };
}

PreTokenize split_in_sequence(std::vector<PreTokenize> all) {
  return [all = std::move(all)](std::vector<TextPart>& parts) {
    for (const PreTokenize& one : all) one(parts);
  };
}

PreTokenize split_bytes(bool prepends_space, std::optional<FindParts> find) {
  return [prepends_space, find = std::move(find)](std::vector<TextPart>& parts) {
    split_each(parts, [&](AlignedText& text, std::vector<TextPart>& result) {
      if (prepends_space && !text.text().starts_with(' ')) text.prepend(" ");
      if (find) {
        put_ranges(text, split_ranges((*find)(text.text()), SplitBehavior::isolated), result);
      } else {
        result.push_back({.text = std::move(text)});
      }
    });
    for (TextPart& part : parts) {
      if (!part.added) write_bytes_as_signs(part.text);
    }
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
  return [=, spaces = parts_by_text(" "), signs = parts_by_text(sign)](std::vector<TextPart>& parts) {
    split_each(parts, [&](AlignedText& text, std::vector<TextPart>& result) {
      text.replace(matches_of(spaces(text.text())), sign);
      const bool begins = scheme == "always" || (scheme == "first" && text.begin() == 0);
      if (begins && !text.text().starts_with(sign)) text.prepend(sign);
      if (splits) {
        put_ranges(text, split_ranges(signs(text.text()), SplitBehavior::merged_with_next), result);
      } else if (!text.empty()) {
        result.push_back({.text = std::move(text)});
      }
    });
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
  const std::string type = settings.type();
  std::vector<std::string> known;
  for (const PreTokenizerRow& row : pre_tokenizer_rows) {
    if (row.name == type) return row.read(settings);
    known.emplace_back(row.name);
  }
  refuse_type(settings, "pre-tokenizer", known);
}

}  // namespace attn
