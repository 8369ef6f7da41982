#include "data/json_writer.hpp"
#include "data/problem_file.hpp"
#include "data/request.hpp"
#include "render/format.hpp"

namespace attn {
namespace {

std::string joined(const Text& text) {
  std::string result;
  for (const Span& span : text) result += span.text;
  return result;
}

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
    case Expression::Kind::call:
      return "call";
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
    member("text", joined(heading.text));
    json_.end_object();
  }

  void operator()(const Prose& prose) {
    begin("prose");
    member("text", joined(prose.text));
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
    for (const Margined::Line& line : margined.lines) lines.push_back(line.first + joined(line.text));
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
      if (node->kept == table.cells && node->name == table.title) return node;
    }
    return nullptr;
  }

  const Page& page_;
  JsonWriter& json_;
};

void write_node(const Node& node, JsonWriter& json) {
  json.begin_object();
  json.key("name");
  json.string(node.name);
  json.key("operation");
  json.string(node.operation ? node.operation->name() : "input");
  json.key("operands");
  json.begin_array();
  for (const Node* operand : node.operands) json.string(operand->title());
  json.end_array();
  const Formula formula = formula_of(node);
  json.key("formula");
  json.string(formula.plain);
  json.key("latex");
  json.string(formula.latex);
  json.key("shape");
  json.begin_array();
  json.integer(node.frame.shape.rows);
  json.integer(node.frame.shape.columns);
  json.end_array();
  for (const auto& [key, axis] :
       {std::pair{"rows", &node.frame.rows}, std::pair{"columns", &node.frame.columns}}) {
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
  std::vector<Shape> shapes;
  for (const Node* operand : node.operands) shapes.push_back(operand->frame.shape);
  const Cost cost = node.operation ? node.operation->cost(shapes) : Cost{};
  json.key("multiply_adds");
  json.integer(cost.multiply_adds);
  json.key("element_operations");
  json.integer(cost.element_operations);
  json.end_object();
}

// A page that is one table and nothing else is a matrix file: nested lists and no more.
bool is_bare_matrix(const Page& page) {
  return page.trace.size() == 1 && page.blocks.size() == 1 &&
         std::holds_alternative<Table>(page.blocks.front());
}

}  // namespace

void render_json(const Page& page, const Style&, Sink& sink) {
  JsonWriter json(sink);
  if (is_bare_matrix(page)) {
    json.matrix(page.trace.front()->matrix());
    sink.write("\n");
    return;
  }
  json.begin_object();
  json.key("schema");
  json.string(schema);
  if (page.problem) {
    json.key("problem");
    write_problem(*page.problem, json);
  }
  json.key("arrays");
  json.begin_object();
  for (const Node* node : page.trace) {
    json.key(node->name);
    json.matrix(node->matrix());
  }
  json.end_object();
  json.key("nodes");
  json.begin_array();
  for (const Node* node : page.trace) write_node(*node, json);
  json.end_array();
  json.key("page");
  json.begin_array();
  BlockWriter writer(page, json);
  for (const Block& block : page.blocks) std::visit(writer, block);
  json.end_array();
  json.end_object();
}

}  // namespace attn
