#include "lowering/cut/known_cuts.h"

namespace dlasim {
namespace {

KnownCuts*& alive()
{
    thread_local KnownCuts* cuts = nullptr;
    return cuts;
}

}  // namespace

KnownCuts::KnownCuts() : before_(alive()) { alive() = this; }
KnownCuts::~KnownCuts() { alive() = before_; }
KnownCuts* KnownCuts::current() { return alive(); }

std::string key_of(const Pass& p, const Partition& wish, bool by_kernels)
{
    std::string key;
    const auto add = [&](auto... values) { ((key += std::to_string(values) + ','), ...); };
    add(by_kernels, static_cast<int>(wish.minimise), wish.early.cycles, wish.early.handed_on, wish.early.late.lines.first,
        wish.early.late.lines.count, wish.early.late.columns.first, wish.early.late.columns.count, static_cast<int>(p.mode),
        static_cast<int>(p.precision), static_cast<int>(p.stored_precision()), static_cast<int>(p.output.precision));
    add(p.width, p.height, p.channels, p.kernels, p.batch, p.kernel_width, p.kernel_height, p.stride.x, p.stride.y, p.dilation.x,
        p.dilation.y);
    add(p.pad.left, p.pad.right, p.pad.top, p.pad.bottom, p.lines_packed, p.surfaces_packed, p.y_extension, p.x_offset, p.alike,
        p.compressed.on, p.conversion.on);
    if (p.format) key += p.format->name;
    for (const PointEngine& engine : p.post.engines)
        add(engine.on(), engine.streams(), engine.streams() ? static_cast<int>(engine.per()) : 0, engine.alu.streamed(),
            engine.mul.streamed(), engine.operand_bytes, engine.lut.has_value());
    add(p.post.compares(), p.pool.has_value());
    if (p.pool)
        for (const PoolAxis& axis : {p.pool->x, p.pool->y}) add(axis.kernel, axis.stride, axis.before, axis.after, p.pool->ceil);
    return key;
}

}  // namespace dlasim
