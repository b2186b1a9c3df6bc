#include "loadable/write/dependencies.h"

#include <algorithm>

#include "base/bits.h"
#include "base/expects.h"
#include "facts/cacc.h"

namespace dlasim::loadable {
namespace {

/// Bytes of memory that an operation reads or writes: one run per surface, the span of its lines.
struct Footprint {
    Place place;
    std::uint64_t run = 0, step = 0, runs = 0;

    std::uint64_t end() const { return place.address.byte() + (runs - 1) * step + run; }
    bool meets(const Footprint& other) const
    {
        if (place.primary != other.place.primary || place.address.byte() >= other.end() || other.place.address.byte() >= end())
            return false;
        if (runs == 1 && other.runs == 1) return true;
        for (std::uint64_t i = 0; i < runs; ++i)
            if (other.meets_run(place.address.byte() + i * step, run)) return true;
        return false;
    }

private:
    /// pre: run <= step unless there is one
    bool meets_run(std::uint64_t first, std::uint64_t bytes) const
    {
        const std::uint64_t begin = place.address.byte();
        if (first + bytes <= begin || step == 0) return first + bytes > begin && first < begin + run;
        const std::uint64_t from = first >= begin ? std::min((first - begin) / step, runs - 1) : 0;
        for (std::uint64_t i = from; i < runs && begin + i * step < first + bytes; ++i)
            if (first < begin + i * step + run) return true;
        return false;
    }
};

struct Accesses {
    std::vector<Footprint> reads, writes;
};

Footprint of_feature(const Cube& cube, const Place& place, std::uint64_t element_bytes, const Hardware& hw, std::uint64_t widening = 1)
{
    const std::uint64_t atom = hw.memory.atom_bytes, surfaces = ceil_div<std::uint64_t>(cube.channels * element_bytes, atom);
    const std::uint64_t run = std::uint64_t{cube.height - 1} * cube.line_stride + cube.width * atom * widening;
    if (surfaces > 1 && run > cube.surface_stride) return {place, (surfaces - 1) * cube.surface_stride + run, 0, 1};
    return {place, run, cube.surface_stride, surfaces};
}

std::uint64_t element_bytes(unsigned precision) { return precision == 0 ? 1 : 2; }

void add_conv(const RecoveredOperation& o, const Hardware& hw, Accesses& to)
{
    const ConvOperation& op = o.operation.conv;
    const Cube& in = op.source;
    Footprint read = op.feature() ? of_feature(in, *o.places[3], element_bytes(op.input_precision), hw)
                                  : Footprint{*o.places[3], std::uint64_t{in.height} * in.line_stride, 0, 1};
    if (op.batch > 1) read = {read.place, std::uint64_t{op.batch_stride} * (op.batch - 1) + (read.end() - read.place.address.byte()), 0, 1};
    to.reads.push_back(read);
}

void add_sdp(const RecoveredOperation& o, const Hardware& hw, Accesses& to)
{
    const SdpOperation& op = o.operation.sdp;
    if (o.places[0]) to.reads.push_back(of_feature(op.source, *o.places[0], element_bytes(op.source_precision), hw));
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        if (!o.places[1 + i] || op.stages[i].mode != 2) continue;  // operands of kernels are constants
        Cube cube = op.operands[i];
        to.reads.push_back({*o.places[1 + i], std::max<std::uint64_t>(cube.size, 1), 0, 1});
    }
    if (!o.places[4]) return;
    Footprint write = of_feature(op.destination, *o.places[4], element_bytes(op.precision), hw);
    if (op.batch > 1)
        write = {write.place, std::uint64_t{op.batch_stride} * (op.batch - 1) + (write.end() - write.place.address.byte()), 0, 1};
    to.writes.push_back(write);
}

void add_transfers(const RecoveredOperation& o, Accesses& to)
{
    for (std::size_t i = 0; i < o.operation.bdma.transfers.size(); ++i) {
        const Transfer& t = o.operation.bdma.transfers[i];
        const auto span = [&](std::uint64_t line, std::uint64_t surface) {
            return surface * (t.surfaces - 1) + line * (t.lines - 1) + t.line_bytes;
        };
        to.reads.push_back({*o.places[2 * i], span(t.source_line, t.source_surface), 0, 1});
        to.writes.push_back({*o.places[2 * i + 1], span(t.destination_line, t.destination_surface), 0, 1});
    }
}

Accesses accesses_of(const RecoveredOperation& o, const Hardware& hw)
{
    Accesses to;
    const auto features = [&](const auto& op) {
        if (o.places[0]) to.reads.push_back(of_feature(op.source, *o.places[0], element_bytes(op.precision), hw));
        to.writes.push_back(of_feature(op.destination, *o.places[1], element_bytes(op.precision), hw));
    };
    // Of any other kind all between the first and the last byte of its cubes.
    const auto whole = [&](const auto& op) {
        to.reads.push_back({*o.places[0], op.source.size, 0, 1});
        to.writes.push_back({*o.places[1], op.destination.size, 0, 1});
    };
    visit(Cases{[&](const ConvOperation&) { add_conv(o, hw, to); }, [&](const SdpOperation&) { add_sdp(o, hw, to); },
                [&](const PdpOperation& op) { features(op); }, [&](const CdpOperation& op) { features(op); },
                [&](const BdmaOperation&) { add_transfers(o, to); }, whole},
          o.operation);
    return to;
}

bool meet(const std::vector<Footprint>& a, const std::vector<Footprint>& b)
{
    return std::any_of(a.begin(), a.end(),
                       [&](const Footprint& x) { return std::any_of(b.begin(), b.end(), [&](const Footprint& y) { return x.meets(y); }); });
}

class Linker {
public:
    Linker(const RecoveredTask& recovered, const Hardware& hw, HardwareTask& task) : hw_(hw), task_(task)
    {
        for (const RecoveredOperation& o : recovered.operations) accesses_.push_back(accesses_of(o, hw));
        for (std::size_t i = 0; i < task.operations.size(); ++i) {
            if (recovered.chain[i] == chains_.size()) chains_.push_back({i, i, {}, {}});
            Chain& chain = chains_.back();
            chain.last = i;
            chain.reads.insert(chain.reads.end(), accesses_[i].reads.begin(), accesses_[i].reads.end());
            chain.writes.insert(chain.writes.end(), accesses_[i].writes.begin(), accesses_[i].writes.end());
        }
    }

    void link()
    {
        task_.heads.fill(-1);
        std::array<int, kKinds> last{-1, -1, -1, -1, -1, -1};
        for (std::size_t i = 0; i < task_.operations.size(); ++i) {
            int& before = last[task_.operations[i].type()];
            if (before < 0) task_.heads[task_.operations[i].type()] = number(i);
            else consumer(before, i) = {number(i), 0};  // an event that never comes: the order alone
            before_.push_back(before);
            before = static_cast<int>(i);
        }
        for (const Chain& chain : chains_)
            for (std::size_t i = chain.first; i < chain.last; ++i) fuse(i, i + 1);
        for (std::size_t c = 0; c < chains_.size(); ++c)
            for (std::size_t i = chains_[c].first; i <= chains_[c].last; ++i) wait(c, i);
    }

private:
    struct Chain {
        std::size_t first = 0, last = 0;
        std::vector<Footprint> reads, writes;
    };

    static std::int16_t number(std::size_t i) { return static_cast<std::int16_t>(i); }
    Link& consumer(int of, std::size_t told)
    {
        return task_.operations[static_cast<std::size_t>(of)].consumers[task_.operations[told].type()];
    }
    void fuse(std::size_t producer, std::size_t consuming)
    {
        consumer(static_cast<int>(producer), consuming) = {number(consuming), Link::Programmed};
        ++task_.operations[consuming].dependencies;
        task_.operations[consuming].fused_parent = {number(producer), Link::Enabled};
        ++task_.operations[producer].dependencies;
    }

    /// The first of a chain waits for what the chain reads and writes, the others for what they read themselves.
    void wait(std::size_t c, std::size_t i)
    {
        const Chain& chain = chains_[c];
        const bool first = i == chain.first, early = first && ends_early(i);
        std::array<bool, kKinds> found{};
        for (std::size_t e = c; e-- > 0;) {
            const Chain& earlier = chains_[e];
            const std::size_t type = task_.operations[earlier.last].type();
            const int known = waited_[task_.operations[i].type()][type];
            if (found[type] || known >= static_cast<int>(earlier.last)) continue;
            const bool in_front = early && task_.operations[earlier.first].kind == Kind::Conv && !any_convolution(e + 1, c);
            const bool waits = in_front || meet(earlier.writes, accesses_[i].reads) ||
                               (first && (meet(earlier.reads, chain.writes) || meet(earlier.writes, chain.writes)));
            if (!waits) continue;
            found[type] = true;
            tell(earlier.last, i);
        }
    }
    bool ends_early(std::size_t i) const
    {
        const Operation& o = task_.operations[i];
        if (o.kind != Kind::Conv) return false;
        const std::uint64_t groups = ceil_div(o.conv.destination.channels, hw_.kernel_group(static_cast<Precision>(o.conv.precision)));
        return facts::cacc::of(hw_).ends_may_meet(std::uint64_t{o.conv.destination.width} * o.conv.destination.height * groups);
    }
    /// Chains [from, to) convolve.
    bool any_convolution(std::size_t from, std::size_t to) const
    {
        return std::any_of(chains_.begin() + static_cast<std::ptrdiff_t>(from), chains_.begin() + static_cast<std::ptrdiff_t>(to),
                           [&](const Chain& chain) { return task_.operations[chain.first].kind == Kind::Conv; });
    }
    void tell(std::size_t from, std::size_t to)
    {
        const std::size_t type = task_.operations[to].type(), of = task_.operations[from].type();
        waited_[type][of] = std::max(waited_[type][of], static_cast<int>(from));
        if (type == of && before_[to] != static_cast<int>(from)) return;  // it has completed before `to` is programmed
        Link& link = consumer(static_cast<int>(from), to);
        DLASIM_EXPECTS(link.operation == -1 || (link.operation == number(to) && link.event == 0));
        link = {number(to), Link::Completed};
        ++task_.operations[to].dependencies;
    }

    const Hardware& hw_;
    HardwareTask& task_;
    std::vector<Accesses> accesses_;
    std::vector<Chain> chains_;
    std::vector<int> before_;  // of each operation the one before of its type, -1 none
    // By type of who waits, and of who is waited for: the last operation that one of the type has waited for.
    std::array<std::array<int, kKinds>, kKinds> waited_ = [] {
        std::array<std::array<int, kKinds>, kKinds> none{};
        for (auto& row : none) row.fill(-1);
        return none;
    }();
};

}  // namespace

void link_operations(const RecoveredTask& recovered, const Hardware& hardware, HardwareTask& task)
{
    Linker(recovered, hardware, task).link();
}

}  // namespace dlasim::loadable
