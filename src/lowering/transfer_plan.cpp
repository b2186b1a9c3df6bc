#include "lowering/transfer_plan.h"

#include "lowering/transfer_planner.h"

namespace dlasim {

TransferPlan plan_transfer(const Transfer& transfer, const Hardware& hardware)
{
    if (transfer.lrn()) return plan_lrn(transfer, hardware);  // every machine has CDP
    const bool copy = transfer.copy() != nullptr;
    if (copy ? !hardware.bdma : !hardware.rubik)
        throw ConfigError(transfer.where("/op"), std::string("found a machine without ") + (copy ? "BDMA" : "Rubik") + " (" +
                                                     hardware.name + "), expected one that has it: nv_full");
    return copy ? plan_copy(transfer, hardware) : plan_reshape(transfer, hardware);
}

void check_range(const Place& place, std::uint64_t bytes, const std::string& where, const Hardware& hardware)
{
    if (!place.primary && !hardware.memory.has_secondary)
        throw ConfigError(where, "found the memory \"cvsram\", expected \"dbb\": " + hardware.name + " has no CVSRAM port here");
    const unsigned bits = hardware.memory.address_bits;
    if (bits < 64 && place.address + bytes > std::uint64_t{1} << bits)
        throw ConfigError(where, "ends at " + std::to_string(place.address + bytes) + ", expected at most " +
                                     std::to_string(std::uint64_t{1} << bits) + ": " + std::to_string(bits) + " address bits");
}

}  // namespace dlasim
