#include "render/json_blocks.hpp"

namespace attn {
namespace {

constexpr std::string_view kind_name(Expression::Kind kind) {
  switch (kind) {
    case Expression::Kind::number:
      return "number";
    case Expression::Kind::cell:
      return "cell";
    case Expression::Kind::sum:
      return "sum";
    case Expression::Kind::difference:
      return "difference";
    case Expression::Kind::product:
      return "product";
    case Expression::Kind::quotient:
      return "quotient";
    case Expression::Kind::square:
      return "square";
    case Expression::Kind::call:
      return "call";
  }
  return "";
}

constexpr std::string_view name_of(Note::Kind kind) {
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
class BlockWriter {
 public:
  BlockWriter(const Page& page, JsonWriter& json) : page_(page), json_(json) {}

  void operator()(const Heading& heading) {
    begin("heading");
    json_.key("level");
    json_.integer(static_cast<std::uint64_t>(heading.level));
    member("text", words_of(heading.text));
    json_.end_object();
  }

  void operator()(const Prose& prose) {
    begin("prose");
    member("text", words_of(prose.text));
    json_.end_object();
  }

  void operator()(const FormulaBlock& block) {
    begin("formula");
    member("plain", block.formula.plain);
    member("latex", block.formula.latex);
    member("shapes", block.shapes);
    json_.end_object();
  }

  void operator()(const Table& table) {
    begin("table");
    member("title", table.title);
    if (const Node* node = node_of(table)) {
      member("array", node->name);
    } else {
      labels("rows", table.rows);
      labels("columns", table.columns);
      json_.key("values");
      json_.matrix(*table.cells);
    }
    json_.end_object();
  }

  void operator()(const SideBySide& group) {
    begin("side_by_side");
    json_.key("tables");
    json_.begin_array();
    for (const Table& table : group.tables) (*this)(table);
    json_.end_array();
    json_.end_object();
  }

  void operator()(const HeatMap& map) {
    begin("heat_map");
    json_.key("table");
    (*this)(map.table);
    json_.end_object();
  }

  void operator()(const Plot& plot) {
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

  void operator()(const Flow& flow) {
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

  void operator()(const Listing& listing) {
    begin("listing");
    json_.key("columns");
    json_.strings(listing.columns);
    json_.key("rows");
    json_.begin_array();
    for (const auto& row : listing.rows) json_.strings(row);
    json_.end_array();
    json_.end_object();
  }

  void operator()(const Margined& margined) {
    begin("margined");
    std::vector<std::string> lines;
    for (const Margined::Line& line : margined.lines) lines.push_back(line.first + words_of(line.text));
    json_.key("lines");
    json_.strings(lines);
    json_.end_object();
  }

  void operator()(const CodeBlock& block) {
    begin("code");
    member("language", block.language);
    member("text", block.text);
    json_.end_object();
  }

  void operator()(const Note& note) {
    begin("note");
    member("kind", name_of(note.kind));
    std::vector<std::string> lines;
    for (const Text& line : note.lines) lines.push_back(words_of(line));
    json_.key("lines");
    json_.strings(lines);
    json_.end_object();
  }

  void operator()(const CommandOutput& output) {
    begin("output");
    // Its matrices are not among those of the page around it: its tables hold their numbers.
    Page inner;
    inner.blocks = output.page->blocks;
    json_.key("blocks");
    write_blocks(inner, json_);
    json_.end_object();
  }

  void operator()(const Derivation& derivation) {
    const Explanation explanation = explain(derivation.subject);
    begin("derivation");
    cell(derivation.subject);
    json_.key("value");
    json_.number(derivation.subject.value());
    json_.key("depth");
    json_.integer(derivation.depth);
    json_.key("expression");
    expression(explanation.expression);
    if (!explanation.reason.empty()) member("reason", explanation.reason);
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

  static std::string_view spacing_name(Spacing spacing) {
    return spacing == Spacing::even ? "even" : "logarithmic";
  }

  void cell(const Cell& cell) {
    member("array", cell.node->title());
    json_.key("row");
    json_.integer(cell.row + 1);
    json_.key("column");
    json_.integer(cell.column + 1);
  }

  void expression(const Expression& expression) {
    json_.begin_object();
    member("type", kind_name(expression.kind));
    if (expression.kind == Expression::Kind::cell) cell(expression.cell);
    if (!expression.notation.plain.empty()) member("notation", expression.notation.plain);
    json_.key("value");
    json_.number(expression.value);
    if (!expression.parts.empty()) {
      json_.key("parts");
      json_.begin_array();
      for (const Expression& part : expression.parts) this->expression(part);
      json_.end_array();
    }
    json_.end_object();
  }

  const Node* node_of(const Table& table) const {
    for (const Node* node : page_.trace) {
      if (node->cells() == table.cells && node->name == table.array) return node;
    }
    return nullptr;
  }

  const Page& page_;
  JsonWriter& json_;
};

}  // namespace

void write_blocks(const Page& page, JsonWriter& json) {
  json.begin_array();
  BlockWriter writer(page, json);
  for (const Block& block : page.blocks) std::visit(writer, block);
  json.end_array();
}

}  // namespace attn
