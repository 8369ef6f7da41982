#include "school/mistake/findings.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "core/attention/watches.hpp"
#include "core/support/error.hpp"
#include "school/mistake/fingerprints.hpp"
#include "school/mistake/numbers.hpp"
#include "school/mistake/pairs.hpp"
#include "school/mistake/remade.hpp"

namespace attn {

// --- findings

bool Finding::may_be_convention() const {
  return has_other_mask_value ||
         std::ranges::any_of(mistakes, [](const Mistake* one) { return one->kind == Mistake::Kind::convention; });
}

bool Findings::may_be_conventions() const { return std::ranges::all_of(all, &Finding::may_be_convention); }

namespace {

class Search {
 public:
  Search(const Graph& graph, std::span<const Compared> compared)
      : graph_(graph), compared_(compared), possible_(placed_mistakes(graph)) {}

  Findings run() && {
    constexpr std::size_t most_findings = 8;
    std::size_t first = 0;
    while (findings_.all.size() < most_findings) {
      const std::optional<std::size_t> next = first_that_differs(first);
      if (!next) break;
      look_at(*next);
      first = *next + 1;
    }
    look_again_at_the_first();
    for (Finding& finding : findings_.all) call_a_guess(finding);
    if (findings_.all.empty()) look_for_hidden();
    return std::move(findings_);
  }

 private:
  SearchGround ground() const { return {graph_, compared_, possible_, found_}; }

  std::optional<std::size_t> first_that_differs(std::size_t from) {
    Remade now(graph_, compared_, found_);
    for (std::size_t i = from; i < compared_.size(); ++i) {
      if (!compared_[i].difference.agrees() && !now.explains(i)) return i;
    }
    return std::nullopt;
  }

  void look_at(std::size_t place) {
    Finding finding{.place = place, .expected = nullptr, .difference = compared_[place].difference};
    {
      Remade now(graph_, compared_, found_);
      finding.expected = now.at(place);
      if (finding.expected)
        finding.difference = difference(*compared_[place].theirs, *finding.expected, compared_[place].rounding);
      finding.has_other_mask_value =
          finding.expected && differs_in_mask_value(*compared_[place].node, *compared_[place].theirs, *finding.expected,
                                                    compared_[place].rounding);
    }
    try_alone(finding);
    if (finding.mistakes.empty()) try_with_right_ones_unused(finding);
    if (finding.mistakes.empty()) try_with_conventions(finding);
    if (finding.mistakes.empty() && is_other_computation(finding)) {
      try_with_a_number(finding);
      if (!finding.is_explained() && !is_identified(finding)) finding.pairs = find_pairs(ground(), place);
    }
    finding.is_alone =
        finding.explains <= 1 && finding.pairs.empty() && ground().that_differ(place + 1) == 0 && has_behind(place);
    if (!finding.is_alone) take_for_granted(finding);
    findings_.all.push_back(std::move(finding));
  }

  // What can be seen to be the transpose, another matrix or the like needs no two mistakes.
  bool is_identified(const Finding& finding) const {
    const Compared& matrix = compared_[finding.place];
    return fingerprints({*matrix.node, *matrix.theirs, *finding.expected, matrix.rounding, finding.difference})
        .identify;
  }

  // What is an input, or a convention by itself, has no mistake that would give it.
  bool is_other_computation(const Finding& finding) const {
    return finding.expected && compared_[finding.place].node->op && !finding.has_other_mask_value;
  }

  void take_for_granted(const Finding& finding) {
    if (!finding.pairs.empty()) {
      found_.push_back(finding.pairs.front().first.change);
      found_.push_back(finding.pairs.front().second.change);
      return;
    }
    if (finding.mistakes.empty() || explained_by_numbers(finding.place) > finding.explains)
      return found_.push_back(numbers_of(*compared_[finding.place].node, *compared_[finding.place].theirs));
    found_.push_back(finding.amounts.empty() ? Change(*finding.mistakes.front()) : *solved_);
    if (finding.convention) found_.emplace_back(*finding.convention);
  }

  // As many as are right where the numbers at a place are theirs, whatever made them.
  std::size_t explained_by_numbers(std::size_t place) {
    return where_possible([&] {
             Remade remade(graph_, compared_,
                           ground().with({numbers_of(*compared_[place].node, *compared_[place].theirs)}));
             return attn::explained_by(remade, compared_, place);
           })
        .count;
  }

  // Each of those that explain most, and of these those that leave most right.
  void add(Finding& finding, const Mistake& mistake, Explained explained) {
    if (explained.count == 0 || (!finding.mistakes.empty() && explained < most_)) return;
    if (finding.mistakes.empty() || explained > most_) finding.mistakes.clear();
    most_ = explained;
    finding.explains = explained.count;
    finding.mistakes.push_back(&mistake);
  }

  Explained explained_with(const std::vector<Change>& changes, std::size_t place, bool keeps_those_before) const {
    return where_possible([&] {
      Remade remade(graph_, compared_, changes);
      if (keeps_those_before && !remade.keeps_those_before(place)) return Explained();
      return explained_by(remade, compared_, place);
    });
  }

  void try_alone(Finding& finding) {
    for (const PlacedMistake* one : ground().possible_for(finding.place))
      add(finding, *one->mistake, explained_with(ground().with({one->change()}), finding.place, true));
  }

  // A right matrix may stand in the file that was not computed with, such as scaled scores.
  void try_with_right_ones_unused(Finding& finding) {
    if (finding.place == 0) return;
    for (const PlacedMistake* one : ground().possible_for(finding.place))
      add(finding, *one->mistake, explained_with(ground().with({one->change()}), finding.place, false));
    if (finding.mistakes.empty()) return;
    Remade remade(graph_, compared_, ground().with({*finding.mistakes.front()}));
    for (std::size_t i = 0; i < finding.place; ++i) {
      if (remade.changes(i) && !remade.explains(i)) finding.unused.push_back(i);
    }
    const auto is_right = [&](std::size_t i) { return compared_[i].difference.agrees(); };
    if (std::ranges::all_of(finding.unused, is_right)) return;
    finding.mistakes.clear();
    finding.unused.clear();
    finding.explains = 0;
  }

  // A mistake by somebody who also computes something else by agreement: a finite number for −∞ in rows that
  // the mistake masks. Only those are tried that bring the numbers nearer.
  void try_with_conventions(Finding& finding) {
    const std::vector<const PlacedMistake*> possible = ground().possible_for(finding.place);
    std::vector<const PlacedMistake*> nearer;
    for (const PlacedMistake* one : possible) {
      if (one->mistake->kind == Mistake::Kind::error &&
          where_possible([&] { return brings_nearer(*one, finding.place); }))
        nearer.push_back(one);
    }
    for (const PlacedMistake* convention : possible) {
      if (convention->mistake->kind != Mistake::Kind::convention) continue;
      for (const PlacedMistake* one : nearer) {
        if (one->places.overlap(convention->places)) continue;
        const std::vector<Change> both = ground().with({one->change(), convention->change()});
        add(finding, *one->mistake, explained_with(both, finding.place, true));
      }
      if (finding.mistakes.empty()) continue;
      finding.convention = convention->mistake;
      return;
    }
  }

  bool brings_nearer(const PlacedMistake& mistake, std::size_t place) {
    Remade remade(graph_, compared_, ground().with({mistake.change()}));
    const std::shared_ptr<const Matrix> numbers = remade.changes(place) ? remade.at(place) : nullptr;
    if (!numbers) return false;
    const Difference now = difference(*compared_[place].theirs, *numbers, compared_[place].rounding);
    return !now.has_other_shape && now.cells < compared_[place].difference.cells;
  }

  void try_with_a_number(Finding& finding) {
    for (const SolvedNumber& solved : solve_numbers(ground(), finding.place)) {
      if (finding.mistakes.empty()) solved_ = solved.change;
      finding.mistakes.push_back(&solved.mistake->mistake);
      finding.amounts.push_back(solved.amount);
      finding.explains = solved.explained.count;
    }
  }

  // A mistake at the first place that leaves something unexplained which two together give.
  void look_again_at_the_first() {
    const auto is_unexplained = [](const Finding& finding) { return !finding.is_explained(); };
    if (findings_.all.size() < 2 || !findings_.all.front().is_explained() ||
        std::ranges::none_of(findings_.all, is_unexplained) || !is_other_computation(findings_.all.front()))
      return;
    const std::vector<Change> nothing;
    std::vector<MistakePair> pairs = find_pairs({graph_, compared_, possible_, nothing}, findings_.all.front().place);
    if (pairs.empty()) return;
    findings_.all.resize(1);
    Finding& first = findings_.all.front();
    first.mistakes.clear();
    first.amounts.clear();
    first.unused.clear();
    first.convention = nullptr;
    first.explains = 0;
    first.pairs = std::move(pairs);
  }

  // What a mistake gives must also give what is computed from it, if only with others that are found behind.
  void call_a_guess(Finding& finding) {
    if (finding.mistakes.empty()) return;
    for (const Finding& other : findings_.all) {
      if (other.place <= finding.place || other.is_explained() || !depends_on(other.place, finding.place)) continue;
      finding.contradicts = other.place;
      return;
    }
  }

  bool depends_on(std::size_t later, std::size_t place) {
    Remade remade(graph_, compared_, {numbers_of(*compared_[place].node, *compared_[place].theirs)});
    return remade.changes(later);
  }

  // Whether something that was compared is computed from it.
  bool has_behind(std::size_t place) {
    const Node* const node = &compared_[place].node->original();
    Rewriting again(graph_, {numbers_of(*node, node->matrix())});
    return std::ranges::any_of(compared_.subspan(place + 1), [&](const Compared& matrix) {
      return &matrix.node->original() != node && again.changes(*matrix.node);
    });
  }

  // A convention that gives the same numbers is as good as ours.
  void look_for_hidden() {
    for (const PlacedMistake& one : possible_) {
      if (one.mistake->kind == Mistake::Kind::convention) continue;
      if (where_possible([&] { return is_hidden(one); })) findings_.hidden.push_back(one.mistake);
    }
  }

  bool is_hidden(const PlacedMistake& mistake) {
    Remade remade(graph_, compared_, {mistake.change()});
    bool changes_any = false;
    for (std::size_t i = 0; i < compared_.size(); ++i) {
      if (!remade.changes(i)) continue;
      changes_any = true;
      const std::shared_ptr<const Matrix> numbers = remade.at(i);
      if (!numbers || !difference(*numbers, compared_[i].node->matrix(), compared_[i].rounding).agrees()) return false;
    }
    return changes_any;
  }

  const Graph& graph_;
  std::span<const Compared> compared_;
  std::vector<PlacedMistake> possible_;
  std::vector<Change> found_;
  Explained most_;                // of the finding that is looked at
  std::optional<Change> solved_;  // likewise
  Findings findings_;
};

}  // namespace

bool is_explained(const Graph& graph, std::span<const Compared> matrices) {
  return std::ranges::any_of(possible_mistakes(graph), [&](const PossibleMistake& possible) {
    return where_possible([&] {
      Remade remade(graph, matrices, {*possible.mistake});
      for (std::size_t i = 0; i < matrices.size(); ++i) {
        if (!remade.explains(i)) return false;
      }
      return true;
    });
  });
}

Findings find_mistakes(const Graph& graph, std::span<const Compared> compared) { return Search(graph, compared).run(); }

// --- telling apart

namespace {

// Two results of which a reader who prints 3 decimals sees that they differ.
bool look_equal(const Matrix& a, const Matrix& b) {
  constexpr double seen = 1e-3;
  return a.shape() == b.shape() && std::ranges::equal(cells(a), cells(b), [](double x, double y) {
           return x == y || std::fabs(x - y) < seen || (std::isnan(x) && std::isnan(y));
         });
}

using Results = std::vector<std::shared_ptr<const Matrix>>;

}  // namespace

std::vector<std::size_t> told_apart(const Graph& graph, std::span<const Mistake* const> mistakes,
                                    std::span<const Role* const> roles) {
  std::vector<const Node*> nodes;
  for (const Node* node : graph.named()) {
    if (node->op && std::ranges::find(roles, node->role) != roles.end()) nodes.push_back(node);
  }
  compute(graph, nodes);
  const auto right = [&] {
    Results results;
    for (const Node* node : nodes) results.push_back(node->cells());
    return results;
  };
  const auto with = [&](const Mistake& mistake) {
    try {
      Rewriting again(graph, mistake);
      Results results;
      for (const Node* node : nodes) results.push_back(again.of(*node).node().cells());
      return results;
    } catch (const InputError&) {
      return right();
    }
  };
  std::vector<Results> different;
  std::vector<std::size_t> numbers;
  for (const Mistake* mistake : mistakes) {
    Results results = mistake ? with(*mistake) : right();
    const auto same = [&](const Results& other) {
      return std::ranges::equal(results, other, [](const auto& a, const auto& b) { return look_equal(*a, *b); });
    };
    const auto found = std::ranges::find_if(different, same);
    numbers.push_back(static_cast<std::size_t>(found - different.begin()));
    if (found == different.end()) different.push_back(std::move(results));
  }
  return numbers;
}

}  // namespace attn
