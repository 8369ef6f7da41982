#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "files/matrix_file.hpp"
#include "problem/option.hpp"

namespace attn {

/// Text from a command line that is still to be read as what its option takes.
struct Unread {
  std::vector<std::string> texts;  // one for each time that the option was given
  std::size_t most = 0;            // the largest count
};

/// The value of an option, by its kind: a flag, a count, a number, counts, a text, texts, words or matrices.
using OptionValue =
    std::variant<Unread, bool, std::size_t, double, std::vector<std::size_t>, std::string,
                 std::vector<std::string>, std::vector<std::vector<std::string>>, std::vector<MatrixFile>>;

/// Which options were given, and their values: from an example, a problem file, a file of parameters and the
/// command line, the later ones first.
class OptionValues {
 public:
  struct Entry {
    const Option* option;
    OptionValue value;
    bool was_random = false;  // where it comes from, it was a random matrix
  };

  /// From a command line: as text, which `read` reads. Throws InputError when there are too many.
  void put_text(const Offered& offered, std::vector<std::string> texts);
  void put(const Option& option, OptionValue value);
  void put(const Option& option, MatrixFile file);

  /// Reads what is still text: numbers, files and standard input, in the order in which options were put.
  /// Throws InputError.
  void read();

  bool empty() const { return entries_.empty(); }
  bool has(const Option& option) const { return find(option) != nullptr; }
  bool has_any(std::span<const Option* const> options) const;
  /// Whether they say what is attended to, and not only how.
  bool has_input() const;

  /// Forgets these options.
  void leave_out(std::span<const Option* const> options);
  /// Takes all values of `other`; what belongs to those that they replace is forgotten.
  void override_with(const OptionValues& other);

  // The value of an option, as its kind has it; nothing, or nothing in it, if it is not given.
  std::optional<std::size_t> count(const Option& option) const { return optional<std::size_t>(option); }
  std::optional<double> number(const Option& option) const { return optional<double>(option); }
  std::optional<std::string> text(const Option& option) const { return optional<std::string>(option); }
  const std::vector<std::size_t>& counts(const Option& option) const;
  const std::vector<std::string>& texts(const Option& option) const;
  const std::vector<std::vector<std::string>>& words(const Option& option) const;
  const std::vector<MatrixFile>& matrices(const Option& option) const;
  /// Of an option that is given.
  const MatrixFile& matrix(const Option& option) const { return matrices(option).front(); }

  /// The value of an option that is given, as T.
  template <class T>
  T value(const Option& option) const {
    return std::get<T>(find(option)->value);
  }

  std::span<const Entry> entries() const { return entries_; }
  /// Notes that the matrix with this member was random; nothing if there is none.
  void mark_random(std::string_view member);

 private:
  const Entry* find(const Option& option) const;
  template <class T>
  std::optional<T> optional(const Option& option) const {
    const Entry* const entry = find(option);
    return entry ? std::optional<T>(std::get<T>(entry->value)) : std::nullopt;
  }
  template <class T>
  const T& get(const Option& option) const;

  std::vector<Entry> entries_;
};

/// The whole number that a text is, within the limits of a count. Throws InputError.
std::size_t count_from(const Option& option, std::string_view text, std::size_t most);

/// The number that a text is. Throws InputError when it breaks the rule of the option.
double number_from(const Option& option, const std::string& text);

/// Throws InputError when options that exclude each other are given.
void check_exclusions(const OptionValues& values, const OptionGroup& group);

/// Throws InputError when an option is given without what it needs.
void check_needs(const OptionValues& values, const OptionGroup& group);

}  // namespace attn
