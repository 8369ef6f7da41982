#pragma once

#include "command/options.hpp"

namespace attn {

namespace choices {
std::vector<OptionChoice> views();
std::vector<OptionChoice> parts_left_out();
std::vector<OptionChoice> failures();
}  // namespace choices

/// The options of this annex. Those that make a form of the page are in its table of forms (apart/annex.cpp).
namespace option {

// clang-format off

// A walk on a screen.
inline constexpr Option
    explore   = flag("--explore", "",
                     "walk about the matrices on a full screen, cell by cell, and change their numbers"),
    second    = text_of("--second", "", "LINE",
                        "another computation to show the differences to: a command line or a file"),
    keys      = text_of("--keys", "", "KEYS", "press these keys first, such as 'right = 3 enter'"),
    print     = word("--print", "", "print what stands on the screen then, without a terminal").with_placeholder("VIEW")
                    .from(choices::views),
    picture   = path("--picture", "", "draw the same as a picture: x.svg"),
    recording = path("--recording", "", "draw what each key shows as a picture that moves: x.svg"),
    screen    = text_of("--screen", "", "SIZE", "columns and rows of a screen that no terminal has (default 80x24)");

// What becomes of everything where something is changed.
inline constexpr Option
    what_if    = flag("--what-if", "", "change something, and see what becomes of everything that is made of it"),
    without    = Option{"--without", "", Kind::texts, "PART",
                        "leave out a part, or a head: 'head 2', or 'head 1.2' of layer 1"}
                     .from(choices::parts_left_out),
    patch      = Option{"--patch", "", Kind::texts, "NAME",
                        "give this matrix the numbers that it has in another computation"}.of_matrices(),
    patch_file = path("--patch-file", "", "trace or model output that --patch takes numbers from"),
    patch_text = text_of("--patch-text", "", "SENTENCE",
                         "another sentence, whose computation --patch takes numbers from"),
    each_head  = flag("--each-head", "", "leave out each head in turn: how far the result moves without it"),
    tested_on  = word("--held-out", "", "count what is right on sentences of this task that training never sees")
                     .with_placeholder("TASK").from(choices::tasks);

// A failure that people meet.
inline constexpr Option
    broken = text_of("--break", "", "NAME",
                     "make a failure that people meet, such as wrong-axis, and the law that catches it")
                 .from(choices::failures);

// clang-format on

}  // namespace option

/// What is said of --of without --each-head.
inline constexpr const char* of_each_head =
    "--of chooses what --each-head tells, which goes without changes: give --each-head in their place, or leave out --of";

/// The options that go with --explore and --what-if.
const OptionGroup& apart_options();

/// Those that say what is changed in a computation.
const OptionGroup& what_if_options();

}  // namespace attn
