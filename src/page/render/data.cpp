#include <algorithm>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "data/files/cells.hpp"
#include "data/files/json_writer.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/safetensors.hpp"
#include "page/render/format.hpp"
#include "page/render/steps.hpp"

namespace attn {

// --- json

namespace {

std::string_view kind_name(const Term& term) {
  switch (term.kind) {
    case Term::Kind::cell:
      return "cell";
    case Term::Kind::sum:
      return is_difference(term) ? "difference" : "sum";
    case Term::Kind::product:
      return is_quotient(term) ? "quotient" : "product";
    case Term::Kind::power:
      return is_square(term) ? "square" : "power";
    case Term::Kind::call:
      return "call";
    default:
      return "number";
  }
}

constexpr std::string_view name_of_block(Note::Kind kind) {
  switch (kind) {
    case Note::Kind::question:
      return "question";
    case Note::Kind::correct:
      return "correct";
    case Note::Kind::wrong:
      return "wrong";
    case Note::Kind::hint:
      return "hint";
    case Note::Kind::answer:
      return "answer";
  }
  return "";
}

// The blocks of a page as JSON objects, each with its type.
class BlockWriter final : public Writer {
 public:
  using Writer::write;
  BlockWriter(const Trace& trace, const Style& style, JsonWriter& json) : Writer(style), trace_(trace), json_(json) {}

  void write_all(std::string_view key, const std::vector<Block>& blocks) {
    json_.key(key);
    json_.begin_array();
    write(blocks);
    json_.end_array();
  }

  void write(const Heading& heading) override {
    begin("heading");
    json_.key("level");
    json_.integer(static_cast<std::uint64_t>(heading.level));
    member("text", words_of(heading.text));
    json_.end_object();
  }

  void write(const Prose& prose) override {
    begin("prose");
    member("text", words_of(prose.text));
    json_.end_object();
  }

  void write(const FormulaBlock& block) override {
    begin("formula");
    member("plain", block.formula.plain);
    member("latex", block.formula.latex);
    member("shapes", written_shapes(block));
    json_.end_object();
  }

  void write(const Table& table) override {
    begin("table");
    member("title", table.title);
    if (is_traced(table)) {
      member("array", table.array);
    } else {
      labels("rows", table.rows);
      labels("columns", table.columns);
      json_.key("values");
      json_.matrix(*table.cells);
    }
    json_.end_object();
  }

  void write(const SideBySide& group) override {
    begin("side_by_side");
    json_.key("tables");
    json_.begin_array();
    for (const Table& table : group.tables) write(table);
    json_.end_array();
    json_.end_object();
  }

  void write(const HeatMap& map) override {
    begin("heat_map");
    json_.key("table");
    write(map.table);
    json_.end_object();
  }

  void write(const HeatMaps& maps) override {
    begin("heat_maps");
    json_.key("tables");
    json_.begin_array();
    for (const Table& table : maps.tables) write(table);
    json_.end_array();
    json_.end_object();
  }

  void write(const ShadedWords& words) override {
    begin("shaded_words");
    if (words.query_count > 0) member("query", words.queries.label(words.query));
    json_.key("table");
    write(words.weights);
    json_.end_object();
  }

  void write(const ProductBlock& product) override {
    begin("product");
    for (const auto& [key, table] :
         {std::pair{"left", &product.left}, std::pair{"right", &product.right}, std::pair{"result", &product.result}}) {
      json_.key(key);
      write(*table);
    }
    json_.end_object();
  }

  void write(const Plot& plot) override {
    begin("plot");
    member("title", plot.title);
    member("x", plot.x_name);
    member("x_spacing", spacing_name(plot.x_spacing));
    member("y_spacing", spacing_name(plot.y_spacing));
    json_.key("series");
    json_.begin_array();
    for (const Series& series : plot.series) {
      json_.begin_object();
      member("name", series.name);
      numbers("x", series.x);
      numbers("y", series.y);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void write(const Flow& flow) override {
    begin("flow");
    json_.key("boxes");
    json_.begin_array();
    for (const Flow::Box& box : flow.boxes) {
      json_.begin_object();
      member("title", box.title);
      member("detail", box.detail);
      json_.key("from");
      json_.begin_array();
      for (const std::size_t place : box.from) json_.integer(place + 1);
      json_.end_array();
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void write(const Diagram& diagram) override {
    begin("diagram");
    member("title", diagram.title);
    member("description", diagram.description);
    json_.key("lanes");
    json_.strings(diagram.lanes);
    json_.key("things");
    json_.begin_array();
    for (const Diagram::Thing& thing : diagram.things) {
      json_.begin_object();
      json_.key("lines");
      json_.strings(thing.lines);
      place("lane", thing.place.lane);
      place("row", thing.place.row);
      place("column", thing.place.column);
      json_.end_object();
    }
    json_.end_array();
    json_.key("links");
    json_.begin_array();
    for (const Diagram::Link& link : diagram.links) {
      json_.begin_object();
      place("from", link.from);
      place("to", link.to);
      if (!link.text.empty()) member("text", link.text);
      if (link.strength) {
        json_.key("strength");
        json_.number(*link.strength);
      }
      json_.end_object();
    }
    json_.end_array();
    json_.key("groups");
    json_.begin_array();
    for (const Diagram::Group& group : diagram.groups) {
      json_.begin_object();
      member("title", group.title);
      json_.key("things");
      json_.begin_array();
      for (const std::size_t thing : group.things) json_.integer(thing + 1);
      json_.end_array();
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void write(const Listing& listing) override {
    begin("listing");
    json_.key("columns");
    json_.strings(listing.columns);
    json_.key("rows");
    json_.begin_array();
    for (const auto& row : listing.rows) json_.strings(row);
    json_.end_array();
    json_.end_object();
  }

  void write(const Records& records) override {
    begin("records");
    member("name", records.name);
    json_.key("rows");
    json_.begin_array();
    for (const auto& row : records.rows) {
      json_.begin_object();
      for (std::size_t i = 0; i < row.size(); ++i) {
        json_.key(records.members[i]);
        if (const bool* const is_so = std::get_if<bool>(&row[i])) {
          json_.boolean(*is_so);
        } else if (const std::uint64_t* const count = std::get_if<std::uint64_t>(&row[i])) {
          json_.integer(*count);
        } else {
          json_.string(std::get<std::string>(row[i]));
        }
      }
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void write(const Margined& margined) override {
    begin("margined");
    std::vector<std::string> lines;
    for (const Margined::Line& line : margined.lines) lines.push_back(line.first + words_of(line.text));
    json_.key("lines");
    json_.strings(lines);
    json_.end_object();
  }

  void write(const CodeBlock& block) override {
    begin("code");
    member("language", block.language);
    member("text", block.text);
    json_.end_object();
  }

  void write(const Note& note) override {
    begin("note");
    member("kind", name_of_block(note.kind));
    std::vector<std::string> lines;
    for (const Text& line : note.lines) lines.push_back(words_of(line));
    json_.key("lines");
    json_.strings(lines);
    json_.end_object();
  }

  void write(const Folded& folded) override {
    begin("folded");
    member("title", folded.title);
    write_all("blocks", folded.page->blocks);
    json_.end_object();
  }

  void write(const CommandOutput& output) override {
    begin("output");
    // Its matrices are not among those of the page around it: its tables hold their numbers.
    BlockWriter(Trace(), style(), json_).write_all("blocks", output.page->blocks);
    json_.end_object();
  }

  void write(const Derived& derived) override {
    begin("derivation");
    cell(*derived.matrix, derived.row, derived.column);
    json_.key("value");
    json_.number(derived.value);
    json_.key("depth");
    json_.integer(derived.depth);
    json_.key("expression");
    write(derived.term);
    if (!derived.reason.empty()) member("reason", derived.reason);
    json_.end_object();
  }

 private:
  void begin(std::string_view type) {
    json_.begin_object();
    member("type", type);
  }

  void member(std::string_view key, std::string_view value) {
    json_.key(key);
    json_.string(value);
  }

  // Counted from 1.
  void place(std::string_view key, std::size_t number) {
    json_.key(key);
    json_.integer(number + 1);
  }

  void labels(std::string_view key, const Axis& axis) {
    json_.key(key);
    json_.strings(axis.labels ? *axis.labels : std::vector<std::string>{});
  }

  void numbers(std::string_view key, const std::vector<double>& numbers) {
    json_.key(key);
    json_.begin_array();
    for (const double number : numbers) json_.number(number);
    json_.end_array();
  }

  static std::string_view spacing_name(Spacing spacing) { return spacing == Spacing::even ? "even" : "logarithmic"; }

  void cell(const Symbol& matrix, std::size_t row, std::size_t column) {
    member("array", matrix.name);
    json_.key("row");
    json_.integer(row + 1);
    json_.key("column");
    json_.integer(column + 1);
  }

  void write(const Term& term) {
    json_.begin_object();
    member("type", kind_name(term));
    if (term.matrix) cell(*term.matrix, term.row, term.column);
    const std::string notation = term.function ? std::string(term.function->name) : term.notation.plain;
    if (!notation.empty()) member("notation", notation);
    json_.key("value");
    json_.number(term.value);
    if (!term.parts.empty()) {
      json_.key("parts");
      json_.begin_array();
      // A square has one part; what is subtracted, or divides, stands without its sign.
      const std::size_t count = is_square(term) ? 1 : term.parts.size();
      const bool is_turned = is_difference(term) || is_quotient(term);
      for (std::size_t i = 0; i < count; ++i) write(is_turned && i == 1 ? term.parts[i].parts[0] : term.parts[i]);
      json_.end_array();
    }
    json_.end_object();
  }

  bool is_traced(const Table& table) const {
    const Traced* const matrix = table.array.empty() ? nullptr : trace_.find(table.array);
    return matrix && matrix->cells() == table.cells;
  }

  const Trace& trace_;
  JsonWriter& json_;
};

void write_node(const Traced& node, JsonWriter& json) {
  json.begin_object();
  json.key("name");
  json.string(node.name);
  json.key("operation");
  json.string(node.operation);
  json.key("operands");
  json.strings(node.operands);
  json.key("formula");
  json.string(node.formula.plain);
  json.key("latex");
  json.string(node.formula.latex);
  json.key("shape");
  json.begin_array();
  json.integer(node.frame.shape.rows);
  json.integer(node.frame.shape.columns);
  json.end_array();
  for (const auto& [key, axis] : {std::pair{"rows", &node.frame.rows}, std::pair{"columns", &node.frame.columns}}) {
    json.key(key);
    json.begin_object();
    json.key("axis");
    json.string(axis->name);
    if (axis->labels) {
      json.key("labels");
      json.strings(*axis->labels);
    }
    json.end_object();
  }
  json.key("multiply_adds");
  json.integer(node.cost.multiply_adds);
  json.key("element_operations");
  json.integer(node.cost.element_operations);
  json.end_object();
}

// A page that is one table and nothing else is a matrix file: nested lists and no more.
bool is_bare_matrix(const Page& page) {
  return page.trace.size() == 1 && page.blocks.size() == 1 && std::holds_alternative<Table>(page.blocks.front());
}

}  // namespace

void render_json(const Page& page, const Style& style, Sink& sink) {
  JsonWriter json(sink);
  if (is_bare_matrix(page)) {
    json.matrix(*page.trace.matrices().front().cells());
    sink.write("\n");
    return;
  }
  json.begin_object();
  json.key("schema");
  json.string(schema);
  if (page.recipe) {
    json.key("problem");
    page.recipe(json);
  }
  json.key("arrays");
  json.begin_object();
  for (const Traced& matrix : page.trace.matrices()) {
    json.key(matrix.name);
    json.matrix(*matrix.cells());
  }
  json.end_object();
  json.key("nodes");
  json.begin_array();
  for (const Traced& matrix : page.trace.matrices()) write_node(matrix, json);
  json.end_array();
  BlockWriter(page.trace, style, json).write_all("page", page.blocks);
  json.end_object();
}

// --- matrices

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

std::string in_words(bool is_so) { return is_so ? "yes" : "no"; }
std::string in_words(std::uint64_t count) { return std::to_string(count); }
std::string in_words(const std::string& words) { return words; }

Listing listing_of(const Records& records) {
  Listing listing{records.members, {}};
  for (const auto& row : records.rows) {
    std::vector<std::string>& words = listing.rows.emplace_back();
    for (const Records::Value& value : row) {
      words.push_back(std::visit([](const auto& told) { return in_words(told); }, value));
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
  if (first) fail("csv and tsv are formats for matrices and lists, and there are none here: choose another --format");
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
  if (page.trace.empty()) fail("{} is a format for matrices, and there are none here: choose another --format", format);
}

}  // namespace

void render_csv(const Page& page, const Style& style, Sink& sink) { write_page(page, style.labels, ',', sink); }

void render_tsv(const Page& page, const Style& style, Sink& sink) { write_page(page, style.labels, '\t', sink); }

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
