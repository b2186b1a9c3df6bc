#include "platform/declared.h"

#include "units/bdma/core.h"
#include "units/bdma/counters.h"
#include "units/cacc/counters.h"
#include "units/cdma/counters.h"
#include "units/cdp/counters.h"
#include "units/cmac/counters.h"
#include "units/csb/counters.h"
#include "units/csc/counters.h"
#include "units/mcif/counters.h"
#include "units/pdp/counters.h"
#include "units/rubik/core.h"
#include "units/rubik/counters.h"
#include "units/sdp/counters.h"

namespace dlasim {
namespace {

template <class Counters>
std::vector<CounterRow> rows_of()
{
    std::vector<CounterRow> rows;
    rows.reserve(std::size(counters<Counters>));
    for (const Counter<Counters>& counter : counters<Counters>) rows.push_back(counter.row);
    return rows;
}

}  // namespace

std::vector<DeclaredUnit> declared_units()
{
    return {
        {{"mcif", "cvif"}, "The interfaces to the memory ports; CVIF where the machine has a secondary port", rows_of<McifCounters>()},
        {{"cdma"}, "Fetches input and weights into CBUF", rows_of<CdmaCounters>()},
        {{"csc"}, "Divides the convolution into stripes and feeds the array", rows_of<CscCounters>()},
        {{"cmac_a", "cmac_b"}, "The halves of the MAC array", rows_of<CmacCounters>()},
        {{"cacc"}, "Accumulates partial sums and delivers results to SDP", rows_of<CaccCounters>()},
        {{"sdp"}, "Processes single elements, with its read engines SDP_RDMA", rows_of<SdpCounters>()},
        {{"pdp"}, "Pools, with its read engine PDP_RDMA", rows_of<PdpCounters>()},
        {{"cdp"}, "Normalises across channels, with its read engine CDP_RDMA", rows_of<CdpCounters>()},
        {{"bdma"}, "Copies from memory to memory; nv_full", rows_of<BdmaCounters>()},
        {{"rubik"}, "Rubik, reshapes from memory to memory; nv_full", rows_of<RubikCounters>()},
        {{"glb"}, "Collects the interrupts of the units", rows_of<GlbCounters>()},
    };
}

std::span<const TransferUnit> transfer_units()
{
    static constexpr TransferUnit kUnits[] = {{facts::kOptionalUnits[0], make_bdma}, {facts::kOptionalUnits[1], make_rubik}};
    return kUnits;
}

}  // namespace dlasim
