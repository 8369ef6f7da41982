#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "command/command.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

// What the matrices of a file are, by their names and numbers, and which of them a problem is made of.

using OffersOption = std::function<bool(const Option& option)>;

/// The option that gives what has a role; null: there is none.
const Option* option_for(const Role& role);

/// A name without the number of the head whose projection it is.
std::string name_in_all_heads(const std::string& name);

/// Both 0 and 1, and nothing else.
bool holds_permissions(const Matrix& matrix);

/// A mask is known by its numbers as well where its name may be that of something else.
bool is_mask(const MatrixFile& file);

/// What a matrix of a file is first of all, of one head or of all; null: nothing that is known.
const Role* role_of(const MatrixFile& file);

/// Whether a matrix of this name can be what a problem is made of.
bool is_input(const std::string& name);

/// How many words there are, by what is attended from; nothing: neither the line nor the file says it.
std::optional<std::size_t> words_in(const std::vector<MatrixFile>& files, const Arguments& given);

/// The problem that the matrices of a file belong to: those among them that cannot be computed from others,
/// by the names that people give them, and how many heads there are; only options that are offered. What is
/// given counts more than they. Throws InputError: a matrix has more dimensions than are read.
OptionValues inputs_among(const std::vector<MatrixFile>& files, const Arguments& given, const OffersOption& offers,
                          std::size_t heads = 0);

/// Whether keys have a part of the columns of queries, as where heads share them, and nothing says how many heads there
/// are.
bool may_share_keys(const Arguments& given, const OptionValues& values);

/// Keys have as many columns in each head as queries: where they have fewer in all, says how many heads of keys there
/// are. The line is read already.
void put_heads_of_keys(const Arguments& given, OptionValues& values, const OffersOption& offers);

}  // namespace attn
