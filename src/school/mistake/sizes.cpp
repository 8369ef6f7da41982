#include "school/mistake/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <string_view>
#include <vector>

#include "core/support/text.hpp"

namespace attn {

bool is_near(double a, double b) { return std::fabs(a - b) <= 1e-3 * std::fabs(b); }

double at_two_digits(double number) { return std::stod(fmt::format("{:.1e}", number)); }
bool has_two_digits(double number) { return std::fabs(number - at_two_digits(number)) <= 1e-4 * std::fabs(number); }

namespace {

// A size that a factor may be made of, and what has it.
struct NamedSize {
  std::size_t size;
  std::vector<std::string> whats;
  bool has_root;  // by which people divide
};

std::string name_of_axis(const Axis& axis, std::string_view otherwise) {
  return axis.name.empty() ? fmt::format("its {}", otherwise) : axis.name;
}

std::vector<NamedSize> sizes_around(const Node& node) {
  std::vector<NamedSize> all;
  const auto add = [&](std::size_t size, std::string_view what, bool has_root = true) {
    if (size < 2) return;
    const auto same = std::ranges::find(all, size, &NamedSize::size);
    if (same == all.end()) {
      all.push_back({size, {std::string(what)}, has_root});
    } else if (std::ranges::find(same->whats, what) == same->whats.end()) {
      same->whats.emplace_back(what);
    }
  };
  if (const Node* const q = node.beside(role::q)) add(q->frame.shape.columns, "the size of a query");
  std::set<std::size_t> heads;
  const Node* x = nullptr;
  for (const Node& other : node.graph->nodes()) {
    const NamedScope* const head = other.within(scope::head);
    if (head && head->number) heads.insert(*head->number);
    if (!x && other.is(role::x)) x = &other;
  }
  if (x) add(x->frame.shape.columns, "the size of an embedding");
  add(heads.size(), "the number of heads");
  add(node.frame.shape.rows, fmt::format("the number of {}", name_of_axis(node.frame.rows, "rows")), false);
  add(node.frame.shape.columns, fmt::format("the number of {}", name_of_axis(node.frame.columns, "columns")), false);
  return all;
}

// A factor that is near 1, and how far it is from there to a tenth.
bool is_near_1_by(double factor, double right) {
  return std::fabs(factor - right) <= std::min(1e-3, 0.1 * std::fabs(right - 1.0));
}

// √size over the same with 1 or 2 decimals, and the reverse: "√2/1.4, where 2 is the size of a query and √2 was rounded
// to 1.4"; empty: neither.
std::string factor_of_rounded_root(double factor, const NamedSize& named) {
  if (!named.has_root) return "";
  const std::size_t size = named.size;
  const double root = std::sqrt(static_cast<double>(size));
  for (const double places : {10.0, 100.0}) {
    const double rounded = std::round(root * places) / places;
    const std::string told =
        fmt::format(", where {0} is {1} and √{0} was rounded to {2}", size, list_in_words(named.whats), rounded);
    if (is_near_1_by(factor, root / rounded)) return fmt::format("√{}/{}{}", size, rounded, told);
    if (is_near_1_by(factor, rounded / root)) return fmt::format("{}/√{}{}", rounded, size, told);
  }
  return "";
}

// What a factor is of a size: "1/√4"; empty: nothing.
std::string factor_of_size(double factor, const NamedSize& named) {
  const std::size_t size = named.size;
  const double s = static_cast<double>(size);
  if (is_near(factor, s)) return std::to_string(size);
  if (is_near(factor, 1.0 / s)) return fmt::format("1/{}", size);
  if (named.has_root && is_near(factor, std::sqrt(s))) return fmt::format("√{}", size);
  if (named.has_root && is_near(factor, 1.0 / std::sqrt(s))) return fmt::format("1/√{}", size);
  if (is_near(factor, (s - 1.0) / s)) return fmt::format("{}/{}", size - 1, size);
  if (is_near(factor, s / (s - 1.0))) return fmt::format("{}/{}", size, size - 1);
  if (is_near(factor, std::sqrt((s - 1.0) / s))) return fmt::format("√({}/{})", size - 1, size);
  if (is_near(factor, std::sqrt(s / (s - 1.0)))) return fmt::format("√({}/{})", size, size - 1);
  return "";
}

}  // namespace

std::string factor_in_words(const Node& node, double factor) {
  std::string words;
  const auto add = [&](const std::string& more) { words += (words.empty() ? ": " : ", or ") + more; };
  if (is_near(factor, std::numbers::ln2)) add("ln 2, as powers of 2 give");
  if (is_near(factor, 1.0 / std::numbers::ln2)) add("1/ln 2, as logarithms to the base 2 give");
  const std::vector<NamedSize> sizes = sizes_around(node);
  for (const NamedSize& named : sizes) {
    const std::string written = factor_of_size(factor, named);
    if (written.empty()) continue;
    add(written == std::to_string(named.size)
            ? fmt::format("{}, {}", written, list_in_words(named.whats))
            : fmt::format("{}, where {} is {}", written, named.size, list_in_words(named.whats)));
  }
  for (const NamedSize& named : sizes) {
    const std::string written = factor_of_rounded_root(factor, named);
    if (!written.empty()) add(written);
  }
  return words;
}

}  // namespace attn
