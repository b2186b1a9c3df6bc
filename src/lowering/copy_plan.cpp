#include "base/bits.h"
#include "config/place_reader.h"
#include "facts/bdma.h"
#include "golden/copied.h"
#include "lowering/transfer_planner.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kMostBytes = 1u << 29;  // that are copied and compared
constexpr std::size_t kMostPages = kMostBytes / AtomSet::kPageBytes;
constexpr std::uint32_t kAtom = AtomSet::kAtomBytes;
// [spec] csb.md 3: every source but BDMA's two groups.
constexpr std::uint32_t kMask = 0x3fffff & ~(3u << facts::bdma::kInterruptBit);

class CopyPlanner {
public:
    CopyPlanner(const Transfer& transfer, const Hardware& hardware) : transfer_(transfer), blocks_(transfer.copy()->blocks), hw_(hardware)
    {
    }

    TransferPlan plan()
    {
        check_sizes();
        list_launches();
        for (std::size_t first = 0; first < plan_.launches.size();) first = check_together(first);
        count();
        write_program();
        return std::move(plan_);
    }

private:
    /// Where a block's end stands in the descriptor.
    std::string end_of(std::size_t block, const char* end) const { return transfer_.where("/blocks/" + std::to_string(block) + "/" + end); }

    void check_sizes() const
    {
        std::uint64_t bytes = 0;
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            const CopyBlock& block = blocks_[b];
            check_end(block, block.source, end_of(b, "source"));
            check_end(block, block.destination, end_of(b, "destination"));
            bytes += block.bytes();
            if (bytes > kMostBytes)
                throw ConfigError(transfer_.where("/blocks"), "copy more than " + std::to_string(kMostBytes) + " bytes, expected less");
        }
    }

    void check_end(const CopyBlock& block, const BlockEnd& end, const std::string& where) const
    {
        const std::uint64_t last = end.line_address(block.surfaces - 1, block.lines - 1) + block.line_bytes;
        check_range(end.place, last - end.place.address, where, hw_);
    }

    void list_launches()
    {
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            const bool fits = !plan_.launches.empty() && !blocks_[b].wait && plan_.launches.back().group == blocks_[b].group &&
                              plan_.launches.back().count < facts::bdma::kDescriptors;
            if (fits) ++plan_.launches.back().count;
            else plan_.launches.push_back({blocks_[b].group, blocks_[b].wait && b > 0, b, 1});
        }
    }

    /// Launches up to the next one that waits run side by side: nothing may be written twice, or read and written.
    std::size_t check_together(std::size_t first)
    {
        std::size_t end = first + 1;
        while (end < plan_.launches.size() && !plan_.launches[end].wait) ++end;
        const std::size_t begin_block = plan_.launches[first].first,
                          end_block = plan_.launches[end - 1].first + plan_.launches[end - 1].count;
        check_unsettled(begin_block, end_block);
        AtomSet written;
        for (std::size_t b = begin_block; b < end_block; ++b)
            for_each_line(blocks_[b], [&](std::uint32_t s, std::uint32_t l) {
                const BlockEnd& to = blocks_[b].destination;
                const Place place{to.place.primary, to.line_address(s, l)};
                if (const auto met = written.insert(place, blocks_[b].line_bytes))
                    throw ConfigError(end_of(b, "destination"), "writes address " + std::to_string(*met) + " of " + memory_name(place) +
                                                                    " a second time, expected lines apart, or \"wait\": true");
                touch(place, blocks_[b].line_bytes, end_of(b, "destination"));
            });
        for (std::size_t b = begin_block; b < end_block; ++b)
            for_each_line(blocks_[b], [&](std::uint32_t s, std::uint32_t l) {
                const BlockEnd& from = blocks_[b].source;
                const Place place{from.place.primary, from.line_address(s, l)};
                if (const auto met = written.find(place, blocks_[b].line_bytes))
                    throw ConfigError(end_of(b, "source"),
                                      "reads address " + std::to_string(*met) + " of " + memory_name(place) +
                                          ", which is written at the same time, expected lines apart, or \"wait\": true");
                touch(place, blocks_[b].line_bytes, end_of(b, "source"));
            });
        for (std::size_t b = begin_block; b < end_block; ++b)
            for (const auto& [side, name] : {std::pair{&blocks_[b].source, "source"}, std::pair{&blocks_[b].destination, "destination"}})
                plan_.ranges.push_back(
                    {end_of(b, name), side->place,
                     side->line_address(blocks_[b].surfaces - 1, blocks_[b].lines - 1) + blocks_[b].line_bytes - side->place.address});
        settle(first, end);
        return end;
    }

    /// Nothing may touch what was written without an interrupt that vouches for it.
    void check_unsettled(std::size_t begin, std::size_t end) const
    {
        for (std::size_t b = begin; b < end; ++b)
            for (const auto& [side, name] : {std::pair{&blocks_[b].source, "source"}, std::pair{&blocks_[b].destination, "destination"}})
                for_each_line(blocks_[b], [&, side = side, name = name](std::uint32_t s, std::uint32_t l) {
                    const Place place{side->place.primary, side->line_address(s, l)};
                    if (const auto met = unsettled_[place.primary].find(place, blocks_[b].line_bytes))
                        throw ConfigError(end_of(b, name), "touches address " + std::to_string(*met) + " of " + memory_name(place) +
                                                               ", written by a launch that ends in the other memory: its interrupt says "
                                                               "nothing of this one. Expected a launch of its own for what writes to " +
                                                               memory_name(place));
                });
    }

    /// [spec] bdma.md 1.4: only the last write of a launch is acknowledged, and with it all before it to the same memory.
    void settle(std::size_t first, std::size_t end)
    {
        for (std::size_t i = first; i < end; ++i) {
            const Launch& launch = plan_.launches[i];
            for (std::size_t b = launch.first; b < launch.first + launch.count; ++b)
                insert_lines(unsettled_[blocks_[b].destination.place.primary], blocks_[b], blocks_[b].destination);
            unsettled_[blocks_[launch.first + launch.count - 1].destination.place.primary].clear();
        }
        plan_.settled = unsettled_[0].pages() == 0 && unsettled_[1].pages() == 0;
    }

    /// Memory that is simulated exists in pages, however few bytes of them are used.
    void touch(const Place& place, std::uint64_t bytes, const std::string& where)
    {
        touched_.insert(place, bytes);
        if (touched_.pages() > kMostPages)
            throw ConfigError(where, "is spread over more than " + std::to_string(kMostPages) + " pages of " +
                                         std::to_string(AtomSet::kPageBytes) + " bytes in all, expected less");
    }

    /// [spec] bdma.md 1.3, 1.4, 2.2: a request a line, then a command and a beat for two atoms.
    void count()
    {
        std::uint64_t lines = 0, store = 0;
        for (const CopyBlock& block : blocks_) {
            const std::uint64_t block_lines = std::uint64_t{block.lines} * block.surfaces;
            lines += block_lines;
            store += block_lines * (1 + ceil_div(block.line_bytes / kAtom, 2u));
            plan_.bytes += block.bytes();
            for_each_line(block, [&](std::uint32_t s, std::uint32_t l) {
                port(block.source).reads += beats(block.source.line_address(s, l), block.line_bytes);
                port(block.destination).writes += beats(block.destination.line_address(s, l), block.line_bytes);
            });
        }
        plan_.bounds = {{"bdma_load", lines, "a read request for each line"},
                        {"bdma_store", store, "a command for each line, and its data"}};
    }
    PortBeats& port(const BlockEnd& end) { return end.place.primary ? plan_.dbb : plan_.cvsram; }
    std::uint64_t beats(std::uint64_t address, std::uint64_t bytes) const
    {
        const std::uint64_t beat = hw_.memory.primary.width_bytes;  // nv_full: both ports alike
        return ceil_div(address + bytes, beat) - address / beat;
    }

    void write_program()
    {
        ProgramWriter program(hw_, plan_.program);
        program.poll("CDMA.S_CBUF_FLUSH_STATUS", 1);
        program.write("GLB.S_INTR_MASK", kMask);
        const std::vector<Launch>& launches = plan_.launches;
        std::size_t done = 0;  // launches that software knows to be done
        bool alone = true;     // at most one launch was under way since everything was done
        const auto await = [&](std::size_t until) {
            for (; done < until; ++done) {
                // The pin cannot be high for the sake of another one, nor its bit have been seen already.
                if (alone) program.add(WaitInterrupt{"BDMA_" + std::to_string(launches[done].group)});
                else program.add(WaitStatus{1u << (facts::bdma::kInterruptBit + launches[done].group)});
            }
        };
        for (std::size_t i = 0; i < launches.size(); ++i) {
            const Launch& launch = launches[i];
            const bool behind_all = i > 0 && (launch.wait || launch.group == launches[i - 1].group ||
                                              launch.count + launches[i - 1].count > facts::bdma::kDescriptors);
            await(behind_all ? i : i - std::min<std::size_t>(i, 1));
            alone = done == i;
            for (std::size_t b = launch.first; b < launch.first + launch.count; ++b) program.write(block_writes(blocks_[b]));
            program.write("BDMA.CFG_LAUNCH" + std::to_string(launch.group), 1);
            if (i == 0) program.add(MarkT0{});
        }
        await(launches.size());
    }

    const Transfer& transfer_;
    const std::vector<CopyBlock>& blocks_;
    const Hardware& hw_;
    TransferPlan plan_;
    AtomSet touched_;
    std::array<AtomSet, 2> unsettled_;  // behind CVSRAM, behind DBB
};

}  // namespace

std::vector<RegisterValue> block_writes(const CopyBlock& block)
{
    std::vector<RegisterValue> writes;
    const auto put = [&](const char* name, std::uint64_t value) {
        writes.push_back({std::string("BDMA.") + name, static_cast<std::uint32_t>(value)});
    };
    put("CFG_SRC_ADDR_LOW", block.source.place.address);
    put("CFG_SRC_ADDR_HIGH", block.source.place.address >> 32);
    put("CFG_DST_ADDR_LOW", block.destination.place.address);
    put("CFG_DST_ADDR_HIGH", block.destination.place.address >> 32);
    put("CFG_LINE", block.line_bytes / kAtom - 1);
    put("CFG_CMD", block.source.place.primary | block.destination.place.primary << 1);
    put("CFG_LINE_REPEAT", block.lines - 1);
    put("CFG_SRC_LINE", block.source.line_stride);
    put("CFG_DST_LINE", block.destination.line_stride);
    put("CFG_SURF_REPEAT", block.surfaces - 1);
    put("CFG_SRC_SURF", block.source.surface_stride);
    put("CFG_DST_SURF", block.destination.surface_stride);
    put("CFG_OP", 1);
    return writes;
}

TransferPlan plan_copy(const Transfer& transfer, const Hardware& hardware) { return CopyPlanner(transfer, hardware).plan(); }

}  // namespace dlasim
