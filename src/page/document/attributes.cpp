#include "page/document/document.hpp"

#include <array>

#include "core/support/error.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

// An attribute: how its value gets into the others.
struct AttributeRow {
  std::string_view name;
  bool takes_value;
  void (*set)(Attributes& attributes, std::string_view value);
};

constexpr std::string_view picture_format = "svg";

// Nothing in the name has to be quoted, in Markdown or anywhere else.
void set_picture(Attributes& attributes, std::string_view name) {
  constexpr std::string_view signs = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
  if (name.find_first_not_of(signs) != std::string_view::npos || !name.ends_with(".svg"))
    fail(
        "picture={} is not possible: give the name of an SVG file in letters, digits and . _ - / such as picture=pictures/heads.svg",
        name);
  attributes.picture = name;
}

void check_attributes(const Attributes& attributes) {
  if (!attributes.picture) return;
  if (attributes.fails) fail("an error has no picture: leave out picture or fails");
  if (attributes.style.format.value_or(std::string(picture_format)) != picture_format)
    fail("a picture is always {}: leave out format", picture_format);
}

constexpr std::array attribute_table = {
    AttributeRow{"format", true,
                 [](Attributes& attributes, std::string_view value) { attributes.style.format = value; }},
    AttributeRow{"width", true,
                 [](Attributes& attributes, std::string_view value) {
                   attributes.style.width = whole_number("width", value, 20, 100000);
                 }},
    AttributeRow{"precision", true,
                 [](Attributes& attributes, std::string_view value) {
                   attributes.style.precision = static_cast<int>(whole_number("precision", value, 0, 15));
                 }},
    AttributeRow{"fails", false, [](Attributes& attributes, std::string_view) { attributes.fails = true; }},
    AttributeRow{"hidden", false, [](Attributes& attributes, std::string_view) { attributes.hidden = true; }},
    AttributeRow{"picture", true, set_picture},
    AttributeRow{"covers", true,
                 [](Attributes& attributes, std::string_view value) { attributes.covers = split_at_any(value, ","); }},
};

void set_attribute(Attributes& attributes, std::string_view word) {
  const std::size_t equals = word.find('=');
  const AttributeRow& row =
      look_up(std::span<const AttributeRow>(attribute_table), word.substr(0, equals), "attribute of a block");
  const bool has_value = equals != std::string_view::npos && equals + 1 < word.size();
  if (row.takes_value && !has_value) fail("{} needs a value: {}=…", row.name, row.name);
  if (!row.takes_value && equals != std::string_view::npos)
    fail("{} takes no value: write only {}", row.name, row.name);
  row.set(attributes, has_value ? word.substr(equals + 1) : "");
}

}  // namespace

Attributes attributes_of(std::string_view text, const Place& place) {
  Attributes attributes;
  at_place(place, [&] {
    for (const std::string& word : split_at_any(text, " \t")) set_attribute(attributes, word);
    check_attributes(attributes);
    attributes.style.in_files = attributes.picture.has_value();
    if (attributes.picture) attributes.style.format = picture_format;
  });
  return attributes;
}

}  // namespace attn
