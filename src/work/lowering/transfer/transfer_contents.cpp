#include "config/model/stream.h"
#include "golden/lrn.h"
#include "golden/memory/copied.h"
#include "golden/memory/reshaped.h"
#include "lowering/memory/images.h"
#include "lowering/transfer/transfer_plan.h"

namespace dlasim {
namespace {

/// The cube in memory. Its padding there is not zero: it must not turn up where zeros are promised.
Tensor with_padding(Tensor stored, const Tensor& cube, std::uint32_t channels, std::uint32_t element_bytes, std::uint64_t seed)
{
    const Stream padding(seed, 7);
    for (std::size_t i = 0; i < stored.values.size(); ++i) {
        const std::uint64_t number = padding(i);
        stored.values[i] = element_bytes == 1 ? static_cast<std::int8_t>(number) : static_cast<std::int16_t>(number);
    }
    for (std::uint32_t n = 0; n < stored.n; ++n)
        for (std::uint32_t c = 0; c < channels; ++c)
            for (std::uint32_t y = 0; y < cube.h; ++y)
                for (std::uint32_t x = 0; x < cube.w; ++x) stored.at(n, c, y, x) = cube.at(0, n * channels + c, y, x);
    return stored;
}

/// The output as a tensor, and the user's to compare it with, if there is one.
struct CubeResult {
    Precision precision;
    CubeSize size;
    std::string expected, expected_where;
    Tolerance tolerance{};
};

/// A cube before and a cube after.
class CubeMemory final : public MemoryCheck {
public:
    CubeMemory(const Place& input, Bytes before, const Place& output, Bytes after, const Cube& cube, CubeResult result, std::uint64_t seed)
        : input_at_(input),
          output_at_(output),
          cube_(cube),
          result_(std::move(result)),
          input_(std::move(before)),
          output_(std::move(after))
    {
        const CubeResult& r = result_;
        if (!r.expected.empty()) expected_ = load_cube(r.precision, r.size, r.expected, r.expected_where, seed);
    }

    void before(const Write& write) const override
    {
        write(window(), around());
        write(input_at_, input_);
    }

    Findings after(const MemoryAfterRun& remains) const override
    {
        const CubeSize& size = result_.size;
        Findings findings{compare(remains), Tensor(1, size.channels, size.height, size.width), std::nullopt};
        read_feature(remains.read(output_at_, output_.size()), cube_, *findings.output, {0, size.channels});
        if (!result_.expected.empty())
            findings.expected = difference(*findings.output, expected_, result_.precision, result_.tolerance, result_.expected);
        return findings;
    }

private:
    Comparison compare(const MemoryAfterRun& remains) const
    {
        const Place start = window();
        const std::uint64_t first = output_at_.address - start.address;
        Bytes expected = around();
        std::copy(output_.begin(), output_.end(), expected.begin() + static_cast<std::ptrdiff_t>(first));
        const Bytes found = remains.read(start, expected.size());
        Comparison result;
        for (std::uint64_t i = 0; i < expected.size(); ++i) {
            const bool inside = i >= first && i - first < output_.size();
            compare_byte(result, start + i, found[i], expected[i], inside && found[i] != expected[i] ? element(i - first) : "");
        }
        return result;
    }

    Place window() const { return {output_at_.primary, output_at_.address - std::min(kAround, output_at_.address.byte())}; }

    /// The output's memory before the run, with the bytes right before and after it.
    Bytes around() const
    {
        const Place start = window();
        Bytes bytes(output_at_.address - start.address + output_.size() + kAround, kUnwritten);
        if (input_at_.primary != start.primary) return bytes;
        for (std::uint64_t i = 0; i < bytes.size(); ++i) {
            const Address address = start.address + i;
            if (address >= input_at_.address && address - input_at_.address < input_.size()) bytes[i] = input_[address - input_at_.address];
        }
        return bytes;
    }

    std::string element(std::uint64_t offset) const
    {
        const Cube& cube = cube_;
        const std::uint32_t per_atom = cube.atom_bytes / cube.element_bytes;
        const std::uint64_t channel = offset / cube.strides.surface * per_atom + offset % cube.atom_bytes / cube.element_bytes;
        return " (channel " + std::to_string(channel) + " row " + std::to_string(offset % cube.strides.surface / cube.strides.line) +
               " column " + std::to_string(offset % cube.strides.line / cube.atom_bytes) + ")";
    }

    const Place input_at_, output_at_;
    const Cube cube_;  // the output
    const CubeResult result_;
    const Bytes input_, output_;
    Tensor expected_;
};

std::unique_ptr<const MemoryCheck> reshaped_memory(const Reshape& r, const ReshapeLayout& layout, std::uint64_t seed)
{
    const bool merge = r.mode == Reshape::Mode::Merge;
    const std::uint32_t channels = r.out_channels();
    const Tensor cube = load_cube(r.precision, r.cube(), r.data, r.data_where, seed);
    const Tensor stored =
        with_padding(Tensor(r.sub_cubes(), merge ? channels : layout.padded_channels, r.height, merge ? layout.padded_width : r.width),
                     cube, channels, r.element_bytes(), seed);
    const Tensor golden = r.mode == Reshape::Mode::Contract ? contracted(stored, r.stride)
                          : r.mode == Reshape::Mode::Split  ? padded(cube, r.channels, layout.padded_width)
                                                            : padded(cube, layout.padded_channels, r.width);
    const CubeResult result{r.precision, r.out_cube(), r.expected, r.expected_where, r.tolerance};
    return std::make_unique<CubeMemory>(r.input, feature_bytes(stored, {0, stored.c}, layout.input, layout.input_bytes), r.output,
                                        feature_bytes(golden, {0, golden.c}, layout.output, layout.output_bytes), layout.output, result,
                                        seed);
}

/// CDP writes whole atoms: channels after the last one are the result for zeros.
std::unique_ptr<const MemoryCheck> normalised_memory(const Lrn& lrn, const TransferPlan& plan, std::uint64_t seed)
{
    const ReshapeLayout& layout = plan.layout;
    const Tensor cube = load_cube(lrn.precision, lrn.cube(), lrn.data, lrn.data_where, seed);
    const Tensor stored =
        with_padding(Tensor(1, layout.padded_channels, lrn.height, lrn.width), cube, lrn.channels, lrn.element_bytes(), seed);
    const Tensor golden = normalised(plan.lrn, cube, layout.padded_channels);
    const CubeResult result{lrn.precision, lrn.cube(), lrn.expected, lrn.expected_where, lrn.tolerance};
    return std::make_unique<CubeMemory>(lrn.input, feature_bytes(stored, {0, stored.c}, layout.input, layout.input_bytes), lrn.output,
                                        feature_bytes(golden, {0, golden.c}, layout.output, layout.output_bytes), layout.output, result,
                                        seed);
}

}  // namespace

std::unique_ptr<const MemoryCheck> transfer_contents(const Transfer& transfer, const TransferPlan& plan)
{
    if (const Copy* copy = transfer.copy()) return std::make_unique<CopiedMemory>(*copy, transfer.seed);
    if (const Lrn* lrn = transfer.lrn()) return normalised_memory(*lrn, plan, transfer.seed);
    return reshaped_memory(*transfer.reshape(), plan.layout, transfer.seed);
}

}  // namespace dlasim
