// A board around the driver: the accelerator of the installed library, a memory at its port, and a processor that is one SystemC
// thread and runs the C program. Everything comes through public headers and sockets.
#include <dlasim/accelerator.h>
#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "nvdla_driver.h"
#include "program.h"

using namespace sc_core;

namespace {

const sc_time kClock(1, SC_NS);

/// Answers every burst after 32 cycles.
struct Memory : sc_module {
    tlm_utils::simple_target_socket<Memory, 512> socket{"socket"};
    tlm_utils::peq_with_get<tlm::tlm_generic_payload> due{"due"};
    std::map<std::uint64_t, std::uint8_t> bytes;
    sc_event taken;

    SC_HAS_PROCESS(Memory);
    explicit Memory(sc_module_name name) : sc_module(name)
    {
        socket.register_nb_transport_fw(this, &Memory::forward);
        SC_THREAD(answer);
    }
    tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& burst, tlm::tlm_phase& phase, sc_time& delay)
    {
        if (phase == tlm::END_RESP) {
            taken.notify(SC_ZERO_TIME);
            return tlm::TLM_COMPLETED;
        }
        if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
        burst.acquire();
        due.notify(burst, delay + 32 * kClock);
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    void answer()
    {
        for (;;) {
            wait(due.get_event());
            while (tlm::tlm_generic_payload* burst = due.get_next_transaction()) {
                move(*burst);
                burst->set_response_status(tlm::TLM_OK_RESPONSE);
                tlm::tlm_phase phase = tlm::BEGIN_RESP;
                sc_time delay;
                if (socket->nb_transport_bw(*burst, phase, delay) == tlm::TLM_ACCEPTED) wait(taken);
                burst->release();
            }
        }
    }
    void move(tlm::tlm_generic_payload& burst)
    {
        const unsigned char* enables = burst.get_byte_enable_ptr();
        for (unsigned i = 0; i < burst.get_data_length(); ++i) {
            std::uint8_t& byte = bytes[burst.get_address() + i];
            if (burst.is_read()) burst.get_data_ptr()[i] = byte;
            else if (!enables || enables[i % burst.get_byte_enable_length()] != 0) byte = burst.get_data_ptr()[i];
        }
    }
};

struct Processor : sc_module {
    tlm_utils::simple_initiator_socket<Processor> bus{"bus"};
    sc_in<bool> interrupt{"interrupt"};
    bool ended = false;
    std::size_t failed_step = 0;

    SC_HAS_PROCESS(Processor);
    explicit Processor(sc_module_name name) : sc_module(name) { SC_THREAD(run); }

    std::uint32_t access(tlm::tlm_command command, std::uint32_t address, std::uint32_t word)
    {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
        payload.set_data_length(4);
        sc_time delay;
        bus->b_transport(payload, delay);
        if (payload.is_response_error()) SC_REPORT_ERROR("/board", "the register bus answers with an error");
        wait(delay + kClock);
        return word;
    }
    static Processor& of(void* platform) { return *static_cast<Processor*>(platform); }
    void run()
    {
        const nvdla_board board = {
            this, [](void* p, std::uint32_t address, std::uint32_t value) { of(p).access(tlm::TLM_WRITE_COMMAND, address, value); },
            [](void* p, std::uint32_t address) { return of(p).access(tlm::TLM_READ_COMMAND, address, 0); },
            [](void* p, int level) {
                while (of(p).interrupt.read() != (level != 0)) of(p).wait_for_edge();
            }};
        failed_step = nvdla_run(&board, nvdla_program, sizeof nvdla_program / sizeof *nvdla_program);
        ended = true;
        sc_stop();
    }
    void wait_for_edge() { wait(interrupt.value_changed_event()); }
};

bool right(Memory& memory)
{
    bool all = true;
    for (const nvdla_region& region : nvdla_outputs) {
        std::vector<std::uint8_t> bytes;
        for (std::uint32_t i = 0; i < region.bytes; ++i) bytes.push_back(memory.bytes[region.address + i]);
        const std::uint32_t crc = nvdla_crc32(0, bytes.data(), bytes.size());
        std::printf("%u bytes at %#llx have CRC %#010x, expected %#010x\n", region.bytes, static_cast<unsigned long long>(region.address),
                    crc, region.crc32);
        all = all && crc == region.crc32;
    }
    return all;
}

}  // namespace

int sc_main(int, char**)
{
    dlasim::AcceleratorOptions options;
    options.hardware = BOARD_HARDWARE;
    options.clock_period = kClock;
    dlasim::Accelerator dla("dla", options);
    Memory memory("memory");
    std::unique_ptr<Memory> on_chip;  // where the machine has a port for it
    Processor processor("processor");
    sc_signal<bool> interrupt("interrupt");
    dla.dbb.bind(memory.socket);
    if (dla.cvsram) {
        on_chip = std::make_unique<Memory>("on_chip");
        dla.cvsram->bind(on_chip->socket);
    }
    processor.bus.bind(dla.csb);
    dla.interrupt(interrupt);
    processor.interrupt(interrupt);
    for (const nvdla_image& image : nvdla_images)
        if (image.port == 0)
            for (std::uint32_t i = 0; i < image.bytes; ++i) memory.bytes[image.address + i] = image.data[i];
    sc_start(sc_time(1, SC_SEC));
    if (!processor.ended || processor.failed_step != 0) {
        std::printf("step %zu does not end\n%s", processor.failed_step, dla.diagnosis().c_str());
        return 1;
    }
    std::printf("the program ended after %s\n", sc_time_stamp().to_string().c_str());
    return right(memory) ? 0 : 1;
}
