// The reset pin of the public accelerator: what runs after a reset takes the cycles, the commands and the register values that it takes
// after power-on, whatever the reset met; the base protocol holds meanwhile. One process a test: SystemC's kernel is a singleton.
#include <gmock/gmock.h>

#include <random>

#include "platform.h"
#include "registers/tables.h"

using namespace sc_core;

namespace dlasim::test {
namespace reset_test {

const sc_time kNanosecond(1, SC_NS);

MeasuredCase measured(const std::string& name) { return read_measured_case(DLASIM_TEST_DATA "/rtl/" + name + ".json", std::nullopt); }

void read_all(Board& board, const MeasuredCase& run)
{
    for (const UnitRegisters& unit : register_units(run.hardware))
        for (const RegisterRow& row : unit.rows) board.note_register(fmt::format("{}.{}", unit.name, row.name), unit.base + row.offset);
}

sc_time next_edge(const sc_time& period)
{
    const auto now = sc_time_stamp().value(), step = period.value();
    return sc_time::from_value((now + step - 1) / step * step);
}

struct Round {
    std::string name;
    Manner manner = Manner::Phases;
    unsigned resets = 6;
    sc_time latency{40, SC_NS};
    friend void PrintTo(const Round& round, std::ostream* out) { *out << round.name; }
};

class ResetRuns : public testing::TestWithParam<Round> {};

/// Runs a case on a fresh accelerator, and on one that is reset in the middle of it, again and again.
TEST_P(ResetRuns, TakeTheCyclesOfPowerOn)
{
    const MeasuredCase run = measured(GetParam().name);
    AcceleratorOptions options{.hardware = "nv_small"};
    options.hardware = run.hardware.name;
    Board fresh("fresh", options, false), again("again", options);
    for (Board* board : {&fresh, &again}) {
        board->fill(run.recording);
        for (BookMemory* memory : {&board->memory, &board->cvsram}) {
            memory->manner = GetParam().manner;
            memory->latency = GetParam().latency;
        }
    }
    sc_time took;
    sc_event read;
    unsigned busy = 0;
    bool over = false;
    sc_spawn([&] {
        fresh.play(run.recording.program);
        took = sc_time_stamp();
        read_all(fresh, run);
        read.notify();
    });
    sc_spawn([&] {
        wait(read);
        std::mt19937_64 random{7};
        for (unsigned i = 0; i <= GetParam().resets; ++i) {
            if (i != 0) {
                sc_process_handle software = sc_spawn([&] { again.play(run.recording.program); });
                // the last time while an interrupt is pending
                if (i == GetParam().resets) wait(again.interrupt.posedge_event());
                else wait(sc_time::from_value(random() % took.value()));
                software.kill();
            }
            busy += again.outstanding() != 0;
            again.reset_n.write(false);
            for (int delta = 0; delta < 3; ++delta) wait(SC_ZERO_TIME);
            EXPECT_FALSE(again.interrupt.read());
            const std::size_t begun = again.memory.begun + again.cvsram.begun;
            wait(sc_time::from_value(1 + random() % 20000));
            wait(GetParam().latency * 100);  // what was on its way is answered
            EXPECT_EQ(again.memory.begun + again.cvsram.begun, begun) << "a burst begins under reset";
            EXPECT_EQ(again.outstanding(), 0u) << "bursts without an end";
            again.fill(run.recording);
            again.journal.lines.clear();
            again.reset_n.write(true);
            again.journal.zero = next_edge(again.period());
            wait(again.journal.zero - sc_time_stamp());
            wait(SC_ZERO_TIME);
        }
        again.play(run.recording.program);
        read_all(again, run);
        over = true;
        sc_stop();
    });
    sc_start(sc_time(20, SC_MS));
    ASSERT_TRUE(over) << again.dla.diagnosis();
    EXPECT_EQ(busy != 0, GetParam().manner != Manner::Completed) << "no reset met a burst";
    EXPECT_EQ(again.dla.failure(), "");
    EXPECT_GT(fresh.memory.begun, 0u);
    EXPECT_EQ(again.bytes, fresh.bytes);
    EXPECT_EQ(again.journal.lines, fresh.journal.lines);
}

INSTANTIATE_TEST_SUITE_P(Reset, ResetRuns,
                         testing::Values(Round{"nv_small/dc_int8_c3x3_8"}, Round{"nv_small/mix_9100_15"},
                                         Round{"nv_small/pdp_seq2", Manner::LateEndReq}, Round{"nv_full/cvsram_i1_ops"},
                                         Round{"nv_small/dc_int8_odd", Manner::NoEndReq}, Round{"nv_small/dc_int8_odd", Manner::Completed},
                                         Round{"nv_small/dc_int8_odd", Manner::RespAtOnce},
                                         Round{"nv_small/dc_int8_odd", Manner::Annotated},
                                         Round{"nv_small/dc_int8_odd", Manner::Phases, 30, sc_time(300, SC_NS)}),
                         [](const testing::TestParamInfo<Round>& info) {
                             return fmt::format("{}_{}_{}", info.param.name.substr(info.param.name.find('/') + 1),
                                                name_of(info.param.manner), info.index);
                         });

class ResetAndMemory : public testing::TestWithParam<Manner> {};

/// Released while the memory owes answers: they come into the next run, which computes what it would without.
TEST_P(ResetAndMemory, MayOweAnswersWhenResetEnds)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    AcceleratorOptions options{.hardware = "nv_small"};
    options.hardware = run.hardware.name;
    Board fresh("fresh", options, false), again("again", options);
    for (Board* board : {&fresh, &again}) {
        board->fill(run.recording);
        board->memory.latency = sc_time(1, SC_US);
        board->memory.accept = sc_time(250, SC_NS);
        board->memory.manner = GetParam();
    }
    sc_time took;
    sc_event done;
    unsigned owed = 0;
    bool over = false;
    sc_spawn([&] {
        fresh.play(run.recording.program);
        took = sc_time_stamp();
        done.notify();
    });
    sc_spawn([&] {
        wait(done);
        std::mt19937_64 random{3};
        for (unsigned i = 0; i < 12; ++i) {
            sc_process_handle software = sc_spawn([&] { again.play(run.recording.program); });
            wait(sc_time::from_value(random() % took.value()));
            software.kill();
            again.reset_n.write(false);
            wait(sc_time::from_value(1 + random() % 3000));
            owed += again.outstanding() != 0;
            again.fill(run.recording);
            again.reset_n.write(true);
            wait(kNanosecond);
        }
        again.play(run.recording.program);
        over = true;
        wait(sc_time(20, SC_US));
        sc_stop();
    });
    sc_start(sc_time(20, SC_MS));
    ASSERT_TRUE(over) << again.dla.diagnosis();
    EXPECT_GT(owed, 0u);
    EXPECT_EQ(again.outstanding(), 0u);
    EXPECT_EQ(again.memory.begun, again.memory.ended);
    for (const auto& [address, byte] : fresh.bytes) ASSERT_EQ(again.bytes[address], byte) << address;
}

INSTANTIATE_TEST_SUITE_P(Reset, ResetAndMemory,
                         testing::Values(Manner::Phases, Manner::LateEndReq, Manner::NoEndReq, Manner::RespAtOnce, Manner::Annotated,
                                         Manner::Shuffled),
                         [](const testing::TestParamInfo<Manner>& info) { return name_of(info.param); });

TEST(Reset, TheBusAnswersWithAnErrorAndCallersComeBack)
{
    Board board("board", {});
    const std::uint64_t mask = board.dla.address("GLB.S_INTR_MASK");
    unsigned back = 0;
    sc_spawn([&] {
        wait(sc_time(100.3, SC_NS));
        EXPECT_EQ(board.write(mask, 0x55), tlm::TLM_OK_RESPONSE);
        for (unsigned i = 0; i < 3; ++i)
            sc_spawn([&, i] {  // in the middle of a read, the last one ahead of time
                std::uint32_t value = 0;
                sc_time delay(i == 2 ? 50 : 0, SC_NS);
                const sc_time called = sc_time_stamp() + delay;
                EXPECT_EQ(board.access(tlm::TLM_READ_COMMAND, mask, value, delay), tlm::TLM_GENERIC_ERROR_RESPONSE);
                EXPECT_LE(sc_time_stamp(), sc_time(120, SC_NS));
                EXPECT_GE(sc_time_stamp() + delay, called);
                ++back;
            });
        wait(sc_time(4, SC_NS));
        board.reset_n.write(false);
        wait(SC_ZERO_TIME);
        std::uint32_t value = 0;
        sc_time delay(7, SC_NS);
        for (const auto command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
            EXPECT_EQ(board.access(command, mask, value, delay), tlm::TLM_GENERIC_ERROR_RESPONSE);
            EXPECT_EQ(delay, sc_time(7, SC_NS));
        }
        wait(sc_time(20.5, SC_NS));
        EXPECT_EQ(back, 3u);
        board.reset_n.write(true);
        wait(SC_ZERO_TIME);  // between two edges, before anybody else may have seen the pin
        EXPECT_EQ(board.read(mask, value), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(value, 0u);
        EXPECT_EQ(board.write(mask, 0x2a), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(board.read(mask, value), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(value, 0x2au);
        // a pulse without time
        board.reset_n.write(false);
        wait(SC_ZERO_TIME);
        board.reset_n.write(true);
        wait(SC_ZERO_TIME);
        EXPECT_EQ(board.read(mask, value), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(value, 0u);
        ++back;
    });
    sc_start(sc_time(2, SC_US));
    EXPECT_EQ(back, 4u);
}

TEST(Reset, NonBlockingCallersAreAnsweredToo)
{
    struct Manager final : tlm::tlm_mm_interface {
        void free(Payload*) override { ++freed; }
        int freed = 0;
    } manager;
    Board board("board", {});
    std::array<Payload, 3> payloads;  // before the reset, under it, behind it
    std::array<std::uint32_t, 3> values{};
    std::array<tlm::tlm_response_status, 3> status{};
    board.on_backward = [&](Payload& payload, tlm::tlm_phase&, sc_time&) {
        status[static_cast<std::size_t>(&payload - payloads.data())] = payload.get_response_status();
        payload.release();
        return tlm::TLM_COMPLETED;
    };
    sc_spawn([&] {
        wait(sc_time(10, SC_NS));
        for (std::size_t i = 0; i < 3; ++i) {
            Payload& payload = payloads[i];
            payload.set_mm(&manager);
            payload.acquire();
            payload.set_read();
            payload.set_address(board.dla.address("GLB.S_NVDLA_HW_VERSION"));
            payload.set_data_ptr(reinterpret_cast<unsigned char*>(&values[i]));
            payload.set_data_length(4);
            payload.set_streaming_width(4);
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_time delay;
            board.bus->nb_transport_fw(payload, phase, delay);
            wait(sc_time(2, SC_NS));
            board.reset_n.write(i != 0);
            wait(sc_time(50, SC_NS));
        }
    });
    sc_start(sc_time(1, SC_US));
    EXPECT_EQ(manager.freed, 3);
    EXPECT_THAT(status, testing::ElementsAre(tlm::TLM_GENERIC_ERROR_RESPONSE, tlm::TLM_GENERIC_ERROR_RESPONSE, tlm::TLM_OK_RESPONSE));
    EXPECT_EQ(values[0], 0u);
    EXPECT_NE(values[2], 0u);
}

/// Edges of the pin without time between them, in the cycle in which the machine would begin.
TEST(Reset, MayBounce)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    AcceleratorOptions options{.hardware = "nv_small"};
    options.hardware = run.hardware.name;
    Board fresh("fresh", options, false), again("again", options);
    for (Board* board : {&fresh, &again}) board->fill(run.recording);
    unsigned done = 0;
    sc_spawn([&] {
        fresh.play(run.recording.program);
        ++done;
    });
    sc_spawn([&] {
        wait(sc_time(500, SC_NS));
        for (const unsigned edges : {3, 5, 4}) {
            for (unsigned i = 0; i < edges; ++i) {
                again.reset_n.write(i % 2 != 0);
                wait(SC_ZERO_TIME);
            }
            again.reset_n.write(false);
            wait(sc_time(300, SC_NS));
        }
        again.journal.lines.clear();
        again.reset_n.write(true);
        again.journal.zero = sc_time_stamp();
        wait(SC_ZERO_TIME);
        again.play(run.recording.program);
        ++done;
    });
    sc_start(sc_time(1, SC_MS));
    EXPECT_EQ(done, 2u);
    EXPECT_EQ(again.dla.failure(), "");
    EXPECT_EQ(again.journal.lines, fresh.journal.lines);
}

/// The pin falls again in the moment in which the machine would begin: nobody is evaluated under reset, so a failure waits for its end.
TEST(Reset, MayFallInTheMomentOfItsEnd)
{
    AcceleratorOptions options{.hardware = "nv_small"};
    unsigned told = 0;
    options.on_error = [&](const MachineError&) { ++told; };
    Board board("board", options);
    Payload somebody_elses;
    sc_spawn([&] {
        wait(sc_time(500, SC_NS));
        for (const bool level : {false, true, false}) {
            board.reset_n.write(level);
            wait(SC_ZERO_TIME);
        }
        wait(sc_time(10, SC_NS));
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_time delay;
        board.memory.socket->nb_transport_bw(somebody_elses, phase, delay);
        wait(sc_time(100, SC_NS));
        EXPECT_EQ(told, 0u);
        board.reset_n.write(true);
        wait(sc_time(2, SC_NS));
        EXPECT_EQ(told, 1u);
    });
    sc_start(sc_time(1, SC_US));
    EXPECT_EQ(told, 1u);
}

/// Pulses of any length around the edges of the clock, register accesses and other accelerators beside them.
TEST(Reset, MayBounceAroundEdges)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    AcceleratorOptions options{.hardware = "nv_small"};
    options.hardware = run.hardware.name;
    Board fresh("fresh", options, false), again("again", options);
    AcceleratorOptions slow = options;
    slow.clock_period = sc_time(2.3, SC_NS);
    Board beside("beside", slow);
    beside.memory.latency = slow.clock_period * 40;
    for (Board* board : {&fresh, &again, &beside}) board->fill(run.recording);
    unsigned done = 0;
    for (Board* board : {&fresh, &beside})
        sc_spawn([&, board] {
            board->play(run.recording.program);
            ++done;
        });
    sc_spawn([&] {
        std::mt19937_64 random{5};
        const std::uint32_t mask = again.dla.address("GLB.S_INTR_MASK");
        for (unsigned i = 0; i < 40; ++i) {
            sc_process_handle software = sc_spawn([&] { again.play(run.recording.program); });
            wait(sc_time::from_value(random() % 4000 * 1000));
            software.kill();
            for (unsigned edges = 1 + random() % 6; edges != 0; --edges) {
                again.reset_n.write(edges % 2 == 0);
                sc_spawn([&] {
                    std::uint32_t value = 0;
                    sc_time delay;
                    again.access(tlm::TLM_READ_COMMAND, mask, value, delay);
                });
                constexpr std::uint64_t kSteps[] = {0, 0, 1, 999, 1000, 1001};
                wait(sc_time::from_value(kSteps[random() % 6]));
            }
            wait(sc_time(3, SC_US));
            EXPECT_EQ(again.outstanding(), 0u);
            again.fill(run.recording);
            again.journal.lines.clear();
            again.reset_n.write(true);
            again.journal.zero = next_edge(again.period());
            wait(again.journal.zero - sc_time_stamp());
            wait(SC_ZERO_TIME);
        }
        again.play(run.recording.program);
        ++done;
    });
    sc_start(sc_time(2, SC_MS));
    EXPECT_EQ(done, 3u);
    EXPECT_EQ(again.dla.failure(), "");
    EXPECT_EQ(again.journal.lines, fresh.journal.lines);
    const auto cycles = [](const Board& board) {
        std::vector<std::string> lines;
        for (const std::string& line : board.journal.lines)
            lines.push_back(std::to_string(std::stoull(line) / board.period().value()) +
                            line.substr(line.find(' ', line.find_first_not_of(' '))));
        return lines;
    };
    EXPECT_EQ(cycles(beside), cycles(fresh));
}

TEST(Reset, MayLastFromTheBeginning)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    AcceleratorOptions options{.hardware = "nv_small"};
    options.hardware = run.hardware.name;
    options.clock_period = sc_time(1.7, SC_NS);
    Board fresh("fresh", options, false), late("late", options);
    late.reset_n.write(false);
    unsigned done = 0;
    for (Board* board : {&fresh, &late}) {
        board->fill(run.recording);
        board->memory.latency = board->period() * 32;
        sc_spawn([&, board] {
            if (board == &late) {
                wait(sc_time(12345.6, SC_NS));
                EXPECT_EQ(late.journal.lines.size(), 0u);
                late.reset_n.write(true);
                late.journal.zero = next_edge(late.period());
                wait(late.journal.zero - sc_time_stamp());
                wait(SC_ZERO_TIME);
            }
            board->play(run.recording.program);
            ++done;
        });
    }
    sc_start(sc_time(1, SC_MS));
    EXPECT_EQ(done, 2u);
    EXPECT_GT(fresh.journal.lines.size(), 10u);
    EXPECT_EQ(late.journal.lines, fresh.journal.lines);
}

/// A chip whose reset input is a port of its own.
struct Chip : sc_module {
    sc_in<bool> reset_n{"reset_n"};
    Board board{"board", {}, false};
    explicit Chip(sc_module_name name) : sc_module(name) { board.dla.reset_n(reset_n); }
};

TEST(Reset, MayComeThroughThePortOfAModuleAround)
{
    Chip chip("chip");
    sc_signal<bool> pin("pin", true);
    chip.reset_n(pin);
    const std::uint64_t mask = chip.board.dla.address("GLB.S_INTR_MASK");
    std::uint32_t before = 0, after = 0;
    sc_spawn([&] {
        chip.board.write(mask, 0x15);
        chip.board.read(mask, before);
        pin.write(false);
        wait(sc_time(10, SC_NS));
        EXPECT_EQ(chip.board.read(mask, after), tlm::TLM_GENERIC_ERROR_RESPONSE);
        pin.write(true);
        wait(sc_time(10, SC_NS));
        EXPECT_EQ(chip.board.read(mask, after), tlm::TLM_OK_RESPONSE);
    });
    sc_start(sc_time(1, SC_US));
    EXPECT_EQ(before, 0x15u);
    EXPECT_EQ(after, 0u);
}

/// Told once everybody has got what the protocol owes him.
void carried_out_where_a_memory(const std::function<void()>& throws_up, const char* what)
{
    const MeasuredCase run = measured("nv_full/cvsram_i1_ops");
    AcceleratorOptions options{.hardware = "nv_small"};
    options.hardware = run.hardware.name;
    Board fresh("fresh", options, false);
    std::vector<std::string> told;
    options.on_error = [&](const MachineError& error) { told.emplace_back(error.what()); };
    Board again("again", options);
    for (Board* board : {&fresh, &again}) {
        board->fill(run.recording);
        board->memory.manner = board->cvsram.manner = Manner::Annotated;
    }
    bool throws = false;
    again.memory.on_end = [&] {
        if (throws) throws_up();
    };
    bool over = false;
    sc_spawn([&] { fresh.play(run.recording.program); });
    sc_spawn([&] {
        sc_process_handle software = sc_spawn([&] { again.play(run.recording.program); });
        while (!again.memory.responding() || !again.cvsram.responding()) wait(kNanosecond);
        software.kill();
        throws = true;
        again.reset_n.write(false);
        wait(sc_time(20, SC_US));
        throws = false;
        EXPECT_EQ(again.outstanding(), 0u);
        EXPECT_THAT(told, testing::ElementsAre(what));
        again.reset_n.write(true);
        wait(kNanosecond);
        EXPECT_EQ(again.write(again.dla.address("GLB.S_INTR_MASK"), 0), tlm::TLM_GENERIC_ERROR_RESPONSE);
        again.reset_n.write(false);
        wait(sc_time(20, SC_NS));
        EXPECT_EQ(again.dla.failure(), "");
        again.fill(run.recording);
        again.journal.lines.clear();
        again.reset_n.write(true);
        again.journal.zero = next_edge(again.period());
        wait(again.journal.zero - sc_time_stamp());
        wait(SC_ZERO_TIME);
        again.play(run.recording.program);
        over = true;
    });
    sc_start(sc_time(20, SC_MS));
    EXPECT_TRUE(over);
    EXPECT_EQ(told.size(), 1u);
    EXPECT_EQ(again.journal.lines, fresh.journal.lines);
}

TEST(Reset, IsCarriedOutWhereAMemoryThrows)
{
    carried_out_where_a_memory([] { throw std::runtime_error("no more"); }, "MCIF: no more");
}

TEST(Reset, IsCarriedOutWhereAMemoryThrowsWhatIsNoException)
{
    carried_out_where_a_memory([] { throw 42; }, "MCIF: something that is no std::exception was thrown");
}

/// What the memory itself reports crosses the kernel, which ends the simulation; the other memories have got their END_RESP.
TEST(Reset, IsCarriedOutWhereAMemoryReports)
{
    const MeasuredCase run = measured("nv_full/cvsram_i1_ops");
    AcceleratorOptions options{.hardware = "nv_small"};
    options.hardware = run.hardware.name;
    Board board("board", options);
    board.fill(run.recording);
    board.memory.manner = board.cvsram.manner = Manner::Annotated;
    std::size_t ended = 0;
    sc_spawn([&] {
        sc_spawn([&] { board.play(run.recording.program); });
        while (!board.memory.responding() || !board.cvsram.responding()) wait(kNanosecond);
        board.memory.on_end = [] { SC_REPORT_ERROR("/foreign/memory", "no more"); };
        ended = board.cvsram.ended;
        board.reset_n.write(false);
    });
    try {
        sc_start(sc_time(20, SC_MS));
        FAIL() << "sc_start returns";
    } catch (const sc_report& report) {
        EXPECT_STREQ(report.get_msg_type(), "/foreign/memory");
    }
    EXPECT_EQ(board.cvsram.ended, ended + 1);
}

TEST(Reset, EndsAFailure)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    AcceleratorOptions options{.hardware = "nv_small"};
    options.hardware = run.hardware.name;
    unsigned told = 0;
    options.on_error = [&](const MachineError&) { ++told; };
    Board board("board", options);
    board.fill(run.recording);
    bool over = false;
    sc_spawn([&] {
        for (unsigned i = 0; i < 2; ++i) {
            board.memory.status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
            sc_process_handle software = sc_spawn([&] { board.play(run.recording.program); });
            wait(sc_time(5, SC_US));
            software.kill();
            EXPECT_NE(board.dla.failure(), "");
            EXPECT_EQ(told, i + 1);
            board.reset_n.write(false);
            wait(sc_time(3, SC_US));
            EXPECT_EQ(board.dla.failure(), "");
            EXPECT_EQ(board.outstanding(), 0u);
            board.memory.status = tlm::TLM_OK_RESPONSE;
            board.reset_n.write(true);
            wait(kNanosecond);
        }
        board.play(run.recording.program);
        over = true;
    });
    sc_start(sc_time(1, SC_MS));
    EXPECT_TRUE(over);
    EXPECT_EQ(told, 2u);
}

}  // namespace reset_test
}  // namespace dlasim::test
