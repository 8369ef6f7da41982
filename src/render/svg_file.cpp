#include <fmt/format.h>

#include <algorithm>

#include "render/format.hpp"
#include "render/svg.hpp"
#include "render/writer.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

// What of a page is drawn.
class DrawingWriter : public Writer {
 public:
  using Writer::write;
  explicit DrawingWriter(const Style& style) : Writer(style) {}

  void write(const Heading&) override {}
  void write(const Prose&) override {}
  void write(const FormulaBlock&) override {}
  void write(const Table& table) override {
    if (table.heat == Heat::weights) write(lay_out_with_numbers(table, style(), metrics()));
  }
  void write(const ShadedWords& words) override {  // lines alone: a file has one drawing
    if (words.query_count > 0) return write(lay_out(words, style(), metrics()));
    write(words.weights);
  }
  void write(const Listing&) override {}
  void write(const CodeBlock&) override {}
  void write(const Derivation&) override {}
  void write(const CommandOutput&) override {}
  void write(const Drawing& drawing) override { drawings.push_back(drawing); }

  std::vector<Drawing> drawings;

 protected:
  Metrics metrics() const override { return pixels; }
};

std::vector<Drawing> drawn(const Block& block, const Style& style) {
  DrawingWriter writer(style);
  static_cast<Writer&>(writer).write(std::vector{block});
  return std::move(writer.drawings);
}

void add_parts(const std::vector<Block>& blocks, std::vector<Page>& parts) {
  const Style style;
  for (const Block& block : blocks) {
    if (const SideBySide* const group = std::get_if<SideBySide>(&block)) {
      add_parts({group->tables.begin(), group->tables.end()}, parts);
    } else if (const HeatMaps* const maps = std::get_if<HeatMaps>(&block)) {
      for (const Table& table : maps->tables) parts.push_back({.blocks = {HeatMap{table}}});
    } else if (const CommandOutput* const output = std::get_if<CommandOutput>(&block)) {
      add_parts(output->page->blocks, parts);
    } else if (!drawn(block, style).empty()) {
      parts.push_back({.blocks = {block}});
    }
  }
}

}  // namespace

std::vector<Page> drawings_of(const Page& page) {
  std::vector<Page> parts;
  add_parts(page.blocks, parts);
  return parts;
}

namespace {

// The only one.
Drawing drawing_of(const Page& page, const Style& style) {
  const std::vector<Page> parts = drawings_of(page);
  if (parts.empty()) {
    fail(
        "svg is a format for drawings and attention weights, and there are none here: choose another "
        "--format");
  }
  if (parts.size() > 1) {
    fail(
        "there are {} drawings here, and an SVG file holds one: give -o NAME.svg for a file each, or choose "
        "one with --only or --section",
        parts.size());
  }
  return drawn(parts.front().blocks.front(), style).front();
}

}  // namespace

void render_svg(const Page& page, const Style& style, Sink& sink) {
  sink.write(begin_of_svg_file);
  sink.write(svg_of(drawing_of(page, style), "drawing", rules_of_file()));
}

std::string drawing_in_words(const Page& page, const Style& style) {
  const Drawing drawing = drawing_of(page, style);
  return drawing.title + (drawing.description.empty() ? "" : ": " + drawing.description);
}

}  // namespace attn
