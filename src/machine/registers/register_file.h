// The register file of a unit: one plain set, or single registers and two groups that software and
// the data path use alternately. Same in every unit of both generations.
//
//   U      request valid at the unit port
//   U + 1  decode: the write is performed or dropped, the read is answered (state of this cycle)
//   U + 2  the written register holds the new value
//   U + 5  op_en of the consumer group has passed three flops: the data path may start (E)
//   D      done pulse of the data path; D + 1: group released, consumer toggled; D + 4: E of the
//          other group if it was enabled by D + 1
//
// Source  csb.md 1.3, 2.1, 2.5.
#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "base/cycle.h"
#include "causes/wait_log.h"
#include "registers/field.h"
#include "registers/tables.h"
#include "traffic/csb.h"

namespace dlasim {

class RegisterFile {
public:
    /// Reads the value of a register that hardware drives, as it is in cycle `at`; empty: stored value.
    using StatusReader = std::function<std::optional<std::uint32_t>(std::uint32_t offset, unsigned group, Cycle at)>;
    /// A write to a single register (not of a group) takes effect: for registers with side effects.
    using WriteListener = std::function<void(std::uint32_t offset, std::uint32_t data, Cycle decode)>;

    RegisterFile(const UnitRegisters& unit, CsbLink& link);

    /// Performs all requests due by cycle `at`. Call first in the unit's advance().
    void advance(Cycle at)
    {
        if (horizon() <= at) perform(at);
    }
    /// The next request, or kNever: part of the unit's horizon.
    Cycle horizon() const { return link_.request.next(); }

    /// First cycle in which the data path sees op_en of the consumer group (E); kNever if it is not enabled.
    Cycle start_cycle() const;
    /// The done pulse of the data path is in cycle `done`: releases the consumer group. Call in or before that cycle.
    void finish(Cycle done);

    unsigned producer() const { return producer_; }
    /// The group the data path uses, or will use next, as of the last finish().
    unsigned consumer() const { return consumer_; }

    /// Register of the consumer group, or a single register; or a field of it.
    std::uint32_t get(std::uint32_t offset) const { return get(offset, consumer_); }
    std::uint32_t get(std::uint32_t offset, unsigned group) const;
    /// What a read would find in cycle `at`, without one; nothing where a read changes something.
    std::optional<std::uint32_t> peek(std::uint32_t offset, Cycle at) const;
    std::uint32_t get(reg::Field field) const { return field.get(get(field.offset)); }
    std::uint32_t get(reg::Field field, unsigned group) const { return field.get(get(field.offset, group)); }
    std::int32_t get_signed(reg::Field field) const { return field.get_signed(get(field.offset)); }
    /// What two registers of the consumer group hold together.
    std::uint64_t pair(std::uint32_t high, std::uint32_t low) const { return std::uint64_t{get(high)} << 32 | get(low); }
    /// Sets what software reads back; not for op_en or pointers.
    void set(std::uint32_t offset, unsigned group, std::uint32_t value);

    /// op_en of the consumer group.
    bool enabled() const { return enable_[consumer_].on; }
    /// The reason why a unit has no layer from cycle `from` on: software has not enabled it, or the groups change over.
    void note_idle(WaitLog& log, Cycle from) const;
    /// op_en of a group as it is in cycle `at`.
    bool enabled(unsigned group, Cycle at) const { return enable_[group].in(at); }

    /// All values, in the order of the groups, then which group is whose: of a unit that has nothing enabled.
    std::vector<std::uint32_t> state() const;
    /// Loads what state() of the same unit of another machine returned; returns false without any change if it is impossible.
    bool restore(const std::vector<std::uint32_t>& state);
    bool idle() const { return !enable_[0].on && !enable_[1].on; }

    StatusReader read_status;
    WriteListener on_write;

    const UnitRegisters& unit() const { return unit_; }

    /// A write that was dropped because its group was enabled.
    struct Dropped {
        std::uint32_t offset = 0, value = 0;
        unsigned group = 0;
        std::uint64_t number = 0;  // of the writes to the unit, from 0
        Cycle decode = 0;
    };
    static constexpr std::size_t kKeptDropped = 64;
    /// The first ones.
    const std::vector<Dropped>& dropped() const { return dropped_; }

private:
    struct Enable {
        bool on = false;
        Cycle at = 0;         // from this cycle on
        bool was_on = false;  // before
        bool in(Cycle c) const { return c >= at ? on : was_on; }
    };
    void perform(Cycle at);
    std::size_t slot(std::uint32_t offset, unsigned group) const;
    std::uint32_t read(std::uint32_t offset, Cycle decode) const;
    void write(std::uint32_t offset, std::uint32_t data, Cycle decode);

    const UnitRegisters& unit_;
    CsbLink& link_;
    std::array<std::vector<std::uint32_t>, 2> values_;  // by offset / 4; single registers in [0]
    std::array<Enable, 2> enable_;
    unsigned producer_ = 0, consumer_ = 0;
    Cycle done_ = 0;  // cycle of the last done pulse
    bool finished_once_ = false;
    std::uint64_t writes_ = 0;
    std::vector<Dropped> dropped_;
};

}  // namespace dlasim
