#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>
#include <variant>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/safetensors.hpp"
#include "page/render/format.hpp"

namespace attn {

namespace {

// A spreadsheet computes a cell that begins like a formula, also in quotes. An apostrophe before it makes it text, as
// OWASP advises (CSV Injection).
bool begins_like_formula(std::string_view text) {
  constexpr std::string_view signs = "=+-@\t\r";
  return text.size() > 1 && signs.find(text.front()) != std::string_view::npos && !has_value(parse_cell(text));
}

// Labels stand in quotes, so that a word that looks like a number is not read back as one.
std::string quoted(const std::string& text) {
  std::string result = begins_like_formula(text) ? "\"'" : "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

// A matrix whose rows or columns are words has a header, which begins with an empty cell, and a first column of labels:
// numbers for what are no words. So a reader sees by the first cell whether there are labels.
void write_matrix(const TracedMatrix& matrix, bool labels, char separator, Sink& sink) {
  const Axis &rows = matrix.frame.rows, &columns = matrix.frame.columns;
  const bool has_labels = labels && (rows.labels || columns.labels);
  const std::shared_ptr<const Matrix> cells = matrix.cells();
  const Shape shape = cells->shape();
  std::string& block = sink.block();
  if (has_labels) {
    block += quoted("");
    for (std::size_t j = 0; j < shape.columns; ++j) block += separator + quoted(columns.label(j));
    block += '\n';
  }
  const auto append = [&](std::size_t i, std::string& text) {
    if (has_labels) text += quoted(rows.label(i));
    for (std::size_t j = 0; j < shape.columns; ++j) {
      if (has_labels || j > 0) text += separator;
      append_exact(text, (*cells)(i, j));
    }
    text += '\n';
  };
  write_rows(shape, append, sink);
}

// A name as a comment line: one line, whatever the name.
std::string comment(const std::string& name) {
  std::string line = "# ";
  for (const char c : name) line += c == '\n' || c == '\r' ? ' ' : c;
  return line + "\n";
}

// One row of a table, each of whose cells is written by a function.
template <class Cells, class AsCell>
void write_line(const Cells& cells, char separator, Sink& sink, const AsCell& as_cell) {
  for (std::size_t j = 0; j < cells.size(); ++j)
    sink.write((j > 0 ? std::string(1, separator) : "") + as_cell(cells[j]));
  sink.write("\n");
}

void write_separated(const Listing& listing, char separator, Sink& sink) {
  write_line(listing.columns, separator, sink, quoted);
  for (const std::vector<std::string>& row : listing.rows) write_line(row, separator, sink, quoted);
}

// A cell of a table for programs: numbers without quotes, the parts of a list with a space between them, and nothing
// where there is nothing.
std::string as_cell(const std::string& words) { return quoted(words); }
std::string as_cell(bool is_so) { return quoted(is_so ? "yes" : "no"); }
std::string as_cell(std::uint64_t count) { return std::to_string(count); }
std::string as_cell(double number) {
  std::string text;
  append_exact(text, number);
  return text;
}
std::string as_cell(const std::vector<std::string>& words) { return quoted(fmt::format("{}", fmt::join(words, " "))); }
std::string as_cell(const std::vector<std::uint64_t>& counts) {
  return quoted(fmt::format("{}", fmt::join(counts, " ")));
}
std::string as_cell(std::monostate) { return ""; }

void write_records(const Records& records, char separator, Sink& sink) {
  write_line(records.members, separator, sink, quoted);
  for (const std::vector<Records::Value>& row : records.rows) {
    write_line(row, separator, sink, [](const Records::Value& value) {
      return std::visit([](const auto& told) { return as_cell(told); }, value);
    });
  }
}

const Records* first_records(const Page& page) {
  for (const Block& block : page.blocks) {
    if (const auto* records = std::get_if<Records>(&block)) return records;
  }
  return nullptr;
}

// What the page says for programs comes before its matrices, and these before lists for readers.
void write_page(const Page& page, bool labels, char separator, Sink& sink) {
  const auto* const records = first_records(page);
  if (records) return write_records(*records, separator, sink);
  const std::vector<TracedMatrix>& matrices = page.trace.matrices();
  for (const TracedMatrix& matrix : matrices) {
    if (matrices.size() > 1) sink.write(comment(matrix.name));
    write_matrix(matrix, labels, separator, sink);
    if (&matrix != &matrices.back()) sink.write("\n");
  }
  if (!matrices.empty()) return;
  bool first = true;
  for (const Block& block : page.blocks) {
    const auto* listing = std::get_if<Listing>(&block);
    if (!listing) continue;
    if (!first) sink.write("\n");
    first = false;
    write_separated(*listing, separator, sink);
  }
  if (first) fail("csv and tsv are formats for matrices and lists, and there are none here: choose another --format");
}

// All matrices at once: their sizes stand before them.
using Cells = std::vector<std::pair<std::string, std::shared_ptr<const Matrix>>>;

Cells cells_of_page(const Page& page) {
  Cells cells;
  for (const TracedMatrix& matrix : page.trace.matrices()) cells.emplace_back(matrix.name, matrix.cells());
  return cells;
}

// These formats hold matrices and nothing else.
void require_matrices(const Page& page, std::string_view format) {
  if (page.trace.empty()) fail("{} is a format for matrices, and there are none here: choose another --format", format);
}

}  // namespace

void render_csv(const Page& page, const Style& style, Sink& sink) {
  write_page(page, style.settings<SeparatedSettings>().labels, ',', sink);
}

void render_tsv(const Page& page, const Style& style, Sink& sink) {
  write_page(page, style.settings<SeparatedSettings>().labels, '\t', sink);
}

void render_npy(const Page& page, const Style&, Sink& sink) {
  require_matrices(page, "npy");
  if (page.trace.size() > 1) {
    fail("npy is a format for one matrix, and there are {} here: choose one with --only, such as --only {}, or use npz",
         page.trace.size(), page.trace.matrices().back().name);
  }
  write_npy(*page.trace.matrices().front().cells(), sink);
}

void render_npz(const Page& page, const Style&, Sink& sink) {
  require_matrices(page, "npz");
  const Cells cells = cells_of_page(page);
  std::vector<NamedMatrix> matrices;
  for (const auto& [name, matrix] : cells) matrices.push_back({name, matrix.get()});
  write_npz(matrices, sink);
}

void render_safetensors(const Page& page, const Style&, Sink& sink) {
  require_matrices(page, "safetensors");
  const Cells cells = cells_of_page(page);
  std::vector<WrittenTensor> tensors;
  for (const auto& [name, matrix] : cells) tensors.push_back({name, matrix.get(), 2});
  write_safetensors(tensors, sink);
}

}  // namespace attn
