// An accelerator in front of somebody else's memory: a TLM-2.0 target that knows nothing of dlasim.
//
//   own_memory LAYER.json
#include <dlasim/driver.h>
#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdio>
#include <map>

using namespace sc_core;

/// Answers every burst after 50 ns, and counts reads by client.
struct OwnMemory : sc_module {
    tlm_utils::simple_target_socket<OwnMemory, 512> socket{"socket"};
    tlm_utils::peq_with_get<tlm::tlm_generic_payload> due{"due"};
    std::map<std::uint64_t, unsigned char> bytes;
    std::map<std::string, std::uint64_t> read_by;
    sc_event taken;

    SC_HAS_PROCESS(OwnMemory);
    explicit OwnMemory(sc_module_name name) : sc_module(name)
    {
        socket.register_nb_transport_fw(this, &OwnMemory::forward);
        socket.register_transport_dbg(this, &OwnMemory::debug);
        SC_THREAD(answer);
    }
    tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& burst, tlm::tlm_phase& phase, sc_time& delay)
    {
        if (phase == tlm::END_RESP) {
            taken.notify(SC_ZERO_TIME);
            return tlm::TLM_COMPLETED;
        }
        if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
        if (const auto* client = burst.get_extension<dlasim::BurstClient>(); client && burst.is_read())
            read_by[dlasim::client_name(client->id)] += burst.get_data_length();
        burst.acquire();
        due.notify(burst, delay + sc_time(50, SC_NS));
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    void answer()
    {
        for (;;) {
            wait(due.get_event());
            while (tlm::tlm_generic_payload* burst = due.get_next_transaction()) {
                debug(*burst);
                burst->set_response_status(tlm::TLM_OK_RESPONSE);
                tlm::tlm_phase phase = tlm::BEGIN_RESP;
                sc_time delay;
                if (socket->nb_transport_bw(*burst, phase, delay) == tlm::TLM_ACCEPTED) wait(taken);
                burst->release();
            }
        }
    }
    /// Moves the bytes: for the driver that fills memory and looks at it, too.
    unsigned debug(tlm::tlm_generic_payload& burst)
    {
        if (!burst.is_read() && !burst.is_write()) return 0;
        const unsigned char* enables = burst.get_byte_enable_ptr();
        for (unsigned i = 0; i < burst.get_data_length(); ++i) {
            unsigned char& byte = bytes[burst.get_address() + i];
            if (burst.is_read()) burst.get_data_ptr()[i] = byte;
            else if (!enables || enables[i % burst.get_byte_enable_length()] != 0) byte = burst.get_data_ptr()[i];
        }
        return burst.get_data_length();
    }
};

int sc_main(int, char** argv)
{
    dlasim::Accelerator dla("dla", dlasim::AcceleratorOptions{.hardware = "nv_small", .settings = {}});
    OwnMemory memory("memory");
    dlasim::Driver driver("driver", dla, dlasim::CompiledWorkload(argv[1], dla.hardware()));
    sc_signal<bool> interrupt("interrupt");
    dla.dbb.bind(memory.socket);
    dla.interrupt(interrupt);
    driver.csb.bind(dla.csb);
    driver.interrupt(interrupt);
    sc_start();
    const dlasim::CheckResult& check = driver.result().check;
    std::printf("cycles %llu, %llu values, %llu of them wrong\n", static_cast<unsigned long long>(driver.result().cycles),
                static_cast<unsigned long long>(check.compared), static_cast<unsigned long long>(check.mismatches));
    for (const auto& [client, read] : memory.read_by)
        std::printf("  %-8s read %llu bytes\n", client.c_str(), static_cast<unsigned long long>(read));
    return check.right ? 0 : 1;
}
