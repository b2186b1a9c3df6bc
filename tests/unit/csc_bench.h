// A bench for CSC, both halves of CMAC and CACC together: plays a measured case with the register
// writes at their cycles on the bus, the measured cycles of cdma2sc_dat_updt and cdma2sc_wt_updt, and
// the measured ready of SDP, and records every probe behind them.
#pragma once
#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/bits.h"
#include "facts/cacc.h"
#include "facts/presets.h"
#include "links/core.h"
#include "registers/tables.h"
#include "units/cacc/core.h"
#include "units/cmac/core.h"
#include "units/csb/request_queue.h"
#include "units/csc/core.h"

namespace dlasim::test {

using nlohmann::json;

inline json read_json(const std::string& path)
{
    std::ifstream file(path);
    return json::parse(file);
}

/// Registers of one layer by name, as programmed when its unit was enabled.
using LayerRegisters = std::map<std::string, std::uint32_t>;

/// What the register program does to the units of the convolution core, in absolute cycles.
struct ConvolutionProgram {
    struct Write {
        std::string unit;
        Cycle decode;
        std::uint32_t offset, data;
    };
    std::vector<Write> writes;
    std::vector<LayerRegisters> layers;  // in the order CDMA was enabled
    Cycle t0 = 0;
};

inline ConvolutionProgram read_program(const json& test_case, const Hardware& hw)
{
    constexpr Cycle kToPort = 7, kReadBack = 10, kClearToLow = 6;
    ConvolutionProgram result;
    RequestQueue queue;
    const json& program = test_case.at("program");
    const json& interrupts = test_case.at("expected").at("interrupt_cycles");
    std::map<std::string, unsigned> producer;
    std::array<LayerRegisters, 2> registers;
    Cycle offered = 0, last_accepted = 0;
    std::size_t interrupt = 0;
    for (const json& entry : program) {
        const std::string name = entry.at(0);
        if (name == "MARK") {
            result.t0 = last_accepted;
            continue;
        }
        if (name == "WAIT_INTR") {
            if (interrupt == interrupts.size()) break;
            const Cycle at = result.t0 + interrupts[interrupt++].get<Cycle>();
            const auto clear = queue.offer(std::max(offered, at));
            last_accepted = clear.accepted;
            offered = std::max(clear.pushed + kToPort + kClearToLow, clear.accepted + 1);
            continue;
        }
        const bool read = name == "READ";
        const std::string full_name = read ? entry.at(1) : entry.at(0);
        const std::string unit = full_name.substr(0, full_name.find('.')), reg = full_name.substr(full_name.find('.') + 1);
        const bool far = hw.full() && (unit == "CMAC_A" || unit == "CMAC_B" || unit == "CACC");
        const auto passage = queue.offer(offered);
        const Cycle port = passage.pushed + kToPort + (far ? 3 : 0);
        last_accepted = passage.accepted;
        offered = read ? port + kReadBack + (far ? 3 : 0) + 1 : passage.accepted + 1;
        if (read) continue;
        const std::uint32_t value = entry.at(1).get<std::uint32_t>();
        if (reg == "S_POINTER") producer[unit] = value & 1;
        if (reg == "D_OP_ENABLE" && unit == "CDMA") result.layers.push_back(registers[producer[unit]]);
        registers[producer[unit]][full_name] = value;
        const UnitRegisters* known = find_unit(hw, unit);
        if (!known || (unit != "CSC" && unit != "CMAC_A" && unit != "CMAC_B" && unit != "CACC")) continue;
        if (const RegisterRow* row = known->find(std::string_view(reg))) result.writes.push_back({unit, port + 1, row->offset, value});
    }
    return result;
}

inline std::vector<Cycle> probe_cycles(const json& probe, Cycle t0)
{
    std::vector<Cycle> cycles;
    for (const json& run : probe.value("runs", json::array()))
        for (Cycle i = 0; i < run.at(1).get<Cycle>(); ++i)
            cycles.push_back(static_cast<Cycle>(static_cast<std::int64_t>(t0) + run.at(0).get<std::int64_t>()) + i);
    return cycles;
}

/// Runs as the case files store them: relative to t0.
using Runs = std::vector<std::array<std::int64_t, 2>>;

class ConvolutionBench {
public:
    explicit ConvolutionBench(const Hardware& hw, bool values = false, bool record = true)
        : hardware(hw),
          cbuf(hw.cbuf),
          csc(make_csc(hw, {links[0], cdma, cbuf, stripes_a, stripes_b, credit}, values)),
          cmac_a(make_cmac(hw, {links[1], stripes_a, sums_a}, MacHalf::A)),
          cmac_b(make_cmac(hw, {links[2], stripes_b, sums_b}, MacHalf::B)),
          cacc(make_cacc(hw, {links[3], sums_a, sums_b, sdp, credit, interrupt}, values))
    {
        cores = {csc.get(), cmac_a.get(), cmac_b.get(), cacc.get()};
        for (std::size_t i = 0; i < cores.size(); ++i) links[i].request.reader = &sleepers[i];
        cdma.data_filled.reader = cdma.weight_filled.reader = &sleepers[0];
        cdma.data_pending_ack.reader = cdma.weight_pending_ack.reader = &sleepers[0];
        credit.reader = &sleepers[0];
        stripes_a.reader = &sleepers[1];
        stripes_b.reader = &sleepers[2];
        sums_a.reader = sums_b.reader = &sleepers[3];
        sdp.connect(&sleepers[3], &sdp_side);
        if (!record) return;
        for (Core* core : cores) core->attach(probes);
        cdma.data_released.probe = probes.get("sc2cdma_dat_updt");
        cdma.weight_released.probe = probes.get("sc2cdma_wt_updt");
        sdp.valid_probe = probes.get("cacc2sdp_valid");
    }

    /// Schedules everything a measured case says about the other units.
    void load(const json& test_case)
    {
        program = read_program(test_case, hardware);
        for (const auto& write : program.writes) {
            const std::size_t unit = write.unit == "CSC" ? 0 : write.unit == "CMAC_A" ? 1 : write.unit == "CMAC_B" ? 2 : 3;
            links[unit].request.put(write.decode, {write.offset, write.data, true});
        }
        schedule_updates(test_case);
        fill_masks(test_case);
        if (!test_case.contains("sdp_not_ready")) return;
        for (const json& pause : test_case["sdp_not_ready"]) {
            const Cycle start = program.t0 + pause.at(0).get<Cycle>();
            ready_changes.push_back({start, false});
            ready_changes.push_back({start + pause.at(1).get<Cycle>(), true});
        }
    }

    /// Evaluates the units, every cycle or when they ask for it, up to cycle `end`.
    void run(Cycle end, bool stepping)
    {
        std::size_t next_ready = 0;
        for (Cycle at = 0; at < end;) {
            while (next_ready < ready_changes.size() && ready_changes[next_ready].first <= at + 1) {
                sdp.set_ready(ready_changes[next_ready].first, ready_changes[next_ready].second);
                ++next_ready;
            }
            acknowledge(at);
            for (std::size_t i = 0; i < cores.size(); ++i) {
                if (!stepping && due[i] > at && sleepers[i].at > at) continue;
                sleepers[i].passed(at);
                cores[i]->advance(at);
                due[i] = cores[i]->horizon();
                ++evaluations;
            }
            while (sdp.fires(at) && at != last_fired) {
                const SumBeat& item = sdp.item(at);
                const bool last = beat_of_item + 1 == item.beats;
                SumBeat beat{.layer_end = last && item.layer_end};
                std::copy_n(item.lanes_of(beat_of_item, beat_lanes), beat_lanes, beat.lanes.begin());
                beat_of_item = last ? 0 : beat_of_item + 1;
                if (on_beat) on_beat(at, beat);
                last_fired = at;
            }
            Cycle next = stepping ? at + 1 : end;
            if (!stepping) {
                for (std::size_t i = 0; i < cores.size(); ++i) next = std::min({next, due[i], sleepers[i].next(at)});
                next = std::min(next, sdp_side.next(at));
                if (next_ready < ready_changes.size()) next = std::min(next, ready_changes[next_ready].first - 1);
                if (cdma.weight_pending_request.latest()) next = at + 1;
                if (sdp.valid(at + 1) && sdp.ready(at + 1)) next = at + 1;
            }
            at = std::max(next, at + 1);
        }
        for (Core* core : cores) core->report(end);  // what they have put off is in the probes then
        finished_at = end;
    }

    Runs runs(const std::string& name) const
    {
        Runs result;
        const auto found = probes.all().find(name);
        if (found == probes.all().end()) return result;
        for (const Probe::Run& run : found->second->runs(0, finished_at))
            result.push_back(
                {static_cast<std::int64_t>(run.start) - static_cast<std::int64_t>(program.t0), static_cast<std::int64_t>(run.length)});
        return result;
    }

    struct Flag final : Sleeper {
        void wake_at(Cycle when) override
        {
            times.push_back(when);
            at = std::min(at, when);
        }
        void passed(Cycle now)
        {
            std::erase_if(times, [now](Cycle t) { return t <= now; });
            at = kNever;
            for (Cycle t : times) at = std::min(at, t);
        }
        Cycle next(Cycle now)
        {
            if (at <= now) passed(now);
            return at;
        }
        std::vector<Cycle> times;
        Cycle at = kNever;
    };

    const Hardware& hardware;
    Cbuf cbuf;
    std::array<CsbLink, 4> links;
    CdmaCscLink cdma;
    PatientPulse<Stripe> stripes_a, stripes_b;
    PatientPulse<Sums> sums_a, sums_b;
    Channel<SumBeat> sdp;
    Pulse<std::uint32_t> credit, interrupt;
    std::unique_ptr<Core> csc, cmac_a, cmac_b, cacc;
    std::array<Core*, 4> cores{};
    std::array<Flag, 4> sleepers;
    Flag sdp_side;
    std::array<Cycle, 4> due{};
    ProbeSet probes;
    ConvolutionProgram program;
    std::vector<std::pair<Cycle, bool>> ready_changes;
    std::function<void(Cycle, const SumBeat&)> on_beat;
    std::uint32_t beat_of_item = 0, beat_lanes = facts::cacc::of(hardware).beat_lanes;
    std::uint64_t evaluations = 0;
    Cycle finished_at = 0, last_fired = kNever;

private:
    /// CDMA acknowledges a new bank layout at once and follows the request down.
    void acknowledge(Cycle at)
    {
        const auto follow = [at](Wire<bool>& request, Wire<bool>& ack) {
            if (ack.latest() != request.read(at)) ack.set(at + 1, request.read(at));
        };
        follow(cdma.weight_pending_request, cdma.weight_pending_ack);
        follow(cdma.data_pending_request, cdma.data_pending_ack);
    }

    /// The mask stream of compressed weights, as CDMA would have stored it: it decides what is read.
    void fill_masks(const json& test_case)
    {
        if (program.layers.empty() || !test_case.contains("memory_fill")) return;
        const auto address = program.layers.front().find("CDMA.D_WMB_ADDR_LOW");
        if (address == program.layers.front().end()) return;
        for (const json& fill : test_case["memory_fill"]) {
            if (!fill.contains("hex") || std::stoull(fill.at("addr").get<std::string>(), nullptr, 16) != address->second) continue;
            const std::string hex = fill["hex"];
            const std::uint32_t bank = (hardware.cbuf.banks - 1) * hardware.cbuf.bank_depth;
            for (std::uint32_t i = 0; 2 * i < hex.size() && i < hardware.cbuf.bank_depth * hardware.cbuf.entry_bytes; ++i) {
                const auto byte = static_cast<std::uint8_t>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
                cbuf.write(Entries(bank + i / hardware.cbuf.entry_bytes), i % hardware.cbuf.entry_bytes, &byte, 1);
            }
        }
    }

    /// Lines per update and kernels per update follow from the registers (cdma.md).
    void schedule_updates(const json& test_case)
    {
        const json& expected = test_case.at("expected").at("probes");
        const std::vector<Cycle> data = probe_cycles(expected.at("cdma2sc_dat_updt"), program.t0);
        const std::vector<Cycle> weights = probe_cycles(expected.at("cdma2sc_wt_updt"), program.t0);
        std::size_t d = 0, w = 0;
        const LayerRegisters* before = nullptr;
        for (const LayerRegisters& now : program.layers) {
            const auto field = [](const LayerRegisters& r, const char* name, unsigned lsb, unsigned width) {
                const auto found = r.find(name);
                return found == r.end() ? 0u : bits(found->second, lsb, width);
            };
            const auto get = [&](const char* name, unsigned lsb, unsigned width) { return field(now, name, lsb, width); };
            const bool winograd = get("CSC.D_MISC_CFG", 0, 1), image = get("CSC.D_DATAIN_FORMAT", 0, 1);
            const auto same = [&](const char* name, unsigned lsb, unsigned width) {
                return before && field(*before, name, lsb, width) == get(name, lsb, width);
            };
            const bool data_kept = before && field(*before, "CDMA.D_MISC_CFG", 24, 1) && get("CDMA.D_MISC_CFG", 16, 1) &&
                                   same("CSC.D_BANK", 0, 5) && same("CSC.D_MISC_CFG", 0, 1) && same("CSC.D_DATAIN_FORMAT", 0, 1);
            const bool weights_kept =
                before && field(*before, "CDMA.D_MISC_CFG", 28, 1) && get("CDMA.D_MISC_CFG", 20, 1) && same("CSC.D_BANK", 0, 32);
            if (!data_kept) {
                const bool packed = get("CDMA.D_DAIN_MAP", 0, 1);
                const std::uint32_t grain = image ? 1 : winograd ? 4 : packed ? get("CDMA.D_FETCH_GRAIN", 0, 12) + 1 : 1;
                std::uint32_t left = winograd ? get("CSC.D_DATAIN_SIZE_EXT_0", 16, 13) + 1 : get("CDMA.D_DATAIN_SIZE_0", 16, 13) + 1;
                for (; left != 0 && d < data.size(); ++d) {
                    const std::uint32_t slices = std::min(grain, left);
                    cdma.data_filled.put(data[d], {Entries{0}, Slices{slices}});
                    left -= slices;
                }
            }
            if (!weights_kept) {
                const Precision precision = static_cast<Precision>(hardware.full() ? get("CSC.D_MISC_CFG", 12, 2) : 0);
                const std::uint32_t group = hardware.kernel_group(precision);
                std::uint32_t left = get("CSC.D_WEIGHT_SIZE_EXT_1", 16, 13) + 1;
                for (; left != 0 && w < weights.size(); ++w) {
                    const std::uint32_t kernels = std::min(group, left);
                    cdma.weight_filled.put(weights[w], {Kernels{kernels}, {}, {}});
                    left -= kernels;
                }
            }
            before = &now;
        }
    }
};

/// Differences between a run and what was measured, one line a probe; empty if there are none.
inline std::string differences(const ConvolutionBench& bench, const json& test_case)
{
    static const char* const kRuns[] = {"sc2buf_dat_rd", "sc2buf_wt_rd", "sc2buf_wmb_rd",  "sc2mac_dat_a",     "sc2mac_wt_a",
                                        "mac_a2accu",    "mac_b2accu",   "cacc2sdp_valid", "sc2cdma_dat_updt", "sc2cdma_wt_updt"};
    static const char* const kWindows[] = {"clock_on_csc", "clock_on_cmac_a", "clock_on_cacc", "clock_on_cacc_cell"};
    const json& probes = test_case.at("expected").at("probes");
    std::string out;
    const auto show = [](const auto& run) { return "[" + std::to_string(run[0]) + "," + std::to_string(run[1]) + "]"; };
    for (const char* name : kRuns) {
        if (!probes.contains(name) || !probes[name].contains("runs")) continue;
        const json& expected = probes[name];
        const Runs actual = bench.runs(name);
        std::int64_t active = 0;
        for (const auto& run : actual) active += run[1];
        const std::size_t recorded = expected.at("runs").size();
        std::size_t i = 0;
        while (i < recorded && i < actual.size() && actual[i][0] == expected["runs"][i][0].get<std::int64_t>() &&
               actual[i][1] == expected["runs"][i][1].get<std::int64_t>())
            ++i;
        const bool equal =
            i == recorded && (recorded >= 400 || actual.size() == recorded) && active == expected.at("active").get<std::int64_t>();
        if (equal) continue;
        out += std::string("  ") + name + " run " + std::to_string(i) + " is " + (i < actual.size() ? show(actual[i]) : "missing") +
               ", measured " + (i < recorded ? expected["runs"][i].dump() : "no more") + "; active " + std::to_string(active) +
               ", measured " + expected["active"].dump() + "\n";
    }
    for (const char* name : kWindows) {
        if (!probes.contains(name)) continue;
        const json& expected = probes[name];
        const Runs actual = bench.runs(name);
        if (actual.empty() || !expected.contains("last")) continue;
        std::int64_t active = 0;
        for (const auto& run : actual) active += run[1];
        const std::int64_t last = actual.back()[0] + actual.back()[1] - 1;
        if (active != expected.at("active").get<std::int64_t>() || actual.front()[0] != expected.at("first").get<std::int64_t>() ||
            last != expected.at("last").get<std::int64_t>())
            out += std::string("  ") + name + " " + std::to_string(actual.front()[0]) + ".." + std::to_string(last) + " (" +
                   std::to_string(active) + "), measured " + expected["first"].dump() + ".." + expected["last"].dump() + " (" +
                   expected["active"].dump() + ")\n";
    }
    return out;
}

/// The case says in which cycles SDP is ready: always, or listed.
inline bool knows_ready(const json& test_case)
{
    const json& expected = test_case.at("expected");
    if (test_case.contains("sdp_not_ready")) return true;
    constexpr std::int64_t kRecordedAfterInterrupt = 77;
    return !expected.at("interrupt_cycles").empty() &&
           expected.at("probes").at("cacc2sdp_ready").at("active").get<std::int64_t>() ==
               expected["interrupt_cycles"].back().get<std::int64_t>() + kRecordedAfterInterrupt;
}

/// The last cycle of a case, with room for a machine that is late.
inline Cycle length_of(const json& test_case, Cycle t0)
{
    std::int64_t last = 0;
    for (const auto& [name, probe] : test_case.at("expected").at("probes").items())
        last = std::max(last, probe.value("last", std::int64_t{0}));
    return t0 + static_cast<Cycle>(last) + 1;
}

}  // namespace dlasim::test
