// Platforms that mean no good: memories that break the base protocol, software that writes anything, parts that go in any order. What is
// legal works, what is not is told; nothing crashes. One process a test: SystemC's kernel is a singleton.
#include <gmock/gmock.h>

#include <random>

#include "platform.h"

using namespace sc_core;

namespace dlasim::test {
namespace foreign_test {

sc_time ns(double n) { return {n, SC_NS}; }  // not a constant: tests choose the resolution of time

MeasuredCase measured(const std::string& name) { return read_measured_case(DLASIM_TEST_DATA "/rtl/" + name + ".json", std::nullopt); }

AcceleratorOptions on(const MeasuredCase& run, std::vector<std::string>* told = nullptr)
{
    AcceleratorOptions options{.hardware = "nv_small"};
    options.hardware = run.hardware.name;
    if (told) options.on_error = [told](const MachineError& error) { told->emplace_back(error.what()); };
    return options;
}

/// Cycle 0 is now.
void reset(Board& board, const MeasuredCase& run)
{
    board.reset_n.write(false);
    wait(sc_time(20, SC_US));
    board.fill(run.recording);
    board.journal.lines.clear();
    board.reset_n.write(true);
    board.journal.zero = sc_time_stamp();
    wait(SC_ZERO_TIME);
}

/// Software that writes anything to its registers, and launches.
class Software : public testing::TestWithParam<std::string> {};

TEST_P(Software, MayWriteAnything)
{
    const MeasuredCase run = measured(GetParam());
    std::vector<std::string> told;
    Board fresh("fresh", on(run), false), again("again", on(run, &told));
    fresh.fill(run.recording);
    bool over = false;
    sc_spawn([&] { fresh.play(run.recording.program); });
    sc_spawn([&] {
        std::mt19937_64 random{1};
        for (unsigned i = 0; i < 40; ++i) {
            Program program = run.recording.program;
            for (ProgramEntry& entry : program) {
                auto* write = std::get_if<RegisterWrite>(&entry);
                if (!write || write->name.find("OP_ENABLE") != std::string::npos || random() % 12 != 0) continue;
                const auto any = static_cast<std::uint32_t>(random());
                const std::uint32_t values[] = {any, write->value ^ 1u << any % 32, any % 2 ? 0 : ~0u, any % 64};
                write->value = values[random() % 4];
            }
            sc_process_handle software = sc_spawn([&] { again.play(program); });
            wait(sc_time(15, SC_US));
            software.kill();
            EXPECT_FALSE(again.dla.diagnosis().empty());
            reset(again, run);
        }
        again.play(run.recording.program);
        over = true;
        wait(sc_time(100, SC_US));  // recordings may end while DMAs run
        sc_stop();
    });
    sc_start(sc_time(1, SC_SEC));
    EXPECT_TRUE(over);
    EXPECT_EQ(again.dla.failure(), "");
    EXPECT_EQ(again.journal.lines, fresh.journal.lines);
}

INSTANTIATE_TEST_SUITE_P(Foreign, Software,
                         testing::Values("nv_small/dc_int8_c3x3_8", "nv_small/mix_9100_15", "nv_small/pdp_seq2", "nv_full/cvsram_i1_ops"),
                         [](const auto& info) { return info.param.substr(info.param.find('/') + 1); });

// ---- memories

/// A memory that answers as a test likes.
struct ScriptedMemory : sc_module {
    using Answer = std::function<tlm::tlm_sync_enum(Payload&, tlm::tlm_phase&, sc_time&)>;
    tlm_utils::simple_target_socket<ScriptedMemory, 512> socket{"socket"};
    Answer answer;
    explicit ScriptedMemory(sc_module_name name) : sc_module(name)
    {
        socket.register_nb_transport_fw(this, &ScriptedMemory::forward);
        socket.register_transport_dbg(this, &ScriptedMemory::debug);
    }
    std::function<void()> on_debug;
    unsigned debug(Payload&)
    {
        if (on_debug) on_debug();
        return 0;
    }
    tlm::tlm_sync_enum forward(Payload& burst, tlm::tlm_phase& phase, sc_time& delay)
    {
        if (phase == tlm::BEGIN_REQ && burst.is_read()) std::memset(burst.get_data_ptr(), 0, burst.get_data_length());
        return answer(burst, phase, delay);
    }
    tlm::tlm_sync_enum back(Payload& burst, tlm::tlm_phase phase, sc_time delay = SC_ZERO_TIME)
    {
        return socket->nb_transport_bw(burst, phase, delay);
    }
};

/// Runs a layer against a scripted memory, resets it and runs it again; what was told in the first run.
std::vector<std::string> failures_of(const std::function<ScriptedMemory::Answer(ScriptedMemory&)>& script)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    std::vector<std::string> told;
    Board board("board", on(run, &told), true, false);
    ScriptedMemory memory("memory");
    board.dla.dbb.bind(memory.socket);
    const auto good = [](Payload& burst, tlm::tlm_phase& phase, sc_time& delay) {
        if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
        delay += ns(20);
        burst.set_response_status(tlm::TLM_OK_RESPONSE);
        return tlm::TLM_COMPLETED;
    };
    memory.answer = script(memory);
    bool over = false;
    sc_spawn([&] {
        sc_process_handle software = sc_spawn([&] { board.play(run.recording.program); });
        wait(sc_time(50, SC_US));
        software.kill();
        memory.answer = good;
        board.reset_n.write(false);
        wait(ns(1));
        board.reset_n.write(true);
        wait(ns(1));
        board.play(run.recording.program);
        over = true;
    });
    sc_start(sc_time(1, SC_MS));
    EXPECT_TRUE(over) << board.dla.diagnosis();
    EXPECT_EQ(board.dla.failure(), "");
    return told;
}

using Phase = tlm::tlm_phase;

TEST(Memories, ThatAnswerFromInsideTheCallAndCompleteToo)
{
    const auto told = failures_of([](ScriptedMemory& memory) {
        return [&memory](Payload& burst, Phase& phase, sc_time&) {
            if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
            burst.set_response_status(tlm::TLM_OK_RESPONSE);
            memory.back(burst, tlm::BEGIN_RESP);
            return tlm::TLM_COMPLETED;
        };
    });
    EXPECT_THAT(told, testing::ElementsAre(testing::HasSubstr("does not expect it")));
}

TEST(Memories, ThatAnswerFromInsideTheCallAndAgainWithIt)
{
    const auto told = failures_of([](ScriptedMemory& memory) {
        return [&memory](Payload& burst, Phase& phase, sc_time&) {
            if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
            burst.set_response_status(tlm::TLM_OK_RESPONSE);
            memory.back(burst, tlm::BEGIN_RESP);
            phase = tlm::BEGIN_RESP;
            return tlm::TLM_UPDATED;
        };
    });
    EXPECT_THAT(told, testing::ElementsAre(testing::HasSubstr("does not expect it")));
}

TEST(Memories, ThatUpdateToNoAnswer)
{
    const auto told = failures_of([](ScriptedMemory&) {
        return [](Payload&, Phase& phase, sc_time&) {
            if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
            phase = tlm::END_RESP;
            return tlm::TLM_UPDATED;
        };
    });
    EXPECT_THAT(told, testing::ElementsAre(testing::HasSubstr("does not expect it")));
}

TEST(Memories, ThatSendWhatTheInitiatorSends)
{
    const auto told = failures_of([](ScriptedMemory& memory) {
        return [&memory](Payload& burst, Phase& phase, sc_time&) {
            if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
            memory.back(burst, tlm::END_RESP);
            phase = tlm::END_REQ;
            return tlm::TLM_UPDATED;
        };
    });
    EXPECT_THAT(told, testing::ElementsAre(testing::HasSubstr("does not expect it")));
}

constexpr const char* kNameless = "MCIF: something that is no std::exception was thrown";

/// A memory that throws at its requests, or at ends of responses.
template <class Thrown>
std::vector<std::string> failures_of_throwing(Phase at, Thrown thrown)
{
    return failures_of([&](ScriptedMemory& memory) {
        return [&memory, at, thrown](Payload& burst, Phase& phase, sc_time&) {
            if (phase == at) throw thrown;
            burst.set_response_status(tlm::TLM_OK_RESPONSE);
            memory.back(burst, tlm::BEGIN_RESP);
            return tlm::TLM_ACCEPTED;
        };
    });
}

TEST(Memories, ThatThrowAtARequestAreAskedAgainAfterAReset)
{
    EXPECT_THAT(failures_of_throwing(tlm::BEGIN_REQ, std::runtime_error("not today")), testing::ElementsAre("MCIF: not today"));
}

TEST(Memories, ThatThrowAtAnEndOfResponse)
{
    EXPECT_THAT(failures_of_throwing(tlm::END_RESP, std::runtime_error("not today")), testing::ElementsAre("MCIF: not today"));
}

TEST(Memories, ThatThrowAnythingAtARequest) { EXPECT_THAT(failures_of_throwing(tlm::BEGIN_REQ, 42), testing::ElementsAre(kNameless)); }

TEST(Memories, ThatThrowAnythingAtAnEndOfResponse)
{
    EXPECT_THAT(failures_of_throwing(tlm::END_RESP, "not today"), testing::ElementsAre(kNameless));
}

TEST(Memories, ThatThrowAnythingWhenTheyAreAskedForTheirPace)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    std::vector<std::string> told;
    Board board("board", on(run, &told), true, false);
    ScriptedMemory memory("memory");
    board.dla.dbb.bind(memory.socket);
    memory.on_debug = [] { throw 42; };
    sc_start(sc_time(1, SC_US));
    EXPECT_THAT(told, testing::ElementsAre(kNameless));
}

/// Twice to a burst from before a reset: the count of its references is not touched.
TEST(Memories, ThatAnswerTwiceWhatWasDropped)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    std::vector<std::string> told;
    Board board("board", on(run, &told), true, false);
    ScriptedMemory memory("memory");
    board.dla.dbb.bind(memory.socket);
    std::vector<Payload*> kept;
    memory.answer = [&](Payload& burst, Phase& phase, sc_time&) {
        if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
        burst.acquire();
        kept.push_back(&burst);
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    };
    sc_spawn([&] {
        sc_process_handle software = sc_spawn([&] { board.play(run.recording.program); });
        while (kept.size() < 3) wait(ns(1));
        software.kill();
        board.reset_n.write(false);
        wait(ns(10));
        for (Payload* burst : kept) {
            EXPECT_EQ(burst->get_ref_count(), 2);
            EXPECT_EQ(memory.back(*burst, tlm::BEGIN_RESP), tlm::TLM_COMPLETED);
            EXPECT_EQ(burst->get_ref_count(), 1);
        }
        EXPECT_EQ(memory.back(*kept[0], tlm::BEGIN_RESP), tlm::TLM_ACCEPTED);
        EXPECT_EQ(kept[0]->get_ref_count(), 1);
        for (Payload* burst : kept) burst->release();
        board.reset_n.write(true);
        wait(ns(10));
        EXPECT_THAT(told, testing::ElementsAre(testing::HasSubstr("does not expect it")));
        sc_stop();
    });
    sc_start(sc_time(1, SC_MS));
}

/// Whoever ends a process has ended it: SystemC's way out of it is not ours to stop.
class Killers : public testing::TestWithParam<tlm::tlm_phase_enum> {};

TEST_P(Killers, MayCallUs)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    Board board("board", on(run)), other("other", on(run));
    for (Board* b : {&board, &other}) b->fill(run.recording);
    unsigned killed = 0;
    const auto kill = [&] {
        ++killed;
        sc_get_current_process_handle().kill();
    };
    if (GetParam() == tlm::BEGIN_REQ) board.memory.on_begin = [&](Payload&) { kill(); };
    bool over = false;
    sc_spawn([&] { board.play(run.recording.program); });
    sc_spawn([&] {
        other.play(run.recording.program);
        over = true;
    });
    sc_spawn([&] {
        while (!board.memory.responding()) wait(ns(1));
        board.memory.on_end = kill;
        board.reset_n.write(false);
        wait(ns(1));
        board.memory.on_end = nullptr;
    });
    sc_start(sc_time(100, SC_US));
    EXPECT_EQ(killed, 1u);
    EXPECT_TRUE(over);
    EXPECT_EQ(board.dla.failure(), "");
}

INSTANTIATE_TEST_SUITE_P(Foreign, Killers, testing::Values(tlm::BEGIN_REQ, tlm::END_RESP));

TEST(Memories, ThatReportAtDebugAccessesEndTheirSimulation)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    Board board("board", on(run), true, false);
    ScriptedMemory memory("memory");
    board.dla.dbb.bind(memory.socket);
    memory.on_debug = [] { SC_REPORT_ERROR("/foreign/memory", "no debug access"); };
    try {
        sc_start(sc_time(1, SC_US));
        FAIL() << "sc_start returns";
    } catch (const sc_report& report) {
        EXPECT_STREQ(report.get_msg_type(), "/foreign/memory");
    }
}

/// Payloads belong to whoever holds them: a memory may let go later than the accelerator.
TEST(Memories, MayHoldBurstsWhenTheAcceleratorGoes)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    auto board = std::make_unique<Board>("board", on(run), true, false);
    ScriptedMemory memory("memory");
    board->dla.dbb.bind(memory.socket);
    std::vector<Payload*> kept;
    memory.answer = [&](Payload& burst, Phase& phase, sc_time&) {
        if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
        burst.acquire();
        kept.push_back(&burst);
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    };
    sc_spawn([&] { board->play(run.recording.program); });
    sc_start(sc_time(20, SC_US));
    sc_stop();
    board.reset();
    ASSERT_GT(kept.size(), 1u);
    for (Payload* burst : kept) {
        EXPECT_NE(burst->get_data_ptr(), nullptr);
        burst->get_data_ptr()[0] = 1;
        EXPECT_EQ(burst->get_ref_count(), 1);
        burst->release();
    }
}

// ---- the register bus

TLM_DECLARE_EXTENDED_PHASE(FOREIGN_PHASE);

TEST(Bus, IgnoresPhasesThatItDoesNotKnow)
{
    struct Manager final : tlm::tlm_mm_interface {
        void free(Payload*) override { ++freed; }
        int freed = 0;
    } manager;
    Board board("board", {});
    Payload payload;
    std::uint32_t value = 0;
    bool answered = false;
    board.on_backward = [&](Payload& p, tlm::tlm_phase& phase, sc_time&) {
        EXPECT_EQ(phase, tlm::BEGIN_RESP);
        answered = true;
        p.release();
        return tlm::TLM_COMPLETED;
    };
    sc_spawn([&] {
        payload.set_mm(&manager);
        payload.acquire();
        payload.set_read();
        payload.set_address(board.dla.address("GLB.S_NVDLA_HW_VERSION"));
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        sc_time delay;
        tlm::tlm_phase phase = FOREIGN_PHASE;
        EXPECT_EQ(board.bus->nb_transport_fw(payload, phase, delay), tlm::TLM_ACCEPTED);
        phase = tlm::BEGIN_REQ;
        EXPECT_EQ(board.bus->nb_transport_fw(payload, phase, delay), tlm::TLM_ACCEPTED);
        phase = FOREIGN_PHASE;
        EXPECT_EQ(board.bus->nb_transport_fw(payload, phase, delay), tlm::TLM_ACCEPTED);
        EXPECT_EQ(phase, FOREIGN_PHASE);
    });
    sc_start(sc_time(1, SC_US));
    EXPECT_TRUE(answered);
    EXPECT_NE(value, 0u);
    EXPECT_EQ(manager.freed, 1);
}

TEST(Bus, ServesOthersWhileACallerIsSuspended)
{
    Board board("board", {});
    const std::uint64_t mask = board.dla.address("GLB.S_INTR_MASK");
    std::uint32_t first = 0;
    unsigned right = 0;
    sc_spawn([&] {
        board.write(mask, 0x15);
        sc_process_handle halted = sc_spawn([&] { board.read(mask, first); });
        wait(sc_time(2, SC_NS));
        halted.suspend();
        for (int i = 0; i < 5; ++i) {
            std::uint32_t value = 0;
            EXPECT_EQ(board.read(mask, value), tlm::TLM_OK_RESPONSE);
            right += value == 0x15;
        }
        EXPECT_EQ(first, 0u);
        halted.resume();
        wait(sc_time(100, SC_NS));
        EXPECT_EQ(first, 0x15u);
    });
    sc_start(sc_time(10, SC_US));
    EXPECT_EQ(right, 5u);
    EXPECT_EQ(first, 0x15u);
}

TEST(Time, MayPassInSlices)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    Board fresh("fresh", on(run), false), late("late", on(run));
    late.reset_n.write(false);
    for (Board* board : {&fresh, &late}) board->fill(run.recording);
    unsigned over = 0;
    sc_spawn([&] {
        fresh.play(run.recording.program);
        ++over;
    });
    sc_spawn([&] {
        wait(sc_time(777.7, SC_NS));
        late.reset_n.write(true);
        late.journal.zero = sc_time(778, SC_NS);
        wait(late.journal.zero - sc_time_stamp());
        wait(SC_ZERO_TIME);
        late.play(run.recording.program);
        ++over;
    });
    for (unsigned i = 0; i < 20000 && over != 2; ++i) sc_start(sc_time::from_value(1 + i * 37 % 1500));
    EXPECT_EQ(over, 2u);
    EXPECT_EQ(late.journal.lines, fresh.journal.lines);
}

/// Software for which a failure is an interrupt.
TEST(Failures, MayWakeSoftwareFromTheirListener)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    AcceleratorOptions options = on(run);
    std::function<void()> told;
    unsigned times = 0;
    options.on_error = [&](const MachineError&) {
        ++times;
        told();
    };
    Board board("board", options);
    sc_event again;
    told = [&] {
        board.memory.status = tlm::TLM_OK_RESPONSE;
        again.notify();
    };
    board.fill(run.recording);
    board.memory.status = tlm::TLM_BURST_ERROR_RESPONSE;
    bool over = false;
    sc_spawn([&] {
        sc_process_handle software = sc_spawn([&] { board.play(run.recording.program); });
        wait(again);
        software.kill();
        reset(board, run);
        board.play(run.recording.program);
        over = true;
    });
    sc_start(sc_time(1, SC_MS));
    EXPECT_TRUE(over);
    EXPECT_EQ(times, 1u);
}

TEST(Memories, ThatAnswerBeforeTheirOwnEndOfRequest)
{
    failures_of([](ScriptedMemory& memory) {
        return [&memory](Payload& burst, Phase& phase, sc_time& delay) {
            if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
            memory.back(burst, tlm::END_REQ, delay + ns(100));
            burst.set_response_status(tlm::TLM_OK_RESPONSE);
            memory.back(burst, tlm::BEGIN_RESP);
            return tlm::TLM_ACCEPTED;
        };
    });
}

TEST(Memories, ThatAnswerAtOnceWhatTheyTakeLater)
{
    unsigned n = 0;
    failures_of([&n](ScriptedMemory& memory) {
        return [&memory, &n](Payload& burst, Phase& phase, sc_time& delay) {
            if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
            memory.back(burst, tlm::END_REQ, delay + ns(100));
            burst.set_response_status(tlm::TLM_OK_RESPONSE);
            if (++n % 2) {
                delay += ns(3);
                return tlm::TLM_COMPLETED;
            }
            phase = tlm::BEGIN_RESP;
            return tlm::TLM_UPDATED;
        };
    });
}

TEST(Parts, MayBeAskedAndGoBeforeElaboration)
{
    const MeasuredCase run = measured("nv_full/cvsram_i1_ops");
    {
        Accelerator gone("gone", on(run));
        EXPECT_FALSE(gone.diagnosis().empty());
        EXPECT_EQ(gone.failure(), "");
        sc_signal<bool> pin, interrupt;
        gone.reset_n(pin);
        gone.interrupt(interrupt);
    }
    AcceleratorOptions options = on(run);
    options.values = false;
    Board board("board", options);
    board.fill(run.recording);
    Board valued("valued", on(run));
    valued.fill(run.recording);
    sc_spawn([&] { board.play(run.recording.program); });
    sc_spawn([&] { valued.play(run.recording.program); });
    sc_start(sc_time(1, SC_MS));
    EXPECT_EQ(board.memory.begun, valued.memory.begun);
    EXPECT_EQ(board.journal.lines.size(), valued.journal.lines.size());
}

class Resolutions : public testing::TestWithParam<double> {};

TEST_P(Resolutions, OfTimeChangeNoCycle)
{
    sc_set_time_resolution(GetParam(), SC_FS);
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    AcceleratorOptions options = on(run);
    Board board("board", options, false);
    board.memory.latency = sc_time(40, SC_NS);
    board.memory.accept = sc_time(3, SC_NS);
    board.fill(run.recording);
    sc_time took;
    sc_spawn([&] {
        board.play(run.recording.program);
        took = sc_time_stamp();
    });
    sc_start(sc_time(1, SC_MS));
    EXPECT_EQ(took, ns(870));
}

INSTANTIATE_TEST_SUITE_P(Foreign, Resolutions, testing::Values(1, 1000, 100000, 1000000));

TEST(Settings, OfAnyKindAreTakenOrRefused)
{
    const char* words[] = {"",
                           "=",
                           "cbuf.banks",
                           "cbuf.banks=",
                           "cbuf.banks=abc",
                           "=3",
                           "cbuf.banks=1e9",
                           "cbuf.banks=-1",
                           "cbuf=3",
                           "cbuf.banks=[1]",
                           "mac.atomic_c=8\n",
                           "bdma=true",
                           "rubik=true",
                           "memory.has_secondary=true"};
    for (const char* word : words) {
        AcceleratorOptions options{.hardware = "nv_small"};
        options.settings = {word};
        try {
            Accelerator dla(sc_gen_unique_name("dla"), options);
        } catch (const ConfigError&) {
        }
    }
    for (const char* hardware : {"", "/", "/dev/null", "/dev/zero", "/nowhere", "nv_small\n", "/proc/self/mem", "/etc"}) {
        AcceleratorOptions options{.hardware = "nv_small"};
        options.hardware = hardware;
        EXPECT_THROW(Accelerator(sc_gen_unique_name("dla"), options), ConfigError) << hardware;
    }
    Accelerator dla("good", {});
    for (const char* name : {"", ".", "GLB", "GLB.", ".S_INTR_MASK", "GLB.NONE", "GLB.S_INTR_MASK.x"})
        EXPECT_THROW((void)dla.address(name), ConfigError) << name;
}

}  // namespace foreign_test
}  // namespace dlasim::test
