#include <fmt/format.h>
#include <utf8proc.h>
#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/app.hpp"
#include "document/markdown.hpp"
#include "math/libraries.hpp"

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
          {"compiler", compiler()}},
      std::back_inserter(all));
  return all;
}

}  // namespace

Outcome run_version(const Command&, const Arguments&) {
  Page page;
  page.say(text("attn " ATTN_VERSION));
  Listing listing{{"library", "version"}, {}};
  for (const Library& library : all_libraries()) listing.rows.push_back({library.name, library.version});
  page.say(std::move(listing));
  return {std::move(page)};
}

}  // namespace attn
