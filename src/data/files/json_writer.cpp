#include "data/files/json_writer.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "core/support/number.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/json.hpp"

namespace attn {

namespace {

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "\"NaN\"";
  } else if (std::isinf(value)) {
    out += value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
  } else if (value == 0.0 && std::signbit(value)) {
    out += "-0.0";  // a bare -0 would be read back as an integer, which has no sign
  } else {
    append_exact(out, value);
  }
}

// In quotes. JSON allows the control characters of U+0080 to U+009F as they are, and terminals obey them.
std::string quoted(std::string_view text) {
  const std::string all = json_string(text);
  std::string result;
  for (std::string_view rest = all; !rest.empty(); rest.remove_prefix(1)) {
    const bool is_control = rest.size() > 1 && rest[0] == '\xC2' && static_cast<unsigned char>(rest[1]) < 0xA0;
    if (is_control) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned char>(rest[1]));
      rest.remove_prefix(1);
    } else {
      result += rest.front();
    }
  }
  return result;
}

// Rows of the same number of cells, some of which are numbers.
bool is_matrix(const Json& value) {
  const auto is_cell = [](const Json& cell) {
    return cell.is_number() || cell == "NaN" || cell == "Infinity" || cell == "-Infinity";
  };
  const auto is_row = [&](const Json& row) {
    return row.is_array() && !row.empty() && row.size() == value.front().size() && std::ranges::all_of(row, is_cell) &&
           std::ranges::any_of(row, [](const Json& cell) { return cell.is_number(); });
  };
  return value.is_array() && !value.empty() && std::ranges::all_of(value, is_row);
}

// Whether it was written as one of a real kind: no number in it is a whole one.
bool is_real(const Json& matrix) {
  return std::ranges::all_of(matrix, [](const Json& row) {
    return std::ranges::none_of(row, [](const Json& cell) { return cell.is_number_integer(); });
  });
}

}  // namespace

void JsonWriter::key(std::string_view name) {
  separate(",");
  new_line();
  sink_.write(quoted(name) + ": ");
  after_key_ = true;
}

void JsonWriter::string(std::string_view text) {
  separate();
  sink_.write(quoted(text));
}

void JsonWriter::number(double value) {
  separate();
  append_number(sink_.block(), value);
  sink_.spill();
}

void JsonWriter::integer(std::uint64_t value) {
  separate();
  sink_.write(fmt::format("{}", value));
}

void JsonWriter::boolean(bool value) {
  separate();
  sink_.write(value ? "true" : "false");
}

void JsonWriter::null() {
  separate();
  sink_.write("null");
}

void JsonWriter::strings(const std::vector<std::string>& list) {
  begin_array();
  for (const std::string& text : list) string(text);
  end_array();
}

void JsonWriter::matrix(const Matrix& matrix, CellKind kind) {
  separate();
  const std::string between = ",\n" + std::string(2 * has_members_.size() + 1, ' ');
  const auto append = [&](std::size_t i, std::string& text) {
    if (i > 0) text += between;
    text += '[';
    const std::span<const double> values = row(matrix, i);
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (j > 0) text += ',';
      const std::size_t begin = text.size();
      append_number(text, values[j]);
      const auto is_whole = [&] { return text.find_first_not_of("-0123456789", begin) == std::string::npos; };
      if (kind == CellKind::real && is_whole()) text += ".0";
    }
    text += ']';
  };
  sink_.block() += '[';
  write_rows(matrix.shape(), append, sink_);
  sink_.block() += ']';
}

void JsonWriter::value(const Json& value) {
  if (is_matrix(value)) {
    const MatrixFile read = matrix_from_json(value, "");
    matrix(read.matrix, is_real(value) ? CellKind::real : CellKind::whole);
  } else if (value.is_object()) {
    begin_object();
    for (const auto& [name, member] : value.items()) {
      key(name);
      this->value(member);
    }
    end_object();
  } else if (value.is_array()) {
    begin_array();
    for (const Json& element : value) this->value(element);
    end_array();
  } else if (value.is_string()) {
    string(value.get_ref<const std::string&>());
  } else if (value.is_boolean()) {
    boolean(value.get<bool>());
  } else if (value.is_number()) {
    number(value.get<double>());
  } else {
    null();
  }
}

void JsonWriter::open(char bracket) {
  separate();
  sink_.write(std::string(1, bracket));
  has_members_.push_back(false);
}

void JsonWriter::close(char bracket) {
  const bool had_members = has_members_.back();
  has_members_.pop_back();
  if (bracket == '}' && had_members) new_line();
  sink_.write(std::string(1, bracket));
  if (has_members_.empty()) sink_.write("\n");
}

void JsonWriter::separate(std::string_view comma) {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_members_.empty()) return;
  if (has_members_.back()) sink_.write(comma);
  has_members_.back() = true;
}

void JsonWriter::new_line() { sink_.write("\n" + std::string(2 * has_members_.size(), ' ')); }

}  // namespace attn
