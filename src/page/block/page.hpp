#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/graph/trace.hpp"
#include "core/term/explanation.hpp"

namespace attn {

class JsonWriter;

// What is said, before anyone decides how it looks: plain blocks whose numbers are still numbers.

/// A piece of a sentence.
struct Span {
  enum class Style { plain, strong, emphasis, code, formula };
  Style style = Style::plain;
  std::string text;
  std::string latex = {};  // of a formula, whose text is its plain form
};
using Text = std::vector<Span>;

Span strong(std::string text);
Span code(std::string text);
Span math(Formula formula);
/// Joins strings and spans to one text.
template <class... Pieces>
Text text(const Pieces&... pieces);

struct Heading {
  int level = 1;  // to 6
  Text text;
};
constexpr int deepest_heading = 6;

struct Prose {
  Text text;
};

/// A formula, and the shapes of what takes part in it and of what comes out.
struct FormulaBlock {
  Formula formula;
  std::vector<Shape> operands;
  Shape result;
};

/// How the cells of a table are shaded where there is color.
enum class Heat { none, weights /* 0 to 1 */, around_zero };

/// A row, a column or a cell of a table that a page points at.
struct TablePlace {
  std::optional<std::size_t> row = {}, column = {};
  bool is_marked = false;  // set off, without color too; else it is named in a sentence
};

/// A matrix with the labels of its rows and columns.
struct Table {
  std::string title;
  std::string array = {};  // the matrix of the page's trace that it shows, by name; empty: it has numbers of its own
  Formula symbol = {};     // its title as formulas write it; empty: as its array is called, or words
  Axis rows;
  Axis columns;
  std::shared_ptr<const Matrix> cells;
  std::shared_ptr<const Matrix> scores = {};  // where these are −∞, the cell is masked; null: none is
  Heat heat = Heat::none;
  bool row_sums = false;
  bool ranks = false;                 // a row says which columns count most: weights, logits
  bool columns_differ = false;        // each column is a quantity of its own, with its own decimals
  std::vector<TablePlace> told = {};  // their rows and columns stay where others are left out

  /// The place that is set off; none: there is nothing.
  TablePlace marked() const;
};

/// Tables that belong together, beside each other where there is room.
struct SideBySide {
  std::vector<Table> tables;
};

/// A matrix as a picture: a sign for each cell, the darker the larger.
struct HeatMap {
  Table table;
};

/// Small pictures of weights of equal shapes, beside each other where there is room. One legend is for all.
struct HeatMaps {
  std::vector<Table> tables;
};

/// The attention of one query, a row of weights for each head: the sentence once for each row, whose words
/// are shaded by their weights, or lines from the query to them.
struct ShadedWords {
  Table weights;
  std::size_t heads = 0;        // the first rows; another one tells something about them, such as an average
  Axis queries = {};            // the words that the query is one of
  std::size_t query_count = 0;  // how many they are
  std::size_t query = 0;
};

/// A matrix product as people draw it: one factor at the left, the other above, the result in the corner.
struct ProductBlock {
  Table left, right, result;
};

/// Points of one curve, or of one kind.
struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;  // as many
  bool is_line = true;    // a line joins its points, in their order
};

enum class Spacing { even, logarithmic };

/// Curves over one axis. Logarithmic axes hold positive numbers only.
struct Plot {
  std::string title;
  std::string x_name;
  std::vector<Series> series;
  Spacing x_spacing = Spacing::even;
  Spacing y_spacing = Spacing::even;
};

/// How a computation flows: boxes, each with those that lead to it.
struct Flow {
  struct Box {
    std::string title;
    std::string detail = {};
    std::vector<std::size_t> from = {};  // places of boxes before it
  };
  std::vector<Box> boxes;
};

/// Things at the places of a grid, and lines between them: a model, a network unrolled over its words, layers
/// above each other.
struct Diagram {
  /// Where a thing is: lanes are beside each other where there is room, and else below each other.
  struct Place {
    std::size_t lane = 0, row = 0, column = 0;
  };
  /// A box, or words without one.
  struct Thing {
    std::vector<std::string> lines;
    Place place;
    bool is_box = true;
  };
  struct Link {
    std::size_t from = 0, to = 0;         // places of things in the list
    std::string text = {};                // a weight, or nothing
    std::optional<double> strength = {};  // from 0 to 1, where it tells one
    bool is_background = false;           // left out where lines cannot cross without harm
  };
  /// Things with a frame around them, in rows that follow each other.
  struct Group {
    std::string title;
    std::vector<std::size_t> things;
  };
  std::string title;
  std::string description;         // one sentence, for those who do not see it
  std::vector<std::string> lanes;  // their titles
  std::vector<Thing> things;
  std::vector<Link> links;
  std::vector<Group> groups = {};
  std::shared_ptr<const Diagram> narrower = {};  // what is drawn where there is no room; null: itself
};

/// Rows of words: a list of examples, of formats.
struct Listing {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows = {};
  bool headed = false;      // whether text has a line with the names of the columns, too
  std::size_t shown = 100;  // the first columns are for readers; the others only for machine formats
};

/// What the page says, for programs: objects that have the same members. Formats for readers leave it out.
struct Records {
  /// Words, yes or no, a number, a list of either, or nothing: where it does not apply, or is not known.
  using Value = std::variant<std::string, bool, std::uint64_t, double, std::vector<std::string>,
                             std::vector<std::uint64_t>, std::monostate>;
  std::string name;  // "answers"
  std::vector<std::string> members;
  std::vector<std::vector<Value>> rows;
};

/// A listing without the columns that are only for machine formats.
Listing for_readers(Listing listing);

/// Paragraphs with margins: a list, a quotation, a list in a quotation.
struct ParagraphsWithMargins {
  struct Line {
    std::string first;  // what it begins with: "- "
    std::string rest;   // what every line begins with that it goes on in: "  "
    Text text;
  };
  std::vector<Line> lines;  // those that are empty are empty lines
};

/// Lines that are shown as they stand: a command and what it printed, a diff, a text that is Markdown
/// already.
struct CodeBlock {
  std::string language;  // "console", "diff", "markdown"
  std::string text;      // without a line end after the last line
};

/// A turn in a conversation about a lesson. What it is, is shown by a mark at its margin.
struct Note {
  enum class Kind { question, correct, wrong, hint, answer };
  Kind kind = Kind::question;
  std::vector<Text> lines;  // paragraphs
};

struct Page;

/// What a command has said, within another page: as wide and as colorful as that one, with what the command
/// itself asked for.
struct CommandOutput {
  std::shared_ptr<const Page> page;
  int precision = 4;        // most decimals
  bool full = false;        // leave nothing out
  bool unicode = true;      // or ASCII
  std::size_t width = 0;    // columns; 0: those of the page around it
  bool is_precise = false;  // the decimals were asked for
};

/// What a reader unfolds to see, where a format can fold: an answer below its question.
struct FoldedBlock {
  std::string title;
  std::shared_ptr<const Page> page;  // its blocks
};

/// How a cell came about, step by step. The steps are made while they are written, because thousands of them
/// would not fit into memory.
struct Derivation {
  std::function<void(const TakeDerivationStep& take)> each;
};

using AnyBlock = std::variant<Heading, Prose, FormulaBlock, Table, SideBySide, HeatMap, HeatMaps, ShadedWords,
                              ProductBlock, Plot, Flow, Diagram, Listing, Records, ParagraphsWithMargins, CodeBlock,
                              Note, CommandOutput, FoldedBlock, Derivation>;

/// One of them. What copies and destroys it is in page.cpp, so that no other file generates it.
struct Block : AnyBlock {
  using AnyBlock::AnyBlock;
  Block(const Block& other);
  Block(Block&& other) noexcept;
  Block& operator=(const Block& other);
  Block& operator=(Block&& other) noexcept;
  ~Block();
};

/// A page: its blocks, and behind them the matrices themselves, which the machine formats write.
struct Page {
  Trace trace = {};                              // the matrices that this page is about, in order
  std::function<void(JsonWriter&)> recipe = {};  // writes what was computed, to be read back; empty: nothing
  std::vector<Block> blocks = {};

  void say(Block block);
  void say(Text paragraph);
  void say(std::string paragraph);
  void head(int level, std::string title);
};

/// The level of the highest heading; that of the deepest where there is none.
int highest_heading(const std::vector<Block>& blocks);

/// The tables among the blocks, also those that stand beside each other.
std::vector<Table> tables_of(const std::vector<Block>& blocks);

/// The words of a text, without what sets some of them off.
std::string words_of(const Text& text);

// The rest is the definition of text().

/// Words or a span, where they stand.
struct TextPiece {
  std::string_view words;
  const Span* span;  // null: words
};
inline TextPiece text_piece(std::string_view words) { return {words, nullptr}; }
inline TextPiece text_piece(const Span& span) { return {{}, &span}; }
Text joined_text(std::initializer_list<TextPiece> pieces);

template <class... Pieces>
Text text(const Pieces&... pieces) {
  return joined_text({text_piece(pieces)...});
}

}  // namespace attn
