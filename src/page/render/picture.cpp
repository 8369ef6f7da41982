#include "page/render/picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/support/error.hpp"
#include "page/render/derivation_steps.hpp"
#include "page/render/format.hpp"
#include "page/render/table_layout.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

// --- drawings of a page

// What of a page is drawn anyway: where nothing was asked for, a picture is one of these.
class DrawingWriter : public Writer {
 public:
  using Writer::write;
  DrawingWriter(const Style& style, const Metrics& metrics) : Writer(style), metrics_(metrics) {}

  void write(const Heading&) override {}
  void write(const Prose&) override {}
  void write(const FormulaBlock&) override {}
  void write(const Table& table) override {
    if (table.heat == Heat::weights) write(lay_out_with_numbers(table, style(), metrics_));
  }
  void write(const ShadedWords& words) override {  // lines alone: a file has one drawing
    if (words.query_count > 0) return write(lay_out(words, style(), metrics_));
    write(words.weights);
  }
  void write(const Listing&) override {}
  void write(const CodeBlock&) override {}
  void write(const Derivation&) override {}
  void write(const CommandOutput&) override {}
  void write(const Drawing& drawing) override { drawings.push_back(drawing); }

  std::vector<Drawing> drawings;

 protected:
  Metrics metrics() const override { return metrics_; }

 private:
  Metrics metrics_;
};

constexpr Metrics any_slanted{.slanted = true};

std::vector<Drawing> drawings_in(const Block& block, const Style& style, const Metrics& metrics) {
  DrawingWriter writer(style, metrics);
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
    } else if (!drawings_in(block, style, any_slanted).empty()) {
      parts.push_back({.blocks = {block}});
    }
  }
}

std::vector<Page> drawings_of(const Page& page) {
  std::vector<Page> parts;
  add_parts(page.blocks, parts);
  return parts;
}

// --- picture

constexpr std::size_t most_lines_of_picture = 600;

// All that a page shows, below each other.
class PictureWriter final : public Writer {
 public:
  using Writer::write;
  PictureWriter(const Style& style, const Canvas& canvas) : Writer(style), style_(style), canvas_(canvas) {}

  Picture picture() && { return std::move(picture_); }

  void write(const Heading& heading) override {
    if (picture_.title.empty()) picture_.title = words_of(heading.text);
    if (is_chosen()) add_words(words_of(heading.text), Label::Kind::strong);
  }
  void write(const Prose& prose) override {
    if (is_chosen()) add_words(words_of(prose.text), Label::Kind::plain);
  }
  void write(const Note& note) override {
    for (const Text& line : note.lines) write(Prose{line});
  }

  void write(const FormulaBlock& block) override {
    constexpr std::size_t gap = 4;
    Drawing drawing{.title = block.formula.plain};
    const std::string formula = style_.signs(block.formula.plain), shapes = style_.signs(written_shapes(block));
    if (display_width(formula) > columns()) return add_words(formula, Label::Kind::plain);
    drawing.labels.push_back({{0, 0}, formula, Label::Kind::plain, block.formula.latex});
    const std::size_t behind = display_width(formula) + gap;
    const bool is_beside = behind + display_width(shapes) <= columns();
    drawing.labels.push_back(
        {{is_beside ? behind * unit().column : 0, is_beside ? 0 : unit().line}, shapes, Label::Kind::quiet});
    put(std::move(drawing));
  }

  void write(const Table& table) override { put(drawn(table)); }

  void write(const SideBySide& group) override {
    std::vector<Drawing> all;
    for (const Table& table : group.tables) all.push_back(drawn(table));
    put_beside(std::move(all));
  }

  void write(const HeatMaps& maps) override {
    std::vector<Drawing> all;
    for (const Table& table : maps.tables) all.push_back(described(map_of(table), HeatMap{table}, style_));
    put_beside(std::move(all));
  }

  // One factor at the left, the other above the result, whose columns go on in it.
  void write(const ProductBlock& product) override {
    const auto left = widths_of_drawing(product.left, style_, unit()),
               above = widths_of_drawing(product.right, style_, unit()),
               corner = widths_of_drawing(product.result, style_, unit());
    if (!left || !above || !corner) {
      for (const Table* table : {&product.left, &product.right, &product.result}) write(*table);
      return;
    }
    const TableWidths both = wider(*above, *corner);
    Drawing at_left = lay_out(product.left, *left, style_, unit()),
            upper = lay_out(product.right, both, style_, unit()),
            result = lay_out(product.result, both, style_, unit());
    const std::size_t x = canvas_.measure(at_left).width + gap_beside(), top = next_;
    add(std::move(upper), {x, top});
    const std::size_t below = next_;
    add(std::move(at_left), {0, below});
    add(std::move(result), {x, below});
  }

  void write(const Derivation& derivation) override { put(lay_out(derivation, style_, unit())); }

  void write(const Listing& all) override {
    const Listing listing = for_readers(all);
    if (!listing.columns.empty())
      put_lines([&](const Style& style, Sink& sink) { write_listing(listing, style, sink); });
  }
  void write(const CodeBlock& block) override {
    put_lines([&](const Style&, Sink& sink) { sink.write(printable_lines(block.text)); });
  }
  void write(const CommandOutput& output) override { write(output.page->blocks); }

  void write(const Drawing& drawing) override { put(drawing); }

 protected:
  Metrics metrics() const override { return canvas_.metrics; }

 private:
  using Label = Drawing::Label;

  const Metrics& unit() const { return canvas_.metrics; }
  std::size_t columns() const { return unit().limit / unit().column; }
  std::size_t gap_beside() const { return 4 * unit().column; }

  Drawing map_of(const Table& table) const { return lay_out(HeatMap{table}, style_, unit()); }

  // Without its numbers where there is no room for them.
  Drawing drawn(const Table& table) const {
    const std::optional<TableWidths> widths = widths_of_drawing(table, style_, unit());
    if (widths) return lay_out(table, *widths, style_, unit());
    return described(map_of(table), HeatMap{table}, style_);
  }

  void add(Drawing drawing, Drawing::Point at) {
    const DrawnSize extent = canvas_.measure(drawing);
    next_ = std::max(next_, at.y + extent.height + unit().line);
    if (next_ > most_lines_of_picture * unit().line) {
      fail("this picture would be more than {} lines high: choose a part with --only or --section",
           most_lines_of_picture);
    }
    if (picture_.title.empty()) picture_.title = drawing.title;
    const std::string said = drawing.title + (drawing.title.empty()         ? ""
                                              : drawing.description.empty() ? "."
                                                                            : ": " + drawing.description);
    if (!said.empty()) picture_.description += (picture_.description.empty() ? "" : " ") + said;
    picture_.parts.push_back({std::move(drawing), at});
  }
  void put(Drawing drawing) { add(std::move(drawing), {0, next_}); }

  // As many in a line as fit.
  void put_beside(std::vector<Drawing> drawings) {
    std::size_t x = 0, top = next_;
    for (Drawing& drawing : drawings) {
      const std::size_t width = canvas_.measure(drawing).width;
      if (x > 0 && x + width > unit().limit) {
        x = 0;
        top = next_;
      }
      add(std::move(drawing), {x, top});
      x += width + gap_beside();
    }
  }

  void add_words(const std::string& words, Label::Kind kind) {
    Drawing drawing;
    for (const std::string& line : wrap(style_.words(words), columns()))
      drawing.labels.push_back({{0, drawing.labels.size() * unit().line}, line, kind});
    if (!drawing.labels.empty()) put(std::move(drawing));
  }

  // Lines as they stand on a terminal. What stands in columns keeps its place, whatever a program makes of blanks.
  template <class Write>
  void put_lines(const Write& write_text) {
    Style plain = style_;
    plain.colors = Colors::none;
    plain.width = columns();
    std::string text;
    Sink sink([&](std::string_view bytes) { text += bytes; });
    write_text(plain, sink);
    sink.flush();
    Drawing drawing;
    std::size_t line = 0;
    for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1, ++line) {
      end = std::min(text.find('\n', begin), text.size());
      add_pieces(std::string_view(text).substr(begin, end - begin), line * unit().line, drawing);
    }
    if (!drawing.labels.empty()) put(std::move(drawing));
  }

  // The pieces of a line between which there are two blanks or more.
  void add_pieces(std::string_view line, std::size_t y, Drawing& drawing) const {
    std::size_t begin = line.find_first_not_of(' ');
    while (begin < line.size()) {
      const std::size_t end = std::min(line.find("  ", begin), line.size());
      drawing.labels.push_back(
          {{display_width(line.substr(0, begin)) * unit().column, y}, std::string(line.substr(begin, end - begin))});
      begin = line.find_first_not_of(' ', end);
    }
  }

  bool is_chosen() const { return style_.settings<PictureSettings>().is_chosen; }

  const Style& style_;
  const Canvas& canvas_;
  Picture picture_;
  std::size_t next_ = 0;  // where the next one begins
};

Picture as_picture(Drawing drawing) {
  Picture picture{.title = drawing.title, .description = drawing.description};
  picture.parts.push_back({std::move(drawing)});
  return picture;
}

// The note of the style, below all else.
Picture with_note(Picture picture, const Style& style, const Canvas& canvas) {
  const std::string& said = style.settings<PictureSettings>().note;
  if (said.empty()) return picture;
  std::size_t below = 0;
  for (const Picture::Part& part : picture.parts)
    below = std::max(below, part.at.y + canvas.measure(part.drawing).height);
  Drawing note;
  for (const std::string& line : wrap(style.words(said), canvas.metrics.limit / canvas.metrics.column))
    note.labels.push_back({{0, note.labels.size() * canvas.metrics.line}, line, Drawing::Label::Kind::quiet});
  picture.parts.push_back({std::move(note), {0, below + canvas.metrics.line / 2}});
  picture.description += (picture.description.empty() ? "" : " ") + said;
  return picture;
}

}  // namespace

// --- picture

std::vector<Page> pictures_of(const Page& page, const Style& style) {
  std::vector<Page> parts;
  if (!style.settings<PictureSettings>().is_chosen) parts = drawings_of(page);
  if (parts.empty()) parts.push_back({.blocks = page.blocks});
  return parts;
}

Picture picture_of(const Page& page, const Style& style, const Canvas& canvas) {
  const bool is_chosen = style.settings<PictureSettings>().is_chosen;
  const std::vector<Page> parts = is_chosen ? std::vector<Page>() : drawings_of(page);
  if (parts.size() > 1) {
    fail(
        "there are {} drawings here, and a file holds one: give -o with a name for a file each, or choose one with --only or --section",
        parts.size());
  }
  if (parts.size() == 1) {
    return with_note(as_picture(drawings_in(parts.front().blocks.front(), style, canvas.metrics).front()), style,
                     canvas);
  }
  PictureWriter writer(style, canvas);
  static_cast<Writer&>(writer).write(page.blocks);
  Picture picture = std::move(writer).picture();
  if (picture.parts.empty())
    fail("there is nothing to draw here but words: choose another --format, or a part of the page with --section");
  return with_note(std::move(picture), style, canvas);
}

}  // namespace attn
