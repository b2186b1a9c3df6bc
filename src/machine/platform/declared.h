// The units of the machine: what they count, for the reference page, and how those are made that not every machine has.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/counters.h"
#include "facts/optional_units.h"
#include "links/core.h"
#include "traffic/transfer_ports.h"

namespace dlasim {

struct DeclaredUnit {
    std::vector<std::string_view> names;  // in result.json: units that are alike have one declaration
    std::string_view what;                // one line
    std::vector<CounterRow> rows;
};

/// All units, in the order of the report.
std::vector<DeclaredUnit> declared_units();

/// A unit from memory to memory, which not every machine has.
struct TransferUnit {
    const facts::OptionalUnit& unit;
    std::unique_ptr<Core> (*make)(const Hardware& hardware, const TransferPorts& ports);
};
std::span<const TransferUnit> transfer_units();

}  // namespace dlasim
