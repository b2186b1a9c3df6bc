// The reference configurations. Every number: [spec] hardware/README.md, unless a row says otherwise.
#include "facts/presets.h"

#include <algorithm>
#include <vector>

#include "base/bits.h"
#include "facts/client.h"
#include "facts/optional_units.h"

namespace dlasim {
namespace {

struct Row {
    const char* name;
    MacHardware mac;
    std::uint32_t atom;
    CbufHardware cbuf;
    PortHardware primary;
    std::uint32_t latency;
    bool cvsram;
    PortHardware secondary;
    SdpHardware sdp;
    PdpHardware pdp;
    CdpHardware cdp;
    std::uint32_t address_bits;
};

// clang-format off
//   name                   mac       atom  cbuf             port     latency cvsram         bs  bn  ew  EW     LUT    PDP  CDP  address
constexpr Row kRows[] = {
    {"nv_large",            {64, 32}, 32,   {16, 512, 64},   {32, 1}, 1024,   true,  {32, 1}, {16, 16, 4, true,  true}, {8}, {8}, 64},
    {"nv_medium_1024_full", {32, 32}, 32,   {32, 512, 32},   {32, 4}, 1024,   true,  {32, 4}, { 8,  8, 2, true,  true}, {4}, {4}, 64},
    {"nv_medium_512",       {32, 16}, 16,   {32, 512, 32},   {16, 4},  256,   false, {},      { 4,  4, 4, false, false}, {2}, {2}, 64},
    {"nv_small_256_full",   {32,  8},  8,   {32, 128, 32},   { 8, 4},   64,   true,  { 8, 4}, { 2,  2, 1, true,  true}, {1}, {1}, 32},
    {"nv_small_256",        {32,  8},  8,   {32, 128, 32},   { 8, 1},   64,   false, {},      { 1,  1, 1, false, false}, {1}, {1}, 32},
    {"nv_small",            { 8,  8},  8,   {32, 512,  8},   { 8, 1},   64,   false, {},      { 1,  1, 1, false, false}, {1}, {1}, 32},
};
// clang-format on

Hardware full()
{
    Hardware hw;
    hw.name = "nv_full";
    hw.generation = Generation::Full;
    hw.mac = {64, 16};
    hw.cbuf = {16, 256, 128};
    hw.memory = {32, {64, 1}, {64, 4}, true, 1024, 64, kCvsramBytes};
    hw.sdp = {16, 16, 4, true, true};
    hw.pdp = {8};
    hw.cdp = {8};
    std::ranges::transform(kClientFacts, hw.fabric.read_credit.begin(), &ClientFacts::full_credit);
    hw.winograd = hw.batch = hw.weight_compression = true;
    for (const facts::OptionalUnit& unit : facts::kOptionalUnits) hw.*unit.there = true;
    return hw;
}

/// [spec] sdp.md 2.8: max(4, ceil(latency * min(throughput, width / 32 bit) / (width / 8 bit))).
std::uint32_t latency_fifo(const Hardware& hw, std::uint32_t throughput)
{
    const std::uint32_t bytes = hw.memory.primary.width_bytes;
    return std::max(4U, ceil_div(hw.memory.fifo_cover_cycles * std::min(throughput, bytes / 4), bytes));
}

std::vector<Hardware> all()
{
    std::vector<Hardware> list{full()};
    for (const Row& row : kRows) {
        Hardware hw;
        hw.name = row.name;
        hw.mac = row.mac;
        hw.cbuf = row.cbuf;
        hw.memory = {row.atom, row.primary, row.secondary, row.cvsram, row.latency, row.address_bits, row.cvsram ? kCvsramBytes : 0};
        hw.sdp = row.sdp;
        hw.pdp = row.pdp;
        hw.cdp = row.cdp;
        hw.fabric.read_credit = configurable_credits(hw);
        list.push_back(hw);
    }
    return list;
}

}  // namespace

std::array<std::uint32_t, kClients> configurable_credits(const Hardware& hw)
{
    const ReadRates rates{hw.sdp.max_throughput(),  4 * hw.sdp.bs_throughput,
                          4 * hw.sdp.bn_throughput, hw.sdp.has_ew ? 4 * hw.sdp.ew_throughput : 0,
                          hw.pdp.throughput,        hw.cdp.throughput};
    std::array<std::uint32_t, kClients> credits{};
    std::ranges::transform(kClientFacts, credits.begin(), [&](const ClientFacts& client) {
        return client.throughput && rates.*client.throughput ? latency_fifo(hw, rates.*client.throughput) : 0;
    });
    return credits;
}

std::span<const Hardware> presets()
{
    static const std::vector<Hardware> list = all();
    return list;
}

const Hardware* find_preset(std::string_view name)
{
    for (const Hardware& hw : presets())
        if (hw.name == name) return &hw;
    return nullptr;
}

}  // namespace dlasim
