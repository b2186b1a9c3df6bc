// A platform that knows nothing of dlasim but its installed headers: a memory of its own on the base
// protocol, software of its own on the register bus. Copies 8 channels of one pixel through SDP.
#include <dlasim/accelerator.h>
#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdio>
#include <cstring>
#include <map>

using namespace sc_core;

struct Memory : sc_module {
    tlm_utils::simple_target_socket<Memory, 512> socket{"socket"};
    std::map<std::uint64_t, unsigned char> bytes;
    tlm_utils::peq_with_get<tlm::tlm_generic_payload> due{"due"};
    tlm::tlm_generic_payload* active = nullptr;
    sc_event freed;

    SC_HAS_PROCESS(Memory);
    explicit Memory(sc_module_name name) : sc_module(name)
    {
        socket.register_nb_transport_fw(this, &Memory::forward);
        SC_THREAD(respond);
    }
    tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& burst, tlm::tlm_phase& phase, sc_time& delay)
    {
        if (phase == tlm::BEGIN_REQ) {
            burst.acquire();
            due.notify(burst, delay + sc_time(40, SC_NS));
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
            while (tlm::tlm_generic_payload* burst = due.get_next_transaction()) {
                for (unsigned i = 0; i < burst->get_data_length(); ++i) {
                    unsigned char& byte = bytes[burst->get_address() + i];
                    const bool enabled = !burst->get_byte_enable_ptr() || burst->get_byte_enable_ptr()[i % burst->get_byte_enable_length()];
                    if (burst->is_read()) burst->get_data_ptr()[i] = byte;
                    else if (enabled) byte = burst->get_data_ptr()[i];
                }
                burst->set_response_status(tlm::TLM_OK_RESPONSE);
                tlm::tlm_phase phase = tlm::BEGIN_RESP;
                sc_time delay;
                if (socket->nb_transport_bw(*burst, phase, delay) == tlm::TLM_ACCEPTED) wait(freed);
                burst->release();
            }
        }
    }
};

struct Software : sc_module {
    tlm_utils::simple_initiator_socket<Software> socket{"socket"};
    sc_in<bool> interrupt{"interrupt"};
    dlasim::Accelerator& dla;
    bool done = false;

    SC_HAS_PROCESS(Software);
    Software(sc_module_name name, dlasim::Accelerator& accelerator) : sc_module(name), dla(accelerator) { SC_THREAD(run); }
    void write(const char* name, std::uint32_t value)
    {
        tlm::tlm_generic_payload payload;
        payload.set_write();
        payload.set_address(dla.address(name));
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(4);
        sc_time delay;
        socket->b_transport(payload, delay);
        wait(delay + sc_time(1, SC_NS));
    }
    void run()
    {
        write("GLB.S_INTR_MASK", 0);
        write("SDP_RDMA.D_SRC_BASE_ADDR_LOW", 0x1000);
        write("SDP_RDMA.D_DATA_CUBE_CHANNEL", 7);
        write("SDP_RDMA.D_SRC_DMA_CFG", 1);
        write("SDP_RDMA.D_BRDMA_CFG", 1);
        write("SDP_RDMA.D_NRDMA_CFG", 1);
        write("SDP_RDMA.D_ERDMA_CFG", 1);
        write("SDP.D_DST_BASE_ADDR_LOW", 0x2000);
        write("SDP.D_DATA_CUBE_CHANNEL", 7);
        write("SDP.D_DP_BS_CFG", 1);
        write("SDP.D_DP_BN_CFG", 1);
        write("SDP.D_DP_EW_CFG", 1);
        write("SDP.D_DST_DMA_CFG", 1);
        write("SDP.D_CVT_SCALE", 1);
        write("SDP.D_OP_ENABLE", 1);
        write("SDP_RDMA.D_OP_ENABLE", 1);
        wait(interrupt.posedge_event());
        done = true;
        sc_stop();
    }
};

int sc_main(int, char**)
{
    dlasim::Accelerator dla("dla", {.hardware = "nv_small", .settings = {}});
    Memory memory("memory");
    Software software("software", dla);
    sc_signal<bool> interrupt("interrupt");
    dla.dbb.bind(memory.socket);
    software.socket.bind(dla.csb);
    dla.interrupt(interrupt);
    software.interrupt(interrupt);
    for (unsigned i = 0; i < 8; ++i) memory.bytes[0x1000 + i] = static_cast<unsigned char>(i * 11 + 1);
    sc_start(sc_time(100, SC_US));
    bool right = software.done;
    for (unsigned i = 0; i < 8; ++i) right = right && memory.bytes[0x2000 + i] == static_cast<unsigned char>(i * 11 + 1);
    std::printf("%s after %s\n%s", right ? "copied" : "WRONG", sc_time_stamp().to_string().c_str(), right ? "" : dla.diagnosis().c_str());
    return right ? 0 : 1;
}
