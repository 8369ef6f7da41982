#include "golden.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "page/document/document_outputs.hpp"
#include "process.hpp"

namespace {

std::string_view first_line(std::string_view text) {
  return text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
}

std::string shown(std::string_view text) {
  return text.empty() ? "(the end)" : std::string(text.substr(0, text.find('\n')));
}

}  // namespace

std::string difference(std::string_view expected, std::string_view found, Tolerance tolerance) {
  const auto alike = tolerance == Tolerance::last_digit ? attn::is_same_output : attn::alike_at_full_precision;
  for (std::size_t line = 1; !expected.empty() || !found.empty(); ++line) {
    const bool ends = expected.empty() || found.empty();
    if (ends || !alike(first_line(expected), first_line(found))) {
      return "line " + std::to_string(line) + ":\n  expected: " + shown(expected) + "\n  found:    " + shown(found);
    }
    expected.remove_prefix(first_line(expected).size());
    found.remove_prefix(first_line(found).size());
  }
  return "";
}

bool updates_golden() {
  const char* const wish = std::getenv("ATTN_UPDATE_GOLDEN");
  return wish != nullptr && std::string_view(wish) == "1";
}

std::string golden_path(const std::string& name) { return std::string(ATTN_SOURCE_FOLDER) + "/tests/golden/" + name; }

void check_golden(const std::string& name, const std::string& found, Tolerance tolerance) {
  if (updates_golden()) std::ofstream(golden_path(name), std::ios::binary) << found;
  const std::string difference_found = difference(bytes_of(golden_path(name)), found, tolerance);
  CHECK_MESSAGE(difference_found.empty(),
                name << ", " << difference_found << "\n  ATTN_UPDATE_GOLDEN=1 accepts what was found");
}
