#pragma once
#include "dlasim/error.h"
