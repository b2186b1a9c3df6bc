#include "units/mcif/module.h"

namespace dlasim {

Mcif::Mcif(const sc_core::sc_module_name& name, Clock& clock, bool stepping, const Hardware& hardware, MemorySide side,
           const McifLinks& links, bool values)
    : UnitModule(name, clock, stepping),
      core_(hardware, side, links, port_, values),
      bridge_(hardware, side, clock, port_, *this, memory),
      machine_(core_, bridge_)
{
    if (stepping) core_.plainly();
    memory.bind(bridge_);
    links.csb.wakes(*this);
    for (ReadLink* link : links.read)
        if (link) link->credit.reader = this;
}

void Mcif::start_of_simulation()
{
    UnitModule::start_of_simulation();
    core_.hang_doorbells();
    bridge_.start();
}

}  // namespace dlasim
