// A loosely timed processor: it runs ahead of the simulation by up to a quantum, also while it programs the accelerator. It plays the steps
// of a compiled layer by itself.
//
//   loosely_timed LAYER.json [QUANTUM_NS]
#include <dlasim/accelerator.h>
#include <dlasim/memory.h>
#include <dlasim/workload.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include <cstdio>
#include <cstdlib>

using namespace sc_core;
using Kind = dlasim::ProgramStep::Kind;

struct Processor : sc_module {
    tlm_utils::simple_initiator_socket<Processor> bus{"bus"};
    sc_in<bool> interrupt{"interrupt"};
    dlasim::CompiledWorkload& workload;
    dlasim::MemoryAccess memory;
    tlm_utils::tlm_quantumkeeper keeper;
    std::uint32_t last_read = 0;
    unsigned syncs = 0, accesses = 0;
    bool ended = false;

    SC_HAS_PROCESS(Processor);
    Processor(sc_module_name name, dlasim::CompiledWorkload& work, dlasim::MemoryAccess access)
        : sc_module(name), workload(work), memory(std::move(access))
    {
        SC_THREAD(run);
    }
    std::uint32_t access(tlm::tlm_command command, std::uint32_t address, std::uint32_t word)
    {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        sc_time local = keeper.get_local_time();
        bus->b_transport(payload, local);
        if (payload.is_response_error()) SC_REPORT_ERROR("/processor", payload.get_response_string().c_str());
        keeper.set(local + sc_time(1, SC_NS));  // an instruction
        ++accesses;
        if (keeper.need_sync()) synchronise();
        return word;
    }
    void synchronise()
    {
        ++syncs;
        keeper.sync();
    }
    void await_level(bool level)
    {
        synchronise();
        while (interrupt.read() != level) wait(interrupt.value_changed_event());
    }
    void run()
    {
        keeper.reset();
        workload.load(memory);
        for (const dlasim::ProgramStep& step : workload.steps()) {
            if (step.kind == Kind::Write) access(tlm::TLM_WRITE_COMMAND, step.address, step.value);
            if (step.kind == Kind::Read) last_read = access(tlm::TLM_READ_COMMAND, step.address, 0);
            if (step.kind == Kind::Host) workload.host(step.value, memory);
            if (step.kind == Kind::Poll)
                while ((access(tlm::TLM_READ_COMMAND, step.address, 0) & step.mask) != step.value) {
                }
            if (step.kind == Kind::WaitInterrupt) {
                await_level(true);
                access(tlm::TLM_WRITE_COMMAND, step.address, 0xffffffffu);
                await_level(false);
            }
            for (std::uint32_t seen = 0; step.kind == Kind::WaitStatus && (seen & step.mask) != step.mask;) {
                await_level(true);
                const std::uint32_t status = access(tlm::TLM_READ_COMMAND, step.address, 0);
                access(tlm::TLM_WRITE_COMMAND, step.address, status);
                seen |= status;
            }
        }
        synchronise();
        ended = true;
    }
};

int sc_main(int argc, char** argv)
{
    tlm::tlm_global_quantum::instance().set(sc_time(argc > 2 ? std::atoi(argv[2]) : 1000, SC_NS));
    dlasim::Accelerator dla("dla", dlasim::AcceleratorOptions{.hardware = "nv_small", .settings = {}});
    dlasim::Memory memory("memory", {.memory = "ideal"});
    dlasim::CompiledWorkload workload(argv[1], dla.hardware());
    Processor processor("processor", workload,
                        {[&](bool, std::uint64_t address, std::uint64_t bytes) { return memory.read(address, bytes); },
                         [&](bool, std::uint64_t address, const std::vector<std::uint8_t>& bytes) { memory.write(address, bytes); }});
    sc_signal<bool> interrupt("interrupt");
    dla.dbb.bind(memory.port());
    dla.interrupt(interrupt);
    processor.bus.bind(dla.csb);
    processor.interrupt(interrupt);
    sc_start();
    const dlasim::CheckResult check = workload.check(processor.memory, processor.last_read);
    std::printf("%u accesses, %u synchronisations, %s, %s\n", processor.accesses, processor.syncs, sc_time_stamp().to_string().c_str(),
                processor.ended && check.right ? "verified" : "WRONG");
    return processor.ended && check.right ? 0 : 1;
}
