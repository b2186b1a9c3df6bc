// Which registers operations depend on: those of a group that runs, and of one that a program enables those that its unit asks for then.
// What else registers hold nothing follows from: of operations that are over, of engines that are bypassed, of values that nobody computes.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/software.h"
#include "registers/register_file.h"
#include "workload/program.h"

namespace dlasim {

class RegisterUses {
public:
    /// `granule`: of addresses, above which nothing follows from them. The files live longer.
    RegisterUses(const std::vector<std::pair<std::string_view, RegisterFile*>>& files, std::uint64_t granule);

    /// Values of all registers that software writes, and whose they are.
    struct Contents {
        std::vector<std::uint32_t> values;  // by row, group
        struct Unit {
            unsigned producer = 0, next = 0;  // groups: that is written, that works next
            bool runs[2] = {};                // by group
        };
        std::vector<Unit> units;
    };
    Contents now() const;
    /// Software writes a register. Units do nothing.
    void write(Contents& contents, const RegisterWrite& write) const;
    void turn(Contents& contents, const GroupTurns& turns) const;

    /// Registers that belong to no group hold the same: units may keep what follows from them.
    bool singles_alike(const Contents& a, const Contents& b) const;

    struct Use {
        std::size_t row = 0;
        unsigned group = 0;  // as seen from the one that works next
        std::uint32_t value = 0;
    };
    /// What a part of a program depends on that begins with such contents, and in which is `asked` so much; and on the values of which of
    /// its writes: not of those to a group that it does not enable.
    struct Uses {
        std::vector<Use> found;
        std::vector<bool> decides;  // by entry: the value that it writes
    };
    Uses of(Contents contents, const std::vector<bool>& asked, std::span<const ProgramEntry> part) const;
    /// By row, group: what units have asked for since the last time.
    std::vector<bool> asked() const;
    /// It finds the same.
    bool found(std::span<const Use> uses, const Contents& contents) const;

private:
    struct Row {
        std::size_t unit = 0;
        std::uint32_t offset = 0;
        std::uint32_t mask = 0;  // of the bits that decide
        bool grouped = false;
    };
    static constexpr std::size_t kNone = SIZE_MAX;
    std::size_t unit_at(std::uint32_t address) const;
    std::size_t row_at(std::size_t unit, std::uint32_t offset) const;

    std::vector<RegisterFile*> files_;
    std::vector<Row> rows_;
    std::vector<std::size_t> row_by_word_;  // of each unit; kNone: none
};

}  // namespace dlasim
