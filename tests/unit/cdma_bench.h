// A bench around a CDMA core: the fabric, CSC and software as recorded, cycle by cycle.
#pragma once
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "facts/presets.h"
#include "registers/fields/cdma.h"
#include "units/cdma/core.h"

namespace dlasim::test {

/// The links of a CDMA and everything that hangs on them.
struct CdmaBench {
    explicit CdmaBench(const Hardware& hw)
        : hardware(hw),
          cbuf(hw.cbuf),
          core(make_cdma(hw, CdmaPorts{csb, data, weight, hw.memory.has_secondary ? &data_cv : nullptr,
                                       hw.memory.has_secondary ? &weight_cv : nullptr, csc, cbuf, interrupt}))
    {
        const auto client = [this](ReadLink& link, const std::string& name) {
            link.request.valid_probe = probes.get("cdma_" + name + "2mcif_rd_req_valid");
            link.response.set_ready_probe(probes.get("mcif2cdma_" + name + "_rd_rsp_ready"));
        };
        client(data, "dat");
        client(weight, "wt");
        csc.data_filled.probe = probes.get("cdma2sc_dat_updt");
        csc.weight_filled.probe = probes.get("cdma2sc_wt_updt");
        core->attach(probes);
    }

    Hardware hardware;
    CsbLink csb;
    ReadLink data, weight, data_cv, weight_cv;
    CdmaCscLink csc;
    Cbuf cbuf;
    Pulse<std::uint32_t> interrupt;
    ProbeSet probes;
    std::unique_ptr<Core> core;
};

/// One memory port: recorded ready of requests, recorded cycles of response beats, data from a memory image.
class RecordedPort {
public:
    RecordedPort(ReadLink& link, const nlohmann::json& case_, unsigned index, Cycle offset, Cycle end)
        : link_(link), ready_(end + 2, true), valid_(end + 2, false)
    {
        for (const auto& run : case_["not_ready"][index]) mark(ready_, run, offset, false);
        for (const auto& run : case_["valid"][index]) mark(valid_, run, offset, true);
        for (const auto& n : case_["rsp"][index]) beats_.push_back(n);
    }
    std::vector<ReadRequest> requests;

    /// Cycle `at`, after or before the core: sets links for the next one.
    void step(Cycle at)
    {
        if (link_.request.fires(at)) requests.push_back(link_.request.item(at));
        if (link_.response.fires(at)) ++next_;
        if (at + 1 >= ready_.size()) return;
        link_.request.set_ready(at + 1, ready_[at + 1]);
        if (valid_[at + 1] && next_ < beats_.size()) {
            ReadBeat beat;
            beat.atoms = beats_[next_];
            link_.response.offer(at + 1, beat);
        } else {
            link_.response.withdraw(at + 1);
        }
    }
    bool exhausted() const { return next_ == beats_.size(); }

private:
    static void mark(std::vector<bool>& wave, const nlohmann::json& run, Cycle offset, bool value)
    {
        const std::int64_t start = run[0].get<std::int64_t>() + static_cast<std::int64_t>(offset);
        for (std::int64_t t = start; t < start + run[1].get<std::int64_t>(); ++t)
            if (t >= 0 && t < static_cast<std::int64_t>(wave.size())) wave[static_cast<std::size_t>(t)] = value;
    }
    ReadLink& link_;
    std::vector<bool> ready_, valid_;
    std::vector<std::uint32_t> beats_;
    std::size_t next_ = 0;
};

/// Plays a recording; skipping evaluates the core only when its horizon or a changed link asks for it.
inline void play(CdmaBench& bench, const nlohmann::json& c, bool skip)
{
    const Cycle offset = c["offset"], end = c["end"].get<Cycle>() + offset;
    RecordedPort data(bench.data, c, 0, offset, end), weight(bench.weight, c, 1, offset, end);
    std::map<Cycle, std::vector<CsbRequest>> writes;
    for (const auto& w : c["writes"]) writes[w[0].get<Cycle>()].push_back({w[1], w[2], true});
    std::map<Cycle, std::uint32_t> data_release, weight_release;
    for (const auto& r : c["rel_dat"]) data_release[r[0].get<Cycle>() + offset] = r[1];
    for (const auto& r : c["rel_wt"]) weight_release[r[0].get<Cycle>() + offset] = r[1];
    std::map<Cycle, std::pair<bool, bool>> pend_up, pend_down;
    for (const auto& p : c["pend"]) {
        if (p[1].is_null()) continue;
        const Cycle t0 = p[0].get<Cycle>() + offset, busy = p[1].get<Cycle>() + offset;
        pend_up[t0] = pend_down[busy - 2] = {p[2], p[3]};
    }
    struct Flag : Sleeper {
        Cycle at = kNever;
        std::vector<Cycle> wakes;
        void wake_at(Cycle t) override { wakes.push_back(t); }
        bool due(Cycle t)
        {
            bool hit = false;
            std::erase_if(wakes, [&](Cycle w) { return w <= t ? (hit = true) : false; });
            return hit;
        }
    } flag;
    bench.csb.request.reader = &flag;
    bench.data.request.connect(&flag, nullptr);
    bench.weight.request.connect(&flag, nullptr);
    bench.data.response.consumer = &flag;
    bench.weight.response.consumer = &flag;
    bench.csc.data_released.reader = bench.csc.weight_released.reader = &flag;
    bench.csc.data_pending_request.reader = bench.csc.weight_pending_request.reader = &flag;
    Cycle horizon = 0;
    for (Cycle t = 0; t < end; ++t) {
        if (const auto it = writes.find(t + 1); it != writes.end())
            for (const CsbRequest& w : it->second) bench.csb.request.put(t + 1, w);
        const auto next_release = [&](auto& map, auto put) {
            if (const auto it = map.find(t + 1); it != map.end()) put(it->second);
        };
        next_release(data_release, [&](std::uint32_t n) { bench.csc.data_released.put(t + 1, {Entries{n}, {}}); });
        next_release(weight_release, [&](std::uint32_t n) { bench.csc.weight_released.put(t + 1, {{}, Entries{n}, {}}); });
        next_release(pend_up, [&](std::pair<bool, bool> p) {
            if (p.first) bench.csc.data_pending_request.set(t + 1, true);
            if (p.second) bench.csc.weight_pending_request.set(t + 1, true);
        });
        next_release(pend_down, [&](std::pair<bool, bool>) {
            bench.csc.data_pending_request.set(t + 1, false);
            bench.csc.weight_pending_request.set(t + 1, false);
        });
        if (!skip || flag.due(t) || horizon <= t) {
            bench.core->advance(t);
            horizon = bench.core->horizon();
        }
        data.step(t);
        weight.step(t);
    }
}

/// Compares a probe with a measured one; empty if equal.
inline std::string compare(const Probe& probe, const nlohmann::json& expected, Cycle offset, Cycle end, Cycle from = 0)
{
    std::uint64_t active = 0;
    std::int64_t first = -1, last = -1;
    std::string runs;
    std::size_t i = 0;
    for (const Probe::Run& run : probe.runs(from, end)) {
        const auto start = static_cast<std::int64_t>(run.start) - static_cast<std::int64_t>(offset);
        if (active == 0) first = start;
        active += run.length;
        last = start + static_cast<std::int64_t>(run.length) - 1;
        if (expected.contains("runs") && i < expected["runs"].size() && runs.empty()) {
            const auto& e = expected["runs"][i];
            if (e[0] != start || e[1] != run.length)
                runs = " run " + std::to_string(i) + ": expected " + e.dump() + ", found [" + std::to_string(start) + "," +
                       std::to_string(run.length) + "]";
        }
        ++i;
    }
    std::string text;
    if (active != expected["active"]) text += " active: expected " + expected["active"].dump() + ", found " + std::to_string(active);
    if (expected.contains("first") && active != 0 && first != expected["first"])
        text += " first: expected " + expected["first"].dump() + ", found " + std::to_string(first);
    if (expected.contains("last") && active != 0 && last != expected["last"])
        text += " last: expected " + expected["last"].dump() + ", found " + std::to_string(last);
    return text + runs;
}

}  // namespace dlasim::test
