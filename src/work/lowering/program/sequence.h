// Operations of the machine in the order in which software starts them, through both register groups of every unit:
//
//   wait until the groups are free ── write the registers ── wait for what it reads ── enable
//
// A group is free when the operation that used it last has raised its interrupt. Registers are written while operations before run;
// an operation that reads nothing of theirs is enabled at once. A unit that takes no part in an operation keeps its turn.
//
// A convolution of few results could end in CACC in the cycle in which the one before leaves it, which the silicon does not survive: CSC is
// enabled last then, when the one before is done. What CDMA fetches comes meanwhile.
//
// The registers of a group keep their values, so that a program may write those alone that an operation changes: of tiles the addresses.
//
// With less overlap all operations before are done before the registers are written, or before the enable.
//
// Source  programming.md 1, pdp.md 2; open_points.md R2.
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <unordered_map>

#include "config/model/partition.h"
#include "lowering/passes.h"
#include "lowering/program/lrn_pass.h"
#include "lowering/program/program_writer.h"
#include "registers/interrupts.h"

namespace dlasim {

/// Registers that the program holds: none, which is what is waited for, when; those that differ from what their group holds; or all.
enum class Writes { None, Changed, All };

class Sequence {
public:
    using Operation = std::size_t;  // the n-th that was added
    using Operations = std::vector<Operation>;

    /// `interrupts`: bits of GLB that are not masked; of every operation one at least.
    Sequence(ProgramWriter& program, const Hardware& hardware, std::uint32_t interrupts, Overlap overlap, Writes writes = Writes::All)
        : program_(program), hw_(hardware), interrupts_(interrupts), overlap_(overlap), writes_(writes)
    {
    }

    /// What the program holds between an operation's waits and its enables.
    using Ready = std::function<void()>;

    /// Enabled when the operations `after` are done.
    Operation add(const PlannedPass& pass, const Operations& after = {}, const Ready& ready = {});
    Operations add(const std::vector<PlannedPass>& passes, const Operations& after);
    /// By SDP on a machine without the unit (interleave.h).
    Operations add(const ReshapePass& contraction, const Operations& after);
    /// `tables`: its tables are others than those before; they are written when CDP has nothing to do.
    Operation add(const LrnPass& pass, bool tables, const Operations& after, const Ready& ready = {});

    void wait_for(Operation operation);
    void wait_for_all();
    /// Its interrupt has been taken.
    bool waited(Operation operation) const { return list_[operation].waited; }

    /// GLB bits that say an operation is done: of the unit that writes its output.
    std::uint32_t done_bits(Operation operation) const { return list_[operation].done; }
    /// Of all units that take part.
    std::uint32_t raised_bits(Operation operation) const { return list_[operation].raised; }
    std::size_t size() const { return list_.size(); }

private:
    enum Unit : std::size_t { kArray, kSdp, kSdpRdma, kPdp, kPdpRdma, kCdp, kContraction, kUnits };
    struct Listed {
        std::uint32_t done = 0, raised = 0;  // raised: of all units that take part, if they are not masked
        bool waited = false;
    };

    /// In front of the registers, and in front of the enable of the operation that begins.
    void before_registers();
    void before_enable(const Operations& after);
    /// The group of a unit that the next operation takes.
    unsigned take(Unit unit);
    Operation begin(std::uint32_t done, std::uint32_t raised);
    /// Its registers and, when the operations `after` are done, its enables; that of CSC not before `array` is done.
    template <class Write>
    void start(Operation operation, const Write& registers, const Operations& after, const Ready& ready,
               std::optional<Operation> array = std::nullopt);
    void enable(const std::vector<RegisterValue>& enables, std::optional<Operation> array);
    /// Without those that hold their values, as far as this sequence has written them.
    std::vector<RegisterValue> changed(std::vector<RegisterValue> writes);
    /// The convolution before this one, if their ends may meet.
    std::optional<Operation> before_small(const PlannedPass& pass) const;

    ProgramWriter& program_;
    const Hardware& hw_;
    const std::uint32_t interrupts_;
    const Overlap overlap_;
    const Writes writes_;
    std::vector<Listed> list_;
    std::array<std::array<std::optional<Operation>, 2>, kUnits> user_{};  // of each group, the last one
    std::array<unsigned, kUnits> turn_{};
    std::optional<Operation> convolution_;                        // the last one
    std::unordered_map<std::uint64_t, std::uint32_t> registers_;  // what they hold, by address and group
};

}  // namespace dlasim
