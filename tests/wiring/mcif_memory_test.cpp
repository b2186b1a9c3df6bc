// The memory interface and its memory in SystemC, against the same interface on the bench: the coats add nothing.
#include <gmock/gmock.h>

#include <random>

#include "../unit/mcif_bench.h"
#include "memory/ideal_memory.h"
#include "units/mcif/module.h"

namespace dlasim {
namespace {

constexpr Cycle kCycles = 3000;

/// The scripted clients as a module, evaluated in every cycle.
class Clients final : public UnitModule {
public:
    Clients(const sc_core::sc_module_name& name, const Clock& clock, ScriptedClients& clients)
        : UnitModule(name, clock, true), stepper_(clients)
    {
    }
    Core& core() override { return stepper_; }

private:
    struct Stepper final : Core {
        explicit Stepper(ScriptedClients& c) : clients(c) {}
        void advance(Cycle to) override { clients.step(to); }
        Cycle horizon() const override { return 0; }
        UnitReport report(Cycle) override { return {}; }
        std::string waiting_for() const override { return {}; }
        ScriptedClients& clients;
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
};

void expect_equal_to_bench(const Setup& setup)
{
    const Hardware& hw = preset(setup.hardware);
    McifBench bench{hw, setup.side, setup.memory};
    bench.fill(0x100000, 1 << 16);
    script(bench, 5, setup.writes);
    bench.run(kCycles);
    ASSERT_FALSE(bench.responses.empty());

    const Clock clock{sc_core::sc_time(1, sc_core::SC_NS)};
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
        void wake_at(Cycle at) override { if (target) target->wake_at(at); }
        Sleeper* target = nullptr;
    } to_clients, to_interface;
    const McifLinks links = clients.connect(&to_clients, &to_interface);
    std::unique_ptr<Clients> module;
    if (!setup.interface_first) module = std::make_unique<Clients>("clients", clock, clients);
    Mcif interface{"interface", clock, setup.stepping, hw, setup.side, links};
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

}  // namespace
}  // namespace dlasim

int sc_main(int argc, char** argv)
{
    testing::InitGoogleMock(&argc, argv);
    return RUN_ALL_TESTS();
}
