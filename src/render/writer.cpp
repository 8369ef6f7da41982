#include "render/writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "render/described.hpp"
#include "render/format.hpp"
#include "render/steps.hpp"

namespace attn {
namespace {

// What a terminal without colors would show, as code.
template <class Write>
CodeBlock in_plain_text(Style style, const Write& write) {
  style.colors = Colors::none;
  std::string text;
  Sink sink([&](std::string_view bytes) { text += bytes; });
  write(style, sink);
  sink.flush();
  text.erase(text.find_last_not_of('\n') + 1);
  return {"text", std::move(text)};
}

}  // namespace

void Writer::write(const std::vector<Block>& blocks) {
  for (const Block& block : blocks) std::visit([this](const auto& one) { write(one); }, block);
}

void Writer::write(const SideBySide& group) {
  for (const Table& table : group.tables) write(table);
}

void Writer::write(const ShadedWords& words) {
  write(words.weights);
  if (metrics().slanted && words.query_count > 0) write(lay_out(words, style_, metrics()));
}

void Writer::write(const ProductBlock& product) {
  for (const Table* table : {&product.left, &product.right, &product.result}) write(*table);
}

void Writer::write(const Margined& margined) {
  for (const Margined::Line& line : margined.lines) {
    Text words = line.text;
    words.insert(words.begin(), as_span(line.first));
    write(Prose{std::move(words)});
  }
}

void Writer::write(const Records&) {}

void Writer::write(const Note& note) {
  for (const Text& line : note.lines) write(Prose{line});
}

void Writer::write(const CommandOutput& output) {
  constexpr std::size_t usual = 80;
  const Style within = style_within(output, {.width = usual});
  write(
      in_plain_text(within, [&](const Style& style, Sink& sink) { render_text(*output.page, style, sink); }));
}

void Writer::write(const Folded& folded) {
  write(folded.page->blocks);
}

void Writer::write(const Derivation& derivation) {
  derivation.each([this](const Derived& step) { write(step); });
}

void Writer::write(const Derived& step) {
  Formula whole;
  for (const auto& [form, latex] : {std::pair{&whole.plain, false}, std::pair{&whole.latex, true}}) {
    const Notation notation{.latex = latex, .precision = std::max(style_.precision, least_precision)};
    *form = written_subject(step, notation);
    for (const WrittenStep& next : steps_of(step, notation))
      *form += (latex && next.is_rounded ? " \\approx " : fmt::format(" {} ", next.sign())) + next.text;
  }
  write(Prose{text(math(std::move(whole)))});
  if (!step.told_reason.empty()) write(Prose{text(step.told_reason)});
}

void Writer::write(const HeatMap& map) {
  write(described(lay_out(map, style_, metrics()), map, style_));
}

void Writer::write(const HeatMaps& maps) {
  for (const Table& table : maps.tables) write(HeatMap{table});
}

void Writer::write(const Plot& plot) {
  write(described(lay_out(plot, style_, metrics()), plot, style_));
}

void Writer::write(const Flow& flow) {
  write(described(lay_out(flow, style_, metrics()), flow));
}

void Writer::write(const Diagram& diagram) {
  write(lay_out(diagram, style_, metrics()));
}

void Writer::write(const Drawing& drawing) {
  write(in_plain_text(style_, [&](const Style& style, Sink& sink) { write_drawing(drawing, style, sink); }));
}

Metrics Writer::metrics() const {
  return characters_of(style_);
}

Style style_within(const CommandOutput& output, Style around) {
  around.precision = output.precision;
  around.is_precise = output.is_precise;
  around.full = around.full || output.full;
  around.unicode = around.unicode && output.unicode;
  if (output.width > 0) around.width = output.width;
  return around;
}

}  // namespace attn
