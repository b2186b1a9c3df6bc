// The parts of plan_transfer().
#pragma once
#include "base/error.h"
#include "lowering/program_writer.h"
#include "lowering/transfer_plan.h"

namespace dlasim {

TransferPlan plan_copy(const Transfer& transfer, const Hardware& hardware);
TransferPlan plan_reshape(const Transfer& transfer, const Hardware& hardware);
TransferPlan plan_lrn(const Transfer& transfer, const Hardware& hardware);

/// Refuses a memory that the machine does not have, and addresses beyond its end.
void check_range(const Place& place, std::uint64_t bytes, const std::string& where, const Hardware& hardware);

}  // namespace dlasim
