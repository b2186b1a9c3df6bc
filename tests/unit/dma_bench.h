// A memory interface for the tests of the units that copy memory: one memory behind a read link and
// a write link. Every request is taken at once; responses come in order, one a cycle; a write is
// complete some cycles after its last beat. It logs what passes the ports.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "facts/presets.h"
#include "links/core.h"
#include "traffic/csb.h"
#include "traffic/memory.h"
#include "traffic/transfer_ports.h"

namespace dlasim::test {

inline constexpr std::uint64_t kAtom = 32;

class Memory {
public:
    std::uint8_t& at(std::uint64_t address) { return pages_[address / kPage][address % kPage]; }
    std::uint8_t read(std::uint64_t address) const
    {
        const auto found = pages_.find(address / kPage);
        return found == pages_.end() ? 0 : found->second[address % kPage];
    }

private:
    static constexpr std::uint64_t kPage = 4096;
    std::unordered_map<std::uint64_t, std::array<std::uint8_t, kPage>> pages_;
};

/// One interface. step() once a cycle, before or after the unit.
class Interface {
public:
    struct Sent {
        Cycle cycle;
        std::uint64_t address;
        std::uint32_t atoms;
        bool operator==(const Sent&) const = default;
    };
    ReadLink read;
    WriteLink write;
    Memory memory;
    Cycle read_latency = 30;                // request at the port to its first beat there
    Cycle write_latency = 18;               // last beat at the port to the complete pulse
    Cycle read_pause = 0, write_pause = 0;  // not ready for that many cycles after each item
    std::vector<Sent> reads, commands;
    std::vector<Cycle> beats, credits, completes;

    void step(Cycle now)
    {
        if (read.request.fires(now)) {
            const ReadRequest& request = read.request.item(now);
            reads.push_back({now, request.address.byte(), request.atoms});
            for (std::uint32_t atom = 0; atom < request.atoms; atom += 2) {
                ReadBeat beat;
                beat.atoms = std::min(request.atoms - atom, 2u);
                for (std::uint64_t i = 0; i < beat.atoms * kAtom; ++i)
                    beat.data[i] = memory.read(request.address.byte() + atom * kAtom + i);
                responses_.push_back({std::max(now + read_latency, next_response_), beat});
                next_response_ = responses_.back().at + 1;
            }
            pause(read.request, now, read_pause, read_ready_);
        }
        if (now + 1 == read_ready_) read.request.set_ready(now + 1, true);
        // Responses: the unit is always ready.
        const bool was_valid = read.response.valid(now);
        if (!responses_.empty() && responses_.front().at <= now + 1) {
            read.response.offer(now + 1, responses_.front().beat);
            responses_.pop_front();
        } else if (was_valid) {
            read.response.withdraw(now + 1);
        }
        while (read.credit.available(now)) {
            read.credit.take();
            credits.push_back(now);
        }
        if (write.request.fires(now)) take(write.request.item(now), now);
        if (now + 1 == write_ready_) write.request.set_ready(now + 1, true);
    }

private:
    struct Response {
        Cycle at;
        ReadBeat beat;
    };
    void take(const WritePacket& packet, Cycle now)
    {
        if (packet.command) {
            commands.push_back({now, packet.address.byte(), packet.atoms});
            address_ = packet.address.byte();
            left_ = packet.atoms;
            acknowledged_ = packet.require_ack;
        } else {
            beats.push_back(now);
            for (std::uint64_t i = 0; i < packet.atoms * kAtom; ++i) memory.at(address_ + i) = packet.data[i];
            address_ += packet.atoms * kAtom;
            left_ -= packet.atoms;
            if (left_ == 0 && acknowledged_) {
                completes.push_back(now + write_latency);
                write.complete.put(completes.back(), true);
            }
        }
        pause(write.request, now, write_pause, write_ready_);
    }
    template <class T>
    void pause(Channel<T>& channel, Cycle now, Cycle length, Cycle& ready)
    {
        if (length == 0) return;
        channel.set_ready(now + 1, false);
        ready = now + 1 + length;
    }

    std::deque<Response> responses_;
    Cycle next_response_ = 0, read_ready_ = kNever, write_ready_ = kNever;
    std::uint64_t address_ = 0;
    std::uint32_t left_ = 0;
    bool acknowledged_ = false;
};

/// A memory-to-memory unit of nv_full between two memories. Register writes are given by U, the cycle at the unit's port.
template <auto kMake>
struct DmaBench {
    CsbLink csb;
    Interface mc, cv;
    Pulse<std::uint32_t> interrupt;
    std::unique_ptr<Core> core = kMake(*find_preset("nv_full"), TransferPorts{csb, mc.read, cv.read, mc.write, cv.write, interrupt});
    Cycle now = 0;
    std::vector<std::pair<Cycle, std::uint32_t>> interrupts;
    bool skip = true;

    void write(Cycle u, std::uint32_t offset, std::uint32_t data) { csb.request.put(u + 1, {offset, data, true}); }
    void run(Cycle until)
    {
        for (; now < until; ++now) {
            // A skipping unit is evaluated when it asked for it or when a link says something new.
            const bool woken = csb.request.next() <= now || mc.read.response.valid(now) || cv.read.response.valid(now) || requests_fire() ||
                               mc.write.complete.available(now) || cv.write.complete.available(now);
            if (!skip || core->horizon() <= now || woken) core->advance(now);
            mc.step(now);
            cv.step(now);
            while (interrupt.available(now)) interrupts.push_back({now, interrupt.take()});
        }
    }
    bool requests_fire() const
    {
        return mc.read.request.fires(now) || cv.read.request.fires(now) || mc.write.request.fires(now) || cv.write.request.fires(now);
    }
};

}  // namespace dlasim::test
