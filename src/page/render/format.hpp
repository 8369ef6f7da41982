#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/outside.hpp"
#include "page/block/page.hpp"
#include "page/render/drawing.hpp"
#include "page/render/style.hpp"

namespace attn {

/// What the output of a format is for: to be read, for other programs as text, or for them as bytes.
enum class Audience { readers, programs, bytes };

/// A format is one pure function of a page.
struct Format {
  std::string_view name;
  std::string_view summary;
  std::string_view extension;  // of the files it is chosen for
  Audience audience;
  void (*render)(const Page& page, const Style& style, Sink& sink);
  /// The pages that become a file each, where a file holds a part of a page only; null: it holds all.
  std::vector<Page> (*parts)(const Page& page, const Style& style) = nullptr;

  bool is_binary() const { return audience == Audience::bytes; }
};

/// text, markdown, html, latex, svg, tikz, csv, tsv, json, npy, npz, safetensors. A new format is one file and
/// one row.
std::span<const Format> formats();

/// The format of a file name. Throws InputError when its extension belongs to none.
const Format& format_of_file(const std::string& path);

/// "name-2.svg" for the second part of "name.svg".
std::string path_of_part(const std::string& path, std::size_t number);

/// How what a command has said looks within a page that looks so.
Style style_within(const CommandOutput& output, Style around);

/// What formulas stand between in Markdown: $$…$$, and plain text among words; or a fence named math, and
/// $`…`$ among words, which GitHub and GitLab both read as they stand.
enum class MathMarks { dollars, fences };

/// What Markdown heeds of a style besides what all formats do.
struct MarkdownSettings {
  MathMarks math = MathMarks::dollars;
};

/// The same of CSV and TSV.
struct SeparatedSettings {
  bool labels = true;  // of rows and columns
};

void render_text(const Page& page, const Style& style, Sink& sink);
void render_markdown(const Page& page, const Style& style, Sink& sink);
/// A page for a browser, which needs nothing else: no script, no style and no picture from elsewhere.
void render_html(const Page& page, const Style& style, Sink& sink);
/// A part of a document, whose first line says which packages it needs, or a whole one. All of it is ASCII.
void render_latex(const Page& page, const Style& style, Sink& sink);
/// The picture of a page. Throws InputError unless there is exactly one.
void render_svg(const Page& page, const Style& style, Sink& sink);
/// The first line of a file that holds such a picture.
constexpr std::string_view begin_of_svg_file = "<!-- drawn by attn -->\n";
/// The same for pdfLaTeX: a picture of TikZ to be read into a document, whose first line says which packages it
/// needs, or a document of class standalone.
void render_tikz(const Page& page, const Style& style, Sink& sink);
/// What that picture shows, for those who do not see it. Throws as render_svg does.
std::string drawing_in_words(const Page& page, const Style& style);
/// A page for each of its pictures: the drawings, with weights as a heat map; the page itself where it has none, or
/// where it is a part that was asked for.
std::vector<Page> pictures_of(const Page& page, const Style& style);
/// Words as Markdown: whatever would begin markup, a cell or HTML is escaped.
std::string escaped_markdown(std::string_view text);
/// What stands before and after something in a format.
struct Marks {
  std::string_view before, after;
};
/// The marks of the pieces of a sentence, in the order of Span::Style: plain, strong, emphasis, code, formula.
using MarksOfSpans = std::array<Marks, 5>;
constexpr const Marks& marks_of(const Span& span, const MarksOfSpans& marks) {
  return marks.at(static_cast<std::size_t>(span.style));
}
/// The pieces of a sentence with their marks, as a format writes each between them.
std::string text_with_marks(const Text& text, const MarksOfSpans& marks,
                            const std::function<std::string(const Span&)>& written);

/// A fence of backticks that nothing in the text can close: "```" or longer.
std::string fence_around(std::string_view text);
/// The matrices of the trace at full precision: numbers alone, or with the words that label them; several
/// matrices are blocks, each under a line `# NAME`. A page without matrices is its listing.
void render_csv(const Page& page, const Style& style, Sink& sink);
void render_tsv(const Page& page, const Style& style, Sink& sink);
/// The schema is described in docs/formats.md.
void render_json(const Page& page, const Style& style, Sink& sink);
/// The types of blocks there.
std::vector<std::string_view> types_in_json();
/// Throws InputError unless the trace is one matrix.
void render_npy(const Page& page, const Style& style, Sink& sink);
void render_npz(const Page& page, const Style& style, Sink& sink);
void render_safetensors(const Page& page, const Style& style, Sink& sink);

/// Writes the blocks of a page. A format says how it writes the six kinds at the top; what it says nothing
/// about is made of these.
class Writer {
 public:
  explicit Writer(const Style& style) : style_(style) {}
  virtual ~Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write(const std::vector<Block>& blocks);

  virtual void write(const Heading& heading) = 0;
  virtual void write(const Prose& prose) = 0;
  virtual void write(const FormulaBlock& block) = 0;
  virtual void write(const Table& table) = 0;
  virtual void write(const Listing& listing) = 0;
  virtual void write(const CodeBlock& block) = 0;

  virtual void write(const SideBySide& group);                // one after the other
  virtual void write(const ShadedWords& words);               // a table, and lines where they may be slanted
  virtual void write(const ProductBlock& product);            // its tables, one after the other
  virtual void write(const Records& records);                 // nothing
  virtual void write(const ParagraphsWithMargins& margined);  // paragraphs
  virtual void write(const Note& note);                       // paragraphs
  virtual void write(const CommandOutput& output);            // code, as it stands on a terminal
  virtual void write(const FoldedBlock& folded);              // its blocks
  virtual void write(const Derivation& derivation);           // its steps
  virtual void write(const DerivationStep& step);             // paragraphs: a formula, and the reason

  // Drawings are laid out in the format's own metrics.
  virtual void write(const HeatMap& map);
  virtual void write(const HeatMaps& maps);  // one after the other
  virtual void write(const Plot& plot);
  virtual void write(const Flow& flow);
  virtual void write(const Diagram& diagram);
  virtual void write(const Drawing& drawing);  // code, made of characters

 protected:
  /// The unit that drawings are laid out in: characters, unless a format says otherwise.
  virtual Metrics metrics() const;
  const Style& style() const { return style_; }

 private:
  const Style& style_;
};

}  // namespace attn
