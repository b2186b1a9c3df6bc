#include "silicon/elements.h"

#include <algorithm>

#include "facts/cacc.h"
#include "facts/client.h"
#include "facts/pdp.h"
#include "silicon/gates.h"

namespace dlasim::silicon {
namespace {

// [spec] sdp.md, cdp.md: look-up tables LE and LO, 65 and 257 entries of 16 bits.
constexpr double kTableBits = (65 + 257) * 16;
// [spec] fabric.md 1.4, 1.6: words of a port's width. Read: FIFO-F(4) a client; write: a FIFO-F(4) and a beat of the splitter a client.
constexpr double kReadFifo = 4, kWriteFifo = 5, kClientStage = 1, kPortStages = 3;

// [spec] cacc.md 0: eight RAMs of nv_full, 32 deep, four of 768 bits and four of 544.
constexpr double kFullAssemblyDepth = 32;

double credit_bits(const Hardware& hw, std::initializer_list<Client> clients)
{
    double beats = 0;
    for (const Client client : clients) beats += hw.fabric.read_credit[static_cast<std::size_t>(client)];
    return beats * hw.memory.primary.width_bytes * 8;
}

UnitElements fabric(const Hardware& hw, const char* unit, std::uint32_t width_bytes)
{
    const double word = 8.0 * width_bytes, readers = hw.full() ? 10 : hw.sdp.has_ew ? 8 : 7, writers = hw.full() ? 5 : 3;
    UnitElements e{.unit = unit};
    e.stored_bits = word * (readers * (kReadFifo + kClientStage) + writers * (kWriteFifo + kClientStage) + 2 * kPortStages);
    e.gates = word * kSelectBit * (readers + writers);
    e.moved = {{"read_beats", width_bytes / 4.0}, {"write_beats", width_bytes / 4.0}};
    return e;
}

UnitElements cdma(const Hardware& hw)
{
    const double atom = 8.0 * hw.memory.atom_bytes, entry = 8.0 * hw.cbuf.entry_bytes;
    UnitElements e{.unit = "cdma"};
    e.ram_bits = 256 * atom + 2 * 128 * 6 + 128 * 11 * 2 + 8 * atom;                                           // [spec] cdma.md 3.2, 8
    e.gates = hw.memory.atom_bytes * (multiplier(17, 16) + adder(32) + shifter(32)) + 4 * entry * kSelectBit;  // converter, cdma.md 9
    e.registers = {{"weights", 6 * atom},       {"feature", 4 * atom},    {"image", 4 * atom},          {"port_mux", 3 * atom},
                   {"shared_buffer", 4 * atom}, {"converter", 2 * entry}, {"converter_cells", 4 * atom}};
    if (hw.winograd) e.registers.push_back({"winograd", 4 * entry});
    return e;
}

UnitElements csc(const Hardware& hw)
{
    const double operands = 8.0 * hw.mac.atomic_c * (hw.full() ? 2 : 1);
    UnitElements e{.unit = "csc"};
    e.gates = operands * (shifter(1) + 8 * kSelectBit);
    e.registers = {{"op0", 600}, {"op1", 5 * operands}, {"op2", 6 * operands}};
    if (hw.winograd) {
        e.gates += 2 * operands * kSumBit * 4;
        e.registers.push_back({"winograd", 2 * operands});
    }
    return e;
}

/// [spec] cmac.md 2.1: every cell has its own copy of the data, shadow and active weights, and three masks; the
/// operands pass two registers in front. The registers of a cell's sum are part of its adder tree, a product of 16 bits and its
/// carries each, so that it can be made in a cycle. nv_full's multipliers of 16 bits are two of bytes: the published area of 2,048 MACs is
/// described for nv_full as for machines of bytes only.
UnitElements half_of_array(const Hardware& hw, const char* unit)
{
    const double cells = hw.kernel_group(Precision::Int8) / 2.0, channels = hw.mac.atomic_c;
    constexpr double kSum = 20;
    UnitElements e{.unit = unit};
    e.gates = cells * channels * (multiplier(8, 8) + adder(kSum));
    e.registers = {{"op*", cells * channels * (3 * 8 + 3 + kSum) + 2 * channels * 9}};
    return e;
}

/// [spec] cbuf.md 2.1, 2.2: two ports to read, six cycles, one to write, three; they load where something
/// is read or written.
UnitElements buffer(const Hardware& hw)
{
    const double entry = 8.0 * hw.cbuf.entry_bytes;
    UnitElements e{.unit = "cbuf"};
    e.ram_bits = entry * hw.cbuf.banks * hw.cbuf.bank_depth;
    e.stored_bits = entry * (2 * 5 + 2);
    return e;
}

UnitElements cacc(const Hardware& hw)
{
    const double lanes = hw.kernel_group(Precision::Int8), entries = facts::cacc::of(hw).entries;
    const double assembly = hw.full() ? kFullAssemblyDepth * 4.0 * (768 + 544) : entries * lanes * 34;
    const double delivery = hw.full() ? entries * 16 * 32 : entries * lanes * 32;
    UnitElements e{.unit = "cacc"};
    e.ram_bits = assembly + delivery;
    e.gates = lanes * (adder(34) + 34 * kSelectBit);
    e.registers = {{"op0", 200}, {"op1", lanes * 34 * 2}, {"op2", lanes * 34}, {"cell0", lanes * 34 * 2}, {"", lanes * 32}};
    return e;
}

UnitElements sdp(const Hardware& hw)
{
    // [spec] sdp.md 4: a lane of an engine: 32-bit sum, product of 32 x 16 bits, shift, five registers of 32 bits.
    const double lane_gates = multiplier(32, 16) + adder(2 * 32) + shifter(32), lane_bits = 5 * 32;
    const double bs = hw.sdp.bs_throughput, bn = hw.sdp.bn_throughput, ew = hw.sdp.has_ew ? 2.0 * hw.sdp.ew_throughput : 0;
    const double converter = hw.sdp.max_throughput(), port = 8.0 * hw.memory.primary.width_bytes;
    UnitElements e{.unit = "sdp"};
    e.gates = lane_gates * (bs + bn + ew + converter);
    e.ram_bits = credit_bits(hw, {Client::Sdp, Client::SdpBs, Client::SdpBn, Client::SdpEw});
    if (hw.sdp.has_lut) e.stored_bits = kTableBits;
    e.registers = {{"bs", bs * lane_bits}, {"bn", bn * lane_bits}, {"wdma", converter * lane_bits + 4 * port},
                   {"mrdma", 3 * port},    {"brdma", 3 * port},    {"nrdma", 3 * port}};
    if (hw.sdp.has_ew) {
        e.registers.push_back({"ew", ew * lane_bits});
        e.registers.push_back({"erdma", 3 * port});
    }
    return e;
}

UnitElements pdp(const Hardware& hw)
{
    // [spec] pdp.md: eight banks of lines, eight window units, 28 bits a lane; products with 1 / width and 1 / height.
    const double lanes = hw.pdp.throughput, beats = static_cast<double>(hw.memory.atom_bytes) / lanes,
                 port = 8.0 * hw.memory.primary.width_bytes;
    UnitElements e{.unit = "pdp"};
    e.ram_bits = 8 * facts::pdp::kBankColumns * beats * (lanes * 14 + 4) + credit_bits(hw, {Client::Pdp});
    e.gates = lanes * (8 * (adder(16) + 16 * kSelectBit) + 2 * multiplier(22, 17));
    e.registers = {{"core", lanes * (8 * 2 * 14 + 6 * 28)}, {"wdma", 3 * port}, {"rdma", 3 * port}};
    return e;
}

UnitElements cdp(const Hardware& hw)
{
    // [spec] cdp.md 4.3: eight rows of a beat; nine squares, the interpolation and the product of a lane.
    const double lanes = hw.cdp.throughput, port = 8.0 * hw.memory.primary.width_bytes;
    UnitElements e{.unit = "cdp"};
    e.ram_bits = credit_bits(hw, {Client::Cdp});
    e.stored_bits = kTableBits;
    e.gates = lanes * (9 * multiplier(9, 9) / 2 + adder(9 * 21) + 2 * multiplier(16, 20) + shifter(32));
    e.registers = {{"core", lanes * (8 * 9 + 21 * 16)}, {"wdma", 3 * port}, {"rdma", 3 * port}};
    e.apart = true;
    return e;
}

}  // namespace

double UnitElements::clocked_bits() const
{
    double bits = 0;
    for (const ClockedRegisters& clocked : registers) bits += clocked.bits;
    return bits;
}

double UnitElements::all_gates() const { return gates + kRegister * (stored_bits + clocked_bits()); }

double cbuf_column_bytes(const Hardware& hw) { return 8.0 * hw.cbuf.bank_depth; }

double cacc_column_bytes(const Hardware& hw) { return 8.0 * (hw.full() ? kFullAssemblyDepth : facts::cacc::of(hw).entries); }

std::vector<UnitElements> elements_of(const Hardware& hw)
{
    std::vector<UnitElements> all{fabric(hw, "mcif", hw.memory.primary.width_bytes)};
    if (hw.memory.has_secondary) all.push_back(fabric(hw, "cvif", hw.memory.secondary.width_bytes));
    all.push_back(cdma(hw));
    all.push_back(buffer(hw));
    all.push_back(csc(hw));
    all.push_back(half_of_array(hw, "cmac_a"));
    all.push_back(half_of_array(hw, "cmac_b"));
    all.push_back(cacc(hw));
    all.push_back(sdp(hw));
    all.push_back(pdp(hw));
    all.push_back(cdp(hw));
    const double word = 64 * 8;
    // [spec] bdma.md 1.2: queue of 20 descriptors of 289 bits; rubik.md 2.2: a register file of 64 words.
    if (hw.bdma)
        all.push_back({.unit = "bdma",
                       .stored_bits = 20 * 289,
                       .ram_bits = credit_bits(hw, {Client::Bdma}),
                       .registers = {{"bdma", 3 * word}},
                       .moved = {{"beats", 16}},
                       .apart = true});
    if (hw.rubik)
        all.push_back({.unit = "rubik",
                       .stored_bits = 64 * word,
                       .ram_bits = credit_bits(hw, {Client::Rubik}),
                       .registers = {{"rubik", 4 * word}},
                       .moved = {{"beats_in", 8}, {"beats_out", 8}},
                       .apart = true});
    if (hw.memory.has_secondary) all.push_back({.unit = "cvsram", .sram_bits = 8.0 * hw.memory.secondary_bytes});
    return all;
}

}  // namespace dlasim::silicon
