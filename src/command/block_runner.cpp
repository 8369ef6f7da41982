#include "command/docs.hpp"

#include <fmt/ranges.h>

#include "command/app.hpp"
#include "command/command.hpp"
#include "core/support/error.hpp"
#include "core/support/printable.hpp"
#include "page/document/document_outputs.hpp"
#include "page/render/html.hpp"

namespace attn {

namespace {

constexpr std::size_t usual_width = 80;

const Environment& nowhere() {
  static const Environment environment = {.variable = [](const char* name) -> std::optional<std::string> {
    if (name == std::string_view(variable::lc_all.name)) return "C.UTF-8";
    return std::nullopt;
  }};
  return environment;
}

// Main alone writes, and here is no main: what it would write is refused.
void refuse_effects(const AnswerInFormat& answer) {
  if (!answer.complaints.empty()) throw InputError(answer.complaints.front());
  if (answer.is_file() || !answer.files.empty())
    fail("a block of a document writes no files: show the output instead, or give this command elsewhere");
  if (answer.document) fail("a page for browsers is a file of its own: give this command elsewhere");
  if (answer.session) fail("a block of a document is no terminal: give attn lesson run --no-input");
  if (answer.format->is_binary()) {
    std::vector<std::string> readable;
    for (const Format& format : formats()) {
      if (!format.is_binary()) readable.emplace_back(format.name);
    }
    fail("{} is not for a document. Choose one of: {}", answer.format->name, fmt::join(readable, ", "));
  }
}

Style style_of(const AnswerInFormat& answer, const BlockStyle& wanted) {
  Style style = answer.style;
  style.colors = Colors::none;
  style.own.put(MarkupSettings{.is_part = true, .ids = wanted.in_files ? "" : wanted.ids});
  // Text is cut to the page; the other formats only where it is asked for.
  const bool is_text = answer.format == &formats().front();
  if (style.width == 0) style.width = wanted.width.value_or(is_text ? usual_width : 0);
  style.precision = wanted.precision.value_or(style.precision);
  style.is_precise = style.is_precise || wanted.precision.has_value();
  return style;
}

// Beside a page go its warnings; here they go before it.
void put_warnings_first(AnswerInFormat& answer) {
  if (answer.format->audience != Audience::readers) return;
  std::vector<Block> warnings;
  for (const std::string& warning : answer.warnings)
    warnings.emplace_back(Prose{text(strong("attn: warning: "), warning)});
  answer.page.blocks.insert(answer.page.blocks.begin(), warnings.begin(), warnings.end());
}

std::string rendered(const AnswerInFormat& answer, const Page& page, const Style& style) {
  std::string text;
  Sink sink([&](std::string_view bytes) {
    Budget::take_output(bytes.size());
    text += bytes;
  });
  answer.format->render(page, style, sink);
  sink.flush();
  return printable_lines(text);
}

CommandResult run_words(std::vector<std::string> words, const BlockStyle& wanted) {
  if (wanted.format) words.insert(words.end(), {"--format", *wanted.format});
  AnswerInFormat answer = attn::answer(words, nowhere());
  refuse_effects(answer);
  put_warnings_first(answer);
  CommandResult result{"", answer.format->name, nullptr, answer.computation, {}, answer.style.width};
  result.style = style_of(answer, wanted);
  if (wanted.in_files) {
    for (const Page& part : answer.format->parts(answer.page, result.style))
      result.pictures.push_back({rendered(answer, part, result.style), drawing_in_words(part, result.style)});
  } else {
    result.text = rendered(answer, answer.page, result.style);
  }
  // What is shown again are the blocks; what stands behind them need not stay.
  answer.page.trace = {};
  answer.page.recipe = {};
  result.page = std::make_shared<const Page>(std::move(answer.page));
  return result;
}

}  // namespace

RunCommand block_runner() { return run_words; }

}  // namespace attn
