#pragma once
#include <cstdio>
#include <cstdlib>

/// One condition that only a defect of ours can break; on in every build.
#define DLASIM_EXPECTS(cond) ((cond) ? void() : (std::fprintf(stderr, "%s:%d: expects %s\n", __FILE__, __LINE__, #cond), std::abort()))
