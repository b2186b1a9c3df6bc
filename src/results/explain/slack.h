// What a machine has more of than a run needs: sizes that can shrink, parts that can go and a clock that can be slower, at a cost in time
// that the user allows.
//
//   slack_trials() ──► (run, each alone) ──► largest_slack() ──► (run together, one more at a time) ──► slack_json(), slack_text()
#pragma once
#include <string>
#include <vector>

#include "explain/trial.h"

namespace dlasim {

/// A change that was tried alone, and together with those before it.
struct Slack {
    Trial trial;
    Outcome alone;
    std::optional<Outcome> together;  // none where it would take too long, or cannot be
};

/// Not more time than a share more: 0.01 is a hundredth.
bool within(const Outcome& outcome, const Outcome& before, double share);
/// Of each size the smallest that is allowed, the largest gain of area first; a slower clock and a smaller DRAM last. Empty if nothing can
/// shrink.
std::vector<Slack> largest_slack(const std::vector<Trial>& trials, const std::vector<Outcome>& outcomes, const Outcome& before,
                                 double share);

OrderedJson slack_json(const std::vector<Slack>& list, const Outcome& before);
std::vector<PlacedKey> slack_keys();
/// Within 80 columns.
std::string slack_text(const std::vector<Slack>& list, const Outcome& before, double share);

}  // namespace dlasim
