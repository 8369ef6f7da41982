// Small texts: cells, numbers, expressions, what a terminal shows.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "core/attention/watches.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "core/term/cell_text.hpp"
#include "core/term/quantity.hpp"
#include "data/files/cell_values.hpp"
#include "data/problem/model_words.hpp"
#include "data/problem/problem.hpp"
#include "data/problem/problem_file.hpp"
#include "fuzz.hpp"
#include "page/document/document_outputs.hpp"
#include "page/render/width.hpp"
#include "school/tutor/question.hpp"

namespace attn::fuzz {
namespace {

bool is_same_number(double one, double other) { return one == other || (std::isnan(one) && std::isnan(other)); }

// The C library reads the same numbers, if minus signs (U+2212) are those of a keyboard.
void cell(std::string_view text) {
  const WrittenCell cell = parse_cell(text);
  if (cell.kind != CellKind::whole && cell.kind != CellKind::real) return;
  std::string copy(text);
  constexpr std::string_view minus = "\u2212";
  for (std::size_t at = 0; (at = copy.find(minus, at)) != std::string::npos;) copy.replace(at, minus.size(), "-");
  char* end = nullptr;
  const double expected = std::strtod(copy.c_str(), &end);
  require(end == copy.c_str() + copy.size() && is_same_number(cell.value, expected),
          "a cell is the number that it is elsewhere");
  std::string written;
  append_exact(written, cell.value);
  const WrittenCell again = parse_cell(written);
  require(has_value(again) && is_same_number(again.value, cell.value), "a number that was written is read back");
}

// The first eight bytes are a number; the ninth says with how many decimals it is written.
void number(std::string_view bytes) {
  double value = 0;
  if (bytes.size() <= sizeof value) return;
  std::memcpy(&value, bytes.data(), sizeof value);
  const int decimals = static_cast<unsigned char>(bytes[sizeof value]) % 18;
  std::string exact;
  append_exact(exact, value);
  require(is_same_number(parse_number<double>(exact).value_or(0.5), value), "an exact number is read back");
  const std::string fixed = written_fixed(value, decimals);
  const auto is_near = [&](const std::string& text, double distance) {
    const std::optional<double> read = parse_number<double>(text);  // nothing: it was rounded up beyond all doubles
    return read ? std::fabs(*read - value) <= distance : std::fabs(value) > 0.9e308;
  };
  if (std::isfinite(value)) {
    const double size = std::fabs(value);
    require(is_near(fixed, 0.5000001 * std::pow(10.0, -decimals) + 1e-12 * size), "a rounded number is near");
    const double tie = (decimals < 11 ? 1e-12 : 3e-16) * size;  // and the rounding of what is read
    require(
        is_near(written_digits(value, decimals + 1), 5.000001 * std::pow(10.0, -decimals - 1) * size + tie + 1e-320),
        "a number of so many digits is near");
  }
  std::string scientific;
  append_scientific(scientific, value, decimals);
  require(!scientific.empty() && !written_difference(value).empty(), "a number is written");
}

const Graph& example_graph() {
  static const Graph& graph = [&]() -> const Graph& {
    auto* const made = new Graph;
    const Example& example = examples().front();
    add_computation(build_problem(read_problem_file(example.json, std::string(example.name))), *made);
    compute_watched(*made);
    return *made;
  }();
  return graph;
}

// An expression in the first line, and in the second one what a reader types as its value.
void quantity(std::string_view text) {
  const std::size_t line = std::min(text.find('\n'), text.size());
  const QuantityLookup found = look_up_quantity(text.substr(0, line), &example_graph());
  require(!written(found.quantity).empty() || std::holds_alternative<std::string>(found.quantity),
          "a quantity is written");
  // Whether something is so is an answer only among choices.
  if (std::holds_alternative<bool>(found.quantity)) return;
  SolvedQuestion solved;
  solved.question.kind = std::holds_alternative<double>(found.quantity)  ? AnswerKind::number
                         : std::holds_alternative<Shape>(found.quantity) ? AnswerKind::shape
                                                                         : AnswerKind::word;
  solved.answer = found.quantity;
  judge(solved, text.substr(std::min(line + 1, text.size())));
}

// No byte that a terminal could take for a command is left, and widths are kept.
void terminal_text(std::string_view text) {
  const std::string shown = printable(text);
  require(printable(shown) == shown, "text that can be printed stays");
  require(std::ranges::none_of(shown, [](char c) { return (c >= 0 && c < ' ') || c == 0x7F; }),
          "no control characters are left");
  visible_width(text);
  rows_of(text, 7);
  in_ascii(text);
  for (const std::size_t width : {std::size_t{1}, std::size_t{9}, std::size_t{40}}) {
    require(display_width(shortened(shown, width, "…")) <= std::max(width, display_width("…")),
            "a shortened text is not wider");
    std::size_t letters = 0;
    for (const std::string& line : wrap(shown, width))
      letters += line.size() - static_cast<std::size_t>(std::ranges::count(line, ' '));
    require(letters <= shown.size(), "wrapping adds nothing");
    require(abridged(shown, width + 10).size() <= std::max(shown.size(), width + 13), "an abridged text is short");
  }
}

void words(std::string_view text) {
  std::size_t letters = 0;
  for (const std::string& word : split_words(text)) {
    require(!word.empty(), "no word is empty");
    letters += word.size();
  }
  require(letters <= text.size(), "words come from their text");
}

// Whether two outputs are alike: the first line and the rest.
void likeness(std::string_view text) {
  const std::size_t line = std::min(text.find('\n'), text.size());
  const std::string_view one = text.substr(0, line), other = text.substr(std::min(line + 1, text.size()));
  require(is_same_output(one, one) && alike_at_full_precision(other, other), "a text is like itself");
  require(is_same_output(one, other) == is_same_output(other, one), "likeness goes both ways");
}

// The text of an operation's cell; what is read has a last case, which has no condition.
void cell_text(std::string_view text) {
  const CellText read = read_cell_text(text);
  require(!read.cases.empty() && !read.cases.back().condition, "a text ends with a case for all other cells");
}

constexpr std::array table = {
    Target{"cell", cell},           Target{"number", number},
    Target{"quantity", quantity},   Target{"terminal", terminal_text},
    Target{"words", words},         Target{"likeness", likeness},
    Target{"cell_text", cell_text},
};

}  // namespace

std::span<const Target> texts() { return table; }

}  // namespace attn::fuzz
