#include "lowering/transfer/copy_order.h"

#include "base/error.h"
#include "config/layer/place_reader.h"
#include "facts/bdma.h"
#include "golden/memory/copied.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kMaxTouchedBytes = 1u << 29;  // of all pages that are touched
constexpr std::size_t kMaxPages = kMaxTouchedBytes / AtomSet::kPageBytes;

/// Blocks [begin, end).
struct Blocks {
    std::size_t begin, end;
};

class OrderCheck {
public:
    explicit OrderCheck(const Transfer& transfer) : transfer_(transfer), blocks_(transfer.copy()->blocks) {}

    /// Launches that run side by side: nothing may be written twice, or read and written.
    void together(const Blocks& run)
    {
        for_each_end(run, [&](const Place& place, const CopyBlock& block, const std::string& where) {
            const auto met = unsettled_[place.primary].find(place, block.line_bytes);
            if (met)
                throw ConfigError(where, "touches address " + std::to_string(met->byte()) + " of " + memory_name(place) +
                                             ", written by a launch that ends in the other memory: its interrupt does "
                                             "not cover this one. Expected a separate launch for writes to " +
                                             memory_name(place));
        });
        AtomSet written;
        for (std::size_t b = run.begin; b < run.end; ++b)
            for_each_place(b, blocks_[b].destination, [&](const Place& place) {
                if (const auto met = written.insert(place, blocks_[b].line_bytes))
                    throw ConfigError(where(b, "destination"), "writes address " + std::to_string(met->byte()) + " of " +
                                                                   memory_name(place) +
                                                                   " a second time, expected lines apart, or \"wait\": true");
                touch(place, blocks_[b].line_bytes, where(b, "destination"));
            });
        for (std::size_t b = run.begin; b < run.end; ++b)
            for_each_place(b, blocks_[b].source, [&](const Place& place) {
                if (const auto met = written.find(place, blocks_[b].line_bytes))
                    throw ConfigError(where(b, "source"),
                                      "reads address " + std::to_string(met->byte()) + " of " + memory_name(place) +
                                          ", which is written at the same time, expected lines apart, or \"wait\": true");
                touch(place, blocks_[b].line_bytes, where(b, "source"));
            });
    }

    /// [spec] bdma.md 1.4: only the last write of a launch is acknowledged, and with it all before it to the same memory.
    void done(const Launch& launch)
    {
        for (std::size_t b = launch.first; b < launch.first + launch.count; ++b)
            insert_lines(unsettled_[blocks_[b].destination.place.primary], blocks_[b], blocks_[b].destination);
        unsettled_[blocks_[launch.first + launch.count - 1].destination.place.primary].clear();
    }

    bool settled() const { return unsettled_[0].pages() == 0 && unsettled_[1].pages() == 0; }

private:
    std::string where(std::size_t block, const char* end) const { return transfer_.where("/blocks/" + std::to_string(block) + "/" + end); }

    template <class Visit>
    void for_each_place(std::size_t block, const BlockEnd& end, Visit visit) const
    {
        for_each_line(blocks_[block], [&](std::uint32_t s, std::uint32_t l) { visit(Place{end.place.primary, end.line_address(s, l)}); });
    }
    template <class Visit>
    void for_each_end(const Blocks& run, Visit visit) const
    {
        for (std::size_t b = run.begin; b < run.end; ++b)
            for (const auto& [side, name] : {std::pair{&blocks_[b].source, "source"}, std::pair{&blocks_[b].destination, "destination"}})
                for_each_place(b, *side, [&, name = name](const Place& place) { visit(place, blocks_[b], where(b, name)); });
    }

    /// Memory that is simulated exists in pages, however few bytes of them are used.
    void touch(const Place& place, std::uint64_t bytes, const std::string& where)
    {
        touched_.insert(place, bytes);
        if (touched_.pages() > kMaxPages)
            throw ConfigError(where, "is spread over more than " + std::to_string(kMaxPages) + " pages of " +
                                         std::to_string(AtomSet::kPageBytes) + " bytes in all, expected less");
    }

    const Transfer& transfer_;
    const std::vector<CopyBlock>& blocks_;
    AtomSet touched_;
    std::array<AtomSet, 2> unsettled_;  // in CVSRAM, in DBB memory
};

}  // namespace

std::vector<Launch> launches_of(const Copy& copy)
{
    std::vector<Launch> launches;
    for (std::size_t b = 0; b < copy.blocks.size(); ++b) {
        const CopyBlock& block = copy.blocks[b];
        const bool fits =
            !launches.empty() && !block.wait && launches.back().group == block.group && launches.back().count < facts::bdma::kDescriptors;
        if (fits) ++launches.back().count;
        else launches.push_back({block.group, block.wait && b > 0, b, 1});
    }
    return launches;
}

bool check_order(const Transfer& transfer, const std::vector<Launch>& launches)
{
    OrderCheck check(transfer);
    for (std::size_t first = 0, end = 0; first < launches.size(); first = end) {
        end = first + 1;
        while (end < launches.size() && !launches[end].wait) ++end;
        check.together({launches[first].first, launches[end - 1].first + launches[end - 1].count});
        for (std::size_t i = first; i < end; ++i) check.done(launches[i]);
    }
    return check.settled();
}

}  // namespace dlasim
