#pragma once

#include <string>

#include "page/page.hpp"

namespace attn {

/// The page with no more than what stands under some of its headings, several separated by "|" and each named
/// by how it begins, in capitals or not. Throws InputError, with the headings that there are, when one names
/// none.
Page only_sections(Page page, const std::string& names);

/// The page with its highest heading at this level, and the others as far below it as they are; without
/// headings where that is 0.
Page with_headings_at(Page page, std::size_t level);

}  // namespace attn
