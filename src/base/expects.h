#pragma once
#include <string>

#include "base/error.h"

namespace dlasim {

[[noreturn, gnu::cold, gnu::noinline]] inline void expectation_failed(const char* file, int line, const char* condition)
{
    throw InternalError(std::string(file) + ":" + std::to_string(line) + ": expects " + condition);
}

}  // namespace dlasim

/// One condition that only a defect of ours can break; on in every build. Throws InternalError.
#define DLASIM_EXPECTS(cond) ((cond) ? void() : ::dlasim::expectation_failed(__FILE__, __LINE__, #cond))
