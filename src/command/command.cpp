#include "command/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "command/forms.hpp"

namespace attn {

Environment Environment::inner() const {
  Environment inside = *this;
  inside.work = nullptr;
  inside.ground = {};
  inside.confine = {};
  return inside;
}

std::optional<std::string> Arguments::only() const {
  if (!has(option::only)) return std::nullopt;
  return fmt::format("{}", fmt::join(texts(option::only), "|"));
}

LongWork* Arguments::long_work() const { return environment ? environment->work : nullptr; }

void Arguments::tell(std::string_view stage) const {
  if (LongWork* const work = long_work()) work->tell(stage);
}

std::vector<std::string> words_of_line(const Command& command, const Arguments& arguments,
                                       std::span<const Option* const> without) {
  // A command that only asks for what is left out is a walk of it.
  const bool is_walk = command.shown_as && std::ranges::find(without, command.shown_as) != without.end();
  std::vector<std::string> words = {is_walk ? "walk" : std::string(command.name)};
  for (std::size_t i = 1; i < arguments.line.size(); ++i) {
    const std::string& word = arguments.line[i];
    const auto is_short = [&](const Option* one) {
      return one->letter != '\0' && word.starts_with(fmt::format("-{}", one->letter));
    };
    const auto option = std::ranges::find_if(without, [&](const Option* one) {
      return word == one->name || is_short(one) || word.starts_with(std::string(one->name) + '=');
    });
    if (option == without.end()) {
      words.push_back(word);
    } else if ((*option)->kind != Kind::flag && (word == (*option)->name || word.size() == 2)) {
      ++i;
    }
  }
  // "attn backward encoder" is "attn encoder --backward".
  for (const Command& before : commands()) {
    const Option* const flag = before.shown_as;
    const bool is_meant = flag && flag->kind == Kind::flag && before.name != command.name && arguments.has(*flag);
    if (!is_meant || std::ranges::find(without, flag) != without.end()) continue;
    if (std::ranges::find(words, flag->name) == words.end()) words.emplace_back(flag->name);
  }
  return words;
}

}  // namespace attn
