// The operations of a register program, in the order in which software starts them: what the hazards of a run are named by.
//
//   register writes ─► launches of every unit (D_OP_ENABLE, LAUNCH) ─► joined: what works on one tensor at once is one operation
//                                                                       ─► numbered by the last launch of each
//
// The n-th launches of CDMA, CSC, CMAC_A, CMAC_B and CACC belong together, and to the n-th SDP that takes what they make; a PDP that takes
// it from SDP, and read engines, belong to their SDP, PDP or CDP likewise. A host step is an operation too.
//
// Source  docs/hardware, programming.md 1, sdp.md, pdp.md, bdma.md.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facts/client.h"
#include "facts/hardware.h"
#include "workload/program.h"

namespace dlasim {

/// Units that are launched: the parts of a convolution first, then of each operation the unit that ends it after the others.
enum class Launched : std::uint8_t { Cdma, Csc, CmacA, CmacB, Cacc, SdpRdma, Sdp, PdpRdma, Pdp, CdpRdma, Cdp, Bdma, Rubik, Host };
inline constexpr std::size_t kLaunched = static_cast<std::size_t>(Launched::Host) + 1;
inline constexpr auto kLaunchedNames = std::to_array<const char*>(
    {"CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC", "SDP_RDMA", "SDP", "PDP_RDMA", "PDP", "CDP_RDMA", "CDP", "BDMA", "RBK", "host"});
static_assert(kLaunchedNames.size() == kLaunched);
constexpr std::optional<Launched> launched_called(std::string_view unit)
{
    for (std::size_t i = 0; i < kLaunched; ++i)
        if (kLaunchedNames[i] == unit) return static_cast<Launched>(i);
    return std::nullopt;
}
/// Bits of S_INTR_STATUS that a unit raises at its end: of CDMA for data and for weights, of most units none.
std::uint32_t interrupts_of(Launched unit, unsigned group);

struct OperationLaunch {
    Launched unit = Launched::Host;
    std::size_t number = 0;  // of the unit, from 0
    std::size_t entry = 0;   // of the program
};

struct LaunchedOperation {
    std::uint32_t units = 0;                // bits by Launched
    std::size_t entry = 0;                  // of the program: its last launch
    std::vector<OperationLaunch> launches;  // in the order of the program

    bool has(Launched unit) const { return (units >> static_cast<unsigned>(unit) & 1) != 0; }
    /// The unit whose interrupt ends it; none of a step of the host.
    std::optional<Launched> ends() const;
};

class Operations {
public:
    using Number = std::uint32_t;  // from 1
    static constexpr Number kNobody = 0;

    Operations(const Hardware& hardware, std::span<const ProgramEntry> program);

    std::size_t size() const { return list_.size(); }
    const LaunchedOperation& operator[](Number number) const { return list_[number - 1]; }
    /// "convolution, SDP"
    std::string units(Number number) const;

    // Everything after the last launch of a unit belongs to it; nobody's if it has none.
    Number of(Launched unit, std::size_t launch) const { return at(by_launch_[index(unit)], launch); }
    /// The n-th that this client writes to a port.
    Number writer(Client client, bool primary, std::size_t nth) const
    {
        return at(writers_[static_cast<std::size_t>(client)][primary ? 1 : 0], nth);
    }
    /// That BDMA's atom belongs to, counted over all descriptors; it reads and writes the same number.
    Number of_bdma(std::uint64_t atom) const;

private:
    struct Builder;
    static constexpr std::size_t index(Launched unit) { return static_cast<std::size_t>(unit); }
    static Number at(const std::vector<Number>& numbers, std::size_t i)
    {
        return numbers.empty() ? kNobody : numbers[i < numbers.size() ? i : numbers.size() - 1];
    }

    std::vector<LaunchedOperation> list_;
    std::array<std::vector<Number>, kLaunched> by_launch_;
    std::array<std::array<std::vector<Number>, 2>, kWriteClients> writers_;  // by client, port
    std::vector<std::uint64_t> bdma_atoms_;                                  // before the end of each launch
};

}  // namespace dlasim
