// Register writes of one operation of a loadable after the other, with the state that software keeps: which group of each unit is next,
// which interrupts reach the pin.
//
// Source  loadable.md 6. Every write is in the order of that section; a field keeps the low bits of a value.
// Error   ConfigError for what the machine cannot do (loadable.md 6.8), naming the operation.
#pragma once
#include <initializer_list>
#include <span>
#include <string>

#include "loadable/descriptors.h"
#include "registers/lut_fields.h"
#include "registers/sdp_engines.h"
#include "registers/tables.h"
#include "workload/program.h"

namespace dlasim::loadable {

/// An operation whose registers are written.
struct Prepared {
    std::size_t operation = 0;
    unsigned group = 0, rdma_group = 0;
    bool rdma = false;  // of SDP or PDP: it reads memory
};

class Programmer {
public:
    /// Whose habits it has: ours, or those of NVIDIA's driver, which reads before it writes, unmasks for ever, and never writes some
    /// registers.
    enum class Habit { Ours, Nvidia };

    /// Writes to the end of `program`.
    Programmer(const Hardware& hardware, const Loadable& loadable, const MemoryPlan& memories, Program& program, Habit habit = Habit::Ours)
        : hw_(hardware), loadable_(loadable), memories_(memories), program_(program), nvidia_(habit == Habit::Nvidia)
    {
    }

    /// Operations are those of this task from now on.
    void begin(const HardwareTask& task) { task_ = &task; }
    /// Selects the next group of its units and writes its registers.
    Prepared prepare(std::size_t operation);
    /// The same, in this group.
    Prepared prepare(std::size_t operation, unsigned group);
    void enable(const Prepared& prepared);
    /// Only interrupts of this unit reach the pin.
    void unmask(Kind kind);
    /// NVIDIA's driver looks which group of these units is next.
    void read_pointers(Kind kind);
    /// NVIDIA's handler: what has come, and which are masked; these are cleared, and it looks again.
    void read_interrupts();
    void clear_interrupts(std::uint32_t status);

    /// The groups that the hardware takes next, by kind.
    std::array<unsigned, kKinds> next_groups() const;

    /// GLB bits that say that an operation in this group is done.
    static std::uint32_t done_bit(Kind kind, unsigned group);

    /// What follows is written to registers of this unit.
    void unit(std::string_view name);
    /// A register that holds one number; one field, or several of a register, whose others become 0.
    void put(reg::Register at, std::uint64_t value);
    void put(reg::FieldValue field) { put({field}); }
    void put(std::initializer_list<reg::FieldValue> fields);
    void wide(reg::Register high, reg::Register low, Address address);
    /// NVIDIA's driver writes the low half of these first.
    void wide_low(reg::Register low, reg::Register high, Address address);
    // What a layout says besides (register_layout.h).
    template <class T>
    reg::FieldValue operator()(reg::Field field, const T& member) const
    {
        if constexpr (std::is_enum_v<T>) return field(member == CubeMemory::Primary);
        else return field(member);
    }
    reg::FieldValue less_one(reg::Field field, std::uint32_t member) const { return field(std::int64_t{member} - 1); }
    /// 0 stays 0.
    reg::FieldValue partial(reg::Field field, std::uint32_t member, unsigned) const { return field(std::max(member, 1u) - 1); }
    template <class T>
    void word(reg::Register at, const T& member)
    {
        put(at, static_cast<std::uint64_t>(member));
    }
    void known(reg::Field, auto) const {}
    void known_signed(reg::Field, auto) const {}
    void not_by_the_driver(reg::Register at, std::uint64_t value)
    {
        if (!nvidia_) put(at, value);
    }
    void place(reg::Register high, reg::Register low, const Cube& cube, const char* what)
    {
        wide(high, low, address(cube, what, cube.size));
    }

private:
    enum Unit : std::size_t { kSdpRdma = kKinds, kPdpRdma, kUnits };

    unsigned take(std::size_t unit);
    void select(Kind kind, const Prepared& prepared);
    void read_before_writes(Kind kind);

    void read(reg::Register at);
    /// Reads until the field has that value.
    void poll(reg::Field field, std::uint32_t value);

    void refuse(const std::string& problem) const;
    void check(bool good, const std::string& problem) const
    {
        if (!good) refuse(problem);
    }
    void check_precision(unsigned precision) const;
    void check_size(const Cube& cube, const char* what) const;
    /// Its address; all `bytes` from there on are the loadable's.
    Address address(const Cube& cube, const char* what, std::uint64_t bytes) const;
    Address address(int index, bool primary, std::uint64_t offset, const char* what, std::uint64_t bytes) const;
    /// Of a cube of features.
    Address feature_address(const Cube& cube, const char* what, unsigned precision) const;

    // `rdma`: with its read engine.
    void write(const ConvOperation& op, bool rdma);
    void write_conv_outputs(const ConvOperation& op);
    void write_cdma(const ConvOperation& op);
    void write(const SdpOperation& op, bool rdma);
    void write_sdp_rdma(const SdpOperation& op);
    void write_sdp_engine(const SdpStage& stage, const reg::sdp::Engine& at, unsigned last);
    void write_sdp_x(const SdpStage& stage, std::size_t engine);
    void write_sdp_y(const SdpStage& stage);
    void write(const PdpOperation& op, bool rdma);
    void write_pdp_rdma(const PdpOperation& op);
    void write(const CdpOperation& op, bool rdma);
    void write(const BdmaOperation& op, bool rdma);
    void write(const RubikOperation& op, bool rdma);
    void write_table(const char* name, int table, unsigned precision, std::span<const reg::LutTable> at);

    const Hardware& hw_;
    const Loadable& loadable_;
    const MemoryPlan& memories_;
    Program& program_;
    const bool nvidia_;
    const HardwareTask* task_ = nullptr;
    std::size_t operation_ = 0;  // that is written, for messages
    const UnitRegisters* unit_ = nullptr;
    std::array<unsigned, kUnits> next_{};
    std::uint32_t mask_ = 0;
};

}  // namespace dlasim::loadable
