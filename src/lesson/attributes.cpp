#include "lesson/attributes.hpp"

#include <array>

#include "support/lookup.hpp"
#include "support/whole_number.hpp"

namespace attn {
namespace {

// An attribute: how its value gets into the others.
struct Row {
  std::string_view name;
  bool takes_value;
  void (*set)(Attributes& attributes, std::string_view value);
};

constexpr std::array table = {
    Row{"format", true,
        [](Attributes& attributes, std::string_view value) { attributes.style.format = value; }},
    Row{"width", true,
        [](Attributes& attributes, std::string_view value) {
          attributes.style.width = whole_number("width", value, 20, 100000);
        }},
    Row{"precision", true,
        [](Attributes& attributes, std::string_view value) {
          attributes.style.precision = static_cast<int>(whole_number("precision", value, 0, 15));
        }},
    Row{"fails", false, [](Attributes& attributes, std::string_view) { attributes.fails = true; }},
    Row{"hidden", false, [](Attributes& attributes, std::string_view) { attributes.hidden = true; }},
    Row{"covers", true,
        [](Attributes& attributes, std::string_view value) { attributes.covers = parted(value, ","); }},
};

void set_attribute(Attributes& attributes, std::string_view word) {
  const std::size_t equals = word.find('=');
  const Row& row = look_up(std::span<const Row>(table), word.substr(0, equals), "attribute of a block");
  const bool has_value = equals != std::string_view::npos && equals + 1 < word.size();
  if (row.takes_value && !has_value) fail("{} needs a value: {}=…", row.name, row.name);
  if (!row.takes_value && equals != std::string_view::npos)
    fail("{} takes no value: write only {}", row.name, row.name);
  row.set(attributes, has_value ? word.substr(equals + 1) : "");
}

}  // namespace

std::vector<std::string> parted(std::string_view text, std::string_view separators) {
  std::vector<std::string> words;
  for (std::size_t begin = 0;
       (begin = text.find_first_not_of(separators, begin)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

Attributes attributes_of(std::string_view text, const Place& place) {
  Attributes attributes;
  at_place(place, [&] {
    for (const std::string& word : parted(text, " \t")) set_attribute(attributes, word);
  });
  return attributes;
}

}  // namespace attn
