#pragma once

// The only file that includes xtensor: its headers moved between releases, and both places are listed here.
#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xtensor.hpp>
#endif
