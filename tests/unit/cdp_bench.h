// CDP between two memory interfaces that keep their own pace: requests wait for credits, every channel stalls
// when its random says so. Logs what passes the ports.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "facts/presets.h"
#include "registers/fields/cdp.h"
#include "units/cdp/core.h"

namespace dlasim::test {

/// How a port behaves: latencies in cycles, stalls in eighths of the cycles.
struct CdpPace {
    Cycle read_latency = 30, write_latency = 18;
    unsigned request_stall = 0, response_stall = 0, write_stall = 0, seed = 1;
};

/// One memory interface. step() once a cycle, after the unit.
class CdpPort {
public:
    using Event = std::tuple<Cycle, std::uint64_t, std::uint32_t>;  // cycle, address or data, atoms
    CdpPort(const Hardware& hw, const CdpPace& pace)
        : hw_(hw), pace_(pace), credits_(hw.fabric.read_credit[3]), random_(pace.seed), mask_(hw.memory.atom_bytes)
    {
    }
    ReadLink read;
    WriteLink write;
    std::vector<Event> reads, writes, commands;
    std::map<std::uint64_t, std::uint8_t> memory;

    void step(Cycle now)
    {
        if (read.request.fires(now)) {
            reads.emplace_back(now, read.request.item(now).address.byte(), read.request.item(now).atoms);
            waiting_.push_back(read.request.item(now));
        }
        while (read.credit.available(now)) {
            read.credit.take();
            ++credits_;
        }
        fetch(now);
        respond(now);
        if (write.request.fires(now)) take(write.request.item(now), now);
        read.request.set_ready(now + 1, !stalls(pace_.request_stall));
        write.request.set_ready(now + 1, !stalls(pace_.write_stall));
    }

private:
    bool stalls(unsigned eighths) { return random_() % 8 < eighths; }

    /// Words of the oldest request, as far as there are credits.
    void fetch(Cycle now)
    {
        if (waiting_.empty() || credits_ == 0) return;
        ReadRequest& request = waiting_.front();
        ReadBeat beat;
        beat.atoms = std::min(hw_.atoms_per_beat(), request.atoms);
        for (std::uint32_t i = 0; i < beat.atoms * mask_; ++i) beat.data[i] = byte(request.address.byte() + i);
        responses_.push_back({now + pace_.read_latency, beat});
        request.address += beat.atoms * mask_;
        request.atoms -= beat.atoms;
        if (request.atoms == 0) waiting_.pop_front();
        --credits_;
    }
    void respond(Cycle now)
    {
        const bool was_valid = read.response.valid(now);
        if (!responses_.empty() && responses_.front().first <= now + 1 && !stalls(pace_.response_stall)) {
            read.response.offer(now + 1, responses_.front().second);
            responses_.pop_front();
        } else if (was_valid) {
            read.response.withdraw(now + 1);
        }
    }
    void take(const WritePacket& packet, Cycle now)
    {
        if (packet.command) {
            commands.emplace_back(now, packet.address.byte(), packet.atoms);
            address_ = packet.address.byte();
            left_ = packet.atoms;
            acknowledged_ = packet.require_ack;
            return;
        }
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i < packet.atoms * mask_; ++i) {
            memory[address_ + i] = packet.data[i];
            sum = sum * 31 + packet.data[i];
        }
        writes.emplace_back(now, sum, packet.atoms);
        address_ += packet.atoms * mask_;
        left_ -= packet.atoms;
        if (left_ == 0 && acknowledged_) write.complete.put(now + pace_.write_latency, true);
    }
    std::uint8_t byte(std::uint64_t address)
    {
        const auto found = memory.find(address);
        if (found != memory.end()) return found->second;
        return static_cast<std::uint8_t>((address * 2654435761u) >> 13);
    }

    const Hardware& hw_;
    const CdpPace pace_;
    std::uint32_t credits_;
    std::mt19937 random_;
    const std::uint32_t mask_;  // bytes an atom
    std::deque<ReadRequest> waiting_;
    std::deque<std::pair<Cycle, ReadBeat>> responses_;
    std::uint64_t address_ = 0;
    std::uint32_t left_ = 0;
    bool acknowledged_ = false;
};

/// Register writes are given by U, the cycle at the unit's port.
class CdpBench final : Sleeper {
public:
    CdpBench(const Hardware& hw, const CdpPace& pace, bool skip) : mc(hw, pace), cv(hw, pace), core(make_cdp(hw, ports(hw))), skip_(skip)
    {
        csb.request.reader = csb_rdma.request.reader = this;
        for (CdpPort* port : {&mc, &cv}) {
            port->read.request.connect(this, nullptr);
            port->read.response.connect(nullptr, this);
            port->write.request.connect(this, nullptr);
            port->write.complete.reader = this;
        }
    }
    CsbLink csb, csb_rdma;
    CdpPort mc, cv;
    Pulse<std::uint32_t> interrupt;
    std::unique_ptr<Core> core;
    Cycle now = 0;
    std::vector<std::pair<Cycle, std::uint32_t>> interrupts;
    std::uint64_t evaluations = 0;

    void write(Cycle u, std::uint32_t offset, std::uint32_t data) { csb.request.put(u + 1, {offset, data, true}); }
    void write_rdma(Cycle u, std::uint32_t offset, std::uint32_t data) { csb_rdma.request.put(u + 1, {offset, data, true}); }
    /// A read at U; its value.
    std::uint32_t read(Cycle u, std::uint32_t offset)
    {
        csb.request.put(u + 1, {offset, 0, false});
        run(u + 3);
        return csb.response.take();
    }
    void run(Cycle until)
    {
        for (; now < until; ++now) {
            while (!wakes_.empty() && wakes_.top() < now) wakes_.pop();
            const bool woken = !wakes_.empty() && wakes_.top() == now;
            if (!skip_ || core->horizon() <= now || woken) {
                core->advance(now);
                ++evaluations;
            }
            mc.step(now);
            cv.step(now);
            while (interrupt.available(now)) interrupts.emplace_back(now, interrupt.take());
        }
    }

private:
    void wake_at(Cycle at) override { wakes_.push(at); }
    CdpPorts ports(const Hardware& hw)
    {
        const bool secondary = hw.memory.has_secondary;
        return {csb, csb_rdma, mc.read, secondary ? &cv.read : nullptr, mc.write, secondary ? &cv.write : nullptr, interrupt};
    }
    std::priority_queue<Cycle, std::vector<Cycle>, std::greater<>> wakes_;
    const bool skip_;
};

/// A layer by its meaning; cubes are packed.
struct CdpShape {
    std::uint32_t width = 1, height = 1, channels = 1, precision = 0, window = 5, bypass = 0;
    std::uint64_t source = 0x100000, destination = 0x800000;
    bool from_primary = true, to_primary = true, rdma_first = false, perf = true;
};

/// Programs a group of both blocks and enables them; the cycle behind the last write.
inline Cycle program_cdp(CdpBench& bench, const Hardware& hw, Cycle u, unsigned group, const CdpShape& s)
{
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const std::uint32_t line = s.width * hw.memory.atom_bytes, surface = line * s.height;
    {
        using namespace reg::cdp_rdma;
        const std::pair<std::uint32_t, std::uint32_t> writes[] = {{S_POINTER, group},
                                                                  {D_DATA_CUBE_WIDTH, s.width - 1},
                                                                  {D_DATA_CUBE_HEIGHT, s.height - 1},
                                                                  {D_DATA_CUBE_CHANNEL, s.channels - 1},
                                                                  {D_SRC_BASE_ADDR_LOW, low(s.source)},
                                                                  {D_SRC_BASE_ADDR_HIGH, low(s.source >> 32)},
                                                                  {D_SRC_LINE_STRIDE, line},
                                                                  {D_SRC_SURFACE_STRIDE, surface},
                                                                  {D_SRC_DMA_CFG, s.from_primary},
                                                                  {D_DATA_FORMAT, s.precision},
                                                                  {D_PERF_ENABLE, s.perf}};
        for (const auto& [offset, data] : writes) bench.write_rdma(u++, offset, data);
        if (s.rdma_first) bench.write_rdma(u++, D_OP_ENABLE, 1);
    }
    {
        using namespace reg::cdp;
        const std::pair<std::uint32_t, std::uint32_t> writes[] = {{S_POINTER, group},
                                                                  {D_FUNC_BYPASS, s.bypass},
                                                                  {D_DST_BASE_ADDR_LOW, low(s.destination)},
                                                                  {D_DST_BASE_ADDR_HIGH, low(s.destination >> 32)},
                                                                  {D_DST_LINE_STRIDE, line},
                                                                  {D_DST_SURFACE_STRIDE, surface},
                                                                  {D_DST_DMA_CFG, s.to_primary},
                                                                  {D_DATA_FORMAT, s.precision},
                                                                  {D_LRN_CFG, (s.window - 3) / 2},
                                                                  {D_DATOUT_SHIFTER, 15},
                                                                  {D_PERF_ENABLE, s.perf},
                                                                  {D_OP_ENABLE, 1}};
        for (const auto& [offset, data] : writes) bench.write(u++, offset, data);
    }
    if (!s.rdma_first) bench.write_rdma(u++, reg::cdp_rdma::D_OP_ENABLE, 1);
    return u;
}

}  // namespace dlasim::test
