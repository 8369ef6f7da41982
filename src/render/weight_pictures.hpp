#pragma once

#include "page/page.hpp"
#include "render/style.hpp"
#include "support/sink.hpp"

namespace attn {

/// Small pictures in characters, beside each other. In one of a long sentence neighbors share a cell, which
/// has their largest weight.
void write_heat_maps(const HeatMaps& maps, const Style& style, Sink& sink);

/// The words of a sentence, once for each row: shaded where there are colors enough, and otherwise with their
/// weights below them in percent. Of a long sentence the words with the largest weights are shown.
void write_shaded_words(const ShadedWords& words, const Style& style, Sink& sink);

}  // namespace attn
