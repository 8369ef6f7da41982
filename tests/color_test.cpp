#include "page/render/style.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <regex>

#include "testing.hpp"

using namespace attn;

namespace {

Table weights_table() {
  Table table;
  table.cells = std::make_shared<const Matrix>(Matrix({1, 1}, 1.0));
  table.heat = Heat::weights;
  return table;
}

struct Filled {
  Rgb ink, fill;
};

Filled cell_in(const std::string& sequence) {
  static const std::regex form("\x1b\\[38;2;(\\d+);(\\d+);(\\d+)m?;?(?:\x1b\\[)?48;2;(\\d+);(\\d+);(\\d+)m");
  std::smatch found;
  REQUIRE_MESSAGE(std::regex_match(sequence, found, form), sequence.substr(1));
  const auto part = [&](std::size_t i) { return std::stoi(found[i]); };
  return {{part(1), part(2), part(3)}, {part(4), part(5), part(6)}};
}

double contrast(Rgb one, Rgb other) {
  const double a = one.luminance() + 0.05, b = other.luminance() + 0.05;
  return std::fmax(a, b) / std::fmin(a, b);
}

constexpr Rgb grounds[] = {dark_ground, light_ground, {30, 30, 46}, {253, 246, 227}, {0, 43, 54}};

}  // namespace

TEST_CASE("nothing is filled at zero, whatever the ground and the colors") {
  for (const Rgb ground : grounds) {
    for (const Colors colors : {Colors::none, Colors::sixteen, Colors::palette256, Colors::full}) {
      const Shading shading(weights_table(), {.colors = colors, .ground = ground});
      CHECK(shading.of(0.0) == "");
      CHECK(shading.of(std::nan("")) == "");
      CHECK((shading.of(1.0) == "") == (colors == Colors::none));
    }
  }
}

TEST_CASE("a larger cell stands out more from the ground, and its number can be read") {
  constexpr double readable = 4.5;  // WCAG 2.1, contrast, level AA
  for (const Rgb ground : grounds) {
    const Shading shading(weights_table(), {.colors = Colors::full, .ground = ground});
    for (const double sign : {1.0, -1.0}) {
      double before = 1.0;
      for (double size = 0.05; size <= 1.0; size += 0.05) {
        CAPTURE(size * sign);
        const Filled cell = cell_in(shading.of(size * sign));
        CHECK(contrast(cell.fill, ground) >= before);
        CHECK(contrast(cell.ink, cell.fill) >= readable);
        before = contrast(cell.fill, ground);
      }
      CHECK(before > 3.0);
    }
  }
}

TEST_CASE("more than zero and less than zero differ in the blue part, which all who are color-blind tell apart") {
  for (const Rgb ground : grounds) {
    const Shading shading(weights_table(), {.colors = Colors::full, .ground = ground});
    const Filled more = cell_in(shading.of(1.0)), less = cell_in(shading.of(-1.0));
    CHECK(more.fill.blue - less.fill.blue > 100);
  }
}

TEST_CASE("with sixteen and 256 colors dark and light grounds have fills of their own") {
  for (const Colors colors : {Colors::sixteen, Colors::palette256}) {
    const Shading dark(weights_table(), {.colors = colors, .ground = dark_ground});
    const Shading light(weights_table(), {.colors = colors, .ground = light_ground});
    CHECK(dark.of(0.4) != light.of(0.4));
    CHECK(dark.of(0.4) != dark.of(0.9));
    CHECK(light.of(0.4) != light.of(0.9));
  }
}
