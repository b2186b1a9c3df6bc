// A memory interface on the bench: scripted clients on one side, an ideal memory on the other, no kernel.
#pragma once
#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "facts/presets.h"
#include "memory/memory_store.h"
#include "units/mcif/core.h"

namespace dlasim {

struct BenchMemory {
    Cycle latency = 20, interval = 1, write_latency = 8, command_interval = 1, write_interval = 1;
};

/// The clients of a memory interface: they ask when their script says so and write down what comes back.
class ScriptedClients {
public:
    struct Response {
        Cycle at;
        unsigned client;
        std::uint32_t atoms;
        std::vector<std::uint8_t> data;
        bool operator==(const Response&) const = default;
    };

    explicit ScriptedClients(const Hardware& hardware) : hw(hardware) {}

    /// Connects them to the links they will drive; `interface` is woken by them.
    McifLinks connect(Sleeper* clients, Sleeper* interface)
    {
        McifLinks links{.csb = csb};
        for (unsigned i = 0; i < kClients; ++i) {
            if (!present(i)) continue;
            links.read[i] = &read[i];
            read[i].request.connect(clients, interface);
            read[i].response.connect(interface, clients);
            read[i].credit.reader = interface;
            if (i < kWriteClients) {
                links.write[i] = &write[i];
                write[i].request.connect(clients, interface);
                write[i].complete.reader = clients;
            }
        }
        csb.request.reader = interface;
        return links;
    }

    // ---- scripts
    void ask(unsigned client, Cycle at, std::uint64_t address, std::uint32_t atoms)
    {
        readers[client].script.push_back({at, {Address{address}, atoms}});
        asked.push_back({client, address, atoms});
    }
    /// A request whose data packets follow `gap` cycles after the command, back to back.
    void put(unsigned client, Cycle at, std::uint64_t address, std::uint32_t atoms, bool ack = true, Cycle gap = 1)
    {
        auto& script = writers[client].script;
        written.push_back({client, address, atoms});
        WritePacket packet;
        packet.command = true;
        packet.require_ack = ack;
        packet.atoms = atoms;
        packet.address = Address{address};
        script.push_back({at, packet});
        const std::uint32_t lanes = hw.atoms_per_beat();
        std::uint32_t done = 0;
        for (Cycle c = at + gap; done < atoms; ++c) {
            WritePacket data;
            data.atoms = std::min(lanes, atoms - done);
            for (std::uint32_t i = 0; i < data.atoms; ++i)
                for (std::uint32_t b = 0; b < hw.memory.atom_bytes; ++b)
                    data.data[i * hw.memory.atom_bytes + b] = value(address + (done + i) * hw.memory.atom_bytes + b);
            done += data.atoms;
            script.push_back({c, data});
        }
    }
    void set(std::uint32_t offset, std::uint32_t data, Cycle decode = 1) { csb.request.put(decode, {offset, data, true}); }
    bool present(unsigned client) const { return hw.full() || (client != 0 && client != 4 && (client != 7 || hw.sdp.has_ew)); }
    static std::uint8_t value(std::uint64_t address) { return static_cast<std::uint8_t>(address * 7 + (address >> 8) * 13 + 1); }
    void step(Cycle now)
    {
        for (unsigned i = 0; i < kClients; ++i) {
            if (!present(i)) continue;
            drive(readers[i], read[i].request, i, now);
            if (read[i].response.fires(now)) {
                const ReadBeat& beat = read[i].response.item(now);
                responses.push_back({now, i, beat.atoms, {beat.data.begin(), beat.data.begin() + beat.atoms * hw.memory.atom_bytes}});
                if (credits && i < 8) read[i].credit.put(now + credit_delay, true);
            }
            if (response_ready) read[i].response.set_ready(now + 1, response_ready(i, now + 1));
        }
        for (unsigned i = 0; i < kWriteClients; ++i) {
            if (!present(i)) continue;
            drive(writers[i], write[i].request, i, now);
            while (write[i].complete.available(now)) {
                write[i].complete.take();
                completes.push_back({now, i});
            }
        }
    }

    Hardware hw;
    std::array<ReadLink, kClients> read;
    std::array<WriteLink, kWriteClients> write;
    CsbLink csb;
    std::function<bool(unsigned, Cycle)> response_ready;  // of a client in a cycle; empty: always
    bool credits = true;
    Cycle credit_delay = 5;  // response to credit pulse: four in the latency FIFO, one register

    // ---- what happened
    std::vector<Response> responses;
    std::vector<std::pair<Cycle, unsigned>> completes, requests_taken;
    std::vector<std::tuple<unsigned, std::uint64_t, std::uint32_t>> asked, written;  // client, address, atoms

private:
    template <class T>
    struct Script {
        std::deque<std::pair<Cycle, T>> script;
        bool offered = false;
    };

    template <class T>
    void drive(Script<T>& client, Channel<T>& channel, unsigned id, Cycle now)
    {
        if (client.offered && channel.fires(now)) {
            client.offered = false;
            client.script.pop_front();
            requests_taken.push_back({now, id});
            if (client.script.empty() || client.script.front().first > now + 1) channel.withdraw(now + 1);
        }
        if (!client.offered && !client.script.empty() && client.script.front().first <= now + 1) {
            channel.offer(now + 1, client.script.front().second);
            client.offered = true;
        }
    }

    std::array<Script<ReadRequest>, kClients> readers;
    std::array<Script<WritePacket>, kWriteClients> writers;
};

class McifBench : public ScriptedClients {
public:
    struct Command {
        Cycle at;
        std::uint64_t address;
        std::uint32_t beats, id;
        bool operator==(const Command&) const = default;
    };
    struct Beat {
        Cycle at;
        unsigned id, atoms;
        bool last;
        bool operator==(const Beat&) const = default;
    };

    McifBench(const Hardware& hardware, MemorySide side = MemorySide::Primary, BenchMemory memory = {}, bool stepping = false)
        : ScriptedClients(hardware),
          timing(memory),
          beat_bytes(side == MemorySide::Primary ? hw.memory.primary.width_bytes : hw.memory.secondary.width_bytes),
          core(std::make_unique<McifCore>(hw, side, connect(&waker, &waker), port, true, stepping))
    {
        core->connect_doorbells();
    }

    void fill(std::uint64_t address, std::size_t bytes)
    {
        for (std::size_t i = 0; i < bytes; ++i) {
            const std::uint8_t byte = value(address + i);
            store.write(address + i, &byte, 1);
        }
    }

    void run(Cycle cycles, bool skip = false)
    {
        for (; now < cycles; ++now) {
            step(now);
            const bool woken = waker.cycles.erase(now) != 0;
            if (!skip || now == 0 || core->horizon() <= now || woken) {
                if (skip && core->horizon() < now) throw std::logic_error("slept over its horizon");
                core->advance(now);
                step_memory();
                ++evaluations;
            }
        }
    }

    Cycle now = 0;
    std::uint64_t evaluations = 0;
    std::vector<Command> ar, aw;
    std::vector<Beat> beats;

    std::vector<Cycle> cycles_of(const std::vector<Command>& commands) const
    {
        std::vector<Cycle> cycles;
        for (const Command& c : commands) cycles.push_back(c.at);
        return cycles;
    }

private:
    struct Waker final : Sleeper {
        void wake_at(Cycle at) override { cycles.insert(at); }
        std::set<Cycle> cycles;
    };
    struct Reading {
        std::uint64_t address;
        std::uint32_t beats;
        unsigned id;
        Cycle due;
    };

    void step_memory()
    {
        // read
        if (port.r.taken) {
            next_beat = now + timing.interval;
            Reading& front = reading.front();
            front.address += beat_bytes;
            if (--front.beats == 0) reading.pop_front();
            port.r.valid = port.r.taken = false;
        }
        if (port.ar.valid && !port.ar.seen) {
            port.ar.seen = true;
            port.ar.accept = std::max(now + 1, next_ar);
            next_ar = port.ar.accept + timing.command_interval;
            const PortCommand& c = port.ar.item;
            ar.push_back({port.ar.accept, c.address, c.beats, c.id});
            reading.push_back({c.address, c.beats, c.id, port.ar.accept + timing.latency});
        }
        if (!port.r.valid && !reading.empty()) {
            const Reading& front = reading.front();
            store.read(front.address, buffer.data(), beat_bytes);
            port.r = {true, std::max(front.due, next_beat), static_cast<std::uint8_t>(front.id), buffer.data(), false};
        }
        // write
        if (port.aw.valid && !port.aw.seen) {
            port.aw.seen = true;
            port.aw.accept = std::max(now + 1, next_aw);
            next_aw = port.aw.accept + timing.command_interval;
            const PortCommand& c = port.aw.item;
            aw.push_back({port.aw.accept, c.address, c.beats, c.id});
            writing.push_back(c.address / beat_bytes * beat_bytes);
        }
        if (port.w.valid && !port.w.seen) {
            port.w.seen = true;
            port.w.accept = std::max(now + 1, next_w);
            next_w = port.w.accept + timing.write_interval;
            beats.push_back({port.w.accept, port.w.item.id, port.w.item.atoms, port.w.item.last});
            data.push_back(port.w.item);
            if (port.w.item.last) answers.push_back({port.w.accept + timing.write_latency, port.w.item.id});
        }
        while (!data.empty() && !writing.empty()) {
            const PortWriteBeat& beat = data.front();
            for (unsigned i = 0; i < beat_bytes / hw.memory.atom_bytes; ++i)
                if (beat.atoms >> i & 1)
                    store.write(writing.front() + i * hw.memory.atom_bytes, &beat.data[i * hw.memory.atom_bytes], hw.memory.atom_bytes);
            writing.front() += beat_bytes;
            if (beat.last) writing.pop_front();
            data.pop_front();
        }
        if (port.b.taken) port.b.valid = port.b.taken = false;
        if (!port.b.valid && !answers.empty()) {
            port.b = {true, std::max(answers.front().first, now + 1), static_cast<std::uint8_t>(answers.front().second), false};
            answers.pop_front();
        }
    }

    Waker waker;
    BenchMemory timing;
    std::uint32_t beat_bytes;
    DbbPort port;
    std::deque<Reading> reading;
    std::deque<std::uint64_t> writing;
    std::deque<PortWriteBeat> data;
    std::deque<std::pair<Cycle, unsigned>> answers;
    std::array<std::uint8_t, kMaxBeatBytes> buffer{};
    Cycle next_beat = 0, next_ar = 0, next_aw = 0, next_w = 0;

public:
    MemoryStore store;
    std::unique_ptr<McifCore> core;
};

inline const Hardware& preset(const char* name)
{
    const Hardware* hw = find_preset(name);
    if (!hw) throw std::logic_error(name);
    return *hw;
}

}  // namespace dlasim
