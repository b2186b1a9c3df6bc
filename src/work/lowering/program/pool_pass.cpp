#include "lowering/program/pool_pass.h"

#include <algorithm>
#include <cmath>

#include "base/bits.h"
#include "base/error.h"
#include "registers/fields/pdp.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kBankColumns = 16, kBanks = 8;             // [spec] pdp.md, line buffer
constexpr std::uint32_t kMaxPartial = 1024, kMaxPoolPasses = 256;  // [spec] 1.6
constexpr std::uint32_t kMaxTop = 5;                               // [spec] 2, point 9
constexpr std::uint32_t kPadValues = 7;                            // a register for every number of padded lines or columns

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
    const bool good = columns * x.stride >= x.before && end_before <= g.width && last >= 1 && last <= kMaxPartial &&
                      first_width(x, columns) <= kMaxPartial && columns * x.stride <= kMaxPartial && columns <= kMaxPartial &&
                      count <= kMaxPoolPasses;
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
/// Of integers cut off, as NVIDIA's driver writes it: a network has the same values here and on a board. [spec] loadable.md 6
std::uint32_t reciprocal(std::uint32_t kernel, Precision precision)
{
    return precision == Precision::Fp16 ? fp17(1.0 / kernel) : 65536u / kernel;
}
std::int64_t pad_value(double value, std::uint32_t times, Precision precision)
{
    return precision == Precision::Fp16 ? fp17(value * times) : std::int64_t{static_cast<std::int32_t>(value)} * times;
}

std::uint32_t method(PoolFunction function) { return function == PoolFunction::Average ? 0 : function == PoolFunction::Max ? 1 : 2; }

}  // namespace

Fit<PoolGeometry> size_pool(const Pool& pool, const CubeSize& of, Precision precision, bool flying, const Hardware& hardware)
{
    const auto [width, height, channels] = of;
    PoolGeometry g;
    g.out_width = pool.x.outputs(width, pool.ceil);
    g.out_height = pool.y.outputs(height, pool.ceil);
    const std::int64_t right = pool.x.pad_after(width, pool.ceil), bottom = pool.y.pad_after(height, pool.ceil);
    const auto padding = [](std::int64_t behind) { return static_cast<std::uint32_t>(std::max<std::int64_t>(behind, 0)); };
    g.pad_right = padding(right);
    g.pad_bottom = padding(bottom);
    g.width = width - padding(-right);
    g.height = height - padding(-bottom);
    if (flying && (g.width != width || g.height != height))
        return {{},
                "found a pooling after SDP that leaves " + std::to_string(width - g.width) + " columns and " +
                    std::to_string(height - g.height) +
                    " rows over, expected windows that fit: PDP takes the whole cube of SDP; or use a separate pooling layer"};
    if (g.pad_right > 7 || g.pad_bottom > 7)
        return {{},
                "found a window that reaches " + std::to_string(std::max(g.pad_right, g.pad_bottom)) +
                    " elements of the input unused, expected at most 7: the registers have three bits"};
    const std::uint32_t atom = hardware.memory.atom_bytes, bytes = precision == Precision::Int8 ? 1 : 2;
    const std::uint32_t surfaces = ceil_div(channels * bytes, atom);
    if (pool.y.before > kMaxTop && pool.y.kernel > pool.y.stride && surfaces > 1)
        return {{},
                "found a padding of " + std::to_string(pool.y.before) + " on top of overlapping windows, expected at most " +
                    std::to_string(kMaxTop) + ": the silicon has no table entry for more"};
    const std::uint32_t most = most_columns(pool.y);
    if (g.out_width <= most) {
        g.columns = {g.out_width};
    } else if (flying) {
        return {{},
                "found " + std::to_string(g.out_width) + " output columns after SDP, expected at most " + std::to_string(most) +
                    ": the line buffer holds no more, and only a separate or tiled layer can be split"};
    } else {
        for (std::uint32_t columns = most; columns > 0 && g.columns.empty(); --columns) g.columns = passes_of(pool.x, g, columns);
        if (g.columns.empty())
            return {{},
                    "found " + std::to_string(g.out_width) + " output columns, expected at most " + std::to_string(most) +
                        " or a split in passes of at most 1024 columns, of which the first takes the left padding and the "
                        "last the right one"};
    }
    g.strides.line = std::uint64_t{g.out_width} * atom;
    g.strides.surface = g.strides.line * g.out_height;
    g.bytes = g.strides.surface * surfaces;
    return {g};
}

void write_pool(RegisterWriter& out, const PoolPass& p, const UnitGroups& groups)
{
    const PoolGeometry& g = p.geometry;
    const PoolAxis &x = p.pool.x, &y = p.pool.y;
    const auto format = static_cast<std::uint32_t>(p.precision);
    const std::uint32_t extra = static_cast<std::uint32_t>(g.columns.size()) - 1;
    struct {
        std::uint32_t first = 1, mid = 1, last = 1;
    } in, made;
    if (extra != 0) {
        made = {g.columns.front(), extra > 1 ? g.columns[1] : 1, g.columns.back()};
        in = {first_width(x, made.first), extra > 1 ? made.mid * x.stride : 1,
              static_cast<std::uint32_t>(last_width(x, g.width, g.out_width - made.last))};
    }
    {
        using namespace reg::pdp;
        out.unit("PDP", groups.pdp);
        out.put(D_DATA_CUBE_IN_WIDTH, g.width - 1);
        out.put(D_DATA_CUBE_IN_HEIGHT, g.height - 1);
        out.put(D_DATA_CUBE_IN_CHANNEL, p.channels - 1);
        out.put(D_DATA_CUBE_OUT_WIDTH, g.out_width - 1);
        out.put(D_DATA_CUBE_OUT_HEIGHT, g.out_height - 1);
        out.put(D_DATA_CUBE_OUT_CHANNEL, p.channels - 1);
        out.put({D_OPERATION_MODE_CFG::POOLING_METHOD(method(p.pool.function)), D_OPERATION_MODE_CFG::FLYING_MODE(!p.flying),
                 D_OPERATION_MODE_CFG::SPLIT_NUM(extra)});
        out.put(D_NAN_FLUSH_TO_ZERO, p.flush_nan);
        out.put({D_PARTIAL_WIDTH_IN::PARTIAL_WIDTH_IN_FIRST(in.first - 1), D_PARTIAL_WIDTH_IN::PARTIAL_WIDTH_IN_LAST(in.last - 1),
                 D_PARTIAL_WIDTH_IN::PARTIAL_WIDTH_IN_MID(in.mid - 1)});
        out.put({D_PARTIAL_WIDTH_OUT::PARTIAL_WIDTH_OUT_FIRST(made.first - 1), D_PARTIAL_WIDTH_OUT::PARTIAL_WIDTH_OUT_LAST(made.last - 1),
                 D_PARTIAL_WIDTH_OUT::PARTIAL_WIDTH_OUT_MID(made.mid - 1)});
        out.put({D_POOLING_KERNEL_CFG::KERNEL_WIDTH(x.kernel - 1), D_POOLING_KERNEL_CFG::KERNEL_HEIGHT(y.kernel - 1),
                 D_POOLING_KERNEL_CFG::KERNEL_STRIDE_WIDTH(x.stride - 1), D_POOLING_KERNEL_CFG::KERNEL_STRIDE_HEIGHT(y.stride - 1)});
        out.put(D_RECIP_KERNEL_WIDTH, reciprocal(x.kernel, p.precision));
        out.put(D_RECIP_KERNEL_HEIGHT, reciprocal(y.kernel, p.precision));
        out.put({D_POOLING_PADDING_CFG::PAD_LEFT(x.before), D_POOLING_PADDING_CFG::PAD_TOP(y.before),
                 D_POOLING_PADDING_CFG::PAD_RIGHT(g.pad_right), D_POOLING_PADDING_CFG::PAD_BOTTOM(g.pad_bottom)});
        constexpr std::uint32_t kNext = D_POOLING_PADDING_VALUE_2_CFG - D_POOLING_PADDING_VALUE_1_CFG;
        for (std::uint32_t n = 0; n < kPadValues; ++n)
            out.put((D_POOLING_PADDING_VALUE_1_CFG::PAD_VALUE_1X + n * kNext)(pad_value(p.pool.pad_value, n + 1, p.precision)));
        out.put(D_DST_BASE_ADDR_LOW, low_word(p.target.address));
        out.put(D_DST_BASE_ADDR_HIGH, high_word(p.target.address));
        out.put(D_DST_LINE_STRIDE, g.strides.line);
        out.put(D_DST_SURFACE_STRIDE, g.strides.surface);
        out.put(D_DST_RAM_CFG, p.target.primary);
        out.put(D_DATA_FORMAT, format);
        out.put(D_PERF_ENABLE, 1);
    }
    if (!p.flying) {
        using namespace reg::pdp_rdma;
        out.unit("PDP_RDMA", groups.pdp_rdma);
        out.put(D_DATA_CUBE_IN_WIDTH, g.width - 1);
        out.put(D_DATA_CUBE_IN_HEIGHT, g.height - 1);
        out.put(D_DATA_CUBE_IN_CHANNEL, p.channels - 1);
        out.put(D_FLYING_MODE, 1);
        out.put(D_SRC_BASE_ADDR_LOW, low_word(p.source.address));
        out.put(D_SRC_BASE_ADDR_HIGH, high_word(p.source.address));
        out.put(D_SRC_LINE_STRIDE, p.source_strides.line);
        out.put(D_SRC_SURFACE_STRIDE, p.source_strides.surface);
        out.put(D_SRC_RAM_CFG, p.source.primary);
        out.put(D_DATA_FORMAT, format);
        out.put(D_OPERATION_MODE_CFG, extra);
        out.put({D_POOLING_KERNEL_CFG::KERNEL_WIDTH(x.kernel - 1), D_POOLING_KERNEL_CFG::KERNEL_STRIDE_WIDTH(x.stride - 1)});
        out.put(D_POOLING_PADDING_CFG, x.before);
        out.put({D_PARTIAL_WIDTH_IN::PARTIAL_WIDTH_IN_FIRST(in.first - 1), D_PARTIAL_WIDTH_IN::PARTIAL_WIDTH_IN_LAST(in.last - 1),
                 D_PARTIAL_WIDTH_IN::PARTIAL_WIDTH_IN_MID(in.mid - 1)});
        out.put(D_PERF_ENABLE, 1);
    }
}

}  // namespace dlasim
