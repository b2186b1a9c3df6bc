// The memory interface and its memory in SystemC, against the same interface on the bench: the coats add nothing.
#include <gmock/gmock.h>

#include <deque>
#include <random>

#include "../unit/mcif_bench.h"
#include "dram/read/reader.h"
#include "memory/dram_memory.h"
#include "memory/ideal_memory.h"
#include "units/mcif/module.h"

namespace dlasim {
namespace mcif_memory_test {

constexpr Cycle kCycles = 3000;

/// The scripted clients as a module, evaluated in every cycle.
class Clients final : public UnitModule {
public:
    Clients(const sc_core::sc_module_name& name, Clock& clock, ScriptedClients& clients) : UnitModule(name, clock, true), stepper_(clients)
    {
    }
    Core& core() override { return stepper_; }

private:
    struct Stepper final : Core {
        explicit Stepper(ScriptedClients& c) : clients(c) {}
        void advance(Cycle to) override { clients.step(now = to); }
        Cycle horizon() const override { return now + 1; }
        UnitReport report(Cycle) override { return {}; }
        std::string waiting_for() const override { return {}; }
        ScriptedClients& clients;
        Cycle now = 0;
    };
    Stepper stepper_;
};

/// Passes everything on but the question for the pace: a memory as other platforms have it.
class PlainBus final : public sc_core::sc_module, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<> {
public:
    tlm::tlm_target_socket<512> from{"from"};
    tlm::tlm_initiator_socket<512> to{"to"};

    explicit PlainBus(const sc_core::sc_module_name& name) : sc_module(name)
    {
        from.bind(*this);
        to.bind(*this);
    }

private:
    using Payload = tlm::tlm_generic_payload;
    tlm::tlm_sync_enum nb_transport_fw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override
    {
        return to->nb_transport_fw(p, phase, delay);
    }
    tlm::tlm_sync_enum nb_transport_bw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override
    {
        return from->nb_transport_bw(p, phase, delay);
    }
    void b_transport(Payload&, sc_core::sc_time&) override {}
    unsigned transport_dbg(Payload&) override { return 0; }
    bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

/// A memory that takes its time over every phase, one request at a time, and annotates nothing. It
/// speaks between clock edges.
class LazyMemory final : public sc_core::sc_module, tlm::tlm_fw_transport_if<> {
public:
    tlm::tlm_target_socket<512> socket{"socket"};

    LazyMemory(const sc_core::sc_module_name& name, MemoryStore& store) : sc_module(name), store_(store)
    {
        socket.bind(*this);
        SC_HAS_PROCESS(LazyMemory);
        SC_THREAD(run);
    }

private:
    using Payload = tlm::tlm_generic_payload;
    tlm::tlm_sync_enum nb_transport_fw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) override
    {
        if (phase == tlm::BEGIN_REQ) {
            EXPECT_EQ(asked_, nullptr) << "BEGIN_REQ before END_REQ";
            asked_ = &p;
            p.acquire();
            request_.notify(sc_core::SC_ZERO_TIME);
        } else if (phase == tlm::END_RESP) {
            EXPECT_EQ(answered_, &p);
            answered_ = nullptr;
            p.release();
            end_.notify(sc_core::SC_ZERO_TIME);
            return tlm::TLM_COMPLETED;
        }
        return tlm::TLM_ACCEPTED;
    }
    void run()
    {
        std::mt19937 random{3};
        for (;;) {
            while (!asked_) wait(request_);
            wait(sc_core::sc_time(1500.0 + 1000.0 * static_cast<double>(random() % 3), sc_core::SC_PS));
            Payload& p = *asked_;
            sc_core::sc_time zero;
            if (p.is_read()) store_.read(p.get_address(), p.get_data_ptr(), p.get_data_length());
            else if (p.get_byte_enable_ptr())
                store_.write(p.get_address(), p.get_data_ptr(), p.get_data_length(), p.get_byte_enable_ptr(), p.get_byte_enable_length());
            else store_.write(p.get_address(), p.get_data_ptr(), p.get_data_length());
            p.set_response_status(tlm::TLM_OK_RESPONSE);
            asked_ = nullptr;
            tlm::tlm_phase phase = tlm::END_REQ;
            if (random() % 3 != 0) {  // else BEGIN_RESP says both
                socket->nb_transport_bw(p, phase, zero);
                wait(sc_core::sc_time(700.0 * static_cast<double>(random() % 4), sc_core::SC_PS));
            }
            phase = tlm::BEGIN_RESP;
            answered_ = &p;
            socket->nb_transport_bw(p, phase, zero);
            while (answered_) wait(end_);
        }
    }
    void b_transport(Payload&, sc_core::sc_time&) override {}
    unsigned transport_dbg(Payload&) override { return 0; }
    bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }

    MemoryStore& store_;
    Payload *asked_ = nullptr, *answered_ = nullptr;
    sc_core::sc_event request_, end_;
};

void script(ScriptedClients& clients, std::uint32_t seed, bool writes)
{
    std::mt19937 random{seed};
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const std::uint32_t atom = clients.hw.memory.atom_bytes;
    for (unsigned client = 0; client < kClients; ++client)
        for (Cycle at = 2 + below(300); at < 1000; at += 1 + below(120))
            clients.ask(client, at, 0x100000 + below(2000) * atom, 1 + below(20));
    if (!writes) return;
    for (unsigned client = 0; client < kWriteClients; ++client)
        for (Cycle at = 2 + below(300); at < 1000; at += 20 + below(90)) {
            clients.put(client, at, 0x800000 + client * 0x10000 + at * 32 / atom * atom, 1 + below(20), below(2) == 0);
        }
}

struct Setup {
    const char* hardware;
    MemorySide side = MemorySide::Primary;
    BenchMemory memory;
    bool writes = true;
    bool stepping = false;
    bool interface_first = true;
    bool plain = false;
    bool ahead = false;
};

void expect_equal_to_bench(const Setup& setup)
{
    const Hardware& hw = preset(setup.hardware);
    McifBench bench{hw, setup.side, setup.memory};
    bench.fill(0x100000, 1 << 16);
    script(bench, 5, setup.writes);
    bench.run(kCycles);
    ASSERT_FALSE(bench.responses.empty());

    Clock clock{sc_core::sc_time(1, sc_core::SC_NS)};
    if (setup.ahead) clock.run_ahead(kCycles);
    ScriptedClients clients{hw};
    script(clients, 5, setup.writes);
    MemoryStore store;
    for (unsigned i = 0; i < 1 << 16; ++i) {
        const std::uint8_t byte = McifBench::value(0x100000 + i);
        store.write(0x100000 + i, &byte, 1);
    }
    MemorySpec spec;
    spec.read_latency = static_cast<std::uint32_t>(setup.memory.latency);
    spec.beat_interval = static_cast<std::uint32_t>(setup.memory.interval);
    spec.write_latency = static_cast<std::uint32_t>(setup.memory.write_latency);
    spec.command_interval = static_cast<std::uint32_t>(setup.memory.command_interval);
    spec.write_interval = static_cast<std::uint32_t>(setup.memory.write_interval);
    struct Forward final : Sleeper {
        void wake_at(Cycle at) override
        {
            if (target) target->wake_at(at);
        }
        Sleeper* target = nullptr;
    } to_clients, to_interface;
    const McifLinks links = clients.connect(&to_clients, &to_interface);
    std::unique_ptr<Clients> module;
    if (!setup.interface_first) module = std::make_unique<Clients>("clients", clock, clients);
    Mcif interface {
        "interface", clock, setup.stepping, hw, setup.side, links
    };
    if (setup.interface_first) module = std::make_unique<Clients>("clients", clock, clients);
    to_interface.target = &interface;
    interface.traffic().record_commands();
    IdealMemory memory{"memory", clock, spec, store};
    std::unique_ptr<PlainBus> bus;
    if (setup.plain) {
        bus = std::make_unique<PlainBus>("bus");
        interface.memory.bind(bus->from);
        bus->to.bind(memory.socket);
    } else {
        interface.memory.bind(memory.socket);
    }
    sc_core::sc_start(clock.at(kCycles) - sc_core::sc_time(1, sc_core::SC_PS));

    EXPECT_EQ(clients.responses, bench.responses);
    EXPECT_EQ(clients.completes, bench.completes);
    EXPECT_EQ(clients.requests_taken, bench.requests_taken);
    const TrafficLog& log = interface.traffic();
    for (std::size_t i = 0; i < log.ar_log().size(); ++i) {
        const TrafficLog::Command& c = log.ar_log()[i];
        ASSERT_EQ((McifBench::Command{c.cycle, c.address, c.beats, c.id}), bench.ar[i]) << i;
    }
    for (std::size_t i = 0; i < log.aw_log().size(); ++i) {
        const TrafficLog::Command& c = log.aw_log()[i];
        ASSERT_EQ((McifBench::Command{c.cycle, c.address, c.beats, c.id}), bench.aw[i]) << i;
    }
    EXPECT_EQ(log.since_reset().ar, bench.ar.size());
    EXPECT_EQ(log.since_reset().write_beats, bench.beats.size());
    std::uint64_t bytes = 0;
    for (const auto& [client, address, atoms] : bench.written)
        if (bench.present(client)) bytes += atoms * hw.memory.atom_bytes;
    EXPECT_EQ(log.since_reset().write_bytes, bytes);
    std::vector<std::uint8_t> there(0x60000), wanted(0x60000);
    store.read(0x800000, there.data(), there.size());
    bench.store.read(0x800000, wanted.data(), wanted.size());
    EXPECT_EQ(there, wanted);
}

TEST(McifMemory, NvFullInSystemCIsTheInterfaceOnTheBench)
{
    expect_equal_to_bench({.hardware = "nv_full", .memory = {.latency = 37, .interval = 2, .write_latency = 9}});
}

TEST(McifMemory, TheOrderOfConstructionDecidesNothing)
{
    expect_equal_to_bench({.hardware = "nv_full", .memory = {.latency = 37, .interval = 2}, .interface_first = false});
}

TEST(McifMemory, SteppingDecidesNothing)
{
    expect_equal_to_bench({.hardware = "nv_full", .memory = {.latency = 37, .interval = 2}, .stepping = true});
}

TEST(McifMemory, RunningAheadOfSystemCDecidesNothing)
{
    expect_equal_to_bench({.hardware = "nv_full", .memory = {.latency = 37, .interval = 2, .write_latency = 9}, .ahead = true});
}

TEST(McifMemory, RunningAheadOfSystemCDecidesNothingForAMemoryWithAProcess)
{
    expect_equal_to_bench({.hardware = "nv_full", .memory = {.latency = 40}, .writes = false, .plain = true, .ahead = true});
}

TEST(McifMemory, RunningAheadOfSystemCDecidesNothingForASlowMemoryWithAProcess)
{
    expect_equal_to_bench(
        {.hardware = "nv_small", .memory = {.latency = 100, .interval = 5}, .writes = false, .plain = true, .ahead = true});
}

TEST(McifMemory, AMemoryThatTakesCommandsAndDataSlowlyPressesBackTheSame)
{
    expect_equal_to_bench({.hardware = "nv_medium_512", .memory = {.latency = 20, .command_interval = 3, .write_interval = 4}});
}

TEST(McifMemory, CvifWritesAndReadsBurstsInSystemC)
{
    expect_equal_to_bench({.hardware = "nv_full", .side = MemorySide::Secondary, .memory = {.latency = 60}});
}

TEST(McifMemory, AMemoryOfTheBaseProtocolAloneReturnsReadsInTheSameCycles)
{
    expect_equal_to_bench({.hardware = "nv_full", .memory = {.latency = 40}, .writes = false, .plain = true});
}

TEST(McifMemory, AMemoryOfTheBaseProtocolAloneReturnsSlowSingleBeatsInTheSameCycles)
{
    expect_equal_to_bench({.hardware = "nv_small", .memory = {.latency = 100, .interval = 5}, .writes = false, .plain = true});
}

/// Everything asked for arrives and everything written is there, at whatever time.
void expect_all_served(const char* hardware, MemorySide side)
{
    const Hardware& hw = preset(hardware);
    Clock clock{sc_core::sc_time(1, sc_core::SC_NS)};
    ScriptedClients clients{hw};
    script(clients, 9, true);
    MemoryStore store;
    for (unsigned i = 0; i < 1 << 16; ++i) {
        const std::uint8_t byte = ScriptedClients::value(0x100000 + i);
        store.write(0x100000 + i, &byte, 1);
    }
    struct Forward final : Sleeper {
        void wake_at(Cycle at) override
        {
            if (target) target->wake_at(at);
        }
        Sleeper* target = nullptr;
    } to_clients, to_interface;
    const McifLinks links = clients.connect(&to_clients, &to_interface);
    Clients module{"clients", clock, clients};
    Mcif interface {
        "interface", clock, false, hw, side, links
    };
    to_interface.target = &interface;
    LazyMemory memory{"memory", store};
    interface.memory.bind(memory.socket);
    sc_core::sc_start(clock.at(200000));

    std::array<std::vector<std::uint8_t>, kClients> expected, received;
    for (const auto& [client, address, atoms] : clients.asked)
        for (std::uint64_t i = 0; i < std::uint64_t{atoms} * hw.memory.atom_bytes; ++i)
            if (clients.present(client)) expected[client].push_back(ScriptedClients::value(address + i));
    for (const auto& r : clients.responses) received[r.client].insert(received[r.client].end(), r.data.begin(), r.data.end());
    for (unsigned client = 0; client < kClients; ++client) EXPECT_EQ(received[client], expected[client]) << client;
    std::uint64_t bytes = 0;
    for (const auto& [client, address, atoms] : clients.written) {
        if (!clients.present(client)) continue;
        bytes += atoms * hw.memory.atom_bytes;
        std::vector<std::uint8_t> there(std::size_t{atoms} * hw.memory.atom_bytes), wanted;
        store.read(address, there.data(), there.size());
        for (std::size_t i = 0; i < there.size(); ++i) wanted.push_back(ScriptedClients::value(address + i));
        EXPECT_EQ(there, wanted) << client << " " << address;
    }
    EXPECT_EQ(interface.traffic().since_reset().write_bytes, bytes);
    EXPECT_EQ(static_cast<UnitModule&>(interface).core().horizon(), kNever) << static_cast<UnitModule&>(interface).core().waiting_for();
}

TEST(McifMemory, AMemoryThatTakesItsTimeOverEveryPhaseServesNvFull) { expect_all_served("nv_full", MemorySide::Primary); }

TEST(McifMemory, AMemoryThatTakesItsTimeOverEveryPhaseServesBursts) { expect_all_served("nv_full", MemorySide::Secondary); }

TEST(McifMemory, AMemoryThatTakesItsTimeOverEveryPhaseServesNvMedium) { expect_all_served("nv_medium_512", MemorySide::Primary); }

/// An interface that a DRAM stands at, called as a MemoryModel or by the four phases.
struct AtDram {
    AtDram(const Hardware& hw, const dram::Config& config, bool phases, std::uint32_t seed)
        : clients{hw},
          interface(sc_core::sc_gen_unique_name("interface"), clock, phases, hw, MemorySide::Primary, clients.connect(&nobody, &forward)),
          module(sc_core::sc_gen_unique_name("clients"), clock, clients),
          memory(sc_core::sc_gen_unique_name("dram"), clock, config, store, true)
    {
        script(clients, seed, true);
        forward.target = &interface;
        interface.memory.bind(memory.socket());
        interface.follow(&trail);
        if (!phases) clock.run_ahead(kDramCycles);
    }
    struct Forward final : Sleeper {
        void wake_at(Cycle at) override
        {
            if (target) target->wake_at(at);
        }
        Sleeper* target = nullptr;
    };
    static constexpr Cycle kDramCycles = 20'000;

    Clock clock{sc_core::sc_time(1, sc_core::SC_NS)};
    Forward nobody, forward;
    ScriptedClients clients;
    MemoryStore store;
    BurstLogs trail;
    Mcif interface;
    Clients module;
    DramMemory memory;
};

void expect_no_difference(const char* hardware, const std::string& preset, const std::map<std::string, std::string>& options)
{
    const dram::Config config = dram::read_config(preset, options);
    std::deque<AtDram> all;
    for (const std::uint32_t seed : {5u, 6u, 7u})
        for (const bool phases : {false, true}) all.emplace_back(dlasim::preset(hardware), config, phases, seed);
    sc_core::sc_start(all[0].clock.at(AtDram::kDramCycles) - sc_core::sc_time(1, sc_core::SC_PS));
    for (std::size_t i = 0; i < all.size(); i += 2) {
        AtDram &plain = all[i], &phased = all[i + 1];
        ASSERT_GT(plain.clients.responses.size(), 1000u);
        EXPECT_EQ(plain.clients.responses, phased.clients.responses);
        EXPECT_EQ(plain.clients.completes, phased.clients.completes);
        EXPECT_EQ(plain.clients.requests_taken, phased.clients.requests_taken);
        for (auto of : {&BurstLogs::reads, &BurstLogs::writes}) {
            const BurstLog &a = plain.trail.*of, &b = phased.trail.*of;
            ASSERT_EQ(a.end(), b.end());
            for (BurstLog::Number n = 0; n < a.end(); ++n) {
                ASSERT_EQ(std::tuple(a[n].accepted(), a[n].due(), a[n].first(), a[n].last()),
                          std::tuple(b[n].accepted(), b[n].due(), b[n].first(), b[n].last()))
                    << n;
                ASSERT_EQ(std::tuple(a.waits(n).taken, a.waits(n).waited, a.waits(n).accepted),
                          std::tuple(b.waits(n).taken, b.waits(n).waited, b.waits(n).accepted))
                    << n;
            }
        }
        EXPECT_EQ(plain.memory.finish(AtDram::kDramCycles)[0].commands, phased.memory.finish(AtDram::kDramCycles)[0].commands);
        std::vector<std::uint8_t> there(0x60000), wanted(0x60000);
        plain.store.read(0x800000, there.data(), there.size());
        phased.store.read(0x800000, wanted.data(), wanted.size());
        EXPECT_EQ(there, wanted);
    }
}

TEST(McifMemory, ADramAsAModelIsTheDramOfThePhases) { expect_no_difference("nv_large", "ddr4-3200", {}); }

TEST(McifMemory, ASlowDramAsAModelIsTheDramOfThePhases) { expect_no_difference("nv_small", "ddr4-2400", {{"tCK_ns", "4"}}); }

}  // namespace mcif_memory_test
}  // namespace dlasim
