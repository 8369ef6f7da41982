#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Where a formula stands: among words, or in a line of its own.
enum class MathPlace { among_words, alone };

/// A formula as an element of MathML Core. It may have the LaTeX that our formulas are made of: what else it
/// has becomes <merror>, with the text as it stands.
std::string mathml(std::string_view latex, MathPlace place);

/// Whether it has nothing but the LaTeX that our formulas are made of. Formulas in files may have any.
bool is_our_latex(std::string_view latex);

}  // namespace attn
