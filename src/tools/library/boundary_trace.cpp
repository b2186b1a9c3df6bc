#include "library/boundary_trace.h"

#include <utility>

namespace dlasim {

BoundaryTrace::BoundaryTrace(const sc_core::sc_module_name& name, Clock& clock, Top& top)
    : sc_module(name), clock_(clock), has_cvsram_(top.cvif() != nullptr)
{
    SC_HAS_PROCESS(BoundaryTrace);
    SC_METHOD(change);
    sensitive << due_;
    dont_initialize();
    top.watch(&dbb_, &cvsram_, nullptr);
    top.bus().on_access = [this, before = std::move(top.bus().on_access)](Cycle at, std::uint32_t address, std::uint32_t data, bool write) {
        if (before) before(at, address, data, write);
        note({at, write ? &bus_writes_ : &bus_reads_, address, data, 0});
    };
}

void BoundaryTrace::Signals::add_to(sc_core::sc_trace_file* file, const std::string& prefix, const char* what, bool has_client) const
{
    sc_core::sc_trace(file, count, prefix + "_count");
    sc_core::sc_trace(file, address, prefix + "_address");
    sc_core::sc_trace(file, bytes, prefix + what);
    if (has_client) sc_core::sc_trace(file, client, prefix + "_client");
}

void BoundaryTrace::add_to(sc_core::sc_trace_file* file, const std::string& prefix)
{
    sc_core::sc_trace(file, reset_n, prefix + "reset_n");
    bus_reads_.add_to(file, prefix + "csb_read", "_data", false);
    bus_writes_.add_to(file, prefix + "csb_write", "_data", false);
    dbb_.reads.add_to(file, prefix + "dbb_read", "_bytes", true);
    dbb_.writes.add_to(file, prefix + "dbb_write", "_bytes", true);
    if (!has_cvsram_) return;
    cvsram_.reads.add_to(file, prefix + "cvsram_read", "_bytes", true);
    cvsram_.writes.add_to(file, prefix + "cvsram_write", "_bytes", true);
}

void BoundaryTrace::note(const Event& event)
{
    events_.push_back(event);
    for (std::size_t i = events_.size() - 1; i != 0 && events_[i - 1].at > events_[i].at; --i) std::swap(events_[i - 1], events_[i]);
    clock_.expect_activity();
    due_.notify(clock_.until(events_.front().at));
}

void BoundaryTrace::change()
{
    for (; !events_.empty() && events_.front().at <= clock_.now(); events_.pop_front()) {
        const Event& event = events_.front();
        ++event.signals->count;
        event.signals->address = event.address;
        event.signals->bytes = event.bytes;
        event.signals->client = event.client;
    }
    if (!events_.empty()) due_.notify(clock_.until(events_.front().at));
}

}  // namespace dlasim
