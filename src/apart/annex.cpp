#include "apart/annex.hpp"

#include "apart/apart_options.hpp"

namespace attn {
namespace {

std::span<const Form> apart_forms() {
  static const Form all[] = {
      {.option = &option::explore, .run = exploration},
      {.option = &option::what_if, .with = {&option::only, &option::swap}, .run = what_if},
      {.option = &option::broken, .run = failure_page},
  };
  return all;
}

}  // namespace

const Annex apart_annex = {"apart", "the options that go with --explore and --what-if", apart_commands, apart_forms,
                           apart_options};

}  // namespace attn
