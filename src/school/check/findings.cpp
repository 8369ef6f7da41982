#include "school/check/findings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "school/check/finding_search.hpp"
#include "school/check/step_precision.hpp"
#include "school/mistake/mistake_search.hpp"

namespace attn {

namespace {

bool agree_in_all(std::span<const ComparedMatrix> compared) {
  return std::ranges::all_of(compared, [](const ComparedMatrix& one) { return one.difference.agrees(); });
}

// Whether so many cells are as they should be to the last decimal that no step was rounded before.
bool are_exact(std::span<const ComparedMatrix> compared, std::span<const ComparedMatrix> with_room) {
  constexpr double enough = 3.5;  // powers of ten to one
  double digits = 0.0;
  for (std::size_t i = 0; i < compared.size(); ++i) {
    if (!compared[i].node->op) continue;
    for (const double x : cells(*compared[i].theirs)) {
      const double room = with_room[i].rounding.most_apart(x, x, 0.0), own = compared[i].rounding.most_apart(x, x, 0.0);
      if (own > 0.0 && room > own) digits += std::log10(room / own);
    }
  }
  return digits >= enough;
}

bool is_by_hand(std::span<const ComparedMatrix> compared) {
  constexpr int most = 4;
  return std::ranges::all_of(compared, [](const ComparedMatrix& one) {
    const std::optional<int> decimals = one.rounding.decimals();
    return one.difference.agrees() || (decimals && *decimals <= most) || has_whole_numbers(one);
  });
}

// Which mistakes give so few digits as well.
Findings right_or_given_by(StepPrecision precision, const Findings& exact) {
  Findings findings = right_with(std::move(precision));
  if (!exact.is_one_mistake()) return findings;
  for (const Mistake* one : exact.all.front().mistakes) {
    if (one->kind == Mistake::Kind::error) findings.also_given_by.push_back(one);
  }
  return findings;
}

// Each matrix from the numbers before it in the file, one of them by a mistake.
std::optional<Findings> mistake_of_somebody_who_rounds(std::span<const ComparedMatrix> compared, const Graph& graph,
                                                       const std::vector<PlacedMistake>& possible,
                                                       const Findings& exact) {
  if (exact.all.empty()) return std::nullopt;
  Finding finding = exact.all.front();
  const std::vector<const Mistake*> likely = std::exchange(finding.mistakes, {});
  finding.made.clear();
  for (const PlacedMistake& one : possible) {
    const bool is_new = finding.mistakes.empty() || finding.mistakes.back() != one.mistake;
    const bool is_likely = std::ranges::find(likely, one.mistake) != likely.end();
    if (is_new && one.mistake->kind == Mistake::Kind::error && !one.mistake->about_no_number &&
        (likely.empty() || is_likely) &&
        (gives_from_rounded_numbers(graph, compared, one.change()) ||
         (is_likely && gives_from_rounded_exponentials(graph, compared, one.change())))) {
      finding.mistakes.push_back(one.mistake);
      finding.made.push_back(one.change());
    }
  }
  if (finding.mistakes.empty()) return std::nullopt;
  // The first that it changes: others before it differ by rounding.
  for (std::size_t i = 0; i < compared.size(); ++i) {
    RecomputedMatrices remade(graph, compared, {finding.made.front()});
    if (compared[i].difference.agrees() || !where_possible([&] { return remade.changes(i); })) continue;
    finding.place = i;
    finding.difference = compared[i].difference;
    finding.expected = compared[i].node->cells();
    break;
  }
  finding.amounts.clear();
  finding.pairs.clear();
  finding.convention = nullptr;
  finding.contradicts.reset();
  finding.unused.clear();
  finding.explains = static_cast<std::size_t>(
      std::ranges::count_if(compared, [](const ComparedMatrix& one) { return !one.difference.agrees(); }));
  finding.same_numbers.clear();
  finding.precision = "some steps rounded as well";
  return Findings{.all = {std::move(finding)}, .hidden = {}};
}

}  // namespace

bool Finding::may_be_convention() const {
  return has_other_mask_value || (!mistakes.empty() && std::ranges::all_of(mistakes, [](const Mistake* one) {
           return one->kind == Mistake::Kind::convention;
         }));
}

bool Findings::may_be_conventions() const {
  return said_otherwise.empty() && std::ranges::all_of(all, &Finding::may_be_convention);
}

bool is_explained(const Graph& graph, std::span<const ComparedMatrix> matrices) {
  return std::ranges::any_of(placed_mistakes(graph), [&](const PlacedMistake& possible) {
    return where_possible([&] {
      RecomputedMatrices remade(graph, matrices, {possible.change()});
      for (std::size_t i = 0; i < matrices.size(); ++i) {
        if (!remade.explains(i)) return false;
      }
      return true;
    });
  });
}

bool Findings::is_one_mistake() const {
  if (!all.empty() && may_be_conventions()) return true;
  return all.size() == 1 && !all.front().mistakes.empty() && all.front().amounts.empty() && !all.front().contradicts &&
         !has_more;
}

std::size_t Findings::unexplained() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      all, [](const Finding& finding) { return !finding.is_explained() && !finding.is_identified; }));
}

bool is_one_mistake(const Graph& graph, std::span<const ComparedMatrix> compared) {
  const std::vector<PlacedMistake> possible = placed_mistakes(graph);
  return search_single_mistakes(graph, compared, possible).is_one_mistake();
}

Findings right_with(StepPrecision precision) { return {.all = {}, .hidden = {}, .precision = std::move(precision)}; }

Findings find_mistakes(const Graph& graph, std::span<const ComparedMatrix> compared) {
  std::optional<StepPrecision> precision = step_precision(graph, compared);
  return precision ? right_with(std::move(*precision)) : explain_difference(graph, compared);
}

Findings explain_difference(const Graph& graph, std::span<const ComparedMatrix> compared, std::uint64_t work) {
  const std::vector<PlacedMistake> possible = placed_mistakes(graph);
  Findings exact = search_findings(graph, compared, possible, work);
  if (agree_in_all(compared)) return exact;
  const std::vector<ComparedMatrix> with_room = with_room_for_rounded_steps(graph, compared);
  const bool is_known = exact.is_one_mistake();
  if (is_known && (with_room.empty() ? !is_by_hand(compared) : are_exact(compared, with_room))) return exact;
  if (std::optional<StepPrecision> some = some_step_precision(graph, compared))
    return right_or_given_by(std::move(*some), exact);
  if (std::optional<StepPrecision> coarse = coarse_step_precision(graph, compared))
    return right_or_given_by(std::move(*coarse), exact);
  if (is_known) return exact;
  if (const auto stepwise = mistake_of_somebody_who_rounds(compared, graph, possible, exact)) return *stepwise;
  if (with_room.empty()) return exact;
  Findings rounded = search_single_mistakes(graph, with_room, possible);
  const bool is_one_cell = rounded.all.size() == 1 && rounded.all.front().difference.cells == 1;
  if (!rounded.is_one_mistake() && !is_one_cell) return exact;
  Finding& first = rounded.all.front();
  first.precision = "some steps rounded as well";
  first.is_beyond_rounding = is_one_cell && compared[first.place].difference.cells > 1;
  first.difference = compared[first.place].difference;
  return rounded;
}

bool is_hidden(const Graph& graph, std::span<const ComparedMatrix> compared, const Mistake& mistake) {
  NodesWhere places(graph, mistake.where);
  return places.first() && gives_the_same(graph, compared, PlacedMistake{&mistake, std::move(places)});
}

}  // namespace attn
