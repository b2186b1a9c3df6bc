#include "golden/lrn.h"

#include <algorithm>

namespace dlasim {

Tensor normalised(const LrnTables& tables, const Tensor& cube, std::uint32_t channels)
{
    CdpFunction function;
    function.precision = tables.precision;
    function.window = tables.window;
    function.flush_nan = true;
    function.output = {0, tables.scale, tables.shift};
    std::copy(tables.le.begin(), tables.le.end(), function.le.entries.begin());
    std::copy(tables.lo.begin(), tables.lo.end(), function.lo.entries.begin());
    function.le.offset = tables.le_offset;
    function.lo.offset = tables.lo_select;
    function.hybrid_lo = function.underflow_lo = true;
    return cdp_output(function, cube, channels);
}

}  // namespace dlasim
