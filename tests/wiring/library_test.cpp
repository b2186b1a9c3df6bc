// The public classes beside the accelerator's sockets: configuration, memories, workloads, counters, checkpoints. One process a test.
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include <dlasim/driver.h>
#include <dlasim/memory.h>
#include <gmock/gmock.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace sc_core;

namespace library_test {

const std::string kLayer = DLASIM_SOURCE "/models/lenet5_conv2.json";

/// An accelerator with memory and driver.
struct Node : sc_module {
    dlasim::Accelerator dla;
    dlasim::Memory memory;
    std::unique_ptr<dlasim::Memory> on_chip;
    dlasim::Driver driver;
    sc_signal<bool> interrupt{"interrupt"};

    Node(sc_module_name name, const dlasim::HardwareConfig& hardware, const std::string& memory_name, const std::string& file = kLayer)
        : sc_module(name),
          dla("dla", hardware, options(hardware)),
          memory("memory", {.memory = memory_name, .clock_period = hardware.clock_period()}),
          driver("driver", dla, dlasim::CompiledWorkload(file, hardware, {.memory = memory_name}))
    {
        dla.dbb.bind(memory.port());
        if (dla.cvsram) {
            on_chip = std::make_unique<dlasim::Memory>("on_chip", dlasim::MemoryOptions{.clock_period = hardware.clock_period()});
            dla.cvsram->bind(on_chip->port());
        }
        dla.interrupt(interrupt);
        driver.csb.bind(dla.csb);
        driver.interrupt(interrupt);
    }
    static dlasim::AcceleratorOptions options(const dlasim::HardwareConfig& hardware)
    {
        dlasim::AcceleratorOptions options{.hardware = "nv_small"};
        options.clock_period = hardware.clock_period();
        options.causes = true;
        return options;
    }
};

nlohmann::json result_of_the_command(const std::string& hardware, const std::string& memory)
{
    const std::string out = testing::TempDir() + "/library_test_" + hardware + std::to_string(getpid());
    const std::string command =
        std::string(DLASIM_PROGRAM) + " run " + kLayer + " --hw " + hardware + " --memory " + memory + " --quiet --out " + out;
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream file(out + "/result.json");
    return nlohmann::json::parse(file);
}

struct Machine {
    std::string hardware, memory;
};
void PrintTo(const Machine& machine, std::ostream* out) { *out << machine.hardware << ", " << machine.memory; }
class EqualToTheCommand : public testing::TestWithParam<Machine> {};

TEST_P(EqualToTheCommand, CyclesPhasesCountersTrafficCausesAndEnergy)
{
    const nlohmann::json expected = result_of_the_command(GetParam().hardware, GetParam().memory);
    Node node("node", dlasim::HardwareConfig(GetParam().hardware), GetParam().memory);
    sc_start();
    ASSERT_TRUE(node.driver.finished()) << node.dla.failure();
    const dlasim::Driver::Result& result = node.driver.result();
    EXPECT_TRUE(result.check.right);
    EXPECT_EQ(result.cycles, expected["cycles"]);
    EXPECT_EQ(result.check.compared, expected["compared"]);
    const nlohmann::json seen = nlohmann::json::parse(result.report.json);
    EXPECT_EQ(seen["units"], expected["units"]);
    EXPECT_EQ(seen["traffic"]["dbb"], expected["traffic"]["dbb"]);
    EXPECT_EQ(seen["causes"], expected["causes"]);
    std::uint64_t cycles = 0;
    for (const auto& cause : result.report.causes) cycles += cause.second;
    EXPECT_EQ(cycles, result.cycles);
    EXPECT_EQ(seen["energy_uj"], expected["energy_uj"]);
}

INSTANTIATE_TEST_SUITE_P(Library, EqualToTheCommand,
                         testing::Values(Machine{"nv_small", "ideal"}, Machine{"nv_small", "ddr4-3200"}, Machine{"nv_large", "lpddr5-6400"},
                                         Machine{"nv_full", "hbm2"}),
                         [](const auto& info) { return info.param.hardware + "_" + info.param.memory.substr(0, 4); });

TEST(HardwareConfig, IsAValueThatIsCheckedAsAWhole)
{
    dlasim::HardwareConfig hardware("nv_small");
    const dlasim::HardwareConfig before = hardware;
    const std::uint32_t banks = hardware.get("cbuf.banks");
    ASSERT_NE(banks, 16u);
    hardware.set("cbuf.banks", 16);
    EXPECT_EQ(hardware.get("cbuf.banks"), 16u);
    EXPECT_EQ(before.get("cbuf.banks"), banks);
    EXPECT_THROW(hardware.set("cbuf.bank", 16), dlasim::ConfigError);
    EXPECT_THROW(hardware.set("cbuf.banks", 1000), dlasim::ConfigError);
    EXPECT_THROW(hardware.set("winograd", 2), dlasim::ConfigError);
    EXPECT_EQ(hardware.get("cbuf.banks"), 16u);
    for (const auto& size : dlasim::HardwareConfig::sizes()) EXPECT_GE(hardware.get(size.path), 0u) << size.path;
    dlasim::Accelerator dla("dla", hardware);
    EXPECT_THROW(dlasim::Driver("driver", dla, dlasim::CompiledWorkload(kLayer, before)), dlasim::ConfigError);
}

TEST(CompiledWorkload, RefusesWhatItCannotRun)
{
    const dlasim::HardwareConfig hardware("nv_small");
    EXPECT_THROW(dlasim::CompiledWorkload("none.json", hardware), dlasim::ConfigError);
    EXPECT_THROW(dlasim::CompiledWorkload("model.onnx", hardware), dlasim::ConfigError);
    EXPECT_THROW(dlasim::CompiledWorkload(kLayer, hardware, {.memory = "ddr9"}), dlasim::ConfigError);
}

TEST(Counters, AskedEveryNowAndThenChangeNoCycleAndAddUp)
{
    Node node("node", dlasim::HardwareConfig("nv_small"), "ddr4-3200");
    std::uint64_t asked = 0;
    sc_spawn([&] {
        for (; !node.driver.finished(); wait(777, SC_NS), ++asked) {
            const dlasim::AcceleratorReport report = node.dla.counters();
            for (const auto& unit : report.units)
                EXPECT_EQ(unit.issuing + unit.starved + unit.blocked + unit.draining + unit.gated, report.cycles) << unit.name;
        }
        node.dla.reset_counters();
        wait(100, SC_NS);
        const dlasim::AcceleratorReport idle = node.dla.counters();
        EXPECT_EQ(idle.cycles, 100u);
        EXPECT_EQ(idle.unit("csc")->gated, 100u);
        EXPECT_EQ(idle.dbb.read_bytes, 0u);
    });
    sc_start();
    EXPECT_GT(asked, 10u);
    EXPECT_EQ(node.driver.result().cycles, result_of_the_command("nv_small", "ddr4-3200")["cycles"]);
}

/// Words of the register bus in no time.
struct Debugger : sc_module {
    tlm_utils::simple_initiator_socket<Debugger> socket{"socket"};
    explicit Debugger(sc_module_name name) : sc_module(name) {}
    unsigned access(tlm::tlm_command command, std::uint32_t address, std::uint32_t& word)
    {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        return socket->transport_dbg(payload);
    }
};

TEST(RegisterBus, ShowsRegistersToDebuggersAndSaysNoToDmi)
{
    dlasim::Accelerator dla("dla", dlasim::HardwareConfig("nv_small"));
    dlasim::Memory memory("memory", {.memory = "ddr4-3200"});
    Debugger debugger("debugger");
    sc_signal<bool> interrupt("interrupt");
    dla.dbb.bind(memory.port());
    dla.interrupt(interrupt);
    debugger.socket.bind(dla.csb);
    const std::uint32_t address = dla.address("GLB.S_INTR_MASK");
    std::uint32_t value = 0;
    sc_spawn([&] {
        tlm::tlm_generic_payload payload;
        std::uint32_t mask = 5;
        payload.set_write();
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&mask));
        payload.set_data_length(4);
        sc_time delay;
        debugger.socket->b_transport(payload, delay);
        wait(100, SC_NS);
        EXPECT_EQ(debugger.access(tlm::TLM_READ_COMMAND, address, value), 4u);
        EXPECT_EQ(value, 5u);
        EXPECT_EQ(debugger.access(tlm::TLM_WRITE_COMMAND, address, value), 0u);
        EXPECT_EQ(debugger.access(tlm::TLM_READ_COMMAND, dla.address("SDP.S_LUT_ACCESS_DATA"), value), 0u);
        EXPECT_EQ(debugger.access(tlm::TLM_READ_COMMAND, address + 1, value), 0u);
        tlm::tlm_dmi dmi;
        EXPECT_FALSE(debugger.socket->get_direct_mem_ptr(payload, dmi));
        EXPECT_FALSE(memory.port().get_base_export()->get_direct_mem_ptr(payload, dmi));
    });
    sc_start(1, SC_US);
}

TEST(Checkpoint, TakesRegistersAndMemoryToAnotherMachine)
{
    Node first("first", dlasim::HardwareConfig("nv_small"), "ideal"), second("second", dlasim::HardwareConfig("nv_small"), "ideal");
    second.driver.enabled = false;
    std::stringstream registers, bytes;
    sc_spawn([&] {
        wait(20, SC_US);
        EXPECT_THROW(first.dla.save(registers), dlasim::ConfigError);  // it runs
        registers.str("");
        wait(first.driver.ended());
        first.dla.save(registers);
        first.memory.save(bytes);
        second.dla.restore(registers);
        second.memory.restore(bytes);
        std::stringstream again, all;
        second.dla.save(again);
        second.memory.save(all);
        EXPECT_EQ(again.str(), registers.str());
        EXPECT_EQ(all.str(), bytes.str());
        std::stringstream wrong("dlasim registers 1\nGLB 1 2 3\n"), nothing("x");
        EXPECT_THROW(second.dla.restore(wrong), dlasim::ConfigError);
        EXPECT_THROW(second.memory.restore(nothing), dlasim::ConfigError);
    });
    sc_start();
    EXPECT_TRUE(first.driver.result().check.right);
    dlasim::CompiledWorkload same(kLayer, second.dla.hardware());
    const dlasim::MemoryAccess access{[&](bool, std::uint64_t at, std::uint64_t count) { return second.memory.read(at, count); },
                                      [](bool, std::uint64_t, const std::vector<std::uint8_t>&) {}};
    EXPECT_TRUE(same.check(access).right);
}

TEST(Trace, HasTheSignalsOfTheBoundary)
{
    const std::string path = testing::TempDir() + "/library_test_trace" + std::to_string(getpid());
    {
        Node node("node", dlasim::HardwareConfig("nv_small"), "ideal");
        sc_trace_file* file = sc_create_vcd_trace_file(path.c_str());
        node.dla.trace(file);
        sc_start();
        sc_close_vcd_trace_file(file);
        EXPECT_EQ(node.driver.result().cycles, result_of_the_command("nv_small", "ideal")["cycles"]);
    }
    std::ifstream in(path + ".vcd");
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    for (const char* name : {"interrupt", "csb_write_address", "dbb_read_client", "dbb_write_bytes"})
        EXPECT_THAT(text, testing::HasSubstr(name));
}

/// Takes every burst and answers none.
struct SilentMemory : sc_module {
    tlm_utils::simple_target_socket<SilentMemory, 512> socket{"socket"};

    explicit SilentMemory(sc_module_name name) : sc_module(name)
    {
        socket.register_nb_transport_fw(this, &SilentMemory::forward);
        socket.register_transport_dbg(this, &SilentMemory::debug);
    }
    tlm::tlm_sync_enum forward(tlm::tlm_generic_payload&, tlm::tlm_phase& phase, sc_time&)
    {
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    unsigned debug(tlm::tlm_generic_payload& access) { return access.get_data_length(); }
};

TEST(Driver, SaysWhatAPlatformThatHangsWaitsFor)
{
    const dlasim::HardwareConfig hardware("nv_small");
    dlasim::Accelerator dla("dla", hardware);
    SilentMemory memory("memory");
    dlasim::Driver driver("driver", dla, dlasim::CompiledWorkload(kLayer, hardware));
    sc_signal<bool> interrupt("interrupt");
    dla.dbb.bind(memory.socket);
    dla.interrupt(interrupt);
    driver.csb.bind(dla.csb);
    driver.interrupt(interrupt);
    sc_start();
    EXPECT_FALSE(driver.result().finished);
    EXPECT_EQ(dla.failure(), "");
    EXPECT_THAT(driver.result().problem, testing::HasSubstr("read and 0 write beats in flight"));
    EXPECT_THAT(driver.result().problem, testing::HasSubstr("the memory has not answered the read of 8 bytes at 0x"));
}

TEST(Driver, GivesResultsThatDoNotChangeAfterwards)
{
    Node node("node", dlasim::HardwareConfig("nv_small"), "ideal");
    const dlasim::Driver::Result& before = node.driver.result();
    sc_start();
    EXPECT_FALSE(before.finished);
    EXPECT_TRUE(node.driver.result().finished);
}

/// On the way to a memory, which is free to do this to extensions that it does not know.
struct Stripping : sc_module, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<> {
    tlm::tlm_target_socket<512> in{"in"};
    tlm::tlm_initiator_socket<512> out{"out"};
    int how;
    std::deque<dlasim::BurstClient> others{};  // its own extensions
    Stripping(sc_module_name name, int how_) : sc_module(name), how(how_)
    {
        in.bind(*static_cast<tlm::tlm_fw_transport_if<>*>(this));
        out.bind(*static_cast<tlm::tlm_bw_transport_if<>*>(this));
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_time& delay) override
    {
        if (phase == tlm::BEGIN_REQ && how == 0) payload.clear_extension<dlasim::BurstClient>();
        if (phase == tlm::BEGIN_REQ && how == 1) payload.release_extension<dlasim::BurstClient>();
        if (phase == tlm::BEGIN_REQ && how == 2) payload.free_all_extensions();
        if (phase == tlm::BEGIN_REQ && how == 3) payload.set_extension(&others.emplace_back());  // in the place of the accelerator's
        return out->nb_transport_fw(payload, phase, delay);
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_time& delay) override
    {
        return in->nb_transport_bw(payload, phase, delay);
    }
    void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) override { out->b_transport(payload, delay); }
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override { return out->transport_dbg(payload); }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

class Extensions : public testing::TestWithParam<int> {};

TEST_P(Extensions, MayBeRemovedByWhoeverHasTheBurst)
{
    const dlasim::HardwareConfig hardware("nv_small");
    dlasim::Accelerator dla("dla", hardware);
    Stripping strip("strip", GetParam());
    dlasim::Memory memory("memory", {.memory = "ddr4-3200"});
    dlasim::Driver driver("driver", dla, dlasim::CompiledWorkload(kLayer, hardware));
    sc_signal<bool> interrupt("interrupt");
    dla.dbb.bind(strip.in);
    strip.out.bind(memory.port());
    dla.interrupt(interrupt);
    driver.csb.bind(dla.csb);
    driver.interrupt(interrupt);
    sc_start();
    EXPECT_EQ(dla.failure(), "");
    EXPECT_TRUE(driver.result().check.right);
}

INSTANTIATE_TEST_SUITE_P(Library, Extensions, testing::Range(0, 4));

class Memories : public testing::TestWithParam<std::string> {};

TEST_P(Memories, RefuseABurstWithoutAMemoryManager)
{
    std::vector<std::string> told;
    dlasim::Memory memory("memory",
                          {.memory = GetParam(), .on_error = [&](const dlasim::MachineError& error) { told.emplace_back(error.what()); }});
    struct Master : sc_module {
        tlm_utils::simple_initiator_socket<Master, 512> socket{"socket"};
        explicit Master(sc_module_name name) : sc_module(name) {}
    } master("master");
    auto& socket = master.socket;
    socket.bind(memory.port());
    tlm::tlm_generic_payload payload;
    std::array<unsigned char, 64> bytes{};
    payload.set_read();
    payload.set_data_ptr(bytes.data());
    payload.set_data_length(bytes.size());
    payload.set_streaming_width(bytes.size());
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_time delay(1, SC_NS);
    sc_start(SC_ZERO_TIME);
    EXPECT_EQ(socket->nb_transport_fw(payload, phase, delay), tlm::TLM_COMPLETED);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_THAT(told, testing::ElementsAre(testing::HasSubstr("the payload has no memory manager")));
    sc_start(1, SC_US);
    socket->b_transport(payload, delay);  // whose payload is the caller's all the time
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
}

INSTANTIATE_TEST_SUITE_P(Library, Memories, testing::Values("ideal", "ddr4-3200"));

/// All bytes in one bank: every burst in a row of its own.
struct OneBank final : dlasim::DramPolicy {
    dlasim::DramLocation locate(std::uint64_t address, const dlasim::DramLocation&) const override
    {
        return {.row = static_cast<std::uint32_t>(address / 64 % 4096)};
    }
};
/// Beyond the last bank.
struct NoBank final : dlasim::DramPolicy {
    dlasim::DramLocation locate(std::uint64_t, const dlasim::DramLocation&) const override { return {.bank = 4}; }
};

dlasim::MemoryOptions with_policy(const std::string& memory, std::shared_ptr<const dlasim::DramPolicy> policy)
{
    dlasim::MemoryOptions options{.memory = memory};
    options.policy = std::move(policy);
    return options;
}

TEST(Policy, NeedsADramWithTheDefaultController)
{
    const auto refused = [](const std::string& memory) -> std::string {
        try {
            dlasim::Memory("memory", with_policy(memory, std::make_shared<OneBank>()));
        } catch (const dlasim::ConfigError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refused("ideal"), "policy: found with an ideal memory, expected a DRAM");
    EXPECT_EQ(refused("ddr4-3200:controller.profile=reference"),
              "policy: found with controller.profile=reference, expected the default controller");
}

/// Reads of 64 bytes one after the other, by nb_transport.
struct Reader final : sc_module, tlm::tlm_mm_interface {
    tlm_utils::simple_initiator_socket<Reader, 512> socket{"socket"};
    std::vector<tlm::tlm_response_status> statuses;

    explicit Reader(sc_module_name name) : sc_module(name)
    {
        socket.register_nb_transport_bw(this, &Reader::answered);
        SC_HAS_PROCESS(Reader);
        SC_THREAD(run);
    }
    void run()
    {
        for (std::uint64_t i = 0; i < 200; ++i) {
            auto* payload = new tlm::tlm_generic_payload(this);
            payload->acquire();
            payload->set_read();
            payload->set_address(64 * i);
            payload->set_data_ptr(data.data());
            payload->set_data_length(64);
            payload->set_streaming_width(64);
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_time delay;
            ended = socket->nb_transport_fw(*payload, phase, delay) == tlm::TLM_COMPLETED;
            if (!ended) wait(done);
            statuses.push_back(payload->get_response_status());
            payload->release();
        }
        took = sc_time_stamp();
    }
    tlm::tlm_sync_enum answered(tlm::tlm_generic_payload&, tlm::tlm_phase& phase, sc_time& delay)
    {
        if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
        done.notify(delay);
        phase = tlm::END_RESP;
        return tlm::TLM_COMPLETED;
    }
    void free(tlm::tlm_generic_payload* payload) override { delete payload; }
    std::array<std::uint8_t, 64> data{};
    sc_event done;
    bool ended = false;
    sc_time took;
};

TEST(Policy, DecidesWhereBytesLie)
{
    dlasim::Memory configured("configured", {.memory = "ddr4-3200"});
    dlasim::Memory one_bank("one_bank", with_policy("ddr4-3200", std::make_shared<OneBank>()));
    dlasim::Memory no_bank("no_bank", with_policy("ddr4-3200", std::make_shared<NoBank>()));
    Reader plain("plain"), slow("slow"), refused("refused");
    plain.socket.bind(configured.port());
    slow.socket.bind(one_bank.port());
    refused.socket.bind(no_bank.port());
    sc_start();
    EXPECT_THAT(plain.statuses, testing::AllOf(testing::SizeIs(200), testing::Each(tlm::TLM_OK_RESPONSE)));
    EXPECT_THAT(slow.statuses, testing::AllOf(testing::SizeIs(200), testing::Each(tlm::TLM_OK_RESPONSE)));
    EXPECT_THAT(refused.statuses, testing::AllOf(testing::SizeIs(200), testing::Each(tlm::TLM_ADDRESS_ERROR_RESPONSE)));
    EXPECT_GT(slow.took, plain.took + sc_time(200 * 20, SC_NS));  // a precharge and an activation more for each
}

TEST(Memory, MovesBytesBySpan)
{
    dlasim::Memory memory("memory", {.memory = "ideal"});
    const std::array<std::uint8_t, 3> in{1, 2, 3};
    std::array<std::uint8_t, 4> out{9, 9, 9, 9};
    memory.write(70000, in);
    memory.read(70001, out);
    EXPECT_THAT(out, testing::ElementsAre(2, 3, 0, 0));
    memory.write(70002, std::vector<std::uint8_t>{7});
    EXPECT_THAT(memory.read(70000, 3), testing::ElementsAre(1, 2, 7));
}

TEST(RegisterBus, WarnsOfAHighWordThatTheMachineCuts)
{
    static std::vector<std::string> warned;
    sc_report_handler::set_handler([](const sc_report& report, const sc_actions&) {
        if (report.get_severity() == SC_WARNING) warned.emplace_back(report.get_msg());
    });
    struct Plain : sc_module {
        dlasim::Accelerator dla;
        dlasim::Memory memory{"memory", {.memory = "ideal", .ports = 2}};
        tlm_utils::simple_initiator_socket<Stripping> bus{"bus"};
        sc_signal<bool> interrupt;
        explicit Plain(sc_module_name name) : sc_module(name), dla("dla", dlasim::HardwareConfig(basename()))
        {
            dla.dbb.bind(memory.port(0));
            if (dla.cvsram) dla.cvsram->bind(memory.port(1));
            dla.interrupt(interrupt);
            bus.bind(dla.csb);
        }
        void write(const char* name, std::uint32_t word)
        {
            tlm::tlm_generic_payload payload;
            payload.set_write();
            payload.set_address(dla.address(name));
            payload.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
            payload.set_data_length(4);
            payload.set_streaming_width(4);
            sc_time delay;
            bus->b_transport(payload, delay);
            EXPECT_TRUE(payload.is_response_ok());
        }
    } small("nv_small"), large("nv_large");
    sc_spawn([&] {
        for (Plain* plain : {&small, &large}) {
            plain->write("CDMA.D_WEIGHT_ADDR_LOW", 5);
            for (const std::uint32_t word : {0u, 3u, 3u}) plain->write("SDP.D_DST_BASE_ADDR_HIGH", word);
        }
        sc_stop();
    });
    sc_start();
    EXPECT_THAT(warned, testing::ElementsAre(testing::HasSubstr("SDP.D_DST_BASE_ADDR_HIGH = 3: nv_small has 32 address bits")));
}

TEST(Failures, OfSignalsAndHostsAreTold)
{
    std::vector<std::string> told;
    dlasim::AcceleratorOptions options{.hardware = "nv_small"};
    options.on_error = [&](const dlasim::MachineError& error) { told.emplace_back(error.what()); };
    dlasim::Accelerator dla("dla", dlasim::HardwareConfig("nv_small"), options);
    dlasim::Memory memory("memory", {.memory = "ideal"});
    dlasim::Driver driver("driver", dla, dlasim::CompiledWorkload(kLayer, dla.hardware()));
    struct Throwing : sc_signal<bool> {
        void write(const bool& level) override
        {
            if (level) throw 42;
        }
    } interrupt;
    dla.dbb.bind(memory.port());
    dla.interrupt(interrupt);
    driver.csb.bind(dla.csb);
    driver.interrupt(interrupt);
    sc_start(1, SC_MS);
    EXPECT_FALSE(driver.finished());
    EXPECT_THAT(told, testing::ElementsAre(testing::HasSubstr("GLB: something that is no std::exception was thrown")));
}

}  // namespace library_test
