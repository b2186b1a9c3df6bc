#include "network/memory_map.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/bits.h"
#include "base/error.h"
#include "base/expects.h"
#include "lowering/memory/places.h"
#include "network/allocation.h"
#include "network/plan.h"

namespace dlasim {
namespace {

constexpr std::size_t kNoBlock = SIZE_MAX;
constexpr std::uint64_t kWanted = 1u << 20;  // times the worth of a block that the network wants in CVSRAM

class Placer {
public:
    Placer(NetworkPlan& plan, std::vector<Footprint> footprints, const std::vector<std::size_t>& over, const NetworkOptions& options)
        : p_(plan), footprints_(std::move(footprints)), over_(over), keep_(options.keep_tensors), cvsram_(options.cvsram)
    {
    }

    void place()
    {
        find_blocks();
        for (std::size_t i = 0; i < p_.plans.size(); ++i) note_step(i);
        for (std::size_t b = 0; b < p_.blocks.size(); ++b) {
            between_steps_.push_back(free_to_go(b));
            if (keep_ || !between_steps_[b] || spares_lines(b)) hold(p_.blocks[b]);
        }
        put_blocks();
        find_overwritten();
        note_ranges();
        Region weights("weights", kWeights, kReachable);
        for (std::size_t i = 0; i < p_.plans.size(); ++i)
            if (step(i).unit != StepUnit::Host) finish(i, weights);
        p_.memory_use.weights = weights.taken();
        for (std::size_t tensor = 0; tensor < p_.layouts.size(); ++tensor)
            if (p_.layouts[tensor].spare_line) fill_spare_lines(tensor);
    }

private:
    const Step& step(std::size_t i) const { return p_.steps.list[i]; }
    std::size_t steps() const { return p_.steps.list.size(); }
    std::string where(std::size_t tensor) const { return p_.network.file + ": tensor " + p_.steps.tensors[tensor].name; }

    // Blocks.

    std::size_t add_block(std::size_t tensor, std::uint64_t bytes)
    {
        block_[tensor] = p_.blocks.size();
        p_.blocks.push_back({.tensors = {tensor}, .bytes = bytes, .begin = steps()});
        return block_[tensor];
    }

    void find_blocks()
    {
        block_.assign(p_.steps.tensors.size(), kNoBlock);
        offset_.assign(block_.size(), 0);
        before_.assign(steps(), 0);
        scratch_.assign(steps(), kNoBlock);
        for (std::size_t j = p_.steps.joined.size(); j-- > 0;) join(p_.steps.joined[j]);
        for (std::size_t i = 0; i < steps(); ++i) {
            const std::size_t t = step(i).output;
            before_[i] = p_.layouts[t].before;
            const std::uint64_t written = footprints_[i].output - std::min(before_[i], footprints_[i].output);
            if (block_[t] == kNoBlock) add_block(t, std::max(written, p_.layouts[t].bytes));
            if (before_[i] == 0) continue;
            scratch_[i] = p_.blocks.size();
            p_.blocks.push_back({.tensors = {}, .bytes = before_[i], .begin = i});
        }
        for (std::size_t t = 0; t < block_.size(); ++t)
            if (p_.exists(t) && block_[t] == kNoBlock) add_block(t, p_.layouts[t].bytes);
    }

    /// Outer ones first.
    void join(const JoinedTensor& joined)
    {
        if (block_[joined.whole] == kNoBlock) add_block(joined.whole, p_.layouts[joined.whole].bytes);
        const std::size_t b = block_[joined.whole];
        std::uint64_t offset = offset_[joined.whole];
        for (const std::size_t part : joined.parts) {
            block_[part] = b;
            offset_[part] = offset;
            p_.blocks[b].tensors.push_back(part);
            offset += joined.rows != 0 ? joined.rows * p_.layouts[part].cube.strides.line : p_.layouts[part].bytes;
        }
    }

    /// When a step needs its blocks, and what it moves.
    void note_step(std::size_t i)
    {
        const auto touch = [&](std::size_t b) { p_.blocks[b].end = std::max(p_.blocks[b].end, over_[i]); };
        for (const std::size_t tensor : step(i).inputs) touch(block_[tensor]);
        if (step(i).addend) touch(block_[*step(i).addend]);
        Block& made = p_.blocks[block_[step(i).output]];
        made.begin = std::min(made.begin, i);
        touch(block_[step(i).output]);
        if (scratch_[i] != kNoBlock) touch(scratch_[i]);
        for (const TensorTraffic& moved : p_.plans[i].traffic.tensors)
            if (const std::size_t b = block_of(i, moved); b != kNoBlock) p_.blocks[b].moved += moved.moved;
    }

    /// Of the tensor that a step moves; none of weights and operands per kernel.
    std::size_t block_of(std::size_t i, const TensorTraffic& moved) const
    {
        const std::string_view name = moved.name;
        if (name == "input") return block_[step(i).inputs.front()];
        if (name == "output" && scratch_[i] == kNoBlock) return block_[step(i).output];
        if (name == "phases" && moved.written) return block_[step(i).output];
        for (std::size_t e = 0; e < kEngineNames.size(); ++e)
            if (name == kEngineNames[e] && element(i, e)) return block_[*step(i).addend];
        return kNoBlock;
    }

    /// Nobody else may write into its spare lines.
    bool spares_lines(std::size_t b) const
    {
        const std::vector<std::size_t>& tensors = p_.blocks[b].tensors;
        return std::any_of(tensors.begin(), tensors.end(), [&](std::size_t tensor) { return p_.layouts[tensor].spare_line; });
    }

    /// The content of the spare lines of a tensor.
    void fill_spare_lines(std::size_t tensor)
    {
        const TensorLayout& layout = p_.layouts[tensor];
        const std::uint64_t line = layout.cube.strides.line, surface = layout.cube.strides.surface;
        for (std::uint64_t end = surface; end <= layout.bytes; end += surface)
            p_.images.push_back({ImageOf::Weights, layout.place + (end - line), Bytes(line)});
    }

    /// Every tensor of it is made and read between two steps.
    bool free_to_go(std::size_t b) const
    {
        const Block& block = p_.blocks[b];
        if (block.tensors.empty()) return true;
        return block.begin != steps() && std::none_of(block.tensors.begin(), block.tensors.end(), [&](std::size_t tensor) {
                   return p_.is_output(tensor) || (p_.steps.maker(tensor) && !read(tensor) && !read(block.tensors.front()));
               });
    }
    bool read(std::size_t tensor) const
    {
        for (const JoinedTensor& joined : p_.steps.joined)
            if (joined.at_once && joined.whole == tensor)
                return std::any_of(joined.parts.begin(), joined.parts.end(), [&](std::size_t part) { return read(part); });
        return std::any_of(p_.steps.list.begin(), p_.steps.list.end(), [&](const Step& s) {
            return s.addend == tensor || std::find(s.inputs.begin(), s.inputs.end(), tensor) != s.inputs.end();
        });
    }
    void hold(Block& block) const
    {
        block.begin = 0;
        block.end = steps();
    }

    /// Only units of the machine see it.
    bool may_stay_on_chip(std::size_t b) const
    {
        if (p_.blocks[b].tensors.empty() || !between_steps_[b]) return false;
        for (std::size_t i = 0; i < steps(); ++i) {
            const Step& s = step(i);
            const bool makes = block_[s.output] == b;
            const bool reads = (s.addend && block_[*s.addend] == b) ||
                               std::any_of(s.inputs.begin(), s.inputs.end(), [&](std::size_t tensor) { return block_[tensor] == b; });
            if ((makes || reads) && s.unit == StepUnit::Host) return false;
            if (makes && !p_.plans[i].packing.empty()) return false;
        }
        return true;
    }

    void put_blocks()
    {
        const std::uint64_t capacity = cvsram_ ? p_.hardware.memory.secondary_bytes : 0;
        std::vector<Allocation> allocations;
        std::vector<std::size_t> of;
        const auto list = [&](std::size_t b) {
            const Block& block = p_.blocks[b];
            allocations.push_back({block.bytes, block.begin, block.end, block.moved});
            of.push_back(b);
        };
        for (std::size_t b = 0; b < p_.blocks.size(); ++b)
            if (capacity != 0 && may_stay_on_chip(b)) {
                if (said(b) == 0U) p_.decided[{*layer_of(b), PlanDecision::Cvsram}] = 0;
                else list(b);
            }
        const Arrangement on_chip = on_chip_of(allocations, of, capacity);
        std::vector<bool> chosen(p_.blocks.size());
        for (std::size_t r = 0; r < allocations.size(); ++r) {
            if (!on_chip.at[r]) continue;
            p_.blocks[of[r]].place = {false, kCvsram + *on_chip.at[r]};
            chosen[of[r]] = true;
        }
        allocations.clear();
        of.clear();
        for (std::size_t b = 0; b < p_.blocks.size(); ++b)
            if (!chosen[b]) list(b);
        const Arrangement in_dram = arrange(allocations);
        if (in_dram.peak > kWeights - kTensors)
            throw ConfigError(p_.network.file, "has tensors that take " + std::to_string(in_dram.peak) +
                                                   " bytes at a time, expected at most " + std::to_string(kWeights - kTensors));
        for (std::size_t r = 0; r < allocations.size(); ++r) p_.blocks[of[r]].place = {true, kTensors + *in_dram.at[r]};
        p_.memory_use.tensors = in_dram.peak;
        p_.memory_use.cvsram = on_chip.peak;
        p_.memory_use.kept = on_chip.saved;
        for (const Block& block : p_.blocks) p_.memory_use.apart += round_up(block.bytes, Region::kAligned);
        for (std::size_t t = 0; t < block_.size(); ++t)
            if (p_.exists(t)) p_.layouts[t].place = p_.blocks[block_[t]].place + offset_[t];
    }

    /// The layer whose decision the place of a block is.
    std::optional<std::size_t> layer_of(std::size_t b) const
    {
        return p_.blocks[b].tensors.empty() ? std::nullopt : p_.steps.tensors[p_.blocks[b].tensors.front()].layer;
    }
    std::optional<std::uint32_t> said(std::size_t b) const
    {
        const std::optional<std::size_t> layer = layer_of(b);
        return layer ? p_.network.layers[*layer].decided.of(PlanDecision::Cvsram) : std::nullopt;
    }
    /// Those that the network wants there come first, if they are not there anyway.
    Arrangement on_chip_of(std::vector<Allocation> allocations, const std::vector<std::size_t>& of, std::uint64_t capacity)
    {
        Arrangement arrangement = choose(allocations, capacity);
        const auto missing = [&](std::size_t r) { return said(of[r]) == 1U && !arrangement.at[r]; };
        bool any = false;
        for (std::size_t r = 0; r < of.size(); ++r) any = any || missing(r);
        if (any) {
            std::vector<Allocation> first = allocations;
            for (std::size_t r = 0; r < of.size(); ++r)
                if (said(of[r]) != 1U) first[r].saved /= kWanted;
            arrangement = choose(first, capacity);
            arrangement.saved = 0;
            for (std::size_t r = 0; r < of.size(); ++r) arrangement.saved += arrangement.at[r] ? allocations[r].saved : 0;
        }
        for (std::size_t r = 0; r < of.size(); ++r)
            if (const std::optional<std::size_t> layer = layer_of(of[r]))
                p_.decided[{*layer, PlanDecision::Cvsram}] = arrangement.at[r] ? 1 : 0;
        return arrangement;
    }

    static bool meet(const Block& a, const Block& b)
    {
        return a.place.primary == b.place.primary && a.place.address < b.place.address + b.bytes &&
               b.place.address < a.place.address + a.bytes;
    }

    void find_overwritten()
    {
        std::vector<bool> gone(p_.blocks.size());
        p_.overwritten.assign(steps(), {});
        for (std::size_t i = 0; i < steps(); ++i)
            for (const Block& next : p_.blocks) {
                if (next.begin != i) continue;
                for (std::size_t b = 0; b < p_.blocks.size(); ++b) {
                    const Block& last = p_.blocks[b];
                    if (gone[b] || last.end > i || !meet(last, next)) continue;
                    gone[b] = true;
                    p_.overwritten[i].insert(p_.overwritten[i].end(), last.tensors.begin(), last.tensors.end());
                }
            }
    }

    /// Blocks that share memory are one range.
    void note_ranges()
    {
        std::vector<const Block*> sorted;
        for (const Block& block : p_.blocks) sorted.push_back(&block);
        const auto order = [](const Block* block) { return std::tuple{!block->place.primary, block->place.address, block->bytes}; };
        std::sort(sorted.begin(), sorted.end(), [&](const Block* a, const Block* b) { return order(a) < order(b); });
        for (const Block* block : sorted) {
            const Address end = block->place.address + block->bytes;
            if (!p_.ranges.empty()) {
                TouchedRange& last = p_.ranges.back();
                if (last.place.primary == block->place.primary && block->place.address < last.place.address + last.bytes) {
                    last.where = p_.network.file + ": tensors";
                    last.bytes = std::max(last.bytes, end - last.place.address);
                    continue;
                }
            }
            p_.ranges.push_back(
                {block->tensors.empty() ? p_.network.file + ": phases" : where(block->tensors.front()), block->place, block->bytes});
        }
    }

    // Steps.

    bool element(std::size_t i, std::size_t engine) const
    {
        const PointEngine& e = p_.plans[i].machine.post.engines[engine];
        return e.streams() && e.per() == OperandPer::Element;
    }

    /// Where a pass finds its places of the tensor that is added.
    static Address addend_address(const TensorLayout& addend, const PlannedPass& pass, const std::string& where)
    {
        if (pass.first_kernel % addend.per_atom() != 0)
            throw ConfigError(where, "is tiled into less than an atom of kernels, expected whole atoms: another tensor is added");
        return addend.place.address + pass.first_kernel / addend.per_atom() * addend.cube.strides.surface +
               pass.first_row * addend.cube.strides.line + std::uint64_t{pass.first_column} * addend.cube.atom_bytes;
    }

    /// From the planned address of the output of a step to its final address.
    Place written(std::size_t i, Address planned) const
    {
        const std::uint64_t offset = planned - kPlannedPlaces.output.address;
        if (offset >= before_[i]) return p_.layouts[step(i).output].place + (offset - before_[i]);
        return p_.blocks[scratch_[i]].place + offset;
    }

    Address take(Region& region, std::uint64_t bytes, const std::string& file)
    {
        const Address address = region.take(bytes, file);
        p_.ranges.push_back({file + ": weights", {true, address}, bytes});
        return address;
    }

    /// The passes and images of a step from where they were planned to their places; the bounds of the ports.
    void finish(std::size_t i, Region& region)
    {
        StepPlan& plan = p_.plans[i];
        const Step& s = step(i);
        for (LrnPass& pass : plan.lrn) {
            const std::uint64_t from = pass.first_line * pass.cube.strides.line;
            pass.lrn.input = p_.layouts[s.inputs.front()].place + from;
            pass.lrn.output = p_.layouts[s.output].place + from;
        }
        if (plan.lrn.empty()) move(i, region);
        for (TensorTraffic& moved : plan.traffic.tensors)
            if (const std::size_t b = block_of(i, moved); b != kNoBlock) moved.primary = p_.blocks[b].place.primary;
        for (Bound& bound : port_bounds(plan.traffic, plan.passes.size(), p_.hardware, p_.memory)) plan.bounds.push_back(std::move(bound));
    }

    void move(std::size_t i, Region& region)
    {
        const Step& s = step(i);
        Footprint& at = footprints_[i];
        const std::string file = p_.network.file + ": " + s.name;
        const Place& from = p_.layouts[s.inputs.front()].place;
        const std::uint64_t input = from.address - kPlannedPlaces.input.address;
        const auto [known, first] = constants_.try_emplace(s.origin);
        auto& [weights, mask, group_sizes, operands] = known->second;
        const auto planned = kPlannedPlaces.weights.address;
        if (first && at.weights != 0) weights = take(region, at.weights, file) - planned;
        if (first && at.mask != 0) mask = take(region, at.mask, file) - (planned + kMaskBehindWeights);
        if (first && at.group_sizes != 0) group_sizes = take(region, at.group_sizes, file) - (planned + kGroupSizesBehindWeights);
        for (std::size_t e = 0; e < operands.size(); ++e)
            if (first && at.operands[e] != 0 && !element(i, e))
                operands[e] = take(region, at.operands[e], file) - kPlannedPlaces.operands[e].address;
        for (PlannedPass& pass : p_.plans[i].passes) {
            Addresses& a = pass.address;
            a.input += input;
            pass.pass.input_primary = from.primary;
            const Place to = written(i, a.output);
            a.output = to.address;
            pass.pass.output_primary = to.primary;
            if (a.weights != Address{}) a.weights += weights;
            if (pass.pass.compressed.on) {
                a.mask += mask;
                a.group_sizes += group_sizes;
            }
            for (std::size_t e = 0; e < operands.size(); ++e) {
                if (!element(i, e)) {
                    a.operands[e] += operands[e];
                    continue;
                }
                const TensorLayout& addend = p_.layouts[*s.addend];
                a.operands[e] = addend_address(addend, pass, file);
                pass.pass.operands_primary[e] = addend.place.primary;
                OperandGeometry& walk = pass.geometry.operands[e];
                if (walk.strides.line == 0) continue;
                walk.strides.line = addend.cube.strides.line * pass.row_step;
                walk.strides.surface = addend.cube.strides.surface;
            }
            if (!pass.pool) continue;
            pass.pool->source = {from.primary, a.input};
            pass.pool->target = to;
        }
        for (std::vector<PlannedPass>& stage : p_.plans[i].packing)
            for (PlannedPass& pass : stage) {
                pass.address.input = written(i, pass.address.input).address;
                pass.address.output = written(i, pass.address.output).address;
                pass.address.weights += weights;
            }
        if (std::optional<ReshapePass>& contraction = p_.plans[i].contraction) {
            contraction->source = written(i, contraction->source.address);
            contraction->target = written(i, contraction->target.address);
        }
        for (PlannedImage& image : at.images) {
            const std::optional<std::size_t> engine = engine_of(image.what);
            image.place.address += engine                              ? operands[*engine]
                                   : image.what == ImageOf::WeightMask ? mask
                                   : image.what == ImageOf::GroupSizes ? group_sizes
                                                                       : weights;
            p_.images.push_back(std::move(image));
        }
    }

    NetworkPlan& p_;
    std::vector<Footprint> footprints_;
    const std::vector<std::size_t>& over_;
    const bool keep_, cvsram_;
    std::vector<bool> between_steps_;    // by block
    std::vector<std::size_t> block_;     // by tensor
    std::vector<std::uint64_t> offset_;  // by tensor: in its block
    std::vector<std::uint64_t> before_;  // by step: bytes in front of its output, of parts that it puts together
    std::vector<std::size_t> scratch_;   // by step: their block
    /// From where they were planned: weights, operands per kernel.
    struct Constants {
        std::uint64_t weights = 0, mask = 0, group_sizes = 0;
        std::array<std::uint64_t, 3> operands{};
    };
    std::map<std::size_t, Constants> constants_;  // by step of one image
};

}  // namespace

Address Region::take(std::uint64_t bytes, const std::string& where)
{
    const Address taken = next_;
    next_ += round_up(bytes, kAligned);
    if (next_ > end_)
        throw ConfigError(where, std::string("found ") + name_ + " that end at " + std::to_string(next_.byte()) + ", expected all below " +
                                     std::to_string(end_.byte()));
    return taken;
}

void place_network(NetworkPlan& plan, std::vector<Footprint> footprints, const std::vector<std::size_t>& over,
                   const NetworkOptions& options)
{
    Placer(plan, std::move(footprints), over, options).place();
}

}  // namespace dlasim
