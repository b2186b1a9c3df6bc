// What a run reports between t0 and its last interrupt, whatever happened before: the difference of two snapshots.
// One process a test: SystemC's kernel is a singleton.
#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "../golden/apart.h"
#include "facts/presets.h"
#include "platform/machine.h"
#include "registers/tables.h"

namespace dlasim {
namespace window_machine_test {

const Hardware& full() { return *find_preset("nv_full"); }

class Writer {
public:
    void write(const std::string& name, std::uint32_t value) { program.push_back(RegisterWrite{name, at(name), value}); }
    void poll(const std::string& name, std::uint32_t mask, std::uint32_t expected)
    {
        program.push_back(PollRegister{name, at(name), mask, expected});
    }
    /// Lines of four atoms from DBB to CVSRAM.
    void copy(std::uint32_t lines, unsigned group)
    {
        write("BDMA.CFG_SRC_ADDR_LOW", 0x80000000 + (group << 24));
        write("BDMA.CFG_DST_ADDR_LOW", 0x90000000 + (group << 24));
        write("BDMA.CFG_LINE", 3);
        write("BDMA.CFG_CMD", 1);
        write("BDMA.CFG_LINE_REPEAT", lines - 1);
        write("BDMA.CFG_SRC_LINE", 128);
        write("BDMA.CFG_DST_LINE", 128);
        write("BDMA.CFG_SURF_REPEAT", 0);
        write("BDMA.CFG_OP", 1);
        write("BDMA.CFG_LAUNCH" + std::to_string(group), 1);
    }
    Program program;

private:
    static std::uint32_t at(const std::string& name) { return *register_address(full(), name); }
};

constexpr std::uint32_t kFirstDone = 1u << 6, kSecondDone = 1u << 7;  // GLB.S_INTR_STATUS: BDMA's groups

enum class Before { Nothing, Done, Busy };

/// 20 lines that count, behind 300 that do not.
Program program(Before before)
{
    Writer p;
    if (before != Before::Nothing) p.copy(300, 0);
    if (before == Before::Done) p.poll("GLB.S_INTR_STATUS", kFirstDone, kFirstDone);
    p.copy(20, 1);
    p.program.push_back(MarkT0{});
    if (before == Before::Busy) p.program.push_back(WaitStatus{kFirstDone});
    p.program.push_back(WaitStatus{kSecondDone});
    return p.program;
}

RunResult run(Before before, bool stepping = false, const MemorySpec& memory = {})
{
    SimulateOptions options;
    options.stepping = stepping;
    options.drain = true;
    Machine machine(full(), memory, options);
    return machine.run(program(before));
}

const UnitReport& unit(const RunResult& result, const std::string& name)
{
    for (const UnitReport& each : result.units)
        if (each.name == name) return each;
    throw std::out_of_range(name);
}

std::uint64_t counter(const UnitReport& unit, const std::string& name)
{
    for (const auto& [each, value] : unit.counters)
        if (each == name) return value;
    throw std::out_of_range(name);
}

TEST(Window, EveryCycleHasAnOwnerWhenNothingCameBefore)
{
    const RunResult result = run(Before::Nothing);
    EXPECT_TRUE(every_cycle_has_an_owner(result, result.interrupt_cycles.back()));
    EXPECT_EQ(counter(unit(result, "bdma"), "lines"), 20u);
}

TEST(Window, WhatWasDoneBeforeDoesNotCount)
{
    const RunResult result = run(Before::Done);
    EXPECT_TRUE(every_cycle_has_an_owner(result, result.done.back().cycle));
    EXPECT_EQ(counter(unit(result, "bdma"), "lines"), 20u);
    EXPECT_EQ(counter(unit(result, "mcif"), "read_beats"), result.dbb.read_beats);
    EXPECT_EQ(counter(unit(result, "cvif"), "write_beats"), result.cvsram.write_beats);
    EXPECT_EQ(result.dbb.read_beats, 40u);
}

TEST(Window, AUnitThatIsBusyAtTheMarkIsNotGated)
{
    const RunResult result = run(Before::Busy);
    EXPECT_TRUE(every_cycle_has_an_owner(result, result.done.back().cycle));
    const UnitReport& bdma = unit(result, "bdma");
    EXPECT_GT(result.cycles, 1000u);
    EXPECT_LT(bdma.phases.cycles(Phase::Gated), 16u);
    EXPECT_GT(counter(bdma, "lines"), 20u);
    EXPECT_LT(counter(bdma, "lines"), 320u);
}

TEST(Window, SteppingSeesTheSameWindow)
{
    for (const Before before : {Before::Nothing, Before::Done, Before::Busy}) {
        const auto text = [&](bool stepping) {
            return run_apart("window", [&](int pipe) { return put(pipe, figures(run(before, stepping))) ? 0 : 1; });
        };
        const std::string skipping = text(false);
        EXPECT_FALSE(skipping.empty());
        EXPECT_EQ(skipping, text(true));
    }
}

TEST(Window, TheTimeOfTheHostIsNoneOfTheSimulation)
{
    using namespace std::chrono;
    constexpr auto kHost = milliseconds(400);
    Program with = program(Before::Done);
    with.insert(with.begin(), HostStep{0});
    Machine machine(full(), {}, {});
    machine.on_host = [&](std::size_t) {
        for (const auto end = steady_clock::now() + kHost; steady_clock::now() < end;) {
        }
    };
    const RunResult result = machine.run(with);
    EXPECT_GT(result.wall_seconds, 0);
    EXPECT_LT(result.wall_seconds, duration<double>(kHost).count() / 2);
    EXPECT_LT(result.cpu_seconds, duration<double>(kHost).count() / 2);
}

/// Waits for an interrupt that nobody raises.
RunResult hang(bool stepping, const MemorySpec& memory)
{
    SimulateOptions options;
    options.stepping = stepping;
    Machine machine(full(), memory, options);
    Writer p;
    p.poll("CDMA.S_CBUF_FLUSH_STATUS", 1, 1);
    p.program.push_back(MarkT0{});
    p.program.push_back(WaitStatus{kFirstDone});
    return machine.run(p.program);
}

TEST(Hang, IsDiagnosedLeapingAndStepping)
{
    MemorySpec dram;
    dram.kind = "ddr4-3200";
    for (const MemorySpec& memory : {MemorySpec{}, dram}) {
        const auto text = [&](bool stepping) {
            return run_apart("hang", [&](int pipe) {
                const RunResult result = hang(stepping, memory);
                return result.hung && put(pipe, result.diagnosis) ? 0 : 1;
            });
        };
        const auto units = [](const std::string& diagnosis) { return diagnosis.substr(std::min(diagnosis.find('\n'), diagnosis.size())); };
        const std::string skipping = text(false), stepping = text(true);
        EXPECT_THAT(skipping, testing::HasSubstr("software waits for interrupt status bits"));
        EXPECT_THAT(stepping, testing::HasSubstr("software waits for interrupt status bits"));
        EXPECT_EQ(units(skipping), units(stepping));
    }
}

// The machine looks at the outside world every 65,536 cycles. A run that ends just before such a look goes on behind it, for the cycles
// that belong to the recording.
TEST(Window, ARunMayEndAtAnyCycle)
{
    unsigned across = 0;
    for (unsigned writes = 28'700; writes < 29'300; writes += 20) {
        const std::string end = run_apart("end", [&](int pipe) {
            Writer p;
            for (unsigned i = 0; i < writes; ++i) p.write("BDMA.CFG_SRC_LINE", 128);
            p.copy(2, 0);
            p.program.push_back(MarkT0{});
            p.program.push_back(WaitStatus{kFirstDone});
            Machine machine(full(), {}, {});
            const RunResult result = machine.run(p.program);
            return !result.hung && put(pipe, std::to_string(result.end)) ? 0 : 1;
        });
        ASSERT_FALSE(end.empty()) << writes;
        across += std::stoull(end) >= 65'536 && std::stoull(end) < 65'536 + 64;
    }
    EXPECT_GT(across, 0u);
}

TEST(Window, ADramCountsFromTheMarkToo)
{
    MemorySpec memory;
    memory.kind = "ddr4-3200";
    memory.options["base"] = "0x80000000";
    memory.options["wrap"] = "true";
    const RunResult result = run(Before::Done, false, memory);
    EXPECT_FALSE(result.hung) << result.diagnosis;
    const auto json = nlohmann::json::parse(result.dbb_memory.json);
    EXPECT_EQ(json["bytes_read"], result.dbb.read_beats * full().memory.primary.width_bytes) << json.dump(1).substr(0, 2000);
}

// The driver loop of the lowering: level, not edge. Two launches end before software looks; one clearing write would do for both.
TEST(DriverLoop, InterruptsThatMeetAreBothSeen)
{
    Writer p;
    p.copy(2, 0);
    p.copy(2, 1);
    p.program.push_back(MarkT0{});
    p.poll("GLB.S_INTR_STATUS", kFirstDone | kSecondDone, kFirstDone | kSecondDone);
    p.program.push_back(WaitStatus{kFirstDone});
    p.program.push_back(WaitStatus{kSecondDone});
    Machine machine(full(), {}, {});
    const RunResult result = machine.run(p.program);
    EXPECT_FALSE(result.hung) << result.diagnosis;
    EXPECT_EQ(result.interrupt_cycles.size(), 1u);  // the pin has one edge
    EXPECT_EQ(result.done.size(), 2u);
    EXPECT_EQ(static_cast<std::int64_t>(result.cycles), result.done.back().cycle);
    EXPECT_TRUE(every_cycle_has_an_owner(result, result.done.back().cycle));
}

TEST(DriverLoop, AnInterruptThatComesBetweenReadAndClearIsSeen)
{
    // the second launch ends at any cycle around the first one's service
    for (std::uint32_t lines = 1; lines < 30; ++lines) {
        const std::string ended = run_apart("driver", [&](int pipe) {
            Writer p;
            p.copy(6, 0);
            p.copy(lines, 1);
            p.program.push_back(MarkT0{});
            p.program.push_back(WaitStatus{kFirstDone});
            p.program.push_back(WaitStatus{kSecondDone});
            Machine machine(full(), {}, {});
            const RunResult result = machine.run(p.program);
            return !result.hung && result.done.size() == 2 && put(pipe, "ended") ? 0 : 1;
        });
        EXPECT_EQ(ended, "ended") << lines;
    }
}

// A recording writes all ones and waits for an edge, as it was recorded; the diagnosis says why none comes.
TEST(DriverLoop, ARecordingThatClearsTwoAtOnceIsDiagnosed)
{
    Writer p;
    p.copy(2, 0);
    p.copy(2, 1);
    p.program.push_back(MarkT0{});
    p.poll("GLB.S_INTR_STATUS", kFirstDone | kSecondDone, kFirstDone | kSecondDone);
    p.program.push_back(WaitInterrupt{"BDMA_0"});
    p.program.push_back(WaitInterrupt{"BDMA_1"});
    Machine machine(full(), {}, {});
    const RunResult result = machine.run(p.program);
    EXPECT_TRUE(result.hung);
    EXPECT_THAT(result.diagnosis, testing::HasSubstr("one write cleared 0xc0 at once"));
}

}  // namespace window_machine_test
}  // namespace dlasim
