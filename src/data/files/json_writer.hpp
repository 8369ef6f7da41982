#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "core/math/matrix.hpp"
#include "core/support/outside.hpp"
#include "data/files/cell_values.hpp"

namespace attn {

/// The version of the pages that we write as JSON. Later ones may have more members; where a meaning changes,
/// this does.
constexpr std::string_view schema = "attn/1";

/// Writes JSON as it goes, so that large matrices are never held as text. Numbers are the shortest that read
/// back the same; NaN and infinities are the strings "NaN", "Infinity" and "-Infinity".
class JsonWriter {
 public:
  explicit JsonWriter(Sink& sink) : sink_(sink) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);

  void string(std::string_view text);
  void number(double value);
  void integer(std::uint64_t value);
  void boolean(bool value);
  void null();
  void strings(const std::vector<std::string>& list);
  /// One row of cells per line. Those of a real kind are read as such: 0 is written 0.0.
  void matrix(const Matrix& matrix, CellKind kind = CellKind::whole);
  /// A value that was read, in the form in which we write it.
  void value(const nlohmann::ordered_json& value);

 private:
  void open(char bracket);
  void close(char bracket);
  void separate(std::string_view comma = ", ");
  void new_line();

  Sink& sink_;
  std::vector<bool> has_members_;
  bool after_key_ = false;
};

}  // namespace attn
