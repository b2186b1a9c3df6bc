// Programming rules of the hardware that a register program breaks: found without running it (lint/lint.h), or by the machine that drops
// a write.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dlasim {

enum class Rule : std::uint8_t {
    Alignment,         // an address or stride that is no multiple of the memory atom
    Width,             // bits that the register does not store
    EnabledGroup,      // writes into a register group that is still enabled
    GroupTurn,         // a launch in the group that the unit does not use next
    LiveTable,         // a lookup table changes while an operation may read it
    MissingUnit,       // an operation without one of its units
    UnitsDisagree,     // two units of an operation have different values
    Size,              // a value that does not follow from the others
    Buffer,            // more than the convolution buffer holds
    NeverRaised,       // a wait for an interrupt that no operation raises
    EndsWhileWorking,  // the program ends without waiting for an operation
    Defect,            // an operation that the silicon computes wrongly
    EarlyEnd,          // a convolution so small that its end can meet that of the one before in CACC, which is not waited for
};
inline constexpr std::array<const char*, 13> kRuleNames{
    "alignment", "register_width", "enabled_group", "group_turn",         "live_table", "missing_unit", "units_disagree",
    "size",      "buffer",         "never_raised",  "ends_while_working", "defect",     "early_end"};
constexpr const char* name_of(Rule rule) { return kRuleNames[static_cast<std::size_t>(rule)]; }

struct RuleBreach {
    Rule rule{};
    std::size_t entry = 0;        // of the program, from 0
    std::string name;             // UNIT.REGISTER
    std::uint32_t value = 0;      // of the register
    std::string problem;          // what is wrong, and what is expected
    std::uint32_t operation = 0;  // from 1, as in the hazards; 0: none
    std::uint64_t more = 0;       // further entries for the same reason
};

struct RuleReport {
    std::size_t entries = 0, operations = 0;  // of the program
    std::uint64_t found = 0;
    std::vector<RuleBreach> list;  // by entry; at most kMaxBreaches
};
inline constexpr std::size_t kMaxBreaches = 1000;

/// A register write that the machine dropped, since its group was enabled.
struct DroppedWrite {
    std::string name;  // UNIT.REGISTER
    std::uint32_t value = 0;
    unsigned group = 0;
    std::size_t entry = 0;   // of the program
    std::int64_t cycle = 0;  // in which the unit dropped it, relative to t0
};

}  // namespace dlasim
