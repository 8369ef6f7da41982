#include "school/check/mistake_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>

#include "core/graph/operation.hpp"
#include "school/check/variants.hpp"
#include "school/mistake/numbers.hpp"

namespace attn {
namespace {

// A mistake that can change the matrix at the place, and how likely it is: those come first that are made most often,
// as in the table.
struct Half {
  HalfOfPair made;
  NodesWhere places;
  std::size_t rank;
  enum class Kind { row, with_convention, number, variant } kind;
  bool gives_their_shape = true;  // alone; so does what cannot be computed alone
};

constexpr std::size_t behind_errors = 20;

// How likely a mistake is among all: the first of each subject come first, and errors before conventions.
std::size_t rank_of(const Mistake& mistake) {
  std::size_t place = 0;
  for (const auto& of_subject :
       {mistakes_of_softmax, mistakes_of_scores, mistakes_of_masks, mistakes_of_values, mistakes_of_heads,
        mistakes_of_sides, mistakes_of_norms, mistakes_of_residuals, mistakes_of_embeddings, mistakes_of_positions,
        mistakes_of_rotary_positions, mistakes_of_feed_forward, mistakes_of_maps, mistakes_of_recurrence,
        mistakes_of_losses, mistakes_of_gradients, mistakes_of_kernels}) {
    const std::span<const Mistake> rows = of_subject();
    const auto found = std::ranges::find(rows, mistake.name, &Mistake::name);
    if (found == rows.end()) continue;
    place = static_cast<std::size_t>(found - rows.begin());
  }
  return mistake.kind == Mistake::Kind::convention ? behind_errors + place : place;
}

struct Couple {
  const Half *earlier, *later;  // by the first node where they can be made
  std::size_t rank;
};

class PairSearch {
 public:
  PairSearch(const SearchGround& ground, std::size_t place, std::uint64_t& work_left)
      : ground_(ground),
        place_(place),
        work_left_(work_left),
        work_(work_up_to(ground.compared[place].node->original())) {}

  std::vector<MistakePair> run() {
    find_halves();
    std::vector<Couple> found = that_explain(within_bound(all_couples()));
    std::ranges::stable_sort(found, {}, &Couple::rank);
    // A number may be what a mistake without one gives.
    const auto has_more = [](const Couple& couple) {
      return couple.earlier->kind != Half::Kind::row || couple.later->kind != Half::Kind::row;
    };
    if (!found.empty() && !has_more(found.front())) std::erase_if(found, has_more);
    std::vector<MistakePair> pairs;
    for (const Couple& couple : found) {
      const Half &one = *couple.earlier, &other = *couple.later;
      const bool is_in_order = one.rank <= other.rank;
      pairs.push_back({(is_in_order ? one : other).made, (is_in_order ? other : one).made});
    }
    return pairs.empty() ? with_solved_number() : pairs;
  }

 private:
  // Those that change the matrix when they are made alone.
  void find_halves() {
    for (const PlacedMistake* placed : ground_.possible_for(place_)) {
      const Mistake& mistake = *placed->mistake;
      add_half({{&mistake, "", {placed->change()}}, placed->places, rank_of(mistake), Half::Kind::row});
    }
    add_masks_with_conventions();
    constexpr std::size_t usual = 3;  // numbers of one mistake
    for (const MistakeWithNumber* row : mistakes_with_numbers()) {
      const NodesWhere places(ground_.graph, row->mistake.where);
      if (!places.first() || places.first()->index > ground_.compared[place_].node->index) continue;
      std::size_t i = 0;
      for (const double number : row->starts) {
        if (i == usual) break;
        add_half({{&row->mistake, row->amount(*places.first(), number), {row->change(places, number)}},
                  places,
                  behind_errors + i++,
                  Half::Kind::number});
      }
    }
    for (const auto& find :
         {mistakes_in_one_part, mistakes_in_one_step, functions_applied, other_matrices_taken, matrices_added}) {
      for (const Variant& variant : find(ground_, place_)) {
        if (!variant.is_likely) continue;
        add_half({{variant.mistake, variant.amount, {variant.change}},
                  variant.places,
                  behind_errors + rank_of(*variant.mistake),
                  Half::Kind::variant});
      }
    }
  }

  // A wrong mask may hide all keys of a query, where people have other conventions.
  void add_masks_with_conventions() {
    constexpr std::array<std::string_view, 3> conventions = {"equal-where-all-masked", "large-negative-mask-value",
                                                             "no-number-where-all-masked"};
    const auto is_of_mask = [](const Mistake& mistake) {
      return std::ranges::any_of(mistakes_of_masks(), [&](const Mistake& one) { return one.name == mistake.name; });
    };
    const std::vector<const PlacedMistake*> possible = ground_.possible_for(place_);
    for (const PlacedMistake* convention : possible) {
      if (std::ranges::find(conventions, convention->mistake->name) == conventions.end()) continue;
      for (const PlacedMistake* mask : possible) {
        if (mask->mistake->kind != Mistake::Kind::error || !is_of_mask(*mask->mistake) ||
            mask->places.overlap(convention->places))
          continue;
        add_half({{mask->mistake,
                   fmt::format("with {}", convention->mistake->summary),
                   {mask->change(), convention->change()}},
                  mask->places.with(ground_.graph, convention->places),
                  behind_errors / 4 + rank_of(*mask->mistake),
                  Half::Kind::with_convention});
      }
    }
  }

  // What is not finite where theirs is says nothing, whatever else is done.
  void add_half(Half half) {
    const Matrix& theirs = *ground_.compared[place_].theirs;
    if (half.kind != Half::Kind::row && !take_work(work_.front() / 2, work_left_ / 2)) return;
    const bool reaches = where_possible([&] {
      RecomputedMatrices alone(ground_.graph, ground_.compared, with_all(half.made.changes, {}));
      if (!alone.changes(place_)) return false;
      const std::shared_ptr<const Matrix> now = alone.at(place_);
      half.gives_their_shape = !now || now->shape() == theirs.shape();
      if (!now || !half.gives_their_shape) return true;
      if (half.kind != Half::Kind::row && is_known(*now)) return false;
      known_.push_back(now);
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        if (std::isfinite(cells(theirs)[i]) && std::isnan(cells(*now)[i])) return false;
      }
      return true;
    });
    if (reaches) halves_.push_back(std::move(half));
  }

  // What gives the same as another half alone, or as none, gives nothing more with others.
  bool is_known(const Matrix& now) const {
    const ComparedMatrix& matrix = ground_.compared[place_];
    const auto is_same = [&](const Matrix& other) { return agree(now, other, matrix.rounding); };
    return is_same(matrix.node->matrix()) ||
           std::ranges::any_of(known_, [&](const auto& other) { return is_same(*other); });
  }

  std::vector<Change> with_all(const std::vector<Change>& one, const std::vector<Change>& other) const {
    std::vector<Change> all = ground_.granted;
    all.insert(all.end(), one.begin(), one.end());
    all.insert(all.end(), other.begin(), other.end());
    return all;
  }

  std::vector<Couple> all_couples() const {
    std::vector<Couple> couples;
    for (std::size_t i = 0; i < halves_.size(); ++i) {
      for (std::size_t k = i + 1; k < halves_.size(); ++k) {
        const Half *one = &halves_[i], *other = &halves_[k];
        if (!one->gives_their_shape && !other->gives_their_shape) continue;
        if (one->kind == Half::Kind::variant && other->kind == Half::Kind::variant) continue;
        if (one->places.overlap(other->places)) continue;
        if (first_of(*other) < first_of(*one)) std::swap(one, other);
        couples.push_back({one, other, one->rank + other->rank});
      }
    }
    return couples;
  }

  static std::size_t first_of(const Half& half) { return half.places.first()->index; }

  // What it takes to compute it again from a half on, and to try a pair at all.
  std::uint64_t work_from(const Half& half) const {
    constexpr std::uint64_t for_a_pair = 20'000, for_a_node = 150;
    return work_[std::min(first_of(half), work_.size() - 1)] + for_a_pair + for_a_node * work_.size();
  }

  // Takes work if as much is left behind it.
  bool take_work(std::uint64_t work, std::uint64_t left = 0) {
    if (work_left_ < work + left) return false;
    work_left_ -= work;
    return true;
  }

  // The likeliest ones, and of the rest those that take little work for how likely they are.
  std::vector<Couple> within_bound(std::vector<Couple> couples) {
    constexpr std::uint64_t least_rank = 10;
    std::ranges::stable_sort(couples, {}, &Couple::rank);
    const std::uint64_t half = work_left_ / 2, for_numbers = work_left_ / 6;
    const auto likeliest =
        std::ranges::find_if(couples, [&](const Couple& couple) { return !take_work(work_from(*couple.later), half); });
    std::stable_sort(likeliest, couples.end(), [&](const Couple& one, const Couple& other) {
      const auto costs = [&](const Couple& couple) { return (couple.rank + least_rank) * work_from(*couple.later); };
      return costs(one) < costs(other);
    });
    couples.erase(std::find_if(likeliest, couples.end(),
                               [&](const Couple& couple) { return !take_work(work_from(*couple.later), for_numbers); }),
                  couples.end());
    return couples;
  }

  std::vector<Couple> that_explain(const std::vector<Couple>& couples) const {
    // Those with the same earlier half stand together, so that what it makes is computed once.
    std::map<const Half*, std::vector<const Couple*>> by_earlier;
    for (const Couple& couple : couples) by_earlier[couple.earlier].push_back(&couple);
    std::vector<Couple> found;
    for (const auto& [earlier, of_it] : by_earlier) {
      RecomputedMatrices before(ground_.graph, ground_.compared, with_all(earlier->made.changes, {}));
      for (const Couple* couple : of_it) {
        if (where_possible([&] { return may_explain(before, *couple); })) found.push_back(*couple);
      }
    }
    std::erase_if(found, [&](const Couple& couple) { return !where_possible([&] { return explains_all(couple); }); });
    return found;
  }

  bool may_explain(RecomputedMatrices& before, const Couple& couple) const {
    RecomputedMatrices both(before, couple.later->made.changes, first_of(*couple.later));
    return both.changes(place_) && both.explains(place_);
  }

  bool explains_all(const Couple& couple) const {
    RecomputedMatrices both(ground_.graph, ground_.compared,
                            with_all(couple.earlier->made.changes, couple.later->made.changes));
    return is_no_chance(both) && both.keeps_those_before(place_) &&
           explanatory_power(both, ground_.compared, place_).count == ground_.that_differ(place_);
  }

  // Of thousands of pairs some agree with a few rounded numbers.
  bool is_no_chance(RecomputedMatrices& both) const {
    constexpr std::size_t least_cells = 4;
    constexpr double least_digits = 5.0;
    RecomputedMatrices neither(ground_.graph, ground_.compared, ground_.granted);
    const std::shared_ptr<const Matrix> without = neither.at(place_), with = both.at(place_);
    if (!without || !with) return false;
    if (without->shape() != with->shape()) return true;
    const CellEvidence evidence = cell_evidence(ground_.compared[place_], *without, *with);
    return evidence.independent >= least_cells && evidence.digits >= least_digits;
  }

  // The likeliest halves with a number that is solved for.
  std::vector<MistakePair> with_solved_number() {
    std::vector<const Half*> likeliest;
    for (const Half& half : halves_) {
      if (half.kind == Half::Kind::row) likeliest.push_back(&half);
    }
    std::ranges::stable_sort(likeliest, {}, &Half::rank);
    std::vector<MistakePair> pairs;
    for (const Half* half : likeliest) {
      if (!pairs.empty() || !take_work(tries_of_numbers * work_.front() / 2)) break;
      const std::vector<Change> granted = with_all(half->made.changes, {});
      const SearchGround with_half{ground_.graph, ground_.compared, ground_.possible, granted};
      for (SolvedNumber& solved : solve_numbers(with_half, place_)) {
        if (solved.explained.count != ground_.that_differ(place_)) continue;
        pairs.push_back({half->made, {&solved.mistake->mistake, std::move(solved.amount), {std::move(solved.change)}}});
      }
    }
    return pairs;
  }

  const SearchGround& ground_;
  std::size_t place_;
  std::uint64_t& work_left_;
  std::vector<std::uint64_t> work_;
  std::vector<Half> halves_;
  std::vector<std::shared_ptr<const Matrix>> known_;  // what they give alone
};

}  // namespace

std::vector<MistakePair> find_pairs(const SearchGround& ground, std::size_t place, std::uint64_t& work_left) {
  constexpr std::size_t least_cells = 4;  // fewer are often explained by chance
  if (ground.compared[place].theirs->size() < least_cells) return {};
  return PairSearch(ground, place, work_left).run();
}

}  // namespace attn
