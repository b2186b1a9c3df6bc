// Banks of the convolution buffer that steps have in common.
//
// A change of banks empties the buffer: CDMA waits until CSC has read everything ([spec] cdma.md 2.4). With the same banks it fetches the
// first operation of a step while the step before is at work.
//
//   step            a      b      c         d
//   data + weights  2 + 2  1 + 1  6 + 1     3 + 14
//                   └── 6 + 10 ─────┘       those that fit together, from the first on
#pragma once

namespace dlasim {

struct NetworkPlan;

/// Of steps of the array that follow each other, where the network does not say them. `noted`: in the partitions of the network too.
void share_banks(NetworkPlan& plan, bool noted);

}  // namespace dlasim
