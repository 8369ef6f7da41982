#include "school/browser/browser_document.hpp"

#include <fmt/format.h>
#include <sha2.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <set>
#include <string_view>

#include "page/render/html.hpp"

namespace attn {

// --- document

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

// --- base64

std::string in_base64(std::span<const std::byte> bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr int last_shift = 18, bits = 6;
  constexpr std::uint32_t six_bits = 63;
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = i; j < i + 3; ++j)
      three = three << 8 | (j < bytes.size() ? std::to_integer<std::uint32_t>(bytes[j]) : 0U);
    for (int shift = last_shift; shift >= 0; shift -= bits) text += letters[three >> shift & six_bits];
  }
  const std::size_t padding = (3 - bytes.size() % 3) % 3;
  return text.replace(text.size() - padding, padding, padding, '=');
}

// --- hash
// After the types of the system, which it needs.

std::string source_hash(std::string_view text) {
  SHA2_CTX context;
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  SHA256Final(digest.data(), &context);
  return "sha256-" + in_base64(std::as_bytes(std::span(digest)));
}

}  // namespace attn
