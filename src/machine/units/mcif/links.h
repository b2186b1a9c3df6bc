// What a memory interface is wired to on the side of the machine.
#pragma once
#include <array>

#include "facts/hardware.h"
#include "traffic/csb.h"
#include "traffic/memory.h"

namespace dlasim {

/// Which memory port: DBB (MCIF) or CVSRAM (CVIF).
enum class MemorySide { Primary, Secondary };

/// Clients by AXI id; null where the machine has no such client.
struct McifLinks {
    CsbLink& csb;
    std::array<ReadLink*, kClients> read{};
    std::array<WriteLink*, kWriteClients> write{};
};

/// The address bits that the ports have.
inline std::uint64_t address_mask(const Hardware& hardware)
{
    return hardware.memory.address_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << hardware.memory.address_bits) - 1;
}

/// Rings for one client when its request channel changes, and wakes whom it always woke.
class Doorbell final : public Sleeper {
public:
    /// `mask`, bit `index`: set while something may be at the channel.
    void hang(Sleeper* owner, std::uint32_t& mask, unsigned index)
    {
        owner_ = owner;
        mask_ = &mask;
        bit_ = 1u << index;
    }
    void wake_at(Cycle at) override
    {
        *mask_ |= bit_;
        if (owner_) owner_->wake_at(at);
    }

private:
    Sleeper* owner_ = nullptr;
    std::uint32_t* mask_ = nullptr;
    std::uint32_t bit_ = 0;
};

struct FabricMode {
    bool values;  // beats carry their bytes
    /// An empty stage passes its input to the next one at once, for the cycle of its arrival there. Not in nv_full, whose stages pair
    /// atoms, nor while stepping: slower, and by law the same.
    bool direct;
};

/// The memory interface's registers, as they act in a cycle.
struct FabricSettings {
    std::array<std::uint8_t, kClients> read_weight{};
    std::array<std::uint8_t, kWriteClients> write_weight{};
    std::uint32_t read_limit = 0, write_limit = 0;  // outstanding beats
};

}  // namespace dlasim
