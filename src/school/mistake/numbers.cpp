#include "school/mistake/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "school/mistake/amounts.hpp"
#include "school/mistake/sizes.hpp"

namespace attn {

std::vector<const MistakeWithNumber*> mistakes_with_numbers() {
  std::vector<const MistakeWithNumber*> all;
  for (const auto& of_subject :
       {numbers_in_scores, numbers_in_softmax, numbers_in_masks, numbers_in_values, numbers_in_norms,
        numbers_in_residuals, numbers_in_layers, numbers_in_embeddings, numbers_in_positions}) {
    for (const MistakeWithNumber& mistake : of_subject()) all.push_back(&mistake);
  }
  return all;
}

Change MistakeWithNumber::change(const NodesWhere& places, double number) const {
  return {[at = places](const Node& node) { return at.has(node); },
          [make = with, number](RewriteSite at) { return make(at, number); }};
}

namespace {

// One number for which the matrix at a place becomes theirs: by the method of Gauss and Newton, whose steps go down.
class NumberSolver {
 public:
  NumberSolver(const SearchGround& ground, std::size_t place, const MistakeWithNumber& mistake)
      : ground_(ground),
        place_(place),
        mistake_(mistake),
        places_(ground.graph, mistake.mistake.where),
        before_(ground.graph, ground.compared, ground.granted) {}

  // Nothing: no number gives theirs, or too few cells say so.
  std::optional<SolvedNumber> run() {
    if (!places_.first() || places_.first()->index > ground_.compared[place_].node->index || !reaches())
      return std::nullopt;
    for (const double start : mistake_.starts) {
      if (explains(start)) return enough_said(start);
    }
    for (const double start : mistake_.starts) {
      const std::optional<double> number = improved(start);
      if (number && explains(*number)) return enough_said(shortest(*number));
    }
    return std::nullopt;
  }

 private:
  RecomputedMatrices with(double number) {
    return {before_, {mistake_.change(places_, number)}, places_.first()->index};
  }

  bool reaches() {
    return where_possible([&] { return with(*mistake_.starts.begin()).changes(place_); });
  }

  bool explains(double number) {
    return where_possible([&] {
      RecomputedMatrices remade = with(number);
      return remade.explains(place_) && remade.keeps_those_before(place_);
    });
  }

  // Theirs less what comes out; empty where that cannot be computed or has another shape.
  std::vector<double> apart_with(double number) {
    const std::shared_ptr<const Matrix> now = where_possible([&] { return with(number).at(place_); });
    const Matrix& theirs = *ground_.compared[place_].theirs;
    std::vector<double> apart;
    if (!now || now->shape() != theirs.shape()) return apart;
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      const double one = cells(theirs)[i], other = cells(*now)[i];
      if (one != other && !(std::isfinite(one) && std::isfinite(other))) return {};
      apart.push_back(one == other ? 0.0 : one - other);
    }
    return apart;
  }

  static double squares(const std::vector<double>& apart) {
    double sum = 0.0;
    for (const double x : apart) sum += x * x;
    return apart.empty() ? std::numeric_limits<double>::infinity() : sum;
  }

  double number_at(double place, double sign) const {
    return mistake_.scale == MistakeWithNumber::Scale::linear ? place : sign * std::exp(place);
  }

  std::optional<double> improved(double start) {
    const bool is_linear = mistake_.scale == MistakeWithNumber::Scale::linear;
    if (!is_linear && start == 0.0) return std::nullopt;
    const double sign = start < 0.0 ? -1.0 : 1.0;
    double now = is_linear ? start : std::log(std::fabs(start));
    constexpr int most_steps = 12, early = 3;
    constexpr double small = 1e-5, enough = 0.7, longest = 3.0, done = 1e-24;
    std::vector<double> apart = apart_with(number_at(now, sign));
    double least = squares(apart);
    const double first = least;
    const double size = squares(cells_of_theirs());
    for (int step = 0; step < most_steps && std::isfinite(least) && least > done * size; ++step) {
      if (step == early && least > enough * first) return std::nullopt;
      const double apart_by = small * std::max(1.0, std::fabs(now));
      const std::vector<double> beside = apart_with(number_at(now + apart_by, sign));
      if (beside.size() != apart.size()) break;
      double slope = 0.0, both = 0.0;
      for (std::size_t i = 0; i < apart.size(); ++i) {
        const double rise = (apart[i] - beside[i]) / apart_by;
        slope += rise * rise;
        both += rise * apart[i];
      }
      if (!(slope > 0.0)) break;
      double by = both / slope;
      if (!is_linear) by = std::clamp(by, -longest, longest);
      bool is_nearer = false;
      for (int half = 0; half < 5 && !is_nearer; ++half, by /= 2.0) {
        std::vector<double> next = apart_with(number_at(now + by, sign));
        const double rest = squares(next);
        if (!(rest < least)) continue;
        is_nearer = true;
        now += by;
        least = rest;
        apart = std::move(next);
        break;
      }
      if (!is_nearer) break;
    }
    return number_at(now, sign);
  }

  std::vector<double> cells_of_theirs() const {
    std::vector<double> finite;
    for (const double x : cells(*ground_.compared[place_].theirs)) {
      if (std::isfinite(x)) finite.push_back(x);
    }
    return finite;
  }

  // The number with the fewest digits that gives the same.
  double shortest(double number) {
    constexpr int most_digits = 8;
    for (int digits = 1; digits <= most_digits; ++digits) {
      const double rounded = std::stod(fmt::format("{:.{}e}", number, digits - 1));
      if (explains(rounded)) return rounded;
    }
    return number;
  }

  // A person writes few digits, or divides by a number of few, or takes a factor of sizes, which is told behind a
  // colon.
  bool is_likely(double number) const {
    constexpr int few = 3;
    return number == std::stod(fmt::format("{:.{}e}", number, few - 1)) ||
           (mistake_.amount == amount_as_factor && number != 0.0 && has_two_digits(1.0 / number)) ||
           mistake_.amount(*places_.first(), number).find(':') != std::string::npos;
  }

  // A number takes one cell to be solved for. At least three others that do not follow from these must say the same.
  std::optional<SolvedNumber> enough_said(double number) {
    constexpr std::size_t unknowns = 1, least_beyond = 3;
    const std::shared_ptr<const Matrix> without = before_.at(place_), now = with(number).at(place_);
    if (!without || !now) return std::nullopt;
    const CellEvidence evidence = cell_evidence(ground_.compared[place_], *without, *now);
    if (evidence.independent < unknowns + least_beyond) return std::nullopt;
    if (number != 0.0 && explains(2.0 * number)) return std::nullopt;  // any number does
    constexpr double least_digits = 12.0;  // of numbers with few decimals, where nobody would choose this one
    if (ground_.compared[place_].rounding.decimals() && evidence.digits < least_digits) return std::nullopt;
    return solved(number);
  }

  SolvedNumber solved(double number) {
    RecomputedMatrices remade = with(number);
    return {&mistake_, mistake_.amount(*places_.first(), number), mistake_.change(places_, number),
            explanatory_power(remade, ground_.compared, place_), is_likely(number)};
  }

  const SearchGround& ground_;
  std::size_t place_;
  const MistakeWithNumber& mistake_;
  NodesWhere places_;
  RecomputedMatrices before_;
};

}  // namespace

std::vector<SolvedNumber> solve_numbers(const SearchGround& ground, std::size_t place) {
  const ComparedMatrix& matrix = ground.compared[place];
  std::vector<SolvedNumber> all;
  if (matrix.difference.has_other_shape) return all;
  constexpr std::uint64_t most_work = 1'000'000'000, tries = 15;  // of each that gives nothing
  std::uint64_t work = 0;
  for (const MistakeWithNumber* mistake : mistakes_with_numbers()) {
    if (!NodesWhere(ground.graph, mistake->mistake.where).first()) continue;
    work += tries * work_for(*matrix.node);
    if (work > most_work) break;
    std::optional<SolvedNumber> solved = where_possible([&] { return NumberSolver(ground, place, *mistake).run(); });
    if (!solved) continue;
    if (!all.empty() && solved->explained > all.front().explained) all.clear();
    if (all.empty() || solved->explained == all.front().explained) all.push_back(std::move(*solved));
  }
  return all;
}

}  // namespace attn
