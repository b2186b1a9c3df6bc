// The parts of plan_transfer().
#pragma once
#include "base/error.h"
#include "lowering/program/program_writer.h"
#include "lowering/transfer/transfer_plan.h"

namespace dlasim {

TransferPlan plan_copy(const Transfer& transfer, const Hardware& hardware);
TransferPlan plan_reshape(const Transfer& transfer, const Hardware& hardware);
TransferPlan plan_lrn(const Transfer& transfer, const Hardware& hardware);

/// Refuses a machine without this unit.
void check_unit(std::string_view window, const Transfer& transfer, const Hardware& hardware);

/// Addresses of a cube before and after the operation.
struct CubePlaces {
    const Place &input, &output;
    std::uint64_t most_bytes;  // of either
    bool in_place = false;     // it may be replaced by what becomes of it
};
/// Refuses cubes of plan.layout that are too large, overlap or do not fit into memory; fills in what is touched and the beats at the ports.
void place_cubes(TransferPlan& plan, const Transfer& transfer, const CubePlaces& places, const Hardware& hardware);

/// Refuses a memory that the machine does not have, and addresses beyond its end.
void check_range(const Place& place, std::uint64_t bytes, const std::string& where, const Hardware& hardware);

}  // namespace dlasim
