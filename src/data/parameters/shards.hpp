#pragma once

#include <string>

#include "data/parameters/source.hpp"

namespace attn {

/// A file of parameters, or the files of parameters of a folder: the one that is usual there, or several whose index
/// says which tensor is in which. `where` must outlive it. Throws InputError: unreadable, of no kind that holds
/// parameters, nothing behind the prefix; an index that names a file outside of the folder, one that is missing, or a
/// tensor that is not in its file; one of several files, where there is no prefix.
ParameterSource open_parameters(const std::string& path, const std::string& where, const std::string& prefix);

/// Throws InputError for one of the several files of a model, by its name: alone it is no model.
void refuse_one_of_several(const std::string& path);

}  // namespace attn
