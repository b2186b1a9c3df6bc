// Everything that a platform may do at the sockets of the public accelerator by the base protocol of TLM-2.0: memories of every manner,
// callers of every kind on the register bus, several accelerators, their end. One process a test: SystemC's kernel is a singleton.
#include <gmock/gmock.h>

#include "platform.h"

using namespace sc_core;

namespace dlasim::test {
namespace sockets_test {

MeasuredCase measured(const std::string& name) { return read_measured_case(DLASIM_TEST_DATA "/rtl/" + name + ".json", std::nullopt); }

AcceleratorOptions on(const MeasuredCase& run)
{
    AcceleratorOptions options{.hardware = "nv_small"};
    options.hardware = run.hardware.name;
    return options;
}

/// Plays the program of a case on every board; true if all come to its end.
bool play_all(const std::vector<Board*>& boards, const MeasuredCase& run)
{
    std::size_t over = 0;
    for (Board* board : boards) {
        board->fill(run.recording);
        sc_spawn([&, board] {
            board->play(run.recording.program);
            ++over;
        });
    }
    sc_start(sc_time(5, SC_MS));
    for (Board* board : boards) EXPECT_EQ(board->dla.failure(), "");
    return over == boards.size();
}

// ---- memories

class Manners : public testing::TestWithParam<std::tuple<Manner, std::string>> {};

TEST_P(Manners, OfMemoriesChangeNoValue)
{
    const auto& [manner, name] = GetParam();
    const MeasuredCase run = measured(name);
    Board plain("plain", on(run)), other("other", on(run));
    other.memory.manner = other.cvsram.manner = manner;
    ASSERT_TRUE(play_all({&plain, &other}, run)) << other.dla.diagnosis();
    EXPECT_GT(other.memory.begun, 10u);
    EXPECT_EQ(other.memory.begun, plain.memory.begun);
    EXPECT_EQ(other.outstanding(), 0u);
    EXPECT_EQ(other.bytes, plain.bytes);
}

INSTANTIATE_TEST_SUITE_P(Sockets, Manners,
                         testing::Combine(testing::ValuesIn(kManners), testing::Values("nv_small/mix_9100_15", "nv_full/cvsram_i1_ops")),
                         [](const auto& info) {
                             return name_of(std::get<0>(info.param)) + "_" +
                                    std::get<1>(info.param).substr(0, std::get<1>(info.param).find('/'));
                         });

/// A memory without the non-blocking interface: SystemC's sockets put one in front.
struct BlockingMemory : sc_module {
    tlm_utils::simple_target_socket<BlockingMemory, 512> socket{"socket"};
    Bytes& bytes;
    BlockingMemory(sc_module_name name, Bytes& store) : sc_module(name), bytes(store)
    {
        socket.register_b_transport(this, &BlockingMemory::transport);
    }
    void transport(Payload& burst, sc_time& delay)
    {
        for (unsigned i = 0; i < burst.get_data_length(); ++i) {
            const bool enabled = !burst.get_byte_enable_ptr() || burst.get_byte_enable_ptr()[i % burst.get_byte_enable_length()];
            if (burst.is_read()) burst.get_data_ptr()[i] = bytes[burst.get_address() + i];
            else if (enabled) bytes[burst.get_address() + i] = burst.get_data_ptr()[i];
        }
        burst.set_response_status(tlm::TLM_OK_RESPONSE);
        delay += sc_time(40, SC_NS);
        wait(sc_time(3, SC_NS));
    }
};

TEST(Sockets, AMemoryMayHaveTheBlockingInterfaceOnly)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    Board plain("plain", on(run)), other("other", on(run), true, false);
    BlockingMemory memory("memory", other.bytes);
    other.dla.dbb.bind(memory.socket);
    ASSERT_TRUE(play_all({&plain, &other}, run)) << other.dla.diagnosis();
    EXPECT_EQ(other.bytes, plain.bytes);
}

TEST(Sockets, AnInterconnectMayLeaveExtensionsToUsAndChangeTheAddress)
{
    static int made = 0, gone = 0;
    struct Hop : tlm::tlm_extension<Hop> {
        Hop() { ++made; }
        Hop(const Hop&) = default;
        ~Hop() override { ++gone; }
        tlm_extension_base* clone() const override { return new Hop(*this); }
        void copy_from(const tlm_extension_base&) override {}
    };
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    int found = 0;
    {
        Board plain("plain", on(run)), other("other", on(run));
        other.memory.on_begin = [&](Payload& burst) {
            found += burst.get_extension<Hop>() != nullptr;
            burst.set_auto_extension(new Hop);
        };
        ASSERT_TRUE(play_all({&plain, &other}, run));
        EXPECT_EQ(other.bytes, plain.bytes);
        EXPECT_EQ(made, static_cast<int>(other.memory.begun));
    }
    EXPECT_EQ(found, 0) << "extensions of another burst";
    EXPECT_EQ(gone, made);
}

// ---- the register bus

TEST(Sockets, CallersOfBothKindsShareTheBus)
{
    struct Manager final : tlm::tlm_mm_interface {
        void free(Payload*) override { ++freed; }
        int freed = 0;
    } manager;
    struct Request {
        Payload payload;
        std::uint32_t value = 0;
    };
    Board board("board", {});
    const std::uint64_t mask = board.dla.address("GLB.S_INTR_MASK"), low = board.dla.address("SDP.D_DST_BASE_ADDR_LOW");
    std::vector<std::unique_ptr<Request>> requests;
    int answered = 0, right = 0;
    bool responded = false;
    sc_event response;
    // every other response is ended by a call of its own
    board.on_backward = [&](Payload& payload, tlm::tlm_phase& phase, sc_time&) {
        EXPECT_EQ(phase, tlm::BEGIN_RESP);
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
        right += *reinterpret_cast<std::uint32_t*>(payload.get_data_ptr()) == 0x155;
        responded = true;
        response.notify(SC_ZERO_TIME);
        if (++answered % 2 == 0) {
            payload.release();
            return tlm::TLM_COMPLETED;
        }
        return tlm::TLM_ACCEPTED;
    };
    unsigned blocking = 0;
    sc_spawn([&] {
        EXPECT_EQ(board.write(mask, 0x155), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(board.write(low, 0xabc0), tlm::TLM_OK_RESPONSE);
        for (int i = 0; i < 4; ++i)
            sc_spawn([&, i] {
                for (int n = 0; n < 25; ++n) {
                    std::uint32_t value = 0;
                    sc_time delay = sc_time(0.4 * i, SC_NS);
                    EXPECT_EQ(board.access(tlm::TLM_READ_COMMAND, i % 2 ? mask : low, value, delay), tlm::TLM_OK_RESPONSE);
                    blocking += value == (i % 2 ? 0x155u : 0xabc0u);
                    if (n % 3 == 0) wait(delay);
                }
            });
        for (int n = 0; n < 20; ++n) {
            Request& request = *requests.emplace_back(std::make_unique<Request>());
            request.payload.set_mm(&manager);
            request.payload.acquire();
            request.payload.set_read();
            request.payload.set_address(mask);
            request.payload.set_data_ptr(reinterpret_cast<unsigned char*>(&request.value));
            request.payload.set_data_length(4);
            request.payload.set_streaming_width(4);
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_time delay(0.3 * n, SC_NS);
            responded = false;
            EXPECT_EQ(board.bus->nb_transport_fw(request.payload, phase, delay), tlm::TLM_ACCEPTED);
            while (!responded) wait(response);
            if (answered % 2 == 0) continue;
            phase = tlm::END_RESP;
            delay = sc_time(2, SC_NS);
            board.bus->nb_transport_fw(request.payload, phase, delay);
            request.payload.release();
        }
    });
    sc_start(sc_time(100, SC_US));
    EXPECT_EQ(answered, 20);
    EXPECT_EQ(right, 20);
    EXPECT_EQ(manager.freed, 20);
    EXPECT_EQ(blocking, 100u);
}

TEST(Sockets, ExtensionsOfACallerStayWhereTheyAre)
{
    struct Mine : tlm::tlm_extension<Mine> {
        int value = 3;
        tlm_extension_base* clone() const override { return new Mine(*this); }
        void copy_from(const tlm_extension_base& from) override { *this = static_cast<const Mine&>(from); }
    };
    Board board("board", {});
    bool done = false;
    sc_spawn([&] {
        Payload payload;
        Mine mine;
        std::uint32_t value = 0;
        payload.set_extension(&mine);
        payload.set_read();
        payload.set_address(board.dla.address("GLB.S_NVDLA_HW_VERSION"));
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(4);
        payload.set_streaming_width(64);
        sc_time delay;
        board.bus->b_transport(payload, delay);
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
        EXPECT_NE(value, 0u);
        EXPECT_EQ(payload.get_extension<Mine>(), &mine);
        payload.clear_extension(&mine);
        done = true;
    });
    sc_start(sc_time(1, SC_US));
    EXPECT_TRUE(done);
}

/// A processor as platforms write it: clocked, with a reset, one register access behind the other.
struct Processor : sc_module {
    sc_in<bool> clock{"clock"};
    sc_signal<bool> reset{"reset"};
    Board& board;
    unsigned begun = 0, right = 0;
    SC_HAS_PROCESS(Processor);
    Processor(sc_module_name name, Board& b, bool clocked) : sc_module(name), board(b)
    {
        if (clocked) {
            SC_CTHREAD(run, clock.pos());
        } else {
            SC_THREAD(run);
            sensitive << clock.pos();
        }
        async_reset_signal_is(reset, true);
    }
    void run()
    {
        ++begun;
        const std::uint64_t mask = board.dla.address("GLB.S_INTR_MASK"), low = board.dla.address("SDP.D_DST_BASE_ADDR_LOW");
        wait();
        for (std::uint32_t n = 0;; ++n) {
            std::uint32_t value = n & 0x3f;
            sc_time delay;
            board.access(tlm::TLM_WRITE_COMMAND, n % 2 ? mask : low, value, delay);
            value = ~0u;
            delay = SC_ZERO_TIME;
            board.access(tlm::TLM_READ_COMMAND, n % 2 ? mask : low, value, delay);
            right += value == (n % 2 ? n & 0x3f : n & 0x20);
            wait();
        }
    }
};

class Processors : public testing::TestWithParam<bool> {};

TEST_P(Processors, MayBeResetInTheMiddleOfAnAccess)
{
    sc_report_handler::set_actions(SC_WARNING, SC_DO_NOTHING);
    Board board("board", {});
    sc_clock clock("clock", sc_time(3.3, SC_NS));
    Processor processor("processor", board, GetParam());
    processor.clock(clock);
    sc_spawn([&] {
        for (unsigned i = 0; i < 30; ++i) {
            wait(sc_time(50 + 1.7 * i, SC_NS));
            processor.reset.write(true);
            wait(sc_time(i, SC_NS));
            processor.reset.write(false);
        }
        wait(sc_time(15, SC_US));
        processor.reset.write(true);  // leaves what it is in
    });
    sc_start(sc_time(20, SC_US));
    EXPECT_GT(processor.begun, 30u);
    EXPECT_GT(processor.right, 100u);
    EXPECT_EQ(board.dla.failure(), "");
}

INSTANTIATE_TEST_SUITE_P(Sockets, Processors, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& info) { return info.param ? "clocked" : "threaded"; });

/// Calls before time begins, and from a method.
struct Early : sc_module {
    Board& board;
    std::function<void(Board&)> call;
    Early(sc_module_name name, Board& b, std::function<void(Board&)> c) : sc_module(name), board(b), call(std::move(c)) {}
    void start_of_simulation() override { call(board); }
};

TEST(Sockets, RegistersMayBeWrittenBeforeTimeBegins)
{
    Board board("board", {});
    const auto set = [](Board& b) {
        std::uint32_t value = 0x3a;
        sc_time delay;
        EXPECT_EQ(b.access(tlm::TLM_WRITE_COMMAND, b.dla.address("GLB.S_INTR_MASK"), value, delay), tlm::TLM_OK_RESPONSE);
    };
    Early early("early", board, set);
    std::uint32_t value = 0;
    sc_spawn([&] { board.read(board.dla.address("GLB.S_INTR_MASK"), value); });
    sc_start(sc_time(1, SC_US));
    EXPECT_EQ(value, 0x3au);
}

TEST(Sockets, AReadThatCannotWaitIsAReportOfSystemCAndHarmsNobody)
{
    Board board("board", {});
    const std::uint64_t mask = board.dla.address("GLB.S_INTR_MASK");
    const auto get = [&](Board& b) {
        std::uint32_t value = 0;
        sc_time delay;
        EXPECT_THROW(b.access(tlm::TLM_READ_COMMAND, mask, value, delay), sc_report);
    };
    Early early("early", board, get);
    std::uint32_t value = 0;
    sc_spawn([&] {
        sc_spawn_options method;
        method.spawn_method();
        sc_spawn([&] { get(board); }, "method", &method);
        wait(sc_time(100, SC_NS));
        board.write(mask, 0x11);
        for (int i = 0; i < 3; ++i) board.read(mask, value);
    });
    sc_start(sc_time(1, SC_US));
    EXPECT_EQ(value, 0x11u);
}

TEST(Sockets, CallsAfterTheEndDoNoHarm)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    Board board("board", on(run));
    board.fill(run.recording);
    sc_spawn([&] { board.play(run.recording.program); });
    sc_spawn([&] {
        while (board.outstanding() == 0) wait(sc_time(1, SC_NS));
        sc_stop();
    });
    sc_start();
    EXPECT_GT(board.outstanding(), 0u);
    const std::uint64_t mask = board.dla.address("GLB.S_INTR_MASK");
    std::uint32_t value = 1;
    sc_time delay;
    EXPECT_EQ(board.access(tlm::TLM_WRITE_COMMAND, mask, value, delay), tlm::TLM_OK_RESPONSE);
    EXPECT_THROW(board.access(tlm::TLM_READ_COMMAND, mask, value, delay), sc_report);
    EXPECT_EQ(board.dla.failure(), "");
    EXPECT_FALSE(board.dla.diagnosis().empty());
}

// ---- several, and their end

TEST(Sockets, ThreeOnThreeClocksTakeTheSameCyclesAndGoInAnyOrder)
{
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    std::vector<std::unique_ptr<Board>> boards;
    const double periods[] = {1, 0.7, 2.3};
    std::vector<std::vector<std::string>> journals;
    for (const double period : periods) {
        AcceleratorOptions options = on(run);
        options.clock_period = sc_time(period, SC_NS);
        boards.push_back(std::make_unique<Board>(sc_gen_unique_name("board"), options));
        boards.back()->memory.latency = options.clock_period * 40;
    }
    ASSERT_TRUE(play_all({boards[0].get(), boards[1].get(), boards[2].get()}, run));
    for (const auto& board : boards) {
        std::vector<std::string> cycles;
        for (const std::string& line : board->journal.lines) {
            const std::uint64_t at = std::stoull(line);
            EXPECT_EQ(at % board->period().value(), 0u);
            cycles.push_back(std::to_string(at / board->period().value()) + line.substr(line.find(' ', line.find_first_not_of(' '))));
        }
        journals.push_back(cycles);
    }
    EXPECT_GT(journals[0].size(), 20u);
    EXPECT_EQ(journals[1], journals[0]);
    EXPECT_EQ(journals[2], journals[0]);
    for (const std::size_t i : {1, 2, 0}) boards[i].reset();
}

TEST(Sockets, OneThatNeverRanAndOneThatCouldNotBeBuiltLeaveNothingBehind)
{
    AcceleratorOptions wrong;
    wrong.settings = {"mac.atomic_c=7"};
    EXPECT_THROW(Accelerator("wrong", wrong), ConfigError);
    wrong.settings.clear();
    wrong.hardware = "nv_none";
    EXPECT_THROW(Accelerator("wrong", wrong), ConfigError);
    {
        Accelerator gone("gone", {.hardware = "nv_small"});
    }
    const MeasuredCase run = measured("nv_small/dc_int8_odd");
    Board board("board", on(run));
    EXPECT_STREQ(board.dla.name(), "board.dla");
    ASSERT_TRUE(play_all({&board}, run));
}

/// An accelerator of which one port is bound to nothing.
struct Half : sc_module {
    Accelerator dla{"dla", {.hardware = "nv_small"}};
    Bytes bytes;
    std::unique_ptr<BookMemory> memory;
    std::unique_ptr<tlm_utils::simple_initiator_socket<Half>> bus;
    sc_signal<bool> interrupt;
    Half(sc_module_name name, const std::string& without) : sc_module(name)
    {
        if (without != "dbb") dla.dbb.bind((memory = std::make_unique<BookMemory>("memory", bytes))->socket);
        if (without != "csb") (bus = std::make_unique<tlm_utils::simple_initiator_socket<Half>>("bus"))->bind(dla.csb);
        if (without != "interrupt") dla.interrupt(interrupt);
    }
};

class Unbound : public testing::TestWithParam<std::string> {};

TEST_P(Unbound, PortsAreToldByName)
{
    Half half("half", GetParam());
    try {
        sc_start(sc_time(1, SC_NS));
        FAIL() << "sc_start returns";
    } catch (const sc_report& report) {
        EXPECT_THAT(report.what(), testing::HasSubstr("half.dla." + GetParam()));
    }
}

INSTANTIATE_TEST_SUITE_P(Sockets, Unbound, testing::Values("dbb", "csb", "interrupt"), [](const auto& info) { return info.param; });

}  // namespace sockets_test
}  // namespace dlasim::test
