// What a machine is made of, unit by unit, as far as it costs area, clock or leakage: gates, registers by clock domain, bits of memory.
// Pure functions of the hardware; what a gate or a bit costs says the technology.
//
//   Hardware ── elements_of() ──► gates, registers, RAM bits of each unit ──► area.h, energy.h
//
// Source  sizes of buffers and widths of paths: docs/hardware, sections named in the table; gates: gates.h.
// Not modelled in detail: everything independent of size - registers of the bus, sequencers, interrupts: one number for all of it,
// `control_um2` of the technology. Error   against published areas: docs/howto/CHOOSE.md.
#pragma once
#include <string>
#include <vector>

#include "facts/hardware.h"

namespace dlasim::silicon {

/// Registers that one clock reaches.
struct ClockedRegisters {
    std::string domain;  // as in the unit's `clock_on`; empty: its clock never stops
    double bits = 0;
};

/// Words of 64 bits that each event of a counter writes to the FIFOs of a port or reads from them.
struct FifoWords {
    const char* counter;
    double words;
};

struct UnitElements {
    std::string unit;        // as in result.json; cbuf and cvsram beside
    double gates = 0;        // without registers
    double stored_bits = 0;  // registers whose clock runs only where they are written: FIFOs, tables
    double ram_bits = 0;     // of buffers with a port to read and one to write
    double sram_bits = 0;    // of CVSRAM
    std::vector<ClockedRegisters> registers = {};
    std::vector<FifoWords> moved = {};
    bool apart = false;  // it has operations of its own, during which no convolution runs

    double clocked_bits() const;
    /// Registers included.
    double all_gates() const;
};

std::vector<UnitElements> elements_of(const Hardware& hardware);
/// Bytes of 64 bits of a bank of CBUF in all its depth: a wide word opens as many such columns side by side.
double cbuf_column_bytes(const Hardware& hardware);
/// The same of the assembly and the delivery buffer of CACC.
double cacc_column_bytes(const Hardware& hardware);

}  // namespace dlasim::silicon
