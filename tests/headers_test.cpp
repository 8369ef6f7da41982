// Includes every header of src, one after the other. That this file compiles proves that no two headers
// declare different things under one name: the program would be built all the same, with undefined behavior.
#include "all_headers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

TEST_CASE("all headers of the sources are compiled together") {
  const std::filesystem::path src = std::filesystem::path(ATTN_SOURCE_FOLDER) / "src";
  std::size_t headers = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(src)) {
    if (entry.path().extension() != ".hpp") continue;
    const std::string path = entry.path().lexically_relative(src).generic_string();
    CAPTURE(path);
    CHECK(std::ranges::find(all_headers, path) != std::ranges::end(all_headers));
    ++headers;
  }
  CHECK(headers == std::size(all_headers));
}
