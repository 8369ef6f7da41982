#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/math/matrix.hpp"

namespace attn {

/// What is assumed about. It is known by its address.
struct AssumptionSubject {
  std::string_view name;
};
namespace assumed {
inline constexpr AssumptionSubject header{"first row"}, row_labels{"first column"}, separator{"separator"},
    numbers{"numbers"}, order{"order"}, dimensions{"dimensions"}, mask{"mask"}, causal_mask{"causal mask"},
    names{"names"}, words{"words"}, model{"model"}, keys{"keys"}, comments{"comments"}, letters{"letters"};
}  // namespace assumed

/// What a reader took something for that does not say it itself. A sentence without its full stop.
struct Assumption {
  const AssumptionSubject* thing;
  std::string sentence;
  std::string other = {};    // what to do where another reading is meant
  bool is_doubtful = false;  // whether what was read may as well mean the other: then it is a warning
};

// What readers of several kinds of files assume: a whole number that is no double; elements of a type, by its name in
// the file; a vector; cells that are true or false.
Assumption rounded_to_double(std::string_view number);
Assumption elements_of_type(std::string_view type);
Assumption vector_as_row(std::size_t size);
Assumption truth_as_numbers();

/// A matrix, a table of words or a file of parameters that was read, and what was assumed.
struct InputReport {
  std::string name;   // of an option, or in the file
  std::string where;  // the file, as the reader typed it; empty: the command line itself
  std::string size;   // "2×3"
  std::vector<Assumption> assumed = {};
};

/// Doubtful assumptions as warnings say them.
std::vector<std::string> doubts_in(const std::vector<InputReport>& inputs);

/// While it lives, what readers tell is kept; where several live, the innermost keeps it. Where none lives, nobody
/// asks.
class InputReports {
 public:
  InputReports();
  ~InputReports();
  InputReports(const InputReports&) = delete;
  InputReports& operator=(const InputReports&) = delete;

  /// What was told once is kept once.
  static void tell(InputReport reading);
  const std::vector<InputReport>& all() const { return all_; }

 private:
  std::vector<InputReport> all_;
  InputReports* around_;
};

}  // namespace attn
