// Keys of a device file and of a constraint table, each once: type, range, unit and a sentence. The reader takes ranges from here and
// reads nothing that is not here. Options (--memory PRESET:PATH=VALUE) name keys of the device by path, with dots.
#pragma once
#include <array>
#include <cstdint>
#include <limits>

#include "base/files/keys.h"

namespace dlasim::dram {

inline constexpr std::int64_t kLongestGap = 1 << 20;  // cycles of any gap

struct ConfigKey {
    KeyRow row;
    std::int64_t low = 0, high = 0;  // of an integer
    double least = 0, most = 0;      // of a number
};

/// "table/": of the constraint table.
inline constexpr std::array kConfigKeys{
    ConfigKey{{"name", "text", "", "name of the device"}},
    ConfigKey{{"about", "text", "", "one line on it"}},
    ConfigKey{{"source", "text", "", "source of its figures"}},
    ConfigKey{{"verified", "flag", "", "the figures were compared with the source"}},
    ConfigKey{{"standard", "text", "", "the constraint table: a file of configs/dram/standards without its ending, or a path"}},
    ConfigKey{{"organisation", "object", "", "organisation of a channel; all but channel_mib powers of two"}},
    ConfigKey{{"organisation/channels", "integer", "channels", "independent channels"}, 1, 64},
    ConfigKey{{"organisation/bus_bits", "integer", "bits", "width of the data bus"}, 8, 1024},
    ConfigKey{{"organisation/device_bits", "integer", "bits", "width of a device: bus_bits / device_bits of them make a rank"}, 4, 1024},
    ConfigKey{{"organisation/bank_groups", "integer", "groups", "bank groups of a rank"}, 1, 16},
    ConfigKey{{"organisation/banks", "integer", "banks", "banks of a group"}, 1, 64},
    ConfigKey{{"organisation/rows", "integer", "rows", "rows of a bank"}, 64, 1 << 20},
    ConfigKey{{"organisation/columns", "integer", "columns", "columns of a row, of bus_bits each"}, 16, 1 << 14},
    ConfigKey{{"organisation/burst_length", "integer", "transfers", "transfers of a burst"}, 1, 64},
    ConfigKey{
        {"organisation/transfers_per_cycle", "integer", "transfers", "transfers of the data bus in a cycle of the command clock"}, 1, 16},
    ConfigKey{{"organisation/channel_mib", "integer", "MiB", "size of a channel: a power of two of ranks"}, 1, 1 << 20},
    ConfigKey{{"mapping", "text or object", "", "address mapping: a scheme of dram.md 2.1, or lists of address bits"}},
    ConfigKey{{"mapping/channel", "list", "", "bits of the channel from the lowest on: an address bit, or a list of bits to exclusive-or",
               "mapping is an object"}},
    ConfigKey{{"mapping/rank", "list", "", "bits of the rank from the lowest on: an address bit, or a list of bits to exclusive-or",
               "mapping is an object"}},
    ConfigKey{{"mapping/group", "list", "", "bits of the group from the lowest on: an address bit, or a list of bits to exclusive-or",
               "mapping is an object"}},
    ConfigKey{{"mapping/bank", "list", "", "bits of the bank from the lowest on: an address bit, or a list of bits to exclusive-or",
               "mapping is an object"}},
    ConfigKey{{"mapping/row", "list", "", "bits of the row from the lowest on: an address bit, or a list of bits to exclusive-or",
               "mapping is an object"}},
    ConfigKey{{"mapping/column", "list", "", "bits of the column from the lowest on: an address bit, or a list of bits to exclusive-or",
               "mapping is an object"}},
    ConfigKey{{"wrap", "flag", "", "addresses beyond the memory wrap around; else they are rejected", "optional: false"}},
    ConfigKey{{"base", "integer", "bytes", "address of the first byte", "optional: 0"}, 0, std::numeric_limits<std::int64_t>::max()},
    ConfigKey{{"tCK_ns", "number", "ns", "period of the command clock"}, 0, 0, 0.05, 100},
    ConfigKey{{"timing", "object", "", "the times that the constraint table names"}},
    ConfigKey{{"timing/*", "integer", "DRAM cycles", "a time of the standard: tRCD, tRP, CL, .."}, 0, kLongestGap},
    ConfigKey{{"refresh", "object", "", "when ranks or banks are refreshed"}},
    ConfigKey{{"refresh/policy", "text", "", "refresh scheme", "", "all_bank_staggered all_bank_simultaneous per_bank none"}},
    ConfigKey{{"refresh/postpone", "integer", "refreshes", "refreshes that may be postponed while there are requests"}, 0, 8},
    ConfigKey{{"controller", "object", "", "queues and scheduling: dram.md 8; every key has a default"}},
    ConfigKey{
        {"controller/profile", "text", "", "scheduling; reference: that of another simulator", "optional: default", "default reference"}},
    ConfigKey{{"controller/page_policy", "text", "", "when a row is closed", "optional: open",
               "open closed_auto closed_cap open_adaptive closed_adaptive timeout"}},
    ConfigKey{{"controller/page_limit", "integer", "", "columns of closed_cap, idle cycles of timeout", "optional: 4"}, 1, 1 << 20},
    ConfigKey{{"controller/read_queue", "integer", "requests", "entries of the read queue", "optional: 32"}, 1, 64},
    ConfigKey{{"controller/write_queue", "integer", "requests", "entries of the write queue", "optional: 32"}, 1, 64},
    ConfigKey{{"controller/write_high", "integer", "requests", "queued writes at which draining starts", "optional: 24"}, 1, 64},
    ConfigKey{{"controller/write_low", "integer", "requests", "queued writes at which it stops", "optional: 8"}, 0, 63},
    ConfigKey{
        {"controller/write_age", "integer", "DRAM cycles", "a write older than this drains the queue too", "optional: 4096"}, 1, 1 << 24},
    ConfigKey{{"controller/read_age", "integer", "DRAM cycles", "a read older than this goes first", "optional: 2048"}, 1, 1 << 24},
    ConfigKey{{"controller/hit_cap", "integer", "commands", "columns of a row while another row waits; 0 is no limit", "optional: 16"},
              0,
              1 << 20},
    ConfigKey{{"controller/power_down_after", "integer", "DRAM cycles", "idle cycles before a rank powers down; 0 never", "optional: 0"},
              0,
              1 << 24},
    ConfigKey{
        {"controller/self_refresh_after", "integer", "DRAM cycles", "idle cycles before a rank refreshes itself; 0 never", "optional: 0"},
        0,
        1 << 30},
    ConfigKey{{"controller/command_queue", "integer", "commands", "entries of the queue of a bank; reference only", "optional: 8"}, 1, 64},
    ConfigKey{{"energy", "object", "", "currents, for an estimate of the energy: dram.md 9.1"}},
    ConfigKey{{"energy/source", "text", "", "source of the currents"}},
    ConfigKey{{"energy/estimate", "flag", "", "the currents are an estimate"}},
    ConfigKey{{"energy/supplies", "list", "", "one entry for each supply"}},
    ConfigKey{{"energy/supplies/[]/name", "text", "", "the supply"}},
    ConfigKey{{"energy/supplies/[]/volts", "number", "V", "its voltage"}, 0, 0, 0, 10},
    ConfigKey{{"energy/supplies/[]/IDD0", "number", "mA", "activating and precharging one bank"}, 0, 0, 0, 10000},
    ConfigKey{{"energy/supplies/[]/IDD2N", "number", "mA", "precharged standby"}, 0, 0, 0, 10000},
    ConfigKey{{"energy/supplies/[]/IDD2P", "number", "mA", "precharged power-down"}, 0, 0, 0, 10000},
    ConfigKey{{"energy/supplies/[]/IDD3N", "number", "mA", "active standby"}, 0, 0, 0, 10000},
    ConfigKey{{"energy/supplies/[]/IDD3P", "number", "mA", "active power-down"}, 0, 0, 0, 10000},
    ConfigKey{{"energy/supplies/[]/IDD4R", "number", "mA", "reading without a pause"}, 0, 0, 0, 10000},
    ConfigKey{{"energy/supplies/[]/IDD4W", "number", "mA", "writing without a pause"}, 0, 0, 0, 10000},
    ConfigKey{{"energy/supplies/[]/IDD5AB", "number", "mA", "refreshing all banks"}, 0, 0, 0, 10000},
    ConfigKey{{"energy/supplies/[]/IDD5PB", "number", "mA", "refreshing a bank"}, 0, 0, 0, 10000},
    ConfigKey{{"energy/supplies/[]/IDD6", "number", "mA", "self refresh"}, 0, 0, 0, 10000},
    ConfigKey{{"table/standard", "text", "", "name of the constraint table, as in the device"}},
    ConfigKey{{"table/source", "text", "", "source of its rows"}},
    ConfigKey{{"table/times", "object", "", "times of the energy and of the data bus: expressions of the times of the device"}},
    ConfigKey{{"table/times/RL", "expression", "DRAM cycles", "read command to first data"}},
    ConfigKey{{"table/times/WL", "expression", "DRAM cycles", "write command to first data"}},
    ConfigKey{{"table/times/tRAS", "expression", "DRAM cycles", "activation to precharge"}},
    ConfigKey{{"table/times/tRC", "expression", "DRAM cycles", "activation to activation of a bank"}},
    ConfigKey{{"table/times/tRP", "expression", "DRAM cycles", "precharge to activation"}},
    ConfigKey{{"table/times/tRFC", "expression", "DRAM cycles", "refresh of all banks"}},
    ConfigKey{{"table/times/tREFI", "expression", "DRAM cycles", "between two of them"}},
    ConfigKey{{"table/times/tRFCpb", "expression", "DRAM cycles", "refresh of a bank", "optional: no refresh of a bank"}},
    ConfigKey{{"table/times/tREFIpb", "expression", "DRAM cycles", "between two refreshes of a bank", "optional: no refresh of a bank"}},
    ConfigKey{{"table/command_bus", "object", "", "how commands reach the device"}},
    ConfigKey{{"table/command_bus/row_and_column", "flag", "", "row and column commands have a bus each"}},
    ConfigKey{{"table/command_bus/two_part_activation", "flag", "", "an activation is ACT, then ACT2"}},
    ConfigKey{{"table/command_bus/cycles", "object", "", "commands that occupy the bus for more than a cycle"}},
    ConfigKey{{"table/command_bus/cycles/*", "integer", "DRAM cycles", "cycles of that command"}, 1, 8},
    ConfigKey{{"table/write_clock", "object", "", "the clock of the data bus, which needs a CAS when it has stopped",
               "optional: it never stops"}},
    ConfigKey{{"table/write_clock/after_read", "expression", "DRAM cycles", "it runs on after a read"}},
    ConfigKey{{"table/write_clock/after_write", "expression", "DRAM cycles", "it runs on after a write"}},
    ConfigKey{{"table/constraints", "list", "", "rows: from one command to another in a scope, at least a gap"}},
    ConfigKey{{"table/constraints/[]/rule", "text", "", "number of the row: dram.md 4"}},
    ConfigKey{{"table/constraints/[]/owner", "text", "", "owner to which cycles lost by this row are charged"}},
    ConfigKey{{"table/constraints/[]/from", "text or list", "", "earlier commands"}},
    ConfigKey{{"table/constraints/[]/to", "text or list", "", "later commands"}},
    ConfigKey{{"table/constraints/[]/scope", "text", "", "B bank, L group, S other groups, X other banks, R rank, O other ranks"}},
    ConfigKey{{"table/constraints/[]/gap", "expression", "DRAM cycles", "at least between them"}},
    ConfigKey{
        {"table/constraints/[]/after", "integer", "commands", "the gap is from the n-th previous command: a window of n", "optional: 1"},
        1,
        64},
    ConfigKey{{"table/constraints/[]/at_most", "flag", "", "the gap is a deadline", "optional: false"}},
};

/// Options that are shorter than their path.
struct ShortOption {
    const char *name, *path;
};
inline constexpr ShortOption kShortOptions[] = {
    {"channels", "organisation.channels"}, {"refresh", "refresh.policy"}, {"page_policy", "controller.page_policy"}};

}  // namespace dlasim::dram
