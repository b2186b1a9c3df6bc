// Area of a machine, unit by unit: its elements times what they cost in a technology.
#pragma once
#include <string>
#include <vector>

#include "facts/hardware.h"
#include "silicon/technology.h"

namespace dlasim::silicon {

struct UnitArea {
    std::string unit;  // cvsram and control included
    double um2 = 0;
};

std::vector<UnitArea> area_of(const Technology& technology, const Hardware& hardware);
/// Square millimetres of all of them.
double area_mm2(const Technology& technology, const Hardware& hardware);

}  // namespace dlasim::silicon
