// Written by reading docs/LIBRARY.md and the headers alone: two accelerators on a bus and a memory of one's own, counters printed.
//
//   own_bus LAYER.json
#include <dlasim/driver.h>
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/peq_with_get.h>

#include <cstdio>
#include <map>

using namespace sc_core;
using Payload = tlm::tlm_generic_payload;

/// Takes a burst from either master, moves 64 bytes a nanosecond, answers 30 ns later. A master has 8 GiB of its own.
struct BusAndMemory : sc_module {
    tlm_utils::multi_passthrough_target_socket<BusAndMemory, 512> masters{"masters"};
    tlm_utils::peq_with_get<Payload> due{"due"};
    std::map<Payload*, int> master_of;
    std::map<std::uint64_t, unsigned char> bytes;
    std::map<int, std::uint64_t> moved;
    sc_event taken;
    sc_time free;  // the bus

    SC_HAS_PROCESS(BusAndMemory);
    explicit BusAndMemory(sc_module_name name) : sc_module(name)
    {
        masters.register_nb_transport_fw(this, &BusAndMemory::forward);
        masters.register_transport_dbg(this, &BusAndMemory::debug);
        SC_THREAD(answer);
    }
    tlm::tlm_sync_enum forward(int master, Payload& burst, tlm::tlm_phase& phase, sc_time& delay)
    {
        if (phase == tlm::END_RESP) {
            taken.notify(SC_ZERO_TIME);
            return tlm::TLM_COMPLETED;
        }
        if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
        burst.acquire();
        master_of[&burst] = master;
        moved[master] += burst.get_data_length();
        free = std::max(free, sc_time_stamp() + delay) + sc_time(1, SC_NS) * ((burst.get_data_length() + 63) / 64);
        due.notify(burst, free - sc_time_stamp() + sc_time(30, SC_NS));
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    void answer()
    {
        for (;; wait(due.get_event()))
            while (Payload* burst = due.get_next_transaction()) {
                const int master = master_of[burst];
                debug(master, *burst);
                burst->set_response_status(tlm::TLM_OK_RESPONSE);
                tlm::tlm_phase phase = tlm::BEGIN_RESP;
                sc_time delay;
                if (masters[master]->nb_transport_bw(*burst, phase, delay) == tlm::TLM_ACCEPTED) wait(taken);
                burst->release();
            }
    }
    unsigned debug(int master, Payload& burst)
    {
        if (!burst.is_read() && !burst.is_write()) return 0;
        const std::uint64_t from = (std::uint64_t(master) << 33) + burst.get_address();
        const unsigned char* enables = burst.get_byte_enable_ptr();
        for (unsigned i = 0; i < burst.get_data_length(); ++i) {
            if (burst.is_read()) burst.get_data_ptr()[i] = bytes[from + i];
            else if (!enables || enables[i % burst.get_byte_enable_length()] != 0) bytes[from + i] = burst.get_data_ptr()[i];
        }
        return burst.get_data_length();
    }
};

/// An accelerator with its software and its pin.
struct Node : sc_module {
    dlasim::Accelerator dla;
    dlasim::Driver driver;
    sc_signal<bool> interrupt{"interrupt"};

    Node(sc_module_name name, const dlasim::HardwareConfig& hardware, const char* file)
        : sc_module(name), dla("dla", hardware), driver("driver", dla, dlasim::CompiledWorkload(file, hardware))
    {
        driver.csb.bind(dla.csb);
        dla.interrupt(interrupt);
        driver.interrupt(interrupt);
    }
};

int sc_main(int, char** argv)
{
    dlasim::HardwareConfig small("nv_small"), larger("nv_small");
    larger.set("mac.atomic_c", 16);
    Node first("first", small, argv[1]), second("second", larger, argv[1]);
    BusAndMemory memory("memory");
    first.dla.dbb.bind(memory.masters);
    second.dla.dbb.bind(memory.masters);
    sc_start();
    bool right = true;
    int master = 0;
    for (Node* node : {&first, &second}) {
        const dlasim::Driver::Result& result = node->driver.result();
        std::printf("%s: %llu cycles, %llu bytes, %s\n", node->name(), static_cast<unsigned long long>(result.cycles),
                    static_cast<unsigned long long>(memory.moved[master]), result.check.right ? "verified" : "WRONG");
        for (const char* unit : {"cdma", "csc", "sdp"}) {
            const dlasim::AcceleratorReport::Unit* seen = result.report.unit(unit);
            std::printf("  %-5s issuing %8llu, starved %8llu, blocked %8llu\n", unit, static_cast<unsigned long long>(seen->issuing),
                        static_cast<unsigned long long>(seen->starved), static_cast<unsigned long long>(seen->blocked));
        }
        right = right && result.check.right && result.report.dbb.read_bytes + result.report.dbb.write_bytes == memory.moved[master++];
    }
    return right ? 0 : 1;
}
