#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/support/outside.hpp"
#include "page/block/page.hpp"
#include "page/render/derivation_steps.hpp"
#include "page/render/drawing.hpp"
#include "page/render/format.hpp"
#include "page/render/style.hpp"
#include "page/render/table_layout.hpp"
#include "page/render/text_table.hpp"
#include "page/render/weight_pictures.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

// --- weight pictures

constexpr std::size_t margin_of_map = 2;

// The words of one row in lines, each beside the row's label, and below each its weight in percent.
class WordLines {
 public:
  WordLines(const Table& table, const Style& style) : table_(table), style_(style), shading_(table, style) {
    for (std::size_t i = 0; i < table.cells->shape().rows; ++i)
      label_width_ = std::max(label_width_, display_width(style.words(table.rows.label(i))));
    label_width_ = std::min(label_width_, style.limit() / 3);
    columns_ = every_place(table.cells->shape().columns);
    if (style.elides() && lines_of(columns_).size() > most_lines) leave_out_words();
  }

  void write(Sink& sink) const {
    const std::vector<std::vector<std::size_t>> lines = lines_of(columns_);
    for (std::size_t i = 0; i < table_.cells->shape().rows; ++i) {
      std::string label = shortened(style_.words(table_.rows.label(i)), label_width_, ellipsis());
      for (const std::vector<std::size_t>& line : lines) {
        const std::string indent(label_width_ - display_width(label), ' ');
        write_line(label + indent, i, line, &WordLines::append_word, sink);
        label.clear();
        write_line(std::string(label_width_, ' '), i, line, &WordLines::append_percent, sink);
      }
    }
    write_legend(sink);
  }

 private:
  static constexpr std::size_t most_lines = 3, fewer_lines = 2;  // of words, for each row

  using Append = void (WordLines::*)(std::string& text, std::size_t row, std::size_t column) const;

  std::string ellipsis() const { return style_.unicode ? "…" : "..."; }

  bool is_masked(std::size_t i, std::size_t j) const { return attn::is_masked(table_, i, j); }

  // "27", or nothing where it would be 0.
  std::string percent(std::size_t i, std::size_t j) const {
    if (is_masked(i, j)) return style_.unicode ? "·" : ".";
    const double weight = (*table_.cells)(i, j);
    if (!std::isfinite(weight)) return "?";
    const std::string text = fmt::format("{:.0f}", 100.0 * weight);
    return text == "0" || text == "-0" ? "" : text;
  }

  std::string word(std::size_t j) const {
    constexpr std::size_t longest = 16;
    return shortened(style_.words(table_.columns.label(j)), longest, ellipsis());
  }

  // A word is as wide as the widest of what stands below it.
  std::size_t width(std::size_t j) const {
    std::size_t widest = std::max<std::size_t>(display_width(word(j)), 1);
    for (std::size_t i = 0; i < table_.cells->shape().rows; ++i)
      widest = std::max(widest, display_width(percent(i, j)));
    return widest;
  }

  // The shown words in lines, as places among them.
  std::vector<std::vector<std::size_t>> lines_of(const ShownPlaces& shown) const {
    const std::size_t limit = style_.limit(), before = margin_of_map + label_width_ + 1;
    std::vector<std::vector<std::size_t>> lines(1);
    std::size_t used = before;
    for (std::size_t n = 0; n < shown.places.size(); ++n) {
      const std::size_t gap = shown.gap_before(n) > 0 ? display_width(ellipsis()) + 1 : 0;
      const std::size_t wanted = gap + 1 + width(shown.places[n]);
      if (used + wanted > limit && !lines.back().empty()) {
        lines.emplace_back();
        used = before;
      }
      used += wanted;
      lines.back().push_back(n);
    }
    return lines;
  }

  // The words with the largest weights stay.
  void leave_out_words() {
    const std::vector<std::size_t> order = columns_by_importance(table_, every_place(table_.cells->shape().rows));
    std::size_t kept = std::min(order.size(), fewer_lines * style_.limit() / 2);
    do {
      const auto end = order.begin() + static_cast<std::ptrdiff_t>(kept);
      columns_ = chosen_places(order.size(), {order.begin(), end});
    } while (lines_of(columns_).size() > fewer_lines && --kept > 1);
  }

  void write_line(const std::string& begin, std::size_t i, const std::vector<std::size_t>& places, Append append,
                  Sink& sink) const {
    std::string line(margin_of_map, ' ');
    line += begin + ' ';
    for (const std::size_t n : places) {
      if (columns_.gap_before(n) > 0) line += ' ' + (append == &WordLines::append_word ? ellipsis() : blank());
      line += ' ';
      (this->*append)(line, i, columns_.places[n]);
    }
    const bool ends = !places.empty() && places.back() + 1 == columns_.places.size();
    if (ends && append == &WordLines::append_word && columns_.gap_before(columns_.places.size()) > 0)
      line += ' ' + ellipsis();
    line.erase(line.find_last_not_of(' ') + 1);
    if (!line.empty()) sink.write(line + "\n");
  }

  std::string blank() const { return std::string(display_width(ellipsis()), ' '); }

  void append_word(std::string& text, std::size_t i, std::size_t j) const {
    const std::string shown = word(j), color = is_masked(i, j) ? "" : shading_.of((*table_.cells)(i, j));
    const std::size_t blanks = width(j) - display_width(shown);
    text += color + shown + (color.empty() ? "" : plain(style_)) + std::string(blanks, ' ');
  }

  void append_percent(std::string& text, std::size_t i, std::size_t j) const {
    const std::string shown = percent(i, j);
    text += shown + std::string(width(j) - display_width(shown), ' ');
  }

  void write_legend(Sink& sink) const {
    std::string legend = "below each word its weight in percent, unless it rounds to 0";
    if (has_masked()) legend += style_.unicode ? "; · masked" : "; . masked";
    if (columns_.left_out() > 0) {
      legend += fmt::format("; {} {} of {} words with small weights left out (--full)", ellipsis(), columns_.left_out(),
                            columns_.count);
    }
    for (const std::string& line : wrap(legend, style_.limit() - margin_of_map))
      sink.write(std::string(margin_of_map, ' ') + dim(style_) + line + plain(style_) + "\n");
  }

  bool has_masked() const {
    for (std::size_t i = 0; i < table_.cells->shape().rows; ++i) {
      for (const std::size_t j : columns_.places) {
        if (is_masked(i, j)) return true;
      }
    }
    return false;
  }

  const Table& table_;
  const Style& style_;
  Shading shading_;
  std::size_t label_width_ = 0;
  ShownPlaces columns_;
};

// The words of a sentence, once for each row, with their weights below them in percent, and shaded where there
// are colors enough. Of a long sentence the words with the largest weights are shown.
void write_shaded_words(const ShadedWords& words, const Style& style, Sink& sink) {
  WordLines(words.weights, style).write(sink);
}

// --- text

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
    write_weight_pictures(maps.tables, style_, {.width = style_.limit()}, sink_);
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

  void write(const ParagraphsWithMargins& margined) override {
    gap();
    for (const ParagraphsWithMargins::Line& line : margined.lines) {
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

  void write(const DerivationStep& whole) override {
    gap();
    const DerivationStep derived = with_short_sums(whole, style_.full);
    const std::string margin(2 + 2 * derived.depth, ' ');
    const Notation notation{.precision = std::max(style_.precision, least_precision)};
    const std::string subject = signs(written_subject(derived, notation));
    const std::size_t indent = margin.size() + display_width(subject) + 1;
    std::string before = margin + subject + " ";
    for (const WrittenStep& step : steps_of(derived, notation)) {
      const std::string sign = signs(step.sign()) + " ";
      const auto lines = wrapped_sum(signs(step.text), indent + 2);
      sink_.write(before + sign + lines.front() + "\n");
      for (std::size_t i = 1; i < lines.size(); ++i) sink_.write(std::string(indent + 2, ' ') + lines[i] + "\n");
      before = std::string(indent, ' ');
    }
    if (derived.told_reason.empty()) return;
    for (const std::string& line : wrapped(signs(derived.told_reason), indent)) {
      sink_.write(std::string(indent, ' ') + dim(style_) + line + plain(style_) + "\n");
    }
  }

 private:
  // Marks of bold words become bold, and no line ends in blanks.
  void write_with_margins(const std::string& first, const std::string& rest, const std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < std::max<std::size_t>(lines.size(), 1); ++i) {
      std::string shown = (i == 0 ? first : rest) + (i < lines.size() ? lines[i] : "");
      shown.erase(shown.find_last_not_of(' ') + 1);
      const std::array colors = {std::string(), bold(style_), italic(style_), ink(Ink::command, style_)};
      for (std::size_t style = 1; style < colors.size(); ++style)
        shown = replaced(std::move(shown), marks_in_text[style].before, colors[style]);
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
    return text_with_marks(text, marks_in_text, [this](const Span& span) {
      const auto& [begin, end] = marks_of(span, marks_in_text);
      return replaced(words({span}), " ", fmt::format("{} {}", end, begin));
    });
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

  static std::string replaced(std::string text, std::string_view old, const std::string& by) {
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

  static constexpr std::string_view end_mark = "\x02";
  static constexpr MarksOfSpans marks_in_text = {
      {{"", ""}, {"\x01", end_mark}, {"\x04", end_mark}, {"\x03", end_mark}, {"", ""}}};

  const Style& style_;
  Sink& sink_;
  bool first_ = true;
  bool after_formula_ = false;
};

}  // namespace

// --- text

void render_text(const Page& page, const Style& style, Sink& sink) { TextWriter(style, sink).write(page.blocks); }

}  // namespace attn
