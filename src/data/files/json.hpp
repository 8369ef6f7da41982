#pragma once

#include <nlohmann/json_fwd.hpp>

#include "data/files/matrix_file.hpp"

namespace attn {

/// Files that read or make JSON values include <nlohmann/json.hpp>, which takes a second to compile.
using Json = nlohmann::ordered_json;

/// Parses JSON text. Throws InputError naming `where` and the line and column of the mistake, such as a member that is
/// given twice.
Json parse_json(std::string_view text, const std::string& where);

/// A value of a file, and where it stands there, as messages tell it: `model.json: "source"`.
struct JsonMember {
  const Json& value;
  std::string place;
};

// What a member holds. Throw InputError, which names the place: it is of another kind, or has a string twice.
std::string string_of(const JsonMember& member);
std::vector<std::string> strings_of(const JsonMember& member);
std::vector<std::string> different_strings_of(const JsonMember& member);

/// A text as a string in JSON, with its quotes; U+FFFD stands for what is not UTF-8.
std::string json_string(std::string_view text);

/// A JSON value as a matrix: rows of numbers, or one row; true and false; "NaN", "Infinity", "-Infinity".
/// Throws InputError: ragged, empty, three-dimensional, not numbers.
MatrixFile matrix_from_json(const Json& value, const std::string& where);

/// The same, or an array of matrices of one shape, or an array of such arrays, which then stand below each other.
MatrixFile matrices_from_json(const Json& value, const std::string& where);

}  // namespace attn
