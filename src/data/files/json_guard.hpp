#pragma once

#include <string>
#include <string_view>

namespace attn {

/// "where:line:column" of a byte of a text; columns count characters.
std::string place_in(std::string_view text, std::size_t at, const std::string& where);

/// Throws InputError when JSON text would take too much to hold, before any of it is held: too many values,
/// values nested too deep, or an object with too many members. Says nothing about any other mistake.
void refuse_monstrous_json(std::string_view text, const std::string& where);

}  // namespace attn
