// Units that not every machine has.
#pragma once
#include <string_view>

#include "facts/hardware.h"

namespace dlasim::facts {

struct OptionalUnit {
    std::string_view window, name, key;  // on the register bus, in sentences, in results
    bool Hardware::*there;
};
inline constexpr OptionalUnit kOptionalUnits[] = {{"BDMA", "BDMA", "bdma", &Hardware::bdma}, {"RBK", "Rubik", "rubik", &Hardware::rubik}};
/// The unit of this window, if the machine lacks it; else null.
constexpr const OptionalUnit* missing_unit(const Hardware& hardware, std::string_view window)
{
    for (const OptionalUnit& unit : kOptionalUnits)
        if (unit.window == window && !(hardware.*unit.there)) return &unit;
    return nullptr;
}

}  // namespace dlasim::facts
