#include "school/mistake/findings.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "core/attention/watches.hpp"
#include "core/support/error.hpp"
#include "school/mistake/rewriting.hpp"

namespace attn {

// --- findings

bool Finding::may_be_convention() const {
  return has_other_mask_value ||
         std::ranges::any_of(mistakes, [](const Mistake* one) { return one->kind == Mistake::Kind::convention; });
}

bool Findings::may_be_conventions() const { return std::ranges::all_of(all, &Finding::may_be_convention); }

namespace {

Change numbers_of(const Node& original, const Matrix& theirs) {
  const Node* const node = &original.original();
  return {[node](const Node& asked) { return &asked == node; }, [&theirs](At at) { return at.like(theirs); }};
}

// The compared matrices as they are with some mistakes.
class Remade {
 public:
  Remade(const Graph& graph, std::span<const Compared> compared, std::vector<Change> changes)
      : again_(graph, std::move(changes)), compared_(compared) {}

  bool changes(std::size_t i) { return again_.changes(*compared_[i].node); }
  // Null where it cannot be computed.
  std::shared_ptr<const Matrix> at(std::size_t i) {
    try {
      return again_.of(*compared_[i].node).node().cells();
    } catch (const InputError&) {
      return nullptr;
    }
  }
  bool explains(std::size_t i) {
    const std::shared_ptr<const Matrix> numbers = at(i);
    return numbers && difference(*compared_[i].theirs, *numbers, compared_[i].rounding).agrees();
  }

 private:
  Rewriting again_;
  std::span<const Compared> compared_;
};

// A mistake that cannot be made in this computation.
template <class Action>
auto where_possible(const Action& action) -> decltype(action()) {
  try {
    return action();
  } catch (const InputError&) {
    return {};
  }
}

class Search {
 public:
  Search(const Graph& graph, std::span<const Compared> compared)
      : graph_(graph), compared_(compared), possible_(possible_mistakes(graph)) {}

  Findings run() && {
    constexpr std::size_t most_findings = 8;
    std::size_t first = 0;
    while (findings_.all.size() < most_findings) {
      const std::optional<std::size_t> next = first_that_differs(first);
      if (!next) break;
      look_at(*next);
      first = *next + 1;
    }
    if (findings_.all.empty()) look_for_hidden();
    return std::move(findings_);
  }

 private:
  std::vector<Change> with(std::initializer_list<Change> more) const {
    std::vector<Change> all = found_;
    all.insert(all.end(), more);
    return all;
  }

  // Those that can change a matrix, which is computed from the first place where they can be made, or behind it.
  std::vector<const Mistake*> possible_for(std::size_t place) const {
    std::vector<const Mistake*> found;
    for (const auto& [mistake, first] : possible_) {
      if (first->index <= compared_[place].node->index) found.push_back(mistake);
    }
    return found;
  }

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
    const std::size_t behind = behind_that_differ(place);
    finding.is_alone = finding.explains <= 1 && behind == 0 && has_behind(place);
    if (!finding.is_alone) take_for_granted(finding);
    findings_.all.push_back(std::move(finding));
  }

  void take_for_granted(const Finding& finding) {
    if (finding.mistakes.empty())
      return found_.push_back(numbers_of(*compared_[finding.place].node, *compared_[finding.place].theirs));
    found_.emplace_back(*finding.mistakes.front());
    if (finding.convention) found_.emplace_back(*finding.convention);
  }

  // What a mistake explains.
  struct Explained {
    std::size_t count = 0;    // of the matrices that differ
    bool keeps_right = true;  // leaves what is right behind them

    auto operator<=>(const Explained&) const = default;
  };

  // Each of those that explain most, and of these those that leave most right.
  void add(Finding& finding, const Mistake& mistake, Explained explained) {
    if (explained.count == 0 || (!finding.mistakes.empty() && explained < most_)) return;
    if (finding.mistakes.empty() || explained > most_) finding.mistakes.clear();
    most_ = explained;
    finding.explains = explained.count;
    finding.mistakes.push_back(&mistake);
  }

  void try_alone(Finding& finding) {
    for (const Mistake* mistake : possible_for(finding.place))
      add(finding, *mistake, where_possible([&] {
            const std::vector<Change> changes = with({*mistake});
            return keeps_those_before(changes, finding.place) ? explained_by(changes, finding.place) : Explained();
          }));
  }

  // A right matrix may stand in the file that was not computed with, such as scaled scores.
  void try_with_right_ones_unused(Finding& finding) {
    for (const Mistake* mistake : possible_for(finding.place))
      add(finding, *mistake, where_possible([&] { return explained_by(with({*mistake}), finding.place); }));
    if (finding.mistakes.empty()) return;
    Remade remade(graph_, compared_, with({*finding.mistakes.front()}));
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
    const std::vector<const Mistake*> possible = possible_for(finding.place);
    std::vector<const Mistake*> nearer;
    for (const Mistake* mistake : possible) {
      if (mistake->kind == Mistake::Kind::error &&
          where_possible([&] { return brings_nearer(*mistake, finding.place); }))
        nearer.push_back(mistake);
    }
    for (const Mistake* convention : possible) {
      if (convention->kind != Mistake::Kind::convention) continue;
      for (const Mistake* mistake : nearer)
        add(finding, *mistake, where_possible([&] {
              const std::vector<Change> both = with({*mistake, *convention});
              return keeps_those_before(both, finding.place) ? explained_by(both, finding.place) : Explained();
            }));
      if (finding.mistakes.empty()) continue;
      finding.convention = convention;
      return;
    }
  }

  bool brings_nearer(const Mistake& mistake, std::size_t place) {
    Remade remade(graph_, compared_, with({mistake}));
    const std::shared_ptr<const Matrix> numbers = remade.changes(place) ? remade.at(place) : nullptr;
    if (!numbers) return false;
    const Difference now = difference(*compared_[place].theirs, *numbers, compared_[place].rounding);
    return !now.has_other_shape && now.cells < compared_[place].difference.cells;
  }

  bool keeps_those_before(const std::vector<Change>& changes, std::size_t place) {
    Remade remade(graph_, compared_, changes);
    for (std::size_t i = 0; i < place; ++i) {
      if (remade.changes(i) && !remade.explains(i)) return false;
    }
    return true;
  }

  // How many of the matrices that differ have the numbers that it gives, up to the first that has not; none
  // where the one at the place is not among them.
  Explained explained_by(const std::vector<Change>& changes, std::size_t place) {
    Remade remade(graph_, compared_, changes);
    if (!remade.changes(place) || !remade.explains(place)) return {};
    Explained explained{1};
    for (std::size_t i = place + 1; i < compared_.size(); ++i) {
      if (!remade.explains(i)) {
        explained.keeps_right = !compared_[i].difference.agrees();
        break;
      }
      if (!compared_[i].difference.agrees()) ++explained.count;
    }
    return explained;
  }

  std::size_t behind_that_differ(std::size_t place) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        compared_.subspan(place + 1), [](const Compared& matrix) { return !matrix.difference.agrees(); }));
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
    for (const auto& [mistake, first] : possible_) {
      if (mistake->kind == Mistake::Kind::convention) continue;
      if (where_possible([&, &hidden = *mistake] { return is_hidden(hidden); })) findings_.hidden.push_back(mistake);
    }
  }

  bool is_hidden(const Mistake& mistake) {
    Remade remade(graph_, compared_, {mistake});
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
  std::vector<PossibleMistake> possible_;
  std::vector<Change> found_;
  Explained most_;  // of the finding that is looked at
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
