#pragma once

#include <vector>

#include "page/block/page.hpp"
#include "school/check/findings.hpp"
#include "school/check/matching.hpp"

namespace attn {

/// What a comparison found, for programs; docs/formats.md says what each member is. `comparison` has a row for each
/// matrix, `findings` for each matrix that has to be explained, `not_compared` for each that could not be compared,
/// and `hidden` for each mistake that would give the same numbers, where all is right.
std::vector<Records> records_of(const MatchedMatrices& matched, const Findings& findings);

/// A row for each mistake that numbers do not show.
Records records_of_hidden(const std::vector<const Mistake*>& hidden);

/// What a finding is: "mistake", "convention", or nothing where none is known.
Records::Value kind_of(const Finding& finding);

/// The names of the mistakes, each of which explains a finding.
std::vector<std::string> names_of_mistakes(const Finding& finding);

}  // namespace attn
