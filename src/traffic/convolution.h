// What travels along the convolution pipeline: CDMA, CBUF, CSC, CMAC, CACC, SDP.
#pragma once
#include <array>
#include <cstdint>
#include <memory>

#include "links/wire.h"

namespace dlasim {

/// CDMA tells CSC that lines were filled, CSC tells CDMA that they were released. cdma.md 0.2.
struct DataUpdate {
    std::uint32_t entries = 0;
    std::uint32_t slices = 0;
};
struct WeightUpdate {
    std::uint32_t kernels = 0;
    std::uint32_t entries = 0;
    std::uint32_t mask_entries = 0;
};

/// Everything between CDMA and CSC but the CBUF itself.
struct CdmaCscLink {
    Pulse<DataUpdate> data_filled, data_released;        // cdma2sc_dat_updt, sc2cdma_dat_updt
    Pulse<WeightUpdate> weight_filled, weight_released;  // cdma2sc_wt_updt, sc2cdma_wt_updt
    Wire<bool> data_pending_request, weight_pending_request;  // CSC to CDMA, level
    Wire<bool> data_pending_ack, weight_pending_ack;          // CDMA to CSC, level
};

/// One weight set and the atoms that slide past it: a package of CSC on its way through CMAC to CACC.
/// Nothing stalls behind CSC, so a package is one message, sent when its data are popped; the
/// atoms leave the CSC port one a cycle from `first_atom` on. Operands are owned by CSC until the
/// message has been taken and must be used in that cycle.
struct Operands;  // units/csc defines what CMAC computes with
struct Stripe {
    Cycle first_atom = 0;        // cycle of the first atom at the CSC port
    std::uint32_t atoms = 0;     // atoms, batches included
    std::uint32_t kernels = 0;   // kernels of the group
    bool channel_end = false;    // the sums are complete after this stripe
    bool layer_end = false;      // the last stripe of the layer
};

/// One beat from CACC to SDP: up to 16 results, int32 or the bit pattern of fp32. sdp.md 1.4.
struct SumBeat {
    std::array<std::int32_t, 16> lanes{};
    bool layer_end = false;
};

}  // namespace dlasim
