#include "lowering/pool_pass.h"

#include <algorithm>
#include <cmath>

#include "base/bits.h"
#include "base/error.h"
#include "lowering/register_writer.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kBankColumns = 16, kBanks = 8;               // [spec] pdp.md, line buffer
constexpr std::uint32_t kMostPartial = 1024, kMostPoolPasses = 256;  // [spec] 1.6
constexpr std::uint32_t kMostTop = 5;                                // [spec] 2, point 9

/// Output columns that the line buffer holds. [spec] 1.6
std::uint32_t most_columns(const PoolAxis& y)
{
    if (y.kernel == 1) return UINT32_MAX;
    std::uint32_t units = 2;
    if (y.stride >= y.kernel) units = 1;
    else if (y.stride == 1) units = y.kernel;
    else if (y.stride == 2) units = (y.kernel + 1) / 2;
    else if (y.stride == 3 && y.kernel > 6) units = 3;
    const std::uint32_t banks = units == 1 ? kBanks : units == 2 ? kBanks / 2 : units <= 4 ? kBanks / 4 : 1;
    return kBankColumns * banks;
}

std::uint32_t first_width(const PoolAxis& x, std::uint32_t columns) { return (columns - 1) * x.stride + x.kernel - x.before; }
/// As the register wants it: without the columns that it shares with the pass before.
std::int64_t last_width(const PoolAxis& x, std::uint32_t width, std::uint32_t columns_before)
{
    return std::int64_t{width} - std::int64_t{columns_before} * x.stride + x.before - (std::int64_t{x.kernel} - x.stride);
}

/// Passes of `columns` outputs, the last one of what is left. Empty if a rule is broken.
std::vector<std::uint32_t> passes_of(const PoolAxis& x, const PoolGeometry& g, std::uint32_t columns)
{
    const std::uint32_t count = ceil_div(g.out_width, columns), before = (count - 1) * columns;
    std::vector<std::uint32_t> passes(count, columns);
    passes.back() = g.out_width - before;
    const std::int64_t last = last_width(x, g.width, before);
    // Windows that touch the right padding begin in the last pass: the one before it ends in front of it.
    const std::int64_t end_before = std::int64_t{before - 1} * x.stride - x.before + x.kernel;
    const bool good = columns * x.stride >= x.before && end_before <= g.width && last >= 1 && last <= kMostPartial &&
                      first_width(x, columns) <= kMostPartial && columns * x.stride <= kMostPartial && columns <= kMostPartial &&
                      count <= kMostPoolPasses;
    return good ? passes : std::vector<std::uint32_t>{};
}

/// The nearest fp17 of a number of its range: 1 sign, 6 exponent (bias 31), 10 mantissa bits.
std::uint32_t fp17(double value)
{
    if (value == 0) return 0;
    int exponent = 0;
    const double mantissa = std::frexp(std::abs(value), &exponent);
    const auto rounded = static_cast<std::uint32_t>(std::nearbyint((2 * mantissa - 1) * 1024));
    return (value < 0 ? 0x10000u : 0u) | ((static_cast<std::uint32_t>(exponent - 1 + 31) << 10) + rounded);
}
std::uint32_t reciprocal(std::uint32_t kernel, Precision precision)
{
    return precision == Precision::Fp16 ? fp17(1.0 / kernel) : static_cast<std::uint32_t>(std::lround(65536.0 / kernel));
}
std::uint32_t pad_value(double value, std::uint32_t times, Precision precision)
{
    constexpr std::uint32_t kMask = 0x7ffff;
    if (precision == Precision::Fp16) return fp17(value * times);
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(value) * static_cast<std::int32_t>(times)) & kMask;
}

std::uint32_t method(PoolFunction function) { return function == PoolFunction::Average ? 0 : function == PoolFunction::Max ? 1 : 2; }

}  // namespace

PoolGeometry size_pool(const Pool& pool, const CubeSize& of, Precision precision, bool flying, const Hardware& hardware,
                       const std::string& where)
{
    const auto [width, height, channels] = of;
    PoolGeometry g;
    g.out_width = pool.x.outputs(width, pool.ceil);
    g.out_height = pool.y.outputs(height, pool.ceil);
    const std::int64_t right = pool.x.behind(width, pool.ceil), bottom = pool.y.behind(height, pool.ceil);
    const auto padding = [](std::int64_t behind) { return static_cast<std::uint32_t>(std::max<std::int64_t>(behind, 0)); };
    g.pad_right = padding(right);
    g.pad_bottom = padding(bottom);
    g.width = width - padding(-right);
    g.height = height - padding(-bottom);
    if (flying && (g.width != width || g.height != height))
        throw ConfigError(where,
                          "found a pooling behind SDP that leaves " + std::to_string(width - g.width) + " columns and " +
                              std::to_string(height - g.height) +
                              " rows over, expected windows that fit: PDP takes the whole cube of SDP; or pool it in a layer of its own");
    if (g.pad_right > 7 || g.pad_bottom > 7)
        throw ConfigError(where, "found a window that reaches " + std::to_string(std::max(g.pad_right, g.pad_bottom)) +
                                     " elements behind the input, expected at most 7: the registers have three bits");
    const std::uint32_t atom = hardware.memory.atom_bytes, bytes = precision == Precision::Int8 ? 1 : 2;
    const std::uint32_t surfaces = ceil_div(channels * bytes, atom);
    if (pool.y.before > kMostTop && pool.y.kernel > pool.y.stride && surfaces > 1)
        throw ConfigError(where, "found a padding of " + std::to_string(pool.y.before) +
                                     " on top of overlapping windows, expected at most " + std::to_string(kMostTop) +
                                     ": the silicon has no table entry for more");
    const std::uint32_t most = most_columns(pool.y);
    if (g.out_width <= most) {
        g.columns = {g.out_width};
    } else if (flying) {
        throw ConfigError(where, "found " + std::to_string(g.out_width) + " output columns behind SDP, expected at most " +
                                     std::to_string(most) + ": the line buffer holds no more, and only a layer of its own can be split");
    } else {
        for (std::uint32_t columns = most; columns > 0 && g.columns.empty(); --columns) g.columns = passes_of(pool.x, g, columns);
        if (g.columns.empty())
            throw ConfigError(where, "found " + std::to_string(g.out_width) + " output columns, expected at most " + std::to_string(most) +
                                         " or a split in passes of at most 1024 columns, of which the first takes the left padding and the "
                                         "last the right one");
    }
    g.strides.line = std::uint64_t{g.out_width} * atom;
    g.strides.surface = g.strides.line * g.out_height;
    g.bytes = g.strides.surface * surfaces;
    return g;
}

PassRegisters pool_writes(const PoolPass& p, const UnitGroups& groups)
{
    const PoolGeometry& g = p.geometry;
    const PoolAxis &x = p.pool.x, &y = p.pool.y;
    PassRegisters out;
    std::string unit = "PDP.";
    const auto put = [&](const std::string& name, std::uint64_t value) {
        out.writes.push_back({unit + name, static_cast<std::uint32_t>(value)});
    };
    const auto put_input = [&](unsigned group) {
        put("S_POINTER", group);
        put("D_DATA_CUBE_IN_WIDTH", g.width - 1);
        put("D_DATA_CUBE_IN_HEIGHT", g.height - 1);
        put("D_DATA_CUBE_IN_CHANNEL", p.channels - 1);
    };
    const std::uint32_t extra = static_cast<std::uint32_t>(g.columns.size()) - 1;
    std::uint32_t partial_in = 0, partial_out = 0;
    if (extra != 0) {
        const std::uint32_t first = g.columns.front(), mid = extra > 1 ? g.columns[1] : 1, before = g.out_width - g.columns.back();
        const std::uint32_t mid_in = extra > 1 ? mid * x.stride : 1;
        const auto last_in = static_cast<std::uint32_t>(last_width(x, g.width, before));
        partial_in = (first_width(x, first) - 1) | (last_in - 1) << 10 | (mid_in - 1) << 20;
        partial_out = (first - 1) | (g.columns.back() - 1) << 10 | (mid - 1) << 20;
    }
    put_input(groups.pdp);
    put("D_DATA_CUBE_OUT_WIDTH", g.out_width - 1);
    put("D_DATA_CUBE_OUT_HEIGHT", g.out_height - 1);
    put("D_DATA_CUBE_OUT_CHANNEL", p.channels - 1);
    put("D_OPERATION_MODE_CFG", method(p.pool.function) | (p.flying ? 0u : 1u) << 4 | extra << 8);
    put("D_NAN_FLUSH_TO_ZERO", p.flush_nan);
    put("D_PARTIAL_WIDTH_IN", partial_in);
    put("D_PARTIAL_WIDTH_OUT", partial_out);
    put("D_POOLING_KERNEL_CFG", (x.kernel - 1) | (y.kernel - 1) << 8 | (x.stride - 1) << 16 | (y.stride - 1) << 20);
    put("D_RECIP_KERNEL_WIDTH", reciprocal(x.kernel, p.precision));
    put("D_RECIP_KERNEL_HEIGHT", reciprocal(y.kernel, p.precision));
    put("D_POOLING_PADDING_CFG", x.before | y.before << 4 | g.pad_right << 8 | g.pad_bottom << 12);
    for (std::uint32_t n = 1; n <= 7; ++n)
        put("D_POOLING_PADDING_VALUE_" + std::to_string(n) + "_CFG", pad_value(p.pool.pad_value, n, p.precision));
    put("D_DST_BASE_ADDR_LOW", low_word(p.target.address));
    put("D_DST_BASE_ADDR_HIGH", high_word(p.target.address));
    put("D_DST_LINE_STRIDE", g.strides.line);
    put("D_DST_SURFACE_STRIDE", g.strides.surface);
    put("D_DST_RAM_CFG", p.target.primary);
    put("D_DATA_FORMAT", static_cast<unsigned>(p.precision));
    put("D_PERF_ENABLE", 1);
    if (!p.flying) {
        unit = "PDP_RDMA.";
        put_input(groups.pdp_rdma);
        put("D_FLYING_MODE", 1);
        put("D_SRC_BASE_ADDR_LOW", low_word(p.source.address));
        put("D_SRC_BASE_ADDR_HIGH", high_word(p.source.address));
        put("D_SRC_LINE_STRIDE", p.source_strides.line);
        put("D_SRC_SURFACE_STRIDE", p.source_strides.surface);
        put("D_SRC_RAM_CFG", p.source.primary);
        put("D_DATA_FORMAT", static_cast<unsigned>(p.precision));
        put("D_OPERATION_MODE_CFG", extra);
        put("D_POOLING_KERNEL_CFG", (x.kernel - 1) | (x.stride - 1) << 4);
        put("D_POOLING_PADDING_CFG", x.before);
        put("D_PARTIAL_WIDTH_IN", partial_in);
        put("D_PERF_ENABLE", 1);
        out.enables.push_back({"PDP_RDMA.D_OP_ENABLE", 1});
    }
    out.enables.push_back({"PDP.D_OP_ENABLE", 1});
    return out;
}

}  // namespace dlasim
