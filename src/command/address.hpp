#pragma once

#include "graph/address.hpp"
