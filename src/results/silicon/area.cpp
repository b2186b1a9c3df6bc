#include "silicon/area.h"

#include "silicon/elements.h"

namespace dlasim::silicon {

std::vector<UnitArea> area_of(const Technology& technology, const Hardware& hardware)
{
    std::vector<UnitArea> areas;
    for (const UnitElements& e : elements_of(hardware))
        areas.push_back(
            {e.unit, e.all_gates() * technology.gate_um2 + e.ram_bits * technology.ram_bit_um2 + e.sram_bits * technology.sram_bit_um2});
    areas.push_back({"control", technology.control_um2});
    return areas;
}

double area_mm2(const Technology& technology, const Hardware& hardware)
{
    double um2 = 0;
    for (const UnitArea& unit : area_of(technology, hardware)) um2 += unit.um2;
    return 1e-6 * um2;
}

}  // namespace dlasim::silicon
