#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "page/block/page.hpp"
#include "school/check/findings.hpp"
#include "school/check/matching.hpp"

namespace attn {

/// A command line whose computation tells some mistakes apart, and which of them: a number for each, as
/// mistake_groups() (school/check/findings.hpp).
struct TellingInput {
  std::string line;
  std::string check;  // the command line that checks a result
  std::vector<std::size_t> numbers;
};

/// Finds one; nothing where none is known. Null among the mistakes stands for none.
using FindTellingInput = std::function<std::optional<TellingInput>(const std::vector<const Mistake*>& mistakes)>;

/// Adds how somebody's matrices compare with a computation: a line for each, the first that differs, what can
/// be seen of it, and which mistakes give these numbers. `file` is what they are read from.
void add_comparison(Page& page, const std::string& file, const MatchedMatrices& matched, const Findings& findings,
                    const FindTellingInput& find);

}  // namespace attn
