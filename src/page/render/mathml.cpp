#include "page/render/mathml.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "core/support/text.hpp"
#include "core/support/utf8.hpp"
#include "page/render/html.hpp"
#include "page/render/width.hpp"

namespace attn {
namespace {

constexpr std::size_t deepest = 60;  // groups within groups
constexpr std::string_view prime = "<mo>′</mo>";
constexpr std::string_view fence_begins = "left", fence_ends = "right";

// A command that is one sign, and the element that holds it.
struct Sign {
  std::string_view command, element, text;
};
constexpr std::array signs = {
    Sign{"alpha", "mi", "α"},  Sign{"beta", "mi", "β"},  Sign{"gamma", "mi", "γ"}, Sign{"epsilon", "mi", "ε"},
    Sign{"sigma", "mi", "σ"},  Sign{"omega", "mi", "ω"}, Sign{"pi", "mi", "π"},    Sign{"partial", "mi", "∂"},
    Sign{"Phi", "mi", "Φ"},    Sign{"infty", "mi", "∞"}, Sign{"top", "mi", "⊤"},   Sign{"tanh", "mi", "tanh"},
    Sign{"exp", "mi", "exp"},  Sign{"ln", "mi", "ln"},   Sign{"sin", "mi", "sin"}, Sign{"cos", "mi", "cos"},
    Sign{"max", "mi", "max"},  Sign{"arg", "mi", "arg"}, Sign{"cdot", "mo", "⋅"},  Sign{"odot", "mo", "⊙"},
    Sign{"approx", "mo", "≈"}, Sign{"times", "mo", "×"}, Sign{"sum", "mo", "∑"},   Sign{"cdots", "mo", "⋯"},
    Sign{"lVert", "mo", "‖"},  Sign{"rVert", "mo", "‖"}, Sign{"{", "mo", "{"},     Sign{"}", "mo", "}"},
    Sign{"_", "mi", "_"},      Sign{"%", "mi", "%"},     Sign{"#", "mi", "#"},     Sign{"&", "mi", "&"},
    Sign{"$", "mi", "$"},
};

// Commands whose argument is words, and the element that these become.
struct TextCommand {
  std::string_view command, element;
};
constexpr std::array words_commands = {TextCommand{"mathrm", "mi"}, TextCommand{"operatorname", "mi"},
                                       TextCommand{"text", "mtext"}};

struct Space {
  std::string_view command, width;
};
constexpr std::array spaces = {Space{",", "0.17em"}, Space{"quad", "1em"}};

// A matrix of cells between two fences.
struct Environment {
  std::string_view name, left, right;
  std::size_t most_columns;
  bool has_large_fractions = false;
};
constexpr std::array environments = {Environment{"aligned", "", "", 10, true}, Environment{"bmatrix", "[", "]", 10},
                                     Environment{"cases", "{", "", 2}};

template <class Rows>
auto find_command(const Rows& rows, std::string_view command) {
  const auto found = std::ranges::find_if(rows, [&](const auto& row) { return row.command == command; });
  return found == rows.end() ? nullptr : &*found;
}

std::string element(std::string_view name, std::string_view content) {
  return "<" + std::string(name) + ">" + std::string(content) + "</" + std::string(name) + ">";
}

std::string fence(std::string_view sign) { return sign.empty() ? "" : element("mo", in_markup(sign)); }

bool is_latin(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class TexParser {
 public:
  explicit TexParser(std::string_view latex) : rest_(latex) {}

  std::string formula() {
    std::string result;
    while (!rest_.empty()) {
      result += row();
      if (!rest_.empty()) result += unknown(taken(1));  // an end without its begin
    }
    return result;
  }

  bool met_unknown() const { return met_unknown_; }

 private:
  // Everything up to what ends a group, a cell or a row of cells.
  std::string row() {
    std::string result;
    std::size_t count = 0;
    for (; !at_end_of_row(); ++count) result += with_scripts(atom());
    elements_ = count;
    return result;
  }

  bool at_end_of_row() {
    while (rest_.starts_with(' ') || rest_.starts_with('\n')) rest_.remove_prefix(1);
    return rest_.empty() || rest_.front() == '}' || rest_.front() == '&' || rest_.starts_with("\\\\") ||
           begins_with_command(fence_ends) || begins_with_command("end");
  }

  bool begins_with_command(std::string_view name) const {
    return rest_.size() > name.size() && rest_.front() == '\\' && rest_.substr(1).starts_with(name) &&
           (rest_.size() == name.size() + 1 || !is_latin(rest_[name.size() + 1]));
  }

  // As one element, which scripts and fractions need.
  static std::string grouped(std::string_view content) { return element("mrow", content); }

  std::string atom() {
    const char first = rest_.front();
    if (first == '{') return group();
    if (first == '\\') return command();
    if (is_digit(first)) {
      std::size_t end = 1;
      while (end < rest_.size() && (is_digit(rest_[end]) || rest_[end] == '.')) ++end;
      return element("mn", taken(end));
    }
    if (first == '\'') {
      rest_.remove_prefix(1);
      return std::string(prime);
    }
    if (first == '-') {
      rest_.remove_prefix(1);
      return element("mo", "−");
    }
    if (std::string_view("+=()[],;:/|<>!*.").find(first) != std::string_view::npos)
      return element("mo", in_markup(taken(1)));
    if (is_latin(first)) return element("mi", taken(1));
    std::size_t end = 1;  // a character of several bytes
    while (end < rest_.size() && continues_character(rest_[end])) ++end;
    const bool is_ascii = static_cast<unsigned char>(first) < 0x80U;
    return is_ascii ? unknown(taken(end)) : element("mi", in_markup(taken(end)));
  }

  // What stands below and above it.
  std::string with_scripts(std::string base) {
    std::string below, above;
    std::size_t count_above = 0;
    const bool is_sum = base == element("mo", "∑");
    while (rest_.starts_with('_') || rest_.starts_with('^') || rest_.starts_with('\'')) {
      const char sign = rest_.front();
      std::string& script = sign == '_' ? below : above;
      const bool is_clear = script.empty() || (sign == '\'' && script.ends_with(prime));
      if (!is_clear) return base + unknown("");  // which of them is meant?
      if (sign != '\'') rest_.remove_prefix(1);
      if (at_end_of_row()) return base + unknown("");
      if (sign != '_') ++count_above;
      script += atom();
    }
    if (below.empty() && above.empty()) return base;
    if (count_above > 1) above = grouped(above);
    if (below.empty()) return element(is_sum ? "mover" : "msup", base + above);
    if (above.empty()) return element(is_sum ? "munder" : "msub", base + below);
    return element(is_sum ? "munderover" : "msubsup", base + below + above);
  }

  // {…}, or the one sign that stands for it.
  std::string argument() {
    if (at_end_of_row()) return unknown("");
    return rest_.front() == '{' ? group() : atom();
  }

  std::string group() {
    rest_.remove_prefix(1);
    if (++depth_ > deepest) return give_up();
    std::string content = row();
    --depth_;
    if (!rest_.starts_with('}')) return content + unknown("");
    rest_.remove_prefix(1);
    return elements_ == 1 ? content : grouped(content);
  }

  std::string command() {
    const std::string name = command_name();
    if (const Sign* const sign = find_command(signs, name)) return element(sign->element, in_markup(sign->text));
    if (const TextCommand* const words = find_command(words_commands, name)) return words_of(*words);
    if (const Space* const space = find_command(spaces, name))
      return "<mspace width=\"" + std::string(space->width) + "\"></mspace>";
    if (name == "frac" || name == "tfrac") {
      const std::string above = argument(), fraction = element("mfrac", above + argument());
      return name == "frac" ? fraction : "<mstyle displaystyle=\"false\">" + fraction + "</mstyle>";
    }
    if (name == "sqrt") return element("msqrt", argument());
    if (name == fence_begins) return fenced();
    if (name == "begin") return environment();
    return unknown("\\" + name);
  }

  std::string command_name() {
    rest_.remove_prefix(1);
    std::size_t end = 0;
    while (end < rest_.size() && is_latin(rest_[end])) ++end;
    return taken(std::max<std::size_t>(end, 1));
  }

  std::string words_of(const TextCommand& kind) {
    if (!rest_.starts_with('{')) return unknown("");
    rest_.remove_prefix(1);
    std::string words;
    constexpr std::string_view marks = "_%#&$^~\\{";  // which a word has only behind a backslash
    while (!rest_.empty() && rest_.front() != '}') {
      const bool is_escape = rest_.front() == '\\' && rest_.size() > 1 &&
                             std::string_view("_%#&${}").find(rest_[1]) != std::string_view::npos;
      if (is_escape) {
        rest_.remove_prefix(1);
      } else if (marks.find(rest_.front()) != std::string_view::npos) {
        return unknown(words);
      }
      words += taken(1);
    }
    if (rest_.empty()) return unknown(words);
    rest_.remove_prefix(1);
    // A single letter would be set in italics.
    const bool is_upright = kind.element == "mi" && words.size() == 1;
    return (is_upright ? "<mi mathvariant=\"normal\">" : "<" + std::string(kind.element) + ">") +
           with_blanks_kept(in_markup(words)) + "</" + std::string(kind.element) + ">";
  }

  // At the edges of an element blanks would be lost.
  static std::string with_blanks_kept(std::string words) {
    constexpr std::string_view no_break_space = "\u00A0";
    if (words.ends_with(' ')) words.replace(words.size() - 1, 1, no_break_space);
    if (words.starts_with(' ')) words.replace(0, 1, no_break_space);
    return words;
  }

  // ( or \{ or nothing at all, which a point stands for.
  std::string delimiter() {
    if (rest_.empty()) return unknown("");
    if (rest_.front() == '\\') return command();
    const std::string sign = taken(1);
    if (sign == ".") return "";
    return std::string_view("()[]|/").find(sign) == std::string_view::npos ? unknown(sign) : fence(sign);
  }

  std::string fenced() {
    if (++depth_ > deepest) return give_up();
    const std::string left = delimiter(), content = row();
    --depth_;
    if (!begins_with_command(fence_ends)) return left + content + unknown("");
    command_name();
    return grouped(left + content + delimiter());
  }

  std::string environment() {
    if (++depth_ > deepest) return give_up();
    const std::string name = name_in_braces();
    const auto kind = std::ranges::find_if(environments, [&](const Environment& row) { return row.name == name; });
    if (kind == environments.end()) return unknown(name);
    std::size_t columns = 1;
    std::string rows = "<mtr><mtd>" + row();
    while (!rest_.empty() && !begins_with_command("end") && rest_.front() != '}') {
      const bool is_cell = rest_.front() == '&';
      if (!is_cell && !rest_.starts_with("\\\\")) break;
      rest_.remove_prefix(is_cell ? 1 : 2);
      columns = is_cell ? columns + 1 : 1;
      if (columns > kind->most_columns) return unknown(name);
      rows += (is_cell ? "</mtd><mtd>" : "</mtd></mtr><mtr><mtd>") + row();
    }
    rows += "</mtd></mtr>";
    --depth_;
    if (!begins_with_command("end")) return unknown(name);
    command_name();
    if (name_in_braces() != name) return unknown(name);
    return grouped(fence(kind->left) + "<mtable class=\"" + name +
                   (kind->has_large_fractions ? "\" displaystyle=\"true\">" : "\">") + rows + "</mtable>" +
                   fence(kind->right));
  }

  std::string name_in_braces() {
    const std::size_t end = rest_.find('}');
    if (!rest_.starts_with('{') || end == std::string_view::npos) return "";
    const std::string braced = taken(end + 1);
    return braced.substr(1, end - 1);
  }

  std::string taken(std::size_t count) {
    const std::string result(rest_.substr(0, count));
    rest_.remove_prefix(std::min(count, rest_.size()));
    return result;
  }

  std::string unknown(std::string_view text) {
    met_unknown_ = true;
    return "<merror><mtext>" + in_markup(text) + "</mtext></merror>";
  }

  std::string give_up() {
    const std::string all(rest_);
    rest_ = {};
    return unknown(all);
  }

  std::string_view rest_;
  std::size_t depth_ = 0;
  std::size_t elements_ = 0;  // of the last row
  bool met_unknown_ = false;
};

}  // namespace

std::string mathml(std::string_view latex, MathPlace place) {
  const std::string begin = place == MathPlace::alone ? "<math display=\"block\">" : "<math>";
  return begin + element("mrow", TexParser(latex).formula()) + "</math>";
}

bool is_our_latex(std::string_view latex) {
  if (printable_lines(latex) != latex) return false;
  TexParser parser(latex);
  parser.formula();
  return !parser.met_unknown();
}

}  // namespace attn
