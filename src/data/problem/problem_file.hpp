#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/trace.hpp"
#include "data/files/json_writer.hpp"
#include "data/problem/option.hpp"
#include "data/problem/problem.hpp"
#include "data/problem/problem_options.hpp"

namespace attn {

/// Reads a problem file: an object whose members are options, or what `--format json` wrote, which has one
/// under "problem". It cannot name other files: of a member that is a path, `given` must have a value.
/// Throws InputError: not JSON, an unknown member, a value of the wrong kind.
OptionValues read_problem_file(std::string_view json, const std::string& where,
                               const OptionList& members = problem_members(), const OptionValues& given = {});

/// While it lives, it is known which members problem files gave, so that a sentence on one names its file and member
/// and no option that nobody typed. Where several live, the innermost knows it.
class MembersOfFiles {
 public:
  MembersOfFiles();
  ~MembersOfFiles();
  MembersOfFiles(const MembersOfFiles&) = delete;
  MembersOfFiles& operator=(const MembersOfFiles&) = delete;

  /// Those of one file; not those that `typed` has, which take their place.
  static void tell(const OptionValues& values, const std::string& where, const OptionValues& typed);
  /// `--scale 0: …` as `p.json: "scale" 0: …`, where the file gave it.
  std::string with_places(const std::string& sentence) const;

 private:
  struct Given {
    const Option* option;
    std::string where;
  };
  std::vector<Given> all_;
  MembersOfFiles* around_;
};

/// Throws InputError where a member that is a word is none of its choices.
void require_choice(const OptionValues& values, const OfferedOption& offered, const std::string& where);

/// Writes options as such an object.
void write_members(const OptionValues& values, JsonWriter& json);

/// Writes a problem as the object that read_problem_file reads: every matrix as it is, whether it was given
/// or is random.
void write_problem(const Problem& problem, JsonWriter& json);

/// The same for a page.
std::function<void(JsonWriter&)> problem_writer(std::shared_ptr<const Problem> problem);

class JsonWriter;

/// A computation as a file holds it: its matrices, and what it was computed from where the file says so.
struct TraceFile {
  Trace trace;
  std::function<void(JsonWriter&)> recipe = {};  // writes it as it was written; empty: the file does not say
  std::vector<std::string> remarks = {};         // on what of a file is left out, because it is no matrix
};

/// Reads a trace from a .json, .npz or .safetensors file, or from standard input (`-`). From JSON that
/// `--format json` wrote it is what was written; of other files it knows names and numbers, and what a name
/// says. Throws InputError: unreadable, damaged, a kind of file that has one matrix, no matrix at all, a name
/// twice, or nodes that do not fit their matrices.
TraceFile read_trace(const std::string& path);

}  // namespace attn
