// What a plan of a network cannot be: ConfigError with the place in the file.
#pragma once
#include "network/plan.h"

namespace dlasim {

/// Decisions of the network hold in its plan; with `revise` those that do not are dropped, with `explicit_cuts` all that were taken are
/// set.
void check_decisions(NetworkPlan& p, const NetworkOptions& options);
/// Channels of both summands are in the same lanes: where one has a gap between channels, so must the other.
void check_addend(const NetworkPlan& p, const Step& s, const Layer& layer);
/// [spec] sdp.md 1.5: of a plane of one position SDP reads adjacent surfaces, whatever their stride.
void check_one_place(const NetworkPlan& p, const Step& s, const Layer& layer);

}  // namespace dlasim
