// What a machine is built as: geometry and options, fixed for a run. A preset is a value of this
// type (facts/presets.cpp); a hardware file or --set is laid over it; every unit derives its own
// sizes from it by the parametrised rules of the specification. Sources: hardware/README.md,
// fabric.md 1.1, cdma.md 0.1, csc.md 0, cacc.md 0, sdp.md.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "base/bits.h"
#include "base/quantity.h"
#include "facts/client.h"

namespace dlasim {

enum class Generation { Full, Configurable };
constexpr const char* name_of(Generation generation) { return generation == Generation::Full ? "full" : "configurable"; }
enum class Precision : std::uint8_t { Int8 = 0, Int16 = 1, Fp16 = 2 };

struct MacHardware {
    std::uint32_t atomic_c = 0;  // input channels a cycle
    std::uint32_t atomic_k = 0;  // MAC cells; nv_full's hold two int8 kernels each
};

struct CbufHardware {
    std::uint32_t banks = 0;
    std::uint32_t bank_depth = 0;  // entries a bank
    std::uint32_t entry_bytes = 0;
};

struct PortHardware {
    std::uint32_t width_bytes = 0;  // bytes a beat
    std::uint32_t burst_beats = 1;  // longest burst in beats
};

struct MemoryHardware {
    std::uint32_t atom_bytes = 0;
    PortHardware primary, secondary;
    bool has_secondary = false;            // CVIF and the CVSRAM port
    std::uint32_t fifo_cover_cycles = 64;  // memory latency that the read FIFOs are sized for; the memory has its own
    std::uint32_t address_bits = 32;
    std::uint32_t secondary_bytes = 0;  // of CVSRAM, that networks may use
};

struct SdpHardware {
    std::uint32_t bs_throughput = 1, bn_throughput = 1, ew_throughput = 1;  // elements a cycle
    bool has_ew = false;
    bool has_lut = false;
    /// Elements of a beat from CACC: the fastest stage.
    std::uint32_t max_throughput() const
    {
        const std::uint32_t x = bs_throughput > bn_throughput ? bs_throughput : bn_throughput;
        return has_ew && ew_throughput > x ? ew_throughput : x;
    }
};

struct CdpHardware {
    std::uint32_t throughput = 1;  // bytes a cycle; nv_full takes 8 whatever the element
};

struct PdpHardware {
    std::uint32_t throughput = 1;  // bytes a cycle: int8 elements
};

/// Read credits of the clients in response beats, by AXI id; 0 is unlimited. fabric.md 1.1.
struct FabricHardware {
    std::array<std::uint32_t, kClients> read_credit{};
};

struct Hardware {
    std::string name;  // of the preset it started from
    Generation generation = Generation::Configurable;
    MacHardware mac;
    CbufHardware cbuf;
    MemoryHardware memory;
    SdpHardware sdp;
    CdpHardware cdp;
    PdpHardware pdp;
    FabricHardware fabric;
    bool winograd = false, batch = false, weight_compression = false, bdma = false, rubik = false;
    std::uint32_t clock_mhz = 1000;

    bool full() const { return generation == Generation::Full; }
    /// Sizes may be chosen, and others follow from them. nv_full is one design.
    bool scalable() const { return !full(); }
    /// R: memory atoms in a CBUF entry.
    std::uint32_t atoms_per_entry() const { return cbuf.entry_bytes / memory.atom_bytes; }
    /// M: memory atoms in a response beat.
    std::uint32_t atoms_per_beat() const { return full() ? 2 : 1; }
    /// KG: kernels of a weight group.
    std::uint32_t kernel_group(Precision precision) const
    {
        return full() && precision == Precision::Int8 ? 2 * mac.atomic_k : mac.atomic_k;
    }
    /// Multiplications a cycle of that precision.
    std::uint64_t macs_per_cycle(Precision precision) const { return std::uint64_t{mac.atomic_c} * kernel_group(precision); }
};

/// Default on-chip memory at the secondary port. [spec] NVDLA's performance estimator, AlexNet "with 4M on-chip
/// SRAM".
inline constexpr std::uint32_t kCvsramBytes = 4u << 20;

/// Software puts everything below: what machines of 32 address bits reach. [spec] hardware/README.md
inline constexpr Address kReachable{std::uint64_t{1} << 32};

}  // namespace dlasim
