#include <algorithm>

#include "files/matrix_file.hpp"
#include "files/safetensors.hpp"
#include "files/text_rows.hpp"
#include "render/format.hpp"
#include "support/error.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

// Labels stand in quotes, so that a word that looks like a number is not read back as one.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

void write_matrix(const Traced& matrix, bool labels, char separator, Sink& sink) {
  const Axis nothing;
  const Axis &rows = labels ? matrix.frame.rows : nothing, &columns = labels ? matrix.frame.columns : nothing;
  const std::shared_ptr<const Matrix> cells = matrix.cells();
  const Shape shape = cells->shape();
  std::string& block = sink.block();
  if (columns.labels) {
    if (rows.labels) block += quoted("");
    for (std::size_t j = 0; j < shape.columns; ++j) {
      if (rows.labels || j > 0) block += separator;
      block += quoted(columns.label(j));
    }
    block += '\n';
  }
  const auto append = [&](std::size_t i, std::string& text) {
    if (rows.labels) text += quoted(rows.label(i));
    for (std::size_t j = 0; j < shape.columns; ++j) {
      if (rows.labels || j > 0) text += separator;
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

void write_listing(const Listing& listing, char separator, Sink& sink) {
  const auto write_row = [&](const std::vector<std::string>& row) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      sink.write((j > 0 ? std::string(1, separator) : "") + quoted(row[j]));
    }
    sink.write("\n");
  };
  write_row(listing.columns);
  for (const auto& row : listing.rows) write_row(row);
}

// What is so or not, in words.
Listing listing_of(const Records& records) {
  Listing listing{records.members, {}};
  for (const auto& row : records.rows) {
    std::vector<std::string>& words = listing.rows.emplace_back();
    for (const Records::Value& value : row) {
      const bool* const is_so = std::get_if<bool>(&value);
      words.push_back(is_so ? (*is_so ? "yes" : "no") : std::get<std::string>(value));
    }
  }
  return listing;
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
  if (records) return write_listing(listing_of(*records), separator, sink);
  const std::vector<Traced>& matrices = page.trace.matrices();
  for (const Traced& matrix : matrices) {
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
    write_listing(*listing, separator, sink);
  }
  if (first)
    fail("csv and tsv are formats for matrices and lists, and there are none here: choose another --format");
}

// All matrices at once: their sizes stand before them.
using Cells = std::vector<std::pair<std::string, std::shared_ptr<const Matrix>>>;

Cells cells_of(const Page& page) {
  Cells cells;
  for (const Traced& matrix : page.trace.matrices()) cells.emplace_back(matrix.name, matrix.cells());
  return cells;
}

// These formats hold matrices and nothing else.
void require_matrices(const Page& page, std::string_view format) {
  if (page.trace.empty())
    fail("{} is a format for matrices, and there are none here: choose another --format", format);
}

}  // namespace

void render_csv(const Page& page, const Style& style, Sink& sink) {
  write_page(page, style.labels, ',', sink);
}

void render_tsv(const Page& page, const Style& style, Sink& sink) {
  write_page(page, style.labels, '\t', sink);
}

void render_npy(const Page& page, const Style&, Sink& sink) {
  require_matrices(page, "npy");
  if (page.trace.size() > 1) {
    fail(
        "npy is a format for one matrix, and there are {} here: choose one with --only, such as --only {}, "
        "or use npz",
        page.trace.size(), page.trace.matrices().back().name);
  }
  write_npy(*page.trace.matrices().front().cells(), sink);
}

void render_npz(const Page& page, const Style&, Sink& sink) {
  require_matrices(page, "npz");
  const Cells cells = cells_of(page);
  std::vector<NamedMatrix> matrices;
  for (const auto& [name, matrix] : cells) matrices.push_back({name, matrix.get()});
  write_npz(matrices, sink);
}

void render_safetensors(const Page& page, const Style&, Sink& sink) {
  require_matrices(page, "safetensors");
  const Cells cells = cells_of(page);
  std::vector<WrittenTensor> tensors;
  for (const auto& [name, matrix] : cells) tensors.push_back({name, matrix.get(), 2});
  write_safetensors(tensors, sink);
}

}  // namespace attn
