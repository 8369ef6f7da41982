#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/support/outside.hpp"
#include "page/render/format.hpp"
#include "page/render/style.hpp"

namespace attn {

/// What HTML, and a picture of SVG, heed of a style besides what all formats do.
struct MarkupSettings {
  bool is_part = false;  // HTML as a part of a page, not as a whole one
  std::string ids = {};  // begins the ids of elements, where other parts stand beside this one; empty: none do

  /// The same, and that of an only part.
  std::string begin_of_ids() const { return ids.empty() ? "drawing" : ids; }
};

/// Writes blocks as elements that may stand anywhere in the body of a page with the rules below: tables with
/// headers (`data-matrix` names the matrix of the trace that one shows), MathML, drawings as SVG. `ids`
/// begins the ids of its elements, where several writers write one page.
std::unique_ptr<Writer> html_writer(const Style& style, Sink& sink, std::string ids = "drawing");

/// The rules of CSS for what it writes, in light and in dark surroundings, on paper too.
std::string html_rules();

/// What is known of a page before its body.
struct HtmlHead {
  std::string title;
  std::string_view policy = "default-src 'none'; style-src 'unsafe-inline'";  // what may be loaded, and run
  std::string_view more_rules = {};                                           // besides those above
};

/// A page up to the beginning of its body. What ends it, is html_end.
std::string html_begin(const HtmlHead& head);
constexpr std::string_view html_end = "</main>\n</body>\n</html>\n";

/// Any text as text of HTML and XML, or as the value of an attribute in double quotes. What a browser could
/// take for a command or for a turn of direction becomes U+FFFD.
std::string in_markup(std::string_view text);
/// The same of several lines, which keep their ends and tabs.
std::string lines_in_markup(std::string_view lines);

}  // namespace attn
