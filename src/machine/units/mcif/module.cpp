#include "units/mcif/module.h"

namespace dlasim {

Mcif::Mcif(const sc_core::sc_module_name& name, Clock& clock, bool stepping, const Hardware& hardware, MemorySide side,
           const McifLinks& links, bool values)
    : UnitModule(name, clock, stepping),
      stepping_(stepping),
      values_(values),
      side_(side),
      bridge_(hardware, side, clock, port_, *this, memory, stepping,
              values || hardware.weight_compression)  // masks of weights decide about time
{
    memory.bind(bridge_);
    build(hardware, links);
}

void Mcif::build(const Hardware& hardware, const McifLinks& links)
{
    machine_.reset();
    port_ = DbbPort();
    core_.emplace(hardware, side_, links, port_, values_, stepping_);
    machine_.emplace(*core_, bridge_);
    links.csb.wakes(*this);
    for (ReadLink* link : links.read)
        if (link) link->credit.reader = this;
}

void Mcif::renew(const Hardware& hardware, const McifLinks& links)
{
    build(hardware, links);
    bridge_.renew();
    renewed();
}

void Mcif::start_of_simulation()
{
    UnitModule::start_of_simulation();
    core_->connect_doorbells();
    guarded([&] { bridge_.start(); });
}

}  // namespace dlasim
