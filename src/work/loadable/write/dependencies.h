// The dependency graph of a task: which operation sends which event to which other one, with exact counts.
//
//   fused     CONV ──programmed──► SDP ──programmed──► PDP        CONV ◄──enabled── SDP ◄──enabled── PDP
//   memory    the last unit of a chain ──completed──► the operation that reads, or writes over, what the chain has written or read
//   order     every operation names the next of its type
//   silicon   a convolution of fewer results than CACC holds waits for the previous chain: if both end together, CACC hangs
//
// An operation can notify one operation of each type. That is enough: operations of a type start in their order, so of those that wait for
// one operation only the first is listed; they complete in their order, so of those that one operation waits for only the last of each type
// notifies it. An operation of a type is programmed when the one before the last of that type has completed, so it need not wait for that.
//
// Source  loadable_writing.md 4; cacc.md 3.6.
#pragma once
#include "loadable/write/recovery.h"

namespace dlasim::loadable {

/// Sets heads, consumers, fused parents and counts of `task`, whose operations are those of `recovered`.
void link_operations(const RecoveredTask& recovered, const Hardware& hardware, HardwareTask& task);

}  // namespace dlasim::loadable
