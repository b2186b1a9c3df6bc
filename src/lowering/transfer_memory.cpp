#include "config/stream.h"
#include "golden/copied.h"
#include "golden/reshaped.h"
#include "lowering/transfer_plan.h"

namespace dlasim {
namespace {

constexpr std::uint8_t kUnwritten = 0xa5;  // what output memory holds before the run

/// The cube as it stands in memory. What pads it there is not zero: it must not turn up where zeros are promised.
Tensor stored_cube(const Reshape& r, const ReshapeLayout& layout, const Tensor& cube, std::uint64_t seed)
{
    const bool merge = r.mode == RubikMode::Merge;
    const std::uint32_t channels = r.out_channels();
    Tensor stored(r.sub_cubes(), merge ? channels : layout.padded_channels, r.height, merge ? layout.padded_width : r.width);
    const Stream padding(seed, 7);
    for (std::size_t i = 0; i < stored.values.size(); ++i) {
        const std::uint64_t number = padding(i);
        stored.values[i] = r.element_bytes() == 1 ? static_cast<std::int8_t>(number) : static_cast<std::int16_t>(number);
    }
    for (std::uint32_t n = 0; n < stored.n; ++n)
        for (std::uint32_t c = 0; c < channels; ++c)
            for (std::uint32_t y = 0; y < r.height; ++y)
                for (std::uint32_t x = 0; x < r.width; ++x) stored.at(n, c, y, x) = cube.at(0, n * channels + c, y, x);
    return stored;
}

/// The cubes around a reshape.
class ReshapedMemory final : public TransferMemory {
public:
    ReshapedMemory(const Reshape& reshape, const ReshapeLayout& layout, std::uint64_t seed) : r_(reshape), layout_(layout)
    {
        const Tensor cube = load_cube(r_.precision, r_.channels, r_.height, r_.width, r_.data, r_.data_where, seed);
        const Tensor stored = stored_cube(r_, layout, cube, seed);
        input_ = feature_bytes(stored, 0, stored.c, layout.input, layout.input_bytes);
        const Tensor golden = r_.mode == RubikMode::Contract ? contracted(stored, r_.stride)
                              : r_.mode == RubikMode::Split  ? padded(cube, r_.channels, layout.padded_width)
                                                             : padded(cube, layout.padded_channels, r_.width);
        output_ = feature_bytes(golden, 0, golden.c, layout.output, layout.output_bytes);
        if (!r_.expected.empty())
            expected_ = load_cube(r_.precision, r_.out_channels(), r_.out_height(), r_.out_width(), r_.expected, r_.expected_where, seed);
    }

    void before(const Write& write) const override
    {
        write(window(), around());
        write(r_.input, input_);
    }

    Comparison compare(const Read& read) const override
    {
        const Place start = window();
        const std::uint64_t first = r_.output.address - start.address;
        Bytes expected = around();
        std::copy(output_.begin(), output_.end(), expected.begin() + static_cast<std::ptrdiff_t>(first));
        const Bytes found = read(start, expected.size());
        Comparison result;
        for (std::uint64_t i = 0; i < expected.size(); ++i) {
            const bool inside = i >= first && i - first < output_.size();
            compare_byte(result, {start.primary, start.address + i}, found[i], expected[i],
                         inside && found[i] != expected[i] ? element(i - first) : "");
        }
        return result;
    }

    std::optional<Tensor> output(const Read& read) const override
    {
        Tensor cube(1, r_.out_channels(), r_.out_height(), r_.out_width());
        read_feature(read(r_.output, layout_.output_bytes), layout_.output, cube, 0, cube.c);
        return cube;
    }
    std::optional<Difference> difference(const Tensor& output) const override
    {
        if (r_.expected.empty()) return std::nullopt;
        return dlasim::difference(output, expected_, r_.precision, r_.expected);
    }

private:
    Place window() const { return {r_.output.primary, r_.output.address - std::min(kAround, r_.output.address)}; }

    /// The output's memory before the run, with what stands right before and behind it.
    Bytes around() const
    {
        const Place start = window();
        Bytes bytes(r_.output.address - start.address + output_.size() + kAround, kUnwritten);
        if (r_.input.primary != start.primary) return bytes;
        for (std::uint64_t i = 0; i < bytes.size(); ++i) {
            const std::uint64_t address = start.address + i;
            if (address >= r_.input.address && address - r_.input.address < input_.size()) bytes[i] = input_[address - r_.input.address];
        }
        return bytes;
    }

    std::string element(std::uint64_t offset) const
    {
        const Cube& cube = layout_.output;
        const std::uint32_t per_atom = cube.atom_bytes / cube.element_bytes;
        const std::uint64_t channel = offset / cube.surface_stride * per_atom + offset % cube.atom_bytes / cube.element_bytes;
        return " (channel " + std::to_string(channel) + " row " + std::to_string(offset % cube.surface_stride / cube.line_stride) +
               " column " + std::to_string(offset % cube.line_stride / cube.atom_bytes) + ")";
    }

    const Reshape& r_;
    const ReshapeLayout& layout_;
    Bytes input_, output_;
    Tensor expected_;
};

}  // namespace

std::unique_ptr<TransferMemory> transfer_memory(const Transfer& transfer, const TransferPlan& plan)
{
    if (const Copy* copy = transfer.copy()) return std::make_unique<CopiedMemory>(*copy, transfer.seed);
    return std::make_unique<ReshapedMemory>(*transfer.reshape(), plan.layout, transfer.seed);
}

}  // namespace dlasim
