#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/support/outside.hpp"
#include "data/files/json_writer.hpp"

namespace attn {

/// A page for browsers: one file with one script, one style and data. Its policy allows these alone, and the
/// attributes `style` of its content.
struct BrowserDocument {
  std::string title;
  std::string script;
  std::string_view rules;          // of CSS, besides those of every page of HTML
  std::string_view pictures = {};  // where pictures may come from, as policies say it; empty: nowhere
  std::string content;             // HTML, which was written by us
  std::string data;                // JSON that the script reads, in the element `data`
};

/// What is written, as text.
std::string in_text(const std::function<void(Sink& sink)>& write);
std::string in_json(const std::function<void(JsonWriter& json)>& write);

void write_document(const BrowserDocument& document, Sink& sink);

/// Bytes in base64 with padding.  (RFC 4648, section 4)
std::string in_base64(std::span<const std::byte> bytes);

// The files of this folder that a page is made of, as they stand there; CMakeLists.txt compiles them in.

/// The files of a script, one after another: of the page of one computation, and of that of a lesson. The operations
/// come before them (school/browser/script.hpp).
std::string_view page_script();
std::string_view lesson_script();
/// The rules for what scripts make, beside those of the HTML that every page has; those for the page of a
/// computation, and those for lessons.
std::string_view browser_style();
std::string_view page_style();
std::string_view lesson_style();
/// The bands, in which a reader chooses and changes, and where a number is explained: hidden until the script shows
/// them.
std::string_view browser_bands();
std::string_view browser_explanation();

/// The SHA-256 of a text in the form in which a content-security policy allows it: "sha256-…".
std::string source_hash(std::string_view text);

}  // namespace attn
