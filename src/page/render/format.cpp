#include "page/render/format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "page/render/derivation_steps.hpp"
#include "page/render/drawing.hpp"
#include "page/render/ranked_columns.hpp"

namespace attn {

namespace {

// --- format

constexpr std::array format_table = {
    Format{"text", "tables for a terminal or a text file", "txt", Audience::readers, render_text},
    Format{"markdown", "tables and LaTeX formulas", "md", Audience::readers, render_markdown},
    Format{"html", "a page for a browser: tables, formulas and drawings", "html", Audience::readers, render_html},
    Format{"latex", "tables, formulas and drawings for pdfLaTeX", "tex", Audience::readers, render_latex},
    Format{"svg", "a picture; of several drawings, each as a file", "svg", Audience::readers, render_svg, pictures_of},
    Format{"tikz", "the same for pdfLaTeX: to be read into a document, or with --standalone a document", "tikz",
           Audience::readers, render_tikz, pictures_of},
    Format{"csv", "the matrices, separated by commas, at full precision", "csv", Audience::programs, render_csv},
    Format{"tsv", "the matrices, separated by tabs, at full precision", "tsv", Audience::programs, render_tsv},
    Format{"json", "the problem, matrices, formulas and page at full precision", "json", Audience::programs,
           render_json},
    Format{"npy", "one matrix for NumPy", "npy", Audience::bytes, render_npy},
    Format{"npz", "all matrices for NumPy, by name", "npz", Audience::bytes, render_npz},
    Format{"safetensors", "all matrices by name, as models are stored", "safetensors", Audience::bytes,
           render_safetensors},
};

// --- writer

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

// --- format

std::span<const Format> formats() { return format_table; }

const Format& format_of_file(const std::string& path) {
  const std::size_t dot = path.find_last_of("./");
  std::string extension = dot == std::string::npos || path[dot] == '/' ? "" : path.substr(dot + 1);
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  std::vector<std::string> known;
  for (const Format& format : format_table) {
    if (format.extension == extension) return format;
    known.push_back("." + std::string(format.extension));
  }
  fail("{}: {}, or give --format", path, unknown("ending", extension, known));
}

std::string path_of_part(const std::string& path, std::size_t number) {
  const std::size_t dot = path.find_last_of("./");
  const std::size_t end = dot == std::string::npos || path[dot] == '/' ? path.size() : dot;
  return fmt::format("{}-{}{}", path.substr(0, end), number, path.substr(end));
}

std::string text_with_marks(const Text& text, const MarksOfSpans& marks,
                            const std::function<std::string(const Span&)>& written) {
  std::string result;
  for (const Span& span : text) {
    const auto& [before, after] = marks_of(span, marks);
    result += before;
    result += written(span);
    result += after;
  }
  return result;
}

// --- writer

void Writer::write(const std::vector<Block>& blocks) {
  const auto write_one = [this](const auto& one) { write(one); };
  for (const Block& block : blocks) {
    const Table* const table = std::get_if<Table>(&block);
    const SideBySide* const group = std::get_if<SideBySide>(&block);
    if (!style_.full && table && is_wide(*table)) {
      write(blocks_of_ranks(*table, style_.precision));
    } else if (!style_.full && group && std::ranges::any_of(group->tables, is_wide)) {
      for (const Table& one : group->tables) write(std::vector<Block>{one});
    } else {
      std::visit(write_one, block);
    }
  }
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

void Writer::write(const ParagraphsWithMargins& margined) {
  for (const ParagraphsWithMargins::Line& line : margined.lines) {
    Text words = line.text;
    words.insert(words.begin(), Span{.text = line.first});
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
  write(in_plain_text(within, [&](const Style& style, Sink& sink) { render_text(*output.page, style, sink); }));
}

void Writer::write(const FoldedBlock& folded) { write(folded.page->blocks); }

void Writer::write(const Derivation& derivation) {
  derivation.each([this](const DerivationStep& step) { write(step); });
}

void Writer::write(const DerivationStep& derived) {
  const DerivationStep step = with_short_sums(derived, style_.full);
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

void Writer::write(const HeatMap& map) { write(described(lay_out(map, style_, metrics()), map, style_)); }

void Writer::write(const HeatMaps& maps) {
  for (const Table& table : maps.tables) write(HeatMap{table});
}

void Writer::write(const Plot& plot) { write(described(lay_out(plot, style_, metrics()), plot, style_)); }

void Writer::write(const Flow& flow) { write(described(lay_out(flow, style_, metrics()), flow)); }

void Writer::write(const Diagram& diagram) { write(lay_out(diagram, style_, metrics())); }

void Writer::write(const Drawing& drawing) {
  write(in_plain_text(style_, [&](const Style& style, Sink& sink) { write_drawing(drawing, style, sink); }));
}

Metrics Writer::metrics() const { return characters_of(style_); }

Style style_within(const CommandOutput& output, Style around) {
  around.precision = output.precision;
  around.is_precise = output.is_precise;
  around.full = around.full || output.full;
  around.unicode = around.unicode && output.unicode;
  if (output.width > 0) around.width = output.width;
  return around;
}

}  // namespace attn
