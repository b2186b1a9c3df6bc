// The signals at the boundary of an accelerator as variables of an sc_trace file. Bursts and accesses are known a little ahead of their
// cycle; the variables change in it.
#pragma once
#include <memory>
#include <string>
#include <systemc>

#include "base/ring.h"
#include "platform/top.h"

namespace dlasim {

class BoundaryTrace final : public sc_core::sc_module {
public:
    BoundaryTrace(const sc_core::sc_module_name& name, Clock& clock, Top& top);
    /// `prefix`: of the names.
    void add_to(sc_core::sc_trace_file* file, const std::string& prefix);

    bool reset_n = true;

private:
    /// The last burst or access of a kind.
    struct Signals {
        std::uint64_t count = 0, address = 0;
        std::uint32_t bytes = 0, client = 0;  // of an access the data in place of the bytes
        void add_to(sc_core::sc_trace_file* file, const std::string& prefix, const char* what, bool has_client) const;
    };
    struct Event {
        Cycle at = 0;
        Signals* signals = nullptr;
        std::uint64_t address = 0;
        std::uint32_t bytes = 0, client = 0;
    };
    struct Port final : MemoryWatch {
        explicit Port(BoundaryTrace& owner) : trace(owner) {}
        void read(std::uint32_t client, Address address, std::uint32_t bytes, Cycle at) override
        {
            trace.note({at, &reads, address.byte(), bytes, client});
        }
        void written(std::uint32_t client, Address address, std::uint32_t bytes, Cycle at) override
        {
            trace.note({at, &writes, address.byte(), bytes, client});
        }
        void ended(std::uint32_t) override {}
        BoundaryTrace& trace;
        Signals reads, writes;
    };
    void note(const Event& event);
    void change();

    Clock& clock_;
    Port dbb_{*this}, cvsram_{*this};
    const bool has_cvsram_;
    Signals bus_reads_, bus_writes_;
    Ring<Event> events_;  // in the order of their cycles
    sc_core::sc_event due_{"due"};
};

}  // namespace dlasim
