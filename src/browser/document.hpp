#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "files/json_writer.hpp"
#include "support/sink.hpp"

namespace attn {

/// A page for browsers: one file with one script, one style and data. Its policy allows these alone, and the
/// attributes `style` of its content.
struct BrowserDocument {
  std::string title;
  std::string_view script;
  std::string_view rules;          // of CSS, besides those of every page of HTML
  std::string_view pictures = {};  // where pictures may come from, as policies say it; empty: nowhere
  std::string content;             // HTML, which was written by us
  std::string data;                // JSON that the script reads, in the element `data`
};

/// What is written, as text.
std::string in_text(const std::function<void(Sink& sink)>& write);
std::string in_json(const std::function<void(JsonWriter& json)>& write);

void write_document(const BrowserDocument& document, Sink& sink);

}  // namespace attn
