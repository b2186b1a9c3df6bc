// What a DRAM is built as: organisation, timing, the constraint table as data, controller and
// currents. Read from configs/dram/*.json by reader.h; every derived size is computed here and
// never configured. Source: dram.md 1, 3, 4, 6-9.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dram/command.h"
#include "dram/mapping.h"

namespace dlasim::dram {

struct Organisation {
    std::uint32_t channels = 1, bus_bits = 0, device_bits = 0;
    std::uint32_t bank_groups = 0, banks = 0, rows = 0, columns = 0;  // banks of a group
    std::uint32_t burst_length = 0, transfers_per_cycle = 2;
    std::uint64_t channel_mib = 0;

    std::uint32_t devices_per_rank() const { return bus_bits / device_bits; }
    std::uint64_t rank_bytes() const { return std::uint64_t{columns} * device_bits / 8 * rows * banks * bank_groups * devices_per_rank(); }
    std::uint64_t channel_bytes() const { return channel_mib << 20; }
    std::uint64_t capacity_bytes() const { return channel_bytes() * channels; }
    std::uint32_t ranks() const { return static_cast<std::uint32_t>(channel_bytes() / rank_bytes()); }
    std::uint32_t request_bytes() const { return bus_bits / 8 * burst_length; }
    std::uint32_t burst_cycles() const { return burst_length / transfers_per_cycle; }
    std::uint32_t banks_per_rank() const { return bank_groups * banks; }
    std::uint32_t banks_per_channel() const { return ranks() * banks_per_rank(); }
};

/// Which banks a row of the table constrains, seen from the bank of the first command.
enum class Scope : std::uint8_t {
    Bank,         // B: the same bank
    Group,        // L: the same bank group, the same bank included
    OtherGroups,  // S: other bank groups of the rank
    OtherBanks,   // X: other banks of the rank
    Rank,         // R: the whole rank
    OtherRanks    // O: the other ranks of the channel
};

/// A row of the constraint table: `to` may be issued `gap` cycles after the `after`-th last `from`.
struct Constraint {
    std::string rule;   // the number of the row in dram.md 4, with a letter where a row needs several
    std::string owner;  // who owns data-bus cycles lost to it
    std::vector<Command> from, to;
    Scope scope{};
    std::string gap_text;
    std::int64_t gap = 0;
    std::uint32_t after = 1;  // 4 with from = to = ACT: the fifth activation waits for the first
    bool at_most = false;     // a deadline instead: `to` comes no later than `gap` cycles after `from`
};

/// The write clock of LPDDR5: a column command needs CAS just before it unless the clock still runs.
struct WriteClock {
    bool needed = false;
    std::int64_t after_read = 0, after_write = 0;  // cycles it runs on after a column command
};

enum class RefreshPolicy { None, AllBankStaggered, AllBankSimultaneous, PerBank };
struct Refresh {
    RefreshPolicy policy = RefreshPolicy::AllBankStaggered;
    std::uint32_t postpone = 0;  // refreshes a rank may owe before requests have to wait
    std::int64_t interval = 0;   // tREFI or tREFIpb in cycles
};

enum class PagePolicy { Open, ClosedAuto, ClosedCap, OpenAdaptive, ClosedAdaptive, Timeout };
enum class Profile { Default, Reference };  // which controller (controller.h, reference.h)

struct ControllerConfig {
    Profile profile = Profile::Default;
    PagePolicy page_policy = PagePolicy::Open;
    std::uint32_t page_limit = 4;  // columns of closed_cap, idle cycles of timeout
    std::uint32_t read_queue = 32, write_queue = 32;
    std::uint32_t write_high = 24, write_low = 8, write_age = 4096;
    std::uint32_t read_age = 2048;       // a read older than this goes first
    std::uint32_t hit_cap = 16;          // columns of a row while another row waits; 0 is no limit
    std::uint32_t power_down_after = 0;  // idle cycles; 0 never
    std::uint32_t self_refresh_after = 0;
    std::uint32_t command_queue = 8;  // reference only: entries of a bank's queue

    /// Column commands may close rows by auto-precharge.
    bool auto_precharges() const { return page_policy != PagePolicy::Open && page_policy != PagePolicy::Timeout; }
};

/// Currents of one supply in mA. Missing ones are an error: an energy is stated or it is not.
struct Supply {
    std::string name;
    double volts = 0, idd0 = 0, idd2n = 0, idd2p = 0, idd3n = 0, idd3p = 0, idd4r = 0, idd4w = 0, idd5ab = 0, idd5pb = 0, idd6 = 0;
};
struct EnergyConfig {
    std::string source;
    bool estimate = false;
    std::vector<Supply> supplies;
};

struct Config {
    std::string name, about, source, standard;
    bool verified = false;
    Organisation organisation;
    Mapping mapping;
    bool wrap = false;                           // addresses beyond the capacity wrap; otherwise they are refused
    std::uint64_t base = 0;                      // the address of the first byte
    std::map<std::string, std::int64_t> timing;  // as in the file, for the report
    double tck_ns = 0;
    std::int64_t read_latency = 0, write_latency = 0;               // RL, WL: command to first data
    std::int64_t tras = 0, trc = 0, trp = 0, trfc = 0, trfcpb = 0;  // of the energy formulas
    std::vector<Constraint> constraints;
    std::array<std::uint32_t, kCommands> command_cycles{};  // on the command bus
    bool row_and_column_bus = false;                        // HBM: two command buses
    bool two_part_activation = false;                       // LPDDR5: ACT then ACT2
    WriteClock write_clock;
    Refresh refresh;
    ControllerConfig controller;
    EnergyConfig energy;

    std::uint64_t tck_fs() const { return static_cast<std::uint64_t>(std::llround(tck_ns * 1e6)); }
    std::int64_t burst() const { return organisation.burst_cycles(); }
    double peak_gb_per_s() const { return organisation.request_bytes() / (static_cast<double>(burst()) * tck_ns) * organisation.channels; }
};

}  // namespace dlasim::dram
