#include "base/bits.h"
#include "facts/bdma.h"
#include "golden/memory/copied.h"
#include "lowering/transfer/copy_order.h"
#include "lowering/transfer/transfer_planner.h"
#include "registers/fields/bdma.h"
#include "registers/interrupts.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kMaxCopiedBytes = 1u << 29;  // that are copied and compared
constexpr std::uint32_t kCopyAtom = AtomSet::kAtomBytes;

/// Bytes from the first to one past the last of an end.
std::uint64_t reach(const CopyBlock& block, const BlockEnd& end)
{
    return end.line_address(block.surfaces - 1, block.lines - 1) + block.line_bytes - end.place.address;
}

/// Memory from block to block, the source first.
std::vector<TouchedRange> ranges_of(const Transfer& transfer)
{
    std::vector<TouchedRange> ranges;
    const std::vector<CopyBlock>& blocks = transfer.copy()->blocks;
    for (std::size_t b = 0; b < blocks.size(); ++b)
        for (const auto& [end, name] : {std::pair{&blocks[b].source, "source"}, std::pair{&blocks[b].destination, "destination"}})
            ranges.push_back({transfer.where("/blocks/" + std::to_string(b) + "/" + name), end->place, reach(blocks[b], *end)});
    return ranges;
}

/// Bytes that are copied.
std::uint64_t bytes_of(const Transfer& transfer)
{
    std::uint64_t bytes = 0;
    for (const CopyBlock& block : transfer.copy()->blocks) {
        bytes += block.bytes();
        if (bytes > kMaxCopiedBytes)
            throw ConfigError(transfer.where("/blocks"), "copy more than " + std::to_string(kMaxCopiedBytes) + " bytes, expected less");
    }
    return bytes;
}

/// At the port of DBB, or at that of CVSRAM.
PortBeats beats_of(const Copy& copy, bool primary, const Hardware& hw)
{
    const std::uint64_t beat = primary ? hw.memory.primary.width_bytes : hw.memory.secondary.width_bytes;
    PortBeats beats;
    for (const CopyBlock& block : copy.blocks)
        for (const auto& [end, count] : {std::pair{&block.source, &beats.reads}, std::pair{&block.destination, &beats.writes}}) {
            if (end->place.primary != primary) continue;
            for_each_line(block, [&, end = end, count = count](std::uint32_t s, std::uint32_t l) {
                const std::uint64_t first = end->line_address(s, l).byte();
                *count += ceil_div(first + block.line_bytes, beat) - first / beat;
            });
        }
    return beats;
}

/// [spec] bdma.md 1.3, 1.4, 2.2: a request a line, then a command and a beat for two atoms.
std::vector<UnitBound> bounds_of(const Copy& copy)
{
    std::uint64_t lines = 0, store = 0;
    for (const CopyBlock& block : copy.blocks) {
        const std::uint64_t block_lines = std::uint64_t{block.lines} * block.surfaces;
        lines += block_lines;
        store += block_lines * (1 + ceil_div(block.line_bytes / kCopyAtom, 2u));
    }
    return {{"bdma_load", lines}, {"bdma_store", store}};
}

/// The descriptor of a block, the push last.
std::vector<RegisterValue> block_writes(const CopyBlock& block, const Hardware& hardware)
{
    using namespace reg::bdma;
    RegisterWriter out(hardware);
    out.unit("BDMA");
    out.put(CFG_SRC_ADDR_LOW, low_word(block.source.place.address));
    out.put(CFG_SRC_ADDR_HIGH, high_word(block.source.place.address));
    out.put(CFG_DST_ADDR_LOW, low_word(block.destination.place.address));
    out.put(CFG_DST_ADDR_HIGH, high_word(block.destination.place.address));
    out.put(CFG_LINE, block.line_bytes / kCopyAtom - 1);
    out.put({CFG_CMD::SRC_RAM_TYPE(block.source.place.primary), CFG_CMD::DST_RAM_TYPE(block.destination.place.primary)});
    out.put(CFG_LINE_REPEAT, block.lines - 1);
    out.put(CFG_SRC_LINE, block.source.strides.line);
    out.put(CFG_DST_LINE, block.destination.strides.line);
    out.put(CFG_SURF_REPEAT, block.surfaces - 1);
    out.put(CFG_SRC_SURF, block.source.strides.surface);
    out.put(CFG_DST_SURF, block.destination.strides.surface);
    out.put(CFG_OP, 1);
    return out.take().writes;
}

Program program_of(const Copy& copy, const std::vector<Launch>& launches, const Hardware& hw)
{
    Program entries;
    ProgramWriter program(hw, entries);
    program.begin(reg::glb::kBdma.bits());
    std::size_t done = 0;  // launches that software knows to be done
    bool alone = true;     // at most one launch was under way since everything was done
    const auto await = [&](std::size_t until) {
        for (; done < until; ++done) {
            // The pin cannot be high for the sake of another one, nor its bit have been seen already.
            if (alone) program.add(WaitInterrupt{"BDMA_" + std::to_string(launches[done].group)});
            else program.add(WaitStatus{reg::glb::kBdma.bit(launches[done].group)});
        }
    };
    for (std::size_t i = 0; i < launches.size(); ++i) {
        const Launch& launch = launches[i];
        const bool behind_all = i > 0 && (launch.wait || launch.group == launches[i - 1].group ||
                                          launch.count + launches[i - 1].count > facts::bdma::kDescriptors);
        await(behind_all ? i : i - std::min<std::size_t>(i, 1));
        alone = done == i;
        for (std::size_t b = launch.first; b < launch.first + launch.count; ++b) program.write(block_writes(copy.blocks[b], hw));
        program.write("BDMA.CFG_LAUNCH" + std::to_string(launch.group), 1);
        if (i == 0) program.add(MarkT0{});
    }
    await(launches.size());
    return entries;
}

}  // namespace

TransferPlan plan_copy(const Transfer& transfer, const Hardware& hardware)
{
    check_unit("BDMA", transfer, hardware);
    const Copy& copy = *transfer.copy();
    TransferPlan plan;
    plan.ranges = ranges_of(transfer);
    for (const TouchedRange& range : plan.ranges) check_range(range.place, range.bytes, range.where, hardware);
    plan.bytes = bytes_of(transfer);
    plan.launches = launches_of(copy);
    plan.settled = check_order(transfer, plan.launches);
    plan.dbb = beats_of(copy, true, hardware);
    plan.cvsram = beats_of(copy, false, hardware);
    plan.bounds = bounds_of(copy);
    plan.program = program_of(copy, plan.launches, hardware);
    return plan;
}

}  // namespace dlasim
