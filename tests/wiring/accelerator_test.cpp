// The public accelerator in platforms that it did not choose: callers between clock edges and ahead of time, two clocks,
// payloads that the register bus refuses, memories that fail. One process a test: SystemC's kernel is a singleton.
#include <dlasim/accelerator.h>
#include <gmock/gmock.h>
#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <functional>
#include <map>

using namespace sc_core;

namespace accelerator_test {

using Payload = tlm::tlm_generic_payload;

const sc_time kNanosecond(1, SC_NS);

/// A memory on the base protocol; it answers `status`, and `misbehave` does what it likes with a burst.
struct Memory : sc_module {
    tlm_utils::simple_target_socket<Memory, 512> socket{"socket"};
    std::map<std::uint64_t, unsigned char> bytes;
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    sc_time latency{40, SC_NS};
    std::function<void(Payload&)> misbehave;
    tlm_utils::peq_with_get<Payload> due{"due"};
    sc_event freed;

    SC_HAS_PROCESS(Memory);
    explicit Memory(sc_module_name name) : sc_module(name)
    {
        socket.register_nb_transport_fw(this, &Memory::forward);
        SC_THREAD(respond);
    }
    tlm::tlm_sync_enum forward(Payload& burst, tlm::tlm_phase& phase, sc_time& delay)
    {
        if (phase == tlm::BEGIN_REQ) {
            burst.acquire();
            due.notify(burst, delay + latency);
            phase = tlm::END_REQ;
            return tlm::TLM_UPDATED;
        }
        if (phase == tlm::END_RESP) {
            freed.notify(SC_ZERO_TIME);
            return tlm::TLM_COMPLETED;
        }
        return tlm::TLM_ACCEPTED;
    }
    void respond()
    {
        for (;;) {
            wait(due.get_event());
            while (Payload* burst = due.get_next_transaction()) {
                for (unsigned i = 0; i < burst->get_data_length(); ++i) {
                    unsigned char& byte = bytes[burst->get_address() + i];
                    const bool enabled = !burst->get_byte_enable_ptr() || burst->get_byte_enable_ptr()[i % burst->get_byte_enable_length()];
                    if (burst->is_read()) burst->get_data_ptr()[i] = byte;
                    else if (enabled) byte = burst->get_data_ptr()[i];
                }
                burst->set_response_status(status);
                if (misbehave) misbehave(*burst);
                tlm::tlm_phase phase = tlm::BEGIN_RESP;
                sc_time delay;
                if (socket->nb_transport_bw(*burst, phase, delay) == tlm::TLM_ACCEPTED) wait(freed);
                burst->release();
            }
        }
    }
};

/// Threads on the register bus of one accelerator, its memory and its interrupt.
struct Platform : sc_module {
    dlasim::Accelerator dla;
    Memory memory{"memory"};
    sc_signal<bool> interrupt{"interrupt"};
    tlm_utils::multi_passthrough_initiator_socket<Platform> bus{"bus"};
    std::vector<std::function<void(Platform&)>> threads;
    sc_time raised;

    SC_HAS_PROCESS(Platform);
    Platform(sc_module_name name, const dlasim::AcceleratorOptions& options, std::vector<std::function<void(Platform&)>> run)
        : sc_module(name), dla("dla", options), threads(std::move(run))
    {
        dla.dbb.bind(memory.socket);
        bus.bind(dla.csb);
        dla.interrupt(interrupt);
        bus.register_nb_transport_bw(this, &Platform::backward);
        for (std::size_t i = 0; i < threads.size(); ++i) sc_spawn([this, i] { threads[i](*this); });
        SC_METHOD(watch);
        sensitive << interrupt.posedge_event();
        dont_initialize();
    }
    void watch() { raised = sc_time_stamp(); }
    tlm::tlm_sync_enum backward(int, Payload& payload, tlm::tlm_phase& phase, sc_time& delay)
    {
        return on_backward ? on_backward(payload, phase, delay) : tlm::TLM_ACCEPTED;
    }
    std::function<tlm::tlm_sync_enum(Payload&, tlm::tlm_phase&, sc_time&)> on_backward;

    /// One word at `delay` from now; `delay` is what came back.
    tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, std::uint32_t& value, sc_time& delay)
    {
        Payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        bus->b_transport(payload, delay);
        return payload.get_response_status();
    }
    tlm::tlm_response_status write(const char* name, std::uint32_t value)
    {
        sc_time delay;
        const auto status = access(tlm::TLM_WRITE_COMMAND, dla.address(name), value, delay);
        wait(delay);
        return status;
    }
    std::uint32_t read(const char* name)
    {
        sc_time delay;
        std::uint32_t value = 0;
        access(tlm::TLM_READ_COMMAND, dla.address(name), value, delay);
        wait(delay);
        return value;
    }
    /// Eight channels of one pixel through SDP; returns the time of the last write.
    sc_time copy(std::uint32_t from = 0x1000)
    {
        write("GLB.S_INTR_MASK", 0);
        write("SDP_RDMA.D_SRC_BASE_ADDR_LOW", from);
        write("SDP_RDMA.D_DATA_CUBE_CHANNEL", 7);
        write("SDP_RDMA.D_SRC_DMA_CFG", 1);
        for (const char* name : {"SDP_RDMA.D_BRDMA_CFG", "SDP_RDMA.D_NRDMA_CFG", "SDP_RDMA.D_ERDMA_CFG"}) write(name, 1);
        write("SDP.D_DST_BASE_ADDR_LOW", 0x2000);
        write("SDP.D_DATA_CUBE_CHANNEL", 7);
        for (const char* name : {"SDP.D_DP_BS_CFG", "SDP.D_DP_BN_CFG", "SDP.D_DP_EW_CFG", "SDP.D_DST_DMA_CFG", "SDP.D_CVT_SCALE"})
            write(name, 1);
        write("SDP.D_OP_ENABLE", 1);
        write("SDP_RDMA.D_OP_ENABLE", 1);
        return sc_time_stamp();
    }
    void fill()
    {
        for (unsigned i = 0; i < 8; ++i) memory.bytes[0x1000 + i] = static_cast<unsigned char>(i * 11 + 1);
    }
    bool copied()
    {
        bool right = true;
        for (unsigned i = 0; i < 8; ++i) right = right && memory.bytes[0x2000 + i] == static_cast<unsigned char>(i * 11 + 1);
        return right;
    }
};

using Threads = std::vector<std::function<void(Platform&)>>;

TEST(Accelerator, AWriteBetweenTwoEdgesIsTakenAtTheNext)
{
    Platform platform("platform", {.hardware = "nv_small", .settings = {}}, Threads{[](Platform& p) {
                          wait(sc_time(10.5, SC_NS));
                          std::uint32_t value = 0;
                          sc_time delay;
                          EXPECT_EQ(p.access(tlm::TLM_WRITE_COMMAND, p.dla.address("GLB.S_INTR_MASK"), value, delay), tlm::TLM_OK_RESPONSE);
                          EXPECT_EQ(delay, sc_time(0.5, SC_NS));
                          wait(sc_time(20.25, SC_NS));
                          delay = SC_ZERO_TIME;
                          EXPECT_EQ(p.access(tlm::TLM_READ_COMMAND, p.dla.address("GLB.S_INTR_MASK"), value, delay), tlm::TLM_OK_RESPONSE);
                          EXPECT_EQ((sc_time_stamp() + delay).value() % kNanosecond.value(), 0u);
                          EXPECT_LT(delay, sc_time(50, SC_NS));
                          EXPECT_EQ(value, 0u);
                      }});
    sc_start(sc_time(1, SC_US));
}

TEST(Accelerator, ACallerAheadOfTimeKeepsItsOffset)
{
    Platform platform("platform", {.hardware = "nv_small", .settings = {}}, Threads{[](Platform& p) {
                          std::uint32_t value = 0x155;
                          sc_time delay(100.25, SC_NS);
                          const std::uint64_t mask = p.dla.address("GLB.S_INTR_MASK");
                          p.access(tlm::TLM_WRITE_COMMAND, mask, value, delay);
                          EXPECT_EQ(delay, sc_time(101, SC_NS));
                          // another one that is not ahead is served behind it, and a read waits for its data
                          sc_time none;
                          value = 0;
                          p.access(tlm::TLM_READ_COMMAND, mask, value, none);
                          EXPECT_EQ(value, 0x155u);
                          EXPECT_GT(sc_time_stamp() + none, sc_time(102, SC_NS));
                          EXPECT_LT(none, sc_time(50, SC_NS));
                      }});
    sc_start(sc_time(1, SC_US));
}

TEST(Accelerator, CallersSideBySideGetTheirOwnData)
{
    std::vector<int> right(6);
    Threads threads;
    for (unsigned i = 0; i < 6; ++i)
        threads.push_back([i, &right](Platform& p) {
            const std::pair<const char*, std::uint32_t> registers[] = {
                {"SDP.D_DST_BASE_ADDR_LOW", 0x20 * (i + 1)}, {"GLB.S_INTR_MASK", 3}, {"CDMA.D_BANK", 0x10001}};
            const auto& [name, value] = registers[i % 3];
            if (i < 3) p.write(name, value);
            wait(sc_time(100, SC_NS) - sc_time_stamp() + i % 2 * sc_time(0.3, SC_NS));
            const std::uint32_t expected = i % 3 == 0 ? 0x20u : value;
            for (int n = 0; n < 20; ++n) right[i] += p.read(name) == expected;
        });
    Platform platform("platform", {.hardware = "nv_small", .settings = {}}, threads);
    sc_start(sc_time(10, SC_US));
    EXPECT_THAT(right, testing::Each(20));
}

TEST(Accelerator, ACallerThatIsResetWhileItReadsLeavesTheBusUsable)
{
    int unwound = 0;
    std::uint32_t value = 0;
    Platform platform("platform", {.hardware = "nv_small", .settings = {}}, Threads{[&](Platform& p) {
                          p.write("GLB.S_INTR_MASK", 0x31);
                          p.write("CDMA.D_BANK", 0x10001);
                          for (int n = 0; n < 3; ++n) {
                              sc_process_handle caller = sc_spawn([&p, &unwound] {
                                  struct Counter {
                                      int& count;
                                      ~Counter() { ++count; }
                                  } counter{unwound};
                                  p.read("CDMA.D_BANK");
                                  p.read("GLB.S_INTR_MASK");
                                  wait();
                              });
                              wait(sc_time(1 + 9 * n, SC_NS));
                              caller.kill();
                          }
                          EXPECT_EQ(p.read("CDMA.D_BANK"), 0x10001u);
                          value = p.read("GLB.S_INTR_MASK");
                      }});
    sc_start(sc_time(2, SC_US));
    EXPECT_EQ(unwound, 3);
    EXPECT_EQ(value, 0x31u);
}

TEST(Accelerator, TwoOnTwoClocksTakeTheSameCycles)
{
    std::array<sc_time, 2> started;
    const auto driver = [&](std::size_t i) { return Threads{[&, i](Platform& p) { started[i] = p.copy(); }}; };
    const sc_time slow(3.7, SC_NS);
    Platform first("first", {.hardware = "nv_small", .settings = {}}, driver(0));
    Platform second("second", {.hardware = "nv_small", .settings = {}, .clock_period = slow}, driver(1));
    second.memory.latency = slow * 40;
    for (Platform* p : {&first, &second}) p->fill();
    sc_start(sc_time(50, SC_US));
    EXPECT_TRUE(first.copied());
    EXPECT_TRUE(second.copied());
    const std::uint64_t cycles = (first.raised - started[0]).value() / kNanosecond.value();
    EXPECT_GT(cycles, 80u);
    EXPECT_EQ((second.raised - started[1]).value(), cycles * slow.value());
}

TEST(Accelerator, AClockFinerThanTimeIsRefused)
{
    dlasim::AcceleratorOptions options{.hardware = "nv_small"};
    options.clock_period = sc_time(0.3, SC_PS);
    try {
        dlasim::Accelerator dla("dla", options);
        FAIL();
    } catch (const dlasim::ConfigError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("clock_period: is 0, expected at least the resolution of time, 1 ps"));
    }
}

TEST(Accelerator, TheBusAnswersWhatItCannotDoWithAStatus)
{
    Platform platform("platform", {.hardware = "nv_small", .settings = {}}, Threads{[](Platform& p) {
                          const std::uint32_t mask = p.dla.address("GLB.S_INTR_MASK");
                          unsigned char data[16] = {}, enables[4] = {0xff, 0xff, 0xff, 0xff};
                          const auto status = [&](const std::function<void(Payload&)>& change) {
                              Payload payload;
                              payload.set_write();
                              payload.set_address(mask);
                              payload.set_data_ptr(data);
                              payload.set_data_length(4);
                              payload.set_streaming_width(4);
                              payload.set_dmi_allowed(true);
                              change(payload);
                              sc_time delay;
                              p.bus->b_transport(payload, delay);
                              EXPECT_FALSE(payload.is_dmi_allowed());
                              return payload.get_response_status();
                          };
                          EXPECT_EQ(status([](Payload&) {}), tlm::TLM_OK_RESPONSE);
                          EXPECT_EQ(status([](Payload& b) { b.set_streaming_width(0); }), tlm::TLM_OK_RESPONSE);
                          EXPECT_EQ(status([](Payload& b) { b.set_streaming_width(2); }), tlm::TLM_BURST_ERROR_RESPONSE);
                          for (const unsigned length : {0u, 1u, 2u, 8u, 16u})
                              EXPECT_EQ(status([&](Payload& b) { b.set_data_length(length); }), tlm::TLM_BURST_ERROR_RESPONSE) << length;
                          for (const std::uint64_t address :
                               {std::uint64_t{mask} + 1, std::uint64_t{mask} + 2, std::uint64_t{1} << 18, ~std::uint64_t{3}})
                              EXPECT_EQ(status([&](Payload& b) { b.set_address(address); }), tlm::TLM_ADDRESS_ERROR_RESPONSE) << address;
                          EXPECT_EQ(status([](Payload& b) { b.set_data_ptr(nullptr); }), tlm::TLM_GENERIC_ERROR_RESPONSE);
                          EXPECT_EQ(status([](Payload& b) {
                                        b.set_command(tlm::TLM_IGNORE_COMMAND);
                                        b.set_data_ptr(nullptr);
                                        b.set_data_length(0);
                                    }),
                                    tlm::TLM_OK_RESPONSE);
                          const auto enabled = [&](Payload& b) {
                              b.set_byte_enable_ptr(enables);
                              b.set_byte_enable_length(4);
                          };
                          EXPECT_EQ(status(enabled), tlm::TLM_OK_RESPONSE);
                          enables[2] = 0;
                          EXPECT_EQ(status(enabled), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);

                          // a window without a unit: the write vanishes, a read is 0
                          std::uint32_t value = 7;
                          sc_time delay;
                          EXPECT_EQ(p.access(tlm::TLM_READ_COMMAND, 0x3f000, value, delay), tlm::TLM_OK_RESPONSE);
                          EXPECT_EQ(value, 0u);

                          Payload payload;
                          payload.set_read();
                          payload.set_address(mask);
                          payload.set_data_ptr(data);
                          payload.set_data_length(4);
                          tlm::tlm_dmi dmi;
                          EXPECT_EQ(p.bus->transport_dbg(payload), 4u);
                          payload.set_write();
                          EXPECT_EQ(p.bus->transport_dbg(payload), 0u);
                          EXPECT_FALSE(p.bus->get_direct_mem_ptr(payload, dmi));
                      }});
    sc_start(sc_time(1, SC_US));
}

TEST(Accelerator, TheBusTakesTheFourPhasesToo)
{
    struct Manager final : tlm::tlm_mm_interface {
        void free(Payload*) override { ++freed; }
        int freed = 0;
    } manager;
    Payload payload;
    std::uint32_t value = 0x2a;
    bool answered = false;
    Platform platform("platform", {.hardware = "nv_small", .settings = {}}, Threads{[&](Platform& p) {
                          p.on_backward = [&](Payload& b, tlm::tlm_phase& phase, sc_time&) {
                              if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
                              EXPECT_EQ(b.get_response_status(), tlm::TLM_OK_RESPONSE);
                              answered = true;
                              b.release();
                              return tlm::TLM_COMPLETED;
                          };
                          payload.set_mm(&manager);
                          payload.acquire();
                          payload.set_write();
                          payload.set_address(p.dla.address("GLB.S_INTR_MASK"));
                          payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
                          payload.set_data_length(4);
                          payload.set_streaming_width(4);
                          tlm::tlm_phase phase = tlm::BEGIN_REQ;
                          sc_time delay(0.7, SC_NS);
                          p.bus->nb_transport_fw(payload, phase, delay);
                          wait(sc_time(100, SC_NS));
                          EXPECT_EQ(p.read("GLB.S_INTR_MASK"), 0x2au);
                      }});
    sc_start(sc_time(1, SC_US));
    EXPECT_TRUE(answered);
    EXPECT_EQ(manager.freed, 1);
}

/// Runs a copy whose memory fails; returns what `on_error` was told.
std::vector<std::string> failures_of(const std::function<void(Platform&)>& prepare)
{
    std::vector<std::string> told;
    dlasim::AcceleratorOptions options{.hardware = "nv_small"};
    options.on_error = [&](const dlasim::MachineError& error) { told.emplace_back(error.what()); };
    bool refused = false;
    Platform platform("platform", options, Threads{[&](Platform& p) {
                          p.copy();
                          wait(sc_time(2, SC_US));
                          refused = p.write("GLB.S_INTR_MASK", 0) == tlm::TLM_GENERIC_ERROR_RESPONSE;
                      }});
    prepare(platform);
    sc_start(sc_time(10, SC_US));
    EXPECT_TRUE(refused);
    EXPECT_FALSE(told.empty());
    if (!told.empty()) EXPECT_EQ(platform.dla.failure(), told.front());
    EXPECT_FALSE(platform.dla.diagnosis().empty());
    return told;
}

TEST(Accelerator, AnAddressThatMemoryRefusesIsTold)
{
    const auto told = failures_of([](Platform& p) { p.memory.status = tlm::TLM_ADDRESS_ERROR_RESPONSE; });
    EXPECT_THAT(told, testing::ElementsAre(testing::AllOf(testing::StartsWith("MCIF: memory port: "), testing::HasSubstr("0x1000"),
                                                          testing::HasSubstr("TLM_ADDRESS_ERROR_RESPONSE"), testing::HasSubstr("SDP"))));
}

TEST(Accelerator, ABurstThatIsAnsweredTwiceIsTold)
{
    const auto told = failures_of([](Platform& p) {
        p.memory.misbehave = [&p](Payload& burst) {
            tlm::tlm_phase phase = tlm::BEGIN_RESP;
            sc_time delay;
            p.memory.socket->nb_transport_bw(burst, phase, delay);
        };
    });
    EXPECT_THAT(told, testing::ElementsAre(testing::HasSubstr("does not expect it")));
}

TEST(Accelerator, AnAnswerToSomebodyElseIsTold)
{
    static Payload other;
    const auto told = failures_of([](Platform& p) {
        p.memory.misbehave = [&p](Payload&) {
            tlm::tlm_phase phase = tlm::BEGIN_RESP;
            sc_time delay;
            p.memory.socket->nb_transport_bw(other, phase, delay);
        };
    });
    EXPECT_THAT(told, testing::ElementsAre(testing::HasSubstr("did not send")));
}

TEST(Accelerator, WithoutAListenerAFailureIsAReportOfSystemC)
{
    Platform platform("platform", {.hardware = "nv_small", .settings = {}}, Threads{[](Platform& p) { p.copy(); }});
    platform.memory.status = tlm::TLM_GENERIC_ERROR_RESPONSE;
    try {
        sc_start(sc_time(10, SC_US));
        FAIL() << "sc_start returns";
    } catch (const sc_report& report) {
        EXPECT_STREQ(report.get_msg_type(), "/dlasim/accelerator");
        EXPECT_THAT(report.get_msg(), testing::HasSubstr("MCIF"));
    }
}

TEST(Accelerator, APlatformMayOnlyDisplayTheReport)
{
    sc_report_handler::set_actions("/dlasim/accelerator", SC_ERROR, SC_CACHE_REPORT);
    Platform platform("platform", {.hardware = "nv_small", .settings = {}}, Threads{[](Platform& p) { p.copy(); }});
    platform.memory.status = tlm::TLM_GENERIC_ERROR_RESPONSE;
    sc_start(sc_time(10, SC_US));
    EXPECT_EQ(sc_time_stamp(), sc_time(10, SC_US));
    EXPECT_EQ(sc_report_handler::get_count("/dlasim/accelerator"), 1);
    EXPECT_THAT(platform.dla.failure(), testing::HasSubstr("TLM_GENERIC_ERROR_RESPONSE"));
}

}  // namespace accelerator_test
