#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/graph/name.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

/// What the value of an option is, on a command line and in a problem file.
enum class Kind {
  flag,
  count,           // a whole number from `least` to `most`
  counts,          // whole numbers from 0 on: "2,3"
  number,          // a number that keeps the rule
  word,            // a name: one of the choices, where there are some
  word_or_number,  // one of the choices, or a number
  text,
  texts,     // may be given several times
  words,     // a list of words, or one for each sentence of a batch
  path,      // a file; a problem file cannot name one
  matrix,    // a matrix, as a literal or in a file
  matrices,  // a matrix, or several: one for each sentence of a batch, or for each head
};

/// What a number must be, and what is said of one that is not: "not a positive finite number".
struct NumberRule {
  std::string_view broken;
  bool (*holds)(double);
};

/// A name that an option can be given, and what it means.
struct OptionChoice {
  std::string_view name;
  std::string_view summary;
};
using Choices = std::vector<OptionChoice> (*)();

/// The rows of a table as choices.
template <class Row>
std::vector<OptionChoice> choices_of(std::span<const Row> table) {
  std::vector<OptionChoice> choices;
  for (const Row& row : table) choices.push_back({row.name, row.summary});
  return choices;
}

/// What an option has an effect on; several are joined with |.
enum Effect : unsigned {
  on_embeddings = 1,  // the words and their vectors
  on_positions = 2,   // their positional encoding
  on_attention = 4,   // all that is computed from them
};

/// An option of the program: on the command line, in problem files, and in help. Like a role it is known by
/// its address; only its row knows its name.
struct Option {
  std::string_view name;    // "--wq"; empty: only problem files have it
  std::string_view member;  // "w_q" in a problem file; empty: only the command line has it
  Kind kind = Kind::flag;
  std::string_view placeholder = {};  // "MATRIX"
  std::string_view summary = {};      // one line of help, without the default
  std::string_view usual = {};        // the default; after ": " if it is a description

  Choices choices = nullptr;
  std::size_t least = 1, most = std::size_t{1} << 31;  // of a count
  const NumberRule* rule = nullptr;                    // of a number
  std::string_view advice = {};                        // what to give in place of a number that breaks it
  const Role* role = nullptr;                          // of a matrix
  unsigned effect = on_attention;
  bool is_input = false;           // says what is attended to, and not only how
  bool is_mask = false;            // of a matrix: floats are added, and all else permits
  bool permits_only = false;       // of such a mask: floats are refused
  bool names_matrices = false;     // its value chooses among the matrices of the page, or among their cells
  std::string_view opposite = {};  // of a flag: the member that is meant where a file says false
  char letter = '\0';              // 'o': -o means the same

  // The same row with one thing more, so that a table can say it in one line. The template is first: clang
  // evaluates no call of it that it has read before its body.
 private:
  template <class T>
  constexpr Option with(T Option::*part, T value) const {
    Option copy = *this;
    copy.*part = value;
    return copy;
  }

 public:
  constexpr Option on(unsigned what) const { return with(&Option::effect, what); }
  constexpr Option as_input() const { return with(&Option::is_input, true); }
  constexpr Option of_several() const { return with(&Option::kind, Kind::matrices); }
  constexpr Option as_mask() const { return with(&Option::is_mask, true); }
  constexpr Option as_key_mask() const { return as_mask().with(&Option::permits_only, true); }
  constexpr Option of_matrices() const { return with(&Option::names_matrices, true); }
  constexpr Option or_not(std::string_view other) const { return with(&Option::opposite, other); }
  constexpr Option from(Choices names) const { return with(&Option::choices, names); }
  constexpr Option up_to(std::size_t limit) const { return with(&Option::most, limit); }
  constexpr Option from_zero() const { return with(&Option::least, std::size_t{0}); }
  constexpr Option with_placeholder(std::string_view what) const { return with(&Option::placeholder, what); }
  constexpr Option or_else(std::string_view value) const { return with(&Option::usual, value); }
};

/// As the default of an option that has none where it is offered.
inline constexpr std::string_view no_default = "-";

/// An option as a command offers it: with words, a limit and choices of its own, where they differ.
struct OfferedOption {
  const Option* option;
  std::string_view summary;
  std::string_view usual;
  std::size_t most;  // of a count
  Choices choices;

  constexpr OfferedOption(const Option& row, std::string_view words = {}, std::string_view value = {},
                          std::size_t limit = 0, Choices names = nullptr)
      : option(&row),
        summary(words.empty() ? row.summary : words),
        usual(value.empty()         ? row.usual
              : value == no_default ? std::string_view()
                                    : value),
        most(limit == 0 ? row.most : limit),
        choices(names ? names : row.choices) {}
};

using OptionList = std::vector<const Option*>;

/// Two options that cannot both be given; the sentence is the usual one if it is empty. {} in it is the other option.
struct Exclusion {
  const Option* one;
  const Option* other;
  std::string_view sentence = {};
};

/// An option that needs one of some others.
struct Requirement {
  const Option* one;
  OptionList any_of;
  std::string_view sentence;
};

/// Options that are offered together, and what holds among them.
struct OptionGroup {
  std::vector<OfferedOption> options;
  std::vector<Exclusion> exclusions = {};
  std::vector<Requirement> needs = {};
};

/// Adds what another group offers, and what holds there.
void add_group(OptionGroup& all, const OptionGroup& more);

/// Text from a command line that is still to be read as what its option takes.
struct UnreadText {
  std::vector<std::string> texts;  // one for each time that the option was given
  std::size_t most = 0;            // the largest count
};

/// The value of an option, by its kind: a flag, a count, a number, counts, a text, texts, words or matrices.
using OptionValue =
    std::variant<UnreadText, bool, std::size_t, double, std::vector<std::size_t>, std::string, std::vector<std::string>,
                 std::vector<std::vector<std::string>>, std::vector<MatrixFile>>;

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
  void put_text(const OfferedOption& offered, std::vector<std::string> texts);
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
  /// The text of an option that is given; as long as these values.
  std::string_view name(const Option& option) const { return std::get<std::string>(find(option)->value); }
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

// An option in a file is called by its member there, and by its name only where it was typed.

/// Tells what was read as the matrix of an option, and of a mask also how its cells are taken. Throws InputError as
/// reading_of_mask() does.
void tell_of(const Option& option, std::string_view called, const MatrixFile& file);

/// Throws InputError where a number is not finite; −∞ may be allowed.
void require_finite(std::string_view called, const MatrixFile& file, bool minus_infinity_allowed);

/// The whole number that a text is, within the limits of a count. Throws InputError.
std::size_t count_from(const Option& option, std::string_view called, std::string_view text, std::size_t most);

/// The number that a text is. Throws InputError when it breaks the rule of the option.
double number_from(const Option& option, std::string_view called, const std::string& text);

/// Throws InputError when options that exclude each other are given.
void check_exclusions(const OptionValues& values, std::span<const Exclusion> exclusions);

/// Throws InputError when an option is given without what it needs.
void check_needs(const OptionValues& values, const OptionGroup& group);
/// The same for several groups. An option of which several of them tell has what it needs where one of them is content.
void check_needs(const OptionValues& values, std::span<const OptionGroup> groups);

}  // namespace attn
