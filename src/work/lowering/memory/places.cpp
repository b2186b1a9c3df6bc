#include "lowering/memory/places.h"

#include <algorithm>

#include "base/bits.h"
#include "base/error.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kRegion = 0x10000000;  // bytes of memory for input, weights, output and operands each
constexpr std::uint64_t kAligned = 256;

/// Memory of one tensor, taken from its start on.
class Area {
public:
    Area(const char* name, const Place& start, std::uint64_t behind = 0)
        : name_(name), primary_(start.primary), begin_(start.address + behind), end_(begin_)
    {
    }
    Stretch take(std::uint64_t bytes, const std::string& where)
    {
        const Stretch taken{{primary_, end_}, bytes};
        end_ += bytes;
        if (end_ - begin_ > kRegion)
            throw ConfigError(where, name() + " takes more than " + std::to_string(kRegion) + " bytes, expected less");
        return taken;
    }
    /// What is taken next begins like an area.
    void align() { end_ = begin_ + round_up(end_ - begin_, kAligned); }
    std::string name() const { return std::string("the ") + name_; }
    bool primary() const { return primary_; }
    Address begin() const { return begin_; }
    Address end() const { return end_; }
    auto order() const { return std::pair{!primary_, begin_}; }

private:
    const char* name_;
    bool primary_;
    Address begin_, end_;
};

struct Areas {
    explicit Areas(const Placement& at)
        : input("input", at.input),
          weights("weights", at.weights),
          mask("weight mask", at.weights, kMaskBehindWeights),
          group_sizes("group sizes", at.weights, kGroupSizesBehindWeights),
          output("output", at.output),
          operands{Area("operands of bs", at.operands[0]), Area("operands of bn", at.operands[1]), Area("operands of ew", at.operands[2])}
    {
    }
    std::vector<Area> used() const
    {
        std::vector<Area> all{input, weights, mask, group_sizes, output, operands[0], operands[1], operands[2]};
        std::erase_if(all, [](const Area& area) { return area.begin() == area.end(); });
        std::sort(all.begin(), all.end(), [](const Area& a, const Area& b) { return a.order() < b.order(); });
        return all;
    }
    Area input, weights, mask, group_sizes, output;
    std::array<Area, 3> operands;
};

std::vector<TouchedRange> checked(const std::vector<Area>& areas, const std::string& where, const Hardware& hw)
{
    std::vector<TouchedRange> ranges;
    for (std::size_t i = 0; i < areas.size(); ++i) {
        const Area& area = areas[i];
        if (!area.primary() && !hw.memory.has_secondary)
            throw ConfigError(where, area.name() + " in CVSRAM, expected DBB: " + hw.name + " has no secondary port");
        if (i + 1 < areas.size() && area.primary() == areas[i + 1].primary() && area.end() > areas[i + 1].begin())
            throw ConfigError(where, area.name() + " at " + std::to_string(area.begin().byte()) + " end at " +
                                         std::to_string(area.end().byte()) + " and overlap " + areas[i + 1].name() + " at " +
                                         std::to_string(areas[i + 1].begin().byte()) + ", expected separate areas");
        if (area.end() > kReachable)
            throw ConfigError(where, area.name() + " end at " + std::to_string(area.end().byte()) + ", expected all below 4 GiB");
        ranges.push_back({where + ": " + area.name(), {area.primary(), area.begin()}, area.end() - area.begin()});
    }
    return ranges;
}

std::uint64_t input_bytes(const Pass& pass, const Geometry& g)
{
    if (pass.mode != PassMode::Image) return g.in_strides.surface * g.surfaces * pass.batch;
    const std::uint64_t planes =
        g.in_strides.uv_line != 0 ? uv_offset(pass, g) + g.in_strides.uv_line * pass.height : g.in_strides.line * pass.height;
    return round_up(planes, kAligned);
}

/// Plane 1 of pixels. The machine takes x_offset modulo the pixels of an atom: plane 1 has fewer, so its base moves on.
Address input_uv(const Pass& pass, const Geometry& g, Address input, std::uint32_t atom_bytes)
{
    if (g.in_strides.uv_line == 0) return {};
    const std::uint32_t pixels = atom_bytes / (2 * pass.format->plane_pixel_bytes);
    return input + uv_offset(pass, g) + std::uint64_t{pass.x_offset / pixels} * atom_bytes;
}

class Placer {
public:
    Placer(const Layer& layer, const Hardware& hw) : l_(layer), hw_(hw), where_(where_of(layer)), areas_(layer.placement) {}

    void place(const ShapedPass& shaped, const PassParts& parts, const std::vector<StoredKernels>& kernels, bool kept)
    {
        const Pass& p = parts.pass;
        if (shaped.input == places_.inputs.size())
            places_.inputs.push_back(
                areas_.input.take(shaped.input_bytes != 0 ? shaped.input_bytes : input_bytes(p, parts.geometry()), where_));
        Addresses all;
        all.input = places_.inputs[shaped.input].place.address + shaped.input_offset;
        all.input_uv = input_uv(p, parts.geometry(), all.input, hw_.memory.atom_bytes);
        std::vector<Addresses> sets;
        for (std::size_t s = 0; s < parts.sets.size(); ++s) sets.push_back(read_by(p, parts.sets[s], kernels[s], all));
        const std::uint64_t batch = parts.cube_bytes();
        const Stretch output = written(p, batch * p.batch);
        Place place = output.place;
        for (std::size_t s = 0; s < parts.sets.size(); ++s) {
            sets[s].output = place.address;
            if (kept && !p.post.compares()) keep(shaped, parts, parts.sets[s], place);
            place.address += parts.sets[s].cube_bytes();
        }
        places_.sets.push_back(std::move(sets));
    }

    /// [spec] golden/memory/reshaped.h: sub-cube (dy, dx) is at dy * stride x + dx cubes.
    void contract(const Extent& sub_cube, const Geometry& g)
    {
        const Extent stride = l_.stride;
        const std::uint64_t line = std::uint64_t{sub_cube.x} * stride.x * hw_.memory.atom_bytes, surface = line * sub_cube.y * stride.y;
        ReshapePass pass;
        pass.mode = Reshape::Mode::Contract;
        pass.precision = g.out_element_bytes == 1 ? Precision::Int8 : Precision::Int16;
        pass.width = sub_cube.x;
        pass.height = sub_cube.y;
        pass.channels = pass.out_channels = l_.kernels;
        pass.source = {l_.placement.output.primary, places_.sets.front().front().output};
        areas_.output.align();
        const Stretch target = written(surface * g.out_surfaces);
        pass.target = target.place;
        pass.in = {.line = g.out_strides.line, .surface = g.out_strides.surface};
        pass.out = {.line = line, .surface = surface};
        pass.cube = g.out_strides.surface * g.out_surfaces;
        pass.stride = stride;
        places_.contraction = pass;
        places_.copied_bytes = target.bytes;
        places_.outputs.push_back(
            {target.place, target.bytes, Cube{{line, surface, target.bytes}, hw_.memory.atom_bytes, g.out_element_bytes}, 0, l_.kernels});
    }

    Places places()
    {
        places_.ranges = checked(areas_.used(), where_ + "/placement", hw_);
        return std::move(places_);
    }

private:
    /// What the kernels of a set need in memory.
    Addresses read_by(const Pass& p, const KernelSet& set, const StoredKernels& kernels, Addresses a)
    {
        const auto take = [&](Area& area, std::uint64_t bytes) { return area.take(round_up(bytes, kAligned), where_).place.address; };
        a.weights = take(areas_.weights, set.geometry.weight_bytes);
        a.mask = take(areas_.mask, kernels.mask.size());
        a.group_sizes = take(areas_.group_sizes, kernels.group_sizes.size());
        for (std::size_t i = 0; i < a.operands.size(); ++i)
            a.operands[i] = take(areas_.operands[i], p.post.engines[i].streams() ? set.geometry.operands[i].bytes : 0);
        return a;
    }

    Stretch written(std::uint64_t bytes)
    {
        const Stretch stretch = areas_.output.take(bytes, where_);
        places_.written.push_back(stretch);
        return stretch;
    }
    Stretch written(const Pass& p, std::uint64_t bytes)
    {
        return p.post.compares() ? Stretch{l_.placement.output, 0} : written(bytes);  // of a comparison nothing is
    }

    void keep(const ShapedPass& shaped, const PassParts& parts, const KernelSet& set, const Place& at)
    {
        const Geometry& g = set.geometry;
        const std::uint32_t first = shaped.first_kernel + set.kernels.first, atom = hw_.memory.atom_bytes;
        const std::uint64_t batch = parts.cube_bytes();
        Cube cube{set.written, atom, g.out_element_bytes};
        cube.strides.batch = batch;
        const std::uint64_t bytes = batch * (parts.pass.batch - 1) + set.cube_bytes();
        places_.outputs.push_back({at, bytes, cube, first, set.kernels.count});
    }

    const Layer& l_;
    const Hardware& hw_;
    const std::string where_;
    Areas areas_;
    Places places_;
};

}  // namespace

std::uint64_t uv_offset(const Pass& pass, const Geometry& geometry)
{
    return geometry.in_strides.uv_line == 0 ? 0 : round_up(geometry.in_strides.line * pass.height, kAligned);
}

Places places_of(const Layer& layer, const Shape& shape, const std::vector<PassParts>& passes,
                 const std::vector<std::vector<StoredKernels>>& kernels, const Hardware& hardware)
{
    Placer placer(layer, hardware);
    for (std::size_t i = 0; i < passes.size(); ++i) placer.place(shape.passes[i], passes[i], kernels[i], !shape.sub_cube);
    if (shape.sub_cube) placer.contract(*shape.sub_cube, passes.front().geometry());
    return placer.places();
}

}  // namespace dlasim
