// A driver of one's own: it writes registers by name, reads them, and has an interrupt handler. It plays a compiled layer without
// dlasim::Driver, as firmware on a processor would.
//
//   own_driver LAYER.json
#include <dlasim/accelerator.h>
#include <dlasim/memory.h>
#include <dlasim/workload.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdio>
#include <stdexcept>

using namespace sc_core;
using Kind = dlasim::ProgramStep::Kind;

class Firmware : public sc_module {
public:
    tlm_utils::simple_initiator_socket<Firmware> bus{"bus"};
    sc_in<bool> interrupt{"interrupt"};

    SC_HAS_PROCESS(Firmware);
    Firmware(sc_module_name name, const dlasim::Accelerator& dla, dlasim::CompiledWorkload& work, dlasim::Memory& memory)
        : sc_module(name), status_(dla.address("GLB.S_INTR_STATUS")), work_(work), memory_(memory)
    {
        SC_THREAD(run);
        SC_THREAD(handle_interrupts);
    }
    unsigned interrupts = 0;
    std::uint32_t last_read = 0;
    bool ended = false;

    dlasim::MemoryAccess memory_access()
    {
        return {[this](bool, std::uint64_t address, std::uint64_t bytes) { return memory_.read(address, bytes); },
                [this](bool, std::uint64_t address, const std::vector<std::uint8_t>& bytes) { memory_.write(address, bytes); }};
    }

private:
    // ---- the register bus
    void write(std::uint32_t address, std::uint32_t word) { access(tlm::TLM_WRITE_COMMAND, address, word); }
    std::uint32_t read(std::uint32_t address)
    {
        std::uint32_t word = 0;
        access(tlm::TLM_READ_COMMAND, address, word);
        return word;
    }
    void access(tlm::tlm_command command, std::uint32_t address, std::uint32_t& word)
    {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        sc_time delay;
        bus->b_transport(payload, delay);
        if (payload.is_response_error()) throw std::runtime_error(payload.get_response_string());
        wait(delay);  // until a write is accepted, or read data are back
    }

    // ---- the interrupt handler: reads what is pending, clears exactly that, and wakes whoever waits
    void handle_interrupts()
    {
        for (;;) {
            while (!interrupt.read()) wait(interrupt.posedge_event());
            const std::uint32_t pending = read(status_);
            write(status_, pending);  // write one to clear
            ++interrupts;
            seen_ |= pending;
            happened_.notify(SC_ZERO_TIME);
            while (interrupt.read() && read(status_) == 0)  // the pin falls some cycles after the write
                if (interrupt.read()) wait(interrupt.negedge_event());
        }
    }
    void await(std::uint32_t bits)
    {
        while (bits == 0 ? seen_ == 0 : (seen_ & bits) != bits) wait(happened_);
        seen_ &= bits == 0 ? 0 : ~bits;
    }

    // ---- the program
    void run()
    {
        work_.load(memory_access());
        for (const dlasim::ProgramStep& step : work_.steps()) switch (step.kind) {
                case Kind::Write:
                    write(step.address, step.value);
                    break;
                case Kind::Read:
                    last_read = read(step.address);
                    break;
                case Kind::Poll:
                    while ((read(step.address) & step.mask) != step.value) {
                    }
                    break;
                case Kind::WaitInterrupt:
                case Kind::WaitPin:
                    await(0);
                    break;  // any
                case Kind::WaitStatus:
                    await(step.mask);
                    break;  // these
                case Kind::Host:
                    work_.host(step.value, memory_access());
                    break;
                case Kind::Mark:
                case Kind::Stamp:
                    break;  // for measuring
            }
        ended = true;
        sc_stop();
    }

    std::uint32_t status_, seen_ = 0;
    sc_event happened_;
    dlasim::CompiledWorkload& work_;
    dlasim::Memory& memory_;
};

int sc_main(int, char** argv)
{
    dlasim::Accelerator dla("dla", dlasim::HardwareConfig("nv_small"));
    dlasim::Memory memory("memory", {.memory = "ddr4-3200"});
    dlasim::CompiledWorkload work(argv[1], dla.hardware());
    Firmware firmware("firmware", dla, work, memory);
    sc_signal<bool> interrupt("interrupt");
    dla.dbb.bind(memory.port());
    dla.interrupt(interrupt);
    firmware.bus.bind(dla.csb);
    firmware.interrupt(interrupt);
    sc_start();
    const dlasim::CheckResult check = work.check(firmware.memory_access(), firmware.last_read);
    std::printf("%u interrupts, %s, %s\n", firmware.interrupts, sc_time_stamp().to_string().c_str(),
                firmware.ended && check.right ? "verified" : "WRONG");
    return firmware.ended && check.right ? 0 : 1;
}
