// Measured cases of SDP alone, from memory to memory: SDP with its memory interface and the ideal
// memory of the measurements. Everything but the program is predicted: read and write commands,
// write requests, interrupts, and the bytes in memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <set>

#include "facts/presets.h"
#include "memory/memory_store.h"
#include "sdp_program.h"
#include "units/mcif/core.h"
#include "units/sdp/core.h"

namespace dlasim {
namespace sdp_standalone_test {

constexpr unsigned kReadIds[] = {1, 5, 6, 7};

class StandaloneBench {
public:
    StandaloneBench(const Hardware& hw, const json& memory)
        : hw_(hw),
          latency_(memory["read_latency"]),
          interval_(memory["beat_interval"]),
          write_latency_(memory["write_latency"]),
          beat_bytes_(hw.memory.primary.width_bytes)
    {
        McifLinks links{.csb = csb_mcif_};
        for (unsigned i = 0; i < 4; ++i) {
            if (i == 3 && !hw.sdp.has_ew) continue;
            ReadLink& link = reads_[i];
            links.read[kReadIds[i]] = &link;
            link.request.connect(&sdp_wake_, &mcif_wake_);
            link.response.connect(&mcif_wake_, &sdp_wake_);
            link.credit.reader = &mcif_wake_;
        }
        links.write[1] = &write_;
        write_.request.connect(&sdp_wake_, &mcif_wake_);
        write_.request.valid_probe = &write_valid;
        write_.complete.reader = &sdp_wake_;
        csb_.request.reader = rdma_.request.reader = &sdp_wake_;
        cacc_.connect(nullptr, &sdp_wake_);
        mcif_ = std::make_unique<McifCore>(hw, MemorySide::Primary, links, port_);
        SdpPorts ports{csb_, rdma_, cacc_, write_, nullptr, {}, {}, interrupt_};
        for (unsigned i = 0; i < 4; ++i) ports.read_mc[i] = i == 3 && !hw.sdp.has_ew ? nullptr : &reads_[i];
        sdp_ = make_sdp(hw, ports);
    }

    void run(const SdpProgram& program, Cycle length, bool stepping)
    {
        std::size_t next = 0;
        for (Cycle now = 0; now < length; ++now) {
            const bool mcif_due = mcif_wake_.take(now) || stepping, sdp_due = sdp_wake_.take(now) || stepping;
            while (next < program.writes.size() && program.writes[next].decode == now + 1) {
                const SdpRegisterWrite& w = program.writes[next++];
                (w.rdma ? rdma_ : csb_).request.put(now + 1, {w.offset, w.data, true});
            }
            if (sdp_due) {
                sdp_->advance(now);
                if (!stepping) sdp_wake_.wake_at(sdp_->horizon());
            }
            if (mcif_due) {
                mcif_->advance(now);
                step_memory(now);
                if (!stepping) mcif_wake_.wake_at(mcif_->horizon());
            }
            while (interrupt_.available(now)) {
                interrupts.push_back(interrupt_.next());
                interrupt_.take();
            }
        }
    }

    MemoryStore store;
    Probe write_valid;
    std::vector<Cycle> interrupts;  // pulses at GLB
    std::vector<std::tuple<Cycle, std::uint64_t, std::uint32_t, std::uint32_t>> ar, aw;

private:
    /// As the wake_queue of the machine: a cycle that was named stays so, whatever is evaluated before it.
    struct Waker final : Sleeper {
        void wake_at(Cycle at) override { cycles.insert(at); }
        bool take(Cycle now)
        {
            const auto later = cycles.upper_bound(now);
            const bool due = later != cycles.begin();
            cycles.erase(cycles.begin(), later);
            return due;
        }
        std::set<Cycle> cycles{0};
    };
    struct Reading {
        std::uint64_t address;
        std::uint32_t beats, id;
        Cycle due;
    };
    void step_memory(Cycle now)
    {
        if (port_.r.taken) {
            next_beat_ = now + interval_;
            reading_.front().address += beat_bytes_;
            if (--reading_.front().beats == 0) reading_.pop_front();
            port_.r.valid = port_.r.taken = false;
        }
        const auto accept = [&](PortOffer<PortCommand>& offer, auto& log) {
            if (!offer.valid || offer.seen) return false;
            offer.seen = true;
            offer.accept = now + 1;
            log.push_back({offer.accept, offer.item.address, offer.item.beats, offer.item.id});
            return true;
        };
        if (accept(port_.ar, ar)) reading_.push_back({port_.ar.item.address, port_.ar.item.beats, port_.ar.item.id, now + 1 + latency_});
        if (!port_.r.valid && !reading_.empty()) {
            store.read(reading_.front().address, buffer_.data(), beat_bytes_);
            port_.r = {true, std::max(reading_.front().due, next_beat_), static_cast<std::uint8_t>(reading_.front().id), buffer_.data(),
                       false};
        }
        if (accept(port_.aw, aw)) writing_.push_back(port_.aw.item.address / beat_bytes_ * beat_bytes_);
        if (port_.w.valid && !port_.w.seen) {
            port_.w.seen = true;
            port_.w.accept = now + 1;
            data_.push_back(port_.w.item);
            if (port_.w.item.last) answers_.push_back({port_.w.accept + write_latency_, port_.w.item.id});
        }
        for (; !data_.empty() && !writing_.empty(); data_.pop_front()) {
            const PortWriteBeat& beat = data_.front();
            const std::uint32_t atom = hw_.memory.atom_bytes;
            for (unsigned i = 0; i < beat_bytes_ / atom; ++i)
                if (beat.atoms >> i & 1) store.write(writing_.front() + i * atom, &beat.data[i * atom], atom);
            writing_.front() += beat_bytes_;
            if (beat.last) writing_.pop_front();
        }
        if (port_.b.taken) port_.b.valid = port_.b.taken = false;
        if (!port_.b.valid && !answers_.empty()) {
            port_.b = {true, std::max(answers_.front().first, now + 1), static_cast<std::uint8_t>(answers_.front().second), false};
            answers_.pop_front();
        }
    }

    Hardware hw_;
    Cycle latency_, interval_, write_latency_;
    std::uint32_t beat_bytes_;
    CsbLink csb_, rdma_, csb_mcif_;
    Channel<SumBeat> cacc_;
    std::array<ReadLink, 4> reads_;
    WriteLink write_;
    Pulse<std::uint32_t> interrupt_;
    DbbPort port_;
    Waker sdp_wake_, mcif_wake_;
    std::unique_ptr<Core> sdp_;
    std::unique_ptr<McifCore> mcif_;
    std::deque<Reading> reading_;
    std::deque<std::uint64_t> writing_;
    std::deque<PortWriteBeat> data_;
    std::deque<std::pair<Cycle, unsigned>> answers_;
    std::array<std::uint8_t, kMaxBeatBytes> buffer_{};
    Cycle next_beat_ = 0;
};

/// The byte generator of the measured cases (interfaces.md, README of the cases).
std::vector<std::uint8_t> generated(std::uint32_t seed, std::size_t bytes)
{
    std::uint32_t x = seed * 2654435761u + 12345u;
    std::vector<std::uint8_t> all(bytes);
    for (auto& byte : all) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        byte = static_cast<std::uint8_t>(x >> 11);
    }
    return all;
}

std::vector<std::uint8_t> literal(const std::string& hex)
{
    std::vector<std::uint8_t> all(hex.size() / 2);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
    return all;
}

std::string crc32(const std::vector<std::uint8_t>& bytes)
{
    std::uint32_t crc = ~0u;
    for (const std::uint8_t byte : bytes) {
        crc ^= byte;
        for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    char text[9];
    std::snprintf(text, sizeof text, "%08x", ~crc);
    return text;
}

using Log = std::vector<std::tuple<Cycle, std::uint64_t, std::uint32_t, std::uint32_t>>;

std::string compare_log(const char* name, const json& want, const Log& got, Cycle t0)
{
    std::size_t i = 0;
    while (i < got.size() && std::get<0>(got[i]) <= t0) ++i;  // the measured logs begin in the cycle after t0
    for (const json& entry : want) {
        if (i == got.size()) return std::string(name) + " ends before " + entry.dump();
        const auto& [cycle, address, beats, id] = got[i++];
        const std::uint64_t wanted = std::stoull(entry[1].get<std::string>(), nullptr, 16);
        if (cycle - t0 != entry[0] || address != wanted || beats != entry[2] || id != entry[3]) {
            std::ostringstream text;
            text << name << " " << cycle - t0 << " " << std::hex << address << " instead of " << entry.dump();
            return text.str();
        }
    }
    return want.size() < 400 && got.size() > i ? std::string(name) + ": more than measured" : std::string();
}

std::string compare(const json& test, bool stepping)
{
    const Hardware* hw = find_preset(test["config"].get<std::string>());
    StandaloneBench bench(*hw, test["memory"]);
    for (const json& fill : test["memory_fill"]) {
        const auto bytes = fill.contains("hex") ? literal(fill["hex"]) : generated(fill["seed"], fill["bytes"]);
        bench.store.write(std::stoull(fill["addr"].get<std::string>(), nullptr, 16), bytes.data(), bytes.size());
    }
    const SdpProgram program = read_program(*hw, test);
    const json& want = test["expected"];
    Cycle end = 0;
    for (const auto& [name, probe] : want["probes"].items())
        if (name.ends_with("_ready")) end = std::max(end, probe["active"].get<Cycle>());
    bench.run(program, program.t0 + end + 1, stepping);
    std::string text = compare_log("ar", want["ar"], bench.ar, program.t0);
    if (text.empty()) text = compare_log("aw", want["aw"], bench.aw, program.t0);
    if (!text.empty()) return text;
    const auto runs = bench.write_valid.runs(program.t0 + 1, program.t0 + end + 1);
    std::size_t i = 0;
    for (const json& run : want["probes"]["sdp2mcif_wr_req_valid"]["runs"]) {
        if (i == runs.size() || runs[i].start - program.t0 != run[0] || runs[i].length != run[1]) return "write request " + run.dump();
        ++i;
    }
    std::vector<Cycle> pins;
    for (const Cycle pulse : bench.interrupts) pins.push_back(pulse + 6 - program.t0);
    if (json(pins) != want["interrupt_cycles"]) return "interrupts " + json(pins).dump() + " instead of " + want["interrupt_cycles"].dump();
    for (const json& region : want.value("output", json::array())) {
        std::vector<std::uint8_t> bytes(region["bytes"].get<std::size_t>());
        bench.store.read(std::stoull(region["addr"].get<std::string>(), nullptr, 16), bytes.data(), bytes.size());
        if (region.contains("crc32") && crc32(bytes) != region["crc32"]) {
            std::size_t at = 0;
            std::string hex = region.value("hex", "");
            for (; at < bytes.size() && 2 * at + 1 < hex.size(); ++at)
                if (std::stoul(hex.substr(2 * at, 2), nullptr, 16) != bytes[at]) break;
            return "bytes differ from " + std::to_string(at);
        }
    }
    return {};
}

/// Nothing but SDP runs, behind the primary port, and the memory takes commands and data in every cycle.
bool standalone(const json& test)
{
    if (test["memory"].value("command_interval", 1) != 1 || test["memory"].value("write_interval", 1) != 1) return false;
    for (const json& entry : test["program"])
        for (const char* other : {"CDMA.D_OP_ENABLE", "BDMA.CFG_LAUNCH0", "RUBIK.D_OP_ENABLE", "PDP.D_OP_ENABLE", "CDP.D_OP_ENABLE"})
            if (entry[0] == other) return false;
    const json& want = test["expected"];
    return want.value("cvsram_ar", json::array()).empty() && want.value("cvsram_aw", json::array()).empty();
}

class SdpStandalone : public testing::TestWithParam<const char*> {};

TEST_P(SdpStandalone, MeasuredCasesAreEqualInTimeAndBytes)
{
    const std::filesystem::path folder = measured_cases(GetParam());
    unsigned played = 0, equal = 0;
    std::string differences;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        if (!file.path().filename().string().starts_with("sdp_")) continue;
        const json test = json::parse(std::ifstream(file.path()));
        if (!test.value("finished", true) || !standalone(test)) continue;
        ++played;
        const std::string difference = compare(test, false);
        if (difference.empty()) ++equal;
        else differences += file.path().stem().string() + ": " + difference + "\n";
    }
    EXPECT_GT(played, 9u);
    EXPECT_EQ(equal, played) << differences;
    RecordProperty("played", static_cast<int>(played));
}

INSTANTIATE_TEST_SUITE_P(Presets, SdpStandalone, testing::Values("nv_full", "nv_large", "nv_medium_512", "nv_small_256", "nv_small"));

}  // namespace sdp_standalone_test
}  // namespace dlasim
