#pragma once

#include "page/page.hpp"
#include "render/drawing.hpp"
#include "render/style.hpp"

namespace attn {

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

  virtual void write(const SideBySide& group);       // one after the other
  virtual void write(const ShadedWords& words);      // a table, and lines where they may be slanted
  virtual void write(const ProductBlock& product);   // its tables, one after the other
  virtual void write(const Records& records);        // nothing
  virtual void write(const Margined& margined);      // paragraphs
  virtual void write(const Note& note);              // paragraphs
  virtual void write(const CommandOutput& output);   // code, as it stands on a terminal
  virtual void write(const Folded& folded);          // its blocks
  virtual void write(const Derivation& derivation);  // its steps
  virtual void write(const Derived& step);           // paragraphs: a formula, and the reason

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
