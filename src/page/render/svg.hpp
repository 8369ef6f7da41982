#pragma once

#include <string>
#include <string_view>

#include "page/render/drawing.hpp"
#include "page/render/picture.hpp"

namespace attn {

/// Pixels, in which drawings for SVG are laid out.
constexpr Metrics pixels{.column = 8, .line = 18, .limit = 720, .slanted = true};

/// A drawing laid out in pixels, as an element <svg> with a title and a description. `id` begins the ids in
/// it: no other drawing of a page has the same. On a page of HTML it looks as the rules of that page say; a
/// file of its own has its `rules` in it.
std::string svg_of(const Drawing& drawing, std::string_view id, std::string_view rules = {});
/// The same of several drawings in one picture.
std::string svg_of(const Picture& picture, std::string_view id, std::string_view rules, bool has_ground);
/// How far a drawing reaches, in pixels.
DrawnSize size_in_svg(const Drawing& drawing);

/// The rules of CSS for drawings on a page that has the variables below.
std::string_view rules_for_drawings();
/// Colors in light and in dark surroundings, as variables of CSS of these elements.
std::string color_variables(std::string_view elements = ":root");
/// The rules of a drawing that is a file of its own: for light, for dark, or as the browser has it.
std::string rules_of_file(PictureGround ground = PictureGround::any);

}  // namespace attn
