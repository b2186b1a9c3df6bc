// What a program writes into the registers, pass by pass.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "registers/fields/cdma.h"
#include "registers/fields/csc.h"
#include "workload/program.h"

namespace dlasim {

struct Written {
    std::string name;
    std::uint32_t offset, value;
    bool operator==(const Written&) const = default;
};
using PassWrites = std::vector<Written>;  // its enables at the end

inline std::vector<PassWrites> writes_of(const Program& program)
{
    std::vector<PassWrites> passes(1);
    bool enabled = false;
    for (const ProgramEntry& entry : program)
        if (const auto* write = std::get_if<RegisterWrite>(&entry)) {
            const bool enables = write->name.ends_with(".D_OP_ENABLE");
            if (enabled && !enables) passes.emplace_back();
            enabled = enables;
            passes.back().push_back({write->name, write->address % 0x1000, write->value});
        }
    return passes;
}

inline std::uint32_t value_of(const PassWrites& pass, const std::string& name)
{
    for (const Written& write : pass)
        if (write.name == name) return write.value;
    ADD_FAILURE() << name << " is not written";
    return 0;
}

inline std::vector<std::string> enables_of(const PassWrites& pass)
{
    std::vector<std::string> names;
    for (const Written& write : pass)
        if (write.name.ends_with(".D_OP_ENABLE")) names.push_back(write.name);
    return names;
}

/// A field of one of the unit's registers.
inline std::uint32_t value_of(const PassWrites& pass, const std::string& unit, reg::Field field)
{
    for (const Written& write : pass)
        if (write.name.starts_with(unit + ".") && write.offset == field.offset) return field.get(write.value);
    ADD_FAILURE() << "no such field of " << unit << " is written";
    return 0;
}

/// What a pass says to CDMA and CSC alike: d data reused, w weights reused, D and W kept.
inline std::string reuse_of(const PassWrites& pass)
{
    using Fetch = struct reg::cdma::D_MISC_CFG;
    using Use = struct reg::csc::D_MISC_CFG;
    constexpr struct {
        reg::Field fetch, use;
        char letter;
    } kFlags[] = {{Fetch::DATA_REUSE, Use::DATA_REUSE, 'd'},
                  {Fetch::WEIGHT_REUSE, Use::WEIGHT_REUSE, 'w'},
                  {Fetch::SKIP_DATA_RLS, Use::SKIP_DATA_RLS, 'D'},
                  {Fetch::SKIP_WEIGHT_RLS, Use::SKIP_WEIGHT_RLS, 'W'}};
    std::string letters;
    for (const auto& flag : kFlags) {
        EXPECT_EQ(value_of(pass, "CDMA", flag.fetch), value_of(pass, "CSC", flag.use));
        if (value_of(pass, "CDMA", flag.fetch)) letters += flag.letter;
    }
    return letters;
}

}  // namespace dlasim
