#include "school/mistake/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>

#include "core/graph/operation.hpp"
#include "school/mistake/numbers.hpp"

namespace attn {
namespace {

// What it takes to compute a node again: what its operation costs, and what any node costs.
std::uint64_t work_of_node(const Node& node) {
  constexpr std::uint64_t least = 2000, for_multiply_add = 1, for_element = 8;
  if (!node.op || node.is_alias()) return least;
  std::vector<Shape> shapes;
  for (const Node* operand : node.operands) shapes.push_back(operand->frame.shape);
  const Cost cost = cost_of(*node.op, node.use(), shapes);
  return least + cost.multiply_adds * for_multiply_add + cost.element_operations * for_element;
}

// What it takes to compute a node again, and all that it is made of from each node on.
std::vector<std::uint64_t> work_up_to(const Node& last) {
  std::vector<bool> is_needed(last.index + 1, false);
  is_needed[last.index] = true;
  std::vector<std::uint64_t> work(last.index + 2, 0);
  for (std::size_t i = last.index + 1; i-- > 0;) {
    work[i] = work[i + 1];
    if (!is_needed[i]) continue;
    const Node& node = last.graph->nodes()[i];
    work[i] += work_of_node(node);
    for (const Node* operand : node.operands) is_needed[operand->index] = true;
  }
  return work;
}

// A mistake that can change the matrix at the place, and how likely it is: those come first that are made most often,
// as in the table.
struct Half {
  HalfOfPair made;
  NodesWhere places;
  std::size_t rank;
  bool has_number;
};

constexpr std::size_t behind_errors = 1000;

// Scores that are not scaled are the commonest half of a pair, and an error is likelier than a convention.
std::size_t rank_in_table(const Mistake& mistake) {
  if (mistake.name == mistakes_of_scores().front().name) return 0;
  const auto place = static_cast<std::size_t>(&mistake - mistakes().data());
  return mistake.kind == Mistake::Kind::convention ? 2 * behind_errors + place : place;
}

struct Couple {
  const Half *earlier, *later;  // by the first node where they can be made
  std::size_t rank;
};

class PairSearch {
 public:
  PairSearch(const SearchGround& ground, std::size_t place)
      : ground_(ground), place_(place), work_(work_up_to(ground.compared[place].node->original())) {}

  std::vector<MistakePair> run() {
    find_halves();
    std::vector<Couple> found = that_explain(within_bound(all_couples()));
    std::ranges::stable_sort(found, {}, &Couple::rank);
    // A number may be what a mistake without one gives.
    const auto has_number = [](const Couple& couple) { return couple.earlier->has_number || couple.later->has_number; };
    if (!found.empty() && !has_number(found.front())) std::erase_if(found, has_number);
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
    for (const PlacedMistake* placed : ground_.possible_for(place_))
      add_half({{placed->mistake, "", placed->change()}, placed->places, rank_in_table(*placed->mistake), false});
    constexpr std::size_t usual = 3;  // numbers of one mistake
    for (const MistakeWithNumber* row : mistakes_with_numbers()) {
      const NodesWhere places(ground_.graph, row->mistake.where);
      if (!places.first() || places.first()->index > ground_.compared[place_].node->index) continue;
      for (std::size_t i = 0; i < usual && !std::isnan(row->starts[i]); ++i) {
        const double number = row->starts[i];
        add_half({{&row->mistake, row->amount(*places.first(), number), row->change(places, number)},
                  places,
                  behind_errors + i,
                  true});
      }
    }
  }

  void add_half(Half half) {
    const bool reaches = where_possible([&] {
      Remade alone(ground_.graph, ground_.compared, ground_.with({half.made.change}));
      return alone.changes(place_);
    });
    if (reaches) halves_.push_back(std::move(half));
  }

  std::vector<Couple> all_couples() const {
    std::vector<Couple> couples;
    for (std::size_t i = 0; i < halves_.size(); ++i) {
      for (std::size_t k = i + 1; k < halves_.size(); ++k) {
        const Half *one = &halves_[i], *other = &halves_[k];
        if ((one->has_number && other->has_number) || one->places.overlap(other->places)) continue;
        if (first_of(*other) < first_of(*one)) std::swap(one, other);
        couples.push_back({one, other, one->rank + other->rank});
      }
    }
    std::ranges::stable_sort(couples, {}, &Couple::rank);
    return couples;
  }

  static std::size_t first_of(const Half& half) { return half.places.first()->index; }

  std::uint64_t work_from(const Half& half) const { return work_[std::min(first_of(half), work_.size() - 1)]; }

  std::vector<Couple> within_bound(std::vector<Couple> couples) const {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < couples.size(); ++i) {
      all += work_from(*couples[i].later);
      if (all <= most_work) continue;
      couples.resize(i);
      break;
    }
    return couples;
  }

  std::vector<Couple> that_explain(const std::vector<Couple>& couples) const {
    // Those with the same earlier half stand together, so that what it makes is computed once.
    std::map<const Half*, std::vector<const Couple*>> by_earlier;
    for (const Couple& couple : couples) by_earlier[couple.earlier].push_back(&couple);
    std::vector<Couple> found;
    for (const auto& [earlier, of_it] : by_earlier) {
      Remade before(ground_.graph, ground_.compared, ground_.with({earlier->made.change}));
      for (const Couple* couple : of_it) {
        if (where_possible([&] { return may_explain(before, *couple); })) found.push_back(*couple);
      }
    }
    std::erase_if(found, [&](const Couple& couple) { return !where_possible([&] { return explains_all(couple); }); });
    return found;
  }

  bool may_explain(Remade& before, const Couple& couple) const {
    Remade both(before, couple.later->made.change, first_of(*couple.later));
    return both.changes(place_) && both.explains(place_);
  }

  bool explains_all(const Couple& couple) const {
    Remade both(ground_.graph, ground_.compared,
                ground_.with({couple.earlier->made.change, couple.later->made.change}));
    return both.keeps_those_before(place_) &&
           explained_by(both, ground_.compared, place_).count == ground_.that_differ(place_);
  }

  // The likeliest halves with a number that is solved for.
  std::vector<MistakePair> with_solved_number() {
    std::vector<const Half*> likeliest;
    for (const Half& half : halves_) {
      if (!half.has_number) likeliest.push_back(&half);
    }
    std::ranges::stable_sort(likeliest, {}, &Half::rank);
    std::uint64_t all = 0;
    std::vector<MistakePair> pairs;
    for (const Half* half : likeliest) {
      all += tries_of_numbers * work_.front() / 2;
      if (all > most_work || !pairs.empty()) break;
      const std::vector<Change> granted = ground_.with({half->made.change});
      const SearchGround with_half{ground_.graph, ground_.compared, ground_.possible, granted};
      for (SolvedNumber& solved : solve_numbers(with_half, place_)) {
        if (solved.explained.count != ground_.that_differ(place_)) continue;
        pairs.push_back({half->made, {&solved.mistake->mistake, std::move(solved.amount), std::move(solved.change)}});
      }
    }
    return pairs;
  }

  static constexpr std::uint64_t most_work = 400'000'000;

  const SearchGround& ground_;
  std::size_t place_;
  std::vector<std::uint64_t> work_;
  std::vector<Half> halves_;
};

}  // namespace

std::vector<MistakePair> find_pairs(const SearchGround& ground, std::size_t place) {
  constexpr std::size_t least_cells = 4;  // fewer are often explained by chance
  if (ground.compared[place].theirs->size() < least_cells) return {};
  return PairSearch(ground, place).run();
}

}  // namespace attn
