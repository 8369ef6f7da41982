#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/command.hpp"
#include "core/graph/graph.hpp"
#include "page/block/page.hpp"
#include "page/document/document.hpp"

namespace attn {

/// An erratum that is built in: a file of the folder lessons/errata/.
struct ErratumFile {
  std::string_view name;  // "root-of-length" of 06-root-of-length.md
  std::string_view path;
  std::string_view text;
};

/// All of them, in the order of their numbers.
std::span<const ErratumFile> erratum_files();

/// A place where published texts err or disagree. Its document says what is wrong and what is right. Blocks of
/// commands and of demonstrations give the numbers, and braces in its text name them: `{scores[1,2]: 2 decimals}`.
struct Erratum {
  std::string name;  // "E6", by the number of its file
  std::string where;
  std::string what;
  std::string more;  // a command that shows more of it; empty: none
  Document document;
};

/// Reads an erratum. Throws InputError with path and line: an unknown key, one that is missing or given twice.
Erratum read_erratum(std::string_view text, const std::string& path);

/// All that are built in.
std::vector<Erratum> errata();

/// Its page. Throws InputError with path and line: a command that fails, an unknown demonstration, a number that
/// is not among those that were computed.
Answer erratum_page(const Erratum& erratum);

/// What no command shows by itself: the lines of a block called `demonstration` name some.
struct Demonstration {
  std::string_view name;                   // "root-of-length"
  void (*show)(Page& page, Graph& graph);  // adds blocks to the page, and nodes to the graph and the trace
};

std::span<const Demonstration> demonstrations();

}  // namespace attn
