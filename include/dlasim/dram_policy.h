// The policies of a DRAM: where addresses lie, what is served first, when a row is closed, when a refresh does not wait.
//
//   struct InOrder final : dlasim::DramPolicy {                     // in each bank the oldest request, whatever row is open
//       bool younger_hit_first(const dlasim::DramBank&, bool) const override { return false; }
//   };
//   dlasim::Memory memory("memory", {.memory = "ddr4-3200", .policy = std::make_shared<InOrder>()});
//
// A function gets what the configured controller would do, as `configured`, and returns what is to be done. What a class does not override
// stays as configured. The standard is kept whatever a function returns, because the controller asks only about commands in the first cycle
// in which they are allowed. It asks when something has changed, not in every cycle, and may ask again: an answer must follow from the
// arguments alone.
#pragma once
#include <cstdint>

namespace dlasim {

/// Where a burst lies. Numbers from 0: group in its rank, bank in its group, column as bursts of the row.
struct DramLocation {
    std::uint32_t channel = 0, rank = 0, group = 0, bank = 0, row = 0, column = 0;
    bool operator==(const DramLocation&) const = default;
};

/// A command that may be issued next, for a request of one burst of the DRAM.
struct DramCandidate {
    enum class Kind : std::uint8_t { Column, Activate, Precharge };
    Kind kind{};
    bool write = false;         // of the request
    DramLocation at;            // of the request
    std::uint64_t arrival = 0;  // of the request: a smaller number came earlier
    std::uint64_t age = 0;      // of the request, in DRAM cycles, when the command would be issued
};

/// The smaller one goes first, tier before arrival.
struct DramOrder {
    /// As configured: 0 requests that have grown old, 1 column commands, 2 activations, 3 precharges, 4 rows of the direction (reads or
    /// writes) that is not being served. Refreshes are 0, or 5 in idle time.
    std::uint32_t tier = 0;
    std::uint64_t arrival = 0;
};

/// A bank with an open row, for requests of the direction that is being served.
struct DramBank {
    DramLocation open;          // column: 0
    std::uint32_t columns = 0;  // commands since the row was opened
    bool write = false;         // the direction
    bool others = false;        // more than one request waits for the bank,
    bool hits = false;          // and one of the others for the open row
};

struct DramRefresh {
    std::uint32_t rank = 0;
    std::uint32_t owed = 0, postpone = 0;  // refreshes that are due; more than this many go before everything
    bool idle = false;                     // no request waits for the rank
};

class DramPolicy {
public:
    virtual ~DramPolicy() = default;
    /// `address`: byte of the DRAM, from 0 at its base; beyond its capacity where it wraps. A burst for which a channel, rank, bank, row or
    /// column is returned that does not exist is TLM_ADDRESS_ERROR_RESPONSE; bursts at one place count as one.
    virtual DramLocation locate(std::uint64_t address, const DramLocation& configured) const;
    /// Among commands that are allowed in the same earliest cycle. What always comes last may wait for ever.
    virtual DramOrder order(const DramCandidate& candidate, const DramOrder& configured) const;
    /// The oldest request of the bank misses its open row, a younger one hits it: true serves the younger one.
    virtual bool younger_hit_first(const DramBank& bank, bool configured) const;
    /// A column command closes its row by auto-precharge.
    virtual bool closes_row(const DramBank& bank, bool configured) const;
    /// A refresh that is due goes before requests although it might be postponed. As configured: false.
    virtual bool refreshes_now(const DramRefresh& refresh) const;
};

}  // namespace dlasim
