#pragma once

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "files/json.hpp"
#include "files/matrix_file.hpp"
#include "problem/problem.hpp"

namespace attn {

/// What one field of a problem holds.
enum class FieldKind {
  matrix,    // a matrix
  matrices,  // a matrix, or one for each sentence of a batch
  count,     // a whole number from 1 on
  seed,      // a whole number from 0 to 2^32 − 1
  counts,    // whole numbers from 0 on
  word,      // a name, or a number by name
  path,      // a file; an option only, so that a problem file cannot name other files
  words,     // a list of words, or one for each sentence of a batch
  texts,     // sentences
  flag,
};

/// A field of a problem: the same in a problem file (`w_q`) and as an option (`--wq`).
struct Field {
  std::string_view name;
  std::string_view option;
  std::string_view placeholder;
  std::string_view summary;
  FieldKind kind;
};

/// All fields. A new one is a row here and a line where the problem is built.
std::span<const Field> fields();

using FieldValue =
    std::variant<bool, std::size_t, std::vector<std::size_t>, std::string, std::vector<std::string>,
                 std::vector<std::vector<std::string>>, std::vector<MatrixFile>>;

/// A problem as it was asked for: fields by name, from an example, a file and options, the later ones first.
class Request {
 public:
  /// From the command line: the values of an option, one for each time it was given. Throws InputError.
  void set(const Field& field, const std::vector<std::string>& values);
  /// From a problem file. Throws InputError naming `where`.
  void set(const Field& field, const Json& value, const std::string& where);

  /// One matrix, for a field that holds matrices.
  void set(const Field& field, Matrix matrix);

  bool has(std::string_view name) const { return values_.contains(name); }
  bool empty() const { return values_.empty(); }
  /// Whether it says what is attended to, and not only how.
  bool has_source() const;
  /// Forgets these fields.
  void leave_out(std::initializer_list<std::string_view> names);
  /// Takes every field of `other`, in place of its own.
  void override_with(const Request& other);

  /// The value of a field that `has`.
  template <class T>
  const T& get(std::string_view name) const {
    return std::get<T>(values_.at(std::string(name)));
  }

  std::string title;
  std::string summary;
  std::vector<std::string> about;
  std::vector<std::string> drawn;  // the names of matrices that are given now, and once were drawn
  std::string drawn_from;

 private:
  std::map<std::string, FieldValue, std::less<>> values_;
};

/// The number that a text is, within the limits of its field. Throws InputError.
std::size_t whole_number(const Field& field, std::string_view text);

/// Reads a problem file: an object of fields, or what `--format json` wrote, which has one under "problem".
/// Throws InputError: not JSON, an unknown field, a value of the wrong kind.
Request read_request(std::string_view json, const std::string& where);

/// The problem that was asked for; what is not given is drawn or has its default.
/// Throws InputError when fields contradict each other or cannot be.
Problem build(const Request& request);

}  // namespace attn
