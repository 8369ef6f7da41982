#include "page/render/tex.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "page/render/width.hpp"

namespace attn {

namespace {

struct Written {
  char32_t point;
  std::string_view tex;
};

// Sorted by point.
constexpr std::array characters_in_tex = {
    Written{U'"', "{\\ttfamily\\char34}"},
    Written{U'#', "\\#"},
    Written{U'$', "\\$"},
    Written{U'%', "\\%"},
    Written{U'&', "\\&"},
    Written{U'<', "\\textless{}"},
    Written{U'>', "\\textgreater{}"},
    Written{U'\\', "\\textbackslash{}"},
    Written{U'^', "\\textasciicircum{}"},
    Written{U'_', "\\_"},
    Written{U'`', "{\\ttfamily\\char96}"},
    Written{U'{', "\\{"},
    Written{U'|', "\\textbar{}"},
    Written{U'}', "\\}"},
    Written{U'~', "\\textasciitilde{}"},
    Written{0xA0, "~"},
    Written{0xA1, "\\textexclamdown{}"},
    Written{0xA3, "\\pounds{}"},
    Written{0xA7, "\\S{}"},
    Written{0xA9, "\\copyright{}"},
    Written{0xAB, "\\ensuremath{\\ll}"},
    Written{0xB0, "\\ensuremath{^{\\circ}}"},
    Written{0xB1, "\\ensuremath{\\pm}"},
    Written{0xB2, "\\ensuremath{^{2}}"},
    Written{0xB3, "\\ensuremath{^{3}}"},
    Written{0xB6, "\\P{}"},
    Written{0xB7, "\\ensuremath{\\cdot}"},
    Written{0xB9, "\\ensuremath{^{1}}"},
    Written{0xBB, "\\ensuremath{\\gg}"},
    Written{0xBD, "\\ensuremath{\\frac{1}{2}}"},
    Written{0xBF, "\\textquestiondown{}"},
    Written{0xC6, "\\AE{}"},
    Written{0xD7, "\\ensuremath{\\times}"},
    Written{0xD8, "\\O{}"},
    Written{0xDF, "\\ss{}"},
    Written{0xE6, "\\ae{}"},
    Written{0xF7, "\\ensuremath{\\div}"},
    Written{0xF8, "\\o{}"},
    Written{0x131, "\\i{}"},
    Written{0x141, "\\L{}"},
    Written{0x142, "\\l{}"},
    Written{0x152, "\\OE{}"},
    Written{0x153, "\\oe{}"},
    Written{0x391, "A"},
    Written{0x392, "B"},
    Written{0x393, "\\ensuremath{\\Gamma}"},
    Written{0x394, "\\ensuremath{\\Delta}"},
    Written{0x395, "E"},
    Written{0x396, "Z"},
    Written{0x397, "H"},
    Written{0x398, "\\ensuremath{\\Theta}"},
    Written{0x399, "I"},
    Written{0x39A, "K"},
    Written{0x39B, "\\ensuremath{\\Lambda}"},
    Written{0x39C, "M"},
    Written{0x39D, "N"},
    Written{0x39E, "\\ensuremath{\\Xi}"},
    Written{0x39F, "O"},
    Written{0x3A0, "\\ensuremath{\\Pi}"},
    Written{0x3A1, "P"},
    Written{0x3A3, "\\ensuremath{\\Sigma}"},
    Written{0x3A4, "T"},
    Written{0x3A5, "\\ensuremath{\\Upsilon}"},
    Written{0x3A6, "\\ensuremath{\\Phi}"},
    Written{0x3A7, "X"},
    Written{0x3A8, "\\ensuremath{\\Psi}"},
    Written{0x3A9, "\\ensuremath{\\Omega}"},
    Written{0x3B1, "\\ensuremath{\\alpha}"},
    Written{0x3B2, "\\ensuremath{\\beta}"},
    Written{0x3B3, "\\ensuremath{\\gamma}"},
    Written{0x3B4, "\\ensuremath{\\delta}"},
    Written{0x3B5, "\\ensuremath{\\varepsilon}"},
    Written{0x3B6, "\\ensuremath{\\zeta}"},
    Written{0x3B7, "\\ensuremath{\\eta}"},
    Written{0x3B8, "\\ensuremath{\\theta}"},
    Written{0x3B9, "\\ensuremath{\\iota}"},
    Written{0x3BA, "\\ensuremath{\\kappa}"},
    Written{0x3BB, "\\ensuremath{\\lambda}"},
    Written{0x3BC, "\\ensuremath{\\mu}"},
    Written{0x3BD, "\\ensuremath{\\nu}"},
    Written{0x3BE, "\\ensuremath{\\xi}"},
    Written{0x3BF, "\\ensuremath{o}"},
    Written{0x3C0, "\\ensuremath{\\pi}"},
    Written{0x3C1, "\\ensuremath{\\rho}"},
    Written{0x3C2, "\\ensuremath{\\varsigma}"},
    Written{0x3C3, "\\ensuremath{\\sigma}"},
    Written{0x3C4, "\\ensuremath{\\tau}"},
    Written{0x3C5, "\\ensuremath{\\upsilon}"},
    Written{0x3C6, "\\ensuremath{\\varphi}"},
    Written{0x3C7, "\\ensuremath{\\chi}"},
    Written{0x3C8, "\\ensuremath{\\psi}"},
    Written{0x3C9, "\\ensuremath{\\omega}"},
    Written{0x1D40, "\\ensuremath{^{\\top}}"},
    Written{0x1D62, "\\ensuremath{_{i}}"},
    Written{0x2010, "-"},
    Written{0x2011, "-"},
    Written{0x2013, "\\textendash{}"},
    Written{0x2014, "\\textemdash{}"},
    Written{0x2016, "\\ensuremath{\\Vert}"},
    Written{0x2018, "\\textquoteleft{}"},
    Written{0x2019, "\\textquoteright{}"},
    Written{0x201C, "``"},
    Written{0x201D, "''"},
    Written{0x2022, "\\textbullet{}"},
    Written{0x2026, "\\ldots{}"},
    Written{0x2032, "\\ensuremath{'}"},
    Written{0x2070, "\\ensuremath{^{0}}"},
    Written{0x2074, "\\ensuremath{^{4}}"},
    Written{0x2075, "\\ensuremath{^{5}}"},
    Written{0x2076, "\\ensuremath{^{6}}"},
    Written{0x2077, "\\ensuremath{^{7}}"},
    Written{0x2078, "\\ensuremath{^{8}}"},
    Written{0x2079, "\\ensuremath{^{9}}"},
    Written{0x207B, "\\ensuremath{^{-}}"},
    Written{0x2080, "\\ensuremath{_{0}}"},
    Written{0x2081, "\\ensuremath{_{1}}"},
    Written{0x2082, "\\ensuremath{_{2}}"},
    Written{0x2083, "\\ensuremath{_{3}}"},
    Written{0x2190, "\\ensuremath{\\leftarrow}"},
    Written{0x2191, "\\ensuremath{\\uparrow}"},
    Written{0x2192, "\\ensuremath{\\rightarrow}"},
    Written{0x2193, "\\ensuremath{\\downarrow}"},
    Written{0x2208, "\\ensuremath{\\in}"},
    Written{0x2211, "\\ensuremath{\\sum}"},
    Written{0x2212, "\\ensuremath{-}"},
    Written{0x221A, "\\ensuremath{\\surd}"},
    Written{0x221E, "\\ensuremath{\\infty}"},
    Written{0x2248, "\\ensuremath{\\approx}"},
    Written{0x2260, "\\ensuremath{\\neq}"},
    Written{0x2264, "\\ensuremath{\\leq}"},
    Written{0x2265, "\\ensuremath{\\geq}"},
    Written{0x2299, "\\ensuremath{\\odot}"},
    Written{0x22C5, "\\ensuremath{\\cdot}"},
    Written{0x22EF, "\\ensuremath{\\cdots}"},
    Written{0x2500, "-"},
    Written{0x2502, "\\textbar{}"},
    Written{0x2713, "\\ensuremath{\\surd}"},
    Written{0x2717, "\\ensuremath{\\times}"},
    Written{0x2C7C, "\\ensuremath{_{j}}"},
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
  const auto found = std::ranges::lower_bound(characters_in_tex, point, {}, &Written::point);
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

std::string told_by_numbers(std::string_view text) {
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

namespace {

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
      while (to < word.size() && (static_cast<unsigned char>(word[to]) & 0xC0U) == 0x80U) ++to;
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
