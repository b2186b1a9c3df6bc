// Which blocks of a copy run together, and that none of them meets what it must not.
#pragma once
#include "lowering/transfer/transfer_plan.h"

namespace dlasim {

/// A launch ends where the group changes, where a block waits, and where the queue is full.
std::vector<Launch> launches_of(const Copy& copy);

/// Throws ConfigError if launches that run together touch what one of them writes, if something is touched that no interrupt vouches for,
/// or if all is spread over too much memory. True if the interrupts vouch for everything that was written.
bool check_order(const Transfer& transfer, const std::vector<Launch>& launches);

}  // namespace dlasim
