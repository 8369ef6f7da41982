#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "graph/trace.hpp"

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
Text text(Pieces&&... pieces);

struct Heading {
  int level = 1;
  Text text;
};

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

/// A matrix with the labels of its rows and columns.
struct Table {
  std::string title;
  std::string array =
      {};  // the matrix of the page's trace that it shows, by name; empty: it has numbers of its own
  Axis rows;
  Axis columns;
  std::shared_ptr<const Matrix> cells;
  std::shared_ptr<const Matrix> scores = {};  // where these are −∞, the cell is masked; null: none is
  Heat heat = Heat::none;
  bool row_sums = false;
  bool columns_differ = false;  // each column is a quantity of its own, with its own decimals
};

/// Tables that belong together, beside each other where there is room.
struct SideBySide {
  std::vector<Table> tables;
};

/// A matrix as a picture: a sign for each cell, the darker the larger.
struct HeatMap {
  Table table;
};

/// Points of one curve, or of one kind.
struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;  // as many
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

/// Rows of words: a list of examples, of formats.
struct Listing {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  bool headed = false;      // whether text has a line with the names of the columns, too
  std::size_t shown = 100;  // the first columns are for readers; the others only for machine formats
};

/// A listing without the columns that are only for machine formats.
Listing for_readers(Listing listing);

/// Paragraphs with margins: a list, a quotation, a list in a quotation.
struct Margined {
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
  int precision = 4;      // most decimals
  bool full = false;      // leave nothing out
  bool unicode = true;    // or ASCII
  std::size_t width = 0;  // columns; 0: those of the page around it
};

/// How a cell came about, step by step. The steps are made while they are written, because thousands of them
/// would not fit into memory.
struct Derivation {
  std::function<void(const TakeDerived& take)> each;
};

using Block = std::variant<Heading, Prose, FormulaBlock, Table, SideBySide, HeatMap, Plot, Flow, Listing,
                           Margined, CodeBlock, Note, CommandOutput, Derivation>;

/// A page: its blocks, and behind them the matrices themselves, which the machine formats write.
struct Page {
  Trace trace = {};                              // the matrices that this page is about, in order
  std::function<void(JsonWriter&)> recipe = {};  // writes what was computed, to be read back; empty: nothing
  std::vector<Block> blocks = {};

  void say(Block block) { blocks.push_back(std::move(block)); }
  void say(Text paragraph) { say(Prose{std::move(paragraph)}); }
  void say(std::string paragraph);
  void head(int level, std::string title);
};

/// The words of a text, without what sets some of them off.
std::string words_of(const Text& text);

// The rest is the definition of text().

inline Span as_span(Span span) {
  return span;
}
inline Span as_span(std::string text) {
  return {Span::Style::plain, std::move(text)};
}

template <class... Pieces>
Text text(Pieces&&... pieces) {
  return {as_span(std::forward<Pieces>(pieces))...};
}

}  // namespace attn
