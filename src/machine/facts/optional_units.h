// Units that not every machine has.
#pragma once
#include <string_view>

#include "facts/bdma.h"
#include "facts/client.h"
#include "facts/hardware.h"
#include "facts/rubik.h"

namespace dlasim::facts {

struct OptionalUnit {
    std::string_view window, name, key;  // on the register bus, in sentences, in results
    bool Hardware::*there;
    Client client;
    std::uint32_t (*fifo_beats)(const Hardware& hardware);  // of what it reads
};
inline constexpr OptionalUnit kOptionalUnits[] = {
    {"BDMA", "BDMA", "bdma", &Hardware::bdma, Client::Bdma, [](const Hardware& hw) { return bdma::of(hw).fifo_beats; }},
    {"RBK", "Rubik", "rubik", &Hardware::rubik, Client::Rubik, [](const Hardware& hw) { return rubik::of(hw).fifo_beats; }},
};
/// The unit of this window, if the machine lacks it; else null.
constexpr const OptionalUnit* missing_unit(const Hardware& hardware, std::string_view window)
{
    for (const OptionalUnit& unit : kOptionalUnits)
        if (unit.window == window && !(hardware.*unit.there)) return &unit;
    return nullptr;
}

}  // namespace dlasim::facts
