#include "school/check/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "school/check/fingerprints.hpp"

namespace attn {
namespace {

std::vector<std::uint64_t> shape_in_record(Shape shape) { return {shape.rows, shape.columns}; }

std::vector<std::uint64_t> places_from_1(const std::vector<std::size_t>& places) {
  std::vector<std::uint64_t> result;
  for (const std::size_t place : places) result.push_back(place + 1);
  return result;
}

const Finding* finding_at(const Findings& findings, std::size_t place) {
  const auto found = std::ranges::find(findings.all, place, &Finding::place);
  return found == findings.all.end() ? nullptr : &*found;
}

std::vector<Records::Value> record_of(const ComparedMatrix& matrix, const Finding* finding) {
  const Difference& apart = matrix.difference;
  std::vector<Records::Value> row = {matrix.node->name,        matrix.name,    shape_in_record(matrix.theirs->shape()),
                                     matrix.rounding.told(),   apart.agrees(), std::uint64_t{apart.cells},
                                     places_from_1(apart.rows)};
  if (apart.cells > 0) {
    for (const std::size_t place : {apart.row, apart.column}) row.emplace_back(std::uint64_t{place + 1});
    row.emplace_back(matrix.node->matrix()(apart.row, apart.column));
    row.emplace_back((*matrix.theirs)(apart.row, apart.column));
    row.emplace_back(apart.largest);
  } else {
    row.resize(row.size() + 5, std::monostate());
  }
  row.emplace_back(finding ? names_of_mistakes(*finding) : std::vector<std::string>());
  return row;
}

Records comparison_records(const MatchedMatrices& matched, const Findings& findings) {
  Records records{"comparison",
                  {"matrix", "in_file", "shape", "compared", "agrees", "cells", "rows", "row", "column", "expected",
                   "found", "difference", "mistakes"},
                  {}};
  for (std::size_t i = 0; i < matched.compared.size(); ++i)
    records.rows.push_back(record_of(matched.compared[i], finding_at(findings, i)));
  return records;
}

Records finding_records(const MatchedMatrices& matched, const Findings& findings) {
  Records records{"findings",
                  {"matrix", "in_file", "kind", "mistakes", "amounts", "convention", "guess", "alone", "explains",
                   "unused", "factor", "step", "seen"},
                  {}};
  for (std::size_t i = 0; i < findings.all.size(); ++i) {
    const Finding& finding = findings.all[i];
    const ComparedMatrix& matrix = matched.compared[finding.place];
    std::vector<std::string> unused, seen;
    for (const std::size_t place : finding.unused) unused.push_back(matched.compared[place].node->name);
    Records::Value factor = std::monostate();
    if (finding.expected) {
      const FingerprintSubject both{*matrix.node, *matrix.theirs, *finding.expected, matrix.rounding,
                                    finding.difference};
      seen = fingerprints(both).sentences;
      if (const std::optional<double> found = factor_of(both)) factor = *found;
    }
    Records::Value step = std::monostate();
    if (i == 0 && matched.first_step > 0) step = std::uint64_t{matched.first_step};
    Records::Value convention = std::monostate();
    if (finding.convention) convention = std::string(finding.convention->name);
    records.rows.push_back({matrix.node->name, matrix.name, kind_of(finding), names_of_mistakes(finding),
                            finding.amounts, convention, finding.contradicts.has_value(), finding.is_alone,
                            std::uint64_t{finding.explains}, unused, factor, step, seen});
  }
  return records;
}

Records verdict_record(const MatchedMatrices& matched, const Findings& findings) {
  const auto verdict = [&]() -> std::string {
    if (findings.all.empty()) return findings.precision ? "rounded" : "agrees";
    if (findings.may_be_conventions()) return "convention";
    const Finding& first = findings.all.front();
    if (first.contradicts) return "guess";
    if (first.is_explained()) return "mistake";
    return first.is_identified ? "seen" : "unknown";
  };
  Records records{"verdict", {"verdict", "precision", "supposed"}, {}};
  Records::Value precision = std::monostate();
  const std::string told = !findings.all.empty() ? findings.all.front().precision
                           : findings.precision  ? findings.precision->told
                                                 : std::string();
  if (!told.empty()) precision = told;
  records.rows.push_back({verdict(), precision, matched.supposed});
  return records;
}

Records records_of_others(const MatchedMatrices& matched) {
  Records records{"not_compared", {"in_file", "reason", "may_be_parameter"}, {}};
  for (const IncomparableMatrix& other : matched.others) {
    const bool is_unread = std::ranges::find(matched.unread, other.name) != matched.unread.end();
    records.rows.push_back({other.name, other.why, is_unread});
  }
  return records;
}

}  // namespace

Records::Value kind_of(const Finding& finding) {
  if (finding.may_be_convention()) return "convention";
  if (!finding.is_explained()) return std::monostate();
  return "mistake";
}

std::vector<std::string> names_of_mistakes(const Finding& finding) {
  std::vector<std::string> names;
  for (const Mistake* mistake : finding.mistakes) names.emplace_back(mistake->name);
  for (const MistakePair& pair : finding.pairs)
    names.push_back(fmt::format("{} + {}", pair.first.mistake->name, pair.second.mistake->name));
  return names;
}

Records records_of_hidden(const std::vector<const Mistake*>& hidden) {
  Records records{"hidden", {"mistake", "summary"}, {}};
  for (const Mistake* mistake : hidden)
    records.rows.push_back({std::string(mistake->name), std::string(mistake->summary)});
  return records;
}

std::vector<Records> records_of(const MatchedMatrices& matched, const Findings& findings) {
  return {comparison_records(matched, findings), verdict_record(matched, findings), finding_records(matched, findings),
          records_of_others(matched), records_of_hidden(findings.hidden)};
}

}  // namespace attn
