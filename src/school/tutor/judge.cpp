#include "school/tutor/judge.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/files/json.hpp"

namespace attn {

namespace {

const Json& rules_of_judge() {
  static const Json table = parse_json(judge_table(), "judge.json");
  return table;
}

// A sentence with what stands in its places, or what another list says there.
std::string filled_by_evidence(std::string_view says, const Evidence& evidence) {
  std::string filled;
  for (std::size_t open; (open = says.find('{')) != std::string_view::npos;) {
    const std::size_t close = says.find('}', open);
    const std::string name(says.substr(open + 1, close - open - 1));
    const auto place = evidence.places.find(name);
    filled += says.substr(0, open);
    filled += place == evidence.places.end() ? judged_by(name, evidence).value().says : place->second;
    says.remove_prefix(close + 1);
  }
  return filled + std::string(says);
}

std::size_t place_among(const std::vector<std::string>& names, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

}  // namespace

std::optional<Judgment> judged_by(std::string_view list, const Evidence& evidence) {
  for (const Json& row : rules_of_judge().at(std::string(list))) {
    const auto text = [&](const char* name, const char* otherwise) { return row.value(name, std::string(otherwise)); };
    const auto holds = [&](const Json& fact) {
      const auto found = evidence.facts.find(fact.get_ref<const std::string&>());
      return found != evidence.facts.end() && found->second;
    };
    if (row.contains("if") && !std::ranges::all_of(row["if"], holds)) continue;
    if (!row.contains("upTo"))
      return Judgment{static_cast<Judgment::Mark>(place_among(names_of_marks(), text("mark", "wrong"))),
                      filled_by_evidence(text("says", ""), evidence)};
    const std::optional<Evidence> found = evidence.search(text("upTo", ""), judge_limit(text("told", "")));
    if (!found) continue;
    if (std::optional<Judgment> judged = judged_by(text("list", "recognized"), *found)) return judged;
  }
  return std::nullopt;
}

double judge_limit(std::string_view name) { return rules_of_judge().at("limits").at(std::string(name)).get<double>(); }

const std::vector<std::string>& usual_mistakes() {
  static const std::vector<std::string> names = rules_of_judge().at("usual mistakes").get<std::vector<std::string>>();
  return names;
}

const std::vector<std::string>& words_of_infinity() {
  static const std::vector<std::string> names =
      rules_of_judge().at("words of infinity").get<std::vector<std::string>>();
  return names;
}

const std::vector<std::string>& names_of_kinds() {
  static const std::vector<std::string> names = rules_of_judge().at("kinds").get<std::vector<std::string>>();
  return names;
}

const std::vector<std::string>& names_of_marks() {
  static const std::vector<std::string> names = rules_of_judge().at("marks").get<std::vector<std::string>>();
  return names;
}

}  // namespace attn
