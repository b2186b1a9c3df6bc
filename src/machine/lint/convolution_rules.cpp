// Rules of CDMA, CSC, CMAC and CACC. [spec] programming.md 1 to 8, cdma.md 1.3.
#include "base/bits.h"
#include "facts/abilities.h"
#include "lint/rules.h"
#include "registers/fields/cacc.h"
#include "registers/fields/cdma.h"
#include "registers/fields/cmac.h"
#include "registers/fields/csc.h"
#include "registers/fields/sdp.h"

namespace dlasim::lint {
namespace {

using namespace units;
namespace cdma = reg::cdma;
namespace csc = reg::csc;

constexpr reg::Field whole(reg::Register offset) { return {static_cast<std::uint16_t>(offset.offset), 0, 32}; }

/// Entries of a line in the buffer, of feature data. [spec] programming.md 3
std::uint64_t feature_entries(const Hardware& hw, std::uint64_t width, std::uint64_t height, std::uint64_t surfaces, bool packed)
{
    const std::uint64_t ratio = hw.atoms_per_entry(), rest = surfaces % ratio;
    if (packed && width == 1 && height == 1) return ceil_div(surfaces, ratio);
    const std::uint64_t part = rest == 0 ? 0 : ratio == 4 && rest == 3 ? width : ceil_div(rest * width, ratio);
    return surfaces / ratio * width + part;
}

}  // namespace

void OperationRules::check_convolution()
{
    bool whole_chain = true;
    for (const Launched unit : {kCdma, kCsc, Launched::CmacA, Launched::CmacB, kCacc})
        if (!has(unit)) {
            whole_chain = false;
            missing(unit, unit == Launched::CmacA || unit == Launched::CmacB
                              ? "half of the MAC array is not enabled; a convolution needs CMAC_A and CMAC_B"
                              : "a convolution needs CDMA, CSC, CMAC_A, CMAC_B and CACC");
        }
    if (!has(kSdp)) missing(kSdp, "no unit takes the results of CACC; a convolution needs SDP with FLYING_MODE");
    if (!has(kCdma) || !has(kCsc)) return;
    if (left_.weights && left_.banks == word(kCsc, csc::D_BANK)) breaches_.push_back(*left_.weights);
    left_ = {std::nullopt, word(kCsc, csc::D_BANK)};
    check_convolution_pairs();
    check_abilities();
    check_pixels();
    check_precisions();
    check_buffer();
    if (whole_chain) check_output();
}

void OperationRules::check_convolution_pairs()
{
    using M = decltype(cdma::D_MISC_CFG);
    using N = decltype(csc::D_MISC_CFG);
    const struct {
        const char* what;
        reg::Field a, b;
        bool holds = true;
    } kPairs[] = {
        {"convolution mode", M::CONV_MODE, N::CONV_MODE, hw.winograd},
        {"processing precision", M::PROC_PRECISION, N::PROC_PRECISION, hw.full()},
        {"data_reuse", M::DATA_REUSE, N::DATA_REUSE},
        {"weight_reuse", M::WEIGHT_REUSE, N::WEIGHT_REUSE},
        {"skip_data_rls", M::SKIP_DATA_RLS, N::SKIP_DATA_RLS},
        {"skip_weight_rls", M::SKIP_WEIGHT_RLS, N::SKIP_WEIGHT_RLS},
        {"input format", cdma::D_DATAIN_FORMAT::DATAIN_FORMAT, csc::D_DATAIN_FORMAT::DATAIN_FORMAT},
        {"batches", cdma::D_BATCH_NUMBER::BATCHES, csc::D_BATCH_NUMBER::BATCHES, hw.batch},
        {"entries of a line", cdma::D_ENTRY_PER_SLICE::ENTRIES, csc::D_ENTRY_PER_SLICE::ENTRIES},
        {"weight format", cdma::D_WEIGHT_FORMAT::WEIGHT_FORMAT, csc::D_WEIGHT_FORMAT::WEIGHT_FORMAT, hw.weight_compression},
        {"kernels", cdma::D_WEIGHT_SIZE_1::WEIGHT_KERNEL, csc::D_WEIGHT_SIZE_EXT_1::WEIGHT_KERNEL},
        {"data banks", cdma::D_BANK::DATA_BANK, csc::D_BANK::DATA_BANK},
        {"weight banks", cdma::D_BANK::WEIGHT_BANK, csc::D_BANK::WEIGHT_BANK},
        {"bytes of weights", whole(cdma::D_WEIGHT_BYTES), whole(csc::D_WEIGHT_BYTES)},
    };
    for (const auto& pair : kPairs)
        if (pair.holds) equal(pair.what, {kCsc, pair.b}, {kCdma, pair.a});
    const bool winograd = hw.winograd && get(kCsc, N::CONV_MODE);
    const bool compressed = hw.weight_compression && get(kCsc, csc::D_WEIGHT_FORMAT::WEIGHT_FORMAT);
    if (compressed) equal("bytes of masks", {kCsc, csc::D_WMB_BYTES::WMB_BYTES}, {kCdma, cdma::D_WMB_BYTES::WMB_BYTES});
    using E = decltype(csc::D_DATAIN_SIZE_EXT_0);
    if (winograd) {
        equal("extended width", {kCsc, E::DATAIN_WIDTH_EXT}, {kCdma, cdma::D_DATAIN_SIZE_EXT_0::DATAIN_WIDTH_EXT});
        if (!get(kCsc, N::DATA_REUSE))
            equal("extended height", {kCsc, E::DATAIN_HEIGHT_EXT}, {kCdma, cdma::D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT});
    } else {
        equal("input width", {kCsc, E::DATAIN_WIDTH_EXT}, {kCdma, cdma::D_DATAIN_SIZE_0::DATAIN_WIDTH});
        if (!get(kCsc, N::DATA_REUSE)) equal("input height", {kCsc, E::DATAIN_HEIGHT_EXT}, {kCdma, cdma::D_DATAIN_SIZE_0::DATAIN_HEIGHT});
        equal("input channels", {kCsc, csc::D_DATAIN_SIZE_EXT_1::DATAIN_CHANNEL_EXT}, {kCdma, cdma::D_DATAIN_SIZE_1::DATAIN_CHANNEL});
    }
    using P = decltype(cdma::D_ZERO_PADDING);
    if (!winograd) {
        equal("left padding", {kCsc, csc::D_ZERO_PADDING::PAD_LEFT}, {kCdma, P::PAD_LEFT});
        equal("top padding", {kCsc, csc::D_ZERO_PADDING::PAD_TOP}, {kCdma, P::PAD_TOP});
    }
    for (const Launched unit : {Launched::CmacA, Launched::CmacB, kCacc}) {
        if (!has(unit)) continue;
        const bool cacc = unit == kCacc;
        if (hw.winograd)
            equal("convolution mode", {unit, cacc ? reg::cacc::D_MISC_CFG::CONV_MODE : reg::cmac::D_MISC_CFG::CONV_MODE},
                  {kCsc, N::CONV_MODE});
        if (hw.full())
            equal("processing precision", {unit, cacc ? reg::cacc::D_MISC_CFG::PROC_PRECISION : reg::cmac::D_MISC_CFG::PROC_PRECISION},
                  {kCsc, N::PROC_PRECISION});
    }
    if (has(kCacc) && hw.batch) equal("batches", {kCacc, reg::cacc::D_BATCH_NUMBER::BATCHES}, {kCsc, csc::D_BATCH_NUMBER::BATCHES});
}

/// Modes that only some machines have.
void OperationRules::check_abilities()
{
    const auto without = [&](bool has_it, Launched unit, reg::Field field, const char* what) {
        if (!has_it && get(unit, field)) report(Rule::Size, unit, field.offset, fmt::format("{} has no {}, expected 0", hw.name, what));
    };
    without(hw.winograd, kCsc, csc::D_MISC_CFG::CONV_MODE, "Winograd mode");
    without(hw.winograd, kCdma, cdma::D_MISC_CFG::CONV_MODE, "Winograd mode");
    without(hw.weight_compression, kCsc, csc::D_WEIGHT_FORMAT::WEIGHT_FORMAT, "compressed weights");
    without(hw.weight_compression, kCdma, cdma::D_WEIGHT_FORMAT::WEIGHT_FORMAT, "compressed weights");
    without(hw.batch, kCsc, csc::D_BATCH_NUMBER::BATCHES, "batches");
    without(hw.batch, kCdma, cdma::D_BATCH_NUMBER::BATCHES, "batches");
    expect_port(kCdma, cdma::D_WEIGHT_RAM_TYPE::WEIGHT_RAM_TYPE);
    expect_port(kCdma, cdma::D_DAIN_RAM_TYPE::DATAIN_RAM_TYPE);
}

/// [spec] programming.md 4
/// [spec] csc.md 6, points 10 and 11.
void OperationRules::check_pixels()
{
    if (get(kCsc, csc::D_DATAIN_FORMAT::DATAIN_FORMAT) == 0) return;
    const facts::Abilities can = facts::abilities(hw);
    const std::uint32_t row = get(kCsc, csc::D_WEIGHT_SIZE_EXT_1::WEIGHT_CHANNEL_EXT) + 1;
    const std::uint32_t places = get(kCsc, csc::D_DATAOUT_SIZE_0::DATAOUT_WIDTH) + 1;
    if (can.sums_wrongly(row, places))
        report(
            Rule::Defect, kCsc, csc::D_WEIGHT_SIZE_EXT_1.offset,
            fmt::format("a kernel row of {} elements for {} output columns: {} sums {} wrongly; expected a multiple of {} elements, with "
                        "weights of zero",
                        row, places, hw.name, can.sums_wrongly(row, 0) ? "it" : "the last column", can.pixel_slice));
}

void OperationRules::check_precisions()
{
    using M = decltype(cdma::D_MISC_CFG);
    const std::uint32_t in = get(kCdma, M::IN_PRECISION), processing = get(kCdma, M::PROC_PRECISION);
    if (hw.full() && in != processing && !get(kCdma, cdma::D_CVT_CFG::CVT_EN))
        report(Rule::Size, kCdma, cdma::D_MISC_CFG,
               fmt::format("input precision {} and processing precision {}, expected equal ones, or CVT_EN = 1", in, processing));
}

void OperationRules::check_buffer()
{
    using N = decltype(csc::D_MISC_CFG);
    const bool winograd = hw.winograd && get(kCsc, N::CONV_MODE), image = get(kCsc, csc::D_DATAIN_FORMAT::DATAIN_FORMAT);
    const bool compressed = hw.weight_compression && get(kCsc, csc::D_WEIGHT_FORMAT::WEIGHT_FORMAT);
    const std::uint32_t data = get(kCsc, csc::D_BANK::DATA_BANK) + 1, weights = get(kCsc, csc::D_BANK::WEIGHT_BANK) + 1;
    const std::uint32_t banks = hw.cbuf.banks - (compressed ? 1 : 0);
    if (data + weights > banks)
        report(Rule::Buffer, kCsc, csc::D_BANK,
               fmt::format("{} banks of data and {} of weights, expected at most {} together{}", data, weights, banks,
                           compressed ? ": the last one holds the masks" : ""));
    const std::uint32_t element = hw.full() && get(kCsc, N::PROC_PRECISION) != 0 ? 2 : 1;
    const std::uint64_t batches = hw.batch ? get(kCsc, csc::D_BATCH_NUMBER::BATCHES) + 1 : 1;
    const std::uint64_t entries = get(kCsc, csc::D_ENTRY_PER_SLICE::ENTRIES) + std::uint64_t{1};
    const std::uint64_t height = get(kCsc, csc::D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT) + std::uint64_t{1};
    const std::uint64_t room = std::uint64_t{data} * hw.cbuf.bank_depth;
    if (height * entries * batches > room)
        report(Rule::Buffer, kCsc, csc::D_ENTRY_PER_SLICE,
               fmt::format("{} lines of {} entries{}, expected at most {} entries in {} banks", height, entries,
                           batches > 1 ? fmt::format(" of {} batches", batches) : "", room, data));
    const std::uint64_t width = get(kCdma, cdma::D_DATAIN_SIZE_0::DATAIN_WIDTH) + std::uint64_t{1};
    const std::uint64_t channels = get(kCdma, cdma::D_DATAIN_SIZE_1::DATAIN_CHANNEL) + std::uint64_t{1};
    if (!winograd && !image) {
        const std::uint64_t surfaces = ceil_div(channels * element, std::uint64_t{hw.memory.atom_bytes});
        const std::uint64_t rows = get(kCdma, cdma::D_DATAIN_SIZE_0::DATAIN_HEIGHT) + std::uint64_t{1};
        const bool packed = get(kCdma, cdma::D_DAIN_MAP::SURF_PACKED);
        expect({kCdma, cdma::D_ENTRY_PER_SLICE::ENTRIES}, feature_entries(hw, width, rows, surfaces, packed) - 1,
               fmt::format("a line of {} x {} channels, less one", width, channels));
        const std::uint64_t grain = get(kCdma, cdma::D_FETCH_GRAIN::GRAINS) + std::uint64_t{1};
        expect_strides({kCdma, cdma::D_LINE_STRIDE, cdma::D_SURF_STRIDE, width, rows, surfaces, true});
        if (get(kCdma, cdma::D_DAIN_MAP::LINE_PACKED) && grain * entries * batches > room)
            report(Rule::Buffer, kCdma, cdma::D_FETCH_GRAIN,
                   fmt::format("{} lines of {} entries are fetched together, expected at most {} entries in {} banks", grain, entries, room,
                               data));
    }
    check_weights(element, compressed);
}

void OperationRules::check_weights(std::uint32_t element, bool compressed)
{
    const std::uint64_t kernels = get(kCsc, csc::D_WEIGHT_SIZE_EXT_1::WEIGHT_KERNEL) + std::uint64_t{1};
    const std::uint64_t kernel = get(kCdma, cdma::D_WEIGHT_SIZE_0::BYTE_PER_KERNEL) + std::uint64_t{1};
    const std::uint64_t points = (get(kCsc, csc::D_WEIGHT_SIZE_EXT_0::WEIGHT_WIDTH_EXT) + std::uint64_t{1}) *
                                 (get(kCsc, csc::D_WEIGHT_SIZE_EXT_0::WEIGHT_HEIGHT_EXT) + std::uint64_t{1});
    const std::uint64_t depth = get(kCsc, csc::D_WEIGHT_SIZE_EXT_1::WEIGHT_CHANNEL_EXT) + std::uint64_t{1};
    expect({kCdma, cdma::D_WEIGHT_SIZE_0::BYTE_PER_KERNEL}, points * depth * element - 1,
           fmt::format("the {} x {} elements of a kernel in CSC, less one", points, depth));
    if (compressed) return;
    const std::uint64_t bytes = round_up(kernels * kernel, std::uint64_t{hw.cbuf.entry_bytes}), found = word(kCdma, cdma::D_WEIGHT_BYTES);
    const std::size_t before = breaches_.size();
    expect({kCdma, whole(cdma::D_WEIGHT_BYTES)}, bytes,
           fmt::format("{} kernels of {} bytes, rounded up to an entry of {} and not more{}", kernels, kernel, hw.cbuf.entry_bytes,
                       found > bytes ? "; the next convolution reads its weights from other entries" : ""));
    if (found > bytes) {
        left_.weights = breaches_[before];
        breaches_.pop_back();
    }
    const Precision precision = element == 1 ? Precision::Int8 : Precision::Int16;
    const std::uint64_t group = std::min<std::uint64_t>(kernels, hw.kernel_group(precision)) * kernel;
    if (group > (get(kCsc, csc::D_BANK::WEIGHT_BANK) + std::uint64_t{1}) * hw.cbuf.bank_depth * hw.cbuf.entry_bytes)
        report(Rule::Buffer, kCsc, csc::D_BANK,
               fmt::format("{} banks of weights, expected enough for a group of kernels, {} bytes", get(kCsc, csc::D_BANK::WEIGHT_BANK) + 1,
                           group));
}

/// The output size follows from input, padding, kernel, dilation and stride; right and bottom padding are in CDMA alone.
void OperationRules::check_windows()
{
    if (hw.winograd && get(kCsc, csc::D_MISC_CFG::CONV_MODE)) return;
    const bool image = get(kCsc, csc::D_DATAIN_FORMAT::DATAIN_FORMAT);
    using P = decltype(cdma::D_ZERO_PADDING);
    using S = decltype(csc::D_CONV_STRIDE_EXT);
    using D = decltype(csc::D_DILATION_EXT);
    using K = decltype(csc::D_WEIGHT_SIZE_EXT_0);
    const auto size = [&](reg::Field field) { return get(kCsc, field) + std::uint64_t{1}; };
    const auto axis = [&](const char* what, reg::Field output, std::uint64_t input, std::uint64_t kernel, std::uint64_t stride,
                          bool may_be_less) {
        const std::uint64_t expected = input < kernel ? 0 : (input - kernel) / stride + 1;
        if (size(output) > expected || (size(output) < expected && !may_be_less))
            report(Rule::Size, kCsc, output.offset,
                   fmt::format("output {} {}, expected {}: the result of input, padding, kernel, dilation and stride", what, size(output),
                               expected));
    };
    // Lines that stay in the buffer may be for the next tile.
    const bool keeps = get(kCsc, csc::D_MISC_CFG::SKIP_DATA_RLS) || get(kCsc, csc::D_MISC_CFG::DATA_REUSE) ||
                       get(kCsc, csc::D_RELEASE::RLS_SLICES) != get(kCsc, csc::D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT);
    const std::uint64_t components = get(kCsc, csc::D_DATAIN_SIZE_EXT_1::DATAIN_CHANNEL_EXT) + std::uint64_t{1};
    const std::uint64_t columns = image ? (get(kCsc, csc::D_WEIGHT_SIZE_EXT_1::WEIGHT_CHANNEL_EXT) + std::uint64_t{1}) / components
                                        : get(kCsc, K::WEIGHT_WIDTH_EXT) * size(D::X_DILATION_EXT) + 1;
    const std::uint64_t rows = get(kCsc, K::WEIGHT_HEIGHT_EXT) * (image ? 1 : size(D::Y_DILATION_EXT)) + 1;
    axis("width", csc::D_DATAOUT_SIZE_0::DATAOUT_WIDTH,
         size(csc::D_DATAIN_SIZE_EXT_0::DATAIN_WIDTH_EXT) + get(kCsc, csc::D_ZERO_PADDING::PAD_LEFT) + get(kCdma, P::PAD_RIGHT), columns,
         size(S::CONV_X_STRIDE_EXT), false);
    axis("height", csc::D_DATAOUT_SIZE_0::DATAOUT_HEIGHT,
         size(csc::D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT) + get(kCsc, csc::D_ZERO_PADDING::PAD_TOP) + get(kCdma, P::PAD_BOTTOM), rows,
         size(S::CONV_Y_STRIDE_EXT), keeps);
}

void OperationRules::check_output()
{
    const std::uint64_t width = get(kCsc, csc::D_DATAOUT_SIZE_0::DATAOUT_WIDTH) + std::uint64_t{1};
    const std::uint64_t height = get(kCsc, csc::D_DATAOUT_SIZE_0::DATAOUT_HEIGHT) + std::uint64_t{1};
    expect({kCsc, csc::D_ATOMICS::ATOMICS}, width * height - 1, fmt::format("the {} x {} output positions, less one", width, height));
    check_windows();
    equal("output channels", {kCsc, csc::D_DATAOUT_SIZE_1::DATAOUT_CHANNEL}, {kCsc, csc::D_WEIGHT_SIZE_EXT_1::WEIGHT_KERNEL});
    const std::uint32_t lines = get(kCsc, csc::D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT);
    if (get(kCsc, csc::D_RELEASE::RLS_SLICES) > lines)
        report(Rule::Size, kCsc, csc::D_RELEASE, fmt::format("more lines are released than the {} in the buffer", lines + 1));
    using namespace reg::cacc;
    equal("output width", {kCacc, D_DATAOUT_SIZE_0::DATAOUT_WIDTH}, {kCsc, csc::D_DATAOUT_SIZE_0::DATAOUT_WIDTH});
    equal("output height", {kCacc, D_DATAOUT_SIZE_0::DATAOUT_HEIGHT}, {kCsc, csc::D_DATAOUT_SIZE_0::DATAOUT_HEIGHT});
    equal("output channels", {kCacc, D_DATAOUT_SIZE_1::DATAOUT_CHANNEL}, {kCsc, csc::D_DATAOUT_SIZE_1::DATAOUT_CHANNEL});
    if (!has(kSdp)) return;
    equal("output width", {kSdp, reg::sdp::D_DATA_CUBE_WIDTH::WIDTH}, {kCsc, csc::D_DATAOUT_SIZE_0::DATAOUT_WIDTH});
    equal("output height", {kSdp, reg::sdp::D_DATA_CUBE_HEIGHT::HEIGHT}, {kCsc, csc::D_DATAOUT_SIZE_0::DATAOUT_HEIGHT});
    equal("output channels", {kSdp, reg::sdp::D_DATA_CUBE_CHANNEL::CHANNEL}, {kCsc, csc::D_DATAOUT_SIZE_1::DATAOUT_CHANNEL});
    if (hw.winograd) equal("Winograd mode", {kSdp, reg::sdp::D_FEATURE_MODE_CFG::WINOGRAD}, {kCsc, csc::D_MISC_CFG::CONV_MODE});
    if (hw.batch) equal("batches", {kSdp, reg::sdp::D_FEATURE_MODE_CFG::BATCH_NUMBER}, {kCsc, csc::D_BATCH_NUMBER::BATCHES});
    if (hw.full()) equal("processing precision", {kSdp, reg::sdp::D_DATA_FORMAT::PROC_PRECISION}, {kCsc, csc::D_MISC_CFG::PROC_PRECISION});
}

}  // namespace dlasim::lint
