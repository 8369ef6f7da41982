#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "data/files/matrix_file.hpp"
#include "school/mistake/comparison.hpp"

namespace attn {

/// A matrix of a file that could not be compared, and why, in a sentence.
struct IncomparableMatrix {
  std::string name;
  std::string why;
};

/// Which matrices of a computation those of a file are compared with, in the order of the computation.
struct MatchedMatrices {
  std::vector<ComparedMatrix> compared;
  std::vector<IncomparableMatrix> others;
  std::vector<std::string> remarks = {};   // sentences on how matrices of the file were read
  std::vector<std::string> doubts = {};    // those without which what is said of it could be misunderstood
  std::vector<std::string> supposed = {};  // settings that neither the line nor the file says: "--causal"
  std::size_t first_step = 0;              // that differs, of a file with the steps of a decoder; 0: none does
  std::vector<std::string> unread = {};    // names of others that may be parameters from which the file was computed
};

/// Takes each matrix of a file for one of the computation, by its name as readings_of() knows it, with the
/// names of scopes before it, and by its shape. Several below each other are the heads, or the sentences, in
/// their order. A name that may be one of several, such as that of scores, which may be scaled or masked, is
/// the one that agrees, or else the likeliest that is left. Of heads whose average is given, the average is
/// added to the graph. The numbers that are compared are computed.
MatchedMatrices match_matrices(Graph& graph, const std::vector<MatrixFile>& files);

/// The matrices of a file, of which an array of what a model returns for each layer is one for each: "attentions" is
/// attentions.0, attentions.1 and so on.
std::vector<MatrixFile> with_layers_apart(const Graph& graph, std::vector<MatrixFile> files);

/// The matrices that are computed and have this shape, each once.
std::vector<const Node*> results_of_shape(const Graph& graph, Shape shape);

}  // namespace attn
