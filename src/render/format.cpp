#include "render/format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

constexpr std::array table = {
    Format{"text", "tables for a terminal or a text file", "txt", Audience::readers, render_text},
    Format{"markdown", "tables and LaTeX formulas", "md", Audience::readers, render_markdown},
    Format{"html", "a page for a browser: tables, formulas and drawings", "html", Audience::readers,
           render_html},
    Format{"latex", "tables, formulas and drawings for pdfLaTeX", "tex", Audience::readers, render_latex},
    Format{"svg", "a drawing; of several, each as a file", "svg", Audience::readers, render_svg, drawings_of},
    Format{"csv", "the matrices, separated by commas, at full precision", "csv", Audience::programs,
           render_csv},
    Format{"tsv", "the matrices, separated by tabs, at full precision", "tsv", Audience::programs,
           render_tsv},
    Format{"json", "the problem, matrices, formulas and page at full precision", "json", Audience::programs,
           render_json},
    Format{"npy", "one matrix for NumPy", "npy", Audience::bytes, render_npy},
    Format{"npz", "all matrices for NumPy, by name", "npz", Audience::bytes, render_npz},
    Format{"safetensors", "all matrices by name, as models are stored", "safetensors", Audience::bytes,
           render_safetensors},
};

}  // namespace

std::span<const Format> formats() {
  return table;
}

const Format& format_of_file(const std::string& path) {
  const std::size_t dot = path.find_last_of("./");
  std::string extension = dot == std::string::npos || path[dot] == '/' ? "" : path.substr(dot + 1);
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  std::vector<std::string> known;
  for (const Format& format : table) {
    if (format.extension == extension) return format;
    known.push_back("." + std::string(format.extension));
  }
  fail("{}: {}, or give --format", path, unknown("ending", extension, known));
}

}  // namespace attn
