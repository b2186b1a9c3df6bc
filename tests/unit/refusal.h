// What a reader says when it refuses: tests look for the place, what was found and what would do.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace dlasim {

template <class Action>
std::string refusal(Action action)
{
    try {
        action();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "nothing was refused";
}

}  // namespace dlasim
