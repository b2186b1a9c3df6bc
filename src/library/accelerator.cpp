#include "dlasim/accelerator.h"

#include <fmt/format.h>

#include "config/hardware.h"
#include "platform/machine.h"
#include "platform/top.h"

namespace dlasim {

struct Accelerator::Parts {
    explicit Parts(const AcceleratorOptions& options)
        : clock(checked(options.clock_period)),
          hardware(load_hardware(options.hardware, options.settings)),
          top("dla", hardware, clock, TopOptions{.stepping = false, .values = options.values, .events = false})
    {
    }
    static sc_core::sc_time checked(const sc_core::sc_time& period)
    {
        if (period == sc_core::SC_ZERO_TIME)
            throw ConfigError("clock_period",
                              "is 0, expected at least the resolution of time, " + sc_core::sc_get_time_resolution().to_string());
        return period;
    }

    Clock clock;
    Hardware hardware;
    Top top;
};

Accelerator::Accelerator(const sc_core::sc_module_name& name, const AcceleratorOptions& options)
    : sc_module(name), parts_(std::make_unique<Parts>(options))
{
    parts_->top.failures().listen([on_error = options.on_error](const std::string& what) {
        if (on_error) on_error(MachineError(what));
        else SC_REPORT_ERROR("/dlasim/accelerator", what.c_str());
    });
    csb.bind(parts_->top.csb);
    parts_->top.dbb.bind(dbb);
    if (parts_->top.cvsram) {
        cvsram = std::make_unique<tlm::tlm_initiator_socket<512>>("cvsram");
        parts_->top.cvsram->bind(*cvsram);
    }
    parts_->top.interrupt.bind(interrupt);
    // Whoever else follows the pin may call before the process below runs.
    parts_->top.in_reset = [this] {
        const bool low = reset_n.size() != 0 && !reset_n->read();
        if (!low) parts_->top.release();
        return low;
    };
}

void Accelerator::start_of_simulation()
{
    if (reset_n.size() == 0) return;
    // not a process of the constructor: SystemC would run it for an accelerator that is gone before time begins
    sc_core::sc_spawn_options method;
    method.spawn_method();
    method.set_sensitivity(&reset_n->value_changed_event());
    sc_core::sc_spawn([this] { follow_reset(); }, "follow_reset", &method);
}

void Accelerator::follow_reset()
{
    if (reset_n->read()) parts_->top.release();
    else parts_->top.hold();
}

Accelerator::~Accelerator() = default;

std::uint32_t Accelerator::address(const std::string& register_name) const
{
    const auto found = register_address(parts_->hardware, register_name);
    if (!found) throw ConfigError(register_name, "no such register in " + parts_->hardware.name);
    return *found;
}

std::string Accelerator::failure() const { return parts_->top.failures().first(); }

std::string Accelerator::diagnosis()
{
    std::string text;
    for (UnitModule* unit : parts_->top.units()) text += fmt::format("{:9} {}\n", unit->basename(), unit->core().waiting_for());
    return text;
}

}  // namespace dlasim
