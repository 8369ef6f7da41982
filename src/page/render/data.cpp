#include <array>
#include <concepts>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

#include "data/files/fields.hpp"
#include "data/files/json_writer.hpp"
#include "page/render/derivation_steps.hpp"
#include "page/render/format.hpp"

namespace attn {

// Within a page, whose trace holds the matrices that tables show.

static void write_value(const Block& block, const Trace& trace, JsonWriter& json);
static void write_blocks(const std::vector<Block>& blocks, JsonWriter& json);

namespace {

std::string_view kind_of_term(const Term& term) {
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

std::string_view notation_of_term(const Term& term) {
  return term.function ? term.function->name : std::string_view(term.notation.plain);
}

// A square has one part; what is subtracted, or divides, stands without its sign.
std::vector<const Term*> parts_of_term(const Term& term) {
  std::vector<const Term*> parts;
  for (const Term& part : term.parts) parts.push_back(&part);
  if (is_square(term)) parts.pop_back();
  if (is_difference(term) || is_quotient(term)) parts.back() = &term.parts.back().parts.front();
  return parts;
}
constexpr std::array<std::string_view, 5> names_of_notes = {"question", "correct", "wrong", "hint", "answer"};
constexpr std::array<std::string_view, 2> names_of_spacings = {"even", "logarithmic"};

template <class T, class... Gets>
constexpr auto block(std::string_view type, Field<Gets>... fields) {
  return object<T>(Field{"type", type}, fields...);
}

template <class Owner>
constexpr auto words_in(Text Owner::*text) {
  return [=](const Owner& owner) { return words_of(owner.*text); };
}

std::vector<std::string> words_of_lines(const Note& note) {
  std::vector<std::string> lines;
  for (const Text& line : note.lines) lines.push_back(words_of(line));
  return lines;
}

std::vector<std::string> lines_with_margins(const ParagraphsWithMargins& margined) {
  std::vector<std::string> lines;
  for (const ParagraphsWithMargins::Line& line : margined.lines) lines.push_back(line.first + words_of(line.text));
  return lines;
}

using NamedValues = std::vector<std::pair<std::string_view, const Records::Value*>>;

std::vector<NamedValues> objects_of(const Records& records) {
  std::vector<NamedValues> objects;
  for (const auto& row : records.rows) {
    NamedValues& object = objects.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) object.emplace_back(records.members[i], &row[i]);
  }
  return objects;
}

bool is_traced(const Table& table, const Trace& trace) {
  const TracedMatrix* const matrix = table.array.empty() ? nullptr : trace.find(table.array);
  return matrix && matrix->cells() == table.cells;
}

// A table that the trace holds is told by its name, another one by its numbers.
const std::string* name_in_trace(const Table& table, const Trace& trace) {
  return is_traced(table, trace) ? &table.array : nullptr;
}

template <Axis Table::*axis>
const std::vector<std::string>* labels_of_own(const Table& table, const Trace& trace) {
  static const std::vector<std::string> none;
  if (is_traced(table, trace)) return nullptr;
  return (table.*axis).labels ? (table.*axis).labels.get() : &none;
}

const Matrix* cells_of_own(const Table& table, const Trace& trace) {
  return is_traced(table, trace) ? nullptr : table.cells.get();
}

std::optional<std::string> query_of(const ShadedWords& words) {
  return words.query_count > 0 ? std::optional(words.queries.label(words.query)) : std::nullopt;
}

// Its matrices are not among those of the page around it: its tables hold their numbers.
auto blocks_of_output(const CommandOutput& output) {
  return [&output](JsonWriter& json) { write_blocks(output.page->blocks, json); };
}

// A cell by its place from 1; nothing for what is no cell.
template <std::size_t Term::*place>
std::optional<std::size_t> place_in_matrix(const Term& term) {
  return term.matrix ? std::optional(term.*place + 1) : std::nullopt;
}

const std::string* name_of_matrix(const Term& term) { return term.matrix ? &term.matrix->name : nullptr; }

// Numbers are read when they are written: all at once would take much room.
auto arrays_of(const Page& page) {
  std::vector<std::pair<std::string_view, std::function<void(JsonWriter&)>>> arrays;
  for (const TracedMatrix& matrix : page.trace.matrices())
    arrays.emplace_back(matrix.name, [&matrix](JsonWriter& json) { json.matrix(*matrix.cells()); });
  return arrays;
}

// A page that is one table and nothing else is a matrix file: nested lists and no more.
bool is_bare_matrix(const Page& page) {
  return page.trace.size() == 1 && page.blocks.size() == 1 && std::holds_alternative<Table>(page.blocks.front());
}

}  // namespace

template <>
constexpr auto objects_in<Trace> = std::tuple(
    block<Heading>("heading", Field{"level", &Heading::level}, Field{"text", words_in(&Heading::text)}),
    block<Prose>("prose", Field{"text", words_in(&Prose::text)}),
    block<FormulaBlock>("formula", Field{"plain", through(&FormulaBlock::formula, &Formula::plain)},
                        Field{"latex", through(&FormulaBlock::formula, &Formula::latex)},
                        Field{"shapes", written_shapes}),
    block<Table>("table", Field{"title", &Table::title}, Field{"array", name_in_trace},
                 Field{"rows", labels_of_own<&Table::rows>}, Field{"columns", labels_of_own<&Table::columns>},
                 Field{"values", cells_of_own}),
    block<SideBySide>("side_by_side", Field{"tables", &SideBySide::tables}),
    block<HeatMap>("heat_map", Field{"table", &HeatMap::table}),
    block<HeatMaps>("heat_maps", Field{"tables", &HeatMaps::tables}),
    block<ShadedWords>("shaded_words", Field{"query", query_of}, Field{"table", &ShadedWords::weights}),
    block<ProductBlock>("product", Field{"left", &ProductBlock::left}, Field{"right", &ProductBlock::right},
                        Field{"result", &ProductBlock::result}),
    object<Series>(Field{"name", &Series::name}, Field{"x", &Series::x}, Field{"y", &Series::y}),
    block<Plot>("plot", Field{"title", &Plot::title}, Field{"x", &Plot::x_name},
                Field{"x_spacing", named(&Plot::x_spacing, names_of_spacings)},
                Field{"y_spacing", named(&Plot::y_spacing, names_of_spacings)}, Field{"series", &Plot::series}),
    object<Flow::Box>(Field{"title", &Flow::Box::title}, Field{"detail", &Flow::Box::detail},
                      Field{"from", from_1(&Flow::Box::from)}),
    block<Flow>("flow", Field{"boxes", &Flow::boxes}),
    object<Diagram::Thing>(Field{"lines", &Diagram::Thing::lines},
                           Field{"lane", from_1(through(&Diagram::Thing::place, &Diagram::Place::lane))},
                           Field{"row", from_1(through(&Diagram::Thing::place, &Diagram::Place::row))},
                           Field{"column", from_1(through(&Diagram::Thing::place, &Diagram::Place::column))}),
    object<Diagram::Link>(Field{"from", from_1(&Diagram::Link::from)}, Field{"to", from_1(&Diagram::Link::to)},
                          Field{"text", &Diagram::Link::text, WriteWhen::unless_empty},
                          Field{"strength", &Diagram::Link::strength}),
    object<Diagram::Group>(Field{"title", &Diagram::Group::title}, Field{"things", from_1(&Diagram::Group::things)}),
    block<Diagram>("diagram", Field{"title", &Diagram::title}, Field{"description", &Diagram::description},
                   Field{"lanes", &Diagram::lanes}, Field{"things", &Diagram::things}, Field{"links", &Diagram::links},
                   Field{"groups", &Diagram::groups}),
    block<Listing>("listing", Field{"columns", &Listing::columns}, Field{"rows", &Listing::rows}),
    block<Records>("records", Field{"name", &Records::name}, Field{"rows", objects_of}),
    block<ParagraphsWithMargins>("margined", Field{"lines", lines_with_margins}),
    block<CodeBlock>("code", Field{"language", &CodeBlock::language}, Field{"text", &CodeBlock::text}),
    block<Note>("note", Field{"kind", named(&Note::kind, names_of_notes)}, Field{"lines", words_of_lines}),
    block<FoldedBlock>("folded", Field{"title", &FoldedBlock::title},
                       Field{"blocks", through(&FoldedBlock::page, &Page::blocks)}),
    block<CommandOutput>("output", Field{"blocks", blocks_of_output}),
    object<Term>(Field{"type", kind_of_term}, Field{"array", name_of_matrix}, Field{"row", place_in_matrix<&Term::row>},
                 Field{"column", place_in_matrix<&Term::column>},
                 Field{"notation", notation_of_term, WriteWhen::unless_empty}, Field{"value", &Term::value},
                 Field{"parts", parts_of_term, WriteWhen::unless_empty}),
    block<DerivationStep>("derivation", Field{"array", through(&DerivationStep::matrix, &Symbol::name)},
                          Field{"row", from_1(&DerivationStep::row)}, Field{"column", from_1(&DerivationStep::column)},
                          Field{"value", &DerivationStep::value}, Field{"depth", &DerivationStep::depth},
                          Field{"expression", &DerivationStep::term},
                          Field{"reason", &DerivationStep::reason, WriteWhen::unless_empty}),
    object<Axis>(Field{"axis", &Axis::name}, Field{"labels", &Axis::labels}),
    object<TracedMatrix>(Field{"name", &TracedMatrix::name}, Field{"operation", &TracedMatrix::operation},
                         Field{"operands", &TracedMatrix::operands},
                         Field{"formula", through(&TracedMatrix::formula, &Formula::plain)},
                         Field{"latex", through(&TracedMatrix::formula, &Formula::latex)},
                         Field{"shape", through(&TracedMatrix::frame, &Frame::shape)},
                         Field{"rows", through(&TracedMatrix::frame, &Frame::rows)},
                         Field{"columns", through(&TracedMatrix::frame, &Frame::columns)},
                         Field{"multiply_adds", through(&TracedMatrix::cost, &Cost::multiply_adds)},
                         Field{"element_operations", through(&TracedMatrix::cost, &Cost::element_operations)}),
    object<Page>(Field{"schema", schema}, Field{"problem", &Page::recipe}, Field{"arrays", arrays_of},
                 Field{"nodes", through(&Page::trace, &Trace::matrices)}, Field{"page", &Page::blocks}));

// A derivation is as many objects as it has steps.
static void write_value(const Block& block, const Trace& trace, JsonWriter& json) {
  std::visit(
      [&]<class One>(const One& one) {
        if constexpr (std::same_as<One, Derivation>) {
          one.each([&](const DerivationStep& step) { write_value(step, trace, json); });
        } else {
          write_value(one, trace, json);
        }
      },
      block);
}

static void write_blocks(const std::vector<Block>& blocks, JsonWriter& json) { write_value(blocks, Trace(), json); }

void render_json(const Page& page, const Style&, Sink& sink) {
  JsonWriter json(sink);
  if (!is_bare_matrix(page)) return write_value(page, page.trace, json);
  json.matrix(*page.trace.matrices().front().cells());
  sink.write("\n");
}

std::vector<std::string_view> types_in_json() {
  std::vector<std::string_view> types;
  std::apply(
      [&](const auto&... rows) {
        const auto add = [&](const auto& first) {
          if constexpr (std::same_as<decltype(first.get), std::string_view>) {
            if (first.name == "type") types.push_back(first.get);
          }
        };
        (add(std::get<0>(rows.fields)), ...);
      },
      objects_in<Trace>);
  return types;
}

}  // namespace attn
