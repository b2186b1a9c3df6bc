#include "lowering/cut/split_cost.h"

#include <algorithm>

#include "facts/cacc.h"
#include "facts/csb.h"
#include "facts/csc.h"
#include "lowering/array_work.h"

namespace dlasim {
namespace {

using std::uint64_t;

// Registers of a pass of the array and SDP, and what the bus master takes for one: four in the cycles that a place in its FIFO is held.
// So long after an interrupt CDMA begins to fetch.
constexpr uint64_t kRegisters = 122, kProgramming = kRegisters * (facts::csb::kFifoRelease + 2) / facts::csb::kFifoDepth;
constexpr uint64_t kFirstData = 100;  // from an enable to the first line in CBUF: CDMA, MCIF, a memory of 32 cycles
constexpr uint64_t kRefill = 70;      // from free space in CBUF to the first bytes in it
constexpr uint64_t kNextLine = 145;   // from the last read of a part to that of a line that waited for its space, without the fetch itself
constexpr uint64_t kDrain = 60;       // from the last result to the interrupt
constexpr uint64_t kEnable = 45;      // from the interrupt to the first read of a part of which CSC was not enabled before
constexpr uint64_t kBetween = 75;     // from the last read of a part to the first of the next
constexpr uint64_t kNextResult = 49;  // from the last result of a part to the first of the next
constexpr uint64_t kNextStep = 110;   // from the last result of a step to the fetch of an operation that reads it: interrupt, enables, CDMA
constexpr uint64_t kCredit = 40;      // a credit from CACC to the stripe that waits for it

/// Weights of a kernel group in the ring, and when they are released.
struct Held {
    uint64_t bytes = 0, until = 0;
};

class Walk {
public:
    Walk(const SplitFrame& frame, const Banks& banks)
        : f_(frame),
          nest_(array_nest(frame.pass, frame.geometry, frame.hw)),
          beat_(frame.hw.memory.primary.width_bytes),
          data_room_(frame.room_of(banks.data).count()),
          weight_room_(banks.weights * frame.bank_bytes)
    {
        if (frame.pass.alike != 1) return;
        begin_ = read_end_ = results_end_ = frame.wish.early.cycles;
        if (begin_ != 0) done_ = begin_ + kDrain;
    }

    /// Of one pass; of several that are alike the mean.
    SplitCost cost(const std::vector<Part>& parts)
    {
        for (std::size_t i = 0; i < parts.size(); ++i) follow(i == 0 ? nullptr : &parts[i - 1], parts[i]);
        const uint64_t alike = f_.pass.alike, first = done_, bytes = bytes_;
        if (alike == 1) return {first - begin_, bytes};
        // What begins a pass overlaps with the one before it.
        for (std::size_t i = 0; i < parts.size(); ++i) follow(i == 0 ? &parts.back() : &parts[i - 1], parts[i]);
        return {ceil_div(first + (alike - 1) * (done_ - first), alike), bytes};
    }

    /// Of a pass as if it had no start, and everything was fetched as seldom as one order of its parts fetches it.
    SplitCost least(uint64_t row_parts, uint64_t kernel_parts) const
    {
        const Pass& p = f_.pass;
        const std::uint32_t group = f_.hw.kernel_group(p.precision);
        uint64_t places = 0, data = 0, cycles = 0;
        for (const Strip& strip : f_.strips) {
            places += uint64_t{strip.columns} * strip.rows * p.batch;
            if (p.mode != PassMode::Direct) continue;
            const Pass& s = strip.pass;
            const std::uint32_t span = s.span_y(), seen = (strip.rows - 1) * std::min(s.stride.y, span) + span;
            const uint64_t lines = std::min(s.height, seen - std::min(seen, s.pad.top + s.pad.bottom));
            data += lines * s.width * f_.geometry.surfaces * f_.hw.memory.atom_bytes * p.batch;
        }
        for (std::uint32_t first = 0; first < p.kernels; first += group) {
            const std::uint32_t kernels = std::min(group, p.kernels - first);
            cycles += std::max(places / nest_.places * nest_.operations, places * place_cycles(kernels));
        }
        const uint64_t weights = f_.weight_bytes(p.kernels), again = weights * row_parts, turned = (row_parts - 1) * weights / kernel_parts;
        const uint64_t bytes = std::min(data * kernel_parts + weights, data + again - std::min(again - weights, turned));
        const uint64_t fetch = bytes / beat_;
        return {std::max(cycles + (row_parts * kernel_parts - 1) * kNextResult, fetch - std::min(fetch, begin_)), bytes};
    }

private:
    /// Of CACC, SDP and PDP, for the results of a place and the kernels of a group.
    uint64_t place_cycles(std::uint32_t kernels) const
    {
        const Pass& p = f_.pass;
        const uint64_t beats = sdp_beats(p, kernels, f_.hw), pause = facts::abilities(f_.hw).cacc_pauses ? 1 : 0;
        // PDP takes atoms of what SDP hands over.
        const uint64_t atom = f_.hw.memory.atom_bytes,
                       pooled = p.pool ? ceil_div<uint64_t>(uint64_t{kernels} * p.element_bytes(), atom) * atom / f_.hw.pdp.throughput : 0;
        return std::max({beats + pause, beats * cycles_a_beat(p, f_.hw), pooled});
    }

    /// For the kernels of a group: of the array, of CACC and what takes its results, and of both where each stripe waits for the slower
    /// one.
    struct Work {
        uint64_t places = 0;
        std::uint32_t columns = 0, kernels = 0;
        uint64_t array = 0, results = 0, both = 0;
        uint64_t ahead = 0;  // of the results, at most: CSC spends credits
        uint64_t last = 0;   // results of the last stripe
    };
    /// The groups of a part are mostly alike.
    const Work& work_of(uint64_t places, std::uint32_t columns, std::uint32_t kernels)
    {
        if (places == work_.places && columns == work_.columns && kernels == work_.kernels) return work_;
        const facts::csc::Facts csc = facts::csc::of(f_.hw);
        const uint64_t load = std::max<uint64_t>({load_cycles(f_.pass, kernels, f_.hw), facts::csc::kMinimumLoad, csc.minimum_issue});
        const uint64_t place = place_cycles(kernels) * nest_.places;
        work_ = {.places = places, .columns = columns, .kernels = kernels, .ahead = csc.credit * place};
        for (const auto& [atoms, count] : stripes_of(places / nest_.places, columns)) {
            // The results of a stripe take credits that come back as CACC hands over those of the one before.
            const uint64_t late =
                2 * atoms <= csc.credit ? 0 : kCredit - std::min(kCredit, (csc.credit - std::min<uint64_t>(csc.credit, atoms)) * place);
            const uint64_t array = nest_.operations * std::max(atoms, load), results = atoms * place + late;
            work_.array += count * array;
            work_.results += count * results;
            work_.both += count * std::max(array, results);
            work_.last = atoms * place;
        }
        return work_;
    }

    struct Stripes {
        uint64_t atoms = 0, count = 0;
    };
    /// [spec] csc.md 1.5.1.
    std::vector<Stripes> stripes_of(uint64_t atoms, std::uint32_t columns) const
    {
        const facts::csc::Facts csc = facts::csc::of(f_.hw);
        if (f_.pass.mode == PassMode::Image) {  // they end with the row
            const uint64_t rows = atoms / columns, whole = columns / csc.image_stripe, rest = columns % csc.image_stripe;
            std::vector<Stripes> of_rows{{csc.image_stripe, rows * whole}};
            if (rest != 0) of_rows.push_back({rest, rows});
            return of_rows;
        }
        const uint64_t upper = nest_.longest_stripe, lower = csc.long_stripes || upper == csc.upper ? upper / 2 : upper;
        std::vector<Stripes> stripes;
        if (csc.long_stripes && atoms >= 2 * upper) {
            stripes.push_back({upper, (atoms - 2 * upper) / upper + 1});
            atoms -= upper * stripes.back().count;
        }
        if (atoms > upper) {
            stripes.push_back({lower, ceil_div(atoms - upper, lower)});
            atoms -= lower * stripes.back().count;
        }
        stripes.push_back({atoms, 1});
        return stripes;
    }

    /// Of the lines that are fetched, without what an entry leaves empty.
    uint64_t data_bytes(const Part& part) const
    {
        const Pass& p = f_.strips[part.rows.strip].pass;
        if (p.mode != PassMode::Direct)
            return (part.rows.lines() - part.kept_lines) * f_.line_entries[part.rows.strip].count() * f_.hw.cbuf.entry_bytes;
        return uint64_t{fetched_lines(p, part)} * p.width * f_.geometry.surfaces * f_.hw.memory.atom_bytes * p.batch;
    }

    /// Per kernel they recur in every tile.
    uint64_t operand_bytes(const Part& part) const
    {
        const std::uint32_t atom = f_.hw.memory.atom_bytes;
        uint64_t atoms = 0;
        for (std::size_t i = 0; i < f_.geometry.operands.size(); ++i)
            if (f_.pass.post.engines[i].streams() && f_.pass.post.engines[i].per() == OperandPer::Kernel)
                atoms += f_.geometry.operands[i].atoms;
        return atoms * ceil_div(part.kernels.count, atom / f_.pass.element_bytes()) * atom;
    }

    /// Earliest arrival of the last byte of a group, given the content of the ring.
    uint64_t room_for(uint64_t bytes) const
    {
        uint64_t sum = bytes;
        for (std::size_t i = held_.size(); i-- > 0;) {
            if (sum + held_[i].bytes > weight_room_) return held_[i].until + kRefill + (sum + held_[i].bytes - weight_room_) / beat_;
            sum += held_[i].bytes;
        }
        return 0;
    }

    /// Of the input; of a phase of the dilation all of it.
    PlaneArea area_of(const Part& part) const
    {
        const Strip& strip = f_.strips[part.rows.strip];
        if (strip.row_step != 1) return {};
        return {{part.rows.begin, part.rows.lines()}, {strip.input_column, strip.pass.width}};
    }

    void follow(const Part* before, const Part& part)
    {
        const uint64_t line = f_.line_entries[part.rows.strip].count(), entry = f_.hw.cbuf.entry_bytes;
        const uint64_t fetched = (part.rows.lines() - part.kept_lines) * line, data = fetched * entry;
        const uint64_t weights = part.reuse_weights ? 0 : f_.weight_bytes(part.kernels.count);
        if (before) programmed_ = std::max(programmed_, done_before_) + kProgramming;
        const uint64_t there = begin_ != 0 && area_of(part).meets(f_.wish.early.late) ? begin_ + kNextStep : 0;
        const uint64_t start = std::max({programmed_, fetched_, there});
        // Both come at half the pace until one of them is there.
        const uint64_t beside = std::min(weights, weight_room_);
        uint64_t ready = start + (data == 0 ? 0 : kFirstData + (data <= beside ? 2 * data : data + beside) / beat_);
        if (before && fetched != 0)
            // What the part before still needs is in the way. Lines are fetched when all of a line has space.
            if (const uint64_t held = f_.entries_of(before->rows).count(); held + fetched > data_room_)
                ready =
                    std::max(ready, read_end_ + kNextLine + std::min(fetched, round_up(held + fetched - data_room_, line)) * entry / beat_);
        bytes_ += weights + operand_bytes(part) + data_bytes(part);
        const std::uint32_t group = f_.hw.kernel_group(f_.pass.precision);
        const uint64_t places = uint64_t{f_.strips[part.rows.strip].columns} * part.rows.count * f_.pass.batch;
        if (before) {
            results_end_ += kNextResult;
            read_end_ += kBetween;
            // Software enables CSC when the part before is done (program/sequence.h).
            if (facts::cacc::of(f_.hw).ends_may_meet(places * ceil_div(part.kernels.count, group)))
                read_end_ = std::max(read_end_, done_ + kEnable);
        }
        read_end_ = std::max(read_end_, ready);
        fetched_ = ready;
        if (!part.reuse_weights) kept_ = held_.size();
        uint64_t weights_end = start + kFirstData, rest = data;
        for (std::uint32_t first = 0; first < part.kernels.count; first += group) {
            const std::uint32_t kernels = std::min(group, part.kernels.count - first);
            const std::size_t number = kept_ + first / group;
            if (!part.reuse_weights) {
                const uint64_t bytes = f_.geometry.kernel_bytes * kernels, share = std::min(rest, bytes);
                rest -= share;
                weights_end = std::max(weights_end + (bytes + share) / beat_, room_for(bytes));
                held_.push_back({bytes, 0});
                read_end_ = std::max(read_end_, weights_end);
                fetched_ = std::max(fetched_, weights_end);
            }
            const Work& work = work_of(places, f_.strips[part.rows.strip].columns, kernels);
            results_end_ = std::max(results_end_ + work.results, read_end_ + work.both);
            read_end_ = std::max(read_end_ + work.array, results_end_ - std::min(results_end_, work.ahead));
            held_[number].until = read_end_;
        }
        if (part.keep_weights)
            for (std::size_t i = kept_; i < held_.size(); ++i) held_[i].until = read_end_;
        done_before_ = done_;
        done_ = std::max(results_end_, read_end_ + work_.last) + kDrain;
    }

    const SplitFrame& f_;
    const ArrayNest nest_;
    const uint64_t beat_, data_room_, weight_room_;
    uint64_t programmed_ = 0, fetched_ = 0, done_ = 0, done_before_ = 0, bytes_ = 0;
    uint64_t begin_ = 0;                       // of the step: when the array is done with the one before; the walk begins earlier
    uint64_t read_end_ = 0, results_end_ = 0;  // of the array so far: what it reads from CBUF, what CACC hands over
    std::vector<Held> held_;
    Work work_;
    std::size_t kept_ = 0;  // the first group of the kernels that the array has
};

}  // namespace

SplitCost least_cost(const SplitFrame& frame, std::uint64_t row_parts, std::uint64_t kernel_parts)
{
    return Walk(frame, {}).least(row_parts, kernel_parts);
}

SplitCost split_cost(const SplitFrame& frame, const std::vector<Part>& parts, const Banks& banks) { return Walk(frame, banks).cost(parts); }

}  // namespace dlasim
