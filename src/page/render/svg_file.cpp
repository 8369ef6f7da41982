#include "page/render/svg.hpp"

#include "page/render/format.hpp"
#include "page/render/html.hpp"
#include "page/render/picture.hpp"
#include "page/render/style.hpp"

namespace attn {

namespace {

constexpr Canvas in_pixels{pixels, size_in_svg};

}  // namespace

void render_svg(const Page& page, const Style& style, Sink& sink) {
  const Picture picture = picture_of(page, style, in_pixels);
  sink.write(begin_of_svg_file);
  const PictureSettings& settings = style.settings<PictureSettings>();
  sink.write(svg_of(picture, style.settings<MarkupSettings>().begin_of_ids(), rules_of_file(settings.ground),
                    !settings.transparent));
}

std::string drawing_in_words(const Page& page, const Style& style) {
  const Picture picture = picture_of(page, style, in_pixels);
  return picture.title + (picture.description.empty() ? "" : ": " + picture.description);
}

}  // namespace attn
