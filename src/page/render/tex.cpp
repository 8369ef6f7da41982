#include "page/render/tex.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/support/utf8.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

struct TexOfPoint {
  char32_t point;
  std::string_view tex;
};

// Sorted by point.
constexpr std::array characters_in_tex = {
    TexOfPoint{U'"', "{\\ttfamily\\char34}"},
    TexOfPoint{U'#', "\\#"},
    TexOfPoint{U'$', "\\$"},
    TexOfPoint{U'%', "\\%"},
    TexOfPoint{U'&', "\\&"},
    TexOfPoint{U'<', "\\textless{}"},
    TexOfPoint{U'>', "\\textgreater{}"},
    TexOfPoint{U'\\', "\\textbackslash{}"},
    TexOfPoint{U'^', "\\textasciicircum{}"},
    TexOfPoint{U'_', "\\_"},
    TexOfPoint{U'`', "{\\ttfamily\\char96}"},
    TexOfPoint{U'{', "\\{"},
    TexOfPoint{U'|', "\\textbar{}"},
    TexOfPoint{U'}', "\\}"},
    TexOfPoint{U'~', "\\textasciitilde{}"},
    TexOfPoint{0xA0, "~"},
    TexOfPoint{0xA1, "\\textexclamdown{}"},
    TexOfPoint{0xA3, "\\pounds{}"},
    TexOfPoint{0xA7, "\\S{}"},
    TexOfPoint{0xA9, "\\copyright{}"},
    TexOfPoint{0xAB, "\\ensuremath{\\ll}"},
    TexOfPoint{0xB0, "\\ensuremath{^{\\circ}}"},
    TexOfPoint{0xB1, "\\ensuremath{\\pm}"},
    TexOfPoint{0xB2, "\\ensuremath{^{2}}"},
    TexOfPoint{0xB3, "\\ensuremath{^{3}}"},
    TexOfPoint{0xB6, "\\P{}"},
    TexOfPoint{0xB7, "\\ensuremath{\\cdot}"},
    TexOfPoint{0xB9, "\\ensuremath{^{1}}"},
    TexOfPoint{0xBB, "\\ensuremath{\\gg}"},
    TexOfPoint{0xBD, "\\ensuremath{\\frac{1}{2}}"},
    TexOfPoint{0xBF, "\\textquestiondown{}"},
    TexOfPoint{0xC6, "\\AE{}"},
    TexOfPoint{0xD7, "\\ensuremath{\\times}"},
    TexOfPoint{0xD8, "\\O{}"},
    TexOfPoint{0xDF, "\\ss{}"},
    TexOfPoint{0xE6, "\\ae{}"},
    TexOfPoint{0xF7, "\\ensuremath{\\div}"},
    TexOfPoint{0xF8, "\\o{}"},
    TexOfPoint{0x131, "\\i{}"},
    TexOfPoint{0x141, "\\L{}"},
    TexOfPoint{0x142, "\\l{}"},
    TexOfPoint{0x152, "\\OE{}"},
    TexOfPoint{0x153, "\\oe{}"},
    TexOfPoint{0x391, "A"},
    TexOfPoint{0x392, "B"},
    TexOfPoint{0x393, "\\ensuremath{\\Gamma}"},
    TexOfPoint{0x394, "\\ensuremath{\\Delta}"},
    TexOfPoint{0x395, "E"},
    TexOfPoint{0x396, "Z"},
    TexOfPoint{0x397, "H"},
    TexOfPoint{0x398, "\\ensuremath{\\Theta}"},
    TexOfPoint{0x399, "I"},
    TexOfPoint{0x39A, "K"},
    TexOfPoint{0x39B, "\\ensuremath{\\Lambda}"},
    TexOfPoint{0x39C, "M"},
    TexOfPoint{0x39D, "N"},
    TexOfPoint{0x39E, "\\ensuremath{\\Xi}"},
    TexOfPoint{0x39F, "O"},
    TexOfPoint{0x3A0, "\\ensuremath{\\Pi}"},
    TexOfPoint{0x3A1, "P"},
    TexOfPoint{0x3A3, "\\ensuremath{\\Sigma}"},
    TexOfPoint{0x3A4, "T"},
    TexOfPoint{0x3A5, "\\ensuremath{\\Upsilon}"},
    TexOfPoint{0x3A6, "\\ensuremath{\\Phi}"},
    TexOfPoint{0x3A7, "X"},
    TexOfPoint{0x3A8, "\\ensuremath{\\Psi}"},
    TexOfPoint{0x3A9, "\\ensuremath{\\Omega}"},
    TexOfPoint{0x3B1, "\\ensuremath{\\alpha}"},
    TexOfPoint{0x3B2, "\\ensuremath{\\beta}"},
    TexOfPoint{0x3B3, "\\ensuremath{\\gamma}"},
    TexOfPoint{0x3B4, "\\ensuremath{\\delta}"},
    TexOfPoint{0x3B5, "\\ensuremath{\\varepsilon}"},
    TexOfPoint{0x3B6, "\\ensuremath{\\zeta}"},
    TexOfPoint{0x3B7, "\\ensuremath{\\eta}"},
    TexOfPoint{0x3B8, "\\ensuremath{\\theta}"},
    TexOfPoint{0x3B9, "\\ensuremath{\\iota}"},
    TexOfPoint{0x3BA, "\\ensuremath{\\kappa}"},
    TexOfPoint{0x3BB, "\\ensuremath{\\lambda}"},
    TexOfPoint{0x3BC, "\\ensuremath{\\mu}"},
    TexOfPoint{0x3BD, "\\ensuremath{\\nu}"},
    TexOfPoint{0x3BE, "\\ensuremath{\\xi}"},
    TexOfPoint{0x3BF, "\\ensuremath{o}"},
    TexOfPoint{0x3C0, "\\ensuremath{\\pi}"},
    TexOfPoint{0x3C1, "\\ensuremath{\\rho}"},
    TexOfPoint{0x3C2, "\\ensuremath{\\varsigma}"},
    TexOfPoint{0x3C3, "\\ensuremath{\\sigma}"},
    TexOfPoint{0x3C4, "\\ensuremath{\\tau}"},
    TexOfPoint{0x3C5, "\\ensuremath{\\upsilon}"},
    TexOfPoint{0x3C6, "\\ensuremath{\\varphi}"},
    TexOfPoint{0x3C7, "\\ensuremath{\\chi}"},
    TexOfPoint{0x3C8, "\\ensuremath{\\psi}"},
    TexOfPoint{0x3C9, "\\ensuremath{\\omega}"},
    TexOfPoint{0x1D40, "\\ensuremath{^{\\top}}"},
    TexOfPoint{0x1D62, "\\ensuremath{_{i}}"},
    TexOfPoint{0x2010, "-"},
    TexOfPoint{0x2011, "-"},
    TexOfPoint{0x2013, "\\textendash{}"},
    TexOfPoint{0x2014, "\\textemdash{}"},
    TexOfPoint{0x2016, "\\ensuremath{\\Vert}"},
    TexOfPoint{0x2018, "\\textquoteleft{}"},
    TexOfPoint{0x2019, "\\textquoteright{}"},
    TexOfPoint{0x201C, "``"},
    TexOfPoint{0x201D, "''"},
    TexOfPoint{0x2022, "\\textbullet{}"},
    TexOfPoint{0x2026, "\\ldots{}"},
    TexOfPoint{0x2032, "\\ensuremath{'}"},
    TexOfPoint{0x2070, "\\ensuremath{^{0}}"},
    TexOfPoint{0x2074, "\\ensuremath{^{4}}"},
    TexOfPoint{0x2075, "\\ensuremath{^{5}}"},
    TexOfPoint{0x2076, "\\ensuremath{^{6}}"},
    TexOfPoint{0x2077, "\\ensuremath{^{7}}"},
    TexOfPoint{0x2078, "\\ensuremath{^{8}}"},
    TexOfPoint{0x2079, "\\ensuremath{^{9}}"},
    TexOfPoint{0x207B, "\\ensuremath{^{-}}"},
    TexOfPoint{0x2080, "\\ensuremath{_{0}}"},
    TexOfPoint{0x2081, "\\ensuremath{_{1}}"},
    TexOfPoint{0x2082, "\\ensuremath{_{2}}"},
    TexOfPoint{0x2083, "\\ensuremath{_{3}}"},
    TexOfPoint{0x2190, "\\ensuremath{\\leftarrow}"},
    TexOfPoint{0x2191, "\\ensuremath{\\uparrow}"},
    TexOfPoint{0x2192, "\\ensuremath{\\rightarrow}"},
    TexOfPoint{0x2193, "\\ensuremath{\\downarrow}"},
    TexOfPoint{0x2208, "\\ensuremath{\\in}"},
    TexOfPoint{0x2211, "\\ensuremath{\\sum}"},
    TexOfPoint{0x2212, "\\ensuremath{-}"},
    TexOfPoint{0x221A, "\\ensuremath{\\surd}"},
    TexOfPoint{0x221E, "\\ensuremath{\\infty}"},
    TexOfPoint{0x2248, "\\ensuremath{\\approx}"},
    TexOfPoint{0x2260, "\\ensuremath{\\neq}"},
    TexOfPoint{0x2264, "\\ensuremath{\\leq}"},
    TexOfPoint{0x2265, "\\ensuremath{\\geq}"},
    TexOfPoint{0x2299, "\\ensuremath{\\odot}"},
    TexOfPoint{0x22C5, "\\ensuremath{\\cdot}"},
    TexOfPoint{0x22EF, "\\ensuremath{\\cdots}"},
    TexOfPoint{0x2500, "-"},
    TexOfPoint{0x2502, "\\textbar{}"},
    TexOfPoint{0x2713, "\\ensuremath{\\surd}"},
    TexOfPoint{0x2717, "\\ensuremath{\\times}"},
    TexOfPoint{0x2C7C, "\\ensuremath{_{j}}"},
};

struct Accent {
  char32_t mark;
  std::string_view command;
};
constexpr std::array accents = {
    Accent{0x300, "\\`"}, Accent{0x301, "\\'"}, Accent{0x302, "\\^"},  Accent{0x303, "\\~"}, Accent{0x304, "\\="},
    Accent{0x306, "\\u"}, Accent{0x307, "\\."}, Accent{0x308, "\\\""}, Accent{0x30A, "\\r"}, Accent{0x30B, "\\H"},
    Accent{0x30C, "\\v"}, Accent{0x323, "\\d"}, Accent{0x327, "\\c"},  Accent{0x331, "\\b"},
};

bool is_ascii_letter(char32_t point) { return (point >= U'a' && point <= U'z') || (point >= U'A' && point <= U'Z'); }

std::string_view written_sign(char32_t point) {
  const auto found = std::ranges::lower_bound(characters_in_tex, point, {}, &TexOfPoint::point);
  return found != characters_in_tex.end() && found->point == point ? found->tex : std::string_view();
}

std::string_view accent_of(char32_t mark) {
  const auto found = std::ranges::find(accents, mark, &Accent::mark);
  return found == accents.end() ? std::string_view() : found->command;
}

// A Greek letter with an accent, which is a sign of mathematics; nothing for any other.
std::string accented_sign(char32_t letter, char32_t mark) {
  constexpr std::string_view begin = "\\ensuremath{";
  const std::string_view accent = mark == 0x301 ? "\\acute" : mark == 0x300 ? "\\grave" : mark == 0x308 ? "\\ddot" : "";
  const std::string_view sign = written_sign(letter);
  if (accent.empty() || !sign.starts_with(begin)) return "";
  return fmt::format("{}{}{{{}}}}}", begin, accent, sign.substr(begin.size(), sign.size() - begin.size() - 1));
}

// A letter with marks on it: é is \'{e}. Nothing where there is no accent for one.
std::string accented(char32_t point) {
  std::array<utf8proc_int32_t, 8> parts{};
  int state = 0;
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(point), parts.data(),
                              static_cast<utf8proc_ssize_t>(parts.size()), UTF8PROC_DECOMPOSE, &state);
  if (count < 2 || count > static_cast<utf8proc_ssize_t>(parts.size())) return "";
  if (!is_ascii_letter(static_cast<char32_t>(parts[0]))) {
    return count == 2 ? accented_sign(static_cast<char32_t>(parts[0]), static_cast<char32_t>(parts[1])) : "";
  }
  std::string text(1, static_cast<char>(parts[0]));
  if (text == "i" || text == "j") text = "\\" + text + "{}";  // their points make room for the mark
  for (std::size_t i = 1; i < static_cast<std::size_t>(count); ++i) {
    const std::string_view command = accent_of(static_cast<char32_t>(parts[i]));
    if (command.empty()) return "";
    text = std::string(command) + "{" + text + "}";
  }
  return text;
}

// The points of a text, without what a terminal could take for a command.
template <class Take>
void each_point(std::string_view text, const Take& take) {
  const std::string shown = printable(text);
  for (std::size_t at = 0; at < shown.size();) {
    utf8proc_int32_t point = -1;
    at += static_cast<std::size_t>(utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(shown.data()) + at,
                                                    static_cast<utf8proc_ssize_t>(shown.size() - at), &point));
    take(static_cast<char32_t>(point));
  }
}

// A sign or a letter; empty: there is none.
std::string sign_or_letter(char32_t point) {
  if (const std::string_view sign = written_sign(point); !sign.empty()) return std::string(sign);
  return point < 0x80 ? std::string(1, static_cast<char>(point)) : accented(point);
}

// Whether TeX would make one sign of the two.
bool become_one_sign(char32_t one, char32_t next) {
  const auto is_any_of = [](char32_t point, std::u32string_view points) {
    return points.find(point) != std::u32string_view::npos;
  };
  return (one == next && is_any_of(one, U"-,")) || (is_any_of(one, U"'\u201D") && is_any_of(next, U"'\u201D")) ||
         (is_any_of(one, U"?!") && next == U'\u201C');
}

// How wide a formula is, about, in letters: commands are signs, and what is below or above is small.
double width_of_formula(std::string_view latex) {
  double width = 0.0;
  for (std::size_t i = 0; i < latex.size(); ++i) {
    if (latex[i] == '\\') {
      while (i + 1 < latex.size() && std::isalpha(static_cast<unsigned char>(latex[i + 1]))) ++i;
      width += 1.0;
    } else if (std::string_view("{}_^& \n").find(latex[i]) == std::string_view::npos) {
      width += 1.0;
    }
  }
  return width;
}

}  // namespace

std::string in_tex(std::string_view text) {
  std::string result;
  char32_t last = 0;
  each_point(text, [&](char32_t point) {
    if (become_one_sign(last, point)) result += "{}";
    last = point;
    const std::string written_point = sign_or_letter(point);
    result += written_point.empty()
                  ? fmt::format("\\texttt{{U+{:04X}}}\\allowbreak{{}}", static_cast<std::uint32_t>(point))
                  : written_point;
  });
  return result;
}

std::string with_character_numbers(std::string_view text) {
  std::string result;
  each_point(text, [&](char32_t point) {
    if (sign_or_letter(point).empty()) {
      result += fmt::format("U+{:04X}", static_cast<std::uint32_t>(point));
    } else {
      std::array<utf8proc_uint8_t, 4> bytes{};
      const utf8proc_ssize_t size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(point), bytes.data());
      result.append(bytes.begin(), bytes.begin() + size);
    }
  });
  return result;
}

bool has_numbers_in_tex(std::string_view text) {
  bool has = false;
  each_point(text, [&](char32_t point) { has = has || sign_or_letter(point).empty(); });
  return has;
}

// As in Computer Modern, whose digits are 0.5 em.
double width_in_tex(std::string_view text) {
  double width = 0.0;
  each_point(text, [&](char32_t point) {
    constexpr std::u32string_view narrow = U"ijltfrI1.,;:!'()[]| ", wide = U"mwMW@&%";
    if (sign_or_letter(point).empty()) {
      width += point > 0xFFFF ? 7.5 : 6.4;
    } else if (wide.find(point) != std::u32string_view::npos) {
      width += 2.0;
    } else if (narrow.find(point) != std::u32string_view::npos) {
      width += 0.8;
    } else if ((point >= U'A' && point <= U'Z') || point >= 0x80) {
      width += 1.6;
    } else {
      width += 1.15;
    }
  });
  return width;
}

double widest_line_of(std::string_view lines) {
  double widest = 0.0;
  for (std::size_t begin = 0, end; begin < lines.size(); begin = end + 1) {
    end = std::min(lines.find('\n', begin), lines.size());
    widest = std::max(widest, width_of_formula(lines.substr(begin, end - begin)));
  }
  return widest;
}

std::string breakable(std::string_view text) {
  constexpr std::size_t longest_word = 20, bytes_between = 8;
  std::string result;
  for (std::size_t begin = 0, end; begin < text.size(); begin = end) {
    end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    for (std::size_t from = 0, to; from < word.size(); from = to) {
      to = word.size() <= longest_word ? word.size() : std::min(from + bytes_between, word.size());
      while (to < word.size() && continues_character(word[to])) ++to;
      result += in_tex(word.substr(from, to - from)) + (to < word.size() ? "\\allowbreak{}" : "");
    }
    if (end < text.size()) {
      result += ' ';
      ++end;
    }
  }
  return result;
}

std::string with_quotation_marks(std::string_view words, char before) {
  std::string result;
  for (const char c : words) {
    const bool opens = std::string_view(" ([-/").find(before) != std::string_view::npos;
    result += c != '"' ? std::string(1, c) : opens ? "“" : "”";
    before = c;
  }
  return result;
}

}  // namespace attn
