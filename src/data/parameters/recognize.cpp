#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>

#include "data/parameters/source.hpp"

namespace attn {

namespace {

// A name that a layout may have, such as `layers.#.norm1.weight`.
struct Pattern {
  std::string name;
  Need need;
};

std::vector<Pattern> patterns_of(const Layout& layout) {
  std::vector<Pattern> patterns;
  for (const Scope& scope : layout.scopes) {
    for (const Part& part : scope.parts) {
      for (const TensorRow& row : part.tensors) {
        patterns.push_back({fmt::format("{}{}{}", scope.theirs, part.theirs, row.theirs), row.need});
      }
    }
  }
  return patterns;
}

std::string with_number(std::string_view scope, std::size_t layer) {
  const std::size_t number = scope.find('#');
  if (number == std::string_view::npos) return std::string(scope);
  return fmt::format("{}{}{}", scope.substr(0, number), layer, scope.substr(number + 1));
}

bool any_begins_with(const TensorNames& names, const std::string& prefix) {
  const auto first = names.lower_bound(prefix);
  return first != names.end() && first->starts_with(prefix);
}

// Whether any part of a scope is there.
bool has_any_of(const Scope& scope, const std::string& theirs, const TensorNames& names) {
  return std::ranges::any_of(scope.parts,
                             [&](const Part& part) { return any_begins_with(names, theirs + part.theirs); });
}

// A prefix, and what stands behind it has places in the layout.
struct Candidate {
  const Layout* layout = nullptr;
  std::string prefix;
  std::size_t matched = 0;
  std::set<Need> needs = {};  // of what is there
};

// Goes through what a layout expects, in its order, up to the first tensor that is missing.
class Placing {
 public:
  Placing(const Candidate& candidate, const TensorNames& names) : candidate_(candidate), names_(names) {
    recognized_.layout = candidate.layout;
    recognized_.prefix = candidate.prefix;
  }

  LayoutMatch run() && {
    for (const Scope& scope : candidate_.layout->scopes) place_layers(scope);
    return std::move(recognized_);
  }

 private:
  void place_layers(const Scope& scope) {
    const std::size_t first = candidate_.layout->first_layer;
    const bool numbered = scope.theirs.find('#') != std::string::npos;
    const std::size_t last = numbered ? last_layer(scope) : first;
    for (std::size_t layer = first; !recognized_.missing && (layer <= last || layer == first); ++layer) {
      const std::string theirs = candidate_.prefix + with_number(scope.theirs, layer);
      const bool required = layer == first && scope.is_required;
      if (layer == last && !required && !has_any_of(scope, theirs, names_)) return;
      place_parts(scope, theirs, with_number(scope.ours, layer - first + 1));
    }
  }

  // The highest number of a layer: where one before it is missing, that is what is wrong.
  std::size_t last_layer(const Scope& scope) const {
    const std::string before = candidate_.prefix + scope.theirs.substr(0, scope.theirs.find('#'));
    std::size_t last = candidate_.layout->first_layer;
    for (auto name = names_.lower_bound(before); name != names_.end() && name->starts_with(before); ++name) {
      std::size_t number = 0;
      std::from_chars(name->data() + before.size(), name->data() + name->size(), number);
      last = std::max(last, number);
    }
    return last;
  }

  void place_parts(const Scope& scope, const std::string& theirs, const std::string& ours) {
    for (const Part& part : scope.parts) {
      place_part(part, theirs + part.theirs, ours + part.ours);
    }
  }

  void place_part(const Part& part, const std::string& theirs, const std::string& ours) {
    const auto name_of = [&](const TensorRow& row) { return theirs + row.theirs; };
    const auto is_there = [&](const TensorRow& row) { return names_.contains(name_of(row)); };
    if (part.may_be_missing && std::ranges::none_of(part.tensors, is_there)) return;
    const bool is_separate = std::ranges::any_of(part.tensors, [&](const TensorRow& row) {
      return row.need == Need::separate && names_.contains(name_of(row));
    });
    for (const TensorRow& row : part.tensors) {
      if (recognized_.missing) return;
      if (row.need == (is_separate ? Need::packed : Need::separate)) continue;
      PlacedTensor tensor{name_of(row), &row, ours};
      if (names_.contains(tensor.name)) {
        recognized_.tensors.push_back(std::move(tensor));
      } else if (is_needed(row)) {
        recognized_.missing = std::move(tensor);
      }
    }
  }

  bool is_needed(const TensorRow& row) const {
    const bool is_of_some = row.need == Need::with_biases || row.need == Need::with_shifts;
    if (is_of_some) return candidate_.needs.contains(row.need);
    return row.need == Need::always || row.need == Need::packed || row.need == Need::separate;
  }

  const Candidate& candidate_;
  const TensorNames& names_;
  LayoutMatch recognized_;
};

// Every way to part names into a prefix and what has a place in the layout.
std::vector<Candidate> candidates_in(const Layout& layout, const TensorNames& names) {
  constexpr int most_parts = 8;  // no name of a layout has more
  const std::vector<Pattern> patterns = patterns_of(layout);
  std::map<std::string_view, Candidate> candidates;
  for (const std::string& name : names) {
    std::size_t begin = name.size();
    for (int parts = 0; begin > 0 && parts < most_parts; ++parts) {
      const std::size_t dot = begin < 2 ? std::string::npos : name.rfind('.', begin - 2);
      begin = dot + 1;  // npos + 1 is 0: all of it
      const std::string_view rest = std::string_view(name).substr(begin);
      const auto found =
          std::ranges::find_if(patterns, [&](const Pattern& pattern) { return matches_layers(pattern.name, rest); });
      if (found == patterns.end()) continue;
      Candidate& candidate = candidates[std::string_view(name).substr(0, begin)];
      ++candidate.matched;
      candidate.needs.insert(found->need);
    }
  }
  std::vector<Candidate> list;
  for (auto& [prefix, candidate] : candidates) {
    list.push_back({&layout, std::string(prefix), candidate.matched, candidate.needs});
  }
  return list;
}

}  // namespace

std::vector<LayoutMatch> recognize(const TensorNames& names) {
  std::vector<Candidate> candidates;
  for (const Layout& layout : layouts()) {
    std::ranges::move(candidates_in(layout, names), std::back_inserter(candidates));
  }
  std::ranges::stable_sort(candidates, {}, [&](const Candidate& candidate) {
    return std::pair(names.size() - candidate.matched, candidate.prefix.size());
  });
  std::vector<LayoutMatch> whole, first;
  for (const Candidate& candidate : candidates) {
    if (candidate.matched < candidates.front().matched) break;
    LayoutMatch recognized = Placing(candidate, names).run();
    std::vector<LayoutMatch>& among = recognized.missing ? first : whole;
    if (!recognized.missing || first.empty()) among.push_back(std::move(recognized));
  }
  if (!whole.empty()) return whole;
  // A few names that another layout has as well do not make it that one.
  const bool are_few = !candidates.empty() && 2 * candidates.front().matched < names.size();
  return are_few ? std::vector<LayoutMatch>() : first;
}

}  // namespace attn
