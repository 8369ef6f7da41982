#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "render/color.hpp"
#include "render/format.hpp"
#include "render/steps.hpp"
#include "render/text_table.hpp"
#include "render/weight_pictures.hpp"
#include "render/width.hpp"
#include "render/writer.hpp"

namespace attn {
namespace {

class TextWriter final : public Writer {
 public:
  using Writer::write;
  TextWriter(const Style& style, Sink& sink) : Writer(style), style_(style), sink_(sink) {}

  void write(const Heading& heading) override {
    gap();
    std::size_t widest = 0;
    for (const std::string& line : wrapped(words(heading.text), 0)) {
      sink_.write(bold(style_) + line + plain(style_) + "\n");
      widest = std::max(widest, display_width(line));
    }
    if (heading.level == 1) sink_.write(repeated(style_.unicode ? "─" : "-", widest) + "\n");
  }

  void write(const Prose& prose) override {
    gap();
    write_with_margins("", "", wrapped(marked_words(prose.text), 0));
  }

  void write(const FormulaBlock& block) override {
    if (!after_formula_) gap();
    after_formula_ = true;
    const std::string formula = signs(block.formula.plain), shapes = signs(written_shapes(block));
    constexpr std::size_t shapes_column = 40, margin = 2, least_gap = 4;
    const std::size_t width = margin + display_width(formula);
    const std::size_t begin = std::max(width + least_gap, shapes_column);
    const bool fits = !style_.elides() || begin + display_width(shapes) <= style_.width;
    if (fits) {
      sink_.write("  " + formula + std::string(begin - width, ' '));
      sink_.write(dim(style_) + shapes + plain(style_) + "\n");
      return;
    }
    // What goes on in another line stands further right.
    constexpr std::size_t hang = 2;
    const std::size_t room = style_.limit() - margin - hang;
    std::size_t indent = margin;
    for (const std::string& line : wrap(formula, room)) {
      sink_.write(std::string(std::exchange(indent, margin + hang), ' ') + line + "\n");
    }
    for (const std::string& line : wrap(shapes, room)) {
      sink_.write(std::string(margin + hang, ' ') + dim(style_) + line + plain(style_) + "\n");
    }
  }

  void write(const Table& table) override {
    gap();
    write_text_table(table, style_, sink_);
  }

  void write(const SideBySide& group) override {
    gap();
    write_side_by_side(group.tables, style_, sink_);
  }

  void write(const HeatMaps& maps) override {
    gap();
    write_heat_maps(maps, style_, sink_);
  }

  void write(const ShadedWords& words) override {
    gap();
    write_shaded_words(words, style_, sink_);
  }

  void write(const ProductBlock& product) override {
    gap();
    write_product(product, style_, sink_);
  }

  void write(const Drawing& drawing) override {
    gap();
    write_drawing(drawing, style_, sink_);
  }

  void write(const Listing& all) override {
    const Listing listing = for_readers(all);
    if (listing.columns.empty()) return;
    gap();
    write_listing(listing, style_, sink_);
  }

  void write(const Margined& margined) override {
    gap();
    for (const Margined::Line& line : margined.lines) {
      write_with_margins(signs(line.first), signs(line.rest),
                         wrapped(marked_words(line.text), display_width(line.rest)));
    }
  }

  void write(const CodeBlock& block) override {
    gap();
    const bool is_command = block.language == "console";
    for (std::size_t begin = 0, end; begin <= block.text.size(); begin = end + 1) {
      end = std::min(block.text.find('\n', begin), block.text.size());
      const std::string line = signs(std::string_view(block.text).substr(begin, end - begin));
      sink_.write((is_command ? ink(Ink::command, style_) + line + plain(style_) : line) + "\n");
    }
  }

  void write(const Note& note) override {
    gap();
    const auto [mark, color] = mark_of(note.kind);
    const std::string shown = signs(mark), indent(display_width(shown) + 1, ' ');
    std::string first = ink(color, style_) + shown + plain(style_) + " ";
    for (const Text& line : note.lines) {
      write_with_margins(first, indent, wrapped(marked_words(line), indent.size()));
      first = indent;
    }
  }

  void write(const CommandOutput& output) override {
    gap();
    render_text(*output.page, style_within(output, style_), sink_);
  }

  void write(const Derived& derived) override {
    gap();
    const std::string margin(2 + 2 * derived.depth, ' ');
    const Notation notation{.precision = std::max(style_.precision, least_precision),
                            .most_terms = style_.elides() ? std::size_t{8} : 0};
    const std::string subject = signs(written_subject(derived, notation));
    const std::size_t indent = margin.size() + display_width(subject) + 1;
    std::string before = margin + subject + " ";
    for (const WrittenStep& step : steps_of(derived, notation)) {
      const std::string sign = signs(step.sign()) + " ";
      const auto lines = wrapped_sum(signs(step.text), indent + 2);
      sink_.write(before + sign + lines.front() + "\n");
      for (std::size_t i = 1; i < lines.size(); ++i)
        sink_.write(std::string(indent + 2, ' ') + lines[i] + "\n");
      before = std::string(indent, ' ');
    }
    if (derived.told_reason.empty()) return;
    for (const std::string& line : wrapped(signs(derived.told_reason), indent)) {
      sink_.write(std::string(indent, ' ') + dim(style_) + line + plain(style_) + "\n");
    }
  }

 private:
  // Marks of bold words become bold, and no line ends in blanks.
  void write_with_margins(const std::string& first, const std::string& rest,
                          const std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < std::max<std::size_t>(lines.size(), 1); ++i) {
      std::string shown = (i == 0 ? first : rest) + (i < lines.size() ? lines[i] : "");
      shown.erase(shown.find_last_not_of(' ') + 1);
      shown = replaced(std::move(shown), begin_bold, bold(style_));
      shown = replaced(std::move(shown), begin_italic, italic(style_));
      shown = replaced(std::move(shown), begin_code, ink(Ink::command, style_));
      shown = replaced(std::move(shown), end_mark, plain(style_));
      sink_.write(shown + "\n");
    }
  }

  static std::pair<std::string_view, Ink> mark_of(Note::Kind kind) {
    switch (kind) {
      case Note::Kind::question:
        return {"?", Ink::question};
      case Note::Kind::correct:
        return {"✓", Ink::correct};
      case Note::Kind::wrong:
        return {"✗", Ink::wrong};
      case Note::Kind::hint:
        return {"→", Ink::aside};
      case Note::Kind::answer:
        return {"=", Ink::aside};
    }
    return {"", Ink::aside};
  }

  // Blocks are set apart by one empty line; formulas that follow each other stand together.
  void gap() {
    if (!first_) sink_.write("\n");
    first_ = false;
    after_formula_ = false;
  }

  // Our own signs, as far as the terminal has them. What the reader wrote, a label or a strong word, stays as
  // it is.
  std::string signs(std::string_view text) const { return style_.signs(text); }

  std::string words(const Text& text) const {
    std::string joined;
    for (const Span& span : text) {
      joined += span.style == Span::Style::strong ? style_.words(span.text) : signs(span.text);
    }
    return joined;
  }

  // The same with marks, which take no room, around every word that is to be bold or code: lines break
  // between words, and no line leaves the next one bold. Whatever is printable holds no such marks.
  std::string marked_words(const Text& text) const {
    if (style_.colors == Colors::none) return words(text);
    std::string joined;
    for (const Span& span : text) {
      std::string piece = words({span});
      const std::string& begin = span.style == Span::Style::code       ? begin_code
                                 : span.style == Span::Style::emphasis ? begin_italic
                                                                       : begin_bold;
      if (span.style != Span::Style::plain && span.style != Span::Style::formula)
        piece = begin + replaced(std::move(piece), " ", end_mark + " " + begin) + end_mark;
      joined += piece;
    }
    return joined;
  }

  // Prose is set to at most 80 columns, which reads best; mathematics breaks only where the terminal ends.
  std::vector<std::string> wrapped(const std::string& text, std::size_t indent) const {
    constexpr std::size_t comfortable = 80;
    const std::size_t limit = std::min(comfortable, style_.limit());
    return wrap(text, limit > indent + 20 ? limit - indent : 20);
  }

  // A line of a sum ends with its sign and does not begin with it: until it is wrapped, no line may break
  // there.
  std::vector<std::string> wrapped_sum(const std::string& text, std::size_t indent) const {
    const std::string plus = " + ", tied_plus = "\u00A0+ ";
    return wrapped(replaced(text, plus, tied_plus), indent);
  }

  static std::string replaced(std::string text, const std::string& old, const std::string& by) {
    for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + by.size())) {
      text.replace(at, old.size(), by);
    }
    return text;
  }

  static std::string repeated(std::string_view sign, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += sign;
    return text;
  }

  inline static const std::string begin_bold = "\x01", begin_code = "\x03", begin_italic = "\x04",
                                  end_mark = "\x02";

  const Style& style_;
  Sink& sink_;
  bool first_ = true;
  bool after_formula_ = false;
};

}  // namespace

void render_text(const Page& page, const Style& style, Sink& sink) {
  TextWriter(style, sink).write(page.blocks);
}

}  // namespace attn
