#pragma once
#include <optional>

#include "links/dbb_socket.h"
#include "links/module.h"
#include "units/mcif/bridge.h"
#include "units/mcif/core.h"

namespace dlasim {

/// MCIF or CVIF in the platform: the fabric, and its memory port as a TLM-2.0 initiator. It listens
/// to the register bus and to the credits; whoever builds the machine connects the channels: this
/// module is the consumer of requests and the producer of read responses.
class Mcif final : public UnitModule {
public:
    tlm::tlm_initiator_socket<512> memory{"memory"};

    Mcif(const sc_core::sc_module_name& name, Clock& clock, bool stepping, const Hardware& hardware, MemorySide side,
         const McifLinks& links, bool values = true);

    Core& core() override { return *machine_; }
    const McifCore& fabric() const { return *core_; }

    /// The fabric as after reset. What the memory still owes the one before is taken at the port and dropped.
    void renew(const Hardware& hardware, const McifLinks& links);
    /// After renew(), once the channels are connected.
    void connect_doorbells() { core_->connect_doorbells(); }
    /// After that, once the whole machine is as after reset.
    void end_dropped() { bridge_.end_dropped(); }
    /// Cycle 0 is the next one.
    void restart() { bridge_.restart(); }

    /// Totals, and with record_commands() the first commands. mark(first) restarts the count at that cycle.
    TrafficLog& traffic() { return bridge_.traffic(); }
    const TrafficLog& traffic() const { return bridge_.traffic(); }
    void watch(MemoryWatch* watch) { bridge_.watch(watch); }
    void follow(BurstLogs* burst_logs)
    {
        core_->follow(burst_logs);
        bridge_.follow(burst_logs);
    }
    /// The burst logs get what is on its way to the arbiters, until it drops that.
    void note_pending() { core_->note_pending(); }

protected:
    void start_of_simulation() override;

private:
    /// The fabric and the bridge at its port, evaluated in one process.
    struct Machine final : Core {
        Machine(McifCore& f, Bridge& b) : fabric(f), bridge(b) {}
        void advance(Cycle to) override
        {
            fabric.advance(to);
            bridge.advance(to);
        }
        Cycle horizon() const override { return fabric.horizon(); }
        [[gnu::flatten]] Cycle evaluate(Cycle to) override
        {
            Machine::advance(to);
            return fabric.horizon();
        }
        void catch_up(Cycle end) override { fabric.catch_up(end); }
        UnitReport report(Cycle end) override { return fabric.report(end); }
        std::string waiting_for() const override
        {
            const std::string burst = bridge.oldest();
            return fabric.waiting_for() + (burst.empty() ? "" : "; " + burst);
        }
        void attach(ProbeSet& probes) override { fabric.attach(probes); }
        McifCore& fabric;
        Bridge& bridge;
    };

    void build(const Hardware& hardware, const McifLinks& links);

    const bool stepping_, values_;
    const MemorySide side_;
    DbbPort port_;
    Bridge bridge_;
    std::optional<McifCore> core_;
    std::optional<Machine> machine_;
};

}  // namespace dlasim
