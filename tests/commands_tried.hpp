#pragma once

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "command/app.hpp"
#include "data/files/json.hpp"
#include "page/document/document.hpp"
#include "process.hpp"
#include "texts.hpp"

namespace attn {

/// What attn says to words that it must accept.
inline ProcessResult accepted(const Words& words) {
  const ProcessResult finished = run_attn(words);
  CHECK_MESSAGE(finished.code == 0, command_line(words) << ": " << finished.errors);
  return finished;
}

/// Nobody is at a terminal, and no variable is set.
inline const Environment& bare_environment() {
  static const Environment bare{.variable = [](const char*) { return std::nullopt; }};
  return bare;
}

/// What attn writes to words within this process, which takes a fraction of the time of another process.
inline std::string written(const AnswerInFormat& answer) {
  return written_by([&](Sink& sink) { write(answer, sink); });
}

/// What a command line computes: "attn walk --example animal".
inline std::shared_ptr<Graph> computation_of(const std::string& line) {
  return answer(command_lines(line, "test", 1).front().words, bare_environment()).computation.graph;
}

/// What must be refused is refused in one sentence, which has these words.
inline void refuses(const Words& words, std::string_view expected) {
  const ProcessResult finished = run_attn(words);
  INFO(command_line(words));
  CHECK(finished.code == 2);
  CHECK(finished.out == "");
  CHECK(std::ranges::count(finished.errors, '\n') == 1);
  CHECK_MESSAGE(finished.errors.find(expected) != std::string::npos, finished.errors << "lacks: " << expected);
}

inline void check_has(std::string_view text, std::string_view part) {
  CHECK_MESSAGE(text.find(part) != std::string::npos, text << " lacks: " << part);
}

inline void check_lacks(std::string_view text, std::string_view part) {
  CHECK_MESSAGE(text.find(part) == std::string::npos, text << " has: " << part);
}

/// The text with every run of blanks and line ends as one blank: sentences without their line breaks.
inline std::string in_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank || !line.ends_with(' ')) line += blank ? ' ' : c;
  }
  return line;
}

/// Words with more words after them.
inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// The page that answers the words, as JSON.
inline Json page(const Words& words) { return parse_json(accepted(words + Words{"--format", "json"}).out, "page"); }

/// The cells of the first listing of a page, row after row.
inline std::vector<std::vector<std::string>> listing_of(const Words& words) {
  const Json all = page(words);
  for (const Json& block : all["page"]) {
    if (block["type"] == "listing") return block["rows"].get<std::vector<std::vector<std::string>>>();
  }
  return {};
}

}  // namespace attn
