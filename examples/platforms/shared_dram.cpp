// Two accelerators on one DRAM, a traffic generator beside them, and the quality of service changed.
//
//   shared_dram LAYER.json HARDWARE MEMORY WHO [GENERATOR_GAP [PRIORITY_OF_A [LIMIT_OF_GENERATOR]]]
//
// WHO: a, b or ab. Prints a line a master: name, cycles, bytes read and written as it counts them itself, the same as the DRAM's port does.
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include <dlasim/driver.h>
#include <dlasim/memory.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdio>
#include <cstdlib>
#include <deque>

using namespace sc_core;

/// Reads 64 bytes at a fixed interval, at scattered addresses; at most 16 bursts without an answer. Until it is stopped.
struct Generator : sc_module, tlm::tlm_mm_interface {
    tlm_utils::simple_initiator_socket<Generator, 512> socket{"socket"};
    std::deque<std::unique_ptr<tlm::tlm_generic_payload>> all;
    std::deque<tlm::tlm_generic_payload*> idle;
    unsigned char data[64] = {};
    sc_event accepted, freed;
    std::uint64_t bytes = 0, outstanding = 0;
    unsigned gap;
    sc_time clock;
    bool stopped = false;

    SC_HAS_PROCESS(Generator);
    Generator(sc_module_name name, unsigned every, sc_time period) : sc_module(name), gap(every), clock(period)
    {
        socket.register_nb_transport_bw(this, &Generator::backward);
        SC_THREAD(run);
    }
    void free(tlm::tlm_generic_payload* payload) override { idle.push_back(payload); }
    tlm::tlm_generic_payload* make()
    {
        if (idle.empty()) {
            all.push_back(std::make_unique<tlm::tlm_generic_payload>(this));
            return all.back().get();
        }
        tlm::tlm_generic_payload* payload = idle.front();
        idle.pop_front();
        return payload;
    }
    void run()
    {
        for (std::uint64_t address = 0; gap != 0 && !stopped; address = (address * 5 + 64 * 1021) % (64 << 20)) {
            while (outstanding == 16) wait(freed);
            tlm::tlm_generic_payload* payload = make();
            payload->acquire();
            payload->set_read();
            payload->set_address(address / 64 * 64);
            payload->set_data_ptr(data);
            payload->set_data_length(sizeof data);
            payload->set_streaming_width(sizeof data);
            payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
            ++outstanding;
            bytes += sizeof data;
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_time delay;
            const tlm::tlm_sync_enum answer = socket->nb_transport_fw(*payload, phase, delay);
            if (answer == tlm::TLM_ACCEPTED) wait(accepted);
            if (answer == tlm::TLM_COMPLETED) done(*payload);
            wait(gap * clock);
        }
    }
    void done(tlm::tlm_generic_payload& payload)
    {
        --outstanding;
        payload.release();
        freed.notify(SC_ZERO_TIME);
    }
    tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_time&)
    {
        if (phase == tlm::END_REQ) accepted.notify(SC_ZERO_TIME);
        if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
        done(payload);
        return tlm::TLM_COMPLETED;
    }
};

int sc_main(int argc, char** argv)
{
    const std::string file = argv[1], memory_name = argv[3], who = argv[4];
    const auto number = [&](int i) { return argc > i ? static_cast<unsigned>(std::atoi(argv[i])) : 0u; };
    const dlasim::HardwareConfig hardware(argv[2]);
    const sc_time period = hardware.clock_period();
    const dlasim::AcceleratorOptions options{.hardware = {}, .settings = {}, .clock_period = period};
    const auto compiled = [&] { return dlasim::CompiledWorkload(file, hardware, {.memory = memory_name}); };
    dlasim::Accelerator a("a", hardware, options), b("b", hardware, options);
    dlasim::Driver driver_a("driver_a", a, compiled()), driver_b("driver_b", b, compiled());
    dlasim::Memory memory("memory", {.memory = memory_name, .clock_period = period, .ports = 3});
    Generator generator("generator", number(5), period);
    sc_signal<bool> interrupt_a("interrupt_a"), interrupt_b("interrupt_b");
    a.dbb.bind(memory.port(0));
    b.dbb.bind(memory.port(1));
    generator.socket.bind(memory.port(2));
    memory.set_offset(1, std::uint64_t{1} << 32);  // an address space of its own: 4 GiB of the 8 that the DRAM has
    memory.set_priority(0, number(6));
    memory.set_limit(2, number(7));
    a.interrupt(interrupt_a);
    b.interrupt(interrupt_b);
    driver_a.csb.bind(a.csb);
    driver_b.csb.bind(b.csb);
    driver_a.interrupt(interrupt_a);
    driver_b.interrupt(interrupt_b);
    driver_a.enabled = who != "b";
    driver_b.enabled = who != "a";
    sc_spawn([&] {
        for (dlasim::Driver* driver : {&driver_a, &driver_b})
            while (driver->enabled && !driver->finished()) wait(driver->ended());
        generator.stopped = true;
    });
    sc_start();

    bool right = true;
    const auto tell = [&](const char* name, std::uint64_t cycles, std::uint64_t bytes, unsigned port) {
        const dlasim::PortStatistics seen = memory.statistics(port);
        std::printf("%s %llu %llu %llu\n", name, static_cast<unsigned long long>(cycles), static_cast<unsigned long long>(bytes),
                    static_cast<unsigned long long>(seen.read_bytes + seen.write_bytes));
        right = right && bytes == seen.read_bytes + seen.write_bytes;
    };
    for (const auto& [driver, name, port] : {std::tuple{&driver_a, "a", 0u}, std::tuple{&driver_b, "b", 1u}}) {
        if (!driver->enabled) continue;
        const auto& dbb = driver->result().report.dbb;
        tell(name, driver->result().cycles, dbb.read_bytes + dbb.write_bytes, port);
        right = right && driver->result().check.right;
    }
    if (number(5) != 0) tell("generator", 0, generator.bytes, 2);
    return right ? 0 : 1;
}
