#include "dlasim/driver.h"

#include <fmt/format.h>

#include <algorithm>

#include "library/parts.h"
#include "links/guard.h"
#include "platform/software.h"

namespace dlasim {
namespace {

constexpr Cycle kTail = 64;                    // cycles after the program in which traffic still counts, as in `dlasim run`
constexpr std::uint64_t kMaxBytes = 1u << 16;  // of an access

/// By the debug interface of what is bound to a port.
void move_bytes(tlm::tlm_initiator_socket<512>& socket, tlm::tlm_command command, std::uint64_t address, std::uint8_t* bytes,
                std::uint64_t count)
{
    for (std::uint64_t done = 0; done < count; done += kMaxBytes) {
        const auto part = static_cast<unsigned>(std::min(count - done, kMaxBytes));
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address + done);
        payload.set_data_ptr(bytes + done);
        payload.set_data_length(part);
        payload.set_streaming_width(part);
        payload.set_dmi_allowed(false);
        if (const unsigned moved = socket->transport_dbg(payload); moved != part)
            throw ConfigError(socket.name(), fmt::format("the memory moves {} of {} bytes at {:#x} by transport_dbg, expected all of them; "
                                                         "Driver::memory can use another method",
                                                         moved, part, address + done));
    }
}

}  // namespace

struct Driver::Parts {
    Parts(Driver& owner, Accelerator& dla, CompiledWorkload work)
        : accelerator(dla),
          workload(std::move(work)),
          software("software", dla.parts().clock, workload.parts().planned->workload().program, dla.address("GLB.S_INTR_STATUS"),
                   workload.parts().planned->workload().speed)
    {
        owner.memory = {[this](bool cvsram, std::uint64_t address, std::uint64_t count) {
                            std::vector<std::uint8_t> bytes(count);
                            move_bytes(port(cvsram), tlm::TLM_READ_COMMAND, address, bytes.data(), count);
                            return bytes;
                        },
                        [this](bool cvsram, std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
                            std::vector<std::uint8_t> copy = bytes;
                            move_bytes(port(cvsram), tlm::TLM_WRITE_COMMAND, address, copy.data(), copy.size());
                        }};
    }
    tlm::tlm_initiator_socket<512>& port(bool on_chip) const { return on_chip ? *accelerator.cvsram : accelerator.dbb; }

    Accelerator& accelerator;
    CompiledWorkload workload;
    Software software;
    sc_core::sc_event ended{"ended"};
    Result result;
};

Driver::Driver(const sc_core::sc_module_name& name, Accelerator& accelerator, CompiledWorkload workload) : sc_module(name)
{
    if (workload.hardware().json() != accelerator.hardware().json())
        throw ConfigError(workload.name(), "was compiled for another machine than " + std::string(accelerator.name()) +
                                               ", expected its accelerator.hardware()");
    parts_ = std::make_unique<Parts>(*this, accelerator, std::move(workload));
    Software& software = parts_->software;
    software.socket.bind(csb);
    software.interrupt(interrupt);
    Meter& meter = accelerator.parts().meter;
    if (CriticalPathRecorder* path = meter.path()) {
        path->stamps = &software.stamps();
        software.logs = &path->logs();
    }
    software.on_mark = [&meter](Cycle t0) { meter.mark(t0); };
    software.on_host = [this](const HostStep& step) { parts_->workload.host(static_cast<std::uint32_t>(step.number), memory); };
    software.on_end = [this] {
        Failures& failures = parts_->accelerator.parts().top.failures();
        guard_kernel([this] { follow(); }, [&](const char* what) { failures.report(basename(), what); });
        if (!parts_->software.failure().empty()) failures.report(basename(), parts_->software.failure());
        parts_->ended.notify(sc_core::SC_ZERO_TIME);
    };
}

Driver::~Driver() = default;

void Driver::start_of_simulation()
{
    parts_->software.enabled = enabled;
    if (enabled) parts_->workload.load(memory);
}

/// The program has ended.
void Driver::follow()
{
    if (!parts_->software.finished()) return;
    Accelerator::Parts& dla = parts_->accelerator.parts();
    sc_core::wait(dla.clock.span(kTail));
    Result& result = parts_->result;
    const RunResult run = dla.meter.read(true);
    dla.meter.rest();
    result.cycles = run.cycles;
    result.report = public_report(run, dla.config.parts().hardware, parts_->workload.parts().planned->precision());
    const auto& reads = parts_->software.reads();
    result.check = parts_->workload.check(memory, reads.empty() ? 0 : reads.back().second);
    result.finished = true;
    result.problem.clear();
}

bool Driver::finished() const { return parts_->result.finished; }
const sc_core::sc_event& Driver::ended() const { return parts_->ended; }

Driver::Result Driver::result() const
{
    Result result = parts_->result;
    if (enabled && !result.finished) {
        result.problem = parts_->accelerator.failure();
        if (result.problem.empty()) result.problem = parts_->accelerator.diagnosis();
    }
    return result;
}

}  // namespace dlasim
