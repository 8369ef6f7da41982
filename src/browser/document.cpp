#include "browser/document.hpp"

#include <fmt/format.h>

#include <set>

#include "browser/hash.hpp"
#include "render/html.hpp"

namespace attn {
namespace {

// A script, or data between its tags, in which nothing can end it: "</script" and "<!--" begin with "<".
std::string in_script(std::string_view json) {
  std::string text;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i);
    if (rest.front() == '<') {
      text += "\\u003c";
    } else if (rest.starts_with("\u2028") || rest.starts_with("\u2029")) {
      text += rest.starts_with("\u2028") ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      text += rest.front();
    }
  }
  return text;
}

// The hashes of all attributes `style`, as a policy allows them: such as the widths of lines in a drawing.
// What others have written has no quotation marks in HTML.
std::string hashes_of_attributes(std::string_view html) {
  constexpr std::string_view begin = " style=\"";
  std::set<std::string_view> values;
  for (std::size_t at = 0; (at = html.find(begin, at)) != std::string_view::npos;) {
    at += begin.size();
    values.insert(html.substr(at, html.find('"', at) - at));
  }
  std::string hashes;
  for (const std::string_view value : values)
    hashes += fmt::format("{} '{}'", hashes.empty() ? " 'unsafe-hashes'" : "", source_hash(value));
  return hashes;
}

std::string policy_of(const BrowserDocument& document) {
  const std::string rules = html_rules() + std::string(document.rules);
  std::string policy =
      fmt::format("default-src 'none'; script-src '{}'; style-src '{}'{}", source_hash(document.script),
                  source_hash(rules), hashes_of_attributes(document.content));
  if (!document.pictures.empty()) policy += fmt::format("; img-src {}", document.pictures);
  return policy + "; base-uri 'none'; form-action 'none'";
}

}  // namespace

std::string in_text(const std::function<void(Sink& sink)>& write) {
  std::string text;
  Sink sink([&](std::string_view bytes) { text += bytes; });
  write(sink);
  sink.flush();
  return text;
}

std::string in_json(const std::function<void(JsonWriter& json)>& write) {
  return in_text([&](Sink& sink) {
    JsonWriter json(sink);
    write(json);
  });
}

void write_document(const BrowserDocument& document, Sink& sink) {
  const std::string policy = policy_of(document);
  sink.write(html_begin({.title = document.title, .policy = policy, .more_rules = document.rules}));
  sink.write(document.content);
  sink.write("<script type=\"application/json\" id=\"data\">\n");
  sink.write(in_script(document.data));
  sink.write("\n</script>\n<script>");
  sink.write(document.script);
  sink.write("</script>\n");
  sink.write(html_end);
}

}  // namespace attn
