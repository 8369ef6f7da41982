#include "school/check/step_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <set>

#include "core/math/rows.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "school/check/rounded_steps.hpp"
#include "school/mistake/mistake_search.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

namespace {

double spread_of(const Matrix& matrix) {
  double least = 0.0, most = 0.0;
  bool has_any = false;
  for (const double x : cells(matrix)) {
    if (!std::isfinite(x)) continue;
    least = has_any ? std::min(least, x) : x;
    most = has_any ? std::max(most, x) : x;
    has_any = true;
  }
  return most - least;
}

// How many numbers a matrix could have at its precision, in powers of ten: of each cell that says something of its own.
double digits_of_file(const ComparedMatrix& one, double room = 0.0) {
  const Matrix& theirs = *one.theirs;
  const double spread = spread_of(one.node->matrix()), largest = largest_of(theirs);
  std::set<double> seen;
  double digits = 0.0;
  for (std::size_t i = 0; i < theirs.shape().rows; ++i) {
    std::size_t in_row = 0;
    double of_one = 0.0;
    for (const double x : row(theirs, i)) {
      const double apart = std::max(one.rounding.most_apart(x, x, largest), room);
      if (!std::isfinite(x) || !(apart > 0.0) || !(spread > 2.0 * apart) || !seen.insert(x).second) continue;
      of_one = std::log10(spread / (2.0 * apart));
      digits += of_one;
      ++in_row;
    }
    if (in_row == theirs.shape().columns && in_row > 1 && one.node->rows_sum_to_one()) digits -= of_one;
  }
  return digits;
}

// Powers of ten by which the cells that differ are further apart than they may be.
double digits_apart(const ComparedMatrix& one) {
  if (one.difference.has_other_shape) return 0.0;
  const Matrix &theirs = *one.theirs, &right = one.node->matrix();
  const double largest = largest_of(right);
  double digits = 0.0;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const double x = cells(theirs)[i], apart = std::fabs(x - cells(right)[i]);
    const double room = one.rounding.most_apart(x, cells(right)[i], largest);
    if (std::isfinite(apart) && apart > room && room > 0.0) digits += std::log10(apart / room);
  }
  return digits;
}

class PrecisionSearch {
 public:
  // `also_tried`: how many computations were tried besides this one, as a power of ten.
  PrecisionSearch(const Graph& graph, std::span<const ComparedMatrix> compared, double also_tried = 0.0)
      : graph_(graph), compared_(compared), also_tried_(also_tried) {
    constexpr double least_digits = 3.0;  // by which numbers of a program are apart that did not come out by chance
    double digits = 0.0;
    for (std::size_t i = 0; i < compared.size(); ++i) {
      const ComparedMatrix& one = compared[i];
      if (one.difference.agrees()) continue;
      differing_.push_back(i);
      const std::optional<int> decimals = one.rounding.decimals();
      is_written_by_hand_ =
          is_written_by_hand_ && (decimals ? *decimals <= most_decimals_by_hand : has_whole_numbers(one));
      digits += digits_apart(one);
      digits_ += digits_of_file(one);
      last_ = std::max(last_, one.node->original().index);
      may_be_ = may_be_ && one.node->op && !one.difference.has_other_shape &&
                std::ranges::all_of(cells(*one.theirs), [](double x) { return !std::isnan(x); });
      work_of_one_ += work_for(*one.node);
    }
    says_enough_ = is_written_by_hand_ || digits >= least_digits;
    const auto found = std::ranges::find_if(graph.nodes(), divides_by_a_root);
    if (found != graph.nodes().end()) scaled_ = &*found;
    has_softmax_ = std::ranges::any_of(graph.nodes(), is_softmax_of_attention);
  }

  bool may_be() const { return may_be_; }
  bool is_written_by_hand() const { return may_be_ && is_written_by_hand_; }

  // As long as no step has fewer decimals than these.
  std::optional<StepPrecision> run(int least_decimals) {
    if (!may_be_ || differing_.empty()) return std::nullopt;
    if (explains({})) return told(cut_at_ ? "" : "each matrix computed from the rounded numbers before it");
    if (!pays_for(60) || !may_be_rounded_to(0)) return std::nullopt;
    if (const auto found = single_facts(least_decimals)) return found;
    for (int decimals = most_decimals_by_hand; decimals >= std::max(least_decimals, 1) && pays_for(150); --decimals) {
      if (!may_be_rounded_to(decimals)) continue;
      if (const auto found = all_steps(decimals)) return found;
    }
    return least_decimals == 0 && is_written_by_hand_ && pays_for(3000) ? each_step_by_itself() : std::nullopt;
  }

  // The decimals of the file: who rounds to these, or more, has not lost what tells a mistake.
  int decimals_of_file() const {
    int most = 0;
    for (const std::size_t place : differing_) most = std::max(most, compared_[place].rounding.decimals().value_or(99));
    return most;
  }

  // How far off the matrices that differ are at the most where steps before them are off by so many units of these
  // decimals.
  std::vector<double> room(int decimals, int tries, double units) {
    std::vector<double> most(compared_.size(), 0.0);
    std::mt19937 generator(1);
    const double by = units * std::pow(10.0, -decimals);
    for (const std::size_t place : differing_) {
      const Node* const own = &compared_[place].node->original();
      for (int i = 0; i < tries; ++i) {
        const Change moved = behind_each(
            [own](const Node& node) { return &node != own && is_step(node); },
            [&](double x) { return std::isfinite(x) && x != 0.0 ? x + (generator() % 2 == 0 ? by : -by) : x; });
        add_apart(place, moved, most[place]);
      }
    }
    return most;
  }

  // Each matrix that differs, from the numbers before it in the file, or from those that are not rounded for it.
  bool explains(const std::vector<Change>& changes) {
    cut_at_.reset();
    if (!says_enough_ || work_ > most_work) return false;
    return where_possible([&] {
      for (const std::size_t place : differing_) {
        now_compared_ = &compared_[place].node->original();
        std::vector<Change> all = numbers_before(place);
        const bool has_numbers = !all.empty();
        work_ += (has_numbers ? 2 : 1) * (work_for(*compared_[place].node) + 10'000);
        all.insert(all.end(), changes.begin(), changes.end());
        if (explains_place(place, std::move(all))) continue;
        if (!has_numbers || !explains_place(place, changes)) return false;
      }
      return true;
    });
  }

  // Scores that are whole numbers.
  std::optional<StepPrecision> run_coarse() {
    if (!may_be_ || differing_.empty() || !pays_for(30)) return std::nullopt;
    if (leaves_enough(&role::scaled, 0) &&
        explains({behind_each(makes<role::scaled>, [](double x) { return std::floor(x); })}))
      return StepPrecision{"the scaled scores rounded down to whole numbers, as // does"};
    for (const Role* role : {&role::scaled, &role::scores, &role::q, &role::k, &role::v}) {
      for (const RoundOrCut keep : {RoundOrCut::nearest, RoundOrCut::nearest_even, RoundOrCut::cut}) {
        if (const auto found = tried({.roles = {{role, 0}}, .keep = keep})) return found;
      }
    }
    return std::nullopt;
  }

  // The exponentials and the root rounded otherwise than the steps for which there is room already.
  std::optional<StepPrecision> run_in_room() {
    if (!may_be_) return std::nullopt;
    if (differing_.empty()) return StepPrecision{};
    if (!pays_for(60)) return std::nullopt;
    std::vector<std::optional<Exponentials>> ways = {std::nullopt};
    for (const double base : {2.718, 2.72}) ways.emplace_back(Exponentials{.base = base});
    for (int decimals = most_decimals_by_hand; decimals >= 1; --decimals) {
      for (const bool less_largest : {false, true}) {
        for (const double base : {std::numbers::e, 2.72})
          ways.emplace_back(Exponentials{decimals, RoundOrCut::nearest, less_largest, base});
        ways.emplace_back(Exponentials{decimals, RoundOrCut::cut, less_largest, std::numbers::e});
      }
    }
    for (const std::optional<Exponentials>& way : ways) {
      if (const auto found = tried({.exponentials = way})) return found;
    }
    for (const std::optional<RoundedRoot>& root : roots(2)) {
      if (const auto found = tried({.root = root})) return found;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint64_t most_work = 100'000'000;
  static constexpr std::array rounded_alone = {&role::weights, &role::scaled, &role::scores,
                                               &role::q,       &role::k,      &role::v};

  void add_apart(std::size_t place, const Change& change, double& most) {
    RecomputedMatrices remade(graph_, compared_, {change});
    const std::shared_ptr<const Matrix> now = remade.at(place);
    if (!now) return;
    const Matrix& right = compared_[place].node->matrix();
    for (std::size_t cell = 0; cell < right.size(); ++cell) {
      const double apart = std::fabs(cells(*now)[cell] - cells(right)[cell]);
      if (std::isfinite(apart)) most = std::max(most, apart);
    }
  }

  bool explains_place(std::size_t place, std::vector<Change> changes) {
    RecomputedMatrices remade(graph_, compared_, std::move(changes));
    const ComparedMatrix& one = compared_[place];
    const std::shared_ptr<const Matrix> now = remade.at(place);
    if (!now) return false;
    if (agree(*one.theirs, *now, one.rounding)) return true;
    const std::optional<int> decimals = has_whole_numbers(one) ? 1 : one.rounding.decimals();
    if (!decimals || *decimals > most_decimals_by_hand) return false;
    if (has_whole_numbers(one) &&
        agree(*one.theirs, each_number(*now, [](double x) { return kept(x, 1, RoundOrCut::nearest); }), one.rounding))
      return true;
    const Matrix written = each_number(*now, [&](double x) { return kept(x, *decimals, RoundOrCut::cut); });
    const bool is_cut = agree(*one.theirs, written, one.rounding);
    if (is_cut) cut_at_ = *decimals;
    return is_cut;
  }

  std::vector<Change> numbers_before(std::size_t place) const {
    std::vector<Change> numbers;
    const Node& last = compared_[place].node->original();
    for (std::size_t i = 0; i < place; ++i) {
      const Node& node = compared_[i].node->original();
      const bool is_usable = node.op && &node != &last && node.frame.shape == compared_[i].theirs->shape();
      if (is_usable) numbers.push_back(numbers_of(node, *compared_[i].theirs));
    }
    return numbers;
  }

  // A root that is far off is none: whoever takes 1 for it does not scale.
  bool is_root(const RoundedRoot& root) const {
    constexpr double most = 0.06;
    const double right = scaled_->find(setting::number)->value, taken = root_kept(right, root);
    return std::fabs(taken / (root.is_reciprocal ? 1.0 / right : right) - 1.0) <= most;
  }

  // Numbers of which rounding leaves too little say nothing: a mean, or the largest alone, comes out as well.
  bool leaves_enough(const Role* role, int decimals) const {
    constexpr double most = 0.25;
    const double unit = std::pow(10.0, -decimals);
    return std::ranges::all_of(graph_.named(), [&](const Node* node) {
      if (!is_step(*node) || (role && !node->is(*role)) || node->index > last_) return true;
      const double spread = spread_of(node->matrix());
      return spread == 0.0 || unit <= most * spread;
    });
  }

  std::optional<StepPrecision> tried(const HandRounding& as) {
    if (as.root && !is_root(*as.root)) return std::nullopt;
    for (const auto& [role, decimals] : as.roles) {
      if (!leaves_enough(role, decimals)) return std::nullopt;
    }
    if (work_ > most_work || !explains(as.changes(now_compared_))) return std::nullopt;
    return told(as.told(scaled_));
  }

  // With what was done to the numbers of the file at the end.
  StepPrecision told(std::string how) const {
    if (!cut_at_) return {std::move(how)};
    const std::string cut =
        fmt::format("the numbers of the file cut at {}", count_of(static_cast<std::size_t>(*cut_at_), "decimal"));
    return {how.empty() ? cut : fmt::format("{}, and {}", how, cut)};
  }

  // Whether the file says so much that none of so many ways gives it by chance.
  bool pays_for(double ways) const { return digits_ >= std::log10(ways) + 1.0 + also_tried_; }

  std::optional<StepPrecision> single_facts(int least_decimals) {
    for (const RoundedRoot& root : rounded_roots()) {
      if (!scaled_) break;
      if (const auto found = tried({.root = root})) return found;
    }
    if (has_softmax_) {
      for (const double base : {2.718, 2.72, 2.7183}) {
        if (const auto found = tried({.exponentials = Exponentials{.base = base}})) return found;
      }
      for (const OtherExponential& row : other_exponentials()) {
        if (is_written_by_hand_) break;
        for (const bool less_largest : {false, true}) {
          if (explains({softmax_by(row.function, less_largest)})) return told(std::string(row.told));
        }
      }
    }
    for (const Precision type : {Precision::float32, Precision::float16, Precision::bfloat16}) {
      if (is_written_by_hand_) break;
      const OfNumber held = [type](double x) { return rounded_to(type, x); };
      const auto is_input = [](const Node& node) { return !node.op && node.content() == Content::numbers; };
      const Change inputs{is_input,
                          [held](RewriteSite at) -> Made { return at.like(each_number(at.node.matrix(), held)); }};
      if (explains({behind_each(is_step, held)}) || explains({behind_each(is_step, held), inputs}))
        return StepPrecision{fmt::format("each step rounded to {}", number_type(type).name)};
      for (const Role* role : rounded_alone) {
        const auto is_it = [role](const Node& node) { return is_step(node) && node.is(*role); };
        if (explains({behind_each(is_it, held)}))
          return StepPrecision{fmt::format("{} rounded to {}", role->leaf, number_type(type).name)};
      }
    }
    for (const Role* role : rounded_alone) {
      for (int decimals = most_decimals_by_hand; decimals >= std::max(least_decimals, 1); --decimals) {
        for (const RoundOrCut keep : {RoundOrCut::nearest, RoundOrCut::nearest_even, RoundOrCut::cut}) {
          if (const auto found = tried({.roles = {{role, decimals}}, .keep = keep})) return found;
        }
      }
    }
    return std::nullopt;
  }

  std::vector<std::optional<RoundedRoot>> roots(int decimals) const {
    std::vector<std::optional<RoundedRoot>> all = {std::nullopt};
    for (const RoundedRoot& root : rounded_roots()) {
      const bool is_usual = root.decimals == decimals || (root.decimals <= 2 && root.decimals > 0);
      if (scaled_ && is_usual) all.push_back(root);
    }
    return all;
  }

  std::optional<StepPrecision> all_steps(int decimals) {
    std::vector<std::optional<Exponentials>> ways = {std::nullopt};
    for (const bool less_largest : {false, true}) {
      for (const double base : {std::numbers::e, 2.718, 2.72}) {
        if (has_softmax_ && is_written_by_hand_)
          ways.emplace_back(Exponentials{decimals, RoundOrCut::nearest, less_largest, base});
      }
    }
    for (const double base : {2.718, 2.72}) {
      if (has_softmax_ && is_written_by_hand_) ways.emplace_back(Exponentials{.base = base});
    }
    for (const std::optional<Exponentials>& way : ways) {
      for (const RoundOrCut keep : {RoundOrCut::nearest, RoundOrCut::nearest_even, RoundOrCut::cut}) {
        for (const std::optional<RoundedRoot>& root : roots(decimals)) {
          HandRounding as{.roles = {{nullptr, decimals}}, .keep = keep, .exponentials = way, .root = root};
          if (as.exponentials) as.exponentials->keep = keep;
          if (const auto found = tried(as)) return found;
        }
      }
    }
    return std::nullopt;
  }

  // Scores and weights at decimals of their own.
  std::optional<StepPrecision> each_step_by_itself() {
    if (!has_softmax_ || !may_be_rounded_to(1)) return std::nullopt;
    std::vector<std::optional<Exponentials>> ways = {std::nullopt};
    for (int decimals = 1; decimals <= most_decimals_by_hand; ++decimals) {
      for (const bool less_largest : {false, true})
        ways.emplace_back(Exponentials{decimals, RoundOrCut::nearest, less_largest, std::numbers::e});
    }
    constexpr std::array keeps = {RoundOrCut::nearest, RoundOrCut::cut};
    for (std::size_t i = 0; i < keeps.size() * ways.size(); ++i) {
      const std::optional<Exponentials>& way = ways[i / keeps.size()];
      const RoundOrCut keep = keeps[i % keeps.size()];
      for (int scaled = most_decimals_by_hand + 1; scaled >= 1; --scaled) {
        for (int weights = most_decimals_by_hand + 1; weights >= 1; --weights) {
          for (const std::optional<RoundedRoot>& root : roots(scaled)) {
            HandRounding as{.keep = keep, .exponentials = way, .root = root};
            if (weights <= most_decimals_by_hand) as.roles.emplace_back(&role::weights, weights);
            if (scaled <= most_decimals_by_hand) as.roles.emplace_back(&role::scaled, scaled);
            if (work_ > most_work) return std::nullopt;
            if (const auto found = tried(as)) return found;
          }
        }
      }
    }
    return std::nullopt;
  }

  // Whether they can be as far off as they are.
  bool may_be_rounded_to(int decimals) {
    constexpr int tries = 4;
    constexpr double whole = 1.0, beyond = 2.5;
    work_ += tries * work_of_one_;
    const std::vector<double> most = room(decimals, tries, whole);
    return std::ranges::all_of(differing_, [&](std::size_t i) {
      const ComparedMatrix& one = compared_[i];
      return one.difference.largest <= beyond * most[i] + one.rounding.most_apart(0.0, 0.0, largest_of(*one.theirs));
    });
  }

  const Graph& graph_;
  std::span<const ComparedMatrix> compared_;
  double also_tried_;
  std::vector<std::size_t> differing_;
  bool may_be_ = true;
  bool is_written_by_hand_ = true;
  bool says_enough_ = true;
  double digits_ = 0.0;  // of what is to be explained
  std::size_t last_ = 0;
  const Node* scaled_ = nullptr;
  bool has_softmax_ = false;
  const Node* now_compared_ = nullptr;
  std::optional<int> cut_at_;  // the decimals at which the numbers of the file were cut in what was tried last
  std::uint64_t work_ = 0, work_of_one_ = 0;
};

// The decimals to which all matrices that differ were rounded; nothing: they were not, or not by hand.
std::optional<int> decimals_by_hand(std::span<const ComparedMatrix> compared) {
  std::optional<int> least;
  for (const ComparedMatrix& one : compared) {
    if (one.difference.agrees() || !one.node->op) continue;
    const std::optional<int> own = one.rounding.decimals();
    if (!own || *own > most_decimals_by_hand || *own < 1) return std::nullopt;
    least = std::min(least.value_or(*own), *own);
  }
  return least;
}

// Room that is small beside the numbers themselves; empty: it would let everything pass.
std::vector<double> room_for_steps(const Graph& graph, std::span<const ComparedMatrix> compared) {
  constexpr double half = 0.5, small = 0.15;
  constexpr int tries = 40;
  constexpr std::uint64_t most_work = 100'000'000;
  PrecisionSearch search(graph, compared);
  const std::optional<int> decimals = decimals_by_hand(compared);
  std::uint64_t work = 0;
  for (const ComparedMatrix& one : compared) work += one.node->op ? tries * work_for(*one.node) : 0;
  if (!search.may_be() || !decimals || work > most_work) return {};
  constexpr double least_digits = 1.5;
  double digits = 0.0;
  std::vector<double> room = search.room(*decimals, tries, half);
  for (std::size_t i = 0; i < compared.size(); ++i) {
    if (compared[i].difference.agrees() || !compared[i].node->op) continue;
    if (room[i] > small * spread_of(compared[i].node->matrix())) return {};
    digits += digits_of_file(compared[i], room[i]);
  }
  if (digits < least_digits) return {};
  return room;
}

}  // namespace

std::optional<StepPrecision> step_precision(const Graph& graph, std::span<const ComparedMatrix> compared,
                                            double also_tried) {
  PrecisionSearch search(graph, compared, also_tried);
  return search.run(search.decimals_of_file());
}

std::optional<StepPrecision> coarse_step_precision(const Graph& graph, std::span<const ComparedMatrix> compared) {
  constexpr double whatever_it_says = -100.0;
  const bool is_by_hand = PrecisionSearch(graph, compared).is_written_by_hand();
  PrecisionSearch search(graph, compared, is_by_hand ? whatever_it_says : 0.0);
  if (std::optional<StepPrecision> found = search.run(0)) return found;
  return PrecisionSearch(graph, compared).run_coarse();
}

bool has_whole_numbers(const ComparedMatrix& matrix) {
  return std::ranges::all_of(cells(*matrix.theirs), [](double x) { return x == std::nearbyint(x); });
}

std::optional<StepPrecision> some_step_precision(const Graph& graph, std::span<const ComparedMatrix> compared,
                                                 double also_tried) {
  const std::vector<ComparedMatrix> with_room = with_room_for_rounded_steps(graph, compared);
  if (with_room.empty()) return std::nullopt;
  const std::optional<StepPrecision> besides = PrecisionSearch(graph, with_room, also_tried).run_in_room();
  if (!besides) return std::nullopt;
  const std::string decimals = count_of(static_cast<std::size_t>(*decimals_by_hand(compared)), "decimal");
  return StepPrecision{.told = besides->told.empty()
                                   ? fmt::format("some steps rounded to {}", decimals)
                                   : fmt::format("{}, and some steps rounded to {}", besides->told, decimals),
                       .is_bound = true};
}

bool gives_from_rounded_numbers(const Graph& graph, std::span<const ComparedMatrix> compared, const Change& change) {
  PrecisionSearch search(graph, compared);
  return search.is_written_by_hand() && search.explains({change});
}

bool gives_from_rounded_exponentials(const Graph& graph, std::span<const ComparedMatrix> compared,
                                     const Change& change) {
  PrecisionSearch search(graph, compared);
  if (!search.is_written_by_hand()) return false;
  for (int decimals = most_decimals_by_hand; decimals >= 1; --decimals) {
    for (const bool less_largest : {false, true}) {
      if (search.explains(
              {change, with_exponentials_as({decimals, RoundOrCut::nearest, less_largest, std::numbers::e})}))
        return true;
    }
  }
  return false;
}

std::vector<ComparedMatrix> with_room_for_rounded_steps(const Graph& graph, std::span<const ComparedMatrix> compared) {
  const std::vector<double> room = where_possible([&] { return room_for_steps(graph, compared); });
  if (room.empty()) return {};
  const int decimals = *decimals_by_hand(compared);
  std::vector<ComparedMatrix> all(compared.begin(), compared.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    ComparedMatrix& one = all[i];
    if (!one.node->op || !one.rounding.decimals() || room[i] == 0.0 || one.rounding.has_more()) continue;
    one.rounding.allow_more(room[i], decimals);
    one.difference = difference(*one.theirs, one.node->matrix(), one.rounding);
  }
  return all;
}

// --- fewer bits

void allow_for_fewer_bits(const Graph& graph, std::vector<ComparedMatrix>& compared) {
  const auto is_of = [](const ComparedMatrix& one, Precision type) {
    constexpr std::size_t least = 4;
    constexpr double simple = 64.0;  // people write halves and quarters
    std::size_t telling = 0, others = 0;
    for (const double x : cells(*one.theirs)) {
      if (!std::isfinite(x) || x == 0.0) continue;
      if (x != rounded_to(type, x)) return false;
      ++(x * simple == std::nearbyint(x * simple) ? others : telling);
    }
    return telling >= least && telling >= others;
  };
  std::set<const ComparedMatrix*> told;
  for (const Precision type : {Precision::bfloat16, Precision::float16}) {
    const auto is_affected = [&](const ComparedMatrix& one) {
      return one.node->op && !told.contains(&one) && !one.difference.agrees() && !one.difference.has_other_shape &&
             is_of(one, type);
    };
    if (std::ranges::none_of(compared, is_affected)) continue;
    const OfNumber held = [type](double x) { return rounded_to(type, x); };
    const auto is_number = [](const Node& node) {
      return is_step(node) || (!node.op && node.content() == Content::numbers);
    };
    const Change rounded{is_number, [held](RewriteSite at) -> Made {
                           return at.like(each_number(at.node.op ? at.itself().matrix() : at.node.matrix(), held));
                         }};
    RecomputedMatrices remade(graph, compared, {rounded});
    for (std::size_t i = 0; i < compared.size(); ++i) {
      ComparedMatrix& one = compared[i];
      const std::shared_ptr<const Matrix> now = is_affected(one) ? remade.at(i) : nullptr;
      if (!now) continue;
      constexpr double beyond = 2.5;  // sums are rounded in another order
      const double apart = largest_difference(*now, one.node->matrix()), largest = largest_of(one.node->matrix());
      if (!std::isfinite(apart)) continue;
      told.insert(&one);
      one.rounding = Rounding::of_computation(type, beyond * apart + number_type(type).step_at(largest));
      one.difference = difference(*one.theirs, one.node->matrix(), one.rounding);
    }
  }
}

}  // namespace attn
