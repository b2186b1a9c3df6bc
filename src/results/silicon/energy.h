// Energy of a machine over some cycles, unit by unit: events that were counted, registers whose clocks were on, leakage.
//
//   counters, clock domains ──► Activity ── energy_of() ──► UnitEnergy of each unit ──► chip_pj()
//
// Events of values - which operands toggle - are no part of it: a run with --timing-only has the same energy.
// Not included: the memory at DBB, which has its own model (dram/report/energy.h).
// Error     against published powers: docs/howto/CHOOSE.md.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "facts/hardware.h"
#include "silicon/technology.h"

namespace dlasim::silicon {

/// What a machine did in some cycles, by unit and name as in result.json. A unit that is not there did nothing.
struct Activity {
    double cycles = 0;
    Precision precision = Precision::Int8;  // of the array
    std::map<std::string, std::map<std::string, double>> counters, clock_on;

    double count(const std::string& unit, const std::string& counter) const;
    double on(const std::string& unit, const std::string& domain) const;
};

struct UnitEnergy {
    std::string unit;  // as of areas
    double events_pj = 0, clock_pj = 0, leakage_pj = 0;
    double all_pj() const { return events_pj + clock_pj + leakage_pj; }
};

std::vector<UnitEnergy> energy_of(const Technology& technology, const Hardware& hardware, const Activity& activity);
double chip_pj(const std::vector<UnitEnergy>& units);
/// A lower bound for any run with these numbers of products, operations and cycles: products of int8, sums, the clocks of array, sequencer
/// and accumulator while operations pass, leakage and the clocks that never stop.
struct Least {
    std::uint64_t products = 0, operations = 0, cycles = 0;  // operations: of the array, a cycle each
};
double least_pj(const Technology& technology, const Hardware& hardware, const Least& least);
/// mW while all units work at once, every lane in every cycle, at worst operands and the clock of the hardware.
double peak_mw(const Technology& technology, const Hardware& hardware);
/// The same, before the factor of the operands: {what it multiplies, what it does not}.
std::pair<double, double> full_mw(const Technology& technology, const Hardware& hardware);

}  // namespace dlasim::silicon
