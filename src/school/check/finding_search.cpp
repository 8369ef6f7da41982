#include "school/check/finding_search.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "school/check/fingerprints.hpp"
#include "school/check/mistake_pairs.hpp"
#include "school/check/variants.hpp"
#include "school/mistake/amounts.hpp"
#include "school/mistake/numbers.hpp"

namespace attn {

bool gives_the_same(const Graph& graph, std::span<const ComparedMatrix> compared, const PlacedMistake& mistake) {
  return where_possible([&] {
    RecomputedMatrices remade(graph, compared, {mistake.change()});
    bool changes_any = false;
    for (std::size_t i = 0; i < compared.size(); ++i) {
      if (!remade.changes(i)) continue;
      changes_any = true;
      const std::shared_ptr<const Matrix> numbers = remade.at(i);
      if (!numbers || !difference(*numbers, compared[i].node->matrix(), compared[i].rounding).agrees()) return false;
    }
    return changes_any;
  });
}

namespace {

class Search {
 public:
  // `work`: how much it may take to go further than single mistakes, and as much again to follow several of them.
  Search(const Graph& graph, std::span<const ComparedMatrix> compared, const std::vector<PlacedMistake>& possible,
         std::uint64_t work)
      : graph_(graph), compared_(compared), possible_(possible), work_left_(work), work_ahead_(work) {}

  Findings run() && {
    look_from(0);
    look_again_at_the_first();
    return std::move(*this).finished();
  }

  // What single mistakes explain, and no more.
  Findings run_for_single_mistakes() && {
    work_left_ = 0;
    tries_single_ones_ = true;
    look_from(0);
    return std::move(*this).finished();
  }

 private:
  Findings finished() && {
    for (Finding& finding : findings_.all) call_a_guess(finding);
    for (std::size_t i = 0; i < findings_.all.size(); ++i) findings_.all[i].grounds = grounds_of(i);
    if (findings_.all.empty()) look_for_hidden();
    return std::move(findings_);
  }

  static constexpr std::size_t most_findings = 8;

  void look_from(std::size_t first) {
    while (const std::optional<std::size_t> next = first_that_differs(first)) {
      findings_.has_more = findings_.all.size() == most_findings;
      if (findings_.has_more) break;
      look_at(*next);
      first = *next + 1;
    }
  }

  // What a finding leaves to those behind it.
  struct Left {
    std::size_t unexplained = 0, findings = 0;

    auto operator<=>(const Left&) const = default;
  };

  // As far as single mistakes go. Nothing: it would take too long.
  std::optional<Left> left_behind(Finding finding) {
    Search again(graph_, compared_, possible_, work_ahead_);
    again.found_ = found_;
    again.work_left_ = 0;
    again.take_for_granted(finding);
    std::size_t first = finding.place + 1;
    again.findings_.all = {std::move(finding)};
    while (const std::optional<std::size_t> next = again.first_that_differs(first)) {
      if (again.findings_.all.size() == most_findings) break;
      const std::uint64_t work = possible_.size() * work_for(*compared_[*next].node);
      if (work > again.work_ahead_) {
        work_ahead_ = 0;
        return std::nullopt;
      }
      again.work_ahead_ -= work;
      again.look_at(*next);
      first = *next + 1;
    }
    work_ahead_ = again.work_ahead_;
    return Left{again.findings_.unexplained(), again.findings_.all.size()};
  }

  // Several mistakes may give the same numbers here and other ones behind: those are left that leave least to explain.
  void leave_those_that_fit_behind(Finding& finding) {
    if (finding.mistakes.size() < 2 || finding.explains == ground().that_differ(finding.place)) return;
    std::vector<Left> left;
    for (std::size_t i = 0; i < finding.mistakes.size(); ++i) {
      Finding one = finding;
      one.mistakes = {finding.mistakes[i]};
      one.made = {finding.made[i]};
      const std::optional<Left> behind = left_behind(std::move(one));
      if (!behind) {
        finding.was_followed = false;
        return;
      }
      left.push_back(*behind);
    }
    const Left least = *std::ranges::min_element(left);
    std::vector<const Mistake*> fitting;
    std::vector<Change> made;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i] == least) {
        fitting.push_back(finding.mistakes[i]);
        made.push_back(finding.made[i]);
      } else if (findings_.all.empty()) {
        left_out_at_the_first_.push_back(finding.mistakes[i]);
      }
    }
    finding.mistakes = std::move(fitting);
    finding.made = std::move(made);
  }

  SearchGround ground() const { return {graph_, compared_, possible_, found_}; }

  std::optional<std::size_t> first_that_differs(std::size_t from) {
    RecomputedMatrices now(graph_, compared_, found_);
    for (std::size_t i = from; i < compared_.size(); ++i) {
      if (!compared_[i].difference.agrees() && !now.explains(i)) return i;
    }
    return std::nullopt;
  }

  void look_at(std::size_t place) {
    Finding finding{.place = place, .expected = nullptr, .difference = compared_[place].difference};
    {
      RecomputedMatrices now(graph_, compared_, found_);
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
    if (finding.mistakes.empty() && !tries_single_ones_ && is_other_computation(finding)) look_further(finding);
    finding.is_alone =
        finding.explains <= 1 && finding.pairs.empty() && ground().that_differ(place + 1) == 0 && has_behind(place);
    if (!finding.is_alone) take_for_granted(finding);
    findings_.all.push_back(std::move(finding));
  }

  // What can be seen to be the transpose, another matrix or the like needs no two mistakes. Of numbers those are likely
  // that people write, or that are a factor of sizes; two mistakes are likelier than others.
  void look_further(Finding& finding) {
    const ComparedMatrix& matrix = compared_[finding.place];
    finding.is_identified =
        fingerprints({*matrix.node, *matrix.theirs, *finding.expected, matrix.rounding, finding.difference}).identify;
    constexpr std::uint64_t tries = 1000;  // at later places only where there is work left
    const std::uint64_t work = findings_.all.empty() ? 0 : tries * work_for(*matrix.node);
    if (work > work_left_) return;
    work_left_ -= work;
    if (is_no_number_alone(finding)) return;
    const std::vector<SolvedNumber> numbers = solve_numbers(ground(), finding.place);
    const bool are_likely = std::ranges::any_of(numbers, [](const SolvedNumber& solved) { return solved.is_likely; });
    if (are_likely) return take(finding, numbers);
    try_variants(finding);
    if (!finding.is_explained()) try_with_right_ones_unused(finding);
    if (!finding.is_explained()) take(finding, numbers);
    if (!finding.is_explained() && !finding.is_identified)
      finding.pairs = find_pairs(ground(), finding.place, work_left_);
  }

  // NaN is what comes out of many things. Which, cannot be seen from it.
  bool is_no_number_alone(const Finding& finding) const {
    const Matrix& theirs = *compared_[finding.place].theirs;
    if (!finding.expected || finding.difference.has_other_shape) return false;
    const double largest = largest_of(*finding.expected);
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      const double one = cells(theirs)[i], other = cells(*finding.expected)[i];
      if (!std::isnan(one) && !compared_[finding.place].rounding.same(one, other, largest)) return false;
    }
    return true;
  }

  std::vector<const PlacedMistake*> possible_for(const Finding& finding) const {
    std::vector<const PlacedMistake*> possible = ground().possible_for(finding.place);
    if (is_no_number_alone(finding))
      std::erase_if(possible, [](const PlacedMistake* one) { return !one->mistake->about_no_number; });
    return possible;
  }

  void take(Finding& finding, const std::vector<SolvedNumber>& numbers) {
    for (const SolvedNumber& solved : numbers) {
      finding.mistakes.push_back(&solved.mistake->mistake);
      finding.made.push_back(solved.change);
      finding.amounts.push_back(solved.amount);
      finding.explains = solved.explained.count;
    }
  }

  // What is an input, or a convention by itself, has no mistake that would give it.
  bool is_other_computation(const Finding& finding) const {
    return finding.expected && compared_[finding.place].node->op && !finding.has_other_mask_value;
  }

  void take_for_granted(const Finding& finding) {
    granted_.push_back(granted_by(finding));
    const std::vector<Change>& changes = granted_.back().changes;
    found_.insert(found_.end(), changes.begin(), changes.end());
  }

  // What is taken for granted of a finding.
  struct Granted {
    enum class What { numbers, explanation };

    std::size_t place;
    What what;
    std::vector<Change> changes;
  };

  Granted granted_by(const Finding& finding) {
    Granted granted{finding.place, Granted::What::explanation, {}};
    if (!finding.pairs.empty()) {
      for (const HalfOfPair* half : {&finding.pairs.front().first, &finding.pairs.front().second})
        granted.changes.insert(granted.changes.end(), half->changes.begin(), half->changes.end());
      return granted;
    }
    if (finding.mistakes.empty() || explained_by_numbers(finding.place) > finding.explains)
      return {finding.place,
              Granted::What::numbers,
              {numbers_of(*compared_[finding.place].node, *compared_[finding.place].theirs)}};
    granted.changes.push_back(finding.made.front());
    if (finding.convention) granted.changes.emplace_back(*finding.convention);
    return granted;
  }

  // What its nodes are made of says it, whatever their numbers are. Numbers of the file may have another shape than
  // what is computed: the right ones stand for them.
  std::optional<Grounds> grounds_of(std::size_t number) const {
    const std::span<const Granted> before = std::span(granted_).first(std::min(number, granted_.size()));
    return where_possible([&]() -> std::optional<Grounds> {
      std::vector<Change> changes;
      for (const Granted& granted : before) {
        const Node& node = compared_[granted.place].node->original();
        if (granted.what == Granted::What::numbers) {
          changes.push_back(numbers_of(node, node.matrix()));
        } else {
          changes.insert(changes.end(), granted.changes.begin(), granted.changes.end());
        }
      }
      Rewriting again(graph_, std::move(changes));
      const Node& last = *compared_[findings_.all[number].place].node;
      const std::set<const Node*> of = term_of(again.of(last).node());
      std::set<std::size_t> numbers, explanations;
      for (const Node& node : graph_.nodes()) {
        if (node.index > last.index) break;
        // The first that changes a node makes it.
        const auto makes_it = [&](const Change& change) { return change.where(node); };
        const auto made_by = std::ranges::find_if(
            before, [&](const Granted& granted) { return std::ranges::any_of(granted.changes, makes_it); });
        if (made_by == before.end() || !again.changes(node) || !of.contains(&again.of(node).node())) continue;
        (made_by->what == Granted::What::numbers ? numbers : explanations).insert(made_by->place);
      }
      return Grounds{{numbers.begin(), numbers.end()}, {explanations.begin(), explanations.end()}};
    });
  }

  // A node and all that it is made of.
  static std::set<const Node*> term_of(const Node& last) {
    std::set<const Node*> found = {&last};
    std::vector<const Node*> open = {&last};
    while (!open.empty()) {
      const Node& node = *open.back();
      open.pop_back();
      for (const Node* operand : node.operands) {
        if (found.insert(operand).second) open.push_back(operand);
      }
    }
    return found;
  }

  // As many as are right where the numbers at a place are theirs, whatever made them.
  std::size_t explained_by_numbers(std::size_t place) {
    return where_possible([&] {
             RecomputedMatrices remade(graph_, compared_,
                                       ground().with({numbers_of(*compared_[place].node, *compared_[place].theirs)}));
             return attn::explanatory_power(remade, compared_, place);
           })
        .count;
  }

  static void forget_mistakes(Finding& finding) {
    finding.mistakes.clear();
    finding.made.clear();
  }

  // Each of those that explain most, and of these those that leave most right.
  void add(Finding& finding, const PlacedMistake& placed, ExplanatoryPower explained) {
    const bool is_there = !finding.mistakes.empty() && finding.mistakes.back() == placed.mistake && explained == most_;
    if (is_there) return;
    if (explained.count == 0 || (!finding.mistakes.empty() && explained < most_)) return;
    if (finding.mistakes.empty() || explained > most_) forget_mistakes(finding);
    most_ = explained;
    finding.explains = explained.count;
    finding.mistakes.push_back(placed.mistake);
    finding.made.push_back(placed.change());
  }

  ExplanatoryPower explained_with(const std::vector<Change>& changes, std::size_t place,
                                  bool keeps_those_before) const {
    return where_possible([&] {
      RecomputedMatrices remade(graph_, compared_, changes);
      if (keeps_those_before && !remade.keeps_those_before(place)) return ExplanatoryPower();
      return explanatory_power(remade, compared_, place);
    });
  }

  void try_alone(Finding& finding) {
    for (const PlacedMistake* one : possible_for(finding))
      add(finding, *one, explained_with(ground().with({one->change()}), finding.place, true));
    leave_those_that_fit_behind(finding);
    if (findings_.all.empty() && !tries_single_ones_ && finding.mistakes.size() == 1 &&
        finding.mistakes.front()->kind == Mistake::Kind::error)
      find_same_numbers(finding);
  }

  // A temperature of 2 is what √4 is, taken twice.
  void find_same_numbers(Finding& finding) {
    const NodesWhere places(graph_, finding.mistakes.front()->where);
    for (const MistakeWithNumber* row : mistakes_with_numbers()) {
      const NodesWhere own(graph_, row->mistake.where);
      if (!own.first() || !own.overlap(places)) continue;
      for (const double number : row->starts) {
        // A temperature above 1, which has nothing to do with sizes.
        if (row->amount != amount_as_factor || !(number > 0.0) || !(number < 1.0)) continue;
        const std::vector<Change> changes = ground().with({row->change(own, number)});
        if (explained_with(changes, finding.place, true) != most_) continue;
        finding.same_numbers.push_back(fmt::format("{} ({})", row->mistake.summary, row->amount(*own.first(), number)));
      }
    }
  }

  // A right matrix may stand in the file that was not computed with, such as scaled scores.
  void try_with_right_ones_unused(Finding& finding) {
    if (finding.place == 0) return;
    for (const PlacedMistake* one : possible_for(finding))
      add(finding, *one, explained_with(ground().with({one->change()}), finding.place, false));
    if (finding.mistakes.empty()) return;
    leave_those_that_fit_behind(finding);
    RecomputedMatrices remade(graph_, compared_, ground().with({finding.made.front()}));
    for (std::size_t i = 0; i < finding.place; ++i) {
      if (remade.changes(i) && !remade.explains(i)) finding.unused.push_back(i);
    }
    const auto may_be_unused = [&](std::size_t i) {
      return compared_[i].difference.agrees() && depends_on(finding.place, i);
    };
    if (std::ranges::all_of(finding.unused, may_be_unused)) return;
    forget_mistakes(finding);
    finding.unused.clear();
    finding.explains = 0;
  }

  // A mistake by somebody who also computes something else by agreement: a finite number for −∞ in rows that
  // the mistake masks. Only those are tried that bring the numbers nearer.
  void try_with_conventions(Finding& finding) {
    const std::vector<const PlacedMistake*> possible = possible_for(finding);
    std::vector<const PlacedMistake*> nearer;
    for (const PlacedMistake* one : possible) {
      if (one->mistake->kind == Mistake::Kind::error &&
          where_possible([&] { return brings_nearer(*one, finding.place); }))
        nearer.push_back(one);
    }
    for (const PlacedMistake* convention : possible) {
      if (convention->mistake->kind != Mistake::Kind::convention || keeps_weights(*convention->mistake)) continue;
      for (const PlacedMistake* one : nearer) {
        if (one->places.overlap(convention->places)) continue;
        const std::vector<Change> both = ground().with({one->change(), convention->change()});
        add(finding, *one, explained_with(both, finding.place, true));
      }
      if (finding.mistakes.empty()) continue;
      finding.convention = convention->mistake;
      leave_those_that_fit_behind(finding);
      return;
    }
  }

  // Conventions with scores give the same weights, where they are made alone.
  static bool keeps_weights(const Mistake& convention) {
    return std::ranges::any_of(mistakes_of_scores(), [&](const Mistake& one) { return one.name == convention.name; });
  }

  bool brings_nearer(const PlacedMistake& mistake, std::size_t place) {
    RecomputedMatrices remade(graph_, compared_, ground().with({mistake.change()}));
    const std::shared_ptr<const Matrix> numbers = remade.changes(place) ? remade.at(place) : nullptr;
    if (!numbers) return false;
    const Difference now = difference(*compared_[place].theirs, *numbers, compared_[place].rounding);
    constexpr double much = 0.1;  // what is left may be another ε
    const Difference& before = compared_[place].difference;
    return !now.has_other_shape && (now.cells < before.cells || now.largest < much * before.largest);
  }

  // In one part alone, with another matrix, or with a function.
  void try_variants(Finding& finding) {
    constexpr std::uint64_t most_work = 1'000'000'000;
    std::uint64_t work = 0;
    for (const auto& find :
         {mistakes_in_one_part, other_matrices_taken, mistakes_in_one_step, functions_applied, matrices_added}) {
      RecomputedMatrices before(graph_, compared_, found_);
      most_ = {};
      for (const Variant& variant : find(ground(), finding.place)) {
        work += work_for(*compared_[finding.place].node);
        if (work > most_work) return;
        const ExplanatoryPower explained = where_possible([&] {
          RecomputedMatrices remade(before, {variant.change}, variant.places.first()->index);
          if (!remade.changes(finding.place) || !remade.explains(finding.place)) return ExplanatoryPower();
          return explained_with(ground().with({variant.change}), finding.place, true);
        });
        if (explained.count == 0 || (!finding.mistakes.empty() && explained <= most_)) continue;
        most_ = explained;
        finding.mistakes = {variant.mistake};
        finding.made = {variant.change};
        finding.amounts = {variant.amount};
        finding.explains = explained.count;
      }
      if (finding.is_explained()) return;
    }
  }

  // A mistake at the first place that leaves something unexplained may have been made in one part alone; or two
  // together give everything.
  void look_again_at_the_first() {
    if (findings_.all.size() < 2 || findings_.all.front().mistakes.empty() || findings_.unexplained() == 0 ||
        !is_other_computation(findings_.all.front()))
      return;
    const std::vector<Change> nothing;
    const Finding first = findings_.all.front();
    const SearchGround from_the_start{graph_, compared_, possible_, nothing};
    for (const Variant& variant : mistakes_in_one_part(from_the_start, first.place)) {
      const auto is_its = [&](const Mistake* mistake) { return mistake == variant.mistake; };
      if (std::ranges::none_of(first.mistakes, is_its) && std::ranges::none_of(left_out_at_the_first_, is_its))
        continue;
      const std::vector<Change> changes = from_the_start.with({variant.change});
      const ExplanatoryPower explained = explained_with(changes, first.place, true);
      if (explained.count < std::max<std::size_t>(first.explains, 1)) continue;
      Search again(graph_, compared_, possible_, work_ahead_);
      again.begin_with(first, variant, explained);
      if (again.findings_.unexplained() >= findings_.unexplained()) continue;
      findings_ = std::move(again.findings_);
      granted_ = std::move(again.granted_);
      if (findings_.unexplained() == 0) return;
    }
    std::vector<MistakePair> pairs = find_pairs(from_the_start, first.place, work_left_);
    if (pairs.empty()) return;
    Finding together{.place = first.place, .expected = first.expected, .difference = first.difference};
    together.pairs = std::move(pairs);
    findings_.all = {std::move(together)};
  }

  // The search as it goes on behind a variant at the first place.
  void begin_with(Finding first, const Variant& variant, ExplanatoryPower explained) {
    work_left_ = 0;
    first.mistakes = {variant.mistake};
    first.made = {variant.change};
    first.amounts = {variant.amount};
    first.explains = explained.count;
    first.same_numbers.clear();
    first.convention = nullptr;
    first.was_followed = true;
    found_ = {variant.change};
    granted_ = {{first.place, Granted::What::explanation, found_}};
    const std::size_t next = first.place + 1;
    findings_.all = {std::move(first)};
    look_from(next);
  }

  // What a mistake gives must also give what is computed from it, if only with others that are found behind.
  void call_a_guess(Finding& finding) {
    if (finding.mistakes.empty()) return;
    for (const Finding& other : findings_.all) {
      if (other.place <= finding.place || other.is_explained() || other.is_identified ||
          !depends_on(other.place, finding.place))
        continue;
      finding.contradicts = other.place;
      return;
    }
  }

  bool depends_on(std::size_t later, std::size_t place) {
    return where_possible([&] {
      RecomputedMatrices remade(graph_, compared_, {numbers_of(*compared_[place].node, *compared_[place].theirs)});
      return remade.changes(later);
    });
  }

  // Whether something that was compared is computed from it.
  bool has_behind(std::size_t place) {
    const Node* const node = &compared_[place].node->original();
    Rewriting again(graph_, {numbers_of(*node, node->matrix())});
    return std::ranges::any_of(compared_.subspan(place + 1), [&](const ComparedMatrix& matrix) {
      return &matrix.node->original() != node && again.changes(*matrix.node);
    });
  }

  // A convention that gives the same numbers is as good as ours.
  void look_for_hidden() {
    for (const PlacedMistake& one : possible_) {
      if (one.mistake->kind == Mistake::Kind::convention || one.is_variant()) continue;
      if (gives_the_same(graph_, compared_, one)) findings_.hidden.push_back(one.mistake);
    }
  }

  const Graph& graph_;
  std::span<const ComparedMatrix> compared_;
  const std::vector<PlacedMistake>& possible_;
  std::vector<Change> found_;
  std::vector<Granted> granted_;  // the same by findings
  std::vector<const Mistake*> left_out_at_the_first_;
  std::uint64_t work_left_;
  std::uint64_t work_ahead_;
  ExplanatoryPower most_;  // of the finding that is looked at
  bool tries_single_ones_ = false;
  Findings findings_;
};

}  // namespace

Findings search_findings(const Graph& graph, std::span<const ComparedMatrix> compared,
                         const std::vector<PlacedMistake>& possible, std::uint64_t work) {
  return Search(graph, compared, possible, work).run();
}

Findings search_single_mistakes(const Graph& graph, std::span<const ComparedMatrix> compared,
                                const std::vector<PlacedMistake>& possible) {
  return Search(graph, compared, possible, work_for_search).run_for_single_mistakes();
}

}  // namespace attn
