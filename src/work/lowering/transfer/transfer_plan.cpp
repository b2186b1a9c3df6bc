#include "lowering/transfer/transfer_plan.h"

#include "base/bits.h"
#include "facts/optional_units.h"
#include "lowering/transfer/transfer_planner.h"

namespace dlasim {

TransferPlan plan_transfer(const Transfer& transfer, const Hardware& hardware)
{
    if (transfer.lrn()) return plan_lrn(transfer, hardware);
    return transfer.copy() ? plan_copy(transfer, hardware) : plan_reshape(transfer, hardware);
}

void check_unit(std::string_view window, const Transfer& transfer, const Hardware& hardware)
{
    if (const auto* lacks = facts::missing_unit(hardware, window))
        throw ConfigError(transfer.where("/op"), "found a machine without " + std::string(lacks->name) + " (" + hardware.name +
                                                     "), expected one that has it: nv_full");
}

void place_cubes(TransferPlan& plan, const Transfer& transfer, const CubePlaces& places, const Hardware& hardware)
{
    const Place &in = places.input, &out = places.output;
    const std::uint64_t in_bytes = plan.layout.input_bytes, out_bytes = plan.layout.output_bytes;
    const struct {
        const Place& place;
        std::uint64_t bytes;
        const char* name;
    } sides[] = {{in, in_bytes, "input"}, {out, out_bytes, "output"}};
    for (const auto& [place, bytes, name] : sides) {
        if (bytes > places.most_bytes)
            throw ConfigError(transfer.where("/input"), std::string("makes an ") + name + " of " + std::to_string(bytes) +
                                                            " bytes, expected at most " + std::to_string(places.most_bytes));
        const std::string where = transfer.where(std::string("/placement/") + name);
        const std::uint32_t atom = hardware.memory.atom_bytes;
        if (place.address.byte() % atom != 0)
            throw ConfigError(where, "found " + std::to_string(place.address.byte()) + ", expected a multiple of " + std::to_string(atom) +
                                         ", an atom of " + hardware.name + " here");
        check_range(place, bytes, where, hardware);
        plan.ranges.push_back({where, place, bytes});
    }
    const bool overlap = in.primary == out.primary && in.address < out.address + out_bytes && out.address < in.address + in_bytes;
    if (overlap && !(places.in_place && in == out))
        throw ConfigError(transfer.where("/placement"),
                          "the input of " + std::to_string(in_bytes) + " bytes at " + std::to_string(in.address.byte()) +
                              " and the output of " + std::to_string(out_bytes) + " bytes at " + std::to_string(out.address.byte()) +
                              " overlap, expected " + (places.in_place ? "the same address or separate areas" : "separate areas"));
    plan.bytes = out_bytes;
    const std::uint64_t beat = hardware.memory.primary.width_bytes;
    (in.primary ? plan.dbb : plan.cvsram).reads = ceil_div(in_bytes, beat);
    (out.primary ? plan.dbb : plan.cvsram).writes = ceil_div(out_bytes, beat);
}

void check_range(const Place& place, std::uint64_t bytes, const std::string& where, const Hardware& hardware)
{
    if (!place.primary && !hardware.memory.has_secondary)
        throw ConfigError(where, "found the memory \"cvsram\", expected \"dbb\": " + hardware.name + " has no CVSRAM port here");
    const unsigned bits = hardware.memory.address_bits;
    const std::uint64_t end = (place.address + bytes).byte();
    if (bits < 64 && end > std::uint64_t{1} << bits)
        throw ConfigError(where, "ends at " + std::to_string(end) + ", expected at most " + std::to_string(std::uint64_t{1} << bits) +
                                     ": " + std::to_string(bits) + " address bits");
}

}  // namespace dlasim
