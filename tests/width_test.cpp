#include <doctest/doctest.h>

#include "page/render/width.hpp"

using namespace attn;

TEST_CASE("colors take no columns, and neither does what follows an escape that nothing ends") {
  CHECK(visible_width("\x1b[1mab\x1b[0m c") == 4);
  CHECK(visible_width("ab\x1b[ 1") == 2);
  CHECK(visible_width("\x1b[") == 0);
  CHECK(visible_width("\x1b") == display_width("\x1b"));
}
