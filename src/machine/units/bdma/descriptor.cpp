#include "units/bdma/descriptor.h"

#include "registers/fields/bdma.h"

namespace dlasim::bdma {

Descriptor Descriptor::decode(const RegisterFile& registers)
{
    using namespace reg::bdma;
    const auto get = [&](auto what) { return registers.get(what); };
    Descriptor d;
    d.source = {get(CFG_CMD::SRC_RAM_TYPE) ? kMc : kCv, registers.pair(CFG_SRC_ADDR_HIGH, CFG_SRC_ADDR_LOW), get(CFG_SRC_LINE),
                get(CFG_SRC_SURF)};
    d.destination = {get(CFG_CMD::DST_RAM_TYPE) ? kMc : kCv, registers.pair(CFG_DST_ADDR_HIGH, CFG_DST_ADDR_LOW), get(CFG_DST_LINE),
                     get(CFG_DST_SURF)};
    d.last_atom = get(CFG_LINE);
    d.last_line = get(CFG_LINE_REPEAT);
    d.last_surface = get(CFG_SURF_REPEAT);
    return d;
}

LineWalk::LineWalk(const Descriptor& descriptor, const Place& place)
    : last_line_(descriptor.last_line),
      last_surface_(descriptor.last_surface),
      line_stride_(place.line_stride),
      surface_stride_(place.surface_stride),
      surface_address_(place.address),
      address_(place.address)
{
}

bool LineWalk::next()
{
    if (line_ != last_line_) {
        ++line_;
        address_ += line_stride_;
        return true;
    }
    if (surface_ == last_surface_) return false;
    ++surface_;
    line_ = 0;
    surface_address_ += surface_stride_;
    address_ = surface_address_;
    return true;
}

}  // namespace dlasim::bdma
