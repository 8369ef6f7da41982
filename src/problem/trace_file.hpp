#pragma once

#include <functional>
#include <string>

#include "graph/trace.hpp"

namespace attn {

class JsonWriter;

/// A computation as a file holds it: its matrices, and what it was computed from where the file says so.
struct TraceFile {
  Trace trace;
  std::function<void(JsonWriter&)> recipe = {};  // writes it as it was written; empty: the file does not say
};

/// Reads a trace from a .json, .npz or .safetensors file, or from standard input (`-`). From JSON that
/// `--format json` wrote it is what was written; of other files it knows names and numbers, and what a name
/// says. Throws InputError: unreadable, damaged, a kind of file that has one matrix, no matrix at all, a name
/// twice, or nodes that do not fit their matrices.
TraceFile read_trace(const std::string& path);

}  // namespace attn
