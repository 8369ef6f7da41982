#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/name.hpp"
#include "core/math/matrix.hpp"
#include "core/support/outside.hpp"
#include "data/files/matrix_file.hpp"
#include "data/parameters/layout.hpp"

namespace attn {

/// Learned matrices by the names of docs/formats.md, such as `encoder.1.self_attention.w_q`; maps are
/// [in, out], a vector is one row.
using ParameterSet = std::map<std::string, Matrix, std::less<>>;

/// What a file of parameters holds, by whose names it was written, "attn", "GPT-2", or a module of PyTorch
/// such as "nn.Transformer", and what is known of such models.
struct ParameterFile {
  std::string layout;
  ParameterSet parameters;
  std::span<const ImpliedField> brings = {};
  std::vector<Assumption> assumed = {};
};

/// Reads parameters from a file, from standard input (`-`), or from the files of a folder (data/parameters/shards.hpp),
/// and translates the names and matrices of state dictionaries of PyTorch and of GPT-2 into ours; a prefix that all
/// names share is taken off. With a `scope`, such as "encoder", only what stands in it counts, and it is taken off as
/// well. Throws InputError: unreadable, damaged, nothing in the scope, no known layout, a parameter that is
/// missing, superfluous, of a wrong shape or not finite.
/// `heads` is how many there are, or 0 where nobody says it: tensors that hold the heads in turn are refused then.
ParameterFile read_parameters(const std::string& path, std::string_view scope = "", std::size_t heads = 0);

/// The parameters among matrices that were saved together with results, as `dict(module.named_parameters())`
/// and what the module returned, and the names that they have there. Nothing: the names are of no layout but
/// our own, or some are missing. Throws InputError: of a wrong shape or not finite.
struct ParametersAmong {
  ParameterFile file;
  std::set<std::string, std::less<>> names;
};
std::optional<ParametersAmong> parameters_among(std::span<const MatrixFile> matrices, const std::string& where);
/// Their layout, and nothing that reads them; empty: there are none.
std::string_view layout_among(std::span<const MatrixFile> matrices);

/// The vectors of words, [words, d_model]; null: the parameters have none.
const Matrix* embedding_in(const ParameterSet& parameters);

/// A parameter that a file has, by its name there.
struct NamedParameter {
  std::string name;
  const Role& role;
  Matrix matrix;
};

/// The parameters of one part of a model, a norm (scope::norm) or a feed-forward layer, that stand in the
/// scope of a file. Throws InputError: unreadable, damaged, nothing in the scope, not finite.
std::vector<NamedParameter> read_part(const std::string& path, std::string_view scope, const ScopeKind& part);

/// Writes a .safetensors file of F64, names in order; biases, gamma and beta have one dimension. The same
/// bytes every time. Throws OutputError when a name is not UTF-8.
void write_safetensors(const std::vector<NamedMatrix>& parameters, Sink& sink);
void write_safetensors(const ParameterSet& parameters, Sink& sink);

}  // namespace attn
