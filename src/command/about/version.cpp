#include <fmt/format.h>
#include <utf8proc.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "command/app.hpp"
#include "command/command.hpp"
#include "core/math/machine.hpp"
#include "data/tokenizer/pattern.hpp"
#include "page/document/markdown.hpp"

namespace attn {

namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

std::vector<Library> all_libraries() {
  std::vector<Library> all = libraries_of_math();
  std::ranges::move(
      std::vector<Library>{
          {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
          {"CLI11", version_of_cli11()},
          {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                        NLOHMANN_JSON_VERSION_PATCH)},
          {"zlib", zlibVersion()},
          {"cmark-gfm", version_of_cmark()},
          {"utf8proc", utf8proc_version()},
          {"pcre2", version_of_expressions()},
          {"compiler", compiler()}},
      std::back_inserter(all));
  return all;
}

}  // namespace

Answer run_version(const Command&, const Arguments&) {
  Page page;
  page.say(text("attn " ATTN_VERSION));
  Listing listing{{"library", "version"}, {}};
  Records records{"versions", {"name", "version"}, {{"attn", ATTN_VERSION}}};
  for (const Library& library : all_libraries()) {
    listing.rows.push_back({library.name, library.version});
    records.rows.push_back({std::string(library.name), std::string(library.version)});
  }
  page.say(std::move(listing));
  page.say(std::move(records));
  return {std::move(page)};
}

}  // namespace attn
